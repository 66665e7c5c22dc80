package vm

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"nativ/internal/record"
)

// What other programs read from a drive, in the specification's units.
type (
	nvmeCLI struct {
		CriticalWarning uint8 `json:"critical_warning"`
		Temperature     int64 // K
		AvailableSpare  int64 `json:"avail_spare"`
		PercentUsed     int64 `json:"percent_used"`
		DataUnitsRead   any   `json:"data_units_read"` // a string in nvme-cli 2.1
		ReadCommands    any   `json:"host_read_commands"`
	}
	smartctl struct {
		Temperature struct{ Current int64 } // °C
		Health      struct {
			CriticalWarning uint8 `json:"critical_warning"`
			Temperature     int64 // °C
			AvailableSpare  int64 `json:"available_spare"`
			PercentageUsed  int64 `json:"percentage_used"`
			DataUnitsRead   int64 `json:"data_units_read"`
			HostReads       int64 `json:"host_reads"`
		} `json:"nvme_smart_health_information_log"`
	}
)

// nativ info and nativ watch say what nvme-cli and smartctl say, and what the
// drive was set to, below and above its own limits.
func TestTemperatures(t *testing.T) {
	m := boot(t, nvmeDrive())
	m.loadNVMe("", "nvme0n1")
	const wctemp, cctemp = 343, 373 // of QEMU's drive
	for _, kelvin := range []uint16{274, 305, wctemp - 1, wctemp, 360, cctemp} {
		t.Logf("%d K", kelvin)
		m.setTemperature("nvme0", kelvin)
		hot := kelvin >= wctemp
		want := int64(kelvin)*1000 - 273150

		cli := decode[nvmeCLI](t, m.run("nvme", "smart-log", "/dev/nvme0", "-o", "json").want(t, 0))
		// smartctl's exit code tells by bits what is wrong with the drive.
		smart := decode[smartctl](t, m.run("smartctl", "-j", "-a", "/dev/nvme0"))
		info := decode[record.Info](t, m.run("nativ", "info", "--json", "nvme0n1").want(t, 0))
		watch := decode[record.WatchPoint](t, m.run("nativ", "watch", "--json", "--count", "1", "nvme0n1").want(t, 0))
		for verb, s := range map[string]record.Sample{"info": info.Sample, "watch": watch.Sample} {
			h, ok := s.Health["nvme0"]
			if !ok {
				t.Fatalf("%d K: nativ %s has no health log of nvme0: %+v", kelvin, verb, s)
			}
			if h.CompositeMC == nil || *h.CompositeMC != want || s.Temperatures["nvme0 Composite"] != want {
				t.Errorf("%d K: nativ %s says %v and %v m°C, want %d", kelvin, verb, h.CompositeMC, s.Temperatures, want)
			}
			if got := h.CriticalWarning&record.CriticalTemperature != 0; got != hot {
				t.Errorf("%d K: nativ %s says critical warning %#x, want the bit of the temperature %v", kelvin, verb, h.CriticalWarning, hot)
			}
			if cli.Temperature != int64(kelvin) || cli.CriticalWarning != h.CriticalWarning || cli.AvailableSpare != h.AvailableSpare || cli.PercentUsed != h.PercentageUsed ||
				fmt.Sprint(cli.ReadCommands) != strconv.FormatInt(h.ReadCommands, 10) || number(t, cli.DataUnitsRead)*512_000 != h.ReadBytes {
				t.Errorf("%d K: nativ %s says %+v, nvme-cli %+v", kelvin, verb, h, cli)
			}
			// smartctl takes 273 for 273.15.
			if c := int64(kelvin) - 273; smart.Temperature.Current != c || smart.Health.Temperature != c ||
				smart.Health.CriticalWarning != h.CriticalWarning || smart.Health.AvailableSpare != h.AvailableSpare ||
				smart.Health.PercentageUsed != h.PercentageUsed || smart.Health.HostReads != h.ReadCommands || smart.Health.DataUnitsRead*512_000 != h.ReadBytes {
				t.Errorf("%d K: nativ %s says %+v, smartctl %+v", kelvin, verb, h, smart)
			}
		}
		if hwmon := m.sh("cat /sys/class/nvme/nvme0/hwmon*/temp1_input"); hwmon != strconv.FormatInt(want, 10) {
			t.Errorf("%d K: hwmon says %s, want %d", kelvin, hwmon, want)
		}
		if len(info.Drives) != 1 || info.Drives[0].NVMe == nil {
			t.Fatalf("nativ info knows %+v of the drive", info.Drives)
		}
		n := info.Drives[0].NVMe
		if n.WarningMC == nil || *n.WarningMC != wctemp*1000-273150 || n.CriticalMC == nil || *n.CriticalMC != cctemp*1000-273150 {
			t.Errorf("nativ info says WCTEMP %v, CCTEMP %v", n.WarningMC, n.CriticalMC)
		}
	}
	// A drive's other alarms.
	m.setTemperature("nvme0", 300)
	m.setWarning("nvme0", record.CriticalSpare|record.CriticalReadOnly)
	info := decode[record.Info](t, m.run("nativ", "info", "--json", "nvme0n1").want(t, 0))
	if h := info.Sample.Health["nvme0"]; h.CriticalWarning != record.CriticalSpare|record.CriticalReadOnly {
		t.Errorf("critical warning %#x, want spare and read-only", h.CriticalWarning)
	}
}

