// Package e2e runs the whole program as a user does: real containers, real
// files on the real disk, real signals. It needs root and lxc-start, and skips
// elsewhere with the reason.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nativ/internal/pve/pvetest"
	"nativ/internal/record"
)

// bin is the binary under test, built once.
var bin string

func TestMain(m *testing.M) {
	pvetest.Main()
	if role := os.Getenv("NATIV_E2E_ROLE"); role != "" {
		os.Exit(playRole(role))
	}
	dir, err := os.MkdirTemp("", "nativ-e2e-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Chmod(dir, 0o755) // an ordinary user runs it, too
	bin = filepath.Join(dir, "nativ")
	build := exec.Command("go", "build", "-trimpath", "-o", bin, "nativ/cmd/nativ")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build nativ: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// needRoot skips tests that make containers, mounts and cgroups.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes cgroups, mounts and containers")
	}
}

func needLXC(t *testing.T) {
	t.Helper()
	needRoot(t)
	if _, err := exec.LookPath("lxc-start"); err != nil {
		t.Skip("needs lxc-start: scripts/install-lxc brings it")
	}
}

// A world is one test's own: a directory to measure, a state directory, and a
// check that nothing is left in either, nor anywhere else.
type world struct {
	t          *testing.T
	dir, state string
	user       *syscall.Credential // nil is the user that runs the test
	env        []string
}

// newWorld makes a world on the real disk. Its state directory is apart from
// that of the machine.
func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "nativ-test-")
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(base, 0o755)
	w := &world{t: t, dir: filepath.Join(base, "bench"), state: filepath.Join(base, "state")}
	for _, d := range []string{w.dir, w.state} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			// Whatever went wrong, the next test starts clean.
			w.run("clean")
		}
		os.RemoveAll(base)
	})
	return w
}

// A result is what one call of nativ came to.
type result struct {
	code           int
	stdout, stderr string
}

// command prepares a call of nativ in the world.
func (w *world) command(args ...string) *exec.Cmd {
	c := exec.Command(bin, args...)
	c.Env = append(os.Environ(), "NATIV_STATE_DIR="+w.state, "LC_ALL=C.UTF-8")
	c.Env = append(c.Env, w.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: w.user}
	return c
}

// run calls nativ and waits for it.
func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.start(args...).wait()
}

// bench calls nativ bench in the world's directory with a small, short plan.
func (w *world) bench(more ...string) []string {
	return append([]string{"bench", "--yes", "--dir", w.dir, "--size", "512M", "--runtime", "1s", "--lang", "en"}, more...)
}

// A running is a call of nativ under way.
type running struct {
	w      *world
	cmd    *exec.Cmd
	mu     sync.Mutex
	out    bytes.Buffer
	err    bytes.Buffer
	ended  chan struct{}
	result result
}

// start begins a call of nativ.
func (w *world) start(args ...string) *running {
	w.t.Helper()
	r := &running{w: w, cmd: w.command(args...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = r.locked(&r.out), r.locked(&r.err)
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		err := r.cmd.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.result = result{code: r.cmd.ProcessState.ExitCode(), stdout: r.out.String(), stderr: r.err.String()}
		var x *exec.ExitError
		if err != nil && !errors.As(err, &x) {
			r.result.stderr += "\n" + err.Error()
		}
	}()
	return r
}

// locked guards a buffer that is read while it is written.
func (r *running) locked(b *bytes.Buffer) io.Writer { return lockedWriter{r, b} }

type lockedWriter struct {
	r *running
	b *bytes.Buffer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	return l.b.Write(p)
}

// wait waits for the end, for four minutes at most.
func (r *running) wait() result {
	r.w.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(4 * time.Minute):
		r.cmd.Process.Kill()
		<-r.ended
		r.w.t.Fatalf("nativ %v did not end; stderr:\n%s", r.cmd.Args[1:], r.result.stderr)
	}
	return r.result
}

// until waits until the condition holds while nativ runs.
func (r *running) until(what string, cond func() bool) {
	r.w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if cond() {
			return
		}
		select {
		case <-r.ended:
			r.w.t.Fatalf("nativ ended with %d before %s; stderr:\n%s", r.result.code, what, r.result.stderr)
		default:
		}
		if time.Now().After(deadline) {
			r.cmd.Process.Kill()
			<-r.ended
			r.w.t.Fatalf("%s did not come; stderr:\n%s", what, r.result.stderr)
		}
	}
}

