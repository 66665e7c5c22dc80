package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A pair are two rows of the same test, b measured against a.
type pair struct {
	a, b   *Row
	sa, sb *Side
}

// pairs are those of the sides that a reader compares: host with container, or two
// sides that say nothing else.
func (s *Subject) pairs() (all []pair) {
	for i := range s.Sides {
		for k := range s.Sides {
			a, b := &s.Sides[i], &s.Sides[k]
			if i == k || a.Hot != b.Hot {
				continue
			}
			known := a.Role == RoleHost && b.Role == RoleContainer
			guess := i < k && a.Role == RoleUnknown && b.Role == RoleUnknown
			if !known && !guess {
				continue
			}
			all = append(all, match(a, b)...)
		}
	}
	return all
}

func match(a, b *Side) (all []pair) {
	for i := range a.Rows {
		for k := range b.Rows {
			if x, y := &a.Rows[i], &b.Rows[k]; x.Mode != "" && x.Mode == y.Mode && x.BS == y.BS {
				all = append(all, pair{x, y, a, b})
				break
			}
		}
	}
	return all
}

// ratios of b to a by everything that both rows say.
func (p *pair) ratios() (all []float64) {
	if p.a.IOPS != nil && p.b.IOPS != nil {
		all = append(all, p.b.IOPS.V/p.a.IOPS.V)
	}
	if p.a.BPS != nil && p.b.BPS != nil {
		all = append(all, p.b.BPS.V/p.a.BPS.V)
	}
	return all
}

// muchLost is a loss that nobody would call almost none.
const muchLost = 0.1

// claimTable compares what the text says of ratios with the table. A number is
// right where a test that it can be about has it, by IOPS or bandwidth, as it is
// rounded.
func claimTable(s *Subject, f *finder) {
	pairs := s.pairs()
	if len(pairs) == 0 {
		return
	}
	for i := range s.Claims {
		c := &s.Claims[i]
		if c.AlmostNone {
			s.almostNone(c, pairs, f)
			continue
		}
		right := func(p *pair) bool {
			return slices.ContainsFunc(p.ratios(), func(r float64) bool { return math.Abs(100*r-c.Percent) <= c.ULP })
		}
		var meant []pair
		found := false
		for k := range pairs {
			if c.about(pairs[k].a) {
				meant = append(meant, pairs[k])
				found = found || right(&pairs[k])
			}
		}
		if found || len(meant) == 0 {
			continue
		}
		at := []string{c.Where, meant[0].b.Where}
		v := vals{"claimed": c.Percent / 100, "table": meant[0].ratios0(), "tests": float64(len(meant))}
		w := words{"claim": c.Text, "test": meant[0].b.Name}
		if k := slices.IndexFunc(pairs, func(p pair) bool { return right(&p) }); k >= 0 {
			w["other"] = pairs[k].b.Name
			v["otherratio"] = pairs[k].ratios0()
			f.add(Error, "other-test", append(at, pairs[k].b.Where), v, w)
			continue
		}
		f.add(Error, "nowhere", at, v, w)
	}
}

// ratios0 is the ratio by IOPS where there is one, else by bandwidth; 0 without.
func (p *pair) ratios0() float64 {
	if r := p.ratios(); len(r) > 0 {
		return r[0]
	}
	return 0
}

func (s *Subject) almostNone(c *Claim, pairs []pair, f *finder) {
	var worst *pair
	for k := range pairs {
		if p := &pairs[k]; c.about(p.a) && p.ratios0() > 0 && (worst == nil || p.ratios0() < worst.ratios0()) {
			worst = p
		}
	}
	if worst != nil && worst.ratios0() < 1-muchLost {
		f.add(Warning, "almost-none", []string{c.Where, worst.a.Where, worst.b.Where}, vals{"loss": 1 - worst.ratios0()},
			words{"claim": c.Text, "test": worst.b.Name})
	}
}

// cpusDiffer: a loss is not the container's where it has fewer CPUs and nobody
// measured the host on as many.
func cpusDiffer(s *Subject, f *finder) {
	if slices.ContainsFunc(s.Sides, func(x Side) bool { return x.Role == RolePinned }) {
		return
	}
	for i := range s.Sides {
		for k := range s.Sides {
			a, b := &s.Sides[i], &s.Sides[k]
			if a.Role == RoleHost && b.Role == RoleContainer && !a.Hot && !b.Hot && a.CPUs > 0 && b.CPUs > 0 && a.CPUs != b.CPUs && len(match(a, b)) > 0 {
				f.add(Warning, "", []string{a.Where, b.Where}, vals{"host": float64(a.CPUs), "container": float64(b.CPUs)}, words{"a": a.Name, "b": b.Name})
			}
		}
	}
}

func settingsDiffer(s *Subject, f *finder) {
	for _, p := range s.pairs() {
		if d := difference(p.a.Set, p.b.Set); d != "" {
			f.add(Warning, "", []string{p.a.Where, p.b.Where}, nil, words{"test": p.a.Name, "difference": d})
		}
	}
}

// difference names the settings that differ, "" where none is known to.
func difference(a, b *Settings) string {
	if a == nil || b == nil || a == b {
		return ""
	}
	var all []string
	number := func(name string, x, y int64) {
		if x != y && x > 0 && y > 0 {
			all = append(all, fmt.Sprintf("%s %d, %d", name, x, y))
		}
	}
	number("iodepth", int64(a.Depth), int64(b.Depth))
	number("numjobs", int64(a.Jobs), int64(b.Jobs))
	if a.Engine != b.Engine && a.Engine != "" && b.Engine != "" {
		all = append(all, fmt.Sprintf("ioengine %s, %s", a.Engine, b.Engine))
	}
	if a.Direct != b.Direct && a.DirectTold && b.DirectTold {
		all = append(all, fmt.Sprintf("direct %d, %d", digit(a.Direct), digit(b.Direct)))
	}
	number("runtime", a.RuntimeNS/1e9, b.RuntimeNS/1e9)
	return strings.Join(all, "; ")
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// between compares files that were given together, each with the first: what
// stands in two files is compared by whoever reads both.
func between(subjects []*Subject) []Finding {
	rule, _ := RuleByID("settings-differ")
	var all []Finding
	a := subjects[0]
	for _, b := range subjects[1:] {
		f := &finder{rule: &rule, file: b.File}
		for i := range a.Sides {
			for k := range b.Sides {
				if len(a.Sides) > 1 && a.Sides[i].Role != b.Sides[k].Role {
					continue
				}
				for _, p := range match(&a.Sides[i], &b.Sides[k]) {
					if d := difference(p.a.Set, p.b.Set); d != "" {
						f.add(Warning, "", []string{a.File + ": " + p.a.Where, p.b.Where}, nil, words{"test": p.a.Name, "difference": d})
					}
				}
			}
		}
		all = append(all, f.found...)
	}
	return all
}
