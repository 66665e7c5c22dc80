// Package placetest is the suite that every place passes: that it is what it
// says, that its failures are told apart, and that nothing of it is left.
package placetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"

	"nativ/internal/cgroup"
	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/target"
)

// A Place is what bench.Place is, which lies above this package.
type Place interface {
	Name() string
	Prepare(ctx context.Context, files []*target.File) (record.Place, error)
	Run(ctx context.Context, p job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure)
	Cgroup() string
}

// An Env is the surroundings of one run.
type Env struct {
	RunID    string
	StateDir string
	Journal  *journal.Journal
	Cgroups  *cgroup.FS // nil without root
	File     *target.File
	Undoers  func(*cgroup.FS, string) map[journal.Kind]journal.Undoer
}

// Want is what a place must turn out to be.
type Want struct {
	CPUs   []int // nil: all that the test may use
	Memory int64 // 0: no limit is asked for
	// Container: other PID namespace than the test's; Unprivileged: other user
	// namespace too.
	Container, Unprivileged bool
	GOMAXPROCS              int
}

// NewEnv makes the surroundings: a state directory that others may pass, and a
// test file in a directory that they may not.
func NewEnv(t *testing.T, undoers func(*cgroup.FS, string) map[journal.Kind]journal.Undoer) *Env {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	state, err := os.MkdirTemp("", "nativ-placetest-")
	must(err)
	t.Cleanup(func() {
		// Not RemoveAll: what a place left there must show, not vanish.
		os.RemoveAll(filepath.Join(state, "journal"))
		if err := os.Remove(state); err != nil {
			t.Errorf("the state directory is not empty: %v", err)
		}
	})
	must(os.Chmod(state, 0o755))
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(err)
	home = filepath.Join(home, "home")
	must(os.Mkdir(home, 0o700))
	e, err := Make(state, home, undoers)
	must(err)
	t.Cleanup(func() { e.Journal.Close() })
	return e
}

// Make makes the surroundings in two directories that are there.
func Make(state, home string, undoers func(*cgroup.FS, string) map[journal.Kind]journal.Undoer) (*Env, error) {
	e := &Env{RunID: "test-" + random(4), StateDir: state, Undoers: undoers}
	var err error
	if os.Geteuid() == 0 {
		if e.Cgroups, err = cgroup.Detect("/"); err != nil {
			return nil, err
		}
	}
	boot, err := journal.BootID()
	if err != nil {
		return nil, err
	}
	e.Journal, err = journal.Create(state, journal.Header{
		RunID: e.RunID, PID: os.Getpid(), UID: os.Getuid(), BootID: boot, Started: time.Now(), Dir: home,
	})
	if err != nil {
		return nil, err
	}
	e.File, err = target.Create(home, 8<<20, random(16), e.Journal)
	return e, err
}

// files are those of every pass.
func (e *Env) files() []*target.File { return []*target.File{e.File} }

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Read is a pass that reads for a while.
func Read(d time.Duration) job.Phase {
	return job.Phase{Name: "read", Mode: job.RandRead, BlockSize: 4096, IODepth: 4, NumJobs: 2, Direct: true, RuntimeNS: int64(d)}
}

// Run runs the suite on the place that make makes.
func Run(t *testing.T, e *Env, p Place, want Want) {
	ctx := t.Context()
	defer e.checkNothingLeft(t)
	defer e.undo(t)

	Contract(t, p, e.files())
	facts, err := p.Prepare(ctx, e.files())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("facts", func(t *testing.T) { e.checkFacts(t, p, facts, want) })
	t.Run("pass", func(t *testing.T) { e.checkPass(t, p, want) })
	t.Run("cancel", func(t *testing.T) { e.checkCancel(t, p) })
	t.Run("worker killed", func(t *testing.T) { e.checkKilled(t, p, facts) })
	t.Run("pass after that", func(t *testing.T) { e.checkPass(t, p, want) })
	if want.Container {
		t.Run("container killed", func(t *testing.T) { e.checkContainerKilled(t, p) })
	}
	t.Run("several files", func(t *testing.T) { e.checkFiles(t, p) })
	t.Run("second Prepare", func(t *testing.T) {
		again, err := p.Prepare(ctx, e.files())
		if err != nil {
			t.Fatal(err)
		}
		e.checkFacts(t, p, again, want)
		e.checkPass(t, p, want)
	})
}

