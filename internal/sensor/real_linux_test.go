package sensor

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// A controller that is being reset blocks the reader of its hwmon file. A pipe
// nobody writes to blocks in the same way: in open, past every context.
func TestBlockedFile(t *testing.T) {
	roots := tree(t, "nvme")
	write(t, filepath.Join(roots.Proc, "stat"), "cpu0 1 2 3 4\n")
	input, err := filepath.EvalSymlinks(filepath.Join(roots.Sys, "class/hwmon/hwmon0/temp1_input"))
	must(t, err)
	must(t, os.Remove(input))
	must(t, unix.Mkfifo(input, 0o600))
	s := New(ForTarget(&record.Target{Drives: []record.Drive{{Name: "nvme0n1"}}}, roots), func() int64 { return 0 })
	for range 3 {
		got := s.Sample()
		if got.Temperatures != nil || got.Devices == nil || got.CPUs == nil {
			t.Fatalf("%+v", got)
		}
	}
	for _, d := range s.Sources() {
		if d.Kind == kindTemperature && d.Missing == "" {
			t.Errorf("%+v", d)
		}
	}
	// It comes back, and so do the temperatures.
	w, err := os.OpenFile(input, os.O_WRONLY, 0)
	must(t, err)
	_, err = w.WriteString("42850\n")
	must(t, err)
	must(t, w.Close())
	must(t, os.Rename(input, input+".pipe"))
	write(t, input, "43850\n")
	for range 100 {
		if got := s.Sample(); got.Temperatures["nvme0 Composite"] == 43850 {
			return
		}
		time.Sleep(10 * time.Millisecond) // until the late reading has returned
	}
	t.Error("a source that was late once is never read again")
}

// driveOf returns the disk below path and skips where there is no plain one.
func driveOf(t *testing.T, path string) string {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(path, &st))
	dir, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
	if err != nil {
		t.Skipf("no block device below %s: %v", path, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		dir = filepath.Dir(dir)
	}
	return filepath.Base(dir)
}

// Real I/O on the real drive must show in the real counters.
func TestRealDrive(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "nativ-sensor-test")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	drive := driveOf(t, dir)
	s := New(ForTarget(&record.Target{Drives: []record.Drive{{Name: drive}}}, Roots{}), func() int64 {
		var ts unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		return ts.Nano()
	})
	for _, d := range s.Sources() {
		if d.Kind == kindDevice && d.Missing != "" {
			t.Skipf("%s: %s", drive, d.Missing)
		}
	}
	before := s.Sample()
	const size = 32 << 20
	data := make([]byte, size)
	rand.Read(data)
	f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	must(t, err)
	defer f.Close()
	_, err = f.Write(data)
	must(t, err)
	must(t, f.Sync())
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Skip(err)
	}
	if _, err := f.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	after := s.Sample()

	a, b := before.Devices[drive], after.Devices[drive]
	// At least what was written and read; others may do more meanwhile.
	if n := b.WriteBytes - a.WriteBytes; n < size {
		t.Errorf("%s: %d bytes written, want at least %d", drive, n, size)
	}
	if n := b.ReadBytes - a.ReadBytes; n < size {
		t.Errorf("%s: %d bytes read, want at least %d", drive, n, size)
	}
	if b.WriteIOs <= a.WriteIOs || b.QueueNS <= a.QueueNS || b.BusyNS < a.BusyNS {
		t.Errorf("%s: from %+v to %+v", drive, a, b)
	}
}

// A CPU that this process keeps busy must be seen as busy.
func TestRealCPU(t *testing.T) {
	c := NewCPU(Roots{})
	var a, b record.Sample
	must(t, c.Read(&a))
	var used0, used1 unix.Rusage
	must(t, unix.Getrusage(unix.RUSAGE_SELF, &used0))
	for begin := time.Now(); time.Since(begin) < 300*time.Millisecond; {
	}
	must(t, unix.Getrusage(unix.RUSAGE_SELF, &used1))
	must(t, c.Read(&b))
	var busy int64
	for id := range a.CPUs {
		d := b.CPUs[id].BusyNS - a.CPUs[id].BusyNS
		if total := b.CPUs[id].TotalNS - a.CPUs[id].TotalNS; d > total {
			t.Errorf("cpu%d: busy for %d ns of %d", id, d, total)
		}
		busy += d
	}
	own := used1.Utime.Nano() + used1.Stime.Nano() - used0.Utime.Nano() - used0.Stime.Nano()
	// The kernel may count by sampling at its ticks, so not to the nanosecond.
	if busy < own/2 {
		t.Errorf("all CPUs were busy for %d ns, this process alone for %d", busy, own)
	}
}

func TestRealFilesExist(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); errors.Is(err, os.ErrNotExist) {
		t.Skip("no /proc")
	}
	sources := ForTarget(&record.Target{Drives: []record.Drive{{Name: driveOf(t, "/var/tmp")}}}, Roots{})
	for _, s := range sources {
		testSource(t, s)
		t.Logf("%+v", s.Describe())
	}
}
