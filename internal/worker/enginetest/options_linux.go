package enginetest

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker"
)

// RunOptions runs the tests of what a phase may ask for beside the plain thing,
// for an engine that can do all of it and trace what it did.
func RunOptions(t *testing.T, e worker.Engine, dir string, excuses ...Excuse) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	s := suite{e: e, dir: dir, excuses: excuses}
	s.run(t, "mixed", s.mixed)
	s.run(t, "random map", s.randomMap)
	s.run(t, "offset and size", s.offsets)
	s.run(t, "files", s.files)
	s.run(t, "ramp", s.ramp)
	s.run(t, "rate", s.rate)
	s.run(t, "thinktime", s.thinktime)
	s.run(t, "fsync", s.fsync)
	s.run(t, "sync", s.syncFile)
	s.run(t, "buffers", s.buffers)
	s.run(t, "cpus", s.cpus)
	s.run(t, "page cache", s.pageCache)
}

// trace runs one traced pass and returns its outcome and I/Os.
func (s *suite) trace(t *testing.T, p job.Phase, files ...*target.Claim) (*record.Outcome, []record.TraceIO) {
	t.Helper()
	p.Trace = true
	var evs []record.Event
	var ios []record.TraceIO
	o, err := s.e.Run(t.Context(), p, files, func(e record.Event) {
		evs = append(evs, e)
		ios = append(ios, slices.Clone(e.Trace)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.check(t, p, o, evs)
	var n int64
	for i, io := range ios {
		if io.MonoNS > o.EndNS || p.RampTimeNS == 0 && io.MonoNS < o.StartNS || i > 0 && io.MonoNS < ios[i-1].MonoNS && o.ElapsedNS() < 5e8 {
			t.Fatalf("I/O %d, %+v, is not in the order of time or not in the pass from %d to %d", i, io, o.StartNS, o.EndNS)
		}
		if io.Op == "read" || io.Op == "write" {
			n++
		}
	}
	var counted int64
	for _, f := range []*record.Flow{o.Read, o.Write} {
		if f == nil {
			continue
		}
		counted += f.IOs
		if f.Slat != nil && (f.Slat.N() != f.IOs || f.Clat.N() != f.IOs || f.Slat.Sum+f.Clat.Sum != f.Lat.Sum) {
			t.Errorf("%d slat of %d ns and %d clat of %d ns are not %d lat of %d ns",
				f.Slat.N(), f.Slat.Sum, f.Clat.N(), f.Clat.Sum, f.IOs, f.Lat.Sum)
		}
	}
	if p.RampTimeNS == 0 && counted != n {
		t.Errorf("%d I/Os are in the trace, %d were counted", n, counted)
	}
	return o, ios
}

// hits counts the I/Os of an operation by file and block of bs bytes.
func hits(ios []record.TraceIO, op string, file int, bs int64) map[int64]int {
	m := map[int64]int{}
	for _, io := range ios {
		if io.Op == op && io.File == file {
			for at := io.Offset; at < io.Offset+io.Len; at += bs {
				m[at/bs]++
			}
		}
	}
	return m
}

// wantBlocks checks that exactly the blocks from first to before last were
// touched, each so often.
func wantBlocks(t *testing.T, got map[int64]int, first, last int64, times int) {
	t.Helper()
	for b := first; b < last; b++ {
		if got[b] != times {
			t.Fatalf("block %d was touched %d times; want %d", b, got[b], times)
		}
	}
	if int64(len(got)) != last-first {
		t.Fatalf("%d blocks were touched; want %d to %d", len(got), first, last)
	}
}

const bs4k = 4 * kib

func phaseOf(m job.Mode, depth int) job.Phase {
	return job.Phase{Name: "t", Mode: m, BlockSize: bs4k, IODepth: depth, NumJobs: 1, Direct: true, Once: true, RandSeed: 9}
}

// mixed: reads and writes each walk the file, in the shares that were asked
// for, and end together when they have moved as much as the file has.
func (s *suite) mixed(t *testing.T) {
	const size = 8 * mib
	tk := s.prefilled(t, size)
	c := Claim(t, tk, true, true)
	p := phaseOf(job.ReadWrite, 4)
	p.RWMixRead = 70
	o, ios := s.trace(t, p, c)
	stopped(t, o, record.StopOnce)
	if o.Read.Bytes+o.Write.Bytes != size {
		t.Errorf("%d bytes were read and %d written", o.Read.Bytes, o.Write.Bytes)
	}
	// 2048 draws; five standard deviations of the share are 0.05.
	if share := float64(o.Read.IOs) / 2048; share < 0.65 || share > 0.75 {
		t.Errorf("%.2f are reads", share)
	}
	wantBlocks(t, hits(ios, "read", 0, bs4k), 0, o.Read.IOs, 1)
	wantBlocks(t, hits(ios, "write", 0, bs4k), 0, o.Write.IOs, 1)

	// Two block sizes; it ends when less than the larger is left.
	p.RWMixRead, p.WriteBlockSize, p.RandSeed = 50, 16*kib, 10
	o, ios = s.trace(t, p, c)
	stopped(t, o, record.StopOnce)
	if left := size - o.Read.Bytes - o.Write.Bytes; left < 0 || left >= p.WriteBlockSize {
		t.Errorf("%d bytes are left", left)
	}
	wantBlocks(t, hits(ios, "read", 0, bs4k), 0, o.Read.IOs, 1)
	wantBlocks(t, hits(ios, "write", 0, 16*kib), 0, o.Write.IOs, 1)

	// The map is one for both directions.
	p = phaseOf(job.RandRW, 8)
	p.RWMixRead, p.RandomMap, p.RandSeed = 30, true, 11
	_, ios = s.trace(t, p, c)
	both := hits(ios, "read", 0, bs4k)
	for b, n := range hits(ios, "write", 0, bs4k) {
		both[b] += n
	}
	wantBlocks(t, both, 0, size/bs4k, 1)
	// Blocks that were overwritten after a read into their buffer hold no
	// copies of what was read.
	distinct(t, tk.Path, size)
}

func (s *suite) randomMap(t *testing.T) {
	const blocks = 1000
	tk := File(t, s.dir, blocks*bs4k)
	c := Claim(t, tk, false, true)
	p := phaseOf(job.RandRead, 8)
	p.RandomMap, p.NumJobs = true, 2
	o, ios := s.trace(t, p, c)
	stopped(t, o, record.StopOnce)
	wantBlocks(t, hits(ios, "read", 0, bs4k), 0, blocks, 2) // each job has its own

	// Round by round.
	p.NumJobs, p.Once, p.MaxBytes = 1, false, 5*blocks/2*bs4k
	_, ios = s.trace(t, p, c)
	wantBlocks(t, hits(ios[:blocks], "read", 0, bs4k), 0, blocks, 1)
	wantBlocks(t, hits(ios[:2*blocks], "read", 0, bs4k), 0, blocks, 2)
	at := func(ios []record.TraceIO) (off []int64) {
		for _, io := range ios {
			off = append(off, io.Offset)
		}
		return off
	}
	first := at(ios[:blocks])
	if slices.IsSorted(first) || slices.Equal(first, at(ios[blocks:2*blocks])) {
		t.Error("the order is no random one, or the same in each round")
	}
}

func (s *suite) offsets(t *testing.T) {
	const size = 4 * mib
	c := Claim(t, File(t, s.dir, size), true, true)
	mibs := func(n int64) job.Size { return job.Size{Bytes: n * mib} }
	percent := func(n int) job.Size { return job.Size{Percent: n} }
	for _, tt := range []struct {
		name        string
		change      func(*job.Phase)
		first, last int64 // in blocks
		times       int
	}{
		{"offset", func(p *job.Phase) { p.Offset = mibs(1) }, 256, 1024, 1},
		{"size", func(p *job.Phase) { p.Offset, p.Size = mibs(1), mibs(2) }, 256, 768, 1},
		{"percent", func(p *job.Phase) { p.Offset, p.Size = percent(25), percent(50) }, 256, 768, 1},
		{"increment", func(p *job.Phase) { p.OffsetIncrement, p.Size, p.NumJobs = mibs(1), mibs(1), 3 }, 0, 768, 1},
		{"overlap", func(p *job.Phase) { p.Size, p.NumJobs = mibs(1), 3 }, 0, 256, 3},
		{"less", func(p *job.Phase) { p.IOSize = mibs(1) }, 0, 256, 1},
		{"more", func(p *job.Phase) { p.Size, p.IOSize = mibs(1), mibs(3) }, 0, 256, 3},
		{"random", func(p *job.Phase) {
			p.Mode, p.RandomMap, p.Offset, p.Size = job.RandWrite, true, mibs(1), percent(50)
		}, 256, 768, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := phaseOf(job.Write, 4)
			tt.change(&p)
			o, ios := s.trace(t, p, c)
			stopped(t, o, record.StopOnce)
			wantBlocks(t, hits(ios, "write", 0, bs4k), tt.first, tt.last, tt.times)
		})
	}
	p := phaseOf(job.Write, 1)
	p.Size = mibs(5)
	if _, err := s.e.Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {}); err == nil {
		t.Error("a region beyond the end of the file was taken")
	}
}

// files: one I/O each in turn, and what is longer goes on alone.
func (s *suite) files(t *testing.T) {
	long, short := Claim(t, File(t, s.dir, 64*bs4k), true, true), Claim(t, File(t, s.dir, 16*bs4k), true, true)
	p := phaseOf(job.Write, 4)
	o, ios := s.trace(t, p, long, short)
	stopped(t, o, record.StopOnce)
	for i, io := range ios[:32] {
		if io.File != i%2 || io.Offset != int64(i/2)*bs4k {
			t.Fatalf("I/O %d is %+v", i, io)
		}
	}
	wantBlocks(t, hits(ios, "write", 0, bs4k), 0, 64, 1)
	wantBlocks(t, hits(ios, "write", 1, bs4k), 0, 16, 1)

	// Bytes are shared out between the files.
	p.Mode, p.RandomMap, p.Size, p.FSync = job.RandWrite, true, job.Size{Bytes: 32 * bs4k}, 8
	o, ios = s.trace(t, p, long, short)
	wantBlocks(t, hits(ios, "write", 0, bs4k), 0, 16, 1)
	wantBlocks(t, hits(ios, "write", 1, bs4k), 0, 16, 1)
	if o.Sync.IOs != 8 { // four times both
		t.Errorf("%d fsyncs", o.Sync.IOs)
	}
}

func (s *suite) ramp(t *testing.T) {
	c := Claim(t, s.prefilled(t, 4*mib), true, true)
	p := phaseOf(job.RandRead, 4)
	p.Once, p.RampTimeNS, p.RuntimeNS = false, 2e8, 3e8
	var ready int64
	var evs []record.Event
	o, err := s.e.Run(t.Context(), p, []*target.Claim{c}, func(e record.Event) {
		if evs = append(evs, e); e.Type == record.EventReady {
			ready = e.MonoNS
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.check(t, p, o, evs)
	stopped(t, o, record.StopTime)
	if o.StartNS < ready+p.RampTimeNS || o.ElapsedNS() < p.RuntimeNS || o.Read.IOs == 0 {
		t.Errorf("pass from %d to %d, ready at %d, with %d I/Os", o.StartNS, o.EndNS, ready, o.Read.IOs)
	}
	// What was done in the ramp does not count.
	o, ios := s.trace(t, p, c)
	before := 0
	for _, io := range ios {
		if io.MonoNS < o.StartNS {
			before++
		}
	}
	if n := int64(len(ios)); before == 0 || o.Read.IOs > n-int64(before)+int64(p.IODepth) || o.Read.IOs < n-int64(before) {
		t.Errorf("%d I/Os, %d of them in the ramp, but %d counted", n, before, o.Read.IOs)
	}
	// All done in the ramp.
	p.Once, p.RampTimeNS, p.Size = true, 1e10, job.Size{Bytes: 16 * bs4k}
	start := time.Now()
	if _, err := s.e.Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {}); err == nil {
		t.Error("a pass without a result has one")
	}
	if time.Since(start) > 5*time.Second {
		t.Error("the ramp was waited for although nothing went on")
	}
}

// rate: lower bounds of the time only, which hold on a machine of any load.
func (s *suite) rate(t *testing.T) {
	c := Claim(t, s.prefilled(t, 4*mib), true, true)
	p := phaseOf(job.RandRead, 8)
	p.IOSize, p.ReadIOPS, p.NumJobs = job.Size{Bytes: 101 * bs4k}, 500, 2
	o, _ := s.trace(t, p, c)
	stopped(t, o, record.StopOnce)
	if o.Read.IOs != 202 || o.ElapsedNS() < 2e8 {
		t.Errorf("%d I/Os in %d ns; want 202 in 200 ms at least", o.Read.IOs, o.ElapsedNS())
	}
	// Each direction has its own rate.
	p = phaseOf(job.RandRW, 8)
	p.RWMixRead, p.ReadIOPS, p.WriteIOPS, p.Once, p.RuntimeNS = 50, 300, 100, false, 5e8
	o, _ = s.trace(t, p, c)
	if o.Read.IOs > 151 || o.Write.IOs > 51 || o.Read.IOs == 0 || o.Write.IOs == 0 {
		t.Errorf("%d reads and %d writes in half a second of 300 and 100", o.Read.IOs, o.Write.IOs)
	}
}

func (s *suite) thinktime(t *testing.T) {
	c := Claim(t, s.prefilled(t, 4*mib), true, true)
	p := phaseOf(job.Read, 8)
	p.IOSize, p.ThinkTimeNS = job.Size{Bytes: 20 * bs4k}, 5e6
	o, ios := s.trace(t, p, c)
	stopped(t, o, record.StopOnce)
	for i := 1; i < len(ios); i++ {
		if d := ios[i].MonoNS - ios[i-1].MonoNS; d < p.ThinkTimeNS {
			t.Fatalf("I/O %d came %d ns after the one before", i, d)
		}
	}
}

func (s *suite) fsync(t *testing.T) {
	c := Claim(t, s.prefilled(t, 4*mib), true, true)
	p := phaseOf(job.Write, 4)
	p.IOSize, p.FSync, p.FDataSync, p.EndFSync = job.Size{Bytes: 10 * bs4k}, 4, 3, true
	o, ios := s.trace(t, p, c)
	stopped(t, o, record.StopOnce)
	var order []byte
	for _, io := range ios {
		order = append(order, map[string]byte{"write": 'w', "fsync": 'f', "fdatasync": 'd'}[io.Op])
	}
	// That at the end is in the trace and not counted.
	if string(order) != "wwwdwfwwdwwfwdwf" || o.Sync.IOs != 5 {
		t.Errorf("%s with %d syncs", order, o.Sync.IOs)
	}

	// The end of the time is an end too; reads have nothing to sync.
	p = phaseOf(job.RandRW, 4)
	p.Once, p.RuntimeNS, p.RWMixRead, p.EndFSync = false, 1e8, 50, true
	_, ios = s.trace(t, p, c)
	if last := ios[len(ios)-1]; last.Op != "fsync" {
		t.Errorf("the last is %+v", last)
	}
	p.RWMixRead = 100
	_, ios = s.trace(t, p, c)
	if last := ios[len(ios)-1]; last.Op != "read" {
		t.Errorf("the last is %+v", last)
	}
}

// syncFile: the file must be open as the phase says.
func (s *suite) syncFile(t *testing.T) {
	tk := s.prefilled(t, mib)
	for _, open := range []job.Sync{job.SyncNone, job.SyncFile, job.SyncDSync} {
		tk.Sync = string(open)
		c := Claim(t, tk, true, true)
		for _, want := range []job.Sync{"", job.SyncFile, job.SyncDSync} {
			p := phaseOf(job.Write, 2)
			p.Sync = want
			o, err := s.e.Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {})
			if same := open == want || open == job.SyncNone && want == ""; same != (err == nil) {
				t.Errorf("sync=%s on a file with sync=%s: %v", want, open, err)
			} else if same {
				stopped(t, o, record.StopOnce)
			}
		}
	}
}

func (s *suite) buffers(t *testing.T) {
	tk := s.prefilled(t, mib)
	c := Claim(t, tk, true, true)
	zeroes := func() int {
		n := 0
		for _, b := range blocks(t, tk.Path) {
			for i := range len(b) {
				if b[i] == 0 {
					n++
				}
			}
		}
		return n
	}
	p := phaseOf(job.Write, 4)
	p.ZeroBuffers = true
	s.trace(t, p, c)
	if n := zeroes(); n != mib {
		t.Errorf("%d bytes of %d are zero", n, mib)
	}
	p.ZeroBuffers, p.CompressPercent = false, 25
	s.trace(t, p, c)
	// A byte of the rest is zero with a chance of 1/256.
	if n := float64(zeroes()) / mib; n < 0.25 || n > 0.26 {
		t.Errorf("%.3f of the bytes are zero", n)
	}
	// Zeroes even where reads came into the same buffers.
	p = phaseOf(job.ReadWrite, 4)
	p.ZeroBuffers, p.RWMixRead, p.IOSize = true, 50, job.Size{Bytes: 4 * mib}
	_, ios := s.trace(t, p, c)
	now, zero := blocks(t, tk.Path), string(make([]byte, bs4k))
	for b := range hits(ios, "write", 0, bs4k) {
		if now[b] != zero {
			t.Fatalf("block %d is not zero", b)
		}
	}
}

func (s *suite) cpus(t *testing.T) {
	c := Claim(t, s.prefilled(t, mib), false, true)
	p := phaseOf(job.Read, 2)
	p.CPUs = []int{8000}
	if _, err := s.e.Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {}); err == nil {
		t.Error("ran on a CPU that does not exist")
	}
	p.CPUs = []int{allowedCPU(t)}
	o, _ := s.trace(t, p, c)
	stopped(t, o, record.StopOnce)
}

// pageCache: without O_DIRECT on a filesystem that has none.
func (s *suite) pageCache(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "nativ-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	c := Claim(t, File(t, dir, mib), true, false)
	for _, m := range job.Modes() {
		p := phaseOf(m, 4)
		p.Direct, p.RandomMap, p.RWMixRead = false, m.Random(), 50
		o, ios := s.trace(t, p, c)
		stopped(t, o, record.StopOnce)
		if len(ios) != mib/bs4k {
			t.Errorf("%s: %d I/Os", m, len(ios))
		}
	}
	p := phaseOf(job.Read, 1)
	if _, err := s.e.Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {}); err == nil {
		t.Error("direct=1 on a file that is not open so was taken")
	}
}

// allowedCPU is a CPU that this process may use.
func allowedCPU(t *testing.T) int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for cpu := range 1024 {
		if set.IsSet(cpu) {
			return cpu
		}
	}
	t.Fatal("no CPU is allowed")
	return 0
}
