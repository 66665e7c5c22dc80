package analysis

import (
	"math"
	"slices"
	"strings"

	"nativ/internal/record"
)

const (
	// nearWarning is how far below WCTEMP drives begin to slow down: Crucial's
	// T700 does at 81 °C, 6 below its own.
	nearWarning = 10_000
	// hotSensor is from which reading a sensor without a threshold of its own
	// counts as hot. Flash is rated to 70 °C, controllers throttle above that.
	hotSensor = 70_000
	// sameTemperature is how far the readings of two onsets may differ: sensors
	// have steps of 1 °C, samples and onsets are a second apart.
	sameTemperature = 2_500
	// mostChance is how often something else may show the signs of heat for them
	// to name it.
	mostChance = 0.04
	// How often something else shows what heat shows, where the run itself does
	// not tell. They are guesses on the safe side; docs/attribution.md says what
	// comes of them.
	//
	// chanceHeld: a drive that loses some power settles at any temperature between
	// the air's and its highest, some 50 °C apart, of which held accepts 6.
	chanceHeld = 0.12
	// chanceGradual: much falls by and by.
	chanceGradual = 0.6
	// chanceBack: what comes and goes was just over when the next pass began.
	chanceBack = 0.3
	// chanceWarned: the warning came within the seconds around the onset.
	chanceWarned = 0.2
	// chanceAlarm: it did so at the threshold, and while it was slow for no other
	// reason that is known; mostDwelt is how much of its time at full speed a drive
	// may have been there.
	chanceAlarm, mostDwelt = 0.03, 0.25
	// leastHot is below which no drive is too hot.
	leastHot = 45_000
	// coolEnough is how much cooler it must be for heat to be no reason: there are
	// throttles that let go only 20 °C below where they take hold.
	coolEnough = 25_000
	// mostJump is what no part of a drive warms or cools in a second: heat
	// capacities are J/K and powers W, so that it is some degrees.
	mostJump = 12_000
)

// thresholds are those of the drive that the composite temperature is held
// against; none for other sensors.
func (s *search) thresholds(name string) []int64 {
	d := driveOf(s.rec, name)
	if d == nil || d.NVMe == nil || !isComposite(name) {
		return nil
	}
	var all []int64
	for _, v := range []*int64{d.NVMe.TMT1MC, d.NVMe.TMT2MC, d.NVMe.WarningMC, d.NVMe.CriticalMC} {
		if v != nil && *v > 0 {
			all = append(all, *v)
		}
	}
	return all
}

// isHot reports whether a reading is one at which drives slow down.
func (s *search) isHot(name string, mc float64) bool {
	all := s.thresholds(name)
	if len(all) == 0 {
		return mc >= hotSensor
	}
	return mc >= float64(slices.Min(all)-nearWarning)
}

// maybeHot reports whether it was as hot as when drives slow down, by the drive's
// thresholds or by those of others.
func (s *search) maybeHot(c *Cause) bool {
	e := find(c.Evidence, EvLead)
	return e != nil && (s.isHot(e.Source, *e.Value) || *e.Value >= hotSensor)
}

// maybeSame reports whether it fell at the same temperature elsewhere, one that
// is not cool.
func (s *search) maybeSame(c *Cause) bool {
	e := find(c.Evidence, EvSameTemperature)
	return e != nil && *e.Value >= 60_000
}

