package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// A story is drops of one phase in one place, over passes, that have the same
// causes: the first of each pass.
type story struct {
	drops []*analysis.Drop
}

// stories groups drops in the order of their first ones.
func (b *builder) stories() []story {
	var all []story
	for i := range b.res.Drops {
		d := &b.res.Drops[i]
		k := slices.IndexFunc(all, func(s story) bool {
			o := s.drops[0]
			return o.Phase == d.Phase && o.Place == d.Place && o.Role == d.Role && o.Stall == d.Stall && sameCauses(o, d) &&
				!slices.ContainsFunc(s.drops, func(x *analysis.Drop) bool { return x.Pass == d.Pass })
		})
		if k < 0 {
			all = append(all, story{})
			k = len(all) - 1
		}
		all[k].drops = append(all[k].drops, d)
	}
	return all
}

func sameCauses(a, b *analysis.Drop) bool {
	kinds := func(d *analysis.Drop) []analysis.CauseKind {
		var all []analysis.CauseKind
		for _, c := range d.Named() {
			all = append(all, c.Kind)
		}
		return all
	}
	return slices.Equal(kinds(a), kinds(b))
}

// dropDetails tells each story with its causes and their evidence.
func (b *builder) dropDetails() []Block {
	var blocks []Block
	for _, s := range b.stories() {
		blocks = append(blocks, b.tell(s))
	}
	if len(blocks) == 0 {
		return nil
	}
	return append(blocks, Paragraph{[]string{b.drops.dropsNote}})
}

func (b *builder) tell(s story) Facts {
	m := &b.drops
	d := s.drops[0]
	var f Facts
	ph := b.res.Phase(d.Phase)
	name := b.data(d.Phase)
	if ph != nil {
		name = b.phaseName(&ph.Job)
	}
	rate := func(v float64) string {
		switch {
		case d.InBytes:
			return unit(b.short(v/1e6), "MB/s")
		case ph != nil && !inIOPS(&ph.Job):
			return unit(b.short(v*float64(ph.Job.BlockSize)/1e6), "MB/s")
		}
		return unit(b.short(v), "IOPS")
	}
	where := b.shortPlace(b.rec, d.Place) + ", " + b.whichPasses(s)
	var text string
	if d.Stall {
		text = fmt.Sprintf(m.stalled, where, b.long(d.OnsetNS), b.long(d.UntilNS-d.OnsetNS))
	} else {
		text = fmt.Sprintf(m.dropText, where, b.long(d.OnsetNS), b.bytes(d.Bytes), rate(d.Before), rate(d.During), b.percent(d.Depth))
		length := b.long(d.UntilNS - d.OnsetNS)
		switch {
		case d.Cycles > 1:
			text += ", " + fmt.Sprintf(m.teeth, b.int(int64(d.Cycles)), length)
		case d.Recovered:
			text += ", " + fmt.Sprintf(m.lasted, length)
		default:
			text += ", " + m.toEnd
		}
	}
	f.add(name, text+".")
	sure := len(d.Causes) > 0 && d.Causes[0].Confidence == analysis.Decisive
	var alternatives []analysis.CauseKind
	var tests []analysis.Test
	for i := range d.Causes {
		c := &d.Causes[i]
		if sure && c.Confidence == analysis.Weak {
			alternatives = append(alternatives, c.Kind)
			continue
		}
		label := m.cause[string(c.Kind)]
		if label == "" {
			label = b.data(string(c.Kind))
		}
		text := b.evidence(c.Evidence)
		if c.Kind == analysis.CauseUnknown {
			label = upperFirst(label)
			if text == "" {
				text = m.unknownText
			} else {
				text = m.unknownText + "; " + text
			}
		} else {
			label = upperFirst(label) + " (" + m.confidence[string(c.Confidence)] + ")"
		}
		if against := b.evidence(c.Against); against != "" {
			text += "; " + against
		}
		f.add("  "+label, text+".")
		if !sure {
			tests = append(tests, c.Decide...)
		}
	}
	if len(alternatives) > 0 {
		f.add("  "+m.alternatives, upperFirst(b.causeList(alternatives))+".")
	}
	for i := range d.Excluded {
		c := &d.Excluded[i]
		f.add("  "+m.excluded, fmt.Sprintf(b.detail.missingText, upperFirst(m.cause[string(c.Kind)]), b.evidence(c.Against))+".")
	}
	var names []string
	for _, t := range tests {
		if t == analysis.TestPause && loads(b.rec) && !b.fills() {
			continue // this run has just done that
		}
		if name := m.test[string(t)]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		f.add("  "+m.decide, strings.Join(names, "; ")+".")
	}
	return f
}

