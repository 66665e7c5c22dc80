package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// Options say what a report shows.
type Options struct {
	Lang    string // "de" or "en"
	Details bool
	// Name is how nativ report finds this record again; "" means by its ID.
	Name string
	// Last says that the report is printed right after its run, so that the
	// short name "last" means this record to whoever reads it now.
	Last bool
	// Files are where the report and the record lie, named at the end.
	Files []string
	// Hash is that of the record before anything was taken out of it; "" is the
	// record's own.
	Hash string
}

// Widths of the two tables of the short report: they align, and leave room for
// footnotes after three places.
const (
	phaseWidth  = 18
	labelWidth  = phaseWidth + 5
	numberWidth = 17
)

// Build makes the report of a record.
func Build(rec *record.Record, res analysis.Result, o Options) *Document {
	if rec.Import != nil {
		return imported(rec, res, o)
	}
	if rec.Jobs != nil {
		return jobs(rec, res, o)
	}
	s := newSpeaker(o.Lang, rec)
	b := &builder{notes: newNotes(s, rec, worthNoting(rec, &res)), res: &res}
	d := &Document{Lang: o.Lang}
	add := func(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

	var first *int64
	if t := b.sensor(); t != nil {
		first = &t.First
	}
	title := Title{Text: s.titleOf(rec)}
	if !rec.Started.IsZero() {
		title.Right = rec.Started.Format(s.date)
	}
	add(title, Facts{Rows: b.head(PlanOptions{TemperatureMC: first}, true), Tight: true})
	if len(res.Phases) > 0 {
		add(b.speedTables()...)
	}
	if rule := b.etcdRule(); rule != "" {
		add(Paragraph{Lines: []string{rule}})
	}
	add(Paragraph{Lines: []string{b.outcome()}})
	// The short report refers to all that it can before the rest is numbered.
	if f := b.block(); len(f.Items) > 0 {
		add(f)
	}
	add(Paragraph{Lines: []string{fmt.Sprintf(s.verdictWord, b.verdict())}})
	if o.Details {
		add(b.details()...)
		add(b.toolCommands()...)
	}
	if len(o.Files) > 0 {
		add(Paragraph{Lines: []string{b.filesWord}})
		for _, f := range o.Files {
			add(Command{b.data(f)}) // never wrapped: to be copied
		}
	}
	add(Paragraph{Lines: b.closing(o)})
	return d
}

type builder struct {
	*notes
	res *analysis.Result
}

// label is the first cell of a row: the name and, aligned in text, the block
// size of a phase.
func (b *builder) label(ph *analysis.Phase) string {
	if name := b.shortName(&ph.Job); name != "" {
		return pad(name, phaseWidth) + fmt.Sprintf("%5s", blockSize(ph.Job.BlockSize))
	}
	return b.data(ph.Job.Name)
}

func (b *builder) means() Table {
	t := Table{Columns: []Column{{Head: b.notes.means, Left: true}}, MinWidths: []int{labelWidth}}
	for _, p := range b.res.Phases[0].Places {
		t.Columns = append(t.Columns, Column{Head: b.placeName(b.rec, p.Name)})
		t.MinWidths = append(t.MinWidths, numberWidth)
	}
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		r := Row{Cells: []Cell{{Text: b.label(ph)}}}
		for _, p := range ph.Places {
			text := absent
			switch {
			case p.IOPS == nil:
			case inIOPS(&ph.Job):
				text = unit(b.short(*p.IOPS), "IOPS")
			default:
				text = unit(b.short(*p.BytesPerSec/1e6), "MB/s")
			}
			r.Cells = append(r.Cells, Cell{Text: text})
		}
		r.Notes = b.ref(func(w record.Warning) bool { return w.Phase == ph.Job.Name })
		t.Rows = append(t.Rows, r)
		if lat, ok := b.latencyRow(ph); ok && b.aboutLatency(&ph.Job) {
			t.Rows = append(t.Rows, lat)
		}
	}
	return t
}

