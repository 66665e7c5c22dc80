package analysis

import (
	"maps"
	"slices"

	"nativ/internal/record"
)

// A Meanwhile is what the host saw of drives and CPUs over a whole run, beside
// temperatures. What could not be read is missing.
type Meanwhile struct {
	Health []HealthChange
	Links  []LinkChange
	Errors []PCIeErrors
	CPU    CPUChange
	Waits  CoolDowns
	Costs  []Cost
}

// A HealthChange is the health log of one controller at the first and the last
// reading of a run.
type HealthChange struct {
	Controller  string
	First, Last record.Health
	// Warning is every bit of the critical warning that any reading had.
	Warning uint8
}

// A LinkChange is a PCIe link over a run: how it was first, and the least that it
// was, by the bytes that it carries.
type LinkChange struct {
	Address      string
	First, Least record.LinkState
}

// PCIeErrors are the errors that one PCIe function counted in a run.
type PCIeErrors struct {
	Address string
	record.AER
}

// A CPUChange is about the CPUs of the machine. Nil is what was not read.
type CPUChange struct {
	// LowHz and HighHz are the lowest and the highest mean over the CPUs.
	LowHz, HighHz *int64
	// Throttles counts thermal throttling of cores and packages.
	Throttles *int64
	// LowMC and HighMC are the range of the package's temperature.
	LowMC, HighMC *int64
}

// CoolDowns are the waits before the passes of a run.
type CoolDowns struct {
	// N counts those that waited at all, Limit and Steady those of them that
	// ended above the band.
	N, Limit, Steady int
	// WaitedNS is all of them together, LongestNS the longest.
	WaitedNS, LongestNS int64
}

// A Cost is how long reading a source took, in nanoseconds, by its kind and name
// as in record.Sample.CostNS.
type Cost struct {
	Source        string
	MeanNS, MaxNS int64
	N             int
}

// See goes over every sample of a run.
func See(rec *record.Record) Meanwhile {
	var m Meanwhile
	health := map[string]*HealthChange{}
	links := map[string]*LinkChange{}
	firstAER, lastAER := map[string]record.AER{}, map[string]record.AER{}
	var firstThrottles, lastThrottles *int64
	costs := map[string]*Cost{}
	wider := func(low, high **int64, v int64) {
		if *low == nil {
			*low, *high = new(v), new(v)
		}
		**low, **high = min(**low, v), max(**high, v)
	}
	see := func(s *record.Sample) {
		for name, h := range s.Health {
			c := health[name]
			if c == nil {
				c = &HealthChange{Controller: name, First: h}
				health[name] = c
			}
			c.Last = h
			c.Warning |= h.CriticalWarning
		}
		for name, l := range s.Links {
			c := links[name]
			if c == nil {
				c = &LinkChange{name, l, l}
				links[name] = c
			}
			if LinkBytes(l.SpeedMTs, l.Width) < LinkBytes(c.Least.SpeedMTs, c.Least.Width) {
				c.Least = l
			}
		}
		for name, a := range s.AER {
			if _, ok := firstAER[name]; !ok {
				firstAER[name] = a
			}
			lastAER[name] = a
		}
		if len(s.CPUHz) > 0 {
			var sum int64
			for _, hz := range s.CPUHz {
				sum += hz
			}
			wider(&m.CPU.LowHz, &m.CPU.HighHz, sum/int64(len(s.CPUHz)))
		}
		if t := s.CPUThermal; t != nil {
			if t.PackageMC != nil {
				wider(&m.CPU.LowMC, &m.CPU.HighMC, *t.PackageMC)
			}
			var n int64
			for _, p := range []*int64{t.CoreThrottles, t.PackageThrottles} {
				if p != nil {
					n += *p
				}
			}
			if t.CoreThrottles != nil || t.PackageThrottles != nil {
				if firstThrottles == nil {
					firstThrottles = &n
				}
				lastThrottles = &n
			}
		}
		for name, ns := range s.CostNS {
			c := costs[name]
			if c == nil {
				c = &Cost{Source: name}
				costs[name] = c
			}
			c.N++
			c.MeanNS, c.MaxNS = c.MeanNS+ns, max(c.MaxNS, ns)
		}
	}
	if rec.Idle != nil {
		see(rec.Idle)
	}
	samples(rec, see)
	for _, name := range slices.Sorted(maps.Keys(health)) {
		m.Health = append(m.Health, *health[name])
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		m.Links = append(m.Links, *links[name])
	}
	for _, name := range slices.Sorted(maps.Keys(lastAER)) {
		a, b := firstAER[name], lastAER[name]
		m.Errors = append(m.Errors, PCIeErrors{name, record.AER{
			Correctable: b.Correctable - a.Correctable, NonFatal: b.NonFatal - a.NonFatal, Fatal: b.Fatal - a.Fatal}})
	}
	if firstThrottles != nil {
		m.CPU.Throttles = new(*lastThrottles - *firstThrottles)
	}
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		c := costs[name]
		c.MeanNS /= int64(c.N)
		m.Costs = append(m.Costs, *c)
	}
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			c := rec.Rounds[i].Passes[j].CoolDown
			if c == nil || c.WaitedNS <= 0 {
				continue
			}
			w := &m.Waits
			w.N++
			w.WaitedNS, w.LongestNS = w.WaitedNS+c.WaitedNS, max(w.LongestNS, c.WaitedNS)
			switch c.Ended {
			case record.CoolLimit:
				w.Limit++
			case record.CoolSteady:
				w.Steady++
			}
		}
	}
	return m
}
