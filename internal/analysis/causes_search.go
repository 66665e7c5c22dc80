package analysis

import (
	"math"
	"slices"

	"nativ/internal/record"
)

// A search has what is known of a whole run when causes are looked for.
type search struct {
	rec     *record.Record
	tracks  []*track
	drops   map[*track][]Drop
	sensors []*sensor
}

// explain gives every drop of a run its causes.
func (s *search) explain() {
	for _, t := range s.tracks {
		for i := range s.drops[t] {
			s.explainOne(t, i)
		}
	}
	for _, t := range s.tracks {
		s.furtherSteps(t)
	}
	for _, t := range s.tracks {
		s.sameFalls(t)
	}
	for _, t := range s.tracks {
		for i := range s.drops[t] {
			s.finish(&s.drops[t][i])
		}
		s.drops[t] = t.joined(s.drops[t])
	}
}

// furtherSteps names heat where it is only likely for one drop but shown for
// another that begins in it, a few degrees up: the first step of a throttle. Not
// where a cache is as likely.
func (s *search) furtherSteps(t *track) {
	all := s.drops[t]
	for i := range all {
		d := &all[i]
		k := slices.IndexFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseThermal })
		cache := slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseSLC && find(c.Evidence, EvSharp) != nil })
		if k < 0 || d.Causes[k].Confidence != Weak || cache || len(d.Named()) > 0 {
			continue
		}
		lead := find(d.Causes[k].Evidence, EvLead)
		for j := range all {
			e := &all[j]
			c := e.By(CauseThermal)
			if c == nil || e.OnsetNS < d.OnsetNS || e.OnsetNS > d.UntilNS {
				continue
			}
			other := find(c.Evidence, EvLead)
			if other != nil && other.Source == lead.Source && *other.Value >= *lead.Value-1000 && *other.Value <= *lead.Value+10_000 {
				d.Causes[k].Confidence = Strong
				d.Causes[k].Evidence = append(d.Causes[k].Evidence, ev(EvFurtherStep, lead.Source, *other.Value, *lead.Value))
				break
			}
		}
	}
}

// sameFalls names heat where it is only likely for one drop but shown for another
// of the same test, from the same speed to the same: a throttle has its levels. Not
// where a cache is as likely.
func (s *search) sameFalls(t *track) {
	const alike = 0.15 // of the logarithms, as for the teeth of one throttle
	for i := range s.drops[t] {
		d := &s.drops[t][i]
		k := slices.IndexFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseThermal && find(c.Evidence, EvLead) != nil })
		if k < 0 || len(d.Named()) > 0 || d.Stall || slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseSLC }) {
			continue
		}
		for _, o := range s.tracks {
			if o.pass.Phase != t.pass.Phase || o.pass.Place != t.pass.Place {
				continue
			}
			j := slices.IndexFunc(s.drops[o], func(e Drop) bool {
				c := e.By(CauseThermal)
				return c != nil && find(c.Evidence, EvSameFall) == nil && (o != t || e.OnsetNS != d.OnsetNS) &&
					math.Abs(e.log-d.log) < alike && math.Abs(e.low-d.low) < alike+0.1*(e.log-e.low)
			})
			if j >= 0 {
				d.Causes[k].Confidence = Strong
				d.Causes[k].Evidence = append(d.Causes[k].Evidence, ev1(EvSameFall, "", 1-math.Exp(s.drops[o][j].low-s.drops[o][j].log)))
				break
			}
		}
	}
}

