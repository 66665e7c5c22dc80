package report

import (
	"fmt"

	"nativ/internal/record"
)

// storageMessages are the texts about what lies between files and drives.
type storageMessages struct {
	taken               string // " (%s taken)"
	zeroed              string
	firstPlanned, first string // of the first write in a thin pool
	actions             map[string]string
	done                string

	effects effectMessages
}

var storageEnglish = storageMessages{
	taken: " (%s taken)", zeroed: " and fills it with zeros",
	firstPlanned: "The prefill does that and counts in no pass", first: "That did the prefill, with %s/s",
	actions: map[string]string{"resync": "resync", "recover": "recovery", "check": "check", "repair": "repair", "reshape": "reshape"},
	done:    ", %s done",
	effects: effectsEnglish,
}

var storageGerman = storageMessages{
	taken: " (%s belegt)", zeroed: " und füllt es mit Nullen",
	firstPlanned: "Das tut die Vorbefüllung und zählt in keinem Durchgang", first: "Das tat die Vorbefüllung, mit %s/s",
	actions: map[string]string{"resync": "Abgleich", "recover": "Wiederherstellung", "check": "Prüfung", "repair": "Reparatur", "reshape": "Umbau"},
	done:    ", %s fertig",
	effects: effectsGerman,
}

// storageNote words a footnote about what lies between file and drives; variant
// finds one of the texts of its code.
func (n *notes) storageNote(o *note, variant func(string) string) string {
	w, m := o.warnings[0], &n.storageWords
	word := func(k string) string {
		if v := n.data(w.Words[k]); v != "" {
			return v
		}
		return n.unknown
	}
	value := func(k string) float64 { return w.Values[k] }
	switch w.Code {
	case record.WarnThinPool:
		taken, chunk, zeroed, first := "", n.unknown, "", m.firstPlanned
		if share, ok := w.Values["taken"]; ok {
			taken = fmt.Sprintf(m.taken, unit(n.percent(share), "%"))
		}
		if c := value("chunk_bytes"); c > 0 {
			chunk = n.binary(int64(c))
		}
		if w.Words["zeroing"] == "yes" {
			zeroed = m.zeroed
		}
		if bps := value("first_bps"); bps > 0 {
			first = fmt.Sprintf(m.first, n.bytes(int64(bps)))
		}
		return fmt.Sprintf(variant(""), word("pool"), taken, chunk, zeroed, first)
	case record.WarnPoolUnknown:
		return fmt.Sprintf(n.warn[w.Code], word("pool"), n.reason(w.Words["reason"]))
	case record.WarnPoolKept:
		text := variant("")
		if w.Words["reason"] != "" {
			text = variant("reason")
		}
		return fmt.Sprintf(text, word("pool"), n.bytes(int64(value("kept_bytes"))), n.reason(w.Words["reason"]))
	case record.WarnRebuilding:
		action := m.actions[w.Words["action"]]
		if action == "" {
			action = word("action")
		}
		done := ""
		if share, ok := w.Values["done"]; ok {
			done = fmt.Sprintf(m.done, unit(n.percent(share), "%"))
		}
		return fmt.Sprintf(n.warn[w.Code], word("array"), action, done)
	case record.WarnDegraded:
		return fmt.Sprintf(n.warn[w.Code], word("array"), n.int(int64(value("missing"))))
	case record.WarnARC:
		return fmt.Sprintf(n.warn[w.Code], word("name"), n.bytes(int64(value("arc_bytes"))), sizeFlag(int64(value("want_bytes"))))
	case record.WarnRecord:
		mode := w.Words["mode"]
		if mode != "write" {
			mode = "read"
		}
		return fmt.Sprintf(variant(mode), n.where(o), n.binary(int64(value("record_bytes"))))
	}
	return fmt.Sprintf(n.warn[w.Code], word("name"), n.reason(w.Words["reason"]))
}

// sizeFlag is a size as --size takes it, rounded up to whole gibibytes.
func sizeFlag(bytes int64) string { return fmt.Sprintf("%dG", (bytes+1<<30-1)>>30) }
