package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

// TestSee reads what changed between the samples of a run, over several passes.
func TestSee(t *testing.T) {
	at := func(h record.Health, link record.LinkState, aer record.AER, hz, throttles int64) *record.Sample {
		return &record.Sample{
			Health: map[string]record.Health{"nvme0": h}, Links: map[string]record.LinkState{"0000:01:00.0": link},
			AER: map[string]record.AER{"0000:01:00.0": aer}, CPUHz: map[int]int64{0: hz, 1: hz + 200},
			CPUThermal: &record.CPUThermal{CoreThrottles: &throttles, PackageMC: new(60_000 + throttles)},
			CostNS:     map[string]int64{"health nvme0": 1000 * (1 + throttles)},
		}
	}
	full, slow := record.LinkState{SpeedMTs: 32000, Width: 4}, record.LinkState{SpeedMTs: 8000, Width: 4}
	rec := &record.Record{Rounds: []record.Round{{Passes: []record.Pass{
		{
			CoolDown: &record.CoolDown{WaitedNS: 0, Ended: record.CoolBand},
			Watch: record.Watch{
				Before:  at(record.Health{MediaErrors: 1}, full, record.AER{Correctable: 5}, 1000, 0),
				Samples: []record.Sample{*at(record.Health{MediaErrors: 1, CriticalWarning: record.CriticalTemperature}, slow, record.AER{Correctable: 5}, 500, 1)},
			},
		},
		{
			CoolDown: &record.CoolDown{WaitedNS: 7e9, Ended: record.CoolLimit},
			Watch:    record.Watch{After: at(record.Health{MediaErrors: 3}, full, record.AER{Correctable: 9, Fatal: 1}, 900, 4)},
		},
	}}}}
	want := Meanwhile{
		Health: []HealthChange{{Controller: "nvme0", First: record.Health{MediaErrors: 1}, Last: record.Health{MediaErrors: 3}, Warning: record.CriticalTemperature}},
		Links:  []LinkChange{{"0000:01:00.0", full, slow}},
		Errors: []PCIeErrors{{"0000:01:00.0", record.AER{Correctable: 4, Fatal: 1}}},
		CPU:    CPUChange{LowHz: new(int64(600)), HighHz: new(int64(1100)), Throttles: new(int64(4)), LowMC: new(int64(60_000)), HighMC: new(int64(60_004))},
		Waits:  CoolDowns{N: 1, Limit: 1, WaitedNS: 7e9, LongestNS: 7e9},
		Costs:  []Cost{{"health nvme0", 2666, 5000, 3}},
	}
	if d := cmp.Diff(want, See(rec)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff(Meanwhile{}, See(&record.Record{})); d != "" {
		t.Errorf("of nothing:\n%s", d)
	}
}
