package analysis

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"nativ/internal/job"
	"nativ/internal/record"
)

const second = int64(1e9)

// pass makes one of two seconds with so many I/Os.
func pass(j *job.Phase, place string, ios int64) record.Pass {
	var lat record.Histogram
	for i := range min(ios, 50) {
		lat.Add(1000 + i)
	}
	f := &record.Flow{IOs: ios, Bytes: ios * j.BlockSize, Lat: &lat}
	p := record.Pass{Phase: j.Name, Place: place, Outcome: &record.Outcome{StartNS: 5, EndNS: 5 + 2*second, Stopped: record.StopTime}}
	if j.Mode.Writes() {
		p.Outcome.Write = f
	} else {
		p.Outcome.Read = f
	}
	if j.FDataSync > 0 {
		p.Outcome.Sync = &record.Flow{IOs: ios, Lat: &lat}
	}
	return p
}

// two makes a record of one phase with two passes in each place, of so many
// I/Os in two seconds.
func two(name string, ios map[string][2]int64) *record.Record {
	rec := &record.Record{SchemaVersion: 1, Complete: true}
	var j job.Phase
	for _, p := range job.Quick().Phases {
		if p.Name == name {
			j = p
		}
	}
	rec.Plan.Phases = []job.Phase{j}
	round := record.Round{Phase: name}
	for _, place := range []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC} {
		n, ok := ios[place]
		if !ok {
			continue
		}
		rec.Plan.Places = append(rec.Plan.Places, place)
		rec.Places = append(rec.Places, record.Place{Name: place, CPUs: []int{0, 1}})
		for i := range 2 {
			rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: name, Place: place})
			round.Passes = append(round.Passes, pass(&j, place, n[i]))
		}
	}
	rec.Rounds = []record.Round{round}
	return rec
}

func each(rec *record.Record, f func(p *record.Pass)) {
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			f(&rec.Rounds[i].Passes[j])
		}
	}
}

func same(n int64) [2]int64 { return [2]int64{n, n} }

func codes(r Result) []string {
	var all []string
	for _, w := range r.Warnings {
		all = append(all, w.Code)
	}
	return all
}

func TestRates(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: {1000, 3000}})
	rec.Rounds[0].Passes[0].Outcome.EndNS = 5 + second // half as long, so 1000 a second
	p := Compute(rec).Phases[0].Places[0]
	if *p.IOPS != 1250 || *p.BytesPerSec != 1250*4096 {
		t.Errorf("got %g IOPS and %g B/s, want the mean of the rates 1000 and 1500", *p.IOPS, *p.BytesPerSec)
	}
	if math.Abs(*p.Spread-0.4) > 1e-12 {
		t.Errorf("got spread %g, want 500/1250", *p.Spread)
	}
	if p.MaxIOPS != nil || p.MaxBytesPerSec != nil {
		t.Errorf("got a highest second without intervals: %v", *p.MaxIOPS)
	}
}

func TestHighestSecond(t *testing.T) {
	rec := two(job.Write128K, map[string][2]int64{record.PlaceHost: same(100)})
	rec.Rounds[0].Passes[0].Intervals = []record.Interval{
		{LenNS: second, WriteIOs: 40, WriteBytes: 40 << 17, ReadIOs: 999},
		{LenNS: second / 2, WriteIOs: 90, WriteBytes: 90 << 17}, // too short to count
	}
	rec.Rounds[0].Passes[1].Intervals = []record.Interval{{LenNS: 900_000_000, WriteIOs: 45, WriteBytes: 45 << 17}}
	p := Compute(rec).Phases[0].Places[0]
	if p.MaxIOPS == nil || math.Abs(*p.MaxIOPS-50) > 1e-9 || math.Abs(*p.MaxBytesPerSec-50*(1<<17)) > 1e-3 {
		t.Errorf("got %v, want 45 in 0.9 s = 50 a second", p.MaxIOPS)
	}
}

