package analysis

import (
	"maps"
	"slices"
	"strings"
)

// A sensor is one temperature over a run.
type sensor struct {
	name     string
	min, max int64
	times    []int64 // CLOCK_MONOTONIC
	values   []int64
	jumps    bool
}

// stuck reports whether a sensor never moved: it then tells nothing.
func (n *sensor) stuck() bool { return n.max-n.min < 2000 }

// lies reports whether what a sensor says is no temperature of anything.
func (n *sensor) lies() bool { return n.jumps || n.min < -20_000 || n.max > 150_000 }

// at is the reading nearest to a time, within 1.6 seconds.
func (n *sensor) at(mono int64) (int64, bool) {
	i, _ := slices.BinarySearch(n.times, mono)
	best, ok := int64(0), false
	dist := int64(1_600_000_000)
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(n.times) && max(n.times[k]-mono, mono-n.times[k]) < dist {
			best, ok, dist = n.values[k], true, max(n.times[k]-mono, mono-n.times[k])
		}
	}
	return best, ok
}

// in returns the readings of a time.
func (n *sensor) in(from, until int64) []int64 {
	i, _ := slices.BinarySearch(n.times, from)
	j, _ := slices.BinarySearch(n.times, until+1)
	return n.values[i:max(i, j)]
}

func sensorsOf(ts []*track) []*sensor {
	m := map[string]*sensor{}
	for _, t := range ts {
		for _, s := range t.samples {
			for name, v := range s.Temperatures {
				n := m[name]
				if n == nil {
					n = &sensor{name: name, min: v, max: v}
					m[name] = n
				}
				if k := len(n.times); k > 0 {
					if s.MonoNS <= n.times[k-1] {
						continue
					}
					if d := v - n.values[k-1]; s.MonoNS-n.times[k-1] <= 1_500_000_000 && max(d, -d) > mostJump {
						n.jumps = true
					}
				}
				n.min, n.max = min(n.min, v), max(n.max, v)
				n.times, n.values = append(n.times, s.MonoNS), append(n.values, v)
			}
		}
	}
	var all []*sensor
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[name])
	}
	return all
}

func (s *search) sensor(name string) *sensor {
	for _, n := range s.sensors {
		if n.name == name {
			return n
		}
	}
	return nil
}

func isComposite(name string) bool { return strings.HasSuffix(name, " Composite") }

// slope is that of a line through the readings of a time, in millidegrees a
// second; 0 with fewer than three.
func (n *sensor) slope(from, until int64) float64 {
	i, _ := slices.BinarySearch(n.times, from)
	j, _ := slices.BinarySearch(n.times, until+1)
	if j-i < 3 {
		return 0
	}
	var x, y []float64
	for k := i; k < j; k++ {
		x, y = append(x, float64(n.times[k]-from)/1e9), append(y, float64(n.values[k]))
	}
	mx, my := mean(x), mean(y)
	var sxx, sxy float64
	for k := range x {
		sxx += (x[k] - mx) * (x[k] - mx)
		sxy += (x[k] - mx) * (y[k] - my)
	}
	return sxy / sxx
}

// settled is the highest reading at the end of a drop that lasts to the end of its
// pass, for long enough for a sensor that lags; false where it has none.
func (n *sensor) settled(t *track, d *Drop) (int64, bool) {
	if d.Recovered || d.Cycles > 1 {
		return 0, false
	}
	end := t.startNS + d.UntilNS
	v := n.in(max(t.startNS+d.OnsetNS+d.FallNS, end-25e9), end)
	if len(v) < 15 {
		return 0, false
	}
	return slices.Max(v[2*len(v)/3:]), true
}
