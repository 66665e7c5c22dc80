package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

var records = map[string]func() *record.Record{
	"healthy": healthy, "vm": smallVM, "incomplete": incomplete, "hostonly": hostOnly,
	"allcpus": allCPUs, "cached": cached, "network": network,
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, d)
	}
}

func text(t *testing.T, rec *record.Record, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, Build(rec, analysis.Compute(rec), o), Width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t *testing.T, rec *record.Record, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, Build(rec, analysis.Compute(rec), o)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, build := range records {
		for _, lang := range Langs() {
			rec := build()
			golden(t, name+"."+lang+".txt", text(t, rec, Options{Lang: lang}))
			golden(t, name+".details."+lang+".txt", text(t, rec, Options{Lang: lang, Details: true}))
			golden(t, name+"."+lang+".md", markdown(t, rec, Options{Lang: lang, Details: name == "healthy"}))
			var b bytes.Buffer
			o := PlanOptions{Lang: lang}
			if name == "healthy" {
				o.TemperatureMC = new(int64(41_000))
			}
			if err := Plan(&b, rec, o); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".plan."+lang+".txt", b.String())
		}
	}
}

// TestTextFits holds what every text report promises, whatever it says.
func TestTextFits(t *testing.T) {
	for name, build := range records {
		for _, lang := range Langs() {
			got := text(t, build(), Options{Lang: lang, Details: true})
			for i, line := range strings.Split(got, "\n") {
				if n := utf8.RuneCountInString(line); n > Width {
					t.Errorf("%s %s line %d has %d columns: %s", name, lang, i+1, n, line)
				}
				if strings.TrimRight(line, " \t") != line {
					t.Errorf("%s %s line %d ends in spaces: %q", name, lang, i+1, line)
				}
			}
			for _, bad := range []string{"%!", "NaN", "Inf", "-0,0", "-0.0", glue} {
				if strings.Contains(got, bad) {
					t.Errorf("%s %s contains %q", name, lang, bad)
				}
			}
			for _, r := range got {
				if !unicode.IsPrint(r) && r != '\n' {
					t.Errorf("%s %s contains %q", name, lang, r)
				}
			}
		}
	}
}
