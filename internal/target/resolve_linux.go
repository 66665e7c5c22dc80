package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// Resolve says where files in dir lie, down to the drives. dir must be an
// existing directory; the target's Dir is its absolute path without symbolic
// links. What the kernel does not show is missing in the target.
func Resolve(dir string, o Roots) (*record.Target, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", dir, err)
	}
	// A look at a directory below an automount point mounts it.
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("resolve %s: %w; create the directory or give another --dir", abs, os.ErrNotExist)
		}
		return nil, fmt.Errorf("resolve %s: %w", abs, err)
	}
	mounts, err := readMounts(o, "self")
	if err != nil {
		return nil, err
	}
	return resolve(real, real, mounts, newWalk(o, mounts), o)
}

// ResolveIn is Resolve for a directory of a process that may have another mount
// namespace. The target's Dir is its path there.
func ResolveIn(pid int, dir string, o Roots) (*record.Target, error) {
	host, err := readMounts(o, "self")
	if err != nil {
		return nil, err
	}
	inside, err := readMounts(o, strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(o.proc(), strconv.Itoa(pid), "root", dir)
	// An absolute link in there would be followed as if it were the host's.
	fd, err := openPath(path)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", dir, err)
	}
	defer unix.Close(fd)
	return resolve(path, filepath.Clean(dir), inside, newWalk(o, host), o)
}

// ResolveDevices describes what lies under block devices that have no filesystem
// of their own here, such as those of a volume group: the stack, and the drives.
func ResolveDevices(nodes []string, o Roots) (stack []record.Layer, drives []record.Drive) {
	w := newWalk(o, nil)
	var names []string
	for _, n := range nodes {
		names = append(names, some(w.nameOfNode(n))...)
	}
	stack = w.down(names)
	return stack, w.drivesOf(stack)
}

func (w *walk) drivesOf(stack []record.Layer) (drives []record.Drive) {
	for _, l := range stack {
		if l.Kind == kindDisk {
			drives = append(drives, readDrive(w.o.sys(), l.Name))
		}
	}
	return drives
}

// resolve does the work of Resolve for a directory that lies at an absolute path
// without links, and that those whose mounts these are call dir.
func resolve(path, dir string, mounts []*mountinfo.Info, w *walk, o Roots) (*record.Target, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, fmt.Errorf("resolve %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil, fmt.Errorf("resolve %s: it is %s, not a directory", dir, kindOf(st.Mode))
	}
	m := mountOf(path, dir, mounts)
	if m == nil {
		return nil, fmt.Errorf("resolve %s: no mount in %s/self/mountinfo leads there", dir, o.proc())
	}
	t := &record.Target{
		Dir: dir, FSType: m.FSType, Source: m.Source, MountPoint: m.Mountpoint,
		Options: options(m), Network: serverAnswers(m.FSType),
		DevMajor: unix.Major(st.Dev), DevMinor: unix.Minor(st.Dev),
	}
	var fs unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(path, &fs) }); err != nil {
		return nil, fmt.Errorf("resolve %s: ask for free space: %w", dir, err)
	}
	unit := int64(fs.Frsize) // 32 bits wide on some machines
	t.TotalBytes, t.FreeBytes = int64(fs.Blocks)*unit, int64(fs.Bavail)*unit
	if fs.Blocks >= fs.Bfree {
		t.UsedBytes = new(int64(fs.Blocks-fs.Bfree) * unit)
	}
	t.Stack = w.down(w.devicesOf(m))
	t.Drives = w.drivesOf(t.Stack)
	for _, d := range t.Drives {
		t.Network = t.Network || remote(d.Transport)
	}
	t.Storage = readStorage(t, path, o)
	t.Trim = readTrim(t, o)
	return t, nil
}

// readMounts reads the mount table of a process, "self" for this one.
func readMounts(o Roots, pid string) ([]*mountinfo.Info, error) {
	f, err := os.Open(filepath.Join(o.proc(), pid, "mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("read mount table: %w", err)
	}
	defer f.Close()
	mounts, err := mountinfo.GetMountsFromReader(f, nil)
	if err != nil {
		return nil, fmt.Errorf("read mount table: %w", err)
	}
	return mounts, nil
}

// mountOf returns the mount that the file at the path lies on. The kernel
// tells its number; before Linux 5.8, and for tables of tests, it is the one
// with the longest mount point, of several at the same one the last, which
// covers the others. dir is the path as those call it whose mounts these are.
func mountOf(path, dir string, mounts []*mountinfo.Info) *mountinfo.Info {
	var stx unix.Statx_t
	flags := unix.AT_STATX_DONT_SYNC | unix.AT_NO_AUTOMOUNT
	if err := unix.Statx(unix.AT_FDCWD, path, flags, unix.STATX_MNT_ID, &stx); err == nil && stx.Mask&unix.STATX_MNT_ID != 0 {
		for _, m := range mounts {
			if uint64(m.ID) == stx.Mnt_id && under(dir, m.Mountpoint) {
				return m
			}
		}
	}
	return longestMount(dir, mounts)
}

func longestMount(path string, mounts []*mountinfo.Info) *mountinfo.Info {
	var best *mountinfo.Info
	for _, m := range mounts {
		if under(path, m.Mountpoint) && (best == nil || len(m.Mountpoint) >= len(best.Mountpoint)) {
			best = m
		}
	}
	return best
}

// under reports whether path is dir or lies below it; both are clean.
func under(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// options joins the options of the mount and of the filesystem. Each may be
// read-only on its own.
func options(m *mountinfo.Info) string {
	all := strings.Split(m.Options, ",")
	for o := range strings.SplitSeq(m.VFSOptions, ",") {
		if o != "" && !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	if slices.Contains(all, "ro") {
		all = slices.DeleteFunc(all, func(o string) bool { return o == "rw" })
	}
	return strings.Join(all, ",")
}

// serverAnswers reports whether files of the type come from a server or from
// the host of a virtual machine, so that no number is a drive's.
func serverAnswers(fstype string) bool {
	switch strings.TrimPrefix(fstype, "fuse.") {
	case "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "ceph-fuse", "glusterfs", "lustre", "afs", "coda",
		"beegfs", "beegfs_nodev", "gpfs", "orangefs", "pvfs2", "panfs", "moosefs", "mfs", "juicefs", "JuiceFS", "ncpfs",
		"sshfs", "s3fs", "rclone", "gcsfuse", "goofys", "davfs", "curlftpfs", "mount-s3", "blobfuse2",
		"9p", "virtiofs", "vboxsf", "vmhgfs", "vmhgfs-fuse", "prl_fs":
		return true
	}
	return false
}
