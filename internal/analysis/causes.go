package analysis

import (
	"math"
	"slices"
	"strings"

	"nativ/internal/record"
)

// A Cause is why a speed fell, or why it is low all the time. It is free of
// language: what speaks for it is in Evidence.
type Cause struct {
	Kind       CauseKind
	Confidence Confidence
	// Evidence speaks for the cause, Against against it.
	Evidence, Against []Evidence
	// Decide is what to do to be sure; empty where the cause is decisive.
	Decide []Test
}

// A CauseKind names a cause.
type CauseKind string

// The causes.
const (
	// CauseThermal: the drive slows itself down because it is hot.
	CauseThermal CauseKind = "thermal"
	// CauseThermalLink: it does so by lowering its PCIe link.
	CauseThermalLink CauseKind = "thermal-link"
	// CauseSLC: the fast cache is full.
	CauseSLC CauseKind = "slc-cache"
	// CauseGC: random writes make the drive move old data.
	CauseGC CauseKind = "garbage-collection"
	// CauseCPULimit: the place's CPUs are used up by the test itself.
	CauseCPULimit CauseKind = "cpu-limit"
	// CauseCgroup: the kernel holds CPU time back (cpu.max).
	CauseCgroup CauseKind = "cgroup-throttle"
	// CauseCPUFrequency: the CPUs run slower, perhaps because they are hot.
	CauseCPUFrequency CauseKind = "cpu-frequency"
	// CauseCPULoad: other programs use the place's CPUs.
	CauseCPULoad CauseKind = "cpu-load"
	// CauseNeighbour: others use the drive.
	CauseNeighbour CauseKind = "neighbour"
	// CauseLink: the PCIe link is slower than the drive.
	CauseLink CauseKind = "link"
	// CausePowerState: the drive is set to take less power.
	CausePowerState CauseKind = "power-state"
	// CauseErrors: resets, timeouts, or errors that the drive corrects.
	CauseErrors CauseKind = "device-errors"
	// CauseUnknown: nothing that could be read tells.
	CauseUnknown CauseKind = "unknown"
)

// CauseKinds lists every cause.
func CauseKinds() []CauseKind {
	return []CauseKind{CauseThermal, CauseThermalLink, CauseSLC, CauseGC, CauseCPULimit, CauseCgroup, CauseCPUFrequency,
		CauseCPULoad, CauseNeighbour, CauseLink, CausePowerState, CauseErrors, CauseUnknown}
}

// A Confidence is how sure a cause is.
type Confidence string

// The confidences, from the surest.
const (
	// Decisive: a counter or a log of what slowed down says so itself.
	Decisive Confidence = "decisive"
	// Strong: it shows what only this cause makes it show, in the right order
	// in time, and nothing speaks against it.
	Strong Confidence = "strong"
	// Weak: it would fit, as others would. A weak cause is no answer.
	Weak Confidence = "weak"
)

var confidences = []Confidence{Decisive, Strong, Weak}

// Named are the causes of the drop that are at least strong; none where it is
// unknown.
func (d *Drop) Named() []Cause {
	var all []Cause
	for _, c := range d.Causes {
		if c.Kind != CauseUnknown && c.Confidence != Weak {
			all = append(all, c)
		}
	}
	return all
}

// By returns the cause of that kind among those named, or nil.
func (d *Drop) By(kinds ...CauseKind) *Cause {
	for i := range d.Causes {
		if c := &d.Causes[i]; c.Confidence != Weak && slices.Contains(kinds, c.Kind) {
			return c
		}
	}
	return nil
}

// An Evidence is one thing that speaks for or against a cause. What Value and
// Was are is said with each kind; temperatures are millidegrees Celsius, rates
// per second, times nanoseconds.
type Evidence struct {
	Kind EvidenceKind
	// Source is the sensor, counter, device or file that it comes from.
	Source string
	// Value is what was seen during the drop, Was right before it; nil where
	// there is no such number.
	Value, Was *float64
}

// An EvidenceKind names an evidence.
type EvidenceKind string

