package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// some stand for built assets.
var some = assets{script: "/* charts */", style: "/* charts */\n", licence: "MIT & more"}

// every has each block that a document can have; s stands in every text of it.
func every(lang, s string) *report.Document {
	half := 0.5
	chart := &report.Chart{
		ID: "time", Kind: report.ChartLines, Lang: lang, Title: s + "C", Subtitle: s, Alt: s, Notes: []string{s}, Simulated: "SIMULATED: " + s, Citation: s,
		X: report.Axis{Label: s, Quantity: report.QuantityTime, Scale: report.ScaleLinear, Max: 4e9, Ticks: []report.Tick{{Value: 0, Label: s}}, Units: []report.Unit{{Name: "s", Factor: 1e-9}}},
		Panels: []report.Panel{{
			Y: report.Axis{Label: s, Quantity: report.QuantityThroughput, Scale: report.ScaleLinear, Max: 2e9, Units: []report.Unit{{Name: "MB/s", Factor: 1e-6}, {Name: "IOPS", Factor: 1, PerBlock: true}}},
			Series: []report.Series{{Name: s, BlockSize: 4096, Parts: []report.Part{
				{Name: s, Points: []report.Point{{X: 1e9, Y: 1e9, Low: &half, High: &half, Label: s}, {X: 2e9, Y: 1.5e9}}}, {Points: []report.Point{{X: 4e9, Y: 1e9}}},
			}}},
			Marks: []report.Mark{{Kind: report.MarkLimit, From: 1e9, To: 1e9, Label: s, Short: s}},
		}},
		Marks: []report.Mark{{Kind: report.MarkPhase, To: 4e9, Label: s, Short: s}},
		Data:  report.Table{Columns: []report.Column{{Head: s, Left: true}}, Rows: []report.Row{{Cells: []report.Cell{{Text: s}}}}},
	}
	return &report.Document{Lang: lang, Simulated: s, Blocks: []report.Block{
		report.Title{Text: s, Right: s},
		report.Finding{Text: s + "\u00a0[1]"},
		report.Table{
			Columns: []report.Column{{Head: s, Left: true}, {Head: s}, {Head: "bar", Left: true}},
			Rows: []report.Row{
				{Cells: []report.Cell{{Text: s + "    4K"}, {Text: s}, {Text: "██"}}, Notes: "[1-2]"},
				{Cells: []report.Cell{{Text: s}, {Text: s, Span: 2}}},
			},
		},
		report.Legend{Lines: []string{s}},
		report.Facts{Rows: []report.Fact{{Label: s, Text: s}, {Label: s, Text: "again"}, {Label: " ", Text: "and again"}}},
		report.Heading{Text: s}, report.Paragraph{Lines: []string{s + "\u00a0[2,9]"}}, chart,
		report.Heading{Text: "Charts"}, chart, chart,
		report.Heading{Text: s}, report.Subheading{Text: s}, report.Command{Line: s},
		report.Fold{Title: s, Blocks: []report.Block{report.Paragraph{Lines: []string{s}}}},
		report.Footnotes{Items: []string{s, s, s}},
	}}
}

func pageOf(t *testing.T, d *report.Document, a assets) string {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b, d, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var picture = regexp.MustCompile(`(?s)<svg.*?</svg>`)

func TestGolden(t *testing.T) {
	for _, lang := range report.Langs() {
		for name, a := range map[string]assets{"page": some, "static": {}} {
			got := pageOf(t, every(lang, "Text"), a)
			// The pictures are internal/report/plot's, style and script are files.
			got = picture.ReplaceAllString(got, "<svg></svg>")
			got = strings.Replace(got, pageStyle, "", 1)
			got = strings.Replace(got, pageScript, "", 1)
			got = regexp.MustCompile(`sha256-[^']*`).ReplaceAllString(got, "sha256-")
			path := filepath.Join("testdata", name+"."+lang+".html")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, d)
			}
		}
	}
}

