package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/sys/mountinfo"

	"nativ/internal/record"
)

// describe writes a stack in one line: "dm-1(lvm pve-root)>dm-0 dm-0(crypt ..".
func describe(stack []record.Layer) string {
	var b []string
	for _, l := range stack {
		s := l.Name + "(" + strings.TrimSpace(l.Kind+" "+l.Title) + ")"
		if len(l.Below) > 0 {
			s += ">" + strings.Join(l.Below, ",")
		}
		b = append(b, s)
	}
	return strings.Join(b, " ")
}

func TestStack(t *testing.T) {
	w := newWalk(Roots{Sys: filepath.Join(fakeFile(t, "desktop.txt"), "sys")}, nil)
	for _, tt := range []struct {
		name  string
		mount mountinfo.Info
		want  string
	}{
		{"partition", mountinfo.Info{Major: 259, Minor: 3}, "nvme0n1p3(partition)>nvme0n1 nvme0n1(disk)"},
		{"whole disk", mountinfo.Info{Major: 8, Minor: 32}, "sdc(disk)"},
		{"LVM on LUKS", mountinfo.Info{Major: 253, Minor: 1},
			"dm-1(lvm pve-root)>dm-0 dm-0(crypt luks)>nvme0n1p3 nvme0n1p3(partition)>nvme0n1 nvme0n1(disk)"},
		{"thin", mountinfo.Info{Major: 253, Minor: 6},
			"dm-6(lvm pve-vm--104--disk--0)>dm-5 dm-5(lvm pve-data-tpool)>dm-3,dm-4 dm-3(lvm pve-data_tmeta)>nvme0n1p3 " +
				"dm-4(lvm pve-data_tdata)>nvme0n1p3 nvme0n1p3(partition)>nvme0n1 nvme0n1(disk)"},
		{"md", mountinfo.Info{Major: 9, Minor: 0},
			"md0(md raid1)>sda1,sdb1 sda1(partition)>sda sdb1(partition)>sdb sda(disk) sdb(disk)"},
		{"bcache", mountinfo.Info{Major: 252, Minor: 0},
			"bcache0(bcache)>nvme0n1p3,sda1 nvme0n1p3(partition)>nvme0n1 sda1(partition)>sda nvme0n1(disk) sda(disk)"},
		{"dm multipath", mountinfo.Info{Major: 253, Minor: 9}, "dm-9(multipath mpatha)>sdd,sde sdd(disk) sde(disk)"},
		{"unknown", mountinfo.Info{Major: 1, Minor: 1}, ""},
		{"zfs", mountinfo.Info{FSType: "zfs", Source: "rpool/data"}, ""},
	} {
		if got := describe(w.down(w.devicesOf(&tt.mount))); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if got := w.btrfsDevices("sdb1"); !slices.Equal(got, []string{"sda1", "sdb1"}) {
		t.Errorf("btrfs on sdb1 is on %v", got)
	}
	if got := w.btrfsDevices("sdc"); !slices.Equal(got, []string{"sdc"}) {
		t.Errorf("btrfs on sdc is on %v", got)
	}
}

func TestDrives(t *testing.T) {
	desktop := filepath.Join(fakeFile(t, "desktop.txt"), "sys")
	qemu := filepath.Join(fakeFile(t, "nvme-qemu.txt"), "sys")
	multi := filepath.Join(fakeFile(t, "nvme-qemu-multipath.txt"), "sys")
	old := record.Drive{
		Name: "nvme0n1", Transport: "nvme", Model: new("QEMU NVMe Ctrl"), Firmware: new("7.2.22"), Serial: new("TESTNVME0001"),
		SizeBytes: 2 << 30, Rotational: new(false), Controller: new("nvme0"), LogicalBlock: 512, Scheduler: new("mq-deadline"),
		VolatileCache: new(true), IOStats: new(true), TemperatureFound: true, PCIAddress: new("0000:00:02.0"),
	}
	head := old
	head.PCIAddress = new("0000:00:04.0")
	head.Name, head.Serial, head.SizeBytes, head.Controller = "nvme1n1", new("MP0001"), 256<<20, new("nvme1")
	// The paths have the scheduler, and before Linux 6.5 the counters too.
	head.Scheduler, head.IOStats = nil, new(false)
	for _, tt := range []struct {
		sys  string
		want record.Drive
	}{
		{qemu, old},
		{multi, head},
		{desktop, record.Drive{
			Name: "nvme0n1", Transport: "nvme", Model: new("Samsung SSD 9100 PRO 2TB"), Firmware: new("0B2QNXH7"), Serial: new("S7YENJ0Y000000A"),
			SizeBytes: 2000398934016, Rotational: new(false), Controller: new("nvme0"), LogicalBlock: 512, Scheduler: new("none"),
			VolatileCache: new(false), IOStats: new(false), TemperatureFound: true,
			PCIAddress: new("0000:02:00.0"), PortAddress: new("0000:00:06.0"),
			Link: &record.Link{SpeedMTs: 16000, Width: 4, MaxSpeedMTs: 32000, MaxWidth: 4, PortMaxSpeedMTs: new(16000), PortMaxWidth: new(4)},
		}},
		{desktop, record.Drive{
			Name: "sda", Transport: "sata", Model: new("WDC WD40EFRX-68N"), SizeBytes: 4000787030016,
			Rotational: new(true), LogicalBlock: 512, TemperatureFound: true,
		}},
		{desktop, record.Drive{Name: "sdc", Transport: "usb", Model: new("SanDisk Extreme Pro"), Firmware: new("0"), SizeBytes: 128035676160}},
		{desktop, record.Drive{Name: "sdd", Transport: "iscsi", SizeBytes: 1 << 20}},
		{desktop, record.Drive{Name: "nvme5n1", Transport: "nvme-tcp", Controller: new("nvme5")}},
		{desktop, record.Drive{Name: "zram0", Transport: "memory", SizeBytes: 1 << 30}},
		{desktop, record.Drive{Name: "mmcblk0", Transport: "mmc", Model: new("DG4064"), Serial: new("0x1a2b")}},
		{desktop, record.Drive{Name: "none"}},
	} {
		if diff := cmp.Diff(tt.want, readDrive(tt.sys, tt.want.Name)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.want.Name, diff)
		}
	}
}

