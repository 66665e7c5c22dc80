package analysis

import (
	"math"
	"slices"

	"nativ/internal/record"
)

// writesFlash reports whether a pass writes to a drive with flash of its own.
func (s *search) writesFlash(t *track) bool {
	if !t.job.Mode.Writes() || len(s.rec.Target.Drives) == 0 {
		return false
	}
	for i := range s.rec.Target.Drives {
		d := &s.rec.Target.Drives[i]
		if d.Transport == "memory" || d.Rotational != nil && *d.Rotational || VirtualDrive(d) {
			return false
		}
	}
	return true
}

// slc judges whether the fast cache of the drive was full, by the shape of the
// drop and what other passes wrote. The second result is true where that is
// excluded.
func (s *search) slc(t *track, d *Drop) (*Cause, bool) {
	if !s.writesFlash(t) || d.Stall || d.Written <= 0 {
		return nil, false
	}
	c := &Cause{Kind: CauseSLC, Confidence: Weak, Decide: []Test{TestPause, TestRepeat}, Evidence: []Evidence{ev1(EvBytes, "", float64(d.Written))}}
	sharp := d.FallNS < sharpNS
	if sharp {
		c.Evidence = append(c.Evidence, ev1(EvSharp, "", float64(d.FallNS)))
	}
	if d.Recovered || d.Cycles > 1 {
		c.Against = append(c.Against, ev1(EvCameBack, "", float64(t.writtenAt(d.UntilNS)-t.writtenAt(d.OnsetNS))))
	}
	if n, ok := s.wroteMore(t, d); ok {
		c.Against = append(c.Against, ev(EvMoreBytes, "", float64(n), float64(d.Written)))
	}
	if len(c.Against) > 0 {
		return c, true
	}
	// The shape alone is no sign: anything may take away a part of the speed until
	// the end of a pass. A cache shows that it counts bytes, or that it keeps its
	// state while nothing runs.
	shown := false
	if n, ok := s.sameBytes(t, d, false); ok {
		c.Evidence = append(c.Evidence, ev(EvSameBytes, "", float64(d.Written), float64(n)))
		shown = true
	}
	if share, later, ok := s.afterwards(t, d); ok && share < 1-0.7*d.Depth && d.Depth >= 0.15 {
		c.Evidence = append(c.Evidence, ev1(EvStaysSlow, "", share))
		shown = true
	} else if ok && s.isFill(t) && later >= 0.9 {
		// The preset is made for this: it writes until the drive is slow, and looks
		// when it is fast again.
		c.Evidence = append(c.Evidence, s.again(t, min(later, 1)))
		shown = true
	}
	if sharp && shown {
		c.Confidence = Strong
	}
	return c, false
}

// gc judges whether random writes made the drive collect garbage, as slc does.
func (s *search) gc(t *track, d *Drop, i int) (*Cause, bool) {
	if !s.writesFlash(t) || !t.job.Mode.Random() || d.Stall {
		return nil, false
	}
	c := &Cause{Kind: CauseGC, Confidence: Weak, Decide: []Test{TestPause, TestRepeat}, Evidence: []Evidence{ev1(EvBytes, "", float64(d.Written))}}
	if d.Recovered && d.Cycles == 1 {
		c.Against = append(c.Against, ev1(EvCameBack, "", float64(t.writtenAt(d.UntilNS)-t.writtenAt(d.OnsetNS))))
	}
	if n, ok := s.wroteMore(t, d); ok {
		c.Against = append(c.Against, ev(EvMoreBytes, "", float64(n), float64(d.Written)))
	}
	if len(c.Against) > 0 {
		return c, true
	}
	// By and by: in itself, in what follows, or as a further step of such.
	gradual := d.FallNS >= sharpNS || !t.flat(s.drops[t], i)
	for k := range s.drops[t][:i] {
		o := &s.drops[t][k]
		gradual = gradual || o.By(CauseGC) != nil && d.OnsetNS < o.UntilNS
	}
	if gradual {
		c.Evidence = append(c.Evidence, ev1(EvGradual, "", float64(d.FallNS)))
	}
	if share, ok := s.sequentialFast(t, d); ok {
		c.Evidence = append(c.Evidence, ev1(EvOnlyRandom, "", share))
		gradual = true
	}
	// That random writes fell by and by to the end of a pass could be anything: see
	// slc.
	shown := find(c.Evidence, EvOnlyRandom) != nil
	if share, _, ok := s.afterwards(t, d); ok && share < 1-0.5*d.Depth && d.Depth >= 0.15 {
		c.Evidence = append(c.Evidence, ev1(EvStaysSlow, "", share))
		shown = true
	}
	// A cache is full after the same bytes of sequential writes, too.
	if _, cache := s.sameBytes(t, d, true); gradual && shown && (!cache || d.FallNS >= sharpNS) {
		c.Confidence = Strong
	}
	return c, false
}

