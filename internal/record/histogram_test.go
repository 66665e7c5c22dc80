package record

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// top is the first latency that the histogram's last bucket would not hold in
// fio's geometry; about 17 s.
const top = int64(perGroup) << (groups - 1)

// TestBucketGeometry walks all buckets: they cover 0 to top without a gap or an
// overlap, each midpoint lies in its bucket, and no bucket is wider than 1/64
// of its values.
func TestBucketGeometry(t *testing.T) {
	low := int64(0)
	for i := range Buckets {
		width := int64(1)
		if g := i / perGroup; g > 1 {
			width = 1 << (g - 1)
		}
		high := low + width - 1
		if a, b := Bucket(low), Bucket(high); a != i || b != i {
			t.Fatalf("bucket %d: its ends %d and %d are in %d and %d", i, low, high, a, b)
		}
		if m := BucketMid(i); m != low+width/2 {
			t.Fatalf("bucket %d from %d to %d has midpoint %d", i, low, high, m)
		}
		if i >= perGroup && width*perGroup > low {
			t.Fatalf("bucket %d from %d is %d wide, more than 1/64", i, low, width)
		}
		low = high + 1
	}
	if low != top {
		t.Errorf("the buckets end at %d, want %d", low, top)
	}
	for ns, want := range map[int64]int{-1: 0, math.MinInt64: 0, top: Buckets - 1, math.MaxInt64: Buckets - 1} {
		if got := Bucket(ns); got != want {
			t.Errorf("%d ns is in bucket %d, want %d", ns, got, want)
		}
	}
}

// TestBucketIsFios pins keys of bins that fio 3.33 wrote in json+ (slat_ns,
// clat_ns and lat_ns of a short run): they are midpoints of ours, so that its
// bins merge without loss.
func TestBucketIsFios(t *testing.T) {
	for _, mid := range []int64{
		20, 21, 40, 41, 69, 70, 71, 131, 141, 151, 262, 270, 282, 532, 548, 564, 1032, 1064, 1080, 3504, 3568, 3728,
		4192, 4320, 4384, 8256, 8384, 8512, 16512, 16768, 17024, 33024, 33536, 34048, 66048, 67072, 68096,
		132096, 134144, 136192, 264192, 268288, 272384, 528384, 536576, 544768, 1056768, 1073152, 1089536,
		2113536, 2146304, 2179072, 4227072, 4292608, 4358144,
	} {
		if got := BucketMid(Bucket(mid)); got != mid {
			t.Errorf("fio's bin %d is our %d", mid, got)
		}
	}
}

func latencies() *rapid.Generator[[]int64] {
	// Exponents first: uniform numbers would almost all be near the top.
	ns := rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64Range(0, min(int64(1)<<rapid.IntRange(0, 34).Draw(t, "bits"), top-1)).Draw(t, "ns")
	})
	return rapid.SliceOfN(ns, 1, 300)
}

func histogramOf(all []int64) *Histogram {
	h := new(Histogram)
	for _, ns := range all {
		h.Add(ns)
	}
	return h
}

// TestPercentile compares with the exact answer: same rank, at most half a
// bucket off.
func TestPercentile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := latencies().Draw(t, "latencies")
		h := histogramOf(all)
		slices.Sort(all)
		for _, p := range []float64{0, 1, 50, 99, 99.9, 100, rapid.Float64Range(0, 100).Draw(t, "p")} {
			rank := max(1, int(math.Ceil(p/100*float64(len(all)))))
			exact := all[rank-1]
			got, ok := h.Percentile(p)
			if !ok || math.Abs(float64(got-exact)) > float64(exact)/(2*perGroup) {
				t.Fatalf("p%v of %v is %d, %t; want %d within 1/128", p, all, got, ok, exact)
			}
			if got < all[0] || got > all[len(all)-1] {
				t.Fatalf("p%v is %d, outside %d to %d", p, got, all[0], all[len(all)-1])
			}
		}
	})
}

