package analysis

import (
	"nativ/internal/record"
)

// CompareRounds compares two places of one run over a phase, as CompareSets does
// two runs, but by their rounds: what drifts from round to round takes no part. It
// returns none where fewer than two rounds have both places; Judge then has to be
// called over all phases.
func CompareRounds(rec *record.Record, phase, a, b string, m Margins) []Comparison {
	var all []Comparison
	for _, metric := range Metrics() {
		var d []float64
		for i := range rec.Rounds {
			if rec.Rounds[i].Phase != phase {
				continue
			}
			one := *rec
			one.Rounds = rec.Rounds[i : i+1]
			x, y := NumbersOf(&one, phase, a)[metric], NumbersOf(&one, phase, b)[metric]
			if len(x) > 0 && len(y) > 0 {
				d = append(d, mean(y)-mean(x))
			}
		}
		if len(d) < 2 {
			continue
		}
		if e, ok := paired(d); ok {
			all = append(all, Comparison{Phase: phase, Metric: metric, A: a, B: b, Estimate: e, Margin: m[metric], WithinRun: true})
		}
	}
	return all
}
