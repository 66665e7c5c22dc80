package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

const childEnv = "NATIV_TEST_JOURNAL_CHILD"

// TestMain is also the child that holds a journal until it is killed.
func TestMain(m *testing.M) {
	state := os.Getenv(childEnv)
	if state == "" {
		os.Exit(m.Run())
	}
	j, err := Create(state, Header{RunID: "child", PID: os.Getpid()})
	if err == nil {
		_, err = j.Will(Entry{Kind: KindFile, Path: "/bench/f"})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin) // ends with the parent, whatever happens
}

// The lock must go with the process whatever kills it, and not before.
func TestKilledProcess(t *testing.T) {
	state := t.TempDir()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+state)
	stdin, err := c.StdinPipe()
	must(t, err)
	defer stdin.Close()
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	if s, _ := bufio.NewReader(out).ReadString('\n'); s != "ready\n" {
		t.Fatalf("child says %q", s)
	}

	if _, err := Open(state, "child"); !errors.Is(err, ErrActive) {
		t.Fatalf("Open while the run lives: %v", err)
	}
	if runs := list(t, state); len(runs) != 1 || !runs[0].Active || runs[0].Header.PID != c.Process.Pid {
		t.Fatalf("List while the run lives: %+v", runs)
	}
	must(t, c.Process.Kill())
	c.Wait()

	if runs := list(t, state); len(runs) != 1 || runs[0].Active {
		t.Fatalf("List after SIGKILL: %+v", runs)
	}
	j, err := Open(state, "child")
	must(t, err)
	if _, err := Open(state, "child"); !errors.Is(err, ErrActive) {
		t.Errorf("two may clean at once: %v", err)
	}
	r := &recorder{}
	if left := j.Undo(t.Context(), r.undoers()); left != nil || len(r.asked) != 1 {
		t.Errorf("left %v, asked %v", left, r.asked)
	}
	must(t, j.Close())
	if runs := list(t, state); runs != nil {
		t.Errorf("List after cleaning: %+v", runs)
	}
}

// Looking must never take the lock: a run that starts just then would fail.
func TestListDoesNotDisturb(t *testing.T) {
	state := t.TempDir()
	j := create(t, state, "r1")
	will(t, j, Entry{Kind: KindFile, Path: "/bench/f"})
	must(t, j.Close())
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				List(state)
			}
		}
	}()
	for range 200 {
		j, err := Open(state, "r1")
		must(t, err)
		must(t, j.Close())
	}
	close(stop)
	<-done
}

func TestForeignFiles(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "journal")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(state+"/elsewhere", []byte(goodHeader), 0o600))
	must(t, os.Symlink(state+"/elsewhere", dir+"/link.jsonl"))
	must(t, unix.Mkfifo(dir+"/fifo.jsonl", 0o600))
	must(t, os.WriteFile(dir+"/open.jsonl", []byte(goodHeader), 0o600))
	must(t, os.Chmod(dir+"/open.jsonl", 0o666))
	must(t, os.WriteFile(dir+"/notes.txt", nil, 0o600))
	want := 3
	if os.Geteuid() == 0 {
		must(t, os.WriteFile(dir+"/other.jsonl", []byte(goodHeader), 0o600))
		must(t, os.Chown(dir+"/other.jsonl", 65534, 65534))
		want++
	}
	runs := list(t, state)
	if len(runs) != want {
		t.Errorf("List = %+v", runs)
	}
	for _, r := range runs {
		if r.Err == nil {
			t.Errorf("%s is trusted", r.ID)
		}
		if _, err := Open(state, r.ID); err == nil {
			t.Errorf("%s was opened", r.ID)
		}
	}
}

// A full disk must leave a journal that can be read, and one that goes away.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a small tmpfs")
	}
	state := t.TempDir()
	if err := unix.Mount("nativ-test", state, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(state, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	j := create(t, state, "r1")
	full, err := os.Create(state + "/full")
	must(t, err)
	for b := make([]byte, 4096); err == nil; {
		_, err = full.Write(b)
	}
	full.Close()
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	n := 0
	for err = nil; err == nil && n < 1000; n++ {
		_, err = j.Will(Entry{Kind: KindFile, Path: fmt.Sprintf("/bench/%d", n)})
	}
	n--
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("Will on a full disk: %v", err)
	}
	if runs := list(t, state); runs[0].Err != nil || len(runs[0].Entries) != n {
		t.Fatalf("after ENOSPC: %v, %d entries, want %d", runs[0].Err, len(runs[0].Entries), n)
	}
	// Space comes back: the next line must not be glued to a torn one.
	must(t, os.Remove(state+"/full"))
	will(t, j, Entry{Kind: KindFile, Path: "/bench/later"})
	if runs := list(t, state); runs[0].Err != nil || len(runs[0].Entries) != n+1 {
		t.Fatalf("after space came back: %v, %d entries, want %d", runs[0].Err, len(runs[0].Entries), n+1)
	}
	// And full again while undoing: the things are gone all the same.
	full, err = os.Create(state + "/full")
	must(t, err)
	for b := make([]byte, 4096); err == nil; {
		_, err = full.Write(b)
	}
	full.Close()
	if left := j.Undo(t.Context(), (&recorder{}).undoers()); left != nil {
		t.Fatalf("left %v", left)
	}
	must(t, j.Close())
	if runs := list(t, state); runs != nil {
		t.Errorf("the journal is still there: %+v", runs)
	}
}
