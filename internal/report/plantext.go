package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"nativ/internal/record"
)

// planMessages are the texts about how a run goes: its steps, waits and limits,
// and what the user says of the drive.
type planMessages struct {
	steps, article, heat, fill       string
	atMost, waits, idle, coolDown    string
	ceiling, ceilingText, ownCeiling string
	wear, wearText                   string
	limits                           limitMessages

	waitIdle, waitPause, waitCool string
	ended, missing                map[string]string
	stopped                       string

	notes             string
	noteKeys, noteAsk map[string]string
	askIntro          string

	design designMessages
}

var planEnglish = planMessages{
	design: designEnglish, limits: limitsEnglish,

	steps:   "Steps",
	article: "a reader's test as it was printed: %s one after the other, each once, then all again in %s without letting the drive cool down",
	heat:    "each test loads the drive until it throttles or is steady (at most %[1]s), is probed briefly %[2]s times while it recovers, and loaded again after a pause of %[3]s",
	fill:    "the file is written once from start to end (at most %[1]s), then probed briefly %[2]s times after growing pauses",
	atMost:  "at most %s",
	waits:   "Waits", idle: "%s at rest before the start", coolDown: "before each test until the drive has cooled down, at most %s",
	ceiling: "Ceiling", ceilingText: "at %s (composite temperature) the run stops at once", ownCeiling: "at %s (the drive's own critical composite temperature) the run stops at once",
	wear: "Wear", wearText: "by its own count %[1]s %% of the drive's endurance are used so far and %[2]s written",

	waitIdle: "Leaving the drive at rest (%s)", waitPause: "Pause (%s)", waitCool: "Cooling down from %[1]s to %[2]s (at most %[3]s)",
	ended: map[string]string{
		record.EndMaxTemp: "stopped at the ceiling of temperature",
		record.EndPlateau: "steady",
		record.EndHealth:  "stopped: the drive gives alarm",
		record.EndReset:   "stopped: the kernel reset the drive",
		record.EndTarget:  "stopped: the drive or its file system is lost",
	},
	missing: map[string]string{
		record.MissingMaxTemp: "the ceiling of temperature ended the run",
		record.MissingHealth:  "the drive gave alarm, and the run ended",
		record.MissingReset:   "the kernel reset the drive, and the run ended",
		record.MissingTarget:  "the drive is gone or its file system full or read-only, and the run ended",
	},
	stopped: "Stopped",

	notes:    "Notes",
	noteKeys: map[string]string{"heatsink": "heatsink", "ambient": "ambient", "case": "case"},
	noteAsk: map[string]string{
		"heatsink": "Heatsink of the drive (none, board, ...): ",
		"ambient":  "Temperature of the room in °C: ",
		"case":     "Case and its fans: ",
	},
	askIntro: "Heat depends on what no sensor tells. Enter skips a question.",
}

