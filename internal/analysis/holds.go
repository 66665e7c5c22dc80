package analysis

import (
	"math"

	"nativ/internal/record"
)

// A Hold is what keeps whole passes below what the drive can do, without any
// drop that would show it.
type Hold struct {
	Phase, Place string
	Cause        Cause
}

// holds looks for what keeps whole places slow: heat, a link that is slow from
// the start, a power state, CPUs, their quota, and neighbours.
func (s *search) holds(r *Result) []Hold {
	var all []Hold
	for i := range r.Phases {
		for j := range r.Phases[i].Places {
			ph, p := &r.Phases[i].Job, &r.Phases[i].Places[j]
			if p.Passes == 0 || p.BytesPerSec == nil {
				continue
			}
			add := func(c Cause) { all = append(all, Hold{ph.Name, p.Name, c}) }
			held := false
			if c := s.linkHold(p); c != nil {
				add(*c)
				held = c.Confidence != Weak
			}
			if c := s.heatHold(ph.Name, p); c != nil {
				add(*c)
				held = true
			}
			if c := s.quotaHold(ph.Name, p); c != nil {
				add(*c)
				held = true
			} else if p.CPULimited {
				add(Cause{Kind: CauseCPULimit, Confidence: Strong, Decide: []Test{TestMoreCPUs},
					Evidence: []Evidence{ev1(EvCPUBusy, p.Name, *p.CPUBusyLeast)}})
				held = true
			}
			if c := s.neighbourHold(ph.Name, p); c != nil {
				add(*c)
			}
			if c := s.powerHold(); c != nil {
				if held {
					c.Confidence = Weak
				}
				add(*c)
			}
		}
	}
	return all
}

// heatHold names heat where the drive counted thermal management nearly all the
// time of every pass: it was hot when they began, so that nothing falls.
func (s *search) heatHold(phase string, p *Place) *Cause {
	least, from := math.Inf(1), ""
	for _, t := range s.tracks {
		if t.pass.Phase != phase || t.pass.Place != p.Name || t.pass.Role == record.RoleProbe || !t.pass.OK() {
			continue
		}
		most, has := 0.0, false
		for name := range firstHealth(t) {
			n, ok := t.perSecond(0, math.MaxInt64, func(sm *record.Sample) (float64, bool) {
				h, ok := sm.Health[name]
				return float64(h.TMT1Seconds + h.TMT2Seconds), ok
			})
			if ok && n >= most {
				most, from, has = n, name, true
			}
		}
		if !has {
			return nil
		}
		least = min(least, most)
	}
	if math.IsInf(least, 1) || least < 0.9 {
		return nil
	}
	return &Cause{Kind: CauseThermal, Confidence: Decisive, Evidence: []Evidence{ev1(EvTMT, from, least)}}
}

// linkHold names a link below what the drive can do where the speed comes near
// to what it carries.
func (s *search) linkHold(p *Place) *Cause {
	if len(s.rec.Target.Drives) != 1 {
		return nil
	}
	d := &s.rec.Target.Drives[0]
	l := d.Link
	if _, ok := linkWarning(d); !ok {
		return nil
	}
	now, could := LinkBytes(l.SpeedMTs, l.Width), LinkBytes(l.MaxSpeedMTs, l.MaxWidth)
	// A tenth of it and more is headers of packets.
	if now <= 0 || *p.BytesPerSec < 0.75*now || *p.BytesPerSec > 1.02*now {
		return nil
	}
	return &Cause{Kind: CauseLink, Confidence: Strong, Decide: []Test{TestSlot},
		Evidence: []Evidence{ev(EvLinkSpeed, d.Name, now, could)}}
}

// quotaHold names cpu.max where it held back in most periods of every pass.
func (s *search) quotaHold(phase string, p *Place) *Cause {
	least := math.Inf(1)
	for _, t := range s.tracks {
		if t.pass.Phase != phase || t.pass.Place != p.Name || !t.pass.OK() {
			continue
		}
		n, ok := t.perSecond(0, math.MaxInt64, func(sm *record.Sample) (float64, bool) {
			if sm.Cgroup == nil || sm.Cgroup.NrThrottled == nil {
				return 0, false
			}
			return float64(*sm.Cgroup.NrThrottled), true
		})
		if !ok {
			return nil
		}
		least = min(least, n)
	}
	if math.IsInf(least, 1) || least < 2 {
		return nil
	}
	return &Cause{Kind: CauseCgroup, Confidence: Decisive, Evidence: []Evidence{ev1(EvThrottled, p.Name, least)}}
}

// neighbourHold names others where the drive did much more than the test in
// every pass of it.
func (s *search) neighbourHold(phase string, p *Place) *Cause {
	if s.rec.Jobs != nil || len(s.rec.Target.Drives) != 1 {
		return nil
	}
	of := s.onDevices(func(c record.DeviceCounters) int64 { return c.ReadBytes + c.WriteBytes })
	least := math.Inf(1)
	for _, t := range s.tracks {
		if t.pass.Phase != phase || t.pass.Place != p.Name || !t.pass.OK() || heldUp(t.pass) {
			continue
		}
		a, b, ok := t.between(0, t.pass.Outcome.ElapsedNS())
		if !ok {
			return nil
		}
		x, okX := of(a)
		y, okY := of(b)
		bytes, _ := t.own(a, b)
		if !okX || !okY || bytes <= 0 {
			return nil
		}
		least = min(least, (y-x)/bytes-1)
	}
	if math.IsInf(least, 1) || least < extraRatio-1 {
		return nil
	}
	// Files' own journals are among them where the test writes.
	return &Cause{Kind: CauseNeighbour, Confidence: Strong, Decide: []Test{TestQuiet},
		Evidence: []Evidence{ev1(EvDeviceBytes, s.rec.Target.Drives[0].Name, least**p.BytesPerSec)}}
}

// powerHold names a power state that may take clearly less than the first one.
func (s *search) powerHold() *Cause {
	for i := range s.rec.Target.Drives {
		n := s.rec.Target.Drives[i].NVMe
		if n == nil || n.PowerState == nil || *n.PowerState <= 0 || *n.PowerState >= len(n.PowerStates) {
			continue
		}
		now, first := n.PowerStates[*n.PowerState].MaxPowerUW, n.PowerStates[0].MaxPowerUW
		if now != nil && first != nil && float64(*now) < 0.9*float64(*first) {
			return &Cause{Kind: CausePowerState, Confidence: Strong, Decide: []Test{TestPowerState},
				Evidence: []Evidence{ev(EvPower, s.rec.Target.Drives[i].Name, float64(*now)/1e6, float64(*first)/1e6)}}
		}
	}
	return nil
}
