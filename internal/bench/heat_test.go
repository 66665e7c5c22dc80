package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

// A virtual drive lives in virtual time: what its sensors and its load say is a
// function of the time of the run and of the pass.
type virtual struct {
	t    *testing.T
	now  time.Duration
	busy time.Duration // time in passes so far
	// temps are the readings at a time of the run after so much load.
	temps func(now, busy time.Duration) map[string]int64
	// rate is bytes a second at a time in a pass.
	rate   func(in time.Duration) int64
	health func(now time.Duration) *record.Health

	latest  *record.Sample
	sampled []time.Duration // when Sample was called
	run     *Run
	events  []Event
	// onEvent, where set, is called with each event.
	onEvent func(Event)
	ran     []string // roles of the passes that ran, "prefill" of that
}

func (v *virtual) Name() string   { return record.PlaceHost }
func (v *virtual) Cgroup() string { return "" }
func (v *virtual) Prepare(context.Context, []*target.File) (record.Place, error) {
	return record.Place{Name: record.PlaceHost}, nil
}

func (v *virtual) read() record.Sample {
	s := record.Sample{MonoNS: int64(v.now)}
	if v.temps != nil {
		s.Temperatures = v.temps(v.now, v.busy)
	}
	if v.health != nil {
		if h := v.health(v.now); h != nil {
			s.Health = map[string]record.Health{"nvme0": *h}
		}
	}
	return s
}

func (v *virtual) Sample() record.Sample {
	v.sampled = append(v.sampled, v.now)
	return v.read()
}
func (v *virtual) Start(context.Context) { v.latest = nil }
func (v *virtual) Stop() []record.Sample { v.latest = nil; return nil }
func (v *virtual) clock() time.Time      { return time.Unix(1e9, 0).Add(v.now) }
func (v *virtual) pass(d time.Duration)  { v.now, v.busy = v.now+d, v.busy+d }
func (v *virtual) at(d time.Duration) int64 {
	if v.rate == nil {
		return 1e9
	}
	return v.rate(d)
}

func (v *virtual) Latest() (record.Sample, bool) {
	if v.latest == nil {
		return record.Sample{}, false
	}
	return *v.latest, true
}

func (v *virtual) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.now += d
	return nil
}

func (v *virtual) Run(ctx context.Context, p job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	if len(files) > 0 {
		v.t.Error("a run without a test file has one")
	}
	sink(record.Event{Type: record.EventReady, Worker: &record.Worker{}})
	out := &record.Outcome{StartNS: int64(v.now), EndNS: int64(v.now), Stopped: record.StopTime}
	flow := &record.Flow{Lat: &record.Histogram{}}
	if out.Read = flow; p.Mode.Writes() {
		out.Read, out.Write = nil, flow
	}
	limit := time.Duration(p.RuntimeNS)
	if p.Name == "prefill" {
		limit = 2 * time.Second
		v.ran = append(v.ran, "prefill")
	} else {
		v.ran = append(v.ran, v.run.Record.Plan.Steps[v.step()].Role)
	}
	if ctx.Err() == nil {
		sink(record.Event{Type: record.EventStarted})
	}
	for in := time.Duration(0); in < limit && ctx.Err() == nil; {
		d := min(time.Second, limit-in)
		v.pass(d)
		s := v.read()
		v.latest = &s
		in += d
		bytes := int64(float64(v.at(in)) * d.Seconds())
		if p.Name == "prefill" {
			bytes = v.run.Record.Plan.FileSize / 2
		}
		flow.Bytes, flow.IOs = flow.Bytes+bytes, flow.IOs+bytes/p.BlockSize
		iv := &record.Interval{EndNS: int64(in), LenNS: int64(d), ReadBytes: bytes}
		if p.Mode.Writes() {
			iv.ReadBytes, iv.WriteBytes = 0, bytes
		}
		sink(record.Event{Type: record.EventInterval, Interval: iv})
		if p.MaxBytes > 0 && flow.Bytes >= p.MaxBytes && p.Name != "prefill" {
			break
		}
	}
	out.EndNS = int64(v.now)
	sink(record.Event{Type: record.EventEnded})
	if ctx.Err() != nil {
		out.Stopped = record.StopAsked
		return out, &record.Failure{Code: record.FailInterrupted}
	}
	return out, nil
}

