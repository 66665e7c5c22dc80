package target

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// neighbours resolves dir, which must lie on a drive, and looks.
func neighbours(t *testing.T, dir string) *record.Target {
	t.Helper()
	needRoot(t)
	tg, err := Resolve(dir, Roots{})
	must(t, err)
	if len(tg.Drives) == 0 {
		t.Skipf("no drive is visible behind %s", dir)
	}
	Neighbours(tg, Roots{})
	if tg.NeighboursUnknown != "" {
		t.Skipf("this machine hides neighbours: %s", tg.NeighboursUnknown)
	}
	return tg
}

// program starts the test binary under another name with a file open.
func program(t *testing.T, file string, argv ...string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDONLY, 0)
	must(t, err)
	defer f.Close()
	startHelper(t, &exec.Cmd{Path: "/proc/self/exe", Args: argv, ExtraFiles: []*os.File{f}}, "wait")
}

func image(t *testing.T, dir string, size int64) string {
	t.Helper()
	f := filepath.Join(dir, "image.raw")
	must(t, os.WriteFile(f, nil, 0o600))
	must(t, os.Truncate(f, size))
	return f
}

func TestNeighbours(t *testing.T) {
	vm := record.Neighbour{Kind: "vm", Name: "990101"}
	job := record.Neighbour{Kind: "job", Name: "badblocks"}
	t.Run("disk image", func(t *testing.T) {
		dir := realTemp(t)
		if slices.Contains(neighbours(t, dir).Neighbours, vm) {
			t.Fatal("a VM of the test's number runs already")
		}
		program(t, image(t, dir, 1<<30), "/usr/bin/kvm", "-id", vm.Name, "-name", "web,debug-threads=on")
		if got := neighbours(t, dir).Neighbours; !slices.Contains(got, vm) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("block device above the drive", func(t *testing.T) {
		dir := mountNew(t, "ext4", 32<<20)
		tg := neighbours(t, dir)
		if len(tg.Stack) == 0 || tg.Stack[0].Kind != kindLoop {
			t.Fatalf("stack is %s", describe(tg.Stack))
		}
		program(t, "/dev/"+tg.Stack[0].Name, "qemu-system-x86_64", "-name", "guest=990101")
		if got := neighbours(t, dir).Neighbours; !slices.Contains(got, vm) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("another drive", func(t *testing.T) {
		// What is open lies in memory.
		program(t, image(t, mountNew(t, "tmpfs", 1<<20), 64<<20), "/usr/bin/kvm", "-id", vm.Name)
		if got := neighbours(t, realTemp(t)).Neighbours; slices.Contains(got, vm) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("only a log", func(t *testing.T) {
		dir := realTemp(t)
		program(t, image(t, dir, 4096), "/usr/bin/kvm", "-id", vm.Name)
		if got := neighbours(t, dir).Neighbours; slices.Contains(got, vm) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("job", func(t *testing.T) {
		dir := realTemp(t)
		program(t, image(t, dir, 4096), "/usr/sbin/badblocks", "/dev/x")
		named := func(n record.Neighbour) bool {
			return n.Kind == job.Kind && strings.HasPrefix(n.Name, job.Name+" (PID ")
		}
		if got := neighbours(t, dir).Neighbours; !slices.ContainsFunc(got, named) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("no drive", func(t *testing.T) {
		tg, err := Resolve(mountNew(t, "tmpfs", 1<<20), Roots{})
		must(t, err)
		Neighbours(tg, Roots{})
		if tg.Neighbours != nil || tg.NeighboursUnknown == "" {
			t.Errorf("got %+v", tg)
		}
	})
	t.Run("ordinary user", func(t *testing.T) {
		out, err := asNobody(t, "neighbours", "NATIV_TARGET_TEST_DIR=/var/tmp").Output()
		var tg record.Target
		if err != nil || json.Unmarshal(out, &tg) != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !strings.Contains(tg.NeighboursUnknown, "root") {
			t.Errorf("an ordinary user is told %q, which is not that some cannot be seen", tg.NeighboursUnknown)
		}
	})
}

// A real PID namespace in a real cgroup, named as LXC names it.
func TestContainersAreNeighbours(t *testing.T) {
	needRoot(t)
	root := cgroupRoot(t)
	for _, tt := range []struct {
		cgroup, name string
		own          bool
	}{
		{"lxc.payload.ct990104", "ct990104", false},
		{"lxc.payload.nativ-990104", "nativ-990104", true},
		{"browser-990104", "", true},
	} {
		t.Run(tt.cgroup, func(t *testing.T) {
			dir := realTemp(t)
			cg := filepath.Join(root, tt.cgroup)
			must(t, os.Mkdir(cg, 0o755))
			defer func() { must(t, os.Remove(cg)) }() // after the helper has ended
			t.Run("", func(t *testing.T) {
				fd, err := os.Open(cg)
				must(t, err)
				defer fd.Close()
				c := exec.Command("/proc/self/exe")
				c.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, UseCgroupFD: true, CgroupFD: int(fd.Fd()),
				}
				startHelper(t, c, "wait")
				got := neighbours(t, dir).Neighbours
				found := slices.ContainsFunc(got, func(n record.Neighbour) bool {
					return n.Kind == "container" && strings.Contains(n.Name, "990104")
				})
				if found == tt.own || found && !slices.Contains(got, record.Neighbour{Kind: "container", Name: tt.name}) {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

// cgroupRoot is where cgroup v2 is mounted.
func cgroupRoot(t *testing.T) string {
	t.Helper()
	mounts, err := readMounts(Roots{}, "self")
	must(t, err)
	for _, m := range mounts {
		if m.FSType == "cgroup2" {
			return m.Mountpoint
		}
	}
	t.Skip("needs cgroup v2")
	return ""
}

// Arrays that are being rebuilt on the drives, from a fake tree: device mapper
// and md are not on every machine.
func TestArraysAreNeighbours(t *testing.T) {
	root := fakeFile(t, "desktop.txt")
	must(t, os.MkdirAll(filepath.Join(root, "proc/self"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "proc/self/mountinfo"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(root, "proc/mdstat"), []byte(mdstat), 0o644))
	o := Roots{Sys: filepath.Join(root, "sys"), Proc: filepath.Join(root, "proc")}
	for drive, want := range map[string][]record.Neighbour{
		"sdb":     {{Kind: "job", Name: "md0 resync"}},
		"nvme0n1": nil,
	} {
		tg := &record.Target{Drives: []record.Drive{{Name: drive}}}
		Neighbours(tg, o)
		if !slices.Equal(tg.Neighbours, want) {
			t.Errorf("%s: got %v", drive, tg.Neighbours)
		}
	}
}

func TestJobName(t *testing.T) {
	for cmdline, want := range map[string]string{
		"fio\x00x.fio": "fio", "dd\x00if=/dev/zero": "dd", "/usr/bin/dd": "dd", "/usr/local/bin/nativ\x00worker": "nativ",
		"nativ\x00bench": "", "add": "", "": "",
		"task UPID:pve:0001:0002:66000000:vzdump:104:root@pam:":    "vzdump",
		"task UPID:pve:0001:0002:66000000:vzstart:104:root@pam:":   "",
		"/usr/bin/perl\x00-T\x00/usr/bin/vzdump\x00104":            "vzdump",
		"/usr/bin/perl\x00/usr/bin/pct\x00exec\x00104\x00vzdumped": "",
	} {
		if got, _ := jobName(splitCmdline(cmdline)); got != want {
			t.Errorf("%q: got %q", cmdline, got)
		}
	}
}

func TestJobTitle(t *testing.T) {
	for want, pids := range map[string][]int{"fio (PID 12)": {12}, "fio (PID 3, 7, 12)": {12, 3, 7}, "fio (PID 1, 2, 3, …)": {5, 4, 3, 2, 1}} {
		if got := jobTitle("fio", pids); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCompareNeighbours(t *testing.T) {
	want := []record.Neighbour{{Kind: "vm", Name: "9"}, {Kind: "vm", Name: "101"}, {Kind: "vm", Name: "web"}, {Kind: "container", Name: "104"}, {Kind: "job", Name: "fio"}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareNeighbours)
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestCandidates(t *testing.T) {
	// Large enough for the gate; sparse, so that it costs nothing.
	dir := mountNew(t, "ext4", 12<<30)
	small := mountNew(t, "ext4", 32<<20)
	dirs := func() (dirs []string) {
		found, err := Candidates(Roots{})
		must(t, err)
		for i, c := range found {
			dirs = append(dirs, c.Dir)
			if i > 0 && c.FreeBytes > found[i-1].FreeBytes {
				t.Errorf("%s has more free space than the one before it", c.Dir)
			}
			if c.FSType == "tmpfs" || c.FSType == "overlay" || len(c.Drives) == 0 && c.FSType != "zfs" {
				t.Errorf("%s: %+v", c.Dir, c)
			}
		}
		return dirs
	}
	bound := realTemp(t)
	run(t, "mount", "--bind", dir, bound)
	defer run(t, "umount", bound)
	got := dirs()
	if n := len(slices.DeleteFunc(slices.Clone(got), func(d string) bool { return d != dir && d != bound })); n != 1 {
		t.Errorf("the filesystem is listed %d times in %v", n, got)
	}
	if slices.Contains(got, small) || slices.Contains(got, "/") {
		t.Errorf("%v holds one that is too small, or the root directory", got)
	}
	run(t, "mount", "-o", "remount,ro", dir)
	if got := dirs(); slices.Contains(got, dir) || slices.Contains(got, bound) {
		t.Errorf("%v holds one that is read-only", got)
	}
}

func TestBootPath(t *testing.T) {
	for p, want := range map[string]bool{"/boot": true, "/boot/efi": true, "/efi": true, "/": false, "/bootleg": false, "/mnt/boot": false} {
		if got := bootPath(p); got != want {
			t.Errorf("bootPath(%q) = %v", p, got)
		}
	}
}
