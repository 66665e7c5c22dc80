package html

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sim/simtest"
)

// The example pages are those of the published test, simulated, and of the real run
// beside them. What changes without anybody reading it differently, style and
// script, may be older in them.
func TestExamplePages(t *testing.T) {
	if built().script == "" {
		t.Skip("the build has no interactive charts (make build)")
	}
	docs := filepath.Join("..", "..", "..", "docs")
	for base, rec := range map[string]*record.Record{
		filepath.Join(docs, "example-report"):   simtest.Run(t, "samsung-9100-pro-2tb-bare", "article"),
		filepath.Join(docs, "example", "quick"): example(t),
	} {
		res := analysis.Compute(rec)
		for _, lang := range report.Langs() {
			path := base + "." + lang + ".html"
			var got bytes.Buffer
			if err := Render(&got, report.BuildArticle(rec, res, report.Options{Lang: lang})); err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(said(want), said(got.Bytes())); d != "" {
				t.Errorf("%s is not up to date: make update (-want +got)\n%s", path, d)
			}
		}
	}
}

// said is a page without its style, script and what allows them.
func said(page []byte) string {
	page = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`).ReplaceAll(page, nil)
	return string(regexp.MustCompile(`sha256-[^']*`).ReplaceAll(page, nil))
}