// flat reports whether the speed stays where it fell to, for a minute: a cache
// that is full leaves one speed, or two.
func (t *track) flat(all []Drop, i int) bool {
	d := &all[i]
	from, until := d.OnsetNS+d.FallNS+1e9, min(d.UntilNS, d.OnsetNS+d.FallNS+60e9)
	steps := 0
	for k := i + 1; k < len(all); k++ {
		if o := &all[k]; o.OnsetNS > d.OnsetNS && o.OnsetNS < d.UntilNS {
			if steps++; steps == 1 {
				until = min(until, o.OnsetNS)
			}
		}
	}
	if steps >= 2 {
		return false
	}
	var x, y []float64
	for k := range t.points {
		if p := &t.points[k]; p.fromNS >= from && p.endNS <= until && p.rate > 0 {
			x, y = append(x, float64(p.fromNS)/1e9), append(y, math.Log(p.rate))
		}
	}
	if len(x) < 2*leastSegment {
		return true
	}
	// A line through it: that falls by a part of the drop and not by chance.
	mx, my := mean(x), mean(y)
	var sxx, sxy, see float64
	for k := range x {
		sxx += (x[k] - mx) * (x[k] - mx)
		sxy += (x[k] - mx) * (y[k] - my)
	}
	slope := sxy / sxx
	for k := range x {
		e := y[k] - my - slope*(x[k]-mx)
		see += e * e
	}
	// Noise that lasts makes slopes by chance: three times what independent
	// noise would.
	chance := 3 * math.Sqrt(see/float64(len(x)-2)/sxx)
	fell := -slope * (x[len(x)-1] - x[0])
	return fell < 0.2*(d.log-d.low) || -slope < 2*chance
}

// wroteMore looks for writes of the same kind that went on at full speed after
// more bytes since the drive was idle. In a pause a drive makes no more room than
// it could write meanwhile.
func (s *search) wroteMore(t *track, d *Drop) (int64, bool) {
	var pauses int64
	for _, o := range s.tracks {
		if o.pass.Index > t.pass.Index {
			pauses += o.gapNS
		}
		// What was idle for longer had more room.
		if o == t || o.job.Mode != t.job.Mode || o.job.BlockSize != t.job.BlockSize || o.idleNS > t.idleNS {
			continue
		}
		room := 1.25*float64(d.Written) + float64(pauses)/1e9*d.bytesBefore(t)
		written, fast := o.written, 0
		for i := range o.points {
			p := &o.points[i]
			if written += p.bytes; float64(written) < room || p.rate < 0.9*d.Before {
				fast = 0
				continue
			}
			if fast++; fast >= 2*leastSegment {
				return written, true
			}
		}
	}
	return 0, false
}

// sameBytes looks for a drop of another pass after as many bytes; other asks for
// one of another mode.
func (s *search) sameBytes(t *track, d *Drop, other bool) (int64, bool) {
	for _, o := range s.tracks {
		if o == t || !o.job.Mode.Writes() || other && o.job.Mode == t.job.Mode {
			continue
		}
		for i := range s.drops[o] {
			e := &s.drops[o][i]
			if math.Abs(float64(e.Written-d.Written)) <= 0.15*float64(d.Written) && !e.Recovered {
				return e.Written, true
			}
		}
	}
	return 0, false
}

// afterwards is how fast the next pass of the same kind in the same place began,
// as a share of the speed before the drop, and the fastest of those that began
// within ten minutes; false where there is none within five, or the drop was over
// before.
func (s *search) afterwards(t *track, d *Drop) (next, fastest float64, ok bool) {
	if d.Recovered {
		return 0, 0, false
	}
	for _, o := range s.tracks {
		since := o.startNS - t.pass.Outcome.EndNS
		if o.pass.Index <= t.pass.Index || o.job.Mode != t.job.Mode || o.job.BlockSize != t.job.BlockSize || o.pass.Place != t.pass.Place || len(o.points) == 0 {
			continue
		}
		if since > 600e9 || !ok && since > 300e9 {
			break
		}
		var most float64
		for i := range o.points[:min(4, len(o.points))] {
			most = max(most, o.points[i].rate)
		}
		if !ok {
			next, ok = most/d.Before, true
		}
		fastest = max(fastest, most/d.Before)
	}
	return next, fastest, ok
}

// again is that a pass was fast again after a pause, with what the hottest sensor
// read when the next one began.
func (s *search) again(t *track, share float64) Evidence {
	e := ev1(EvRecoveredCool, "", share)
	i := slices.Index(s.tracks, t) + 1
	for _, n := range s.sensors {
		if n.stuck() || n.lies() || i >= len(s.tracks) {
			continue
		}
		if mc, ok := n.at(s.tracks[i].startNS); ok && (e.Was == nil || float64(mc) > *e.Was) {
			e.Source, e.Was = n.name, new(float64(mc))
		}
	}
	return e
}

// isFill reports whether a pass is the load of the preset that fills.
func (s *search) isFill(t *track) bool {
	return s.rec.Plan.Preset == "fill" && t.pass.Role == record.RoleLoad
}

// sequentialFast reports whether sequential writes right after were as fast as
// ever.
func (s *search) sequentialFast(t *track, d *Drop) (float64, bool) {
	best := func(o *track) float64 {
		v := 0.0
		for i := range o.points {
			v = max(v, o.points[i].rate)
		}
		return v
	}
	for _, o := range s.tracks {
		if o.pass.Index <= t.pass.Index || !o.job.Mode.Writes() || o.job.Mode.Random() || o.written == 0 || len(o.points) < leastSegment {
			continue
		}
		var most float64
		for _, p := range s.tracks {
			if p.job == o.job {
				most = max(most, best(p))
			}
		}
		first, ok := o.rate(0, 6e9)
		return first / most, ok && first >= 0.9*most && most > 0
	}
	return 0, false
}
