package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// Counters reads the counters of a group and all groups below it. What no
// controller counts is nil; a group that is not there is an error
// (fs.ErrNotExist).
func (f *FS) Counters(path string) (record.CgroupCounters, error) {
	var c record.CgroupCounters
	if err := check(path); err != nil {
		return c, err
	}
	found := false
	for _, h := range f.ours() {
		dir := filepath.Join(h.dir, path)
		if _, err := os.Stat(dir); err == nil {
			found = true
		}
		var err error
		if h.v2 {
			err = countersV2(dir, &c)
		} else {
			err = countersV1(dir, h.controllers, &c)
		}
		if err != nil {
			return c, fmt.Errorf("read counters of cgroup %s: %w", path, err)
		}
	}
	if !found {
		return c, fmt.Errorf("read counters of cgroup %s: %w", path, fs.ErrNotExist)
	}
	return c, nil
}

// countersV2 reads what is documented in admin-guide/cgroup-v2.rst. usage_usec
// is there without the cpu controller too; on a mixed layout v1's own counter,
// which is read first and in nanoseconds, is kept.
func countersV2(dir string, c *record.CgroupCounters) error {
	cpu, err := keyed(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return err
	}
	setIfNil(&c.UsageNS, cpu, "usage_usec", 1000)
	setIfNil(&c.NrThrottled, cpu, "nr_throttled", 1)
	setIfNil(&c.ThrottledNS, cpu, "throttled_usec", 1000)
	mem, err := keyed(filepath.Join(dir, "memory.events"))
	if err != nil {
		return err
	}
	setIfNil(&c.OOMKills, mem, "oom_kill", 1)
	setIfNil(&c.MemoryMax, mem, "max", 1)
	return nil
}

// countersV1 reads what is documented in admin-guide/cgroup-v1.
func countersV1(dir string, controllers []string, c *record.CgroupCounters) error {
	for _, name := range controllers {
		switch name {
		case "cpuacct":
			n, err := number(filepath.Join(dir, "cpuacct.usage"))
			if err != nil {
				return err
			}
			c.UsageNS = n
		case "cpu":
			// Only with CONFIG_CFS_BANDWIDTH.
			m, err := keyed(filepath.Join(dir, "cpu.stat"))
			if err != nil {
				return err
			}
			setIfNil(&c.NrThrottled, m, "nr_throttled", 1)
			setIfNil(&c.ThrottledNS, m, "throttled_time", 1)
		case "memory":
			m, err := keyed(filepath.Join(dir, "memory.oom_control"))
			if err != nil {
				return err
			}
			setIfNil(&c.OOMKills, m, "oom_kill", 1)
			// failcnt counts what v2 calls max: charges that met the limit.
			if c.MemoryMax, err = number(filepath.Join(dir, "memory.failcnt")); err != nil {
				return err
			}
		}
	}
	return nil
}

func setIfNil(to **int64, m map[string]int64, key string, unit int64) {
	if n, ok := m[key]; ok && *to == nil {
		n *= unit
		*to = &n
	}
}

// keyed reads a flat keyed file; one that is not there has no keys.
func keyed(name string) (map[string]int64, error) {
	r, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer r.Close()
	return parseKeyed(r)
}

// number reads a file that holds one number; one that is not there is nil.
func number(name string) (*int64, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &n, nil
}
