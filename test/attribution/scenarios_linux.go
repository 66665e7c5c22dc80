package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sim"
)

// A scenario draws drives to which a known thing happens.
type scenario struct {
	name string
	// causes that act, and nothing else; nil is none.
	causes []analysis.CauseKind
	// hold is true where the cause acts all the time, so that there is no drop.
	hold bool
	draw func(*rand.Rand) draft
}

// hot reports whether heat slows the drives down.
func (sc *scenario) hot() bool {
	return slices.Contains(sc.causes, analysis.CauseThermal) || slices.Contains(sc.causes, analysis.CauseThermalLink)
}

type kinds = []analysis.CauseKind

// A draft is a drive and what is measured on it.
type draft struct {
	model  sim.Model
	preset job.Preset
	places []string
	// blind takes out of the record what could not be read; nil takes nothing.
	blind func(*record.Record)
}

// basic are each cause alone, none, and pairs.
func basic() []scenario {
	return []scenario{
		{"flat", nil, false, func(r *rand.Rand) draft {
			d := base(r, anyMode(r))
			d.model.Noise = sim.Noise{Second: between(r, 0.01, 0.1), Correlation: 0.7, Pass: 0.02}
			warm(r, &d, 40, 110)
			d = plain(r, d)
			d.preset.Passes = 6
			d.preset.Runtime = 6 * time.Duration(between(r, 20, 200)*1e9)
			return d
		}},
		{"heat, reads", kinds{analysis.CauseThermal}, false, func(r *rand.Rand) draft { return heated(r, reading(r)) }},
		{"heat, writes", kinds{analysis.CauseThermal}, false, func(r *rand.Rand) draft { return heated(r, writing(r)) }},
		{"heat through the link", kinds{analysis.CauseThermalLink}, false, func(r *rand.Rand) draft {
			d := base(r, []job.Mode{job.Read, job.Write}[r.IntN(2)])
			d.preset.Phases[0].BlockSize = 128 << 10
			throttle(r, &d, func(from float64) []sim.Step {
				l := *d.model.Drive.Link
				// A speed or two lower, to what bounds this load.
				s := sim.Step{Name: "link", FromCelsius: from, UntilCelsius: from - between(r, 4, 12), LinkSpeedMTs: max(2500, l.SpeedMTs/4), LinkWidth: l.Width}
				if r.IntN(2) == 0 {
					s.LinkSpeedMTs, s.LinkWidth = l.SpeedMTs, 1
				}
				return []sim.Step{s}
			})
			return heatRun(r, d)
		}},
		{"SLC cache", kinds{analysis.CauseSLC}, false, func(r *rand.Rand) draft {
			d := base(r, writing(r))
			warm(r, &d, 38, 65)
			cached(r, &d)
			return fillRun(r, d)
		}},
		{"SLC cache, hot drive", kinds{analysis.CauseSLC}, false, func(r *rand.Rand) draft {
			d := base(r, writing(r))
			warm(r, &d, 75, 100)
			cached(r, &d)
			return heatRun(r, d)
		}},
		{"garbage collection", kinds{analysis.CauseGC}, false, func(r *rand.Rand) draft {
			d := base(r, job.RandWrite)
			warm(r, &d, 38, 65)
			written := speedOf(&d) * between(r, 30, 100)
			d.model.GC = &sim.GC{AfterBytes: int64(written), RampBytes: int64(speedOf(&d) * between(r, 15, 60)), Speed: between(r, 0.1, 0.6), RecoverBytesPerSecond: between(r, 1e7, 5e8)}
			return fillRun(r, d)
		}},
		{"neighbour", kinds{analysis.CauseNeighbour}, false, func(r *rand.Rand) draft {
			return happening(r, anyMode(r), func(e *sim.Event) { e.Kind, e.Writes = sim.EventNeighbour, r.IntN(2) == 0 })
		}},
		{"CPU quota", kinds{analysis.CauseCgroup}, false, func(r *rand.Rand) draft {
			d := happening(r, []job.Mode{job.RandRead, job.RandWrite}[r.IntN(2)], func(e *sim.Event) { e.Kind, e.Share = sim.EventCPUQuota, 0 })
			d.places = []string{record.PlacePinned}
			need := busyCPUs(r, &d, 4)
			d.model.Events[0].CPUs = need * between(r, 0.3, 0.8)
			return d
		}},
		{"CPU frequency", kinds{analysis.CauseCPUFrequency}, false, func(r *rand.Rand) draft {
			d := happening(r, []job.Mode{job.RandRead, job.RandWrite}[r.IntN(2)], func(e *sim.Event) {
				e.Kind, e.Hot = sim.EventCPUFrequency, r.IntN(2) == 0
				e.Share = between(r, 0.2, 0.6)
			})
			d.places = []string{record.PlacePinned}
			busyCPUs(r, &d, 4)
			c := &d.model.Machine
			c.ReadIOPSPerCPU, c.WriteIOPSPerCPU = c.ReadIOPSPerCPU*0.8, c.WriteIOPSPerCPU*0.8 // CPUs are the limit
			return d
		}},
		{"other load on the CPUs", kinds{analysis.CauseCPULoad}, false, func(r *rand.Rand) draft {
			d := happening(r, []job.Mode{job.RandRead, job.RandWrite}[r.IntN(2)], func(e *sim.Event) {
				e.Kind, e.Share = sim.EventCPULoad, between(r, 0.3, 0.7)
			})
			d.places = []string{record.PlacePinned}
			busyCPUs(r, &d, 4)
			return d
		}},
		{"link falls", kinds{analysis.CauseLink}, false, func(r *rand.Rand) draft {
			d := happening(r, []job.Mode{job.Read, job.Write}[r.IntN(2)], func(e *sim.Event) { e.Kind, e.Share = sim.EventLink, 0 })
			d.preset.Phases[0].BlockSize = 128 << 10
			l, e := d.model.Drive.Link, &d.model.Events[0]
			e.SpeedMTs, e.Width = max(2500, l.SpeedMTs/4), l.Width
			if r.IntN(2) == 0 {
				e.SpeedMTs, e.Width = l.SpeedMTs, 1
			}
			return d
		}},
		{"device errors", kinds{analysis.CauseErrors}, false, func(r *rand.Rand) draft {
			return happening(r, anyMode(r), func(e *sim.Event) {
				if e.Kind = sim.EventMediaErrors; r.IntN(2) == 0 {
					e.Kind, e.Share, e.UntilSeconds = sim.EventReset, 0, e.FromSeconds+between(r, 9, 25)
				}
			})
		}},
		{"something unseen", kinds{analysis.CauseUnknown}, false, func(r *rand.Rand) draft {
			return happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
		}},
		{"something unseen, hot drive", kinds{analysis.CauseUnknown}, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			warm(r, &d, 75, 105)
			return d
		}},
		{"heat and SLC cache", kinds{analysis.CauseThermal, analysis.CauseSLC}, false, func(r *rand.Rand) draft {
			d := heated(r, job.Write)
			cached(r, &d)
			// What is left must still heat the drive.
			d.model.SLC.DirectBytesPerSecond = speedOf(&d) * between(r, 0.5, 0.85)
			return d
		}},
		{"heat and neighbour", kinds{analysis.CauseThermal, analysis.CauseNeighbour}, false, func(r *rand.Rand) draft {
			d := heated(r, reading(r))
			pass := 0
			d.model.Events = []sim.Event{{Kind: sim.EventNeighbour, Pass: &pass, FromSeconds: between(r, 12, 25), Share: between(r, 0.3, 0.5)}}
			d.model.Events[0].UntilSeconds = d.model.Events[0].FromSeconds + between(r, 15, 40)
			return d
		}},
		{"link slow from the start", kinds{analysis.CauseLink}, true, func(r *rand.Rand) draft {
			d := base(r, []job.Mode{job.Read, job.Write}[r.IntN(2)])
			warm(r, &d, 38, 65)
			d.preset.Phases[0].BlockSize = 128 << 10
			l := d.model.Drive.Link
			if r.IntN(2) == 0 {
				l.Width, l.PortMaxWidth = 1, 4
			} else {
				l.SpeedMTs = max(2500, l.SpeedMTs/4)
				l.PortMaxSpeedMTs = l.SpeedMTs
			}
			return plain(r, d)
		}},
		{"power state", kinds{analysis.CausePowerState}, true, func(r *rand.Rand) draft {
			d := base(r, anyMode(r))
			warm(r, &d, 38, 65)
			d.model.Drive.PowerStatesWatts = []float64{between(r, 6, 12), between(r, 3.5, 5), between(r, 1.5, 3)}
			d.model.Drive.PowerState = 1 + r.IntN(2)
			d.model.Drive.PowerStateSpeed = between(r, 0.2, 0.7)
			return plain(r, d)
		}},
		{"few CPUs", kinds{analysis.CauseCPULimit}, true, func(r *rand.Rand) draft {
			d := base(r, []job.Mode{job.RandRead, job.RandWrite}[r.IntN(2)])
			warm(r, &d, 38, 65)
			d.places = []string{record.PlacePinned}
			busyCPUs(r, &d, 4)
			c := &d.model.Machine
			f := between(r, 0.3, 0.8)
			c.ReadIOPSPerCPU, c.WriteIOPSPerCPU = c.ReadIOPSPerCPU*f, c.WriteIOPSPerCPU*f
			return plain(r, d)
		}},
	}
}

