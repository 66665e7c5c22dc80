package enginetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// Run runs the suite for an engine that works here, on files in dir, which
// must be on a filesystem that can do direct I/O.
func Run(t *testing.T, e worker.Engine, dir string, excuses ...Excuse) {
	// As a worker does; an engine may block its threads in the kernel.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	s := suite{e: e, dir: dir, excuses: excuses}
	s.run(t, "probe", s.probe)
	s.run(t, "events", s.events)
	s.run(t, "once", s.once)
	s.run(t, "max bytes", s.maxBytes)
	s.run(t, "stamped data", s.stamped)
	s.run(t, "reads write nothing", s.readOnly)
	s.run(t, "regions", s.regions)
	s.run(t, "clones", s.clones)
	s.run(t, "random offsets", s.randomOffsets)
	s.run(t, "fdatasync", s.fdatasync)
	s.run(t, "cancel", s.cancel)
	s.run(t, "cancel before go", s.cancelBeforeGo)
	s.run(t, "short", s.short)
	s.run(t, "refusals", s.refusals)
}

// An Excuse is a part of the suite that an engine cannot pass, with the reason:
// the name of a part, or NoPercentiles or NoUsage.
type Excuse struct{ Part, Reason string }

const (
	// NoPercentiles: intervals have no percentiles.
	NoPercentiles = "percentiles of intervals"
	// NoUsage: a pass that was not started used nothing.
	NoUsage = "usage before go"
)

// run runs a part of the suite, unless it is excused.
func (s *suite) run(t *testing.T, name string, part func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		if why, ok := s.excused(name); ok {
			t.Skip(why)
		}
		part(t)
	})
}

func (s *suite) excused(part string) (why string, ok bool) {
	for _, e := range s.excuses {
		if e.Part == part {
			return e.Reason, true
		}
	}
	return "", false
}

type suite struct {
	e       worker.Engine
	dir     string
	excuses []Excuse
}

// File makes a file of size bytes in dir, as a run would, and returns a ticket
// for it. The file is gone at the end of the test.
func File(t testing.TB, dir string, size int64) target.Ticket {
	t.Helper()
	var nonce [16]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		t.Fatal(err)
	}
	tk := target.Ticket{Size: size, Nonce: hex.EncodeToString(nonce[:]), Direct: true}
	tk.Path = filepath.Join(dir, "nativ-"+tk.Nonce+".dat")
	f, err := os.Create(tk.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(tk.Path) })
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	st := fi.Sys().(*syscall.Stat_t)
	tk.Ino = st.Ino
	tk.DevMajor, tk.DevMinor = devNumbers(st.Dev)
	return tk
}

