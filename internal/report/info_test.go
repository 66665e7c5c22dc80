package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nativ/internal/record"
)

var infos = map[string]func() *record.Info{
	"desktop": desktopInfo, "pve": pveInfo, "sata": sataInfo, "vm": vmInfo, "user": userInfo,
}

func infoBase(h record.Host, drives ...record.Drive) *record.Info {
	return &record.Info{
		SchemaVersion: 1, Tool: record.Tool{Name: "nativ", Version: "test"}, Time: time.Date(2026, 12, 1, 3, 0, 0, 0, time.Local),
		Host: h, Drives: drives,
	}
}

func mc(c int64) *int64 { return new(c*1000 - 150) }

func nvmeDrive(name, controller, model string, port int) record.Drive {
	return record.Drive{
		Name: name, Transport: "nvme", Model: &model, Firmware: new("0B2QNXH7"), Serial: new("S7YENJ0Y000000A"), SizeBytes: 2000398934016,
		Controller: &controller, LogicalBlock: 512, Scheduler: new("none"), VolatileCache: new(true), Rotational: new(false),
		Link:       &record.Link{SpeedMTs: port, Width: 4, MaxSpeedMTs: 32000, MaxWidth: 4, PortMaxSpeedMTs: &port, PortMaxWidth: new(4)},
		PCIAddress: new("0000:02:00.0"), PortAddress: new("0000:00:06.0"), TemperatureFound: true,
		NVMe: &record.NVMe{
			Version: "2.0.0", WarningMC: mc(84), CriticalMC: mc(88), HCTM: new(true), PowerState: new(0), APST: new(true),
			PowerStates: []record.PowerState{{MaxPowerUW: new(int64(8.7e6))}, {}, {}, {NonOperational: true}, {NonOperational: true}},
		},
	}
}

var allOK = []record.Check{
	{Code: record.CheckRoot, State: record.StateOK},
	{Code: record.CheckIOUring, State: record.StateOK, Words: map[string]string{"features": "IORING_SETUP_DEFER_TASKRUN, registered-files"}},
	{Code: record.CheckDirectIO, State: record.StateOK, About: "/mnt/nvme", Words: map[string]string{"memory": "4 B", "offset": "512 B"}},
	{Code: record.CheckLXC, State: record.StateOK, Words: map[string]string{"version": "6.0.4"}},
	{Code: record.CheckUserNS, State: record.StateOK, Words: map[string]string{"first": "100000", "last": "165535"}},
	{Code: record.CheckCgroup, State: record.StateOK, Words: map[string]string{"layout": "v2", "controllers": "cpuset, memory"}},
	{Code: record.CheckAppArmor, State: record.StateOK},
	{Code: record.CheckTemperature, State: record.StateOK},
	{Code: record.CheckCounters, State: record.StateOK},
}