func discard(record.Event) {}

func (e *Env) checkFacts(t *testing.T, p Place, got record.Place, want Want) {
	t.Helper()
	w := got.Worker
	if w == nil {
		t.Fatal("no facts of the worker")
	}
	if got.Name != p.Name() || got.Cgroup != p.Cgroup() {
		t.Errorf("name %q, cgroup %q; want %q, %q", got.Name, got.Cgroup, p.Name(), p.Cgroup())
	}
	cpus := want.CPUs
	if cpus == nil {
		cpus = allowed(t, os.Getpid())
	}
	if !slices.Equal(got.CPUs, cpus) || !slices.Equal(w.CPUs, cpus) {
		t.Errorf("CPUs %v, as the worker sees it %v; want %v", got.CPUs, w.CPUs, cpus)
	}
	switch page := int64(os.Getpagesize()); {
	case want.Memory > 0 && (got.MemoryBytes == nil || *got.MemoryBytes != want.Memory/page*page):
		t.Errorf("memory limit %v, want %d", got.MemoryBytes, want.Memory)
	case want.Memory == 0 && got.MemoryBytes != nil && got.Cgroup == "":
		t.Errorf("memory limit %d without a cgroup", *got.MemoryBytes)
	}
	if w.GOMAXPROCS != want.GOMAXPROCS {
		t.Errorf("GOMAXPROCS %d, want %d", w.GOMAXPROCS, want.GOMAXPROCS)
	}
	pidNS, _ := os.Readlink("/proc/self/ns/pid")
	userNS, _ := os.Readlink("/proc/self/ns/user")
	if (w.PIDNamespace != pidNS) != want.Container {
		t.Errorf("PID namespace %s, the test's is %s", w.PIDNamespace, pidNS)
	}
	if (w.UserNS != userNS) != want.Unprivileged {
		t.Errorf("user namespace %s, the test's is %s", w.UserNS, userNS)
	}
	if (got.Container != nil) != want.Container {
		t.Fatalf("container %+v", got.Container)
	}
	if c := got.Container; c != nil {
		if c.Privileged == want.Unprivileged || (c.IDMap == "") == want.Unprivileged || c.Runtime == "" ||
			(c.AppArmor == "") == kernelHas("apparmor") {
			t.Errorf("container %+v", c)
		}
		t.Logf("%+v", *c)
	}
	if w.Engine.Name == "" {
		t.Error("no facts of the engine")
	}
	t.Logf("%+v", *w)
}

// checkPass runs a pass and looks from outside where its worker runs.
func (e *Env) checkPass(t *testing.T, p Place, want Want) {
	t.Helper()
	looked := false
	// Long enough to look at the worker on a busy machine.
	o, failure := p.Run(t.Context(), Read(800*time.Millisecond), e.files(), func(ev record.Event) {
		if ev.Type != record.EventStarted {
			return
		}
		looked = true
		pid := e.hostPID(t, p, 0)
		if pid == 0 {
			return
		}
		cpus := want.CPUs
		if cpus == nil {
			cpus = allowed(t, os.Getpid())
		}
		if got := allowed(t, pid); !slices.Equal(got, cpus) {
			t.Errorf("the kernel lets the worker run on CPUs %v, want %v", got, cpus)
		}
	})
	if failure != nil || o == nil || o.Read == nil || o.Read.IOs == 0 || o.Stopped != record.StopTime {
		t.Fatalf("outcome %+v, failure %+v", o, failure)
	}
	if !looked {
		t.Error("the worker never said that it had started")
	}
	if e.Cgroups != nil && p.Cgroup() != "" {
		c, err := e.Cgroups.Counters(p.Cgroup())
		if err != nil || c.UsageNS == nil || *c.UsageNS == 0 {
			t.Errorf("counters of %s: %+v, %v", p.Cgroup(), c, err)
		}
	}
}

