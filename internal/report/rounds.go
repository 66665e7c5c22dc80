package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// roundsMessages are the texts about runs that are judged by rounds.
type roundsMessages struct {
	legendSure, legendWithin, legendOpen, legendInterval string

	against                                              string // container against host
	self                                                 string
	different, differs, negligible, equivalent, open     string // in the tests of a list
	openMore, openMany                                   string
	doubted                                              map[string]string // by analysis.Doubt
	single, nothing                                      string
	split, part                                          string
	judged                                               map[string]string // by analysis.Judgement, one word or two
	cpus, cgroup, engine, cpuTime                        string
	head, metric, pair, ratio, interval, verdict, rounds string
	judgedMore                                           string
	void, voidRound, cut, drift, valid, few              string
	reasons                                              map[string]string // by analysis.VoidReason and the record's
	metrics                                              map[string]string
	rules                                                string
}

var roundsEnglish = roundsMessages{
	legendSure:     "Without a sign: different. In brackets: 95\u00a0% intervals.",
	legendWithin:   "≈ Within the margin of ±%s\u00a0%%: equivalent, or different but negligible.",
	legendOpen:     "~ Inconclusive, or not to be judged: see the verdict.",
	legendInterval: "In brackets: 95\u00a0% intervals.",

	against: "%[1]s against %[2]s: %[3]s.", self: "%[1]s against %[2]s, the same place twice: %[3]s.",
	different: "different %s", differs: "%[1]s by\u00a0%[2]s\u00a0%% %[3]s",
	negligible: "different but negligible %s", equivalent: "equivalent (within ±%[1]s\u00a0%%) %[2]s",
	open: "inconclusive %s", openMore: "about %s more rounds", openMany: "no number of rounds in reach decides",
	doubted: map[string]string{
		string(analysis.DoubtCache): "not to be judged %s, because a cache answered", string(analysis.DoubtLoad): "not to be judged %s, because others used the CPUs",
		string(analysis.DoubtWrites): "not to be judged %s, because the drive had other writes to do",
	},
	single: "without an interval %s, because fewer than two rounds count", nothing: "no round counts, so nothing can be compared.",
	split: "%[1]s, in percent of the host: fewer CPUs %[2]s, the container %[3]s.", part: "%[1]s\u00a0%[2]s (%[3]s)",
	judged: map[string]string{
		string(analysis.JudgeDifferent): "different", string(analysis.JudgeNegligible): "negligible", string(analysis.JudgeEquivalent): "equivalent",
		string(analysis.JudgeInconclusive): "inconclusive", string(analysis.JudgeNone): "no interval", "doubted": "not to be judged",
	},
	cpus: "its CPUs were used up (%[2]s: %[1]s\u00a0%%)", cgroup: "the kernel held its CPU time back (%s)", engine: "nativ itself comes near to its limit (%s)",
	cpuTime: "each I/O took %[1]s times the CPU time (%[2]s)",
	head:    "Verdicts", metric: "Metric", pair: "Compared", ratio: "Diff. %", interval: "95 % interval", verdict: "Verdict", rounds: "Rounds",
	judgedMore: "%[1]s (+%[2]s)",
	void:       "Void", voidRound: "%[1]s %[2]s (%[3]s)", valid: "%[1]s of %[2]s",
	cut: "%s left out at the start of each pass", drift: "drift %[1]s\u00a0%% an hour (over %[2]s)",
	few: "With so few rounds the t test decides alone: repeat with --rounds 8 or more.",
	reasons: map[string]string{
		string(analysis.VoidIncomplete): "passes are missing", string(analysis.VoidErrors): "failed I/Os", string(analysis.VoidEnded): "ended early",
		string(analysis.VoidHotStart): "started hotter", string(analysis.VoidHeat): "throttled unequally",
		record.VoidInterrupted: "interrupted",
	},
	metrics: map[string]string{string(analysis.MetricThroughput): "throughput"},
	rules:   "Each round gives one difference of the logarithms of each two places, the first seconds of passes left out of throughput. Intervals are Student's t over the rounds, with what only the first pass of a round meets taken out. Different means: the t test and the sign-flip test agree, with the error of 5\u00a0% held over the tests of the run (Holm), for each metric and two places apart. Within the margin means: the 90\u00a0% interval is (TOST). Inconclusive is neither; (+N) is about how many more rounds decide. Means are geometric, over the rounds that count. Fewer CPUs is the host on the CPUs and with the limits of the container, container the rest. What lasts a whole run, such as the fill level of the drive, is in no interval. The procedure and how often it is right: docs/method.md.",
}

