package report

import (
	"cmp"
	"fmt"
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

// Scatters need this many seconds in a pass: fewer have no course.
const leastSeconds = 10

// scatterCharts is every second of each test, the passes laid over each other.
func (c *charter) scatterCharts() ([]*Chart, string) {
	m := &c.charts
	if !slices.ContainsFunc(c.passes, func(p *record.Pass) bool { return len(p.Intervals) > 0 }) {
		return nil, m.noSeconds
	}
	var charts []*Chart
	for i := range c.res.Phases {
		if ch := c.scatterOf(&c.res.Phases[i].Job); ch != nil {
			charts = append(charts, ch)
		}
	}
	if len(charts) == 0 {
		return nil, fmt.Sprintf(m.fewSeconds, c.int(leastSeconds))
	}
	return charts, ""
}

func (c *charter) scatterOf(j *job.Phase) *Chart {
	m := &c.charts
	ok := func(p *record.Pass) bool { return p.Phase == j.Name && counts(p) && len(p.Intervals) >= leastSeconds }
	var series []Series
	for _, p := range c.passes {
		if !ok(p) {
			continue
		}
		name := c.shortPlace(c.rec, p.Place)
		k := slices.IndexFunc(series, func(s Series) bool { return s.Place == p.Place })
		if k < 0 {
			series = append(series, Series{Name: name, Place: p.Place, Style: c.styleOf(p.Place), BlockSize: block(j), Parts: []Part{{Name: c.phaseName(j), BlockSize: block(j)}}})
			k = len(series) - 1
		}
		all := &series[k].Parts[0].Points
		for _, part := range c.courses(p, func(ns, _ int64) float64 { return float64(ns) }) {
			*all = append(*all, part.Points...)
		}
	}
	x, y, any := extent(series)
	if !any {
		return nil
	}
	for i := range series {
		points := series[i].Parts[0].Points
		slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	}
	thinSeries(series, mostPoints)
	ch := c.chart(idScatter+"-"+anchor(j.Name), ChartScatter, fmt.Sprintf(m.scatterOf, c.phaseName(j)))
	ch.X = Axis{Label: m.axisInPass, Quantity: QuantityTime, Units: timeUnits(x[1])}
	c.linear(&ch.X, 0, x[1], true)
	iops := inIOPS(j) && block(j) > 0
	axis := Axis{Label: m.axisThroughput, Quantity: QuantityThroughput, Units: rateUnits(iops), block: block(j)}
	if y[0] > 0 && y[1]/y[0] >= 10 { // else the low level lies on the axis
		factor := axis.factor()
		decades(&axis, y[0]*factor, y[1]*factor, func(v float64) string { return c.short(v) })
		axis.Min, axis.Max = axis.Min/factor, axis.Max/factor
		for k := range axis.Ticks {
			axis.Ticks[k].Value /= factor
		}
	} else {
		c.linear(&axis, y[0], y[1], true)
	}
	ch.Panels = []Panel{{Y: axis, Series: series}}
	all := c.stretches("", ok)
	ch.Notes = []string{m.passTime}
	ch.Alt = fmt.Sprintf(m.altScatter, c.spread(all))
	ch.Data = c.stretchTable(all, false)
	return ch
}
