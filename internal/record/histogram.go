package record

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
)

// The geometry of fio's latency histogram, so that the bins of its json+
// merge with ours without loss: groups of 64 buckets, each group twice as
// coarse as the one before; the first two groups are exact. A bucket is at
// most 1/64 of its value wide.
const (
	bucketBits = 6
	perGroup   = 1 << bucketBits
	groups     = 29
	// Buckets is the number of buckets of a histogram.
	Buckets = groups * perGroup
)

// Bucket returns the bucket of a latency in nanoseconds. Negative values count
// as 0, values beyond the last bucket (about 17 s) into the last.
func Bucket(ns int64) int {
	v := uint64(max(ns, 0))
	e := bits.Len64(v|1) - 1 - bucketBits // bits that the bucket drops
	if e <= 0 {
		return int(v)
	}
	return min((e+1)<<bucketBits|int(v>>e)&(perGroup-1), Buckets-1)
}

// BucketMid returns the midpoint of a bucket in nanoseconds, which stands for
// all values in it.
func BucketMid(i int) int64 {
	if i < 2*perGroup {
		return int64(i)
	}
	e := i>>bucketBits - 1
	return (perGroup+int64(i&(perGroup-1)))<<e + 1<<(e-1)
}

// A Histogram counts latencies in nanoseconds. The zero value is empty and
// ready to use.
type Histogram struct {
	// Counts has one count a bucket; nil where the histogram is empty.
	Counts []uint64
	// Min and Max are exact; Sum is the exact sum. Meaningless when empty.
	Min, Max, Sum int64
}

// Add counts one latency.
func (h *Histogram) Add(ns int64) {
	ns = max(ns, 0)
	if h.Counts == nil {
		h.Counts, h.Min, h.Max = make([]uint64, Buckets), ns, ns
	}
	h.Counts[Bucket(ns)]++
	h.Min, h.Max, h.Sum = min(h.Min, ns), max(h.Max, ns), h.Sum+ns
}

// Merge adds all counts of o.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil || o.N() == 0 {
		return
	}
	if h.Counts == nil {
		h.Counts, h.Min, h.Max = make([]uint64, Buckets), o.Min, o.Max
	}
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Min, h.Max, h.Sum = min(h.Min, o.Min), max(h.Max, o.Max), h.Sum+o.Sum
}

// N is the number of latencies counted.
func (h *Histogram) N() int64 {
	var n uint64
	for _, c := range h.Counts {
		n += c
	}
	return int64(n)
}

// Percentile returns the latency in nanoseconds below or at which p percent of
// the counted ones lie, within half a bucket and never outside Min and Max. It
// reports false for an empty histogram and for p outside 0 to 100.
func (h *Histogram) Percentile(p float64) (ns int64, ok bool) {
	n := h.N()
	if n == 0 || !(p >= 0 && p <= 100) {
		return 0, false
	}
	rank := uint64(max(1, math.Ceil(p/100*float64(n))))
	var sum uint64
	for i, c := range h.Counts {
		if sum += c; sum >= rank {
			return min(max(BucketMid(i), h.Min), h.Max), true
		}
	}
	return h.Max, true
}

// Mean is the exact mean in nanoseconds; false for an empty histogram.
func (h *Histogram) Mean() (ns float64, ok bool) {
	n := h.N()
	if n == 0 {
		return 0, false
	}
	return float64(h.Sum) / float64(n), true
}

// geometry names the bucket layout in JSON, so that another one can follow.
const geometry = "fio-29x64"

type histogramJSON struct {
	Geometry string      `json:"geometry"`
	N        int64       `json:"n"`
	Min      *int64      `json:"min,omitempty"`
	Max      *int64      `json:"max,omitempty"`
	Sum      *int64      `json:"sum,omitempty"`
	Buckets  [][2]uint64 `json:"buckets"` // [bucket, count], ascending, no zeros
}

// MarshalJSON writes only the buckets that count something.
func (h Histogram) MarshalJSON() ([]byte, error) {
	j := histogramJSON{Geometry: geometry, N: h.N(), Buckets: [][2]uint64{}}
	if j.N > 0 {
		j.Min, j.Max, j.Sum = &h.Min, &h.Max, &h.Sum
	}
	for i, c := range h.Counts {
		if c > 0 {
			j.Buckets = append(j.Buckets, [2]uint64{uint64(i), c})
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON refuses unknown geometries, buckets out of range or order, and
// counts that do not add up.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var j histogramJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("read histogram: %w", err)
	}
	if j.Geometry != geometry {
		return fmt.Errorf("read histogram: unknown geometry %q", j.Geometry)
	}
	*h = Histogram{}
	if len(j.Buckets) == 0 && j.N == 0 {
		return nil
	}
	if j.Min == nil || j.Max == nil || j.Sum == nil || *j.Min < 0 || *j.Min > *j.Max || *j.Sum < 0 {
		return fmt.Errorf("read histogram: min, max and sum do not fit together")
	}
	h.Counts, h.Min, h.Max, h.Sum = make([]uint64, Buckets), *j.Min, *j.Max, *j.Sum
	last, left := -1, uint64(max(j.N, 0))
	for _, bc := range j.Buckets {
		if bc[0] >= Buckets || int(bc[0]) <= last || bc[1] == 0 || bc[1] > left {
			return fmt.Errorf("read histogram: bucket %d with %d is out of order or range", bc[0], bc[1])
		}
		last, left = int(bc[0]), left-bc[1]
		h.Counts[last] = bc[1]
	}
	if left != 0 {
		return fmt.Errorf("read histogram: the buckets hold %d fewer than n says", left)
	}
	return nil
}
