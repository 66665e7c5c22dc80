package fio_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nativ/internal/fio"
	"nativ/internal/job"
	"nativ/internal/place"
	"nativ/internal/place/placetest"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// The host's fio does its passes in every place, containers without any
// program of their own included.
func TestPlaces(t *testing.T) {
	if _, err := new(fio.Engine).Probe(); err != nil {
		t.Skip(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("cgroups and containers need root")
	}
	if err := place.CheckLXC(); err != nil {
		t.Skip(err)
	}
	mounts, err := fio.Bundle("")
	if err != nil {
		t.Fatal(err)
	}
	var binds []place.Mount
	for _, m := range mounts {
		binds = append(binds, place.Mount(m))
	}
	binary := filepath.Join(t.TempDir(), "nativ")
	build := exec.Command("go", "build", "-o", binary, "./testdata/nativ")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build nativ: %v\n%s", err, out)
	}
	for _, tt := range []struct {
		name string
		make func(place.Config, string) placetest.Place
	}{
		{"host", func(c place.Config, _ string) placetest.Place { return place.NewHost(c) }},
		{"unprivileged", func(c place.Config, state string) placetest.Place {
			return place.NewLXC(c, place.Limits{CPUs: []int{0}}, place.LXCOptions{StateDir: state, Mounts: binds})
		}},
		{"privileged", func(c place.Config, state string) placetest.Place {
			return place.NewLXC(c, place.Limits{CPUs: []int{0}}, place.LXCOptions{StateDir: state, Mounts: binds, Privileged: true})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := placetest.NewEnv(t, place.Undoers)
			defer func() {
				for _, left := range e.Journal.Undo(context.Background(), e.All()) {
					t.Errorf("undo: %v", left)
				}
				for _, left := range placetest.Leftovers(e.StateDir, e.RunID) {
					t.Errorf("left behind: %s", left)
				}
			}()
			p := tt.make(place.Config{
				RunID: e.RunID, Journal: e.Journal, Cgroups: e.Cgroups, Exe: binary, Engine: fio.Name, GOMAXPROCS: 6,
			}, e.StateDir)
			facts, err := p.Prepare(t.Context(), []*target.File{e.File})
			if err != nil {
				t.Fatal(err)
			}
			if got := facts.Worker.Engine; got.Name != fio.Name || got.Version == "" {
				t.Errorf("engine is %+v", got)
			}
			size := e.File.Facts().Size
			for _, ph := range []job.Phase{
				{Name: "w", Mode: job.Write, BlockSize: 1 << 20, IODepth: 2, NumJobs: 1, Direct: true, Once: true, Unique: true, RandSeed: 3},
				{Name: "r", Mode: job.Read, BlockSize: 64 << 10, IODepth: 4, NumJobs: 2, Direct: true, Once: true, Split: true},
			} {
				ends := 0
				o, failure := p.Run(t.Context(), ph, []*target.File{e.File}, func(ev record.Event) {
					if ev.Type == record.EventEnded {
						ends++
					}
				})
				if failure != nil {
					t.Fatalf("%s: %+v", ph.Name, failure)
				}
				flow := o.Read
				if ph.Mode == job.Write {
					flow = o.Write
				}
				if ends != 1 || o.Stopped != record.StopOnce || flow.Bytes != size || flow.Lat.N() != flow.IOs {
					t.Errorf("%s: stopped %q, flow %+v", ph.Name, o.Stopped, flow)
				}
				t.Logf("%s: %q", ph.Name, o.Command[:2])
			}
		})
	}
}

// Whatever ends a worker ends its fio.
func TestEndsWithWorker(t *testing.T) {
	if os.Getenv("NATIV_FIO_TEST_FOREVER") != "" {
		forever(t)
		return
	}
	if _, err := new(fio.Engine).Probe(); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestEndsWithWorker$", "-test.v")
	cmd.Env = append(os.Environ(), "NATIV_FIO_TEST_FOREVER=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	for s := bufio.NewScanner(out); dir == "" && s.Scan(); {
		dir, _ = strings.CutPrefix(s.Text(), "started in ")
		if dir == s.Text() {
			dir = ""
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if dir == "" {
		t.Fatal("fio did not start")
	}
	defer os.RemoveAll(dir) // nobody is left who could
	deadline := time.Now().Add(10 * time.Second)
	for len(processesIn(dir)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v live on", processesIn(dir))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// forever runs a pass without end and says in which directory fio works.
func forever(t *testing.T) {
	tk := enginetest.File(t, os.TempDir(), 1<<20)
	if err := os.WriteFile(tk.Path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	tk.Direct = false
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 2, RuntimeNS: 3600e9, ReadIOPS: 10}
	c := enginetest.Claim(t, tk, false, false)
	_ = os.Remove(tk.Path)
	_, err := new(fio.Engine).Run(t.Context(), p, []*target.Claim{c}, func(e record.Event) {
		if e.Type == record.EventStarted {
			for _, d := range childDirs() {
				fmt.Println("started in " + d)
			}
		}
	})
	t.Fatal(err)
}

// childDirs are the working directories of this process's children.
func childDirs() (dirs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		b, err := os.ReadFile(p + "/status")
		if err != nil || !strings.Contains(string(b), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			continue
		}
		if d, err := os.Readlink(p + "/cwd"); err == nil {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

func processesIn(dir string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, p := range all {
		if d, err := os.Readlink(p); err == nil && strings.HasPrefix(d, dir) {
			pids = append(pids, p)
		}
	}
	return pids
}
