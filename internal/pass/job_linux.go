package pass

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sys"
)

// second is the length of an interval in nanoseconds.
const second = int64(1e9)

// maxWait bounds every wait in the kernel, and so the time until a job notices
// that it must stop while a device is stalled.
const maxWait = second / 10

// How long a job waits for I/Os in flight after it was told to stop. A drive
// may take seconds for one I/O in error recovery; whoever asked for the end
// wants it soon.
const (
	graceNS      = 10 * second
	graceAskedNS = 2 * second
)

// A Slot is an I/O in flight, or the last one that was. It is half a cache line:
// where the kernel copies data on the same core, what a job looks at has left the
// cache by the next time.
type Slot struct {
	Offset int64
	// Issued is when it was submitted, Sent when the call that submitted it
	// returned, where that is known; both CLOCK_MONOTONIC.
	Issued, Sent int64
	// Len is what the I/O must return; notWhole for a sync.
	Len  int32
	File uint16 // index of the file
	Dir  Dir
	bits uint8
}

// Bits of a slot.
const (
	isDataSync = 1 << iota // a sync is an fdatasync
	isFilled               // the block holds data that was made for a write
)

// DataSync reports whether a sync is an fdatasync.
func (s *Slot) DataSync() bool { return s.bits&isDataSync != 0 }

// notWhole is no length of an I/O, so that the completion of a sync is never
// taken for that of a read or write.
const notWhole = math.MinInt32

// A Job is one clone of a phase's job: what one OS thread works with. Only that
// thread touches it while the pass runs, except for the mailbox, the tracer and
// what is atomic.
type Job struct {
	// Clock is that of the pass.
	Clock Clock
	// FDs are the files.
	FDs []int
	// Slots has one slot for each I/O in flight and one more, at SyncSlot.
	Slots []Slot
	// Blocks are their buffers.
	Blocks *sys.Blocks
	// Free is a stack: the slots in Free[:NFree] are not in flight.
	Free  []uint32
	NFree int
	// Writes reports whether Next may make data, SlowData whether that takes
	// about as long as a fast drive needs to write it.
	Writes, SlowData bool
	// Syncs reports whether NextSync ever has one, Traced whether I/Os are
	// traced.
	Syncs, Traced bool

	// What every batch looks at, together for the reason that Slot has.
	plain     bool // see fillPlain
	isRandom  bool
	withMap   bool
	mixed     bool
	paced     bool
	syncing   bool // a sync is in flight
	exhausted bool // nothing more to claim, for the reason in stopped
	seen      uint32
	wake      int64 // CLOCK_MONOTONIC; when Turn has something to do
	giveUp    int64 // when to stop waiting for I/Os in flight
	last      int64 // last completion; 0 before the first
	due       int64 // when to ask More again; 0: when something completes
	quota     int64 // bytes that may be issued
	gate      int64 // of quota; below it More looks closer
	most      int64 // the larger of bs that is in use
	random    splitMix
	regions   []region
	p         *Pass

	index  int
	driver Driver

	// What the next I/O is.
	file  int
	mix   splitMix
	data  filler
	bs    [2]int64
	dir   Dir  // of the next I/O; of all, unless mixed
	drawn bool // dir was drawn for the next I/O

	// When it may be issued.
	once     int64 // left of what a job of a phase with Once moves
	paces    [2]pace
	thinking bool
	rested   int64 // end of the thinktime
	unsynced [2]int64
	syncFile int
	wrote    bool
	endSync  bool // one at the end is to come
	halted   bool // told to stop
	stopped  string

	boundary int64 // CLOCK_MONOTONIC; end of the interval
	ramping  bool

	// What was measured.
	cur        *interval
	flows      [dirs]*total
	slat, clat [2]*total
	errs       []record.IOError
	errTime    int64
	endNS      int64 // of this job; 0 where that is before the start
	from       usage // of the thread, at the start
	usage      record.Usage
	left       int64 // I/Os that never came back
	tracer     *tracer
	mail       mailbox
	passed     atomic.Int64 // whole seconds that are over and posted
	done       atomic.Bool  // set after the last post
}

