package bench

import (
	"slices"
	"time"

	"nativ/internal/record"
)

const (
	// plateauWindow is long against the sawtooth of a drive that throttles and
	// recovers by turns, and plateauLeast the shortest load that can be called
	// steady: two windows that agree.
	plateauWindow = time.Minute
	plateauLeast  = 2 * plateauWindow
	// evenRate is how far the medians of two windows may lie apart, and
	// throttledRate the share of the best below which a rate has fallen.
	evenRate, throttledRate = 0.05, 0.8
	// warmUp is left out of the best rate: caches and clocks settle.
	warmUp = 5
	// steadySlope is the change of temperature, in millidegrees Celsius a
	// minute, below which a drive is as warm as it gets, or as cool; and
	// throttledSlope that below which one that throttles holds its temperature.
	steadySlope, throttledSlope = 500, 1000
)

// A plateau watches a load, a second at a time, for the moment from which more of
// it shows nothing new.
type plateau struct {
	rates []float64 // bytes a second
	temps []reading
}

// A reading is a temperature at a time.
type reading struct {
	at time.Duration
	mc int64
}

// add takes a second of the pass, with the temperature of the hottest composite
// sensor where the sample has one.
func (p *plateau) add(iv *record.Interval, s *record.Sample) {
	if iv.LenNS <= 0 {
		return
	}
	p.rates = append(p.rates, float64(iv.ReadBytes+iv.WriteBytes)/float64(iv.LenNS)*1e9)
	if t := composites(s); len(t) > 0 {
		p.temps = append(p.temps, reading{time.Duration(iv.EndNS), hottestOf(t)})
	}
}

// reached reports whether the last two windows were alike, and the temperature
// steady: a plateau, throttled or not.
func (p *plateau) reached() bool {
	const n = int(plateauWindow / time.Second)
	if len(p.rates) < 2*n {
		return false
	}
	end := len(p.rates)
	before, now := median(p.rates[end-2*n:end-n]), median(p.rates[end-n:])
	if high := max(before, now); high <= 0 || max(before-now, now-before) > evenRate*high {
		return false
	}
	limit := float64(steadySlope)
	if now <= throttledRate*p.best() {
		limit = throttledSlope
	}
	per, ok := slope(p.temps, plateauLeast)
	return ok && per > -limit && per < limit
}

// best is the highest median over half a window.
func (p *plateau) best() (best float64) {
	const n = int(plateauWindow/time.Second) / 2
	for i := warmUp; i+n <= len(p.rates); i += n / 2 {
		best = max(best, median(p.rates[i:i+n]))
	}
	return best
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func hottestOf(t map[string]int64) int64 {
	first := true
	var top int64
	for _, mc := range t {
		if first || mc > top {
			top, first = mc, false
		}
	}
	return top
}

// slope is the change of temperature over the last window of readings, in
// millidegrees Celsius a minute, by least squares: a drive counts in whole
// degrees, so that two readings tell nothing. It is false where they do not span
// nine tenths of the window.
func slope(all []reading, window time.Duration) (float64, bool) {
	if len(all) == 0 {
		return 0, false
	}
	end := all[len(all)-1].at
	i := len(all)
	for i > 0 && all[i-1].at >= end-window {
		i--
	}
	if end-all[i].at < window*9/10 {
		return 0, false
	}
	var n, sx, sy, sxx, sxy float64
	for _, r := range all[i:] {
		x, y := (r.at - end).Minutes(), float64(r.mc)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	d := n*sxx - sx*sx
	if d == 0 {
		return 0, false
	}
	return (n*sxy - sx*sy) / d, true
}
