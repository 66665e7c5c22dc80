package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/cgroup"
	"nativ/internal/job"
	"nativ/internal/journal"
)

func TestCheckLXC(t *testing.T) {
	all := func(string) (string, error) { return "/usr/bin/x", nil }
	none := func(p string) (string, error) { return "", exec.ErrNotFound }
	if err := checkLXC("/", all); err != nil {
		t.Error(err)
	}
	root := t.TempDir()
	touch(t, root, "usr/bin/apt-get")
	err := checkLXC(root, none)
	var missing *LXCMissingError
	if !errors.As(err, &missing) || missing.PVE || !strings.Contains(err.Error(), "apt-get install --no-install-recommends lxc") {
		t.Errorf("Debian: %v", err)
	}
	touch(t, root, "var/lib/dpkg/info/lxc-pve.list")
	err = checkLXC(root, none)
	if !errors.As(err, &missing) || !missing.PVE || strings.HasSuffix(err.Error(), " lxc") || !strings.Contains(err.Error(), "lxc-pve") {
		t.Errorf("Proxmox VE: %v", err)
	}
	if err := checkLXC(t.TempDir(), none); err == nil || strings.Contains(err.Error(), "apt-get") {
		t.Errorf("elsewhere: %v", err)
	}
}

func touch(t *testing.T, elem ...string) string {
	t.Helper()
	p := filepath.Join(elem...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte("Y\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAppArmorUsable(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{"sys/module/apparmor/parameters/enabled", "sys/kernel/security/apparmor/features", "usr/sbin/apparmor_parser"} {
		if appArmorUsable(root) {
			t.Errorf("usable before there was %s", p)
		}
		touch(t, root, p)
	}
	if !appArmorUsable(root) {
		t.Error("not usable")
	}
}

func TestShortLabel(t *testing.T) {
	for in, want := range map[string]string{
		"unconfined": "unconfined",
		"lxc-n_</v/lxc>//&:lxc-n_<-v-lxc>:unconfined (enforce)": "lxc-n_</v/lxc> (enforce)",
		"a//&b": "a",
	} {
		if got := shortLabel(in); got != want {
			t.Errorf("shortLabel(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCheckStateDir(t *testing.T) {
	closed := t.TempDir() // below a 0700 directory, as os.MkdirTemp makes them
	if err := os.Chmod(closed, 0o750); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := checkStateDir(dir, true); err == nil || !strings.Contains(err.Error(), closed) || !strings.Contains(err.Error(), "NATIV_STATE_DIR") {
		t.Errorf("closed directory: %v", err)
	}
	if err := checkStateDir(dir, false); err != nil {
		t.Errorf("privileged: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	mountTmpfs(t, dir, unix.MS_NOEXEC)
	if err := checkStateDir(dir, false); err == nil || !strings.Contains(err.Error(), "noexec") {
		t.Errorf("noexec: %v", err)
	}
}

func mountTmpfs(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, "size=64k"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

func TestCopyBinaryRefusesDynamic(t *testing.T) {
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	to := filepath.Join(t.TempDir(), "x")
	var dynamic *NotStaticError
	if err := copyBinary(sh, to); !errors.As(err, &dynamic) || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("copy of a dynamic %s: %v", sh, err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was copied")
	}
}

func TestDeadline(t *testing.T) {
	for _, test := range []struct {
		p    job.Phase
		want time.Duration
	}{
		{job.Phase{BlockSize: 4096, RuntimeNS: 5e9, MaxBytes: 1 << 40}, 5*time.Second + slack},
		{job.Phase{BlockSize: 4096, RuntimeNS: 5e9, RampTimeNS: 2e9}, 7*time.Second + slack},
		{job.Phase{BlockSize: 1 << 20, MaxBytes: 100 << 20, NumJobs: 4}, 100*time.Second + slack},
		{job.Phase{BlockSize: 1 << 20, Once: true, NumJobs: 1}, 1024*time.Second + slack},
		{job.Phase{BlockSize: 1 << 20, Once: true, NumJobs: 4, Mode: job.Write, Split: true}, 1024*time.Second + slack},
		{job.Phase{BlockSize: 1 << 20, Once: true, NumJobs: 4, Mode: job.RandWrite}, 4096*time.Second + slack},
		// 256 I/Os of 100 ms, each after a pause of a second, and ten a second.
		{job.Phase{BlockSize: 4096, Once: true, NumJobs: 1, Size: job.Size{Bytes: 1 << 20}, ThinkTimeNS: 1e9, ReadIOPS: 10},
			25600*time.Millisecond + 256*time.Second + 25600*time.Millisecond + slack},
	} {
		if got := deadline(&test.p, []int64{1 << 30}); got != test.want {
			t.Errorf("%+v: %v, want %v", test.p, got, test.want)
		}
	}
}

func TestCheckLimits(t *testing.T) {
	mem, other := int64(8192), int64(4096)
	want := Limits{CPUs: []int{2, 0}, Memory: 8192 + 5}
	if err := checkLimits("x", want, cgroup.State{CPUs: []int{0, 2}, Memory: &mem}); err != nil {
		t.Error(err)
	}
	if err := checkLimits("x", Limits{}, cgroup.State{}); err != nil {
		t.Error(err)
	}
	for _, got := range []cgroup.State{
		{CPUs: []int{0}, Memory: &mem}, {CPUs: []int{0, 2}}, {CPUs: []int{0, 2}, Memory: &other}, {Memory: &mem},
	} {
		if err := checkLimits("x", want, got); err == nil {
			t.Errorf("%+v was taken for %+v", got, want)
		}
	}
}

func TestPrepareNeedsRoot(t *testing.T) {
	if _, err := NewPinned(Config{}, Limits{CPUs: []int{0}}).Prepare(t.Context(), nil); !errors.Is(err, ErrRoot) {
		t.Errorf("pinned: %v", err)
	}
	if _, err := NewLXC(Config{}, Limits{}, LXCOptions{}).Prepare(t.Context(), nil); !errors.Is(err, ErrRoot) {
		t.Errorf("lxc: %v", err)
	}
}

// TestMissingController: a machine without the memory controller is told from
// one whose limit did not take.
func TestMissingController(t *testing.T) {
	if os.Geteuid() != 0 || CheckLXC() != nil {
		t.Skip("needs root and LXC")
	}
	root := t.TempDir()
	for name, content := range map[string]string{
		"proc/self/mountinfo":   "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
		"proc/cgroups":          "memory\t0\t1\t0\n",
		"cg/cgroup.controllers": "cpuset cpu\n",
	} {
		if err := os.WriteFile(touch(t, root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	groups, err := cgroup.Detect(root)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Cgroups: groups}
	_, err = NewLXC(c, Limits{CPUs: []int{0}, Memory: 1 << 30}, LXCOptions{}).Prepare(t.Context(), nil)
	var missing *cgroup.MissingError
	if !errors.As(err, &missing) || missing.Controller != "memory" || !missing.Disabled {
		t.Errorf("got %v", err)
	}
}

func TestTail(t *testing.T) {
	var w tail
	for i := range 1000 {
		fmt.Fprintf(&w, "line %d\n", i)
	}
	got := w.String()
	if len(got) > tailSize+3 || !strings.HasPrefix(got, "...") || !strings.HasSuffix(got, "line 999") {
		t.Errorf("%d bytes: %.20q", len(got), got)
	}
}

func TestParseStat(t *testing.T) {
	line := "12 (a) b) c) S 1 12 12 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 98765 1 2"
	state, start, err := parseStat(line)
	if err != nil || state != 'S' || start != 98765 {
		t.Errorf("%c %d %v", state, start, err)
	}
	if _, err := startTime("/proc", os.Getpid()); err != nil {
		t.Error(err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("12 (a) b) c) S 1 12 12 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 98765 1 2")
	f.Add("1 (x")
	f.Add(")")
	f.Fuzz(func(t *testing.T, s string) {
		if state, _, err := parseStat(s); err == nil && state == 0 {
			t.Fatal("no state")
		}
	})
}

func TestIsLeftGroup(t *testing.T) {
	for g, want := range map[string]bool{
		"lxc.monitor.nativ-R": true, "lxc.payload.nativ-R": true, "lxc.monitor.nativ-R-1": true,
		"lxc.monitor.nativ-R2": false, "lxc.monitor.nativ-R-x": false, "lxc.pivot": false, "nativ-R": false,
	} {
		if got := isLeftGroup(g, "nativ-R"); got != want {
			t.Errorf("isLeftGroup(%q) = %v", g, got)
		}
	}
}

func TestRemoveLock(t *testing.T) {
	locks := t.TempDir()
	touch(t, locks, "var/lib/nativ/runs/R/lxc/.nativ-R")
	touch(t, locks, "var/lib/lxc/.other")
	if !removeLock(locks, "/var/lib/nativ/runs/R/lxc", "nativ-R") {
		t.Error("nothing was removed")
	}
	if exists(locks, "var/lib/nativ") || !exists(locks, "var/lib/lxc/.other") {
		t.Error("too much or too little was removed")
	}
	if removeLock(locks, "/var/lib/nativ/runs/R/lxc", "nativ-R") {
		t.Error("removed twice")
	}
}

func TestLXCProcesses(t *testing.T) {
	proc := t.TempDir()
	write := func(pid, cmdline string) {
		if err := os.WriteFile(touch(t, proc, pid, "cmdline"), []byte(cmdline), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("20", "/usr/bin/lxc-start\x00-P\x00/p/lxc\x00-n\x00nativ-R\x00-d\x00")
	write("21", "/usr/bin/lxc-start\x00-P\x00/other\x00-n\x00nativ-R\x00")
	write("22", "[lxc monitor] /p/lxc nativ-R\x00")
	write("23", "[lxc monitor] /p/lxc nativ-R2\x00")
	write("24", "grep\x00/p/lxc\x00nativ-R\x00")
	if got := lxcProcesses(proc, "/p/lxc", "nativ-R", isStarter); !slices.Equal(got, []int{20}) {
		t.Errorf("starters %v", got)
	}
	if got := lxcProcesses(proc, "/p/lxc", "nativ-R", isMonitor); !slices.Equal(got, []int{22}) {
		t.Errorf("monitors %v", got)
	}
}

// TestUndoNothing: an entry is written before its thing is made, so that each
// undo must do with nothing there.
func TestUndoNothing(t *testing.T) {
	state := t.TempDir()
	var groups *cgroup.FS
	if os.Geteuid() == 0 {
		groups, _ = cgroup.Detect("/")
	}
	for _, e := range []journal.Entry{
		{Kind: journal.KindTree, Path: state + "/runs/R"},
		{Kind: journal.KindMount, Path: state + "/runs/R/bench/x"},
		{Kind: journal.KindCgroup, Path: "nativ/no-such-run/ct"},
		{Kind: journal.KindContainer, Path: state + "/runs/R/lxc", Name: "nativ-no-such-run"},
		{Kind: journal.KindProcess, PID: os.Getpid(), StartTime: 1, BootID: "of another boot"},
		{Kind: journal.KindProcess, PID: os.Getpid(), StartTime: 1, BootID: bootID(t)}, // the number is another's now
	} {
		if removed, err := Undoers(groups, state)[e.Kind](t.Context(), e); removed || err != nil {
			t.Errorf("%v: %v, %v", e, removed, err)
		}
	}
}

func bootID(t *testing.T) string {
	t.Helper()
	id, err := journal.BootID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestUndoRefusesWhatIsNotItsOwn(t *testing.T) {
	state, other := t.TempDir(), t.TempDir()
	for _, e := range []journal.Entry{
		{Kind: journal.KindTree, Path: other},
		{Kind: journal.KindTree, Path: state},
		{Kind: journal.KindMount, Path: other},
		{Kind: journal.KindCgroup, Path: "system.slice"},
		{Kind: journal.KindCgroup, Path: "nativ"},
		{Kind: journal.KindContainer, Path: "/var/lib/lxc", Name: "nativ-R"},
		{Kind: journal.KindContainer, Path: state + "/lxc", Name: "web"},
	} {
		if removed, err := Undoers(nil, state)[e.Kind](t.Context(), e); removed || err == nil {
			t.Errorf("%v was not refused", e)
		}
	}
}

func TestUndoMountAndTree(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	state := t.TempDir()
	u := Undoers(nil, state)
	tree := journal.Entry{Kind: journal.KindTree, Path: state + "/runs/R"}
	mount := journal.Entry{Kind: journal.KindMount, Path: tree.Path + "/bench"}
	if err := os.MkdirAll(mount.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	mountTmpfs(t, mount.Path, 0)
	mountTmpfs(t, mount.Path, 0) // one above the other
	busy, err := os.Create(mount.Path + "/busy")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if _, err := u[journal.KindTree](t.Context(), tree); err == nil {
		t.Error("a tree with a mount in it was removed")
	}
	if !exists(mount.Path, "busy") {
		t.Fatal("what is mounted was removed")
	}
	if removed, err := u[journal.KindMount](t.Context(), mount); err != nil || !removed {
		t.Errorf("unmount of a busy mount: %v, %v", removed, err)
	}
	if removed, err := u[journal.KindTree](t.Context(), tree); err != nil || !removed || exists(state, "runs") {
		t.Errorf("remove tree: %v, %v", removed, err)
	}
}

func TestUndoProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started, err := startTime("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	e := journal.Entry{Kind: journal.KindProcess, PID: cmd.Process.Pid, StartTime: started, BootID: bootID(t)}
	if removed, err := Undoers(nil, t.TempDir())[journal.KindProcess](t.Context(), e); !removed || err != nil {
		t.Errorf("%v, %v", removed, err)
	}
	_ = cmd.Wait()
	if err := syscall.Kill(-e.PID, 0); err == nil {
		// The sleep is init's now, which may take a moment to reap it.
		err := until(t.Context(), undoPatience, func() (bool, error) { return syscall.Kill(-e.PID, 0) != nil, nil })
		if err != nil {
			t.Error("a process of the session still lives")
		}
	}
}

// initRole makes the test binary a container's init; see TestMain.
const initRole = "NATIV_TEST_INIT"

func startInit(t *testing.T, alive string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), initRole+"="+alive)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

func init() {
	if alive := os.Getenv(initRole); alive != "" {
		if err := initWith(context.Background(), alive); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func TestInitEndsWithNativ(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alive")
	alive, err := lockedFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := startInit(t, path)
	waitBlocked(t, cmd.Process.Pid)
	alive.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// waitBlocked waits until a process waits for a lock.
func waitBlocked(t *testing.T, pid int) {
	t.Helper()
	err := until(t.Context(), undoPatience, func() (bool, error) {
		b, err := os.ReadFile("/proc/locks")
		return strings.Contains(string(b), "-> FLOCK") && strings.Contains(string(b), " "+strconv.Itoa(pid)+" "), err
	})
	if err != nil {
		t.Fatalf("init does not wait for the lock: %v", err)
	}
}

func TestInitEndsOnSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGPWR} {
		path := filepath.Join(t.TempDir(), "alive")
		alive, err := lockedFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cmd := startInit(t, path)
		waitBlocked(t, cmd.Process.Pid)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
		alive.Close()
	}
}
