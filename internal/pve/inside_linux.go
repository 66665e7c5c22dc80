package pve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// Command makes a call of a program in a container that runs. It gets nothing
// of the host's environment. Its stdin and stdout are passed through; its exit
// code is pct's. Ending pct does not end it: it must end by itself, at the end
// of its input or at a deadline.
func (c *Client) Command(id int, argv ...string) (*exec.Cmd, error) {
	return command("pct", append([]string{"exec", strconv.Itoa(id), "--keep-env", "0", "--"}, argv...)...)
}

// Exec runs a short program in a container and returns what it printed.
func (c *Client) Exec(ctx context.Context, id int, argv ...string) (string, error) {
	a, err := c.run(ctx, "pct", append([]string{"exec", strconv.Itoa(id), "--keep-env", "0", "--"}, argv...)...)
	return a.stdout, err
}

// Push copies a file into a container that runs and checks that it arrived:
// pct push ends well when it failed.
func (c *Client) Push(ctx context.Context, id int, file, inside string, mode fs.FileMode) error {
	want, err := hashFile(file)
	if err != nil {
		return err
	}
	a, err := c.change(ctx, "pct", "push", strconv.Itoa(id), file, inside, "--perms", fmt.Sprintf("%o", mode.Perm()))
	if err != nil {
		return err
	}
	got, err := c.hashInside(ctx, id, inside)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look at %s in container %d: %w", inside, id, err)
	case err != nil || !bytes.Equal(got, want):
		why := ErrNotPushed
		// Its message is that of the program which said that it worked.
		if e := classify("pct", nil, 0, a.stderr, ""); e.Kind != nil {
			why = errors.Join(ErrNotPushed, e.Kind)
		}
		return fmt.Errorf("push %s to %s in container %d: %w: %s", file, inside, id, why, oneLine(a.stderr))
	}
	return nil
}

func (c *Client) hashInside(ctx context.Context, id int, inside string) ([]byte, error) {
	f, err := c.OpenInside(ctx, id, inside, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hash(f)
}

func hashFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hash(f)
}

func hash(r io.Reader) ([]byte, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// OpenInside opens a file of a container that runs, as its first process sees
// it. Links are followed in the container and do not lead out of it, whatever
// it put there.
func (c *Client) OpenInside(ctx context.Context, id int, inside string, flags int) (*os.File, error) {
	s, err := c.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	if s.PID == 0 {
		return nil, fmt.Errorf("container %d: %w", id, ErrNotRunning)
	}
	return openBelow(fmt.Sprintf("/proc/%d/root", s.PID), inside, flags)
}

func openBelow(root, path string, flags int) (*os.File, error) {
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	defer unix.Close(dir)
	// Without O_NONBLOCK a FIFO of that name would hold us up.
	fd, err := unix.Openat2(dir, path, &unix.OpenHow{
		Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NONBLOCK), Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	// Kept, it would make I/Os of io_uring fail instead of wait.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
