package analysis

import (
	"math"
	"slices"

	"nativ/internal/record"
)

// leastRounds is how many rounds a plan must have to be judged by them. With
// fewer the interval of a paired difference is wider than anything of interest,
// and the passes are compared over all places; see computeLoss.
const leastRounds = 4

// Rounds are how a phase was measured whose plan has at least four rounds, each a
// palindrome over the places: host pinned lxc lxc pinned host.
type Rounds struct {
	// Planned counts those of the plan, replacements included, Valid those behind
	// the comparisons.
	Planned, Valid int
	// Void are the rounds that do not count.
	Void []Void
	// CutNS is the beginning of each pass that its throughput leaves out, in
	// nanoseconds.
	CutNS int64
	// Drift is nil where too little was measured to tell.
	Drift *Drift
}

// A Void is a round that does not count.
type Void struct {
	// Round is its index in the record's rounds.
	Round  int
	Reason VoidReason // "" where it counts
	// Place is the one that it hit, or hit most; "" where it is about none.
	Place string
}

// A VoidReason is why a round does not count. None looks at what the round says
// of the places, so that leaving it out favours none.
type VoidReason string

// The reasons, in the order in which they are looked for; a record may have
// others of its own.
const (
	// VoidIncomplete: not every pass of the palindrome ran.
	VoidIncomplete VoidReason = "incomplete"
	// VoidErrors: a pass failed or had failed I/Os.
	VoidErrors VoidReason = "errors"
	// VoidEnded: the run ended a pass before its limits.
	VoidEnded VoidReason = "ended-early"
	// VoidHotStart: the passes of one place started hotter than the others'.
	VoidHotStart VoidReason = "hot-start"
	// VoidHeat: throttling took more from one place than from another.
	VoidHeat VoidReason = "throttling"
)

const (
	// unlikeHotMC is how much hotter than another a place may start, in
	// millidegrees Celsius: the width of the band that a run waits for.
	unlikeHotMC = 2000
	// unlikeThrottled is how much more of its time, as a share, a place may be
	// throttled by the drive's own count than another.
	unlikeThrottled = 0.1
)

// A Drift is how the throughput of a phase changed while it was measured, with
// the places' own differences taken out.
type Drift struct {
	// PerHour is the fraction in an hour, SpanNS what was seen of it.
	PerHour float64
	SpanNS  int64
}

// VoidRound says whether round i of a record counts, of a run that may still go
// on. It asks the search for drops, which takes milliseconds.
func VoidRound(rec *record.Record, i int) Void {
	if i < 0 || i >= len(rec.Rounds) {
		return Void{Round: i, Reason: VoidIncomplete}
	}
	var r Result
	findDrops(rec, &r)
	return voidRound(rec, &r, i)
}

func voidRound(rec *record.Record, r *Result, i int) Void {
	passes := ordinaryPasses(&rec.Rounds[i])
	v := Void{Round: i, Reason: VoidReason(rec.Rounds[i].Void)}
	if v.Reason != "" {
		return v // as it was decided while the run lasted
	}
	places := make([]string, len(passes))
	for n, p := range passes {
		places[n] = p.Place
	}
	if !balanced(places, rec.Plan.Places) {
		v.Reason = VoidIncomplete
		return v
	}
	for _, p := range passes {
		switch {
		case !p.OK():
			v.Reason, v.Place = VoidErrors, p.Place
		case p.EndedBy != "":
			v.Reason, v.Place = VoidEnded, p.Place
		}
		if v.Reason != "" {
			return v
		}
	}
	margin := MarginsOf(&rec.Plan)[MetricThroughput]
	for _, c := range []struct {
		reason VoidReason
		most   float64
		of     func(*record.Pass) float64
	}{
		{VoidHotStart, unlikeHotMC, startedHot},
		{VoidHeat, margin, func(p *record.Pass) float64 { return lostToHeat(r.Drops, p) }},
		{VoidHeat, unlikeThrottled, throttledShare},
	} {
		if place, d := unlike(passes, c.of); d > c.most {
			v.Reason, v.Place = c.reason, place
			return v
		}
	}
	return v
}

// ordinaryPasses are those of a round that stand for their places, in order.
func ordinaryPasses(r *record.Round) []*record.Pass {
	var all []*record.Pass
	for i := range r.Passes {
		if ordinary(r.Passes[i].Role) {
			all = append(all, &r.Passes[i])
		}
	}
	return all
}

