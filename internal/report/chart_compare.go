package report

import (
	"fmt"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/compare"
	"nativ/internal/job"
	"nativ/internal/record"
)

// CompareChart shows by how much the second side of comparisons differs from the
// first, with the intervals where there are any; nil where there is nothing to show.
func CompareChart(all []compare.Comparison, lang string) *Chart {
	o := CompareOptions{Lang: lang}
	var ch *Chart
	var x, rows Axis
	margin := analysis.DefaultMargins()[analysis.MetricThroughput]
	ends := [2]float64{-margin, margin}
	var says []string
	open := false
	for i := range all {
		c := newComparer(&all[i], o)
		m := &c.charts
		if ch == nil {
			ch = &Chart{ID: "compare", Kind: ChartForest, Lang: lang, Title: c.sides(), Simulated: c.simulatedSides(),
				Subtitle: "A: " + c.sideInShort(&all[i].A) + " · B: " + c.sideInShort(&all[i].B), Citation: c.cite()}
			if len(all) > 1 { // one a place
				ch.Title = fmt.Sprintf(c.m.against, "B", "A")
			}
			ch.Data = Table{Columns: []Column{{m.test, true}, {m.value, false}, {m.interval, false}}}
			x = Axis{Label: m.axisDifference, Quantity: QuantityDifference, Units: []Unit{{Name: "%", Factor: 100}}}
			rows = Axis{Quantity: QuantityRows, Scale: ScaleRows}
			ch.Marks = []Mark{{Kind: MarkNone, Label: m.noDifference}, {Kind: MarkMargin, From: -margin, To: margin, Label: fmt.Sprintf(m.margin, c.fixed(margin*100, 0))}}
			ch.Notes = []string{m.signs}
			ch.Panels = []Panel{{}}
		}
		s := Series{Name: c.sides(), Style: i}
		for k, label := range c.labels() {
			label = oneSpace(label)
			metric := all[i].Pairs[k].Metric(compare.IOPS)
			if metric == nil || metric.Ratio == nil {
				continue
			}
			row := slices.IndexFunc(rows.Ticks, func(t Tick) bool { return t.Label == label })
			if row < 0 {
				row = len(rows.Ticks)
				rows.Ticks = append(rows.Ticks, Tick{float64(row), label})
			}
			p := Point{X: *metric.Ratio - 1, Y: float64(row)}
			text := signs[metric.Judgement] + c.tenths(roundTenths(p.X))
			interval := ""
			ends = [2]float64{min(ends[0], p.X), max(ends[1], p.X)}
			if metric.Low != nil && metric.High != nil {
				p.Low, p.High = new(*metric.Low-1), new(*metric.High-1)
				ends = [2]float64{min(ends[0], *p.Low), max(ends[1], *p.High)}
				interval = c.between2(roundTenths(*p.Low), roundTenths(*p.High))
			} else {
				open = true
			}
			p.Label = strings.TrimSpace(text + unit("", "%") + " " + interval)
			s.Parts = append(s.Parts, Part{Name: label, Points: []Point{p}})
			says = append(says, label+" "+p.Label)
			ch.Data.Rows = append(ch.Data.Rows, Row{Cells: []Cell{{Text: label}, {Text: text}, {Text: orDash(interval)}}})
		}
		if len(s.Parts) > 0 {
			ch.Panels[0].Series = append(ch.Panels[0].Series, s)
		}
	}
	if ch == nil || len(rows.Ticks) == 0 {
		return nil
	}
	s := newSpeaker(lang, nil)
	rows.Min, rows.Max = -0.5, float64(len(rows.Ticks))-0.5
	s.linear(&x, max(ends[0], leastDifference), min(ends[1], mostDifference), true)
	ch.X, ch.Panels[0].Y = x, rows
	ch.Notes = append(ch.Notes, s.charts.intervals)
	if open {
		ch.Notes = append(ch.Notes, s.charts.singles)
	}
	ch.Alt = ch.Title + ". " + fmt.Sprintf(s.charts.altCompared, strings.Join(says, "; "))
	return ch
}

// oneSpace undoes the alignment of a label in text.
func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// sideInShort is describe without what the picture says elsewhere.
func (c *comparer) sideInShort(s *compare.Side) string {
	rec := s.Record
	text := c.data(s.Label)
	var about []string
	if len(rec.Target.Drives) > 0 {
		about = append(about, c.driveName(&rec.Target.Drives[0]))
	}
	switch {
	case rec.Import == nil:
		about = append(about, c.placeName(rec, s.Place))
	case rec.Import.Publication != nil:
		about = append(about, c.m.published)
	}
	if !rec.Started.IsZero() {
		about = append(about, rec.Started.Format(c.date))
	}
	if len(about) == 0 {
		return text
	}
	return text + " (" + strings.Join(about, ", ") + ")"
}

