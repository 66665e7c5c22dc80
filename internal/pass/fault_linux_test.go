package pass_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// untilFault runs a pass that only a fault ends, which comes after the first
// second, and checks that what was measured before is kept.
func untilFault(t *testing.T, e engine, c *target.Claim, fault func() error) *record.Outcome {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 4, NumJobs: 2, Direct: true, RuntimeNS: 60e9, RandSeed: 1}
	var first *record.Interval
	o, err := e.Run(t.Context(), p, []*target.Claim{c}, func(ev record.Event) {
		if ev.Type == record.EventInterval && first == nil {
			first = ev.Interval
			if err := fault(); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Stopped != record.StopError || len(o.Errors) != 1 || o.Outstanding != 0 {
		t.Fatalf("stopped is %q, errors %+v, %d outstanding", o.Stopped, o.Errors, o.Outstanding)
	}
	if first == nil || first.ReadIOs == 0 || o.Read.IOs < first.ReadIOs || o.Read.Lat.N() != o.Read.IOs {
		t.Errorf("first second %+v, pass %d I/Os", first, o.Read.IOs)
	}
	return o
}

// TestFileShrinks: a file that loses its end in mid-run ends the pass with the
// place of the first short read.
func TestFileShrinks(t *testing.T) {
	dir := testDir(t)
	eachEngine(t, func(t *testing.T, e engine) {
		const size, left = 16 << 20, 4 << 20
		tk := enginetest.File(t, dir, size)
		c := enginetest.Claim(t, tk, false, true)
		o := untilFault(t, e, c, func() error { return os.Truncate(tk.Path, left) })
		if f := o.Errors[0]; f.Op != "read" || f.Errno != "short" || f.Offset < left {
			t.Errorf("error is %+v", f)
		}
	})
}

// TestDeviceFails: a device that answers EIO in mid-run, as a loop device does
// whose file was cut off.
func TestDeviceFails(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a loop device")
	}
	eachEngine(t, func(t *testing.T, e engine) {
		dir := testDir(t)
		img, mnt := filepath.Join(dir, "img"), filepath.Join(dir, "mnt")
		mountLoop(t, img, mnt)
		tk := enginetest.File(t, mnt, 32<<20)
		if err := os.WriteFile(tk.Path, make([]byte, 32<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("sync", "-f", mnt).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		c := enginetest.Claim(t, tk, false, true)
		o := untilFault(t, e, c, func() error { return os.Truncate(img, 12<<20) })
		if f := o.Errors[0]; f.Op != "read" || f.Errno != "EIO" {
			t.Errorf("error is %+v", f)
		}
	})
}

// mountLoop mounts a new ext4 of 64 MiB at mnt.
func mountLoop(t *testing.T, img, mnt string) {
	t.Helper()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Skipf("%s: %v: %s", name, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.WriteFile(img, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(img, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(mnt, 0o755); err != nil {
		t.Fatal(err)
	}
	run("mkfs.ext4", "-q", img)
	dev := run("losetup", "--find", "--show", img)
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "-d", dev).CombinedOutput(); err != nil {
			t.Errorf("losetup -d: %v: %s", err, out)
		}
	})
	run("mount", "-t", "ext4", dev, mnt)
	t.Cleanup(func() {
		// A ring gives its file back some time after it was closed.
		var out []byte
		var err error
		for range 100 {
			if out, err = exec.Command("umount", mnt).CombinedOutput(); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("umount: %v: %s", err, out)
	})
}
