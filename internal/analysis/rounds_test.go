package analysis

import (
	"math"
	"slices"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// designed makes the record of a run of rounds of one phase, or of several, whose
// passes come to 1e9 I/Os a second times exp(speed).
func designed(places []string, rounds, phases int, speed func(phase int, place string, round int) float64) *record.Record {
	rec := &record.Record{SchemaVersion: 1, Complete: true}
	rec.Plan.Places = places
	at := time.Unix(1000, 0)
	for n := range phases {
		name := string(rune('a' + n))
		j := job.Phase{Name: name, Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1}
		rec.Plan.Phases = append(rec.Plan.Phases, j)
		for round := range rounds {
			order := slices.Clone(places)
			if round%2 == 1 {
				slices.Reverse(order)
			}
			back := slices.Clone(order)
			slices.Reverse(back)
			r := record.Round{Phase: name}
			for _, place := range append(order, back...) {
				p := pass(&j, place, int64(2e9*math.Exp(speed(n, place, round))))
				p.Index, p.StartedAt = len(rec.Plan.Steps), at
				at = at.Add(time.Minute)
				rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: name, Place: place, Round: round})
				r.Passes = append(r.Passes, p)
			}
			rec.Rounds = append(rec.Rounds, r)
		}
	}
	return rec
}

var hpl = []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}

// wobble is noise that is known: of mean 0 over four rounds in either order.
func wobble(round int) float64 { return []float64{1, 1, -1, -1}[round%4] }

// The parts of a loss, worked out by hand: pinned is 0.8 of the host, the container
// 0.9 of that.
func TestLossOfRounds(t *testing.T) {
	rec := designed(hpl, 8, 1, func(_ int, place string, round int) float64 {
		switch place {
		case record.PlacePinned:
			return math.Log(0.8)
		case record.PlaceLXC:
			return math.Log(0.8*0.9) + 0.01*wobble(round)
		}
		return 0
	})
	ph := &Compute(rec).Phases[0]
	l := &ph.Loss
	for _, c := range []struct {
		name string
		p    *Part
		want float64
	}{{"total", l.Total, -0.28}, {"CPUs", l.CPUs, -0.2}, {"container", l.Container, -0.08}} {
		if !near(c.p.Fraction, c.want, 1e-6) || !c.p.Shown() || c.p.Judged.Judgement != JudgeDifferent || *c.p.Low > c.want+1e-6 || *c.p.High < c.want-1e-6 {
			t.Errorf("%s: %+v, want %v", c.name, c.p, c.want)
		}
	}
	// sd of the eight differences is 0.01*sqrt(8/6) with the six degrees of freedom
	// that the order leaves, t(0.975, 6) = 2.44691.
	half := 2.44691 * 0.01 * math.Sqrt(8.0/6/8)
	if low, high, _ := l.Total.Judged.Logs(0.95); !near((high-low)/2, half, 1e-6) {
		t.Errorf("half an interval is %v, want %v", (high-low)/2, half)
	}
	if l.Total.Tenths != -280 || l.CPUs.Tenths != -200 || l.Container.Tenths != -80 {
		t.Errorf("%d = %d + %d", l.Total.Tenths, l.CPUs.Tenths, l.Container.Tenths)
	}
	if ph.Rounds.Planned != 8 || ph.Rounds.Valid != 8 || len(ph.Rounds.Void) != 0 {
		t.Errorf("%+v", ph.Rounds)
	}
	if p := ph.Place(record.PlacePinned); !near(*p.IOPS, 0.8e9, 10) || !near(*p.BytesPerSec, 0.8e9*4096, 1e5) {
		t.Errorf("means: %v, %v", *p.IOPS, *p.BytesPerSec)
	}
}

func TestFewRoundsStayExploratory(t *testing.T) {
	rec := designed(hpl, 2, 1, func(int, string, int) float64 { return 0 })
	if ph := Compute(rec).Phases[0]; ph.Rounds != nil || ph.Comparisons != nil || ph.Loss.Total == nil {
		t.Errorf("%+v", ph)
	}
}