// The evidence. Those marked "against" only stand in Cause.Against.
const (
	// EvTMT: the drive counted thermal management that the host had asked for.
	// Value: seconds of it during the drop for each second.
	EvTMT EvidenceKind = "tmt-counter"
	// EvWarning: the drive raised its temperature warning at the onset.
	EvWarning EvidenceKind = "temperature-warning"
	// EvThreshold: the onset lies at a threshold of the drive. Value: the
	// reading, Was: the threshold.
	EvThreshold EvidenceKind = "at-threshold"
	// EvLead: the temperature rose until the onset. Value: the reading at the
	// onset, Was: before it rose.
	EvLead EvidenceKind = "temperature-led"
	// EvCeiling: from the onset on the temperature stayed where it was, although
	// the drive did less. Value, Was: the highest and lowest reading meanwhile.
	EvCeiling EvidenceKind = "temperature-ceiling"
	// EvCycles: each time the speed fell at the same temperature, and came back
	// when it was lower. Value, Was: the mean readings at falls and recoveries.
	EvCycles EvidenceKind = "temperature-cycles"
	// EvSameTemperature: it fell at the same temperature at another time, after
	// another number of bytes. Value: the reading here, Was: there.
	EvSameTemperature EvidenceKind = "same-temperature"
	// EvFurtherStep: in this drop it fell further, by heat, at nearly the same
	// temperature. Value: the reading there, Was: here.
	EvFurtherStep EvidenceKind = "further-step"
	// EvSameFall: another drop of the same test, from the same speed to the same, is
	// shown to be by heat. Value: the share that it lost.
	EvSameFall EvidenceKind = "same-fall"
	// EvRecoveredCool: after a pause, cooler, it was fast again. Value: the share
	// of the speed before, Was: the reading then.
	EvRecoveredCool EvidenceKind = "recovered-when-cool"
	// EvCoolSlow (against): it stayed slow although it had cooled down. Value:
	// the reading when slow, Was: at the onset.
	EvCoolSlow EvidenceKind = "slow-when-cool"
	// EvHotFast (against): at another time it was as fast as before although it
	// was hotter. Value: the reading when fast, Was: at the onset.
	EvHotFast EvidenceKind = "fast-when-hot"
	// EvSharp: the speed fell at once to a level that stays. Value: FallNS.
	EvSharp EvidenceKind = "sharp-fall"
	// EvGradual: the speed fell slowly. Value: FallNS.
	EvGradual EvidenceKind = "gradual-fall"
	// EvBytes: so much was written since the drive was idle. Value: bytes.
	EvBytes EvidenceKind = "bytes-since-idle"
	// EvSameBytes: another pass fell after as many bytes. Value: bytes here,
	// Was: there.
	EvSameBytes EvidenceKind = "same-bytes"
	// EvMoreBytes (against): more was written since idle without a fall. Value:
	// bytes there, Was: here.
	EvMoreBytes EvidenceKind = "more-bytes-without"
	// EvStaysSlow: the next writes of this kind began as slow. Value: the share of
	// the speed before.
	EvStaysSlow EvidenceKind = "slow-after-pause"
	// EvCameBack (against): the speed came back while writing went on. Value:
	// bytes written meanwhile.
	EvCameBack EvidenceKind = "recovered-while-writing"
	// EvOnlyRandom: sequential writes right after were fast. Value: share of
	// their own best speed.
	EvOnlyRandom EvidenceKind = "only-random-writes"
	// EvRead (against): reads have neither.
	EvRead EvidenceKind = "reads"
	// EvCPUBusy: the share of the place's CPUs that was busy.
	EvCPUBusy EvidenceKind = "cpu-busy"
	// EvOtherUser: the share of the CPUs that others used in user mode.
	EvOtherUser EvidenceKind = "cpu-others"
	// EvThrottled: periods a second in which the kernel held CPU time back.
	EvThrottled EvidenceKind = "cgroup-throttled"
	// EvFrequency: the mean frequency of the place's CPUs in Hz.
	EvFrequency EvidenceKind = "cpu-frequency"
	// EvCPUThrottle: thermal throttle events of the CPU a second.
	EvCPUThrottle EvidenceKind = "cpu-throttle-counter"
	// EvDeviceBytes and EvDeviceIOs: what the drive did beside the test.
	EvDeviceBytes EvidenceKind = "device-bytes-of-others"
	EvDeviceIOs   EvidenceKind = "device-ios-of-others"
	// EvLinkSpeed: the most that the PCIe link carries, in bytes a second.
	EvLinkSpeed EvidenceKind = "link-bytes"
	// EvKernelLog: lines of the kernel's log about the drive. Value: how many;
	// Source: the kind of the first.
	EvKernelLog EvidenceKind = "kernel-log"
	// EvMediaErrors: media errors that the drive counted. Value: how many.
	EvMediaErrors EvidenceKind = "media-errors"
	// EvPCIeErrors: PCIe errors that were counted. Value: how many.
	EvPCIeErrors EvidenceKind = "pcie-errors"
	// EvPower: the most that the power state in use takes, in watts. Was: state 0.
	EvPower EvidenceKind = "power-state"
	// EvStuck: the sensor never moves, and so tells nothing. Value: its reading.
	EvStuck EvidenceKind = "sensor-stuck"
	// EvNoSensor: no temperature could be read.
	EvNoSensor EvidenceKind = "no-sensor"
)

