package analysis

import (
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// What the drive counted is known only where its log was read at both ends of one
// run of one drive; what is above the test's own is others'.
func TestHostWritesAgainstOurs(t *testing.T) {
	make := func() *record.Record {
		rec := two(job.Write128K, map[string][2]int64{record.PlaceHost: same(10)})
		rec.Prefill = &record.Prefill{Bytes: 5 << 20}
		rec.Target.Drives = []record.Drive{{Name: "nvme0n1", Controller: new("nvme0")}}
		rec.Idle = &record.Sample{Health: map[string]record.Health{"nvme0": {WrittenBytes: 1000, PercentageUsed: 3}}}
		last := rec.Rounds[len(rec.Rounds)-1].Passes
		last[len(last)-1].Watch.After = &record.Sample{Health: map[string]record.Health{"nvme0": {WrittenBytes: 1000 + 9<<20, PercentageUsed: 4}}}
		return rec
	}
	w := Compute(make()).Written
	if w.Counted == nil || *w.Counted != 9<<20 || *w.UsedBefore != 3 || *w.UsedAfter != 4 {
		t.Fatalf("got %+v", w)
	}
	if o := w.Others(); o == nil || *o != 9<<20-w.Application {
		t.Errorf("others wrote %v of %d", o, w.Application)
	}
	for name, change := range map[string]func(*record.Record){
		"resumed":       func(r *record.Record) { r.Resumed = []record.Resume{{}} },
		"two drives":    func(r *record.Record) { r.Target.Drives = append(r.Target.Drives, r.Target.Drives[0]) },
		"no log before": func(r *record.Record) { r.Idle.Health = nil },
		"no log after": func(r *record.Record) {
			p := r.Rounds[len(r.Rounds)-1].Passes
			p[len(p)-1].Watch.After = nil
		},
	} {
		rec := make()
		change(rec)
		if w := Compute(rec).Written; w.Counted != nil || w.Others() != nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// A capped run says nothing about drive or places.
func TestCappedRunHasNoVerdict(t *testing.T) {
	rec := two(job.Write128K, map[string][2]int64{record.PlaceHost: same(100), record.PlaceLXC: same(50)})
	rec.Plan.MaxRate = 1 << 20
	if v := Compute(rec).Verdict; v.Finding != FindCapped {
		t.Errorf("got %+v", v)
	}
}
