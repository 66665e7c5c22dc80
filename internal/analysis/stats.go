package analysis

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a difference of logarithms, hence a ratio, and how sure it is.
type Estimate struct {
	// N counts what it rests on: rounds, or where nothing is paired the units of
	// the smaller side.
	N int
	// Log is the natural logarithm of the ratio, SE its standard error and DF the
	// degrees of freedom of Student's t. DF is 0 where there is no interval.
	Log, SE, DF float64
	// Flip is the exact two-sided p of the sign-flip test; nil where nothing is
	// paired.
	Flip *float64
}

// Known reports whether the estimate has an interval.
func (e Estimate) Known() bool { return e.DF > 0 }

// Ratio is by what factor the second side differs from the first.
func (e Estimate) Ratio() float64 { return math.Exp(e.Log) }

// Logs is the interval in which the logarithm lies with the confidence level,
// for example 0.95; false where nothing was repeated.
func (e Estimate) Logs(level float64) (low, high float64, ok bool) {
	if !e.Known() {
		return 0, 0, false
	}
	half := tQuantile(1-(1-level)/2, e.DF) * e.SE
	return e.Log - half, e.Log + half, true
}

// Interval is Logs as ratios.
func (e Estimate) Interval(level float64) (low, high float64, ok bool) {
	low, high, ok = e.Logs(level)
	return math.Exp(low), math.Exp(high), ok
}

// P is the two-sided p of Student's t test that the ratio is 1; 1 where the
// estimate has no interval.
func (e Estimate) P() float64 {
	switch {
	case !e.Known():
		return 1
	case e.SE > 0:
		return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: e.DF}.CDF(-math.Abs(e.Log)/e.SE)
	case e.Log == 0:
		return 1
	}
	return 0
}

