package analysis

import (
	"maps"
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

// A sensor is one temperature over a run.
type sensor struct {
	name     string
	min, max int64
	times    []int64 // CLOCK_MONOTONIC
	values   []int64
	jumps    bool
}

// stuck reports whether a sensor never moved: it then tells nothing.
func (n *sensor) stuck() bool { return n.max-n.min < 2000 }

// lies reports whether what a sensor says is no temperature of anything.
func (n *sensor) lies() bool { return n.jumps || n.min < -20_000 || n.max > 150_000 }

// at is the reading nearest to a time, within 1.6 seconds.
func (n *sensor) at(mono int64) (int64, bool) {
	i, _ := slices.BinarySearch(n.times, mono)
	best, ok := int64(0), false
	dist := int64(1_600_000_000)
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(n.times) && max(n.times[k]-mono, mono-n.times[k]) < dist {
			best, ok, dist = n.values[k], true, max(n.times[k]-mono, mono-n.times[k])
		}
	}
	return best, ok
}

// in returns the readings of a time.
func (n *sensor) in(from, until int64) []int64 {
	i, _ := slices.BinarySearch(n.times, from)
	j, _ := slices.BinarySearch(n.times, until+1)
	return n.values[i:max(i, j)]
}

func sensorsOf(ts []*track) []*sensor {
	m := map[string]*sensor{}
	for _, t := range ts {
		for _, s := range t.samples {
			for name, v := range s.Temperatures {
				n := m[name]
				if n == nil {
					n = &sensor{name: name, min: v, max: v}
					m[name] = n
				}
				if k := len(n.times); k > 0 {
					if s.MonoNS <= n.times[k-1] {
						continue
					}
					if d := v - n.values[k-1]; s.MonoNS-n.times[k-1] <= 1_500_000_000 && max(d, -d) > mostJump {
						n.jumps = true
					}
				}
				n.min, n.max = min(n.min, v), max(n.max, v)
				n.times, n.values = append(n.times, s.MonoNS), append(n.values, v)
			}
		}
	}
	var all []*sensor
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[name])
	}
	return all
}

func (s *search) sensor(name string) *sensor {
	for _, n := range s.sensors {
		if n.name == name {
			return n
		}
	}
	return nil
}

func isComposite(name string) bool { return strings.HasSuffix(name, " Composite") }

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

// dwelt is the share of the time at full speed, under the same load and before
// any drop, that a sensor was between two readings: how often anything would
// begin there by chance. At the least a thirtieth, because nobody saw the drive
// often enough to say less.
func (s *search) dwelt(t *track, d *Drop, n *sensor, from, to int64) float64 {
	var there, all float64
	for _, o := range s.tracks {
		if o.job.Mode != t.job.Mode || o.job.BlockSize != t.job.BlockSize {
			continue
		}
		end := int64(math.MaxInt64)
		for i := range s.drops[o] {
			end = min(end, s.drops[o][i].OnsetNS)
		}
		for i := range o.points {
			p := &o.points[i]
			if p.endNS > end {
				break
			}
			if mc, ok := n.at(o.startNS + p.endNS); ok {
				if all++; mc >= from && mc <= to {
					there++
				}
			}
		}
	}
	if all == 0 {
		return 1
	}
	return max(there/all, 0.03)
}

// held reports whether a loop held the temperature from the drop on: it rose
// steadily until then, and from then on no more, although that takes just the
// right power. Its highest and lowest reading meanwhile.
func (n *sensor) held(t *track, d *Drop, on int64) (high, least float64, ok bool) {
	onset, end := t.startNS+d.OnsetNS, t.startNS+d.UntilNS
	from, until := onset+d.FallNS+8e9, min(end, onset+d.FallNS+120e9)
	after := n.in(from, until)
	if len(after) < 10 || d.Depth <= 0.1 || d.Recovered && d.Cycles == 1 {
		return 0, 0, false
	}
	hi, lo := slices.Max(after), slices.Min(after)
	if hi-on > 3000 || on-lo > 3000 {
		return 0, 0, false
	}
	rose := n.slope(max(t.startNS, onset-15e9), onset)
	rises := n.slope(from, until)
	// What rose slowly stays about where it is after any loss of power.
	if rose*float64(until-from)/1e9 < 5000 || math.Abs(rises) > 0.2*rose {
		return 0, 0, false
	}
	return float64(hi), float64(lo), true
}

