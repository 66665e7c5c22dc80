package report

import (
	"strings"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// The preset sync says whether the drive keeps etcd's rule, of each phase and place,
// and the main table has the latencies on which it rests.
func TestEtcdRule(t *testing.T) {
	rec := healthy()
	rec.Plan.Preset = "sync"
	plain := func(lang string) string {
		return strings.NewReplacer("\u00a0", " ", "\n", " ").Replace(text(t, rec, Options{Lang: lang}))
	}
	got := plain("en")
	if !strings.Contains(got, "etcd's rule for its log, p99 of fdatasync below 10 ms, is kept: "+job.SyncWrite4K+" Host (9.63 ms)") {
		t.Errorf("the rule is not said to be kept:\n%s", got)
	}
	if !strings.Contains(got, "sync p50 / p99 1.29 ms / 9.63 ms") && !strings.Contains(got, "1.29 ms / 9.63 ms") {
		t.Errorf("no latencies in the main table:\n%s", got)
	}
	if de := plain("de"); !strings.Contains(de, "ist eingehalten") {
		t.Errorf("in German:\n%s", de)
	}
	// One place breaks it.
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			if p := &rec.Rounds[i].Passes[k]; p.Phase == job.SyncWrite4K && p.Place == record.PlaceLXC {
				var slow record.Histogram
				for range 1000 {
					slow.Add(50e6)
				}
				p.Outcome.Sync.Lat = &slow
			}
		}
	}
	if got := plain("en"); !strings.Contains(got, "; broken: "+job.SyncWrite4K+" LXC (") {
		t.Errorf("the rule is not said to be broken:\n%s", got)
	}
}
