package pve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// tidyHalf clears away what a pct create left that was killed: its mounts, the
// loop devices of its files, its lock. It returns the container's volumes with
// those that its configuration does not name yet.
func (ct *CT) tidyHalf(ctx context.Context, volumes []string) ([]string, error) {
	if err := ct.c.awaitWorker(ctx, ct.ID); err != nil {
		return nil, err
	}
	// The worker may have finished, or rolled back.
	cfg, err := ct.c.Config(ctx, ct.ID)
	if errors.Is(err, ErrNoSuch) {
		return volumes, nil
	}
	if err != nil {
		return nil, err
	}
	if cfg.Lock() != "create" {
		return volumesOf(cfg), nil
	}
	// The ID was clean before Create used it.
	left, err := ct.c.Leftovers(ctx, ct.ID)
	if err != nil {
		return nil, err
	}
	for _, v := range left {
		if !slices.Contains(volumes, v) {
			volumes = append(volumes, v)
		}
	}
	if err := unmountBelow(ct.c.path("var/lib/lxc", ct.id(), "rootfs")); err != nil {
		return nil, err
	}
	for _, v := range volumes {
		path, err := ct.c.Path(ctx, v)
		if err != nil {
			return nil, err
		}
		if err := detachLoops(path); err != nil {
			return nil, err
		}
	}
	if _, err := ct.c.run(ctx, "pct", "unlock", ct.id()); err != nil && !errors.Is(err, ErrNoSuch) {
		return nil, err
	}
	return volumes, nil
}

// awaitWorker waits until no task of PVE's works on the container any more.
func (c *Client) awaitWorker(ctx context.Context, id int) error {
	return c.until(ctx, func() (bool, error) {
		pid, err := findWorker("/proc", id)
		if err != nil || pid == 0 {
			return true, err
		}
		return false, fmt.Errorf("task %d of Proxmox VE still works on it: %w", pid, ErrLocked)
	})
}

// findWorker finds the process of a task, which names itself
// "task UPID:node:pid:start:time:vzcreate:ID:user:", or returns 0.
func findWorker(proc string, id int) (int, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d", &pid); err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(proc, e.Name(), "cmdline"))
		if err != nil {
			continue // it has ended
		}
		if taskOf(string(b), id) {
			return pid, nil
		}
	}
	return 0, nil
}

// taskOf reports whether a command line is that of a task on a container.
func taskOf(cmdline string, id int) bool {
	upid, ok := strings.CutPrefix(cmdline, "task UPID:")
	f := strings.Split(upid, ":")
	return ok && len(f) > 5 && strings.HasPrefix(f[4], "vz") && f[5] == fmt.Sprint(id)
}

// unmountBelow unmounts a directory and what is mounted in it.
func unmountBelow(dir string) error {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(dir))
	if err != nil {
		return err
	}
	// The last mounted goes first.
	for _, m := range slices.Backward(mounts) {
		if err := unix.Unmount(m.Mountpoint, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("unmount %s: %w", m.Mountpoint, err)
		}
	}
	return nil
}

// detachLoops frees the loop devices of a file.
func detachLoops(file string) error {
	backing, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return err
	}
	for _, b := range backing {
		name, err := os.ReadFile(b)
		if err != nil || strings.TrimSuffix(strings.TrimSpace(string(name)), " (deleted)") != file {
			continue
		}
		dev := "/dev/" + filepath.Base(filepath.Dir(filepath.Dir(b)))
		f, err := os.OpenFile(dev, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		err = unix.IoctlSetInt(int(f.Fd()), unix.LOOP_CLR_FD, 0)
		f.Close()
		if err != nil && !errors.Is(err, unix.ENXIO) {
			return fmt.Errorf("detach %s: %w", dev, err)
		}
	}
	return nil
}
