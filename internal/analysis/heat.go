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
