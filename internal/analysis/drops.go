package analysis

import (
	"math"
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A Drop is a time in a pass in which the speed was lower than right before.
// Drops of one pass may lie within each other: a drive may first fill its cache
// and then get hot. Times are nanoseconds from the start of the pass.
type Drop struct {
	Phase, Place string
	// Pass is record.Pass.Index, Role the pass's.
	Pass int
	Role string
	// OnsetNS is when the speed began to fall, which is known to a second, and
	// FallNS how long it took to fall to its new level.
	OnsetNS, FallNS int64
	// UntilNS is when the speed was back, or the end of the pass where Recovered
	// is false.
	UntilNS   int64
	Recovered bool
	// Before and During are I/Os a second, or bytes a second where InBytes is
	// true because I/Os are not of one size: during the level right before, and
	// over the whole of the drop. Plateau is that of its last half, when a
	// control loop has settled.
	Before, During, Plateau float64
	InBytes                 bool
	// Low is the speed while slow: Plateau, or the low level of a sawtooth, and
	// LowShare the share of the time from the onset to the end of the pass that was
	// spent there; nil where the speed did not come back between.
	Low      float64
	LowShare *float64
	// Depth is the share that was lost, 1 - During / Before.
	Depth float64
	// Bytes is what the pass had moved until the onset; Written what was written
	// to the drive until then, over passes and prefill, since it was last left
	// without writes for a minute.
	Bytes, Written int64
	// Cycles is how many times the speed fell: more than once is a sawtooth, of
	// which this is all.
	Cycles int
	// Stall is true where no I/O at all completed.
	Stall bool
	// OnsetTemperature is that of a drop by heat; nil for others, and where only
	// the drive's own counters told of the heat.
	OnsetTemperature *OnsetTemperature
	// Causes are sorted by how sure they are. Where none is better than weak,
	// the first is CauseUnknown.
	Causes []Cause
	// Excluded are causes that looked likely and that something speaks against;
	// see Cause.Against.
	Excluded []Cause

	log  float64 // ln(Before)
	low  float64 // that of the level to which it fell
	cuts []cut   // onsets and recoveries of a sawtooth
}

// An OnsetTemperature is what the sensor that tells most of a drop by heat read
// when it began, in millidegrees Celsius.
type OnsetTemperature struct {
	Sensor string
	// FromMC and ToMC are the interval in which the temperature was: by the second
	// of the onset, the step of the sensor, and its lag.
	FromMC, ToMC int64
	// ReadMC is the reading at the onset, PeakMC the highest one from then to the
	// end of the drop.
	ReadMC, PeakMC int64
	// LagNS is how long after the onset the sensor reached its highest reading;
	// nil where it did not fall again, so that there is none.
	LagNS *int64
}

// A cut is one tooth, in nanoseconds from the start of the pass.
type cut struct{ onset, until int64 }

const (
	// leastDrop is the loss from which a change of level is a drop.
	leastDrop = 0.05
	// leastStallNS is the length from which seconds without any I/O are a drop
	// of their own: shorter ones are counted by WarnStalls.
	leastStallNS = 2 * 900_000_000
	// sharpNS is how long a fall may take to count as one at once: levels of five
	// seconds and a transition between them.
	sharpNS = 10e9
	// rampNS is how soon another fall must follow for the two to be one that
	// takes its time.
	rampNS = 15e9
	// idleNS is how long a drive must be left without writes to count as idle:
	// what happens to its caches then is its own business.
	idleNS = 60e9
)

// A point is one second of a pass.
type point struct {
	fromNS, endNS int64
	rate          float64 // in the unit of the drop
	bytes, ios    int64
}

// A track is a pass as it is searched for drops.
type track struct {
	rec  *record.Record
	pass *record.Pass
	job  *job.Phase
	// startNS is CLOCK_MONOTONIC of the start of the pass.
	startNS int64
	inBytes bool
	points  []point
	// written is what was written to the drive until the start of the pass since
	// it was last idle.
	written int64
	// idleNS is how long it was idle before that; not known for the first.
	idleNS  int64
	samples []*record.Sample // Before and After included
	gapNS   int64            // from the pass before
}

// bytes is what the pass had moved at a time from its start; read as a line
// within a second.
func (t *track) bytesAt(ns int64) int64 {
	var sum int64
	for i := range t.points {
		p := &t.points[i]
		if p.endNS > ns {
			if p.endNS > p.fromNS && ns > p.fromNS {
				sum += int64(float64(p.bytes) * float64(ns-p.fromNS) / float64(p.endNS-p.fromNS))
			}
			break
		}
		sum += p.bytes
	}
	return sum
}

// rate is the mean between two times, in the unit of the drop; false where there
// is no second between them.
func (t *track) rate(fromNS, untilNS int64) (float64, bool) {
	var sum, length float64
	for i := range t.points {
		if p := &t.points[i]; p.fromNS >= fromNS && p.endNS <= untilNS {
			d := float64(p.endNS - p.fromNS)
			sum, length = sum+p.rate*d, length+d
		}
	}
	if length == 0 {
		return 0, false
	}
	return sum / length, true
}

// tracks returns the passes of a record in the order in which they ran.
func tracks(rec *record.Record) []*track {
	phases := map[string]*job.Phase{}
	for i := range rec.Plan.Phases {
		phases[rec.Plan.Phases[i].Name] = &rec.Plan.Phases[i]
	}
	var all []*track
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[j]
			if ph := phases[p.Phase]; ph != nil && p.Outcome != nil {
				all = append(all, newTrack(rec, p, ph))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *track) int { return a.pass.Index - b.pass.Index })

	var written, quietSince, ended int64
	idle := int64(math.MaxInt64)
	if f := rec.Prefill; f != nil {
		written = max(f.Bytes, 0)
		if f.Outcome != nil {
			quietSince, ended = f.Outcome.EndNS, f.Outcome.EndNS
		}
		if t := f.Twin; t != nil {
			written += max(t.Bytes, 0)
			if t.Outcome != nil {
				quietSince, ended = t.Outcome.EndNS, t.Outcome.EndNS
			}
		}
	}
	for _, t := range all {
		if quietSince > 0 && written > 0 && t.startNS-quietSince >= idleNS {
			written, idle = 0, t.startNS-quietSince
		}
		if ended > 0 {
			t.gapNS = max(0, t.startNS-ended)
		}
		ended = t.pass.Outcome.EndNS
		t.written, t.idleNS = written, idle
		if w := t.pass.Outcome.Write; w != nil && w.Bytes > 0 {
			written += w.Bytes
			quietSince = t.pass.Outcome.EndNS
		}
	}
	return all
}

