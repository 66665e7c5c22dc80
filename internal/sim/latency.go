package sim

import (
	"math"

	"nativ/internal/record"
)

// latencies returns the histogram of n I/Os of a mean latency of so many
// nanoseconds: log-normal, with a hundredth of them in a tail that is three
// times as slow, as drives have one. The sum is exactly n times the mean, so
// that Little's law holds.
func latencies(n int64, mean, spread float64) *record.Histogram {
	h := &record.Histogram{}
	if n <= 0 {
		return h
	}
	const tail, slower = 0.01, 3.0
	body := mean / (1 - tail + tail*slower)
	mu := math.Log(body) - spread*spread/2
	below := func(ns float64) float64 {
		if ns <= 0 {
			return 0
		}
		z := (math.Log(ns) - mu) / spread
		return (1-tail)*normal(z) + tail*normal(z-math.Log(slower)/spread)
	}
	h.Counts = make([]uint64, record.Buckets)
	first := record.Bucket(int64(body * math.Exp(-4*spread)))
	last := record.Bucket(int64(body * slower * math.Exp(4*spread)))
	var done int64
	share := 0.0
	for b := first; b <= last && done < n; b++ {
		edge := float64(record.BucketMid(b)+record.BucketMid(min(b+1, record.Buckets-1))) / 2
		share = below(edge)
		to := int64(math.Round(share * float64(n)))
		if b == last {
			to = n
		}
		if to > done {
			h.Counts[b] += uint64(to - done)
			if h.Max == 0 {
				h.Min = record.BucketMid(b)
			}
			h.Max = record.BucketMid(b)
			done = to
		}
	}
	// Rounding may leave Min, Max and the mean of a few I/Os apart.
	h.Sum = int64(math.Round(mean * float64(n)))
	h.Min, h.Max = min(h.Min, h.Sum/n), max(h.Max, (h.Sum+n-1)/n)
	return h
}

// normal is the distribution function of the standard normal distribution.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
