package report

import (
	"fmt"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// BuildArticle makes the long report of a record, with charts: the verdict and its
// table first, then the charts in the order in which readers look for them, then
// the text in the order of a published test, and the footnotes and data last.
func BuildArticle(rec *record.Record, res analysis.Result, o Options) *Document {
	hash := o.Hash
	if hash == "" {
		// "" again where no file could hold the record; a page is no reason to fail.
		hash, _ = RecordHash(rec)
	}
	charts, left := Charts(rec, res, ChartOptions{Lang: o.Lang, Hash: hash})
	s := newSpeaker(o.Lang, rec)
	if rec.Import != nil || rec.Jobs != nil {
		o.Details = true
		d := Build(rec, res, o)
		d.Simulated = s.simulatedSentence(rec)
		d.Blocks = withCharts(d.Blocks, s.article.courses, charts, left)
		return d
	}
	a := &article{builder: &builder{notes: newNotes(s, rec, worthNoting(rec, &res)), res: &res}, drawn: charts, left: left, o: o}
	a.m = &s.article
	a.d = &Document{Lang: o.Lang, Simulated: s.simulatedSentence(rec)}
	a.writeLead()
	a.writeCharts()
	a.writeSystem()
	a.writeMethod()
	a.writeResults()
	a.writeAnalysis()
	a.writeTemperature()
	a.writeConclusion()
	if f := a.block(); len(f.Items) > 0 {
		a.add(Heading{a.m.notes}, f)
	}
	a.writeData(hash)
	return a.d
}

type article struct {
	*builder
	m     *articleMessages
	d     *Document
	drawn []*Chart
	left  []string
	o     Options
}

func (a *article) add(blocks ...Block) { a.d.Blocks = append(a.d.Blocks, blocks...) }

// say adds sentences as one paragraph; empty ones are none.
func (a *article) say(sentences ...string) {
	sentences = slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
	if len(sentences) > 0 {
		a.add(Paragraph{[]string{strings.Join(sentences, " ")}})
	}
}

// each adds sentences as lines of one paragraph.
func (a *article) each(sentences []string) {
	if len(sentences) > 0 {
		a.add(Paragraph{sentences})
	}
}

// withCharts puts charts before the footnotes of a document, or at its end.
func withCharts(blocks []Block, heading string, charts []*Chart, left []string) []Block {
	if len(charts) == 0 {
		return blocks
	}
	at := slices.IndexFunc(blocks, func(b Block) bool { _, ok := b.(Footnotes); return ok })
	if at < 0 {
		at = len(blocks)
	}
	section := []Block{Heading{heading}}
	for _, c := range charts {
		section = append(section, c)
	}
	if len(left) > 0 {
		section = append(section, Legend{left})
	}
	return slices.Insert(slices.Clone(blocks), at, section...)
}

// simulatedSentence is "" where something was measured.
func (s *speaker) simulatedSentence(rec *record.Record) string {
	if rec.Simulated == nil {
		return ""
	}
	return fmt.Sprintf(s.article.simulated, s.data(rec.Simulated.Model), s.data(rec.Simulated.File))
}

func (a *article) title() Title {
	name := a.titleOf(a.rec)
	if len(a.rec.Target.Drives) > 0 {
		drive, places := a.driveName(&a.rec.Target.Drives[0]), a.rec.Plan.Places
		head := fmt.Sprintf(a.m.withPinned, drive, strings.TrimPrefix(a.titleOf(a.rec), a.marked(a.rec, "")))
		if c := record.ContainerOf(places); c != "" && slices.Contains(places, record.PlaceHost) {
			head = fmt.Sprintf(a.m.against, drive, a.speaker.label(c), a.speaker.label(record.PlaceHost))
		}
		name = a.marked(a.rec, head)
	}
	t := Title{Text: name}
	if !a.rec.Started.IsZero() {
		t.Right = a.rec.Started.Format(a.date)
	}
	return t
}

// lead is what is on the first screen.
func (a *article) writeLead() {
	a.add(a.title(), Finding{a.verdict()})
	switch {
	case len(a.res.Phases) == 0:
	case loads(a.rec):
		a.add(a.speedTables()...)
	default:
		a.add(a.means())
		a.add(a.loss()...)
	}
	if rule := a.etcdRule(); rule != "" {
		a.add(Paragraph{[]string{rule}})
	}
	var first *int64
	if t := a.sensor(); t != nil {
		first = &t.First
	}
	a.add(Facts{Rows: a.head(PlanOptions{TemperatureMC: first}, true), Tight: true})
}

// courses are the charts, with the heat table of the test where those of heat are.
func (a *article) writeCharts() {
	last := ""
	table := !loads(a.rec)
	for _, c := range a.drawn {
		kind, _, _ := strings.Cut(c.ID, "-")
		if table && slices.Index(ChartIDs(), kind) >= slices.Index(ChartIDs(), idHeat) {
			a.heatSection(&last)
			table = false
		}
		if kind != last {
			a.add(Heading{a.chartHead(kind, c)})
			last = kind
		}
		a.add(c)
	}
	if table {
		a.heatSection(&last)
	}
	if len(a.left) > 0 {
		a.add(Legend{a.left})
	}
}

func (a *article) heatSection(last *string) {
	if hasRole(a.rec, record.RoleHot) && len(a.res.Phases) > 0 {
		note := a.drops.bestNote
		if !a.throttledIn(a.hotPlace()) {
			note = a.drops.againNote
		}
		a.add(Heading{a.chartHead(idHeat, nil)}, a.best(), Legend{[]string{note}})
		*last = idHeat
	}
	if t := a.heatTable(); len(t) > 0 {
		if *last != idHeat {
			a.add(Heading{a.chartHead(idHeat, nil)})
			*last = idHeat
		}
		a.add(t...)
	}
}

// chartHead is the heading of charts of a kind; one alone has its own title.
func (a *article) chartHead(id string, c *Chart) string {
	m := &a.charts
	alone := 0
	for _, other := range a.drawn {
		if other.ID == id || strings.HasPrefix(other.ID, id+"-") {
			alone++
		}
	}
	if alone == 1 && c != nil {
		return c.Title
	}
	if name := map[string]string{
		idTime: m.time, idRatios: m.ratios, idLatency: m.latency, idScatter: m.scatter, idHeat: m.heat, idCliff: m.cliff, idMeans: m.means,
	}[id]; name != "" {
		return upperFirst(name)
	}
	return c.Title
}

// commands are what fio would be called with for each phase.
func (a *article) commands() []Block {
	var blocks []Block
	for i := range a.rec.Plan.Phases {
		j := a.planned(&a.rec.Plan.Phases[i])
		words := []string{"fio", "--name=" + shellWord(a.data(j.Name)), "--filename=FILE"}
		for _, s := range job.FioSettings(&j, a.rec.Plan.FileSize) {
			words = append(words, shellWord("--"+a.data(s.String())))
		}
		blocks = append(blocks, Command{strings.Join(words, " ")})
	}
	return blocks
}

func (a *article) writeData(hash string) {
	f := Facts{}
	f.add(a.m.record, a.data(a.rec.ID))
	f.add(a.m.hash, hash)
	a.add(Heading{a.m.data}, f)
	if len(a.rec.Incomplete) > 0 {
		a.add(Subheading{a.detail.missing}, a.missing())
	}
	if f := a.meanwhileDetails(); len(f.Rows) > 0 {
		a.add(Fold{a.meanwhile.head, []Block{f}})
	}
	if f := a.kernelLog(); len(f.Rows) > 0 {
		a.add(Fold{a.meanwhile.log, []Block{f}})
	}
	if len(a.o.Files) > 0 {
		a.add(Paragraph{[]string{a.filesWord}})
		for _, file := range a.o.Files {
			a.add(Command{a.data(file)})
		}
	}
	o := a.o
	o.Details = true
	a.add(Paragraph{a.closing(o)})
}
