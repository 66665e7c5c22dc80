package host

import (
	"strings"
	"testing"
)

func TestParseOSRelease(t *testing.T) {
	for text, want := range map[string]string{
		"PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nNAME=\"Debian GNU/Linux\"\n": "Debian GNU/Linux 13 (trixie)",
		"NAME=Alpine\nVERSION_ID=3.20\n":                                            "Alpine 3.20",
		"NAME='Void'\n":                                                             "Void",
		"#PRETTY_NAME=x\n":                                                          "",
		"PRETTY_NAME=\"a \\\"b\\\" \\$c\"":                                          `a "b" $c`,
		"PRETTY_NAME=\"":                                                            `"`,
		"":                                                                          "",
	} {
		if got := parseOSRelease(strings.NewReader(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

const dpkgStatus = `Package: pve-manager-doc
Status: install ok installed
Version: 1.0

Package: old
Status: deinstall ok config-files
Version: 2.0

Package: pve-manager
Status: install ok installed
Priority: optional
Depends: x (>= 1), y
 Version: 99
Version: 9.0.10
Description: Proxmox Virtual Environment Management Tools
 This package: contains

Package: z
Status: hold ok installed
Version: 3
`

func TestParseDpkgStatus(t *testing.T) {
	for pkg, want := range map[string]string{"pve-manager": "9.0.10", "pve": "", "old": "", "z": "3", "pve-manager-doc": "1.0"} {
		if got := parseDpkgStatus(strings.NewReader(dpkgStatus), pkg); got != want {
			t.Errorf("%s: got %q, want %q", pkg, got, want)
		}
	}
}

func FuzzTextFiles(f *testing.F) {
	f.Add(dpkgStatus)
	f.Add("PRETTY_NAME=\"Debian\"\nID=debian\nID_LIKE=\"a b\"\n")
	f.Add("model name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n")
	f.Add("MemTotal:       16384000 kB\n")
	f.Add("Cpus_allowed_list:\t0-1\n")
	f.Add("22 27 0:21 / /proc rw,relatime - cgroup2 proc rw\n")
	f.Fuzz(func(t *testing.T, s string) {
		if v := parseDpkgStatus(strings.NewReader(s), "pve-manager"); !strings.Contains(s, v) {
			t.Errorf("version %q", v)
		}
		if v := parseStatusField(strings.NewReader(s), "Cpus_allowed_list"); !strings.Contains(s, v) {
			t.Errorf("field %q", v)
		}
		if n, ok := parseMemTotal(strings.NewReader(s)); ok && n <= 0 {
			t.Errorf("memory %d", n)
		}
		if c := parseCPUInfo(strings.NewReader(s)); !strings.Contains(s, c.model) || c.hypervisor && !strings.Contains(s, "hypervisor") {
			t.Errorf("cpuinfo %+v", c)
		}
		parseOSRelease(strings.NewReader(s))
		for _, id := range parseOSIDs(strings.NewReader(s)) {
			if id == "" {
				t.Error("an empty ID")
			}
		}
	})
}

func TestParseCPUInfo(t *testing.T) {
	x86 := "processor\t: 0\nmodel\t\t: 198\nmodel name\t: Intel(R) Core(TM) Ultra 5 225\nflags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: other\nflags : hypervisor\n"
	if got := parseCPUInfo(strings.NewReader(x86)); got.model != "Intel(R) Core(TM) Ultra 5 225" || got.hypervisor {
		t.Errorf("x86: got %+v", got)
	}
	if got := parseCPUInfo(strings.NewReader("flags\t\t: fpu hypervisor lahf_lm\n")); !got.hypervisor {
		t.Errorf("guest: got %+v", got)
	}
	if got := parseCPUInfo(strings.NewReader("flags\t\t: nohypervisor\n")); got.hypervisor {
		t.Errorf("similar flag: got %+v", got)
	}
	if got := parseCPUInfo(strings.NewReader("processor\t: 0\nBogoMIPS\t: 108.00\nCPU part\t: 0xd0b\n\nModel\t\t: Raspberry Pi 5\n")); got.model != "Raspberry Pi 5" {
		t.Errorf("ARM: got %+v", got)
	}
}

func TestParseMemTotal(t *testing.T) {
	if got, ok := parseMemTotal(strings.NewReader("MemFree: 1 kB\nMemTotal:       32768 kB\n")); !ok || got != 32<<20 {
		t.Errorf("got %d, %v", got, ok)
	}
	for _, s := range []string{"", "MemTotal: x kB", "MemTotal: -1 kB", "MemTotal: 1", "MemTotal: 0 kB", "MemTotal: 9999999999999999 kB"} {
		if got, ok := parseMemTotal(strings.NewReader(s)); ok {
			t.Errorf("%q: got %d", s, got)
		}
	}
}
