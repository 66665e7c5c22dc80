package sensor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nativ/internal/record"
)

// alarmed is a tree with one NVMe drive, and the target on it.
func alarmed(t *testing.T) (Roots, *record.Target) {
	t.Helper()
	r := makeTree(t, map[string]string{
		"sys/devices/nvme77/state":         "live\n",
		"sys/devices/nvme77/nvme77n1/size": "1\n",
		"LINKS":                            "sys/block/nvme77n1 -> ../devices/nvme77/nvme77n1\nsys/devices/nvme77/nvme77n1/device -> ..\n",
	})
	return r, &record.Target{Dir: t.TempDir(), Drives: []record.Drive{{Name: "nvme77n1"}}}
}

func TestAlarmByState(t *testing.T) {
	for _, tt := range []struct {
		name  string
		harm  func(t *testing.T, r Roots)
		reset bool
		says  string
	}{
		{"reset", func(t *testing.T, r Roots) { write(t, r.sys("devices/nvme77/state"), "resetting\n") }, true, "nvme77: resetting"},
		{"dead", func(t *testing.T, r Roots) { write(t, r.sys("devices/nvme77/state"), "dead\n") }, false, "nvme77 is gone dead"},
		{"pulled out", func(t *testing.T, r Roots) {
			must(t, os.Remove(r.sys("block/nvme77n1")))
			must(t, os.RemoveAll(r.sys("devices/nvme77")))
		}, false, "nvme77n1 is gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			roots, target := alarmed(t)
			a := NewAlarm(roots, target)
			defer a.Close()
			if got := a.Look(); got != nil {
				t.Fatalf("alarm on a drive that is well: %+v", got)
			}
			tt.harm(t, roots)
			if got := a.Look(); got == nil || got.Reset != tt.reset || got.Detail != tt.says {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("as it was", func(t *testing.T) {
		roots, target := alarmed(t)
		write(t, roots.sys("devices/nvme77/state"), "resetting\n")
		a := NewAlarm(roots, target)
		defer a.Close()
		if got := a.Look(); got != nil {
			t.Errorf("alarm by what was so before: %+v", got)
		}
	})
}

// The real log of the kernel, into which root may write.
func TestAlarmByKernelLog(t *testing.T) {
	roots, target := alarmed(t)
	roots.Dev = ""
	say := func(line string) {
		if err := os.WriteFile("/dev/kmsg", []byte(line+"\n"), 0); err != nil {
			t.Skip("needs the kernel's log to write to, as root on a host: ", err)
		}
	}
	say("<6>nvme nvme77: resetting controller, before the test")
	a := NewAlarm(roots, target)
	defer a.Close()
	if a.log < 0 {
		t.Skip("needs the kernel's log to read, as root on a host")
	}
	say("<6>nvme nvme78: resetting controller of another drive, by a test")
	say("<6>nvme nvme77: 8/0/0 default/read/poll queues, by a test")
	if got := a.Look(); got != nil {
		t.Fatalf("got %+v", got)
	}
	say("<4>nvme nvme77: I/O tag 5 QID 3 timeout, reset controller, by a test")
	say("<6>nvme nvme77: resetting controller, by a test")
	if got := a.Look(); got == nil || !got.Reset || !strings.Contains(got.Detail, "resetting controller, by a test") {
		t.Errorf("got %+v", got)
	}
	if got := a.Look(); got != nil {
		t.Errorf("told twice: %+v", got)
	}
}

// A file system that turns read-only, as ext4 with errors=remount-ro does when its
// metadata cannot be written.
func TestAlarmByReadOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	roots, target := alarmed(t)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "nativ-test", target.Dir).CombinedOutput(); err != nil {
		t.Skipf("needs mount: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", target.Dir).Run() })
	a := NewAlarm(roots, target)
	defer a.Close()
	if got := a.Look(); got != nil {
		t.Fatalf("got %+v", got)
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", target.Dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := a.Look(); got == nil || got.Reset || !strings.HasSuffix(got.Detail, filepath.Base(target.Dir)+" is read-only") {
		t.Errorf("got %+v", got)
	}
}