// desktopInfo is a hybrid Intel desktop with two NVMe drives under one volume
// group, the first of which sits in a slot that is too slow and got hot.
func desktopInfo() *record.Info {
	first := nvmeDrive("nvme0n1", "nvme0", "Samsung SSD 9100 PRO 2TB", 16000)
	second := nvmeDrive("nvme1n1", "nvme1", "Samsung SSD 9100 PRO 2TB", 32000)
	second.PCIAddress, second.PortAddress = new("0000:81:00.0"), new("0000:80:01.0")
	second.NVMe.TMT1MC, second.NVMe.TMT2MC = mc(70), mc(80)
	in := infoBase(record.Host{
		OS: "Debian GNU/Linux 13 (trixie)", Kernel: "6.12.48+deb13-amd64", Machine: "x86_64", CPUModel: "Intel(R) Core(TM) Ultra 5 225",
		CPUs: make([]record.CPU, 10), MemoryBytes: 33389821952, CgroupLayout: "v2", Board: new("ASUSTeK COMPUTER INC. PRIME B860M-K"),
		BIOS: new("American Megatrends Inc. 1801 04/11/2026"),
		Cores: []record.Cores{
			{Type: "performance", Cores: new(6), Threads: 6, MinHz: new(int64(800e6)), MaxHz: new(int64(4900e6)), Governor: new("powersave")},
			{Type: "efficiency", Cores: new(4), Threads: 4, MinHz: new(int64(800e6)), MaxHz: new(int64(4400e6)), LimitHz: new(int64(3500e6)), Governor: new("powersave")},
		},
		MemoryModules: []record.MemoryModule{
			{SizeBytes: 16 << 30, Type: "DDR5", SpeedMTs: new(5600), RatedMTs: new(6400)}, {SizeBytes: 16 << 30, Type: "DDR5", SpeedMTs: new(5600), RatedMTs: new(6400)},
		},
	}, first, second)
	ran := in.Time.Add(-76 * time.Hour)
	in.Targets = []record.Target{{
		Dir: "/mnt/nvme", FSType: "ext4", Source: "/dev/mapper/vg-data", MountPoint: "/mnt/nvme", Options: "rw,relatime",
		TotalBytes: 3936e9, FreeBytes: 1200e9, UsedBytes: new(int64(2536e9)), Drives: in.Drives,
		Stack: []record.Layer{
			{Name: "dm-0", Kind: "lvm", Title: "vg-data", Below: []string{"nvme0n1p1", "nvme1n1p1"}, DiscardGranularity: new(int64(512)), DiscardMax: new(int64(2 << 40))},
			{Name: "nvme0n1p1", Kind: "partition", Below: []string{"nvme0n1"}}, {Name: "nvme1n1p1", Kind: "partition", Below: []string{"nvme1n1"}},
			{Name: "nvme0n1", Kind: "disk"}, {Name: "nvme1n1", Kind: "disk"},
		},
		Trim: &record.Trim{Passed: new(true), Online: new(false), TimerRan: &ran, TimerCovers: new(true)},
	}}
	in.Sample = record.Sample{
		Temperatures: map[string]int64{"nvme0 Composite": *mc(45), "nvme0 Sensor 1": *mc(45), "nvme0 Sensor 2": *mc(64), "nvme1 Composite": *mc(38)},
		Health: map[string]record.Health{
			"nvme0": {CompositeMC: mc(45), AvailableSpare: 100, SpareThreshold: 10, PercentageUsed: 3, WrittenBytes: 41_234_000_000_000, PowerOnHours: 1234,
				TMT1Transitions: 26, TMT1Seconds: 16659, TMT2Transitions: 3, TMT2Seconds: 688, WarningMinutes: 12, UnsafeShutdowns: 7, ErrorLogEntries: 4910},
			"nvme1": {CompositeMC: mc(38), CriticalWarning: record.CriticalSpare | record.CriticalReliability, AvailableSpare: 4, SpareThreshold: 10, PercentageUsed: 104, WrittenBytes: 1200e12, MediaErrors: 2},
		},
	}
	in.Checks = append(allOK[:len(allOK):len(allOK)],
		record.Check{Code: record.CheckPVE, State: record.StateNone},
		record.Check{Code: record.CheckFio, State: record.StateMissing, Reason: "none", Fix: "apt-get install --no-install-recommends fio"},
		record.Check{Code: record.CheckSmartctl, State: record.StateOK, Words: map[string]string{"path": "/usr/sbin/smartctl"}},
		record.Check{Code: record.CheckNVMeCLI, State: record.StateMissing, Fix: "apt-get install --no-install-recommends nvme-cli"})
	return in
}

// pveInfo is a Proxmox VE host with a directory on a thin volume.
func pveInfo() *record.Info {
	d := nvmeDrive("nvme0n1", "nvme0", "WD_BLACK SN850X 2000GB", 32000)
	d.Link = &record.Link{SpeedMTs: 16000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4, PortMaxSpeedMTs: new(16000), PortMaxWidth: new(4)}
	d.NVMe.HCTM = nil
	in := infoBase(record.Host{
		OS: "Debian GNU/Linux 13 (trixie)", PVE: new("9.0.10"), Kernel: "6.14.11-4-pve", Machine: "x86_64", CPUModel: "AMD Ryzen 9 7945HX",
		MemoryBytes: 66571993088, CgroupLayout: "v2", Board: new("Minisforum BD790i"),
		Cores:         []record.Cores{{Cores: new(16), Threads: 32, MinHz: new(int64(400e6)), MaxHz: new(int64(5461e6)), Governor: new("performance")}},
		MemoryModules: []record.MemoryModule{{SizeBytes: 32 << 30, Type: "DDR5"}, {SizeBytes: 48 << 30, Type: "DDR5"}},
	}, d)
	ran := in.Time.Add(-5 * time.Hour)
	in.Targets = []record.Target{{
		Dir: "/mnt/ct", FSType: "ext4", MountPoint: "/mnt/ct", Options: "rw,relatime,stripe=16",
		TotalBytes: 50e9, FreeBytes: 48e9, UsedBytes: new(int64(2e9)), Drives: in.Drives,
		Stack: []record.Layer{
			{Name: "dm-6", Kind: "lvm", Title: "pve-vm--100--disk--1", Below: []string{"dm-4"}}, {Name: "dm-4", Kind: "lvm", Title: "pve-data-tpool", Below: []string{"dm-2", "dm-3"}},
			{Name: "dm-2", Kind: "lvm", Title: "pve-data_tmeta", Below: []string{"nvme0n1p3"}}, {Name: "dm-3", Kind: "lvm", Title: "pve-data_tdata", Below: []string{"nvme0n1p3"}},
			{Name: "nvme0n1p3", Kind: "partition", Below: []string{"nvme0n1"}}, {Name: "nvme0n1", Kind: "disk"},
		},
		Trim: &record.Trim{Online: new(false), TimerRan: &ran, TimerCovers: new(false)},
	}}
	in.Sample = record.Sample{Temperatures: map[string]int64{"nvme0 Composite": *mc(54)},
		Health: map[string]record.Health{"nvme0": {AvailableSpare: 100, SpareThreshold: 10, WrittenBytes: 9e12, PowerOnHours: 4321}}}
	in.Checks = append(allOK[:len(allOK):len(allOK)],
		record.Check{Code: record.CheckPVE, State: record.StateOK, Words: map[string]string{"version": "9.0.10", "programs": "pct, pvesm, qm"}})
	return in
}