// Claim reopens the file of a ticket for the end of the test.
func Claim(t testing.TB, tk target.Ticket, write, direct bool) *target.Claim {
	t.Helper()
	tk.Write, tk.Direct = write, direct
	c, err := target.Reopen(tk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// pass runs one pass that must have an outcome, checks what holds for every
// one, and returns it with its events.
func (s *suite) pass(t *testing.T, ctx context.Context, p job.Phase, c *target.Claim) (*record.Outcome, []record.Event) {
	t.Helper()
	var evs []record.Event
	o, err := s.e.Run(ctx, p, []*target.Claim{c}, func(e record.Event) { evs = append(evs, e) })
	if err != nil {
		t.Fatal(err)
	}
	s.check(t, p, o, evs)
	return o, evs
}

// check checks what holds for every pass that nobody disturbed from outside
// the machine.
func (s *suite) check(t *testing.T, p job.Phase, o *record.Outcome, evs []record.Event) {
	t.Helper()
	var types []string
	evs = slices.DeleteFunc(slices.Clone(evs), func(e record.Event) bool { return e.Type == record.EventTrace })
	for _, e := range evs {
		types = append(types, e.Type)
	}
	n := len(types)
	if n < 4 || types[0] != record.EventReady || types[1] != record.EventStarted || types[n-1] != record.EventEnded {
		t.Fatalf("events are %v; want ready, started, interval..., ended", types)
	}
	if evs[1].MonoNS != o.StartNS || evs[n-1].MonoNS != o.EndNS || evs[0].MonoNS > o.StartNS {
		t.Errorf("ready %d, started %d, ended %d do not fit an outcome from %d to %d",
			evs[0].MonoNS, evs[1].MonoNS, evs[n-1].MonoNS, o.StartNS, o.EndNS)
	}
	if o.ElapsedNS() <= 0 {
		t.Errorf("elapsed time is %d", o.ElapsedNS())
	}
	_, none := s.excused(NoUsage)
	none = none && o.Stopped == record.StopAsked
	if o.Usage.UserNS < 0 || o.Usage.SystemNS < 0 || o.Usage.UserNS+o.Usage.SystemNS == 0 && !none {
		t.Errorf("usage is %+v", o.Usage)
	}

	var sum record.Interval
	for _, e := range evs[2 : n-1] {
		iv := e.Interval
		if e.Type != record.EventInterval || iv == nil {
			t.Fatalf("events are %v; want only intervals between started and ended", types)
		}
		if sum.EndNS += iv.LenNS; iv.EndNS != sum.EndNS || iv.LenNS <= 0 || iv.LenNS > int64(time.Second) {
			t.Errorf("interval ends at %d with length %d; the lengths so far sum up to %d", iv.EndNS, iv.LenNS, sum.EndNS)
		}
		sum.ReadIOs, sum.ReadBytes = sum.ReadIOs+iv.ReadIOs, sum.ReadBytes+iv.ReadBytes
		sum.WriteIOs, sum.WriteBytes = sum.WriteIOs+iv.WriteIOs, sum.WriteBytes+iv.WriteBytes
		sum.SyncIOs += iv.SyncIOs
		ios := iv.ReadIOs + iv.WriteIOs
		if p.Syncs() {
			ios = iv.SyncIOs
		}
		if _, none := s.excused(NoPercentiles); none {
			ios = 0
		}
		if (ios > 0) != (iv.P50NS != nil && iv.P99NS != nil && iv.MaxNS != nil) {
			t.Errorf("interval with %d I/Os has percentiles %v %v %v", ios, iv.P50NS, iv.P99NS, iv.MaxNS)
		}
		if ios > 0 && (*iv.P50NS > *iv.P99NS || *iv.P99NS > *iv.MaxNS) {
			t.Errorf("interval has p50 %d, p99 %d, max %d", *iv.P50NS, *iv.P99NS, *iv.MaxNS)
		}
	}
	if o.IntervalsLost == 0 && sum.EndNS != o.ElapsedNS() {
		t.Errorf("intervals sum up to %d ns, the pass took %d", sum.EndNS, o.ElapsedNS())
	}

	flow := func(name string, f *record.Flow, want bool, bs, ios, bytes int64) {
		t.Helper()
		if (f != nil) != want {
			t.Fatalf("%s flow present is %t, want %t", name, f != nil, want)
		}
		if f == nil {
			f = &record.Flow{Lat: &record.Histogram{}}
		}
		if f.Bytes != f.IOs*bs {
			t.Errorf("%s: %d I/Os of %d have %d bytes", name, f.IOs, bs, f.Bytes)
		}
		if f.Lat.N() != f.IOs {
			t.Errorf("%s: %d I/Os have %d latencies", name, f.IOs, f.Lat.N())
		}
		if o.IntervalsLost == 0 && (ios != f.IOs || bytes != f.Bytes) {
			t.Errorf("%s: intervals hold %d I/Os and %d bytes, the pass %d and %d", name, ios, bytes, f.IOs, f.Bytes)
		}
		// What was issued in the ramp and came back after it may have taken longer.
		if f.IOs > 0 && (f.Lat.Min <= 0 || f.Lat.Max > o.ElapsedNS()+p.RampTimeNS) {
			t.Errorf("%s: latencies from %d to %d in a pass of %d", name, f.Lat.Min, f.Lat.Max, o.ElapsedNS())
		}
	}
	rbs, wbs := p.BlockSizes()
	flow("read", o.Read, p.Mode.Reads(), rbs, sum.ReadIOs, sum.ReadBytes)
	flow("write", o.Write, p.Mode.Writes(), wbs, sum.WriteIOs, sum.WriteBytes)
	flow("sync", o.Sync, p.Syncs(), 0, sum.SyncIOs, 0)
}

func stopped(t *testing.T, o *record.Outcome, want string) {
	t.Helper()
	if o.Stopped != want || (want != record.StopError && len(o.Errors) > 0) || o.Outstanding != 0 {
		t.Fatalf("stopped is %q with errors %+v and %d outstanding; want %q", o.Stopped, o.Errors, o.Outstanding, want)
	}
}

// prefilled is a file of size bytes that was written by the engine.
func (s *suite) prefilled(t *testing.T, size int64) target.Ticket {
	t.Helper()
	tk := File(t, s.dir, size)
	p := job.Prefill()
	p.RandSeed = 7
	o, _ := s.pass(t, t.Context(), p, Claim(t, tk, true, true))
	stopped(t, o, record.StopOnce)
	if o.Write.Bytes != size {
		t.Fatalf("prefill wrote %d bytes of %d", o.Write.Bytes, size)
	}
	return tk
}

func (s *suite) probe(t *testing.T) {
	e, err := s.e.Probe()
	if err != nil {
		t.Fatal(err)
	}
	if e.Name != s.e.Name() || e.Name == "" {
		t.Errorf("probe is of %q, the engine is %q", e.Name, s.e.Name())
	}
	if e.RegisteredBuffers {
		t.Error("buffers are registered, which a container above its RLIMIT_MEMLOCK cannot do")
	}
}

func (s *suite) events(t *testing.T) {
	tk := s.prefilled(t, 16*mib)
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4 * kib, IODepth: 4, NumJobs: 2, Direct: true, RuntimeNS: 1.2e9, RandSeed: 1}
	o, evs := s.pass(t, t.Context(), p, Claim(t, tk, false, true))
	stopped(t, o, record.StopTime)
	if o.ElapsedNS() < p.RuntimeNS {
		t.Errorf("ended after %d ns of %d", o.ElapsedNS(), p.RuntimeNS)
	}
	if len(evs) < 5 {
		t.Errorf("%d events; want at least two intervals", len(evs))
	}
	if evs[2].Interval.LenNS != int64(time.Second) {
		t.Errorf("first interval has %d ns", evs[2].Interval.LenNS)
	}
}

// once: the prefill covers the file, and no two blocks of 4 KiB are equal.
func (s *suite) once(t *testing.T) {
	tk := s.prefilled(t, 64*mib)
	distinct(t, tk.Path, 64*mib)

	// A sequential read of all of it takes each block once.
	p := job.Phase{Name: "t", Mode: job.Read, BlockSize: 128 * kib, IODepth: 8, NumJobs: 2, Direct: true, Split: true, Once: true}
	o, _ := s.pass(t, t.Context(), p, Claim(t, tk, false, true))
	stopped(t, o, record.StopOnce)
	if o.Read.Bytes != 64*mib {
		t.Errorf("read %d bytes", o.Read.Bytes)
	}
}

// distinct checks that a file is whole, incompressible, and has no two equal
// blocks of 4 KiB.
func distinct(t *testing.T, path string, size int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != size {
		t.Fatalf("file has %d bytes, want %d", len(b), size)
	}
	seen := map[[16]byte]int{}
	for off := 0; off < len(b); off += 4 * kib {
		h := sha256.Sum256(b[off : off+4*kib])
		k := [16]byte(h[:])
		if at, ok := seen[k]; ok {
			t.Fatalf("blocks at %d and %d are equal", at, off)
		}
		seen[k] = off
	}
	var n counter
	z, err := gzip.NewWriterLevel(&n, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if ratio := float64(n) / float64(len(b)); ratio < 0.98 {
		t.Errorf("gzip shrinks the file to %.3f", ratio)
	}
}

type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

func (s *suite) maxBytes(t *testing.T) {
	tk := s.prefilled(t, 16*mib)
	for _, p := range []job.Phase{
		{Mode: job.RandRead, BlockSize: 4 * kib, IODepth: 32, NumJobs: 4, MaxBytes: 1001 * 4 * kib},
		{Mode: job.Read, BlockSize: 64 * kib, IODepth: 3, NumJobs: 3, Split: true, MaxBytes: 40*mib + 1},
		{Mode: job.Write, BlockSize: 4 * kib, IODepth: 16, NumJobs: 2, MaxBytes: 333 * 4 * kib},
		{Mode: job.RandRead, BlockSize: 512, IODepth: 1, NumJobs: 4, MaxBytes: 512},
	} {
		p.Name, p.Direct, p.RandSeed = "t", true, 3
		o, _ := s.pass(t, t.Context(), p, Claim(t, tk, p.Mode.Writes(), true))
		stopped(t, o, record.StopBytes)
		f := o.Read
		if p.Mode.Writes() {
			f = o.Write
		}
		if want := p.MaxBytes / p.BlockSize; f.IOs != want {
			t.Errorf("%s: %d I/Os; want %d", p.Mode, f.IOs, want)
		}
	}
}

// stamped: also buffers that are filled once give no two equal blocks, over
// all jobs and passes.
func (s *suite) stamped(t *testing.T) {
	const size = 16 * mib
	tk := File(t, s.dir, size)
	p := job.Phase{Name: "t", Mode: job.Write, BlockSize: 4 * kib, IODepth: 4, NumJobs: 4, Direct: true, Split: true, Once: true, RandSeed: 1}
	c := Claim(t, tk, true, true)
	o, _ := s.pass(t, t.Context(), p, c)
	stopped(t, o, record.StopOnce)
	first := blocks(t, tk.Path)
	p.RandSeed = 2
	s.pass(t, t.Context(), p, c)
	seen := map[string]bool{}
	for i, b := range slices.Concat(first, blocks(t, tk.Path)) {
		if seen[b] {
			t.Fatalf("block %d of two passes is equal to one before", i)
		}
		seen[b] = true
	}
}

// blocks returns the file in blocks of 4 KiB.
func blocks(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for c := range slices.Chunk(b, 4*kib) {
		all = append(all, string(c))
	}
	return all
}

func (s *suite) readOnly(t *testing.T) {
	tk := s.prefilled(t, 8*mib)
	before := blocks(t, tk.Path)
	for _, m := range []job.Mode{job.Read, job.RandRead} {
		p := job.Phase{Name: "t", Mode: m, BlockSize: 4 * kib, IODepth: 8, NumJobs: 2, Direct: true, MaxBytes: 16 * mib}
		// A writable claim: only the mode keeps the engine from writing.
		s.pass(t, t.Context(), p, Claim(t, tk, true, true))
	}
	if !slices.Equal(before, blocks(t, tk.Path)) {
		t.Error("a read changed the file")
	}
}

// regions: with Split each job walks its own part. Half the budget of the file
// written by two jobs that start at 0 and at the middle leaves both ends of
// the parts alone.
func (s *suite) regions(t *testing.T) {
	const n, bs = 1024, 4 * kib
	tk := File(t, s.dir, n*bs)
	zero := string(make([]byte, bs))
	p := job.Phase{Name: "t", Mode: job.Write, BlockSize: bs, IODepth: 1, NumJobs: 4, Direct: true, Split: true, MaxBytes: 8 * bs}
	s.pass(t, t.Context(), p, Claim(t, tk, true, true))
	written := 0
	for i, b := range blocks(t, tk.Path) {
		if b == zero {
			continue
		}
		written++
		if in := i % (n / 4); in >= 8 {
			t.Errorf("block %d was written, %d blocks after the start of its part", i, in)
		}
	}
	if written != 8 {
		t.Errorf("%d blocks are written; want 8: the parts overlap", written)
	}

	// Without Once a job starts over at its own start.
	p = job.Phase{Name: "t", Mode: job.Write, BlockSize: bs, IODepth: 4, NumJobs: 1, Direct: true, MaxBytes: (n + 100) * bs}
	o, _ := s.pass(t, t.Context(), p, Claim(t, tk, true, true))
	stopped(t, o, record.StopBytes)
	if i := slices.Index(blocks(t, tk.Path), zero); i >= 0 {
		t.Errorf("block %d was left out", i)
	}
}

// clones: what each job did is told apart, and together it is the pass.
func (s *suite) clones(t *testing.T) {
	const jobs, each, bs = 3, 256, 4 * kib
	tk := s.prefilled(t, jobs*each*bs)
	p := job.Phase{Name: "t", Mode: job.Read, BlockSize: bs, IODepth: 4, NumJobs: jobs, Direct: true, Split: true, Once: true}
	if o, _ := s.pass(t, t.Context(), p, Claim(t, tk, false, true)); o.Clones != nil {
		t.Errorf("%d clones that nobody asked for", len(o.Clones))
	}
	p.PerClone = true
	o, _ := s.pass(t, t.Context(), p, Claim(t, tk, false, true))
	if len(o.Clones) != jobs {
		t.Fatalf("%d clones, want %d", len(o.Clones), jobs)
	}
	var lat record.Histogram
	last := int64(0)
	for i := range o.Clones {
		c := &o.Clones[i]
		if c.Read == nil || c.Read.IOs != each || c.Read.Bytes != each*bs || c.Write != nil || c.Sync != nil {
			t.Fatalf("clone %d: read %+v, write %+v, sync %+v", i, c.Read, c.Write, c.Sync)
		}
		if c.StartNS != o.StartNS || c.ElapsedNS() <= 0 || c.EndNS > o.EndNS || c.Stopped != record.StopOnce || c.Usage.UserNS < 0 || c.Usage.SystemNS < 0 {
			t.Errorf("clone %d: %d to %d, stopped %q, usage %+v", i, c.StartNS, c.EndNS, c.Stopped, c.Usage)
		}
		if (c.Read.Slat != nil) != (o.Read.Slat != nil) || (c.Read.Clat != nil) != (o.Read.Clat != nil) {
			t.Errorf("clone %d has other latencies than the pass", i)
		}
		lat.Merge(c.Read.Lat)
		last = max(last, c.EndNS)
	}
	if last != o.EndNS {
		t.Errorf("the last clone ended at %d, the pass at %d", last, o.EndNS)
	}
	if h := o.Read.Lat; lat.Min != h.Min || lat.Max != h.Max || lat.Sum != h.Sum || !slices.Equal(lat.Counts, h.Counts) {
		t.Error("the latencies of the clones are not those of the pass")
	}
	// One job is no clone.
	p.NumJobs, p.Split = 1, false
	if o, _ := s.pass(t, t.Context(), p, Claim(t, tk, false, true)); o.Clones != nil {
		t.Errorf("%d clones of one job", len(o.Clones))
	}
}

func (s *suite) randomOffsets(t *testing.T) {
	const n, bs = 256, 4 * kib
	tk := File(t, s.dir, n*bs+512) // the half block at the end is no block
	p := job.Phase{Name: "t", Mode: job.RandWrite, BlockSize: bs, IODepth: 8, NumJobs: 2, Direct: true, MaxBytes: n * bs, RandSeed: 5}
	c := Claim(t, tk, true, true)
	hit := func() (at []int) {
		if err := os.Truncate(tk.Path, 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(tk.Path, n*bs+512); err != nil {
			t.Fatal(err)
		}
		o, _ := s.pass(t, t.Context(), p, c)
		stopped(t, o, record.StopBytes)
		zero := string(make([]byte, bs))
		for i, b := range blocks(t, tk.Path) {
			if len(b) == bs && b != zero {
				at = append(at, i)
			}
		}
		return at
	}
	// Drawing 256 times from 256 hits 1-1/e of them, 162; five standard
	// deviations are 25. The seed is fixed but which job gets how much is not.
	first := hit()
	if len(first) < 137 || len(first) > 187 {
		t.Errorf("%d of %d blocks are hit; want about %d", len(first), n, 162)
	}
	p.NumJobs = 1
	one, again := hit(), hit()
	if !slices.Equal(one, again) {
		t.Error("the same seed gave other offsets")
	}
	if p.RandSeed++; slices.Equal(one, hit()) {
		t.Error("another seed gave the same offsets")
	}
}

func (s *suite) fdatasync(t *testing.T) {
	tk := s.prefilled(t, 4*mib)
	for _, every := range []int{1, 3} {
		p := job.Phase{Name: "t", Mode: job.Write, BlockSize: 4 * kib, IODepth: 2, NumJobs: 1, Direct: true, FDataSync: every, MaxBytes: 20 * 4 * kib}
		o, _ := s.pass(t, t.Context(), p, Claim(t, tk, true, true))
		stopped(t, o, record.StopBytes)
		if want := int64(20 / every); o.Write.IOs != 20 || o.Sync.IOs != want {
			t.Errorf("fdatasync=%d: %d writes and %d syncs; want 20 and %d", every, o.Write.IOs, o.Sync.IOs, want)
		}
	}
}

func (s *suite) cancel(t *testing.T) {
	tk := s.prefilled(t, 8*mib)
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4 * kib, IODepth: 8, NumJobs: 2, Direct: true, RuntimeNS: 3600e9}
	ctx, cancel := context.WithCancel(t.Context())
	var evs []record.Event
	o, err := s.e.Run(ctx, p, []*target.Claim{Claim(t, tk, false, true)}, func(e record.Event) {
		if evs = append(evs, e); e.Type == record.EventInterval {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.check(t, p, o, evs)
	stopped(t, o, record.StopAsked)
	if o.Read.IOs == 0 {
		t.Error("nothing was measured before the end")
	}
}

func (s *suite) cancelBeforeGo(t *testing.T) {
	tk := s.prefilled(t, 4*mib)
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4 * kib, IODepth: 8, NumJobs: 2, Direct: true, RuntimeNS: 3600e9}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, _ := s.pass(t, ctx, p, Claim(t, tk, false, true))
	stopped(t, o, record.StopAsked)
}

// short: a file that shrank under the pass ends it for all jobs, with the
// first offset that failed, and what was measured stays.
func (s *suite) short(t *testing.T) {
	tk := s.prefilled(t, 8*mib)
	c := Claim(t, tk, false, true)
	const at = 6 * mib
	if err := os.Truncate(tk.Path, at); err != nil {
		t.Fatal(err)
	}
	p := job.Phase{Name: "t", Mode: job.Read, BlockSize: 64 * kib, IODepth: 1, NumJobs: 1, Direct: true, Once: true}
	o, _ := s.pass(t, t.Context(), p, c)
	stopped(t, o, record.StopError)
	want := record.IOError{Op: "read", Errno: "short", Offset: at, Count: 1}
	if len(o.Errors) != 1 || o.Errors[0] != want {
		t.Errorf("errors are %+v; want %+v", o.Errors, want)
	}
	if o.Read.Bytes != at {
		t.Errorf("%d bytes were read before; want %d", o.Read.Bytes, int64(at))
	}

	// Jobs that see no error stop as well.
	p = job.Phase{Name: "t", Mode: job.Read, BlockSize: 64 * kib, IODepth: 4, NumJobs: 4, Direct: true, Split: true, RuntimeNS: 3600e9}
	o, _ = s.pass(t, t.Context(), p, c)
	stopped(t, o, record.StopError)
	if len(o.Errors) != 1 || o.Errors[0].Count < 1 || o.Errors[0].Offset < at {
		t.Errorf("errors are %+v; want short reads from %d", o.Errors, int64(at))
	}
}

func (s *suite) refusals(t *testing.T) {
	tk := File(t, s.dir, mib)
	ok := job.Phase{Name: "t", Mode: job.Write, BlockSize: 4 * kib, IODepth: 1, NumJobs: 1, Direct: true, Once: true}
	for _, tt := range []struct {
		name          string
		write, direct bool
		change        func(*job.Phase)
	}{
		{"write on a read-only claim", false, true, func(*job.Phase) {}},
		{"direct on a buffered file", true, false, func(*job.Phase) {}},
		{"buffered on a direct file", true, true, func(p *job.Phase) { p.Direct = false }},
		{"file too small", true, true, func(p *job.Phase) { p.BlockSize = 2 * mib }},
		{"too small for its jobs", true, true, func(p *job.Phase) { p.NumJobs, p.BlockSize, p.Split = 2, mib, true }},
		{"invalid phase", true, true, func(p *job.Phase) { p.IODepth = 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := ok
			tt.change(&p)
			o, err := s.e.Run(t.Context(), p, []*target.Claim{Claim(t, tk, tt.write, tt.direct)}, func(e record.Event) { t.Errorf("event %s", e.Type) })
			if err == nil || o != nil {
				t.Errorf("outcome %+v, error %v; want an error", o, err)
			}
		})
	}
}
