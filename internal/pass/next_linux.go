package pass

import (
	"math"
	"math/bits"
)

// A Dir is what an I/O does.
type Dir uint8

// The kinds of I/O.
const (
	Read Dir = iota
	Write
	Sync
	dirs
)

// A region is the part of one file that a job works on.
type region struct {
	start, length int64
	pos           [2]int64 // of the next sequential read and write
	left          int64    // of this round
	blocks        [2]uint64
	perm          perm
}

// begin starts a round: all of the region is to do.
func (r *region) begin(random *splitMix, withMap bool) {
	r.pos, r.left = [2]int64{r.start, r.start}, r.length
	if withMap {
		r.perm.shuffle(random)
	}
}

// rotate returns the file after the one at hand (fio:
// file_service_type=roundrobin) that has something left in this round.
func (j *Job) rotate() *region {
	for range j.regions {
		if j.file++; j.file == len(j.regions) {
			j.file = 0
		}
		if r := &j.regions[j.file]; r.left >= j.most {
			return r
		}
	}
	for i := range j.regions {
		j.regions[i].begin(&j.random, j.withMap)
	}
	return &j.regions[j.file]
}

// Fill takes free slots for all I/Os that may be issued now, and fills in what
// they are and, for writes, their blocks. It returns before: the slots are in
// Free[NFree:before], the first I/O in the last of them.
//
// Where making data takes long, it takes one write only: each is to be
// submitted at once.
func (j *Job) Fill(now int64) (before int) {
	before = j.NFree
	if j.plain {
		j.fillPlain()
		return before
	}
	for j.More(now) {
		if s := j.next(); j.SlowData && s.Dir == Write {
			break
		}
	}
	return before
}

// fillPlain is Fill for reads of one file without pauses: nothing but the
// offset ever changes.
func (j *Job) fillPlain() {
	r, n, nfree, quota := &j.regions[0], j.most, j.NFree, j.quota
	for nfree > 0 {
		if quota < n {
			if j.quota = quota; !j.More(0) {
				break
			}
			quota = j.quota
		}
		off := r.pos[j.dir]
		switch {
		case j.withMap:
			off = r.start + int64(r.perm.next())*n
		case j.isRandom:
			off = r.start + int64(j.random.below(r.blocks[0]))*n
		default:
			r.pos[j.dir] += n
		}
		if r.left -= n; r.left < n {
			r.begin(&j.random, j.withMap)
		}
		nfree--
		j.Slots[j.Free[nfree]].Offset = off
		quota -= n
	}
	j.NFree, j.quota = nfree, quota
}

// next takes a free slot and fills it in with the next I/O, and its block with
// data where that is a write. More must have allowed it.
func (j *Job) next() *Slot {
	j.NFree--
	slot := j.Free[j.NFree]
	s, dir := &j.Slots[slot], j.dir
	if j.mixed {
		dir = j.direction()
	}
	r := &j.regions[j.file]
	if len(j.regions) > 1 {
		r = j.rotate()
		s.File = uint16(j.file)
	}
	n := j.bs[dir]
	off := r.pos[dir]
	switch {
	case j.withMap:
		off = r.start + int64(r.perm.next())*n
	case j.isRandom:
		off = r.start + int64(j.random.below(r.blocks[dir]))*n
	default:
		r.pos[dir] += n
	}
	if r.left -= n; r.left < j.most && len(j.regions) == 1 {
		r.begin(&j.random, j.withMap)
	}
	s.Offset, s.Len, s.Dir = off, int32(n), dir
	j.quota -= n
	if j.paced {
		j.went(dir)
	}
	if dir == Write {
		j.unsynced[0]++
		j.unsynced[1]++
		j.wrote = true
		j.fill(s, slot)
	} else if j.mixed {
		s.bits &^= isFilled
	}
	return s
}