// With native multipath a path that is not live has neither link nor sensor to
// speak for the drive.
func TestMultipathPrefersLiveController(t *testing.T) {
	root := fakeFile(t, "nvme-qemu-multipath.txt")
	state := filepath.Join(root, "sys/class/nvme/nvme1/state")
	must(t, os.WriteFile(state, []byte("dead\n"), 0o644))
	if d := readDrive(filepath.Join(root, "sys"), "nvme1n1"); d.Controller == nil || *d.Controller != "nvme2" {
		t.Errorf("controller is %v", d.Controller)
	}
	must(t, os.WriteFile(filepath.Join(root, "sys/class/nvme/nvme2/state"), []byte("connecting\n"), 0o644))
	if d := readDrive(filepath.Join(root, "sys"), "nvme1n1"); d.Controller == nil || *d.Controller != "nvme1" {
		t.Errorf("with none live the controller is %v", d.Controller)
	}
}

func TestRemote(t *testing.T) {
	for tr, want := range map[string]bool{"nvme": false, "nvme-tcp": true, "nvme-rdma": true, "sata": false, "iscsi": true, "nbd": true, "": false} {
		if got := remote(tr); got != want {
			t.Errorf("remote(%q) = %v", tr, got)
		}
	}
}

// Real filesystems on real loop devices.
func TestResolve(t *testing.T) {
	for _, fs := range []struct {
		name string
		size int64
	}{{"ext4", 32 << 20}, {"xfs", 320 << 20}, {"btrfs", 128 << 20}} {
		t.Run(fs.name, func(t *testing.T) {
			dir := mountNew(t, fs.name, fs.size)
			below, err := Resolve(filepath.Dir(dir), Roots{})
			must(t, err)
			sub := filepath.Join(dir, "a b")
			must(t, os.Mkdir(sub, 0o755))
			link := filepath.Join(realTemp(t), "link")
			must(t, os.Symlink(sub, link))
			tg, err := Resolve(link, Roots{})
			must(t, err)
			if tg.Dir != sub || tg.MountPoint != dir || tg.FSType != fs.name || tg.Network {
				t.Errorf("got %+v", tg)
			}
			if tg.TotalBytes < fs.size/4 || tg.TotalBytes > fs.size || tg.FreeBytes <= 0 || tg.FreeBytes > tg.TotalBytes {
				t.Errorf("%d of %d bytes are free", tg.FreeBytes, tg.TotalBytes)
			}
			if len(tg.Stack) < 2 || tg.Stack[0].Kind != "loop" || tg.Stack[0].Title != filepath.Join(filepath.Dir(dir), "image") ||
				tg.Stack[0].DirectIO == nil || *tg.Stack[0].DirectIO {
				t.Errorf("stack is %s", describe(tg.Stack))
			}
			if diff := cmp.Diff(below.Stack, tg.Stack[1:]); diff != "" {
				t.Errorf("below the loop device is not where its file lies:\n%s", diff)
			}
			if diff := cmp.Diff(below.Drives, tg.Drives); diff != "" {
				t.Errorf("drives:\n%s", diff)
			}
		})
	}
	t.Run("btrfs subvolume", func(t *testing.T) {
		dir := mountNew(t, "btrfs", 128<<20)
		run(t, "btrfs", "-q", "subvolume", "create", filepath.Join(dir, "sub"))
		tg, err := Resolve(filepath.Join(dir, "sub"), Roots{})
		must(t, err)
		if len(tg.Stack) < 2 || tg.Stack[0].Kind != "loop" {
			t.Errorf("stack is %s", describe(tg.Stack))
		}
		f := newFile(t, filepath.Join(dir, "sub"), 1<<20)
		c, err := f.Claim(true, false)
		must(t, err)
		c.Close()
	})
	t.Run("bind and over-mount", func(t *testing.T) {
		dir := mountNew(t, "ext4", 32<<20)
		must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
		on := realTemp(t)
		run(t, "mount", "-t", "tmpfs", "none", on)
		defer run(t, "umount", on)
		run(t, "mount", "--bind", filepath.Join(dir, "sub"), on)
		defer run(t, "umount", on)
		run(t, "mount", "-o", "remount,bind,ro", on)
		tg, err := Resolve(on, Roots{})
		must(t, err)
		if tg.FSType != "ext4" || tg.MountPoint != on || len(tg.Stack) < 2 {
			t.Errorf("got %+v", tg)
		}
		if !slices.Contains(strings.Split(tg.Options, ","), "ro") {
			t.Errorf("options are %q", tg.Options)
		}
	})
	t.Run("tmpfs", func(t *testing.T) {
		tg, err := Resolve(mountNew(t, "tmpfs", 1<<20), Roots{})
		must(t, err)
		if tg.FSType != "tmpfs" || len(tg.Stack)+len(tg.Drives) > 0 {
			t.Errorf("got %+v", tg)
		}
	})
}