// whichPasses names the passes of a story by what they were for.
func (b *builder) whichPasses(s story) string {
	m, d := &b.drops, s.drops[0]
	one, many := m.onePass[d.Role], m.manyPasses[d.Role]
	if one == "" {
		one, many = m.onePass[""], m.manyPasses[""]
	}
	of, number := 0, 0
	for i := range b.rec.Rounds {
		for j := range b.rec.Rounds[i].Passes {
			if p := &b.rec.Rounds[i].Passes[j]; p.Phase == d.Phase && p.Place == d.Place && p.Role == d.Role {
				if of++; p.Index == d.Pass {
					number = of
				}
			}
		}
	}
	if len(s.drops) > 1 || d.Role != "" && of > 1 {
		return fmt.Sprintf(many, b.int(int64(len(s.drops))), b.int(int64(of)))
	}
	if !strings.Contains(one, "%") {
		return one
	}
	return fmt.Sprintf(one, b.int(int64(number)))
}

// evidence words what speaks for or against a cause; what has no text here is of
// a later version and is left out.
func (b *builder) evidence(all []analysis.Evidence) string {
	var parts []string
	for _, e := range all {
		text := b.drops.evidence[string(e.Kind)]
		if text == "" {
			continue
		}
		format := func(v *float64, isWas bool) string {
			if v == nil {
				return b.unknown
			}
			return b.evidenceValue(e.Kind, *v, isWas)
		}
		source := b.data(e.Source)
		switch {
		case source == "":
			source = b.unknown
		case e.Kind == analysis.EvKernelLog && b.meanwhile.logKinds[source] != "":
			source = b.meanwhile.logKinds[source]
		}
		if was := strings.Index(text, " ("); e.Was == nil && was > 0 && strings.Contains(text[was:], "%[3]s") {
			text = text[:was] // what it was before is not known
		}
		if strings.Contains(text, "%") {
			value, was := format(e.Value, false), format(e.Was, true)
			if e.Kind == analysis.EvCeiling && value == was { // "104 °C", not "104 °C to 104 °C"
				text = strings.Replace(text, fmt.Sprintf(b.between, "%[3]s", "%[2]s"), "%[2]s", 1)
				text = strings.Replace(text, strings.ReplaceAll(fmt.Sprintf(b.between, "%[3]s", "%[2]s"), glue, " "), "%[2]s", 1)
			}
			text = fmt.Sprintf(text, source, value, was)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// evidenceValue formats one number of an evidence in the unit of its kind; was
// is the second of the two, which has a unit of its own in some.
func (b *builder) evidenceValue(kind analysis.EvidenceKind, v float64, was bool) string {
	celsius := func() string { return unit(b.celsius(int64(v)), "°C") }
	percent := func() string { return unit(b.percent(v), "%") }
	switch kind {
	case analysis.EvTMT: // light and heavy throttling may both count a second
		return unit(b.percent(min(v, 1)), "%")
	case analysis.EvCPUBusy, analysis.EvOtherUser, analysis.EvOnlyRandom, analysis.EvSameFall:
		return percent()
	case analysis.EvRecoveredCool, analysis.EvStaysSlow:
		if was {
			return celsius()
		}
		return percent()
	case analysis.EvThreshold, analysis.EvLead, analysis.EvCeiling, analysis.EvCycles, analysis.EvSameTemperature, analysis.EvFurtherStep,
		analysis.EvCoolSlow, analysis.EvHotFast, analysis.EvStuck:
		return celsius()
	case analysis.EvSharp:
		return b.long(max(int64(v), int64(time.Second))) // no better known
	case analysis.EvBytes, analysis.EvSameBytes, analysis.EvMoreBytes, analysis.EvCameBack:
		return b.bytes(int64(v))
	case analysis.EvFrequency:
		return unit(b.fixed(v/1e9, 1), "GHz")
	case analysis.EvDeviceBytes, analysis.EvLinkSpeed:
		return unit(b.short(v/1e6), "MB/s")
	case analysis.EvDeviceIOs:
		return unit(b.short(v), "IOPS")
	case analysis.EvPower:
		return unit(b.fixed(v, 1), "W")
	}
	return b.short(v)
}

// holdDetails names what slowed whole passes down, each cause once.
func (b *builder) holdDetails() Facts {
	m := &b.drops
	var f Facts
	type key struct {
		kind analysis.CauseKind
		conf analysis.Confidence
	}
	var order []key
	where := map[key][]record.Warning{}
	first := map[key]*analysis.Cause{}
	for i := range b.res.Holds {
		h := &b.res.Holds[i]
		k := key{h.Cause.Kind, h.Cause.Confidence}
		if first[k] == nil {
			first[k] = &h.Cause
			order = append(order, k)
		}
		where[k] = append(where[k], record.Warning{Phase: h.Phase, Place: h.Place})
	}
	for _, k := range order {
		text := fmt.Sprintf(b.detail.missingText, b.where(&note{warnings: where[k]}), b.evidence(first[k].Evidence))
		f.add(upperFirst(m.cause[string(k.kind)])+" ("+m.confidence[string(k.conf)]+")", text+".")
	}
	return f
}
