package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// sentence writes a message with texts that all have to be there; "" otherwise.
func sentence(format string, texts ...string) string {
	args := make([]any, len(texts))
	for i, t := range texts {
		if t == "" {
			return ""
		}
		args[i] = t
	}
	return fmt.Sprintf(format, args...)
}

func (a *article) writeSystem() {
	a.add(Heading{a.m.system})
	h := &a.rec.Host
	var machine []string
	if h.CPUModel != "" {
		machine = append(machine, a.data(h.CPUModel)+" ("+a.cpuCount(len(h.CPUs))+")")
	}
	if h.MemoryBytes > 0 {
		machine = append(machine, fmt.Sprintf(a.m.memory, a.binary(h.MemoryBytes)))
	}
	if h.Board != nil {
		machine = append(machine, fmt.Sprintf(a.m.board, a.data(*h.Board)))
	}
	var os []string
	if h.PVE != nil {
		os = append(os, "Proxmox"+glue+"VE"+glue+a.data(*h.PVE))
	}
	for _, s := range []string{a.data(h.OS), strings.TrimSpace(a.detail.kernelRow + " " + a.data(h.Kernel))} {
		if s != "" && s != a.detail.kernelRow {
			os = append(os, s)
		}
	}
	drive := ""
	if len(a.rec.Target.Drives) > 0 {
		drive = a.driveDetail(&a.rec.Target.Drives[0])
	}
	container := ""
	if record.ContainerOf(a.rec.Plan.Places) != "" {
		container = a.containerLine(true)
	}
	stack := a.informer().stackLine(&a.rec.Target)
	a.say(sentence(a.m.host, a.list(machine)), sentence(a.m.hostOS, strings.Join(os, ", ")), sentence(a.m.driveIs, drive),
		sentence(a.m.fileIs, a.binary(a.rec.Plan.FileSize), a.data(a.rec.Target.Dir), stack), sentence(a.m.containerIs, container))
	a.add(Subheading{a.detail.storage}, a.storage())
	a.add(Fold{fmt.Sprintf(a.m.detailsOf, a.m.system), []Block{a.system()}})
	if len(a.rec.Places) > 0 {
		a.add(Fold{a.detail.containerHead, []Block{a.places()}})
	}
}

func (a *article) writeMethod() {
	p := &a.rec.Plan
	a.add(Heading{a.m.method})
	type setting struct{ depth, jobs int }
	var settings []setting
	var named, all []string
	for i := range p.Phases {
		j := &p.Phases[i]
		s := setting{j.IODepth, j.NumJobs}
		if !slices.Contains(settings, s) {
			settings = append(settings, s)
		}
		named = append(named, a.phaseName(j))
		all = append(all, fmt.Sprintf(a.m.settings, a.phaseName(j), strconv.Itoa(j.IODepth), strconv.Itoa(j.NumJobs)))
	}
	tests, same := a.list(all), ""
	if len(settings) == 1 {
		tests = a.list(named)
		same = fmt.Sprintf(a.m.allSettings, a.int(int64(settings[0].depth*max(settings[0].jobs, 1))), strconv.Itoa(settings[0].depth), strconv.Itoa(settings[0].jobs))
	}
	why := ""
	if slices.Contains(p.Places, record.PlacePinned) && record.ContainerOf(p.Places) != "" {
		why = fmt.Sprintf(a.m.splitWhy, a.placeName(a.rec, record.PlacePinned))
	}
	turns := ""
	switch {
	case len(p.Places) < 2:
	case p.Design != nil:
		turns = fmt.Sprintf(a.m.rounds, a.int(int64(p.Design.Rounds)))
	default:
		turns = sentence(a.m.order, a.order())
	}
	prefilled := ""
	if pre := a.rec.Prefill; pre != nil && pre.ElapsedNS > 0 {
		prefilled = fmt.Sprintf(a.m.prefilled, a.binary(pre.Bytes), unit(a.short(float64(pre.Bytes)/float64(pre.ElapsedNS)*1e3), "MB/s"))
	}
	a.say(fmt.Sprintf(a.m.testsAre, a.testCount(len(p.Phases)), tests), same, fmt.Sprintf(a.m.course, a.planLine(true)), turns, why, prefilled)
	a.add(Fold{fmt.Sprintf(a.m.detailsOf, a.m.method), []Block{a.method()}})
	if len(p.Places) > 1 { // of one place there are no differences
		rules := a.detail.rulesText
		if a.inRounds() {
			rules = a.rounds.rules
		}
		a.add(Fold{a.detail.rules, []Block{Paragraph{[]string{rules}}}})
	}
	if own := a.toolCommands(); len(own) > 0 {
		a.add(Subheading{a.jobs.commands})
		a.add(own[1:]...) // without its heading
	} else {
		a.add(Subheading{a.m.commands}, Paragraph{[]string{fmt.Sprintf(a.m.commandsNote, a.binary(p.FileSize))}})
		a.add(a.commands()...)
	}
}

