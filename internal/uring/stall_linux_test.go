package uring

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// childEnv makes the test binary a child that runs a pass in a cgroup: the
// kernel throttles by process, and the test itself must not be.
const childEnv = "NATIV_TEST_STALL"

type stallChild struct {
	Cgroup  string
	Ticket  target.Ticket
	Phase   job.Phase
	AskedNS int64 // when ctx ends, from the start
}

type stallAnswer struct {
	Outcome   *record.Outcome
	Intervals []record.Interval
}

func TestMain(m *testing.M) {
	if s := os.Getenv(childEnv); s != "" {
		if err := runStallChild(s); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runStallChild(s string) error {
	var c stallChild
	if err := json.Unmarshal([]byte(s), &c); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.Cgroup, "cgroup.procs"), []byte("0"), 0); err != nil {
		return err
	}
	runtime.GOMAXPROCS(c.Phase.NumJobs + 4)
	claim, err := target.Reopen(c.Ticket)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if c.AskedNS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.AskedNS))
		defer cancel()
	}
	var a stallAnswer
	a.Outcome, err = new(Engine).Run(ctx, c.Phase, []*target.Claim{claim}, func(e record.Event) {
		if e.Interval != nil {
			a.Intervals = append(a.Intervals, *e.Interval)
		}
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// TestStalledDevice holds a loop device at 2 I/Os a second. The pass must end,
// with what came back and the number of what did not.
func TestStalledDevice(t *testing.T) {
	needEngine(t)
	const blkio = "/sys/fs/cgroup/blkio"
	if os.Getuid() != 0 {
		t.Skip("needs root for a loop device and a cgroup")
	}
	if _, err := os.Stat(filepath.Join(blkio, "blkio.throttle.read_iops_device")); err != nil {
		t.Skipf("needs the throttle of cgroup v1: %v", err)
	}

	dir := testDir(t)
	dev := loopExt4(t, dir)
	tk := enginetest.File(t, filepath.Join(dir, "mnt"), 16<<20)
	prefill := job.Prefill()
	runPass(t, prefill, enginetest.Claim(t, tk, true, true))

	group := filepath.Join(blkio, fmt.Sprintf("nativ-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("cannot make a cgroup: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	throttle := func(iops int) {
		b := fmt.Appendf(nil, "%s %d", dev, iops)
		if err := os.WriteFile(filepath.Join(group, "blkio.throttle.read_iops_device"), b, 0); err != nil {
			t.Fatal(err)
		}
	}
	throttle(2)

	c := stallChild{
		Cgroup: group, Ticket: tk, AskedNS: 1.2e9,
		Phase: job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 32, NumJobs: 2, Direct: true, RuntimeNS: 3600e9},
	}
	arg, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(arg))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A dead engine would wait for 64 I/Os of half a second each; that, not a
	// stopwatch, is what the number of outstanding ones shows.
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	// The process cannot end before its I/Os do.
	throttle(0)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if readErr != nil {
		t.Fatal(readErr)
	}
	var a stallAnswer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatal(err)
	}
	o := a.Outcome
	if o.Stopped != record.StopStalled || o.Outstanding <= 0 || o.Outstanding > 64 || len(o.Errors) > 0 {
		t.Errorf("stopped is %q, %d outstanding, errors %+v; want stalled", o.Stopped, o.Outstanding, o.Errors)
	}
	sum, ios := int64(0), int64(0)
	for _, iv := range a.Intervals {
		sum, ios = sum+iv.LenNS, ios+iv.ReadIOs
	}
	if sum != o.ElapsedNS() || ios != o.Read.IOs {
		t.Errorf("intervals hold %d ns and %d I/Os, the pass %d and %d", sum, ios, o.ElapsedNS(), o.Read.IOs)
	}
	if o.ElapsedNS() < c.AskedNS {
		t.Errorf("ended after %d ns, before it was asked", o.ElapsedNS())
	}
}

// TestDiskFull: an errno of a completion is named, with the first offset and
// the count, and what was written before stays.
func TestDiskFull(t *testing.T) {
	needEngine(t)
	mnt := testDir(t)
	const room = 1 << 20
	if err := unix.Mount("nativ-test", mnt, "tmpfs", 0, fmt.Sprintf("size=%d", room)); err != nil {
		t.Skipf("cannot mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mnt, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	tk := enginetest.File(t, mnt, 4*room)
	p := job.Phase{Name: "t", Mode: job.Write, BlockSize: 4096, IODepth: 1, NumJobs: 1, Once: true}
	o := runPass(t, p, enginetest.Claim(t, tk, true, false))
	want := record.IOError{Op: "write", Errno: "ENOSPC", Offset: room, Count: 1}
	if o.Stopped != record.StopError || len(o.Errors) != 1 || o.Errors[0] != want {
		t.Errorf("stopped is %q with errors %+v; want %+v", o.Stopped, o.Errors, want)
	}
	if o.Write.Bytes != room {
		t.Errorf("%d bytes were written before; want %d", o.Write.Bytes, room)
	}
}

func runPass(t *testing.T, p job.Phase, c *target.Claim) *record.Outcome {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(p.NumJobs + 4))
	o, err := new(Engine).Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// loopExt4 mounts an ext4 of 64 MiB at dir/mnt and returns the numbers of its
// loop device.
func loopExt4(t *testing.T, dir string) string {
	t.Helper()
	img, mnt := filepath.Join(dir, "img"), filepath.Join(dir, "mnt")
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
	run("mkfs.ext4", "-q", img)
	dev := run("losetup", "--find", "--show", img)
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "-d", dev).CombinedOutput(); err != nil {
			t.Errorf("losetup -d: %v: %s", err, out)
		}
	})
	if err := os.Mkdir(mnt, 0o755); err != nil {
		t.Fatal(err)
	}
	run("mount", "-t", "ext4", dev, mnt)
	t.Cleanup(func() {
		// The kernel tears down the ring of a dead process, and gives back its
		// file, some time after that has been waited for.
		var out []byte
		err := errors.New("not tried")
		for i := 0; i < 100 && err != nil; i++ {
			if out, err = exec.Command("umount", mnt).CombinedOutput(); err != nil {
				time.Sleep(50 * time.Millisecond)
			}
		}
		if err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	var st unix.Stat_t
	if err := unix.Stat(dev, &st); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
}
