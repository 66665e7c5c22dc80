package pve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Client calls the programs of this Proxmox VE host.
type Client struct {
	root string
	// LockWait is how long a call is repeated while somebody else holds a
	// lock, and how long what somebody else does is waited for.
	LockWait time.Duration
	// Poll is the pause between two tries.
	Poll time.Duration
	// EndWait is how long a program that was asked to end may take: pct rolls
	// back.
	EndWait time.Duration
}

// New returns a client; what it reads itself, it reads below root.
func New(root string) *Client {
	return &Client{root: root, LockWait: 2 * time.Minute, Poll: 500 * time.Millisecond, EndWait: 5 * time.Minute}
}

// Detect reports whether this is a Proxmox VE host.
func Detect(root string) bool {
	if st, err := os.Stat(filepath.Join(root, "etc/pve")); err != nil || !st.IsDir() {
		return false
	}
	for _, p := range []string{"pct", "pvesm", "pvesh"} {
		if _, err := exec.LookPath(p); err != nil {
			return false
		}
	}
	return true
}

func (c *Client) path(elem ...string) string {
	return filepath.Join(append([]string{c.root}, elem...)...)
}

// answer is what a program printed.
type answer struct{ stdout, stderr string }

// run runs a program to its end. When ctx ends, the program is asked to end and
// waited for.
//
// Its output goes to memory and not through a pipe: were nativ killed, a pipe
// would break, and end pct in the middle of what it does.
func (c *Client) run(ctx context.Context, program string, args ...string) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, fmt.Errorf("%s: %w", program, err)
	}
	cmd, err := command(program, args...)
	if err != nil {
		return answer{}, err
	}
	stdout, err := memory("stdout")
	if err != nil {
		return answer{}, err
	}
	defer stdout.Close()
	stderr, err := memory("stderr")
	if err != nil {
		return answer{}, err
	}
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		return answer{}, fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err = <-ended:
		case <-time.After(c.EndWait):
			return answer{}, fmt.Errorf("%s %s: process %d was asked to end and still runs: %w",
				program, first(args), cmd.Process.Pid, ctx.Err())
		}
	}
	var a answer
	if a.stdout, err = content(stdout, err); err == nil || isExit(err) {
		a.stderr, err = content(stderr, err)
	}
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil && isExit(err):
		return a, fmt.Errorf("%s %s: %w", program, first(args), ctx.Err())
	case isExit(err):
		return a, classify(program, args, exitCode(cmd.ProcessState), a.stderr, a.stdout)
	}
	return a, fmt.Errorf("%s %s: %w", program, first(args), err)
}

// change runs a program that needs a lock, again and again while another has
// it, and while /etc/pve takes no changes.
func (c *Client) change(ctx context.Context, program string, args ...string) (answer, error) {
	var a answer
	err := c.until(ctx, func() (done bool, err error) {
		a, err = c.run(ctx, program, args...)
		return !errors.Is(err, ErrLocked) && !errors.Is(err, ErrBusy), err
	})
	return a, err
}

// until calls f until it is done; the last error counts when LockWait or ctx
// ends.
func (c *Client) until(ctx context.Context, f func() (done bool, err error)) error {
	end := time.Now().Add(c.LockWait)
	for {
		done, err := f()
		if done {
			return err
		}
		if left := time.Until(end); left <= 0 {
			return fmt.Errorf("waited for %v: %w", c.LockWait, err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(c.Poll):
		}
	}
}

// command makes a call in a session of its own, so that what a user types in a
// terminal reaches nativ alone.
func command(program string, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

func memory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make memory for what a program prints: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// content returns what was printed, and err.
func content(f *os.File, err error) (string, error) {
	if _, serr := f.Seek(0, io.SeekStart); serr != nil {
		return "", serr
	}
	b, rerr := io.ReadAll(f)
	if rerr != nil {
		return "", rerr
	}
	return string(b), err
}

func isExit(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}

// exitCode is 128+n for a program that signal n ended, as a shell says.
func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

func first(args []string) string { return strings.Join(args[:min(len(args), 1)], "") }
