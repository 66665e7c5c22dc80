package analysis

import (
	"math"
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A Heat is what heat took from one phase in one place: that of its first drop
// by heat. Times are nanoseconds, temperatures millidegrees Celsius.
type Heat struct {
	Phase, Place string
	Mode         job.Mode
	BlockSize    int64
	// Pass is the one that it was seen in, Drop its index in Result.Drops.
	Pass, Drop int
	// Onset is the temperature at the onset, nil where only the drive's own
	// counters told of the heat.
	Onset *OnsetTemperature
	// Before and Plateau are I/Os a second, or bytes a second where InBytes is
	// true.
	Before, Plateau, Lost float64
	InBytes               bool
	// BeforeBytes and PlateauBytes are the same in bytes a second.
	BeforeBytes, PlateauBytes float64
	// Throttled is the speed while throttled, in the unit of Before, and
	// ThrottledBytes in bytes a second: Plateau, or the low level of a sawtooth, of
	// which Plateau is a mean with the fast times between. Lost is the share
	// between Before and this.
	Throttled, ThrottledBytes float64
	// ThrottledShare is the share of the time from the onset to the end of the pass
	// that was spent at Throttled; nil where the speed did not come back between.
	ThrottledShare *float64
	// AfterNS and Bytes are how long the pass ran until then, and what it moved.
	AfterNS, Bytes int64
	// Times is how many passes of the phase and place had such a drop, of Of;
	// LeastMC and MostMC are the lowest and highest reading at their onsets.
	Times, Of       int
	LeastMC, MostMC int64
	// RecoveredNS is how long after the load a probe was as fast as before within
	// a twentieth, RecoveredMC what the sensor read then; nil where none was.
	RecoveredNS, RecoveredMC *int64
	// AboveCritical is true where the sensor read more than CCTEMP while the drive
	// counted no critical minute nor raised its warning: it is then of another
	// point than the one that CCTEMP is of.
	AboveCritical bool
	Confidence    Confidence
}

// A Fill is a long sequential write: what its cache takes, and what comes after.
// Rates are bytes a second. Nil is what was not seen.
type Fill struct {
	Phase, Place string
	Pass         int
	// Written is all that was written, Average over the whole time.
	Written int64
	Average float64
	// CacheBytes is what was written, since the drive was idle, when the speed
	// fell; nil where it did not: the cache is larger than Written, or there is
	// none.
	CacheBytes *int64
	// CacheDoubt is what else may have made the speed fall there: "" where the cache
	// is shown, CauseThermal where heat would fit as well, else CauseUnknown.
	CacheDoubt CauseKind
	// StartSeconds is how many whole seconds of a cache there were where they are
	// too few for a level: CacheBytes is then known to a second of writing only, and
	// with 1 no more than a bound from above. 0 is a cache that took longer.
	StartSeconds int
	// InCache is the speed until then, or all along.
	InCache float64
	// AfterCache is the speed from then on, until another fall or to the end.
	AfterCache *float64
	// FoldingFrom is what was written when the speed fell a second time, Folding
	// the speed after that.
	FoldingFrom *int64
	Folding     *float64
	// Recovered is the speed of the probes after the load, by how long it was
	// over; RecoveredNS is when one was as fast as the cache within a tenth.
	Recovery    []Recovery
	RecoveredNS *int64
	// Curve is the speed over what was written, a few hundred points at most.
	Curve []CurvePoint
}

// A Recovery is one probe after a load.
type Recovery struct {
	AfterNS int64
	Rate    float64
}

// A CurvePoint is the mean speed, in bytes a second, until so much was written.
type CurvePoint struct {
	Written int64
	Rate    float64
}

// A Hold is what keeps whole passes below what the drive can do, without any
// drop that would show it.
type Hold struct {
	Phase, Place string
	Cause        Cause
}

func (s *search) heat(all []Drop) []Heat {
	var rows []Heat
	find := func(phase, place string) *Heat {
		for i := range rows {
			if rows[i].Phase == phase && rows[i].Place == place {
				return &rows[i]
			}
		}
		return nil
	}
	for _, t := range s.tracks {
		if len(s.drops[t]) == 0 {
			continue
		}
		passes := 0
		for _, o := range s.tracks {
			if o.pass.Phase == t.pass.Phase && o.pass.Place == t.pass.Place && o.pass.Role != record.RoleProbe {
				passes++
			}
		}
		for i := range all {
			d := &all[i]
			c := d.By(CauseThermal, CauseThermalLink)
			if d.Pass != t.pass.Index || c == nil {
				continue
			}
			h := s.heatOf(t, d, c)
			h.Drop, h.Of = i, passes
			if old := find(d.Phase, d.Place); old != nil {
				if old.Pass != h.Pass {
					old.Times++
				}
				if h.Onset != nil && old.Onset != nil && h.Onset.Sensor == old.Onset.Sensor {
					old.LeastMC, old.MostMC = min(old.LeastMC, h.LeastMC), max(old.MostMC, h.MostMC)
				}
			} else {
				rows = append(rows, h)
			}
			break // the first of a pass: what comes later began hot
		}
	}
	return rows
}

func (s *search) heatOf(t *track, d *Drop, c *Cause) Heat {
	h := Heat{Phase: d.Phase, Place: d.Place, Mode: t.job.Mode, BlockSize: t.job.BlockSize, Pass: d.Pass,
		Before: d.Before, Plateau: d.Plateau, Throttled: d.Low, ThrottledShare: d.LowShare, InBytes: d.InBytes,
		AfterNS: d.OnsetNS, Bytes: d.Bytes, Times: 1, Confidence: c.Confidence}
	h.Lost = 1 - h.Throttled/h.Before
	size := 1.0
	if !d.InBytes {
		size = float64(t.job.BlockSize)
	}
	h.BeforeBytes, h.PlateauBytes, h.ThrottledBytes = size*d.Before, size*d.Plateau, size*h.Throttled
	if h.Onset = d.OnsetTemperature; h.Onset != nil {
		h.LeastMC, h.MostMC = h.Onset.ReadMC, h.Onset.ReadMC
		if drive := driveOf(s.rec, h.Onset.Sensor); drive != nil && drive.NVMe != nil && drive.NVMe.CriticalMC != nil && drive.Controller != nil {
			h.AboveCritical = h.Onset.PeakMC > *drive.NVMe.CriticalMC && s.quiet(*drive.Controller)
		}
	}
	for _, o := range s.tracks {
		if o.pass.Index <= t.pass.Index || o.pass.Phase != d.Phase || o.pass.Place != d.Place || d.Recovered {
			continue
		}
		var fastest float64
		for i := range o.points[:min(4, len(o.points))] {
			fastest = max(fastest, o.points[i].rate)
		}
		if fastest >= 0.95*d.Before {
			h.RecoveredNS = new(o.startNS - t.pass.Outcome.EndNS)
			if h.Onset != nil {
				if mc, ok := s.sensor(h.Onset.Sensor).at(o.startNS); ok {
					h.RecoveredMC = &mc
				}
			}
			break
		}
	}
	return h
}

// sawtooth is the low level of a throttle that goes on and off, and its share of
// the time from the onset to the end of the pass; false where the speed did not
// come back, so that there is one level only.
func (t *track) sawtooth(d *Drop) (low, share float64, ok bool) {
	var rates []float64
	for i := range t.points {
		// While it falls it is at neither level.
		if p := &t.points[i]; p.fromNS >= d.OnsetNS+d.FallNS && p.rate > 0 {
			rates = append(rates, p.rate)
		}
	}
	if len(rates) < 2*leastSegment {
		return 0, 0, false
	}
	slices.Sort(rates)
	// A tenth may be slower for other reasons.
	border := (d.Before + rates[len(rates)/10]) / 2
	n, _ := slices.BinarySearch(rates, border)
	share = float64(n) / float64(len(rates))
	if n == 0 || share > 0.95 {
		return 0, 0, false
	}
	return rates[n/2], share, true
}

// onsetTemperature finds the interval of the temperature at an onset.
//
// A reading of a sensor that lags is a mean of what was, and so less than the
// temperature while that rises, and its highest reading is never above the
// highest temperature: the truth lies between the reading at the onset and that.
func (s *search) onsetTemperature(t *track, d *Drop, c *Cause) *OnsetTemperature {
	e := find(c.Evidence, EvLead)
	if e == nil {
		return nil
	}
	n := s.sensor(e.Source)
	onset := t.startNS + d.OnsetNS
	around := n.in(onset-1_200e6, onset+1_200e6)
	rest := n.in(onset, t.startNS+d.UntilNS)
	read, ok := n.at(onset)
	if !ok || len(around) == 0 || len(rest) == 0 {
		return nil
	}
	const half = 500 // of a step of 1 °C
	o := &OnsetTemperature{Sensor: n.name, FromMC: slices.Min(around) - half, ToMC: slices.Max(around) + half, ReadMC: read, PeakMC: slices.Max(rest)}
	// The turn that this onset made: within a minute, before the next tooth.
	until := min(t.startNS+d.cuts[0].until, onset+60e9)
	peak, at := n.peak(onset, until)
	if after := n.in(at, until); len(after) > 3 && peak-slices.Min(after) >= 2000 {
		o.LagNS = new(max(0, at-onset))
		o.ToMC = max(o.ToMC, peak+half)
	}
	o.ToMC = max(o.ToMC, read+half+n.behind(onset, until))
	// Where it had begun to fall before, with nothing that shows why, heat may have
	// begun there.
	for i := range s.drops[t] {
		e := &s.drops[t][i]
		if e.OnsetNS >= d.OnsetNS || e.UntilNS < d.OnsetNS || e.Stall || len(e.Named()) > 0 {
			continue
		}
		k := slices.IndexFunc(e.Causes, func(c Cause) bool { return c.Kind == CauseThermal })
		if k < 0 {
			continue
		}
		if mc, ok := n.at(t.startNS + e.OnsetNS); ok {
			o.FromMC = min(o.FromMC, mc-half)
		}
	}
	return o
}

// mostBehind is how far a sensor may be behind, in millidegrees.
const mostBehind = 12_000

// behind is how far a sensor was behind what it measures when a rise broke off. One
// that follows with a time constant is behind by that times the slope; it goes on
// as before and bends by and by, so that the line on which it ends, drawn back to
// the break, lies above its reading there, by the time constant times the change
// of slope. One that follows at once bends at once.
func (n *sensor) behind(onset, until int64) int64 {
	rise := n.slope(onset-15e9, onset)
	middle := onset + (until-onset)*45/100
	after := n.slope(middle, until)
	v := n.in(middle, until)
	read, ok := n.at(onset)
	if !ok || len(v) < 5 || rise <= 0 || rise-after < 0.2*rise {
		return 0
	}
	var sum float64
	for _, x := range v {
		sum += float64(x)
	}
	back := sum/float64(len(v)) - after*float64((middle+until)/2-onset)/1e9
	const step = 700 // by the steps of readings alone
	if above := back - float64(read); above > step {
		return int64(min(above*rise/(rise-after), mostBehind))
	}
	return 0
}

// peak is the highest reading of a time, and the middle of when it was there first.
func (n *sensor) peak(from, until int64) (mc, at int64) {
	i, _ := slices.BinarySearch(n.times, from)
	j, _ := slices.BinarySearch(n.times, until+1)
	mc = math.MinInt64
	var last int64
	for k := i; k < j; k++ {
		if n.values[k] > mc {
			mc, at, last = n.values[k], n.times[k], n.times[k]
		} else if n.values[k] == mc && last == n.times[k-1] {
			last = n.times[k]
		}
	}
	return mc, at + (last-at)/2
}

// quiet reports whether the drive neither counted critical minutes nor raised its
// warning in the run; false where its health log was not read.
func (s *search) quiet(controller string) bool {
	var first, last *record.Health
	for _, t := range s.tracks {
		for _, sm := range t.samples {
			if h, ok := sm.Health[controller]; ok {
				if h.CriticalWarning&record.CriticalTemperature != 0 {
					return false
				}
				if first == nil {
					first = &h
				}
				last = &h
			}
		}
	}
	return first != nil && last.CriticalMinutes == first.CriticalMinutes
}

const curvePoints = 400

// fills describes the loads of a run that fills: those of the preset, and every
// pass that writes its region in order once.
func (s *search) fills() []Fill {
	var all []Fill
	for _, t := range s.tracks {
		sequential := t.job.Mode == job.Write
		load := s.rec.Plan.Preset == "fill" && t.pass.Role == record.RoleLoad || t.job.Once && t.pass.Role == ""
		if !sequential || !load || len(t.points) < 2*leastSegment {
			continue
		}
		all = append(all, s.fill(t))
	}
	return all
}

func (s *search) fill(t *track) Fill {
	o := t.pass.Outcome
	f := Fill{Phase: t.pass.Phase, Place: t.pass.Place, Pass: t.pass.Index}
	if o.Write != nil {
		f.Written = o.Write.Bytes
	}
	if ns := o.ElapsedNS(); ns > 0 {
		f.Average = float64(f.Written) / float64(ns) * 1e9
	}
	rate := func(from, until int64) float64 {
		v, _, _ := t.bytesRate(from, until)
		return v
	}
	end := t.points[len(t.points)-1].endNS
	falls := []*Drop{}
	for i := range s.drops[t] {
		if d := &s.drops[t][i]; d.By(CauseSLC) != nil {
			falls = append(falls, d)
		}
	}
	if len(falls) == 0 {
		if d := t.likelyCache(s.drops[t]); d != nil {
			falls, f.CacheDoubt = append(falls, d), CauseUnknown
			if slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseThermal }) {
				f.CacheDoubt = CauseThermal
			}
		}
	}
	if d, seconds := t.fastStart(); d != nil && (len(falls) == 0 || falls[0].OnsetNS > leastSegment*1e9) {
		falls, f.StartSeconds, f.CacheDoubt = append([]*Drop{d}, falls...), seconds, ""
	}
	f.InCache = rate(0, end)
	if len(falls) > 0 {
		first := falls[0]
		f.CacheBytes = new(first.Written)
		f.InCache = rate(0, first.OnsetNS)
		if f.StartSeconds > 0 {
			f.InCache = first.Before
		}
		until := end
		if len(falls) > 1 {
			until = falls[1].OnsetNS
			f.FoldingFrom = new(falls[1].Written)
			f.Folding = new(rate(falls[1].OnsetNS+falls[1].FallNS, end))
		}
		// Nor is what comes after another fall, such as by heat, the speed after
		// the cache.
		for i := range s.drops[t] {
			if d := &s.drops[t][i]; d.OnsetNS > first.OnsetNS+first.FallNS && d.OnsetNS < until {
				until = d.OnsetNS
			}
		}
		f.AfterCache = new(rate(first.OnsetNS+first.FallNS, until))
	}
	for _, p := range s.tracks {
		if p.pass.Index <= t.pass.Index || p.pass.Role != record.RoleProbe || p.pass.Place != t.pass.Place || !p.job.Mode.Writes() {
			continue
		}
		// A fast drive is through with its bytes in less than a second, of which
		// there is no interval.
		w, ns := p.pass.Outcome.Write, p.pass.Outcome.ElapsedNS()
		if w == nil || w.Bytes <= 0 || ns <= 0 {
			continue
		}
		r := Recovery{AfterNS: p.startNS - o.EndNS, Rate: float64(w.Bytes) / float64(ns) * 1e9}
		f.Recovery = append(f.Recovery, r)
		// Of a cache that holds less than a probe, the start of the load is as slow.
		like := f.InCache
		if f.StartSeconds > 0 {
			like = t.meanOfFirst(w.Bytes)
		}
		if f.CacheBytes != nil && f.RecoveredNS == nil && r.Rate >= 0.9*like {
			f.RecoveredNS = new(r.AfterNS)
		}
	}
	each := (len(t.points) + curvePoints - 1) / curvePoints
	var written int64
	for i := 0; i < len(t.points); i += each {
		j := min(i+each, len(t.points))
		for k := i; k < j; k++ {
			written += t.points[k].bytes
		}
		f.Curve = append(f.Curve, CurvePoint{written, rate(t.points[i].fromNS, t.points[j-1].endNS)})
	}
	return f
}

