package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

// The tree of a workstation, without the kernel to ask: what sysfs alone tells.
func TestReadStorage(t *testing.T) {
	root := fakeFile(t, "desktop.txt")
	put := func(name, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text+"\n"), 0o644))
	}
	md := "sys/devices/virtual/block/md0/md/"
	put(md+"array_state", "active")
	put(md+"raid_disks", "2")
	put(md+"degraded", "1")
	put(md+"sync_action", "recover")
	put(md+"sync_completed", "976773168 / 3907029168")
	put("sys/devices/virtual/block/zd16/size", "2048")
	must(t, os.Symlink("../../devices/virtual/block/zd16", filepath.Join(root, "sys/class/block/zd16")))
	must(t, os.MkdirAll(filepath.Join(root, "dev/zvol/rpool/data"), 0o755))
	must(t, os.Symlink("../../../zd0", filepath.Join(root, "dev/zvol/rpool/data/vm-99-disk-0")))
	must(t, os.Symlink("../../../zd16", filepath.Join(root, "dev/zvol/rpool/data/vm-100-disk-0")))
	put("sys/module/zfs/version", "2.3.3-pve1")
	put("proc/spl/kstat/zfs/arcstats", arcstats)
	put("proc/2/comm", "kthreadd")
	put("proc/77/comm", "ext4lazyinit")
	for name, options := range map[string]string{"nvme0n1p3": "nodiscard,lazy_itable_init=1", "sdc": "nodiscard,lazy_itable_init=0"} {
		put("dev/"+name, "")
		must(t, os.Truncate(filepath.Join(root, "dev", name), 256<<20))
		run(t, "mkfs.ext4", "-q", "-F", "-E", options, filepath.Join(root, "dev", name))
	}
	o := Roots{Sys: filepath.Join(root, "sys"), Proc: filepath.Join(root, "proc"), Root: root}
	w := newWalk(o, nil)
	arc := record.ZFS{Name: "rpool/data/subvol-1-disk-0", Version: "2.3.3-pve1", ARCMax: new(int64(8230739968)), ARCBytes: new(int64(4115401256))}
	zvol := arc
	zvol.Name, zvol.Volume = "rpool/data/vm-100-disk-0", true
	for _, c := range []struct {
		name string
		t    record.Target
		want *record.Storage
	}{
		{"a plain partition", record.Target{FSType: "xfs", Stack: w.down([]string{"nvme0n1p3"})}, nil},
		{"ext4 that is being initialised", record.Target{FSType: "ext4", Stack: w.down([]string{"nvme0n1p3"})}, &record.Storage{LazyInit: new(true)}},
		{"ext4 while another is", record.Target{FSType: "ext4", Stack: w.down([]string{"sdc"})}, &record.Storage{LazyInit: new(false)}},
		{"ext4 whose device is closed", record.Target{FSType: "ext4", Stack: w.down([]string{"nvme0n1"})}, nil},
		{"md on which a disk is replaced, as xfs", record.Target{FSType: "xfs", Stack: w.down([]string{"md0"})},
			&record.Storage{Arrays: []record.Array{{Device: "md0", Level: "raid1", Devices: new(int64(2)), Degraded: new(int64(1)), State: "active",
				Action: "recover", Done: new(976773168.0 / 3907029168)}}}},
		{"LVM on LUKS", record.Target{FSType: "xfs", Stack: w.down([]string{"dm-1"})},
			&record.Storage{Crypts: []record.Crypt{{Device: "dm-0", Format: "LUKS2"}}}},
		{"thin, unknown", record.Target{FSType: "xfs", Stack: w.down([]string{"dm-6"})},
			&record.Storage{Pools: []record.ThinPool{{Device: "dm-5", Name: "pve-data", Unknown: "the kernel does not show it"}}}},
		{"dataset", record.Target{FSType: "zfs", Source: "rpool/data/subvol-1-disk-0"}, &record.Storage{ZFS: &arc}},
		{"volume of ZFS", record.Target{FSType: "xfs", Stack: w.down([]string{"zd16"})}, &record.Storage{ZFS: &zvol}},
		{"NFS", record.Target{FSType: "nfs4", Network: true}, &record.Storage{Served: "server"}},
	} {
		if d := cmp.Diff(c.want, readStorage(&c.t, "", o)); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
	must(t, os.Remove(filepath.Join(root, "proc/77/comm")))
	ext4 := &record.Target{Stack: w.down([]string{"nvme0n1p3"})}
	if l := lazyInit(ext4, o); l == nil || *l {
		t.Errorf("lazy initialisation is %v when its thread is gone", l)
	}
	must(t, os.Remove(filepath.Join(root, "proc/2/comm")))
	if l := lazyInit(ext4, o); l != nil {
		t.Errorf("lazy initialisation is %v where no kernel thread is to be seen", *l)
	}
}

