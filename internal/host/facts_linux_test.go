package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// machine makes the trees of a machine from path and contents.
func machine(t *testing.T, files map[string]string) Roots {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Roots{Root: root, Sys: filepath.Join(root, "sys"), Proc: filepath.Join(root, "proc")}
}

// topology adds a CPU with its core, package and the threads of its core.
func topology(files map[string]string, cpu, core, pkg int, threads string) {
	dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
	files[dir+"topology/core_id"] = fmt.Sprint(core)
	files[dir+"topology/physical_package_id"] = fmt.Sprint(pkg)
	files[dir+"topology/core_cpus_list"] = threads
	files[dir+"cpufreq/scaling_governor"] = "performance"
}

func TestFactsOfProxmoxHost(t *testing.T) {
	files := map[string]string{
		"etc/os-release":                         `PRETTY_NAME="Debian GNU/Linux 13 (trixie)"`,
		"var/lib/dpkg/status":                    dpkgStatus,
		"proc/self/status":                       "Name:\tnativ\nCpus_allowed_list:\t0-5,8-31",
		"proc/meminfo":                           "MemTotal:       32000000 kB",
		"proc/cpuinfo":                           "model name\t: Intel(R) Core(TM) i9-12900K\nflags\t\t: fpu",
		"proc/self/mountinfo":                    "22 27 0:21 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw",
		"proc/sys/kernel/io_uring_disabled":      "1",
		"sys/class/dmi/id/board_vendor":          "ASUSTeK COMPUTER INC.",
		"sys/class/dmi/id/board_name":            "PRIME B860M-K",
		"sys/class/dmi/id/sys_vendor":            "QEMU",
		"sys/class/dmi/id/bios_vendor":           "American Megatrends Inc.",
		"sys/class/dmi/id/bios_version":          "1234",
		"sys/class/dmi/id/bios_date":             "06/01/2026",
		"sys/firmware/dmi/tables/DMI":            string(ddr5),
		"sys/devices/system/cpu/online":          "0-23",
		"sys/devices/cpu_core/cpus":              "0-15",
		"sys/devices/cpu_atom/cpus":              "16-23",
		"sys/devices/system/cpu/cpu9/online":     "1",
		"sys/devices/system/cpu/cpu99/something": "",
	}
	for c := range 16 {
		topology(files, c, c/2*4, 0, fmt.Sprintf("%d-%d", c/2*2, c/2*2+1))
	}
	for c := 16; c < 24; c++ {
		topology(files, c, 16+c, 0, fmt.Sprint(c))
	}
	files["sys/devices/system/cpu/cpu23/cpufreq/scaling_governor"] = "powersave"
	files["sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_min_freq"] = "800000"
	files["sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"] = "4900000"
	files["sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"] = "4900000"
	files["sys/devices/system/cpu/cpu8/cpufreq/cpuinfo_max_freq"] = "5200000"
	files["sys/devices/system/cpu/cpu8/cpufreq/scaling_max_freq"] = "4900000"
	h, err := Facts(machine(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.CPUs) != 22 {
		t.Fatalf("%d CPUs", len(h.CPUs))
	}
	for i, want := range map[int]record.CPU{
		0: {ID: 0, Core: 0, Type: performance}, 1: {ID: 1, Core: 0, Type: performance, Sibling: true},
		6: {ID: 8, Core: 16, Type: performance}, 21: {ID: 23, Core: 39, Type: efficiency},
	} {
		if h.CPUs[i] != want {
			t.Errorf("CPU %d: got %+v, want %+v", i, h.CPUs[i], want)
		}
	}
	set, err := ChooseCPUs(h.CPUs, 0)
	if err != nil || ids(set) != "0 2 4 8" {
		t.Errorf("chose %s, %v", ids(set), err)
	}
	h.CPUs, h.Kernel, h.Machine = nil, "", ""
	want := record.Host{
		OS: "Debian GNU/Linux 13 (trixie)", PVE: new("9.0.10"), CPUModel: "Intel(R) Core(TM) i9-12900K", MemoryBytes: 32000000 << 10,
		Board: new("ASUSTeK COMPUTER INC. PRIME B860M-K"), CgroupLayout: "v2", IOUringDisabled: new(1), Governor: new("performance, powersave"),
		Cores: []record.Cores{
			{Type: performance, Cores: new(7), Threads: 14, MinHz: new(int64(800e6)), MaxHz: new(int64(5200e6)), LimitHz: new(int64(4900e6)), Governor: new("performance")},
			{Type: efficiency, Cores: new(8), Threads: 8, Governor: new("performance, powersave")},
		},
		MemoryModules: []record.MemoryModule{{SizeBytes: 16 << 30, Type: "DDR5", RatedMTs: new(5600), SpeedMTs: new(5200)}},
		BIOS:          new("American Megatrends Inc. 1234 06/01/2026"),
	}
	if runtime.GOARCH != "amd64" {
		want.Virtualised = new("qemu")
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What cannot be read is missing, not zero.
func TestFactsOfBareContainer(t *testing.T) {
	h, err := Facts(machine(t, map[string]string{
		"proc/self/status": "Cpus_allowed_list:\t3",
		"proc/meminfo":     "MemTotal: 1024 kB",
	}))
	if err != nil {
		t.Fatal(err)
	}
	h.Kernel, h.Machine = "", ""
	want := record.Host{OS: "Linux", CPUs: []record.CPU{{ID: 3, Core: -1, Package: -1}}, MemoryBytes: 1 << 20,
		Cores: []record.Cores{{Threads: 1}}, Missing: map[string]string{
			"memory-modules": "this machine shows no SMBIOS tables", "cpu-frequency": "the kernel has no cpufreq driver here, as in a virtual machine"}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, files := range []map[string]string{
		{"proc/self/status": "Cpus_allowed_list:\t3"},
		{"proc/self/status": "Name: x", "proc/meminfo": "MemTotal: 1024 kB"},
		{"proc/self/status": "Cpus_allowed_list:\t3-", "proc/meminfo": "MemTotal: 1024 kB"},
		{"proc/self/status": "Cpus_allowed_list:\t3", "sys/devices/system/cpu/online": "0-1", "proc/meminfo": "MemTotal: 1024 kB"},
		{"proc/meminfo": "MemTotal: 1024 kB"},
	} {
		if h, err := Facts(machine(t, files)); err == nil {
			t.Errorf("%v: got %+v", files, h)
		}
	}
}

func TestCPUTypesByCapacity(t *testing.T) {
	for _, tt := range []struct {
		name       string
		capacities []string
		want       string
	}{
		{"big.LITTLE", []string{"446", "446", "1024", "1024"}, "eepp"},
		{"three kinds", []string{"300", "800", "800", "1024"}, "eppp"},
		{"alike", []string{"1024", "1024"}, "--"},
		{"one missing", []string{"446", ""}, "--"},
		{"nonsense", []string{"0", "1024"}, "--"},
	} {
		files := map[string]string{}
		var all []int
		for i, c := range tt.capacities {
			all = append(all, i)
			if c != "" {
				files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpu_capacity", i)] = c
			}
		}
		types := cpuTypes(machine(t, files), all)
		got := ""
		for _, id := range all {
			got += string((types[id] + "-")[0])
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Where only the second thread of a core may be used, it is nobody's sibling.
func TestSiblingAmongAllowed(t *testing.T) {
	files := map[string]string{"proc/self/status": "Cpus_allowed_list:\t1,2,3"}
	for c := range 4 {
		topology(files, c, c/2, 0, fmt.Sprintf("%d-%d", c/2*2, c/2*2+1))
	}
	got, err := readCPUs(machine(t, files))
	if err != nil || len(got) != 3 || got[0].Sibling || got[1].Sibling || !got[2].Sibling {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestVirtualised(t *testing.T) {
	for _, tt := range []struct {
		vendor, product, xen, machine string
		flag                          bool
		want                          string
	}{
		{"QEMU", "Standard PC (Q35 + ICH9, 2009)", "", "x86_64", true, "qemu"},
		{"VMware, Inc.", "VMware7,1", "", "x86_64", true, "vmware"},
		{"Microsoft Corporation", "Virtual Machine", "", "x86_64", true, "hyper-v"},
		{"Microsoft Corporation", "Surface", "", "x86_64", false, ""},
		{"Amazon EC2", "c5.metal", "", "x86_64", false, ""},
		{"Amazon EC2", "c5.large", "", "x86_64", true, "kvm"},
		{"Amazon EC2", "c7g.metal", "", "aarch64", false, ""},
		{"QEMU", "KVM Virtual Machine", "", "aarch64", false, "kvm"},
		{"", "", "xen", "x86_64", true, "xen"},
		{"", "", "", "x86_64", true, "unknown"},
		{"ASUS", "System Product Name", "", "x86_64", false, ""},
	} {
		files := map[string]string{"sys/class/dmi/id/sys_vendor": tt.vendor, "sys/class/dmi/id/product_name": tt.product}
		if tt.xen != "" {
			files["sys/hypervisor/type"] = tt.xen
		}
		got := virtualised(machine(t, files), tt.flag, tt.machine)
		if (got == nil) != (tt.want == "") || got != nil && *got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

func TestCgroupLayout(t *testing.T) {
	const v1 = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	const v2 = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	for table, want := range map[string]string{v1: "v1", v2: "v2", v1 + v2: "mixed", "": "", "garbage": ""} {
		if got := cgroupLayout(strings.NewReader(table)); got != want {
			t.Errorf("%q: got %q", table, got)
		}
	}
}

// This machine, against what the kernel says by other ways.
func TestFactsOfThisMachine(t *testing.T) {
	h, err := Facts(Roots{})
	if err != nil {
		t.Fatal(err)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	if len(h.CPUs) != set.Count() {
		t.Errorf("%d CPUs, the scheduler says %d", len(h.CPUs), set.Count())
	}
	for _, c := range h.CPUs {
		if !set.IsSet(c.ID) {
			t.Errorf("CPU %d is not ours", c.ID)
		}
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	if total := int64(info.Totalram) * int64(info.Unit); h.MemoryBytes != total {
		t.Errorf("memory %d, sysinfo says %d", h.MemoryBytes, total)
	}
	if out, err := exec.Command("uname", "-rm").Output(); err == nil && strings.TrimSpace(string(out)) != h.Kernel+" "+h.Machine {
		t.Errorf("kernel %s, machine %s; uname says %s", h.Kernel, h.Machine, out)
	}
	if h.OS == "" || h.CgroupLayout == "" {
		t.Errorf("got %+v", h)
	}
}

// The CPUs are those that are left to the process.
func TestFactsUnderTaskset(t *testing.T) {
	if os.Getenv("NATIV_HOST_TEST_CPUS") != "" {
		h, err := Facts(Roots{})
		fmt.Println("CPUs", len(h.CPUs), h.CPUs[0].ID, err)
		os.Exit(0)
	}
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Skip("needs taskset")
	}
	h, err := Facts(Roots{})
	if err != nil {
		t.Fatal(err)
	}
	last := h.CPUs[len(h.CPUs)-1].ID
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(taskset, "-c", fmt.Sprint(last), exe, "-test.run", "^TestFactsUnderTaskset$")
	c.Env = append(os.Environ(), "NATIV_HOST_TEST_CPUS=1")
	out, err := c.CombinedOutput()
	if want := fmt.Sprintf("CPUs 1 %d <nil>", last); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}
