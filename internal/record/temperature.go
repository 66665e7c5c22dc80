package record

import (
	"maps"
	"slices"
	"strings"
)

// Temperature is the one reading to name where there is room for one: the
// hottest composite temperature, which is what drives throttle by and thresholds
// are about; the hottest other sensor only where there is no composite, because
// an NVMe drive's further sensors are of no known place. It returns the sensor's
// name and false where the sample has no temperature.
func (s *Sample) Temperature() (sensor string, mc int64, ok bool) {
	composite := false
	for _, name := range slices.Sorted(maps.Keys(s.Temperatures)) {
		t, c := s.Temperatures[name], strings.HasSuffix(name, " Composite")
		if !ok || c && !composite || c == composite && t > mc {
			sensor, mc, composite, ok = name, t, c, true
		}
	}
	return sensor, mc, ok
}
