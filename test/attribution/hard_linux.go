package main

import (
	"math"
	"math/rand/v2"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sim"
)

// hard are what drives and machines do that is easily taken for something else,
// and hosts that show less.
func hard() []scenario {
	thermal := kinds{analysis.CauseThermal}
	unknown := kinds{analysis.CauseUnknown}
	flat := func(name string, noise func(*rand.Rand) sim.Noise) scenario {
		return scenario{"flat, " + name, nil, false, func(r *rand.Rand) draft {
			d := base(r, anyMode(r))
			d.model.Noise = noise(r)
			warm(r, &d, 40, 110)
			d = plain(r, d)
			d.preset.Runtime = 2 * time.Duration([]int{25, 60, 120, 300}[r.IntN(4)]) * time.Second
			return d
		}}
	}
	return []scenario{
		{"heat, SATA", thermal, false, func(r *rand.Rand) draft {
			d := base(r, anyMode(r))
			sata(r, &d)
			throttle(r, &d, steps(r))
			return heatRun(r, oneSensor(r, d))
		}},
		{"heat, composite frozen", thermal, false, func(r *rand.Rand) draft {
			d := heated(r, reading(r))
			v := math.Round(between(r, 30, 60))
			d.model.Sensors[0].StuckCelsius, d.model.Sensors[0].StuckAfterSeconds = &v, between(r, 0, 60)
			d.model.Sensors = append(d.model.Sensors[:1], sim.Sensor{Number: 1, Node: node(r), OffsetKelvin: between(r, -3, 3), LagSeconds: between(r, 0, 3)})
			return d
		}},
		{"heat, sensors lag 10 to 25 s", thermal, false, func(r *rand.Rand) draft {
			d := heated(r, anyMode(r))
			for i := range d.model.Sensors {
				d.model.Sensors[i].LagSeconds = between(r, 10, 25)
			}
			return d
		}},
		{"heat, no thresholds, no health log", thermal, false, func(r *rand.Rand) draft {
			d := heated(r, anyMode(r))
			d.model.Drive.WCTEMP, d.model.Drive.CCTEMP = nil, nil
			d.blind = noHealth
			return d
		}},
		{"heat, slow ramp", thermal, false, func(r *rand.Rand) draft {
			d := base(r, anyMode(r))
			throttle(r, &d, func(from float64) []sim.Step {
				n, least, apart := 12+r.IntN(20), between(r, 0.3, 0.6), between(r, 0.3, 0.7)
				var all []sim.Step
				for i := range n {
					at := from + float64(i)*apart
					all = append(all, sim.Step{Name: "step", FromCelsius: at, UntilCelsius: at - between(r, 1, 2), Speed: 1 - (1-least)*float64(i+1)/float64(n)})
				}
				return all
			})
			t := &d.model.Thermal
			t.BoardJoulesPerKelvin *= 1.5
			return heatRun(r, d)
		}},
		{"heat, on and off, slowly", thermal, false, func(r *rand.Rand) draft {
			d := base(r, reading(r))
			throttle(r, &d, func(from float64) []sim.Step {
				return []sim.Step{{Name: "on", FromCelsius: from, UntilCelsius: from - between(r, 12, 30), Speed: between(r, 0.02, 0.4)}}
			})
			d = heatRun(r, d)
			d.preset.Runtime = time.Duration(between(r, 400, 900) * 1e9)
			return d
		}},
		{"heat, mixed", thermal, false, func(r *rand.Rand) draft {
			d := heated(r, job.RandRead)
			d.preset.Phases[0].Mode, d.preset.Phases[0].RWMixRead = job.RandRW, 70
			return d
		}},
		{"heat, short passes", thermal, false, func(r *rand.Rand) draft {
			d := plain(r, heated(r, reading(r)))
			d.preset.Passes = 4
			d.preset.Runtime = 4 * time.Duration(between(r, 30, 60)*1e9)
			return d
		}},
		{"heat, an hour", thermal, false, func(r *rand.Rand) draft {
			d := heated(r, reading(r))
			d.preset.Runtime = time.Hour
			return d
		}},
		{"heat, hot at the start", thermal, true, func(r *rand.Rand) draft {
			d := heated(r, reading(r))
			start := d.model.Thermal.Throttle[0].FromCelsius - between(r, -3, 5)
			d.model.Thermal.StartCelsius = &start
			return d
		}},
		{"unseen, steady, to the end", unknown, false, func(r *rand.Rand) draft {
			return toTheEnd(happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown }))
		}},
		{"unseen, steady, to the end, hot drive", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			warm(r, &d, 75, 110)
			return toTheEnd(d)
		}},
		{"unseen, gradual, hot drive", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			warm(r, &d, 75, 110)
			return byAndBy(r, d)
		}},
		{"unseen, gradual", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			return byAndBy(r, d)
		}},
		{"unseen, again and again, hot drive", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			warm(r, &d, 75, 110)
			e := d.model.Events[0]
			d.model.Events = nil
			e.Pass = nil
			period := between(r, 25, 60)
			length := period * between(r, 0.25, 0.7)
			for range 12 {
				e.UntilSeconds = e.FromSeconds + length
				d.model.Events = append(d.model.Events, e)
				e.FromSeconds += period
			}
			return heatRun(r, d)
		}},
		{"unseen, hot drive, heat run", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			warm(r, &d, 75, 110)
			pass := 0
			d.model.Events[0].Pass = &pass
			d.model.Events[0].FromSeconds = between(r, 20, 80)
			return toTheEnd(heatRun(r, d))
		}},
		{"unseen, short and deep, hot drive", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			warm(r, &d, 75, 110)
			e := &d.model.Events[0]
			e.Share, e.UntilSeconds = between(r, 0.6, 0.95), e.FromSeconds+math.Round(between(r, 9, 12))
			return d
		}},
		{"unseen, SATA, hot drive", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind = sim.EventUnknown })
			sata(r, &d)
			warm(r, &d, 65, 90)
			return oneSensor(r, toTheEnd(d))
		}},
		{"SLC cache, small, folding", kinds{analysis.CauseSLC}, false, func(r *rand.Rand) draft {
			d := base(r, job.Write)
			warm(r, &d, 45, 95)
			speed := speedOf(&d)
			d.model.SLC = &sim.SLC{SizeBytes: int64(speed * between(r, 10, 30)), DirectBytesPerSecond: speed * between(r, 0.1, 0.3), RecoverAfterSeconds: between(r, 1, 30), RecoverBytesPerSecond: around(r, 2e7, 2e8)}
			d.model.SLC.DirectBytes = int64(d.model.SLC.DirectBytesPerSecond * between(r, 30, 90))
			d.model.SLC.FoldingBytesPerSecond = speed * between(r, 0.02, 0.08)
			return fillRun(r, d)
		}},
		{"SLC cache, SATA", kinds{analysis.CauseSLC}, false, func(r *rand.Rand) draft {
			d := base(r, job.Write)
			sata(r, &d)
			warm(r, &d, 45, 70)
			cached(r, &d)
			return fillRun(r, oneSensor(r, d))
		}},
		{"SLC cache, emptied between passes", kinds{analysis.CauseSLC}, false, func(r *rand.Rand) draft {
			d := base(r, writing(r))
			warm(r, &d, 45, 100)
			cached(r, &d)
			d.model.SLC.RecoverAfterSeconds, d.model.SLC.RecoverBytesPerSecond = 1, speedOf(&d)
			d = fillRun(r, d)
			d.preset.CoolDown = 5 * time.Minute
			return d
		}},
		{"SLC cache, sensors missing", kinds{analysis.CauseSLC}, false, func(r *rand.Rand) draft {
			d := base(r, writing(r))
			warm(r, &d, 45, 100)
			cached(r, &d)
			d.model.Sensors = nil
			d.blind = noHealth
			return fillRun(r, d)
		}},
		{"garbage collection, hot drive", kinds{analysis.CauseGC}, false, func(r *rand.Rand) draft {
			d := base(r, job.RandWrite)
			warm(r, &d, 75, 110)
			d.model.GC = &sim.GC{AfterBytes: int64(speedOf(&d) * between(r, 30, 100)), RampBytes: int64(speedOf(&d) * between(r, 15, 60)), Speed: between(r, 0.1, 0.6), RecoverBytesPerSecond: between(r, 1e7, 5e8)}
			return fillRun(r, d)
		}},
		{"neighbour, hot drive", kinds{analysis.CauseNeighbour}, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) { e.Kind, e.Writes = sim.EventNeighbour, r.IntN(2) == 0 })
			warm(r, &d, 75, 110)
			return toTheEnd(d)
		}},
		{"CPU hot, drive hot", kinds{analysis.CauseCPUFrequency}, false, func(r *rand.Rand) draft {
			d := happening(r, []job.Mode{job.RandRead, job.RandWrite}[r.IntN(2)], func(e *sim.Event) {
				e.Kind, e.Hot, e.Share = sim.EventCPUFrequency, true, between(r, 0.2, 0.6)
			})
			warm(r, &d, 75, 110)
			d.places = []string{record.PlacePinned}
			busyCPUs(r, &d, 4)
			c := &d.model.Machine
			c.ReadIOPSPerCPU, c.WriteIOPSPerCPU = c.ReadIOPSPerCPU*0.8, c.WriteIOPSPerCPU*0.8
			return toTheEnd(d)
		}},
		{"resets, hot drive", kinds{analysis.CauseErrors}, false, func(r *rand.Rand) draft {
			d := happening(r, anyMode(r), func(e *sim.Event) {
				e.Kind, e.Share, e.UntilSeconds = sim.EventReset, 0, e.FromSeconds+between(r, 10, 30)
			})
			warm(r, &d, 75, 110)
			return d
		}},
		{"unseen, mixed reads and writes", unknown, false, func(r *rand.Rand) draft {
			d := happening(r, job.RandRead, func(e *sim.Event) { e.Kind = sim.EventUnknown })
			d.preset.Phases[0].Mode, d.preset.Phases[0].RWMixRead = job.RandRW, 70
			return toTheEnd(d)
		}},
		{"flat, synchronous writes", nil, false, func(r *rand.Rand) draft {
			d := base(r, job.RandWrite)
			ph := &d.preset.Phases[0]
			ph.NumJobs, ph.IODepth, ph.FDataSync = 1, 1, 1
			d.model.Limits.FlushSeconds = 1 / around(r, 60, 2000)
			d.model.Noise = sim.Noise{Second: math.Sqrt(d.model.Limits.FlushSeconds) * between(r, 0.5, 1.5)}
			warm(r, &d, 40, 110)
			return plain(r, d)
		}},
		flat("AR(1) 0.5", func(r *rand.Rand) sim.Noise { return sim.Noise{Second: between(r, 0.01, 0.1), Correlation: 0.5} }),
		flat("AR(1) 0.9", func(r *rand.Rand) sim.Noise { return sim.Noise{Second: between(r, 0.01, 0.1), Correlation: 0.9} }),
		flat("white, CV 10 %", func(r *rand.Rand) sim.Noise { return sim.Noise{Second: 0.1} }),
		flat("drift of up to 5 %", func(r *rand.Rand) sim.Noise {
			return sim.Noise{Second: around(r, 0.002, 0.03), Correlation: between(r, 0, 0.7), DriftPerMinute: between(r, -0.01, 0.01)}
		}),
		flat("waves", func(r *rand.Rand) sim.Noise {
			return sim.Noise{Second: around(r, 0.002, 0.03), Correlation: between(r, 0, 0.5), Swing: between(r, 0.01, 0.08), SwingSeconds: between(r, 1.5, 12)}
		}),
		flat("outliers", func(r *rand.Rand) sim.Noise {
			return sim.Noise{Second: around(r, 0.002, 0.05), Correlation: between(r, 0, 0.7), Outliers: between(r, 0.01, 0.08), OutlierLoss: between(r, 0.3, 0.9)}
		}),
	}
}