func between(r *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }

// around draws evenly over orders of magnitude.
func around(r *rand.Rand, lo, hi float64) float64 {
	return math.Exp(between(r, math.Log(lo), math.Log(hi)))
}

func anyMode(r *rand.Rand) job.Mode {
	return []job.Mode{job.Read, job.Write, job.RandRead, job.RandWrite}[r.IntN(4)]
}
func reading(r *rand.Rand) job.Mode { return []job.Mode{job.Read, job.RandRead}[r.IntN(2)] }
func writing(r *rand.Rand) job.Mode { return []job.Mode{job.Write, job.RandWrite}[r.IntN(2)] }

// base is a drive of any kind, cold and without faults, and one phase.
func base(r *rand.Rand, mode job.Mode) draft {
	m := sim.Model{Name: "drawn", Kind: "archetype", About: "A drive drawn at random."}
	mts := []int{8000, 16000, 32000}[r.IntN(3)]
	carries := analysis.LinkBytes(mts, 4)
	m.Drive = sim.Identity{Model: "drawn at random", Transport: "nvme", CapacityBytes: int64(around(r, 0.25e12, 8e12)), FSType: "ext4",
		Link: &sim.Link{SpeedMTs: mts, Width: 4, MaxSpeedMTs: mts, MaxWidth: 4, PortMaxSpeedMTs: mts, PortMaxWidth: 4}}
	m.Drive.FreeBytes = m.Drive.CapacityBytes / 2
	m.Drive.PowerStatesWatts = []float64{9, 9, 9}
	m.Thermal.IdleWatts = between(r, 0.3, 1.5)
	limit := func(v float64) sim.Limit {
		active := m.Thermal.IdleWatts + between(r, 0.3, 1.5)
		return sim.Limit{PerSecond: v, WattsActive: active, WattsFull: active + between(r, 2, 9)}
	}
	read := carries * between(r, 0.5, 0.85)
	m.Limits = sim.Limits{
		ReadBytes: limit(read), WriteBytes: limit(read * between(r, 0.5, 1)),
		ReadIOPS: limit(around(r, 1.5e5, 1.5e6)), WriteIOPS: limit(around(r, 1e5, 1.2e6)),
		ReadSeconds: between(r, 40e-6, 80e-6), WriteSeconds: between(r, 10e-6, 30e-6), FlushSeconds: between(r, 1e-4, 2e-3), LatencySpread: 0.3,
	}
	cpus := 4 + r.IntN(20)
	m.Machine = sim.Computer{CPUModel: "drawn", OS: "drawn", Kernel: "6.0", MemoryBytes: 32 << 30, PerformanceCPUs: cpus, CPUHz: between(r, 2e9, 5e9),
		// The host's CPUs are no limit.
		ReadIOPSPerCPU: m.Limits.ReadIOPS.PerSecond * between(r, 1.5, 4) / float64(cpus), WriteIOPSPerCPU: m.Limits.WriteIOPS.PerSecond * between(r, 1.5, 4) / float64(cpus)}
	m.Noise = sim.Noise{Second: around(r, 0.002, 0.05), Correlation: between(r, 0, 0.7), Pass: between(r, 0, 0.03)}
	ph := job.Phase{Name: "phase", Mode: mode, BlockSize: 128 << 10, IODepth: 32, NumJobs: 4, Direct: true, RuntimeNS: 1e9}
	if mode.Random() {
		ph.BlockSize = 4096
	} else {
		ph.Split = true
	}
	return draft{model: m, places: []string{record.PlaceHost}, preset: job.Preset{Name: "drawn", Phases: []job.Phase{ph}, FileSize: 16 << 30}}
}

