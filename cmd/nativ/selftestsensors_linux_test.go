package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"nativ/internal/record"
)

// sensorPasses makes the record of passes with so many I/Os each in a second;
// with sensors, one sample of a source is in them.
func sensorPasses(with, without int64, pairs int) *record.Record {
	rec := &record.Record{Target: record.Target{Drives: []record.Drive{{Name: "nvme0n1"}}}}
	for i := range 2 * pairs {
		n := without
		var w record.Watch
		if polled(i) {
			n = with
			w.Samples = []record.Sample{{CostNS: map[string]int64{"health nvme0": 250_000}}, {CostNS: map[string]int64{"health nvme0": 20_000_000}}}
		}
		var h record.Histogram
		h.Add(1_000_000_000 / n)
		// Rounds of which the later pass comes first.
		rec.Rounds = append([]record.Round{{Passes: []record.Pass{{Index: i, Watch: w,
			Outcome: &record.Outcome{EndNS: 1e9, Read: &record.Flow{IOs: n, Lat: &h}}}}}}, rec.Rounds...)
	}
	return rec
}

func TestSensorTest(t *testing.T) {
	r, err := sensorTestOf(sensorPasses(99_000, 100_000, 4), time.Second, []record.Source{{Kind: "health", Name: "nvme0"}, {Kind: "aer", Name: "x", Missing: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.IOPS.Ratio-0.99) > 1e-9 || r.IOPS.Pairs != 4 || r.P99 == nil || r.P99.Ratio < 1 {
		t.Errorf("%+v, %+v", r.IOPS, r.P99)
	}
	if len(r.Sources) != 1 || r.Sources[0].Readings != 8 || r.Sources[0].Decades != [5]int64{0, 0, 4, 0, 4} || r.Sources[0].MaxNS != 20_000_000 {
		t.Errorf("%+v", r.Sources)
	}
	text := sensorTestText(r)
	for _, want := range []string{"nvme0n1", "health nvme0", "20ms", "-1.00 %", "4 pairs): more than chance", "aer x", "none"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if _, err := sensorTestOf(sensorPasses(1, 1, 1), time.Second, nil); err == nil {
		t.Error("one pair was taken for a comparison")
	}
	broken := sensorPasses(1, 1, 2)
	broken.Rounds[1].Passes[0].Outcome = nil
	if _, err := sensorTestOf(broken, time.Second, nil); err == nil {
		t.Error("a pass without a result was compared")
	}
}
