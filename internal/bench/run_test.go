package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/target"
)

// A fakePlace answers passes from a script, for faults that real places do not
// give on demand.
type fakePlace struct {
	name     string
	prepares int
	runs     int
	// prepare and run are asked by how often they were called before.
	prepare func(n int) error
	run     func(n int, p job.Phase) *record.Failure
	// outcome, ready and started, where set, are what a pass comes to, and what
	// happens before it is ready and when it starts.
	outcome        func(p job.Phase) *record.Outcome
	ready, started func()
}

func (f *fakePlace) Name() string   { return f.name }
func (f *fakePlace) Cgroup() string { return "" }

func (f *fakePlace) Prepare(context.Context, []*target.File) (record.Place, error) {
	n := f.prepares
	f.prepares++
	if f.prepare != nil {
		if err := f.prepare(n); err != nil {
			return record.Place{}, err
		}
	}
	return record.Place{Name: f.name, Cgroup: fmt.Sprint(n)}, nil
}

func (f *fakePlace) Run(ctx context.Context, p job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	if p.Name == "prefill" {
		if len(files) == 0 {
			return &record.Outcome{EndNS: 1e9, Write: &record.Flow{Bytes: fakeFile, Lat: &record.Histogram{}}}, nil
		}
		return prefillFor(ctx, p)
	}
	n := f.runs
	f.runs++
	if f.ready != nil {
		f.ready()
	}
	sink(record.Event{Type: record.EventReady, Worker: &record.Worker{PID: 100 + n}})
	if f.started != nil {
		f.started()
	}
	sink(record.Event{Type: record.EventStarted})
	sink(record.Event{Type: record.EventInterval, Interval: &record.Interval{EndNS: 1e9, LenNS: 1e9, ReadIOs: 10}})
	sink(record.Event{Type: record.EventEnded})
	out := &record.Outcome{EndNS: p.RuntimeNS, Read: &record.Flow{IOs: 10, Bytes: 40960, Lat: &record.Histogram{}}}
	if f.outcome != nil {
		out = f.outcome(p)
	}
	if f.run != nil {
		if fail := f.run(n, p); fail != nil {
			return out, fail
		}
	}
	return out, nil
}

// prefillFor writes the real test file, because Do checks that all of it was
// written.
func prefillFor(context.Context, job.Phase) (*record.Outcome, *record.Failure) {
	if err := fillAll(current.Path(), current.Facts().Size); err != nil {
		return nil, &record.Failure{Code: record.FailIO, Detail: err.Error()}
	}
	n := current.Facts().Size
	return &record.Outcome{EndNS: 1e9, Write: &record.Flow{IOs: n >> 20, Bytes: n, Lat: &record.Histogram{}}}, nil
}

// fakeFile is the size of test files in bytes.
const fakeFile = 64 << 20

// current is the test file of the running test.
var current *target.File

func fillAll(path string, n int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i*7 + i>>8)
	}
	for off := int64(0); off < n; off += int64(len(block)) {
		if _, err := f.WriteAt(block[:min(int64(len(block)), n-off)], off); err != nil {
			return err
		}
	}
	return f.Sync()
}

// A fakeWatch counts what the sampler is asked to do.
type fakeWatch struct{ log []string }

func (w *fakeWatch) Sample() record.Sample {
	w.log = append(w.log, "sample")
	return record.Sample{MonoNS: int64(len(w.log)), Temperatures: map[string]int64{"a": 40000, "b": 41000}}
}
func (w *fakeWatch) Start(context.Context)         { w.log = append(w.log, "start") }
func (w *fakeWatch) Stop() []record.Sample         { w.log = append(w.log, "stop"); return nil }
func (w *fakeWatch) Latest() (record.Sample, bool) { return record.Sample{}, false }

// A fixture is a run over fake places and a real, small test file.
type fixture struct {
	t      *testing.T
	run    *Run
	dir    string
	watch  *fakeWatch
	events []Event
	undone int
}