// simulatedSides says that a drive model answered for one of the sides.
func (c *comparer) simulatedSides() string {
	for _, s := range []*compare.Side{&c.cmp.A, &c.cmp.B} {
		if m := s.Record.Simulated; m != nil {
			return fmt.Sprintf(c.charts.simulated, c.simulation.mark, c.data(m.Model))
		}
	}
	return ""
}

// cite names the records of both sides.
func (c *comparer) cite() string {
	one := func(name string, rec *record.Record) string {
		parts := []string{strings.TrimSpace(rec.Tool.Name + " " + rec.Tool.Version)}
		if rec.ID != "" {
			parts = append(parts, rec.ID)
		}
		text := name + ": " + c.data(strings.Join(parts, " "))
		if hash, err := RecordHash(rec); err == nil {
			text += " (" + fmt.Sprintf(c.charts.hash, hash[:shownHash]) + ")"
		}
		return text
	}
	return one("A", c.cmp.A.Record) + " · " + one("B", c.cmp.B.Record)
}

// mostBars is how many bars a ranking draws: a picture of more is longer than a page.
const mostBars = 60

// RankChart has one bar for each side and test, the best of each test first; nil
// where there is nothing to show.
func RankChart(k *compare.Ranking, lang string) *Chart {
	c := newSpeaker(lang, nil)
	for i := range k.Sides {
		c.secrets = append(c.secrets, newSpeaker(lang, k.Sides[i].Record).secrets...)
	}
	m := &c.charts
	ch := &Chart{ID: "compare", Kind: ChartBars, Lang: lang, Title: m.means}
	ch.Data = Table{Columns: []Column{{m.test, true}, {m.side, true}, {m.mean, false}}}
	rows := Axis{Quantity: QuantityRows, Scale: ScaleRows}
	s := Series{Name: m.means}
	var says, about []string
	most := 0.0
	phases := make([]*job.Phase, len(k.Groups))
	for i := range k.Groups {
		phases[i] = &k.Groups[i].Phase
	}
	labels := c.workloads(phases)
	for i := range labels {
		labels[i] = oneSpace(labels[i])
	}
	left := 0
	for i := range k.Groups {
		g := &k.Groups[i]
		for j := range g.Lists {
			if g.Lists[j].Metric != compare.BW {
				continue
			}
			for n, e := range g.Lists[j].Entries {
				if len(rows.Ticks) == mostBars {
					left++
					continue
				}
				side := &k.Sides[e.Side]
				name := c.data(side.Label)
				size := block(&g.Phase)
				label := unit(c.short(e.Value/1e6), "MB/s")
				if v := iopsOf(g, e.Side); v != nil && inIOPS(&g.Phase) {
					label = unit(c.short(*v), "IOPS")
				}
				if side.Record.Simulated != nil {
					label += " " + c.simulation.mark
				}
				s.Parts = append(s.Parts, Part{Name: labels[i], BlockSize: size, Points: []Point{{X: e.Value, Y: float64(len(rows.Ticks)), Label: label}}})
				rows.Ticks = append(rows.Ticks, Tick{float64(len(rows.Ticks)), labels[i] + ": " + name})
				ch.Data.Rows = append(ch.Data.Rows, Row{Cells: []Cell{{Text: labels[i]}, {Text: name}, {Text: label}}})
				most = max(most, e.Value)
				if n == 0 {
					says = append(says, labels[i]+": "+name+" "+label)
				}
			}
		}
	}
	if len(rows.Ticks) == 0 {
		return nil
	}
	for i := range k.Sides {
		side := &k.Sides[i]
		text := c.data(side.Label)
		if d := side.Record.Target.Drives; len(d) > 0 {
			text += " (" + c.driveName(&d[0]) + ")"
		}
		about = append(about, text)
		if sim := side.Record.Simulated; sim != nil {
			ch.Simulated = fmt.Sprintf(m.simulated, c.simulation.mark, c.data(sim.Model))
		}
	}
	ch.Subtitle = strings.Join(about, " · ")
	ch.Citation = fmt.Sprintf(m.ofRecords, c.int(int64(len(k.Sides))))
	if left > 0 {
		ch.Notes = append(ch.Notes, fmt.Sprintf(m.moreBars, c.int(int64(left))))
	}
	rows.Min, rows.Max = -0.5, float64(len(rows.Ticks))-0.5
	ch.X = Axis{Label: m.axisThroughput, Quantity: QuantityThroughput, Units: rateUnits(false)}
	c.linear(&ch.X, 0, most, true)
	ch.Panels = []Panel{{Y: rows, Series: []Series{s}}}
	ch.Alt = fmt.Sprintf(m.altRank, strings.Join(says, "; "))
	return ch
}

// iopsOf is what a side did in I/Os a second, which a published table may print
// beside bytes that do not fit them; nil where it has none.
func iopsOf(g *compare.Group, side int) *float64 {
	for i := range g.Lists {
		if g.Lists[i].Metric != compare.IOPS {
			continue
		}
		for k := range g.Lists[i].Entries {
			if e := &g.Lists[i].Entries[k]; e.Side == side {
				return &e.Value
			}
		}
	}
	return nil
}