// step is the index of the pass that started last.
func (v *virtual) step() int {
	for i := len(v.events) - 1; i >= 0; i-- {
		if v.events[i].Kind == EventPass {
			return v.events[i].Step
		}
	}
	v.t.Fatal("a pass ran without its event")
	return 0
}

// plan makes a run of a preset on the drive.
func (v *virtual) plan(t *testing.T, preset string, change func(*Wish)) {
	t.Helper()
	v.t = t
	p, err := PresetByName(preset, func(*job.Job) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	w := Wish{Preset: p, Places: []string{record.PlaceHost}, FileSize: 16 << 30, WantedSize: 16 << 30, Seed: 7}
	if change != nil {
		change(&w)
	}
	plan, err := NewPlan(w)
	if err != nil {
		t.Fatal(err)
	}
	v.run = &Run{
		Record: &record.Record{Plan: plan}, Places: []Place{v}, Watch: func(Place) Watcher { return v },
		Undo: func(context.Context) []string { return nil }, Now: v.clock, Sleep: v.Sleep,
		Emit: func(e Event) {
			v.events = append(v.events, e)
			if v.onEvent != nil {
				v.onEvent(e)
			}
		},
	}
}

func (v *virtual) do(ctx context.Context) []record.Pass {
	v.t.Helper()
	if err := v.run.Do(ctx); err != nil {
		v.t.Fatal(err)
	}
	var all []record.Pass
	for _, r := range v.run.Record.Rounds {
		all = append(all, r.Passes...)
	}
	return all
}

func (v *virtual) missing() (codes []string) {
	for _, m := range v.run.Record.Incomplete {
		codes = append(codes, m.Code)
	}
	return codes
}

const composite = "nvme0 Composite"

func one(mc int64) map[string]int64 { return map[string]int64{composite: mc} }

// onePhase leaves one phase of a preset, for runs of few passes.
func onePhase(w *Wish) { w.Preset.Phases = w.Preset.Phases[:1] }

func TestCoolDown(t *testing.T) {
	limit := func(d time.Duration) func(*Wish) {
		return func(w *Wish) { onePhase(w); w.CoolDown = &d }
	}
	// The first pass begins after the prefill, at 2 s; the second about 2.5 s
	// later, at 60 °C.
	const second = 4 * time.Second
	for _, tt := range []struct {
		name   string
		limit  time.Duration
		after  func(d time.Duration) map[string]int64 // temperatures after the first pass
		ended  string
		waited time.Duration
		to     int64
	}{
		{"in the band at once", time.Minute, func(time.Duration) map[string]int64 { return one(41_850) }, record.CoolBand, 0, 41_850},
		{"cools a degree a second", time.Minute, func(d time.Duration) map[string]int64 { return one(60_000 - 1000*int64(d.Seconds())) }, record.CoolBand, 20 * time.Second, 40_000},
		{"too slow", 30 * time.Second, func(d time.Duration) map[string]int64 { return one(60_000 - 200*int64(d.Seconds())) }, record.CoolLimit, 30 * time.Second, 54_000},
		{"a limit between two readings", 7 * time.Second, func(d time.Duration) map[string]int64 { return one(60_000) }, record.CoolLimit, 7 * time.Second, 60_000},
		{"stays hot", 10 * time.Minute, func(time.Duration) map[string]int64 { return one(60_000) }, record.CoolSteady, 110 * time.Second, 60_000},
		{"falls by two degrees a minute, in whole ones", 3 * time.Minute,
			func(d time.Duration) map[string]int64 { return one(int64(60-2*d.Minutes()) * 1000) }, record.CoolLimit, 3 * time.Minute, 53_000},
		{"flickers between two degrees", 10 * time.Minute,
			func(d time.Duration) map[string]int64 { return one(60_000 + int64(d/coolPoll)%2*1000) }, record.CoolSteady, 110 * time.Second, 60_000},
		{"sensor lost", time.Minute, func(d time.Duration) map[string]int64 {
			if d > 12*time.Second {
				return nil
			}
			return one(60_000)
		}, record.CoolLost, 25 * time.Second, 60_000},
		{"one reading missed", time.Minute, func(d time.Duration) map[string]int64 {
			if d > 4*time.Second && d < 8*time.Second {
				return nil
			}
			return one(60_000 - 1000*int64(d.Seconds()))
		}, record.CoolBand, 20 * time.Second, 40_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var start time.Duration
			v := &virtual{temps: func(now, busy time.Duration) map[string]int64 {
				if busy < second {
					return one(40_000)
				}
				if start == 0 {
					start = now
				}
				return tt.after(now - start)
			}}
			v.plan(t, "quick", limit(tt.limit))
			passes := v.do(t.Context())
			if len(passes) != 2 || !v.run.Record.Complete {
				t.Fatalf("%d passes, incomplete %v", len(passes), v.missing())
			}
			first, cd := passes[0].CoolDown, passes[1].CoolDown
			if first == nil || *first != (record.CoolDown{Sensor: composite, FromMC: 40_000, ToMC: 40_000, TargetMC: 42_000, Ended: record.CoolBand}) {
				t.Errorf("the first pass: %+v", first)
			}
			if cd == nil {
				t.Fatal("the second pass has no cool-down")
			}
			if cd.Ended != tt.ended || time.Duration(cd.WaitedNS) != tt.waited || cd.ToMC != tt.to || cd.TargetMC != 42_000 || cd.Sensor != composite {
				t.Errorf("%+v, want %s after %v at %d", cd, tt.ended, tt.waited, tt.to)
			}
			// It is shown every second, counting down, and read every five.
			var left []time.Duration
			starts := 0
			for _, e := range v.events {
				if e.Kind == EventWait {
					starts++
				}
				if e.Kind == EventWait || e.Kind == EventWaitTick {
					left = append(left, e.Wait.Left)
					if e.Wait.Why != WaitCoolDown || *e.Wait.TargetMC != 42_000 || e.Steps != 2 {
						t.Fatalf("a wait is shown as %+v", e.Wait)
					}
				}
			}
			if want := int(tt.waited.Seconds()); len(left) != want || !slices.IsSortedFunc(left, func(a, b time.Duration) int { return int(b - a) }) {
				t.Errorf("%d ticks for %v, left %v", len(left), tt.waited, left)
			}
			if want := min(1, len(left)); starts != want {
				t.Errorf("%d waits start, want %d", starts, want)
			}
			if len(left) > 0 && left[0] != tt.limit {
				t.Errorf("it counts down from %v, want %v", left[0], tt.limit)
			}
			for i := 1; i < len(v.sampled); i++ {
				if d := v.sampled[i] - v.sampled[i-1]; d < coolPoll && d > 0 && d < 2*time.Second {
					t.Errorf("read again after %v", d)
				}
			}
		})
	}
}

