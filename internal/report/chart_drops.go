package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// dropMarks are the drops that took most, in the order of their places, and how many
// there are beside. Those of one test and place with the same causes are one mark,
// at the first of them: rounds repeat them by the dozen. At says where a drop lies
// and its text, or that it is not in the chart.
func (c *charter) dropMarks(at func(*analysis.Drop) (x float64, text string, ok bool)) (marks []Mark, more int) {
	took := func(d *analysis.Drop) float64 { return d.Depth * float64(d.UntilNS-d.OnsetNS) }
	var groups [][]*analysis.Drop
	for i := range c.res.Drops {
		d := &c.res.Drops[i]
		if d.Role != "" && d.Role != record.RoleLoad && d.Role != record.RoleHot {
			continue
		}
		if _, _, ok := at(d); !ok {
			continue
		}
		k := slices.IndexFunc(groups, func(g []*analysis.Drop) bool {
			return g[0].Phase == d.Phase && g[0].Place == d.Place && g[0].Role == d.Role && g[0].Stall == d.Stall && sameCauses(g[0], d)
		})
		if k < 0 {
			groups = append(groups, nil)
			k = len(groups) - 1
		}
		groups[k] = append(groups[k], d)
	}
	most := func(g []*analysis.Drop) float64 {
		return took(slices.MaxFunc(g, func(a, b *analysis.Drop) int { return cmp.Compare(took(a), took(b)) }))
	}
	slices.SortStableFunc(groups, func(a, b []*analysis.Drop) int { return cmp.Compare(most(b), most(a)) })
	for _, g := range groups[:min(len(groups), mostMarks)] {
		x, text, _ := at(g[0])
		if len(g) > 1 {
			text += ", " + fmt.Sprintf(c.charts.times, c.int(int64(len(g))))
		}
		marks = append(marks, Mark{Kind: MarkDrop, From: x, To: x, Label: text})
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return cmp.Compare(a.From, b.From) })
	for i := range marks {
		marks[i].Short = fmt.Sprint(i + 1)
	}
	return marks, len(groups) - len(marks)
}

// dropText names test, place, where it began, size and cause of a drop.
func (c *charter) dropText(format string, d *analysis.Drop, after string) string {
	var kinds []analysis.CauseKind
	for _, cause := range d.Named() {
		kinds = append(kinds, cause.Kind)
	}
	if len(kinds) == 0 {
		kinds = []analysis.CauseKind{analysis.CauseUnknown}
	}
	text := fmt.Sprintf(format, c.where(d.Phase, d.Place), after, c.percent(d.Depth), strings.TrimSpace(c.causeList(kinds)))
	if o := d.OnsetTemperature; o != nil {
		text += " (" + unit(c.fromTo(o.FromMC, o.ToMC), "°C") + ")"
	}
	return text
}