var roundsGerman = roundsMessages{
	legendSure:     "Ohne Zeichen: verschieden. In Klammern: 95-%-Intervalle.",
	legendWithin:   "≈ Innerhalb der Grenze von ±%s\u00a0%%: gleichwertig, oder verschieden, aber unerheblich.",
	legendOpen:     "~ Unentschieden oder nicht zu beurteilen: siehe Fazit.",
	legendInterval: "In Klammern: 95-%-Intervalle.",

	against: "%[1]s gegen %[2]s: %[3]s.", self: "%[1]s gegen %[2]s, zweimal derselbe Ort: %[3]s.",
	different: "verschieden %s", differs: "%[1]s um\u00a0%[2]s\u00a0%% %[3]s",
	negligible: "verschieden, aber unerheblich %s", equivalent: "gleichwertig (innerhalb ±%[1]s\u00a0%%) %[2]s",
	open: "unentschieden %s", openMore: "etwa %s Runden mehr", openMany: "keine erreichbare Zahl von Runden entscheidet",
	doubted: map[string]string{
		string(analysis.DoubtCache): "nicht zu beurteilen %s, weil ein Cache antwortete", string(analysis.DoubtLoad): "nicht zu beurteilen %s, weil andere die CPUs nutzten",
		string(analysis.DoubtWrites): "nicht zu beurteilen %s, weil das Laufwerk anderes zu schreiben hatte",
	},
	single: "ohne Intervall %s, weil weniger als zwei Runden zählen", nothing: "keine Runde zählt; ein Vergleich ist nicht möglich.",
	split: "%[1]s, in Prozent des Hosts: weniger CPUs %[2]s, der Container %[3]s.", part: "%[1]s\u00a0%[2]s (%[3]s)",
	judged: map[string]string{
		string(analysis.JudgeDifferent): "verschieden", string(analysis.JudgeNegligible): "unerheblich", string(analysis.JudgeEquivalent): "gleichwertig",
		string(analysis.JudgeInconclusive): "unentschieden", string(analysis.JudgeNone): "kein Intervall", "doubted": "nicht zu beurteilen",
	},
	cpus: "die CPUs waren ausgelastet (%[2]s: %[1]s\u00a0%%)", cgroup: "der Kernel hielt CPU-Zeit zurück (%s)", engine: "nativ selbst kommt an seine Grenze (%s)",
	cpuTime: "je I/O das %[1]s-Fache an CPU-Zeit (%[2]s)",
	head:    "Urteile", metric: "Größe", pair: "Verglichen", ratio: "Untersch. %", interval: "95-%-Intervall", verdict: "Urteil", rounds: "Runden",
	judgedMore: "%[1]s (+%[2]s)",
	void:       "Ungültig", voidRound: "%[1]s %[2]s (%[3]s)", valid: "%[1]s von %[2]s",
	cut: "%s am Anfang jedes Durchgangs ausgelassen", drift: "Drift %[1]s\u00a0%% je Stunde (über %[2]s)",
	few: "Bei so wenigen Runden entscheidet der t-Test allein: mit --rounds 8 oder mehr wiederholen.",
	reasons: map[string]string{
		string(analysis.VoidIncomplete): "Durchgänge fehlen", string(analysis.VoidErrors): "fehlgeschlagene I/Os", string(analysis.VoidEnded): "vorzeitig beendet",
		string(analysis.VoidHotStart): "heißer gestartet", string(analysis.VoidHeat): "ungleich gedrosselt",
		record.VoidInterrupted: "unterbrochen",
	},
	metrics: map[string]string{string(analysis.MetricThroughput): "Durchsatz"},
	rules:   "Jede Runde ergibt für je zwei Orte einen Unterschied der Logarithmen; beim Durchsatz sind die ersten Sekunden der Durchgänge ausgelassen. Die Intervalle sind Student-t über die Runden, ohne das, was nur den ersten Durchgang einer Runde trifft. Verschieden heißt: t-Test und Vorzeichentest (sign-flip) sind einig, mit höchstens 5\u00a0% Irrtum über die Tests des Laufs (Holm), je Größe und je zwei Orten für sich. Innerhalb der Grenze heißt: Das 90-%-Intervall ist es (TOST). Unentschieden ist keines von beidem; (+N) ist, wie viele Runden mehr etwa entscheiden. Mittelwerte sind geometrisch über die Runden, die zählen. Weniger CPUs ist der Host auf den CPUs und mit den Grenzen des Containers, Container der Rest. Was einen ganzen Lauf lang wirkt, etwa der Füllstand des Laufwerks, ist in keinem Intervall. Das Verfahren, und wie oft es recht hat: docs/method.md.",
}