// Without waiting nothing is read for a band, and nothing recorded of one.
func TestCoolDownOff(t *testing.T) {
	for name, change := range map[string]func(*Wish){
		"switched off":   func(w *Wish) { onePhase(w); w.CoolDown = new(time.Duration) },
		"no temperature": func(w *Wish) { onePhase(w); w.NoTemperature = true },
	} {
		v := &virtual{temps: func(time.Duration, time.Duration) map[string]int64 { return one(40_000) }}
		v.plan(t, "quick", change)
		for _, p := range v.do(t.Context()) {
			if p.CoolDown != nil {
				t.Errorf("%s: %+v", name, p.CoolDown)
			}
		}
		// At rest; at the start and the end of each of two passes.
		if len(v.sampled) != 5 {
			t.Errorf("%s: read %d times", name, len(v.sampled))
		}
	}
}

// Of two drives both must be in their bands; the last to cool is recorded.
func TestCoolDownOfTwoDrives(t *testing.T) {
	v := &virtual{temps: func(now, busy time.Duration) map[string]int64 {
		t := map[string]int64{composite: 40_000, "nvme1 Composite": 30_000, "nvme0 Sensor 2": 99_000}
		if busy > 4*time.Second {
			t[composite] = max(40_000, 60_000-1000*int64(now.Seconds()))
			t["nvme1 Composite"] = max(30_000, 60_000-1000*int64(now.Seconds()))
		}
		return t
	}}
	d := time.Minute
	v.plan(t, "quick", func(w *Wish) { onePhase(w); w.CoolDown = &d })
	passes := v.do(t.Context())
	if cd := passes[1].CoolDown; cd.Sensor != "nvme1 Composite" || cd.Ended != record.CoolBand || cd.ToMC > 32_000 || cd.TargetMC != 32_000 {
		t.Errorf("%+v", cd)
	}
}