// newJob allocates what the loop needs, so that the loop does not.
func newJob(p *Pass, index int) *Job {
	ph := &p.phase
	has := directions(ph)
	seed := mix64(ph.RandSeed) ^ mix64(uint64(index)+1)
	j := &Job{
		Clock: p.clock, FDs: p.fds, p: p, index: index,
		Slots:  make([]Slot, p.depth+1),
		Free:   make([]uint32, p.depth),
		NFree:  p.depth,
		Writes: ph.Mode.Writes(), SlowData: ph.Unique || ph.CompressPercent > 0,
		random:   splitMix(seed),
		mix:      splitMix(mix64(seed ^ 0x3c6ef372fe94f82b)),
		data:     newFiller(ph.RandSeed, index),
		isRandom: ph.Mode.Random(), withMap: ph.RandomMap && ph.Mode.Random(), mixed: ph.Mode.Mixed(),
		paced:   ph.ReadIOPS > 0 || ph.WriteIOPS > 0 || ph.ThinkTimeNS > 0,
		paces:   [2]pace{{rate: ph.ReadIOPS}, {rate: ph.WriteIOPS}},
		endSync: ph.EndFSync,
		Syncs:   ph.Syncs() || ph.EndFSync, Traced: ph.Trace,
		cur:     newInterval(has),
		stopped: record.StopAsked,
		giveUp:  math.MaxInt64,
	}
	j.bs[Read], j.bs[Write] = ph.BlockSizes()
	j.most = max(j.bs[Read], j.bs[Write])
	if j.Writes && !j.mixed {
		j.dir = Write
	}
	if j.gate = j.most; j.paced || ph.Syncs() {
		j.gate = math.MaxInt64
	}
	j.plain = !j.mixed && !j.Writes && !j.paced && len(p.fds) == 1
	for i := range j.Slots {
		j.Slots[i].Dir, j.Slots[i].Len = j.dir, int32(j.most)
	}
	for i := range j.mail.slots {
		j.mail.slots[i] = newInterval(has)
	}
	for d := range has {
		if has[d] {
			j.flows[d] = newTotal()
		}
		if p.engine.Submits && has[d] && Dir(d) != Sync {
			j.slat[d], j.clat[d] = newTotal(), newTotal()
		}
	}
	if ph.Trace {
		j.tracer = newTracer()
	}
	var all int64
	for _, size := range p.sizes {
		start, length := ph.RegionOf(index, size, len(p.sizes))
		r := region{start: start, length: length, perm: newPerm(uint64(length / j.most))}
		for d, bs := range j.bs {
			r.blocks[d] = uint64(length / bs)
		}
		r.begin(&j.random, j.withMap)
		j.regions = append(j.regions, r)
		all += length
	}
	j.file = len(j.regions) - 1 // rotate begins with the first
	if j.once = ph.IOLimit(all); ph.IOSize != (job.Size{}) && j.once%all >= j.most {
		// As in fio, the I/O that reaches the limit may go beyond it, but no new
		// round through the files begins for less than a block.
		j.once += j.most - 1
	}
	for i := range j.Free { // block 0 first
		j.Free[i] = uint32(p.depth - 1 - i)
	}
	j.Slots[j.SyncSlot()].Len = notWhole
	return j
}

// directions says which flows a phase has.
func directions(ph *phase) [dirs]bool {
	return [dirs]bool{Read: ph.Mode.Reads(), Write: ph.Mode.Writes(), Sync: ph.Syncs()}
}

// Depth is the number of slots for reads and writes.
func (j *Job) Depth() int { return len(j.Free) }

// SyncSlot is the slot of the one sync that may be in flight.
func (j *Job) SyncSlot() uint32 { return uint32(len(j.Free)) }

// Phase is that of the pass.
func (j *Job) Phase() *phase { return &j.p.phase }

// MapBlocks makes the buffers. They are filled even where reads will overwrite
// them: the pages are then there, and a page fault is never measured.
func (j *Job) MapBlocks() (err error) {
	if j.Blocks, err = sys.MapBlocks(j.Depth(), j.most, j.p.memAlign); err != nil {
		return err
	}
	if j.p.phase.ZeroBuffers {
		clear(j.Blocks.All())
	} else {
		j.data.fill(j.Blocks.All())
	}
	for i := range j.Slots {
		j.Slots[i].bits |= isFilled
	}
	return nil
}

