package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A bench makes passes second by second: rates in I/Os a second and readings of
// sensors in °C by name; a sample follows each second.
type testPass struct {
	rates []float64
	temps map[string][]float64
	// more changes the sample at the end of second i, -1 before the first.
	more func(i int, s *record.Sample)
	gap  int64 // ns since the pass before
	role string
}

func flatRates(r *rand.Rand, n int, rate float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = rate * (1 + 0.01*r.NormFloat64())
	}
	return all
}

func during(rates []float64, from, until int, factor float64) []float64 {
	for i := from; i < until && i < len(rates); i++ {
		rates[i] *= factor
	}
	return rates
}

// ramp is a line from a to b in so many seconds.
func ramp(a, b float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = a + (b-a)*float64(i)/float64(n)
	}
	return all
}

func recordOf(mode job.Mode, passes ...testPass) *record.Record {
	j := job.Phase{Name: "p", Mode: mode, BlockSize: 4096, IODepth: 32, NumJobs: 1, RuntimeNS: second}
	no, controller := false, "nvme0"
	rec := &record.Record{SchemaVersion: 1, Complete: true}
	rec.Plan.Phases, rec.Plan.Places = []job.Phase{j}, []string{record.PlaceHost}
	rec.Places = []record.Place{{Name: record.PlaceHost, CPUs: []int{0}}}
	wc, cc := int64(84_000), int64(88_000)
	rec.Target.Drives = []record.Drive{{Name: "nvme0n1", Transport: "nvme", Controller: &controller, Rotational: &no,
		NVMe: &record.NVMe{WarningMC: &wc, CriticalMC: &cc}}}
	round := record.Round{Phase: "p"}
	clock := int64(1000) * second
	var moved int64
	for k, tp := range passes {
		clock += tp.gap
		p := record.Pass{Phase: "p", Place: record.PlaceHost, Index: k, Role: tp.role, Outcome: &record.Outcome{StartNS: clock, Stopped: record.StopTime}}
		sample := func(i int) record.Sample {
			s := record.Sample{MonoNS: clock, Devices: map[string]record.DeviceCounters{"nvme0n1": {ReadBytes: moved * 4096, ReadIOs: moved}}}
			for name, v := range tp.temps {
				if s.Temperatures == nil {
					s.Temperatures = map[string]int64{}
				}
				s.Temperatures[name] = int64(v[min(max(i, 0), len(v)-1)]+0.5) * 1000
			}
			if tp.more != nil {
				tp.more(i, &s)
			}
			return s
		}
		before := sample(-1)
		p.Watch.Before = &before
		f := &record.Flow{}
		for i, rate := range tp.rates {
			clock += second
			n := int64(rate)
			moved += n
			v := record.Interval{EndNS: int64(i+1) * second, LenNS: second}
			if mode.Writes() {
				v.WriteIOs, v.WriteBytes = n, n*4096
			} else {
				v.ReadIOs, v.ReadBytes = n, n*4096
			}
			f.IOs, f.Bytes = f.IOs+n, f.Bytes+n*4096
			p.Intervals = append(p.Intervals, v)
			p.Watch.Samples = append(p.Watch.Samples, sample(i))
		}
		if mode.Writes() {
			p.Outcome.Write = f
		} else {
			p.Outcome.Read = f
		}
		after := sample(len(tp.rates) - 1)
		p.Watch.After = &after
		p.Outcome.EndNS = clock
		rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: "p", Place: record.PlaceHost, Role: tp.role})
		round.Passes = append(round.Passes, p)
	}
	rec.Rounds = []record.Round{round}
	return rec
}

func only(t *testing.T, rec *record.Record) *Drop {
	t.Helper()
	r := Compute(rec)
	if len(r.Drops) != 1 {
		t.Fatalf("got %d drops, want 1: %+v", len(r.Drops), r.Drops)
	}
	return &r.Drops[0]
}