// speeds are the places with a number each, those without one left out.
func (a *article) speeds(ph *analysis.Phase, of func(*analysis.Place) (iops, bytes *float64)) string {
	var parts []string
	for i := range ph.Places {
		p := &ph.Places[i]
		if iops, bytes := of(p); iops != nil && bytes != nil {
			parts = append(parts, fmt.Sprintf(a.m.placeSpeed, a.speedOf(&ph.Job, *iops, *bytes), a.shortPlace(a.rec, p.Name)))
		}
	}
	return a.list(parts)
}

func (a *article) writeResults() {
	if len(a.res.Phases) == 0 {
		return
	}
	a.add(Heading{a.m.results})
	var says []string
	for i := range a.res.Phases {
		ph := &a.res.Phases[i]
		// The mean of a load that the run itself ended depends on when it did.
		mean := ""
		if !loads(a.rec) {
			mean = a.speeds(ph, func(p *analysis.Place) (*float64, *float64) { return p.IOPS, p.BytesPerSec })
		}
		best := a.speeds(ph, func(p *analysis.Place) (*float64, *float64) { return p.MaxIOPS, p.MaxBytesPerSec })
		name := a.phaseName(&ph.Job)
		switch {
		case mean != "" && best != "":
			says = append(says, fmt.Sprintf(a.m.speedsBest, name, mean, best))
		case mean != "":
			says = append(says, fmt.Sprintf(a.m.speeds, name, mean))
		}
	}
	a.each(says)
	for _, b := range a.throughput() {
		// The names of the places stand above their tables.
		if p, ok := b.(Paragraph); ok && len(p.Lines) == 1 && p.Lines[0] != a.detail.throughputNote {
			b = Subheading{p.Lines[0]}
		}
		a.add(b)
	}
	if bs := a.good(); len(bs) > 0 {
		a.add(Subheading{a.compare.good})
		a.add(bs...)
	}
	effort := []Block{a.effort(), Paragraph{[]string{a.detail.effortNote}}}
	if text := a.merged(); text != "" {
		effort = append(effort, Paragraph{[]string{text}})
	}
	a.add(Fold{a.detail.effort, effort})
}

func (a *article) writeAnalysis() {
	if len(a.res.Phases) == 0 {
		return
	}
	a.add(Heading{a.m.analysis})
	var says []string
	for i := range a.res.Phases {
		if s := a.differenceSentence(&a.res.Phases[i]); s != "" {
			says = append(says, s)
		}
	}
	if len(a.rec.Plan.Places) < 2 {
		says = append(says, a.m.noDifference)
	}
	a.each(says)
	var lat []string
	for i := range a.res.Phases {
		ph := &a.res.Phases[i]
		var parts []string
		for k := range ph.Places {
			if p := &ph.Places[k]; p.Lat.P99 != nil {
				parts = append(parts, fmt.Sprintf(a.m.latencyAt, a.duration(float64(*p.Lat.P99)), a.shortPlace(a.rec, p.Name)))
			}
		}
		if s := sentence(a.m.latencies, a.phaseName(&ph.Job), a.list(parts)); s != "" {
			lat = append(lat, s)
		}
	}
	a.each(lat)
	a.say(a.busySentence(), a.dropsSentence())
	a.add(Subheading{a.detail.latency}, a.builder.latency(), Legend{[]string{a.detail.latencyNote}})
	if a.inRounds() {
		a.add(Fold{a.rounds.head, a.judgements()})
	}
	if bs := a.dropDetails(); len(bs) > 0 {
		a.add(Fold{a.drops.drops, bs})
	}
	if f := a.holdDetails(); len(f.Rows) > 0 {
		a.add(Fold{a.drops.holds, []Block{f}})
	}
}

