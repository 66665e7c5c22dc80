package sensor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"nativ/internal/record"
)

var (
	cpuDir  = regexp.MustCompile(`^cpu[0-9]+$`)
	zoneDir = regexp.MustCompile(`^thermal_zone[0-9]+$`)
)

// A CPUFrequency reads the frequency of every CPU.
type CPUFrequency struct {
	state
	cpus map[int]string // path of scaling_cur_freq, by CPU
}

// NewCPUFrequency finds the frequencies of the CPUs.
func NewCPUFrequency(roots Roots) *CPUFrequency {
	c := &CPUFrequency{cpus: map[int]string{}}
	c.desc = record.Source{Kind: kindCPUFrequency}
	base := roots.sys("devices/system/cpu")
	for _, name := range names(base, cpuDir) {
		path := filepath.Join(base, name, "cpufreq", "scaling_cur_freq")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if id, err := strconv.Atoi(strings.TrimPrefix(name, "cpu")); err == nil {
			c.cpus[id] = path
		}
	}
	if len(c.cpus) == 0 {
		c.desc.Missing = "no CPU frequencies: the kernel has no cpufreq driver here, as in a virtual machine"
	}
	return c
}

// Read adds the frequencies of the CPUs that tell one to s.
func (c *CPUFrequency) Read(s *record.Sample) error {
	if len(c.cpus) == 0 {
		return nil
	}
	got := map[int]int64{}
	var failed error
	for id, path := range c.cpus {
		b, err := os.ReadFile(path)
		if err != nil {
			failed = err // one that went offline
			continue
		}
		// In kHz; "<unknown>" where the driver does not know.
		khz, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
		if err != nil {
			failed = fmt.Errorf("parse %s: %w", path, err)
			continue
		}
		got[id] = int64(khz) * 1000
	}
	if len(got) == 0 {
		return c.note(failed)
	}
	s.CPUHz = union(s.CPUHz, got)
	return c.note(nil)
}

// A CPUThermal reads how often x86 CPUs throttled, and the temperature of the
// hottest package.
type CPUThermal struct {
	state
	cores, packages [][]string // files that count the same, by core and package
	temps           []string
}

// NewCPUThermal finds the counters and the sensors of the CPU packages.
func NewCPUThermal(roots Roots) *CPUThermal {
	c := &CPUThermal{}
	c.desc = record.Source{Kind: kindCPUThermal}
	base := roots.sys("devices/system/cpu")
	// The threads of a core, and the CPUs of a package, all see the same event
	// (arch/x86/kernel/cpu/mce/therm_throt.c).
	cores, packages := map[string]int{}, map[string]int{}
	group := func(all *[][]string, index map[string]int, key, path string) {
		if _, err := os.Stat(path); err != nil {
			return
		}
		i, ok := index[key]
		if !ok {
			i = len(*all)
			index[key] = i
			*all = append(*all, nil)
		}
		(*all)[i] = append((*all)[i], path)
	}
	for _, name := range names(base, cpuDir) {
		dir := filepath.Join(base, name)
		pkg := readWord(dir, "topology/physical_package_id")
		core := pkg + "/" + readWord(dir, "topology/die_id") + "/" + readWord(dir, "topology/core_id")
		group(&c.cores, cores, core, filepath.Join(dir, "thermal_throttle/core_throttle_count"))
		group(&c.packages, packages, pkg, filepath.Join(dir, "thermal_throttle/package_throttle_count"))
	}
	c.temps = packageSensors(roots)
	if len(c.cores)+len(c.packages)+len(c.temps) == 0 {
		c.desc.Missing = "no CPU temperature and no throttle counters: the kernel shows none, as in a virtual machine"
	}
	return c
}

