package report

import (
	"strings"
	"testing"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// A number near to what the engine could do carries a footnote with the next
// step; the calibration stands among the details.
func TestToolLimit(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"nativ itself may be the limit, not the drive:", "Use more CPUs or larger blocks.", "Calibration", "no-ops, CPU\u00a03"},
		"de": {"Vielleicht bremst nativ, nicht das Laufwerk:", "Mehr CPUs oder größere Blöcke nehmen.", "Kalibrierung", "No-ops, CPU\u00a03"},
	} {
		rec := healthy()
		if got := text(t, rec, Options{Lang: lang, Details: true}); strings.Contains(got, want[0]) || strings.Contains(got, want[2]) {
			t.Errorf("%s: %q or %q in a report without a calibration", lang, want[0], want[2])
		}
		// As fast as the fastest place went in batches of any size.
		var most float64
		for _, ph := range analysis.Compute(rec).Phases {
			for _, p := range ph.Places {
				most = max(most, *p.IOPS)
			}
		}
		rec.Calibration = &record.Calibration{CPU: 3, Batch: 32, NopsPerSec: most / 4, SinglesPerSec: most / 4.1}
		for i := range rec.Places {
			if w := rec.Places[i].Worker; w != nil {
				rec.Calibration.Engine = w.Engine
			}
		}
		got := strings.Join(strings.Fields(text(t, rec, Options{Lang: lang, Details: true})), " ")
		for _, s := range want {
			if !strings.Contains(got, strings.ReplaceAll(s, "\u00a0", " ")) && !strings.Contains(got, s) {
				t.Errorf("%s: no %q in\n%s", lang, s, got)
			}
		}
	}
}
