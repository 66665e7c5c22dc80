package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	} {
		rec := importedRecord(t, file)
		golden(t, "imported-"+name+".en.txt", text(t, rec, Options{Lang: "en"}))
		golden(t, "imported-"+name+".details.de.txt", text(t, rec, Options{Lang: "de", Details: true}))
	}
	golden(t, "imported-group.de.md", markdown(t, importedRecord(t, "made-3.42.json"), Options{Lang: "de"}))
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
