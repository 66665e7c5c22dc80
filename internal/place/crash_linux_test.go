package place_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nativ/internal/cgroup"
	"nativ/internal/journal"
	"nativ/internal/place"
	"nativ/internal/place/placetest"
	"nativ/internal/record"
	"nativ/internal/target"
)

// crashRole makes the test binary a run in a container that goes on until it
// is killed; its value is a directory with "state" and "home" in it.
const crashRole = "NATIV_TEST_CRASH"

func crash(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
	binary = os.Getenv("NATIV_TEST_BINARY")
	e, err := placetest.Make(filepath.Join(dir, "state"), filepath.Join(dir, "home"), place.Undoers)
	fail(err)
	p := place.NewLXC(config(e), limits, place.LXCOptions{StateDir: e.StateDir})
	_, err = p.Prepare(context.Background(), []*target.File{e.File})
	fail(err)
	fmt.Println("prepared")
	_, failure := p.Run(context.Background(), placetest.Read(time.Minute), []*target.File{e.File}, func(ev record.Event) {
		if ev.Type == record.EventStarted {
			fmt.Println("running")
		}
	})
	fail(fmt.Errorf("the pass ended: %+v", failure))
}

// TestKilledThenUndone kills a run with SIGKILL at several moments and cleans up
// after it from its journal alone.
func TestKilledThenUndone(t *testing.T) {
	needLXC(t)
	for _, moment := range []string{"3 lines", "4 lines", "5 lines", "8 lines", "9 lines", "10 lines", "prepared", "running"} {
		t.Run(moment, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "nativ-crash-test-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(filepath.Join(dir, "state", "journal")); removeEmpty(t, dir) })
			for d, mode := range map[string]os.FileMode{".": 0o755, "state": 0o755, "home": 0o700} {
				d = filepath.Join(dir, d)
				_ = os.Mkdir(d, mode)
				if err := os.Chmod(d, mode); err != nil {
					t.Fatal(err)
				}
			}
			runUntil(t, dir, moment)
			undoAfter(t, filepath.Join(dir, "state"), moment == "running")
		})
	}
}

// removeEmpty removes a directory of directories, and complains about files.
func removeEmpty(t *testing.T, dir string) {
	for _, d := range []string{"state", "home", "."} {
		if err := os.Remove(filepath.Join(dir, d)); err != nil {
			t.Errorf("left behind: %v", err)
		}
	}
}

func runUntil(t *testing.T, dir, moment string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashRole+"="+dir, "NATIV_TEST_BINARY="+binary)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, byLines := strings.CutSuffix(moment, " lines")
	if n, err := strconv.Atoi(lines); byLines && err == nil {
		for journalLines(dir) < n && syscall.Kill(cmd.Process.Pid, 0) == nil {
			time.Sleep(100 * time.Microsecond)
		}
	} else {
		sc := bufio.NewScanner(out)
		for sc.Scan() && sc.Text() != moment {
			if strings.HasPrefix(sc.Text(), "error:") {
				t.Error(sc.Text())
			}
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("the run ended before %s: %v", moment, err)
	}
	_ = cmd.Wait()
}

func journalLines(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "state", "journal", "*.jsonl"))
	if len(names) == 0 {
		return 0
	}
	b, _ := os.ReadFile(names[0])
	return bytes.Count(b, []byte("\n"))
}

// undoAfter cleans up as nativ clean does. Where the container was up it first
// waits until that has ended by itself.
func undoAfter(t *testing.T, state string, up bool) {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(state, "journal", "*.jsonl"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("journals %v, %v", runs, err)
	}
	id := strings.TrimSuffix(filepath.Base(runs[0]), ".jsonl")
	groups, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); up; time.Sleep(10 * time.Millisecond) {
		procs, err := groups.Procs("nativ/" + id + "/ct")
		if err == nil && len(procs) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Errorf("the container outlives nativ: processes %v, %v", procs, err)
			break
		}
	}
	j, err := journal.Open(state, id)
	// A child that was forked and has not come to exec holds the lock for a
	// moment longer than the run that forked it.
	for end := time.Now().Add(10 * time.Second); errors.Is(err, journal.ErrActive) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
		j, err = journal.Open(state, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	e := placetest.Env{RunID: id, StateDir: state, Cgroups: groups, Undoers: place.Undoers}
	for _, left := range j.Undo(t.Context(), e.All()) {
		t.Errorf("undo: %v", left)
	}
	for _, left := range placetest.Leftovers(state, id) {
		t.Errorf("left behind: %s", left)
	}
}

// TestAttachKilled: the worker outlives lxc-attach, and the pass goes on; that
// it has ended afterwards is reaped by the container's init.
func TestAttachKilled(t *testing.T) {
	needLXC(t)
	e := placetest.NewEnv(t, place.Undoers)
	p := place.NewLXC(config(e), limits, place.LXCOptions{StateDir: e.StateDir})
	defer func() {
		for _, left := range e.Journal.Undo(context.Background(), e.All()) {
			t.Errorf("undo: %v", left)
		}
	}()
	if _, err := p.Prepare(t.Context(), []*target.File{e.File}); err != nil {
		t.Fatal(err)
	}
	o, failure := p.Run(t.Context(), placetest.Read(200*time.Millisecond), []*target.File{e.File}, func(ev record.Event) {
		if ev.Type != record.EventStarted {
			return
		}
		entries := e.Journal.Entries()
		attach := entries[len(entries)-1]
		if attach.Kind != journal.KindProcess {
			t.Fatalf("last entry %v", attach)
		}
		if err := syscall.Kill(attach.PID, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	})
	if failure != nil || o == nil {
		t.Errorf("outcome %v, failure %+v", o, failure)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		procs, err := e.Cgroups.Procs(p.Cgroup())
		if err == nil && len(procs) == 1 && len(children(procs[0])) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("processes in the container: %v, %v", procs, err)
		}
	}
}

func children(pid int) []string {
	var all []string
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range tasks {
		b, _ := os.ReadFile(f)
		all = append(all, strings.Fields(string(b))...)
	}
	return all
}