// sataInfo has a SATA drive without drivetemp, a rotating one with it, and one
// behind USB; trim ends at a RAID.
func sataInfo() *record.Info {
	in := infoBase(record.Host{OS: "Arch Linux", Kernel: "6.17.8-arch1-1", Machine: "x86_64", CPUModel: "Intel(R) Core(TM) i5-4570", MemoryBytes: 16684593152,
		Cores: []record.Cores{{Cores: new(4), Threads: 4}}, Missing: map[string]string{"memory-modules": "the SMBIOS tables name no memory module"}},
		record.Drive{Name: "sda", Transport: "sata", Model: new("Samsung SSD 870"), SizeBytes: 1000204886016, LogicalBlock: 512, Scheduler: new("mq-deadline"), VolatileCache: new(true), IOStats: new(false)},
		record.Drive{Name: "sdb", Transport: "sata", Model: new("WDC WD40EFRX-68N"), SizeBytes: 4000787030016, LogicalBlock: 512, Rotational: new(true), VolatileCache: new(false)},
		record.Drive{Name: "sdc", Transport: "usb", Model: new("SanDisk Extreme 55AE"), SizeBytes: 1000204886016, LogicalBlock: 512})
	in.Targets = []record.Target{{Dir: "/srv", FSType: "xfs", MountPoint: "/srv", Options: "rw,noatime", TotalBytes: 1000e9, FreeBytes: 500e9, UsedBytes: new(int64(500e9)),
		Drives: in.Drives[:1], Stack: []record.Layer{{Name: "md0", Kind: "md", Title: "raid5", Below: []string{"sda"}}, {Name: "sda", Kind: "disk"}},
		Trim: &record.Trim{Passed: new(false), StoppedAt: []string{"md0"}, Online: new(false)}}}
	in.Sample.Temperatures = map[string]int64{"sdb drivetemp": 33000}
	in.Sources = []record.Source{{Kind: "temperature", Name: "sda", Missing: "no sensor: the kernel shows none for sda"}, {Kind: "device", Name: "sda", Missing: "counters are switched off (queue/iostats is 0); write 1 there to have them"}}
	in.Checks = []record.Check{
		{Code: record.CheckRoot, State: record.StateOK},
		{Code: record.CheckIOUring, State: record.StateLimited, Reason: "containers", Fix: "sysctl -w kernel.io_uring_disabled=0"},
		{Code: record.CheckDirectIO, State: record.StateMissing, Reason: "no-direct", About: "/srv"},
		{Code: record.CheckLXC, State: record.StateMissing, Words: map[string]string{"program": "lxc-start"}, Fix: "pacman -S lxc"},
		{Code: record.CheckUserNS, State: record.StateMissing, Reason: "sysctl", Fix: "sysctl -w user.max_user_namespaces=10000"},
		{Code: record.CheckCgroup, State: record.StateLimited, Reason: "memory", Words: map[string]string{"layout": "v2"}},
		{Code: record.CheckAppArmor, State: record.StateLimited, Reason: "parser", Fix: "pacman -S apparmor"},
		{Code: record.CheckTemperature, State: record.StateLimited, Reason: "some", Words: map[string]string{"drives": "sda, sdc"}, Fix: "modprobe drivetemp"},
		{Code: record.CheckCounters, State: record.StateLimited, Words: map[string]string{"drives": "sda"}, Fix: "echo 1 > /sys/block/sda/queue/iostats"},
		{Code: record.CheckFio, State: record.StateMissing, Reason: "broken", Words: map[string]string{"why": "fio 3.1 is too old; version 3.19 or newer is needed"}},
	}
	return in
}

