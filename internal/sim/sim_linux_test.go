package sim

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"nativ/internal/bench"
	"nativ/internal/job"
	"nativ/internal/place/placetest"
	"nativ/internal/record"
)

// A simulation is what a test asks for: a preset or phases of its own on a
// model, through the real orchestration.
type simulation struct {
	preset string
	phases []job.Phase // instead of a preset: one pass each, on the host
	places []string
	seed   uint64
	file   int64
	cpus   int
	emit   func(bench.Event)
}

func (w simulation) run(t testing.TB, m *Model) (*record.Record, *Machine) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return w.runCtx(ctx, t, m)
}

func (w simulation) runCtx(ctx context.Context, t testing.TB, m *Model) (*record.Record, *Machine) {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	s := New(m, w.seed)
	rec := &record.Record{SchemaVersion: record.SchemaVersion, ID: "test"}
	s.Into(rec, record.Simulation{Notice: record.SimulatedNotice, Model: m.Name})
	set := record.CPUSet{CPUs: rec.Host.CPUs[:max(w.cpus, 1)], Online: len(rec.Host.CPUs)}
	if w.phases != nil {
		rec.Plan = record.Plan{Preset: "test", Phases: w.phases, Places: w.places, CPUSet: set, FileSize: w.file, WantedSize: w.file, NoPrefill: true, GOMAXPROCS: 8}
		for _, ph := range w.phases {
			for _, place := range w.places {
				rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: ph.Name, Place: place, RuntimeNS: ph.RuntimeNS, MaxBytes: ph.MaxBytes, Role: record.RoleHot})
			}
		}
	} else {
		p, err := bench.PresetByName(w.preset, func(*job.Job) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if w.file == 0 {
			w.file = p.FileSize
		}
		if rec.Plan, err = bench.NewPlan(bench.Wish{Preset: p, Dir: rec.Target.Dir, Places: w.places, Seed: w.seed, FileSize: w.file, WantedSize: w.file, CPUSet: set}); err != nil {
			t.Fatal(err)
		}
	}
	if w.emit == nil {
		w.emit = func(bench.Event) {}
	}
	r := &bench.Run{Record: rec, Watch: func(p bench.Place) bench.Watcher { return s.Watch(p.Name()) },
		Undo: func(context.Context) []string { return nil }, Emit: w.emit, Now: s.Now, Sleep: s.Sleep}
	for _, p := range s.Places(&rec.Plan) {
		r.Places = append(r.Places, p)
	}
	if err := r.Do(ctx); err != nil {
		t.Fatal(err)
	}
	s.Into(rec, *rec.Simulated)
	return rec, s
}

func passesOf(rec *record.Record) (all []record.Pass) {
	for _, r := range rec.Rounds {
		all = append(all, r.Passes...)
	}
	return all
}

func phase(mode job.Mode, bs int64, d time.Duration) job.Phase {
	return job.Phase{Name: string(mode), Mode: mode, BlockSize: bs, IODepth: 32, NumJobs: 4, Direct: true, RuntimeNS: d.Nanoseconds()}
}

func host(phases ...job.Phase) simulation {
	return simulation{phases: phases, places: []string{record.PlaceHost}, seed: 1, file: 64 << 30}
}