// likelyCache is the first fall that looks like the end of a cache and lasts, where
// none is shown to be one: something else would fit as well.
func (t *track) likelyCache(all []Drop) *Drop {
	for i := range all {
		d := &all[i]
		k := slices.IndexFunc(d.Causes, func(c Cause) bool { return c.Kind == CauseSLC })
		if k >= 0 && len(d.Named()) == 0 && !d.Recovered && d.Depth >= 0.3 && find(d.Causes[k].Evidence, EvSharp) != nil &&
			(find(d.Causes[k].Evidence, EvStaysSlow) != nil || find(d.Causes[k].Evidence, EvRecoveredCool) != nil) {
			return d
		}
	}
	return nil
}

// fastStart is the end of a cache that is full before there is a level: at most
// leastSegment seconds that are clearly faster than those after them. The last of
// them is part fast and part slow.
func (t *track) fastStart() (*Drop, int) {
	const settled = 3 * leastSegment
	if len(t.points) < settled {
		return nil, 0
	}
	var later []float64
	for _, p := range t.points[leastSegment:settled] {
		later = append(later, p.rate)
	}
	slices.Sort(later)
	level, fast := later[len(later)/2], t.points[0].rate
	n := 0
	for n < leastSegment && t.points[n].rate >= 1.3*level {
		n++
	}
	if n == 0 || n == leastSegment || fast < 1.5*level || later[len(later)-1] > 1.3*level {
		return nil, 0
	}
	onset := t.points[0].endNS
	if n > 1 {
		last := &t.points[n-1]
		part := min(1, (last.rate-level)/(fast-level))
		onset = last.fromNS + int64(part*float64(last.endNS-last.fromNS))
	}
	d := &Drop{OnsetNS: onset, FallNS: t.points[n-1].endNS - onset, UntilNS: t.points[len(t.points)-1].endNS,
		Bytes: t.bytesAt(onset), Before: fast * float64(t.job.BlockSize)}
	if n > 1 {
		// At the fast speed until then, not at the mean of its last second.
		last := &t.points[n-1]
		d.Bytes = t.bytesAt(last.fromNS) + int64(d.Before*float64(onset-last.fromNS)/1e9)
	}
	d.Written = t.written + d.Bytes
	return d, n
}

// meanOfFirst is the mean speed of the first bytes of a pass, in bytes a second.
func (t *track) meanOfFirst(bytes int64) float64 {
	var moved int64
	for i := range t.points {
		p := &t.points[i]
		if left := bytes - moved; p.bytes >= left && p.bytes > 0 {
			ns := float64(p.fromNS) + float64(left)/float64(p.bytes)*float64(p.endNS-p.fromNS)
			return float64(bytes) / ns * 1e9
		}
		moved += p.bytes
	}
	return 0
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