// slope is that of a line through the readings of a time, in millidegrees a
// second; 0 with fewer than three.
func (n *sensor) slope(from, until int64) float64 {
	i, _ := slices.BinarySearch(n.times, from)
	j, _ := slices.BinarySearch(n.times, until+1)
	if j-i < 3 {
		return 0
	}
	var x, y []float64
	for k := i; k < j; k++ {
		x, y = append(x, float64(n.times[k]-from)/1e9), append(y, float64(n.values[k]))
	}
	mx, my := mean(x), mean(y)
	var sxx, sxy float64
	for k := range x {
		sxx += (x[k] - mx) * (x[k] - mx)
		sxy += (x[k] - mx) * (y[k] - my)
	}
	return sxy / sxx
}

// scatterBefore is the standard deviation of ln(rate) in the half minute before a
// drop.
func (t *track) scatterBefore(d *Drop) float64 {
	var x []float64
	for i := range t.points {
		if p := &t.points[i]; p.fromNS >= d.OnsetNS-30e9 && p.endNS <= d.OnsetNS && p.rate > 0 {
			x = append(x, math.Log(p.rate))
		}
	}
	if len(x) < leastSegment {
		return 0
	}
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}

// warned reports whether the drive raised its warning at the onset.
func (s *search) warned(t *track, d *Drop) bool {
	for name := range firstHealth(t) {
		was, is := false, false
		for _, sm := range t.samples {
			at := sm.MonoNS - t.startNS
			bit := sm.Health[name].CriticalWarning&record.CriticalTemperature != 0
			switch {
			case at < d.OnsetNS-15e9 || at < 1e9:
				was = was || bit
			case at <= d.OnsetNS+5e9:
				is = is || bit
			}
		}
		if is && !was {
			return true
		}
	}
	return false
}

// cycles looks at the falls and recoveries of a sawtooth: mean readings at both,
// and how often something else would show them. A throttle falls at one
// temperature, however long it takes to get there, and recovers at a lower one.
// What comes and goes by the clock makes temperatures that come and go, too; but
// then the falls come after equal times and at temperatures that drift.
func (n *sensor) cycles(t *track, d *Drop) (falls, rises, chance float64) {
	var high, low, fast []float64
	since := int64(0)
	for i, c := range d.cuts {
		// The sensor may lag: what it says at the most, right after the fall.
		if v := n.in(t.startNS+c.onset-1e9, t.startNS+min(c.onset+4e9, c.until)); len(v) > 0 {
			high = append(high, float64(slices.Max(v)))
			fast = append(fast, float64(c.onset-since)/1e9)
		}
		since = c.until
		if i == len(d.cuts)-1 && !d.Recovered {
			break
		}
		if v := n.in(t.startNS+c.until-2e9, t.startNS+c.until+3e9); len(v) > 0 {
			low = append(low, float64(slices.Min(v)))
		}
	}
	if len(high) < 2 || len(low) < 1 {
		return 0, 0, 1
	}
	falls, rises = mean(high), mean(low)
	if falls-rises < 1000 || slices.Max(high)-slices.Min(high) > 3000 || slices.Max(low) >= falls {
		return 0, 0, 1
	}
	chance = 0.5
	shortest, longest := slices.Min(fast), slices.Max(fast)
	if longest > 1.3*shortest+3 {
		chance = 0.06
		if len(high) >= 4 && slices.Max(high)-slices.Min(high) <= 1000 && falls-rises >= 4000 {
			chance = 0.03
		}
		// Again and again, after times that differ also among the later ones.
		if rest := fast[1:]; len(rest) >= 3 && slices.Max(rest) > 1.3*slices.Min(rest)+3 {
			chance = 0.03
		}
	}
	return falls, rises, chance
}