// More reports whether the next I/O may be issued now.
func (j *Job) More(now int64) bool { return j.NFree > 0 && (j.quota >= j.gate || j.more(now)) }

func (j *Job) more(now int64) bool {
	j.due = 0
	if j.exhausted || j.syncDue() || j.quota < j.most && !j.claim() {
		return false
	}
	return !j.paced || j.mayGo(now)
}

// claim gets leave to issue more bytes, in quota. It reports false where there
// are no more.
func (j *Job) claim() bool {
	n := int64(math.MaxInt64/4) / j.most // blocks
	if j.p.phase.Once {
		// As in fio, what is left below a block is left out.
		if n = (j.once + j.quota) / j.most; n == 0 {
			j.exhausted, j.stopped = true, record.StopOnce
			return false
		}
	}
	if j.p.phase.MaxBytes > 0 {
		if n = j.p.take(n); n == 0 {
			j.exhausted, j.stopped = true, record.StopBytes
			return false
		}
	}
	n *= j.most
	if j.p.phase.Once {
		n = min(n, j.once)
		j.once -= n
	}
	j.quota += n
	return true
}

// Submitted says that the slots in Free[NFree:before] were, or are about to be,
// submitted at now.
func (j *Job) Submitted(before int, now int64) {
	for _, slot := range j.Free[j.NFree:before] {
		j.Slots[slot].Issued = now
	}
	if j.Traced {
		j.Trace(before)
	}
}

// Trace is the part of Submitted for a job that is Traced, for those who set
// Issued themselves.
func (j *Job) Trace(before int) {
	for i := before; i > j.NFree; i-- {
		j.traceIO(j.Free[i-1])
	}
}

// Sent says that the call which submitted them returned at now.
func (j *Job) Sent(before int, now int64) {
	for _, slot := range j.Free[j.NFree:before] {
		j.Slots[slot].Sent = now
	}
}

func (j *Job) traceIO(slot uint32) {
	s := &j.Slots[slot]
	io := record.TraceIO{MonoNS: s.Issued, Job: j.index, File: int(s.File), Op: s.op()}
	if s.Dir != Sync {
		io.Offset, io.Len = s.Offset, int64(s.Len)
	}
	j.tracer.add(io)
}

func (s *Slot) op() string {
	switch {
	case s.Dir == Read:
		return "read"
	case s.Dir == Write:
		return "write"
	case s.DataSync():
		return "fdatasync"
	}
	return "fsync"
}

// Writes since the last sync of each kind, by index in unsynced.
const (
	fsync     = 0
	fdatasync = 1
)

func (j *Job) syncDue() bool {
	ph := &j.p.phase
	return ph.FSync > 0 && j.unsynced[fsync] >= int64(ph.FSync) ||
		ph.FDataSync > 0 && j.unsynced[fdatasync] >= int64(ph.FDataSync)
}

// NextSync fills in SyncSlot and reports true where a sync must be issued now:
// all writes before it have completed.
func (j *Job) NextSync(now int64) bool {
	if j.NFree < j.Depth() || j.syncing {
		return false
	}
	due := j.syncDue() && !j.halted
	if !due {
		// At the end: neither of a job that failed nor of one that was asked
		// to stop, but of one whose time is over.
		if !j.endSync || !j.wrote || !j.exhausted || j.p.stop.Load() != 0 {
			return false
		}
		j.giveUp = math.MaxInt64 // it may have much to write
		j.wake = j.boundary + 1
	}
	s := &j.Slots[j.SyncSlot()]
	s.Dir, s.Len, s.Offset, s.File, s.Issued = Sync, notWhole, 0, uint16(j.syncFile), now
	s.bits &^= isDataSync
	if due && !(j.p.phase.FSync > 0 && j.unsynced[fsync] >= int64(j.p.phase.FSync)) {
		s.bits |= isDataSync
	}
	j.syncing = true
	if j.Traced {
		j.traceIO(j.SyncSlot())
	}
	return true
}