func vmInfo() *record.Info {
	in := infoBase(record.Host{OS: "Ubuntu 24.04.3 LTS", Kernel: "6.8.0-90-generic", Machine: "x86_64", CPUModel: "QEMU Virtual CPU version 2.5+", MemoryBytes: 4 << 30,
		Virtualised: new("qemu"), Cores: []record.Cores{{Cores: new(1), Threads: 1}}, Missing: map[string]string{"memory-modules": "this machine shows no SMBIOS tables", "cpu-frequency": "the kernel has no cpufreq driver here, as in a virtual machine"}},
		record.Drive{Name: "vda", Transport: "virtio", SizeBytes: 34359738368, LogicalBlock: 512, VolatileCache: new(true)})
	in.Sources = []record.Source{{Kind: "temperature", Name: "vda", Missing: "no sensor: the kernel shows none for vda"}}
	in.Checks = []record.Check{{Code: record.CheckRoot, State: record.StateOK}, {Code: record.CheckIOUring, State: record.StateOK}, {Code: record.CheckTemperature, State: record.StateNone, Reason: "virtual"}}
	return in
}

// userInfo is an ordinary user in a container that shows nearly nothing.
func userInfo() *record.Info {
	in := infoBase(record.Host{OS: "Linux", Kernel: "6.8.0", Machine: "aarch64", MemoryBytes: 1 << 30, CPUs: make([]record.CPU, 2),
		Missing: map[string]string{"memory-modules": "only root may read the SMBIOS tables"}},
		record.Drive{Name: "nvme0n1", Transport: "nvme", SizeBytes: 512110190592, Controller: new("nvme0"),
			NVMe: &record.NVMe{Missing: map[string]string{"identify": "permission denied", "features": "permission denied"}}})
	in.Targets = []record.Target{{Dir: "/data", FSType: "overlay", MountPoint: "/", Options: "rw", TotalBytes: 0}}
	in.Sources = []record.Source{{Kind: "health", Name: "nvme0", Missing: "permission denied"}, {Kind: "aer", Name: "0000:01:00.0", Missing: "not in this kernel"}}
	in.Checks = []record.Check{
		{Code: record.CheckRoot, State: record.StateLimited, Reason: "user", Fix: "sudo nativ info"},
		{Code: record.CheckIOUring, State: record.StateMissing, Reason: "seccomp", Words: map[string]string{"why": "io_uring_setup: EPERM: a seccomp filter forbids io_uring"}},
		{Code: record.CheckDirectIO, State: record.StateLimited, Reason: "unknown", About: "/data", Words: map[string]string{"why": "permission denied"}},
		{Code: record.CheckTemperature, State: record.StateMissing, Reason: "none", Words: map[string]string{"drives": "nvme0n1"}, Fix: "sudo nativ info"},
		{Code: "of-a-later-version", State: record.StateOK},
	}
	return in
}

func TestInfoGolden(t *testing.T) {
	for name, build := range infos {
		for _, lang := range Langs() {
			var b bytes.Buffer
			if err := Text(&b, Info(build(), lang), Width); err != nil {
				t.Fatal(err)
			}
			golden(t, "info."+name+"."+lang+".txt", b.String())
			checkLines(t, name+" "+lang, strings.Split(b.String(), "\n"), Width)
			if strings.Contains(b.String(), "S7YENJ0Y") {
				t.Errorf("%s %s tells the serial number", name, lang)
			}
		}
	}
	in := desktopInfo()
	in.Time = time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)
	in.Targets[0].Trim.TimerRan = new(in.Time.Add(-76 * time.Hour))
	b, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "info.desktop.json", string(b)+"\n")
}

// checkLines finds formats that went wrong and lines that are too long.
func checkLines(t *testing.T, name string, lines []string, width int) {
	t.Helper()
	for _, l := range lines {
		if strings.Contains(l, "%!") || strings.Contains(l, "<nil>") || strings.ContainsRune(l, '\u00a0') {
			t.Errorf("%s: %q", name, l)
		}
		if n := utf8.RuneCountInString(l); n > width {
			t.Errorf("%s: %d columns: %s", name, n, l)
		}
	}
}

