package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"nativ/internal/record"
)

// LeastShown is the difference up to which two places count as alike whatever
// their passes say, as a fraction of the host: the order, the temperature and the
// layout of the file differ by as much between runs.
const LeastShown = 0.05

// level is the chance that a run without any difference shows one in any of its
// comparisons, if its noise is alike in all places of a phase.
const level = 0.1

// A Loss compares the places of one phase by IOPS, in fractions of the host, so
// that the parts add up: (lxc-host)/host = (pinned-host)/host + (lxc-pinned)/host.
type Loss struct {
	// Total, CPUs and Container are nil where a place that they need has no
	// number, or the host has 0 IOPS.
	Total, CPUs, Container *Part
	// CPULimited is true where the container's CPUs were used up (at least 95 %
	// in every pass), in pinned, or in the container where pinned is left out.
	CPULimited bool
	// NotSeparable is true where total cannot be split because the plan has no
	// pinned place.
	NotSeparable bool
}

// A Part is a difference between two places.
type Part struct {
	// Fraction of the host's IOPS; negative is slower.
	Fraction float64
	// Tenths is Fraction in tenths of a percent of the host, rounded so that
	// those of CPUs and Container add up to that of Total exactly.
	Tenths int64
	// Margin is what the logarithm of the ratio of the two places must exceed
	// to count as shown, as their passes scatter; nil where that is not known.
	Margin *float64
	// Doubt says why the part does not count as shown; DoubtNone where it does.
	Doubt Doubt
	// Low and High are the ends of the 95 % interval, in fractions of the host,
	// where the phase has rounds; nil where it has too few of them or none.
	Low, High *float64
	// Judged is the comparison of throughput that the part is; nil without rounds.
	Judged *Comparison
}

// Shown reports whether the part counts as a real difference.
func (p *Part) Shown() bool { return p != nil && p.Doubt == DoubtNone }

// A Doubt is why a difference does not count as shown.
type Doubt string

// The doubts, the strongest first.
const (
	DoubtPasses Doubt = "passes" // a planned pass is missing, so that the order is not balanced
	DoubtCache  Doubt = "cache"  // a cache answered instead of the drive
	DoubtLoad   Doubt = "load"   // others used most of the CPU time in one of the places
	DoubtWrites Doubt = "writes" // the drive had other writes to do in one of the places
	DoubtFew    Doubt = "few"    // no place was measured twice, so that chance is unknown
	DoubtSmall  Doubt = "small"  // at most LeastShown
	DoubtSpread Doubt = "spread" // chance may well do it, as the passes scatter
	// The judgements of rounds that name no difference to speak of.
	DoubtEquivalent   Doubt = "equivalent"
	DoubtNegligible   Doubt = "negligible"
	DoubtInconclusive Doubt = "inconclusive"
	DoubtNone         Doubt = ""
)

// maxFraction bounds what counts as a comparison at all: ten thousand times
// faster is no number to print but a broken measurement.
const maxFraction = 1e4

func computeLoss(rec *record.Record, ph *Phase) Loss {
	host, pinned, lxc := ph.Place(record.PlaceHost), ph.Place(record.PlacePinned), ph.Container()
	l := newLoss(host, pinned, lxc)
	doubt := DoubtNone
	for i := range ph.Places {
		p := &ph.Places[i]
		switch {
		case p.Passes < p.Planned:
			doubt = DoubtPasses
		case doubt == DoubtNone && cacheAnswered(&ph.Job, p):
			doubt = DoubtCache
		}
	}
	s := scatterOf(ph.Places)
	part := func(a, b *Place) *Part {
		if host == nil || host.IOPS == nil || *host.IOPS <= 0 || a == nil || a.IOPS == nil || b == nil || b.IOPS == nil {
			return nil
		}
		f := (*b.IOPS - *a.IOPS) / *host.IOPS
		if math.IsNaN(f) || math.Abs(f) > maxFraction {
			return nil
		}
		p := &Part{Fraction: f, Tenths: tenths(f), Doubt: doubt}
		ratio, margin, ok := s.compare(a, b, comparisons(rec))
		if ok {
			p.Margin = &margin
		}
		if p.Doubt == DoubtNone {
			p.Doubt = doubtOfPair(ph, a, b)
		}
		switch {
		case p.Doubt != DoubtNone:
		case math.Abs(f) <= LeastShown:
			p.Doubt = DoubtSmall
		case !ok:
			p.Doubt = DoubtFew
		case !(math.Abs(ratio) > margin):
			p.Doubt = DoubtSpread
		}
		return p
	}
	l.Total, l.CPUs, l.Container = part(host, lxc), part(host, pinned), part(pinned, lxc)
	if l.Total != nil && l.CPUs != nil && l.Container != nil {
		addUp(l.Total, l.CPUs, l.Container)
	}
	return l
}