// synced takes the completion of a sync; after that of the last file the writes
// count anew.
func (j *Job) synced(s *Slot, now int64) {
	due := j.syncDue()
	if due && j.flows[Sync] != nil {
		j.cur.flows[Sync].Add(now - s.Issued)
	}
	if j.syncFile++; j.syncFile < len(j.FDs) {
		return
	}
	j.syncFile = 0
	switch {
	case !due:
		j.endSync = false
	case s.DataSync():
		j.unsynced[fdatasync] = 0
	default:
		j.unsynced[fsync] = 0
	}
}

// Lat is where Done counts latencies, by direction. It never changes, for those
// who do the same in a loop of their own.
func (j *Job) Lat() [dirs]*Hist { return j.cur.flows }

// Done takes the completion of a whole read or write.
func (j *Job) Done(slot uint32, now int64) {
	s := &j.Slots[slot]
	j.cur.flows[s.Dir].Add(now - s.Issued)
	j.Free[j.NFree] = slot
	j.NFree++
}

// Split counts the parts of lat that an engine with Submits knows.
func (j *Job) Split(slot uint32, now int64) {
	s := &j.Slots[slot]
	j.slat[s.Dir].one(s.Sent - s.Issued)
	j.clat[s.Dir].one(now - s.Sent)
}

// Reaped says that completions came at now.
func (j *Job) Reaped(now int64) { j.last = now }

// Complete takes any other completion: a sync, or an error. res is as the
// kernel says it: bytes, 0 or a negative errno.
//
//go:noinline
func (j *Job) Complete(slot uint32, res int64, now int64) {
	s := &j.Slots[slot]
	if slot == j.SyncSlot() {
		j.syncing = false
		if res == 0 {
			j.synced(s, now)
			return
		}
	} else {
		j.Free[j.NFree] = slot
		j.NFree++
	}
	if res < 0 {
		j.Failed(s.op(), sys.ErrnoName(syscall.Errno(-res)), s.Offset, now)
	} else {
		j.Failed(s.op(), "short", s.Offset, now)
	}
}

// Failed counts a failed I/O and ends the pass for all jobs.
//
//go:noinline
func (j *Job) Failed(op, errno string, offset, now int64) {
	j.p.stop.Or(stopError)
	j.exhausted, j.quota, j.due = true, 0, 0 // at once, not only at the next turn
	for i := range j.errs {
		if e := &j.errs[i]; e.Op == op && e.Errno == errno {
			e.Count++
			return
		}
	}
	if len(j.errs) == 0 {
		j.errTime = now
	}
	j.errs = append(j.errs, record.IOError{Op: op, Errno: errno, Offset: offset, Count: 1})
}

// Inflight is the number of I/Os that were issued and have not come back.
func (j *Job) Inflight() int {
	n := len(j.Free) - j.NFree
	if j.syncing {
		n++
	}
	return n
}

// Over reports whether the loop is: nothing is in flight and nothing to come,
// or patience is over.
func (j *Job) Over(now int64) bool { return j.Inflight() == 0 && j.due == 0 || now >= j.giveUp }

// Patience is how long the job may wait for a completion, in nanoseconds from 1
// to a tenth of a second. Where nothing is in flight, it must.
func (j *Job) Patience(now int64) int64 {
	if j.due == 0 {
		return maxWait
	}
	return min(maxWait, max(1, min(j.due, j.wake)-now))
}

// Pacing reports whether Patience is ever anything but a tenth of a second.
func (j *Job) Pacing() bool { return j.paced }

// Due reports whether it is time for Turn.
func (j *Job) Due(now int64) bool { return now >= j.wake || j.p.stop.Load() != j.seen }