// loss compares the places; nothing where there is nothing to compare.
func (b *builder) loss() []Block {
	if b.inRounds() {
		return b.roundsLoss()
	}
	t := Table{Columns: []Column{{Head: b.notes.loss, Left: true}}, MinWidths: []int{labelWidth, numberWidth, numberWidth, numberWidth}}
	has := func(name string) bool { return slices.Contains(b.rec.Plan.Places, name) }
	if !has(record.PlaceHost) {
		return nil
	}
	var parts []func(*analysis.Loss) *analysis.Part
	if record.ContainerOf(b.rec.Plan.Places) != "" {
		t.Columns = append(t.Columns, Column{Head: b.total + b.after(record.WarnNotSeparable)})
		parts = append(parts, func(l *analysis.Loss) *analysis.Part { return l.Total })
	}
	if has(record.PlacePinned) {
		head := b.cpus
		if len(parts) == 0 { // a part of nothing
			head = strings.TrimLeft(head, "= ")
		}
		t.Columns = append(t.Columns, Column{Head: head})
		parts = append(parts, func(l *analysis.Loss) *analysis.Part { return l.CPUs })
	}
	if len(parts) == 2 {
		t.Columns = append(t.Columns, Column{Head: b.containerPart})
		parts = append(parts, func(l *analysis.Loss) *analysis.Part { return l.Container })
	}
	if len(parts) == 0 {
		return nil
	}
	var doubts []analysis.Doubt
	gain, any := false, false
	row := func(ph *analysis.Phase) Row {
		r := Row{Cells: []Cell{{Text: b.label(ph)}}}
		for _, part := range parts {
			p := part(&ph.Loss)
			text := absent
			if p != nil {
				text = b.tenths(p.Tenths)
				if !p.Shown() {
					text = "~" + text
					doubts = append(doubts, p.Doubt)
				}
				gain, any = gain || p.Tenths > 0, true
			}
			r.Cells = append(r.Cells, Cell{Text: text})
		}
		return r
	}
	alike, rest := b.alikePhases()
	for _, ph := range rest {
		t.Rows = append(t.Rows, row(ph))
	}
	if len(alike) > 0 {
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for _, ph := range alike {
			low, high = min(low, ph.Loss.Total.Tenths), max(high, ph.Loss.Total.Tenths)
			for _, p := range []*analysis.Part{ph.Loss.Total, ph.Loss.CPUs, ph.Loss.Container} {
				doubts = append(doubts, p.Doubt)
			}
		}
		text := fmt.Sprintf(b.between, b.tenths(low), b.tenths(high))
		if low == high {
			text = b.tenths(low)
		}
		gain, any = gain || high > 0, true
		name := b.others
		if len(rest) == 0 {
			name = b.allTests
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: name}, {Text: "~" + text}, {Text: b.alike, Span: 2}}})
	}
	if !any {
		return nil
	}
	blocks := []Block{t}
	if lines := b.legends(doubts, gain); len(lines) > 0 {
		blocks = append(blocks, Legend{lines})
	}
	return blocks
}

// alikePhases are those of which every part is small, if that are at least two,
// and the others. A large difference that is not proven, because the passes
// scatter, keeps its own row.
func (b *builder) alikePhases() (alike, rest []*analysis.Phase) {
	no := func(p *analysis.Part) bool {
		return p != nil && math.Abs(p.Fraction) <= analysis.LeastShown &&
			slices.Contains([]analysis.Doubt{analysis.DoubtSmall, analysis.DoubtLoad, analysis.DoubtWrites}, p.Doubt)
	}
	var all []*analysis.Phase
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		all = append(all, ph)
		if no(ph.Loss.Total) && no(ph.Loss.CPUs) && no(ph.Loss.Container) {
			alike = append(alike, ph)
		} else {
			rest = append(rest, ph)
		}
	}
	if len(alike) < 2 {
		return nil, all
	}
	return alike, rest
}

func (b *builder) legends(doubts []analysis.Doubt, gain bool) []string {
	var lines []string
	if len(doubts) > 0 {
		lines = append(lines, b.legend)
		for _, d := range []struct {
			doubt analysis.Doubt
			text  string
		}{
			{analysis.DoubtCache, b.legendCache}, {analysis.DoubtLoad, b.legendLoad}, {analysis.DoubtWrites, b.legendWrites},
			{analysis.DoubtPasses, b.legendPasses}, {analysis.DoubtFew, b.legendFew},
		} {
			if slices.Contains(doubts, d.doubt) {
				lines = append(lines, d.text)
			}
		}
	}
	if gain {
		lines = append(lines, b.legendGain)
	}
	return lines
}

