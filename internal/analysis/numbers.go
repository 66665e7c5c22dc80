package analysis

import (
	"math"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A Metric is what places are compared by.
type Metric string

// The metrics. Percentiles are of lat, with fdatasync of the syncs.
const (
	MetricThroughput Metric = record.MetricThroughput // I/Os a second
	MetricP50        Metric = record.MetricP50
	MetricP99        Metric = record.MetricP99
	MetricP999       Metric = record.MetricP999
)

// Metrics lists the metrics in the order in which they are shown.
func Metrics() []Metric { return []Metric{MetricThroughput, MetricP50, MetricP99, MetricP999} }

// Margins are the differences that do not matter, as fractions of the ratio.
type Margins map[Metric]float64

// DefaultMargins are those of a run that sets none. A percentile is the less
// certain the fewer I/Os lie beyond it: of p99.9 they may be ten a pass, and their
// number alone then scatters by a third.
func DefaultMargins() Margins {
	return Margins{MetricThroughput: 0.03, MetricP50: 0.05, MetricP99: 0.10, MetricP999: 0.20}
}

// MarginsOf are those of a plan, with the defaults where it sets none.
func MarginsOf(p *record.Plan) Margins {
	m := DefaultMargins()
	if p.Design == nil {
		return m
	}
	for _, metric := range Metrics() {
		if v, ok := p.Design.Margins[string(metric)]; ok && v > 0 && v < 1 {
			m[metric] = v
		}
	}
	return m
}

// Numbers are what passes came to, as natural logarithms: I/Os a second and
// nanoseconds. The passes of one phase and place stand in the order in which they
// ran. A metric that one of the passes does not have is missing.
type Numbers map[Metric][]float64

// NumbersOf returns those of a phase in a place of a record, of all passes that
// ran to their planned end, stand for the place and are in no void round.
func NumbersOf(rec *record.Record, phase, place string) Numbers {
	var passes []*record.Pass
	for i := range rec.Rounds {
		if rec.Rounds[i].Void != "" {
			continue
		}
		for _, p := range ordinaryPasses(&rec.Rounds[i]) {
			if p.OK() && p.Phase == phase && p.Place == place {
				passes = append(passes, p)
			}
		}
	}
	for i := range rec.Plan.Phases {
		if j := &rec.Plan.Phases[i]; j.Name == phase {
			return numbersOf(j, passes, cutOf(passes))
		}
	}
	return nil
}

func numbersOf(j *job.Phase, passes []*record.Pass, cut int64) Numbers {
	n := Numbers{}
	for _, m := range Metrics() {
		for _, p := range passes {
			v, ok := number(j, p, m, cut)
			if !ok {
				delete(n, m)
				break
			}
			n[m] = append(n[m], v)
		}
	}
	return n
}

const (
	// cutShare is the part of a pass that is dropped at its beginning, and mostCut
	// the most of it in nanoseconds: drives raise their clocks and fill their
	// buffers there, and what came before the pass still acts.
	cutShare = 10
	mostCut  = 5e9
)

// cutOf is how much of the beginning of each of these passes is left out of their
// throughput, in nanoseconds: a tenth of the shortest, in whole seconds because
// that is what is known, and so nothing of less than ten. It is one time for all,
// so that no place loses more than another.
func cutOf(passes []*record.Pass) int64 {
	shortest := int64(math.MaxInt64)
	for _, p := range passes {
		if len(p.Intervals) == 0 {
			return 0 // an imported pass, or one without seconds
		}
		shortest = min(shortest, p.Outcome.ElapsedNS())
	}
	if shortest == math.MaxInt64 {
		return 0
	}
	return min(shortest/cutShare, mostCut) / 1e9 * 1e9
}

// number is the logarithm of one metric of one pass. Throughput is without the
// first cut nanoseconds, to the end of the second in which they end. Percentiles
// are of the whole pass: engines keep one histogram for it.
func number(j *job.Phase, p *record.Pass, m Metric, cut int64) (float64, bool) {
	f := flow(j, p.Outcome)
	if f == nil || p.Outcome.ElapsedNS() <= 0 {
		return 0, false
	}
	var v float64
	switch m {
	case MetricThroughput:
		v = rateAfter(j, p, f, cut)
	case MetricP50, MetricP99, MetricP999:
		if j.FDataSync > 0 {
			f = p.Outcome.Sync
		}
		if f == nil || f.Lat == nil {
			return 0, false
		}
		percent, oneIn := 50.0, int64(2)
		switch m {
		case MetricP99:
			percent, oneIn = 99, 100
		case MetricP999:
			percent, oneIn = 99.9, 1000
		}
		if f.Lat.N() < beyond*oneIn {
			return 0, false
		}
		v = quantile(f.Lat, percent/100)
	}
	if !(v > 0) || math.IsInf(v, 0) {
		return 0, false
	}
	return math.Log(v), true
}

func rateAfter(j *job.Phase, p *record.Pass, f *record.Flow, cut int64) float64 {
	ios, ns := f.IOs, p.Outcome.ElapsedNS()
	if cut > 0 {
		for i := range p.Intervals {
			v := &p.Intervals[i]
			if v.EndNS-v.LenNS >= cut {
				break
			}
			switch {
			case mixes(j.Mode):
				ios -= v.ReadIOs + v.WriteIOs
			case j.Mode.Writes():
				ios -= v.WriteIOs
			default:
				ios -= v.ReadIOs
			}
			ns -= v.LenNS
		}
	}
	if ios <= 0 || ns <= 0 {
		return 0
	}
	return float64(ios) / (float64(ns) / 1e9)
}

// quantile is where the share p of the latencies lies below, in nanoseconds, as a
// line through the bucket in which that is. The midpoint of the bucket, which is
// good enough to show, is up to 1.6 % wide, and all passes of a steady drive fall
// on the same one: their scatter would be 0 and every interval empty.
func quantile(h *record.Histogram, p float64) float64 {
	want := p * float64(h.N())
	var below float64
	for i, c := range h.Counts {
		n := float64(c)
		if n == 0 || below+n < want {
			below += n
			continue
		}
		from, to := bucketEdges(i)
		v := from + (to-from)*(want-below)/n
		return min(max(v, float64(h.Min)), float64(h.Max))
	}
	return float64(h.Max)
}

// bucketEdges are the ends of bucket i: half way to its neighbours.
func bucketEdges(i int) (from, to float64) {
	at := func(i int) float64 { return float64(record.BucketMid(i)) }
	switch {
	case i == 0:
		return 0, (at(0) + at(1)) / 2
	case i == record.Buckets-1:
		return (at(i-1) + at(i)) / 2, at(i)
	}
	return (at(i-1) + at(i)) / 2, (at(i) + at(i+1)) / 2
}