// packageSensors returns the files that tell the temperature of CPU packages:
// the thermal zones x86_pkg_temp of Intel, else coretemp or k10temp.
func packageSensors(roots Roots) []string {
	var all []string
	zones := roots.sys("class/thermal")
	for _, z := range names(zones, zoneDir) {
		if readWord(zones, z, "type") == "x86_pkg_temp" {
			all = append(all, filepath.Join(zones, z, "temp"))
		}
	}
	if len(all) > 0 {
		return all
	}
	class := roots.sys("class/hwmon")
	for _, h := range names(class, hwmonDir) {
		dir := filepath.Join(class, h)
		if name := readWord(dir, "name"); name != "coretemp" && name != "k10temp" {
			continue
		}
		labels, _ := filepath.Glob(filepath.Join(dir, "temp*_label"))
		tctl := ""
		found := len(all)
		for _, l := range labels {
			in := strings.TrimSuffix(l, "_label") + "_input"
			switch label := readWord(l); {
			case strings.HasPrefix(label, "Package id"), label == "Tdie":
				all = append(all, in)
			case label == "Tctl":
				tctl = in
			}
		}
		// Tctl is what AMD's fans go by; older chips add up to 27 °C, and have
		// Tdie beside it (Documentation/hwmon/k10temp.rst).
		if len(all) == found && tctl != "" {
			all = append(all, tctl)
		}
	}
	return all
}

// Read adds counters and temperature to s.
func (c *CPUThermal) Read(s *record.Sample) error {
	if c.desc.Missing != "" {
		return nil
	}
	var t record.CPUThermal
	var err error
	if t.CoreThrottles, err = sumOfMost(c.cores); err != nil {
		return c.note(err)
	}
	if t.PackageThrottles, err = sumOfMost(c.packages); err != nil {
		return c.note(err)
	}
	for _, path := range c.temps {
		b, err := os.ReadFile(path)
		if err != nil {
			return c.note(err)
		}
		mc, err := parseTemperature(string(b))
		if err != nil {
			return c.note(err)
		}
		if t.PackageMC == nil || mc > *t.PackageMC {
			t.PackageMC = &mc
		}
	}
	s.CPUThermal = &t
	return c.note(nil)
}

// sumOfMost adds up the largest counter of each group; nil without a group.
func sumOfMost(groups [][]string) (*int64, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	var sum int64
	for _, g := range groups {
		var most int64
		for _, path := range g {
			b, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				continue // offline by now
			}
			if err != nil {
				return nil, err
			}
			n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 48)
			if err != nil {
				return nil, fmt.Errorf("parse %s: %w", path, err)
			}
			most = max(most, int64(n))
		}
		sum += most
	}
	return &sum, nil
}

// A Pressure reads how long tasks stood still for lack of CPU, I/O or memory,
// on the whole machine.
type Pressure struct {
	state
	dir string
}

// NewPressure returns the source of /proc/pressure.
func NewPressure(roots Roots) *Pressure {
	p := &Pressure{dir: roots.proc("pressure")}
	p.desc = record.Source{Kind: kindPressure, Name: p.dir}
	if _, err := os.Stat(p.dir); err != nil {
		p.desc.Missing = "no pressure: the kernel has no PSI, or it is off; boot with psi=1 to have it"
	}
	return p
}

// Read adds the totals to s.
func (p *Pressure) Read(s *record.Sample) error {
	if p.desc.Missing != "" {
		return nil
	}
	var got record.Pressure
	for _, f := range []struct {
		name       string
		some, full **int64
	}{
		{"cpu", &got.CPUSomeNS, nil},
		{"io", &got.IOSomeNS, &got.IOFullNS},
		{"memory", &got.MemorySomeNS, nil},
	} {
		file, err := os.Open(filepath.Join(p.dir, f.name))
		if err != nil {
			return p.note(err)
		}
		some, full, err := parsePressure(file)
		_ = file.Close()
		if err != nil {
			return p.note(fmt.Errorf("parse %s: %w", f.name, err))
		}
		*f.some = some
		if f.full != nil {
			*f.full = full
		}
	}
	s.Pressure = &got
	return p.note(nil)
}

// parsePressure returns the totals of a file of /proc/pressure in nanoseconds
// (Documentation/accounting/psi.rst); nil for a line that is not there.
func parsePressure(r io.Reader) (some, full *int64, err error) {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) == 0 {
			continue
		}
		var total *int64
		for _, word := range f[1:] {
			if v, ok := strings.CutPrefix(word, "total="); ok {
				us, err := strconv.ParseInt(v, 10, 64)
				if err != nil || us < 0 || us > 1<<53 {
					return nil, nil, fmt.Errorf("total %q is no number of microseconds", v)
				}
				ns := us * 1000
				total = &ns
			}
		}
		switch f[0] {
		case "some":
			some = total
		case "full":
			full = total
		}
	}
	if err := sc.Err(); err != nil {
		return nil, nil, err
	}
	if some == nil {
		return nil, nil, errors.New("no total of some")
	}
	return some, full, nil
}