func TestPercentilesNeedTenBeyond(t *testing.T) {
	for _, c := range []struct {
		n              int
		p50, p99, p999 bool
	}{
		{0, false, false, false}, {19, false, false, false}, {20, true, false, false},
		{999, true, false, false}, {1000, true, true, false}, {9999, true, true, false}, {10_000, true, true, true},
	} {
		var h record.Histogram
		for range c.n {
			h.Add(77)
		}
		l := latency(&h)
		if (l.P50 != nil) != c.p50 || (l.P99 != nil) != c.p99 || (l.P999 != nil) != c.p999 {
			t.Errorf("%d I/Os: got p50 %v p99 %v p99.9 %v", c.n, l.P50, l.P99, l.P999)
		}
		if l.P50 != nil && *l.P50 != 77 {
			t.Errorf("%d I/Os: p50 %d", c.n, *l.P50)
		}
	}
}

// TestSyncLatencyIsTheSyncs takes percentiles from the syncs and IOPS from the
// writes.
func TestSyncLatencyIsTheSyncs(t *testing.T) {
	rec := two(job.SyncWrite4K, map[string][2]int64{record.PlaceHost: same(40)})
	each(rec, func(p *record.Pass) {
		p.Outcome.Sync = &record.Flow{IOs: 40, Lat: new(record.Histogram)}
		for range 40 {
			p.Outcome.Sync.Lat.Add(5)
		}
	})
	p := Compute(rec).Phases[0].Places[0]
	if *p.IOPS != 20 || p.Lat.P50 == nil || *p.Lat.P50 != 5 {
		t.Errorf("got %g IOPS, p50 %v", *p.IOPS, p.Lat.P50)
	}
}

func watch(rec *record.Record, f func(p *record.Pass, before, after *record.Sample)) {
	each(rec, func(p *record.Pass) {
		p.Watch.Before, p.Watch.After = new(record.Sample), new(record.Sample)
		f(p, p.Watch.Before, p.Watch.After)
	})
}

// othersCompute has other programs spend so much user time, of the 200 in which
// CPUs 0 and 1 were watched by busy.
func othersCompute(rec *record.Record, others int64) {
	each(rec, func(p *record.Pass) {
		if p.Watch.After == nil {
			return
		}
		p.Outcome.Usage = record.Usage{UserNS: 10, SystemNS: 50}
		for n, v := range p.Watch.After.CPUs {
			v.UserNS = new(int64(0))
			if n == 0 {
				*v.UserNS = 10 + others
			}
			p.Watch.After.CPUs[n] = v
			b := p.Watch.Before.CPUs[n]
			b.UserNS = new(int64(0))
			p.Watch.Before.CPUs[n] = b
		}
	})
}

// busy sets the share of time in percent in which the CPUs 0 and 1 were busy.
func busy(rec *record.Record, place string, percent int64) {
	each(rec, func(p *record.Pass) {
		if p.Place != place {
			return
		}
		zero, end := record.CPUTime{}, record.CPUTime{BusyNS: percent, TotalNS: 100}
		p.Outcome.Usage = record.Usage{UserNS: percent / 2, SystemNS: percent}
		p.Watch.Before = &record.Sample{CPUs: map[int]record.CPUTime{0: zero, 1: zero}}
		p.Watch.After = &record.Sample{CPUs: map[int]record.CPUTime{0: end, 1: end}}
	})
}

