package job

import (
	"fmt"
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
