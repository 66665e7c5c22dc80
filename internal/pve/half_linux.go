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

// tidy prepares the container for its removal: it waits for what works on it,
// ends it, and clears away what a task that was killed left: mounts, loop devices
// of its files, its lock. It returns its configuration, nil if the container is
// gone by now, and its volumes, with those that no configuration names.
func (ct *CT) tidy(ctx context.Context) (*Config, []string, error) {
	before, err := ct.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	volumes := volumesOf(before)
	if err := ct.c.awaitWorker(ctx, ct.ID); err != nil {
		return nil, nil, err
	}
	// The task may have finished, or rolled back.
	cfg, err := ct.look(ctx)
	if errors.Is(err, ErrNoSuch) {
		return nil, volumes, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if cfg.Keys["protection"] == "1" {
		return nil, nil, fmt.Errorf("%w: somebody set protection on it; pct set %d --protection 0, then nativ clean", ErrProtected, ct.ID)
	}
	volumes = volumesOf(cfg)
	if halfMade(cfg) {
		// The ID was clean before Create used it.
		if volumes, err = ct.c.Leftovers(ctx, ct.ID); err != nil {
			return nil, nil, err
		}
	}
	switch cfg.Lock() {
	case "", "create", "destroyed":
	default:
		// Whoever locks it so is waited for by pct destroy.
		return cfg, volumes, nil
	}
	// Of a locked one that is as good as not there, pct would say that it does
	// not run.
	if cfg.Lock() == "" {
		if err := ct.stop(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := ct.release(ctx, volumes); err != nil {
		return nil, nil, err
	}
	if cfg.Lock() != "" {
		if _, err := ct.c.run(ctx, "pct", "unlock", ct.id()); err != nil && !errors.Is(err, ErrNoSuch) {
			return nil, nil, err
		}
	}
	return cfg, volumes, nil
}

// release unmounts the volumes of a container that does not run from where a task
// of the host had them mounted, and frees the loop devices of its files. PVE
// drops the lock before it unmounts, so that an orphan may have mounts and no
// lock.
func (ct *CT) release(ctx context.Context, volumes []string) error {
	if err := unmountBelow(ct.c.path("var/lib/lxc", ct.id(), "rootfs")); err != nil {
		return err
	}
	for _, v := range volumes {
		path, err := ct.c.Path(ctx, v)
		if err != nil {
			return err
		}
		if err := detachLoops(path); err != nil {
			return err
		}
	}
	return nil
}

// halfMade reports whether a configuration is one that PVE writes before a
// container is made, "lock: create", or after its volumes were removed, "lock:
// destroyed"; without any key, it is one of these that was unlocked.
func halfMade(cfg *Config) bool {
	if len(cfg.Raw) > 0 || cfg.Description != "" {
		return false
	}
	switch cfg.Lock() {
	case "create", "destroyed":
		return len(cfg.Keys) == 1
	}
	return len(cfg.Keys) == 0
}

// AwaitIdle waits until nothing works on a guest or its volumes any more: neither
// a task of PVE's nor a program that was started for it, which goes on when
// whoever started it was killed. Only then does what is there say anything.
func (c *Client) AwaitIdle(ctx context.Context, id int) error {
	if err := c.awaitWorker(ctx, id); err != nil {
		return fmt.Errorf("wait for container %d: %w", id, err)
	}
	return nil
}

func (c *Client) awaitWorker(ctx context.Context, id int) error {
	return c.until(ctx, func() (bool, error) {
		pid, err := findWorker("/proc", id)
		if err != nil || pid == 0 {
			return true, err
		}
		return false, fmt.Errorf("process %d of Proxmox VE still works on it: %w", pid, ErrLocked)
	})
}

// findWorker finds the process of a task, which names itself
// "task UPID:node:pid:start:time:vzcreate:ID:user:", or of a program that changes
// the guest, or returns 0.
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
		if taskOf(string(b), id) || changes(string(b), id) {
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

// changes reports whether a command line is that of pct or pvesm, which an
// interpreter may stand in front of, changing a guest or making a volume of it.
func changes(cmdline string, id int) bool {
	args := strings.Split(strings.TrimRight(cmdline, "\x00"), "\x00")
	for i := 0; i+2 < len(args); i++ {
		rest := args[i+1:]
		switch filepath.Base(args[i]) {
		case "pct":
			if slices.Contains([]string{"create", "start", "stop", "destroy", "fstrim", "unlock"}, rest[0]) && rest[1] == fmt.Sprint(id) {
				return true
			}
		case "pvesm":
			if rest[0] == "alloc" && len(rest) > 2 && rest[2] == fmt.Sprint(id) {
				return true
			}
			// A volume of the guest; its ID has the number between dashes.
			if rest[0] == "free" && strings.Contains(rest[1], fmt.Sprintf("-%d-", id)) {
				return true
			}
		}
	}
	return false
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