func TestCPUs(t *testing.T) {
	three := map[string][2]int64{record.PlaceHost: same(1000), record.PlacePinned: same(500), record.PlaceLXC: same(495)}
	rec := two(job.RandRead4K, three)
	busy(rec, record.PlacePinned, 95)
	r := Compute(rec)
	if !r.Phases[0].Loss.CPULimited || *r.Phases[0].Places[1].CPUBusy != 0.95 {
		t.Errorf("95 %% busy is no limit: %+v", r.Phases[0].Places[1])
	}
	// One pass a little less busy: the mean is above, but not every pass.
	rec = two(job.RandRead4K, three)
	busy(rec, record.PlacePinned, 100)
	rec.Rounds[0].Passes[2].Watch.After.CPUs[1] = record.CPUTime{BusyNS: 88, TotalNS: 100}
	if r := Compute(rec); r.Phases[0].Loss.CPULimited {
		t.Error("a limit although one pass was 94 % busy")
	}
	// Used up by others: the CPUs are busy, but the test is not what limits it.
	rec = two(job.RandRead4K, three)
	busy(rec, record.PlacePinned, 100)
	othersCompute(rec, 21) // of 200
	r = Compute(rec)
	if r.Phases[0].Loss.CPULimited || !slices.Contains(codes(r), record.WarnOtherLoad) {
		t.Errorf("others used more than a tenth of the CPU time: %v", codes(r))
	}
	// The kernel's time is nobody's: it may all be for the test.
	rec = two(job.RandRead4K, three)
	busy(rec, record.PlacePinned, 100)
	othersCompute(rec, 19)
	each(rec, func(p *record.Pass) { p.Outcome.Usage.SystemNS = 0 })
	r = Compute(rec)
	if !r.Phases[0].Loss.CPULimited || slices.Contains(codes(r), record.WarnOtherLoad) {
		t.Errorf("the kernel's own work counts as others': %v", codes(r))
	}
	// One CPU of the set was not read: unknown, not idle.
	rec = two(job.RandRead4K, three)
	busy(rec, record.PlacePinned, 100)
	each(rec, func(p *record.Pass) {
		if p.Watch.After != nil {
			delete(p.Watch.After.CPUs, 1)
		}
	})
	if p := Compute(rec).Phases[0].Places[1]; p.CPUBusy != nil || p.CPULimited {
		t.Errorf("got %v busy without reading all CPUs", *p.CPUBusy)
	}
	// Used up by the container alone: that is not what pinned loses.
	rec = two(job.RandRead4K, three)
	busy(rec, record.PlaceLXC, 100)
	if Compute(rec).Phases[0].Loss.CPULimited {
		t.Error("a CPU limit, although pinned is not known to have been limited")
	}
}

func TestDeviceRatio(t *testing.T) {
	make2 := func(read int64) *record.Record {
		rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)})
		rec.Target.Drives = []record.Drive{{Name: "sda"}}
		watch(rec, func(_ *record.Pass, b, a *record.Sample) {
			b.Devices = map[string]record.DeviceCounters{"sda": {ReadBytes: 7}}
			a.Devices = map[string]record.DeviceCounters{"sda": {ReadBytes: 7 + read}}
		})
		return rec
	}
	rec := make2(1000 * 4096)
	r := Compute(rec)
	if p := r.Phases[0].Places[0]; p.DeviceRatio == nil || *p.DeviceRatio != 1 {
		t.Errorf("got %v, want 1", p.DeviceRatio)
	}
	if slices.Contains(codes(r), record.WarnCacheAnswered) {
		t.Error("a cache is said to have answered")
	}
	rec = make2(899 * 4096)
	if r := Compute(rec); !slices.Contains(codes(r), record.WarnCacheAnswered) || r.Verdict.Reserves[0] != ReserveCache {
		t.Errorf("no warning at 0.899: %v %v", codes(r), r.Verdict)
	}
	// Off and absent are unknown, never 0, and warned of.
	rec = make2(0)
	rec.Target.Drives[0].IOStats = new(false)
	r = Compute(rec)
	if p := r.Phases[0].Places[0]; p.DeviceRatio != nil || slices.Contains(codes(r), record.WarnCacheAnswered) || !slices.Contains(codes(r), record.WarnCountersOff) {
		t.Errorf("iostats off: %v, %v", p.DeviceRatio, codes(r))
	}
	rec = make2(0)
	watch(rec, func(_ *record.Pass, _, _ *record.Sample) {})
	r = Compute(rec)
	if p := r.Phases[0].Places[0]; p.DeviceRatio != nil || !slices.Contains(codes(r), record.WarnNoCounters) {
		t.Errorf("no counters: %v, %v", p.DeviceRatio, codes(r))
	}
	// A counter that ran backwards (32 bits) is no number.
	rec = make2(-5)
	if p := Compute(rec).Phases[0].Places[0]; p.DeviceRatio != nil {
		t.Errorf("backwards: %v", *p.DeviceRatio)
	}
}

