package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/audit"
)

// auditWords are what an audit says beside its rules.
type auditWords struct {
	severity              map[audit.Severity]string
	title, rules, nothing string
	at, do, id            string
	count                 string
}

var auditSpeech = map[string]auditWords{
	"en": {
		severity: map[audit.Severity]string{audit.Error: "Error", audit.Warning: "Warning", audit.Info: "Info"},
		title:    "nativ audit", rules: "The rules of nativ audit", nothing: "Nothing found.",
		at: "In", do: "Do", id: "Rule", count: "Errors: %d. Warnings: %d. Notes: %d.",
	},
	"de": {
		severity: map[audit.Severity]string{audit.Error: "Fehler", audit.Warning: "Warnung", audit.Info: "Hinweis"},
		title:    "nativ audit", rules: "Die Regeln von nativ audit", nothing: "Nichts gefunden.",
		at: "In", do: "Tun", id: "Regel", count: "Fehler: %d. Warnungen: %d. Hinweise: %d.",
	},
}

func auditTexts(lang string) map[string]ruleText {
	if lang == "de" {
		return auditDE
	}
	return auditEN
}

// Audit makes the document of what an audit found in the files.
func Audit(files []string, found []audit.Finding, lang string) *Document {
	s := newSpeaker(lang, nil)
	w := auditSpeech[lang]
	d := &Document{Lang: lang}
	add := func(b ...Block) { d.Blocks = append(d.Blocks, b...) }
	var names []string
	for _, f := range files {
		names = append(names, s.data(f))
	}
	add(Title{Text: w.title + ": " + strings.Join(names, ", ")})
	var counts [3]int
	for i := range found {
		f := &found[i]
		counts[slices.Index([]audit.Severity{audit.Error, audit.Warning, audit.Info}, f.Severity)]++
		t := auditTexts(lang)[f.Rule]
		add(Heading{fmt.Sprintf("%s: %s", w.severity[f.Severity], t.title)})
		add(Paragraph{Lines: []string{s.sentence(t.cases[f.Case], f)}})
		where := strings.Join(f.Where, ", ")
		if len(files) > 1 {
			where = strings.TrimRight(f.File+": "+where, ": ")
		}
		rows := []Fact{}
		if where != "" {
			rows = append(rows, Fact{w.at, s.data(where)})
		}
		rows = append(rows, Fact{w.do, t.do}, Fact{w.id, f.Rule})
		add(Facts{Rows: rows, Tight: true})
	}
	if len(found) == 0 {
		add(Paragraph{Lines: []string{w.nothing}})
	} else {
		add(Paragraph{Lines: []string{fmt.Sprintf(w.count, counts[0], counts[1], counts[2])}})
	}
	return d
}

// AuditRules makes the document that explains rules.
func AuditRules(rules []audit.Rule, lang string) *Document {
	w := auditSpeech[lang]
	d := &Document{Lang: lang, Blocks: []Block{Title{Text: w.rules}}}
	for _, r := range rules {
		t := auditTexts(lang)[r.ID]
		var sev []string
		for _, v := range r.Severities {
			sev = append(sev, w.severity[v])
		}
		d.Blocks = append(d.Blocks, Heading{fmt.Sprintf("%s (%s): %s", r.ID, strings.Join(sev, ", "), t.title)},
			Paragraph{Lines: []string{t.why + " " + t.do}})
	}
	return d
}

// AuditSentence is what a finding says, in one line.
func AuditSentence(f *audit.Finding, lang string) string {
	return newSpeaker(lang, nil).sentence(auditTexts(lang)[f.Rule].cases[f.Case], f)
}

// WriteAudit prints an audit's document as text.
func WriteAudit(w io.Writer, d *Document, width int) error { return Text(w, d, width) }

var placeholder = regexp.MustCompile(`\{([a-z0-9]+):([a-z0-9]+)\}`)

// sentence puts the values of a finding into a text.
func (s *speaker) sentence(text string, f *audit.Finding) string {
	out := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		if m[2] == "s" {
			return s.data(f.Words[m[1]])
		}
		v, ok := f.Values[m[1]]
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			return absent
		}
		return s.auditForm(m[2], v)
	})
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(out), ", "))
}

// auditForm formats a value in base units.
func (s *speaker) auditForm(form string, v float64) string {
	switch form {
	case "n":
		return s.int(int64(math.Round(v)))
	case "num":
		return strings.TrimRight(strings.TrimRight(s.fixed(v, 3), "0"), ".,")
	case "mib":
		return unit(s.int(int64(math.Round(v/(1<<20)))), "MiB/s")
	case "gb":
		return unit(s.fixed(v/1e9, 2), "GB/s")
	case "bs":
		return blockSize(int64(v))
	case "signed":
		sign := "+"
		if v < 0 {
			sign = "-"
		}
		return sign + s.fixed(math.Abs(100*v), 1) + glue + "%"
	case "pct":
		return s.fixed(100*v, 0) + glue + "%"
	case "pct1":
		return s.fixed(100*v, 1) + glue + "%"
	case "factor":
		if v < 1 {
			return "1/" + strconv.FormatFloat(math.Round(1000/v)/1000, 'f', -1, 64)
		}
		return strings.TrimRight(strings.TrimRight(s.fixed(v, 3), "0"), ".,")
	case "time":
		return s.duration(v)
	case "c":
		return unit(s.fixed(v/1000, 1), "°C")
	case "bin":
		return s.binary(int64(v))
	}
	return absent
}
