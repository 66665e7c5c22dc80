package analysis

import (
	"slices"

	"nativ/internal/record"
)

// A Verdict is what may be said in one sentence, free of language. It follows
// from the parts of the losses that count as shown, and from nothing else.
type Verdict struct {
	Finding Finding
	// Phase is the one that the finding is about; empty where it is about all.
	Phase string
	// Of counts the phases that the finding looked at: those with every planned
	// pass, or with a round that counts.
	Of int
	// Reserves qualify the finding, in the order in which they are to be said.
	Reserves []Reserve
}

// A Finding is the core of a verdict.
type Finding string

// The findings. A loss or gain named here is shown; see Part.Shown.
const (
	// FindNothingMeasured: no phase has all its planned passes.
	FindNothingMeasured Finding = "nothing-measured"
	// FindNoComparison: the numbers do not allow one (no I/O on the host).
	FindNoComparison Finding = "no-comparison"
	// FindCapped: the user capped the rate, so that nothing can be said of the
	// drive or of a place.
	FindCapped Finding = "rate-capped"
	// FindHostOnly: nothing was compared, only the host is in the plan.
	FindHostOnly Finding = "host-only"
	// FindNoHost: there is no host to compare with.
	FindNoHost Finding = "no-host"
	// FindNoLoss: no difference between the places is shown in any phase.
	FindNoLoss Finding = "no-loss"
	// FindContainer: the container's own part is a loss, greatest in Phase.
	FindContainer Finding = "container-loss"
	// FindCPUs: the total is a loss, greatest in Phase, and so is the part of
	// the CPU set; the container's own part is not.
	FindCPUs Finding = "cpu-loss"
	// FindHostCPUs: the host itself is slower on the container's CPUs, most in
	// Phase; for the container as a whole no loss is shown or it was not
	// measured.
	FindHostCPUs Finding = "host-cpu-loss"
	// FindUnsplit: the total is a loss, greatest in Phase, and no part is shown.
	FindUnsplit Finding = "unsplit-loss"
	// FindNotSeparable: the total is a loss, greatest in Phase, and there is no
	// pinned place to split it by.
	FindNotSeparable Finding = "loss-not-separable"
	// FindFaster: a difference is shown, most in Phase, but it is a gain.
	FindFaster Finding = "faster"
)

// A Reserve qualifies a finding.
type Reserve string

// The reserves.
const (
	ReserveIncomplete Reserve = "incomplete" // passes are missing
	ReserveNetwork    Reserve = "network"    // a server answered, not a drive
	ReserveMemory     Reserve = "memory"     // the drive is memory
	ReserveStorage    Reserve = "storage"    // what is built over the drive answered too; see NotDrive
	ReserveCache      Reserve = "cache"      // a cache answered in at least one place
	ReserveHeat       Reserve = "heat"       // places were compared while the drive throttled
)

func verdict(rec *record.Record, r *Result) Verdict {
	v := Verdict{Reserves: reserves(rec, r)}
	var whole []*Phase
	for i := range r.Phases {
		ph := &r.Phases[i]
		switch {
		case ph.Rounds != nil:
			if ph.Rounds.Valid > 0 { // a round that lacks a pass is void as a whole
				whole = append(whole, ph)
			}
		case len(ph.Places) > 0 && !slices.ContainsFunc(ph.Places, func(p Place) bool { return p.Passes == 0 || p.Passes < p.Planned }):
			whole = append(whole, ph)
		}
	}
	v.Of = len(whole)
	host := slices.Contains(rec.Plan.Places, record.PlaceHost)
	switch {
	case len(whole) == 0:
		v.Finding = FindNothingMeasured
		return v
	case rec.Plan.MaxRate > 0:
		v.Finding = FindCapped
		return v
	case !host:
		v.Finding = FindNoHost
		return v
	case len(rec.Plan.Places) == 1:
		v.Finding, v.Phase = FindHostOnly, whole[0].Job.Name
		return v
	}

	if !slices.ContainsFunc(whole, func(p *Phase) bool { return p.Loss.Total != nil || p.Loss.CPUs != nil || len(p.Comparisons) > 0 }) {
		v.Finding = FindNoComparison
		return v
	}
	total := func(l *Loss) *Part { return l.Total }
	cpus := func(l *Loss) *Part { return l.CPUs }
	container := func(l *Loss) *Part { return l.Container }
	lost := func(p *Part) bool { return p.Shown() && p.Fraction < 0 }
	// greatest returns the phase in which part is the greatest loss, among
	// those that ok accepts.
	greatest := func(part func(*Loss) *Part, ok func(*Loss) bool) *Phase {
		var g *Phase
		for _, ph := range whole {
			if lost(part(&ph.Loss)) && ok(&ph.Loss) && (g == nil || part(&ph.Loss).Fraction < part(&g.Loss).Fraction) {
				g = ph
			}
		}
		return g
	}
	always := func(*Loss) bool { return true }
	for _, c := range []struct {
		finding Finding
		phase   *Phase
	}{
		{FindContainer, greatest(container, always)},
		{FindCPUs, greatest(total, func(l *Loss) bool { return lost(l.CPUs) })},
		{FindNotSeparable, greatest(total, func(l *Loss) bool { return l.NotSeparable })},
		{FindUnsplit, greatest(total, always)},
		{FindHostCPUs, greatest(cpus, always)},
	} {
		if c.phase != nil {
			v.Finding, v.Phase = c.finding, c.phase.Job.Name
			return v
		}
	}
	v.Finding = FindNoLoss
	var most float64
	for _, ph := range whole {
		for _, p := range []*Part{ph.Loss.Total, ph.Loss.CPUs, ph.Loss.Container} {
			if p.Shown() && p.Fraction > most {
				v.Finding, v.Phase, most = FindFaster, ph.Job.Name, p.Fraction
			}
		}
	}
	return v
}

func reserves(rec *record.Record, r *Result) []Reserve {
	var all []Reserve
	if !rec.Complete || r.Passes < r.Planned {
		all = append(all, ReserveIncomplete)
	}
	if rec.Target.Network {
		all = append(all, ReserveNetwork)
	}
	has := func(code string) bool {
		return slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Code == code })
	}
	if has(record.WarnMemoryDrive) {
		all = append(all, ReserveMemory)
	}
	if NotDrive(r.Warnings) != "" && !rec.Target.Network {
		all = append(all, ReserveStorage)
	}
	if has(record.WarnCacheAnswered) {
		all = append(all, ReserveCache)
	}
	if has(record.WarnThrottled) && len(rec.Plan.Places) > 1 {
		all = append(all, ReserveHeat)
	}
	return all
}
