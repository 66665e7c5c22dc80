package audit

import (
	"testing"

	"nativ/internal/sim/simtest"
)

// A run that was laid out to compare has nothing to be told: what its record says
// of a drive is a fact, and no fault of the run.
func TestCleanRecords(t *testing.T) {
	for _, model := range []string{"samsung-9100-pro-2tb-large-heatsink", "archetype-qlc-small-cache", "archetype-sata-no-sensor"} {
		for _, preset := range []string{"standard", "thorough"} {
			t.Run(model+"/"+preset, func(t *testing.T) {
				t.Parallel()
				for _, f := range Check(FromRecord("record.json", simtest.Run(t, model, preset))) {
					if f.Severity != Info {
						t.Errorf("%s: %+v", f.Severity, f)
					}
				}
			})
		}
	}
	all := Check(FromRecord("record.json", simtest.Run(t, "samsung-9100-pro-2tb-bare", "article")))
	for _, rule := range []string{"same-offsets", "cpus-differ"} {
		if len(of(all, rule)) != 1 {
			t.Errorf("the published test, simulated, is not found to have %s: %+v", rule, all)
		}
	}
}
