package vm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

const (
	fullSpeed = 1 << 20 // bytes a second: far below what the emulation reaches even on a busy machine, and so steady
	throttled = fullSpeed / 4
	cool      = 313 // K
	tooHot    = 345 // above WCTEMP
)

// A throttling of the drive during one pass, in nanoseconds of the guest's
// CLOCK_MONOTONIC: it began and ended between these.
type injected struct{ beganFrom, beganTo, endedFrom, endedTo int64 }

// now reads the guest's clock.
func (m *machine) now() int64 {
	m.t.Helper()
	up, _, _ := strings.Cut(m.sh("cat /proc/uptime"), " ")
	s, err := strconv.ParseFloat(up, 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return int64(s * 1e9)
}

// heat changes the temperature of the drive by no more than what a drive can do.
func (m *machine) heat(from, to uint16) {
	m.t.Helper()
	for from != to {
		if from < to {
			from = min(to, from+2)
		} else {
			from = max(to, from-2)
		}
		m.setTemperature("nvme0", from)
		time.Sleep(300 * time.Millisecond)
	}
}

// slowDown throttles the drive in the middle of the pass that is about to
// begin; a hot drive gets hot before, and cools down with it.
func (m *machine) slowDown(hot bool) (in injected) {
	m.t.Helper()
	time.Sleep(4 * time.Second) // the pass begins within a second or two
	if hot {
		m.heat(cool, tooHot)
	} else {
		time.Sleep(5 * time.Second)
	}
	in.beganFrom = m.now()
	m.throttle("nvme0", throttled)
	in.beganTo = m.now()
	time.Sleep(9 * time.Second)
	in.endedFrom = m.now()
	m.throttle("nvme0", fullSpeed)
	in.endedTo = m.now()
	if hot {
		m.heat(tooHot, cool)
	}
	return in
}

// The same throttling in mid-run of four passes, on the host and in a
// container: with a temperature that rises to the drive's limit it is found and
// named heat, without one it is found and named anything but.
func TestThrottling(t *testing.T) {
	c := nvmeDrive()
	c.alone = true
	m := boot(t, c)
	m.loadNVMe("", "nvme0n1")
	m.ext4("/dev/nvme0n1", "/mnt/d")
	m.setTemperature("nvme0", cool)
	p := m.start(m.bench("/mnt/d", "--places", "host,lxc", "--runtime", "64s", "--cool-down", "0")...)
	p.untilSaid("Test file written")
	m.throttle("nvme0", fullSpeed)
	var done []injected
	hot := []bool{true, true, false, false}
	for i, h := range hot {
		if i > 0 {
			p.untilSaid(fmt.Sprintf("%d/4", i))
		}
		done = append(done, m.slowDown(h))
	}
	rec := p.wait().want(t, 0).record(t)
	m.nothingLeft("/mnt/d")

	var passes []record.Pass
	for _, r := range rec.Rounds {
		passes = append(passes, r.Passes...)
	}
	if len(passes) != len(hot) {
		t.Fatalf("%d passes, want %d", len(passes), len(hot))
	}
	res := analysis.Compute(rec)
	hotPlaces := map[string]bool{}
	for i, pass := range passes {
		what := fmt.Sprintf("pass %d, %s, hot %v", i, pass.Place, hot[i])
		start := pass.Outcome.StartNS
		var found *analysis.Drop
		for k := range res.Drops {
			d := &res.Drops[k]
			if d.Pass != pass.Index {
				continue
			}
			t.Logf("%s: a drop of %.0f %% from %.1f to %.1f s (recovered %v): %s", what, 100*d.Depth, float64(d.OnsetNS)/1e9, float64(d.UntilNS)/1e9, d.Recovered, causes(d))
			// A second is the resolution of a pass's series.
			if at := start + d.OnsetNS; at > done[i].beganFrom-3e9 && at < done[i].beganTo+3e9 {
				found = d
			} else if thermal(d) {
				t.Errorf("%s: heat at %.1f s, where nothing was done", what, float64(d.OnsetNS)/1e9)
			}
		}
		if found == nil {
			t.Errorf("%s: the throttling from %.1f to %.1f s was not found\n%s", what, float64(done[i].beganFrom-start)/1e9, float64(done[i].endedTo-start)/1e9, series(&pass))
			continue
		}
		if !found.Recovered || start+found.UntilNS < done[i].endedFrom-3e9 {
			t.Errorf("%s: recovered %v at %.1f s, want at %.1f s", what, found.Recovered, float64(found.UntilNS)/1e9, float64(done[i].endedFrom-start)/1e9)
		}
		if found.Depth < 0.6 || found.Depth > 0.9 { // three quarters
			t.Errorf("%s: depth %.2f, want 0.75", what, found.Depth)
		}
		if thermal(found) != hot[i] {
			t.Errorf("%s: named %s", what, causes(found))
		}
		if hot[i] {
			hotPlaces[pass.Place] = true
		}
	}
	for _, h := range res.Heat {
		o := h.Onset
		if o == nil {
			t.Errorf("heat in %s without the temperature of its onset", h.Place)
			continue
		}
		t.Logf("heat in %s from %d to %d m°C of %s, peak %d, after %.1f s", h.Place, o.FromMC, o.ToMC, o.Sensor, o.PeakMC, float64(h.AfterNS)/1e9)
		const real = tooHot*1000 - 273150
		if o.Sensor != "nvme0 Composite" || o.FromMC > real+2000 || o.ToMC < real-4000 {
			t.Errorf("heat in %s began from %d to %d m°C of %q, want %d of nvme0 Composite", h.Place, o.FromMC, o.ToMC, o.Sensor, real)
		}
		delete(hotPlaces, h.Place)
	}
	if len(hotPlaces) > 0 {
		t.Errorf("no result of heat for %v", hotPlaces)
	}
}

// thermal reports whether a drop is called heat.
func thermal(d *analysis.Drop) bool {
	return slices.ContainsFunc(d.Causes, func(c analysis.Cause) bool {
		return (c.Kind == analysis.CauseThermal || c.Kind == analysis.CauseThermalLink) && (c.Confidence == analysis.Strong || c.Confidence == analysis.Decisive)
	})
}

func causes(d *analysis.Drop) string {
	var s []string
	for _, c := range d.Causes {
		s = append(s, fmt.Sprintf("%s (%v)", c.Kind, c.Confidence))
	}
	return strings.Join(s, ", ")
}

// series is what a pass did and what it felt, second by second.
func series(p *record.Pass) string {
	var b strings.Builder
	for _, iv := range p.Intervals {
		fmt.Fprintf(&b, "%.1f s: %d reads\n", float64(iv.EndNS)/1e9, iv.ReadIOs)
	}
	for _, s := range p.Watch.Samples {
		fmt.Fprintf(&b, "%.1f s: %v\n", float64(s.MonoNS-p.Outcome.StartNS)/1e9, s.Temperatures)
	}
	return b.String()
}
