package pass

import "math/bits"

// mix64 is the output function of SplitMix64 (Steele, Lea, Flood, 2014): a
// bijection, so different inputs never give equal outputs.
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A splitMix is the generator of random offsets. Its quality is ample for that,
// and its state is one word.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	return mix64(uint64(*s))
}

// below returns a number uniform over [0, n): Lemire's multiplication without
// the rejection, whose bias is below n/2^64.
func (s *splitMix) below(n uint64) uint64 {
	hi, _ := bits.Mul64(s.next(), n)
	return hi
}

// A filler makes the data of writes, which a drive or filesystem must be able
// neither to compress nor to find twice.
type filler struct {
	state uint64 // of the generator of whole blocks
	seq   uint64 // of the next sector to stamp; the job is in the upper bits
	key   uint64 // of the pass
}

func newFiller(seed uint64, job int) filler {
	key := mix64(seed ^ 0x6a09e667f3bcc909)
	return filler{state: mix64(key + uint64(job) + 1), seq: uint64(job) << 48, key: key}
}

// fill overwrites a block with fresh random data. The generator is wyrand (Wang
// Yi): its steps do not depend on each other's output, so a core overlaps
// them; it must outrun the drive that a prefill measures.
func (f *filler) fill(w []uint64) {
	x := f.state
	for len(w) >= 4 {
		b := w[:4:4]
		b[0], b[1], b[2], b[3] = wyrand(x), wyrand(x+wyStep), wyrand(x+wyStep*2&mask), wyrand(x+wyStep*3&mask)
		x += wyStep * 4 & mask
		w = w[4:]
	}
	f.state = x
}

const (
	mask   = 1<<64 - 1
	wyStep = 0x2d358dccaa6c78a5
)

func wyrand(x uint64) uint64 {
	hi, lo := bits.Mul64(x, x^0x8bb84b93962eacc9)
	return hi ^ lo
}

// sectorWords is a sector of 512 bytes, the least that a drive may look at.
const sectorWords = 512 / 8

// stamp makes every sector of a block differ from every other one that this
// pass writes (the mixed sequence number) and, but for chance, any pass of
// another seed (the mixed offset and key). Both words look random, so that
// they do not compress. Unlike fill it leaves the rest as it was: a
// deduplicator that finds parts of a sector is not fooled.
func (f *filler) stamp(w []uint64, offset int64) {
	at := uint64(offset) / 512
	for len(w) >= sectorWords {
		w[0] = mix64(f.seq ^ f.key)
		w[1] = mix64(at + f.key)
		f.seq, at, w = f.seq+1, at+1, w[sectorWords:]
	}
}

// compressible overwrites a block with fresh random data of which so many
// percent of each sector are zeroes, at its end.
func (f *filler) compressible(w []uint64, percent int) {
	for len(w) >= sectorWords {
		n := sectorWords - sectorWords*percent/100
		f.fill(w[:(n+3)/4*4])
		clear(w[n:sectorWords])
		w = w[sectorWords:]
	}
}
