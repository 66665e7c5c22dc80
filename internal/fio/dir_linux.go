package fio

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const dirPrefix = "nativ-fio-"

// makeDir makes a directory for fio's output, in memory where it can be, so
// that nothing of it is written to what is measured. It is locked for as long
// as the file returned is open, so that others know it is in use.
//
// A worker that is killed leaves its directory behind; the next one removes it.
func makeDir() (dir string, lock *os.File, err error) {
	for _, parent := range []string{"/dev/shm", os.TempDir(), "/"} {
		if dir, err = os.MkdirTemp(parent, dirPrefix); err != nil {
			continue
		}
		if lock, err = lockDir(dir); err != nil {
			_ = os.Remove(dir)
			continue
		}
		sweep(parent)
		return dir, lock, nil
	}
	return "", nil, fmt.Errorf("make a directory for the output of fio: %w", err)
}

func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

// sweep removes this user's directories that nobody locks. Young ones may not be
// locked yet.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	for _, d := range dirs {
		fi, err := os.Lstat(d)
		if err != nil || !fi.IsDir() || time.Since(fi.ModTime()) < time.Minute {
			continue
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
			continue
		}
		if f, err := lockDir(d); err == nil {
			_ = os.RemoveAll(d)
			f.Close()
		}
	}
}
