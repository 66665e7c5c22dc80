package analysis

import (
	"math"
	"slices"

	"nativ/internal/record"
)

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