// inRounds reports whether the places are judged by rounds.
func (b *builder) inRounds() bool {
	return slices.ContainsFunc(b.res.Phases, func(p analysis.Phase) bool { return p.Rounds != nil })
}

// A difference is a column of their table: two places, or a part of a loss.
type difference struct {
	head string
	of   func(*analysis.Phase) *analysis.Part
}

// differences are the columns: the parts of a loss, or each further place against
// the first.
func (b *builder) differences() []difference {
	has := func(name string) bool { return slices.Contains(b.rec.Plan.Places, name) }
	var all []difference
	if has(record.PlaceHost) && record.ContainerOf(b.rec.Plan.Places) != "" {
		all = append(all, difference{b.total + b.after(record.WarnNotSeparable), func(p *analysis.Phase) *analysis.Part { return p.Loss.Total }})
	}
	if has(record.PlaceHost) && has(record.PlacePinned) {
		head := b.cpus
		if len(all) == 0 {
			head = strings.TrimLeft(head, "= ")
		}
		all = append(all, difference{head, func(p *analysis.Phase) *analysis.Part { return p.Loss.CPUs }})
	}
	if len(all) == 2 {
		all = append(all, difference{b.containerPart, func(p *analysis.Phase) *analysis.Part { return p.Loss.Container }})
	}
	if len(all) > 0 || len(b.rec.Plan.Places) < 2 {
		return all
	}
	first := b.rec.Plan.Places[0]
	for _, place := range b.rec.Plan.Places[1:] {
		all = append(all, difference{b.speaker.label(place), func(p *analysis.Phase) *analysis.Part {
			return analysis.PartOf(p.Comparison(analysis.MetricThroughput, first, place))
		}})
	}
	return all
}

// sign marks a part that is not different: within the margin, or open.
func sign(p *analysis.Part) string {
	switch p.Doubt {
	case analysis.DoubtNone:
		return ""
	case analysis.DoubtEquivalent, analysis.DoubtNegligible:
		return "≈"
	}
	return "~"
}

// intervalOf is the interval of a part, "[−13.0, −11.5]", as wide as the rounding
// of the part itself needs it; "" where there is none.
func (s *speaker) intervalOf(p *analysis.Part) string {
	if p.Low == nil || p.High == nil {
		return ""
	}
	return s.between2(min(roundTenths(*p.Low), p.Tenths), max(roundTenths(*p.High), p.Tenths))
}

func (s *speaker) between2(low, high int64) string {
	comma := ", "
	if s.messages == &german {
		comma = "; "
	}
	return "[" + s.tenths(low) + comma + s.tenths(high) + "]"
}

func roundTenths(f float64) int64 { return int64(math.Round(f * 1000)) }

// roundsLoss is the table of the differences with their intervals.
func (b *builder) roundsLoss() []Block {
	columns := b.differences()
	if len(columns) == 0 {
		return nil
	}
	t := Table{Columns: []Column{{Head: b.notes.loss, Left: true}}, MinWidths: []int{labelWidth}}
	for _, c := range columns {
		t.Columns = append(t.Columns, Column{Head: c.head})
		t.MinWidths = append(t.MinWidths, numberWidth)
	}
	signs := map[string]bool{}
	any, gain := false, false
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		values, intervals := Row{Cells: []Cell{{Text: b.label(ph)}}}, Row{Cells: []Cell{{}}}
		more := false
		for _, c := range columns {
			p := c.of(ph)
			text, interval := absent, ""
			if p != nil {
				text, interval = sign(p)+b.tenths(p.Tenths), b.intervalOf(p)
				signs[sign(p)] = true
				any, gain = true, gain || p.Tenths > 0
			}
			values.Cells, intervals.Cells = append(values.Cells, Cell{Text: text}), append(intervals.Cells, Cell{Text: interval})
			more = more || interval != ""
		}
		t.Rows = append(t.Rows, values)
		if more {
			t.Rows = append(t.Rows, intervals)
		}
	}
	if !any {
		return nil
	}
	m := &b.rounds
	lines := []string{m.legendInterval}
	if signs[""] {
		lines = []string{m.legendSure}
	}
	if signs["≈"] {
		lines = append(lines, fmt.Sprintf(m.legendWithin, b.margin(analysis.MetricThroughput)))
	}
	if signs["~"] {
		lines = append(lines, m.legendOpen)
	}
	if gain {
		lines = append(lines, b.legendGain)
	}
	return []Block{t, Legend{lines}}
}

