package analysis

import "math"

// A Change is by what factor one series differs from another that was measured
// in turn with it.
type Change struct {
	// Ratio is the geometric mean of the pairs' ratios; Low and High are where
	// it lies with 95 % confidence, by Student's t over the logarithms.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Pairs int     `json:"pairs"`
}

// Paired compares b with a, pair by pair, so that what drifts from pair to pair
// takes no part. It reports false for fewer than two pairs and for values that
// have no ratio.
func Paired(a, b []float64) (Change, bool) {
	n := min(len(a), len(b))
	if n < 2 {
		return Change{}, false
	}
	logs := make([]float64, n)
	for i := range logs {
		logs[i] = math.Log(b[i] / a[i])
	}
	e, ok := paired(logs)
	if !ok {
		return Change{}, false // of a value that has no logarithm
	}
	return changeOf(e)
}

// changeOf is an estimate as a ratio with its interval; false where it has none.
func changeOf(e Estimate) (Change, bool) {
	low, high, ok := e.Interval(confidence)
	return Change{Ratio: e.Ratio(), Low: low, High: high, Pairs: e.N}, ok
}
