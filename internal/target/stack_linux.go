package target

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// Kinds of layers; see record.Layer.
const (
	kindDisk      = "disk"
	kindPartition = "partition"
	kindLoop      = "loop"
	kindLVM       = "lvm"
	kindCrypt     = "crypt"
	kindMultipath = "multipath"
	kindDM        = "dm"
	kindMD        = "md"
	kindBcache    = "bcache"
	kindZvol      = "zvol" // of ZFS, which does not show what it lies on
)

// maxLayers bounds a walk: real stacks have a dozen.
const maxLayers = 512

// A walk goes from block devices down to the drives under them.
type walk struct {
	o      Roots
	mounts []*mountinfo.Info
	drives map[string][]string // by kernel name of the upper device
}

func newWalk(o Roots, mounts []*mountinfo.Info) *walk {
	return &walk{o: o, mounts: mounts, drives: map[string][]string{}}
}

// devicesOf returns the kernel names of the block devices that the filesystem
// of the mount lies on; none where the kernel shows none (ZFS, networks).
func (w *walk) devicesOf(m *mountinfo.Info) []string {
	// Filesystems on one device have its number. Those with an anonymous one
	// (btrfs, bcachefs: several devices) name a device as the source.
	if m.Major != 0 {
		return some(w.name(uint32(m.Major), uint32(m.Minor)))
	}
	if m.FSType != "btrfs" && m.FSType != "bcachefs" {
		return nil
	}
	var names []string
	for src := range strings.SplitSeq(m.Source, ":") { // bcachefs joins them
		if n := w.nameOfNode(src); n != "" {
			names = append(names, n)
		}
	}
	if m.FSType == "btrfs" && len(names) == 1 {
		return w.btrfsDevices(names[0])
	}
	return names
}

// btrfsDevices returns all devices of the btrfs filesystem that name is one of.
func (w *walk) btrfsDevices(name string) []string {
	// /sys/fs/btrfs/UUID/devices holds links named as the devices (btrfs's
	// sysfs.c, btrfs_sysfs_add_device).
	dirs, _ := filepath.Glob(filepath.Join(w.o.sys(), "fs/btrfs/*/devices", name))
	for _, d := range dirs {
		entries, err := os.ReadDir(filepath.Dir(d))
		if err != nil || len(entries) == 0 {
			continue
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	return []string{name}
}

// name returns the kernel name of the block device, or "".
func (w *walk) name(major, minor uint32) string {
	real, err := filepath.EvalSymlinks(filepath.Join(w.o.sys(), "dev/block", devString(unix.Mkdev(major, minor))))
	if err != nil {
		return ""
	}
	return filepath.Base(real)
}

// nameOfNode returns the kernel name of the block device whose node lies at
// the path, or "".
func (w *walk) nameOfNode(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return ""
	}
	return w.name(unix.Major(st.Rdev), unix.Minor(st.Rdev))
}

// down returns the devices and all under them, breadth first.
func (w *walk) down(names []string) []record.Layer {
	var stack []record.Layer
	seen := map[string]bool{}
	for queue := slices.Clone(names); len(queue) > 0 && len(stack) < maxLayers; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		l := w.layer(queue[0])
		stack = append(stack, l)
		queue = append(queue, l.Below...)
	}
	return stack
}