// sensor is the temperature to name where there is room for one: the composite
// temperature, which NVMe drives judge themselves by, unless it is stuck, else
// the hottest.
func (b *builder) sensor() *analysis.Temperature {
	var best *analysis.Temperature
	composite := func(t *analysis.Temperature) bool {
		stuck := slices.ContainsFunc(b.res.Warnings, func(w record.Warning) bool {
			return w.Code == record.WarnSensorStuck && w.Words["sensor"] == t.Sensor
		})
		return !stuck && strings.Contains(strings.ToLower(t.Sensor), "composite")
	}
	for i := range b.res.Temperatures {
		t := &b.res.Temperatures[i]
		switch {
		case best == nil, composite(t) && !composite(best), composite(t) == composite(best) && t.Max > best.Max:
			best = t
		}
	}
	return best
}

// calm reports whether it may be said that heat was not seen to slow the drive
// down: its own counters were read, or the passes are long enough to show it.
func (b *builder) calm() bool {
	for i := range b.res.Warnings {
		if c := b.res.Warnings[i].Code; c == record.WarnThrottled || c == record.WarnCeiling {
			return false
		}
	}
	long := len(b.rec.Plan.Steps) > 0
	for i := range b.rec.Plan.Steps {
		long = long && b.rec.Plan.Steps[i].RuntimeNS >= 60e9
	}
	if len(b.res.Heat) > 0 {
		return false
	}
	health := false
	for _, h := range analysis.See(b.rec).Health {
		health = true
		if h.Last.TMT1Transitions+h.Last.TMT2Transitions > h.First.TMT1Transitions+h.First.TMT2Transitions || h.Warning&record.CriticalTemperature != 0 {
			return false
		}
	}
	return health || long
}

// outcome is the line on temperature, writes and cleanup.
func (b *builder) outcome() string {
	temp := b.temperatureOutcome()
	clean := b.cleaned
	switch c := b.rec.Cleaned; {
	case c == nil:
		clean = b.cleanPending
	case len(c.Left) > 0:
		clean = b.notCleaned
	}
	return fmt.Sprintf("%s. %s. %s", temp, fmt.Sprintf(b.written, b.bytes(b.res.Written.Application))+b.hostWrites(), clean) + b.rest()
}

// temperatureOutcome says between which temperatures the drive was, and whether
// heat was seen to slow it down; without a full stop.
func (b *builder) temperatureOutcome() string {
	temp := b.noTemperature + b.after(record.WarnNoTemperature)
	if t := b.sensor(); t != nil {
		temp = fmt.Sprintf(b.temperature, b.celsius(t.Min), unit(b.celsius(t.Max), "°C"), b.data(t.Sensor))
		switch low, high := b.celsius(t.Min), unit(b.celsius(t.Max), "°C"); {
		case low != b.celsius(t.Max):
		case b.calm():
			temp = fmt.Sprintf(b.drops.steadyCalm, high)
		default:
			temp = fmt.Sprintf(b.drops.steady, high, b.data(t.Sensor))
		}
		if b.calm() && b.celsius(t.Min) != b.celsius(t.Max) {
			temp = fmt.Sprintf(b.drops.calm, b.celsius(t.Min), unit(b.celsius(t.Max), "°C"))
		}
	}
	temp += b.after(record.WarnOtherSensor, record.WarnSensorStuck, record.WarnCeiling)
	for _, h := range analysis.See(b.rec).Health {
		if h.Warning&record.CriticalTemperature != 0 {
			temp += b.drops.alarm
			break
		}
	}
	return temp
}

// closing says what to do next.
func (b *builder) closing(o Options) []string {
	name := b.data(o.Name)
	if name == "" {
		name = b.data(b.rec.ID)
	}
	if o.Last || name == "" {
		name = "last"
	}
	next := b.notes.details
	if o.Details {
		next = b.last
	}
	more := fmt.Sprintf(next, name)
	if b.rec.Plan.Preset == "quick" && (b.brief() || len(b.rec.Plan.Steps) == 0) {
		more += "\t" + b.precise
	}
	return []string{more, fmt.Sprintf(b.everyone, name)}
}

// upperFirst starts a sentence.
func upperFirst(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}
