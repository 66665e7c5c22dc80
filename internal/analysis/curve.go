package analysis

import (
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A Curve is the distribution of latencies of a phase in a place, over the passes
// that its numbers are of.
type Curve struct {
	// N counts the I/Os.
	N int64
	// Clat is true where it is from submission on, as an imported result without lat
	// has it.
	Clat bool
	// Points are ascending in both; P is a fraction. Beyond the last there are too
	// few I/Os to tell.
	Points []CurveLatency
}

// A CurveLatency is the latency at or below which a fraction P of the I/Os lies.
type CurveLatency struct {
	P  float64
	NS int64
}

// CurveOf returns the distribution of a phase in a place at these fractions, which
// are ascending; of an imported result that has percentiles alone, at its own. It
// reports false where nothing is known of it.
func CurveOf(rec *record.Record, j *job.Phase, place string, at []float64) (Curve, bool) {
	passes, _ := passesBy(rec)
	var flows []*record.Flow
	for _, p := range passes[key{j.Name, place}] {
		f := flow(j, p.Outcome)
		if !p.OK() || f == nil || p.Outcome.ElapsedNS() <= 0 {
			continue
		}
		if j.FDataSync > 0 {
			f = p.Outcome.Sync
		}
		flows = append(flows, f)
	}
	if len(flows) == 0 || slices.Contains(flows, nil) {
		return Curve{}, false
	}
	lat := func(f *record.Flow) *record.Histogram { return f.Lat }
	clat := func(f *record.Flow) *record.Histogram { return f.Clat }
	for _, of := range []func(*record.Flow) *record.Histogram{lat, clat} {
		var h record.Histogram
		whole := true
		for _, f := range flows {
			whole = whole && (of(f) != nil || f.IOs == 0)
			h.Merge(of(f))
		}
		if whole && h.N() > 0 {
			c := curveOf(&h, at)
			c.Clat = of(flows[0]) != lat(flows[0])
			return c, len(c.Points) > 0
		}
	}
	return givenCurve(flows)
}

func curveOf(h *record.Histogram, at []float64) Curve {
	c := Curve{N: h.N()}
	for _, p := range at {
		if (1-p)*float64(c.N) < beyond && p > 0 {
			break
		}
		if ns, ok := h.Percentile(p * 100); ok {
			c.Points = append(c.Points, CurveLatency{p, ns})
		}
	}
	return c
}

// givenCurve is that of percentiles that were imported as such: those of several
// passes cannot be merged.
func givenCurve(flows []*record.Flow) (Curve, bool) {
	g := flows[0].Given
	if len(flows) > 1 || g == nil {
		return Curve{}, false
	}
	for _, s := range []*record.Summary{g.Lat, g.Clat} {
		if s == nil || len(s.Percentiles) == 0 {
			continue
		}
		c := Curve{N: flows[0].IOs, Clat: s == g.Clat}
		if s.N != nil {
			c.N = *s.N
		}
		for _, p := range s.Percentiles {
			if p.P >= 0 && p.P < 100 && (1-p.P/100)*float64(c.N) >= beyond {
				c.Points = append(c.Points, CurveLatency{p.P / 100, p.NS})
			}
		}
		return c, len(c.Points) > 1
	}
	return Curve{}, false
}
