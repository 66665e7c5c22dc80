package analysis

import (
	"slices"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// TestHeldUp leaves out what the host saw of another time than the pass.
func TestHeldUp(t *testing.T) {
	made := func(window int64) *record.Record {
		rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)})
		rec.Target.Drives = []record.Drive{{Name: "sda"}}
		busy(rec, record.PlaceHost, 50)
		each(rec, func(p *record.Pass) {
			p.Watch.Before.Devices = map[string]record.DeviceCounters{"sda": {}}
			p.Watch.After.Devices = map[string]record.DeviceCounters{"sda": {ReadIOs: 250, ReadBytes: 1000 * 4096}}
			p.Watch.After.MonoNS = window
		})
		return rec
	}
	r := Compute(made(2*second + second)) // two seconds of pass, within 1.2 times that and a second
	p := r.Phases[0].Places[0]
	if p.CPUBusy == nil || p.DeviceRatio == nil || slices.Contains(codes(r), record.WarnHeldUp) {
		t.Errorf("held up: %+v %v", p, codes(r))
	}
	if p.DeviceIOs == nil || *p.DeviceIOs != 0.25 {
		t.Errorf("got %v I/Os of the drive for each, want 0.25", p.DeviceIOs)
	}
	r = Compute(made(4 * second))
	p = r.Phases[0].Places[0]
	if p.CPUBusy != nil || p.DeviceRatio != nil || p.DeviceIOs != nil || r.Written.Device != nil || !slices.Contains(codes(r), record.WarnHeldUp) {
		t.Errorf("not held up: %+v %v", p, codes(r))
	}
}

// TestHeldUpBySamples finds the same from the samples of a long pass.
func TestHeldUpBySamples(t *testing.T) {
	for _, c := range []struct {
		samples int
		want    bool
	}{{0, false}, {1, true}, {4, true}, {5, false}, {10, false}} {
		p := &record.Pass{Outcome: &record.Outcome{EndNS: 10 * second}, Watch: record.Watch{
			Before: &record.Sample{}, After: &record.Sample{MonoNS: 10 * second}, Samples: make([]record.Sample, c.samples)}}
		if heldUp(p) != c.want {
			t.Errorf("%d samples in 10 s: %v", c.samples, !c.want)
		}
	}
}

func TestStalls(t *testing.T) {
	of := func(ios ...int64) *record.Pass {
		p := &record.Pass{}
		for i, n := range ios {
			p.Intervals = append(p.Intervals, record.Interval{EndNS: int64(i+1) * second, LenNS: second, WriteIOs: n})
		}
		return p
	}
	for _, c := range []struct {
		ios     []int64
		n       int
		longest int64
	}{
		{[]int64{5, 5, 5}, 0, 0},
		{[]int64{5, 0, 5}, 1, second},
		{[]int64{5, 0, 0, 5, 0, 5}, 2, 2 * second},
		{[]int64{0, 5}, 1, second},
		{[]int64{5, 0, 0}, 0, 0}, // the end
		{nil, 0, 0},
	} {
		if n, longest := stalls(of(c.ios...)); n != c.n || longest != c.longest {
			t.Errorf("%v: got %d, the longest %d", c.ios, n, longest)
		}
	}
	p := of(5, 0, 5)
	p.Intervals[1].LenNS = second / 2
	if n, _ := stalls(p); n != 0 {
		t.Error("half a second counts as a stall")
	}
	p.Intervals[1].LenNS, p.Intervals[1].SyncIOs = second, 1
	if n, _ := stalls(p); n != 0 {
		t.Error("a second with a sync counts as a stall")
	}
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)})
	rec.Rounds[0].Passes[0].Intervals = of(5, 0, 5).Intervals
	if !slices.Contains(codes(Compute(rec)), record.WarnStalls) {
		t.Error("no warning of a stall")
	}
	rec.Import = &record.Import{}
	if slices.Contains(codes(Compute(rec)), record.WarnStalls) {
		t.Error("a warning of a stall in an imported log")
	}
}

// TestNoCPUTimeIsUnknown holds that accounting by ticks finds no zero.
func TestNoCPUTimeIsUnknown(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)})
	each(rec, func(p *record.Pass) { p.Outcome.Usage = record.Usage{SystemNS: 4000} })
	p := Compute(rec).Phases[0].Places[0]
	if p.UserNS != nil || p.SystemNS == nil || *p.SystemNS != 4 {
		t.Errorf("got user %v, system %v", p.UserNS, p.SystemNS)
	}
}

func TestSmallFile(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)})
	rec.Target.Drives = []record.Drive{{Name: "sda", Transport: "sata"}}
	rec.Plan.FileSize, rec.Plan.WantedSize = 1<<30-1, 1<<30-1
	has := func() bool { return slices.Contains(codes(Compute(rec)), record.WarnSmallFile) }
	if !has() {
		t.Error("no warning of a file that a cache may hold")
	}
	rec.Target.Drives[0].Transport = "memory"
	if has() {
		t.Error("warned of the cache of memory")
	}
	rec.Target.Drives[0].Transport, rec.Plan.FileSize = "sata", 1<<30
	if has() {
		t.Error("warned of 1 GiB")
	}
}