func (e *Env) checkCancel(t *testing.T, p Place) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o, failure := p.Run(ctx, Read(time.Minute), e.files(), func(ev record.Event) {
		if ev.Type == record.EventInterval {
			cancel()
		}
	})
	if o == nil || o.Read == nil || o.Read.IOs == 0 || o.Stopped != record.StopAsked {
		t.Errorf("outcome %+v, want what was measured until the end", o)
	}
	if failure == nil || failure.Code != record.FailInterrupted {
		t.Errorf("failure %+v", failure)
	}
}

// checkFiles prepares the place for one more file of nativ's and for one that is
// somebody else's, and runs passes on them side by side.
func (e *Env) checkFiles(t *testing.T, p Place) {
	// Where the file lies in the container, that has to stand.
	if _, err := p.Prepare(t.Context(), e.files()); err != nil {
		t.Fatal(err)
	}
	home := filepath.Dir(e.File.Path())
	second, err := target.Create(home, 1<<20, random(16), e.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Remove()
	// A name that LXC's configuration could not hold.
	name := filepath.Join(home, "somebody's = file")
	if err := os.WriteFile(name, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(name)
	foreign, err := target.OpenExisting(name)
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Remove()
	if _, err := p.Prepare(t.Context(), []*target.File{e.File, second, foreign}); err != nil {
		t.Fatal(err)
	}
	write := job.Phase{Name: "write", Mode: job.Write, BlockSize: 4096, IODepth: 1, NumJobs: 1, Direct: true, Once: true}
	var all sync.WaitGroup
	for _, run := range []struct {
		ph    job.Phase
		files []*target.File
	}{
		{Read(200 * time.Millisecond), []*target.File{foreign}},
		{Read(200 * time.Millisecond), []*target.File{e.File, foreign}},
		{write, []*target.File{second}},
	} {
		all.Go(func() {
			if o, failure := p.Run(t.Context(), run.ph, run.files, discard); failure != nil || o == nil {
				t.Errorf("%s on %d files: outcome %+v, failure %+v", run.ph.Name, len(run.files), o, failure)
			}
		})
	}
	all.Wait()
	if o, failure := p.Run(t.Context(), write, []*target.File{foreign}, discard); o != nil || failure == nil || failure.Code != record.FailTicket {
		t.Errorf("a pass that writes to somebody else's file: outcome %+v, failure %+v", o, failure)
	}
	stranger, err := target.OpenExisting(name)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Remove()
	if _, failure := p.Run(t.Context(), Read(time.Millisecond), []*target.File{stranger}, discard); failure == nil || failure.Code != record.FailStart {
		t.Errorf("a file that the place was not prepared for: %+v", failure)
	}
	if b, err := os.ReadFile(name); err != nil || strings.Trim(string(b), "\x00") != "" {
		t.Errorf("somebody else's file changed: %v", err)
	}
}

func (e *Env) checkKilled(t *testing.T, p Place, facts record.Place) {
	o, failure := p.Run(t.Context(), Read(time.Minute), e.files(), func(ev record.Event) {
		if ev.Type == record.EventReady {
			facts.Worker = ev.Worker
		}
		if ev.Type != record.EventStarted {
			return
		}
		pid := e.hostPID(t, p, facts.Worker.PID)
		if pid == 0 {
			pid = facts.Worker.PID
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("kill worker %d: %v", pid, err)
		}
	})
	if o != nil || failure == nil || failure.Code != record.FailWorker {
		t.Errorf("outcome %+v, failure %+v", o, failure)
	}
}

func (e *Env) checkContainerKilled(t *testing.T, p Place) {
	o, failure := p.Run(t.Context(), Read(time.Minute), e.files(), func(ev record.Event) {
		if ev.Type != record.EventStarted {
			return
		}
		pid := e.hostPID(t, p, 1)
		if pid == 0 {
			t.Fatal("the container has no init")
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("kill init %d: %v", pid, err)
		}
	})
	if o != nil || failure == nil || failure.Code != record.FailContainer {
		t.Errorf("outcome %+v, failure %+v", o, failure)
	}
	if o, failure := p.Run(t.Context(), Read(time.Millisecond), e.files(), discard); o != nil || failure == nil || failure.Code != record.FailContainer {
		t.Errorf("a pass in a dead container: outcome %+v, failure %+v", o, failure)
	}
}

// hostPID finds the process of the place that has the number pid inside; with
// 0 the newest that is not an init. It returns 0 where there is none.
func (e *Env) hostPID(t *testing.T, p Place, pid int) int {
	t.Helper()
	if e.Cgroups == nil || p.Cgroup() == "" {
		return 0
	}
	procs, err := e.Cgroups.Procs(p.Cgroup())
	if err != nil {
		t.Error(err)
	}
	best, highest := 0, 1
	for _, host := range procs {
		inside := insidePID(host)
		if pid != 0 && inside == pid {
			return host
		}
		if pid == 0 && inside > highest {
			best, highest = host, inside
		}
	}
	if best == 0 && pid == 0 {
		t.Errorf("no worker in cgroup %s, only %v", p.Cgroup(), procs)
	}
	return best
}

// insidePID is the number of a process in its own namespace.
func insidePID(pid int) int {
	f := strings.Fields(status(pid, "NSpid"))
	if len(f) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(f[len(f)-1])
	return n
}

func status(pid int, key string) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func allowed(t *testing.T, pid int) []int {
	t.Helper()
	cpus, err := job.ParseCPUs(status(pid, "Cpus_allowed_list"))
	if err != nil {
		t.Error(err)
	}
	return cpus
}

func (e *Env) undo(t *testing.T) {
	for _, left := range e.Journal.Undo(context.Background(), e.All()) {
		t.Errorf("undo: %v", left)
	}
}

// All are the undoers of everything that a run in the surroundings makes.
func (e *Env) All() map[journal.Kind]journal.Undoer {
	undoers := e.Undoers(e.Cgroups, e.StateDir)
	return undoers
}

// checkNothingLeft looks for anything that bears the run's id.
func (e *Env) checkNothingLeft(t *testing.T) {
	for _, left := range Leftovers(e.StateDir, e.RunID) {
		t.Errorf("left behind: %s", left)
	}
}

// Leftovers lists what there is of a run on this machine: mounts below the
// state directory, files in it besides the journal, cgroups, LXC's locks,
// AppArmor profiles and processes.
func Leftovers(stateDir, runID string) []string {
	var out []string
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(stateDir))
	if err != nil {
		out = append(out, err.Error())
	}
	for _, m := range mounts {
		out = append(out, "mount "+m.Mountpoint)
	}
	roots := []string{"/run/lxc"}
	if groups, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2")); err == nil {
		for _, g := range groups {
			roots = append(roots, g.Mountpoint)
		}
	}
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.Contains(d.Name(), runID) {
				out = append(out, path)
			}
			return nil
		})
	}
	_ = filepath.WalkDir(filepath.Join(stateDir, "runs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			out = append(out, path)
		}
		return nil
	})
	profiles, _ := os.ReadFile("/sys/kernel/security/apparmor/profiles")
	spaces, _ := filepath.Glob("/sys/kernel/security/apparmor/policy/namespaces/*" + runID + "*")
	for line := range strings.Lines(string(profiles)) {
		if strings.Contains(line, runID) {
			spaces = append(spaces, strings.TrimSpace(line))
		}
	}
	for _, s := range spaces {
		out = append(out, "AppArmor "+s)
	}
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		args, _ := os.ReadFile(p + "/cmdline") // empty for one that is dead and waits to be reaped
		groups, _ := os.ReadFile(p + "/cgroup")
		if len(args) > 0 && strings.Contains(string(args)+string(groups), runID) && p != fmt.Sprintf("/proc/%d", os.Getpid()) {
			out = append(out, fmt.Sprintf("process %s: %q", p, args))
		}
	}
	return out
}

// kernelHas reports whether the kernel runs a security module.
func kernelHas(module string) bool {
	b, err := os.ReadFile("/sys/kernel/security/lsm")
	if err != nil { // securityfs is not mounted: AppArmor shows itself in /proc, too
		_, err = os.Stat("/proc/self/attr/" + module)
		return err == nil
	}
	return slices.Contains(strings.Split(strings.TrimSpace(string(b)), ","), module)
}