func TestInterruptedCoolDown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	v := &virtual{temps: func(_, busy time.Duration) map[string]int64 { return one(40_000 + 5_000*int64(busy.Seconds())) }}
	v.onEvent = func(e Event) {
		if e.Kind == EventWaitTick {
			cancel()
		}
	}
	d := time.Hour
	v.plan(t, "quick", func(w *Wish) { onePhase(w); w.CoolDown = &d })
	passes := v.do(ctx)
	if got := v.missing(); len(passes) != 1 || !slices.Equal(got, []string{record.MissingInterrupted}) {
		t.Errorf("%d passes, missing %v", len(passes), got)
	}
	if v.now > time.Minute {
		t.Errorf("it took %v to end", v.now)
	}
}

// The idle drive is read once, after a minute without a reading, and its
// temperature is the band then.
func TestIdleBaseline(t *testing.T) {
	v := &virtual{temps: func(_, busy time.Duration) map[string]int64 {
		if busy > 0 {
			return one(50_000)
		}
		return one(35_000)
	}}
	v.plan(t, "article", nil)
	passes := v.do(t.Context())
	rec := v.run.Record
	if rec.Idle == nil || rec.IdleNS != 60e9 || v.sampled[0] != time.Minute || rec.Idle.Temperatures[composite] != 35_000 {
		t.Errorf("idle %+v after %d ns, first read at %v", rec.Idle, rec.IdleNS, v.sampled[0])
	}
	if cd := passes[0].CoolDown; cd == nil || cd.TargetMC != 37_000 {
		t.Errorf("%+v", cd)
	}
	if hot := passes[4]; hot.Role != record.RoleHot || hot.CoolDown != nil {
		t.Errorf("a hot pass: role %q, %+v", hot.Role, hot.CoolDown)
	}
	// With quick at once, and not said to be of an idle drive.
	v = &virtual{}
	v.plan(t, "quick", onePhase)
	v.do(t.Context())
	if v.run.Record.Idle == nil || v.run.Record.IdleNS != 0 || v.sampled[0] != 0 {
		t.Errorf("quick: idle %+v after %d ns", v.run.Record.Idle, v.run.Record.IdleNS)
	}
}

func TestCeiling(t *testing.T) {
	// A degree a second from 40 °C; another sensor is far above all the time.
	rising := func(_, busy time.Duration) map[string]int64 {
		return map[string]int64{composite: 40_000 + 1000*int64(busy.Seconds()), "nvme0 Sensor 1": 120_000}
	}
	ceiling := func(mc int64) func(*Wish) {
		return func(w *Wish) { w.MaxTempMC, w.CoolDown, w.Runtime = &mc, new(time.Duration), 40*time.Second }
	}
	v := &virtual{temps: rising}
	v.plan(t, "quick", ceiling(60_000)) // passes of 20 s after a prefill of 2 s
	passes := v.do(t.Context())
	if got := v.missing(); !slices.Equal(got, []string{record.MissingMaxTemp}) || len(passes) != 1 {
		t.Fatalf("missing %v after %d passes", got, len(passes))
	}
	p := passes[0]
	if !p.OK() || p.EndedBy != record.EndMaxTemp || len(p.Intervals) != 18 || p.Watch.After.Temperatures[composite] != 60_000 {
		t.Errorf("ok %t, ended by %q after %d s at %v", p.OK(), p.EndedBy, len(p.Intervals), p.Watch.After)
	}
	if d := v.run.Record.Incomplete[0].Detail; d != composite+" 60.0 °C" {
		t.Errorf("detail %q", d)
	}

	v = &virtual{temps: rising}
	v.plan(t, "quick", ceiling(41_000)) // in the prefill
	if passes := v.do(t.Context()); len(passes) != 0 || !slices.Equal(v.missing(), []string{record.MissingMaxTemp}) {
		t.Errorf("%d passes, missing %v", len(passes), v.missing())
	}

	v = &virtual{temps: rising}
	v.plan(t, "quick", ceiling(40_000)) // before anything
	if v.do(t.Context()); len(v.ran) != 0 || !slices.Equal(v.missing(), []string{record.MissingMaxTemp}) {
		t.Errorf("ran %v, missing %v", v.ran, v.missing())
	}

	// What was asked for by a signal is an interruption, also at the ceiling.
	ctx, cancel := context.WithCancel(t.Context())
	v = &virtual{temps: rising}
	v.plan(t, "quick", ceiling(60_000))
	v.onEvent = func(e Event) {
		if e.Kind == EventPassTick && e.Interval.EndNS == 10e9 {
			cancel()
		}
	}
	passes = v.do(ctx)
	if f := passes[0].Failed; f == nil || f.Code != record.FailInterrupted || !slices.Equal(v.missing(), []string{record.MissingInterrupted}) {
		t.Errorf("failed %+v, missing %v", f, v.missing())
	}
}