var planGerman = planMessages{
	design: designGerman, limits: limitsGerman,

	steps:   "Schritte",
	article: "der Test eines Lesers wie gedruckt: %s nacheinander, jeder einmal, dann alles noch einmal in %s, ohne das Laufwerk abkühlen zu lassen",
	heat:    "jeder Test belastet das Laufwerk, bis es drosselt oder gleich bleibt (höchstens %[1]s), misst %[2]s-mal kurz, während es sich erholt, und belastet es nach einer Pause von %[3]s noch einmal",
	fill:    "die Datei wird einmal ganz geschrieben (höchstens %[1]s), dann %[2]s-mal nach wachsenden Pausen kurz beschrieben",
	atMost:  "höchstens %s",
	waits:   "Pausen", idle: "%s Ruhe vor dem Start", coolDown: "vor jedem Test, bis das Laufwerk abgekühlt ist, höchstens %s",
	ceiling: "Obergrenze", ceilingText: "bei %s (Composite-Temperatur) endet der Lauf sofort", ownCeiling: "bei %s (der kritischen Composite-Temperatur des Laufwerks selbst) endet der Lauf sofort",
	wear: "Abnutzung", wearText: "nach eigener Zählung sind bisher %[1]s\u00a0%% der Lebensdauer verbraucht und %[2]s geschrieben",

	waitIdle: "Laufwerk ruht (%s)", waitPause: "Pause (%s)", waitCool: "Abkühlen von %[1]s auf %[2]s (höchstens %[3]s)",
	ended: map[string]string{
		record.EndMaxTemp: "an der Obergrenze der Temperatur beendet",
		record.EndPlateau: "gleichbleibend",
		record.EndHealth:  "beendet: das Laufwerk schlägt Alarm",
		record.EndReset:   "beendet: der Kernel setzte das Laufwerk zurück",
		record.EndTarget:  "beendet: Laufwerk oder Dateisystem verloren",
	},
	missing: map[string]string{
		record.MissingMaxTemp: "die Obergrenze der Temperatur beendete den Lauf",
		record.MissingHealth:  "das Laufwerk schlug Alarm, der Lauf endete",
		record.MissingReset:   "der Kernel setzte das Laufwerk zurück, der Lauf endete",
		record.MissingTarget:  "das Laufwerk ist fort oder sein Dateisystem voll oder nur lesbar, der Lauf endete",
	},
	stopped: "Beendet",

	notes:    "Notizen",
	noteKeys: map[string]string{"heatsink": "Kühlkörper", "ambient": "Umgebung", "case": "Gehäuse"},
	noteAsk: map[string]string{
		"heatsink": "Kühlkörper des Laufwerks (keiner, vom Board, ...): ",
		"ambient":  "Temperatur des Raums in °C: ",
		"case":     "Gehäuse und seine Lüfter: ",
	},
	askIntro: "Hitze hängt von dem ab, was kein Sensor sagt. Enter überspringt eine Frage.",
}

// NoteKeys are the notes that are worth asking for where heat matters.
func NoteKeys() []string { return []string{"heatsink", "ambient", "case"} }

// NoteIntro says why notes are asked for, NoteQuestion asks for one of NoteKeys.
func NoteIntro(lang string) string         { return catalogue(lang).plans.askIntro }
func NoteQuestion(lang, key string) string { return catalogue(lang).plans.noteAsk[key] }

// Waiting is what a live line says of a wait: a cool-down where both temperatures
// (millidegrees Celsius) are known, else a pause, or the rest before the start.
func Waiting(lang string, left time.Duration, start bool, now, target *int64) string {
	s := newSpeaker(lang, nil)
	m := &s.plans
	switch {
	case now != nil && target != nil:
		return fmt.Sprintf(m.waitCool, unit(s.celsius(*now), "°C"), unit(s.celsius(*target), "°C"), clock(left))
	case start:
		return fmt.Sprintf(m.waitIdle, clock(left))
	}
	return fmt.Sprintf(m.waitPause, clock(left))
}

// EndedText says why the run itself ended a pass; by is one of the record.End
// constants.
func EndedText(by, lang string) string { return catalogue(lang).plans.ended[by] }

// note words a note: keys that everybody uses have a name in each language, and
// a bare number of the ambient is in degrees Celsius.
func (s *speaker) note(key, value string) (label, text string) {
	label, text = s.plans.noteKeys[key], s.data(value)
	if label == "" {
		label = s.data(key)
	}
	if v, err := strconv.ParseFloat(value, 64); err == nil && key == "ambient" && v > -100 && v < 200 {
		_, decimals, _ := strings.Cut(value, ".")
		text = unit(s.fixed(v, min(len(decimals), 2)), "°C")
	}
	return label, text
}

// noteLine is all notes of a record on one line.
func (s *speaker) noteLine(rec *record.Record) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(rec.Notes)) {
		label, text := s.note(k, rec.Notes[k])
		parts = append(parts, label+glue+text)
	}
	return strings.Join(parts, ", ")
}

