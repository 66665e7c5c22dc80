package plot

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"flag"
	"hash/crc32"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func chartsOf(t *testing.T, rec *record.Record, lang string) map[string]*report.Chart {
	t.Helper()
	all, left := report.Charts(rec, analysis.Compute(rec), report.ChartOptions{Lang: lang})
	byID := map[string]*report.Chart{}
	for _, c := range all {
		byID[c.ID] = c
	}
	for _, want := range []string{"time", "ratios", "latency-write-128k", "scatter-randwrite-4k", "cliff", "means"} {
		if byID[want] == nil {
			t.Fatalf("there is no chart %s; left out: %q", want, left)
		}
	}
	return byID
}

// TestGolden has each kind of chart in each language, light and as a page takes it.
func TestGolden(t *testing.T) {
	for _, lang := range report.Langs() {
		all := chartsOf(t, inRounds(), lang)
		for _, id := range []string{"time", "ratios", "latency-write-128k", "scatter-randwrite-4k", "cliff", "means"} {
			got, err := SVG(all[id], Options{})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, id+"."+lang+".svg", got)
		}
	}
	rec := inRounds()
	rec.Simulated = &record.Simulation{Notice: record.SimulatedNotice, Model: "a model"}
	got, err := SVG(chartsOf(t, rec, "de")["ratios"], Options{Dark: true, Bare: true, Width: 400})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "simulated-dark-bare.svg", got)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, d)
	}
}

// TestSVGSays reads a picture as a viewer does: well-formed, with title, description
// and metadata, what it is of in its text, and no number that is none.
func TestSVGSays(t *testing.T) {
	rec := inRounds()
	rec.Simulated = &record.Simulation{Notice: record.SimulatedNotice, Model: "a <model>"}
	for id, c := range chartsOf(t, rec, "de") {
		b, err := SVG(c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		d := xml.NewDecoder(bytes.NewReader(b))
		var in []string
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			switch x := token.(type) {
			case xml.StartElement:
				in = append(in, x.Name.Local)
			case xml.EndElement:
				in = in[:len(in)-1]
			case xml.CharData:
				if len(in) > 0 {
					texts[in[len(in)-1]] += string(x) + "\n"
				}
			}
		}
		for element, want := range map[string]string{"title": plain(c.Title), "desc": plain(c.Alt), "source": plain(c.Citation), "type": "SIMULATED", "description": "Example SSD <1> & Söhne"} {
			if !strings.Contains(texts[element], want) {
				t.Errorf("%s: <%s> is %q, want %q", id, element, texts[element], want)
			}
		}
		if n := bytes.Count(b, []byte("<text ")); n == 0 || n != bytes.Count(b, []byte("textLength=")) || n != bytes.Count(b, []byte(",sans-serif;")) {
			t.Errorf("%s: of %d texts some would be wider in another font", id, n)
		}
		shown := strings.ReplaceAll(texts["text"], "\n", " ")
		for _, want := range []string{"Example SSD <1> & Söhne", "30.11.2026 21:59", "QD 32 × 4 Jobs", "sha256", "SIMULIERT (SIMULATED)", "a <model>", "nativ 0.1.0"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%s does not show %q: %s", id, want, shown)
			}
		}
		for _, bad := range []string{"NaN", "Inf", "e+", "%!"} {
			if bytes.Contains(b, []byte(bad)) {
				t.Errorf("%s has %q", id, bad)
			}
		}
	}
}

