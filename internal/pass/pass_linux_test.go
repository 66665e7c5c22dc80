package pass

import (
	"math/bits"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nativ/internal/record"
	"nativ/internal/sys"
)

func TestClock(t *testing.T) {
	c := NewClock()
	for range 100 {
		a, m, b := sys.MonoNow(), c.Now(), sys.MonoNow()
		// The offset is known to within a bracket of two system calls.
		const slack = int64(50 * time.Microsecond)
		if m < a-slack || m > b+slack {
			t.Fatalf("clock reads %d between %d and %d of CLOCK_MONOTONIC", m, a, b)
		}
	}
}

// TestTake: any mix of claims adds up to the limit exactly.
func TestTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(0, 1<<20).Draw(t, "limit")
		p := &Pass{jobs: make([]*Job, rapid.IntRange(1, 64).Draw(t, "jobs"))}
		p.budget.Store(limit)
		sum := int64(0)
		for {
			want := rapid.Int64Range(1, 1<<40).Draw(t, "want")
			n := p.take(want)
			if n == 0 {
				break
			}
			if n < 0 || n > want {
				t.Fatalf("take(%d) = %d", want, n)
			}
			sum += n
		}
		if sum != limit {
			t.Fatalf("claims add up to %d of %d", sum, limit)
		}
	})
}

// TestMailbox: a reporter that lags loses seconds and is told which.
func TestMailbox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := [dirs]bool{true, true, true}
		var m mailbox
		for i := range m.slots {
			m.slots[i] = newInterval(all)
		}
		posted, read := int64(0), int64(0)
		kept := map[int64]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"post": func(*rapid.T) {
				iv := newInterval(all)
				iv.flows[Write].Add(posted + 1)
				kept[posted] = posted-read < slots
				m.post(iv)
				posted++
			},
			"get": func(t *rapid.T) {
				if m.published.Load() <= read {
					t.Skip("nothing there")
				}
				iv := m.get(read)
				if (iv != nil) != kept[read] {
					t.Fatalf("interval %d there is %t, want %t", read, iv != nil, kept[read])
				}
				if iv != nil && (iv.flows[Write].n != 1 || iv.flows[Write].sum != read+1) {
					t.Fatalf("interval %d holds %d", read, iv.flows[Write].sum)
				}
				m.done(read)
				read++
			},
		})
	})
}

// TestHist: the compact histogram is the one of the record.
func TestHist(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want record.Histogram
		h, sum := new(Hist), newTotal()
		h.reset()
		for _, ns := range rapid.SliceOf(rapid.Int64Range(0, 1<<36)).Draw(t, "latencies") {
			if rapid.Bool().Draw(t, "interval over") {
				sum.add(h)
				h.reset()
			}
			h.Add(ns)
			want.Add(ns)
		}
		sum.add(h)
		got := sum.histogram()
		if got.N() != want.N() || got.Min != want.Min || got.Max != want.Max || got.Sum != want.Sum || !slices.Equal(got.Counts, want.Counts) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestBelow: offsets stay in range and reach all of it.
func TestBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := splitMix(rapid.Uint64().Draw(t, "seed"))
		n := rapid.Uint64Min(1).Draw(t, "n")
		if v := s.below(n); v >= n {
			t.Fatalf("%d is not below %d", v, n)
		}
	})
	s, seen := splitMix(1), uint64(0)
	for range 1000 {
		seen |= 1 << s.below(64)
	}
	if bits.OnesCount64(seen) != 64 {
		t.Errorf("1000 draws from 64 hit %d", bits.OnesCount64(seen))
	}
}

// TestFillStreams: jobs, seeds and blocks never share a word of a block.
func TestFillStreams(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(8) {
		for job := range 8 {
			f := newFiller(seed, job)
			w := make([]uint64, 512)
			for range 4 {
				f.fill(w)
				for _, x := range w[:8] { // a chance of 2^-40 or so
					if seen[x] {
						t.Fatalf("seed %d, job %d: word %#x came before", seed, job, x)
					}
					seen[x] = true
				}
			}
		}
	}
}

// TestPerm: every number below n once, then in another order.
func TestPerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 5000).Draw(t, "n")
		seed := splitMix(rapid.Uint64().Draw(t, "seed"))
		p := newPerm(n)
		var rounds [2][]uint64
		for i := range rounds {
			p.shuffle(&seed)
			seen := make([]bool, n)
			for range n {
				x := p.next()
				if x >= n || seen[x] {
					t.Fatalf("round %d: %d of %d came twice or is beyond", i, x, n)
				}
				seen[x] = true
				rounds[i] = append(rounds[i], x)
			}
		}
		if n > 20 && slices.Equal(rounds[0], rounds[1]) {
			t.Fatal("the rounds are equal")
		}
	})
	// Neighbours in time are no neighbours in space: by chance 2 of 3 steps are
	// longer than a sixth of the whole or so; a walk would have none.
	p, seed := newPerm(1000), splitMix(3)
	p.shuffle(&seed)
	long, last := 0, p.next()
	for range 999 {
		x := p.next()
		if max(x, last)-min(x, last) > 1000/6 {
			long++
		}
		last = x
	}
	if long < 600 || long > 800 {
		t.Errorf("%d of 999 steps are long; want about 694", long)
	}
}

// TestCompressible: so much of every sector is zeroes, and no two are equal.
func TestCompressible(t *testing.T) {
	f := newFiller(1, 0)
	for _, percent := range []int{1, 30, 50, 99, 100} {
		w := make([]uint64, 4*sectorWords)
		f.fill(w)
		f.compressible(w, percent)
		zeroes := 0
		for _, x := range w {
			if x == 0 {
				zeroes++
			}
		}
		if want := sectorWords * percent / 100 * 4; zeroes != want {
			t.Errorf("%d%%: %d words are zero, want %d", percent, zeroes, want)
		}
		if percent < 99 && slices.Equal(w[:sectorWords], w[sectorWords:2*sectorWords]) {
			t.Errorf("%d%%: two sectors are equal", percent)
		}
	}
}

func BenchmarkPerm(b *testing.B) {
	p, seed := newPerm(1<<20+1), splitMix(1) // the worst case
	p.shuffle(&seed)
	for b.Loop() {
		p.next()
	}
}

func BenchmarkFill(b *testing.B) {
	f := newFiller(1, 0)
	w := make([]uint64, 1<<20/8)
	b.SetBytes(1 << 20)
	for b.Loop() {
		f.fill(w)
	}
}

func BenchmarkStamp128K(b *testing.B) {
	f := newFiller(1, 0)
	w := make([]uint64, 128<<10/8)
	b.SetBytes(128 << 10)
	for b.Loop() {
		f.stamp(w, 0)
	}
}

// BenchmarkNext is what a job costs beside its driver, for batches of 32.
func BenchmarkNext(b *testing.B) {
	for _, ph := range []phase{
		{Name: "randread", Mode: "randread"},
		{Name: "read", Mode: "read"},
		{Name: "randread map", Mode: "randread", RandomMap: true},
	} {
		b.Run(ph.Name, func(b *testing.B) {
			ph.BlockSize, ph.IODepth, ph.NumJobs, ph.RuntimeNS = 4096, 32, 1, 1
			p := &Pass{phase: ph, depth: 32, fds: []int{0}, sizes: []int64{256 << 20}}
			j := newJob(p, 0)
			for b.Loop() {
				j.Submitted(j.Fill(1), 1)
				for slot := range uint32(32) {
					j.Done(slot, 50_000)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/io")
		})
	}
}
