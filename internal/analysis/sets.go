package analysis

// CompareSets compares what passes of one phase came to that are not paired: of
// runs before and after, of two drives. as and bs hold the numbers of each run of
// a side; a and b name the sides. Judge then has to be called over all phases.
//
// With two runs or more on both sides their means are the units. With one, its
// passes are: they share the run's temperature, the layout of its file and all
// else that lasts a run, of which the interval then has nothing; WithinRun says
// so. Where a side has one unit alone there is a ratio and no interval.
//
// What is compared are geometric means, in which each run counts alike. A metric
// that a side does not have is left out.
func CompareSets(phase, a, b string, as, bs []Numbers, m Margins) []Comparison {
	var all []Comparison
	within := len(as) < 2 || len(bs) < 2
	for _, metric := range Metrics() {
		e, ok := welch(units(as, metric), units(bs, metric))
		if !ok {
			continue
		}
		all = append(all, Comparison{Phase: phase, Metric: metric, A: a, B: b, Estimate: e, Margin: m[metric], WithinRun: within})
	}
	return all
}

// units are the means of the runs, or the passes of the only one.
func units(runs []Numbers, m Metric) []float64 {
	if len(runs) == 1 {
		return runs[0][m]
	}
	var all []float64
	for _, r := range runs {
		if len(r[m]) == 0 {
			return nil // the sides must be of the same runs in all metrics
		}
		all = append(all, mean(r[m]))
	}
	return all
}
