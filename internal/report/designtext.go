package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// designMessages are the texts about runs that are laid out for verdicts, and
// about runs that go on after they had ended early.
type designMessages struct {
	rounds, roundsText, spares, finds, findsText, findsNone string
	pilot, pilotText, pilotNone, pilotWrites                string
	void, voidAgain, voidOnly                               string
	resuming, resumed, resumedText, changed                 string
	resumeHint                                              string

	// of the method
	design, designText, margins, orders, order string
	pilotRow, pilotPhase                       string

	whatChanged map[string]string
}

var designEnglish = designMessages{
	rounds: "Rounds", roundsText: "%[1]s of each test, forth and back through the places, %[2]s between two passes; before them a short pilot and a discarded pass of each test",
	spares: ". Void rounds are measured again, at most %s of each test, which the time and the amount here allow for",
	finds:  "Finds", findsText: "differences of throughput from about %[1]s on where the drive is steady, %[2]s where it scatters; the pilot says more, after the start",
	findsNone: "no difference can be proven with %[1]s rounds of %[2]s: --rounds 8 is the least, or one test alone with 6",
	pilot:     "Pilot: differences of throughput that this run can expect to find are from about %s on.", pilotText: "%[1]s (%[2]s)", pilotNone: "any size only with more rounds", pilotWrites: "At its speed the run writes about %s.",
	void: "A round of %[1]s does not count: %[2]s.", voidAgain: "It is measured again.", voidOnly: "No spare round is left.",
	resuming: "Going on with run %[1]s; passes kept: %[2]s. The test file is written anew.",
	resumed:  "Resumed", resumedText: "on %[1]s, after it had ended early on %[2]s", changed: "; changed since: %s",
	resumeHint: "  measure the rest of it with: nativ bench --resume %s",

	design: "Design", designText: "%[1]s rounds of each test, half of them in each order, %[2]s between two passes, at most %[3]s replaced; passes that write end by bytes, as many as the discarded pass of the test moved in their time; %[4]s intervals, errors of the tests corrected after Holm",
	margins: "Margins", orders: "Orders", order: "Order",
	pilotRow: "Pilot", pilotPhase: "%[1]s: passes scatter by %[2]s, differences from about %[3]s on",
	whatChanged: map[string]string{"kernel": "kernel", "pve": "Proxmox VE", "bios": "BIOS", "governor": "CPU governor", "mount-options": "mount options"},
}

var designGerman = designMessages{
	rounds: "Runden", roundsText: "%[1]s je Test, hin und zurück durch die Orte, %[2]s zwischen zwei Durchgängen; davor ein kurzer Vorlauf und ein verworfener Durchgang je Test",
	spares: ". Ungültige Runden werden wiederholt, höchstens %s je Test, was Zeit und Menge hier einschließen",
	finds:  "Findet", findsText: "Unterschiede des Durchsatzes ab etwa %[1]s bei einem gleichmäßigen Laufwerk, ab %[2]s bei einem streuenden; der Vorlauf sagt es nach dem Start genauer",
	findsNone: "mit %[1]s Runden von %[2]s ist kein Unterschied nachweisbar: mindestens --rounds 8, oder 6 bei einem Test allein",
	pilot:     "Vorlauf: Unterschiede des Durchsatzes findet dieser Lauf voraussichtlich ab etwa %s.", pilotText: "%[1]s (%[2]s)", pilotNone: "jeder Größe nur mit mehr Runden", pilotWrites: "Bei dieser Geschwindigkeit schreibt der Lauf etwa %s.",
	void: "Eine Runde von %[1]s zählt nicht: %[2]s.", voidAgain: "Sie wird wiederholt.", voidOnly: "Es ist keine Ersatzrunde mehr übrig.",
	resuming: "Lauf %[1]s wird fortgesetzt; behaltene Durchgänge: %[2]s. Die Testdatei wird neu geschrieben.",
	resumed:  "Fortgesetzt", resumedText: "am %[1]s, nachdem er am %[2]s vorzeitig geendet hatte", changed: "; seitdem geändert: %s",
	resumeHint: "  den Rest davon messen mit: nativ bench --resume %s",

	design: "Versuchsplan", designText: "%[1]s Runden je Test, je zur Hälfte in jeder Reihenfolge, %[2]s zwischen zwei Durchgängen, höchstens %[3]s ersetzt; schreibende Durchgänge enden nach Bytes, so vielen wie der verworfene Durchgang des Tests in ihrer Zeit bewegte; Intervalle zu %[4]s, Fehler der Tests nach Holm korrigiert",
	margins: "Grenzen", orders: "Reihenfolgen", order: "Reihenfolge",
	pilotRow: "Vorlauf", pilotPhase: "%[1]s: Durchgänge streuen um %[2]s, Unterschiede ab etwa %[3]s",
	whatChanged: map[string]string{"kernel": "Kernel", "pve": "Proxmox VE", "bios": "BIOS", "governor": "CPU-Governor", "mount-options": "Mountoptionen"},
}