func newLoss(host, pinned, lxc *Place) Loss {
	return Loss{
		NotSeparable: host != nil && lxc != nil && pinned == nil,
		CPULimited:   pinned != nil && pinned.CPULimited || pinned == nil && lxc != nil && lxc.CPULimited,
	}
}

// doubtOf is what else may make a difference of two places, or hide one.
func doubtOf(ph *Phase, a, b *Place) Doubt {
	if cacheAnswered(&ph.Job, a) || cacheAnswered(&ph.Job, b) {
		return DoubtCache
	}
	return doubtOfPair(ph, a, b)
}

func doubtOfPair(ph *Phase, a, b *Place) Doubt {
	switch {
	case a.OtherLoad() || b.OtherLoad():
		return DoubtLoad
	case ph.Job.Mode.Writes() && otherWrites(a, b):
		return DoubtWrites
	}
	return DoubtNone
}

// lossOfRounds splits the loss by the comparisons of the rounds. The parts add up
// because all come from the same rounds.
func lossOfRounds(ph *Phase) Loss {
	host, pinned, lxc := ph.Place(record.PlaceHost), ph.Place(record.PlacePinned), ph.Container()
	l := newLoss(host, pinned, lxc)
	of := func(a, b *Place) *Comparison {
		if a == nil || b == nil {
			return nil
		}
		return ph.Comparison(MetricThroughput, a.Name, b.Name)
	}
	total, cpus, container := of(host, lxc), of(host, pinned), of(pinned, lxc)
	l.Total, l.CPUs = partOf(total, 1), partOf(cpus, 1)
	if cpus != nil {
		l.Container = partOf(container, cpus.Ratio())
		widen(l.Container, container, cpus)
	}
	if l.Total != nil && l.CPUs != nil && l.Container != nil {
		addUp(l.Total, l.CPUs, l.Container)
	}
	return l
}

// PartOf is a comparison of two places as a part of the first; nil where there is
// none.
func PartOf(c *Comparison) *Part { return partOf(c, 1) }

// partOf is a comparison as a part of the host, where what it compares with is
// base of the host. Nil where there is none or it is no number to print.
func partOf(c *Comparison, base float64) *Part {
	if c == nil {
		return nil
	}
	f := base * math.Expm1(c.Log)
	if math.IsNaN(f) || math.Abs(f) > maxFraction {
		return nil
	}
	p := &Part{Fraction: f, Tenths: tenths(f), Judged: c, Doubt: c.Doubt}
	if low, high, ok := c.Logs(confidence); ok {
		low, high = base*math.Expm1(low), base*math.Expm1(high)
		if math.Abs(low) <= maxFraction && math.Abs(high) <= maxFraction {
			p.Low, p.High = &low, &high
		}
	}
	if p.Doubt == DoubtNone {
		p.Doubt = map[Judgement]Doubt{
			JudgeEquivalent: DoubtEquivalent, JudgeNegligible: DoubtNegligible,
			JudgeInconclusive: DoubtInconclusive, JudgeNone: DoubtFew,
		}[c.Judgement]
	}
	return p
}