// What the host saw belongs to all jobs of a group, so that their reads count
// together.
func TestJobsCached(t *testing.T) {
	with := func(device int64) Result {
		flow := func(n int64) *record.Outcome {
			return &record.Outcome{EndNS: 1e9, Read: &record.Flow{IOs: n / 4096, Bytes: n, Lat: &record.Histogram{}}}
		}
		watch := record.Watch{
			Before: &record.Sample{Devices: map[string]record.DeviceCounters{"sda": {ReadBytes: 7}}},
			After:  &record.Sample{MonoNS: 1e9, Devices: map[string]record.DeviceCounters{"sda": {ReadBytes: 7 + device}}},
		}
		phase := func(name string) job.Phase {
			return job.Phase{Name: name, Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 1, RuntimeNS: 1e9}
		}
		return Compute(&record.Record{
			Target: record.Target{Drives: []record.Drive{{Name: "sda"}}},
			Plan:   record.Plan{Places: []string{record.PlaceHost}, Phases: []job.Phase{phase("a"), phase("b")}},
			Jobs:   &record.Jobs{Groups: [][]int{{0, 1}}},
			Rounds: []record.Round{{Phase: "a", Passes: []record.Pass{
				{Phase: "a", Place: record.PlaceHost, Outcome: flow(4 << 20), Watch: watch},
				{Phase: "b", Place: record.PlaceHost, Index: 1, Outcome: flow(6 << 20)},
			}}},
		})
	}
	if r := with(10 << 20); slices.Contains(codes(r), record.WarnCacheAnswered) {
		t.Errorf("all came from the drive: %v", codes(r))
	}
	var named []string
	for _, w := range with(5 << 20).Warnings {
		if w.Code == record.WarnCacheAnswered {
			named = append(named, w.Phase)
			if w.Values["ratio"] != 0.5 {
				t.Errorf("%+v", w)
			}
		}
	}
	if !slices.Equal(named, []string{"a", "b"}) {
		t.Errorf("half came from the drive, and warned of are %v", named)
	}
}

func TestTemperatures(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)})
	if got := Compute(rec).Temperatures; got != nil {
		t.Errorf("got %v without a sensor", got)
	}
	rec.Rounds[0].Passes[0].Watch = record.Watch{
		Before:  &record.Sample{Temperatures: map[string]int64{"b": 40_000, "a": 0}},
		Samples: []record.Sample{{Temperatures: map[string]int64{"b": 55_000}}},
		After:   &record.Sample{Temperatures: map[string]int64{"b": 39_000}},
	}
	want := []Temperature{{"a", 0, 0, 0}, {"b", 40_000, 39_000, 55_000}}
	if d := cmp.Diff(want, Compute(rec).Temperatures); d != "" {
		t.Error(d)
	}
}

func TestWritten(t *testing.T) {
	rec := two(job.Write128K, map[string][2]int64{record.PlaceHost: same(10)})
	rec.Prefill = &record.Prefill{Bytes: 5 << 20}
	rec.Rounds[0].Passes[1].Failed = &record.Failure{Code: record.FailIO} // its bytes were written all the same
	w := Compute(rec).Written
	if w.Application != 5<<20+20<<17 || w.Device != nil {
		t.Errorf("got %+v", w)
	}
}

