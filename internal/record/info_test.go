package record

import "testing"

func TestRatesBetween(t *testing.T) {
	a := DeviceCounters{ReadIOs: 100, ReadBytes: 1 << 20, WriteIOs: 10, WriteBytes: 4096, BusyNS: 1e9, QueueNS: 5e9}
	b := DeviceCounters{ReadIOs: 300, ReadBytes: 3 << 20, WriteIOs: 10, WriteBytes: 4096, BusyNS: 1.4e9, QueueNS: 7e9}
	got, ok := RatesBetween(a, b, 500e6)
	want := Rates{IntervalNS: 500e6, ReadIOPS: 400, ReadBytesSec: 4 << 20, Busy: 0.8, QueueDepth: 4}
	if !ok || got != want {
		t.Errorf("got %+v, %t; want %+v", got, ok, want)
	}
	// Ticks may run over the interval by a millisecond.
	b.BusyNS = a.BusyNS + 501e6
	if got, _ := RatesBetween(a, b, 500e6); got.Busy != 1 {
		t.Errorf("busy %v", got.Busy)
	}
	// Another drive under the same name, and no time at all.
	if r, ok := RatesBetween(b, a, 500e6); ok {
		t.Errorf("backwards: got %+v", r)
	}
	if r, ok := RatesBetween(a, b, 0); ok {
		t.Errorf("no time: got %+v", r)
	}
}