// Turn does what has a time: intervals, the end of the pass, the end of
// patience.
func (j *Job) Turn(now int64) {
	p := j.p
	j.roll(now)
	j.seen = p.stop.Load()
	if !j.halted && (j.seen != 0 || now >= p.deadlineNS) {
		j.halted = true
		j.giveUp = now + graceNS
		j.due = 0
		if !j.exhausted {
			j.exhausted, j.quota = true, 0
			j.stopped = record.StopAsked
			if j.seen == 0 {
				j.stopped = record.StopTime
			}
		}
	}
	if j.seen&stopAsked != 0 {
		j.giveUp = min(j.giveUp, now+graceAskedNS)
	}
	j.wake = min(j.boundary+1, j.giveUp)
	if !j.halted {
		j.wake = min(j.wake, p.deadlineNS)
	}
}

// roll publishes the intervals that ended before now. A completion at the very
// boundary belongs to the interval before, so that the last interval of a pass
// is never empty.
func (j *Job) roll(now int64) {
	if j.ramping && now > j.boundary {
		j.ramping, j.last = false, 0
		j.from = newThreadUsage()
		j.boundary += second
		j.cur.reset()
		for d := range j.slat {
			if j.slat[d] != nil {
				j.slat[d].reset()
				j.clat[d].reset()
			}
		}
	}
	for !j.ramping && now > j.boundary {
		j.publish()
		j.passed.Add(1)
		j.boundary += second
	}
}

func (j *Job) publish() {
	for d, t := range j.flows {
		if t != nil {
			t.add(j.cur.flows[d])
		}
	}
	j.mail.post(j.cur)
	j.cur.reset()
}

// main is the goroutine of the job.
func (j *Job) main(ready chan<- error) {
	// A ring takes submissions from one thread only.
	runtime.LockOSThread()
	// A thread with an affinity of its own, or with I/O in flight, is not
	// given back: it ends with the goroutine.
	keep := len(j.p.phase.CPUs) > 0
	defer func() {
		if !keep {
			runtime.UnlockOSThread()
		}
	}()
	err := j.setup()
	ready <- err
	if err != nil {
		j.release()
		return
	}
	<-j.p.start
	if j.p.aborted {
		j.release()
		return
	}
	j.run()
	if keep = keep || j.left > 0; j.left == 0 {
		j.release()
	}
	// Else the I/Os are still the kernel's: unmapping the buffers would let it
	// write into whatever is mapped there next. The process ends soon.
	j.done.Store(true)
	j.p.ended <- struct{}{}
}

func (j *Job) setup() error {
	if err := j.pin(); err != nil {
		return err
	}
	return j.driver.Setup()
}

// pin keeps the thread on the CPUs that the phase allows.
func (j *Job) pin() error {
	cpus := j.p.phase.CPUs
	if len(cpus) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("set CPU affinity: cpus_allowed=%v: %w (does this place have these CPUs?)", cpus, err)
	}
	return nil
}

func (j *Job) release() {
	j.driver.Close()
	if j.Blocks != nil {
		_ = j.Blocks.Close()
		j.Blocks = nil
	}
}

// run is the loop with its beginning and end.
func (j *Job) run() {
	p := j.p
	now := p.goNS
	j.begin(now)
	j.driver.Loop(now)
	j.left = int64(j.Inflight())
	j.finish()
}

func (j *Job) begin(now int64) {
	j.boundary = j.p.startNS
	j.from = newThreadUsage()
	if j.ramping = j.p.phase.RampTimeNS > 0; !j.ramping {
		j.boundary += second
	}
	j.Turn(now)
}

func (j *Job) finish() {
	end := j.last
	if j.left > 0 || j.last == 0 {
		// The wait for what did not come back is part of the pass.
		end = j.Clock.Now()
		j.roll(end)
	}
	if !j.ramping {
		j.usage = j.from.until(newThreadUsage())
		j.endNS = end
		j.publish()
	}
}

// mergeErrors joins the errors of all jobs; the first of each kind keeps its
// offset.
func mergeErrors(jobs []*Job) []record.IOError {
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b *Job) int { return cmp.Compare(a.errTime, b.errTime) })
	var all []record.IOError
	for _, j := range jobs {
		for _, e := range j.errs {
			i := slices.IndexFunc(all, func(o record.IOError) bool { return o.Op == e.Op && o.Errno == e.Errno })
			if i < 0 {
				all = append(all, e)
			} else {
				all[i].Count += e.Count
			}
		}
	}
	return all
}