// number is that of a JSON number or of a string that holds one.
func number(t *testing.T, v any) int64 {
	t.Helper()
	n, err := json.Number(strings.TrimSuffix(fmt.Sprint(v), ".000000")).Int64()
	if err != nil {
		t.Error(err)
	}
	return n
}

// Drives that are no NVMe, or that hide behind a USB bridge, are never sent an
// NVMe command, and what they can tell is told.
func TestOtherDrives(t *testing.T) {
	c := nvmeDrive()
	c.disks = append(c.disks, 1<<30, 1<<30, 1<<30)
	c.devices = append(c.devices,
		"ide-hd,bus=ide.0,drive=disk1,serial=SATA1",
		"qemu-xhci,id=usb", "usb-storage,bus=usb.0,drive=disk2,serial=USB2",
		"usb-uas,bus=usb.0,id=uas", "scsi-hd,bus=uas.0,drive=disk3,serial=UAS3",
	)
	m := boot(t, c)
	m.loadNVMe("", "nvme0n1")
	m.sh("modprobe -a ahci sd_mod xhci_pci uas usb_storage")
	m.await("3 = $(ls /dev/sd? | wc -l)")
	info := decode[record.Info](t, m.run("strace", "-f", "-y", "-e", "trace=ioctl", "-o", "/tmp/trace", "nativ", "info", "--json").want(t, 0))

	transports := map[string]int{}
	for _, d := range info.Drives {
		transports[d.Transport]++
		if (d.NVMe != nil) != (d.Transport == "nvme") {
			t.Errorf("%s (%s): NVMe %+v", d.Name, d.Transport, d.NVMe)
		}
		if d.Transport == "sata" {
			// QEMU's disk has SMART attribute 190 at 31, and nothing for drivetemp.
			if mc, ok := info.Sample.Temperatures[d.Name+" smartctl"]; !ok || mc != 31_000 {
				t.Errorf("%s: %d m°C (%v), want 31000; there are %v", d.Name, mc, ok, info.Sample.Temperatures)
			}
		}
	}
	if transports["nvme"] != 1 || transports["sata"] != 1 || transports["usb"] != 2 {
		t.Errorf("drives by transport: %v, want nvme 1, sata 1, usb 2", transports)
	}
	if len(info.Sample.Health) != 1 {
		t.Errorf("health logs: %v, want that of nvme0 alone", info.Sample.Health)
	}
	nvme := 0
	for line := range strings.Lines(m.sh("cat /tmp/trace")) {
		// linux/nvme_ioctl.h: type 'N', by name or by number.
		if !strings.Contains(line, "NVME_") && !strings.Contains(line, "0x4e, 0x4") {
			continue
		}
		nvme++
		if !strings.Contains(line, "</dev/nvme0") {
			t.Errorf("an NVMe command for another drive: %s", line)
		}
	}
	if nvme == 0 {
		t.Error("the trace shows no NVMe command at all, not even for the NVMe drive")
	}
}