func TestLink(t *testing.T) {
	link := func(l record.Link) string {
		w, ok := linkWarning(&record.Drive{Name: "nvme0n1", Link: &l})
		if !ok {
			return "none"
		}
		return w.Words["limit"]
	}
	for _, c := range []struct {
		name string
		l    record.Link
		want string
	}{
		{"full", record.Link{SpeedMTs: 16000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4}, "none"},
		{"unknown", record.Link{MaxSpeedMTs: 16000, MaxWidth: 4}, "none"},
		{"no port", record.Link{SpeedMTs: 8000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4}, ""},
		{"slow port", record.Link{SpeedMTs: 8000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4, PortMaxSpeedMTs: new(8000), PortMaxWidth: new(16)}, "port"},
		{"fast port", record.Link{SpeedMTs: 8000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4, PortMaxSpeedMTs: new(32000), PortMaxWidth: new(16)}, "link"},
		{"narrow port", record.Link{SpeedMTs: 16000, Width: 2, MaxSpeedMTs: 16000, MaxWidth: 4, PortMaxSpeedMTs: new(16000), PortMaxWidth: new(2)}, "port"},
		{"half the lanes", record.Link{SpeedMTs: 16000, Width: 2, MaxSpeedMTs: 16000, MaxWidth: 4, PortMaxSpeedMTs: new(16000), PortMaxWidth: new(4)}, "link"},
	} {
		if got := link(c.l); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPassWarnings(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceLXC: same(1000)})
	watch(rec, func(p *record.Pass, b, a *record.Sample) {
		n, zero := int64(3), int64(0)
		b.Cgroup = &record.CgroupCounters{NrThrottled: &zero, ThrottledNS: &zero, OOMKills: &n, MemoryMax: nil}
		a.Cgroup = &record.CgroupCounters{NrThrottled: &n, ThrottledNS: &n, OOMKills: &n, MemoryMax: &n}
	})
	rec.Rounds[0].Passes[1].Failed = &record.Failure{Code: record.FailInterrupted}
	got := codes(Compute(rec))
	want := []string{record.WarnPassesMissing, record.WarnCgroupThrottled, record.WarnCgroupThrottled}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRecordedWarningsAreKeptOnce(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: {100, 200}})
	rec.Warnings = []record.Warning{
		{Code: record.WarnSpread, Phase: job.RandRead4K, Place: record.PlaceHost}, // computed as well
		{Code: record.WarnContainerRemade, Phase: job.RandRead4K},
		{Code: record.WarnContainerRemade, Phase: job.RandRead4K},
	}
	if d := cmp.Diff([]string{record.WarnSpread, record.WarnContainerRemade, record.WarnContainerRemade}, codes(Compute(rec))); d != "" {
		t.Error(d)
	}
}

// TestComputeIsStable holds that a record which took its computed warnings in is
// read as the same.
func TestComputeIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := draw(t)
		rec.Warnings = []record.Warning{{Code: record.WarnContainerRemade, Phase: job.RandRead4K, Place: record.PlaceLXC}}
		first := Compute(rec)
		rec.Warnings = first.Warnings
		if d := cmp.Diff(first, Compute(rec), cmpopts.IgnoreUnexported(Place{})); d != "" {
			t.Fatal(d)
		}
	})
}

func TestNetwork(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)})
	rec.Target = record.Target{FSType: "nfs4", Network: true, NeighboursUnknown: "no drive is known"}
	r := Compute(rec)
	want := []record.Warning{{Code: record.WarnNetwork, Words: map[string]string{"fstype": "nfs4"}}}
	if d := cmp.Diff(want, r.Warnings); d != "" {
		t.Error(d)
	}
	if !slices.Equal(r.Verdict.Reserves, []Reserve{ReserveNetwork}) {
		t.Errorf("got %v", r.Verdict.Reserves)
	}
	rec.Target = record.Target{FSType: "ext4", Network: true, Drives: []record.Drive{{Name: "sdb", Transport: "iscsi"}}}
	if got := Compute(rec).Warnings[0].Words["fstype"]; got != "iscsi" {
		t.Errorf("got %q", got)
	}
}