// A Test is something to do that would decide a cause.
type Test string

// The tests.
const (
	// TestPause: pause until the drive is cool, but not long, and load again:
	// heat is then gone and a full cache is not (--preset heat).
	TestPause Test = "pause-and-resume"
	// TestRead: the same with reads, which no cache for writes slows down.
	TestRead Test = "read-instead"
	// TestRepeat: repeat; what has no cause in the load will not come again.
	TestRepeat Test = "repeat"
	// TestHealthLog: read the health log, which needs privilege.
	TestHealthLog Test = "read-health-log"
	// TestCooling: measure with a fan.
	TestCooling Test = "with-fan"
	// TestQuiet: measure while nothing else runs.
	TestQuiet Test = "nothing-else"
	// TestMoreCPUs: measure with more CPUs, or without the limit.
	TestMoreCPUs Test = "more-cpus"
	// TestSlot: measure in another slot.
	TestSlot Test = "other-slot"
	// TestPowerState: set power state 0.
	TestPowerState Test = "power-state-0"
)

func ev(kind EvidenceKind, source string, value, was float64) Evidence {
	return Evidence{kind, source, &value, &was}
}
func ev1(kind EvidenceKind, source string, value float64) Evidence {
	return Evidence{Kind: kind, Source: source, Value: &value}
}

// A search has what is known of a whole run when causes are looked for.
type search struct {
	rec     *record.Record
	tracks  []*track
	drops   map[*track][]Drop
	sensors []*sensor
}

// explain gives every drop of a run its causes.
func (s *search) explain() {
	for _, t := range s.tracks {
		for i := range s.drops[t] {
			s.explainOne(t, i)
		}
	}
	for _, t := range s.tracks {
		s.furtherSteps(t)
	}
	for _, t := range s.tracks {
		s.sameFalls(t)
	}
	for _, t := range s.tracks {
		for i := range s.drops[t] {
			s.finish(&s.drops[t][i])
		}
		s.drops[t] = t.joined(s.drops[t])
	}
}

// furtherSteps names heat where it is only likely for one drop but shown for
// another that begins in it, a few degrees up: the first step of a throttle. Not
// where a cache is as likely.
func (s *search) furtherSteps(t *track) {
	all := s.drops[t]
	for i := range all {
		d := &all[i]
		k := slices.IndexFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseThermal })
		cache := slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseSLC && find(c.Evidence, EvSharp) != nil })
		if k < 0 || d.Causes[k].Confidence != Weak || cache || len(d.Named()) > 0 {
			continue
		}
		lead := find(d.Causes[k].Evidence, EvLead)
		for j := range all {
			e := &all[j]
			c := e.By(CauseThermal)
			if c == nil || e.OnsetNS < d.OnsetNS || e.OnsetNS > d.UntilNS {
				continue
			}
			other := find(c.Evidence, EvLead)
			if other != nil && other.Source == lead.Source && *other.Value >= *lead.Value-1000 && *other.Value <= *lead.Value+10_000 {
				d.Causes[k].Confidence = Strong
				d.Causes[k].Evidence = append(d.Causes[k].Evidence, ev(EvFurtherStep, lead.Source, *other.Value, *lead.Value))
				break
			}
		}
	}
}

