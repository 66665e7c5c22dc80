package analysis

import (
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

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
