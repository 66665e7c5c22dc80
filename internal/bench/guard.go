package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nativ/internal/record"
)

// A halt is why the run itself ends a pass.
type halt struct {
	// by is one of the record.End constants.
	by, detail string
}

// ends reports whether the run ends with the pass, and as what it is missing.
func (h *halt) ends() (missing string, ok bool) {
	switch {
	case h == nil:
		return "", false
	case h.by == record.EndMaxTemp:
		return record.MissingMaxTemp, true
	case h.by == record.EndHealth:
		return record.MissingHealth, true
	case h.by == record.EndReset:
		return record.MissingReset, true
	case h.by == record.EndTarget:
		return record.MissingTarget, true
	}
	return "", false
}

// A guard looks at every sample for a reason to stop: the ceiling of temperature,
// and what the drive itself gives alarm about.
type guard struct {
	ceiling *int64
	// media are the media errors of each controller when first read.
	media map[string]int64
	// seen is the MonoNS of the last sample with a temperature, blind how many
	// looks went by since.
	seen  int64
	blind int
}

// blindLimit is how many seconds a ceiling may go unwatched. A sensor that
// misses a reading is no reason to stop, one that is gone is.
const blindLimit = 30

// alarms are the bits of the critical warning that end a run. That of the
// temperature does not: the ceiling is for that, and a drive that throttles at
// its own warning is what some runs look for.
var alarms = []struct {
	bit  uint8
	name string
}{
	{record.CriticalSpare, "available spare below the threshold"},
	{record.CriticalReliability, "reliability degraded"},
	{record.CriticalReadOnly, "media read-only"},
	{record.CriticalBackup, "volatile memory backup failed"},
}

// look returns why to stop, nil to go on.
func (g *guard) look(s *record.Sample) *halt {
	if h := g.health(s); h != nil || g.ceiling == nil {
		return h
	}
	t := composites(s)
	if len(t) > 0 && s.MonoNS != g.seen {
		g.seen, g.blind = s.MonoNS, 0
	} else if g.blind++; g.blind >= blindLimit {
		return &halt{record.EndMaxTemp, fmt.Sprintf("the temperature could not be read for %d s", blindLimit)}
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if t[name] >= *g.ceiling {
			return &halt{record.EndMaxTemp, fmt.Sprintf("%s %s °C", name, celsius(t[name]))}
		}
	}
	return nil
}

func (g *guard) health(s *record.Sample) *halt {
	for _, name := range slices.Sorted(maps.Keys(s.Health)) {
		h := s.Health[name]
		var what []string
		for _, a := range alarms {
			if h.CriticalWarning&a.bit != 0 {
				what = append(what, a.name)
			}
		}
		first, ok := g.media[name]
		if !ok {
			if g.media == nil {
				g.media = map[string]int64{}
			}
			g.media[name] = h.MediaErrors
		} else if h.MediaErrors > first {
			what = append(what, fmt.Sprintf("media errors rose from %d to %d", first, h.MediaErrors))
		}
		if len(what) > 0 {
			return &halt{record.EndHealth, name + ": " + strings.Join(what, ", ")}
		}
	}
	return nil
}

// composites returns the temperatures that stand for whole drives, by sensor:
// the composite of an NVMe controller, the one of a SATA drive. Other sensors of
// NVMe drives sit anywhere, and some lie.
func composites(s *record.Sample) map[string]int64 {
	t := map[string]int64{}
	for name, mc := range s.Temperatures {
		switch _, sensor, _ := strings.Cut(name, " "); sensor {
		case "Composite", "drivetemp", "smartctl":
			t[name] = mc
		}
	}
	return t
}

// celsius is a temperature in the record's own words, which have a point.
func celsius(mc int64) string { return fmt.Sprintf("%.1f", float64(mc)/1000) }
