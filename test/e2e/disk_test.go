package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sh runs a command of the test's own and returns what it printed.
func sh(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// mount mounts a filesystem for the test and returns where.
func mount(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	os.Chmod(filepath.Dir(dir), 0o755)
	os.Chmod(dir, 0o755)
	sh(t, "mount", append(args, dir)...)
	t.Cleanup(func() {
		for range 50 { // a process that was just killed may still hold it
			if exec.Command("umount", dir).Run() == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("cannot unmount %s", dir)
	})
	return dir
}

// loopDisk makes a loop device over a sparse file in dir, with direct I/O where
// the filesystem below can do that.
func loopDisk(t *testing.T, dir, size string) string {
	t.Helper()
	img := filepath.Join(dir, "disk.img")
	sh(t, "truncate", "-s", size, img)
	dev := sh(t, "losetup", "--show", "-f", img)
	exec.Command("losetup", "--direct-io=on", dev).Run()
	t.Cleanup(func() {
		for range 50 {
			if exec.Command("losetup", "-d", dev).Run() == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		os.Remove(img)
	})
	return dev
}

// ext4 makes a filesystem on a device and mounts it.
func ext4(t *testing.T, dev string) string {
	t.Helper()
	// No background work of a new filesystem beside a measurement.
	sh(t, "mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", dev)
	return mount(t, dev)
}

// zram makes a drive of memory, on which a CPU is the limit and no drive.
func zram(t *testing.T, size string) string {
	t.Helper()
	b, err := os.ReadFile("/sys/class/zram-control/hot_add")
	if err != nil {
		exec.Command("modprobe", "zram").Run()
		if b, err = os.ReadFile("/sys/class/zram-control/hot_add"); err != nil {
			t.Skip("needs zram: ", err)
		}
	}
	n := strings.TrimSpace(string(b))
	if err := os.WriteFile("/sys/block/zram"+n+"/disksize", []byte(size), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile("/sys/class/zram-control/hot_remove", []byte(n), 0); err != nil {
			t.Error(err)
		}
	})
	return "/dev/zram" + n
}

// diskOf returns major:minor of the whole disk below dir.
func diskOf(t *testing.T, dir string) string {
	t.Helper()
	id := sh(t, "stat", "-c", "%Hd:%Ld", dir)
	link, err := os.Readlink("/sys/dev/block/" + id)
	if err != nil {
		t.Skip("needs a filesystem on one block device: ", err)
	}
	sys := filepath.Join("/sys/dev/block", link)
	if _, err := os.Stat(sys + "/partition"); err == nil {
		sys = filepath.Dir(sys)
	}
	b, err := os.ReadFile(sys + "/dev")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// throttle holds a cgroup of a run to so many reads and writes a second on a
// disk; 0 ends that. group is "ct" or "host", below nativ/RUN.
func throttle(t *testing.T, run, group, disk string, iops int) {
	t.Helper()
	v1 := fmt.Sprintf("/sys/fs/cgroup/blkio/nativ/%s/%s", run, group)
	v2 := fmt.Sprintf("/sys/fs/cgroup/nativ/%s/%s/io.max", run, group)
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(v1); err == nil {
		for _, op := range []string{"read", "write"} {
			write(v1+"/blkio.throttle."+op+"_iops_device", fmt.Sprintf("%s %d", disk, iops))
		}
		return
	}
	limit := "max"
	if iops > 0 {
		limit = fmt.Sprint(iops)
	}
	write(v2, fmt.Sprintf("%s riops=%s wiops=%s", disk, limit, limit))
}

// runID is the run whose journal is in the world's state directory.
func (w *world) runID() string {
	list, _ := filepath.Glob(filepath.Join(w.state, "journal", "*.jsonl"))
	if len(list) != 1 {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(list[0]), ".jsonl")
}