// sameFalls names heat where it is only likely for one drop but shown for another
// of the same test, from the same speed to the same: a throttle has its levels. Not
// where a cache is as likely.
func (s *search) sameFalls(t *track) {
	const alike = 0.15 // of the logarithms, as for the teeth of one throttle
	for i := range s.drops[t] {
		d := &s.drops[t][i]
		k := slices.IndexFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseThermal && find(c.Evidence, EvLead) != nil })
		if k < 0 || len(d.Named()) > 0 || d.Stall || slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseSLC }) {
			continue
		}
		for _, o := range s.tracks {
			if o.pass.Phase != t.pass.Phase || o.pass.Place != t.pass.Place {
				continue
			}
			j := slices.IndexFunc(s.drops[o], func(e Drop) bool {
				c := e.By(CauseThermal)
				return c != nil && find(c.Evidence, EvSameFall) == nil && (o != t || e.OnsetNS != d.OnsetNS) &&
					math.Abs(e.log-d.log) < alike && math.Abs(e.low-d.low) < alike+0.1*(e.log-e.low)
			})
			if j >= 0 {
				d.Causes[k].Confidence = Strong
				d.Causes[k].Evidence = append(d.Causes[k].Evidence, ev1(EvSameFall, "", 1-math.Exp(s.drops[o][j].low-s.drops[o][j].log)))
				break
			}
		}
	}
}

// joined makes one drop of those by heat or garbage collection that lie within
// each other: steps of one throttle.
func (t *track) joined(all []Drop) []Drop {
	var out []Drop
	for _, d := range all {
		joined := false
		for i := range out {
			o := &out[i]
			if d.OnsetNS >= o.OnsetNS && d.OnsetNS < o.UntilNS && !d.Stall &&
				(o.By(CauseThermal) != nil && d.By(CauseThermal) != nil || o.By(CauseThermalLink) != nil && d.By(CauseThermalLink) != nil ||
					o.By(CauseGC) != nil && d.By(CauseGC) != nil) {
				o.UntilNS, o.Recovered = max(o.UntilNS, d.UntilNS), o.Recovered && (d.Recovered || d.UntilNS <= o.UntilNS)
				t.measure(o)
				joined = true
				break
			}
		}
		if !joined {
			out = append(out, d)
		}
	}
	return out
}

func (s *search) explainOne(t *track, i int) {
	d := &s.drops[t][i]
	w := t.windows(d)
	add := func(c *Cause, ruled bool) {
		switch {
		case c == nil:
		case ruled:
			d.Excluded = append(d.Excluded, *c)
		default:
			d.Causes = append(d.Causes, *c)
		}
	}
	link := s.link(t, d, w)
	for _, c := range []*Cause{s.errors(t, d), s.cgroup(t, w), s.cpu(t, d, w), s.neighbour(t, d, w), link} {
		add(c, false)
	}
	seen := len(d.Named()) > 0
	slc, slcRuled := s.slc(t, d)
	gc, gcRuled := s.gc(t, d, i)
	heat, chance, ruled := s.thermal(t, d, slc != nil && !slcRuled || gc != nil && !gcRuled)
	if heat != nil && link != nil && !ruled && (link.Confidence != Weak || heat.Confidence == Strong) {
		// Hot, and the link went down: through it. Without the link's change heat
		// alone would have to be shown.
		if s.maybeHot(heat) || heat.Confidence != Weak || find(heat.Evidence, EvSameTemperature) != nil || find(heat.Evidence, EvCycles) != nil {
			for i := range d.Causes {
				if d.Causes[i].Kind == CauseLink {
					d.Causes[i].Kind = CauseThermalLink
					d.Causes[i].Evidence = append(d.Causes[i].Evidence, heat.Evidence...)
					d.Causes[i].Confidence = Strong
					d.Causes[i].Decide = []Test{TestCooling}
				}
			}
		}
	} else if heat != nil {
		if seen && heat.Confidence == Strong && find(heat.Evidence, EvCycles) == nil && find(heat.Evidence, EvSameTemperature) == nil {
			heat.Confidence = Weak
		}
		add(heat, ruled)
	}
	// What only its shape tells is named where neither another cause was seen nor
	// heat is likely.
	hot := heat != nil && !ruled && (heat.Confidence != Weak || chance <= 1 && (s.maybeHot(heat) || s.maybeSame(heat)))
	for _, c := range []struct {
		*Cause
		ruled bool
	}{{slc, slcRuled}, {gc, gcRuled}} {
		if c.Cause != nil && c.Confidence == Strong && (seen || c.Kind == CauseSLC && gc != nil && !gcRuled && gc.Confidence == Strong || hot) {
			c.Confidence = Weak
		}
		add(c.Cause, c.ruled)
	}
}

