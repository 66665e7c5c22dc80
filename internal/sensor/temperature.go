package sensor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// A Temperature reads one sensor of one drive: the composite temperature of
// an NVMe controller, or what the module drivetemp tells of a SATA drive.
//
// It is one sensor and not all of them, because the kernel keeps nothing: each
// tempN_input of an NVMe drive is a Get Log Page command of its own
// (drivers/nvme/host/hwmon.c, nvme_hwmon_read), and the drive is being
// measured. tempN_max and tempN_min would each cost a Get Features.
type Temperature struct {
	state
	input string // path of temp1_input; empty where there is none
}

var (
	controller = regexp.MustCompile(`^nvme[0-9]+$`)
	hwmonDir   = regexp.MustCompile(`^hwmon[0-9]+$`)
)

// NewTemperature finds the sensor of the drive with that kernel name. Numbers
// of hwmon change from boot to boot but not while the driver is bound, so that
// it is looked for once.
func NewTemperature(roots Roots, drive string) *Temperature {
	t := &Temperature{}
	t.desc = record.Source{Kind: kindTemperature, Name: drive}
	dev, err := filepath.EvalSymlinks(roots.sys("block", drive, "device"))
	if err != nil {
		t.desc.Missing = fmt.Sprintf("no sensor: the kernel shows no device behind %s", drive)
		return t
	}
	controllers := controllersOf(dev)
	for _, c := range controllers {
		if t.input = findHwmon("nvme", c, filepath.Join(c, "device")); t.input != "" {
			t.desc.Name = filepath.Base(c) + " hwmon Composite"
			return t
		}
	}
	if len(controllers) > 0 {
		t.desc.Missing = fmt.Sprintf("no sensor: %s has no hwmon (CONFIG_NVME_HWMON, Linux 5.5 or later)", filepath.Base(controllers[0]))
		return t
	}
	if t.input = findHwmon("drivetemp", dev); t.input != "" {
		t.desc.Name = drive + " hwmon drivetemp"
		return t
	}
	t.desc.Missing = "no sensor: the kernel shows none for " + drive
	if v, err := os.ReadFile(filepath.Join(dev, "vendor")); err == nil && strings.TrimSpace(string(v)) == "ATA" {
		t.desc.Missing += "; modprobe drivetemp may bring one"
	}
	return t
}

// controllersOf returns the directories of the NVMe controllers behind a
// namespace's device, those that are live first: with multipath the device is
// the subsystem, which has no sensor of its own.
func controllersOf(dev string) []string {
	if controller.MatchString(filepath.Base(dev)) {
		return []string{dev}
	}
	var cs []string
	for _, name := range names(dev, controller) {
		if c, err := filepath.EvalSymlinks(filepath.Join(dev, name)); err == nil {
			cs = append(cs, c)
		}
	}
	slices.SortStableFunc(cs, func(a, b string) int { return cmp.Compare(notLive(a), notLive(b)) })
	return cs
}

func notLive(controller string) int {
	if s, err := os.ReadFile(filepath.Join(controller, "state")); err == nil && strings.TrimSpace(string(s)) != "live" {
		return 1
	}
	return 0
}

// findHwmon returns the temp1_input of the hwmon called name that belongs to
// one of the devices. It lies in DEVICE/hwmonN where the parent is a class
// device (NVMe controllers since Linux 5.12 and 5.10.150, commit
// ed7770f66286), in DEVICE/hwmon/hwmonN where not.
func findHwmon(name string, devices ...string) string {
	for _, d := range devices {
		for _, parent := range []string{d, filepath.Join(d, "hwmon")} {
			for _, h := range names(parent, hwmonDir) {
				n, err := os.ReadFile(filepath.Join(parent, h, "name"))
				if err != nil || strings.TrimSpace(string(n)) != name {
					continue
				}
				input := filepath.Join(parent, h, "temp1_input")
				if _, err := os.Stat(input); err == nil {
					return input
				}
			}
		}
	}
	return ""
}

// names returns the names in dir that match, in the order of their numbers.
func names(dir string, match *regexp.Regexp) []string {
	entries, _ := os.ReadDir(dir)
	var all []string
	for _, e := range entries {
		if match.MatchString(e.Name()) {
			all = append(all, e.Name())
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return all
}

// Read adds the temperature to s, under the source's name.
func (t *Temperature) Read(s *record.Sample) error {
	if t.input == "" {
		return nil
	}
	b, err := os.ReadFile(t.input)
	if err != nil {
		return t.note(err)
	}
	mc, err := parseTemperature(string(b))
	if err != nil {
		return t.note(err)
	}
	if s.Temperatures == nil {
		s.Temperatures = map[string]int64{}
	}
	s.Temperatures[t.desc.Name] = mc
	return t.note(nil)
}

// parseTemperature parses a tempN_input, in millidegrees Celsius. Values that
// no drive can have are no temperature: drives and virtual machines that have
// no sensor report 0 K (-273150), broken ones FFFFh K (65261850).
func parseTemperature(text string) (int64, error) {
	mc, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse temperature: %w", err)
	}
	if mc < -60_000 || mc > 200_000 {
		return 0, fmt.Errorf("the sensor says %d m°C, which is no temperature", mc)
	}
	return mc, nil
}
