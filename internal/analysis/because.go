package analysis

import (
	"math"
	"slices"

	"nativ/internal/record"
)

// An Explanation is something that was seen beside a difference and may be what
// makes it. It takes no part in the judgement.
type Explanation struct {
	Kind ExplanationKind
	// Place is where it was seen.
	Place string
	// Value is in the unit of the kind.
	Value float64
}

// An ExplanationKind says what was seen.
type ExplanationKind string

// The kinds, in the order in which they are told.
const (
	// ExplainCPUs: the place's CPUs were used up; Value is the share that was busy.
	ExplainCPUs ExplanationKind = "cpus-saturated"
	// ExplainCgroup: the kernel held the place's CPU time back (cpu.max) and not
	// that of the other; Value is the time in nanoseconds, 0 where not counted.
	ExplainCgroup ExplanationKind = "cgroup-throttled"
	// ExplainEngine: the rate comes near to what the engine could do; Value is the
	// share of that.
	ExplainEngine ExplanationKind = "engine-ceiling"
	// ExplainCPUTime: each I/O took more or less CPU time of the worker than in
	// the other place; Value is the ratio.
	ExplainCPUTime ExplanationKind = "cpu-time-per-io"
)

// leastCPUTime is the ratio from which a different CPU time for each I/O is told.
const leastCPUTime = 1.1

// Explain says what was seen beside the comparison of two places of a phase.
func (r *Result) Explain(ph *Phase, a, b string) []Explanation {
	pa, pb := ph.Place(a), ph.Place(b)
	if pa == nil || pb == nil {
		return nil
	}
	var all []Explanation
	for _, p := range []*Place{pa, pb} {
		if p.CPULimited && p.CPUBusy != nil {
			all = append(all, Explanation{ExplainCPUs, p.Name, *p.CPUBusy})
		}
	}
	held := func(p *Place) *record.Warning { return r.warning(record.WarnCgroupThrottled, ph.Job.Name, p.Name) }
	for _, s := range [][2]*Place{{pa, pb}, {pb, pa}} {
		if w := held(s[0]); w != nil && held(s[1]) == nil {
			all = append(all, Explanation{ExplainCgroup, s[0].Name, w.Values["throttled_ns"]})
		}
	}
	for _, p := range []*Place{pa, pb} {
		if w := r.warning(record.WarnToolLimit, ph.Job.Name, p.Name); w != nil {
			all = append(all, Explanation{ExplainEngine, p.Name, w.Values["share"]})
		}
	}
	ta, okA := pa.cpuTime()
	tb, okB := pb.cpuTime()
	if okA && okB && ta > 0 && tb > 0 && math.Abs(math.Log(tb/ta)) >= math.Log(leastCPUTime) {
		all = append(all, Explanation{ExplainCPUTime, b, tb / ta})
	}
	return all
}

// cpuTime is the worker's CPU time for each I/O in nanoseconds.
func (p *Place) cpuTime() (float64, bool) {
	if p.UserNS == nil || p.SystemNS == nil {
		return 0, false
	}
	return *p.UserNS + *p.SystemNS, true
}

func (r *Result) warning(code, phase, place string) *record.Warning {
	i := slices.IndexFunc(r.Warnings, func(w record.Warning) bool { return w.Code == code && w.Phase == phase && w.Place == place })
	if i < 0 {
		return nil
	}
	return &r.Warnings[i]
}
