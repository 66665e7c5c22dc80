package e2e

import (
	"fmt"
	"testing"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// tries is how often a comparison of a few seconds may be repeated: on a noisy
// machine something else can take CPU or drive in one of its passes, which the
// analysis then rightly doubts. It does not do that three times.
const tries = 3

// A container that is held to 4,000 I/Os a second loses by the container, and
// not by its CPUs.
func TestThrottledContainer(t *testing.T) {
	needLXC(t)
	w := newWorld(t)
	disk := diskOf(t, w.dir)
	var why []string
	for range tries {
		r := w.start(w.bench("--cpus", "1", "--json")...)
		r.untilSaid("1/30")
		throttle(t, w.runID(), "ct", disk, 4000)
		rec := r.wait().want(t, 0).record(t)
		w.nothingLeft()
		if why = containerLoss(t, rec); len(why) == 0 {
			return
		}
		t.Log(why)
	}
	t.Error(why)
}

// containerLoss says what a run with a throttled container fails to show.
func containerLoss(t *testing.T, rec *record.Record) (why []string) {
	t.Helper()
	bad := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	res := analysis.Compute(rec)
	p := res.Phase(job.RandRead4K)
	host, lxc := p.Place(record.PlaceHost), p.Place(record.PlaceLXC)
	if *host.IOPS < 12000 {
		t.Skipf("needs a drive that does three times the limit; this one does %.0f IOPS", *host.IOPS)
	}
	if *lxc.IOPS > 4400 {
		t.Fatalf("the container did %.0f IOPS, held to 4000", *lxc.IOPS)
	}
	if c := p.Loss.Container; !c.Shown() || c.Fraction > -0.5 {
		bad("the container's part of the loss is %+v", *c)
	}
	// What the CPUs are said to cost is far below.
	if p.Loss.CPUs.Fraction < p.Loss.Container.Fraction/2 {
		bad("the loss is put on the CPUs: %+v", *p.Loss.CPUs)
	}
	if f := res.Verdict.Finding; f != analysis.FindContainer {
		bad("the verdict is %s", f)
	}
	return why
}

// On a drive of memory one CPU is the limit: in pinned and container alike, with
// nothing left for the container beyond noise.
func TestCPULimit(t *testing.T) {
	needLXC(t)
	if cpuCount(t) == "1" {
		t.Skip("needs two CPUs")
	}
	w := newWorld(t)
	w.dir = ext4(t, zram(t, "8G"))
	var why []string
	for range tries {
		rec := w.run(w.bench("--cpus", "1", "--size", "1G", "--runtime", "4s", "--json")...).want(t, 0).record(t)
		w.nothingLeft()
		if why = cpuLimit(t, rec); len(why) == 0 {
			return
		}
		t.Log(why)
	}
	t.Error(why)
}

// cpuLimit says what a run with one CPU on a drive of memory fails to show.
func cpuLimit(t *testing.T, rec *record.Record) (why []string) {
	t.Helper()
	bad := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	res := analysis.Compute(rec)
	p := res.Phase(job.RandRead4K)
	host, pinned, lxc := p.Place(record.PlaceHost), p.Place(record.PlacePinned), p.Place(record.PlaceLXC)
	t.Logf("host %.0f, pinned %.0f, lxc %.0f IOPS", *host.IOPS, *pinned.IOPS, *lxc.IOPS)
	if !p.Loss.CPULimited {
		bad("no CPU limit is seen: pinned %+v, container %+v busy", deref(pinned.CPUBusyLeast), deref(lxc.CPUBusyLeast))
	}
	if f := p.Loss.CPUs.Fraction; !p.Loss.CPUs.Shown() || f > -0.2 {
		bad("the CPUs' part of the loss is %+v", *p.Loss.CPUs)
	}
	// A tenth of the host is beyond what is seen between pinned and container
	// on a quiet machine.
	if c := p.Loss.Container.Fraction; p.Loss.Container.Shown() || c < -0.1 || c > 0.1 {
		bad("the container's part of the loss is %+v", *p.Loss.Container)
	}
	// GOMAXPROCS is equal in every place: with Go's default, which follows the
	// cpuset, p99 differed a hundredfold here.
	if ratio := float64(*pinned.Lat.P99) / float64(*lxc.Lat.P99); ratio < 0.25 || ratio > 4 {
		bad("p99 of pinned %d ns, of the container %d ns", *pinned.Lat.P99, *lxc.Lat.P99)
	}
	return why
}

func deref(f *float64) float64 {
	if f == nil {
		return -1
	}
	return *f
}
