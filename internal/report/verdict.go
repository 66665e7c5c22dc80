package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// verdict words the verdict as one sentence. It takes every number from the
// tenths that the table shows, so that the two agree.
func (b *builder) verdict() string {
	v := &b.res.Verdict
	parts := b.reserves(v)
	load := b.loadFinding()
	if v.Finding == analysis.FindCapped {
		load = ""
	}
	switch only := v.Finding == analysis.FindHostOnly || v.Finding == analysis.FindNoHost || v.Finding == analysis.FindNothingMeasured; {
	case load == "":
		parts = append(parts, b.finding(v))
	case only:
		parts = append(parts, load)
	default:
		parts = append(parts, load+" "+upperFirst(b.finding(v)))
	}
	text := upperFirst(strings.Join(parts, "; "))
	if hasRole(b.rec, record.RoleHot) {
		text += " " + upperFirst(b.heatFinding())
	}
	switch v.Finding {
	case analysis.FindContainer, analysis.FindCPUs, analysis.FindUnsplit, analysis.FindNotSeparable, analysis.FindHostCPUs:
		if b.brief() {
			text += " " + b.speaker.messages.verdict.brief
		}
	}
	return text
}

// brief reports whether passes are so short that what they show is worth
// measuring again before anybody acts on it.
func (b *builder) brief() bool {
	return slices.ContainsFunc(b.rec.Plan.Steps, func(s record.Step) bool { return ordinary(&s) && s.RuntimeNS < 10e9 })
}

func (b *builder) reserves(v *analysis.Verdict) []string {
	var parts []string
	m := &b.speaker.messages.verdict
	for _, r := range v.Reserves {
		switch r {
		case analysis.ReserveIncomplete:
			if b.res.Passes < b.res.Planned {
				parts = append(parts, fmt.Sprintf(m.incompletePasses, b.int(int64(b.res.Passes)), b.int(int64(b.res.Planned))))
			} else {
				parts = append(parts, m.incomplete)
			}
		case analysis.ReserveNetwork:
			parts = append(parts, fmt.Sprintf(m.network, b.data(analysis.NetworkName(&b.rec.Target))))
		case analysis.ReserveMemory:
			parts = append(parts, m.memory)
		case analysis.ReserveStorage:
			parts = append(parts, m.storage[analysis.NotDrive(b.res.Warnings)])
		case analysis.ReserveHeat:
			parts = append(parts, b.throttled())
		case analysis.ReserveCache:
			phases := map[string]bool{}
			for _, w := range b.res.Warnings {
				if w.Code == record.WarnCacheAnswered {
					phases[w.Phase] = true
				}
			}
			if len(phases) == 1 {
				parts = append(parts, m.cache)
			} else {
				parts = append(parts, fmt.Sprintf(m.caches, b.int(int64(len(phases)))))
			}
		}
	}
	return parts
}

// throttled says in how many tests the drive slowed itself down for heat.
func (b *builder) throttled() string {
	phases := map[string]bool{}
	for _, w := range b.res.Warnings {
		if w.Code == record.WarnThrottled {
			phases[w.Phase] = true
		}
	}
	if n := len(phases); n < len(b.res.Phases) {
		return fmt.Sprintf(b.drops.throttled, b.testCountOf(n))
	}
	return b.drops.throttledAll
}

// testCountOf is "1 of 5 tests".
func (b *builder) testCountOf(n int) string {
	return fmt.Sprintf(b.speaker.messages.verdict.ofTests, b.int(int64(n)), b.testCount(len(b.res.Phases)))
}

