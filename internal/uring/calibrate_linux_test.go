package uring

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestCalibrate(t *testing.T) {
	needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	c, err := Calibrate(t.Context(), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if !before.IsSet(c.CPU) {
		t.Errorf("ran on CPU %d, which this process may not use", c.CPU)
	}
	// A batch spares calls, whatever the machine and its load.
	if c.SinglesPerSec <= 0 || c.NopsPerSec <= c.SinglesPerSec {
		t.Errorf("%.0f no-ops a second in batches of %d, %.0f one at a time", c.NopsPerSec, c.Batch, c.SinglesPerSec)
	}
	if c.ClockNS <= 0 || c.ElapsedNS < 50e6 || c.At.IsZero() {
		t.Errorf("clock %g ns, elapsed %d ns, at %v", c.ClockNS, c.ElapsedNS, c.At)
	}
	probed, err := new(Engine).Probe()
	if err != nil {
		t.Fatal(err)
	}
	if probed.Name != c.Engine.Name || !slices.Equal(probed.Setup, c.Engine.Setup) {
		t.Errorf("calibrated %+v, but a pass has %+v", c.Engine, probed)
	}
	// No thread of the process may stay on that one CPU.
	for range 16 {
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			done <- unix.SchedGetaffinity(0, &after)
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if after != before {
			t.Fatalf("a thread may use only %v of %v afterwards", after, before)
		}
	}
}

func TestCalibrateEndsWithContext(t *testing.T) {
	needEngine(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	c, err := Calibrate(ctx, time.Hour)
	if !errors.Is(err, why) {
		t.Errorf("got %+v and %v", c, err)
	}
}