func (b *builder) margin(metric analysis.Metric) string {
	v := analysis.MarginsOf(&b.rec.Plan)[metric] * 100
	if v == math.Trunc(v) {
		return b.fixed(v, 0)
	}
	return b.fixed(v, 1)
}

// roundsFinding words the judgements of throughput. Every number in it is one of
// the table's, as it stands there, and every word follows from its judgement.
func (b *builder) roundsFinding() string {
	columns := b.differences()
	if len(columns) == 0 {
		return b.speaker.messages.verdict.noComparison
	}
	m := &b.rounds
	valid := 0
	for i := range b.res.Phases {
		if r := b.res.Phases[i].Rounds; r != nil {
			valid += r.Valid
		}
	}
	if valid == 0 {
		return m.nothing
	}
	sentences := []string{b.against(columns[0])}
	if len(columns) == 3 {
		if s := b.splitSentence(); s != "" {
			sentences = append(sentences, s)
		}
	}
	if b.tooFew(columns) {
		sentences = append(sentences, m.few)
	}
	return strings.Join(sentences, " ")
}

// tooFew reports whether a difference is named that the sign-flip test could not
// check.
func (b *builder) tooFew(columns []difference) bool {
	for i := range b.res.Phases {
		for _, c := range columns {
			if p := c.of(&b.res.Phases[i]); p.Shown() && p.Judged != nil && p.Judged.FlipP == nil {
				return true
			}
		}
	}
	return false
}

// against says of the first difference what was judged in which tests.
func (b *builder) against(d difference) string {
	m := &b.rounds
	var different, negligible, equivalent, single []string
	open := map[string][]string{}    // by how many more rounds
	doubted := map[string][]string{} // by doubt
	var opens, doubts []string
	var a, c string
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		p := d.of(ph)
		if p == nil || p.Judged == nil {
			continue
		}
		a, c = p.Judged.A, p.Judged.B
		in := b.inPhaseName(&ph.Job)
		if p.Judged.Doubt != analysis.DoubtNone {
			key := string(p.Judged.Doubt)
			if doubted[key] == nil {
				doubts = append(doubts, key)
			}
			doubted[key] = append(doubted[key], in)
			continue
		}
		switch p.Judged.Judgement {
		case analysis.JudgeDifferent:
			different = append(different, fmt.Sprintf(m.differs, in, b.tenths(p.Tenths), b.intervalOf(p))+b.because(ph, a, c))
		case analysis.JudgeNegligible:
			negligible = append(negligible, in)
		case analysis.JudgeEquivalent:
			equivalent = append(equivalent, in)
		case analysis.JudgeInconclusive:
			text := m.openMany
			if n := p.Judged.MoreRounds; n != nil {
				text = fmt.Sprintf(m.openMore, b.int(int64(*n)))
			}
			if open[text] == nil {
				opens = append(opens, text)
			}
			open[text] = append(open[text], in)
		default:
			single = append(single, in)
		}
	}
	var says []string
	if len(different) > 0 {
		says = append(says, fmt.Sprintf(m.different, strings.Join(different, ", ")))
	}
	if len(negligible) > 0 {
		says = append(says, fmt.Sprintf(m.negligible, b.list(negligible)))
	}
	if len(equivalent) > 0 {
		says = append(says, fmt.Sprintf(m.equivalent, b.margin(analysis.MetricThroughput), b.list(equivalent)))
	}
	for _, text := range opens {
		says = append(says, fmt.Sprintf(m.open, b.list(open[text]))+": "+text)
	}
	for _, key := range doubts {
		says = append(says, fmt.Sprintf(m.doubted[key], b.list(doubted[key])))
	}
	if len(single) > 0 {
		says = append(says, fmt.Sprintf(m.single, b.list(single)))
	}
	if len(says) == 0 {
		return m.nothing
	}
	text := m.against
	if record.PlaceKind(a) == record.PlaceKind(c) {
		text = m.self
	}
	return fmt.Sprintf(text, b.shortPlace(b.rec, c), b.shortPlace(b.rec, a), strings.Join(says, "; "))
}

