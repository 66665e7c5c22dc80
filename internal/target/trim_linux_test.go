package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

func TestReadTrim(t *testing.T) {
	ran := time.Date(2026, 11, 30, 0, 4, 11, 0, time.UTC)
	root := fakeTree(t, "etc/fstab = /dev/x /mnt ext4 defaults 0 2\nvar/lib/systemd/timers/stamp-fstrim.timer = ")
	must(t, os.Chtimes(filepath.Join(root, stampFile), ran, ran))
	zero, some := new(int64(0)), new(int64(1<<30))
	stack := func(max ...*int64) (all []record.Layer) {
		for i, m := range max {
			all = append(all, record.Layer{Name: string(rune('a' + i)), DiscardMax: m})
		}
		return all
	}
	for _, c := range []struct {
		name string
		t    record.Target
		root string
		want *record.Trim
	}{
		{"all the way, in fstab", record.Target{FSType: "ext4", MountPoint: "/mnt", Options: "rw,relatime", Stack: stack(some, some)}, root,
			&record.Trim{Passed: new(true), Online: new(false), TimerRan: &ran, TimerCovers: new(true)}},
		{"stopped in the middle, not in fstab", record.Target{FSType: "xfs", MountPoint: "/srv", Options: "rw,discard", Stack: stack(some, zero, some)}, root,
			&record.Trim{Passed: new(false), StoppedAt: []string{"b"}, Online: new(true), TimerRan: &ran, TimerCovers: new(false)}},
		{"one does not tell", record.Target{FSType: "btrfs", MountPoint: "/", Options: "rw,discard=async", Stack: stack(some, nil)}, t.TempDir(),
			&record.Trim{Online: new(true)}},
		{"one does not tell and one stops", record.Target{FSType: "zfs", Stack: stack(nil, zero)}, t.TempDir(),
			&record.Trim{Passed: new(false), StoppedAt: []string{"b"}}},
		{"a loop file", record.Target{FSType: "ext4", Stack: []record.Layer{{Name: "loop0", Kind: "loop", DiscardMax: some}, {Name: "sda", DiscardMax: some}}}, t.TempDir(),
			&record.Trim{Online: new(false)}},
		{"a thin pool", record.Target{FSType: "ext4", Stack: []record.Layer{{Name: "dm-4", Kind: "lvm", Title: "pve-data-tpool", DiscardMax: some}, {Name: "sda", DiscardMax: some}}}, t.TempDir(),
			&record.Trim{Online: new(false)}},
		{"no device", record.Target{FSType: "zfs"}, root, nil},
		{"a network", record.Target{FSType: "ext4", Network: true, Stack: stack(some)}, root, nil},
	} {
		if d := cmp.Diff(c.want, readTrim(&c.t, Roots{Root: c.root})); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

func TestTimerCovers(t *testing.T) {
	const fstab = "# a comment\nUUID=1 / ext4 errors=remount-ro 0 1\n/dev/b /mnt/a\\040b/ xfs defaults\n/dev/c /no ext4 noauto,X-fstrim.notrim 0 0\n"
	for _, c := range []struct {
		fstab, dir string
		want       bool
	}{
		{fstab, "/", true}, {fstab, "/mnt/a b", true}, {fstab, "/no", false}, {fstab, "/srv", false},
		{"# UNCONFIGURED FSTAB FOR BASE SYSTEM\n", "/srv", true}, {"", "/", true},
	} {
		if got := timerCovers(strings.NewReader(c.fstab), c.dir); got == nil || *got != c.want {
			t.Errorf("%q in %q: got %v, want %t", c.dir, c.fstab, got, c.want)
		}
	}
}

func FuzzTimerCovers(f *testing.F) {
	f.Add("UUID=1 / ext4 errors=remount-ro 0 1\n/dev/b /mnt/a\\040b xfs defaults", "/mnt/a b")
	f.Fuzz(func(t *testing.T, fstab, dir string) {
		if covers := timerCovers(strings.NewReader(fstab), dir); covers == nil {
			t.Error("a table that can be read gives no answer")
		}
	})
}

func TestListDrives(t *testing.T) {
	o := Roots{Sys: filepath.Join(fakeFile(t, "desktop.txt"), "sys")}
	all, err := Drives(o)
	must(t, err)
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	// sdb has no size attribute of a drive but one; md, dm, partitions are none.
	for _, want := range []string{"nvme0n1", "sda", "sdb"} {
		if !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("%s is missing in %v", want, names)
		}
	}
	for _, n := range names {
		if strings.HasPrefix(n, "dm-") || strings.HasPrefix(n, "md") || strings.HasSuffix(n, "p3") || n == "sda1" {
			t.Errorf("%s is no drive", n)
		}
	}
	for name, want := range map[string]string{
		"nvme0n1": "nvme0n1", "nvme0": "nvme0n1", "/dev/nvme0": "nvme0n1", "nvme0n1p3": "nvme0n1", "dm-1": "nvme0n1",
		"nvme7": "", "": "", "..": "", "../sda": "", "/dev/nothing": "", "nothing": "",
	} {
		got, err := DrivesOf(name, o)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q: got %v", name, got)
		case want != "" && (err != nil || len(got) != 1 || got[0].Name != want):
			t.Errorf("%q: got %v, %v", name, got, err)
		}
	}
	if d := all[0]; d.PCIAddress == nil || *d.PCIAddress != "0000:02:00.0" || d.PortAddress == nil || *d.PortAddress != "0000:00:06.0" {
		t.Errorf("PCI addresses %v %v", d.PCIAddress, d.PortAddress)
	}
}

// The real machine: what it shows as drives is what lies below its filesystems.
func TestDrivesOfThisMachine(t *testing.T) {
	all, err := Drives(Roots{})
	must(t, err)
	for _, d := range all {
		got, err := DrivesOf("/dev/"+d.Name, Roots{})
		if err != nil || len(got) != 1 || got[0].Name != d.Name {
			t.Errorf("%s: got %v, %v", d.Name, got, err)
		}
	}
}

func TestNaturalOrder(t *testing.T) {
	if natural("nvme2n1") >= natural("nvme10n1") || natural("sda") >= natural("sdb") {
		t.Error("drives are not in the order of their numbers")
	}
}
