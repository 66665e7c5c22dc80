package report

import (
	"fmt"
	"slices"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// A cliff needs this many seconds of writing in a place.
const leastCliff = 4

// cliffChart is the speed of writes over what they had written, which shows where a
// cache is full.
func (c *charter) cliffChart() ([]*Chart, string) {
	m := &c.charts
	writes := func(p *record.Pass) bool {
		j := c.jobOf(p.Phase)
		return j != nil && j.Mode.Writes() && !j.Mode.Mixed() && !j.Syncs() && counts(p) && len(p.Intervals) > 0
	}
	type key struct{ phase, place string }
	at := map[key]int64{} // written before
	index := map[key]int{}
	passes := map[key]int{}
	offset := map[int]int64{}
	var series []Series
	for _, p := range c.passes {
		if !writes(p) {
			continue
		}
		k := key{p.Phase, p.Place}
		n, seen := index[k]
		if !seen {
			n = len(series)
			index[k] = n
			series = append(series, Series{Name: c.where(p.Phase, p.Place), Place: p.Place, BlockSize: block(c.jobOf(p.Phase))})
		}
		before := at[k]
		offset[p.Index] = before
		series[n].Parts = append(series[n].Parts, c.courses(p, func(_, bytes int64) float64 { return float64(before + bytes) })...)
		for i := range p.Intervals {
			at[k] += max(0, p.Intervals[i].WriteBytes)
		}
		passes[k]++
	}
	series = slices.DeleteFunc(series, func(s Series) bool { return count(&s) == 0 })
	x, y, ok := extent(series)
	if !ok || !slices.ContainsFunc(series, func(s Series) bool { return count(&s) >= leastCliff }) {
		return nil, m.noWrites
	}
	ch := c.chart(idCliff, ChartLines, m.cliff)
	var note string
	if series, note = c.styled(series); note != "" {
		ch.Notes = append(ch.Notes, note)
	}
	ch.X = Axis{Label: m.axisWritten, Quantity: QuantityBytes, Units: byteUnits(x[1])}
	c.exact(&ch.X, 0, x[1])
	axis := Axis{Label: m.axisThroughput, Quantity: QuantityThroughput, Units: rateUnits(false)}
	c.linear(&axis, y[0], y[1], true)
	all := c.stretches("", writes)
	ch.Alt = fmt.Sprintf(m.altCliff, c.spread(all))
	ch.Data = c.cliffTable(series)
	thinSeries(series, mostPoints)
	ch.Panels = []Panel{{Y: axis, Series: series}}
	var more int
	ch.Marks, more = c.dropMarks(func(d *analysis.Drop) (float64, string, bool) {
		before, ok := offset[d.Pass]
		return float64(before + d.Bytes), c.dropText(m.afterBytes, d, c.bytes(d.Bytes)), ok
	})
	if more > 0 {
		ch.Notes = append(ch.Notes, fmt.Sprintf(m.moreDrops, c.int(int64(more))))
	}
	for _, n := range passes {
		if n > 1 {
			ch.Notes = append(ch.Notes, m.chained)
			break
		}
	}
	return []*Chart{ch}, ""
}

// cliffRows is how many parts of the same size a cliff has in its table.
const cliffRows = 20

func (c *charter) cliffTable(series []Series) Table {
	m := &c.charts
	t := Table{Columns: []Column{{m.test, true}, {m.written, false}, {"MB/s", false}}}
	for i := range series {
		var curve []analysis.CurvePoint
		for _, p := range series[i].Parts {
			for _, point := range p.Points {
				curve = append(curve, analysis.CurvePoint{Written: int64(point.X), Rate: point.Y})
			}
		}
		for _, p := range binned(curve, cliffRows) {
			if p.Rate > 0 {
				t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: series[i].Name}, {Text: c.bytes(p.Written)}, {Text: c.short(p.Rate / 1e6)}}})
			}
		}
	}
	return t
}