// The numbers of a pass agree with each other in every way in which those of a
// real one do.
func TestPassAddsUp(t *testing.T) {
	sync := phase(job.Write, 4096, 20*time.Second)
	sync.Name, sync.IODepth, sync.NumJobs, sync.FDataSync = "sync", 1, 1, 1
	mixed := phase(job.RandRW, 4096, 20*time.Second)
	mixed.RWMixRead = 70
	limited := phase(job.Write, 128<<10, time.Minute)
	limited.Name, limited.MaxBytes = "limited", 7<<30+128<<10
	once := phase(job.Write, 1<<20, 0)
	once.Name, once.Once, once.NumJobs = "once", true, 1
	slow := phase(job.RandRead, 4096, 10*time.Second)
	slow.Name, slow.ReadIOPS = "slow", 100
	depth1 := phase(job.RandRead, 4096, 10*time.Second)
	depth1.Name, depth1.IODepth, depth1.NumJobs = "depth1", 1, 1
	m := plain()
	w := host(phase(job.RandRead, 4096, 20*time.Second), phase(job.RandWrite, 4096, 20500*time.Millisecond), phase(job.Read, 128<<10, 20*time.Second), sync, mixed, limited, once, slow, depth1)
	rec, _ := w.run(t, m)
	if !rec.Complete {
		t.Fatal(rec.Incomplete)
	}
	for i, p := range passesOf(rec) {
		ph := w.phases[i]
		if !p.OK() {
			t.Fatalf("%s: %+v", p.Phase, p.Failed)
		}
		o := p.Outcome
		var iv record.Interval
		for k, v := range p.Intervals {
			iv.ReadIOs += v.ReadIOs
			iv.WriteIOs += v.WriteIOs
			iv.ReadBytes += v.ReadBytes
			iv.WriteBytes += v.WriteBytes
			iv.SyncIOs += v.SyncIOs
			iv.LenNS += v.LenNS
			if v.EndNS != iv.LenNS || k < len(p.Intervals)-1 && v.LenNS != second {
				t.Errorf("%s: second %d ends at %d with length %d", p.Phase, k, v.EndNS, v.LenNS)
			}
		}
		if iv.LenNS != o.ElapsedNS() || ph.RuntimeNS > 0 && o.Stopped == record.StopTime && o.ElapsedNS() != ph.RuntimeNS {
			t.Errorf("%s: %d ns of intervals, outcome %d", p.Phase, iv.LenNS, o.ElapsedNS())
		}
		var total, longest int64
		check := func(f *record.Flow, ios, bytes int64) {
			if f == nil {
				if ios != 0 {
					t.Errorf("%s: %d I/Os without a flow", p.Phase, ios)
				}
				return
			}
			total += f.IOs
			if f.IOs != ios || f.Bytes != bytes || f.Lat.N() != ios {
				t.Errorf("%s: %d I/Os, %d bytes, %d latencies; intervals have %d and %d", p.Phase, f.IOs, f.Bytes, f.Lat.N(), ios, bytes)
			}
			if ios > 0 {
				longest = max(longest, f.Lat.Max)
				if mean, _ := f.Lat.Mean(); mean < float64(f.Lat.Min) || mean > float64(f.Lat.Max) {
					t.Errorf("%s: mean latency %v outside %d and %d", p.Phase, mean, f.Lat.Min, f.Lat.Max)
				}
			}
		}
		check(o.Read, iv.ReadIOs, iv.ReadBytes)
		check(o.Write, iv.WriteIOs, iv.WriteBytes)
		if o.Sync != nil {
			if o.Sync.IOs != iv.SyncIOs || o.Sync.Lat.N() != iv.SyncIOs {
				t.Errorf("%s: %d syncs, %d latencies, intervals %d", p.Phase, o.Sync.IOs, o.Sync.Lat.N(), iv.SyncIOs)
			}
		}
		// Little: what is in flight is the mean latency times the rate.
		if ph.ReadIOPS == 0 {
			var inside float64
			for _, f := range []*record.Flow{o.Read, o.Write, o.Sync} {
				if f != nil {
					inside += float64(f.Lat.Sum)
				}
			}
			if got, want := inside/float64(o.ElapsedNS()), float64(ph.IODepth*ph.NumJobs); math.Abs(got/want-1) > 0.02 {
				t.Errorf("%s: %.2f I/Os in flight, want %.0f", p.Phase, got, want)
			}
		}
		// What the drive counted is what was done.
		d := p.Watch.After.Devices["nvme0n1"]
		b := p.Watch.Before.Devices["nvme0n1"]
		if got, want := d.ReadBytes-b.ReadBytes+d.WriteBytes-b.WriteBytes, iv.ReadBytes+iv.WriteBytes; math.Abs(float64(got-want)) > 1e6 {
			t.Errorf("%s: the drive counted %d bytes, the pass %d", p.Phase, got, want)
		}
		var cpu int64
		for n, c := range p.Watch.After.CPUs {
			busy := c.BusyNS - p.Watch.Before.CPUs[n].BusyNS
			if busy > o.ElapsedNS() {
				t.Errorf("%s: CPU %d was busy for %d of %d ns", p.Phase, n, busy, o.ElapsedNS())
			}
			cpu += busy
		}
		if used := o.Usage.UserNS + o.Usage.SystemNS; used > cpu || used <= 0 {
			t.Errorf("%s: the worker used %d ns of CPU, all together %d", p.Phase, used, cpu)
		}
		if got, want := len(p.Watch.Samples), len(p.Intervals)-1; got != want {
			t.Errorf("%s: %d samples in %d seconds", p.Phase, got, want+1)
		}
		if total == 0 || longest == 0 {
			t.Errorf("%s: nothing was done", p.Phase)
		}
		switch p.Phase {
		case "limited":
			if o.Stopped != record.StopBytes || o.Write.Bytes != ph.MaxBytes {
				t.Errorf("stopped by %s after %d bytes", o.Stopped, o.Write.Bytes)
			}
		case "once":
			if o.Stopped != record.StopOnce || o.Write.Bytes != w.file {
				t.Errorf("stopped by %s after %d bytes", o.Stopped, o.Write.Bytes)
			}
		case "slow":
			if rate := float64(o.Read.IOs) / 10; math.Abs(rate-400) > 4 {
				t.Errorf("%v IOPS with a limit of 4 x 100", rate)
			}
		case "depth1":
			if p50, _ := o.Read.Lat.Percentile(50); math.Abs(float64(p50)/60e3-1) > 0.1 {
				t.Errorf("one I/O at a time takes %d ns", p50)
			}
		case "randrw":
			if share := float64(o.Read.IOs) / float64(o.Read.IOs+o.Write.IOs); math.Abs(share-0.7) > 0.001 {
				t.Errorf("%v of the I/Os are reads", share)
			}
		}
		if o.Read != nil && ph.ReadIOPS == 0 {
			p50, _ := o.Read.Lat.Percentile(50)
			p99, _ := o.Read.Lat.Percentile(99)
			if p99 < p50*3/2 || p99 > p50*20 {
				t.Errorf("%s: p50 %d, p99 %d", p.Phase, p50, p99)
			}
		}
	}
}

