package report

import (
	"fmt"
	"slices"
	"strings"

	"nativ/internal/compare"
	"nativ/internal/job"
)

// shownEach is how many of the best and of the worst a long list shows without
// details.
const shownEach = 5

// Rank makes the report of a ranking.
func Rank(k *compare.Ranking, o CompareOptions) *Document {
	s := newSpeaker(o.Lang, nil)
	for i := range k.Sides {
		s.secrets = append(s.secrets, newSpeaker(o.Lang, k.Sides[i].Record).secrets...)
	}
	m := &s.compare
	k = withShortLabels(k)
	d := &Document{Lang: o.Lang}
	add := func(b ...Block) { d.Blocks = append(d.Blocks, b...) }
	title := fmt.Sprintf(m.rankTitle, s.int(int64(len(k.Sides))))
	if compare.Simulated(k.Sides...) {
		title = fmt.Sprintf(s.simulation.title, title)
	}
	add(Title{Text: title})
	if len(k.Mixed) > 0 {
		var words []string
		for _, w := range k.Mixed {
			words = append(words, m.values[w])
		}
		add(Paragraph{[]string{fmt.Sprintf(m.mixedSources, s.list(words))}})
	}
	phases := make([]*job.Phase, len(k.Groups))
	for i := range phases {
		phases[i] = &k.Groups[i].Phase
	}
	labels := s.workloads(phases)
	judged, any := false, false
	for i := range k.Groups {
		g := &k.Groups[i]
		add(Heading{strings.Join(strings.Fields(labels[i]), " ")})
		for _, l := range g.Lists {
			main := l.Metric == compare.IOPS && (inIOPS(&g.Phase) || !hasList(g, compare.BW)) || l.Metric == compare.BW && !inIOPS(&g.Phase)
			any, judged = true, judged || l.Judged
			if main || o.Details {
				add(s.rankTable(k, &l, o.Details))
			}
		}
		if lines := s.outliers(k, g); len(lines) > 0 {
			add(Paragraph{lines})
		}
	}
	if any {
		lines := []string{fmt.Sprintf(m.rule, s.fixed(compare.OutlierLimit, 1), s.fixed(compare.OutlierLeast*100, 0))}
		if !judged {
			lines = []string{fmt.Sprintf(m.noRule, s.int(compare.OutlierSides))}
		}
		add(Paragraph{append(lines, m.rankNote)})
	}
	var alone []string
	for _, a := range k.Alone {
		alone = append(alone, fmt.Sprintf(m.aloneIn, s.data(a.Phase), s.data(k.Sides[a.Side].Label)))
	}
	if len(alone) > 0 {
		const most = 10
		if len(alone) > most && !o.Details {
			alone = append(alone[:most], fmt.Sprintf(m.furtherOnes, s.int(int64(len(alone)-most))))
		}
		add(Paragraph{[]string{fmt.Sprintf(m.alone, strings.Join(alone, ", "))}})
	}
	add(s.checked(o.Checked)...)
	return d
}

// withShortLabels leaves out the directory that all inputs share.
func withShortLabels(k *compare.Ranking) *compare.Ranking {
	shared := ""
	for i := range k.Sides {
		dir := k.Sides[i].Label[:strings.LastIndex(k.Sides[i].Label, "/")+1]
		if i == 0 {
			shared = dir
		}
		for !strings.HasPrefix(dir, shared) {
			shared = shared[:strings.LastIndex(strings.TrimSuffix(shared, "/"), "/")+1]
		}
	}
	c := *k
	c.Sides = slices.Clone(k.Sides)
	for i := range c.Sides {
		c.Sides[i].Label = strings.TrimPrefix(c.Sides[i].Label, shared)
	}
	return &c
}

func hasList(g *compare.Group, name compare.Name) bool {
	return slices.ContainsFunc(g.Lists, func(l compare.List) bool { return l.Metric == name })
}

func (s *speaker) rankValue(name compare.Name, v float64) string {
	switch {
	case name == compare.IOPS:
		return unit(s.wholeOrShort(v), "IOPS")
	case name == compare.BW:
		return unit(s.short(v/1e6), "MB/s")
	}
	return s.duration(v)
}

func (s *speaker) rankTable(k *compare.Ranking, l *compare.List, all bool) Table {
	m := &s.compare
	head := strings.ToUpper(string(l.Metric))
	if l.Metric.Latency() {
		head = "p" + strings.ReplaceAll(strings.TrimPrefix(string(l.Metric), "p"), ".", strings.Trim(s.fixed(0.5, 1), "05"))
	}
	t := Table{Columns: []Column{{m.input, true}, {head, false}, {m.percentOfMedian, false}, {m.score, false}, {"", true}}}
	n := len(l.Entries)
	for i, e := range l.Entries {
		short := n > 4*shownEach && !all && i >= shownEach && i < n-shownEach
		if short && !e.Outlier {
			if i == shownEach {
				t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: "…"}}})
			}
			continue
		}
		word := ""
		if e.Outlier {
			word = m.outlier
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			{Text: fmt.Sprintf("%*d  %s", len(fmt.Sprint(n)), i+1, s.data(k.Sides[e.Side].Label))},
			{Text: s.rankValue(l.Metric, e.Value)}, {Text: s.fixed(e.Value/l.Median*100, 1)},
			{Text: orAbsent(e.Score, func(v float64) string { return s.fixed(v, 1) })}, {Text: word},
		}})
	}
	return t
}

// outliers names those of all metrics, and who has no such test.
func (s *speaker) outliers(k *compare.Ranking, g *compare.Group) []string {
	m := &s.compare
	var lines []string
	for _, l := range g.Lists {
		if l.Metric == compare.BW && hasList(g, compare.IOPS) {
			continue // says the same
		}
		var names []string
		for _, e := range l.Entries {
			if e.Outlier {
				names = append(names, fmt.Sprintf(m.outlierIs, s.data(k.Sides[e.Side].Label), s.fixed(e.Value/l.Median*100, 0)))
			}
		}
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf(m.outliers, string(l.Metric), strings.Join(names, ", ")))
		}
	}
	if len(g.Missing) > 0 {
		lines = append(lines, fmt.Sprintf(m.missingIn, s.int(int64(len(g.Missing)))))
	}
	return lines
}
