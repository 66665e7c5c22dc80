package cgroup

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

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