func newFixture(t *testing.T, places ...*fakePlace) *fixture {
	t.Helper()
	// Not the default directory for temporary files: that may be tmpfs.
	dir, err := os.MkdirTemp("/var/tmp", "nativ-bench-test-")
	if err != nil {
		t.Skip("needs a directory on a disk: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := wish()
	w.Places, w.FileSize = nil, fakeFile
	for _, p := range places {
		w.Places = append(w.Places, p.name)
	}
	plan, err := NewPlan(w)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(dir, journal.Header{RunID: "20260101-000000-test00"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	f := &fixture{t: t, dir: dir, watch: &fakeWatch{}}
	f.run = &Run{
		Record: &record.Record{Plan: plan},
		Watch:  func(Place) Watcher { return f.watch },
		Emit:   func(e Event) { f.events = append(f.events, e) },
		Now:    time.Now,
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		MakeFile: func() (*target.File, error) {
			file, err := target.Create(dir, plan.FileSize, strings.Repeat("0f", 16), j)
			current = file
			return file, err
		},
		Undo: func(ctx context.Context) []string {
			if ctx.Err() != nil {
				t.Error("the cleanup got a context that has ended")
			}
			f.undone++
			for _, l := range j.Undo(ctx, map[journal.Kind]journal.Undoer{journal.KindFile: target.UndoFile}) {
				t.Error(l)
			}
			return nil
		},
	}
	for _, p := range places {
		f.run.Places = append(f.run.Places, p)
	}
	return f
}

// do runs and checks what holds for every run.
func (f *fixture) do(ctx context.Context) error {
	f.t.Helper()
	err := f.run.Do(ctx)
	if f.undone != 1 {
		f.t.Errorf("cleaned up %d times", f.undone)
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, "nativ-*.dat")); len(left) > 0 {
		f.t.Errorf("left %v", left)
	}
	if rec := f.run.Record; rec.Cleaned == nil || rec.Complete != (len(rec.Incomplete) == 0) {
		f.t.Errorf("cleaned %v, complete %t, incomplete %v", rec.Cleaned, rec.Complete, rec.Incomplete)
	}
	return err
}

func (f *fixture) codes() (codes []string) {
	for _, m := range f.run.Record.Incomplete {
		codes = append(codes, m.Code)
	}
	return codes
}

func TestRunAllOfAPlan(t *testing.T) {
	f := newFixture(t, &fakePlace{name: "host"}, &fakePlace{name: "lxc"})
	if err := f.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	rec := f.run.Record
	if !rec.Complete || rec.Prefill == nil || rec.Prefill.Bytes != rec.Plan.FileSize {
		t.Fatalf("complete %t, prefill %+v", rec.Complete, rec.Prefill)
	}
	var steps []record.Step
	for _, r := range rec.Rounds {
		if len(r.Passes) != 4 {
			t.Errorf("a round of %s with %d passes", r.Phase, len(r.Passes))
		}
		for _, p := range r.Passes {
			s := rec.Plan.Steps[p.Index]
			steps = append(steps, s)
			if p.Phase != s.Phase || p.Place != s.Place || p.Seed != s.Seed || !p.OK() {
				t.Errorf("pass %d is %s in %s (ok %t), planned was %s in %s", p.Index, p.Phase, p.Place, p.OK(), s.Phase, s.Place)
			}
			if p.Watch.Before == nil || p.Watch.After == nil || len(p.Intervals) != 1 {
				t.Errorf("pass %d: watched %+v, %d intervals", p.Index, p.Watch, len(p.Intervals))
			}
		}
	}
	if !slices.Equal(steps, rec.Plan.Steps) {
		t.Error("the passes are not those of the plan, in its order")
	}
	// The drive at rest, and the prefill. Then in each pass: for its band, before
	// go, after start, after the end, in this order.
	log := f.watch.log
	if !slices.Equal(log[:2], []string{"sample", "stop"}) || rec.Idle == nil {
		t.Errorf("the start was watched as %v, idle %v", log[:2], rec.Idle)
	}
	for log = log[2:]; len(log) > 0; log = log[5:] {
		if !slices.Equal(log[:5], []string{"sample", "sample", "start", "sample", "stop"}) {
			t.Fatalf("a pass was watched as %v", log[:5])
		}
	}
	if w := rec.Places[0].Worker; w == nil || w.PID != 100 {
		t.Errorf("the host's worker is %+v", w)
	}
	last := f.events[len(f.events)-1]
	if last.Kind != EventClean {
		t.Errorf("the last event is %v", last.Kind)
	}
	for _, e := range f.events {
		if e.Kind == EventPassTick && (e.Temperature == nil || *e.Temperature != 41000) {
			t.Fatalf("a tick with temperature %v, want the hottest", e.Temperature)
		}
	}
}

func TestFailedPassCostsOnlyItself(t *testing.T) {
	host := &fakePlace{name: "host", run: func(n int, _ job.Phase) *record.Failure {
		if n == 2 {
			return &record.Failure{Code: record.FailWorker, Detail: "signal: killed"}
		}
		return nil
	}}
	f := newFixture(t, host, &fakePlace{name: "lxc"})
	if err := f.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.codes(); !slices.Equal(got, []string{record.MissingPassFailed}) {
		t.Errorf("missing: %v", got)
	}
	bad := 0
	for _, r := range f.run.Record.Rounds {
		for _, p := range r.Passes {
			if !p.OK() {
				bad++
			}
		}
	}
	if bad != 1 || host.runs != 10 || host.prepares != 1 {
		t.Errorf("%d bad passes, %d runs, %d prepares", bad, host.runs, host.prepares)
	}
}

func TestLostContainerIsRemadeOnce(t *testing.T) {
	for _, tt := range []struct {
		name         string
		lostAt       []int
		again        error // what the second Prepare says
		prepares     int
		missing      []string
		warned, runs int
	}{
		{name: "once", lostAt: []int{1}, prepares: 2, missing: []string{record.MissingPassFailed}, warned: 1, runs: 10},
		{name: "twice", lostAt: []int{1, 4}, prepares: 2,
			missing: append([]string{record.MissingPassFailed, record.MissingPassFailed}, slices.Repeat([]string{record.MissingPlace}, 5)...), warned: 1, runs: 5},
		{name: "not to be had again", lostAt: []int{1}, again: errors.New("no more containers"), prepares: 2,
			missing: append([]string{record.MissingPassFailed}, slices.Repeat([]string{record.MissingPlace}, 8)...), runs: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lxc := &fakePlace{
				name: "lxc",
				run: func(n int, _ job.Phase) *record.Failure {
					if slices.Contains(tt.lostAt, n) {
						return &record.Failure{Code: record.FailContainer}
					}
					return nil
				},
				prepare: func(n int) error {
					if n > 0 {
						return tt.again
					}
					return nil
				},
			}
			f := newFixture(t, &fakePlace{name: "host"}, lxc)
			if err := f.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := f.codes(); !slices.Equal(got, tt.missing) {
				t.Errorf("missing: %v, want %v", got, tt.missing)
			}
			warned := 0
			for _, w := range f.run.Record.Warnings {
				if w.Code == record.WarnContainerRemade {
					warned++
				}
			}
			if lxc.prepares != tt.prepares || lxc.runs != tt.runs || warned != tt.warned {
				t.Errorf("%d prepares, %d runs, %d warnings; want %d, %d, %d", lxc.prepares, lxc.runs, warned, tt.prepares, tt.runs, tt.warned)
			}
		})
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	host := &fakePlace{name: "host", run: func(n int, _ job.Phase) *record.Failure {
		if n == 3 {
			cancel()
		}
		return nil
	}}
	f := newFixture(t, host)
	if err := f.do(ctx); err != nil {
		t.Fatal(err)
	}
	if got := f.codes(); !slices.Equal(got, []string{record.MissingInterrupted}) {
		t.Errorf("missing: %v", got)
	}
	var all []record.Pass
	for _, r := range f.run.Record.Rounds {
		all = append(all, r.Passes...)
	}
	if len(all) != 4 || !all[2].OK() || all[3].OK() || all[3].Failed.Code != record.FailInterrupted || all[3].Outcome == nil {
		t.Errorf("%d passes, the last %+v", len(all), all[len(all)-1].Failed)
	}
}

func TestSetupFails(t *testing.T) {
	lxc := &fakePlace{name: "lxc", prepare: func(int) error { return errors.New("no cgroups") }}
	f := newFixture(t, &fakePlace{name: "host"}, lxc)
	if err := f.do(t.Context()); err == nil || !strings.Contains(err.Error(), "lxc") {
		t.Errorf("got %v", err)
	}
	if len(f.run.Record.Rounds) > 0 || f.run.Record.Prefill != nil {
		t.Error("measured without all places")
	}
}

// A disk that fills up between the plan and the file, and in mid-prefill.
func TestDiskFull(t *testing.T) {
	f := newFixture(t, &fakePlace{name: "host"})
	f.run.MakeFile = func() (*target.File, error) {
		return nil, &target.Refusal{Code: target.RefuseSpace, Dir: f.dir}
	}
	var refusal *target.Refusal
	if err := f.do(t.Context()); !errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}

	f = newFixture(t, &fakePlace{name: "host"})
	f.run.Places[0] = &fullPlace{fakePlace{name: "host"}}
	if err := f.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.codes(); !slices.Equal(got, []string{record.MissingPrefill}) || len(f.run.Record.Rounds) != 0 {
		t.Errorf("missing %v, %d rounds", got, len(f.run.Record.Rounds))
	}
}

// A fullPlace has a full disk: every prefill ends half-way.
type fullPlace struct{ fakePlace }

func (f *fullPlace) Run(ctx context.Context, p job.Phase, _ []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	return &record.Outcome{EndNS: 1e9, Write: &record.Flow{IOs: 1, Bytes: 1 << 20, Lat: &record.Histogram{}}, Stopped: record.StopError,
		Errors: []record.IOError{{Op: "write", Errno: "ENOSPC", Offset: 1 << 20, Count: 1}}}, &record.Failure{Code: record.FailIO, Detail: "write: ENOSPC at 1048576"}
}

// A prefill that claims to have written everything but left a hole is caught:
// reads of it would never reach a drive.
func TestHoleIsNotMeasured(t *testing.T) {
	f := newFixture(t, &fakePlace{name: "host"})
	f.run.Places[0] = &lyingPlace{fakePlace{name: "host"}}
	if err := f.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.codes(); !slices.Equal(got, []string{record.MissingPrefill}) || len(f.run.Record.Rounds) != 0 {
		t.Errorf("missing %v, %d rounds", got, len(f.run.Record.Rounds))
	}
}

type lyingPlace struct{ fakePlace }

func (l *lyingPlace) Run(context.Context, job.Phase, []*target.File, func(record.Event)) (*record.Outcome, *record.Failure) {
	n := current.Facts().Size
	return &record.Outcome{EndNS: 1e9, Write: &record.Flow{IOs: n >> 20, Bytes: n, Lat: &record.Histogram{}}}, nil
}
