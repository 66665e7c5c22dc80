package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/bench"
	"nativ/internal/record"
	"nativ/internal/sim"
)

const (
	second = int64(1e9)
	// leastLoss and leastTime are what a cause must have taken for its absence
	// from the result to be a mistake.
	leastLoss = 0.1
	leastTime = 9 * second
)

// A verdict is how the analysis did on one draw.
type verdict struct {
	// named is what it said of the drop that the cause made, or of the whole
	// pass; "none" where it found nothing.
	named string
	// right is true where that is the truth and nothing false was said anywhere
	// in the run.
	right bool
	// wrong is true where a cause was named that did not act.
	wrong bool
	// heatWithout is true where heat was named although there was none.
	heatWithout bool
	// drops counts those that were found, passes all passes.
	drops, dropped, passes int
	// onset is how well the temperature at the onset of throttling was found; nil
	// where none was reported.
	onset *onsetError
	// story is what happened and what was said.
	story string
}

// An onsetError is in °C: how far the truth is outside of the reported interval,
// how far from its middle, and how wide that is.
type onsetError struct{ off, middle, width float64 }

var errNothing = errors.New("the cause did not act")

// try draws a drive until what is to happen happens, runs it, and judges what
// the analysis says.
func try(sc *scenario, seed uint64) (verdict, error) {
	r := rand.New(rand.NewPCG(seed, 0x6e61746976))
	var err error
	for range 100 {
		d := sc.draw(r)
		var v verdict
		if v, err = one(sc, d, r.Uint64()); !errors.Is(err, errNothing) {
			return v, err
		}
	}
	return verdict{}, fmt.Errorf("%s, seed %d: %w in 100 draws", sc.name, seed, err)
}

func one(sc *scenario, d draft, seed uint64) (verdict, error) {
	rec, m, err := run(d, seed)
	if err != nil {
		return verdict{}, err
	}
	acts := episodes(m.Truth())
	if !sc.hold {
		for _, c := range sc.causes {
			if !slices.ContainsFunc(acts, func(a sim.Act) bool { return analysis.CauseKind(a.Cause) == c && a.FromNS > 8*second }) {
				return verdict{}, errNothing
			}
		}
	}
	res := analysis.Compute(rec)
	acted := map[analysis.CauseKind]bool{}
	for _, a := range m.Truth().Acts {
		acted[analysis.CauseKind(a.Cause)] = true
	}
	// CPUs that others use or that run slower are used up, too.
	for _, c := range []analysis.CauseKind{analysis.CauseCPULoad, analysis.CauseCPUFrequency} {
		acted[analysis.CauseCPULimit] = acted[analysis.CauseCPULimit] || acted[c]
	}
	v := judge(sc, acts, acted, res, rec)
	v.story = story(acts, &res)
	return v, nil
}

// run carries out the draft as nativ bench would.
func run(d draft, seed uint64) (*record.Record, *sim.Machine, error) {
	if err := d.model.Validate(); err != nil {
		return nil, nil, err
	}
	m := sim.New(&d.model, seed)
	rec := &record.Record{SchemaVersion: record.SchemaVersion}
	m.Into(rec, record.Simulation{Model: d.model.Name})
	set := record.CPUSet{CPUs: rec.Host.CPUs[:4], Online: len(rec.Host.CPUs)}
	var err error
	rec.Plan, err = bench.NewPlan(bench.Wish{Preset: d.preset, Dir: rec.Target.Dir, Places: d.places, Seed: seed, CPUSet: set,
		FileSize: d.preset.FileSize, WantedSize: d.preset.FileSize})
	if err != nil {
		return nil, nil, err
	}
	r := &bench.Run{Record: rec, Watch: func(p bench.Place) bench.Watcher { return m.Watch(p.Name()) },
		Undo: func(context.Context) []string { return nil }, Emit: func(bench.Event) {}, Now: m.Now, Sleep: m.Sleep}
	for _, p := range m.Places(&rec.Plan) {
		r.Places = append(r.Places, p)
	}
	if err := r.Do(context.Background()); err != nil {
		return nil, nil, err
	}
	m.Into(rec, *rec.Simulated)
	if d.blind != nil {
		d.blind(rec)
	}
	return rec, m, nil
}

// episodes joins acts of one cause that follow each other closely, as a sawtooth
// does, and leaves out what is too little to be asked for.
func episodes(t sim.Truth) []sim.Act {
	var all []sim.Act
	for _, a := range t.Acts {
		if a.Pass < 0 {
			continue
		}
		i := slices.IndexFunc(all, func(o sim.Act) bool {
			return o.Cause == a.Cause && o.Pass == a.Pass && a.FromNS-o.UntilNS < 40*second
		})
		if i < 0 {
			all = append(all, a)
			continue
		}
		o := &all[i]
		long, more := float64(o.UntilNS-o.FromNS), float64(a.UntilNS-a.FromNS)
		o.Loss = (o.Loss*long + a.Loss*more) / max(long+more, 1)
		o.UntilNS = a.UntilNS
	}
	return slices.DeleteFunc(all, func(a sim.Act) bool { return a.Loss < leastLoss || a.UntilNS-a.FromNS < leastTime })
}

