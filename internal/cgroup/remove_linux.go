package cgroup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// patience bounds how long Kill and Remove wait for processes to end and for
// the kernel to let go of a group.
const patience = 10 * time.Second

// Exists reports whether a group is there in any hierarchy, named ones
// included.
func (f *FS) Exists(path string) bool {
	for _, h := range f.hierarchies {
		if _, err := os.Lstat(filepath.Join(h.dir, path)); err == nil && check(path) == nil {
			return true
		}
	}
	return false
}

// List returns the names of the groups directly below path ("" is the root) in
// any hierarchy, sorted.
func (f *FS) List(path string) []string {
	var names []string
	for _, h := range f.hierarchies {
		entries, _ := os.ReadDir(filepath.Join(h.dir, path))
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Procs returns the processes in a group and below it, over all hierarchies,
// sorted.
func (f *FS) Procs(path string) ([]int, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	var pids []int
	for _, h := range f.hierarchies {
		for _, dir := range tree(filepath.Join(h.dir, path)) {
			p, err := procs(dir)
			if err != nil {
				return nil, fmt.Errorf("list processes of cgroup %s: %w", path, err)
			}
			pids = append(pids, p...)
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil
}

// tree returns a directory and those below it, deepest first; nothing where it
// is not there or goes meanwhile.
func tree(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, tree(filepath.Join(dir, e.Name()))...)
		}
	}
	return append(out, dir)
}

func procs(dir string) ([]int, error) {
	r, err := os.Open(filepath.Join(dir, "cgroup.procs"))
	if gone(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer r.Close()
	pids, err := parsePIDs(r)
	if gone(err) {
		return nil, nil
	}
	return pids, err
}

// Kill ends every process in a group and below it with SIGKILL and waits until
// none is left. It never ends its own process.
func (f *FS) Kill(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := check(path); err != nil {
		return err
	}
	for {
		pids, err := f.Procs(path)
		if err != nil {
			return err
		}
		if slices.Contains(pids, os.Getpid()) {
			return fmt.Errorf("end the processes of cgroup %s: this process is one of them", path)
		}
		if len(pids) == 0 {
			return nil
		}
		// cgroup.kill (Linux 5.14, v2 only) also gets those that are being
		// forked; the loop gets those that are in v1 hierarchies only.
		for _, h := range f.hierarchies {
			if h.v2 {
				_ = write(filepath.Join(h.dir, path, "cgroup.kill"), "1")
			}
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("end the processes of cgroup %s: %v still live: %w", path, pids, err)
		}
	}
}

// Remove removes a group with those below it from every hierarchy, named ones
// included, and reports whether there was one. Processes must have ended; the
// kernel may need a moment after that, for which it waits.
func (f *FS) Remove(ctx context.Context, path string) (removed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := check(path); err != nil {
		return false, err
	}
	for _, h := range f.hierarchies {
		for {
			dirs := tree(filepath.Join(h.dir, path))
			if len(dirs) == 0 {
				break
			}
			var last error
			for _, dir := range dirs {
				// Rmdir and not os.Remove, which would try to unlink first.
				switch err := syscall.Rmdir(dir); {
				case err == nil:
					removed = true
				case err != syscall.ENOENT:
					last = &fs.PathError{Op: "rmdir", Path: dir, Err: err}
				}
			}
			if last == nil {
				continue // look again: done when nothing is left
			}
			if err := pause(ctx, 5*time.Millisecond); err != nil {
				return removed, fmt.Errorf("remove cgroup %s: %w", path, last)
			}
		}
	}
	return removed, nil
}

// Prune removes a group where nothing is in or below it, in every hierarchy,
// and otherwise leaves it alone.
func (f *FS) Prune(path string) {
	if check(path) != nil {
		return
	}
	for _, h := range f.hierarchies {
		_ = syscall.Rmdir(filepath.Join(h.dir, path))
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
