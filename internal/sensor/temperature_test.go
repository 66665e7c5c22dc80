package sensor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

func TestParseTemperature(t *testing.T) {
	for in, want := range map[string]int64{
		"49850\n": 49850, "0\n": 0, "-5150\n": -5150, "-60000": -60000, "200000": 200000, "119850\n": 119850,
	} {
		if got, err := parseTemperature(in); err != nil || got != want {
			t.Errorf("%q = %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"-273150\n", "65261850\n", "-60001", "200001", "", "\n", "41.5", "N/A", "99999999999999999999"} {
		if got, err := parseTemperature(in); err == nil {
			t.Errorf("%q was taken: %d", in, got)
		}
	}
}

func FuzzParseTemperature(f *testing.F) {
	f.Add("49850\n")
	f.Add("-273150\n")
	f.Fuzz(func(t *testing.T, in string) {
		if mc, err := parseTemperature(in); err == nil && (mc < -60_000 || mc > 200_000) {
			t.Fatalf("%q = %d", in, mc)
		}
	})
}

func TestTemperature(t *testing.T) {
	const (
		pci  = "sys/devices/pci0/0000:01:00.0/"
		ctrl = pci + "nvme/nvme0/"
		// As Linux lays an NVMe drive without multipath.
		links = "sys/block/nvme0n1 -> ../devices/pci0/0000:01:00.0/nvme/nvme0/nvme0n1\n" +
			ctrl + "nvme0n1/device -> ../../nvme0\n" + ctrl + "device -> ../../../0000:01:00.0\n"
		sata      = "sys/devices/pci0/ata1/host0/target0:0:0/0:0:0:0/"
		sataLinks = "sys/block/sda -> ../devices/pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda\n" +
			sata + "block/sda/device -> ../../../0:0:0:0\n"
	)
	const noSensor = "no sensor"
	tests := []struct {
		name, drive string
		files       map[string]string
		missing     string           // a part of the reason, or
		want        map[string]int64 // what is read
	}{
		{"below the controller", "nvme0n1", map[string]string{"LINKS": links,
			ctrl + "hwmon3/name": "nvme\n", ctrl + "hwmon3/temp1_input": "40850\n", ctrl + "hwmon3/temp1_label": "Composite\n"},
			"", map[string]int64{"nvme0 Composite": 40850}},
		{"below the PCI device", "nvme0n1", map[string]string{"LINKS": links, ctrl + "nvme0n1/size": "1",
			pci + "hwmon/hwmon11/name": "nvme\n", pci + "hwmon/hwmon11/temp1_input": "41850\n"},
			"", map[string]int64{"nvme0 Composite": 41850}},
		{"sensors with a gap, one that lies", "nvme0n1", map[string]string{"LINKS": links,
			ctrl + "hwmon3/name": "nvme\n", ctrl + "hwmon3/temp1_input": "38850\n",
			ctrl + "hwmon3/temp3_input": "80850\n", ctrl + "hwmon3/temp3_label": "Sensor 2\n"},
			"", map[string]int64{"nvme0 Composite": 38850, "nvme0 Sensor 2": 80850}},
		{"below zero", "nvme0n1", map[string]string{"LINKS": links, ctrl + "hwmon3/name": "nvme\n", ctrl + "hwmon3/temp1_input": "-10150\n"},
			"", map[string]int64{"nvme0 Composite": -10150}},
		{"no composite", "nvme0n1", map[string]string{"LINKS": links, ctrl + "hwmon3/name": "nvme\n", ctrl + "hwmon3/temp3_input": "80850\n"},
			noSensor, nil},
		{"another hwmon there", "nvme0n1", map[string]string{"LINKS": links, ctrl + "nvme0n1/size": "1",
			pci + "hwmon/hwmon1/name": "acpitz\n", pci + "hwmon/hwmon1/temp1_input": "27800\n"},
			noSensor, nil},
		{"kernel without", "nvme0n1", map[string]string{"LINKS": links, ctrl + "nvme0n1/size": "1"}, noSensor, nil},
		{"0 K of a virtual machine", "nvme0n1", map[string]string{"LINKS": links, ctrl + "hwmon0/name": "nvme\n", ctrl + "hwmon0/temp1_input": "-273150\n"},
			"the sensor says -273150", nil},
		{"FFFFh", "nvme0n1", map[string]string{"LINKS": links, ctrl + "hwmon0/name": "nvme\n", ctrl + "hwmon0/temp1_input": "65261850\n"},
			"the sensor says 65261850", nil},
		{"SATA with drivetemp", "sda", map[string]string{"LINKS": sataLinks, sata + "block/sda/size": "1", sata + "vendor": "ATA     \n",
			sata + "hwmon/hwmon2/name": "drivetemp\n", sata + "hwmon/hwmon2/temp1_input": "31000\n"},
			"", map[string]int64{"sda drivetemp": 31000}},
		{"SATA without", "sda", map[string]string{"LINKS": sataLinks, sata + "block/sda/size": "1", sata + "vendor": "ATA     \n"},
			"no sensor: the kernel shows none for sda; modprobe drivetemp", nil},
		{"no device, as zram", "zram0", map[string]string{"sys/block/zram0/size": "1"}, noSensor, nil},
		{"no such drive", "sdz", nil, noSensor, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// No program of the machine is asked.
			t.Setenv("PATH", t.TempDir())
			roots := makeTree(t, tt.files)
			var src Source
			if cs := controllers(roots, tt.drive); len(cs) > 0 {
				src = NewTemperature(roots, cs[0])
			} else {
				src = otherTemperature(roots, tt.drive)
			}
			var s record.Sample
			err := src.Read(&s)
			d := src.Describe()
			if tt.want == nil {
				if len(s.Temperatures) > 0 || !strings.Contains(d.Missing, tt.missing) || tt.missing == "" {
					t.Errorf("read %v, %v; %+v", s.Temperatures, err, d)
				}
			} else if diff := cmp.Diff(tt.want, s.Temperatures); diff != "" || d.Missing != "" {
				t.Errorf("%s; %+v", diff, d)
			}
			testSource(t, src)
		})
	}
}

// The sensors beside the composite are read every tenth time: each is a command
// to a drive that is being measured.
func TestTemperatureReadsRarely(t *testing.T) {
	roots := tree(t, "nvme")
	dir := filepath.Join(roots.Sys, "devices/pci0000:00/0000:00:02.0/nvme/nvme0/hwmon0")
	write(t, filepath.Join(dir, "temp2_input"), "51850\n")
	src := NewTemperature(roots, filepath.Dir(dir))
	for i := range 2*rarely + 1 {
		var s record.Sample
		must(t, src.Read(&s))
		if _, all := s.Temperatures["nvme0 Sensor 1"]; all != (i%rarely == 0) || s.Temperatures["nvme0 Composite"] != 49850 {
			t.Errorf("reading %d: %v", i, s.Temperatures)
		}
	}
}

func TestRecordedTrees(t *testing.T) {
	for _, tt := range []struct {
		tree, drive, controller string
		reads                   int64
	}{
		{"nvme", "nvme0n1", "nvme0", 3},
		{"nvme-multipath", "nvme0n1", "nvme0", 3},
		// The head stands still on Linux 6.1; one of its two paths did the reads.
		{"nvme-multipath", "nvme1n1", "nvme1", 3},
	} {
		roots := tree(t, tt.tree)
		target := &record.Target{Drives: []record.Drive{{Name: tt.drive}}}
		var s record.Sample
		for _, src := range ForTarget(target, roots) {
			_ = src.Read(&s)
			if src.Describe().Kind != kindCPU { // not recorded
				testSource(t, src)
			}
		}
		if s.Temperatures[tt.controller+" Composite"] != 49850 || s.Devices[tt.drive].ReadIOs != tt.reads {
			t.Errorf("%s %s: %+v", tt.tree, tt.drive, s)
		}
		// With its device, the log is read and the kernel's sensor is not.
		write(t, filepath.Join(roots.Dev, tt.controller), "")
		var kinds []string
		for _, src := range ForTarget(target, roots) {
			if d := src.Describe(); d.Missing == "" {
				kinds = append(kinds, d.Kind)
			}
		}
		if !slices.Contains(kinds, kindHealth) || slices.Contains(kinds, kindTemperature) {
			t.Errorf("%s %s: %v", tt.tree, tt.drive, kinds)
		}
	}
}

// A controller that is gone says nothing; another path to the drive does.
func TestMultipathTakesLivePath(t *testing.T) {
	roots := tree(t, "nvme-multipath")
	write(t, filepath.Join(roots.Sys, "devices/pci0000:00/0000:00:04.0/nvme/nvme1/state"), "deleting\n")
	for _, src := range ForTarget(&record.Target{Drives: []record.Drive{{Name: "nvme1n1"}}}, roots) {
		if d := src.Describe(); d.Kind == kindHealth && d.Name != "nvme2" {
			t.Errorf("%+v", d)
		}
	}
}

func TestForTarget(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	kinds := func(sources []Source) string {
		var all []string
		for _, s := range sources {
			testSource(t, s)
			d := s.Describe()
			if d.Missing != "" {
				d.Kind = "no " + d.Kind
			}
			all = append(all, strings.TrimSpace(d.Kind))
		}
		return strings.Join(all, ", ")
	}
	roots := tree(t, "nvme-multipath")
	write(t, filepath.Join(roots.Proc, "stat"), "cpu0 1 2 3 4\n")
	const (
		rest = "cpu, no cpu-frequency, no cpu-thermal, no pressure"
		// Of a virtual machine, in which nobody may send commands.
		nvme = "device, no health, temperature, no link, no aer, "
	)
	for _, tt := range []struct {
		drives []string
		want   string
	}{
		{[]string{"nvme0n1"}, nvme + rest},
		// Twice the same controller stands for two namespaces of it.
		{[]string{"nvme0n1", "nvme0n1"}, nvme + "device, " + rest},
		// Two drives under one volume group, one of them with two controllers.
		{[]string{"nvme0n1", "nvme1n1"}, nvme + nvme + "no link, no aer, " + rest},
		{[]string{"nvme0n1", "sdx"}, nvme + "no device, no temperature, " + rest},
		{nil, "no device, no temperature, " + rest},
	} {
		target := &record.Target{Dir: "/bench"}
		for _, d := range tt.drives {
			target.Drives = append(target.Drives, record.Drive{Name: d})
		}
		if got := kinds(ForTarget(target, roots)); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.drives, got, tt.want)
		}
	}
}