func TestDropOnsetDepthRecovery(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rates := during(flatRates(r, 120, 1000), 40, 70, 0.5)
	rates[0], rates[1] = 200, 1500 // coming to speed
	rates[90] = 0                  // a second without I/O is no drop
	rates[100] = 100               // nor is an outlier
	rec := recordOf(job.RandRead, testPass{rates: rates})
	p := &rec.Rounds[0].Passes[0]
	p.Intervals = append(p.Intervals, record.Interval{EndNS: 120*second + second/4, LenNS: second / 4, ReadIOs: 1, ReadBytes: 4096})
	d := only(t, rec)
	if d.OnsetNS != 40*second || d.UntilNS != 70*second || !d.Recovered || d.FallNS != 0 || d.Cycles != 1 {
		t.Errorf("got %+v", d)
	}
	if d.Depth < 0.47 || d.Depth > 0.53 || d.Before < 970 || d.Before > 1030 || d.During < 480 || d.During > 520 {
		t.Errorf("depth %g, %g to %g", d.Depth, d.Before, d.During)
	}
	if want := int64(40_000) * 4096; d.Bytes < want*95/100 || d.Bytes > want*105/100 || d.Written != 0 {
		t.Errorf("after %d bytes, %d written", d.Bytes, d.Written)
	}
	if d.Causes[0].Kind != CauseUnknown || len(d.Named()) != 0 {
		t.Errorf("causes %+v", d.Causes)
	}
	if !slices.Contains(codes(Compute(rec)), record.WarnSlowed) {
		t.Error("no warning")
	}
}

func TestDropsOfOnePass(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, c := range []struct {
		name  string
		rates []float64
		check func(*testing.T, []Drop)
	}{
		{"flat", flatRates(r, 120, 1000), func(t *testing.T, d []Drop) {
			if len(d) != 0 {
				t.Errorf("got %+v", d)
			}
		}},
		{"to the end", during(flatRates(r, 120, 1000), 60, 120, 0.3), func(t *testing.T, d []Drop) {
			if len(d) != 1 || d[0].Recovered || d[0].UntilNS != 120*second {
				t.Errorf("got %+v", d)
			}
		}},
		{"a drop in a drop", during(during(flatRates(r, 160, 1000), 40, 160, 0.5), 90, 120, 0.5), func(t *testing.T, d []Drop) {
			if len(d) != 2 || d[0].OnsetNS != 40*second || d[0].Recovered || d[1].OnsetNS != 90*second || !d[1].Recovered || d[1].UntilNS != 120*second {
				t.Errorf("got %+v", d)
			}
		}},
		{"a stall", during(flatRates(r, 60, 1000), 20, 24, 0), func(t *testing.T, d []Drop) {
			if len(d) != 1 || !d[0].Stall || d[0].OnsetNS != 20*second || d[0].UntilNS != 24*second || d[0].Depth != 1 {
				t.Errorf("got %+v", d)
			}
		}},
		{"a sawtooth", func() []float64 {
			v := flatRates(r, 200, 1000)
			for i := 50; i < 200; i += 20 {
				during(v, i, i+12, 0.4)
			}
			return v
		}(), func(t *testing.T, d []Drop) {
			if len(d) != 1 || d[0].Cycles != 8 || d[0].OnsetNS != 50*second {
				t.Errorf("got %+v", d)
			}
		}},
		{"too short to say", []float64{5, 5, 1, 1, 1}, func(t *testing.T, d []Drop) {
			if len(d) != 0 {
				t.Errorf("got %+v", d)
			}
		}},
		{"nothing at all", make([]float64, 30), func(t *testing.T, d []Drop) {
			if len(d) != 0 {
				t.Errorf("got %+v", d)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, Compute(recordOf(job.RandRead, testPass{rates: c.rates})).Drops) })
	}
}

// TestWrittenSinceIdle counts over passes until the drive was left alone.
func TestWrittenSinceIdle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	cut := func(gap int64) testPass {
		return testPass{rates: during(flatRates(r, 60, 1000), 30, 60, 0.5), gap: gap}
	}
	var got []int64
	for _, d := range Compute(recordOf(job.Write, cut(0), cut(second), cut(2*idleNS))).Drops {
		got = append(got, d.Written/4096/1000)
	}
	if len(got) != 3 || got[0] < 29 || got[0] > 31 || got[1] < 73 || got[1] > 77 || got[2] < 29 || got[2] > 31 {
		t.Errorf("got %d thousand blocks, want about 30, 45+30 and 30", got)
	}
}

