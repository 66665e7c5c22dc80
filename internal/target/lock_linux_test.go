package target

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"nativ/internal/record"
)

// key is a drive that no other test and no real run has.
func key(t *testing.T, name string) string {
	return fmt.Sprintf("test-%d-%s-%s", os.Getpid(), t.Name(), name)
}

func TestLockDrives(t *testing.T) {
	a, b, c := key(t, "a"), key(t, "b"), key(t, "c")
	first := Holder{PID: os.Getpid(), UID: os.Getuid(), RunID: "first", Dir: "/mnt/first", Started: time.Now().UTC().Round(0)}
	release, err := LockDrives([]string{b, a, b}, first)
	must(t, err)

	_, err = LockDrives([]string{c, b}, Holder{RunID: "second"})
	var busy *Busy
	if !errors.As(err, &busy) || busy.Key != b || busy.Holder != first {
		t.Fatalf("got %+v, want busy with %+v", err, first)
	}
	for _, s := range []string{"first", "/mnt/first", fmt.Sprint(os.Getpid())} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not name %s", err, s)
		}
	}

	// All or nothing: c was let go.
	other, err := LockDrives([]string{c}, Holder{RunID: "third"})
	must(t, err)
	other()
	release()
	release()
	again, err := LockDrives([]string{a, b, c}, Holder{RunID: "fourth"})
	must(t, err)
	again()
}

func TestLockVanishesWithItsProcess(t *testing.T) {
	k := key(t, "a")
	c := exec.Command("/proc/self/exe")
	c.Env = []string{"NATIV_TARGET_TEST_KEYS=" + k}
	startHelper(t, c, "lock")
	_, err := LockDrives([]string{k}, Holder{})
	var busy *Busy
	if !errors.As(err, &busy) || busy.Holder.RunID != "other" || busy.Holder.PID != c.Process.Pid {
		t.Fatalf("got %v, want busy with process %d", err, c.Process.Pid)
	}
	must(t, c.Process.Kill())
	_ = c.Wait()
	release, err := LockDrives([]string{k}, Holder{})
	if err != nil {
		t.Fatal("after SIGKILL of the holder:", err)
	}
	release()
}

// A process that holds the name but does not answer is named by the kernel.
func TestLockOfSilentHolder(t *testing.T) {
	k := key(t, "a")
	l, err := net.Listen("unix", "@nativ/drive/"+socketKey(k))
	must(t, err)
	defer l.Close()
	_, err = LockDrives([]string{k}, Holder{})
	var busy *Busy
	if !errors.As(err, &busy) || busy.Holder.PID != os.Getpid() || busy.Holder.RunID != "" {
		t.Fatalf("got %v, want busy with process %d", err, os.Getpid())
	}
	if !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("%q does not name the process", err)
	}
}

func TestLockHolderCannotWriteToTheTerminal(t *testing.T) {
	k := key(t, "a")
	release, err := LockDrives([]string{k}, Holder{RunID: "x", Dir: "/mnt/\x1b[2J"})
	must(t, err)
	defer release()
	_, err = LockDrives([]string{k}, Holder{})
	var busy *Busy
	if !errors.As(err, &busy) || busy.Holder.PID != os.Getpid() || busy.Holder.Dir != "" {
		t.Errorf("got %q, want busy with process %d", err, os.Getpid())
	}
}

func TestLockHoldsAgainstUsers(t *testing.T) {
	needRoot(t)
	k := key(t, "a")
	release, err := LockDrives([]string{k}, Holder{RunID: "root's"})
	must(t, err)
	defer release()
	c := asNobody(t, "lock", "NATIV_TARGET_TEST_KEYS="+k)
	out, err := c.Output()
	if err == nil || !strings.Contains(string(out), "root's") {
		t.Errorf("an ordinary user got %q, %v", out, err)
	}
}

func TestDriveKeys(t *testing.T) {
	for want, tg := range map[string]record.Target{
		"nvme0n1 sda":     {Drives: []record.Drive{{Name: "sda"}, {Name: "nvme0n1"}, {Name: "sda"}}},
		"net:nas:/export": {Network: true, Source: "nas:/export"},
		"zfs:rpool":       {FSType: "zfs", Source: "rpool/data/x"},
		"dev:8:1":         {FSType: "fuseblk", DevMajor: 8, DevMinor: 1},
		"rbd0":            {Network: true, Source: "/dev/rbd0", Drives: []record.Drive{{Name: "rbd0"}}},
	} {
		if got := strings.Join(DriveKeys(&tg), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	long := socketKey("net:" + strings.Repeat("a", 200))
	if len("@nativ/drive/"+long) > 107 || long == socketKey("net:"+strings.Repeat("a", 201)) {
		t.Errorf("key %q", long)
	}
	if got := socketKey("nvme0n1"); got != "nvme0n1" {
		t.Errorf("key nvme0n1 became %q", got)
	}
}
