package report

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nativ/internal/audit"
	"nativ/references"
)

// Every rule has all of its texts in both languages, which take the same values.
func TestAuditTexts(t *testing.T) {
	forms := regexp.MustCompile(`^(s|n|num|mib|gb|bs|signed|pct|pct1|factor|time|c|bin)$`)
	for _, r := range audit.Rules() {
		var taken [2][]string
		for i, texts := range []map[string]ruleText{auditEN, auditDE} {
			text, ok := texts[r.ID]
			if !ok || text.title == "" || text.why == "" || text.do == "" {
				t.Errorf("%s: a text is missing: %+v", r.ID, text)
			}
			if got := slices.Sorted(maps.Keys(text.cases)); !slices.Equal(got, slices.Sorted(slices.Values(r.Cases))) {
				t.Errorf("%s: texts for cases %q, the rule has %q", r.ID, got, r.Cases)
			}
			for _, c := range slices.Sorted(maps.Keys(text.cases)) {
				sentence := text.cases[c]
				if !strings.HasSuffix(sentence, ".") && !strings.HasSuffix(sentence, "}") {
					t.Errorf("%s %q: %q is no sentence", r.ID, c, sentence)
				}
				all := placeholder.FindAllStringSubmatch(sentence, -1)
				if strings.Count(sentence, "{") != len(all) {
					t.Errorf("%s %q: %q has a brace that is no value", r.ID, c, sentence)
				}
				var names []string
				for _, m := range all {
					if !forms.MatchString(m[2]) {
						t.Errorf("%s %q: there is no form %q", r.ID, c, m[2])
					}
					names = append(names, m[0])
				}
				slices.Sort(names)
				taken[i] = append(taken[i], c+": "+strings.Join(names, " "))
			}
		}
		if !slices.Equal(taken[0], taken[1]) {
			t.Errorf("%s takes\n%q in English and\n%q in German", r.ID, taken[0], taken[1])
		}
	}
	for id := range maps.Keys(auditEN) {
		if _, ok := audit.RuleByID(id); !ok {
			t.Errorf("there are texts for %s, which is no rule", id)
		}
	}
}

func TestAuditGolden(t *testing.T) {
	b, _ := references.File("9100pro-pve9")
	s, err := audit.FromTable("9100pro-pve9.json", b)
	if err != nil {
		t.Fatal(err)
	}
	found := audit.Check(s)
	for i := range found {
		for _, lang := range Langs() {
			if text := AuditSentence(&found[i], lang); text == "" || strings.ContainsAny(text, "{}") || strings.Contains(text, absent) {
				t.Errorf("%s: %+v is said as %q", lang, found[i], text)
			}
		}
	}
	for _, lang := range Langs() {
		var text bytes.Buffer
		if err := Text(&text, Audit([]string{"9100pro-pve9.json"}, found, lang), Width); err != nil {
			t.Fatal(err)
		}
		golden(t, "audit."+lang+".txt", text.String())
	}
}
