package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockFile is held shared by whoever has the database open and exclusively by
// whoever renames it: SQLite's own locks are on the file and not on its name, and
// a process that still has a renamed one open would write into it.
const lockFile = File + ".lock"

// lockShared returns nil where the directory cannot be written: nobody can
// rename anything there either.
func lockShared(ctx context.Context, dir string) (*os.File, error) {
	f, err := lock(ctx, dir, syscall.LOCK_SH)
	if isReadOnly(err) {
		return nil, nil
	}
	return f, err
}

func lockExclusive(ctx context.Context, dir string) (*os.File, error) {
	return lock(ctx, dir, syscall.LOCK_EX)
}

// lock takes an flock(2), which ends with its process.
func lock(ctx context.Context, dir string, how int) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, busyTime)
	defer cancel()
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock %s: other processes have it open; end them and try again: %w", path, ctx.Err()), f.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
