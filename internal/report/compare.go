package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/compare"
	"nativ/internal/job"
	"nativ/internal/record"
)

// CompareOptions say what the report of a comparison shows.
type CompareOptions struct {
	Lang    string // "de" or "en"
	Details bool
	// Checked is what became of conditions; nil where there were none.
	Checked *compare.Checked
}

// Compare makes the report of comparisons: of one, or of one for each place that
// two records share.
func Compare(all []compare.Comparison, o CompareOptions) *Document {
	d := &Document{Lang: o.Lang}
	for i := range all {
		c := newComparer(&all[i], o)
		if len(all) > 1 && i > 0 {
			d.Blocks = append(d.Blocks, Heading{c.sides()})
		}
		d.Blocks = append(d.Blocks, c.blocks(i == 0)...)
	}
	if len(all) > 0 {
		s := newSpeaker(o.Lang, nil)
		d.Blocks = append(d.Blocks, s.checked(o.Checked)...)
	}
	return d
}

// A comparer words one comparison.
type comparer struct {
	*speaker
	m    *compareMessages
	cmp  *compare.Comparison
	o    CompareOptions
	a, b *speaker // each hides the serial numbers of its own record
	// notes are the footnotes so far, in order.
	notes []string
}

func newComparer(c *compare.Comparison, o CompareOptions) *comparer {
	s := newSpeaker(o.Lang, c.A.Record)
	s.secrets = append(s.secrets, newSpeaker(o.Lang, c.B.Record).secrets...)
	return &comparer{speaker: s, m: &s.compare, cmp: c, o: o, a: newSpeaker(o.Lang, c.A.Record), b: newSpeaker(o.Lang, c.B.Record)}
}

func (c *comparer) sides() string {
	return fmt.Sprintf(c.m.against, c.data(c.cmp.B.Label), c.data(c.cmp.A.Label))
}

func (c *comparer) blocks(first bool) []Block {
	var blocks []Block
	add := func(b ...Block) { blocks = append(blocks, b...) }
	if first {
		title := c.m.title
		if compare.Simulated(c.cmp.A, c.cmp.B) {
			title = fmt.Sprintf(c.simulation.title, title)
		}
		add(Title{Text: title})
	}
	sides := []Fact{{"A", c.describe(&c.cmp.A)}, {"B", c.describe(&c.cmp.B)}}
	if first {
		add(Facts{Rows: slices.Concat(sides, c.titles(), c.differences(c.allDifferences()))})
	} else if d := c.ofPlaces(); len(d) > 0 {
		add(Facts{Rows: c.differences(d)}) // of the runs they stand above
	}
	if len(c.cmp.Pairs) > 0 {
		labels := c.labels()
		add(c.rates(labels))
		if t, ok := c.latencies(labels); ok {
			add(t)
		}
		if c.o.Details {
			add(c.more(labels)...)
		}
		add(Legend{c.legend()})
		if len(c.notes) > 0 {
			add(Footnotes{c.notes})
		}
		add(Paragraph{[]string{fmt.Sprintf(c.verdictWord, c.verdict())}})
		if first || c.o.Details {
			add(c.goodOfPairs(labels)...)
		}
	}
	if lines := c.leftOut(); len(lines) > 0 {
		add(Paragraph{lines})
	}
	return blocks
}

// describe says what a side is.
func (c *comparer) describe(s *compare.Side) string {
	rec := s.Record
	parts := []string{c.data(s.Label)}
	if p := rec.Import; p != nil && p.Publication != nil {
		return strings.Join(append(parts, c.m.published), ": ")
	}
	var about []string
	if rec.Simulated != nil {
		about = append(about, fmt.Sprintf(c.simulation.nobody, c.data(rec.Simulated.Model), c.data(rec.Simulated.File)))
	}
	if len(rec.Target.Drives) > 0 {
		about = append(about, c.driveName(&rec.Target.Drives[0]))
	}
	if rec.Import == nil {
		about = append(about, c.placeName(rec, s.Place))
	} else {
		about = append(about, fmt.Sprintf(c.imported.title, c.data(strings.TrimSpace(rec.Tool.Name+" "+rec.Tool.Version))))
	}
	if !rec.Started.IsZero() {
		about = append(about, rec.Started.Format(c.date))
	}
	return strings.Join(append(parts, strings.Join(about, ", ")), ": ")
}