// One of each judgement.
func TestJudgements(t *testing.T) {
	at := func(ratio, sd float64, n int) *Comparison {
		e := Estimate{N: n, Log: math.Log(ratio), SE: sd / math.Sqrt(float64(n)), DF: float64(n - 1)}
		e.Flip = new(max(leastFlip(n), e.P()))
		return &Comparison{Metric: MetricThroughput, A: "a", B: "b", Estimate: e, Margin: 0.03}
	}
	for _, c := range []struct {
		name   string
		c      *Comparison
		want   Judgement
		reason Reason
		more   bool
	}{
		{"far", at(0.8, 0.01, 8), JudgeDifferent, "", false},
		{"near and sure", at(0.99, 0.002, 8), JudgeNegligible, "", false},
		{"nothing", at(1.001, 0.01, 8), JudgeEquivalent, "", false},
		{"nothing known", at(1.001, 0.1, 8), JudgeInconclusive, ReasonWide, true},
		{"far and not sure", at(0.9, 0.2, 8), JudgeInconclusive, ReasonWide, true},
		{"hopeless", at(1, 2, 8), JudgeInconclusive, ReasonWide, false},
		{"once", at(0.8, 0.01, 1), JudgeNone, ReasonSingle, false},
		{"at the edge of the margin", at(0.97, 0.001, 8), JudgeDifferent, "", false},
	} {
		Judge([]*Comparison{c.c})
		if c.c.Judgement != c.want || c.c.Reason != c.reason || (c.c.MoreRounds != nil) != c.more {
			t.Errorf("%s: %s, %s, more %v, want %s, %s, %v", c.name, c.c.Judgement, c.c.Reason, c.c.MoreRounds, c.want, c.reason, c.more)
		}
	}
	// The tests disagree.
	c := at(0.9, 0.03, 8)
	*c.Flip = 0.2
	if Judge([]*Comparison{c}); c.Judgement != JudgeInconclusive || c.Reason != ReasonTests {
		t.Errorf("%s, %s", c.Judgement, c.Reason)
	}
	// Alone it is a difference, among ten phases it may be chance.
	c = at(0.95, 0.05, 10) // p = 0.010
	if Judge([]*Comparison{c}); c.Judgement != JudgeDifferent {
		t.Errorf("alone: %s, p %v", c.Judgement, c.P())
	}
	family := []*Comparison{c}
	for range 9 {
		family = append(family, at(1.001, 0.05, 10))
		*family[len(family)-1].Flip = 1
	}
	if Judge(family); c.Judgement != JudgeInconclusive || c.Reason != ReasonFamily {
		t.Errorf("among ten: %s, %s", c.Judgement, c.Reason)
	}
	// Other metrics and places are other families.
	for i, f := range family[1:] {
		f.B = string(rune('c' + i))
	}
	if Judge(family); c.Judgement != JudgeDifferent {
		t.Errorf("beside others: %s", c.Judgement)
	}
	// With too few rounds for the sign-flip test it has no part.
	c = at(0.5, 0.01, 4)
	if Judge([]*Comparison{c}); c.Judgement != JudgeDifferent || c.FlipP != nil {
		t.Errorf("four rounds: %s, %v", c.Judgement, c.FlipP)
	}
}

// What MoreRounds says is enough: with as many the same estimate is decided.
func TestMoreRoundsDecide(t *testing.T) {
	for _, ratio := range []float64{0.9, 0.96, 0.985, 1, 1.01, 1.05} {
		c := &Comparison{Estimate: Estimate{N: 8, Log: math.Log(ratio), SE: 0.06 / math.Sqrt(8), DF: 7, Flip: new(0.5)}, Margin: 0.03}
		Judge([]*Comparison{c})
		if c.Judgement != JudgeInconclusive {
			continue
		}
		if c.MoreRounds == nil || (c.N+*c.MoreRounds)%2 != 0 {
			t.Errorf("%v: more %v", ratio, c.MoreRounds)
			continue
		}
		n := c.N + *c.MoreRounds
		d := *c
		d.N, d.SE, d.DF, d.Flip = n, 0.06/math.Sqrt(float64(n)), float64(n-1), new(leastFlip(n))
		if Judge([]*Comparison{&d}); d.Judgement == JudgeInconclusive {
			t.Errorf("%v: %d rounds do not decide", ratio, n)
		}
	}
}

