package place_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"nativ/internal/place"
	"nativ/internal/place/placetest"
	"nativ/internal/pve/pvetest"
)

// binary is a static nativ with a worker and an init, which the test binary
// cannot be: with the race detector it needs a loader.
var binary string

func TestMain(m *testing.M) {
	pvetest.Main()
	if dir := os.Getenv(crashRole); dir != "" {
		crash(dir)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// For machines without Go, such as a virtual machine with cgroup v2 only.
	if binary = os.Getenv("NATIV_TEST_BINARY"); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "nativ-place-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "nativ")
	build := exec.Command("go", "build", "-o", binary, "./testdata/nativ")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build nativ: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

const gomaxprocs = 6

func config(e *placetest.Env) place.Config {
	return place.Config{
		RunID: e.RunID, Journal: e.Journal, Cgroups: e.Cgroups, Exe: binary,
		Engine: "io_uring", GOMAXPROCS: gomaxprocs,
	}
}

// limits are what the limited places get here: one CPU, and memory enough.
var limits = place.Limits{CPUs: []int{0}, Memory: 512<<20 + 1}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("cgroups and containers need root")
	}
}

func needLXC(t *testing.T) {
	t.Helper()
	needRoot(t)
	if err := place.CheckLXC(); err != nil {
		t.Skip(err)
	}
}

func TestHost(t *testing.T) {
	e := placetest.NewEnv(t, place.Undoers)
	placetest.Run(t, e, place.NewHost(config(e)), placetest.Want{GOMAXPROCS: gomaxprocs})
}

func TestHostWithoutCgroups(t *testing.T) {
	e := placetest.NewEnv(t, place.Undoers)
	e.Cgroups = nil
	placetest.Run(t, e, place.NewHost(config(e)), placetest.Want{GOMAXPROCS: gomaxprocs})
}

func TestPinned(t *testing.T) {
	needRoot(t)
	e := placetest.NewEnv(t, place.Undoers)
	placetest.Run(t, e, place.NewPinned(config(e), limits), placetest.Want{
		CPUs: limits.CPUs, Memory: limits.Memory, GOMAXPROCS: gomaxprocs,
	})
}

func TestUnprivilegedLXC(t *testing.T) {
	needLXC(t)
	e := placetest.NewEnv(t, place.Undoers)
	placetest.Run(t, e, place.NewLXC(config(e), limits, place.LXCOptions{StateDir: e.StateDir}), placetest.Want{
		CPUs: limits.CPUs, Memory: limits.Memory, Container: true, Unprivileged: true, GOMAXPROCS: gomaxprocs,
	})
}

func TestPrivilegedLXC(t *testing.T) {
	needLXC(t)
	e := placetest.NewEnv(t, place.Undoers)
	placetest.Run(t, e, place.NewLXC(config(e), limits, place.LXCOptions{StateDir: e.StateDir, Privileged: true}), placetest.Want{
		CPUs: limits.CPUs, Memory: limits.Memory, Container: true, GOMAXPROCS: gomaxprocs,
	})
}
