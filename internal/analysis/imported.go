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

// A Line is one direction of an imported result, of all jobs together or of one of
// several that were reported apart. Rates are means over the passes.
type Line struct {
	// Job counts from 1 to Jobs; both are 0 where the jobs are one result.
	Job, Jobs int
	// Direction is "read", "write" or, where they were not counted apart,
	// "mixed".
	Direction         string
	IOPS, BytesPerSec *float64
	Lat               Latency
}

// lines takes the passes of a phase that ended as planned apart.
func lines(j *job.Phase, passes []*record.Pass) (all []Line) {
	type key struct {
		job, jobs int
		direction string
	}
	outcomes := map[key][]*record.Outcome{}
	var keys []key
	add := func(k key, o *record.Outcome) {
		for _, d := range []string{"read", "write", "mixed"} {
			if k.direction = d; direction(d, o) == nil || o.ElapsedNS() <= 0 {
				continue
			}
			if outcomes[k] == nil {
				keys = append(keys, k)
			}
			outcomes[k] = append(outcomes[k], o)
		}
	}
	for _, p := range passes {
		if !p.OK() || p.Outcome == nil {
			continue
		}
		for i := range p.Outcome.Clones {
			add(key{job: i + 1, jobs: len(p.Outcome.Clones)}, &p.Outcome.Clones[i])
		}
		if len(p.Outcome.Clones) == 0 {
			add(key{}, p.Outcome)
		}
	}
	for _, k := range keys {
		var iops, bps []float64
		var flows []*record.Flow
		for _, o := range outcomes[k] {
			f, sec := direction(k.direction, o), float64(o.ElapsedNS())/1e9
			iops, bps = append(iops, float64(f.IOs)/sec), append(bps, float64(f.Bytes)/sec)
			if j.FDataSync > 0 && k.direction == "write" {
				f = o.Sync // which the writes waited for
			}
			flows = append(flows, f)
		}
		all = append(all, Line{Job: k.job, Jobs: k.jobs, Direction: k.direction,
			IOPS: new(mean(iops)), BytesPerSec: new(mean(bps)), Lat: importedLatency(flows)})
	}
	return all
}

// direction is a flow by its name; nil where it is not there or not credible.
func direction(name string, o *record.Outcome) *record.Flow {
	f := map[string]*record.Flow{"read": o.Read, "write": o.Write, "mixed": o.Mixed}[name]
	if f == nil || f.IOs < 0 || f.Bytes < 0 {
		return nil
	}
	return f
}

// importedLatency takes what an imported result has: lat before clat, histograms
// before percentiles, which only a single pass can give, and a mean alone where
// there is nothing else.
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
		l := latency(&h)
		if m, ok := h.Mean(); ok {
			l.Mean = &m
		}
		return l, h.N() > 0
	}
	ready := func(of func(*record.Given) *record.Summary) Latency {
		f := flows[0]
		if len(flows) > 1 || f.Given == nil || of(f.Given) == nil {
			return Latency{}
		}
		s := of(f.Given)
		l := Latency{N: f.IOs, Mean: s.Mean}
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
		return l
	}
	if l, ok := whole(func(f *record.Flow) *record.Histogram { return f.Lat }); ok {
		return l
	}
	lat := ready(func(g *record.Given) *record.Summary { return g.Lat })
	if lat.P50 != nil || lat.P99 != nil || lat.P999 != nil {
		return lat
	}
	l, ok := whole(func(f *record.Flow) *record.Histogram { return f.Clat })
	if !ok {
		l = ready(func(g *record.Given) *record.Summary { return g.Clat })
	}
	if l.P50 == nil && l.P99 == nil && l.P999 == nil && lat.Mean != nil {
		return lat
	}
	l.Clat = ok || l.Mean != nil || l.P50 != nil || l.P99 != nil || l.P999 != nil
	return l
}