// steps are the throttle of a drive: all or nothing, or many small ones.
func steps(r *rand.Rand) func(from float64) []sim.Step {
	return func(from float64) []sim.Step {
		if r.IntN(3) == 0 {
			return []sim.Step{{Name: "on", FromCelsius: from, UntilCelsius: from - between(r, 3, 12), Speed: between(r, 0.05, 0.5)}}
		}
		n := 2 + r.IntN(7)
		least, apart, back := between(r, 0.05, 0.4), between(r, 1, 3), between(r, 1, 4)
		var all []sim.Step
		for i := range n {
			at := from + float64(i)*apart
			all = append(all, sim.Step{Name: "step", FromCelsius: at, UntilCelsius: at - back, Speed: 1 - (1-least)*float64(i+1)/float64(n)})
		}
		return all
	}
}

func node(r *rand.Rand) string { return []string{"junction", "board"}[r.IntN(2)] }

// sata makes a drive one that is connected by SATA: no health log, no link, no
// thresholds, power states or namespaces.
func sata(r *rand.Rand, d *draft) {
	m := &d.model
	m.Drive.Transport, m.Drive.Link, m.Drive.PowerStatesWatts = "sata", nil, nil
	speed := between(r, 3e8, 5.5e8)
	m.Limits.ReadBytes.PerSecond, m.Limits.WriteBytes.PerSecond = speed, speed*between(r, 0.7, 1)
	m.Limits.ReadIOPS.PerSecond, m.Limits.WriteIOPS.PerSecond = between(r, 3e4, 1e5), between(r, 3e4, 9e4)
}

