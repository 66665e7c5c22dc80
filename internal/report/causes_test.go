package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nativ/internal/analysis"
)

// constants returns the values of the constants of a type in package analysis,
// so that a new one cannot be forgotten here.
func constants(t *testing.T, typ string) []string {
	t.Helper()
	files, err := filepath.Glob("../analysis/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, constantsIn(t, f, typ)...)
	}
	if len(all) < 3 {
		t.Fatalf("found %d constants of type %s", len(all), typ)
	}
	return all
}

func constantsIn(t *testing.T, file *ast.File, typ string) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typ {
			v, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return true
	})
	return all
}

// TestEveryCauseHasAText, and every evidence, confidence and test of a cause.
func TestEveryCauseHasAText(t *testing.T) {
	for _, lang := range Langs() {
		m := catalogue(lang)
		for typ, have := range map[string]map[string]string{
			"CauseKind": m.drops.cause, "EvidenceKind": m.drops.evidence, "Confidence": m.drops.confidence, "Test": m.drops.test,
		} {
			want := constants(t, typ)
			for _, c := range want {
				if have[c] == "" {
					t.Errorf("%s: %s %q has no text", lang, typ, c)
				}
			}
			for c := range have {
				if !slices.Contains(want, c) {
					t.Errorf("%s: %s %q is of no constant", lang, typ, c)
				}
			}
		}
	}
}

// TestEvidenceReads words every evidence with and without its numbers.
func TestEvidenceReads(t *testing.T) {
	for _, lang := range Langs() {
		b := &builder{notes: &notes{speaker: newSpeaker(lang, nil), rec: healthy()}}
		for _, kind := range constants(t, "EvidenceKind") {
			for _, e := range []analysis.Evidence{
				{Kind: analysis.EvidenceKind(kind)},
				{Kind: analysis.EvidenceKind(kind), Source: "nvme0 Sensor 1", Value: new(70e3)},
				{Kind: analysis.EvidenceKind(kind), Source: "nvme0 Sensor 1", Value: new(70e3), Was: new(45e3)},
			} {
				got := b.evidence([]analysis.Evidence{e})
				if got == "" || strings.Contains(got, "%!") || strings.Count(got, "(") != strings.Count(got, ")") {
					t.Errorf("%s %s reads %q", lang, kind, got)
				}
				if e.Was == nil && e.Value != nil && strings.Contains(got, ": "+b.unknown) {
					t.Errorf("%s %s says that a number is unknown that it does not have: %q", lang, kind, got)
				}
			}
		}
	}
}

// TestSparkline draws a cliff, and nothing of nothing.
func TestSparkline(t *testing.T) {
	curve := []analysis.CurvePoint{{Written: 10, Rate: 800}, {Written: 20, Rate: 800}, {Written: 30, Rate: 100}, {Written: 40, Rate: 100}}
	if bars, most := sparkline(curve, 4); bars != "██▂▂" || most != 800 {
		t.Errorf("got %q, %g", bars, most)
	}
	// Half of the bytes at 800 and half at 100 take their time: 2/(1/800+1/100).
	if bars, most := sparkline(curve, 1); bars != "█" || most < 177 || most > 178 {
		t.Errorf("got %q, %g", bars, most)
	}
	if bars, _ := sparkline(nil, 4); bars != "" {
		t.Errorf("got %q of nothing", bars)
	}
	if bars, _ := sparkline([]analysis.CurvePoint{{Written: 10}}, 4); bars != "" {
		t.Errorf("got %q of no speed", bars)
	}
}

// TestRangeOf says a range once where both ends read the same.
func TestRangeOf(t *testing.T) {
	b := &builder{notes: &notes{speaker: newSpeaker("en", nil)}}
	for want, r := range map[string][2]int64{"72 to 87 s": {72e9, 87e9}, "72 s": {72e9, 72e9}, "74 s to 2:15 min": {74e9, 135e9}} {
		if got := plain(b.span2(r, b.long)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