func TestVirtualDrive(t *testing.T) {
	for _, c := range []struct {
		name, transport, model string
		want                   bool
	}{
		{"vda", "virtio", "", true}, {"xvda", "xen", "", true}, {"sda", "scsi", "QEMU HARDDISK", true}, {"nvme0n1", "nvme", "QEMU NVMe Ctrl", true},
		{"nvme0n1", "nvme", "Amazon Elastic Block Store", true}, {"sda", "scsi", "Virtual disk", true},
		{"nvme0n1", "nvme", "Samsung SSD 9100 PRO 2TB", false}, {"sda", "sata", "", false},
	} {
		d := &record.Drive{Name: c.name, Transport: c.transport}
		if c.model != "" {
			d.Model = &c.model
		}
		if VirtualDrive(d) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestShortWrites(t *testing.T) {
	rec := two(job.Write128K, map[string][2]int64{record.PlaceHost: same(10)})
	rec.Plan.Preset = "quick"
	has := func() bool { return slices.Contains(codes(Compute(rec)), record.WarnShortWrites) }
	if has() {
		t.Error("warned without a drive")
	}
	rec.Target.Drives = []record.Drive{{Name: "sda", Rotational: new(true)}}
	if has() {
		t.Error("warned of a hard disk's SLC cache")
	}
	rec.Target.Drives[0].Rotational = new(false)
	if !has() {
		t.Error("not warned of flash")
	}
}

func TestVerdicts(t *testing.T) {
	three := func(h, p, l int64) map[string][2]int64 {
		return map[string][2]int64{record.PlaceHost: same(h), record.PlacePinned: same(p), record.PlaceLXC: same(l)}
	}
	for _, c := range []struct {
		name string
		rec  *record.Record
		want Finding
	}{
		{"alike", two(job.RandRead4K, three(1000, 999, 970)), FindNoLoss},
		{"exactly the limit", two(job.RandRead4K, three(1000, 1000, 950)), FindNoLoss},
		{"container", two(job.RandRead4K, three(1000, 990, 800)), FindContainer},
		{"both", two(job.RandRead4K, three(1000, 800, 600)), FindContainer},
		{"cpus", two(job.RandRead4K, three(1000, 700, 690)), FindCPUs},
		{"host cpus", two(job.RandRead4K, three(1000, 940, 960)), FindHostCPUs},
		{"unsplit", two(job.RandRead4K, three(1000, 960, 920)), FindUnsplit},
		{"faster", two(job.RandRead4K, three(1000, 1000, 1100)), FindFaster},
		{"faster on fewer CPUs", two(job.RandRead4K, three(1000, 1060, 1030)), FindFaster},
		{"slower than pinned only", two(job.RandRead4K, three(1000, 1100, 1000)), FindContainer},
		{"no pinned", two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000), record.PlaceLXC: same(900)}), FindNotSeparable},
		{"no pinned, no loss", two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000), record.PlaceLXC: same(990)}), FindNoLoss},
		{"host only", two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000)}), FindHostOnly},
		{"no host", two(job.RandRead4K, map[string][2]int64{record.PlacePinned: same(1000), record.PlaceLXC: same(1)}), FindNoHost},
		{"host did nothing", two(job.RandRead4K, three(0, 10, 10)), FindNoComparison},
		{"scattered", two(job.RandRead4K, map[string][2]int64{record.PlaceHost: {800, 1200}, record.PlacePinned: same(990), record.PlaceLXC: same(700)}), FindNoLoss},
	} {
		if got := Compute(c.rec).Verdict; got.Finding != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got.Finding, c.want)
		}
	}
}

// TestMissingPassProvesNothing leaves one pass of one place out.
func TestMissingPassProvesNothing(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: same(1000), record.PlacePinned: same(1000), record.PlaceLXC: same(500)})
	rec.Rounds[0].Passes = rec.Rounds[0].Passes[:5]
	r := Compute(rec)
	if l := r.Phases[0].Loss; l.Total == nil || l.Total.Doubt != DoubtPasses || l.Total.Tenths != -500 {
		t.Errorf("got %+v", l.Total)
	}
	if r.Verdict.Finding != FindNothingMeasured || !slices.Contains(r.Verdict.Reserves, ReserveIncomplete) {
		t.Errorf("got %+v", r.Verdict)
	}
}

