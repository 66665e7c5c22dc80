package analysis

import (
	"math"

	"nativ/internal/record"
)

// LeastShown is the difference below which two places, each measured in a few
// short passes, count as alike, as a fraction of the host. A rule of thumb: with
// two passes a place there is no interval that could be computed.
const LeastShown = 0.05

// A Loss compares the places of one phase by IOPS, in fractions of the host, so
// that the parts add up: (lxc-host)/host = (pinned-host)/host + (lxc-pinned)/host.
type Loss struct {
	// Total, CPUs and Container are nil where a place that they need has no
	// number, or the host has 0 IOPS.
	Total, CPUs, Container *Part
	// Threshold is what a part must exceed to count as shown.
	Threshold float64
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
	// Doubt says why the part does not count as shown; DoubtNone where it does.
	Doubt Doubt
}

// Shown reports whether the part counts as a real difference.
func (p *Part) Shown() bool { return p != nil && p.Doubt == DoubtNone }

// A Doubt is why a difference does not count as shown.
type Doubt string

// The doubts, the strongest first.
const (
	DoubtPasses Doubt = "passes" // a planned pass is missing, so that the order is not balanced
	DoubtCache  Doubt = "cache"  // a cache answered instead of the drive
	DoubtSpread Doubt = "spread" // no larger than the difference between passes of one place
	DoubtSmall  Doubt = "small"  // no larger than the rule of thumb
	DoubtNone   Doubt = ""
)

// maxFraction bounds what counts as a comparison at all: ten thousand times
// faster is no number to print but a broken measurement.
const maxFraction = 1e4

func computeLoss(rec *record.Record, ph *Phase) Loss {
	host, pinned, lxc := ph.Place(record.PlaceHost), ph.Place(record.PlacePinned), ph.Place(record.PlaceLXC)
	l := Loss{
		Threshold:    LeastShown,
		NotSeparable: host != nil && lxc != nil && pinned == nil,
		CPULimited:   pinned != nil && pinned.CPULimited || pinned == nil && lxc != nil && lxc.CPULimited,
	}
	floor, doubt := DoubtSmall, DoubtNone
	for i := range ph.Places {
		p := &ph.Places[i]
		if p.Spread != nil && *p.Spread > l.Threshold {
			l.Threshold, floor = *p.Spread, DoubtSpread
		}
		switch {
		case p.Passes < p.Planned:
			doubt = DoubtPasses
		case doubt == DoubtNone && cacheAnswered(&ph.Job, p):
			doubt = DoubtCache
		}
	}
	part := func(a, b *Place) *Part {
		if host == nil || host.IOPS == nil || *host.IOPS <= 0 || a == nil || a.IOPS == nil || b == nil || b.IOPS == nil {
			return nil
		}
		f := (*b.IOPS - *a.IOPS) / *host.IOPS
		if math.IsNaN(f) || math.Abs(f) > maxFraction {
			return nil
		}
		p := &Part{Fraction: f, Tenths: tenths(f), Doubt: doubt}
		if doubt == DoubtNone && math.Abs(f) <= l.Threshold {
			p.Doubt = floor
		}
		return p
	}
	l.Total, l.CPUs, l.Container = part(host, lxc), part(host, pinned), part(pinned, lxc)
	if l.Total != nil && l.CPUs != nil && l.Container != nil {
		addUp(l.Total, l.CPUs, l.Container)
	}
	return l
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