// tQuantile is the quantile p of Student's t with df degrees of freedom.
func tQuantile(p, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// paired estimates the mean of the differences d of pairs.
func paired(d []float64) (Estimate, bool) {
	if len(d) == 0 || !finite(d) {
		return Estimate{}, false
	}
	e := Estimate{N: len(d), Log: mean(d)}
	if len(d) > 1 {
		e.SE, e.DF = math.Sqrt(variance(d)/float64(len(d))), float64(len(d)-1)
		e.Flip = new(signFlip(d))
	}
	return e, true
}

// pairedInOrder is paired where the first pass of a round may differ from the
// others, because a pause before it emptied a cache: first says of each round
// whether b (1), a (-1) or neither (0) was first. Least squares on both, as in the
// analysis of a crossover trial; with as many rounds of either kind the mean is
// that of paired, and what the order does is no scatter.
func pairedInOrder(d, first []float64) (Estimate, bool) {
	n := float64(len(d))
	var sx, sxx, sxy, sy float64
	for i, x := range first {
		sx, sxx, sxy, sy = sx+x, sxx+x*x, sxy+x*d[i], sy+d[i]
	}
	det := n*sxx - sx*sx
	if len(d) < 4 || det <= 0 || !finite(d) {
		return paired(d) // the order is always the same, or there is too little to tell
	}
	slope := (n*sxy - sx*sy) / det
	without := make([]float64, len(d))
	for i, x := range first {
		without[i] = d[i] - slope*x
	}
	df := n - 2
	se := math.Sqrt(variance(without) * (n - 1) / df * sxx / det)
	return Estimate{N: len(d), Log: mean(without), SE: se, DF: df, Flip: new(signFlip(without))}, true
}

// pairedBeside is pairedInOrder of two places of which not both are ever first,
// beside two others that are. e are the differences of these two in each round, and
// first whether the one or the other was first (1, -1). What comes first shows in
// e, where it has the one sign in the one kind of round and the other in the other,
// and is taken from d as far as it does not cancel there: of pinned and host alone
// half of the rounds would tell it. The two kinds then scatter unlike, hence
// Satterthwaite's degrees of freedom.
func pairedBeside(d, own, e, first []float64) (Estimate, bool) {
	var z [2][]float64
	var share [2]float64 // what d has of the first pass in either kind
	for i := range d {
		kind := 0
		if first[i] < 0 {
			kind = 1
		}
		share[kind] = own[i]
	}
	left := (share[0] + share[1]) / 2
	for i := range d {
		kind, v := 0, d[i]-left*first[i]*e[i]
		if first[i] < 0 {
			kind = 1
		}
		z[kind] = append(z[kind], v)
	}
	if len(z[0]) < 2 || len(z[1]) < 2 || !finite(d) || !finite(e) {
		return paired(d)
	}
	// The mean of the two means, which is the difference of one and the other's
	// negative, halved.
	for i := range z[0] {
		z[0][i] = -z[0][i]
	}
	w, ok := welch(z[0], z[1])
	away := (mean(z[1]) + mean(z[0])) / 2 // how far the kinds are apart, from their middle
	without := make([]float64, 0, len(d))
	for _, v := range z[0] {
		without = append(without, -v+away)
	}
	for _, v := range z[1] {
		without = append(without, v-away)
	}
	return Estimate{N: len(d), Log: w.Log / 2, SE: w.SE / 2, DF: w.DF, Flip: new(signFlip(without))}, ok
}

// welch estimates the difference of the means of b and a, which are not paired
// and may scatter unlike (Welch 1947, with Satterthwaite's degrees of freedom).
func welch(a, b []float64) (Estimate, bool) {
	if len(a) == 0 || len(b) == 0 || !finite(a) || !finite(b) {
		return Estimate{}, false
	}
	e := Estimate{N: min(len(a), len(b)), Log: mean(b) - mean(a)}
	if e.N < 2 {
		return e, true
	}
	na, nb := float64(len(a)), float64(len(b))
	va, vb := variance(a)/na, variance(b)/nb
	e.SE, e.DF = math.Sqrt(va+vb), na+nb-2
	if va+vb > 0 {
		e.DF = (va + vb) * (va + vb) / (va*va/(na-1) + vb*vb/(nb-1))
	}
	return e, true
}

// variance is that of a sample: over n-1.
func variance(v []float64) float64 {
	m := mean(v)
	var sum float64
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return sum / float64(len(v)-1)
}

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// exactFlips is up to how many differences all signs are tried, and someFlips
// how many are beyond.
const (
	exactFlips = 16
	someFlips  = 1 << 15
)

// signFlip is the two-sided p of Fisher's randomisation test on paired
// differences: the share of all ways to give each of them either sign in which
// their sum is at least as far from 0 as it is. It asks of the noise only that it
// is symmetric. Beyond exactFlips differences the share is that of drawn signs,
// the same ones always, with the observed ones among them.
func signFlip(d []float64) float64 {
	var sum, size float64
	for _, x := range d {
		sum += x
		size += math.Abs(x)
	}
	limit := math.Abs(sum) - 1e-12*size // sums in another order differ in their last bits
	hits := 0
	if len(d) > exactFlips {
		// Eight signs at a time from a table of their sums.
		var tables [][256]float64
		for part := range slices.Chunk(d, 8) {
			var t [256]float64
			for way := range t {
				for i, x := range part {
					if way>>i&1 == 1 {
						x = -x
					}
					t[way] += x
				}
			}
			tables = append(tables, t)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range someFlips - 1 {
			var s float64
			for i := range tables {
				s += tables[i][uint8(rng.Uint32())]
			}
			if math.Abs(s) >= limit {
				hits++
			}
		}
		return float64(hits+1) / someFlips
	}
	// Every way has its mirror image: those with the first sign as it is are enough.
	sums := append(make([]float64, 0, 1<<(len(d)-1)), d[0])
	for _, x := range d[1:] {
		for _, s := range sums {
			sums = append(sums, s-x)
		}
		for i := range len(sums) / 2 {
			sums[i] += x
		}
	}
	for _, s := range sums {
		if math.Abs(s) >= limit {
			hits++
		}
	}
	return float64(hits) / float64(len(sums))
}

// leastFlip is the smallest p that signFlip can come to with n differences.
func leastFlip(n int) float64 { return math.Pow(2, float64(1-n)) }

// holm adjusts the p of tests that are one family (Holm 1979): each may then be
// held against the level of the whole family.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	var least float64
	for rank, i := range order {
		least = max(least, min(1, float64(len(p)-rank)*p[i]))
		out[i] = least
	}
	return out
}