// finish sorts the causes of a drop and says where none is known.
func (s *search) finish(d *Drop) {
	slices.SortStableFunc(d.Causes, func(a, b Cause) int {
		return slices.Index(confidences, a.Confidence) - slices.Index(confidences, b.Confidence)
	})
	if len(d.Named()) == 0 {
		u := Cause{Kind: CauseUnknown, Confidence: Weak, Decide: []Test{TestRepeat}}
		if len(s.sensors) == 0 {
			u.Evidence = append(u.Evidence, Evidence{Kind: EvNoSensor})
		}
		for _, n := range s.sensors {
			if n.stuck() {
				u.Evidence = append(u.Evidence, ev1(EvStuck, n.name, float64(n.max)))
			}
		}
		for _, c := range d.Causes {
			for _, test := range c.Decide {
				if !slices.Contains(u.Decide, test) {
					u.Decide = append(u.Decide, test)
				}
			}
		}
		d.Causes = append([]Cause{u}, d.Causes...)
	}
}

func find(all []Evidence, kind EvidenceKind) *Evidence {
	for i := range all {
		if all[i].Kind == kind {
			return &all[i]
		}
	}
	return nil
}

// windows are the times right before a drop and in it that are compared, near to
// the onset, so that what changes later is not taken for its cause.
type windows struct{ beforeFrom, beforeUntil, from, until int64 }

func (t *track) windows(d *Drop) windows {
	const second = int64(1e9)
	w := windows{d.OnsetNS - 12*second, d.OnsetNS - second, d.OnsetNS + d.FallNS + second, d.UntilNS - second}
	w.beforeFrom = max(w.beforeFrom, 0)
	w.until = min(w.until, w.from+30*second)
	if len(d.cuts) > 1 {
		w.from, w.until = d.OnsetNS, min(d.UntilNS, d.OnsetNS+60*second)
	}
	if w.until-w.from < 3*second {
		w.from, w.until = d.OnsetNS, d.UntilNS
	}
	return w
}

// between returns the first and the last sample in a time of the pass; false
// where they are not at least half a second apart.
func (t *track) between(from, until int64) (a, b *record.Sample, ok bool) {
	const slack = 600e6
	for _, s := range t.samples {
		at := s.MonoNS - t.startNS
		if at < from-slack || at > until+slack {
			continue
		}
		if a == nil {
			a = s
		}
		b = s
	}
	return a, b, a != nil && b.MonoNS-a.MonoNS >= 500e6
}

// perSecond is how fast a counter rose in a time of the pass.
func (t *track) perSecond(from, until int64, of func(*record.Sample) (float64, bool)) (float64, bool) {
	a, b, ok := t.between(from, until)
	if !ok {
		return 0, false
	}
	x, okX := of(a)
	y, okY := of(b)
	return (y - x) / float64(b.MonoNS-a.MonoNS) * 1e9, okX && okY && y >= x
}

// both windows of perSecond.
func (t *track) change(w windows, of func(*record.Sample) (float64, bool)) (was, is float64, ok bool) {
	was, okWas := t.perSecond(w.beforeFrom, w.beforeUntil, of)
	is, okIs := t.perSecond(w.from, w.until, of)
	return was, is, okWas && okIs
}

