package cgroup

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds the numbers in a CPU list; the kernel's NR_CPUS is at most
// 8192 (arch/x86/Kconfig).
const maxCPU = 1 << 16

// ParseCPUs parses a list in the kernel's format, for example "0-3,8": ascending
// and without repetitions in what it returns. An empty list is nil.
func ParseCPUs(s string) ([]int, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	var cpus []int
	for part := range strings.SplitSeq(s, ",") {
		first, last, ranged := strings.Cut(part, "-")
		lo, err := cpuNumber(first)
		if err != nil {
			return nil, fmt.Errorf("read CPU list %q: %w", s, err)
		}
		hi := lo
		if ranged {
			if hi, err = cpuNumber(last); err != nil {
				return nil, fmt.Errorf("read CPU list %q: %w", s, err)
			}
		}
		if hi < lo {
			return nil, fmt.Errorf("read CPU list %q: range %q runs backwards", s, part)
		}
		for c := lo; c <= hi; c++ {
			cpus = append(cpus, c)
		}
		if len(cpus) > 4*maxCPU {
			return nil, fmt.Errorf("read CPU list: more than %d CPUs", maxCPU)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

func cpuNumber(s string) (int, error) {
	// ParseUint, because Atoi takes signs, which the kernel does not.
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is no CPU number", s)
	}
	if n >= maxCPU {
		return 0, fmt.Errorf("CPU number %d is too large", n)
	}
	return int(n), nil
}

// FormatCPUs is the reverse of ParseCPUs.
func FormatCPUs(cpus []int) string {
	s := slices.Clone(cpus)
	slices.Sort(s)
	s = slices.Compact(s)
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j+1 < len(s) && s[j+1] == s[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(s[j]))
		}
		i = j + 1
	}
	return b.String()
}

// parseMemory parses memory.max (v2) or memory.limit_in_bytes (v1), in bytes;
// nil means no limit.
func parseMemory(s string) (*int64, error) {
	s = strings.TrimSpace(s)
	if s == "max" {
		return nil, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("read memory limit %q: not a number of bytes", s)
	}
	// v1 says "no limit" as PAGE_COUNTER_MAX pages: LONG_MAX rounded down to
	// the page size, which is 64 KiB at most (include/linux/page_counter.h).
	if n >= math.MaxInt64-math.MaxInt64%(64<<10) {
		return nil, nil
	}
	return &n, nil
}

// parseKeyed reads a flat keyed file (cpu.stat, memory.events,
// memory.oom_control): a name, a space and a number a line. Lines of another
// form are passed over, because such files grow with the kernel.
func parseKeyed(r io.Reader) (map[string]int64, error) {
	m := map[string]int64{}
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		key, value, ok := strings.Cut(sc.Text(), " ")
		if !ok || key == "" {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n >= 0 {
			m[key] = n
		}
	}
	return m, sc.Err()
}

// parsePIDs reads cgroup.procs. A process outside of the reader's PID namespace
// shows as 0 and is left out: kill(2) would take 0 for the caller's own group.
func parsePIDs(r io.Reader) ([]int, error) {
	var pids []int
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		n, err := strconv.ParseUint(strings.TrimSpace(sc.Text()), 10, 31)
		if err != nil {
			return nil, fmt.Errorf("read process list: %q is no process number", sc.Text())
		}
		if n > 0 {
			pids = append(pids, int(n))
		}
	}
	return pids, sc.Err()
}

// parseDisabled reads /proc/cgroups and returns the names of the controllers
// that the kernel has but that are switched off.
func parseDisabled(r io.Reader) ([]string, error) {
	var names []string
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		// #subsys_name hierarchy num_cgroups enabled
		f := strings.Fields(sc.Text())
		if len(f) == 4 && f[3] == "0" && !strings.HasPrefix(f[0], "#") {
			names = append(names, f[0])
		}
	}
	return names, sc.Err()
}