// widen gives the container's part the uncertainty of what it is a part of: its
// own interval is in percent of pinned, and how far pinned is from the host is not
// certain either. Pinned is in both, which correlates them by -1/2 and, where the
// part is a loss, makes it uncertain by as much more. All of that is next to
// nothing where the part is small, so that no end crosses 0 for it: the sign is
// told by the comparison alone.
func widen(p *Part, container, cpus *Comparison) {
	if p == nil || p.Low == nil {
		return
	}
	low, high, ok := cpus.Logs(confidence)
	if !ok {
		return
	}
	more := math.Abs(p.Fraction) * (high - low) / 2
	further := func(end float64) float64 {
		e := math.Abs(end - p.Fraction)
		return math.Sqrt(e*e + more*more + e*more)
	}
	l, h := p.Fraction-further(*p.Low), p.Fraction+further(*p.High)
	if *p.Low > 0 {
		l = max(l, 0)
	}
	if *p.High < 0 {
		h = min(h, 0)
	}
	p.Low, p.High = &l, &h
}

// otherWrites reports whether the drive wrote more than the test did in one of
// two places and much less so in the other, so that its own work (a journal, a
// neighbour) and not the place may be the difference.
func otherWrites(a, b *Place) bool {
	if a.DeviceRatio == nil || b.DeviceRatio == nil {
		return false
	}
	low, high := min(*a.DeviceRatio, *b.DeviceRatio), max(*a.DeviceRatio, *b.DeviceRatio)
	return high > extraRatio && high > low*unlikeRatio
}

// comparisons counts the differences that a run tests: in each phase those of all
// pairs of its places.
func comparisons(rec *record.Record) int {
	n := len(rec.Plan.Places)
	return len(rec.Plan.Phases) * n * (n - 1) / 2
}

// A scatter is how much the passes of one place differ, taken together over the
// places of a phase: with two passes a place, one alone says next to nothing. It
// is that of the logarithms of the rates, because rates scatter in proportion.
type scatter struct {
	sd float64 // pooled standard deviation within the places
	df int     // its degrees of freedom
}

func scatterOf(places []Place) scatter {
	var sum float64
	var s scatter
	for i := range places {
		logs := places[i].logs
		if len(logs) < 2 {
			continue
		}
		m := mean(logs)
		for _, x := range logs {
			sum += (x - m) * (x - m)
		}
		s.df += len(logs) - 1
	}
	if s.df > 0 {
		s.sd = math.Sqrt(sum / float64(s.df))
	}
	return s
}

// compare returns the logarithm of the ratio of b to a and what it must exceed:
// a two-sided t test of which a run makes so many, at level for all together
// (Bonferroni). It reports false where nothing was measured twice, or a pass had
// no I/O.
func (s scatter) compare(a, b *Place, tests int) (ratio, margin float64, ok bool) {
	if s.df < 1 || len(a.logs) == 0 || len(b.logs) == 0 {
		return 0, 0, false
	}
	ratio = mean(b.logs) - mean(a.logs)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.df)}.Quantile(1 - level/float64(2*max(tests, 1)))
	margin = t * s.sd * math.Sqrt(1/float64(len(a.logs))+1/float64(len(b.logs)))
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) || math.IsNaN(margin) || math.IsInf(margin, 0) {
		return 0, 0, false // log of 0
	}
	return ratio, margin, true
}

// tenths rounds a fraction to tenths of a percent.
func tenths(f float64) int64 { return int64(math.Round(f * 1000)) }

// addUp corrects the rounding of the part that was rounded furthest the other
// way, so that a and b add up to total. Each stays within a tenth of a percent
// of its exact value.
func addUp(total, a, b *Part) {
	for {
		d := total.Tenths - a.Tenths - b.Tenths
		if d == 0 {
			return
		}
		step := int64(1)
		if d < 0 {
			step = -1
		}
		p := a
		if rest(b)*float64(step) > rest(a)*float64(step) {
			p = b
		}
		p.Tenths += step
	}
}

// rest is what rounding took from the part, in tenths of a percent.
func rest(p *Part) float64 { return p.Fraction*1000 - float64(p.Tenths) }
