package analysis

import "nativ/internal/record"

// windows are the times right before a drop and in it that are compared, near to
// the onset, so that what changes later is not taken for its cause.
type windows struct{ beforeFrom, beforeUntil, from, until int64 }

func (t *track) windows(d *Drop) windows {
	const second = int64(1e9)
	w := windows{d.OnsetNS - 12*second, d.OnsetNS - second, d.OnsetNS + d.FallNS + second, d.UntilNS - second}
	w.beforeFrom = max(w.beforeFrom, 0)
	w.until = min(w.until, w.from+30*second)
	if len(d.cuts) > 1 {
		w.from, w.until = d.OnsetNS, min(d.UntilNS, d.OnsetNS+60*second)
	}
	if w.until-w.from < 3*second {
		w.from, w.until = d.OnsetNS, d.UntilNS
	}
	return w
}

// between returns the first and the last sample in a time of the pass; false
// where they are not at least half a second apart.
func (t *track) between(from, until int64) (a, b *record.Sample, ok bool) {
	const slack = 600e6
	for _, s := range t.samples {
		at := s.MonoNS - t.startNS
		if at < from-slack || at > until+slack {
			continue
		}
		if a == nil {
			a = s
		}
		b = s
	}
	return a, b, a != nil && b.MonoNS-a.MonoNS >= 500e6
}

// perSecond is how fast a counter rose in a time of the pass.
func (t *track) perSecond(from, until int64, of func(*record.Sample) (float64, bool)) (float64, bool) {
	a, b, ok := t.between(from, until)
	if !ok {
		return 0, false
	}
	x, okX := of(a)
	y, okY := of(b)
	return (y - x) / float64(b.MonoNS-a.MonoNS) * 1e9, okX && okY && y >= x
}

// both windows of perSecond.
func (t *track) change(w windows, of func(*record.Sample) (float64, bool)) (was, is float64, ok bool) {
	was, okWas := t.perSecond(w.beforeFrom, w.beforeUntil, of)
	is, okIs := t.perSecond(w.from, w.until, of)
	return was, is, okWas && okIs
}

// bytesRate is the mean and the greatest rate in bytes a second of a time of the
// pass.
func (t *track) bytesRate(from, until int64) (average, most float64, ok bool) {
	var sum, length float64
	for i := range t.points {
		if p := &t.points[i]; p.fromNS >= from && p.endNS <= until {
			v, l := float64(p.bytes), float64(p.endNS-p.fromNS)/1e9
			sum, length, most = sum+v, length+l, max(most, v/l)
		}
	}
	return sum / max(length, 1e-9), most, length > 0
}