// differenceSentence says what a phase lost, in the numbers of the table, and how
// sure that is; "" where nothing was compared.
func (a *article) differenceSentence(ph *analysis.Phase) string {
	columns := a.differences()
	if len(columns) == 0 {
		return ""
	}
	p := columns[0].of(ph)
	if p == nil {
		return fmt.Sprintf(a.m.notCompared, a.phaseName(&ph.Job))
	}
	first, second := record.PlaceHost, record.ContainerOf(a.rec.Plan.Places)
	switch {
	case p.Judged != nil:
		first, second = p.Judged.A, p.Judged.B
	case second == "":
		second = record.PlacePinned
	}
	text := a.partText(p)
	if l := &ph.Loss; len(columns) == 3 && l.CPUs != nil && l.Container != nil {
		text = fmt.Sprintf(a.m.parts, text, a.partText(l.CPUs), a.partText(l.Container))
	}
	return fmt.Sprintf(a.m.difference, a.phaseName(&ph.Job), a.shortPlace(a.rec, second), a.shortPlace(a.rec, first), text)
}

// partText is "-37.4 % [-37.5, -37.2] (different)".
func (a *article) partText(p *analysis.Part) string {
	word := a.m.unproven
	switch {
	case p.Judged != nil:
		word = a.judgedWord(p.Judged)
	case p.Shown():
		word = a.m.proven
	}
	if interval := a.intervalOf(p); interval != "" {
		return fmt.Sprintf(a.m.partOnly, a.tenths(p.Tenths), interval, word)
	}
	return fmt.Sprintf(a.m.part, a.tenths(p.Tenths), word)
}

// busySentence names the tests that used up the CPUs; "" where that is not known
// of all.
func (a *article) busySentence() string {
	var full []string
	for i := range a.res.Phases {
		ph := &a.res.Phases[i]
		var places []string
		for k := range ph.Places {
			p := &ph.Places[k]
			if p.CPUBusy == nil {
				return ""
			}
			if p.CPULimited {
				places = append(places, a.shortPlace(a.rec, p.Name))
			}
		}
		if len(places) > 0 {
			full = append(full, a.phaseName(&ph.Job)+" ("+strings.Join(places, "; ")+")")
		}
	}
	if len(full) == 0 {
		return a.m.notBusy
	}
	return fmt.Sprintf(a.m.busy, strings.Join(full, ", "))
}

func (a *article) dropsSentence() string {
	switch n := len(a.res.Drops); n {
	case 0, 1:
		return a.m.drops[strconv.Itoa(n)]
	default:
		return fmt.Sprintf(a.m.drops["n"], a.int(int64(n)))
	}
}

func (a *article) writeTemperature() {
	if len(a.res.Temperatures) == 0 {
		return
	}
	a.add(Heading{a.m.heat})
	degrees := func(mc int64) string { return unit(a.celsius(mc), "°C") }
	var says []string
	for _, t := range a.res.Temperatures {
		if t.Min == t.Max {
			says = append(says, fmt.Sprintf(a.m.sensorAlways, a.data(t.Sensor), degrees(t.Min)))
		} else {
			says = append(says, fmt.Sprintf(a.m.sensorFrom, a.data(t.Sensor), degrees(t.First), degrees(t.Min), degrees(t.Max)))
		}
	}
	for i := range a.rec.Target.Drives {
		if n := a.rec.Target.Drives[i].NVMe; n != nil {
			says = append(says, sentence(a.m.limits, a.thresholds(n)))
		}
	}
	if len(a.res.Heat) > 0 || loads(a.rec) && !a.fills() || hasRole(a.rec, record.RoleHot) {
		says = append(says, upperFirst(a.heatFinding()))
	} else if a.calm() {
		says = append(says, a.m.noHeat)
	} else if !slices.ContainsFunc(a.res.Warnings, func(w record.Warning) bool {
		return w.Code == record.WarnThrottled || w.Code == record.WarnCeiling
	}) && len(analysis.See(a.rec).Health) == 0 {
		says = append(says, a.m.tooShort)
	}
	a.say(says...)
	a.add(a.heatDetails()...)
	if bs := a.fillDetails(); len(bs) > 0 {
		a.add(Fold{a.drops.curveHead, bs})
	}
}

func (a *article) writeConclusion() {
	a.add(Heading{a.m.verdict}, Paragraph{[]string{a.verdict()}}, Paragraph{[]string{a.outcome()}})
	if len(a.rec.Notes) > 0 {
		var f Facts
		for _, k := range slices.Sorted(maps.Keys(a.rec.Notes)) {
			f.add(a.note(k, a.rec.Notes[k]))
		}
		a.add(Subheading{a.detail.notes}, f)
	}
}
