package sensor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// A CPU reads the busy time of every online CPU.
type CPU struct {
	state
	path string
}

// NewCPU returns the source of all CPUs, /proc/stat.
func NewCPU(roots Roots) *CPU {
	c := &CPU{path: roots.proc("stat")}
	c.desc = record.Source{Kind: kindCPU, Name: c.path}
	if _, err := os.Stat(c.path); err != nil {
		c.desc.Missing = fmt.Sprintf("no CPU times: %v", err)
	}
	return c
}

// Read adds the times of the CPUs that are online to s.
func (c *CPU) Read(s *record.Sample) error {
	if c.desc.Missing != "" {
		return nil
	}
	f, err := os.Open(c.path)
	if err != nil {
		return c.note(err)
	}
	defer f.Close()
	cpus, err := parseProcStat(f)
	if err != nil {
		return c.note(fmt.Errorf("parse %s: %w", c.path, err))
	}
	s.CPUs = cpus
	return c.note(nil)
}

// userHZ is the unit of /proc/stat: USER_HZ is 100 on every architecture that
// Go runs on, whatever HZ the kernel has (proc(5)).
const (
	userHZ = 100
	tickNS = 1_000_000_000 / userHZ
)

// parseProcStat parses the lines of the single CPUs, which stand first in
// /proc/stat; CPUs that are offline have none.
//
// Busy is user, nice, system, irq, softirq and steal. Guest time is part of
// user already (account_guest_time in kernel/sched/cputime.c). Steal is busy:
// the CPU had something to run and no time for it, which is no headroom. I/O
// wait is idle.
func parseProcStat(r io.Reader) (map[int]record.CPUTime, error) {
	cpus := map[int]record.CPUTime{}
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		rest, ok := strings.CutPrefix(sc.Text(), "cpu")
		if !ok {
			break
		}
		f := strings.Fields(rest)
		if strings.HasPrefix(rest, " ") {
			continue // the sum of all
		}
		if len(f) < 5 {
			return nil, fmt.Errorf("line %q has too few fields", sc.Text())
		}
		id, err := strconv.ParseUint(f[0], 10, 31)
		if err != nil {
			return nil, fmt.Errorf("number of a CPU: %w", err)
		}
		if _, ok := cpus[int(id)]; ok {
			return nil, fmt.Errorf("cpu%d is there twice", id)
		}
		var user int64
		t := record.CPUTime{UserNS: &user}
		for i, s := range f[1:min(len(f), 9)] {
			// Idle time may run backwards a little, but never below zero.
			n, err := strconv.ParseUint(s, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("time of cpu%d: %w", id, err)
			}
			if n > math.MaxInt64/tickNS/8 { // eight of them are added
				return nil, fmt.Errorf("time of cpu%d: %d is out of range", id, n)
			}
			ns := int64(n) * tickNS
			t.TotalNS += ns
			if i == userField || i == niceField {
				user += ns
			}
			if i != idleField && i != iowaitField {
				t.BusyNS += ns
			}
		}
		cpus[int(id)] = t
	}
	// A line longer than the scanner's buffer can only be the interrupts'.
	if err := sc.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, err
	}
	if len(cpus) == 0 {
		return nil, errors.New("no line of a CPU")
	}
	return cpus, nil
}

// Positions in a line, counted from user; guest and guest_nice (8 and 9) are
// not read.
const (
	userField   = 0
	niceField   = 1
	idleField   = 3
	iowaitField = 4
)