func TestBtrfsOf(t *testing.T) {
	for _, c := range []struct {
		options string
		noCOW   bool
		kernel  bool
		want    record.Btrfs
	}{
		{"rw,relatime,space_cache=v2", false, true, record.Btrfs{Checksums: true, Buffered: true}},
		{"rw,relatime,space_cache=v2", false, false, record.Btrfs{Checksums: true}},
		{"rw", true, true, record.Btrfs{}},
		{"rw,nodatasum,compress=zstd:3", false, true, record.Btrfs{Compression: "zstd:3"}},
		{"rw,compress-force", false, true, record.Btrfs{Checksums: true, Buffered: true, Compression: "zlib"}},
	} {
		if d := cmp.Diff(&c.want, btrfsOf(c.options, c.noCOW, c.kernel)); d != "" {
			t.Errorf("%s: %s", c.options, d)
		}
	}
}

// Real filesystems on real loop devices.
func TestResolveStorage(t *testing.T) {
	t.Run("btrfs", func(t *testing.T) {
		dir := mountNew(t, "btrfs", 128<<20)
		tg, err := Resolve(dir, Roots{})
		must(t, err)
		if tg.Storage == nil || tg.Storage.Btrfs == nil || !tg.Storage.Btrfs.Checksums || tg.Storage.Btrfs.Buffered != kernelAtLeast(6, 14) {
			t.Errorf("got %+v", tg.Storage)
		}
		sub := filepath.Join(dir, "no-copies")
		must(t, os.Mkdir(sub, 0o755))
		run(t, "chattr", "+C", sub)
		tg, err = Resolve(sub, Roots{})
		must(t, err)
		if tg.Storage == nil || tg.Storage.Btrfs == nil || tg.Storage.Btrfs.Checksums {
			t.Errorf("below chattr +C: %+v", tg.Storage)
		}
	})
	// A new ext4 of several groups is initialised after it was mounted, by a thread
	// that everybody can see.
	t.Run("ext4 after mkfs", func(t *testing.T) {
		needRoot(t)
		dir := filepath.Join(realTemp(t), "mnt")
		must(t, os.Mkdir(dir, 0o755))
		image := filepath.Join(filepath.Dir(dir), "image")
		must(t, os.WriteFile(image, nil, 0o600))
		must(t, os.Truncate(image, 2<<30))
		run(t, "mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=1", image)
		run(t, "mount", "-o", "loop", image, dir)
		defer run(t, "umount", dir)
		if b, err := os.ReadFile("/proc/2/comm"); err != nil || strings.TrimSpace(string(b)) != "kthreadd" {
			t.Skip("no kernel threads to be seen here")
		}
		if exec.Command("pgrep", "-x", "ext4lazyinit").Run() != nil {
			t.Skip("the kernel initialises nothing here")
		}
		tg, err := Resolve(dir, Roots{})
		must(t, err)
		if tg.Storage == nil || tg.Storage.LazyInit == nil {
			t.Skip("the device may not be read here")
		}
		if !*tg.Storage.LazyInit {
			t.Errorf("got %+v", tg.Storage)
		}
	})
	t.Run("xfs", func(t *testing.T) {
		tg, err := Resolve(mountNew(t, "xfs", 320<<20), Roots{})
		must(t, err)
		if tg.Storage != nil {
			t.Errorf("got %+v", tg.Storage)
		}
	})
}

// On btrfs a file is made that is overwritten in place, and elsewhere one as any
// other.
func TestCreateInPlace(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext4"} {
		t.Run(fs, func(t *testing.T) {
			dir := mountNew(t, fs, 128<<20)
			f, err := CreateInPlace(dir, 8<<20, testNonce, newJournal(t))
			must(t, err)
			defer func() { must(t, f.Remove()) }()
			if got, want := f.Facts().NoCOW, fs == "btrfs"; got != want {
				t.Errorf("overwritten in place: %v, want %v", got, want)
			}
			if fs != "btrfs" {
				return
			}
			out, err := exec.Command("lsattr", f.Path()).Output()
			if err != nil || !strings.Contains(strings.Fields(string(out))[0], "C") {
				t.Errorf("lsattr says %q, %v", out, err)
			}
			c, err := f.Claim(true, true)
			must(t, err)
			c.Close()
		})
	}
}
