package report

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nativ/internal/analysis"
)

func TestBBCode(t *testing.T) {
	rec := healthy()
	for _, lang := range Langs() {
		var b bytes.Buffer
		if err := BBCode(&b, Build(rec, analysis.Compute(rec), Options{Lang: lang})); err != nil {
			t.Fatal(err)
		}
		golden(t, "healthy."+lang+".bbcode", b.String())
		if open, closed := strings.Count(b.String(), "[CODE]"), strings.Count(b.String(), "[/CODE]"); open != closed || open == 0 {
			t.Errorf("%d [CODE], %d [/CODE]", open, closed)
		}
	}
}

// What comes from a drive or a user opens and closes no tag.
func TestBBCodeHostile(t *testing.T) {
	const evil = "[/CODE][url=javascript:x]y[/url][/code]"
	d := &Document{Blocks: []Block{
		Title{Text: evil}, Facts{Rows: []Fact{{"Drive", evil}}}, Table{Columns: []Column{{Head: evil}}, Rows: []Row{{Cells: []Cell{{Text: evil}}}}},
		Paragraph{Lines: []string{evil}}, Footnotes{Items: []string{evil}}, Command{Line: evil},
	}}
	var b bytes.Buffer
	if err := BBCode(&b, d); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if regexp.MustCompile(`\[/?url`).MatchString(regexp.MustCompile(`(?s)\[CODE\].*?\[/CODE\]`).ReplaceAllString(text, "")) {
		t.Errorf("a tag is left outside of CODE:\n%s", text)
	}
	if n := len(regexp.MustCompile(`(?i)\[/code\]`).FindAllString(text, -1)); n != strings.Count(text, "[CODE]") {
		t.Errorf("CODE is closed %d times and opened %d times:\n%s", n, strings.Count(text, "[CODE]"), text)
	}
}

func TestCSV(t *testing.T) {
	rec := healthy()
	rec.Rounds[0].Passes[0].Phase = "a, \"b\"\nc"
	var b bytes.Buffer
	if err := CSV(&b, rec); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ios, passes, seconds := map[string]string{}, map[string]bool{}, 0
	for i, r := range rows {
		if len(r) != len(csvHead) {
			t.Fatalf("row %d has %d columns", i, len(r))
		}
		if i == 0 {
			continue
		}
		if _, err := strconv.ParseFloat(r[11], 64); err != nil {
			t.Errorf("row %d: value %q", i, r[11])
		}
		passes[r[6]] = true
		if r[8] != "" {
			seconds++
		} else if r[9] == "read ios" {
			ios[r[6]] = r[11]
		}
	}
	n, want := 0, 0
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[k]
			n++
			want += len(p.Intervals)
			if f := p.Outcome.Read; f != nil && ios[strconv.Itoa(p.Index)] != strconv.FormatInt(f.IOs, 10) {
				t.Errorf("pass %d: %q I/Os, the record has %d", p.Index, ios[strconv.Itoa(p.Index)], f.IOs)
			}
		}
	}
	if len(passes) != n || seconds < want {
		t.Errorf("%d passes and %d rows of seconds, the record has %d passes and %d seconds", len(passes), seconds, n, want)
	}
	if rows[1][2] != "a, \"b\"\nc" {
		t.Errorf("a name became %q", rows[1][2])
	}
}