func TestVoidRounds(t *testing.T) {
	flat := func(int, string, int) float64 { return 0 }
	hot := func(p *record.Pass, mc int64) {
		p.CoolDown = &record.CoolDown{ToMC: 40_000 + mc, TargetMC: 40_000, Ended: record.CoolLimit}
	}
	throttled := func(p *record.Pass, seconds int64) {
		p.Watch.Before = &record.Sample{Health: map[string]record.Health{"nvme0": {}}}
		p.Watch.After = &record.Sample{Health: map[string]record.Health{"nvme0": {TMT1Seconds: seconds}}}
	}
	for _, c := range []struct {
		name  string
		harm  func(r *record.Round)
		want  VoidReason
		place string
	}{
		{"whole", func(*record.Round) {}, "", ""},
		{"a pass is missing", func(r *record.Round) { r.Passes = r.Passes[:5] }, VoidIncomplete, ""},
		{"no palindrome", func(r *record.Round) { r.Passes[0], r.Passes[1] = r.Passes[1], r.Passes[0] }, VoidIncomplete, ""},
		{"a pass failed", func(r *record.Round) { r.Passes[2].Failed = &record.Failure{} }, VoidErrors, record.PlaceLXC},
		{"failed I/Os", func(r *record.Round) { r.Passes[1].Outcome.Errors = []record.IOError{{}} }, VoidErrors, record.PlacePinned},
		{"ended early", func(r *record.Round) { r.Passes[1].EndedBy = record.EndMaxTemp }, VoidEnded, record.PlacePinned},
		{"decided before", func(r *record.Round) { r.Void = record.VoidInterrupted }, VoidReason(record.VoidInterrupted), ""},
		{"one started hot", func(r *record.Round) { hot(&r.Passes[0], 5000) }, VoidHotStart, record.PlaceHost},
		{"all started as hot", func(r *record.Round) {
			for i := range r.Passes {
				hot(&r.Passes[i], 9000)
			}
		}, "", ""},
		{"one was throttled", func(r *record.Round) { throttled(&r.Passes[2], 1) }, VoidHeat, record.PlaceLXC},
		{"all were", func(r *record.Round) {
			for i := range r.Passes {
				throttled(&r.Passes[i], 1)
			}
		}, "", ""},
		{"a burn-in beside", func(r *record.Round) {
			r.Passes = append([]record.Pass{{Phase: "a", Place: record.PlaceHost, Role: record.RoleBurnIn}}, r.Passes...)
		}, "", ""},
	} {
		rec := designed(hpl, 8, 1, flat)
		c.harm(&rec.Rounds[2])
		if v := VoidRound(rec, 2); v.Reason != c.want || v.Place != c.place {
			t.Errorf("%s: %+v, want %q, %q", c.name, v, c.want, c.place)
		}
		ph := Compute(rec).Phases[0]
		valid := 8
		if c.want != "" {
			valid = 7
		}
		if ph.Rounds.Valid != valid || ph.Comparison(MetricThroughput, record.PlaceHost, record.PlaceLXC).N != valid {
			t.Errorf("%s: %d rounds count, want %d", c.name, ph.Rounds.Valid, valid)
		}
	}
	if v := VoidRound(&record.Record{}, 0); v.Reason == "" {
		t.Error("a round that is not there counts")
	}
}

