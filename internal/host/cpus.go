package host

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/job"
	"nativ/internal/record"
)

// readCPUs reads the CPUs that are online and that this process may use, in
// ascending order.
func readCPUs(o Roots) ([]record.CPU, error) {
	// Not sched_getaffinity: its mask has a fixed size in x/sys, and fails on
	// machines with more CPUs. The status file says the same of this process.
	status, err := os.Open(o.proc("self/status"))
	if err != nil {
		return nil, fmt.Errorf("read CPUs: %w", err)
	}
	defer status.Close()
	ids, err := job.ParseCPUs(parseStatusField(status, "Cpus_allowed_list"))
	if err != nil {
		return nil, fmt.Errorf("read CPUs: %s: %w", o.proc("self/status"), err)
	}
	// A mask may hold CPUs that are switched off.
	if online, err := job.ParseCPUs(readString(o.sys("devices/system/cpu/online"))); err == nil && len(online) > 0 {
		ids = slices.DeleteFunc(ids, func(id int) bool { return !slices.Contains(online, id) })
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("read CPUs: %s allows none", o.proc("self/status"))
	}
	types := cpuTypes(o, ids)
	cpus := make([]record.CPU, len(ids))
	for i, id := range ids {
		top := o.sys("devices/system/cpu/cpu" + strconv.Itoa(id) + "/topology")
		cpus[i] = record.CPU{
			ID: id, Core: readNumber(top + "/core_id"), Package: readNumber(top + "/physical_package_id"),
			Type: types[id], Sibling: sibling(top, id, ids),
		}
	}
	return cpus, nil
}

// sibling reports whether one of the CPUs with a lower number that we may use
// shares the physical core.
func sibling(topology string, id int, ids []int) bool {
	list := readString(topology + "/core_cpus_list")
	if list == "" {
		list = readString(topology + "/thread_siblings_list") // before Linux 5.3
	}
	threads, err := job.ParseCPUs(list)
	return err == nil && slices.ContainsFunc(threads, func(t int) bool {
		return t < id && slices.Contains(ids, t)
	})
}

// cpuTypes tells performance from efficiency cores, where there are both.
// Intel's hybrid CPUs have a PMU of each kind that lists its CPUs
// (arch/x86/events/core.c); elsewhere the scheduler's capacities differ
// (drivers/base/arch_topology.c). Of three or more capacities only the lowest
// is called efficiency: the middle cores of a phone's chip are big ones.
func cpuTypes(o Roots, ids []int) map[int]string {
	types := map[int]string{}
	for pmu, kind := range map[string]string{"cpu_core": performance, "cpu_atom": efficiency, "cpu_lowpower": efficiency} {
		cpus, err := job.ParseCPUs(readString(o.sys("devices/" + pmu + "/cpus")))
		if err != nil {
			continue
		}
		for _, c := range cpus {
			types[c] = kind
		}
	}
	if len(types) > 0 {
		return types
	}
	capacity := map[int]int{}
	for _, id := range ids {
		n := readNumber(o.sys("devices/system/cpu/cpu" + strconv.Itoa(id) + "/cpu_capacity"))
		if n <= 0 {
			return types
		}
		capacity[id] = n
	}
	low, high := slices.Min(slices.Collect(maps.Values(capacity))), slices.Max(slices.Collect(maps.Values(capacity)))
	if low == high {
		return types
	}
	for id, n := range capacity {
		if types[id] = performance; n == low {
			types[id] = efficiency
		}
	}
	return types
}

// governors lists the different cpufreq governors of the CPUs, or nil where
// there is no cpufreq, as in most virtual machines.
func governors(o Roots, cpus []record.CPU) *string {
	var all []string
	for _, c := range cpus {
		if g := readString(o.sys("devices/system/cpu/cpu" + strconv.Itoa(c.ID) + "/cpufreq/scaling_governor")); g != "" {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, cmp.Compare[string])
	return new(strings.Join(slices.Compact(all), ", "))
}

// readString reads a small file, trimmed; "" where it cannot be read.
func readString(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.Trim(string(b), " \t\n\x00")
}

// readNumber reads a number; -1 where there is none.
func readNumber(name string) int {
	n, err := strconv.Atoi(readString(name))
	if err != nil {
		return -1
	}
	return n
}