// fill makes the data of a write.
func (j *Job) fill(s *Slot, slot uint32) {
	w := j.Blocks.Words(slot, int64(s.Len))
	switch fresh := j.SlowData || s.bits&isFilled == 0; {
	case j.p.phase.ZeroBuffers && fresh:
		clear(w)
	case j.p.phase.ZeroBuffers:
	case j.p.phase.CompressPercent > 0:
		j.data.compressible(w, j.p.phase.CompressPercent)
	case fresh:
		j.data.fill(w)
	default:
		j.data.stamp(w, s.Offset)
	}
	s.bits |= isFilled
}

// direction returns what the next I/O of a mixed phase does, which pace may
// have decided already.
func (j *Job) direction() Dir {
	if j.drawn {
		j.drawn = false
		return j.dir
	}
	return j.draw()
}

func (j *Job) draw() Dir {
	if j.mix.below(100) < uint64(j.p.phase.RWMixRead) {
		return Read
	}
	return Write
}

// A pace keeps I/Os of one direction at a rate.
type pace struct {
	rate  int64 // a second; 0 is no limit
	from  int64 // CLOCK_MONOTONIC
	count int64 // issued since from
}

// due is when the next I/O may be issued. One that is late does not move those
// after it, so that the rate is kept on average (fio: rate_process=linear).
func (p *pace) due() int64 {
	if p.rate == 0 {
		return math.MinInt64
	}
	return p.from + p.count/p.rate*second + p.count%p.rate*second/p.rate
}

// mayGo reports whether thinktime and rates allow an I/O now; if not, due says
// when to ask again, or is 0 where that is after a completion.
func (j *Job) mayGo(now int64) bool {
	if j.thinking {
		if j.Inflight() > 0 {
			return false
		}
		j.thinking, j.rested = false, now+j.p.phase.ThinkTimeNS
	}
	if now < j.rested {
		j.due = j.rested
		return false
	}
	for i := range j.paces {
		if p := &j.paces[i]; p.from == 0 {
			p.from = now
		}
	}
	dir := j.dir
	if j.mixed && !j.drawn {
		dir = j.draw()
	}
	at := j.paces[dir].due()
	if other := Write - dir; j.mixed && at > now && j.share(other) > 0 {
		// Ahead of its rate: as in fio, the direction that may go first does.
		if o := j.paces[other].due(); o < at {
			dir, at = other, o
		}
	}
	if j.mixed {
		j.dir, j.drawn = dir, true
	}
	if at > now {
		j.due = at
		return false
	}
	return true
}

// share is the percentage of a direction in a mixed phase.
func (j *Job) share(d Dir) int {
	if d == Read {
		return j.p.phase.RWMixRead
	}
	return 100 - j.p.phase.RWMixRead
}

func (j *Job) went(dir Dir) {
	j.paces[dir].count++
	j.thinking = j.p.phase.ThinkTimeNS > 0
	j.due = 0
}

// A perm is a random permutation of the numbers below n, computed and not
// stored: a bijection of the numbers below the next power of two, walked until
// it hits one below n, which takes less than two steps on average. (fio keeps a
// bitmap instead.)
type perm struct {
	n, i  uint64
	mask  uint64
	shift uint
	key   [3]uint64
}

func newPerm(n uint64) perm {
	k := uint(bits.Len64(n - 1))
	return perm{n: n, mask: 1<<k - 1, shift: (k + 1) / 2}
}

// shuffle begins another permutation.
func (p *perm) shuffle(s *splitMix) {
	p.i = 0
	for i := range p.key {
		p.key[i] = s.next()
	}
}

// next returns the next number; after n of them they come again.
func (p *perm) next() uint64 {
	x := p.i
	if p.i++; p.i == p.n {
		p.i = 0
	}
	for {
		// Each step can be undone: adding, multiplying by an odd number, and
		// folding upper bits into lower ones.
		for _, k := range p.key {
			x = (x + k) * (k<<1 | 1) & p.mask
			x ^= x >> p.shift
		}
		if x < p.n {
			return x
		}
	}
}
