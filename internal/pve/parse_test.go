package pve

import (
	"reflect"
	"strings"
	"testing"
)

func size(n int64) *int64 { return &n }

func TestParseConfig(t *testing.T) {
	const text = `arch: amd64
cores: 4
description: nativ throw-away%0Anativ run 20260101-120000-abcd%0A
features: nesting=1
hostname: nativ
memory: 4096
mp0: local-lvm:vm-100-disk-1,size=50G,backup=0,mp=/bench
mp10: /srv/data,mp=/data
onboot: 0
ostype: ubuntu
rootfs: volume=local-lvm:vm-100-disk-0,size=512M
swap: 0
tags: a;nativ
unprivileged: 1
lxc.cgroup2.cpuset.cpus: 0-1
lxc.prlimit.memlock: unlimited
lxc.cgroup2.cpuset.cpus: 0-3
`
	c, err := parseConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	if want := "nativ throw-away\nnativ run 20260101-120000-abcd\n"; c.Description != want {
		t.Errorf("description %q", c.Description)
	}
	if n, ok := c.Int("memory"); n != 4096 || !ok || !c.Unprivileged() || c.Lock() != "" {
		t.Errorf("%+v", c)
	}
	if _, ok := c.Int("hostname"); ok {
		t.Error("a name is a number")
	}
	if !reflect.DeepEqual(c.Tags(), []string{"a", "nativ"}) {
		t.Errorf("tags %q", c.Tags())
	}
	if got := c.RawValue("lxc.cgroup2.cpuset.cpus"); got != "0-3" {
		t.Errorf("the last line counts, got %q", got)
	}
	want := []MountPoint{
		{"mp0", "local-lvm:vm-100-disk-1", "/bench", 50 << 30, map[string]string{"size": "50G", "backup": "0", "mp": "/bench"}},
		{"mp10", "/srv/data", "/data", 0, map[string]string{"mp": "/data"}},
		{"rootfs", "local-lvm:vm-100-disk-0", "/", 512 << 20, map[string]string{"size": "512M"}},
	}
	if got := c.Mounts(); !reflect.DeepEqual(got, want) {
		t.Errorf("mounts %+v", got)
	}
	if got := volumesOf(c); !reflect.DeepEqual(got, []string{"local-lvm:vm-100-disk-1", "local-lvm:vm-100-disk-0"}) {
		t.Errorf("volumes %q: what is bound from the host is none", got)
	}
	vm, err := parseConfig("scsi0: local-lvm:vm-200-disk-0,iothread=1,size=32G\nscsihw: virtio-scsi-single\nide2: none,media=cdrom\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := vm.Disks(); len(d) != 2 || d[1].Volume != "local-lvm:vm-200-disk-0" || d[1].Size != 32<<30 {
		t.Errorf("disks %+v", d)
	}
	if _, err := parseConfig("cores 4\n"); err == nil {
		t.Error("a line without a key was read")
	}
	if c, err := parseConfig("description: 100% of 4%zz\n"); err != nil || c.Description != "100% of 4%zz" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"512M": 512 << 20, "0.5G": 512 << 20, "8G": 8 << 30, "1T": 1 << 40, "4096": 4096, "3K": 3072} {
		if got, ok := parseSize(s); !ok || got != want {
			t.Errorf("%s is %d, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "G", "-1G", "NaN", "1e300T", "8g", "8GB"} {
		if got, ok := parseSize(s); ok {
			t.Errorf("%q is %d", s, got)
		}
	}
}

const storageCfg = `# comment
dir: local
	path /var/lib/vz
	content iso,vztmpl,backup

lvmthin: local-lvm
	thinpool data
	vgname pve
	content rootdir,images

lvm: thick
	vgname fast
	saferemove 1
	nodes pve,pve2

zfspool: tank
	pool rpool/data
	sparse
	disable

nfs: share
	server 10.0.0.1
	export /x
	path /mnt/pve/share
`

func TestParseStorageCfg(t *testing.T) {
	got, err := parseStorageCfg(storageCfg)
	if err != nil {
		t.Fatal(err)
	}
	images := []string{"images", "rootdir"}
	want := []Storage{
		{Name: "local", Type: "dir", Path: "/var/lib/vz", Content: []string{"iso", "vztmpl", "backup"}, Enabled: true},
		{Name: "local-lvm", Type: "lvmthin", VG: "pve", ThinPool: "data", Content: []string{"rootdir", "images"}, Enabled: true},
		{Name: "thick", Type: "lvm", VG: "fast", SafeRemove: true, Nodes: []string{"pve", "pve2"}, Content: images, Enabled: true},
		{Name: "tank", Type: "zfspool", Pool: "rpool/data", Content: images},
		{Name: "share", Type: "nfs", Path: "/mnt/pve/share", Content: images, Enabled: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got[4].Local() || !got[2].Local() {
		t.Error("which storage is on drives of this host")
	}
	if got, err := parseStorageCfg(""); err != nil || len(got) != 1 || got[0].Name != "local" || !got[0].Holds("vztmpl") {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	for _, bad := range []string{"\tpath /x\n", "dir\n", "dir:\n", "two words: x\n"} {
		if _, err := parseStorageCfg(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestParseJobs(t *testing.T) {
	got, err := parseJobs("vzdump: backup-1\n\tschedule sun 01:00\n\tstorage local\n\tall 1\n\texclude 105,106\n\tenabled 0\n\n" +
		"realm-sync: x\n\tschedule daily\n\nvzdump: b2\n\tschedule */2:00\n\tvmid 100,101\n\tnode pve\n")
	want := []BackupJob{
		{ID: "backup-1", Schedule: "sun 01:00", Storage: "local", All: true, Exclude: []int{105, 106}},
		{ID: "b2", Schedule: "*/2:00", Node: "pve", Enabled: true, Guests: []int{100, 101}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

const storageStatus = `Name             Type     Status     Total (KiB)      Used (KiB) Available (KiB)        %
local             dir     active        98497780         5111876        88337308    5.19%
local-lvm     lvmthin     active       835865888        20896647       814969240    2.50%
old-nfs           nfs   inactive               0               0               0    0.00%
zpool         zfspool   disabled               0               0               0      N/A
`

func TestParseStorageStatus(t *testing.T) {
	got, err := parseStorageStatus("mount error: something\n" + storageStatus)
	want := map[string]Storage{
		"local": {Name: "local", Type: "dir", Enabled: true, Active: true, Total: size(98497780 << 10), Used: size(5111876 << 10), Available: size(88337308 << 10)},
		"local-lvm": {Name: "local-lvm", Type: "lvmthin", Enabled: true, Active: true, Total: size(835865888 << 10),
			Used: size(20896647 << 10), Available: size(814969240 << 10)},
		// Their zeros are no sizes.
		"old-nfs": {Name: "old-nfs", Type: "nfs", Enabled: true},
		"zpool":   {Name: "zpool", Type: "zfspool"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseStorageStatus("local dir active x 1 1 1%\n"); err == nil {
		t.Error("x KiB")
	}
}

const volumeList = `Volid                   Format  Type             Size VMID
local-lvm:vm-100-disk-0 raw     rootdir   53687091200 100
local-lvm:vm-101-disk-0 raw     images   ~53687091200 101
tank:subvol-102-disk-0  subvol  rootdir             - 102
local:vztmpl/u.tar.zst  tzst    vztmpl      129813504
`

func TestParseVolumes(t *testing.T) {
	got, err := parseVolumes(volumeList)
	want := []Volume{
		{ID: "local-lvm:vm-100-disk-0", Format: "raw", Type: "rootdir", Size: size(53687091200), VMID: 100},
		{ID: "local-lvm:vm-101-disk-0", Format: "raw", Type: "images", Size: size(53687091200), Approx: true, VMID: 101},
		{ID: "tank:subvol-102-disk-0", Format: "subvol", Type: "rootdir", VMID: 102},
		{ID: "local:vztmpl/u.tar.zst", Format: "tzst", Type: "vztmpl", Size: size(129813504)},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseVolumes("Volid Format  Type      Size VMID\n"); err != nil || got != nil {
		t.Errorf("empty storage: %v, %v", got, err)
	}
	for _, bad := range []string{"a:b raw images x 100\n", "a:b raw images 1 x\n", "a:b raw\n", "a:b raw images -5 1\n"} {
		if _, err := parseVolumes(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestParseAlloc(t *testing.T) {
	got, err := parseAlloc("  Logical volume \"vm-100-nativ\" created.\nsuccessfully created 'local-lvm:vm-100-nativ'\n")
	if err != nil || got != "local-lvm:vm-100-nativ" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "successfully created ''\n", "  Logical volume \"vm-100-nativ\" created.\n"} {
		if got, err := parseAlloc(bad); err == nil {
			t.Errorf("%q names %q", bad, got)
		}
	}
}

func TestParseStatus(t *testing.T) {
	for text, want := range map[string]Status{
		"status: running\n":                                 {Running: true},
		"status: stopped\n":                                 {},
		"name: nativ\npid: 4711\nstatus: running\n":         {Running: true, Name: "nativ", PID: 4711},
		"lock: create\npid: 4711\nstatus: stopped\n":        {Lock: "create"},
		"cpus: 4\npid: 0\nstatus: running\ntype: lxc\n":     {Running: true},
		"pid: -1\nstatus: running\npressurecpusome: 0.00\n": {Running: true},
	} {
		if got, err := parseStatus(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if _, err := parseStatus("pid: 5\n"); err == nil {
		t.Error("no status")
	}
}

func TestParseGuests(t *testing.T) {
	got, err := parseGuests(`[{"id":"lxc/100","name":"nativ","node":"pve","status":"running","tags":"nativ;x","template":0,"type":"lxc","vmid":100},` +
		`{"id":"qemu/101","lock":"backup","name":"vm","node":"pve","status":"stopped","template":1,"type":"qemu","vmid":101},{"id":"storage/x"}]`)
	want := []Guest{
		{ID: 100, Type: "lxc", Name: "nativ", Node: "pve", Status: "running", Tags: []string{"nativ", "x"}},
		{ID: 101, Type: "qemu", Name: "vm", Node: "pve", Status: "stopped", Lock: "backup", Template: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseGuests("┌────┐"); err == nil {
		t.Error("a box was read")
	}
}

func TestParseVersion(t *testing.T) {
	got, err := parseVersion("pve-manager/9.1.1/42db4a6cf33dac83 (running kernel: 6.17.2-1-pve)\n")
	if err != nil || got != (Version{"9.1.1", "6.17.2-1-pve"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseVersion("9.1.1"); err == nil {
		t.Error("no manager")
	}
}

func TestParseLVs(t *testing.T) {
	got, err := parseLVs(`  {"report": [{"lv": [{"lv_name":"data", "vg_name":"pve"},{"lv_name":"del-vm-100-disk-0","vg_name":"pve"}]}]}`)
	if err != nil || !reflect.DeepEqual(got, []string{"data", "del-vm-100-disk-0"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "{}", "  LV VG\n"} {
		if _, err := parseLVs(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestParsePVs(t *testing.T) {
	const text = `  {"report": [{"pv": [{"pv_name":"/dev/nvme0n1p3", "vg_name":"pve"},{"pv_name":"/dev/sda", "vg_name":"fast"},{"pv_name":"/dev/sdb", "vg_name":"fast"}]}]}`
	for vg, want := range map[string][]string{"pve": {"/dev/nvme0n1p3"}, "fast": {"/dev/sda", "/dev/sdb"}} {
		if got, err := parsePVs(text, vg); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v", vg, got, err)
		}
	}
	for _, bad := range []string{"", "{}", "  PV VG\n"} {
		if got, err := parsePVs(bad, "pve"); err == nil {
			t.Errorf("%q has %q", bad, got)
		}
	}
	if got, err := parsePVs(text, "other"); err == nil {
		t.Errorf("another volume group has %q", got)
	}
}

func TestParseUpperID(t *testing.T) {
	for text, want := range map[string]int{
		"": 1000000, "keyboard: de\nnext-id: lower=200,upper=300\n": 300, "next-id: upper=150": 150, "next-id: lower=200\n": 1000000, "next-id: upper=x\n": 1000000,
	} {
		if got := parseUpperID(text); got != want {
			t.Errorf("%q ends at %d", text, got)
		}
	}
}

func TestPickTemplate(t *testing.T) {
	list := parseTemplates(`NAME                                                         SIZE  
local:vztmpl/ubuntu-24.04-standard_24.04-2_amd64.tar.zst     123.81MB
local:vztmpl/ubuntu-24.04-standard_24.04-10_amd64.tar.zst    123.81MB
nas:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst           120.00MB
`)
	if len(list) != 3 {
		t.Fatalf("%+v", list)
	}
	for name, want := range map[string]string{
		"ubuntu-24.04": "local:vztmpl/ubuntu-24.04-standard_24.04-10_amd64.tar.zst",
		"local:vztmpl/ubuntu-24.04-standard_24.04-2_amd64.tar.zst": "local:vztmpl/ubuntu-24.04-standard_24.04-2_amd64.tar.zst",
		"debian": "nas:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst",
		"":       "", "ubuntu-22": "",
	} {
		if got, ok := pickTemplate(list, name); got.VolID != want || ok != (want != "") {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

func TestTaskOf(t *testing.T) {
	const cmdline = "task UPID:pve:00001234:0000ABCD:69000000:vzcreate:101:root@pam:\x00"
	if !taskOf(cmdline, 101) || taskOf(cmdline, 10) || taskOf(strings.TrimPrefix(cmdline, "task "), 101) || taskOf("task UPID:", 101) {
		t.Error("which task is on which container")
	}
	if taskOf(strings.Replace(cmdline, "vzcreate", "qmcreate", 1), 101) {
		t.Error("a task on a virtual machine")
	}
}

// Which programs change a guest, an interpreter in front of them or not.
func TestChanges(t *testing.T) {
	for line, want := range map[string]bool{
		"/usr/bin/perl -T /usr/sbin/pct create 101 local:vztmpl/x": true, "pct destroy 101 --purge 1": true, "pct create 1011 x": false,
		"pct config 101": false, "pct exec 101 -- pct create 102 x": false, "pvesm alloc local-lvm 101 vm-101-nativ 1G": true,
		"pvesm alloc local-lvm 102 vm-102-nativ 1G": false, "pvesm free local-lvm:vm-101-nativ": true, "pvesm free local-lvm:vm-1010-nativ": false,
		"pvesm list local-lvm --vmid 101": false, "vim pct": false, "pct": false, "pct create": false, "": false,
	} {
		if got := changes(strings.ReplaceAll(line, " ", "\x00")+"\x00", 101); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestHalfMade(t *testing.T) {
	for text, want := range map[string]bool{
		"lock: create\n": true, "lock: destroyed\n": true, "": true, "lock: backup\n": false, "lock: create\nhostname: x\n": false,
		"lock: create\nlxc.a: b\n": false, "description: x\n": false, "hostname: x\n": false,
	} {
		c, err := parseConfig(text)
		if err != nil || halfMade(c) != want {
			t.Errorf("%q: %v, %v", text, !want, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	const end = "Task finished with 2 warning(s)!\n"
	got := warnings("extracting\nWARN: Systemd 255 detected. You may need to enable nesting.\n  WARNING: Sum of all thin volume sizes\n", end)
	if !reflect.DeepEqual(got, []string{"Systemd 255 detected. You may need to enable nesting.", "Sum of all thin volume sizes"}) {
		t.Errorf("%q", got)
	}
	if got := warnings("quiet\n", end); len(got) != 1 {
		t.Errorf("warnings that are nowhere: %q", got)
	}
	if got := warnings("WARN: of a storage\n", ""); got != nil {
		t.Errorf("a task that ended without: %q", got)
	}
}
