package analysis

import (
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

// mixes reports whether a phase reads and writes, or may for all that is known:
// an imported result need not say its mode.
func mixes(m job.Mode) bool {
	return !slices.Contains([]job.Mode{job.Read, job.Write, job.RandRead, job.RandWrite}, m)
}

// both adds two directions up; nil where neither is there. Percentiles that were
// given cannot be added up and are left out.
func both(a, b *record.Flow) *record.Flow {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &record.Flow{
		IOs: a.IOs + b.IOs, Bytes: a.Bytes + b.Bytes,
		Lat: merged(a, b, func(f *record.Flow) *record.Histogram { return f.Lat }),
		Clat: merged(a, b, func(f *record.Flow) *record.Histogram {
			return f.Clat
		}),
	}
}

// merged is nil where a direction with I/Os has no histogram.
func merged(a, b *record.Flow, of func(*record.Flow) *record.Histogram) *record.Histogram {
	h := &record.Histogram{}
	for _, f := range []*record.Flow{a, b} {
		if of(f) == nil && f.IOs > 0 {
			return nil
		}
		h.Merge(of(f))
	}
	return h
}

// importedLatency takes what an imported result has: lat before clat, histograms
// before percentiles, which only a single pass can give.
func importedLatency(flows []*record.Flow) Latency {
	if len(flows) == 0 || slices.Contains(flows, nil) {
		return Latency{}
	}
	whole := func(of func(*record.Flow) *record.Histogram) (Latency, bool) {
		var h record.Histogram
		for _, f := range flows {
			if of(f) == nil && f.IOs > 0 {
				return Latency{}, false
			}
			h.Merge(of(f))
		}
		return latency(&h), h.N() > 0
	}
	ready := func(of func(*record.Given) *record.Summary) (Latency, bool) {
		f := flows[0]
		if len(flows) > 1 || f.Given == nil || of(f.Given) == nil || len(of(f.Given).Percentiles) == 0 {
			return Latency{}, false
		}
		s := of(f.Given)
		l := Latency{N: f.IOs}
		if s.N != nil {
			l.N = *s.N
		}
		for _, p := range s.Percentiles {
			for _, want := range []struct {
				p     float64
				oneIn int64
				into  **int64
			}{{50, 2, &l.P50}, {99, 100, &l.P99}, {99.9, 1000, &l.P999}} {
				if p.P == want.p && l.N >= beyond*want.oneIn {
					*want.into = new(p.NS)
				}
			}
		}
		return l, true
	}
	if l, ok := whole(func(f *record.Flow) *record.Histogram { return f.Lat }); ok {
		return l
	}
	if l, ok := ready(func(g *record.Given) *record.Summary { return g.Lat }); ok {
		return l
	}
	l, ok := whole(func(f *record.Flow) *record.Histogram { return f.Clat })
	if !ok {
		l, ok = ready(func(g *record.Given) *record.Summary { return g.Clat })
	}
	l.Clat = ok
	return l
}
