package analysis

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPaired(t *testing.T) {
	// Twice as much in every pair, though the pairs differ tenfold.
	c, ok := Paired([]float64{1, 10, 100}, []float64{2, 20, 200})
	if !ok || math.Abs(c.Ratio-2) > 1e-9 || math.Abs(c.High-c.Low) > 1e-9 || c.Pairs != 3 {
		t.Errorf("%+v, %v", c, ok)
	}
	// t of 0.975 at two degrees of freedom is 4.3027.
	c, ok = Paired([]float64{1, 1, 1}, []float64{math.Exp(-0.1), 1, math.Exp(0.1)})
	want := 4.302652729 * 0.1 / math.Sqrt(3)
	if !ok || math.Abs(c.Ratio-1) > 1e-9 || math.Abs(math.Log(c.High)-want) > 1e-6 || math.Abs(math.Log(c.Low)+want) > 1e-6 {
		t.Errorf("%+v, want ±%v", c, want)
	}
	for _, bad := range [][2][]float64{{nil, nil}, {{1}, {1}}, {{1, 0}, {1, 1}}, {{1, 1}, {1, 0}}, {{0, 0}, {0, 0}}, {{1, -1}, {1, 1}}} {
		if c, ok := Paired(bad[0], bad[1]); ok {
			t.Errorf("%v: %+v", bad, c)
		}
	}
}

// The interval holds the truth as often as it says.
func TestPairedCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const runs = 2000
	hits := 0
	for range runs {
		var a, b []float64
		for range 6 {
			level := math.Exp(r.NormFloat64()) // of the pair
			a = append(a, level*math.Exp(0.05*r.NormFloat64()))
			b = append(b, 0.97*level*math.Exp(0.05*r.NormFloat64()))
		}
		if c, ok := Paired(a, b); ok && c.Low <= 0.97 && 0.97 <= c.High {
			hits++
		}
	}
	if share := float64(hits) / runs; share < 0.935 || share > 0.965 {
		t.Errorf("the interval of 95 %% holds the truth in %.1f %% of the runs", share*100)
	}
}