// draw makes a record of any numbers, sensible or not.
func draw(t *rapid.T) *record.Record {
	rec := &record.Record{SchemaVersion: 1, Complete: rapid.Bool().Draw(t, "complete")}
	phases := job.Quick().Phases
	rec.Plan.Phases = phases[:rapid.IntRange(0, len(phases)).Draw(t, "phases")]
	for _, p := range []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC} {
		if rapid.IntRange(0, 5).Draw(t, p) > 0 {
			rec.Plan.Places = append(rec.Plan.Places, p)
			rec.Places = append(rec.Places, record.Place{Name: p, CPUs: []int{0}})
		}
	}
	rec.Target.Drives = []record.Drive{{Name: "sda"}}
	base := rapid.Int64Range(0, 1_000_000).Draw(t, "base")
	for i := range rec.Plan.Phases {
		j := &rec.Plan.Phases[i]
		round := record.Round{Phase: j.Name}
		for _, place := range rec.Plan.Places {
			for range 2 {
				rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: j.Name, Place: place})
				if rapid.IntRange(0, 30).Draw(t, "left out") == 0 {
					continue
				}
				p := pass(j, place, base*rapid.Int64Range(85, 105).Draw(t, "ios")/100)
				switch rapid.IntRange(0, 40).Draw(t, "odd") {
				case 0:
					p.Outcome = nil
				case 1:
					p.Failed = &record.Failure{Code: record.FailIO}
				case 2:
					p.Outcome.EndNS = rapid.Int64().Draw(t, "end")
				case 3:
					if f := flow(j, p.Outcome); f != nil {
						f.IOs, f.Bytes = rapid.Int64().Draw(t, "any"), rapid.Int64().Draw(t, "any bytes")
					}
				}
				b := rapid.Int64Range(80, 100).Draw(t, "busy")
				p.Watch.Before = &record.Sample{CPUs: map[int]record.CPUTime{0: {}}, Devices: map[string]record.DeviceCounters{"sda": {}}}
				p.Watch.After = &record.Sample{CPUs: map[int]record.CPUTime{0: {BusyNS: b, TotalNS: 100}},
					Devices: map[string]record.DeviceCounters{"sda": {ReadBytes: rapid.Int64Range(0, 9e9).Draw(t, "device")}}}
				round.Passes = append(round.Passes, p)
			}
		}
		rec.Rounds = append(rec.Rounds, round)
	}
	return rec
}

func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Compute(draw(t))
		for _, ph := range r.Phases {
			l := ph.Loss
			if l.Total == nil || l.CPUs == nil || l.Container == nil {
				continue
			}
			if l.CPUs.Tenths+l.Container.Tenths != l.Total.Tenths {
				t.Fatalf("%d + %d != %d", l.CPUs.Tenths, l.Container.Tenths, l.Total.Tenths)
			}
			for _, p := range []*Part{l.Total, l.CPUs, l.Container} {
				if d := math.Abs(float64(p.Tenths) - p.Fraction*1000); d > 1.0001 {
					t.Fatalf("%d tenths stand for %g", p.Tenths, p.Fraction)
				}
			}
		}
	})
}

func TestNumbersAreFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, ph := range Compute(draw(t)).Phases {
			for _, p := range ph.Places {
				for _, v := range []*float64{p.IOPS, p.BytesPerSec, p.MaxIOPS, p.CPUBusy, p.UserNS, p.SystemNS, p.DeviceRatio, p.Spread} {
					if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0) || *v < 0) {
						t.Fatalf("%+v holds %g", p, *v)
					}
				}
			}
		}
	})
}