func newTrack(rec *record.Record, p *record.Pass, ph *job.Phase) *track {
	t := &track{rec: rec, pass: p, job: ph, startNS: p.Outcome.StartNS}
	t.inBytes = ph.Mode.Mixed() && ph.WriteBlockSize > 0 && ph.WriteBlockSize != ph.BlockSize
	for i := range p.Intervals {
		v := &p.Intervals[i]
		if v.LenNS <= 0 {
			continue
		}
		pt := point{fromNS: v.EndNS - v.LenNS, endNS: v.EndNS, bytes: v.ReadBytes + v.WriteBytes, ios: v.ReadIOs + v.WriteIOs}
		n := pt.ios
		if t.inBytes {
			n = pt.bytes
		}
		pt.rate = float64(n) / float64(v.LenNS) * 1e9
		// The last interval of a pass is short, and so says little.
		if i == len(p.Intervals)-1 && v.LenNS < fullSecond {
			continue
		}
		t.points = append(t.points, pt)
	}
	w := &p.Watch
	if w.Before != nil {
		t.samples = append(t.samples, w.Before)
	}
	for i := range w.Samples {
		t.samples = append(t.samples, &w.Samples[i])
	}
	if w.After != nil {
		t.samples = append(t.samples, w.After)
	}
	return t
}

// A stretch is a part of a pass with one speed.
type stretch struct {
	fromNS, endNS int64
	log           float64 // mean of ln(rate), without outliers
}

// stretches cuts a pass where its speed changes. Seconds without any I/O are left
// out: a stall is no level, and the logarithm of 0 would be one.
func (t *track) stretches() []stretch {
	var moving []*point
	for i := range t.points {
		if t.points[i].rate > 0 {
			moving = append(moving, &t.points[i])
		}
	}
	if len(moving) < 2*leastSegment {
		return nil
	}
	x := make([]float64, len(moving))
	for i, p := range moving {
		x[i] = math.Log(p.rate)
	}
	x = withoutOutliers(x)
	var all []stretch
	from := 0
	for _, end := range append(levels(x), len(x)) {
		all = append(all, stretch{moving[from].fromNS, moving[end-1].endNS, middle(x[from:end])})
		from = end
	}
	return all
}