// A drop by heat in one place voids a round, one in all places does not.
func TestHeatVoids(t *testing.T) {
	p := &record.Pass{Index: 7, Outcome: &record.Outcome{EndNS: 20 * second}}
	drops := []Drop{{Pass: 7, OnsetNS: 10 * second, UntilNS: 20 * second, Depth: 0.4, Causes: []Cause{{Kind: CauseThermal, Confidence: Strong}}},
		{Pass: 7, OnsetNS: 15 * second, UntilNS: 20 * second, Depth: 0.5, Causes: []Cause{{Kind: CauseThermal, Confidence: Strong}}},
		{Pass: 7, OnsetNS: 0, UntilNS: 20 * second, Depth: 0.9, Causes: []Cause{{Kind: CauseSLC, Confidence: Strong}}}}
	if got := lostToHeat(drops, p); !near(got, 0.2, 1e-12) {
		t.Errorf("lost %v, want 0.4 of half the pass", got)
	}
	rec := designed(hpl, 8, 1, func(int, string, int) float64 { return 0 })
	var r Result
	for _, pass := range rec.Rounds[2].Passes {
		d := drops[0]
		d.Pass, d.OnsetNS, d.UntilNS = pass.Index, second, 2*second
		if pass.Place == record.PlacePinned {
			r.Drops = append(r.Drops, d)
		}
	}
	if v := voidRound(rec, &r, 2); v.Reason != VoidHeat || v.Place != record.PlacePinned {
		t.Errorf("%+v", v)
	}
}

func TestDrift(t *testing.T) {
	rec := designed(hpl, 8, 1, func(_ int, place string, _ int) float64 {
		return map[string]float64{record.PlaceLXC: -0.3}[place]
	})
	n := 0.0
	each(rec, func(p *record.Pass) {
		p.Outcome.Read.IOs = int64(float64(p.Outcome.Read.IOs) * math.Exp(-0.05*n/60)) // a minute each
		n++
	})
	ph := Compute(rec).Phases[0]
	if d := ph.Rounds.Drift; d == nil || !near(d.PerHour, math.Expm1(-0.05), 1e-6) || d.SpanNS != 47*60*second {
		t.Errorf("%+v", d)
	}
	// And it takes nothing from anybody.
	if l := ph.Loss.Total.Fraction; !near(l, math.Expm1(-0.3), 1e-6) {
		t.Errorf("loss %v", l)
	}
	each(rec, func(p *record.Pass) { p.StartedAt = time.Time{} })
	if d := Compute(rec).Phases[0].Rounds.Drift; d != nil {
		t.Errorf("a drift without times: %+v", d)
	}
}

// The first seconds are left out, as many in all passes.
func TestCut(t *testing.T) {
	j := &job.Phase{Name: "a", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1}
	long := func(seconds int) *record.Pass {
		p := pass(j, record.PlaceHost, 0)
		p.Outcome.StartNS, p.Outcome.EndNS = 0, int64(seconds)*second
		for i := range seconds {
			n := int64(100)
			if i < 2 {
				n = 1000
			}
			p.Outcome.Read.IOs += n
			p.Intervals = append(p.Intervals, record.Interval{EndNS: int64(i+1) * second, LenNS: second, ReadIOs: n})
		}
		return &p
	}
	for _, c := range []struct {
		passes []*record.Pass
		want   int64
	}{
		{[]*record.Pass{long(25), long(40)}, 2 * second}, {[]*record.Pass{long(9)}, 0}, {[]*record.Pass{long(300)}, 5 * second}, {nil, 0},
		{[]*record.Pass{long(25), {Outcome: &record.Outcome{EndNS: second}}}, 0},
	} {
		if got := cutOf(c.passes); got != c.want {
			t.Errorf("%d passes: %d, want %d", len(c.passes), got, c.want)
		}
	}
	if v, ok := number(j, long(25), MetricThroughput, 2*second); !ok || !near(v, math.Log(100), 1e-12) {
		t.Errorf("%v, want the logarithm of 100", v)
	}
	if v, ok := number(j, long(25), MetricThroughput, 0); !ok || !near(v, math.Log((2000+2300)/25.0), 1e-12) {
		t.Errorf("%v", v)
	}
}

