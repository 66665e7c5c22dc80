package target

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nativ/internal/journal"
)

// helperEnv makes the test binary another program: what it names.
const helperEnv = "NATIV_TARGET_TEST_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperEnv) {
	case "":
		os.Exit(m.Run())
	case "wait":
		// Until the parent is gone or done with us.
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "lock":
		who := Holder{PID: os.Getpid(), RunID: "other", Dir: "/mnt/other", Started: time.Now()}
		if _, err := LockDrives(strings.Fields(os.Getenv("NATIV_TARGET_TEST_KEYS")), who); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "neighbours":
		t, err := Resolve(os.Getenv("NATIV_TARGET_TEST_DIR"), Roots{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		Neighbours(t, Roots{})
		_ = json.NewEncoder(os.Stdout).Encode(t)
	}
}

// startHelper runs the test binary as the helper until the test ends.
func startHelper(t *testing.T, c *exec.Cmd, helper string) {
	t.Helper()
	c.Env = append(append(os.Environ(), helperEnv+"="+helper), c.Env...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait()
	})
	line := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "ready\n" {
		rest, _ := io.ReadAll(out)
		t.Fatalf("helper %s said %q%q, %v", helper, line, rest, err)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// run runs a system command, or skips the test where there is none.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("needs %s", name)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// mountNew mounts a new filesystem of the type, on a loop device where it
// takes one, until the test ends.
func mountNew(t *testing.T, fstype string, size int64, options ...string) (dir string) {
	t.Helper()
	needRoot(t)
	dir = filepath.Join(realTemp(t), "mnt")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if fstype == "tmpfs" || fstype == "ramfs" {
		run(t, "mount", "-t", fstype, "-o", strings.Join(append(options, fmt.Sprintf("size=%d", size)), ","), "none", dir)
	} else {
		image := filepath.Join(filepath.Dir(dir), "image")
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(image, size); err != nil {
			t.Fatal(err)
		}
		run(t, "mkfs."+fstype, "-q", image)
		run(t, "mount", "-t", fstype, "-o", strings.Join(append(options, "loop"), ","), image, dir)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v\n%s", dir, err, out)
		}
	})
	return dir
}

// realTemp is t.TempDir without symbolic links, as targets are.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func newJournal(t *testing.T) *journal.Journal {
	t.Helper()
	boot, err := journal.BootID()
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(realTemp(t), journal.Header{Version: 1, RunID: "test", PID: os.Getpid(), BootID: boot, Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func newFile(t *testing.T, dir string, size int64) *File {
	t.Helper()
	f, err := Create(dir, size, testNonce, newJournal(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Remove() })
	return f
}

func undo(j *journal.Journal) []journal.Left {
	return j.Undo(context.Background(), map[journal.Kind]journal.Undoer{
		journal.KindFile: UndoFile, journal.KindDir: UndoDir,
	})
}

// asNobody is the test binary as the helper, run by an ordinary user.
func asNobody(t *testing.T, helper string, env ...string) *exec.Cmd {
	t.Helper()
	needRoot(t)
	// A directory that the user can reach, which the test's own is not.
	dir, err := os.MkdirTemp("/var/tmp", "nativ-target-test-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	exe := filepath.Join(dir, "test")
	b, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(exe, b, 0o755))
	c := exec.Command(exe)
	c.Dir = "/"
	c.Env = append([]string{helperEnv + "=" + helper}, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return c
}