// titles name the publications that the sides come from.
func (c *comparer) titles() []Fact {
	var rows []Fact
	for _, s := range []*compare.Side{&c.cmp.A, &c.cmp.B} {
		if p := s.Record.Import; p != nil && p.Publication != nil {
			if f := (Fact{c.m.publication, c.data(p.Publication.Title)}); !slices.Contains(rows, f) {
				rows = append(rows, f)
			}
		}
	}
	return rows
}

// differences say what differs before anything is compared.
func (c *comparer) differences(all []compare.Difference) []Fact {
	var rows []Fact
	var onlyA, onlyB []string
	for _, d := range all {
		name := c.diffName(d.What)
		switch {
		case d.What == compare.DiffDrive:
			rows = append(rows, Fact{c.m.differs[compare.DiffDrive], c.m.anotherDrive})
		case d.A == "":
			onlyB = append(onlyB, name)
		case d.B == "":
			onlyA = append(onlyA, name)
		default:
			rows = append(rows, Fact{name, fmt.Sprintf(c.m.change, c.diffValue(d.What, d.A), c.diffValue(d.What, d.B))})
		}
	}
	if len(rows) == 0 {
		rows = append(rows, Fact{c.m.differences, c.m.noDifference})
	}
	for _, only := range []struct {
		side  string
		names []string
	}{{"A", onlyA}, {"B", onlyB}} {
		if len(only.names) > 0 {
			rows = append(rows, Fact{fmt.Sprintf(c.m.onlyKnown, only.side), strings.Join(only.names, ", ")})
		}
	}
	return rows
}

// allDifferences are those of the records, and those of settings in any pair,
// each once.
func (c *comparer) allDifferences() []compare.Difference {
	all := slices.Clone(c.cmp.Differences)
	for i := range c.cmp.Pairs {
		for _, d := range c.cmp.Pairs[i].Differences {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// ofPlaces are the differences that are of the places and not of the records.
func (c *comparer) ofPlaces() []compare.Difference {
	return slices.DeleteFunc(c.allDifferences(), func(d compare.Difference) bool {
		return !slices.Contains([]string{compare.DiffPlace, compare.DiffCPUs, compare.DiffLimit}, d.What)
	})
}

func (c *comparer) diffName(what string) string {
	if name := c.m.differs[what]; name != "" {
		return name
	}
	if fact, ok := strings.CutPrefix(what, compare.DiffFact+" "); ok {
		return c.data(fact)
	}
	if note, ok := strings.CutPrefix(what, compare.DiffNote+" "); ok {
		label, _ := c.note(note, "")
		return label
	}
	return c.data(what)
}

// diffValue formats what is recorded in base units.
func (c *comparer) diffValue(what, v string) string {
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case what == compare.DiffLink:
		var mts, width float64
		if _, err := fmt.Sscan(v, &mts, &width); err == nil {
			return pcie(mts, width)
		}
	case what == compare.DiffPlace:
		if name := c.m.places[v]; name != "" {
			return name
		}
	case c.m.values[v] != "" && slices.Contains([]string{compare.DiffSource, compare.DiffStatistic, compare.DiffRegions}, what):
		return c.m.values[v]
	case err != nil:
	case what == compare.DiffSize:
		return c.bytes(n)
	case what == compare.DiffMemory, what == compare.DiffLimit, what == compare.DiffFile:
		return c.binary(n)
	case what == compare.DiffUsed:
		return unit(v, "%")
	case what == compare.DiffIdle:
		return unit(c.celsius(n), "°C")
	case what == compare.DiffRuntime, what == compare.DiffRamp:
		return c.seconds(n)
	case what == compare.DiffWriteCache, what == compare.DiffMap:
		return map[string]string{"0": c.off, "1": c.on}[v]
	}
	return c.data(v)
}

// workload names a phase by what it does, whatever it is called.
func (s *speaker) workload(j *job.Phase) string {
	name := s.phase[kind(compare.Kind(j))]
	if name == "" {
		name = string(j.Mode)
	}
	if name == "" {
		return s.data(j.Name)
	}
	return pad(name, phaseWidth) + fmt.Sprintf("%5s", blockSizes(j))
}

// workloadWords is workload in a sentence.
func (s *speaker) workloadWords(j *job.Phase) string {
	words := strings.Fields(s.workload(j))
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], " ") + glue + words[last]
}