// limitOf is the limit of the drive that bounds its phase.
func limitOf(d *draft) *sim.Limit {
	l, ph := &d.model.Limits, &d.preset.Phases[0]
	ios, bytes := &l.ReadIOPS, &l.ReadBytes
	if ph.Mode.Writes() {
		ios, bytes = &l.WriteIOPS, &l.WriteBytes
	}
	if ios.PerSecond < bytes.PerSecond/float64(ph.BlockSize) {
		return ios
	}
	return bytes
}

// speedOf is its speed in bytes a second.
func speedOf(d *draft) float64 {
	l := limitOf(d)
	if l == &d.model.Limits.ReadIOPS || l == &d.model.Limits.WriteIOPS {
		return l.PerSecond * float64(d.preset.Phases[0].BlockSize)
	}
	return l.PerSecond
}

// warm gives the drive a network of heat that settles, under its load, at a
// junction between two temperatures.
func warm(r *rand.Rand, d *draft, lo, hi float64) (settles float64) {
	t := &d.model.Thermal
	watts := limitOf(d).WattsFull
	t.AmbientCelsius = between(r, 18, min(40, lo-10))
	settles = between(r, lo, hi)
	all := (settles - t.AmbientCelsius) / watts
	t.JunctionKelvinPerWatt = min(between(r, 0.8, 3), all/2)
	t.BoardKelvinPerWatt = all - t.JunctionKelvinPerWatt
	t.JunctionJoulesPerKelvin = between(r, 1.5, 6)
	t.BoardJoulesPerKelvin = between(r, 40, 300) / t.BoardKelvinPerWatt
	sensors(r, d, between(r, 84, 100))
	return settles
}