func TestResolveErrors(t *testing.T) {
	if _, err := Resolve(filepath.Join(t.TempDir(), "none"), Roots{}); err == nil || !strings.Contains(err.Error(), "create the directory") {
		t.Errorf("missing directory: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Resolve(file, Roots{}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("file: %v", err)
	}
	if _, err := Resolve(t.TempDir(), Roots{Proc: t.TempDir()}); err == nil {
		t.Error("resolved without a mount table")
	}
}

func TestLoopDirectIO(t *testing.T) {
	dir := realTemp(t)
	needRoot(t)
	image := filepath.Join(dir, "image")
	must(t, os.WriteFile(image, make([]byte, 1<<20), 0o600))
	if _, err := exec.LookPath("losetup"); err != nil {
		t.Skip("needs losetup")
	}
	out, err := exec.Command("losetup", "--show", "--direct-io=on", "-f", image).CombinedOutput()
	if err != nil {
		t.Skipf("losetup --direct-io=on: %v, %s", err, out)
	}
	name := filepath.Base(strings.TrimSpace(string(out)))
	defer run(t, "losetup", "-d", "/dev/"+name)
	mounts, err := readMounts(Roots{}, "self")
	must(t, err)
	l := newWalk(Roots{}, mounts).layer(name)
	if l.Kind != "loop" || l.DirectIO == nil || !*l.DirectIO {
		t.Errorf("got %+v", l)
	}
}

func TestServerAnswers(t *testing.T) {
	for fs, want := range map[string]bool{
		"nfs": true, "nfs4": true, "cifs": true, "smb3": true, "ceph": true, "9p": true, "virtiofs": true, "fuse.sshfs": true,
		"fuse.glusterfs": true, "lustre": true, "afs": true, "ext4": false, "xfs": false, "btrfs": false, "zfs": false, "fuse.ntfs-3g": false, "fuseblk": false,
	} {
		if got := serverAnswers(fs); got != want {
			t.Errorf("serverAnswers(%q) = %v", fs, got)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range [][3]string{
		{"rw,relatime", "rw,discard", "rw,relatime,discard"},
		{"ro,relatime", "rw,discard", "ro,relatime,discard"},
		{"rw,relatime", "ro", "relatime,ro"},
		{"rw", "", "rw"},
	} {
		if got := options(&mountinfo.Info{Options: tt[0], VFSOptions: tt[1]}); got != tt[2] {
			t.Errorf("options(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestLongestMount(t *testing.T) {
	var mounts []*mountinfo.Info
	for i, p := range []string{"/", "/mnt", "/mnt/a", "/mnt", "/mnt/ab"} {
		mounts = append(mounts, &mountinfo.Info{ID: i, Mountpoint: p})
	}
	for path, want := range map[string]int{"/": 0, "/home": 0, "/mnt": 3, "/mnt/x": 3, "/mnt/a": 2, "/mnt/a/b": 2, "/mnt/ab": 4, "/mntx": 0} {
		if got := longestMount(path, mounts); got.ID != want {
			t.Errorf("%s is on %d, want %d", path, got.ID, want)
		}
	}
}

func ExampleRefusal() {
	_, err := Gate(&record.Target{Dir: "/dev/shm", FSType: "tmpfs"}, 1<<30, 1<<30)
	fmt.Println(err)
	// Output: measure /dev/shm: it is tmpfs, which lies in memory, not on a drive; give a --dir on the drive that you want to measure
}
