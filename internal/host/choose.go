package host

import (
	"cmp"
	"fmt"
	"slices"

	"nativ/internal/record"
)

// defaultCPUs is how many CPUs the container gets, as in the test that nativ
// grew from; halveBelow is the number of CPUs below which it gets half of them.
const (
	defaultCPUs = 4
	halveBelow  = 8
)

// CPURule is the key under which a report states the rule of ChooseCPUs.
const CPURule = "cpus-distinct-performance-first"

// Types of CPUs; see record.CPU.
const (
	performance = "performance"
	efficiency  = "efficiency"
)

// ChooseCPUs chooses n of the CPUs that this process may use for the container
// and the pinned host. The rule, which a report states (CPURule): one CPU of
// each performance core first, then one of each efficiency core, then the
// second threads of cores (SMT siblings), performance before efficiency; within
// each, the lowest numbers. Where all cores are alike, all count as performance
// cores.
//
// With n = 0, the default, it chooses four; on a machine with fewer than eight
// CPUs half of them, at least one, so that what fewer CPUs cost can be told
// from what the container costs.
func ChooseCPUs(all []record.CPU, n int) (record.CPUSet, error) {
	set := record.CPUSet{Online: len(all), Default: n == 0}
	switch {
	case len(all) == 0:
		return set, fmt.Errorf("choose CPUs: none are known")
	case n < 0:
		return set, fmt.Errorf("choose CPUs: %d is negative; give --cpus 1 to %d", n, len(all))
	case n > len(all):
		return set, fmt.Errorf("choose CPUs: %d are more than the %d that nativ may use here; give --cpus 1 to %d", n, len(all), len(all))
	case n == 0 && len(all) < halveBelow:
		n, set.Halved = max(1, len(all)/2), len(all) > 1
	case n == 0:
		n = defaultCPUs
	}
	order := slices.Clone(all)
	slices.SortFunc(order, func(a, b record.CPU) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
	})
	set.CPUs = order[:n]
	slices.SortFunc(set.CPUs, func(a, b record.CPU) int { return cmp.Compare(a.ID, b.ID) })
	set.All = n == len(all)
	return set, nil
}

func rank(c record.CPU) int {
	r := 0
	if c.Type == efficiency {
		r = 1
	}
	if c.Sibling {
		r += 2
	}
	return r
}