// stepRows say how a run goes beside measuring each test in each place.
func (n *notes) stepRows(o PlanOptions, done bool) []Fact {
	p, m := &n.rec.Plan, &n.plans
	var rows []Fact
	if text := n.steps(p); text != "" {
		rows = append(rows, Fact{m.steps, text})
	}
	if done {
		for _, i := range n.rec.Incomplete {
			if text := m.missing[i.Code]; text != "" {
				rows = append(rows, Fact{m.stopped, fmt.Sprintf(n.detail.missingText, text, n.reason(i.Detail))})
			}
		}
		return append(rows, n.resumedRows()...)
	}
	rows = append(rows, n.designRows()...)
	var waits []string
	if p.IdleNS > 0 {
		waits = append(waits, fmt.Sprintf(m.idle, n.seconds(p.IdleNS)))
	}
	if p.CoolDownNS > 0 {
		waits = append(waits, fmt.Sprintf(m.coolDown, n.span(p.CoolDownNS)))
	}
	// A quick run waits seconds at most, which nobody has to plan for.
	if len(waits) > 0 && (p.IdleNS > 0 || p.CoolDownNS >= 10e9) {
		rows = append(rows, Fact{m.waits, strings.Join(waits, "; ")})
	}
	if p.MaxTempMC != nil {
		text := m.ceilingText
		if o.OwnCeiling {
			text = m.ownCeiling
		}
		rows = append(rows, Fact{m.ceiling, fmt.Sprintf(text, unit(n.degrees(*p.MaxTempMC), "°C"))})
	}
	return append(rows, n.wearRow(o.Health)...)
}

// steps words the order of the passes where each has a part of its own.
func (n *notes) steps(p *record.Plan) string {
	m := &n.plans
	count := map[string]int{}
	longest := map[string]*record.Step{}
	once := false
	for i := range p.Steps {
		s := &p.Steps[i]
		count[s.Role]++
		if l := longest[s.Role]; l == nil || s.RuntimeNS > l.RuntimeNS {
			longest[s.Role] = s
		}
		ph := phaseByName(n.rec, s.Phase)
		once = once || s.Role == record.RoleLoad && ph != nil && ph.Once
	}
	probes := 0
	if loads := count[record.RoleLoad]; loads > 0 {
		probes = count[record.RoleProbe] / loads
	}
	switch {
	case count[record.RoleHot] > 0:
		var names []string
		for _, place := range p.Places {
			names = append(names, n.shortPlace(n.rec, place))
		}
		return fmt.Sprintf(m.article, n.list(names), names[len(names)-1])
	case once:
		return fmt.Sprintf(m.fill, n.span(longest[record.RoleLoad].RuntimeNS), n.int(int64(probes)))
	case count[record.RoleLoad] > 0 && longest[record.RoleResume] != nil:
		return fmt.Sprintf(m.heat, n.span(longest[record.RoleLoad].RuntimeNS), n.int(int64(probes)), n.seconds(longest[record.RoleResume].PauseNS))
	}
	return ""
}

// degrees formats millidegrees with a decimal only where there is one.
func (s *speaker) degrees(mc int64) string {
	// Whole kelvins, as NVMe has them, end in .85; tools round those.
	if mc%1000 == 0 || mc%1000 == 850 {
		return s.celsius(mc)
	}
	return s.fixed(float64(mc)/1000, 1)
}

// ordinary reports whether a step is what the plan's line is about: one of many,
// or the load that the others belong to.
func ordinary(s *record.Step) bool { return s.Role == "" || s.Role == record.RoleLoad }

// span words a time that somebody waits for: "90 s", "15 min".
func (n *notes) span(ns int64) string {
	switch d := time.Duration(ns); {
	case d >= 2*time.Hour && d%time.Hour == 0:
		return unit(n.int(int64(d/time.Hour)), "h")
	case d >= 2*time.Minute && d%time.Minute == 0:
		return unit(n.int(int64(d/time.Minute)), "min")
	}
	return n.seconds(ns)
}
