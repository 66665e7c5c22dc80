package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nativ/internal/analysis"
)

// curveFractions are where curves are computed: twenty to each nine, down to one in
// a million.
var curveFractions = func() []float64 {
	var all []float64
	for k := range 6*20 + 1 {
		all = append(all, 1-math.Pow(10, -float64(k)/20))
	}
	return all
}()

// tabled are the percentiles of the table.
var tabled = []struct {
	p        float64
	decimals int
}{{0.5, 0}, {0.9, 0}, {0.99, 0}, {0.999, 1}, {0.9999, 2}, {0.99999, 3}}

// latencyCharts is one chart a test with a curve a place, or where there is one
// place only a single chart with a curve a test.
func (c *charter) latencyCharts() ([]*Chart, string) {
	var charts []*Chart
	if c.byPhase() {
		if ch := c.latencyOf(idLatency, c.charts.latency, c.res.Phases); ch != nil {
			charts = append(charts, ch)
		}
	} else {
		for i := range c.res.Phases {
			ph := &c.res.Phases[i]
			id := idLatency + "-" + anchor(ph.Job.Name)
			if ch := c.latencyOf(id, fmt.Sprintf(c.charts.latencyOf, c.phaseName(&ph.Job)), c.res.Phases[i:i+1]); ch != nil {
				charts = append(charts, ch)
			}
		}
	}
	if len(charts) == 0 {
		return nil, c.charts.noLatency
	}
	return charts, ""
}

func (c *charter) latencyOf(id, title string, phases []analysis.Phase) *Chart {
	m := &c.charts
	ch := c.chart(id, ChartLines, title)
	var series []Series
	var says []string
	highest, clat, given, syncs := 0.0, false, false, false
	ch.Data = Table{Columns: []Column{{m.test, true}, {m.place, true}}}
	for _, t := range tabled {
		ch.Data.Columns = append(ch.Data.Columns, Column{"p" + c.fixed(t.p*100, t.decimals), false})
	}
	for i := range phases {
		ph := &phases[i]
		for k := range ph.Places {
			place := ph.Places[k].Name
			curve, ok := analysis.CurveOf(c.rec, &ph.Job, place, curveFractions)
			if !ok {
				continue
			}
			name := c.shortPlace(c.rec, place)
			if c.byPhase() {
				name = c.phaseName(&ph.Job)
			}
			part := Part{Name: c.phaseName(&ph.Job)}
			for _, p := range curve.Points {
				if p.NS > 0 { // a log axis has no 0
					part.Points = append(part.Points, Point{X: p.P, Y: float64(p.NS)})
					highest = max(highest, p.P)
				}
			}
			if len(part.Points) < 2 {
				continue
			}
			clat, given, syncs = clat || curve.Clat, given || len(curve.Points) < 20, syncs || ph.Job.FDataSync > 0
			series = append(series, Series{Name: name, Place: place, Style: c.styleOf(place), Parts: []Part{part}})
			row := Row{Cells: []Cell{{Text: c.phaseName(&ph.Job)}, {Text: c.shortPlace(c.rec, place)}}}
			if at, ok := analysis.CurveOf(c.rec, &ph.Job, place, tabledFractions()); ok {
				var named []string
				for _, t := range tabled {
					text := absent
					if v := slices.IndexFunc(at.Points, func(p analysis.CurveLatency) bool { return math.Abs(p.P-t.p) < 1e-9 }); v >= 0 {
						text = c.duration(float64(at.Points[v].NS))
						if len(named) < 4 && t.p != 0.9 {
							named = append(named, "p"+c.fixed(t.p*100, t.decimals)+glue+text)
						}
					}
					row.Cells = append(row.Cells, Cell{Text: text})
				}
				if len(named) > 0 && len(says) < 4 {
					says = append(says, name+" "+strings.Join(named, ", "))
				}
			}
			ch.Data.Rows = append(ch.Data.Rows, row)
		}
	}
	if len(series) == 0 {
		return nil
	}
	if c.byPhase() {
		var note string
		if series, note = c.styled(series); note != "" {
			ch.Notes = append(ch.Notes, note)
		}
	}
	_, y, _ := extent(series)
	ch.X = Axis{Label: m.axisShare, Quantity: QuantityShare}
	c.nines(&ch.X, highest)
	axis := Axis{Label: m.axisLatency, Quantity: QuantityLatency}
	decades(&axis, y[0], y[1], c.round)
	ch.Panels = []Panel{{Y: axis, Series: series}}
	for _, n := range []struct {
		is   bool
		text string
	}{{clat, m.latClat}, {given, m.latGiven}, {syncs && len(phases) == 1, m.syncLat}, {!given, m.latBeyond}} {
		if n.is {
			ch.Notes = append(ch.Notes, n.text)
		}
	}
	ch.Alt = fmt.Sprintf(m.altLatency, strings.Join(says, "; "))
	return ch
}

func tabledFractions() []float64 {
	var all []float64
	for _, t := range tabled {
		all = append(all, t.p)
	}
	return all
}

// round formats a latency that is a round number of its unit: "10 ms".
func (s *speaker) round(ns float64) string {
	for _, u := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.ns*0.9995 {
			return unit(s.fixed(ns/u.ns, 0), u.name)
		}
	}
	return unit(s.fixed(ns, 0), "ns")
}

// anchor turns a name that people chose into one for files and links.
func anchor(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name), "-")
}