// A ceiling that cannot be watched any more ends the run, too; without one a lost
// sensor does not.
func TestBlindCeiling(t *testing.T) {
	lost := func(_, busy time.Duration) map[string]int64 {
		if busy > 5*time.Second {
			return nil
		}
		return one(40_000)
	}
	mc := int64(80_000)
	v := &virtual{temps: lost}
	v.plan(t, "quick", func(w *Wish) { onePhase(w); w.MaxTempMC, w.Runtime = &mc, 200*time.Second })
	passes := v.do(t.Context())
	if got := v.missing(); !slices.Equal(got, []string{record.MissingMaxTemp}) || len(passes) != 1 || len(passes[0].Intervals) > 40 {
		t.Errorf("missing %v after %d passes", got, len(passes))
	}
	v = &virtual{temps: lost}
	v.plan(t, "quick", func(w *Wish) { onePhase(w); w.Runtime = 200 * time.Second })
	if v.do(t.Context()); !v.run.Record.Complete {
		t.Errorf("missing %v", v.missing())
	}
}

func TestHealth(t *testing.T) {
	for _, tt := range []struct {
		name   string
		health func(now time.Duration) *record.Health
		stops  bool
	}{
		{"well", func(time.Duration) *record.Health { return &record.Health{MediaErrors: 3} }, false},
		{"its temperature is another's matter", func(time.Duration) *record.Health {
			return &record.Health{CriticalWarning: record.CriticalTemperature | record.CriticalPMR}
		}, false},
		{"spare", func(now time.Duration) *record.Health {
			h := &record.Health{}
			if now > 8*time.Second {
				h.CriticalWarning = record.CriticalSpare | record.CriticalTemperature
			}
			return h
		}, true},
		{"read-only", func(now time.Duration) *record.Health {
			h := &record.Health{}
			if now > 8*time.Second {
				h.CriticalWarning = record.CriticalReadOnly
			}
			return h
		}, true},
		{"media errors", func(now time.Duration) *record.Health {
			h := &record.Health{MediaErrors: 3}
			if now > 8*time.Second {
				h.MediaErrors = 4
			}
			return h
		}, true},
	} {
		v := &virtual{health: tt.health}
		v.plan(t, "quick", func(w *Wish) { onePhase(w); w.Runtime = 40 * time.Second })
		passes := v.do(t.Context())
		if !tt.stops {
			if !v.run.Record.Complete || len(passes) != 2 {
				t.Errorf("%s: missing %v", tt.name, v.missing())
			}
			continue
		}
		if got := v.missing(); !slices.Equal(got, []string{record.MissingHealth}) || len(passes) != 1 || passes[0].EndedBy != record.EndHealth || !passes[0].OK() || len(passes[0].Intervals) != 7 {
			t.Errorf("%s: missing %v after %d passes", tt.name, got, len(passes))
		}
	}
	// A drive that gives alarm before the start is not touched.
	v := &virtual{health: func(time.Duration) *record.Health {
		return &record.Health{CriticalWarning: record.CriticalReliability}
	}}
	v.plan(t, "quick", nil)
	if v.do(t.Context()); len(v.ran) != 0 || !slices.Equal(v.missing(), []string{record.MissingHealth}) {
		t.Errorf("ran %v, missing %v", v.ran, v.missing())
	}
}