// labels of the pairs: with the load, and then the name, where two would be the
// same.
func (c *comparer) labels() []string {
	phases := make([]*job.Phase, len(c.cmp.Pairs))
	for i := range phases {
		phases[i] = &c.cmp.Pairs[i].A
	}
	return c.workloads(phases)
}

func (s *speaker) workloads(phases []*job.Phase) []string {
	labels := make([]string, len(phases))
	for i, j := range phases {
		labels[i] = s.workload(j)
	}
	again := func(extend func(*job.Phase) string) {
		count := map[string]int{}
		for _, l := range labels {
			count[l]++
		}
		for i, j := range phases {
			if count[labels[i]] > 1 {
				labels[i] += " " + extend(j)
			}
		}
	}
	again(func(j *job.Phase) string { return fmt.Sprintf("QD%s×%s", positive(j.IODepth), positive(j.NumJobs)) })
	again(func(j *job.Phase) string {
		if j.Direct {
			return "direct=1"
		}
		return "direct=0"
	})
	again(func(j *job.Phase) string { return s.data(j.Name) })
	return labels
}

// rates is the table of IOPS, or of bandwidth where people name speeds by it.
func (c *comparer) rates(labels []string) Table {
	t := Table{Columns: []Column{{c.m.test, true}, {"A", false}, {"B", false}, {c.m.percentOfA, false}, {"95" + glue + "%", false}}}
	for i := range c.cmp.Pairs {
		p := &c.cmp.Pairs[i]
		m := p.Metric(compare.IOPS)
		show := m
		format := func(v float64) string { return c.wholeOrShort(v) }
		// Single values stand as they were printed, in IOPS.
		if !inIOPS(&p.A) && m.NoInterval != compare.SingleValues {
			show = p.Metric(compare.BW)
			format = func(v float64) string { return unit(c.short(v/1e6), "MB/s") }
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			{Text: labels[i]}, {Text: orAbsent(show.A, format)}, {Text: orAbsent(show.B, format)},
			{Text: c.proven(m)}, {Text: c.interval(m)},
		}, Notes: c.doubts(p)})
	}
	return t
}

// signs stand for judgements in the tables, as in the report of a run.
var signs = map[analysis.Judgement]string{
	analysis.JudgeEquivalent: "≈", analysis.JudgeDifferent: "", analysis.JudgeNegligible: "≈",
	analysis.JudgeInconclusive: "~", analysis.JudgeNone: "~",
}

// ratio is B in percent of A.
func (s *speaker) ratio(m *compare.Metric) string {
	return orAbsent(m.Ratio, func(v float64) string { return s.fixed(v*100, 1) })
}

func (s *speaker) interval(m *compare.Metric) string {
	if m.Low == nil || m.High == nil {
		return absent
	}
	return s.fixed(*m.Low*100, 1) + "–" + s.fixed(*m.High*100, 1)
}

// proven is the ratio with the sign of its judgement.
func (s *speaker) proven(m *compare.Metric) string {
	if m.Ratio == nil {
		return absent
	}
	return signs[m.Judgement] + s.ratio(m)
}

func (c *comparer) latencies(labels []string) (Table, bool) {
	t := Table{Columns: []Column{{c.m.latency, true}, {"p50 A", false}, {"B", false}, {c.m.percentOfA, false}, {"p99 A", false}, {"B", false}, {c.m.percentOfA, false}}}
	any := false
	for i := range c.cmp.Pairs {
		p := &c.cmp.Pairs[i]
		r := Row{Cells: []Cell{{Text: labels[i]}}}
		for _, name := range []compare.Name{compare.P50, compare.P99} {
			m := p.Metric(name)
			any = any || m.Ratio != nil
			r.Cells = append(r.Cells, Cell{Text: orAbsent(m.A, c.duration)}, Cell{Text: orAbsent(m.B, c.duration)}, Cell{Text: c.proven(m)})
		}
		t.Rows = append(t.Rows, r)
	}
	return t, any
}

