package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/sim/simtest"
)

func simulate(t *testing.T, name, preset string) *record.Record {
	t.Helper()
	return simtest.Run(t, name, preset)
}

const bare = "samsung-9100-pro-2tb-bare"

// TestSimulatedGoldens are whole runs on drives that are known: one that
// throttles, and archetypes that have a small cache, no sensor, or lying ones.
func TestSimulatedGoldens(t *testing.T) {
	for _, c := range []struct {
		preset, model string
		markdown      bool
	}{
		{"quick", "samsung-9100-pro-2tb-large-heatsink", false},
		{"quick", "archetype-sata-no-sensor", false},
		{"article", bare, true},
		{"heat", bare, false},
		{"heat", "archetype-qlc-small-cache", false},
		{"heat", "archetype-binary-throttle-lying-sensors", false},
		{"fill", bare, false},
		{"fill", "archetype-qlc-small-cache", true},
	} {
		name := strings.TrimPrefix(c.model, "archetype-")
		t.Run(c.preset+" "+name, func(t *testing.T) {
			rec := simulate(t, c.model, c.preset)
			for _, lang := range Langs() {
				file := "sim-" + c.preset + "-" + name + "." + lang
				plain := text(t, rec, Options{Lang: lang})
				golden(t, file+".txt", plain)
				all := text(t, rec, Options{Lang: lang, Details: true})
				if c.model == bare || c.preset == "heat" {
					golden(t, strings.TrimSuffix(file, lang)+"details."+lang+".txt", all)
				}
				md := markdown(t, rec, Options{Lang: lang, Details: true})
				if c.markdown {
					golden(t, file+".md", md)
				}
				for i, line := range strings.Split(plain+all, "\n") {
					if n := utf8.RuneCountInString(line); n > Width {
						t.Errorf("%s line %d has %d columns: %s", lang, i+1, n, line)
					}
				}
				for _, bad := range []string{"%!", "NaN", "Inf", "\x00"} {
					if strings.Contains(plain+all+md, bad) {
						t.Errorf("%s: a report contains %q", lang, bad)
					}
				}
				var plan bytes.Buffer
				if err := Plan(&plan, rec, PlanOptions{Lang: lang}); err != nil {
					t.Fatal(err)
				}
				for form, got := range map[string]string{"text": plain, "details": all, "markdown": md, "plan": plan.String()} {
					if first, _, _ := strings.Cut(got, "\n"); !strings.Contains(first, "SIMULATED") {
						t.Errorf("%s %s begins with %q", lang, form, first)
					}
				}
			}
		})
	}
}

// TestArticleReadsLikeTheTest has what the reader's test had, cold and hot, and
// what it could not say.
func TestArticleReadsLikeTheTest(t *testing.T) {
	rec := simulate(t, bare, "article")
	res := analysis.Compute(rec)
	d := Build(rec, res, Options{Lang: "en"})
	var best, heat *Table
	for _, b := range d.Blocks {
		if table, ok := b.(Table); ok {
			switch head := table.Columns[0].Head; {
			case head == dropsEnglish.best:
				best = &table
			case strings.HasPrefix(head, dropsEnglish.heat):
				heat = &table
			}
		}
	}
	if best == nil || len(best.Columns) != 4 || len(best.Rows) != 4 {
		t.Fatalf("the table of best seconds is %+v", best)
	}
	if heat == nil || len(heat.Rows) != 4 {
		t.Fatalf("the table of heat is %+v", heat)
	}
	if !strings.HasSuffix(heat.Columns[0].Head, "LXC") {
		t.Errorf("the heat is of %q and not of the container", heat.Columns[0].Head)
	}
	for _, code := range []string{record.WarnOrder, record.WarnSinglePass, record.WarnSameOffsets, record.WarnRewritten, record.WarnThrottled, record.WarnOtherSensor} {
		if !slices.ContainsFunc(res.Warnings, func(w record.Warning) bool { return w.Code == code }) {
			t.Errorf("the weakness %s is not named", code)
		}
	}
	if !slices.Contains(res.Verdict.Reserves, analysis.ReserveHeat) {
		t.Error("the verdict does not say that heat is in the comparison")
	}
}
