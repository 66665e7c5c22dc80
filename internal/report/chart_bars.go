package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// bars has a row for each label and a bar in it for each series.
func (c *charter) bars(ch *Chart, labels []string, series []Series) {
	y := Axis{Quantity: QuantityRows, Scale: ScaleRows, Min: -0.5, Max: float64(len(labels)) - 0.5}
	for i, l := range labels {
		y.Ticks = append(y.Ticks, Tick{float64(i), l})
	}
	x, _, _ := extent(series)
	ch.X = Axis{Label: c.charts.axisThroughput, Quantity: QuantityThroughput, Units: rateUnits(false)}
	c.linear(&ch.X, 0, x[1], true)
	ch.Panels = []Panel{{Y: y, Series: series}}
}

// heatChart shows the speeds before and while throttled.
func (c *charter) heatChart() ([]*Chart, string) {
	m := &c.charts
	if len(c.res.Heat) == 0 {
		return nil, m.noHeat
	}
	ch := c.chart(idHeat, ChartBars, m.heat)
	series := []Series{{Name: m.before, Style: 0}, {Name: m.throttled, Style: 1}}
	ch.Data = Table{Columns: []Column{{m.test, true}, {c.drops.fromCelsius, false}, {c.drops.fast, false}, {c.drops.slow, false}, {c.drops.lost, false}, {c.drops.after, false}}}
	var labels, says []string
	for i := range c.res.Heat {
		h := &c.res.Heat[i]
		row := float64(len(labels))
		name := c.where(h.Phase, h.Place)
		lost := unit(c.percent(h.Lost), "%")
		text := fmt.Sprintf(m.rangeText, lost)
		if h.Onset != nil {
			text = fmt.Sprintf(m.onsetText, unit(c.interval(h), "°C"), lost)
		}
		for k, v := range []float64{h.BeforeBytes, h.ThrottledBytes} {
			label := c.speed(h.Phase, v)
			if k == 1 {
				label += " " + text
			}
			series[k].Parts = append(series[k].Parts, Part{Name: name, BlockSize: h.BlockSize, Points: []Point{{X: math.Round(v), Y: row, Label: label}}})
		}
		labels = append(labels, name)
		says = append(says, name+" "+text)
		ch.Data.Rows = append(ch.Data.Rows, Row{Cells: []Cell{{Text: name}, {Text: c.interval(h)}, {Text: c.speed(h.Phase, h.BeforeBytes)},
			{Text: c.speed(h.Phase, h.ThrottledBytes)}, {Text: lost}, {Text: c.long(h.AfterNS)}}})
	}
	c.bars(ch, labels, series)
	ch.Notes = []string{m.perPass}
	ch.Alt = fmt.Sprintf(m.altHeat, strings.Join(says, "; "))
	return []*Chart{ch}, ""
}

// meansChart has the mean speed of each test in each place.
func (c *charter) meansChart() ([]*Chart, string) {
	m := &c.charts
	if loads(c.rec) {
		return nil, m.ofLoads
	}
	ch := c.chart(idMeans, ChartBars, m.means)
	ch.Data = Table{Columns: []Column{{m.test, true}, {m.place, true}, {m.mean, false}}}
	var labels, says []string
	var series []Series
	for i := range c.res.Phases {
		ph := &c.res.Phases[i]
		used := false
		for k := range ph.Places {
			place := ph.Places[k].Name
			bytes := ph.Places[k].BytesPerSec
			label := ""
			if bytes == nil {
				bytes, label = c.publishedRate(ph, place)
			}
			if bytes == nil || !(*bytes >= 0) || math.IsInf(*bytes, 0) {
				continue
			}
			name := c.placed(place)
			n := slices.IndexFunc(series, func(s Series) bool { return s.Place == place })
			if n < 0 {
				series = append(series, Series{Name: name, Place: place, Style: c.styleOf(place)})
				n = len(series) - 1
			}
			if label == "" {
				label = c.speed(ph.Job.Name, *bytes)
			}
			series[n].Parts = append(series[n].Parts, Part{Name: c.phaseName(&ph.Job), BlockSize: block(&ph.Job),
				Points: []Point{{X: math.Round(*bytes), Y: float64(len(labels)), Label: label}}})
			says = append(says, c.where(ph.Job.Name, place)+" "+label)
			ch.Data.Rows = append(ch.Data.Rows, Row{Cells: []Cell{{Text: c.phaseName(&ph.Job)}, {Text: name}, {Text: label}}})
			used = true
		}
		if used {
			labels = append(labels, c.phaseName(&ph.Job))
		}
	}
	if len(labels) == 0 {
		return nil, m.noNumbers
	}
	c.bars(ch, labels, series)
	if p := c.publication(); p != nil {
		if p.Statistic == record.StatisticMaximum {
			ch.Title = m.highest
		}
		ch.Notes = append(ch.Notes, fmt.Sprintf(m.published, orDash(m.chartWords[p.Statistic])))
	}
	ch.Alt = fmt.Sprintf(m.altMeans, strings.Join(says[:min(len(says), 8)], "; "))
	return []*Chart{ch}, ""
}

// placed names a place, of a published table the table.
func (c *charter) placed(place string) string {
	if p := c.publication(); p != nil {
		return c.data(p.Table)
	}
	return c.shortPlace(c.rec, place)
}

func (c *charter) publication() *record.Publication {
	if c.rec.Import == nil {
		return nil
	}
	return c.rec.Import.Publication
}

// publishedRate is what a published table prints of a test in bytes a second, where
// it prints I/Os alone those times their size; and the number as it is printed,
// which may be another one.
func (c *charter) publishedRate(ph *analysis.Phase, place string) (bytes *float64, label string) {
	for i := range c.rec.Rounds {
		for k := range c.rec.Rounds[i].Passes {
			p := &c.rec.Rounds[i].Passes[k]
			if p.Published == nil || p.Phase != ph.Job.Name || p.Place != place {
				continue
			}
			bytes, iops := p.Published.BytesPerSec, p.Published.IOPS
			if iops != nil && (bytes == nil || inIOPS(&ph.Job)) {
				label = unit(c.short(*iops), "IOPS")
			}
			if bytes == nil && iops != nil && block(&ph.Job) > 0 {
				bytes = new(*iops * float64(block(&ph.Job)))
			}
			if mc := p.Published.FromMC; mc != nil && bytes != nil {
				if label == "" {
					label = c.speed(ph.Job.Name, *bytes)
				}
				label = fmt.Sprintf(c.charts.fromOn, label, unit(c.fixed(float64(*mc)/1000, 1), "°C"))
			}
			return bytes, label
		}
	}
	return nil, ""
}