// middle is the mean of the middle half of x, so that what is slow for a few
// seconds makes no level.
func middle(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return mean(x[len(x)/4 : len(x)-len(x)/4])
}

// drops finds the drops of a pass, without their causes.
func (t *track) drops() []Drop {
	threshold := -math.Log(1 - leastDrop)
	ls := t.stretches()
	var done, open []*Drop
	end := int64(0)
	if n := len(t.points); n > 0 {
		end = t.points[n-1].endNS
	}
	falling := int64(0) // when the last fall to the present level ended
	var top float64     // the level that a slow fall is compared with
	for i, l := range ls {
		if i == 0 {
			top = l.log
			continue
		}
		prev := ls[i-1]
		// Back up: everything that began below this level, or nearly so, is over.
		for len(open) > 0 {
			d := open[len(open)-1]
			if l.log < d.log-max(threshold, (d.log-prev.log)/4) || l.log <= prev.log {
				break
			}
			d.Recovered, d.UntilNS = true, l.fromNS
			d.cuts[len(d.cuts)-1].until = l.fromNS
			done, open = append(done, d), open[:len(open)-1]
			top = l.log
		}
		if len(open) == 0 {
			top = max(top, l.log)
		}
		if l.log >= prev.log {
			continue
		}
		switch {
		case len(open) > 0 && prev.log-l.log > 0 && l.fromNS-falling <= rampNS && !open[len(open)-1].Recovered:
			d := open[len(open)-1] // still the same fall
			d.FallNS = l.fromNS - d.OnsetNS
			d.low = l.log
			falling = l.fromNS
		case len(open) > 0 && prev.log-l.log >= threshold,
			len(open) == 0 && top-l.log >= threshold:
			before := prev.log
			onset := l.fromNS
			if len(open) == 0 { // a fall in steps each too small to be one begins with the first of them
				before = top
				for k := i - 1; k > 0 && ls[k].log < top-threshold/4 && ls[k].log <= ls[k-1].log; k-- {
					onset = ls[k].fromNS
				}
			}
			open = append(open, &Drop{OnsetNS: onset, FallNS: l.fromNS - onset, UntilNS: end, log: before, low: l.log, Cycles: 1, cuts: []cut{{onset, end}}})
			falling = l.fromNS
		}
	}
	done = append(done, open...)
	for _, d := range done {
		t.sharpen(d)
	}
	done = append(done, t.stallDrops()...)
	slices.SortStableFunc(done, func(a, b *Drop) int { return int(min(max(a.OnsetNS-b.OnsetNS, -1), 1)) })
	var all []Drop
	for _, d := range t.teeth(done) {
		if t.measure(d) {
			all = append(all, *d)
		}
	}
	return all
}

// sharpen finds the second of a fall that is sharp: next to a level there may be
// another of a few seconds that is a mean of both and no level at all.
func (t *track) sharpen(d *Drop) {
	const near = 6e9
	quarter := (d.log - d.low) / 4
	from, to := int64(-1), int64(-1)
	for i := range t.points {
		p := &t.points[i]
		if p.fromNS < d.OnsetNS-near || p.rate <= 0 {
			continue
		}
		if p.fromNS > d.OnsetNS+d.FallNS+near {
			break
		}
		// Twice in a row, or it is an outlier.
		v := math.Log(p.rate)
		if i+1 < len(t.points) && t.points[i+1].rate > 0 {
			v = max(v, math.Log(t.points[i+1].rate))
		}
		if from < 0 && v < d.log-quarter {
			from = p.fromNS
		}
		if from >= 0 && v < d.log-3*quarter {
			to = p.fromNS
			break
		}
	}
	if from < 0 || to < 0 || to-from > 3e9 || from >= d.cuts[0].until {
		return
	}
	d.OnsetNS, d.FallNS, d.cuts[0].onset = from, to-from, from
}

