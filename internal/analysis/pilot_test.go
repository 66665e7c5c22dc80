package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A true difference of the size that Smallest names is found about as often as it
// says, by the t test at Holm's first step.
func TestSmallestIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const runs = 4000
	for _, tt := range []struct {
		sd             float64
		rounds, phases int
	}{{0.007, 8, 5}, {0.015, 8, 1}, {0.03, 16, 4}} {
		effect := math.Log1p(Smallest(tt.sd, tt.rounds, tt.phases))
		found := 0
		for range runs {
			d := make([]float64, tt.rounds)
			for i := range d {
				for range 2 { // two passes a side
					d[i] += tt.sd / 2 * (rng.NormFloat64() - rng.NormFloat64())
				}
				d[i] += effect
			}
			if e, ok := paired(d); ok && e.P() <= chance/float64(tt.phases) {
				found++
			}
		}
		if rate := float64(found) / runs; rate < 0.72 || rate > 0.9 {
			t.Errorf("%+v: found in %.0f %% of the runs, want about 80 %%", tt, 100*rate)
		}
	}
	if got := Smallest(0.01, 6, 5); !math.IsInf(got, 1) {
		t.Errorf("six rounds of five phases find %v", got)
	}
}

func TestPilots(t *testing.T) {
	j := job.Phase{Name: "p", Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 1, RuntimeNS: 1e9}
	rec := &record.Record{Plan: record.Plan{Phases: []job.Phase{j}, Design: &record.Design{Rounds: 8}}}
	if got := Pilots(rec); len(got) != 0 {
		t.Errorf("without passes: %+v", got)
	}
	for i, ios := range []int64{1000, 1100, 50} {
		p := record.Pass{Phase: "p", Role: record.RolePilot, Index: i, Outcome: &record.Outcome{StartNS: 1, EndNS: 1 + 1e9, Read: &record.Flow{IOs: ios, Bytes: ios * 4096, Lat: &record.Histogram{}}}}
		if i == 2 {
			p.Role = ""
		}
		rec.Rounds = append(rec.Rounds, record.Round{Phase: "p", Passes: []record.Pass{p}})
	}
	got := Pilots(rec)
	if len(got) != 1 || got[0].Passes != 2 || math.Abs(got[0].IOPS-math.Sqrt(1000*1100)) > 1e-6 || math.Abs(got[0].SD-math.Log(1.1)/math.Sqrt2) > 1e-9 {
		t.Errorf("%+v", got)
	}
}
