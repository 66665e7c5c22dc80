package fiojson

import (
	"bytes"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// outcomeOf is an outcome of reads with these latencies in ns.
func outcomeOf(lat ...int64) *record.Outcome {
	h := histogramOf(lat)
	return &record.Outcome{
		StartNS: 1e9, EndNS: 3e9, Stopped: record.StopTime, Usage: record.Usage{UserNS: 2e8, SystemNS: 4e8},
		Read: &record.Flow{IOs: h.N(), Bytes: h.N() * 4096, Lat: h},
	}
}

// A record of nativ fio has the entries that fio would write: one a clone, or
// with group_reporting one for all, in the groups of stonewall.
func TestEntries(t *testing.T) {
	clones := outcomeOf(10_000, 20_000, 30_000)
	clones.Clones = []record.Outcome{*outcomeOf(10_000), *outcomeOf(20_000, 30_000)}
	clones.Clones[1].Errors = []record.IOError{{Op: "read", Errno: "ENODATA", Count: 1}}
	rec := &record.Record{
		Tool: record.Tool{Name: "nativ", Version: "1"},
		Plan: record.Plan{Places: []string{record.PlaceHost}, Phases: []job.Phase{
			{Name: "a", Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 2, PerClone: true, RandomMap: true, Engine: "io_uring"},
			{Name: "b", Mode: job.Read, BlockSize: 4096, IODepth: 2, NumJobs: 1, Engine: "psync"},
			{Name: "b#2", Mode: job.Read, BlockSize: 4096, IODepth: 2, NumJobs: 1, Engine: "psync"},
			{Name: "c", Mode: job.Read, BlockSize: 4096, IODepth: 2, NumJobs: 3, Engine: "fio/libaio"},
		}},
		Jobs: &record.Jobs{Groups: [][]int{{0, 1, 2}, {3}}, Results: []record.JobResult{
			{Name: "a", Group: 0, Phases: []int{0}, Percentiles: []float64{50}},
			{Name: "b", Group: 0, Phases: []int{1, 2}},
			{Name: "c", Group: 1, Phases: []int{3}},
		}},
		Rounds: []record.Round{
			{Phase: "a", Passes: []record.Pass{
				{Phase: "a", Place: record.PlaceHost, Index: 0, Outcome: clones, Failed: &record.Failure{Code: record.FailIO}},
				{Phase: "b", Place: record.PlaceHost, Index: 1, Outcome: outcomeOf(1000), Intervals: []record.Interval{{LenNS: 1e9, ReadIOs: 1}, {LenNS: 1e9, ReadIOs: 2}}},
				{Phase: "b#2", Place: record.PlaceHost, Index: 2, Outcome: outcomeOf(2000, 3000), Intervals: []record.Interval{{LenNS: 1e9, ReadIOs: 4}}},
			}},
			{Phase: "c", Passes: []record.Pass{{Phase: "c", Place: record.PlaceHost, Index: 3, Outcome: outcomeOf(7)}}},
		},
	}
	var b bytes.Buffer
	if err := FromRecord(&b, rec); err != nil {
		t.Fatal(err)
	}
	r, err := Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		name     string
		group    int
		errno    int
		ios      int64
		userNS   int64
		grouped  bool
		engine   string
		norandom bool
	}
	want := []row{
		{"a", 0, 0, 1, 2e8, false, "io_uring", false},
		{"a", 0, 61, 2, 2e8, false, "io_uring", false},
		{"b", 0, 0, 3, 4e8, true, "psync", false},
		{"c", 1, 0, 1, 2e8, true, "libaio", false},
	}
	if len(r.Jobs) != len(want) {
		t.Fatalf("%d entries, want %d", len(r.Jobs), len(want))
	}
	opt := func(j *Job, name string) string {
		for _, o := range j.Options {
			if o.Name == name {
				return o.Value
			}
		}
		return ""
	}
	for i, w := range want {
		j := &r.Jobs[i]
		e := entries(rec)[i]
		got := row{j.Name, j.Group, e.errno, *j.Read.IOs, e.outcome.Usage.UserNS, opt(j, "group_reporting") == "1", opt(j, "ioengine"), opt(j, "norandommap") != ""}
		if got != w {
			t.Errorf("entry %d is %+v, want %+v", i, got, w)
		}
	}
	es := entries(rec)
	if p := es[0].percentiles; len(p) != 1 || p[0] != 50 {
		t.Errorf("percentiles %v", p)
	}
	// Seconds of several passes: those that all have.
	if iv := es[2].intervals; len(iv) != 1 || iv[0].ReadIOs != 5 || es[2].jobs != 2 {
		t.Errorf("seconds %+v of %d jobs", iv, es[2].jobs)
	}
	if h := es[2].outcome.Read.Lat; h.Min != 1000 || h.Max != 3000 || h.N() != 3 {
		t.Errorf("latencies %+v", h)
	}
}
