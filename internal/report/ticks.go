package report

import "math"

// About how many ticks with a label an axis has, where the pictures have room.
const wantedTicks = 6

// step is 1, 2 or 5 times a power of ten, so that a length has about n of them.
func step(length float64, n int) float64 {
	if !(length > 0) || math.IsInf(length, 0) {
		return 1
	}
	raw := length / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= raw*0.85 {
			return f * power
		}
	}
	return 10 * power
}

// linear gives an axis round ends, and ticks in its first unit with as many
// decimals as their steps have. from0 begins it at 0, or at the step below the
// least value where that is negative.
func (s *speaker) linear(a *Axis, least, most float64, from0 bool) {
	a.Scale = ScaleLinear
	factor := a.factor()
	low, high := least*factor, most*factor
	if from0 {
		low, high = min(low, 0), max(high, 0)
	}
	if low == high { // one value alone, or none but 0
		high = low + max(1, math.Abs(low)*0.1)
	}
	d := step(high-low, wantedTicks)
	first, last := math.Floor(low/d+1e-9), math.Ceil(high/d-1e-9)
	s.ticks(a, first, last, d, factor)
}

// exact is linear between ends that are kept.
func (s *speaker) exact(a *Axis, low, high float64) {
	a.Scale = ScaleLinear
	factor := a.factor()
	if low == high {
		high = low + 1/factor
	}
	d := step((high-low)*factor, wantedTicks)
	s.ticks(a, math.Ceil(low*factor/d-1e-9), math.Floor(high*factor/d+1e-9), d, factor)
	a.Min, a.Max = low, high
}

func (s *speaker) ticks(a *Axis, first, last, d, factor float64) {
	decimals := int(max(0, -math.Floor(math.Log10(d)+1e-9)))
	a.Min, a.Max = first*d/factor, last*d/factor
	a.Ticks = nil
	for k := first; k <= last; k++ {
		a.Ticks = append(a.Ticks, Tick{k * d / factor, s.fixed(k*d, decimals)})
	}
}

// timeUnits are those of a time that lasts so many nanoseconds.
func timeUnits(ns float64) []Unit {
	switch {
	case ns <= 180e9:
		return []Unit{{Name: "s", Factor: 1e-9}}
	case ns <= 3*3600e9:
		return []Unit{{Name: "min", Factor: 1.0 / 60e9}}
	}
	return []Unit{{Name: "h", Factor: 1.0 / 3600e9}}
}

// byteUnits are those of a size: the decimal one first, which drives are sold by.
func byteUnits(most float64) []Unit {
	switch {
	case most >= 2e12:
		return []Unit{{Name: "TB", Factor: 1e-12}, {Name: "TiB", Factor: 1.0 / (1 << 40)}}
	case most >= 2e9:
		return []Unit{{Name: "GB", Factor: 1e-9}, {Name: "GiB", Factor: 1.0 / (1 << 30)}}
	}
	return []Unit{{Name: "MB", Factor: 1e-6}, {Name: "MiB", Factor: 1.0 / (1 << 20)}}
}

// rateUnits are those of a throughput. IOPS come first where people name those.
func rateUnits(iops bool) []Unit {
	all := []Unit{{Name: "MB/s", Factor: 1e-6}, {Name: "MiB/s", Factor: 1.0 / (1 << 20)}, {Name: "IOPS", Factor: 1, PerBlock: true}}
	if iops {
		return []Unit{all[2], all[0], all[1]}
	}
	return all
}

// decades gives an axis the powers of ten around its values, with strokes between
// them.
func decades(a *Axis, least, most float64, label func(float64) string) {
	a.Scale = ScaleLog
	low, high := math.Floor(math.Log10(least)+1e-9), math.Ceil(math.Log10(most)-1e-9)
	if low == high {
		high++
	}
	a.Min, a.Max, a.Ticks = math.Pow(10, low), math.Pow(10, high), nil
	for e := low; e <= high; e++ {
		power := math.Pow(10, e)
		a.Ticks = append(a.Ticks, Tick{power, label(power)})
		if e == high {
			break
		}
		for f := 2.0; f < 10; f++ {
			text := ""
			if high-low <= 2 && (f == 2 || f == 5) { // else there are too few with a label
				text = label(f * power)
			}
			a.Ticks = append(a.Ticks, Tick{f * power, text})
		}
	}
}

// nines gives an axis the percentiles that people name, up to the highest.
func (s *speaker) nines(a *Axis, highest float64) {
	a.Scale, a.Min, a.Max = ScaleNines, 0, highest
	for _, t := range []struct {
		p        float64
		decimals int
	}{{0, 0}, {0.5, 0}, {0.9, 0}, {0.99, 0}, {0.999, 1}, {0.9999, 2}, {0.99999, 3}, {0.999999, 4}} {
		if t.p <= highest {
			a.Ticks = append(a.Ticks, Tick{t.p, unit(s.fixed(t.p*100, t.decimals), "%")})
		}
	}
}