// smallShare is a fraction in percent, with a decimal where it is small.
func (s *speaker) smallShare(f float64) string {
	decimals := 1
	if f >= 0.0995 {
		decimals = 0
	}
	return unit(s.fixed(f*100, decimals), "%")
}

// designRows are those of a plan that is laid out for verdicts.
func (n *notes) designRows() []Fact {
	p, m := &n.rec.Plan, &n.plans.design
	d := p.Design
	if d == nil {
		return nil
	}
	text := fmt.Sprintf(m.roundsText, n.int(int64(d.Rounds)), n.seconds(d.GapNS))
	if len(p.Places) < 2 { // nothing is compared
		return []Fact{{m.rounds, text}}
	}
	if d.SpareRounds > 0 {
		text += fmt.Sprintf(m.spares, n.int(int64(d.SpareRounds)))
	}
	rows := []Fact{{m.rounds, text}}
	low := analysis.Smallest(analysis.TypicalSD[0], d.Rounds, len(p.Phases))
	high := analysis.Smallest(analysis.TypicalSD[1], d.Rounds, len(p.Phases))
	text = fmt.Sprintf(m.findsNone, n.int(int64(d.Rounds)), n.testCount(len(p.Phases)))
	if !math.IsInf(low, 1) {
		text = fmt.Sprintf(m.findsText, n.smallShare(low), n.smallShare(high))
	}
	return append(rows, Fact{m.finds, text})
}

// resumedRows say that a run was not done at one go.
func (n *notes) resumedRows() []Fact {
	var rows []Fact
	m := &n.plans.design
	for i := range n.rec.Resumed {
		r := &n.rec.Resumed[i]
		text := fmt.Sprintf(m.resumedText, n.data(r.At.Format(n.date)), n.data(r.EndedAt.Format(n.date)))
		var changes []string
		for _, c := range r.Changed {
			what := m.whatChanged[c.What]
			if what == "" {
				what = n.data(c.What)
			}
			changes = append(changes, what+" "+n.data(c.Before)+" → "+n.data(c.After))
		}
		if len(changes) > 0 {
			text += fmt.Sprintf(m.changed, strings.Join(changes, ", "))
		}
		rows = append(rows, Fact{m.resumed, text})
	}
	return rows
}

// designMethod says how a run was laid out for verdicts.
func (b *builder) designMethod(f *Facts) {
	p, m := &b.rec.Plan, &b.plans.design
	d := p.Design
	if d == nil {
		return
	}
	f.add(m.design, fmt.Sprintf(m.designText, b.int(int64(d.Rounds)), b.seconds(d.GapNS), b.int(int64(d.SpareRounds)), b.smallShare(d.Confidence)))
	var margins []string
	for _, metric := range analysis.Metrics() {
		margins = append(margins, string(metric)+" ±"+b.smallShare(analysis.MarginsOf(p)[metric]))
	}
	f.add(m.margins, strings.Join(margins, ", "))
	for _, pilot := range analysis.Pilots(b.rec) {
		f.add(m.pilotRow, fmt.Sprintf(m.pilotPhase, b.phaseName(&pilot.Job), b.smallShare(pilot.SD), b.smallest(pilot.Smallest)))
	}
}

