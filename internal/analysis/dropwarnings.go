package analysis

import (
	"maps"
	"slices"

	"nativ/internal/record"
)

// worthWarning is the loss from which a drop makes the mean of its pass a number
// of two things.
const worthWarning = 0.1

// dropWarnings are about passes that did not run at one speed, once a pass and
// code. Imported logs tell no cause, and what follows a load is there to show
// drops.
func dropWarnings(rec *record.Record, r *Result) []record.Warning {
	var all []record.Warning
	if rec.Import != nil {
		return nil
	}
	add := func(d *Drop, code string, values map[string]float64, w map[string]string) {
		same := func(o record.Warning) bool {
			return o.Code == code && *o.Pass == d.Pass && maps.Equal(o.Words, w)
		}
		if !slices.ContainsFunc(all, same) {
			all = append(all, record.Warning{Code: code, Phase: d.Phase, Place: d.Place, Pass: new(d.Pass), Values: values, Words: w})
		}
	}
	for i := range r.Drops {
		d := &r.Drops[i]
		switch {
		case d.Depth < worthWarning || !ordinary(d.Role):
		case d.By(CauseThermal, CauseThermalLink) != nil:
			v := map[string]float64{"lost": d.Depth, "after_ns": float64(d.OnsetNS)}
			sensor := ""
			if d.OnsetTemperature != nil {
				sensor = d.OnsetTemperature.Sensor
				v["from_mc"], v["to_mc"] = float64(d.OnsetTemperature.FromMC), float64(d.OnsetTemperature.ToMC)
			}
			add(d, record.WarnThrottled, v, words("sensor", sensor))
		case d.By(CauseSLC) != nil:
			add(d, record.WarnCacheFull, map[string]float64{"lost": d.Depth, "bytes": float64(d.Written)}, nil)
		case len(d.Named()) > 0:
			add(d, record.WarnSlowed, map[string]float64{"lost": d.Depth}, words("cause", string(d.Causes[0].Kind)))
		case !d.Stall: // which WarnStalls says already
			cause := ""
			if slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseThermal && find(c.Evidence, EvLead) != nil }) {
				cause = "maybe-thermal"
			} else if !d.Recovered {
				cause = "lasting"
			}
			add(d, record.WarnSlowed, map[string]float64{"lost": d.Depth}, words("cause", cause))
		}
	}
	return all
}

// sensorWarnings are about sensors whose readings are not what they seem.
func (s *search) sensorWarnings() []record.Warning {
	var all []record.Warning
	for _, n := range s.sensors {
		d := driveOf(s.rec, n.name)
		moved := slices.ContainsFunc(s.sensors, func(o *sensor) bool {
			return !o.lies() && o.max-o.min >= 5000 && driveOf(s.rec, o.name) == d
		})
		if n.max == n.min && moved && len(n.values) > 10 {
			all = append(all, record.Warning{Code: record.WarnSensorStuck, Words: words("sensor", n.name),
				Values: map[string]float64{"value_mc": float64(n.max)}})
		}
		if d == nil || d.NVMe == nil || d.NVMe.CriticalMC == nil || d.Controller == nil || n.lies() || n.stuck() {
			continue
		}
		if c := *d.NVMe.CriticalMC; c > 0 && n.max > c && s.quiet(*d.Controller) {
			all = append(all, record.Warning{Code: record.WarnOtherSensor, Words: words("sensor", n.name),
				Values: map[string]float64{"value_mc": float64(n.max), "critical_mc": float64(c)}})
		}
	}
	return all
}