// thermal looks for heat. It returns how often something else would show as much,
// above 1 where it is unlikely, and whether it is excluded. cache is whether a
// cache of the drive could be the reason as well.
func (s *search) thermal(t *track, d *Drop, cache bool) (*Cause, float64, bool) {
	counted := s.counted(t, d)
	var best *Cause
	var bestRuled bool
	// The surest sensor, and of equals the hottest: it is nearest to what gets
	// too hot, and lags least.
	var least float64
	var hottest int64
	for _, n := range s.sensors {
		// What jumps is believed where the drive itself does: it raised its warning.
		if n.stuck() || n.lies() && !(n.jumps && isComposite(n.name) && s.warned(t, d)) {
			continue
		}
		c, chance, ruled := s.bySensor(t, d, n, cache)
		if c == nil {
			continue
		}
		rank := func(c *Cause, ruled bool) int {
			switch {
			case counted != nil: // heat is certain, and what it is read from is asked
				return 0
			case ruled:
				return 0
			}
			return 2*(len(confidences)-slices.Index(confidences, c.Confidence)) + 1
		}
		on, _ := n.at(t.startNS + d.OnsetNS)
		if best == nil || rank(c, ruled) > rank(best, bestRuled) || rank(c, ruled) == rank(best, bestRuled) && on > hottest {
			best, least, bestRuled, hottest = c, chance, ruled, on
		}
	}
	if counted != nil {
		if best != nil {
			counted.Evidence = append(counted.Evidence, best.Evidence...)
		}
		return counted, 0, false
	}
	return best, least, bestRuled
}

// counted is what the drive itself counts of thermal management (HCTM).
func (s *search) counted(t *track, d *Drop) *Cause {
	for name := range firstHealth(t) {
		seconds := func(sm *record.Sample) (float64, bool) {
			h, ok := sm.Health[name]
			return float64(h.TMT1Seconds + h.TMT2Seconds), ok
		}
		entered := func(sm *record.Sample) (float64, bool) {
			h, ok := sm.Health[name]
			return float64(h.TMT1Transitions + h.TMT2Transitions), ok
		}
		// Entering counts once, near the onset, the seconds from then on.
		n, okN := t.perSecond(max(0, d.OnsetNS-3e9), d.OnsetNS+d.FallNS+3e9, entered)
		was, is, ok := t.change(windows{max(0, d.OnsetNS-15e9), d.OnsetNS - 3e9, d.OnsetNS, min(d.UntilNS, d.OnsetNS+d.FallNS+20e9)}, seconds)
		if !ok || is < 0.2 || is < 2*was && !(okN && n > 0) {
			continue
		}
		return &Cause{Kind: CauseThermal, Confidence: Decisive, Evidence: []Evidence{ev(EvTMT, name, is, was)}}
	}
	return nil
}