// splitSentence says what the greatest difference of the total is made of.
func (b *builder) splitSentence() string {
	var most *analysis.Phase
	for i := range b.res.Phases {
		l := &b.res.Phases[i].Loss
		if l.Total != nil && l.CPUs != nil && l.Container != nil && l.Total.Judged.Judgement == analysis.JudgeDifferent && l.Total.Shown() &&
			(most == nil || math.Abs(l.Total.Fraction) > math.Abs(most.Loss.Total.Fraction)) {
			most = &b.res.Phases[i]
		}
	}
	if most == nil {
		return ""
	}
	part := func(p *analysis.Part) string {
		return fmt.Sprintf(b.rounds.part, b.tenths(p.Tenths), b.intervalOf(p), b.judgedWord(p.Judged))
	}
	return fmt.Sprintf(b.rounds.split, upperFirst(b.inPhaseName(&most.Job)), part(most.Loss.CPUs), part(most.Loss.Container))
}

func (b *builder) judgedWord(c *analysis.Comparison) string {
	if c.Doubt != analysis.DoubtNone {
		return b.rounds.judged["doubted"]
	}
	return b.rounds.judged[string(c.Judgement)]
}

// because is what was seen beside a difference, in brackets; "" where nothing was.
func (b *builder) because(ph *analysis.Phase, a, c string) string {
	m := &b.rounds
	var says []string
	for _, e := range b.res.Explain(ph, a, c) {
		place := b.shortPlace(b.rec, e.Place)
		switch e.Kind {
		case analysis.ExplainCPUs:
			says = append(says, fmt.Sprintf(m.cpus, b.percent(e.Value), place))
		case analysis.ExplainCgroup:
			says = append(says, fmt.Sprintf(m.cgroup, place))
		case analysis.ExplainEngine:
			says = append(says, fmt.Sprintf(m.engine, place))
		case analysis.ExplainCPUTime:
			says = append(says, fmt.Sprintf(m.cpuTime, b.fixed(e.Value, 1), place))
		}
	}
	if len(says) == 0 {
		return ""
	}
	return " – " + strings.Join(says, ", ")
}

// judgements are all comparisons, and how the rounds went.
func (b *builder) judgements() []Block {
	m := &b.rounds
	t := Table{Columns: []Column{{b.detail.mode, true}, {m.metric, true}, {m.pair, true}, {m.ratio, false}, {m.interval, false}, {m.verdict, true}}}
	var f Facts
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		for j := range ph.Comparisons {
			c := &ph.Comparisons[j]
			interval := absent
			value := roundTenths(c.Ratio() - 1)
			if low, high, ok := c.Interval(0.95); ok {
				interval = b.between2(min(roundTenths(low-1), value), max(roundTenths(high-1), value))
			}
			word := b.judgedWord(c)
			if c.MoreRounds != nil && c.Doubt == analysis.DoubtNone {
				word = fmt.Sprintf(m.judgedMore, word, b.int(int64(*c.MoreRounds)))
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: b.modeAndSize(&ph.Job)}, {Text: b.metricName(c.Metric)},
				{Text: b.data(c.A) + "→" + b.data(c.B)}, {Text: b.tenths(value)}, {Text: interval}, {Text: word}}})
		}
		b.roundFacts(&f, ph)
	}
	blocks := []Block{f}
	if len(t.Rows) > 0 {
		blocks = []Block{t, f}
	}
	return blocks
}

func (b *builder) metricName(metric analysis.Metric) string {
	if name := b.rounds.metrics[string(metric)]; name != "" {
		return name
	}
	if metric == analysis.MetricP999 {
		return "p" + b.fixed(99.9, 1)
	}
	return string(metric)
}

// roundFacts say how the rounds of a phase went.
func (b *builder) roundFacts(f *Facts, ph *analysis.Phase) {
	m, r := &b.rounds, ph.Rounds
	if r == nil {
		return
	}
	name := b.phaseName(&ph.Job)
	text := name + ": " + fmt.Sprintf(m.valid, b.int(int64(r.Valid)), b.int(int64(r.Planned)))
	if r.CutNS > 0 {
		text += "; " + fmt.Sprintf(m.cut, b.seconds(r.CutNS))
	}
	if d := r.Drift; d != nil {
		text += "; " + fmt.Sprintf(m.drift, b.tenths(roundTenths(d.PerHour)), unit(clock(time.Duration(d.SpanNS)), "min"))
	}
	f.add(m.rounds, text)
	for _, v := range r.Void {
		why := m.reasons[string(v.Reason)]
		if why == "" {
			why = b.data(string(v.Reason))
		}
		if v.Place != "" {
			why += ", " + b.shortPlace(b.rec, v.Place)
		}
		f.add(m.void, fmt.Sprintf(m.voidRound, name, b.int(int64(b.rec.RoundOf(&b.rec.Rounds[v.Round])+1)), why))
	}
}
