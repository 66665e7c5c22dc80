package uring

import (
	"math/bits"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/worker/enginetest"
)

// TestLoopDoesNotAllocate drives the loop itself on a real ring and file.
func TestLoopDoesNotAllocate(t *testing.T) {
	needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const size = 4 << 20
	tk := enginetest.File(t, testDir(t), size)
	for _, ph := range []job.Phase{
		{Mode: job.Write, BlockSize: 64 << 10, IODepth: 4, Unique: true},
		{Mode: job.RandWrite, BlockSize: 4 << 10, IODepth: 8, FDataSync: 16},
		{Mode: job.Read, BlockSize: 64 << 10, IODepth: 4},
		{Mode: job.RandRead, BlockSize: 4 << 10, IODepth: 32},
	} {
		t.Run(string(ph.Mode), func(t *testing.T) {
			const blocks = 64
			ph.Name, ph.NumJobs, ph.Direct, ph.MaxBytes = "t", 1, true, blocks*ph.BlockSize
			p, err := newPass(ph, enginetest.Claim(t, tk, ph.Mode.Writes(), true))
			if err != nil {
				t.Fatal(err)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			th := p.threads[0]
			defer th.release()
			if err := th.setup(); err != nil {
				t.Fatal(err)
			}
			p.deadlineNS = 1<<63 - 1
			runs := 0
			n := testing.AllocsPerRun(10, func() {
				p.budget.Store(blocks)
				p.startNS = p.clock.now() - 3*second/2 // so that intervals are published too
				th.exhausted, th.boundary = false, p.startNS+second
				th.turn(p.startNS)
				th.loop(p.startNS)
				th.publish()
				runs++
			})
			if n != 0 {
				t.Errorf("%v allocations a pass", n)
			}
			if len(th.errs) > 0 || th.inflight() != 0 || th.io.n != int64(runs*blocks) {
				t.Errorf("%d I/Os, %d in flight, errors %+v; want %d", th.io.n, th.inflight(), th.errs, runs*blocks)
			}
		})
	}
}

// TestGOMAXPROCS: the engine refuses to starve the rest of the program.
func TestGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	ph := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 2, Direct: true, Once: true}
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), 1<<20), false, true)
	if _, err := new(Engine).Run(t.Context(), ph, c, func(record.Event) {}); err == nil {
		t.Error("two jobs run with two processors")
	}
}

// TestReadyTellsEngine: the engine as it ran is the engine as it was probed.
func TestReadyTellsEngine(t *testing.T) {
	e := needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	want, err := e.Probe()
	if err != nil {
		t.Fatal(err)
	}
	ph := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1, Direct: true, MaxBytes: 4096}
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), 1<<20), false, true)
	_, err = e.Run(t.Context(), ph, c, func(ev record.Event) {
		if ev.Type != record.EventReady {
			return
		}
		if got := ev.Worker.Engine; !slices.Equal(got.Setup, want.Setup) || got.RegisteredFiles != want.RegisteredFiles || got.RegisteredRing != want.RegisteredRing {
			t.Errorf("ran as %+v, probed as %+v", got, want)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNothingLeft: a pass gives back its descriptors and mappings.
func TestNothingLeft(t *testing.T) {
	e := needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	ph := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 4, NumJobs: 2, Direct: true, MaxBytes: 1 << 16}
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), 1<<20), false, true)
	count := func() int {
		if _, err := e.Run(t.Context(), ph, c, func(record.Event) {}); err != nil {
			t.Fatal(err)
		}
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	if a, b := count(), count(); a != b {
		t.Errorf("%d descriptors after a pass, %d after another", a, b)
	}
}

func TestClock(t *testing.T) {
	c := newClock()
	for range 100 {
		a, m, b := sys.MonoNow(), c.now(), sys.MonoNow()
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
		p := &pass{threads: make([]*thread, rapid.IntRange(1, 64).Draw(t, "jobs"))}
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
		var m mailbox
		for i := range m.slots {
			m.slots[i] = newInterval(true)
		}
		posted, read := int64(0), int64(0)
		kept := map[int64]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"post": func(*rapid.T) {
				iv := newInterval(true)
				iv.io.add(posted + 1)
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
				if iv != nil && (iv.io.n != 1 || iv.io.sum != read+1) {
					t.Fatalf("interval %d holds %d", read, iv.io.sum)
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
		h, sum := new(hist), newTotal()
		h.reset()
		for _, ns := range rapid.SliceOf(rapid.Int64Range(0, 1<<36)).Draw(t, "latencies") {
			if rapid.Bool().Draw(t, "interval over") {
				sum.add(h)
				h.reset()
			}
			h.add(ns)
			want.Add(ns)
		}
		sum.add(h)
		got := sum.flow(1).Lat
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