// TestNotHeat holds what must never be called heat.
func TestNotHeat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	rates := func(until int) []float64 { return during(flatRates(r, 150, 1000), 60, until, 0.4) }
	hotThenFalling := slices.Concat(ramp(60, 82, 60), ramp(82, 55, 40), ramp(55, 55, 50))
	for _, c := range []struct {
		name string
		p    testPass
		mode job.Mode
		not  bool // heat is excluded, not only weak
	}{
		{"it falls after a throttle, as it does after any", testPass{rates: rates(150), temps: map[string][]float64{"nvme0 Composite": slices.Concat(ramp(50, 50, 60), ramp(50, 40, 90))}}, job.RandRead, false},
		{"it rose and fell, and the speed came back", testPass{rates: rates(100), temps: map[string][]float64{"nvme0 Composite": slices.Concat(ramp(60, 80, 60), ramp(80, 72, 40), ramp(72, 80, 50))}}, job.RandRead, false},
		{"slow although it is cool again", testPass{rates: rates(150), temps: map[string][]float64{"nvme0 Composite": hotThenFalling}}, job.RandRead, true},
		{"a full cache in a hot drive", testPass{rates: rates(150), temps: map[string][]float64{"nvme0 Composite": hotThenFalling}}, job.Write, true},
		{"a sensor that is stuck beside one that is cool", testPass{rates: rates(150), temps: map[string][]float64{"nvme0 Composite": ramp(36, 40, 150), "nvme0 Sensor 2": {81}}}, job.RandRead, false},
		{"a sensor that jumps", testPass{rates: rates(150), temps: map[string][]float64{"nvme0 Composite": slices.Concat(ramp(40, 41, 59), ramp(84, 84, 91))}}, job.RandRead, false},
		{"none at all", testPass{rates: rates(150)}, job.RandRead, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := only(t, recordOf(c.mode, c.p))
			if got := d.By(CauseThermal, CauseThermalLink); got != nil {
				t.Errorf("heat: %+v", got)
			}
			if ruled := slices.ContainsFunc(d.Excluded, func(x Cause) bool { return x.Kind == CauseThermal && len(x.Against) > 0 }); ruled != c.not {
				t.Errorf("heat excluded: %v, want %v: %+v", ruled, c.not, d)
			}
		})
	}
}

func TestHeat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	temps := slices.Concat(ramp(50, 86, 60), ramp(86, 87, 90))
	p := testPass{rates: during(flatRates(r, 150, 1000), 60, 150, 0.4), temps: map[string][]float64{"nvme0 Composite": temps, "nvme0 Sensor 1": slices.Concat(ramp(60, 100, 60), ramp(100, 101, 90))}}
	rec := recordOf(job.RandRead, p)
	d := only(t, rec)
	c := d.By(CauseThermal)
	if c == nil || c.Confidence != Strong || len(c.Decide) == 0 {
		t.Fatalf("no heat: %+v", d)
	}
	res := Compute(rec)
	if len(res.Heat) != 1 {
		t.Fatalf("heat %+v", res.Heat)
	}
	h := res.Heat[0]
	truth := map[string]int64{"nvme0 Composite": 86_000, "nvme0 Sensor 1": 100_000}[h.Onset.Sensor]
	if h.Onset.FromMC > truth || h.Onset.ToMC < truth || h.Onset.ToMC-h.Onset.FromMC > 4000 {
		t.Errorf("from %d to %d of %s", h.Onset.FromMC, h.Onset.ToMC, h.Onset.Sensor)
	}
	if h.AfterNS != 60*second || h.Lost < 0.55 || h.Lost > 0.65 || h.AboveCritical {
		t.Errorf("got %+v", h)
	}
	if !slices.Contains(codes(res), record.WarnThrottled) || slices.Contains(codes(res), record.WarnOtherSensor) {
		t.Errorf("warnings %v", codes(res))
	}

	// With a health log that counts nothing, 100 °C are of another point.
	quiet := func(_ int, s *record.Sample) { s.Health = map[string]record.Health{"nvme0": {}} }
	p.more = quiet
	if res = Compute(recordOf(job.RandRead, p)); !slices.Contains(codes(res), record.WarnOtherSensor) {
		t.Errorf("no note of the other sensor: %v", codes(res))
	}

	// Its own counters decide, whatever a sensor says.
	p.temps = nil
	p.more = func(i int, s *record.Sample) {
		h := record.Health{}
		if i >= 60 {
			h.TMT1Transitions, h.TMT1Seconds = 1, int64(i-60)
		}
		s.Health = map[string]record.Health{"nvme0": h}
	}
	if c := only(t, recordOf(job.RandRead, p)).By(CauseThermal); c == nil || c.Confidence != Decisive || c.Evidence[0].Kind != EvTMT {
		t.Errorf("counted: %+v", c)
	}
}

