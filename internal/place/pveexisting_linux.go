package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
	"nativ/internal/pve"
)

// find makes ready to work in a container that runs: directories in it, and nativ
// in one of them. The container is neither stopped nor configured.
func (p *PVE) find(ctx context.Context) error {
	p.facts.VMID = p.opt.Existing
	cfg, err := p.opt.Client.Config(ctx, p.facts.VMID)
	if err != nil {
		return err
	}
	if l := cfg.Lock(); l != "" {
		return fmt.Errorf("container %d: %w (%s); measure when that is over", p.facts.VMID, pve.ErrLocked, l)
	}
	p.facts.CPUsPinned = cfg.RawValue(rawCPUs) != ""
	if n, ok := cfg.Int("cores"); ok {
		p.facts.Cores = &n
	}
	volume := PVEVolumeAt(cfg, p.opt.At)
	if volume.Volume != "" {
		p.facts.Volumes = []string{volume.Volume}
	}
	// The rest is the owner's business.
	p.note(cfg, func(key string) bool {
		return key == volume.Key || strings.HasPrefix(key, "lxc.cgroup2.") || strings.HasPrefix(key, "lxc.prlimit.") ||
			slices.Contains([]string{"arch", "cores", "cpulimit", "cpuunits", "features", "memory", "ostype", "swap", "unprivileged"}, key)
	})
	if err := p.hold(ctx); err != nil {
		return err
	}
	uid, gid, _, err := p.idMap()
	if err != nil {
		return err
	}
	// The program on the container's own root, which is never mounted noexec.
	home := "/" + insideDir(p.RunID)
	p.dir, p.binary = path.Join(p.opt.At, insideDir(p.RunID)), home+"/"+insideProgram
	for _, d := range slices.Compact([]string{home, p.dir}) {
		if _, err := p.will(journal.Entry{Kind: journal.KindPVEInside, VMID: p.facts.VMID, Path: d}); err != nil {
			return err
		}
		if err := p.mkdirInside(ctx, d, uid, gid); err != nil {
			return fmt.Errorf("make %s in container %d: %w", d, p.facts.VMID, err)
		}
	}
	return p.install(ctx)
}

// insideDir is the name of a run's directory in a container that is not nativ's,
// and insideProgram that of nativ in it.
func insideDir(run string) string { return pve.HostPrefix + "-" + run }

const insideProgram = "nativ"

// PVEVolumeAt is the mount point of a container's configuration on which the path
// lies, one with the key "" where it is none of these.
func PVEVolumeAt(cfg *pve.Config, at string) pve.MountPoint {
	var best pve.MountPoint
	for _, m := range cfg.Mounts() {
		p := path.Clean("/" + m.Path)
		if m.Path == "" || at != p && !strings.HasPrefix(at, strings.TrimSuffix(p, "/")+"/") {
			continue
		}
		if best.Key == "" || len(p) > len(path.Clean("/"+best.Path)) {
			best = m
		}
	}
	return best
}

// mkdirInside makes a new directory that belongs to the container's root.
func (p *PVE) mkdirInside(ctx context.Context, dir string, uid, gid int) error {
	parent, err := p.opt.Client.OpenInside(ctx, p.facts.VMID, path.Dir(dir), os.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer parent.Close()
	fd, name := int(parent.Fd()), path.Base(dir)
	if err := unix.Mkdirat(fd, name, 0o700); err != nil {
		return err
	}
	return unix.Fchownat(fd, name, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
}

// inside removes a run's directory in a container that was there before, with
// what a run puts there and nothing else.
func (u *undoPVE) inside(ctx context.Context, e journal.Entry) (bool, error) {
	name := path.Base(e.Path)
	if !strings.HasPrefix(name, pve.HostPrefix+"-") {
		return false, fmt.Errorf("remove %s in container %d: it is not named as nativ names its directories", e.Path, e.VMID)
	}
	parent, err := u.client.OpenInside(ctx, e.VMID, path.Dir(e.Path), os.O_RDONLY|unix.O_DIRECTORY)
	switch {
	case errors.Is(err, pve.ErrNoSuch), errors.Is(err, fs.ErrNotExist):
		return false, nil // with the container, or the volume
	case errors.Is(err, pve.ErrNotRunning):
		return false, fmt.Errorf("remove %s in container %d: %w; start it, then nativ clean", e.Path, e.VMID, err)
	case err != nil:
		return false, fmt.Errorf("remove %s in container %d: %w", e.Path, e.VMID, err)
	}
	defer parent.Close()
	removed, err := removeRunDir(int(parent.Fd()), name)
	if err != nil {
		return false, fmt.Errorf("remove %s in container %d: %w", e.Path, e.VMID, err)
	}
	return removed, nil
}

// removeRunDir removes the directory name in an open one. No link is followed: its
// owner could have put some there.
func removeRunDir(parent int, name string) (bool, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	entries, err := dir.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	for _, n := range entries {
		if n != insideProgram && !isTestFile(n) {
			return false, fmt.Errorf("somebody put %q there", n)
		}
	}
	for _, n := range entries {
		if err := unix.Unlinkat(fd, n, 0); err != nil && err != unix.ENOENT {
			return false, fmt.Errorf("%s: %w", n, err)
		}
	}
	if err := unix.Unlinkat(parent, name, unix.AT_REMOVEDIR); err != nil && err != unix.ENOENT {
		return false, err
	}
	return true, nil
}
