package report

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	fiojson "nativ/internal/fio/json"
	"nativ/internal/record"
)

func importedRecord(t *testing.T, name string) *record.Record {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "fio", "json", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := fiojson.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := fiojson.ToRecord(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	rec.Import.Files = []string{name}
	return rec
}

func TestImported(t *testing.T) {
	for name, file := range map[string]string{
		"old": "made-2.1.4.json", "ramp": "made-3.36.json", "clones": "fio-3.33-clones.json", "group": "made-3.42.json",
		"mixed": "fio-3.33-mixed.json", "failed": "made-3.18.json",
		"rwmix": "fio-3.33-rwmix.json", "verify": "fio-3.33-verify.json", "verify-mixed": "fio-3.33-verify-mixed.json",
	} {
		rec := importedRecord(t, file)
		golden(t, "imported-"+name+".en.txt", text(t, rec, Options{Lang: "en"}))
		golden(t, "imported-"+name+".details.de.txt", text(t, rec, Options{Lang: "de", Details: true}))
	}
	golden(t, "imported-group.de.md", markdown(t, importedRecord(t, "made-3.42.json"), Options{Lang: "de"}))
}

// TestImportedFits holds the width for names of any length.
func TestImportedFits(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "fio", "json", "testdata", "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fiojson.Parse(f)
		f.Close()
		if err != nil {
			continue // some are there to be refused
		}
		rec, err := fiojson.ToRecord(r, nil)
		if err != nil {
			continue
		}
		for _, long := range []bool{false, true} {
			if long {
				for i := range rec.Plan.Phases {
					renamePhase(rec, rec.Plan.Phases[i].Name, rec.Plan.Phases[i].Name+strings.Repeat("-and-so-on", 5)+strconv.Itoa(i))
				}
			}
			for _, lang := range Langs() {
				for line := range strings.SplitSeq(text(t, rec, Options{Lang: lang, Details: true}), "\n") {
					if n := utf8.RuneCountInString(line); n > Width {
						t.Errorf("%s %s (long names: %v): %d columns: %s", filepath.Base(file), lang, long, n, line)
					}
				}
			}
		}
	}
}

func renamePhase(rec *record.Record, old, name string) {
	for i := range rec.Plan.Phases {
		if rec.Plan.Phases[i].Name == old {
			rec.Plan.Phases[i].Name = name
		}
	}
	for i := range rec.Plan.Steps {
		if rec.Plan.Steps[i].Phase == old {
			rec.Plan.Steps[i].Phase = name
		}
	}
	for i := range rec.Import.Jobs {
		if rec.Import.Jobs[i].Phase == old {
			rec.Import.Jobs[i].Phase = name
		}
	}
	for i := range rec.Rounds {
		if rec.Rounds[i].Phase == old {
			rec.Rounds[i].Phase = name
		}
	}
	eachPass(rec, func(p *record.Pass) {
		if p.Phase == old {
			p.Phase = name
		}
	})
}

// A report of numbers that nativ did not measure claims nothing about the machine.
func TestImportedClaimsNothing(t *testing.T) {
	for _, lang := range Langs() {
		got := text(t, importedRecord(t, "fio-3.33-plain.json"), Options{Lang: lang, Details: true})
		m := catalogue(lang)
		for _, claim := range []string{m.cleaned, m.cleanPending, m.noTemperature, m.place[record.PlaceHost] + ","} {
			if strings.Contains(got, claim) {
				t.Errorf("%s: it says %q:\n%s", lang, claim, got)
			}
		}
	}
}

func TestEveryDoubtHasAText(t *testing.T) {
	for _, lang := range Langs() {
		m := catalogue(lang).imported.doubts
		for _, code := range fiojson.DiagCodes() {
			if m[code] == "" {
				t.Errorf("%s: %s has no text", lang, code)
			}
		}
		if len(m) != len(fiojson.DiagCodes()) {
			t.Errorf("%s: %d texts for %d codes", lang, len(m), len(fiojson.DiagCodes()))
		}
	}
}