// more are the numbers that the short form leaves out.
func (c *comparer) more(labels []string) []Block {
	var blocks []Block
	for _, x := range []struct {
		name   compare.Name
		head   string
		format func(float64) string
	}{
		{compare.IOPS, "IOPS", c.wholeOrShort},
		{compare.BW, "MB/s", func(v float64) string { return c.short(v / 1e6) }},
		{compare.P50, "p50", c.duration}, {compare.P99, "p99", c.duration}, {compare.P999, "p" + c.fixed(99.9, 1), c.duration},
	} {
		t := Table{Columns: []Column{{x.head, true}, {"A", false}, {"B", false}, {c.m.percentOfA, false}, {"95" + glue + "%", false}, {c.detail.passes, false}}}
		any := false
		for i := range c.cmp.Pairs {
			m := c.cmp.Pairs[i].Metric(x.name)
			any = any || m.A != nil || m.B != nil
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: labels[i]}, {Text: orAbsent(m.A, x.format)}, {Text: orAbsent(m.B, x.format)},
				{Text: c.proven(m)}, {Text: c.interval(m)}, {Text: fmt.Sprintf("%d/%d", m.PassesA, m.PassesB)}}})
		}
		if any {
			blocks = append(blocks, t)
		}
	}
	return blocks
}

func (c *comparer) legend() []string {
	used := map[string]bool{}
	for i := range c.cmp.Pairs {
		for k := range c.cmp.Pairs[i].Metrics {
			if m := &c.cmp.Pairs[i].Metrics[k]; m.Name == compare.IOPS || m.Name.Latency() && m.Ratio != nil {
				used[signs[m.Judgement]] = true
			}
		}
	}
	lines := []string{c.m.legendRatio}
	for _, sign := range []string{"", "≈", "~"} {
		if used[sign] {
			lines = append(lines, c.m.legend[sign])
		}
	}
	return lines
}

// doubts are the numbers of the footnotes about a pair.
func (c *comparer) doubts(p *compare.Pair) string {
	var texts []string
	for _, r := range p.Reasons {
		texts = append(texts, upperFirst(c.reason2(r))+": "+c.m.askedFor)
	}
	for _, side := range []struct {
		name  string
		s     *compare.Side
		words *speaker
		job   *job.Phase
		codes []string
	}{{"A", &c.cmp.A, c.a, &p.A, p.DoubtsA}, {"B", &c.cmp.B, c.b, &p.B, p.DoubtsB}} {
		for _, code := range side.codes {
			for _, text := range c.doubtText(code, side.s, side.words, p, side.name) {
				if code != compare.DoubtLatencyKind { // which is about both
					text = fmt.Sprintf(c.m.sideSays, side.name, text)
				}
				texts = append(texts, text)
			}
		}
	}
	var numbers []int
	for _, t := range texts {
		n := slices.Index(c.notes, t)
		if n < 0 {
			c.notes = append(c.notes, t)
			n = len(c.notes) - 1
		}
		if !slices.Contains(numbers, n+1) {
			numbers = append(numbers, n+1)
		}
	}
	if len(numbers) == 0 {
		return ""
	}
	slices.Sort(numbers)
	return "[" + ranges(numbers) + "]"
}

// doubtText words a doubt as the report of the record itself does, over all of
// its phases that are compared.
func (c *comparer) doubtText(code string, s *compare.Side, words *speaker, p *compare.Pair, side string) []string {
	j, iops, bw := &p.A, p.Metric(compare.IOPS).A, p.Metric(compare.BW).A
	if side == "B" {
		j, iops, bw = &p.B, p.Metric(compare.IOPS).B, p.Metric(compare.BW).B
	}
	switch code {
	case compare.DoubtLatencyKind:
		return []string{c.m.latencyKind}
	case compare.DoubtRates:
		if iops == nil || bw == nil {
			return nil
		}
		return []string{fmt.Sprintf(c.m.ratesContradict, c.int(int64(*iops+0.5)), blockSize(j.BlockSize),
			c.fixed(*iops*float64(j.BlockSize)/(1<<20), 0), c.fixed(*bw/(1<<20), 0))}
	}
	var about []record.Warning
	for _, w := range analysis.Compute(s.Record).Warnings {
		if w.Code == code && (w.Place == "" || w.Place == s.Place) && slices.ContainsFunc(c.cmp.Pairs, func(p compare.Pair) bool {
			return side == "A" && p.A.Name == w.Phase || side == "B" && p.B.Name == w.Phase
		}) {
			about = append(about, w)
		}
	}
	return newNotes(words, s.Record, about).block().Items
}