func TestHeatEndsAtAPlateau(t *testing.T) {
	heat := func(w *Wish) { onePhase(w); mc := int64(88_000); w.MaxTempMC = &mc }
	warming := func(limit int64) func(_, busy time.Duration) map[string]int64 {
		// Like a drive: towards its limit with a time constant of about 100 s.
		return func(_, busy time.Duration) map[string]int64 {
			mc := int64(30_000)
			for range int(busy.Seconds()) {
				mc += (limit - mc) / 100
			}
			return one(mc / 1000 * 1000)
		}
	}
	for _, tt := range []struct {
		name  string
		temps func(_, busy time.Duration) map[string]int64
		rate  func(time.Duration) int64
		// from and to bound when the load ends.
		from, to time.Duration
		ended    string
	}{
		{"steady at once", func(time.Duration, time.Duration) map[string]int64 { return one(40_000) }, nil, 2 * time.Minute, 2 * time.Minute, record.EndPlateau},
		{"warms first", warming(80_000), nil, 4 * time.Minute, 10 * time.Minute, record.EndPlateau},
		{"throttles", warming(80_000), func(in time.Duration) int64 {
			if in > 80*time.Second {
				return 3e8
			}
			return 1e9
		}, 200 * time.Second, 7 * time.Minute, record.EndPlateau},
		{"saws", warming(70_000), func(in time.Duration) int64 {
			if in > 80*time.Second && int(in.Seconds())%20 < 10 {
				return 3e8
			}
			return 1e9
		}, 3 * time.Minute, 10 * time.Minute, record.EndPlateau},
		{"falls on and on", warming(70_000), func(in time.Duration) int64 { return int64(1e9 - in.Seconds()*1e6) }, 15 * time.Minute, 15 * time.Minute, ""},
		{"a temperature that rises on and on", func(_, busy time.Duration) map[string]int64 { return one(30_000 + int64(busy.Seconds())*40) }, nil, 15 * time.Minute, 15 * time.Minute, ""},
	} {
		v := &virtual{temps: tt.temps, rate: tt.rate}
		v.plan(t, "heat", heat)
		passes := v.do(t.Context())
		if !v.run.Record.Complete || len(passes) != 6 {
			t.Fatalf("%s: %d passes, missing %v", tt.name, len(passes), v.missing())
		}
		load := passes[0]
		took := time.Duration(load.Outcome.ElapsedNS())
		if load.Role != record.RoleLoad || load.EndedBy != tt.ended || !load.OK() || took < tt.from || took > tt.to {
			t.Errorf("%s: %s ended by %q after %v, want %q after %v to %v", tt.name, load.Role, load.EndedBy, took, tt.ended, tt.from, tt.to)
		}
		for i, p := range passes[1:5] {
			if p.Role != record.RoleProbe || p.EndedBy != "" || p.CoolDown != nil || p.Outcome.ElapsedNS() != 2e9 {
				t.Errorf("%s: probe %d: %s ended by %q", tt.name, i, p.Role, p.EndedBy)
			}
		}
		if passes[5].Role != record.RoleResume || passes[5].CoolDown != nil {
			t.Errorf("%s: the last pass is %s", tt.name, passes[5].Role)
		}
	}
}

// A fill goes on beyond every plateau, into a file that nobody wrote before, and
// its probes follow the planned pauses.
func TestFill(t *testing.T) {
	v := &virtual{temps: func(time.Duration, time.Duration) map[string]int64 { return one(40_000) }, rate: func(time.Duration) int64 { return 1 << 30 }}
	v.plan(t, "fill", func(w *Wish) { w.FileSize = 600 << 30 })
	passes := v.do(t.Context())
	if slices.Contains(v.ran, "prefill") || v.run.Record.Prefill != nil {
		t.Error("the file was written before")
	}
	if len(passes) != 6 || passes[0].EndedBy != "" || passes[0].Outcome.Write.Bytes != 600<<30 || passes[0].Role != record.RoleLoad {
		t.Fatalf("%d passes, the first %+v", len(passes), passes[0].Outcome)
	}
	for i, p := range passes[1:] {
		pause := time.Duration(p.Outcome.StartNS - passes[i].Outcome.EndNS)
		if pause != fillPauses[i] || p.Role != record.RoleProbe {
			t.Errorf("probe %d follows after %v, want %v", i, pause, fillPauses[i])
		}
	}
}
