package host

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// Facts reads what machine this is. CPUs are those that this process may use,
// which is what the host place gets. An error means that the CPUs or the memory
// could not be read; everything else may be missing.
func Facts(o Roots) (record.Host, error) {
	var h record.Host
	var err error
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return h, fmt.Errorf("read host facts: uname: %w", err)
	}
	h.Kernel, h.Machine = unix.ByteSliceToString(uts.Release[:]), unix.ByteSliceToString(uts.Machine[:])
	if h.CPUs, err = readCPUs(o); err != nil {
		return h, err
	}
	if h.MemoryBytes, err = memory(o); err != nil {
		return h, err
	}
	h.OS = osName(o)
	h.PVE = pveVersion(o)
	info, _ := parseFile(o.proc("cpuinfo"), parseCPUInfo)
	h.CPUModel = info.model
	h.Board = board(o)
	h.Virtualised = virtualised(o, info.hypervisor, h.Machine)
	h.CgroupLayout, _ = parseFile(o.proc("self/mountinfo"), cgroupLayout)
	if n, err := strconv.Atoi(readString(o.proc("sys/kernel/io_uring_disabled"))); err == nil {
		h.IOUringDisabled = &n
	}
	h.Governor = governors(o, h.CPUs)
	h.Cores = cores(o, h.CPUs)
	h.BIOS = bios(o)
	missing := map[string]string{}
	if h.MemoryModules, err = memoryModules(o); err != nil {
		missing["memory-modules"] = err.Error()
	}
	if !slices.ContainsFunc(h.Cores, func(c record.Cores) bool { return c.MaxHz != nil }) {
		missing["cpu-frequency"] = "the kernel has no cpufreq driver here, as in a virtual machine"
	}
	if len(missing) > 0 {
		h.Missing = missing
	}
	return h, nil
}

// parseFile opens a file for a parser.
func parseFile[T any](name string, parse func(io.Reader) T) (v T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return v, err
	}
	defer f.Close()
	return parse(f), nil
}

func memory(o Roots) (int64, error) {
	name := o.proc("meminfo")
	f, err := os.Open(name)
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	defer f.Close()
	n, ok := parseMemTotal(f)
	if !ok {
		return 0, fmt.Errorf("read memory: %s has no MemTotal", name)
	}
	return n, nil
}

func osName(o Roots) string {
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		if s, err := parseFile(o.root(name), parseOSRelease); err == nil && s != "" {
			return s
		}
	}
	return "Linux"
}

// pveVersion returns the version of Proxmox VE, which is that of the package
// pve-manager; nil elsewhere. pveversion itself is a Perl program that loads
// half of Proxmox VE.
func pveVersion(o Roots) *string {
	v, err := parseFile(o.root("var/lib/dpkg/status"), func(r io.Reader) string { return parseDpkgStatus(r, "pve-manager") })
	if err != nil || v == "" {
		return nil
	}
	return &v
}

// board returns the maker and name of the mainboard, or the model that an ARM
// machine's device tree names; nil where neither is known.
func board(o Roots) *string {
	name := strings.TrimSpace(readString(o.sys("class/dmi/id/board_vendor")) + " " + readString(o.sys("class/dmi/id/board_name")))
	if name == "" {
		name = readString(o.sys("firmware/devicetree/base/model"))
	}
	if name == "" {
		return nil
	}
	return &name
}

// bios returns maker, version and date of the firmware; nil where none is known.
func bios(o Roots) *string {
	var parts []string
	for _, name := range []string{"bios_vendor", "bios_version", "bios_date"} {
		if s := readString(o.sys("class/dmi/id/" + name)); s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return new(strings.Join(parts, " "))
}

// virtualised names the hypervisor under which this system runs: "unknown"
// where there is one that cannot be told, nil where there is none to see. On
// x86 the CPU says whether there is one, elsewhere only DMI does; there a
// cloud's name says nothing, because its bare machines bear it too.
func virtualised(o Roots, flag bool, machine string) *string {
	x86 := machine == "x86_64" || machine == "i686"
	if x86 && !flag {
		return nil
	}
	if t := readString(o.sys("hypervisor/type")); t != "" {
		return &t
	}
	dmi := readString(o.sys("class/dmi/id/sys_vendor")) + " " + readString(o.sys("class/dmi/id/product_name"))
	for _, h := range []struct{ mark, name string }{
		{"VMware", "vmware"},
		{"Microsoft Corporation Virtual Machine", "hyper-v"},
		{"VirtualBox", "virtualbox"},
		{"Parallels", "parallels"},
		{"Xen", "xen"},
		{"KVM", "kvm"},
		{"QEMU", "qemu"},
		{"OpenStack", "kvm"},
		{"Apple Virtualization", "apple"},
	} {
		if strings.Contains(dmi, h.mark) {
			return &h.name
		}
	}
	switch {
	case !x86:
		return nil
	case strings.Contains(dmi, "Amazon EC2"), strings.Contains(dmi, "Google Compute Engine"):
		return new("kvm")
	}
	return new("unknown")
}

// cgroupLayout tells from a mount table which generations of cgroups are
// mounted: "v2", "v1" or both, "mixed"; "" where there are none.
func cgroupLayout(r io.Reader) string {
	mounts, err := mountinfo.GetMountsFromReader(r, nil)
	if err != nil {
		return ""
	}
	var v1, v2 bool
	for _, m := range mounts {
		v1, v2 = v1 || m.FSType == "cgroup", v2 || m.FSType == "cgroup2"
	}
	switch {
	case v1 && v2:
		return "mixed"
	case v2:
		return "v2"
	case v1:
		return "v1"
	}
	return ""
}
