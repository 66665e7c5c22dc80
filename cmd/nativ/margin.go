package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// parseMargins reads "throughput=3%,p50=5%": differences that count as none, as
// fractions by metric.
func parseMargins(s string) (map[string]float64, error) {
	known := []string{record.MetricThroughput, record.MetricP50, record.MetricP99, record.MetricP999}
	all := map[string]float64{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		number, percent := strings.CutSuffix(strings.TrimSpace(value), "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		switch _, twice := all[name]; {
		case !ok || !percent || err != nil:
			return nil, fmt.Errorf("%q is not of the form METRIC=PERCENT%%, such as throughput=3%%", part)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("there is no metric %q; the metrics are: %s", name, strings.Join(known, ", "))
		case twice:
			return nil, fmt.Errorf("%s stands there twice", name)
		case !(v > 0 && v < 100):
			return nil, fmt.Errorf("%s: %s%% is not between 0 and 100", name, number)
		}
		all[name] = v / 100
	}
	return all, nil
}