// untilSaid waits until nativ has written the text to stderr.
func (r *running) untilSaid(text string) {
	r.w.t.Helper()
	r.until(fmt.Sprintf("%q", text), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.Contains(r.err.String(), text)
	})
}

func (r *running) signal(s os.Signal) {
	r.w.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.w.t.Fatal(err)
	}
}

// want checks an exit code.
func (res result) want(t *testing.T, code int) result {
	t.Helper()
	if res.code != code {
		t.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", res.code, code, res.stdout, res.stderr)
	}
	return res
}

// record decodes stdout of a call with --json.
func (res result) record(t *testing.T) *record.Record {
	t.Helper()
	rec, err := record.Decode(strings.NewReader(res.stdout))
	if err != nil {
		t.Fatalf("%v\nstdout:\n%.2000s\nstderr:\n%s", err, res.stdout, res.stderr)
	}
	return rec
}

// says checks that stderr or stdout has each of the texts.
func (res result) says(t *testing.T, texts ...string) {
	t.Helper()
	// Where a line was wrapped says nothing.
	said := strings.Join(strings.Fields(res.stderr+"\n"+res.stdout), " ")
	for _, s := range texts {
		if !strings.Contains(said, strings.Join(strings.Fields(s), " ")) {
			t.Errorf("nothing says %q\nstdout:\n%s\nstderr:\n%s", s, res.stdout, res.stderr)
		}
	}
}

// nothingLeftIn checks the directories of the world alone, for tests in which
// another run is still active.
func (w *world) nothingLeftIn() {
	w.t.Helper()
	for _, d := range []string{w.dir, filepath.Join(w.state, "journal"), filepath.Join(w.state, "runs")} {
		if list, err := os.ReadDir(d); err == nil && len(list) > 0 {
			w.t.Errorf("left in %s: %v", d, list)
		}
	}
}

// nothingLeft checks that what runs make is gone: files, runs, journals,
// mounts, cgroups in every hierarchy, loop devices and processes.
func (w *world) nothingLeft() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var left []string
	for {
		if left = w.leftovers(); len(left) == 0 {
			return
		}
		// A process that was just killed needs a moment to be gone.
		select {
		case <-ctx.Done():
			w.t.Fatalf("left behind:\n%s", strings.Join(left, "\n"))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (w *world) leftovers() []string {
	var left []string
	glob := func(pattern string) {
		m, _ := filepath.Glob(pattern)
		left = append(left, m...)
	}
	glob(filepath.Join(w.dir, "*"))
	glob(filepath.Join(w.dir, ".*"))
	left = slices.DeleteFunc(left, func(p string) bool { return filepath.Base(p) == "lost+found" })
	glob(filepath.Join(w.state, "journal", "*"))
	glob(filepath.Join(w.state, "runs", "*"))
	glob("/run/lxc/lock/" + w.state + "/*")
	for _, depth := range []string{"*", "*/*", "*/*/*"} {
		glob("/sys/fs/cgroup/" + depth + "/lxc.monitor*")
		glob("/sys/fs/cgroup/" + depth + "/lxc.pivot*")
	}
	glob("/sys/fs/cgroup/nativ/[0-9]*/cgroup.procs") // runs are named by their date
	glob("/sys/fs/cgroup/*/nativ/[0-9]*/cgroup.procs")
	if b, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, w.state) || strings.Contains(line, " "+w.dir+"/") {
				left = append(left, strings.TrimSpace(line))
			}
		}
	}
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range procs {
		b, err := os.ReadFile(p)
		if err != nil || len(b) == 0 {
			continue
		}
		args := strings.Split(string(b), "\x00")
		if len(args) > 1 && strings.HasSuffix(args[0], "nativ") && (args[1] == "worker" || args[1] == "init") || strings.Contains(string(b), w.state) {
			left = append(left, p+": "+strings.Join(args, " "))
		}
	}
	return left
}

// passes returns the passes of a phase in a place.
func passes(rec *record.Record, phase, place string) []record.Pass {
	var out []record.Pass
	for _, r := range rec.Rounds {
		for _, p := range r.Passes {
			if p.Phase == phase && p.Place == place {
				out = append(out, p)
			}
		}
	}
	return out
}

// place returns the facts of a place.
func place(t *testing.T, rec *record.Record, name string) record.Place {
	t.Helper()
	for _, p := range rec.Places {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("the record has no place %s", name)
	return record.Place{}
}
