package analysis

import (
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

func curveRecord(flows ...*record.Flow) (*record.Record, *job.Phase) {
	j := job.Phase{Name: "r", Mode: job.RandRead, BlockSize: 4096}
	rec := &record.Record{Plan: record.Plan{Phases: []job.Phase{j}, Places: []string{record.PlaceHost}}}
	round := record.Round{Phase: "r"}
	for i, f := range flows {
		rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: "r", Place: record.PlaceHost})
		round.Passes = append(round.Passes, record.Pass{Phase: "r", Place: record.PlaceHost, Index: i, Outcome: &record.Outcome{StartNS: 1, EndNS: 2e9, Read: f}})
	}
	rec.Rounds = []record.Round{round}
	return rec, &j
}

func uniform(n int) *record.Flow {
	f := &record.Flow{IOs: int64(n), Bytes: int64(n) * 4096, Lat: &record.Histogram{}}
	for i := range n {
		f.Lat.Add(int64(i + 1))
	}
	return f
}

// TestCurve merges passes, and ends where too few I/Os lie beyond.
func TestCurve(t *testing.T) {
	rec, j := curveRecord(uniform(100), uniform(100))
	c, ok := CurveOf(rec, j, record.PlaceHost, []float64{0, 0.5, 0.9, 0.95, 0.99})
	if !ok || c.N != 200 || c.Clat {
		t.Fatalf("got %+v, %t", c, ok)
	}
	want := []CurveLatency{{0, 1}, {0.5, 50}, {0.9, 90}, {0.95, 95}} // 2 of 200 lie beyond p99
	if len(c.Points) != len(want) {
		t.Fatalf("got %+v, want %+v", c.Points, want)
	}
	for i, p := range c.Points {
		if p.P != want[i].P || p.NS < want[i].NS-1 || p.NS > want[i].NS+1 {
			t.Errorf("got %+v, want %+v", p, want[i])
		}
	}
	if _, ok := CurveOf(rec, j, record.PlaceLXC, []float64{0.5}); ok {
		t.Error("a place without passes has a curve")
	}
}

// TestCurveGiven takes percentiles as they were imported, of one pass only.
func TestCurveGiven(t *testing.T) {
	given := &record.Flow{IOs: 1000, Bytes: 4096000, Given: &record.Given{Clat: &record.Summary{
		Percentiles: []record.Percentile{{P: 50, NS: 80}, {P: 90, NS: 100}, {P: 99, NS: 900}, {P: 99.9, NS: 5000}}}}}
	rec, j := curveRecord(given)
	c, ok := CurveOf(rec, j, record.PlaceHost, []float64{0.5})
	if !ok || !c.Clat || len(c.Points) != 3 || c.Points[2] != (CurveLatency{0.99, 900}) {
		t.Errorf("got %+v, %t", c, ok)
	}
	rec, j = curveRecord(given, given)
	if c, ok := CurveOf(rec, j, record.PlaceHost, []float64{0.5}); ok {
		t.Errorf("percentiles of two passes were merged: %+v", c)
	}
}