// oneSensor leaves a drive the one temperature that SATA has.
func oneSensor(r *rand.Rand, d draft) draft {
	d.model.Drive.WCTEMP, d.model.Drive.CCTEMP = nil, nil
	d.model.Sensors = []sim.Sensor{{Number: 0, Node: node(r), OffsetKelvin: between(r, -3, 3), LagSeconds: between(r, 0, 10)}}
	return d
}

// toTheEnd lets what happens last to the end of its pass.
func toTheEnd(d draft) draft {
	for i := range d.model.Events {
		d.model.Events[i].UntilSeconds = 0
	}
	return d
}

// byAndBy lets what happens take hold in steps, and stay.
func byAndBy(r *rand.Rand, d draft) draft {
	e := d.model.Events[0]
	d.model.Events = nil
	e.UntilSeconds = 0
	n, wait, share := 5+r.IntN(8), between(r, 3, 10), between(r, 0.2, 0.7)
	e.Share = 1 - math.Pow(1-share, 1/float64(n))
	for range n {
		d.model.Events = append(d.model.Events, e)
		e.FromSeconds += wait
	}
	return d
}

// noHealth is a host without the privilege to read the health log.
func noHealth(rec *record.Record) {
	blind := func(s *record.Sample) {
		if s != nil {
			s.Health = nil
		}
	}
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			w := &rec.Rounds[i].Passes[j].Watch
			blind(w.Before)
			blind(w.After)
			for k := range w.Samples {
				blind(&w.Samples[k])
			}
		}
	}
	for i := range rec.Target.Drives {
		if n := rec.Target.Drives[i].NVMe; n != nil {
			zero := int64(0)
			n.TMT1MC, n.TMT2MC, n.WarningMC, n.CriticalMC = nil, nil, &zero, &zero
		}
	}
}
