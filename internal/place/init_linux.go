package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Init is the whole life of a container's first process: it reaps what the
// kernel gives it, and ends, and the container with it, when nativ on the host
// is gone, when it gets SIGTERM or SIGPWR, or when ctx ends.
//
// That nativ is gone shows by a lock: nativ holds it exclusively on a file that
// is bound into the container, and the kernel lets go of it whatever ends
// nativ. Init waits for a shared one. A pipe would not do: lxc-start closes
// what it inherits. In a container of Proxmox VE there is no such file, and only
// signals end it: Proxmox VE starts and stops it, and nativ clean removes it.
func Init(ctx context.Context) error { return initWith(ctx, alivePath) }

func initWith(ctx context.Context, alive string) error {
	runtime.GOMAXPROCS(1) // it must not be seen in any measurement
	ctx, stop := signal.NotifyContext(ctx, unix.SIGTERM, unix.SIGINT, unix.SIGPWR)
	defer stop()
	child := make(chan os.Signal, 1)
	signal.Notify(child, unix.SIGCHLD)

	gone := make(chan error, 1)
	switch f, err := os.Open(alive); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("watch nativ: %w", err)
	default:
		go func() {
			defer f.Close()
			gone <- waitForLock(int(f.Fd()))
		}()
	}

	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-gone:
			if err != nil {
				return fmt.Errorf("watch nativ: lock %s: %w", alive, err)
			}
			return nil
		case <-child:
			reap()
		}
	}
}

func waitForLock(fd int) error {
	for {
		// A blocking system call in a thread of its own; nothing to poll.
		if err := unix.Flock(fd, unix.LOCK_SH); err != unix.EINTR {
			return err
		}
	}
}

// reap takes every child that has ended. One SIGCHLD may stand for many.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid <= 0 || err != nil {
			return
		}
	}
}