// A byte limit below one block ends a pass before its first I/O, also while the
// controller is being reset.
func TestNothingToDo(t *testing.T) {
	m := plain()
	m.Events = []Event{{Kind: EventReset, UntilSeconds: 5}}
	ph := phase(job.Write, 128<<10, time.Minute)
	ph.MaxBytes = 4096
	rec, _ := host(ph).run(t, m)
	if p := passesOf(rec)[0]; p.Outcome == nil || p.Outcome.Stopped != record.StopBytes || p.Outcome.Write.IOs != 0 || p.Outcome.ElapsedNS() != 0 {
		t.Errorf("%+v, %+v", p.Outcome, p.Failed)
	}
}

// The same model, plan and seed give the same record; another seed another one.
func TestDeterministic(t *testing.T) {
	m := plain()
	w := host(phase(job.RandRead, 4096, 30*time.Second), phase(job.RandWrite, 4096, 30*time.Second))
	a, sa := w.run(t, m)
	b, sb := w.run(t, m)
	if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(sa.Truth(), sb.Truth()) {
		t.Error("two runs of the same seed differ")
	}
	w.seed++
	if c, _ := w.run(t, m); reflect.DeepEqual(a.Rounds, c.Rounds) {
		t.Error("another seed gives the same noise")
	}
}

// Everything that a run does goes through the drive's own clock: a run of hours
// ends at once, with the times of hours.
func TestVirtualTime(t *testing.T) {
	start := time.Now()
	rec, s := simulation{preset: "heat", places: []string{record.PlaceHost}, seed: 3, file: 16 << 30}.run(t, plain())
	if took := rec.Ended.Sub(rec.Started); took < 10*time.Minute {
		t.Errorf("a run of %v, want more than ten minutes", took)
	}
	if !rec.Ended.Equal(s.Now()) || rec.Started.After(start) && rec.Started.Year() != 2026 {
		t.Errorf("started %v, ended %v; the machine's clock says %v", rec.Started, rec.Ended, s.Now())
	}
}

func TestInterruptEndsThePass(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	w := host(phase(job.RandRead, 4096, time.Hour))
	w.emit = func(e bench.Event) {
		if e.Kind == bench.EventPassTick {
			if n++; n == 3 {
				cancel()
			}
		}
	}
	rec, _ := w.runCtx(ctx, t, plain())
	all := passesOf(rec)
	if len(all) != 1 || len(all[0].Intervals) != 3 || all[0].Outcome.Stopped != record.StopAsked || all[0].Failed == nil || all[0].Failed.Code != record.FailInterrupted {
		t.Fatalf("%d passes, %+v", len(all), all)
	}
	if err := New(plain(), 1).Sleep(ctx, time.Hour); err == nil {
		t.Error("slept although the context has ended")
	}
}

// Simulated places do what real ones do, as far as no process is looked at.
func TestContract(t *testing.T) {
	plan := record.Plan{Places: []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}, FileSize: 1 << 30,
		CPUSet: record.CPUSet{CPUs: []record.CPU{{ID: 0}, {ID: 1}}}}
	for _, p := range New(plain(), 1).Places(&plan) {
		t.Run(p.Name(), func(t *testing.T) { placetest.Contract(t, p, nil) })
	}
}

// Every model of the repository is valid, says where it comes from, and runs.
func TestModels(t *testing.T) {
	seen := 0
	for _, path := range modelFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			m, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			if len(m.Sources) == 0 {
				t.Error("no sources")
			}
			rec, _ := simulation{preset: "quick", places: []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}, seed: 5, cpus: 2}.run(t, m)
			for _, p := range passesOf(rec) {
				if p.Outcome == nil || len(p.Intervals) == 0 {
					t.Errorf("%s in %s: %+v", p.Phase, p.Place, p.Failed)
				}
			}
		})
	}
	if seen < 5 {
		t.Errorf("only %d models", seen)
	}
}

func BenchmarkArticle(b *testing.B) {
	m, err := Load(bare)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		simulation{preset: "article", places: []string{record.PlaceHost, record.PlaceLXC}, seed: 1, cpus: 4}.run(b, m)
	}
}
