package analysis

import (
	"math"
	"slices"
)

const (
	// leastSegment is the shortest level that is looked for, in points.
	leastSegment = 5
	// mostPositions bounds the positions at which a level may change: without a
	// change PELT prunes nothing and takes the square of them. Longer series are
	// searched on a coarser grid first.
	mostPositions = 4000
	// leastNoise is the standard deviation below which differences are nobody's
	// business, as a fraction: counters and clocks alone make that much.
	leastNoise = 0.002
	// mostLasting is the greatest AR(1) coefficient that is taken for noise: what
	// lasts longer cannot be told from a change of level.
	mostLasting = 0.72
	// outlierWindow is the number of points around one, itself included, that
	// show whether it is an outlier.
	outlierWindow = 9
)

// changePoints returns the indices at which the mean of x changes, ascending:
// PELT with a quadratic cost (Killick, Fearnhead and Eckley 2012), where a
// further change must save more than penalty and no level is shorter than least
// points.
func changePoints(x []float64, penalty float64, least int) []int {
	n := len(x)
	if n < 2*least {
		return nil
	}
	sum := make([]float64, n+1)
	for i, v := range x {
		sum[i+1] = sum[i] + v
	}
	// The squares of x are in every segmentation alike and are left out.
	gain := func(from, to int) float64 { d := sum[to] - sum[from]; return d * d / float64(to-from) }

	step := (n + mostPositions - 1) / mostPositions
	m := (n + step - 1) / step // positions 0..m, the last one is n
	at := func(i int) int { return min(i*step, n) }
	shortest := (least + step - 1) / step
	cost := make([]float64, m+1) // of the best segmentation up to a position
	last := make([]int, m+1)     // where its last segment begins
	cost[0] = -penalty
	type candidate struct {
		i, dead int // dead is from where on it need not be looked at, 0 not yet
		at      int
		cost    float64
	}
	var candidates []candidate
	for s := shortest; s <= m; s++ {
		if t := s - shortest; t == 0 || t >= shortest {
			candidates = append(candidates, candidate{i: t, at: at(t), cost: cost[t]})
		}
		best, end := math.Inf(1), at(s)
		for i := range candidates {
			c := &candidates[i]
			if v := c.cost - gain(c.at, end); v < best {
				best, last[s] = v, c.i
			}
		}
		cost[s] = best + penalty
		// What is worse than a change at s can be better again only for an end
		// that is too near to s for one.
		alive := candidates[:0]
		for _, c := range candidates {
			if c.dead == 0 && c.cost-gain(c.at, end) > cost[s] {
				c.dead = s + shortest
			}
			if c.dead == 0 || s < c.dead {
				alive = append(alive, c)
			}
		}
		candidates = alive
	}
	var found []int
	for s := last[m]; s > 0; s = last[s] {
		found = append(found, at(s))
	}
	slices.Reverse(found)
	if step == 1 {
		return found
	}
	// From the grid to the point: each to where it is best between its neighbours,
	// and out with those that no longer pay, because a change between two positions
	// makes two on the grid.
	refine := func(cuts []int) (cost float64) {
		for k := range cuts {
			from, to := 0, n
			if k > 0 {
				from = cuts[k-1]
			}
			if k+1 < len(cuts) {
				to = cuts[k+1]
			}
			best, reach := cuts[k], 2*step
			for t := max(best-reach, from+least); t <= min(cuts[k]+reach, to-least); t++ {
				if gain(from, t)+gain(t, to) > gain(from, best)+gain(best, to) {
					best = t
				}
			}
			cuts[k] = best
		}
		from := 0
		for _, to := range append(slices.Clone(cuts), n) {
			cost, from = cost-gain(from, to)+penalty, to
		}
		return cost
	}
	now := refine(found)
	for k := 0; k < len(found); k++ {
		without := slices.Delete(slices.Clone(found), k, k+1)
		if c := refine(without); c <= now {
			found, now, k = without, c, max(k-2, -1)
		}
	}
	return found
}

// levels returns where the level of x changes, whatever noise there is.
//
// Noise that lasts from point to point (AR(1)) has means that scatter more than
// differences tell, so that it would be cut into levels that are none. How much
// it lasts can be told only once the levels are known: so first as much is
// assumed as is ever usual, and then what the rest shows, with a margin for what
// so few points cannot tell. A sawtooth counts as lasting noise, too.
func levels(x []float64) []int {
	n := float64(len(x))
	if len(x) < 2*leastSegment {
		return nil
	}
	search := func(phi float64) []int {
		// Differences of AR(1) noise have 2 (1-phi) times its variance, its means
		// scatter as independent points of (1+phi)/(1-phi) times that would.
		sd := max(scale(x, 1)/math.Sqrt2*math.Sqrt(1+phi)/(1-phi), leastNoise)
		return changePoints(x, 3*sd*sd*math.Log(n), leastSegment)
	}
	found := search(mostLasting)
	var above, below, before float64
	for i, k := 0, 0; k <= len(found); k++ {
		end := len(x)
		if k < len(found) {
			end = found[k]
		}
		m := mean(x[i:end])
		for j := i; j < end; j++ {
			d := x[j] - m
			if j > i {
				above += d * before
				below += before * before
			}
			before = d
		}
		i = end
	}
	if below == 0 {
		return found
	}
	// The estimate is biased by -(1+3 phi)/n for each level, and has a standard
	// error of sqrt((1-phi^2)/n).
	r := min(max(above/below, 0), 1)
	phi := r + float64(len(found)+1)*(1+3*r)/n + math.Sqrt((1-r*r)/n)
	return search(min(phi, 0.9))
}

// scale is the standard deviation of the differences over lag points, from their
// median absolute deviation.
func scale(x []float64, lag int) float64 {
	if len(x) <= lag {
		return 0
	}
	d := make([]float64, len(x)-lag)
	for i := range d {
		d[i] = x[i+lag] - x[i]
	}
	m := median(slices.Clone(d))
	for i := range d {
		d[i] = math.Abs(d[i] - m)
	}
	return 1.4826 * median(d)
}

// median sorts v.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// withoutOutliers returns x with lone outliers replaced by the median around
// them: at most two in a window, so that a sawtooth stays.
func withoutOutliers(x []float64) []float64 {
	out := slices.Clone(x)
	limit := 5 * max(scale(x, 1)/math.Sqrt2, leastNoise)
	for i := range x {
		from := max(0, min(i-outlierWindow/2, len(x)-outlierWindow))
		w := x[from:min(from+outlierWindow, len(x))]
		m := median(slices.Clone(w))
		if math.Abs(x[i]-m) <= limit {
			continue
		}
		n := 0
		for _, v := range w {
			if math.Abs(v-m) > limit {
				n++
			}
		}
		if n <= 2 {
			out[i] = m
		}
	}
	return out
}
