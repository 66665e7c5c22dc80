package uring

import (
	"os"
	"runtime"
	"slices"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// TestGOMAXPROCS: the engine refuses to starve the rest of the program.
func TestGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	ph := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 2, Direct: true, Once: true}
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), 1<<20), false, true)
	if _, err := new(Engine).Run(t.Context(), ph, []*target.Claim{c}, func(record.Event) {}); err == nil {
		t.Error("two jobs run with two processors")
	}
}

// TestReadyTellsEngine: the engine as it ran is the engine as it was probed.
func TestReadyTellsEngine(t *testing.T) {
	e := needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	want, err := e.Probe()
	if err != nil {
		t.Fatal(err)
	}
	ph := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1, Direct: true, MaxBytes: 4096}
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), 1<<20), false, true)
	_, err = e.Run(t.Context(), ph, []*target.Claim{c}, func(ev record.Event) {
		if ev.Type != record.EventReady {
			return
		}
		if got := ev.Worker.Engine; !slices.Equal(got.Setup, want.Setup) || got.RegisteredFiles != want.RegisteredFiles || got.RegisteredRing != want.RegisteredRing {
			t.Errorf("ran as %+v, probed as %+v", got, want)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNothingLeft: a pass gives back its descriptors and mappings.
func TestNothingLeft(t *testing.T) {
	e := needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	ph := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 4, NumJobs: 2, Direct: true, MaxBytes: 1 << 16}
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), 1<<20), false, true)
	count := func() int {
		if _, err := e.Run(t.Context(), ph, []*target.Claim{c}, func(record.Event) {}); err != nil {
			t.Fatal(err)
		}
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	if a, b := count(), count(); a != b {
		t.Errorf("%d descriptors after a pass, %d after another", a, b)
	}
}
