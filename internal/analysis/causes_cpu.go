package analysis

import (
	"math"

	"nativ/internal/record"
)

// cgroup looks for CPU time that the kernel held back.
func (s *search) cgroup(t *track, w windows) *Cause {
	periods := func(s *record.Sample) (float64, bool) {
		if s.Cgroup == nil || s.Cgroup.NrThrottled == nil {
			return 0, false
		}
		return float64(*s.Cgroup.NrThrottled), true
	}
	was, is, ok := t.change(w, periods)
	// A group is throttled at most once a period, of 100 ms as a rule
	// (kernel/sched/fair.c): in at least a fifth of them, and more than before.
	if !ok || is < 2 || is < 2*was {
		return nil
	}
	return &Cause{Kind: CauseCgroup, Confidence: Decisive, Evidence: []Evidence{ev(EvThrottled, t.pass.Place, is, was)}}
}

// cpuShare is the busy and the user share of the place's CPUs in a time of the
// pass, and whether those that the jobs can use were used up.
func (t *track) cpuShare(from, until int64) (busy, user float64, full, ok bool) {
	a, b, ok := t.between(from, until)
	cpus := placeCPUs(t.rec, t.pass.Place)
	if !ok || len(cpus) == 0 {
		return 0, 0, false, false
	}
	var allBusy, allUser, total float64
	saturated := 0
	for _, n := range cpus {
		x, okX := a.CPUs[n]
		y, okY := b.CPUs[n]
		db, dt := float64(y.BusyNS-x.BusyNS), float64(y.TotalNS-x.TotalNS)
		if !okX || !okY || db < 0 || dt <= 0 {
			return 0, 0, false, false
		}
		if db/dt >= cpuLimit {
			saturated++
		}
		allBusy, total = allBusy+db, total+dt
		if x.UserNS != nil && y.UserNS != nil {
			allUser += float64(*y.UserNS - *x.UserNS)
		}
	}
	busy, user = allBusy/total, allUser/total
	return busy, user, busy >= 0.93 || saturated >= max(1, t.job.NumJobs), true
}

// cpu tells a drop by slower CPUs, by other load on them, and by neither.
func (s *search) cpu(t *track, d *Drop, w windows) *Cause {
	busyWas, userWas, _, okWas := t.cpuShare(w.beforeFrom, w.beforeUntil)
	busy, user, full, ok := t.cpuShare(w.from, w.until)
	if !ok || !okWas {
		return nil
	}
	left := 1 - d.Depth
	ev0 := ev(EvCPUBusy, t.pass.Place, busy, busyWas)
	// Slower CPUs. A governor lowers the frequency of CPUs that wait for a slow
	// drive, too: so they must be used up, or say that they throttle.
	hz := func(from, until int64) (float64, bool) {
		var sum, n float64
		for _, sm := range t.samples {
			if at := sm.MonoNS - t.startNS; at >= from && at <= until {
				for _, c := range placeCPUs(t.rec, t.pass.Place) {
					if v, ok := sm.CPUHz[c]; ok && v > 0 {
						sum, n = sum+float64(v), n+1
					}
				}
			}
		}
		return sum / max(n, 1), n > 0
	}
	hzWas, okHzWas := hz(w.beforeFrom, w.beforeUntil)
	hzIs, okHz := hz(w.from, w.until)
	if okHz && okHzWas && hzIs < 0.93*hzWas {
		c := &Cause{Kind: CauseCPUFrequency, Confidence: Weak, Decide: []Test{TestMoreCPUs},
			Evidence: []Evidence{ev(EvFrequency, t.pass.Place, hzIs, hzWas), ev0}}
		throttles := func(s *record.Sample) (float64, bool) {
			v := s.CPUThermal
			if v == nil || v.CoreThrottles == nil && v.PackageThrottles == nil {
				return 0, false
			}
			var n float64
			for _, p := range []*int64{v.CoreThrottles, v.PackageThrottles} {
				if p != nil {
					n += float64(*p)
				}
			}
			return n, true
		}
		// At most as much is lost as the CPUs lost speed, with room for what
		// depends on it more than in proportion.
		explains := math.Log(left) > 1.7*math.Log(hzIs/hzWas)-0.05
		was, is, okT := t.change(w, throttles)
		if okT && is > 0 && is > 2*was {
			c.Evidence = append(c.Evidence, ev(EvCPUThrottle, "thermal_throttle", is, was))
			if explains && full {
				c.Confidence, c.Decide = Decisive, nil
			}
		}
		if explains && full && c.Confidence == Weak {
			c.Confidence = Strong
		}
		return c
	}
	// Other load: user time that is not the test's, whose own falls with its
	// speed, and CPUs that are used up although the test does less.
	others := user - userWas*left
	if full && others > otherLoad {
		c := &Cause{Kind: CauseCPULoad, Confidence: Weak, Decide: []Test{TestQuiet},
			Evidence: []Evidence{ev(EvOtherUser, t.pass.Place, others, 0), ev0}}
		if others >= 0.4*busyWas*(1-left) {
			c.Confidence = Strong
		}
		return c
	}
	if full && busy >= cpuLimit && busy > busyWas+0.1 {
		return &Cause{Kind: CauseCPULimit, Confidence: Strong, Evidence: []Evidence{ev0}, Decide: []Test{TestMoreCPUs}}
	}
	return nil
}