func TestOtherCauses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	rates := func() []float64 { return during(flatRates(r, 100, 1000), 40, 70, 0.4) }
	in := func(i int) bool { return i >= 40 && i < 70 }
	pci := "0000:01:00.0"
	var others int64
	for _, c := range []struct {
		name string
		more func(i int, s *record.Sample)
		kind CauseKind
		conf Confidence
	}{
		{"neighbour", func(i int, s *record.Sample) {
			if in(i) {
				others += 600
			}
			v := s.Devices["nvme0n1"]
			v.ReadIOs, v.ReadBytes = v.ReadIOs+others, v.ReadBytes+others*4096
			s.Devices["nvme0n1"] = v
		}, CauseNeighbour, Strong},
		{"link", func(i int, s *record.Sample) {
			l := record.LinkState{SpeedMTs: 8000, Width: 4}
			if in(i) {
				l = record.LinkState{SpeedMTs: 8000, Width: 1}
			}
			s.Links = map[string]record.LinkState{pci: l}
		}, CauseLink, Weak}, // it could carry all of it
		{"cgroup", func(i int, s *record.Sample) {
			n := int64(max(0, min(i, 70)-40)) * 10
			s.Cgroup = &record.CgroupCounters{NrThrottled: &n}
		}, CauseCgroup, Decisive},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := recordOf(job.RandRead, testPass{rates: rates(), more: c.more})
			rec.Target.Drives[0].PCIAddress = &pci
			d := only(t, rec)
			k := slices.IndexFunc(d.Causes, func(x Cause) bool { return x.Kind == c.kind })
			if k < 0 || d.Causes[k].Confidence != c.conf {
				t.Errorf("causes %+v", d.Causes)
			}
		})
	}
	rec := recordOf(job.RandRead, testPass{rates: during(flatRates(r, 60, 1000), 20, 30, 0)})
	rec.KernelLog = []record.KernelLine{{MonoNS: 1021 * second, Kind: "timeout"}, {MonoNS: 1025 * second, Kind: "reset"}}
	if c := only(t, rec).By(CauseErrors); c == nil || c.Confidence != Decisive || *c.Evidence[0].Value != 2 {
		t.Errorf("errors: %+v", c)
	}
}

// TestCache names a cache where it shows that it counts bytes or keeps its state,
// not for the shape alone, and not where more was written without a fall.
func TestCache(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	drop := func() []float64 { return during(flatRates(r, 100, 1000), 50, 100, 0.4) }
	d := only(t, recordOf(job.Write, testPass{rates: drop()}))
	if len(d.Named()) > 0 || !slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseSLC && slices.Contains(c.Decide, TestPause) }) {
		t.Errorf("one fall without anything else must be unknown, with a cache as a candidate: %+v", d.Causes)
	}
	d = only(t, recordOf(job.Write, testPass{rates: drop()}, testPass{rates: flatRates(r, 60, 400), gap: 30 * second}))
	if c := d.By(CauseSLC); c == nil || c.Confidence != Strong || find(c.Evidence, EvStaysSlow) == nil {
		t.Errorf("slow after the pause: %+v", d.Causes)
	}
	for _, d := range Compute(recordOf(job.Write, testPass{rates: drop()}, testPass{rates: drop(), gap: 2 * idleNS})).Drops {
		if c := d.By(CauseSLC); c == nil || find(c.Evidence, EvSameBytes) == nil {
			t.Errorf("twice after the same bytes: %+v", d.Causes)
		}
	}
	d = only(t, recordOf(job.Write, testPass{rates: drop()}, testPass{rates: flatRates(r, 100, 1000), gap: second}))
	if c := d.By(CauseSLC); c != nil {
		t.Errorf("a cache, although the next pass was fast: %+v", c)
	}
}

