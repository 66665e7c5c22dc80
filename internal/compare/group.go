package compare

import (
	"math"
	"slices"

	"nativ/internal/analysis"
)

// dataOfGroup reads the numbers of a side that may have several runs. A phase that
// one of them did not do in the same way, or has no numbers of, is left out.
func dataOfGroup(s *Side) []data {
	all := dataOf(s)
	if len(s.More) == 0 {
		return all
	}
	s.Runs = 1 + len(s.More)
	for i := range all {
		all[i].runs = []analysis.Numbers{all[i].numbers}
	}
	for _, rec := range s.More {
		next := dataOf(&Side{Place: s.Place, Record: rec})
		all = slices.DeleteFunc(all, func(d data) bool { return same(next, &d) == nil })
		for i := range all {
			all[i].join(same(next, &all[i]))
		}
	}
	for i := range all {
		all[i].mean()
	}
	return all
}

// same is the phase of a run that did what d did, that of the same name first; nil
// where there is none.
func same(run []data, d *data) *data {
	for _, anyName := range []bool{false, true} {
		for i := range run {
			if (anyName || run[i].job.Name == d.job.Name) && len(settingReasons(&d.job, &run[i].job)) == 0 &&
				len(run[i].numbers[analysis.MetricThroughput]) > 0 {
				return &run[i]
			}
		}
	}
	return nil
}

// join adds what another run has of the phase.
func (d *data) join(o *data) {
	d.runs = append(d.runs, o.numbers)
	d.passes += o.passes
	d.cached = d.cached || o.cached
	for _, w := range o.doubts {
		if !slices.Contains(d.doubts, w) {
			d.doubts = append(d.doubts, w)
		}
	}
	d.bw = nil // that of one run; mean has that of all
}

// mean makes the numbers those of the runs: one of each, its mean. A metric that a
// run does not have is left out.
func (d *data) mean() {
	d.numbers = analysis.Numbers{}
	for _, m := range analysis.Metrics() {
		var means []float64
		for _, r := range d.runs {
			if len(r[m]) == 0 {
				means = nil
				break
			}
			sum := 0.0
			for _, v := range r[m] {
				sum += v
			}
			means = append(means, sum/float64(len(r[m])))
		}
		if means != nil {
			d.numbers[m] = means
		}
	}
	d.phase, d.voided = nil, nil
	if iops, _ := d.value(IOPS); iops != nil && fixedBlocks(&d.job) && !math.IsInf(*iops, 0) {
		d.bw = new(*iops * float64(d.job.BlockSize))
	}
}

// units are what an interval reckons with: the runs of a side, or the only one.
func (d *data) units() []analysis.Numbers {
	if d.runs != nil {
		return d.runs
	}
	return []analysis.Numbers{d.numbers}
}
