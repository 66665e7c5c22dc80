package analysis

import (
	"slices"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

func importedPass(o record.Outcome) *record.Record {
	o.EndNS = 2e9
	ph := job.Phase{Name: "p"}
	return &record.Record{
		Import: &record.Import{Format: "fio-json"},
		Plan: record.Plan{Phases: []job.Phase{ph}, Places: []string{record.PlaceImported},
			Steps: []record.Step{{Phase: "p", Place: record.PlaceImported}}},
		Rounds: []record.Round{{Phase: "p", Passes: []record.Pass{{Phase: "p", Place: record.PlaceImported, Outcome: &o,
			Intervals: []record.Interval{{EndNS: 1e9, LenNS: 1e9, ReadIOs: 30, WriteIOs: 10}}}}}},
	}
}

func filled(n int, ns int64) *record.Histogram {
	h := &record.Histogram{}
	for range n {
		h.Add(ns)
	}
	return h
}

func given(p50, p99 int64) *record.Summary {
	return &record.Summary{Percentiles: []record.Percentile{{P: 50, NS: p50}, {P: 99, NS: p99}}}
}

func TestImportedLatency(t *testing.T) {
	for _, tt := range []struct {
		name     string
		flow     record.Flow
		p50, p99 int64 // 0: unknown
		clat     bool
	}{
		{"nothing", record.Flow{IOs: 5000}, 0, 0, false},
		{"lat", record.Flow{IOs: 2000, Lat: filled(2000, 100), Clat: filled(2000, 90)}, 100, 100, false},
		{"lat given beside clat", record.Flow{IOs: 2000, Clat: filled(2000, 90), Given: &record.Given{Lat: given(100, 110)}}, 100, 110, false},
		{"clat", record.Flow{IOs: 2000, Clat: filled(2000, 90), Given: &record.Given{Lat: &record.Summary{}}}, 90, 90, true},
		{"clat given", record.Flow{IOs: 2000, Given: &record.Given{Clat: given(90, 95)}}, 90, 95, true},
		{"few", record.Flow{IOs: 999, Given: &record.Given{Clat: given(90, 95)}}, 90, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Compute(importedPass(record.Outcome{Read: &tt.flow}))
			l := r.Phases[0].Places[0].Lat
			value := func(p *int64) int64 {
				if p == nil {
					return 0
				}
				return *p
			}
			if value(l.P50) != tt.p50 || value(l.P99) != tt.p99 || l.Clat != tt.clat {
				t.Errorf("p50 %d p99 %d clat %v, want %+v", value(l.P50), value(l.P99), l.Clat, tt)
			}
		})
	}
}

// A phase that reads and writes is the sum of both; counted together, it is what
// was counted.
func TestImportedMix(t *testing.T) {
	read := &record.Flow{IOs: 60, Bytes: 600, Lat: filled(60, 100)}
	write := &record.Flow{IOs: 20, Bytes: 200, Lat: filled(20, 200)}
	for name, o := range map[string]record.Outcome{
		"apart":    {Read: read, Write: write},
		"together": {Mixed: &record.Flow{IOs: 80, Bytes: 800, Lat: filled(80, 100)}},
	} {
		p := Compute(importedPass(o)).Phases[0].Places[0]
		if p.IOPS == nil || *p.IOPS != 40 || *p.BytesPerSec != 400 || p.Lat.N != 80 || *p.MaxIOPS != 40 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	write.Lat = nil
	if l := Compute(importedPass(record.Outcome{Read: read, Write: write})).Phases[0].Places[0].Lat; l.P50 != nil {
		t.Errorf("the latency of reads passes as that of all: %+v", l)
	}
}

func TestImportedUsage(t *testing.T) {
	o := record.Outcome{Read: &record.Flow{IOs: 60, Bytes: 600}, UsageUnknown: true}
	if p := Compute(importedPass(o)).Phases[0].Places[0]; p.UserNS != nil || p.SystemNS != nil {
		t.Errorf("CPU time that nobody knows: %+v", p)
	}
}

// Directions and clones are lines of their own, and a mean is better than nothing.
func TestImportedLines(t *testing.T) {
	read := &record.Flow{IOs: 60, Bytes: 600, Lat: filled(60, 100)}
	write := &record.Flow{IOs: 20, Bytes: 200, Given: &record.Given{Clat: &record.Summary{Mean: new(float64(7))}}}
	clone := record.Outcome{EndNS: 1e9, Read: read}
	apart := Compute(importedPass(record.Outcome{Read: read, Write: write})).Phases[0].Places[0].Lines
	if len(apart) != 2 || apart[0].Direction != "read" || *apart[0].IOPS != 30 || *apart[0].Lat.Mean != 100 || apart[0].Lat.P50 == nil ||
		apart[1].Direction != "write" || *apart[1].BytesPerSec != 100 || *apart[1].Lat.Mean != 7 || !apart[1].Lat.Clat || apart[1].Lat.P50 != nil {
		t.Errorf("%+v", apart)
	}
	clones := Compute(importedPass(record.Outcome{Read: read, Clones: []record.Outcome{clone, clone}})).Phases[0].Places[0].Lines
	if len(clones) != 2 || clones[1].Job != 2 || clones[1].Jobs != 2 || *clones[1].IOPS != 60 {
		t.Errorf("%+v", clones)
	}
	rec := importedPass(record.Outcome{Write: write, Verified: &record.Verified{Flow: read}})
	verified := func() bool {
		return slices.ContainsFunc(Compute(rec).Warnings, func(w record.Warning) bool { return w.Code == record.WarnVerified && w.Values["reads"] == 60 })
	}
	if verified() {
		t.Error("an import says it itself")
	}
	if rec.Import = nil; !verified() {
		t.Error("nothing says that reads are not in the result")
	}
}
