package analysis

import (
	"testing"

	"nativ/internal/job"
)

// trackOf is a pass of one second a rate, in I/Os of one byte.
func trackOf(rates ...float64) *track {
	t := &track{job: &job.Phase{BlockSize: 1}}
	for i, r := range rates {
		t.points = append(t.points, point{fromNS: int64(i) * 1e9, endNS: int64(i+1) * 1e9, rate: r, bytes: int64(r), ios: int64(r)})
	}
	return t
}

// A cache that is full within its second second, a quarter of which is fast.
func TestFastStart(t *testing.T) {
	rates := []float64{4000, 1750}
	for range 20 {
		rates = append(rates, 1000)
	}
	d, seconds := trackOf(rates...).fastStart()
	if d == nil || seconds != 2 || d.Bytes != 5000 {
		t.Errorf("got %+v after %d s, want 5000 bytes after 2 s", d, seconds)
	}
	if d, _ := trackOf(rates[2:]...).fastStart(); d != nil {
		t.Errorf("a steady pass has a fast start: %+v", d)
	}
}

func TestSawtooth(t *testing.T) {
	var rates []float64
	for i := range 50 {
		if i%5 < 3 {
			rates = append(rates, 200)
		} else {
			rates = append(rates, 1000)
		}
	}
	low, share, ok := trackOf(rates...).sawtooth(&Drop{Before: 1000})
	if !ok || low != 200 || share != 0.6 {
		t.Errorf("got %v for %v of the time (%v), want 200 for 0.6", low, share, ok)
	}
}