func (b *builder) finding(v *analysis.Verdict) string {
	m := &b.speaker.messages.verdict
	switch v.Finding {
	case analysis.FindNothingMeasured:
		return m.nothingMeasured
	case analysis.FindNoComparison:
		return m.noComparison
	case analysis.FindHostOnly:
		return m.hostOnly
	case analysis.FindCapped:
		return fmt.Sprintf(m.capped, b.bytes(b.rec.Plan.MaxRate))
	case analysis.FindNoHost:
		return m.noHost
	}
	if b.inRounds() {
		return b.roundsFinding()
	}
	if v.Finding == analysis.FindNoLoss {
		return b.noLoss(v)
	}
	ph := b.res.Phase(v.Phase)
	if ph == nil {
		return m.noComparison
	}
	l := &ph.Loss
	in := b.inPhaseName(&ph.Job)
	switch v.Finding {
	case analysis.FindContainer:
		s := fmt.Sprintf(m.containerOne, in, b.whole(-l.Container.Tenths))
		if n := b.containerLosses(); n > 1 {
			s = fmt.Sprintf(m.containerMany, in, b.whole(-l.Container.Tenths), b.testCountIn(n))
		}
		switch {
		case l.CPUs.Shown() && l.CPUs.Fraction < 0:
			s += "; " + fmt.Sprintf(m.cpusToo, b.whole(-l.CPUs.Tenths))
		case !l.CPUs.Shown():
			s += "; " + m.cpusNot
		default:
			s += "."
		}
		return s
	case analysis.FindCPUs:
		return b.reached(ph, in) + "; " + b.cpuCause(ph) + m.containerNotShown
	case analysis.FindUnsplit:
		return b.reached(ph, in) + "; " + m.unsplit
	case analysis.FindNotSeparable:
		if b.rec.Plan.CPUSet.All {
			return b.reached(ph, in) + "; " + m.notSeparableAll
		}
		return b.reached(ph, in) + "; " + m.notSeparable
	case analysis.FindHostCPUs:
		s := fmt.Sprintf(m.hostCPUs, in, b.whole(-l.CPUs.Tenths))
		if ph.Container() == nil {
			return s + "; " + m.containerNotMeasured
		}
		return s + "; " + m.totalNotShown
	case analysis.FindFaster:
		text, p := m.fasterCPUs, l.CPUs
		switch {
		case l.Total.Shown() && l.Total.Fraction > 0:
			text, p = m.faster, l.Total
		case l.Container.Shown() && l.Container.Fraction > 0:
			text, p = m.fasterContainer, l.Container
		}
		return fmt.Sprintf(text, in, b.whole(p.Tenths)) + "; " + m.fasterWhy
	}
	return m.noComparison
}

// whole rounds tenths of a percent to whole percent.
func (b *builder) whole(tenths int64) string { return b.fixed(float64(tenths)/10, 0) }

// reached says how far the container comes in a phase.
func (b *builder) reached(ph *analysis.Phase, in string) string {
	return fmt.Sprintf(b.speaker.messages.verdict.reaches,
		b.cpuCount(placeCPUs(b.rec, record.ContainerOf(b.rec.Plan.Places))), in, b.whole(1000+ph.Loss.Total.Tenths))
}

// cpuCause says how much of the total is the CPU set, and whether it was full.
func (b *builder) cpuCause(ph *analysis.Phase) string {
	m := &b.speaker.messages.verdict
	share := m.mostly
	if ph.Loss.CPUs.Fraction <= 0.9*ph.Loss.Total.Fraction {
		share = m.nearlyAll
	}
	p := ph.Place(record.PlacePinned)
	switch {
	case p == nil || p.CPUBusy == nil:
		return fmt.Sprintf(m.causeUnknown, share)
	case ph.Loss.CPULimited:
		return fmt.Sprintf(m.causeLimit, share, b.percent(*p.CPUBusy))
	}
	// Rounded down: the limit is at 95 %, and 94.9 % is below it.
	return fmt.Sprintf(m.causeBusy, share, b.fixed(math.Floor(*p.CPUBusyLeast*100), 0))
}

// containerLosses counts the phases in which the container's own part is a loss
// that is shown.
func (b *builder) containerLosses() int {
	n := 0
	for i := range b.res.Phases {
		if p := b.res.Phases[i].Loss.Container; p.Shown() && p.Fraction < 0 {
			n++
		}
	}
	return n
}

func (b *builder) testCountIn(n int) string {
	return fmt.Sprintf(b.speaker.messages.verdict.ofTests, b.int(int64(n)), b.testCount(b.res.Verdict.Of))
}

func (b *builder) noLoss(v *analysis.Verdict) string {
	m := &b.speaker.messages.verdict
	lxc := false
	var least *analysis.Part
	var in string
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		p := ph.Loss.CPUs
		if ph.Container() != nil {
			p, lxc = ph.Loss.Total, true
		}
		if p != nil && p.Tenths < 0 && (least == nil || p.Fraction < least.Fraction) {
			least, in = p, b.inPhaseName(&ph.Job)
		}
	}
	deficit := m.noDeficit
	if !lxc {
		deficit = m.noDeficitCPUs
	}
	if least != nil {
		text := map[analysis.Doubt]string{
			analysis.DoubtSpread: m.deficitSpread, analysis.DoubtCache: m.deficitCache, analysis.DoubtPasses: m.deficitPasses,
			analysis.DoubtLoad: m.deficitLoad, analysis.DoubtWrites: m.deficitWrites, analysis.DoubtFew: m.deficitFew,
		}[least.Doubt]
		if text == "" {
			text = m.deficitSmall
		}
		deficit = fmt.Sprintf(text, b.fixed(float64(-least.Tenths)/10, 1), in)
	}
	many, one := m.noLoss, m.noLossOne
	if !lxc {
		many, one = m.noLossCPUs, m.noLossCPUsOne
	}
	switch {
	case v.Of == 1:
		return fmt.Sprintf(one, deficit)
	case v.Of < len(b.res.Phases):
		return fmt.Sprintf(many, fmt.Sprintf(m.complete, b.int(int64(v.Of))), deficit)
	}
	return fmt.Sprintf(many, b.testCount(v.Of), deficit)
}