// balanced reports whether order is a palindrome in which each of at least two
// places comes as often as the others, so that a steady drift takes the same from
// each.
func balanced(order, places []string) bool {
	if len(places) < 2 || len(order) == 0 || len(order)%len(places) != 0 || len(order)/len(places) < 2 {
		return false
	}
	for i := range order {
		if order[i] != order[len(order)-1-i] {
			return false
		}
	}
	for _, place := range places {
		n := 0
		for _, o := range order {
			if o == place {
				n++
			}
		}
		if n != len(order)/len(places) {
			return false
		}
	}
	return true
}

// plannedRounds counts the rounds of a phase that the plan has as palindromes.
func plannedRounds(p *record.Plan, phase string) int {
	rounds := map[int][]string{}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Phase == phase && ordinary(s.Role) {
			rounds[s.Round] = append(rounds[s.Round], s.Place)
		}
	}
	n := 0
	for _, order := range rounds {
		if balanced(order, p.Places) {
			n++
		}
	}
	return n
}

// unlike returns the place of which the mean of v is greatest, and how much it is
// above the smallest.
func unlike(passes []*record.Pass, of func(*record.Pass) float64) (most string, difference float64) {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, p := range passes {
		sum[p.Place] += of(p)
		n[p.Place]++
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range passes { // in order, so that a tie is always the same one
		m := sum[p.Place] / n[p.Place]
		if m > high {
			most, high = p.Place, m
		}
		low = min(low, m)
	}
	return most, high - low
}

// startedHot is how far above the band of the run a pass started, in
// millidegrees Celsius.
func startedHot(p *record.Pass) float64 {
	if c := p.CoolDown; c != nil && (c.Ended == record.CoolLimit || c.Ended == record.CoolLost) {
		return float64(max(0, c.ToMC-c.TargetMC))
	}
	return 0
}

// lostToHeat is the share of a pass's work that drops by heat took. Drops may lie
// within each other; the greatest counts.
func lostToHeat(drops []Drop, p *record.Pass) float64 {
	var most float64
	for i := range drops {
		d := &drops[i]
		if d.Pass == p.Index && d.By(CauseThermal, CauseThermalLink) != nil && p.Outcome.ElapsedNS() > 0 {
			most = max(most, d.Depth*float64(d.UntilNS-d.OnsetNS)/float64(p.Outcome.ElapsedNS()))
		}
	}
	return most
}

// throttledShare is the part of a pass in which the drive counted that it held
// itself back, of the controller that did most. It also sees a drive that started
// throttled and never changed its speed.
func throttledShare(p *record.Pass) float64 {
	a, b := p.Watch.Before, p.Watch.After
	if a == nil || b == nil || p.Outcome == nil || p.Outcome.ElapsedNS() <= 0 {
		return 0
	}
	var most float64
	for name, before := range a.Health {
		if after, ok := b.Health[name]; ok {
			s := after.TMT1Seconds + after.TMT2Seconds - before.TMT1Seconds - before.TMT2Seconds
			most = max(most, float64(s)*1e9/float64(p.Outcome.ElapsedNS()))
		}
	}
	return most
}

// compareRounds fills in Rounds and Comparisons of a phase whose plan has rounds
// enough, and sets the means of its places to what is compared: geometric means
// over the rounds that count.
func compareRounds(rec *record.Record, r *Result, ph *Phase) {
	planned := plannedRounds(&rec.Plan, ph.Job.Name)
	if planned < leastRounds {
		return
	}
	ph.Rounds = &Rounds{Planned: planned}
	var valid [][]*record.Pass
	var passes []*record.Pass
	for i := range rec.Rounds {
		ordinary := ordinaryPasses(&rec.Rounds[i])
		if rec.Rounds[i].Phase != ph.Job.Name || len(ordinary) == 0 {
			continue
		}
		if v := voidRound(rec, r, i); v.Reason != "" {
			ph.Rounds.Void = append(ph.Rounds.Void, v)
			continue
		}
		valid, passes = append(valid, ordinary), append(passes, ordinary...)
	}
	ph.Rounds.Valid, ph.Rounds.CutNS = len(valid), cutOf(passes)
	for i := range ph.Places {
		ph.Places[i].countRounds(ph, passes)
	}
	ph.Rounds.Drift = driftOf(ph, passes)
	margins := MarginsOf(&rec.Plan)
	for i := range ph.Places {
		for j := i + 1; j < len(ph.Places); j++ {
			a, b := &ph.Places[i], &ph.Places[j]
			for _, m := range Metrics() {
				d, ok := ofRounds(ph, valid, m, a.Name, b.Name)
				if !ok {
					continue
				}
				if e, ok := estimate(ph, valid, m, d, a.Name, b.Name); ok {
					ph.Comparisons = append(ph.Comparisons, Comparison{Phase: ph.Job.Name, Metric: m, A: a.Name, B: b.Name,
						Estimate: e, Margin: margins[m], Doubt: doubtOf(ph, a, b)})
				}
			}
		}
	}
}

// ofRounds are, for each round, the mean of what b's passes came to less that
// of a's; false where a pass does not have the metric.
func ofRounds(ph *Phase, rounds [][]*record.Pass, m Metric, a, b string) ([]float64, bool) {
	var all []float64
	for _, passes := range rounds {
		sum := map[string]float64{}
		n := map[string]float64{}
		for _, p := range passes {
			if p.Place != a && p.Place != b {
				continue
			}
			v, ok := number(&ph.Job, p, m, ph.Rounds.CutNS)
			if !ok {
				return nil, false
			}
			sum[p.Place] += v
			n[p.Place]++
		}
		all = append(all, sum[b]/n[b]-sum[a]/n[a])
	}
	return all, true
}

// estimate judges the differences d of two places, without what only meets the
// first pass of a round.
func estimate(ph *Phase, rounds [][]*record.Pass, m Metric, d []float64, a, b string) (Estimate, bool) {
	own := firsts(rounds, a, b)
	var heads []string // places that are ever first
	for _, passes := range rounds {
		if p := passes[0].Place; !slices.Contains(heads, p) {
			heads = append(heads, p)
		}
	}
	if len(heads) == 2 && !(slices.Contains(heads, a) && slices.Contains(heads, b)) {
		if e, ok := ofRounds(ph, rounds, m, heads[0], heads[1]); ok {
			return pairedBeside(d, own, e, firsts(rounds, heads[0], heads[1]))
		}
	}
	return pairedInOrder(d, own)
}

// firsts says of each round whether b (1), a (-1) or neither (0) was first.
func firsts(rounds [][]*record.Pass, a, b string) []float64 {
	all := make([]float64, len(rounds))
	for i, passes := range rounds {
		switch passes[0].Place {
		case a:
			all[i] = -1
		case b:
			all[i] = 1
		}
	}
	return all
}

// countRounds sets the means of a place to those of the rounds that count.
func (p *Place) countRounds(ph *Phase, passes []*record.Pass) {
	own := slices.DeleteFunc(slices.Clone(passes), func(x *record.Pass) bool { return x.Place != p.Name })
	logs := numbersOf(&ph.Job, own, ph.Rounds.CutNS)[MetricThroughput]
	if len(logs) == 0 || p.IOPS == nil || *p.IOPS <= 0 {
		return
	}
	iops := math.Exp(mean(logs))
	if p.BytesPerSec != nil {
		p.BytesPerSec = new(*p.BytesPerSec / *p.IOPS * iops)
	}
	p.IOPS = &iops
}

// leastDriftNS is the time from which a drift is told by the hour.
const leastDriftNS = 120e9

// driftOf is a least-squares line through the throughput of the passes over the
// time of their starts, with the mean of each place taken out. Palindromes leave
// the places nearly at the same mean time, so that one does not hide the other.
func driftOf(ph *Phase, passes []*record.Pass) *Drift {
	if slices.ContainsFunc(passes, func(p *record.Pass) bool { return p.StartedAt.IsZero() }) {
		return nil
	}
	var at, y []float64
	var place []string
	for _, p := range passes {
		v, ok := number(&ph.Job, p, MetricThroughput, ph.Rounds.CutNS)
		if !ok {
			return nil
		}
		// The wall clock, because CLOCK_MONOTONIC starts anew where a run was
		// resumed after the machine was.
		at, y, place = append(at, p.StartedAt.Sub(passes[0].StartedAt).Hours()), append(y, v), append(place, p.Place)
	}
	if len(at) < 4 {
		return nil
	}
	span := slices.Max(at) - slices.Min(at)
	if span*3.6e12 < leastDriftNS {
		return nil
	}
	center := func(v []float64) {
		sum, n := map[string]float64{}, map[string]float64{}
		for i, x := range v {
			sum[place[i]] += x
			n[place[i]]++
		}
		for i := range v {
			v[i] -= sum[place[i]] / n[place[i]]
		}
	}
	center(at)
	center(y)
	var xy, xx float64
	for i := range at {
		xy, xx = xy+at[i]*y[i], xx+at[i]*at[i]
	}
	if xx <= 0 {
		return nil
	}
	d := &Drift{PerHour: math.Expm1(xy / xx), SpanNS: int64(span * 3.6e12)}
	if math.IsNaN(d.PerHour) || math.IsInf(d.PerHour, 0) {
		return nil
	}
	return d
}
