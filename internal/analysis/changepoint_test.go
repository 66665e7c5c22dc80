package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ar1 is noise with a coefficient and a standard deviation.
func ar1(r *rand.Rand, n int, phi, sd float64) []float64 {
	x := make([]float64, n)
	v := r.NormFloat64() * sd
	for i := range x {
		x[i] = v
		v = phi*v + math.Sqrt(1-phi*phi)*sd*r.NormFloat64()
	}
	return x
}

func TestLevelsOfSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, phi := range []float64{0, 0.5} {
		x := ar1(r, 300, phi, 0.02)
		for i := range x {
			switch {
			case i >= 200:
				x[i] -= 0.3
			case i >= 100:
				x[i] -= 1.2
			}
		}
		if got := levels(x); !slices.Equal(got, []int{100, 200}) {
			t.Errorf("AR(1) %g: changes at %v, want 100 and 200", phi, got)
		}
	}
}

// TestFlatNoiseHasNoLevels holds the target of at most two percent for noise that
// lasts, in passes of any length.
func TestFlatNoiseHasNoLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{20, 40, 90, 300} {
		const series = 300
		found := 0
		for range series {
			if len(levels(withoutOutliers(ar1(r, n, 0.7, 0.05)))) > 0 {
				found++
			}
		}
		if found > series*2/100 {
			t.Errorf("%d points: %d of %d flat series have levels", n, found, series)
		}
	}
}

// TestLevelsOnTheGrid searches a series that is too long for every position: the
// change is still found to the point.
func TestLevelsOnTheGrid(t *testing.T) {
	x := ar1(rand.New(rand.NewPCG(3, 3)), 36_000, 0.3, 0.02)
	for i := 20_003; i < len(x); i++ {
		x[i] -= 0.5
	}
	if got := levels(x); !slices.Equal(got, []int{20_003}) {
		t.Errorf("changes at %v, want 20003", got)
	}
}

// TestChangePointsAreBest compares PELT with trying everything.
func TestChangePointsAreBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-3, 3), 0, 24).Draw(t, "x")
		const least, penalty = 3, 2.0
		cost := func(cuts []int) float64 {
			var sum float64
			from := 0
			for _, to := range append(slices.Clone(cuts), len(x)) {
				m := mean(x[from:to])
				for _, v := range x[from:to] {
					sum += (v - m) * (v - m)
				}
				from = to
			}
			return sum + penalty*float64(len(cuts))
		}
		got := changePoints(x, penalty, least)
		if len(x) < 2*least {
			if got != nil {
				t.Fatalf("changes %v in %d points", got, len(x))
			}
			return
		}
		best := make([]float64, len(x)+1) // best[i] is the least cost of x[:i]
		for to := 1; to <= len(x); to++ {
			best[to] = math.Inf(1)
			for from := 0; from <= to-least; from++ {
				m := mean(x[from:to])
				c := best[from]
				if from > 0 {
					c += penalty
				}
				for _, v := range x[from:to] {
					c += (v - m) * (v - m)
				}
				best[to] = min(best[to], c)
			}
		}
		if c := cost(got); c > best[len(x)]+1e-9 {
			t.Fatalf("cost %g with %v, the best is %g", c, got, best[len(x)])
		}
	})
}

func TestOutliersGoAndSawteethStay(t *testing.T) {
	x := make([]float64, 60)
	for i := range x {
		x[i] = 0.01 * float64(i%3)
	}
	x[20], x[21], x[40] = -3, -3, 2
	for i, v := range withoutOutliers(x) {
		if math.Abs(v) > 0.1 {
			t.Errorf("outlier %g at %d stays", v, i)
		}
	}
	for i := range x {
		x[i] = float64(i / 3 % 2)
	}
	if got := withoutOutliers(x); !slices.Equal(got, x) {
		t.Errorf("a sawtooth became %v", got)
	}
}

func BenchmarkLevels(b *testing.B) {
	for _, n := range []int{900, 36_000} {
		x := ar1(rand.New(rand.NewPCG(4, 4)), n, 0.5, 0.03)
		b.Run(map[int]string{900: "900", 36_000: "36000"}[n], func(b *testing.B) {
			for range b.N {
				levels(withoutOutliers(x))
			}
		})
	}
}