// TestEveryCheckHasTexts words each check in each of its states, with no words.
func TestEveryCheckHasTexts(t *testing.T) {
	for _, lang := range Langs() {
		i := &informer{notes: &notes{speaker: newSpeaker(lang, nil)}, m: &catalogue(lang).info}
		for key := range i.m.check {
			parts := append(strings.Split(key, "/"), "")
			c := record.Check{Code: parts[0], State: parts[1], Reason: parts[2]}
			if got := i.checkText(&c); strings.Contains(got, "%!") || strings.Contains(got, parts[0]+" "+parts[1]) {
				t.Errorf("%s %s: %q", lang, key, got)
			}
			if i.m.checkName[c.Code] == "" || i.m.states4[c.State] == "" {
				t.Errorf("%s %s: no name of the check or its state", lang, key)
			}
		}
		for code := range i.m.checkName {
			if i.m.check[code+"/"+record.StateOK] == "" {
				t.Errorf("%s: %s has no text for ok", lang, code)
			}
		}
	}
}

func watchPoints() (drives []record.Drive, points []*record.WatchPoint) {
	in := desktopInfo()
	drives = in.Drives
	drives[1] = record.Drive{Name: "sda", Transport: "sata", Model: new("Samsung SSD 870")}
	at := time.Date(2026, 12, 1, 21, 59, 3, 0, time.Local)
	before := in.Sample
	before.Links = map[string]record.LinkState{"0000:02:00.0": {SpeedMTs: 16000, Width: 4}}
	before.AER = map[string]record.AER{"0000:02:00.0": {Correctable: 5}}
	before.Devices = map[string]record.DeviceCounters{"nvme0n1": {}}
	after := before
	after.Temperatures = map[string]int64{"nvme0 Composite": *mc(86), "nvme0 Sensor 1": *mc(86), "nvme0 Sensor 2": *mc(101)}
	after.AER = map[string]record.AER{"0000:02:00.0": {Correctable: 7, Fatal: 1}}
	h := before.Health["nvme0"]
	h.CriticalWarning, h.TMT1Transitions, h.TMT1Seconds, h.WarningMinutes = record.CriticalTemperature, 28, 16700, 13
	after.Health = map[string]record.Health{"nvme0": h}
	return drives, []*record.WatchPoint{
		{Time: at, Sample: before, Drives: drives, Sources: []record.Source{
			{Kind: "health", Name: "nvme0"}, {Kind: "temperature", Name: "sda", Missing: "no sensor: the kernel shows none for sda"}}},
		{Time: at.Add(83 * time.Second), Sample: after, Rates: map[string]record.Rates{
			"nvme0n1": {IntervalNS: 1e9, ReadIOPS: 612400, ReadBytesSec: 2508e6, WriteIOPS: 12, WriteBytesSec: 61e3, Busy: 0.98, QueueDepth: 31.2}}},
	}
}

func TestWatchGolden(t *testing.T) {
	for _, lang := range Langs() {
		drives, points := watchPoints()
		w := NewWatch(drives, time.Second, lang)
		lines := append(w.Choice(), strings.TrimSpace(w.Ask()))
		lines = append(lines, w.Unreadable(points[0].Sources)...)
		lines = append(lines, w.Head())
		for _, p := range points {
			w.Add(p)
			lines = append(lines, w.Lines()...)
		}
		w = NewWatch(drives, 250*time.Millisecond, lang)
		for _, p := range points {
			w.Add(p)
			view := w.View(Width - 1)
			checkLines(t, lang+" view", view, Width-1)
			checkLines(t, lang+" narrow view", w.View(40), 40)
			lines = append(lines, append([]string{strings.Repeat("=", Width-1)}, view...)...)
		}
		golden(t, "watch."+lang+".txt", strings.Join(lines, "\n")+"\n")
	}
}

// TestDetailsKnowTheMachine: what nativ info says of a machine stands in the
// details of a report, too.
func TestDetailsKnowTheMachine(t *testing.T) {
	in := desktopInfo()
	rec := healthy()
	rec.Host, rec.Started = in.Host, in.Time
	rec.Target.Trim, rec.Target.Stack = in.Targets[0].Trim, in.Targets[0].Stack
	got := text(t, rec, Options{Lang: "en", Details: true})
	for _, want := range []string{"6 P cores, 6 threads, 0.8 to 4.9 GHz", "2 × 16 GiB DDR5", "American Megatrends", "granularity 512 B", "3 days ago by fstrim.timer"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