// A quantile follows a small change that the middle of a bucket does not see.
func TestQuantile(t *testing.T) {
	var last float64
	for shift := range 10 {
		var h record.Histogram
		for i := range 20_000 {
			h.Add(100_000 + int64(i) + int64(shift)*100)
		}
		got, want := quantile(&h, 0.5), 110_000+float64(shift)*100
		if math.Abs(got/want-1) > 0.001 || got <= last {
			t.Errorf("%v, want %v", got, want)
		}
		last = got
	}
	var h record.Histogram
	h.Add(5)
	if got := quantile(&h, 0.99); got != 5 {
		t.Errorf("of one: %v", got)
	}
}

func TestCompareSets(t *testing.T) {
	of := func(v ...float64) Numbers { return Numbers{MetricThroughput: v, MetricP50: v} }
	m := DefaultMargins()
	single := CompareSets("a", "old", "new", []Numbers{of(1)}, []Numbers{of(1.1)}, m)
	if len(single) != 2 || single[0].Known() || !near(single[0].Ratio(), math.Exp(0.1), 1e-12) {
		t.Errorf("%+v", single)
	}
	Judge([]*Comparison{&single[0]})
	if single[0].Judgement != JudgeNone || single[0].Reason != ReasonSingle {
		t.Errorf("%s, %s", single[0].Judgement, single[0].Reason)
	}
	runs := CompareSets("a", "old", "new", []Numbers{of(1, 3), of(1.9, 2.1)}, []Numbers{of(2.5), of(2.6)}, m)
	if c := runs[0]; c.WithinRun || c.N != 2 || !near(c.Log, 0.55, 1e-12) {
		t.Errorf("two runs a side: %+v", c)
	}
	if c := CompareSets("a", "old", "new", []Numbers{of(1, 1.1, 0.9)}, []Numbers{of(2, 2.1)}, m)[0]; !c.WithinRun || !c.Known() || c.Flip != nil {
		t.Errorf("one run a side: %+v", c)
	}
	if c := CompareSets("a", "old", "new", nil, []Numbers{of(1)}, m); c != nil {
		t.Errorf("against nothing: %+v", c)
	}
}

func TestNumbersOf(t *testing.T) {
	rec := designed(hpl, 4, 2, func(phase int, place string, round int) float64 { return float64(phase) })
	rec.Rounds[1].Void = "x"
	n := NumbersOf(rec, "b", record.PlaceLXC)[MetricThroughput]
	if len(n) != 8 || !near(n[0], math.Log(1e9)+1, 1e-6) {
		t.Errorf("%v", n)
	}
	if n := NumbersOf(rec, "a", record.PlaceHost)[MetricThroughput]; len(n) != 6 {
		t.Errorf("%d numbers beside a void round", len(n))
	}
	if n := NumbersOf(rec, "c", record.PlaceLXC); len(n) != 0 {
		t.Errorf("%v", n)
	}
}

func TestExplain(t *testing.T) {
	r := Result{Warnings: []record.Warning{
		{Code: record.WarnCgroupThrottled, Phase: "a", Place: record.PlaceLXC, Values: map[string]float64{"throttled_ns": 5}},
		{Code: record.WarnToolLimit, Phase: "b", Place: record.PlaceLXC},
	}}
	ph := &Phase{Job: job.Phase{Name: "a"}, Places: []Place{
		{Name: record.PlaceHost, UserNS: new(1.0), SystemNS: new(9.0)},
		{Name: record.PlaceLXC, CPULimited: true, CPUBusy: new(0.99), UserNS: new(2.0), SystemNS: new(18.0)},
	}}
	want := []Explanation{{ExplainCPUs, record.PlaceLXC, 0.99}, {ExplainCgroup, record.PlaceLXC, 5}, {ExplainCPUTime, record.PlaceLXC, 2}}
	if got := r.Explain(ph, record.PlaceHost, record.PlaceLXC); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