// TestAgainstHdrHistogram uses another implementation as the oracle.
func TestAgainstHdrHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := latencies().Draw(t, "latencies")
		h, hdr := histogramOf(all), hdrhistogram.New(1, top, 4)
		for _, ns := range all {
			if err := hdr.RecordValue(ns); err != nil {
				t.Fatal(err)
			}
		}
		if h.N() != hdr.TotalCount() {
			t.Fatalf("n is %d, theirs %d", h.N(), hdr.TotalCount())
		}
		for _, p := range []float64{25, 50, 75, 90, 99} {
			// They round the rank to the nearest where we round it up, which
			// is one latency apart: compare where both mean the same one.
			if r := p / 100 * float64(len(all)); math.Ceil(r) != math.Floor(r+0.5) {
				continue
			}
			got, _ := h.Percentile(p)
			if want := hdr.ValueAtPercentile(p); math.Abs(float64(got-want)) > float64(want)*(1./128+1./10000)+1 {
				t.Fatalf("p%v of %v is %d, theirs %d", p, all, got, want)
			}
		}
		mean, ok := h.Mean()
		if !ok || math.Abs(mean-hdr.Mean()) > hdr.Mean()/10000+1 {
			t.Fatalf("mean is %v, theirs %v", mean, hdr.Mean())
		}
	})
}

// TestMerge: merging is adding everything to one, in any split.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := latencies().Draw(t, "latencies")
		at := rapid.IntRange(0, len(all)).Draw(t, "split")
		a, b := histogramOf(all[:at]), histogramOf(all[at:])
		before := histogramOf(all[at:])
		a.Merge(b)
		a.Merge(nil)
		a.Merge(&Histogram{})
		if d := cmp.Diff(histogramOf(all), a); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(before, b); d != "" {
			t.Fatalf("merging changed its argument: %s", d)
		}
	})
}

func TestEmptyHistogram(t *testing.T) {
	var h Histogram
	if _, ok := h.Percentile(50); ok {
		t.Error("an empty histogram has a median")
	}
	if _, ok := h.Mean(); ok {
		t.Error("an empty histogram has a mean")
	}
	h.Add(5)
	for _, p := range []float64{-1, 100.1, math.NaN(), math.Inf(1)} {
		if _, ok := h.Percentile(p); ok {
			t.Errorf("there is a p%v", p)
		}
	}
	if h.Add(-3); h.Min != 0 || h.Sum != 5 || h.N() != 2 {
		t.Errorf("a negative latency gave %+v", h)
	}
}

func TestHistogramJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(Histogram)
		if rapid.Bool().Draw(t, "filled") {
			h = histogramOf(latencies().Draw(t, "latencies"))
		}
		b, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if d := cmp.Diff(*h, back); d != "" {
			t.Fatal(d)
		}
	})
}

// TestHistogramJSONForm pins the form: records are read for years.
func TestHistogramJSONForm(t *testing.T) {
	for _, tt := range []struct {
		h    *Histogram
		want string
	}{
		{&Histogram{}, `{"geometry":"fio-29x64","n":0,"buckets":[]}`},
		{histogramOf([]int64{3, 3, 1000}), `{"geometry":"fio-29x64","n":3,"min":3,"max":1000,"sum":1006,"buckets":[[3,2],[317,1]]}`},
	} {
		b, err := json.Marshal(tt.h)
		if err != nil || string(b) != tt.want {
			t.Errorf("JSON is %s, %v; want %s", b, err, tt.want)
		}
	}
}

// FuzzHistogramJSON: what is read is sound, and says the same when written.
func FuzzHistogramJSON(f *testing.F) {
	for _, s := range []string{
		`{"geometry":"fio-29x64","n":0,"buckets":[]}`,
		`{"geometry":"fio-29x64","n":3,"min":3,"max":1000,"sum":1006,"buckets":[[3,2],[317,1]]}`,
		`{"geometry":"fio-29x64","n":1,"min":3,"max":1000,"sum":1006,"buckets":[[3,2],[317,1]]}`,
		`{"geometry":"fio-29x64","n":2,"min":9,"max":1,"sum":-1,"buckets":[[3,2]]}`,
		`{"geometry":"fio-29x64","n":2,"min":1,"max":1,"sum":2,"buckets":[[1856,2]]}`,
		`{"geometry":"fio-29x64","n":2,"min":1,"max":1,"sum":2,"buckets":[[18446744073709551615,2]]}`,
		`{"geometry":"fio-29x64","n":-1,"min":1,"max":1,"sum":2,"buckets":[[1,18446744073709551615]]}`,
		`{"geometry":"other","n":0}`,
		`{}`, `null`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Histogram
		if json.Unmarshal(b, &h) != nil {
			return
		}
		for _, p := range []float64{0, 50, 100} {
			if ns, ok := h.Percentile(p); ok != (h.N() > 0) || ok && (ns < h.Min || ns > h.Max) {
				t.Errorf("p%v is %d, %t, with min %d, max %d and %d latencies", p, ns, ok, h.Min, h.Max, h.N())
			}
		}
		once, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatalf("%v: %s", err, once)
		}
		twice, err := json.Marshal(back)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s became %s, %v", once, twice, err)
		}
	})
}
