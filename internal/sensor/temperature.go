package sensor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"nativ/internal/record"
)

// A Temperature reads the kernel's hwmon of one drive: of an NVMe controller
// whose health log may not be read, or what the module drivetemp tells of a
// SATA drive.
//
// The kernel keeps nothing: each tempN_input of an NVMe drive is a Get Log Page
// command of its own (drivers/nvme/host/hwmon.c, nvme_hwmon_read), and the drive
// is being measured. So the composite temperature is read each time and the
// others every tenth. tempN_max and tempN_min would each cost a Get Features.
// Values of NVMe drives end in 850, because the kernel subtracts 273.15.
type Temperature struct {
	state
	inputs []input // that which is read each time first; none where Missing
	reads  atomic.Int64
}

// An input is one tempN_input and the name of its value in a sample.
type input struct{ path, key string }

// rarely is how often the sensors beside the composite are read: with every
// so-manieth reading, the first included.
const rarely = 10

var hwmonDir = regexp.MustCompile(`^hwmon[0-9]+$`)

// NewTemperature finds the sensors of the NVMe controller with that sysfs
// directory. Numbers of hwmon change from boot to boot but not while the driver
// is bound, so that they are looked for once.
func NewTemperature(roots Roots, controller string) *Temperature {
	name := filepath.Base(controller)
	t := &Temperature{}
	t.desc = record.Source{Kind: kindTemperature, Name: name + " hwmon"}
	dir := findHwmon("nvme", controller, filepath.Join(controller, "device"))
	// temp1 is the composite, temp2 to temp9 are the sensors 1 to 8; those that
	// are not there leave gaps.
	for n := 1; dir != "" && n <= 9; n++ {
		path := filepath.Join(dir, fmt.Sprintf("temp%d_input", n))
		if _, err := os.Stat(path); err != nil {
			continue
		}
		key := name + " Composite"
		if n > 1 {
			key = fmt.Sprintf("%s Sensor %d", name, n-1)
		}
		t.inputs = append(t.inputs, input{path, key})
	}
	if len(t.inputs) == 0 {
		t.desc.Missing = fmt.Sprintf("no sensor: %s has no hwmon (CONFIG_NVME_HWMON, Linux 5.5 or later)", name)
	}
	return t
}

// otherTemperature returns what tells the temperature of a drive that is not
// NVMe, or is but sits behind a bridge: drivetemp, or else smartctl.
func otherTemperature(roots Roots, drive string) Source {
	dev, err := filepath.EvalSymlinks(roots.sys("block", drive, "device"))
	if err != nil {
		return none{record.Source{Kind: kindTemperature, Name: drive,
			Missing: fmt.Sprintf("no sensor: the kernel shows no device behind %s", drive)}}
	}
	if dir := findHwmon("drivetemp", dev); dir != "" {
		t := &Temperature{inputs: []input{{filepath.Join(dir, "temp1_input"), drive + " drivetemp"}}}
		t.desc = record.Source{Kind: kindTemperature, Name: t.inputs[0].key}
		return t
	}
	// An ATA drive, a SAS drive or a USB case; virtual drives have nothing that
	// smartctl could ask.
	ata := readWord(dev, "vendor") == "ATA"
	if bus, _ := filepath.EvalSymlinks(filepath.Join(dev, "subsystem")); ata || filepath.Base(bus) == "scsi" {
		if s := newSmartctl(drive, roots.dev(drive)); s != nil {
			return s
		}
	}
	missing := "no sensor: the kernel shows none for " + drive
	if ata {
		missing += "; modprobe drivetemp may bring one, smartmontools is another way"
	}
	return none{record.Source{Kind: kindTemperature, Name: drive, Missing: missing}}
}

// findHwmon returns the directory of the hwmon called name that belongs to one
// of the devices. It lies in DEVICE/hwmonN where the parent is a class device
// (NVMe controllers since Linux 5.12 and 5.10.150, commit ed7770f66286), in
// DEVICE/hwmon/hwmonN where not. A drive without temp1_input says that it has
// no composite temperature, which is what its hwmon would be read for.
func findHwmon(name string, devices ...string) string {
	for _, d := range devices {
		for _, parent := range []string{d, filepath.Join(d, "hwmon")} {
			for _, h := range names(parent, hwmonDir) {
				dir := filepath.Join(parent, h)
				if readWord(dir, "name") != name {
					continue
				}
				if _, err := os.Stat(filepath.Join(dir, "temp1_input")); err == nil {
					return dir
				}
			}
		}
	}
	return ""
}

// Read adds the temperatures to s.
func (t *Temperature) Read(s *record.Sample) error {
	if len(t.inputs) == 0 {
		return nil
	}
	inputs := t.inputs
	if (t.reads.Add(1)-1)%rarely != 0 {
		inputs = inputs[:1]
	}
	got := map[string]int64{}
	var failed []error
	for _, in := range inputs {
		b, err := os.ReadFile(in.path)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		mc, err := parseTemperature(string(b))
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", in.key, err))
			continue
		}
		got[in.key] = mc
	}
	if len(got) == 0 {
		return t.note(errors.Join(failed...))
	}
	s.Temperatures = union(s.Temperatures, got)
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
	if !plausible(mc) {
		return 0, fmt.Errorf("the sensor says %d m°C, which is no temperature", mc)
	}
	return mc, nil
}
