package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/bench"
	"nativ/internal/job"
	"nativ/internal/record"
)

// A world is what acts on a drive beside the places.
type world struct {
	name string
	// cv is the standard deviation of a second's speed as a fraction, ar how much
	// of it is that of the second before, and run that of whole passes.
	cv, ar, run float64
	// drift is a change of speed, as a logarithm, at a time from the start of the
	// run and from the start of the phase.
	drift func(run, phase time.Duration) float64
	// first is what the first pass of each round has more, as a logarithm.
	first float64
}

// A layout is a plan as far as the speeds depend on it.
type layout struct {
	name string
	pass time.Duration
	// steps makes the passes of a run, in order, without those that do not count.
	steps func(seed uint64) ([]record.Step, error)
}

var three = []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}

const phases = 5

// preset is the layout of a preset, as nativ bench plans it.
func preset(p job.Preset) *layout {
	return &layout{
		name: p.Name,
		pass: p.Runtime / time.Duration(p.Passes),
		steps: func(seed uint64) ([]record.Step, error) {
			set := record.CPUSet{CPUs: []record.CPU{{ID: 0}, {ID: 1}}, Online: 4}
			plan, err := bench.NewPlan(bench.Wish{Preset: p, Dir: "/", Places: three, Seed: seed, CPUSet: set, FileSize: p.FileSize, WantedSize: p.FileSize})
			if err != nil {
				return nil, err
			}
			return slices.DeleteFunc(plan.Steps, func(s record.Step) bool { return s.Role != "" }), nil
		},
	}
}

// ends has rounds that start at either end of the places, half of them each.
func ends(rounds int, pass time.Duration) *layout {
	l := &layout{pass: pass}
	l.steps = func(seed uint64) (steps []record.Step, _ error) {
		rng := rand.New(rand.NewPCG(seed, 30))
		for phase := range phases {
			for round, n := range rng.Perm(rounds) {
				for pos := range 6 {
					at := min(pos, 5-pos)
					if n%2 == 1 {
						at = 2 - at
					}
					steps = append(steps, record.Step{Phase: string(rune('a' + phase)), Place: three[at], Round: round})
				}
			}
		}
		return steps, nil
	}
	return l
}

const gap = 2 * time.Second // between passes

// dropped is what analysis leaves out of the beginning of a pass.
func (l *layout) dropped() time.Duration {
	return min(l.pass/10, 5*time.Second).Truncate(time.Second)
}

// measure makes the record of a run in which the speed of a place in a phase
// differs from that of the host by a factor whose logarithm effect is. Passes have
// no seconds: the first ones are left out here already.
func (w *world) measure(rng *rand.Rand, l *layout, effect func(phase int, place string) float64) (*record.Record, error) {
	rec := &record.Record{SchemaVersion: record.SchemaVersion, Complete: true}
	var err error
	if rec.Plan.Steps, err = l.steps(rng.Uint64()); err != nil {
		return nil, err
	}
	rec.Plan.Places = three
	seconds := int((l.pass - l.dropped()) / time.Second)
	elapsed := int64(seconds) * 1e9
	start := time.Unix(0, 0)
	now, began, phase, level := start, start, -1, 0.0
	for i, s := range rec.Plan.Steps {
		if i == 0 || s.Phase != rec.Plan.Steps[i-1].Phase {
			rec.Plan.Phases = append(rec.Plan.Phases, job.Phase{Name: s.Phase, Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1})
			phase, began, level = phase+1, now, rng.NormFloat64() // no two phases are alike
		}
		x := level + effect(phase, s.Place) + w.run*rng.NormFloat64() + math.Log(w.seconds(rng, seconds))
		if w.drift != nil {
			x += w.drift(now.Sub(start), now.Sub(began))
		}
		if i == 0 || s.Phase != rec.Plan.Steps[i-1].Phase || s.Round != rec.Plan.Steps[i-1].Round {
			x += w.first
			rec.Rounds = append(rec.Rounds, record.Round{Phase: s.Phase})
		}
		ios := int64(1e6 * math.Exp(x) * float64(elapsed) / 1e9)
		round := &rec.Rounds[len(rec.Rounds)-1]
		round.Passes = append(round.Passes, record.Pass{Phase: s.Phase, Place: s.Place, Index: i, StartedAt: now,
			Outcome: &record.Outcome{EndNS: elapsed, Stopped: record.StopTime, Read: &record.Flow{IOs: ios, Bytes: ios * 4096}}})
		now = now.Add(l.pass + gap)
	}
	return rec, nil
}

// seconds is the mean speed of so many seconds whose noise is AR(1).
func (w *world) seconds(rng *rand.Rand, n int) float64 {
	e := rng.NormFloat64()
	var sum float64
	for range n {
		sum += 1 + w.cv*e
		e = w.ar*e + math.Sqrt(1-w.ar*w.ar)*rng.NormFloat64()
	}
	return max(sum/float64(n), 0.01)
}