// A plain go build has only the placeholder, and its pages show pictures without
// any script for them; a build with all files has both.
func TestWithAndWithoutAssets(t *testing.T) {
	none := readAssets(fstest.MapFS{"README.md": {}})
	if none != (assets{}) {
		t.Fatalf("assets out of nothing: %v", none)
	}
	part := readAssets(fstest.MapFS{"charts.js": {Data: []byte("x")}, "charts.css": {Data: []byte("y")}})
	if part != (assets{}) {
		t.Error("assets without uPlot's licence")
	}
	all := readAssets(fstest.MapFS{"charts.js": {Data: []byte("x")}, "charts.css": {Data: []byte("y")}, "LICENSE-uplot.txt": {Data: []byte("z")}})
	static, live := pageOf(t, every("en", "Text"), none), pageOf(t, every("en", "Text"), all)
	if !strings.Contains(static, `<div class="static"><svg`) || strings.Contains(static, "<noscript>") || strings.Contains(static, `id="data"`) {
		t.Error("a page without assets does not simply show its pictures")
	}
	if n := strings.Count(live, `<noscript><div class="static"><svg`); n != 3 {
		t.Errorf("%d of 3 charts have a picture for readers without scripts", n)
	}
	for _, want := range []string{`id="data"`, "<pre>z</pre>", "x</script>", "y</style>"} {
		if !strings.Contains(live, want) {
			t.Errorf("a page with assets has no %s", want)
		}
	}
}

// The script of a page is the one that its policy allows, and ends only at its end.
func TestScriptIsTheAllowedOne(t *testing.T) {
	all := []assets{{}, some}
	if a := built(); a.script != "" {
		all = append(all, a)
	}
	for _, a := range all {
		p := pageOf(t, every("en", "Text"), a)
		scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(p, -1)
		if len(scripts) != 1 {
			t.Fatalf("%d scripts", len(scripts))
		}
		sum := sha256.Sum256([]byte(scripts[0][1]))
		if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(p, want) {
			t.Error("the policy allows another script")
		}
		if strings.Contains(scripts[0][1], "<!--") || strings.Contains(strings.ToLower(scripts[0][1]), "<script") {
			t.Error("the script would change how the page is read")
		}
	}
}

var loaded = regexp.MustCompile(`(?i)(?:\b(?:src|href|action|data|poster|srcset|xlink:href)="([^"]*)")|url\(([^)]*)\)|@import`)

// Nothing of a page is elsewhere.
func TestAsksForNothing(t *testing.T) {
	a := built()
	if a.script == "" {
		a = some
	}
	p := pageOf(t, every("de", "Text"), a)
	links := loaded.FindAllStringSubmatch(p, -1)
	if len(links) == 0 {
		t.Fatal("no link was looked at")
	}
	for _, m := range links {
		if to := m[1] + m[2]; !strings.HasPrefix(to, "#") && !strings.HasPrefix(to, "data:") {
			t.Errorf("the page asks for %s", m[0])
		}
	}
}

// Footnotes and what refers to them know each other.
func TestFootnotesAreLinkedBothWays(t *testing.T) {
	p := pageOf(t, every("en", "Text"), assets{})
	for _, id := range []string{"ref1", "ref2", "fn1", "fn2", "fn3"} {
		if n := strings.Count(p, fmt.Sprintf(`id="%s"`, id)); n != 1 {
			t.Errorf("id %s is there %d times", id, n)
		}
	}
	for _, link := range []string{`href="#fn1"`, `href="#fn2"`, `href="#ref1"`, `href="#ref2"`} {
		if !strings.Contains(p, link) {
			t.Errorf("no %s", link)
		}
	}
	// [2,9]: there is no footnote 9, so this is no reference. Nothing refers to 3.
	if !strings.Contains(p, "[2,9]") || strings.Contains(p, `href="#ref3"`) || strings.Contains(p, `href="#fn9"`) {
		t.Error("a reference to a footnote that is not there")
	}
}

// tags are the elements of a page with the names of their attributes, without those
// of pictures, whose lines depend on how wide texts are.
func tags(p string) []string {
	p = picture.ReplaceAllString(p, "<svg>")
	p = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>`).ReplaceAllString(p, "<script>")
	values := regexp.MustCompile(`="[^"<>]*"`)
	var all []string
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(p, -1) {
		all = append(all, values.ReplaceAllString(tag, "="))
	}
	return all
}

var hostile = []string{
	`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'"onmouseover=alert(1) x="`, `<!--`, `]]>`, `</style></svg></noscript>`,
	"\u2028\u2029", `&lt;b&gt;&#x3c;b>`, `javascript:alert(1)`, "\x00\x1b[31m\u202e", `{{.}}`, `${alert(1)}`, "\xff\xfe",
}

