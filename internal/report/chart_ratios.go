package report

import (
	"fmt"
	"math"
	"strings"

	"nativ/internal/analysis"
)

// The ends of the axis of differences at most: a place that does nothing is −100 %,
// and an interval beyond the other one says no more than that nothing is known.
const leastDifference, mostDifference = -1, 1

// ratioChart shows the differences of the report's table, with their intervals where
// the run has rounds.
func (c *charter) ratioChart() ([]*Chart, string) {
	m := &c.charts
	if len(c.rec.Plan.Places) < 2 {
		return nil, m.onePlace
	}
	ch := c.chart(idRatios, ChartForest, strings.TrimSuffix(c.notes.loss, ", %"))
	if !c.inRounds() {
		ch.Notes = append(ch.Notes, m.noRounds)
	} else {
		ch.Notes = append(ch.Notes, m.intervals)
	}
	ch.Notes = append(ch.Notes, m.signs)
	rows := Axis{Quantity: QuantityRows, Scale: ScaleRows}
	x := Axis{Label: m.axisDifference, Quantity: QuantityDifference, Units: []Unit{{Name: "%", Factor: 100}}}
	ch.Data = Table{Columns: []Column{{m.test, true}, {m.place, true}, {m.value, false}, {m.interval, false}}}
	columns := c.differences()
	series := make([]Series, len(columns))
	for k := range columns {
		series[k] = Series{Name: strings.TrimLeft(columns[k].head, "=+ "), Style: k}
	}
	var says []string
	ends := [2]float64{0, 0}
	margin := analysis.MarginsOf(&c.rec.Plan)[analysis.MetricThroughput]
	if c.inRounds() {
		ends = [2]float64{-margin, margin}
	}
	for i := range c.res.Phases {
		ph := &c.res.Phases[i]
		row := len(rows.Ticks)
		used := false
		for k := range columns {
			p := columns[k].of(ph)
			if p == nil || math.IsNaN(p.Fraction) || math.IsInf(p.Fraction, 0) {
				continue
			}
			text := sign(p) + c.tenths(p.Tenths)
			interval := c.intervalOf(p)
			point := Point{X: p.Fraction, Y: float64(row), Low: p.Low, High: p.High, Label: strings.TrimSpace(text + unit("", "%") + " " + interval)}
			series[k].Parts = append(series[k].Parts, Part{Name: c.phaseName(&ph.Job), Points: []Point{point}})
			ends = [2]float64{min(ends[0], p.Fraction), max(ends[1], p.Fraction)}
			if p.Low != nil && p.High != nil {
				ends = [2]float64{min(ends[0], *p.Low), max(ends[1], *p.High)}
			}
			used = true
			ch.Data.Rows = append(ch.Data.Rows, Row{Cells: []Cell{{Text: c.phaseName(&ph.Job)}, {Text: series[k].Name}, {Text: text}, {Text: orDash(interval)}}})
			if k == 0 {
				says = append(says, fmt.Sprintf(m.altRatio, c.phaseName(&ph.Job), series[k].Name, strings.TrimSpace(text+" "+interval)))
			}
		}
		if used {
			rows.Ticks = append(rows.Ticks, Tick{float64(row), c.phaseName(&ph.Job)})
		}
	}
	if len(rows.Ticks) == 0 {
		return nil, m.noPart
	}
	var drawn []Series
	for _, s := range series {
		if len(s.Parts) > 0 {
			drawn = append(drawn, s)
		}
	}
	rows.Min, rows.Max = -0.5, float64(len(rows.Ticks))-0.5
	c.linear(&x, max(ends[0], leastDifference), min(ends[1], mostDifference), true)
	ch.X, ch.Panels = x, []Panel{{Y: rows, Series: drawn}}
	ch.Marks = []Mark{{Kind: MarkNone, Label: m.noDifference}}
	if c.inRounds() {
		ch.Marks = append(ch.Marks, Mark{Kind: MarkMargin, From: -margin, To: margin, Label: fmt.Sprintf(m.margin, c.margin(analysis.MetricThroughput))})
	}
	alt := m.altPoints
	if c.inRounds() {
		alt = m.altRatios
	}
	ch.Alt = fmt.Sprintf(alt, strings.Join(says, "; "))
	return []*Chart{ch}, ""
}

func orDash(s string) string {
	if s == "" {
		return absent
	}
	return s
}
