package analysis

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// Published tables of Student's t, and R's qt().
func TestTQuantiles(t *testing.T) {
	for _, c := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.7062}, {0.975, 2, 4.3027}, {0.975, 7, 2.3646}, {0.95, 7, 1.8946}, {0.995, 7, 3.4995},
		{0.975, 11, 2.2010}, {0.995, 10, 3.1693}, {0.95, 30, 1.6973}, {0.975, 120, 1.9799},
	} {
		if got := tQuantile(c.p, c.df); !near(got, c.want, 5e-5) {
			t.Errorf("t(%v, %v) = %v, want %v", c.p, c.df, got, c.want)
		}
	}
}

// Student's own data (Biometrika 1908; R: sleep): hours of sleep gained with one
// drug and with the other, by the same ten patients and as if they were twenty.
var sleep = [2][]float64{
	{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
	{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4},
}

func TestSleep(t *testing.T) {
	var d []float64
	for i := range sleep[0] {
		d = append(d, sleep[1][i]-sleep[0][i])
	}
	// R: t.test(extra ~ group, paired): t = 4.0621, df = 9, p = 0.002833,
	// 95 % from 0.7001142 to 2.4598858.
	e, ok := paired(d)
	low, high, _ := e.Logs(0.95)
	if !ok || !near(e.Log/e.SE, 4.0621, 1e-4) || e.DF != 9 || !near(e.P(), 0.002833, 1e-6) || !near(low, 0.7001142, 1e-6) || !near(high, 2.4598858, 1e-6) {
		t.Errorf("paired: t %v, df %v, p %v, [%v, %v]", e.Log/e.SE, e.DF, e.P(), low, high)
	}
	// R: t.test(extra ~ group): t = 1.8608, df = 17.776, p = 0.07939,
	// 95 % from -0.2054832 to 3.3654832.
	e, ok = welch(sleep[0], sleep[1])
	low, high, _ = e.Logs(0.95)
	if !ok || !near(e.Log/e.SE, 1.8608, 1e-4) || !near(e.DF, 17.776, 1e-3) || !near(e.P(), 0.07939, 1e-5) || !near(low, -0.2054832, 1e-5) || !near(high, 3.3654832, 1e-5) {
		t.Errorf("welch: t %v, df %v, p %v, [%v, %v]", e.Log/e.SE, e.DF, e.P(), low, high)
	}
}

// Darwin's maize (1876), differences in eighths of an inch, with which Fisher
// introduced the test (The Design of Experiments, 1935, section 21): of 32768 ways
// 863 reach a total of at least 314 on one side, so 1726 on either.
func TestSignFlip(t *testing.T) {
	darwin := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	if got, want := signFlip(darwin), 1726.0/32768; !near(got, want, 1e-12) {
		t.Errorf("Darwin's maize: %v, want %v", got, want)
	}
	for _, c := range []struct {
		d    []float64
		want float64
	}{
		{[]float64{1}, 1}, {[]float64{0, 0, 0}, 1}, {[]float64{1, 1, 1}, 0.25}, {[]float64{-1, -2, -3, -4}, 0.125},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8}, 2.0 / 256}, {[]float64{-1, 2, 3, 4, 5, 6, 7, 8}, 4.0 / 256},
		{[]float64{0.1, 0.2, -0.3}, 1}, // 0 but for the last bits
	} {
		if got := signFlip(c.d); !near(got, c.want, 1e-12) {
			t.Errorf("%v: %v, want %v", c.d, got, c.want)
		}
	}
	// Drawn signs agree with all of them: on twice the maize both can be asked.
	twice := append(append([]float64{}, darwin[:10]...), darwin[:10]...)
	hits := 0
	for way := range 1 << len(twice) {
		var s, all float64
		for i, x := range twice {
			all += x
			if way>>i&1 == 1 {
				x = -x
			}
			s += x
		}
		if math.Abs(s) >= math.Abs(all)-1e-9 {
			hits++
		}
	}
	if got, want := signFlip(twice), float64(hits)/(1<<20); !near(got, want, 0.005) {
		t.Errorf("drawn: %v, want about %v", got, want)
	}
}

// Holm (1979) by hand, and as R's p.adjust(c(.01,.04,.03,.005), "holm").
func TestHolm(t *testing.T) {
	got := holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("%v", got)
		}
	}
	if got := holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("more than 1: %v", got)
	}
	if holm(nil) == nil {
		t.Error("nil of none")
	}
}