// sensors draws what can be read: a composite that is of the junction or of the
// board, and others, some of which tell nothing. junction is the temperature of
// the junction near to which the drive warns.
func sensors(r *rand.Rand, d *draft, junction float64) {
	t := &d.model.Thermal
	node := func() string { return []string{"junction", "board"}[r.IntN(2)] }
	composite := sim.Sensor{Number: 0, Node: node(), OffsetKelvin: between(r, -3, 3), LagSeconds: between(r, 0, 3)}
	warn := junction + composite.OffsetKelvin
	if composite.Node == "board" {
		warn -= t.JunctionKelvinPerWatt * limitOf(d).WattsFull
	}
	warn = math.Round(warn + between(r, -2, 7))
	critical := warn + between(r, 2, 5)
	d.model.Drive.WCTEMP, d.model.Drive.CCTEMP = &warn, &critical
	if r.IntN(6) == 0 {
		d.model.Drive.WCTEMP, d.model.Drive.CCTEMP = nil, nil
	}
	d.model.Sensors = []sim.Sensor{composite}
	for n := range r.IntN(3) {
		s := sim.Sensor{Number: n + 1, Node: node(), OffsetKelvin: between(r, -3, 3), LagSeconds: between(r, 0, 3)}
		if r.IntN(5) == 0 {
			stuck := math.Round(between(r, 30, 90))
			s.StuckCelsius = &stuck
		}
		d.model.Sensors = append(d.model.Sensors, s)
	}
}

