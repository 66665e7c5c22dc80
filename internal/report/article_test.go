package report

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

func articleOf(t *testing.T, rec *record.Record, lang string) (*Document, string) {
	t.Helper()
	d := BuildArticle(rec, analysis.Compute(rec), Options{Lang: lang})
	var b bytes.Buffer
	if err := Markdown(&b, d); err != nil {
		t.Fatal(err)
	}
	return d, b.String()
}

func TestArticleGolden(t *testing.T) {
	for _, name := range []string{"healthy", "hostonly"} {
		for _, lang := range Langs() {
			_, md := articleOf(t, records[name](), lang)
			golden(t, name+".article."+lang+".md", md)
		}
	}
}

// headings of a document, in order.
func headings(d *Document) []string {
	var all []string
	for _, b := range d.Blocks {
		if h, ok := b.(Heading); ok {
			all = append(all, h.Text)
		}
	}
	return all
}

// Whatever is missing in a record: every text is finished, nothing is said twice in
// different words, and the order is the one that readers know.
func TestArticleOfEveryRecord(t *testing.T) {
	for name, build := range records {
		for _, lang := range Langs() {
			rec := build()
			d, md := articleOf(t, rec, lang)
			if strings.Contains(md, "%!") || strings.Contains(md, "%s") || strings.Contains(md, "%[") {
				t.Errorf("%s.%s: a text is not finished:\n%s", name, lang, md)
			}
			if strings.Contains(md, "..\n") || strings.Contains(md, ".. ") || strings.Contains(md, "():") {
				t.Errorf("%s.%s: a sentence has no end, or two", name, lang)
			}
			m := &catalogue(lang).article
			want := []string{m.system, m.method, m.results, m.analysis, m.heat, m.verdict, m.notes, m.data}
			at := -1
			for _, h := range headings(d) {
				if k := slices.Index(want, h); k >= 0 {
					if k <= at {
						t.Errorf("%s.%s: the headings are in the order %v", name, lang, headings(d))
					}
					at = k
				}
			}
			if at != len(want)-1 {
				t.Errorf("%s.%s ends with %v", name, lang, headings(d))
			}
			// The verdict is on the first screen and at the end, in the same words.
			b := &builder{notes: newNotes(newSpeaker(lang, rec), rec, nil), res: new(analysis.Result)}
			*b.res = analysis.Compute(rec)
			if n := strings.Count(md, escape(b.verdict())); n != 2 {
				t.Errorf("%s.%s: the verdict stands %d times", name, lang, n)
			}
		}
	}
}

// Each difference in a sentence stands in the table of differences, too, wherever
// that has the test in a row of its own.
func TestArticleAgreesWithTables(t *testing.T) {
	rec := healthy()
	d, _ := articleOf(t, rec, "en")
	table := map[string]string{}
	said := 0
	for _, b := range d.Blocks {
		switch b := b.(type) {
		case Table:
			if strings.HasPrefix(b.Columns[0].Head, "Difference") {
				for _, r := range b.Rows {
					table[strings.Join(strings.Fields(r.Cells[0].Text), " ")] = strings.TrimLeft(r.Cells[1].Text, "~≈")
				}
			}
		case Paragraph:
			for _, l := range b.Lines {
				m := regexp.MustCompile(`^(.*?), LXC against Host: (\S+?)\x{a0}%`).FindStringSubmatch(l)
				if m == nil {
					continue
				}
				if want, ok := table[strings.ReplaceAll(m[1], glue, " ")]; ok {
					said++
					if m[2] != want {
						t.Errorf("%s: %s in the sentence, %s in the table", m[1], m[2], want)
					}
				}
			}
		}
	}
	if said == 0 {
		t.Fatal("no sentence was compared")
	}
}

// What is imported or has jobs keeps its own report, and gets charts.
func TestArticleOfOthers(t *testing.T) {
	rec := healthy()
	rec.Import = &record.Import{}
	d, md := articleOf(t, rec, "en")
	if !slices.Contains(headings(d), english.article.courses) || strings.Contains(md, "%!") {
		t.Errorf("an import has the sections %v", headings(d))
	}
	charts := 0
	for _, b := range d.Blocks {
		if _, ok := b.(*Chart); ok {
			charts++
		}
	}
	if charts == 0 {
		t.Error("an import has no chart")
	}
}