// An order that acts on the first pass alone is taken out whole where both kinds
// of rounds are as many, and the mean is that of the pairs.
func TestOrderTakesNoPart(t *testing.T) {
	d := []float64{0.010, -0.003, 0.004, 0.007, -0.001, 0.002}
	first := []float64{1, -1, 0, 0, -1, 1}
	plain, _ := paired(d)
	with, ok := pairedInOrder(d, first)
	if !ok || !near(with.Log, plain.Log, 1e-15) || with.DF != 4 {
		t.Errorf("%+v, want the mean of %+v", with, plain)
	}
	shifted := make([]float64, len(d))
	for i := range d {
		shifted[i] = d[i] + 0.05*first[i]
	}
	again, _ := pairedInOrder(shifted, first)
	if !near(again.Log, with.Log, 1e-15) || !near(again.SE, with.SE, 1e-12) {
		t.Errorf("an effect of the order changes %+v to %+v", with, again)
	}
	// Where a is first in some rounds and b in none, the others tell.
	first = []float64{-1, -1, -1, 0, 0, 0}
	if e, _ := pairedInOrder(d, first); !near(e.Log, (0.007-0.001+0.002)/3, 1e-12) {
		t.Errorf("%+v, want the mean of the last three", e)
	}
	if e, _ := pairedInOrder(d, make([]float64, 6)); e.DF != 5 {
		t.Errorf("one order: %+v", e)
	}
}

// Host and container are first in turn, pinned never: what comes first is told by
// all rounds and taken from both comparisons of pinned.
func TestOrderBeside(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const runs, rounds, first = 2000, 12, 0.05
	var sum, square float64
	hits := 0
	for range runs {
		var d, own, e, heads []float64
		for k := range rounds {
			h, p, l := 0.01*r.NormFloat64(), -0.02+0.01*r.NormFloat64(), 0.01*r.NormFloat64()
			if k%2 == 0 {
				h += first
				own, heads = append(own, -1), append(heads, -1)
			} else {
				l += first
				own, heads = append(own, 0), append(heads, 1)
			}
			d, e = append(d, p-h), append(e, l-h)
		}
		got, ok := pairedBeside(d, own, e, heads)
		low, high, _ := got.Logs(0.95)
		if ok && low <= -0.02 && -0.02 <= high {
			hits++
		}
		sum, square = sum+got.Log, square+got.Log*got.Log
	}
	m := sum / runs
	if !near(m, -0.02, 0.0005) {
		t.Errorf("biased: %v", m)
	}
	// Var = 2.5 σ²/K, as of least squares on all three places.
	if sd, want := math.Sqrt(square/runs-m*m), 0.01*math.Sqrt(2.5/rounds); math.Abs(sd/want-1) > 0.06 {
		t.Errorf("scatters by %v, want %v", sd, want)
	}
	if share := float64(hits) / runs; share < 0.935 || share > 0.968 {
		t.Errorf("the interval holds the truth in %.1f %%", 100*share)
	}
}

func TestNoEstimateOfNoNumbers(t *testing.T) {
	for _, d := range [][]float64{nil, {math.NaN(), 1}, {math.Inf(1), 1}} {
		if e, ok := paired(d); ok {
			t.Errorf("%v: %+v", d, e)
		}
		if e, ok := welch(d, []float64{1, 2}); ok {
			t.Errorf("%v: %+v", d, e)
		}
	}
	e, ok := welch([]float64{1}, []float64{2, 3})
	if _, _, known := e.Interval(0.95); !ok || known || e.Log != 1.5 || e.P() != 1 {
		t.Errorf("single values: %+v", e)
	}
}

// The 95 % interval of Welch holds the truth as often as it says, also of sides
// that scatter unlike.
func TestWelchCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const runs = 2000
	hits := 0
	for range runs {
		var a, b []float64
		for range 8 {
			a = append(a, 0.01*r.NormFloat64())
		}
		for range 6 {
			b = append(b, 0.1+0.03*r.NormFloat64())
		}
		e, _ := welch(a, b)
		if low, high, ok := e.Logs(0.95); ok && low <= 0.1 && 0.1 <= high {
			hits++
		}
	}
	if share := float64(hits) / runs; share < 0.935 || share > 0.968 {
		t.Errorf("%.1f %%", share*100)
	}
}