// throttle makes a drive get too hot in its load, with steps that the junction
// turns on.
func throttle(r *rand.Rand, d *draft, steps func(from float64) []sim.Step) {
	settles := warm(r, d, 100, 145)
	from := between(r, 75, min(108, settles-10))
	d.model.Thermal.Throttle = steps(from)
	sensors(r, d, from)
}

// heated is a drive that throttles in one of the ways that drives have.
func heated(r *rand.Rand, mode job.Mode) draft {
	d := base(r, mode)
	throttle(r, &d, func(from float64) []sim.Step {
		tmt := 0
		if r.IntN(4) == 0 {
			tmt = 1
		}
		if r.IntN(3) == 0 { // all or nothing
			return []sim.Step{{Name: "on", FromCelsius: from, UntilCelsius: from - between(r, 3, 12), Speed: between(r, 0.05, 0.5), TMT: tmt}}
		}
		n := 2 + r.IntN(7)
		least, apart, back := between(r, 0.05, 0.4), between(r, 1, 3), between(r, 1, 4)
		var all []sim.Step
		for i := range n {
			at := from + float64(i)*apart
			all = append(all, sim.Step{Name: "step", FromCelsius: at, UntilCelsius: at - back, Speed: 1 - (1-least)*float64(i+1)/float64(n), TMT: tmt})
		}
		return all
	})
	return heatRun(r, d)
}

// cached gives the drive a cache that its load fills within two minutes.
func cached(r *rand.Rand, d *draft) {
	fills := speedOf(d) * between(r, 20, 100)
	speed := speedOf(d)
	s := &sim.SLC{SizeBytes: int64(fills), DirectBytesPerSecond: speed * between(r, 0.15, 0.6),
		RecoverAfterSeconds: between(r, 1, 60), RecoverBytesPerSecond: around(r, 5e7, 2e9)}
	if r.IntN(3) == 0 {
		s.DirectBytes = int64(s.DirectBytesPerSecond * between(r, 30, 90))
		s.FoldingBytesPerSecond = s.DirectBytesPerSecond * between(r, 0.3, 0.7)
	}
	d.model.SLC = s
}

// plain measures passes that are all alike.
func plain(r *rand.Rand, d draft) draft {
	d.preset.Order, d.preset.Passes = job.OrderPalindrome, 2
	d.preset.Runtime = 2 * time.Duration(between(r, 60, 150)*1e9)
	d.preset.CoolDown = -1
	return d
}

// heatRun is what the preset heat does with a phase.
func heatRun(r *rand.Rand, d draft) draft {
	d.preset.Order, d.preset.Passes = job.OrderHeat, 1
	d.preset.Runtime = time.Duration(between(r, 180, 300) * 1e9)
	d.preset.WriteQuota = 4 << 40
	d.preset.CoolDown = -1
	return d
}

// fillRun writes for long, twice.
func fillRun(r *rand.Rand, d draft) draft {
	d = plain(r, d)
	d.preset.Runtime = 2 * time.Duration(between(r, 150, 240)*1e9)
	d.preset.WriteQuota = 4 << 40
	return d
}

// happening is a healthy drive to which something happens in one of its passes.
func happening(r *rand.Rand, mode job.Mode, what func(*sim.Event)) draft {
	d := base(r, mode)
	warm(r, &d, 38, 85)
	d = plain(r, d)
	d.preset.Runtime = 2 * time.Duration(between(r, 90, 180)*1e9)
	pass := r.IntN(2)
	e := sim.Event{Pass: &pass, FromSeconds: math.Round(between(r, 20, 45)), Share: between(r, 0.2, 0.7)}
	e.UntilSeconds = e.FromSeconds + math.Round(between(r, 15, 40))
	what(&e)
	d.model.Events = []sim.Event{e}
	return d
}

// busyCPUs lets the load need most of so many CPUs, and returns how many.
func busyCPUs(r *rand.Rand, d *draft, cpus int) float64 {
	need := float64(cpus) * between(r, 0.75, 0.95)
	speed := speedOf(d) / float64(d.preset.Phases[0].BlockSize)
	d.model.Machine.ReadIOPSPerCPU, d.model.Machine.WriteIOPSPerCPU = speed/need, speed/need
	return need
}