func FuzzTextIsInert(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	// "C" makes the title of a chart another one than its section's.
	want := map[string][]string{}
	for _, lang := range report.Langs() {
		var b bytes.Buffer
		if err := render(&b, every(lang, "x"), some); err != nil {
			f.Fatal(err)
		}
		want[lang] = tags(b.String())
	}
	f.Fuzz(func(t *testing.T, s string) {
		// Lines and columns of text, references and bars are structure.
		s = "x" + strings.NewReplacer("\t", "", "\n", "", "\r", "", "\u00a0", "").Replace(s) + "x"
		if len(s) > 500 {
			return
		}
		p := pageOf(t, every("en", s), some)
		if d := cmp.Diff(want["en"], tags(p)); d != "" {
			t.Fatalf("%q changes the page (-want +got):\n%s", s, d)
		}
		data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(p)
		if data == nil || strings.ContainsAny(data[1], "<>&\u2028\u2029") {
			t.Fatalf("%q ends the data early", s)
		}
		for _, svg := range picture.FindAllString(p, -1) {
			checkPicture(t, svg)
		}
	})
}

// checkPicture looks for what a picture must not have: scripts, handlers, links.
func checkPicture(t *testing.T, svg string) {
	t.Helper()
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(svg, -1) {
		name := strings.ToLower(regexp.MustCompile(`^</?([A-Za-z:]*)`).FindStringSubmatch(tag)[1])
		switch name {
		case "script", "foreignobject", "a", "iframe", "image", "use", "img", "":
			if name != "" || !strings.HasPrefix(tag, "<!--") {
				t.Fatalf("a picture has %s", tag)
			}
		}
		if regexp.MustCompile(`(?i)\son[a-z]+\s*=`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`)) {
			t.Fatalf("a picture has a handler: %s", tag)
		}
	}
}

// A record can come from anybody. Whatever its strings are, nothing of them is
// markup in its page.
func TestHostileRecord(t *testing.T) {
	for i, s := range hostile {
		rec := example(t)
		poison(reflect.ValueOf(rec).Elem(), s)
		for _, lang := range report.Langs()[i%2 : i%2+1] { // one is enough for each
			p := pageOf(t, report.BuildArticle(rec, analysis.Compute(rec), report.Options{Lang: lang}), some)
			if strings.Contains(picture.ReplaceAllString(p, ""), "alert(1)>") || strings.Count(p, "<script") != 2 || strings.Count(p, "</script") != 2 {
				t.Errorf("%q acts as markup", s)
			}
			for _, tag := range tags(p) {
				if regexp.MustCompile(`(?i)\son[a-z]+=|<img|<iframe`).MatchString(tag) {
					t.Errorf("%q makes %s", s, tag)
				}
			}
			for _, svg := range picture.FindAllString(p, -1) {
				checkPicture(t, svg)
			}
		}
	}
}

func example(t testing.TB) *record.Record {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "docs", "example", "quick.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := record.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// structural are strings that a record refers to other parts of itself by, or whose
// values have a meaning; those of a hostile record would only make it an empty one.
var structural = map[string]bool{"Phase": true, "Place": true, "Phases": true, "Places": true, "Mode": true, "Preset": true, "Code": true, "Kind": true, "Role": true, "Steps": true}

// poison puts s into every string of a record that does not hold it together.
func poison(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), s)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !structural[f.Name] {
				poison(v.Field(i), s)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), s)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if e := v.MapIndex(k); e.Kind() == reflect.String {
				v.SetMapIndex(k, reflect.ValueOf(e.String()+s).Convert(e.Type()))
			}
		}
	}
}

func TestLanguagesSayTheSame(t *testing.T) {
	de, en := reflect.ValueOf(german), reflect.ValueOf(english)
	for i := range de.NumField() {
		name := de.Type().Field(i).Name
		a, b := de.Field(i).String(), en.Field(i).String()
		if a == "" || b == "" {
			t.Errorf("%s is empty", name)
		}
		if strings.Count(a, "%d") != strings.Count(b, "%d") {
			t.Errorf("%s takes other numbers in German than in English", name)
		}
	}
}