func (s *speaker) smallest(v float64) string {
	if math.IsInf(v, 1) {
		return s.plans.design.pilotNone
	}
	return s.smallShare(v)
}

// roundOrders are the orders of the places that rounds have, numbered, and which
// of them each round of a phase had, such as "1221".
func (b *builder) roundOrders(f *Facts) {
	m := &b.plans.design
	var orders []string
	type round struct {
		phase string
		n     int
	}
	trips := map[round][]string{}
	var rounds []round
	for _, s := range b.rec.Plan.Steps {
		if s.Round == record.NoRound {
			continue
		}
		r := round{s.Phase, s.Round}
		if trips[r] == nil {
			rounds = append(rounds, r)
		}
		trips[r] = append(trips[r], s.Place)
	}
	var phases []string
	which := map[string]string{}
	for _, r := range rounds {
		o := b.data(strings.Join(trips[r], " "))
		if len(trips[r]) < 2*len(b.rec.Plan.Places) {
			continue // cut off, and measured again
		}
		i := slices.Index(orders, o)
		if i < 0 {
			i = len(orders)
			orders = append(orders, o)
		}
		if !slices.Contains(phases, r.phase) {
			phases = append(phases, r.phase)
		}
		which[r.phase] += strconv.Itoa(i + 1)
	}
	for i, o := range orders {
		f.add(m.order+glue+strconv.Itoa(i+1), o)
	}
	var texts []string
	for _, ph := range phases {
		texts = append(texts, b.data(ph)+glue+which[ph])
	}
	f.add(m.orders, strings.Join(texts, ", "))
}

// PilotLine is what a run says after its pilot: from which size on it can expect
// to find differences, test by test. "" where there is nothing to say.
func PilotLine(rec *record.Record, lang string) string {
	s := newSpeaker(lang, rec)
	m := &s.plans.design
	var parts []string
	for _, p := range analysis.Pilots(rec) {
		parts = append(parts, fmt.Sprintf(m.pilotText, s.smallest(p.Smallest), s.phaseName(&p.Job)))
	}
	if len(parts) == 0 || len(rec.Plan.Places) < 2 {
		return ""
	}
	text := fmt.Sprintf(m.pilot, s.list(parts))
	if n, ok := analysis.ExpectedWritten(rec); ok {
		text += " " + fmt.Sprintf(m.pilotWrites, s.bytes(n))
	}
	return plain(text)
}

// VoidLine says that a round does not count; why is the record's word for it.
func VoidLine(rec *record.Record, phase, why string, again bool, lang string) string {
	s := newSpeaker(lang, rec)
	m := &s.plans.design
	name := s.data(phase)
	if j := phaseByName(rec, phase); j != nil {
		name = s.phaseName(j)
	}
	what := m.voidOnly
	if again {
		what = m.voidAgain
	}
	if text := s.rounds.reasons[why]; text != "" {
		why = text
	}
	return plain(fmt.Sprintf(m.void, name, s.data(why)) + " " + what)
}

// Resuming says that a run goes on, and how many passes of before count.
func Resuming(rec *record.Record, kept int, lang string) string {
	s := newSpeaker(lang, rec)
	n := newNotes(s, rec, nil)
	text := fmt.Sprintf(s.plans.design.resuming, s.data(rec.ID), s.int(int64(kept)))
	if rows := n.resumedRows(); len(rows) > 0 {
		last := rows[len(rows)-1]
		text += "\n" + last.Label + ": " + last.Text
	}
	return plain(text)
}

// ResumeHint is said of a killed run that can go on.
func ResumeHint(id, lang string) string {
	return plain(fmt.Sprintf(newSpeaker(lang, nil).plans.design.resumeHint, id))
}