// TestPNGSays reads the texts back and draws the same again.
func TestPNGSays(t *testing.T) {
	c := chartsOf(t, inRounds(), "de")["ratios"]
	b, err := PNG(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if w := img.Bounds().Dx(); w != DefaultWidth*dpi/72 {
		t.Errorf("it is %d pixels wide", w)
	}
	texts := map[string]string{}
	for rest := b[8:]; len(rest) > 0; {
		n := int(binary.BigEndian.Uint32(rest))
		kind, data := string(rest[4:8]), rest[8:8+n]
		if got := binary.BigEndian.Uint32(rest[8+n:]); got != crc32.ChecksumIEEE(rest[4:8+n]) {
			t.Errorf("the checksum of %s is wrong", kind)
		}
		if kind == "tEXt" || kind == "iTXt" {
			key, value, _ := strings.Cut(string(data), "\x00")
			if kind == "iTXt" {
				value = value[strings.LastIndex(value, "\x00")+1:]
			} else {
				var r []rune
				for i := range len(value) {
					r = append(r, rune(value[i]))
				}
				value = string(r)
			}
			texts[key] = value
		}
		rest = rest[12+n:]
	}
	if texts["Title"] != c.Title || texts["Source"] != plain(c.Citation) || !strings.Contains(texts["Description"], "Söhne") {
		t.Errorf("got %q", texts)
	}
	again, err := PNG(c, Options{})
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("the second time it is another picture: %v", err)
	}
}

// TestUndrawable: what is no number is a mistake and no picture.
func TestUndrawable(t *testing.T) {
	good := func() *report.Chart { return chartsOf(t, inRounds(), "en")["time"] }
	for name, spoil := range map[string]func(*report.Chart){
		"no panel":      func(c *report.Chart) { c.Panels = nil },
		"empty axis":    func(c *report.Chart) { c.X.Max = c.X.Min },
		"NaN":           func(c *report.Chart) { c.Panels[0].Series[0].Parts[0].Points[0].Y = math.NaN() },
		"zero on log":   func(c *report.Chart) { c.Panels[0].Y.Scale = report.ScaleLog },
		"all or beyond": func(c *report.Chart) { c.X.Scale, c.X.Max = report.ScaleNines, 1 },
	} {
		c := good()
		spoil(c)
		if _, err := SVG(c, Options{}); err == nil || !strings.Contains(err.Error(), "time") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if _, err := PNG(c, Options{}); err == nil {
			t.Errorf("%s: drawn as PNG", name)
		}
	}
}

// TestNothingOverlaps: names of tests and numbers of drops keep apart, however many
// there are.
func TestNothingOverlaps(t *testing.T) {
	c := chartsOf(t, inRounds(), "de")["time"]
	c.Marks = nil
	for i := range 40 {
		at := c.X.Max * float64(i) / 40
		c.Marks = append(c.Marks, report.Mark{Kind: report.MarkPhase, From: at, To: at + c.X.Max/40, Label: "Zufällig schreiben 4K"},
			report.Mark{Kind: report.MarkDrop, From: at, To: at, Label: "drop", Short: "1"})
	}
	p, err := newPage(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.phases) == 0 || len(p.phases) == 40 {
		t.Errorf("%d of 40 names have room", len(p.phases))
	}
	for i, a := range p.phases {
		for _, b := range p.phases[:i] {
			if a.track == b.track && math.Abs(float64(a.x-b.x)) < float64(a.width+b.width)/2 {
				t.Errorf("%q at %g and %q at %g overlap", b.m.Label, b.x, a.m.Label, a.x)
			}
		}
	}
	rows := [][]entry{}
	for range 30 {
		c.Panels[0].Series = append(c.Panels[0].Series, report.Series{Name: strings.Repeat("long name ", 12), Parts: c.Panels[0].Series[0].Parts})
	}
	if p, err = newPage(c, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, row := range append(rows, p.legend...) {
		if last := row[len(row)-1]; last.x+last.w > p.inner+1 {
			t.Errorf("the legend is wider than the picture: %g of %g", last.x+last.w, p.inner)
		}
	}
	if !slices.IsSortedFunc(p.phases, func(a, b placed) int { return int(sgn(a.m.From - b.m.From)) }) {
		t.Error("the names are out of order")
	}
}

func sgn(v float64) float64 {
	if v < 0 {
		return -1
	} else if v > 0 {
		return 1
	}
	return 0
}