// drivesUnder returns the drives under the devices, sorted.
func (w *walk) drivesUnder(names []string) []string {
	var all []string
	for _, n := range names {
		drives, known := w.drives[n]
		if !known {
			for _, l := range w.down([]string{n}) {
				if l.Kind == kindDisk {
					drives = append(drives, l.Name)
				}
			}
			w.drives[n] = drives
		}
		all = append(all, drives...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// layer reads what kind of device name is and what lies right under it.
func (w *walk) layer(name string) record.Layer {
	dir, err := filepath.EvalSymlinks(filepath.Join(w.o.sys(), "class/block", name))
	l := record.Layer{Name: name, Kind: kindDisk}
	if err != nil {
		return l
	}
	switch {
	case exists(dir, "partition"):
		l.Kind, l.Below = kindPartition, []string{filepath.Base(filepath.Dir(dir))}
	case exists(dir, "loop"): // only while a file is attached
		l.Kind, l.Title = kindLoop, readString(dir, "loop/backing_file")
		l.DirectIO = readBool(dir, "loop/dio")
		l.Below = w.backing(l.Title)
	case exists(dir, "dm"):
		l.Kind, l.Title = dmKind(readString(dir, "dm/uuid")), readString(dir, "dm/name")
		l.Below = slaves(dir)
	case zvolDevice.MatchString(name):
		l.Kind = kindZvol
	case exists(dir, "md"):
		l.Kind, l.Title = kindMD, readString(dir, "md/level")
		l.Below = slaves(dir)
	case exists(dir, "bcache") && len(slaves(dir)) > 0:
		// A backing or caching device has a bcache directory too, and no
		// slaves of its own.
		l.Kind, l.Below = kindBcache, slaves(dir)
	}
	l.DiscardGranularity, l.DiscardMax = discard(dir)
	return l
}

// dmKind tells the user of the device mapper by the prefix that it gives its
// UUIDs (libdm: "LVM-", cryptsetup: "CRYPT-", multipath-tools: "mpath-").
func dmKind(uuid string) string {
	switch prefix, _, _ := strings.Cut(uuid, "-"); {
	case prefix == "LVM":
		return kindLVM
	case prefix == "CRYPT":
		return kindCrypt
	case prefix == "mpath":
		return kindMultipath
	case strings.HasPrefix(prefix, "part"): // kpartx: "part1-mpath-..."
		return kindPartition
	}
	return kindDM
}

// slaves returns the names of the devices that dir's device is made of.
func slaves(dir string) []string {
	entries, err := os.ReadDir(filepath.Join(dir, "slaves"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// backing returns the block devices that a loop device's file lies on, which
// may be a block device itself. None is known where the path means nothing
// here: the file is deleted, or lies in another mount namespace.
func (w *walk) backing(file string) []string {
	if !path.IsAbs(file) {
		return nil
	}
	return w.devicesOfFile(file)
}

// devicesOfFile returns the block devices that the file at the path lies on,
// or the device itself if it is one. It never waits for a server.
func (w *walk) devicesOfFile(file string) []string {
	stx, err := look(file)
	if err != nil {
		return nil
	}
	return w.devicesOfStat(&stx, func() string { return file })
}

// devicesOfStat is devicesOfFile for what stat said; name is asked for the
// file's path only where the device number does not tell.
func (w *walk) devicesOfStat(stx *unix.Statx_t, name func() string) []string {
	switch {
	case stx.Mode&unix.S_IFMT == unix.S_IFBLK:
		return some(w.name(stx.Rdev_major, stx.Rdev_minor))
	case stx.Dev_major != 0:
		return some(w.name(stx.Dev_major, stx.Dev_minor))
	}
	if m := w.mount(stx, name()); m != nil {
		return w.devicesOf(m)
	}
	return nil
}

func (w *walk) mount(stx *unix.Statx_t, name string) *mountinfo.Info {
	if stx.Mask&unix.STATX_MNT_ID != 0 {
		for _, m := range w.mounts {
			if uint64(m.ID) == stx.Mnt_id {
				return m
			}
		}
	}
	// A mount of another namespace: only a filesystem that is also mounted
	// here can be told.
	for _, m := range w.mounts {
		if uint32(m.Major) == stx.Dev_major && uint32(m.Minor) == stx.Dev_minor {
			return m
		}
	}
	if path.IsAbs(name) {
		return longestMount(name, w.mounts)
	}
	return nil
}

// look stats a file without asking a server and without mounting anything.
func look(file string) (unix.Statx_t, error) {
	var stx unix.Statx_t
	flags := unix.AT_STATX_DONT_SYNC | unix.AT_NO_AUTOMOUNT
	err := unix.Statx(unix.AT_FDCWD, file, flags, unix.STATX_TYPE|unix.STATX_SIZE|unix.STATX_MNT_ID, &stx)
	return stx, err
}

func some(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