// teeth joins drops to the same depth that follow each other, within as long as
// the ones before took: a throttle that goes on and off.
func (t *track) teeth(in []*Drop) []*Drop {
	var out []*Drop
	for _, d := range in {
		if n := len(out); n > 0 {
			p := out[n-1]
			tooth := p.cuts[len(p.cuts)-1]
			// Of a throttle, it takes some time to warm up again and some to cool down.
			period := max(int64(40e9), 3*(tooth.until-tooth.onset))
			if len(p.cuts) > 1 {
				period = max(period, 2*(tooth.onset-p.cuts[len(p.cuts)-2].onset))
			}
			if p.Recovered && !p.Stall && !d.Stall && d.OnsetNS-p.UntilNS <= period && math.Abs(p.log-d.log) < 0.15 &&
				math.Abs(p.low-d.low) < 0.15+0.4*(p.log-p.low) {
				p.cuts = append(p.cuts, d.cuts...)
				p.Cycles++
				p.UntilNS, p.Recovered = d.UntilNS, d.Recovered
				continue
			}
		}
		out = append(out, d)
	}
	return out
}

// stallDrops are times in which no I/O completed, in the middle of a pass.
func (t *track) stallDrops() []*Drop {
	var all []*Drop
	for i := 0; i < len(t.points); {
		j := i
		for j < len(t.points) && t.points[j].rate == 0 {
			j++
		}
		// At its start a pass may take time to begin, at its end to finish.
		if from, until := t.points[i].fromNS, t.points[max(i, j-1)].endNS; i > 0 && j < len(t.points) && until-from >= leastStallNS && j > i {
			d := &Drop{OnsetNS: from, UntilNS: until, Recovered: true, Stall: true, Cycles: 1, cuts: []cut{{from, until}}}
			if before, ok := t.rate(max(0, from-10e9), from); ok && before > 0 {
				d.log = math.Log(before)
				all = append(all, d)
			}
		}
		i = max(i+1, j)
	}
	return all
}

// measure fills in what a drop cost; false where it is none after all, because
// the rates themselves differ by less than their logarithms.
func (t *track) measure(d *Drop) bool {
	d.Phase, d.Place, d.Pass, d.Role, d.InBytes = t.pass.Phase, t.pass.Place, t.pass.Index, t.pass.Role, t.inBytes
	during, ok := t.rate(d.OnsetNS, d.UntilNS)
	if !ok {
		return false
	}
	d.Before, d.During = math.Exp(d.log), during
	d.Plateau = during
	if d.Cycles == 1 {
		if p, ok := t.rate(d.OnsetNS+d.FallNS+(d.UntilNS-d.OnsetNS-d.FallNS)/2, d.UntilNS); ok {
			d.Plateau = p
		}
	}
	d.Depth = 1 - d.During/d.Before
	d.Bytes = t.bytesAt(d.OnsetNS)
	d.Written = t.written
	if t.job.Mode.Writes() {
		d.Written += t.writtenAt(d.OnsetNS)
	}
	return d.Depth >= leastDrop
}

// writtenAt is what the pass had written at a time from its start.
func (t *track) writtenAt(ns int64) int64 {
	var sum int64
	for i := range t.pass.Intervals {
		v := &t.pass.Intervals[i]
		if v.EndNS > ns {
			break
		}
		sum += v.WriteBytes
	}
	return sum
}

// findDrops fills in what is about drops and what slows down: Drops, Heat, Fills
// and Holds.
func findDrops(rec *record.Record, r *Result) *search {
	s := &search{rec: rec, tracks: tracks(rec), drops: map[*track][]Drop{}}
	s.sensors = sensorsOf(s.tracks)
	for _, t := range s.tracks {
		s.drops[t] = t.drops()
	}
	s.explain()
	for _, t := range s.tracks {
		for i := range s.drops[t] {
			d := &s.drops[t][i]
			if c := d.By(CauseThermal, CauseThermalLink); c != nil {
				d.OnsetTemperature = s.onsetTemperature(t, d, c)
			}
			d.Low = d.Plateau
			if low, share, ok := t.sawtooth(d); ok && (d.Cycles > 1 || d.By(CauseThermal, CauseThermalLink) != nil) {
				d.Low, d.LowShare = low, &share
			}
		}
		r.Drops = append(r.Drops, s.drops[t]...)
	}
	r.Heat = s.heat(r.Drops)
	r.Fills = s.fills()
	r.Holds = s.holds(r)
	return s
}