// TestVerdictFollowsFromTheTable checks each finding against the parts that it
// claims, in every way in which it could claim more.
func TestVerdictFollowsFromTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := draw(t)
		r := Compute(rec)
		v := r.Verdict
		lost := func(p *Part) bool { return p.Shown() && p.Tenths < 0 }
		gained := func(p *Part) bool { return p.Shown() && p.Tenths > 0 }
		any := func(f func(l *Loss) bool) bool {
			return slices.ContainsFunc(r.Phases, func(p Phase) bool { return f(&p.Loss) })
		}
		if (v.Phase == "") != slices.Contains([]Finding{FindNothingMeasured, FindNoComparison, FindNoHost, FindNoLoss}, v.Finding) {
			t.Fatalf("%s about phase %q", v.Finding, v.Phase)
		}
		if r.Passes < r.Planned && !slices.Contains(v.Reserves, ReserveIncomplete) {
			t.Fatalf("%d of %d passes without a reserve", r.Passes, r.Planned)
		}
		containerLost := any(func(l *Loss) bool { return lost(l.Container) })
		var l Loss
		if ph := r.Phase(v.Phase); ph != nil {
			l = ph.Loss
			for _, p := range ph.Places {
				if p.Passes < p.Planned {
					t.Fatalf("a verdict on %s, of which passes are missing", v.Phase)
				}
			}
		}
		ok := true
		switch v.Finding {
		case FindContainer:
			ok = lost(l.Container)
		case FindCPUs:
			ok = lost(l.Total) && lost(l.CPUs) && !containerLost
		case FindUnsplit:
			ok = lost(l.Total) && !lost(l.CPUs) && !lost(l.Container) && !l.NotSeparable
		case FindNotSeparable:
			ok = lost(l.Total) && l.NotSeparable && l.CPUs == nil
		case FindHostCPUs:
			ok = lost(l.CPUs) && !any(func(l *Loss) bool { return lost(l.Total) }) && !containerLost
		case FindFaster:
			ok = (gained(l.Total) || gained(l.CPUs) || gained(l.Container)) &&
				!any(func(l *Loss) bool { return lost(l.Total) || lost(l.CPUs) || lost(l.Container) })
		case FindNoLoss:
			ok = !any(func(l *Loss) bool { return l.Total.Shown() || l.CPUs.Shown() || l.Container.Shown() })
		}
		if !ok {
			t.Fatalf("%s does not follow from %+v", v.Finding, l)
		}
		for _, ph := range r.Phases {
			for _, p := range []*Part{ph.Loss.Total, ph.Loss.CPUs, ph.Loss.Container} {
				if p.Shown() && (math.Abs(p.Fraction) <= 0.05 || p.Margin == nil) {
					t.Fatalf("%g counts as shown, with margin %v", p.Fraction, p.Margin)
				}
			}
			if ph.Loss.CPULimited && ph.Place(record.PlacePinned) != nil && *ph.Place(record.PlacePinned).CPUBusyLeast < 0.95 {
				t.Fatal("a CPU limit below 95 %")
			}
		}
	})
}

// A calibration says what the engine could do; only what comes near to it on the
// CPUs that its jobs can use is doubted.
func TestToolLimit(t *testing.T) {
	const perCPU = 1e6 // in batches of 32, and one at a time
	c := record.Calibration{NopsPerSec: perCPU, SinglesPerSec: perCPU / 2, Batch: 32, Engine: record.Engine{Name: "io_uring"}}
	two32 := two(job.RandRead4K, map[string][2]int64{
		record.PlaceHost:   same(2 * 1.7e6), // in two seconds, on two CPUs with more jobs
		record.PlacePinned: same(2 * 1.5e6),
	})
	if j := two32.Plan.Phases[0]; j.IODepth != 32 || j.NumJobs < 2 {
		t.Fatalf("the phase has iodepth %d and %d jobs", j.IODepth, j.NumJobs)
	}
	doubted := func(rec *record.Record) (places []string) {
		for _, w := range Compute(rec).Warnings {
			if w.Code == record.WarnToolLimit {
				places = append(places, w.Place)
				if math.Abs(w.Values["share"]-0.85) > 1e-9 || math.Abs(w.Values["limit"]-2*perCPU) > 1 {
					t.Errorf("values are %v", w.Values)
				}
			}
		}
		return places
	}
	if got := doubted(two32); got != nil {
		t.Errorf("without a calibration %v are doubted", got)
	}
	two32.Calibration = &c
	if got := doubted(two32); !slices.Equal(got, []string{record.PlaceHost}) {
		t.Errorf("%v are doubted, want the host, at 85 %%", got)
	}
	two32.Places[0].Worker = &record.Worker{Engine: record.Engine{Name: "fio"}}
	if got := doubted(two32); got != nil {
		t.Errorf("of another engine %v are doubted", got)
	}
	two32.Places[0].Worker, two32.Places[0].CPUs = nil, nil
	if got := doubted(two32); got != nil {
		t.Errorf("with unknown CPUs %v are doubted", got)
	}
}
