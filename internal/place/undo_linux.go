package place

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"nativ/internal/cgroup"
	"nativ/internal/journal"
	"nativ/internal/target"
)

// undoPatience bounds each wait for something to go.
const undoPatience = 10 * time.Second

// Undoers returns how all that a run makes is removed: by the run
// itself and, after it died, by nativ clean. Each of them removes exactly what
// its entry names, however much of it was made, and nothing outside of
// stateDir, the cgroups below nativ, and what LXC left of its containers.
// groups may be nil where there are no cgroups.
func Undoers(groups *cgroup.FS, stateDir string) map[journal.Kind]journal.Undoer {
	u := undo{stateDir: stateDir, groups: groups}
	return map[journal.Kind]journal.Undoer{
		journal.KindContainer: u.container,
		journal.KindMount:     u.mount,
		journal.KindCgroup:    u.cgroup,
		journal.KindProcess:   u.process,
		journal.KindTree:      u.tree,
		journal.KindFile:      target.UndoFile,
		journal.KindDir:       target.UndoDir,
	}
}

type undo struct {
	stateDir string
	groups   *cgroup.FS
}

// until calls f until it reports true or an error, ctx ends, or patience does.
func until(ctx context.Context, patience time.Duration, f func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for {
		if done, err := f(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

// process ends a worker with its session.
func (u *undo) process(ctx context.Context, e journal.Entry) (bool, error) {
	if boot, err := journal.BootID(); err != nil || boot != e.BootID {
		return false, err
	}
	if !lives(e.PID, e.StartTime) {
		return false, nil
	}
	killGroup(e.PID)
	err := until(ctx, undoPatience, func() (bool, error) { return !lives(e.PID, e.StartTime), nil })
	if err != nil {
		return false, fmt.Errorf("end process %d: it still lives, held perhaps by a device: %w", e.PID, err)
	}
	return true, nil
}

// killGroup kills a process and, where it leads a group as all do that were
// started with Setsid, the whole group. (The number of a group is not given to
// another process while the group has members.)
func killGroup(pid int) {
	if pgid, err := syscall.Getpgid(pid); err == nil && pgid == pid {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// lives reports whether the process is there and is the one that started then.
// One that only waits to be reaped is not.
func lives(pid int, started uint64) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state, start, err := parseStat(string(b))
	return err == nil && start == started && state != 'Z' && state != 'X'
}

// cgroup removes a group of nativ's with all that is in it, and those above it
// when they are empty.
func (u *undo) cgroup(ctx context.Context, e journal.Entry) (bool, error) {
	path := strings.TrimPrefix(e.Path, "/")
	if !strings.HasPrefix(path, cgroupTop+"/") {
		return false, fmt.Errorf("remove cgroup %s: it is not below %s", path, cgroupTop)
	}
	removed, err := u.removeGroup(ctx, path)
	if err != nil {
		return removed, err
	}
	if u.groups != nil {
		for p := filepath.Dir(path); p != "."; p = filepath.Dir(p) {
			u.groups.Prune(p)
		}
	}
	return removed, nil
}

func (u *undo) removeGroup(ctx context.Context, path string) (bool, error) {
	if u.groups == nil || !u.groups.Exists(path) {
		return false, nil
	}
	if err := u.groups.Kill(ctx, path); err != nil {
		return false, err
	}
	return u.groups.Remove(ctx, path)
}

// resolve returns path with the links in the directories above it followed, as
// the mount table shows it; "" where it is not there any more.
func resolve(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return filepath.Join(dir, filepath.Base(path)), err
}

// below reports whether path is below the state directory.
func (u *undo) below(path string) bool {
	rel, err := filepath.Rel(u.stateDir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// mounts returns how many mounts lie at a path, or in or below it.
func mounts(path string, inside bool) (int, error) {
	filter := mountinfo.SingleEntryFilter(path)
	if inside {
		filter = mountinfo.PrefixFilter(path)
	}
	ms, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		skip, _ = filter(m)
		return skip, false
	})
	return len(ms), err
}

// mount undoes a bind mount below the state directory.
func (u *undo) mount(ctx context.Context, e journal.Entry) (bool, error) {
	if !u.below(e.Path) {
		return false, fmt.Errorf("unmount %s: it is not below the state directory %s", e.Path, u.stateDir)
	}
	path, err := resolve(e.Path)
	if err != nil || path == "" {
		return false, err
	}
	removed := false
	flags := unix.UMOUNT_NOFOLLOW
	patience := time.Second // somebody may just be looking at it
	for {
		err := until(ctx, patience, func() (bool, error) {
			n, err := mounts(path, false)
			if err != nil || n == 0 {
				return true, err
			}
			switch err := unix.Unmount(path, flags); err {
			case nil:
				removed = true
				return false, nil // there may be one below it
			case unix.EBUSY:
				return false, nil
			default:
				return false, err
			}
		})
		switch {
		case err == nil:
			return removed, nil
		case !errors.Is(err, context.DeadlineExceeded) || flags&unix.MNT_DETACH != 0:
			return removed, fmt.Errorf("unmount %s: %w", path, err)
		}
		// Lazily, as the last resort: it goes when its last user does.
		flags |= unix.MNT_DETACH
	}
}

// tree removes a directory below the state directory with all that is in it. It
// does nothing while something is mounted in it: what would be removed then is
// not nativ's.
func (u *undo) tree(ctx context.Context, e journal.Entry) (bool, error) {
	if !u.below(e.Path) {
		return false, fmt.Errorf("remove %s: it is not below the state directory %s", e.Path, u.stateDir)
	}
	path, err := resolve(e.Path)
	if err != nil || path == "" {
		return false, err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		u.pruneRuns(path)
		return false, nil
	}
	n, err := mounts(path, true)
	if err != nil {
		return false, fmt.Errorf("remove %s: %w", path, err)
	}
	if n > 0 {
		return false, fmt.Errorf("remove %s: %d file systems are still mounted in it; unmount them and run nativ clean", path, n)
	}
	if err := os.RemoveAll(path); err != nil {
		return false, fmt.Errorf("remove %s: %w", path, err)
	}
	u.pruneRuns(path)
	return true, nil
}

// pruneRuns removes the directory of all runs' trees when it is empty.
func (u *undo) pruneRuns(path string) {
	if dir := filepath.Dir(path); filepath.Base(dir) == "runs" {
		_ = syscall.Rmdir(dir)
	}
}

// container ends a container and removes what LXC leaves of it.
func (u *undo) container(ctx context.Context, e journal.Entry) (bool, error) {
	if !u.below(e.Path) || !strings.HasPrefix(e.Name, "nativ-") {
		return false, fmt.Errorf("remove container %s in %s: it is not one of nativ's", e.Name, e.Path)
	}
	removed := false
	// One that is just being started must not come up afterwards. With it
	// goes the parser that may be about to load its AppArmor profile.
	for _, pid := range lxcProcesses("/proc", e.Path, e.Name, isStarter) {
		removed = true
		killGroup(pid)
	}
	if path, err := exec.LookPath("lxc-stop"); err == nil && len(lxcProcesses("/proc", e.Path, e.Name, isMonitor)) > 0 {
		cmd := exec.Command(path, "-k", "-P", e.Path, "-n", e.Name)
		cmd.Dir, cmd.Env = "/", []string{"HOME=/", "LC_ALL=C"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_, _ = runShort(ctx, cmd) // what it achieved is looked at next
		removed = true
	}
	// The monitor cleans up after the container and ends then.
	gone := func() (bool, error) { return len(lxcProcesses("/proc", e.Path, e.Name, isMonitor)) == 0, nil }
	if err := until(ctx, undoPatience, gone); err != nil {
		for _, pid := range lxcProcesses("/proc", e.Path, e.Name, isMonitor) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err := until(ctx, undoPatience, gone); err != nil {
			return removed, fmt.Errorf("stop container %s: its monitor still lives: %w", e.Name, err)
		}
	}
	// The container's processes, should they have outlived the monitor, are
	// in cgroups that have entries of their own. A start that failed leaves
	// groups by other names, and a suffix where it found the name in use.
	if u.groups != nil {
		for _, g := range u.groups.List("") {
			if isLeftGroup(g, e.Name) {
				r, err := u.removeGroup(ctx, g)
				if err != nil {
					return removed, err
				}
				removed = removed || r
			}
		}
	}
	if removeLock("/run/lxc/lock", e.Path, e.Name) {
		removed = true
	}
	unloadProfiles("/sys/kernel/security/apparmor", e.Path, e.Name)
	return removed, nil
}

// isLeftGroup reports whether LXC gives a group of this name to the container.
func isLeftGroup(group, name string) bool {
	for _, prefix := range []string{"lxc.monitor.", "lxc.payload."} {
		rest, ok := strings.CutPrefix(group, prefix+name)
		if !ok {
			continue
		}
		if rest == "" {
			return true
		}
		n, ok := strings.CutPrefix(rest, "-")
		if _, err := strconv.ParseUint(n, 10, 16); ok && err == nil {
			return true
		}
	}
	return false
}

// removeLock removes LXC's lock file of a container, and the directories above
// it that are empty then, up to LXC's own.
func removeLock(locks, lxcPath, name string) bool {
	dir := filepath.Join(locks, lxcPath)
	removed := syscall.Unlink(filepath.Join(dir, "."+name)) == nil
	for d := dir; d != locks && strings.HasPrefix(d, locks); d = filepath.Dir(d) {
		if err := syscall.Rmdir(d); err != nil && err != syscall.ENOENT {
			break
		}
	}
	return removed
}

// unloadProfiles removes the AppArmor profile and the namespace that LXC
// generated for a container, which stay where its monitor was killed.
func unloadProfiles(dir, lxcPath, name string) {
	profile, namespace := profileNames(lxcPath, name)
	_ = syscall.Rmdir(filepath.Join(dir, "policy/namespaces", namespace))
	b, err := os.ReadFile(filepath.Join(dir, "profiles"))
	if err == nil && bytes.Contains(b, []byte(profile+" (")) {
		_ = os.WriteFile(filepath.Join(dir, ".remove"), []byte(profile), 0o200)
	}
}

// profileNames returns how LXC calls them: lxc-NAME_<PATH>, in the namespace
// with the slashes turned into dashes.
func profileNames(lxcPath, name string) (profile, namespace string) {
	return fmt.Sprintf("lxc-%s_<%s>", name, lxcPath),
		fmt.Sprintf("lxc-%s_<%s>", name, strings.ReplaceAll(lxcPath, "/", "-"))
}

// isStarter tells an lxc-start by its arguments, before it has become the
// monitor, isMonitor the monitor by the title that it gives itself.
func isStarter(args []string, lxcPath, name string) bool {
	return len(args) > 0 && filepath.Base(args[0]) == "lxc-start" && slices.Contains(args, lxcPath) && slices.Contains(args, name)
}

func isMonitor(args []string, lxcPath, name string) bool {
	return len(args) > 0 && args[0] == "[lxc monitor] "+lxcPath+" "+name
}

// lxcProcesses lists the processes that are LXC's for a container. The path
// holds the run's id and is nobody else's.
func lxcProcesses(proc, lxcPath, name string, is func(args []string, lxcPath, name string) bool) []int {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid <= 1 || pid == os.Getpid() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(proc, e.Name(), "cmdline"))
		if err != nil {
			continue
		}
		args := strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00")
		if is(args, lxcPath, name) {
			out = append(out, pid)
		}
	}
	return out
}
