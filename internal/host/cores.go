package host

import (
	"slices"
	"strconv"

	"nativ/internal/record"
)

// cores groups the CPUs by their type, performance cores first.
func cores(o Roots, cpus []record.CPU) []record.Cores {
	var all []record.Cores
	for _, kind := range []string{performance, "", efficiency} {
		of := slices.DeleteFunc(slices.Clone(cpus), func(c record.CPU) bool { return c.Type != kind })
		if len(of) == 0 {
			continue
		}
		g := record.Cores{Type: kind, Cores: physical(of), Threads: len(of), Governor: governors(o, of)}
		for _, c := range of {
			dir := "devices/system/cpu/cpu" + strconv.Itoa(c.ID) + "/cpufreq/"
			top := readHz(o.sys(dir + "cpuinfo_max_freq"))
			g.MinHz = pick(g.MinHz, readHz(o.sys(dir+"cpuinfo_min_freq")), lower)
			g.MaxHz = pick(g.MaxHz, top, higher)
			if limit := readHz(o.sys(dir + "scaling_max_freq")); limit != nil && top != nil && *limit < *top {
				g.LimitHz = pick(g.LimitHz, limit, lower)
			}
		}
		all = append(all, g)
	}
	return all
}

// physical counts the cores that the CPUs are threads of; nil where the kernel
// does not tell.
func physical(cpus []record.CPU) *int {
	type core struct{ pkg, core int }
	seen := map[core]bool{}
	for _, c := range cpus {
		if c.Core < 0 {
			return nil
		}
		seen[core{c.Package, c.Core}] = true
	}
	n := len(seen)
	return &n
}

// readHz reads a frequency that cpufreq gives in kHz; nil where there is none.
func readHz(name string) *int64 {
	const most = 100_000_000 // kHz; no CPU does 100 GHz
	n := readNumber(name)
	if n <= 0 || n > most {
		return nil
	}
	return new(int64(n) * 1000)
}

func lower(a, b int64) bool  { return a < b }
func higher(a, b int64) bool { return a > b }

// pick returns the one of two numbers that is better; either may be missing.
func pick(a, b *int64, better func(a, b int64) bool) *int64 {
	if a == nil || b != nil && better(*b, *a) {
		return b
	}
	return a
}