// sameTemperature looks for other drops of the same kind of load that began at
// the same temperature, but neither after the same time nor, where it writes,
// after the same bytes: from the same start everything comes at the same
// temperature. It returns the reading that differs most, in how many passes, and
// whether the speeds before and after were always the same, too.
func (s *search) sameTemperature(t *track, d *Drop, n *sensor, on int64) (there int64, count int, alike bool) {
	alike = true
	for _, o := range s.tracks {
		if o.job.Mode != t.job.Mode || o.job.BlockSize != t.job.BlockSize || o == t {
			continue
		}
		for i := range s.drops[o] {
			e := &s.drops[o][i]
			mc, has := n.at(o.startNS + e.OnsetNS)
			before := n.in(o.startNS-500e6, o.startNS+e.OnsetNS)
			if !has || e.Stall || len(before) == 0 || mc-slices.Min(before) < 2000 || max(mc-on, on-mc) > sameTemperature {
				continue
			}
			// From another speed it would be another drop, of another power.
			if math.Abs(d.log-e.log) > 0.1+2*t.scatterBefore(d) {
				continue
			}
			// Onsets are known to a second where they are sharp.
			apart, known := float64(max(d.OnsetNS-e.OnsetNS, e.OnsetNS-d.OnsetNS)), 2.5e9
			if d.FallNS > 3e9 || e.FallNS > 3e9 {
				known = 3e9 + 0.07*float64(max(d.OnsetNS, e.OnsetNS))
			}
			if apart < known {
				continue
			}
			if t.job.Mode.Writes() && float64(min(d.Written, e.Written)) > 0.93*float64(max(d.Written, e.Written))-3*d.bytesBefore(t) {
				continue
			}
			if count == 0 || max(mc-on, on-mc) > max(there-on, on-there) {
				there = mc
			}
			count++
			alike = alike && math.Abs(d.log-e.log) < 0.07 && math.Abs(d.low-e.low) < 0.1
			break
		}
	}
	return there, count, alike
}

// bytesBefore is the speed before a drop in bytes a second.
func (d *Drop) bytesBefore(t *track) float64 {
	if d.InBytes {
		return d.Before
	}
	return d.Before * float64(t.job.BlockSize)
}

// nextLoad is how fast the same load was at the start of the first later pass,
// within five minutes, that began at the reading below or less, and its reading.
func (s *search) nextLoad(t *track, d *Drop, n *sensor, below int64) (share float64, mc int64, ok bool) {
	if d.Recovered {
		return 0, 0, false
	}
	for _, o := range s.tracks {
		if o.pass.Index <= t.pass.Index || o.job.Mode != t.job.Mode || o.job.BlockSize != t.job.BlockSize || o.pass.Place != t.pass.Place {
			continue
		}
		if o.startNS-t.pass.Outcome.EndNS > 300e9 {
			break
		}
		mc, ok := n.at(o.startNS)
		if !ok || mc > below || len(o.points) == 0 {
			continue
		}
		var fastest float64
		for i := range o.points[:min(4, len(o.points))] {
			fastest = max(fastest, o.points[i].rate)
		}
		return fastest / d.Before, mc, true
	}
	return 0, 0, false
}

// settled is the highest reading at the end of a drop that lasts to the end of its
// pass, for long enough for a sensor that lags; false where it has none.
func (n *sensor) settled(t *track, d *Drop) (int64, bool) {
	if d.Recovered || d.Cycles > 1 {
		return 0, false
	}
	end := t.startNS + d.UntilNS
	v := n.in(max(t.startNS+d.OnsetNS+d.FallNS, end-25e9), end)
	if len(v) < 15 {
		return 0, false
	}
	return slices.Max(v[2*len(v)/3:]), true
}

// hotAndFast reports whether the same load ran for ten seconds as fast as before
// although it was hotter, and was so for long enough for a lagging sensor.
func (s *search) hotAndFast(t *track, d *Drop, n *sensor, on int64) (int64, bool) {
	for _, o := range s.tracks {
		if o.job.Mode != t.job.Mode || o.job.BlockSize != t.job.BlockSize || o.pass.Place != t.pass.Place {
			continue
		}
		fast := 0
		for i := range o.points {
			p := &o.points[i]
			mc, ok := n.at(o.startNS + p.endNS)
			margin := int64(3000)
			if o == t && p.fromNS >= d.UntilNS { // right after, from the same state
				margin = 1000
			}
			if p.fromNS < 20e9 || !ok || mc < on+margin || p.rate < 0.95*d.Before {
				fast = 0
				continue
			}
			if fast++; fast >= 10 {
				return mc, true
			}
		}
	}
	return 0, false
}
