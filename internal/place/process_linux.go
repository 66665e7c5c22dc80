package place

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
	"nativ/internal/worker"
)

// endPatience is how long a worker may take to end after its stdin was closed
// and it has said its last line.
const endPatience = 5 * time.Second

// A process is a started worker, or the lxc-attach in front of one.
type process struct {
	worker.Client
	cmd    *exec.Cmd
	stderr tail
	item   *journal.Item
	ended  chan struct{} // closed after Wait
	err    error         // of Wait
}

// start starts a worker in a session of its own, so that Ctrl-C on the
// terminal reaches nativ only, and writes it into the journal. It waits for its
// request then, without which it does nothing.
//
// With cpus, the process starts on these. A cgroup that it is moved to later
// does not do that job: Go's runtime asks for the number of CPUs once, at the
// start, and spins on locks where there is more than one, which made the
// pinned worker differ from that in the container, who is born there.
func (c *Config) start(cmd *exec.Cmd, cpus []int) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = &p.stderr
	// A worker in a container may outlive lxc-attach and hold the pipes.
	cmd.WaitDelay = time.Second
	var err error
	if p.Stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	if p.Stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	if err := startOn(cmd, cpus); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	if err := c.note(p); err != nil {
		p.kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	return p, nil
}

// startOn starts a command with an affinity, which a child inherits from the
// thread that forks it.
func startOn(cmd *exec.Cmd, cpus []int) error {
	if len(cpus) == 0 {
		return cmd.Start()
	}
	runtime.LockOSThread()
	var old, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("read CPU affinity: %w", err)
	}
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("set CPU affinity: %w", err)
	}
	err := cmd.Start()
	// A thread that cannot be set free again is not given back to the
	// runtime.
	if unix.SchedSetaffinity(0, &old) == nil {
		runtime.UnlockOSThread()
	}
	return err
}

// note writes a process into the journal.
func (c *Config) note(p *process) error {
	pid := p.cmd.Process.Pid
	started, err := startTime("/proc", pid)
	if err != nil {
		return err
	}
	boot, err := journal.BootID()
	if err != nil {
		return err
	}
	p.item, err = c.Journal.Will(journal.Entry{Kind: journal.KindProcess, PID: pid, StartTime: started, BootID: boot})
	return err
}

// kill ends the whole session.
func (p *process) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// diePatience is how long a killed worker may take to be gone. The kernel holds
// a process until its I/Os are done, which on a drive that has stalled for good
// is never.
const diePatience = 15 * time.Second

// end closes the worker's stdin and waits for it to end, which it does by
// itself; where it does not, it is killed. It reports whether that was needed.
// A worker that a stalled drive holds even then stays in the journal, and the
// run goes on without waiting for it.
func (p *process) end() (killed bool) {
	p.Stdin.Close()
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t := time.NewTimer(endPatience)
	defer t.Stop()
	select {
	case <-p.ended:
	case <-t.C:
		killed = true
		p.kill()
		t.Reset(diePatience)
		select {
		case <-p.ended:
		case <-t.C:
			return killed
		}
	}
	_ = p.item.Gone() // else an undo finds nothing, which is no harm
	return killed
}

// how says how the process ended, after end, for the detail of a failure.
func (p *process) how() string {
	select {
	case <-p.ended:
	default:
		return "still held by the kernel after it was killed"
	}
	s := "ended with exit code 0"
	if p.err != nil {
		s = p.err.Error()
	}
	// lxc-attach says as 128 + n that signal n ended the worker.
	if n := p.cmd.ProcessState.ExitCode() - 128; n > 0 && n <= 64 {
		s = "signal: " + syscall.Signal(n).String()
	}
	if said := p.stderr.String(); said != "" {
		s += ": " + said
	}
	return s
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

// tailSize is enough for the last lines of a message, and for the head of
// where a Go program crashed.
const tailSize = 2048

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "?"))
	if t.cut {
		s = "..." + s
	}
	return s
}

// startTime returns when a process started, in clock ticks since boot.
func startTime(proc string, pid int) (uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("%s/%d/stat", proc, pid))
	if err != nil {
		return 0, fmt.Errorf("read start time of process %d: %w", pid, err)
	}
	_, t, err := parseStat(string(b))
	if err != nil {
		return 0, fmt.Errorf("read start time of process %d: %w", pid, err)
	}
	return t, nil
}

// parseStat returns the state (field 3) and the start time (field 22) of
// /proc/PID/stat (proc_pid_stat(5)). The name in field 2 may hold anything, a
// closing parenthesis included; no later field does.
func parseStat(s string) (state byte, start uint64, err error) {
	i := strings.LastIndexByte(s, ')')
	f := strings.Fields(s[i+1:])
	if i < 0 || len(f) < 20 || len(f[0]) != 1 {
		return 0, 0, fmt.Errorf("process status %.80q has too few fields", s)
	}
	if c := f[0][0]; c < 'A' || c > 'z' {
		return 0, 0, fmt.Errorf("process status %.80q has no state", s)
	}
	start, err = strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("process status: start time: %w", err)
	}
	return f[0][0], start, nil
}