func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	load := during(during(flatRates(r, 300, 1000), 100, 300, 0.5), 200, 300, 0.5)
	probe := func(f float64, gap int64) testPass {
		return testPass{rates: flatRates(r, 2, 1000*f), gap: gap * second, role: record.RoleProbe}
	}
	rec := recordOf(job.Write, testPass{rates: load, role: record.RoleLoad}, probe(0.3, 30), probe(1, 60))
	rec.Plan.Preset = "fill"
	fills := Compute(rec).Fills
	if len(fills) != 1 {
		t.Fatalf("got %+v", fills)
	}
	f := fills[0]
	near := func(name string, got, want float64) {
		if got < want*0.95 || got > want*1.05 {
			t.Errorf("%s: got %g, want about %g", name, got, want)
		}
	}
	if f.CacheBytes == nil || f.AfterCache == nil || f.Folding == nil || f.FoldingFrom == nil || f.RecoveredNS == nil || len(f.Recovery) != 2 {
		t.Fatalf("got %+v", f)
	}
	near("cache", float64(*f.CacheBytes), 100_000*4096)
	near("in it", f.InCache, 1000*4096)
	near("after it", *f.AfterCache, 500*4096)
	near("folding", *f.Folding, 250*4096)
	near("folding from", float64(*f.FoldingFrom), 150_000*4096)
	near("average", f.Average, 175_000*4096/300.0)
	near("recovered", float64(*f.RecoveredNS), 92e9)
	if n := len(f.Curve); n == 0 || n > curvePoints || f.Curve[n-1].Written != f.Written {
		t.Errorf("curve of %d points", n)
	}

	rec = recordOf(job.Write, testPass{rates: flatRates(r, 100, 1000), role: record.RoleLoad})
	rec.Plan.Preset = "fill"
	if f := Compute(rec).Fills[0]; f.CacheBytes != nil || f.AfterCache != nil || f.Folding != nil {
		t.Errorf("a cache without a fall: %+v", f)
	}
}

// TestLaggingSensor widens the interval of the onset by what a sensor is behind.
func TestLaggingSensor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	for _, lag := range []float64{0, 15} {
		truth := slices.Concat(ramp(50, 86, 90), ramp(86, 60, 90))
		read, seen := make([]float64, len(truth)), truth[0]
		for i, v := range truth {
			seen += (v - seen) * (1 - math.Exp(-1/max(lag, 1e-3)))
			read[i] = seen
		}
		counts := func(from int) func(int, *record.Sample) {
			return func(i int, s *record.Sample) {
				s.Health = map[string]record.Health{"nvme0": {TMT1Seconds: int64(max(0, i-from))}}
			}
		}
		res := Compute(recordOf(job.RandRead, testPass{rates: during(flatRates(r, 180, 1000), 90, 180, 0.4), temps: map[string][]float64{"nvme0 Composite": read}, more: counts(90)}))
		if len(res.Heat) != 1 || res.Heat[0].Onset == nil {
			t.Fatalf("lag of %g s: heat %+v", lag, res.Heat)
		}
		o := res.Heat[0].Onset
		if o.FromMC > 86_500 || o.ToMC < 84_000 {
			t.Errorf("lag of %g s: from %d to %d, want 86000 within 2000 of it", lag, o.FromMC, o.ToMC)
		}
		if lag == 0 && o.ToMC-o.FromMC > 3000 {
			t.Errorf("without lag: from %d to %d is too wide", o.FromMC, o.ToMC)
		}
	}
}

func BenchmarkCompute(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 10))
	var passes []testPass
	for range 8 {
		passes = append(passes, testPass{rates: during(flatRates(r, 300, 1000), 100, 200, 0.5), temps: map[string][]float64{"nvme0 Composite": ramp(40, 80, 300)}})
	}
	rec := recordOf(job.Write, passes...)
	for b.Loop() {
		Compute(rec)
	}
}
