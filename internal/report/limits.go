package report

import (
	"fmt"
	"strings"

	"nativ/internal/rating"
	"nativ/internal/record"
)

// limitMessages are the texts about what a run takes from a drive, and about the
// limits that the user sets.
type limitMessages struct {
	share, noRating, question, questionShare string
	counted, others, used                    string
	due, dueText, dueUnknown, dueMissing     string
	kinds                                    map[string]string // of record.Due
}

var limitsEnglish = limitMessages{
	share:    "this run takes at most %[1]s %% of the %[2]s that the maker rates",
	noRating: "the maker's rating is not known",
	question: "The plan may write %s. Write that much? [y/N] ", questionShare: "The plan may write %[1]s, %[2]s %% of the endurance that the maker rates. Write that much? [y/N] ",
	counted: "the drive itself counted %s", others: "of which %s by others and the file system", used: "and %[1]s %% → %[2]s %% used",
	due: "Scheduled", dueText: "%[1]s (%[2]s, %[3]s)", dueUnknown: "what is scheduled is not known (%s)", dueMissing: "more may be (%s)",
	kinds: map[string]string{"trim": "trim", "check": "check", "scrub": "scrub", "backup": "backup", "index": "index of file names"},
}

var limitsGerman = limitMessages{
	share:    "dieser Lauf kostet höchstens %[1]s\u00a0%% der %[2]s, die der Hersteller angibt",
	noRating: "die Angabe des Herstellers ist nicht bekannt",
	question: "Der Plan schreibt bis zu %s. So viel schreiben? [j/N] ", questionShare: "Der Plan schreibt bis zu %[1]s, %[2]s\u00a0%% der Lebensdauer nach Angabe des Herstellers. So viel schreiben? [j/N] ",
	counted: "das Laufwerk selbst zählte %s", others: "davon %s von anderen und vom Dateisystem", used: "und %[1]s\u00a0%% → %[2]s\u00a0%% verbraucht",
	due: "Geplant", dueText: "%[1]s (%[2]s, %[3]s)", dueUnknown: "was geplant ist, ist nicht bekannt (%s)", dueMissing: "vielleicht mehr (%s)",
	kinds: map[string]string{"trim": "Trim", "check": "Prüfung", "scrub": "Scrub", "backup": "Sicherung", "index": "Verzeichnis der Dateinamen"},
}

// WearQuestion asks for a plan that writes much; see Yes for the answer.
func WearQuestion(w rating.Wear, lang string) string {
	s := newSpeaker(lang, nil)
	m := &s.plans.limits
	if w.Share == nil {
		return fmt.Sprintf(m.question, s.bytes(w.Bytes))
	}
	return fmt.Sprintf(m.questionShare, s.bytes(w.Bytes), s.smallPercent(*w.Share))
}

// smallPercent formats a share that may be tiny, without its unit.
func (s *speaker) smallPercent(share float64) string {
	switch p := share * 100; {
	case p >= 10:
		return s.fixed(p, 0)
	case p >= 1:
		return s.fixed(p, 1)
	case p >= 0.1:
		return s.fixed(p, 2)
	default:
		return s.fixed(p, 3)
	}
}

// wearRow says what the plan takes from the drive's endurance, beside what is used.
func (n *notes) wearRow(h *record.Health) []Fact {
	p, m := &n.rec.Plan, &n.plans.limits
	var parts []string
	w, ok := rating.WearOf(&n.rec.Target, p.MaxWritten)
	if h != nil && p.MaxWritten > 0 {
		parts = append(parts, fmt.Sprintf(n.plans.wearText, n.int(h.PercentageUsed), n.bytes(h.WrittenBytes)))
	}
	switch {
	case !ok:
	case w.Share != nil:
		parts = append(parts, fmt.Sprintf(m.share, n.smallPercent(*w.Share), n.bytes(int64(w.TBW*1e12))))
	case h != nil:
		parts = append(parts, m.noRating)
	}
	if len(parts) == 0 {
		return nil
	}
	return []Fact{{n.plans.wear, strings.Join(parts, "; ")}}
}

// hostWrites is what the drive's own count says beside the test's: "", where it is
// not known.
func (b *builder) hostWrites() string {
	w, m := &b.res.Written, &b.plans.limits
	if w.Counted == nil {
		return ""
	}
	text := "; " + fmt.Sprintf(m.counted, b.bytes(*w.Counted))
	if o := w.Others(); o != nil && *o > w.Application/1000 {
		text += ", " + fmt.Sprintf(m.others, b.bytes(*o))
	}
	if w.UsedBefore != nil && w.UsedAfter != nil && *w.UsedAfter != *w.UsedBefore {
		text += " " + fmt.Sprintf(m.used, b.int(*w.UsedBefore), b.int(*w.UsedAfter))
	}
	return text
}

// dueRow names what the machine does to its drives by itself in the time of the
// run.
func (n *notes) dueRow() []Fact {
	t, m := &n.rec.Target, &n.plans.limits
	var parts []string
	for _, d := range t.Due {
		kind := m.kinds[d.Kind]
		if kind == "" {
			kind = n.data(d.Kind)
		}
		parts = append(parts, fmt.Sprintf(m.dueText, kind, n.data(d.Name), n.data(d.At.Local().Format(n.date))))
	}
	switch {
	case t.DueUnknown != "" && len(parts) > 0:
		parts = append(parts, fmt.Sprintf(m.dueMissing, n.reason(t.DueUnknown)))
	case t.DueUnknown != "":
		parts = append(parts, fmt.Sprintf(m.dueUnknown, n.reason(t.DueUnknown)))
	}
	if len(parts) == 0 {
		return nil
	}
	return []Fact{{m.due, strings.Join(parts, "; ")}}
}