// reason2 words why a pair means nothing.
func (c *comparer) reason2(r compare.Reason) string {
	name := c.m.reasons[r.Code]
	switch r.Code {
	case compare.ReasonCache, compare.ReasonSimulated:
		side := "A"
		if r.B != "" {
			side = "B"
		}
		return fmt.Sprintf(name, side)
	case compare.ReasonUnknown:
		return name
	}
	return fmt.Sprintf(c.m.reasonText, name, c.data(r.A), c.data(r.B))
}

// leftOut says what was not compared and why.
func (c *comparer) leftOut() []string {
	var lines []string
	for i := range c.cmp.Refused {
		p := &c.cmp.Refused[i]
		var why []string
		for _, r := range p.Reasons {
			why = append(why, c.reason2(r))
		}
		names := c.data(p.A.Name)
		if p.A.Name != p.B.Name {
			names = fmt.Sprintf(c.m.against, c.data(p.B.Name), names)
		}
		lines = append(lines, fmt.Sprintf(c.m.refused, names, strings.Join(why, "; ")))
	}
	if len(lines) > 0 {
		lines = append(lines, c.m.anyway)
	}
	for _, only := range []struct {
		side  string
		names []string
	}{{"A", c.cmp.OnlyA}, {"B", c.cmp.OnlyB}} {
		if len(only.names) > 0 {
			lines = append(lines, fmt.Sprintf(c.m.onlyIn, only.side, c.data(strings.Join(only.names, ", "))))
		}
	}
	return lines
}

// Refusals says in one line for each why pairs were refused, for an error.
func Refusals(all []compare.Comparison, lang string) []string {
	var lines []string
	for i := range all {
		c := newComparer(&all[i], CompareOptions{Lang: lang})
		for _, l := range c.leftOut() {
			if !slices.Contains(lines, plain(l)) {
				lines = append(lines, plain(l))
			}
		}
	}
	return lines
}

// verdict says what the table comes to, from the same numbers as it.
func (c *comparer) verdict() string {
	groups := map[string][]string{}
	var order []string
	within := false
	for i := range c.cmp.Pairs {
		p := &c.cmp.Pairs[i]
		m := p.Metric(compare.IOPS)
		key := string(m.Judgement)
		if m.Judgement == analysis.JudgeNone {
			key = string(m.NoInterval)
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		text := c.workloadWords(&p.A)
		if m.Judgement == analysis.JudgeDifferent || m.Judgement == analysis.JudgeNegligible {
			text = fmt.Sprintf(c.m.differentBy, text, c.ratio(m), c.interval(m))
		}
		groups[key] = append(groups[key], text)
		within = within || m.WithinRun
	}
	var parts []string
	for _, key := range order {
		text := c.m.verdicts[key]
		if text == "" {
			continue
		}
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, strings.Join(groups[key], ", "))
		} else if len(order) > 1 {
			text = strings.Join(groups[key], ", ") + ": " + text
		}
		parts = append(parts, upperFirst(text)+".")
	}
	if within && !c.cmp.SameRun {
		parts = append(parts, c.m.withinRun)
	}
	return strings.Join(parts, " ")
}

// checked says what became of the conditions.
func (s *speaker) checked(r *compare.Checked) []Block {
	if r == nil {
		return nil
	}
	m := &s.compare
	var lines []string
	for _, h := range r.Hits {
		what, form := s.data(h.Phase), m.hit
		if h.Side != "" {
			what, form = s.data(h.Side)+", "+what, m.hitMedian
		}
		text := fmt.Sprintf(form, s.data(h.Condition), what, s.fixed(h.Ratio*100, 1))
		switch {
		case h.Low == nil:
		case h.Sure:
			text += " " + m.hitSure
		default:
			text += " " + m.hitUnsure
		}
		lines = append(lines, text)
	}
	for _, u := range r.Unchecked {
		lines = append(lines, fmt.Sprintf(m.unchecked, s.data(u)))
	}
	if len(lines) == 0 {
		lines = []string{m.noHit}
	}
	return []Block{Paragraph{lines}}
}