// joined makes one drop of those by heat or garbage collection that lie within
// each other: steps of one throttle.
func (t *track) joined(all []Drop) []Drop {
	var out []Drop
	for _, d := range all {
		joined := false
		for i := range out {
			o := &out[i]
			if d.OnsetNS >= o.OnsetNS && d.OnsetNS < o.UntilNS && !d.Stall &&
				(o.By(CauseThermal) != nil && d.By(CauseThermal) != nil || o.By(CauseThermalLink) != nil && d.By(CauseThermalLink) != nil ||
					o.By(CauseGC) != nil && d.By(CauseGC) != nil) {
				o.UntilNS, o.Recovered = max(o.UntilNS, d.UntilNS), o.Recovered && (d.Recovered || d.UntilNS <= o.UntilNS)
				t.measure(o)
				joined = true
				break
			}
		}
		if !joined {
			out = append(out, d)
		}
	}
	return out
}

func (s *search) explainOne(t *track, i int) {
	d := &s.drops[t][i]
	w := t.windows(d)
	add := func(c *Cause, ruled bool) {
		switch {
		case c == nil:
		case ruled:
			d.Excluded = append(d.Excluded, *c)
		default:
			d.Causes = append(d.Causes, *c)
		}
	}
	link := s.link(t, d, w)
	for _, c := range []*Cause{s.errors(t, d), s.cgroup(t, w), s.cpu(t, d, w), s.neighbour(t, d, w), link} {
		add(c, false)
	}
	seen := len(d.Named()) > 0
	slc, slcRuled := s.slc(t, d)
	gc, gcRuled := s.gc(t, d, i)
	heat, chance, ruled := s.thermal(t, d, slc != nil && !slcRuled || gc != nil && !gcRuled)
	if heat != nil && link != nil && !ruled && (link.Confidence != Weak || heat.Confidence == Strong) {
		// Hot, and the link went down: through it. Without the link's change heat
		// alone would have to be shown.
		if s.maybeHot(heat) || heat.Confidence != Weak || find(heat.Evidence, EvSameTemperature) != nil || find(heat.Evidence, EvCycles) != nil {
			for i := range d.Causes {
				if d.Causes[i].Kind == CauseLink {
					d.Causes[i].Kind = CauseThermalLink
					d.Causes[i].Evidence = append(d.Causes[i].Evidence, heat.Evidence...)
					d.Causes[i].Confidence = Strong
					d.Causes[i].Decide = []Test{TestCooling}
				}
			}
		}
	} else if heat != nil {
		if seen && heat.Confidence == Strong && find(heat.Evidence, EvCycles) == nil && find(heat.Evidence, EvSameTemperature) == nil {
			heat.Confidence = Weak
		}
		add(heat, ruled)
	}
	// What only its shape tells is named where neither another cause was seen nor
	// heat is likely.
	hot := heat != nil && !ruled && (heat.Confidence != Weak || chance <= 1 && (s.maybeHot(heat) || s.maybeSame(heat)))
	for _, c := range []struct {
		*Cause
		ruled bool
	}{{slc, slcRuled}, {gc, gcRuled}} {
		if c.Cause != nil && c.Confidence == Strong && (seen || c.Kind == CauseSLC && gc != nil && !gcRuled && gc.Confidence == Strong || hot) {
			c.Confidence = Weak
		}
		add(c.Cause, c.ruled)
	}
}

// finish sorts the causes of a drop and says where none is known.
func (s *search) finish(d *Drop) {
	slices.SortStableFunc(d.Causes, func(a, b Cause) int {
		return slices.Index(confidences, a.Confidence) - slices.Index(confidences, b.Confidence)
	})
	if len(d.Named()) == 0 {
		u := Cause{Kind: CauseUnknown, Confidence: Weak, Decide: []Test{TestRepeat}}
		if len(s.sensors) == 0 {
			u.Evidence = append(u.Evidence, Evidence{Kind: EvNoSensor})
		}
		for _, n := range s.sensors {
			if n.stuck() {
				u.Evidence = append(u.Evidence, ev1(EvStuck, n.name, float64(n.max)))
			}
		}
		for _, c := range d.Causes {
			for _, test := range c.Decide {
				if !slices.Contains(u.Decide, test) {
					u.Decide = append(u.Decide, test)
				}
			}
		}
		d.Causes = append([]Cause{u}, d.Causes...)
	}
}