func judge(sc *scenario, acts []sim.Act, acted map[analysis.CauseKind]bool, res analysis.Result, rec *record.Record) verdict {
	v := verdict{named: "none", right: true, drops: len(res.Drops)}
	for i := range rec.Rounds {
		v.passes += len(rec.Rounds[i].Passes)
	}
	said := map[analysis.CauseKind]bool{}
	dropped := map[int]bool{}
	for i := range res.Drops {
		d := &res.Drops[i]
		dropped[d.Pass] = true
		for _, c := range d.Named() {
			said[c.Kind] = true
		}
		if len(d.Named()) == 0 {
			said[analysis.CauseUnknown] = true
		}
	}
	v.dropped = len(dropped)
	for _, h := range res.Holds {
		if h.Cause.Confidence != analysis.Weak {
			said[h.Cause.Kind] = true
		}
	}
	v.heatWithout = !sc.hot() && (said[analysis.CauseThermal] || said[analysis.CauseThermalLink])
	for kind := range said {
		// Unknown is no answer, and so no false one.
		if !slices.Contains(sc.causes, kind) && kind != analysis.CauseUnknown && !acted[kind] {
			v.right, v.wrong, v.named = false, true, string(kind)
		}
	}
	if len(sc.causes) == 0 {
		if v.drops > 0 {
			v.right = false
			if v.named == "none" {
				v.named = string(analysis.CauseUnknown)
			}
		}
		return v
	}
	if sc.hold {
		for _, c := range sc.causes {
			v.right = v.right && said[c]
			if said[c] && v.right {
				v.named = string(c)
			}
		}
		return v
	}
	for _, c := range sc.causes {
		found := false
		for _, a := range acts {
			if analysis.CauseKind(a.Cause) != c || a.FromNS <= 8*second {
				continue
			}
			d := match(res.Drops, a, c)
			if d == nil {
				continue
			}
			found = true
			if names := d.Named(); len(names) > 0 && v.right {
				if v.named = string(names[0].Kind); d.By(c) != nil {
					v.named = string(c)
				}
			} else if len(names) == 0 {
				v.named = string(analysis.CauseUnknown)
			}
			if c == analysis.CauseUnknown {
				v.right = v.right && len(d.Named()) == 0
			} else {
				v.right = v.right && d.By(c) != nil
			}
			if c == analysis.CauseThermal && d.By(c) != nil {
				v.onset = onset(res.Drops, a)
			}
			break
		}
		v.right = v.right && found
	}
	if len(sc.causes) > 1 && v.right {
		v.named = "both"
	}
	return v
}

// match finds the drop that an act made: the one with its cause, else the
// nearest, that began within ten seconds or, where it came by and by, in its
// course.
func match(drops []analysis.Drop, a sim.Act, c analysis.CauseKind) *analysis.Drop {
	var best *analysis.Drop
	for i := range drops {
		d := &drops[i]
		late := max(10*second, (a.UntilNS-a.FromNS)/3)
		if d.Pass != a.Pass || d.OnsetNS < a.FromNS-5*second || d.OnsetNS > a.FromNS+late {
			continue
		}
		if best == nil || d.By(c) != nil && best.By(c) == nil {
			best = d
		}
	}
	return best
}

// onset compares the true temperature at the onset with what the analysis says
// of its sensor.
func onset(drops []analysis.Drop, a sim.Act) *onsetError {
	for i := range drops {
		h := drops[i].OnsetTemperature
		if drops[i].Pass != a.Pass || h == nil {
			continue
		}
		if truth, ok := a.SensorsMC[h.Sensor]; ok {
			return &onsetError{
				off:    float64(max(0, h.FromMC-truth, truth-h.ToMC)) / 1000,
				middle: math.Abs(float64(truth)-float64(h.FromMC+h.ToMC)/2) / 1000,
				width:  float64(h.ToMC-h.FromMC) / 1000,
			}
		}
	}
	return nil
}

// story tells a draw, for whoever looks for a mistake.
func story(acts []sim.Act, res *analysis.Result) string {
	var b strings.Builder
	for _, a := range acts {
		fmt.Fprintf(&b, "  %s acts in pass %d, %d to %d s, takes %.0f %%, %v\n", a.Cause, a.Pass, a.FromNS/second, a.UntilNS/second, 100*a.Loss, a.SensorsMC)
	}
	cause := func(c *analysis.Cause) {
		fmt.Fprintf(&b, "    %s %s", c.Confidence, c.Kind)
		for _, e := range slices.Concat(c.Evidence, c.Against) {
			fmt.Fprintf(&b, "; %s %s", e.Kind, e.Source)
			for _, v := range []*float64{e.Value, e.Was} {
				if v != nil {
					fmt.Fprintf(&b, " %.5g", *v)
				}
			}
		}
		fmt.Fprintln(&b)
	}
	for i := range res.Drops {
		d := &res.Drops[i]
		fmt.Fprintf(&b, "  drop in pass %d %s, %d to %d s, falls for %d s, %.0f %%, %d cycles\n", d.Pass, d.Role, d.OnsetNS/second, d.UntilNS/second, d.FallNS/second, 100*d.Depth, d.Cycles)
		if o := d.OnsetTemperature; o != nil {
			fmt.Fprintf(&b, "    from %d to %d of %s\n", o.FromMC, o.ToMC, o.Sensor)
		}
		for k := range d.Causes {
			cause(&d.Causes[k])
		}
		for k := range d.Excluded {
			fmt.Fprint(&b, "    excluded:")
			cause(&d.Excluded[k])
		}
	}
	for i := range res.Holds {
		fmt.Fprint(&b, "  hold:")
		cause(&res.Holds[i].Cause)
	}
	return b.String()
}