// errors looks for what the drive or the kernel said of errors.
func (s *search) errors(t *track, d *Drop) *Cause {
	c := &Cause{Kind: CauseErrors, Confidence: Weak, Decide: []Test{TestRepeat}}
	from, until := t.startNS+d.OnsetNS-5e9, t.startNS+d.UntilNS
	n, first := 0, ""
	for _, l := range s.rec.KernelLog {
		// A link that changes is its own cause.
		if l.MonoNS < from || l.MonoNS > until || l.Kind == "link" || l.Kind == "other" {
			continue
		}
		if n == 0 {
			first = l.Kind
		}
		n++
	}
	if n > 0 {
		c.Evidence = append(c.Evidence, ev1(EvKernelLog, first, float64(n)))
		c.Confidence = Strong
		if d.Stall {
			c.Confidence = Decisive
		}
	}
	for name := range firstHealth(t) {
		media := func(s *record.Sample) (float64, bool) { h, ok := s.Health[name]; return float64(h.MediaErrors), ok }
		w := windows{max(0, d.OnsetNS-12e9), d.OnsetNS - 2e9, d.OnsetNS - 2e9, d.UntilNS}
		if was, is, ok := t.change(w, media); ok && is > 0 && is > 3*was {
			c.Evidence = append(c.Evidence, ev1(EvMediaErrors, name, math.Round(is*float64(d.UntilNS-d.OnsetNS+2e9)/1e9)))
			c.Confidence = Strong
			if n > 0 {
				c.Confidence = Decisive
			}
		}
	}
	for i := range s.rec.Target.Drives {
		a := s.rec.Target.Drives[i].PCIAddress
		if a == nil {
			continue
		}
		aer := func(s *record.Sample) (float64, bool) {
			v, ok := s.AER[*a]
			return float64(v.Correctable + v.NonFatal + v.Fatal), ok
		}
		w := windows{max(0, d.OnsetNS-12e9), d.OnsetNS - 2e9, d.OnsetNS - 2e9, d.UntilNS}
		if was, is, ok := t.change(w, aer); ok && is > 3*was && is > 0 {
			c.Evidence = append(c.Evidence, ev1(EvPCIeErrors, *a, math.Round(is*float64(d.UntilNS-d.OnsetNS+2e9)/1e9)))
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	if c.Confidence == Decisive {
		c.Decide = nil
	}
	return c
}

func firstHealth(t *track) map[string]record.Health {
	for _, s := range t.samples {
		if len(s.Health) > 0 {
			return s.Health
		}
	}
	return nil
}

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

// onDevices adds up a counter over every namespace of the target's drives.
func (s *search) onDevices(of func(record.DeviceCounters) int64) func(*record.Sample) (float64, bool) {
	var names []string
	for i := range s.rec.Target.Drives {
		d := &s.rec.Target.Drives[i]
		if d.IOStats != nil && !*d.IOStats {
			return func(*record.Sample) (float64, bool) { return 0, false }
		}
		names = append(names, d.Name)
		if d.NVMe != nil {
			for _, n := range d.NVMe.Namespaces {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
	}
	return func(sm *record.Sample) (float64, bool) {
		var sum float64
		ok := false
		for _, n := range names {
			if c, has := sm.Devices[n]; has {
				sum, ok = sum+float64(of(c)), true
			}
		}
		return sum, ok
	}
}

// own is what the pass did between two samples.
func (t *track) own(a, b *record.Sample) (bytes, ios float64) {
	from, until := a.MonoNS-t.startNS, b.MonoNS-t.startNS
	for i := range t.pass.Intervals {
		v := &t.pass.Intervals[i]
		lap := float64(min(v.EndNS, until) - max(v.EndNS-v.LenNS, from))
		if lap > 0 && v.LenNS > 0 {
			part := lap / float64(v.LenNS)
			bytes, ios = bytes+part*float64(v.ReadBytes+v.WriteBytes), ios+part*float64(v.ReadIOs+v.WriteIOs)
		}
	}
	return bytes, ios
}

// neighbour compares what the drive did with what the test did.
func (s *search) neighbour(t *track, d *Drop, w windows) *Cause {
	if s.rec.Jobs != nil { // others of the run itself may run side by side
		return nil
	}
	a, b, okWas := t.between(w.beforeFrom, w.beforeUntil)
	x, y, okIs := t.between(w.from, w.until)
	if !okWas || !okIs {
		return nil
	}
	bytesWas, iosWas := t.own(a, b)
	bytesIs, iosIs := t.own(x, y)
	scaleWas, scaleIs := float64(b.MonoNS-a.MonoNS)/1e9, float64(y.MonoNS-x.MonoNS)/1e9
	c := &Cause{Kind: CauseNeighbour, Confidence: Weak, Decide: []Test{TestQuiet}}
	for _, k := range []struct {
		kind     EvidenceKind
		of       func(record.DeviceCounters) int64
		was, own float64
	}{
		{EvDeviceBytes, func(c record.DeviceCounters) int64 { return c.ReadBytes + c.WriteBytes }, bytesWas, bytesIs},
		{EvDeviceIOs, func(c record.DeviceCounters) int64 { return c.ReadIOs + c.WriteIOs }, iosWas, iosIs},
	} {
		of := s.onDevices(k.of)
		devA, ok1 := of(a)
		devB, ok2 := of(b)
		devX, ok3 := of(x)
		devY, ok4 := of(y)
		if !ok1 || !ok2 || !ok3 || !ok4 || k.was <= 0 {
			continue
		}
		// For each of the test's there may be more or fewer at the drive: mirrors,
		// journals, merges. That many remain its own.
		ratio := (devB - devA) / k.was
		if k.kind == EvDeviceBytes {
			ratio = max(ratio, 1)
		}
		others := (devY - devX - ratio*k.own) / scaleIs
		before, lost := k.was/scaleWas, k.was/scaleWas-k.own/scaleIs
		if others < 0.03*before || lost <= 0 {
			continue
		}
		c.Evidence = append(c.Evidence, ev(k.kind, s.rec.Target.Drives[0].Name, others, max(0, (devB-devA-k.was)/scaleWas)))
		// Others' I/Os are of other sizes and kinds: they need not be as many as
		// those that were lost.
		if others >= 0.25*lost {
			c.Confidence = Strong
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	return c
}

// LinkBytes is what a PCIe link carries at the most in bytes a second: by its
// encoding, 8b/10b up to 5 GT/s and 128b/130b above. Packets take some tenth of
// it again.
func LinkBytes(mts, width int) float64 {
	coding := 128.0 / 130
	if mts <= 5000 {
		coding = 0.8
	}
	return float64(mts) * 1e6 / 8 * float64(width) * coding
}

// linkBytes is what the links of the drives carry in a sample: of one drive the
// lesser of both ends, of several the least.
func (s *search) linkBytes(sm *record.Sample) (bytes float64, source string) {
	for i := range s.rec.Target.Drives {
		d := &s.rec.Target.Drives[i]
		for _, a := range []*string{d.PCIAddress, d.PortAddress} {
			if a == nil {
				continue
			}
			if l, ok := sm.Links[*a]; ok && l.SpeedMTs > 0 && l.Width > 0 {
				if v := LinkBytes(l.SpeedMTs, l.Width); source == "" || v < bytes {
					bytes, source = v, *a
				}
			}
		}
	}
	return bytes, source
}

// link looks for a PCIe link that went down.
func (s *search) link(t *track, d *Drop, w windows) *Cause {
	var was, least, source = 0.0, 0.0, ""
	for _, sm := range t.samples {
		at := sm.MonoNS - t.startNS
		v, a := s.linkBytes(sm)
		if a == "" {
			continue
		}
		if at <= d.OnsetNS-500e6 && at >= w.beforeFrom-2e9 {
			was = max(was, v)
		}
		if at >= d.OnsetNS && at <= min(w.until, d.OnsetNS+d.FallNS+10e9) && (least == 0 || v < least) {
			least, source = v, a
		}
	}
	if was == 0 || least == 0 || least >= was {
		return nil
	}
	c := &Cause{Kind: CauseLink, Confidence: Weak, Decide: []Test{TestSlot}, Evidence: []Evidence{ev(EvLinkSpeed, source, least, was)}}
	before, _, ok := t.bytesRate(w.beforeFrom, d.OnsetNS)
	during, _, okD := t.bytesRate(w.from, w.until)
	within, seconds := 0, 0
	for i := range t.points {
		if p := &t.points[i]; p.fromNS >= d.OnsetNS+d.FallNS && p.endNS <= d.UntilNS {
			seconds++
			if float64(p.bytes) <= 1.05*least*float64(p.endNS-p.fromNS)/1e9 {
				within++
			}
		}
	}
	// It explains the drop where it cannot carry what was carried before, and
	// carries much of what it can.
	if ok && okD && before > 0.8*least && (d.Cycles > 1 || during > 0.5*least && within > seconds/2) {
		c.Confidence, c.Decide = Decisive, nil
	}
	return c
}

// bytesRate is the mean and the greatest rate in bytes a second of a time of the
// pass.
func (t *track) bytesRate(from, until int64) (average, most float64, ok bool) {
	var sum, length float64
	for i := range t.points {
		if p := &t.points[i]; p.fromNS >= from && p.endNS <= until {
			v, l := float64(p.bytes), float64(p.endNS-p.fromNS)/1e9
			sum, length, most = sum+v, length+l, max(most, v/l)
		}
	}
	return sum / max(length, 1e-9), most, length > 0
}

// driveOf returns the drive that a sensor is of.
func driveOf(rec *record.Record, sensor string) *record.Drive {
	name, _, _ := strings.Cut(sensor, " ")
	for i := range rec.Target.Drives {
		d := &rec.Target.Drives[i]
		if d.Name == name || d.Controller != nil && *d.Controller == name {
			return d
		}
	}
	return nil
}