// parts are what a loss is split into.
var parts = []string{"total", "CPU limit", "container"}

// A tally counts what runs say.
type tally struct {
	runs int
	// anyDifferent are runs that call any phase different, by part; different,
	// equivalent and covered count phases of runs.
	anyDifferent, different, equivalent, covered, phases [3]int
	// firstDifferent are runs that call the first phase different.
	firstDifferent [3]int
}

func part(l *analysis.Loss, i int) *analysis.Part {
	return []*analysis.Part{l.Total, l.CPUs, l.Container}[i]
}

// add counts what one run says.
func (t *tally) add(r *analysis.Result, effect func(phase int, place string) float64) {
	t.runs++
	for i := range parts {
		anyOne := false
		for n := range r.Phases {
			p := part(&r.Phases[n].Loss, i)
			if p == nil || p.Judged == nil || p.Low == nil {
				continue
			}
			h, c := math.Exp(effect(n, record.PlacePinned)), math.Exp(effect(n, record.PlaceLXC))
			truth := []float64{c - 1, h - 1, c - h}[i]
			t.phases[i]++
			if *p.Low <= truth && truth <= *p.High {
				t.covered[i]++
			}
			if p.Judged.Judgement == analysis.JudgeEquivalent {
				t.equivalent[i]++
			}
			if p.Judged.Different() {
				t.different[i]++
				anyOne = true
				if n == 0 {
					t.firstDifferent[i]++
				}
			}
		}
		if anyOne {
			t.anyDifferent[i]++
		}
	}
}

func (t *tally) merge(o *tally) {
	t.runs += o.runs
	for i := range parts {
		t.anyDifferent[i] += o.anyDifferent[i]
		t.different[i] += o.different[i]
		t.equivalent[i] += o.equivalent[i]
		t.covered[i] += o.covered[i]
		t.phases[i] += o.phases[i]
		t.firstDifferent[i] += o.firstDifferent[i]
	}
}

// try measures and judges so many runs. The same seed makes the same runs,
// however many processors there are.
func (w *world) try(l *layout, runs int, seed uint64, effect func(phase int, place string) float64) (tally, error) {
	const batches = 16
	var all [batches]tally
	var errs [batches]error
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for b := range batches {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			rng := rand.New(rand.NewPCG(seed, uint64(b)))
			for range runs*(b+1)/batches - runs*b/batches {
				rec, err := w.measure(rng, l, effect)
				if err != nil {
					errs[b] = err
					return
				}
				r := analysis.Compute(rec)
				all[b].add(&r, effect)
			}
		})
	}
	wg.Wait()
	var sum tally
	for b := range batches {
		sum.merge(&all[b])
	}
	return sum, errors.Join(errs[:]...)
}

// never is no effect of the places.
func never(int, string) float64 { return 0 }

// inFirst is an effect of the container by a factor, in the first phase alone.
func inFirst(factor float64) func(int, string) float64 {
	return func(phase int, place string) float64 {
		if phase == 0 && place == record.PlaceLXC {
			return math.Log(factor)
		}
		return 0
	}
}

// everywhere is an effect of the container by a factor.
func everywhere(factor float64) func(int, string) float64 {
	return func(_ int, place string) float64 {
		if place == record.PlaceLXC {
			return math.Log(factor)
		}
		return 0
	}
}

// split is an effect of both, everywhere.
func split(pinned, container float64) func(int, string) float64 {
	return func(_ int, place string) float64 {
		switch place {
		case record.PlacePinned:
			return math.Log(pinned)
		case record.PlaceLXC:
			return math.Log(pinned * container)
		}
		return 0
	}
}

// worlds are those that the design has to stand.
func worlds(cv, run float64) []world {
	quiet := world{name: "nothing", cv: cv, ar: 0.7, run: run}
	with := func(name string, change func(*world)) world {
		w := quiet
		w.name = name
		change(&w)
		return w
	}
	falling := func(t, _ time.Duration) float64 { return -0.04 * t.Minutes() / 40 }
	warming := func(_, t time.Duration) float64 { return -0.06 * (1 - math.Exp(-t.Minutes()/5)) }
	return []world{
		quiet,
		with("drift of −4 % in 40 min", func(w *world) { w.drift = falling }),
		with("warming up: −6 % in each phase, time constant 5 min", func(w *world) { w.drift = warming }),
		with("first pass of a round +5 %", func(w *world) { w.first = math.Log(1.05) }),
		with("all of these", func(w *world) {
			w.drift = func(a, b time.Duration) float64 { return falling(a, b) + warming(a, b) }
			w.first = math.Log(1.05)
		}),
	}
}