// bySensor judges heat by one sensor. That a temperature rose before a drop and
// falls after it is no evidence: it rises under every load, and falls with what
// a slow drive does not do.
func (s *search) bySensor(t *track, d *Drop, n *sensor, cache bool) (*Cause, float64, bool) {
	onset := t.startNS + d.OnsetNS
	on, ok := n.at(onset)
	if !ok {
		return nil, 1, false
	}
	before := n.in(max(t.startNS-500e6, onset-60e9), onset)
	if len(before) == 0 {
		return nil, 1, false
	}
	low := slices.Min(before)
	hot := s.isHot(n.name, float64(on))
	if on-low < 2000 && !(hot && n.max-on < 2000 && len(before) < 5) {
		return nil, 1, false
	}
	c := &Cause{Kind: CauseThermal, Confidence: Weak, Decide: []Test{TestPause, TestCooling},
		Evidence: []Evidence{ev(EvLead, n.name, float64(on), float64(low))}}
	if t.job.Mode.Writes() {
		c.Decide = append(c.Decide, TestRead)
	}
	if len(firstHealth(t)) == 0 && strings.HasPrefix(n.name, "nvme") {
		c.Decide = append(c.Decide, TestHealthLog)
	}
	sharp := d.FallNS < sharpNS
	// chance is how often something else would show all of these signs: each has
	// its own, and they have nothing to do with each other.
	chance, unlikely := 1.0, 1.0
	sign := func(e Evidence, p float64) {
		c.Evidence = append(c.Evidence, e)
		chance *= p
	}

	// Most throttles let go some degrees below where they took hold, a few far
	// below: what is slow and cooler than that is unlikely heat, and in the end
	// none.
	cool := func(mc int64) {
		switch below := on - mc; {
		case below >= coolEnough:
			c.Against = append(c.Against, ev(EvCoolSlow, n.name, float64(mc), float64(on)))
		case !cache: // only such a throttle is slow for as long without a state of writes
			if below >= 15_000 {
				unlikely = 2
			}
		case below >= 15_000:
			unlikely = 20
		case below >= 8000:
			unlikely = max(unlikely, 4)
		}
	}

	// The warning is what the composite temperature does at a threshold: one sign.
	// What else slowed the drive would do so there as often as it is there.
	near := int64(0)
	rise := int64(0) // in the seconds that an onset is known to
	if mc, ok := n.at(onset - 3e9); ok {
		rise = max(0, on-mc)
	}
	for _, th := range s.thresholds(n.name) {
		if on >= th-2000 && on <= th+1000+rise { // a sensor lags, and does not lead
			c.Evidence = append(c.Evidence, ev(EvThreshold, n.name, float64(on), float64(th)))
			near = th
			break
		}
	}
	warned := s.warned(t, d)
	if warned {
		c.Evidence = append(c.Evidence, Evidence{Kind: EvWarning, Source: n.name})
	}
	if near > 0 {
		apart := max(near-on, on-near) + 1000
		chance *= s.dwelt(t, d, n, near-apart, near+apart)
	} else if warned {
		chance *= chanceWarned
	}
	// To be at a threshold is no behaviour: something else must show that speed and
	// temperature have to do with each other. The drive itself says so where it
	// raises its warning as it slows down, unless it was there at full speed for
	// long, or a cache that was full explains it as well: such a cache is not fast
	// again under the same load.
	related := false
	if warned && near > 0 && (!cache || d.Recovered) && chance <= mostDwelt {
		chance, related = min(chance, chanceAlarm), true
	}
	if high, least, ok := n.held(t, d, on); ok {
		sign(ev(EvCeiling, n.name, high, least), chanceHeld)
		related = true
	}
	// Caches of sequential writes are full at once.
	if !sharp && !(cache && t.job.Mode.Random()) && hot {
		sign(ev1(EvGradual, "", float64(d.FallNS)), chanceGradual)
	}
	if falls, rises, p := n.cycles(t, d); p < 1 {
		sign(ev(EvCycles, n.name, falls, rises), p)
		related = true
	}
	if there, other, alike := s.sameTemperature(t, d, n, on); other > 0 {
		// As near as this, within the steps of both readings.
		apart := max(there-on, on-there) + 1000
		p := s.dwelt(t, d, n, on-apart, on+apart)
		if alike && !cache {
			p /= 2 // the same thing twice, then
		}
		sign(ev(EvSameTemperature, n.name, float64(on), float64(there)), math.Pow(p, float64(min(other, 2))))
		related = true
	}
	if share, mc, ok := s.nextLoad(t, d, n, on-4000); ok {
		if e := ev(EvRecoveredCool, n.name, share, float64(mc)); share >= 0.9 {
			if cache { // which may have been emptied meanwhile
				c.Evidence = append(c.Evidence, e)
			} else {
				sign(e, chanceBack)
				related = true
			}
		} else if share < 1-0.7*d.Depth {
			cool(mc)
		}
	}
	if mc, ok := n.settled(t, d); ok {
		cool(mc)
	}
	if mc, ok := s.hotAndFast(t, d, n, on); ok {
		c.Against = append(c.Against, ev(EvHotFast, n.name, float64(mc), float64(on)))
	}
	most := mostChance
	if !cache {
		most *= 1.5 // there is one explanation less
	}
	// A drive that is not hot needs more to be believed, and so does a drop that
	// noise might have made.
	if !hot || d.log-d.low < 1.5*t.scatterBefore(d) {
		most /= 3
	}
	chance *= unlikely
	switch {
	case len(c.Against) > 0:
		return c, chance, true
	case related && chance <= most && on >= leastHot:
		c.Confidence = Strong
	}
	return c, chance, false
}
