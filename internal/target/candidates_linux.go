package target

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// leastCandidate is the room in bytes that a place worth measuring has for the
// test file.
const leastCandidate = 1 << 30

// Candidates lists places worth measuring, the one with the most free space
// first: one writable directory on each local filesystem that lies on a drive.
// It leaves out what the gate refuses, boot partitions and small ones.
func Candidates(o Roots) ([]*record.Target, error) {
	mounts, err := readMounts(o, "self")
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	var found []*record.Target
	taken := map[string]bool{}
	// The shortest mount point first: of a filesystem that is mounted more
	// than once, the others are mostly binds of its parts.
	slices.SortStableFunc(mounts, func(a, b *mountinfo.Info) int {
		return cmp.Compare(len(a.Mountpoint), len(b.Mountpoint))
	})
	for _, m := range mounts {
		key := filesystemKey(m)
		if taken[key] || bootPath(m.Mountpoint) || serverAnswers(m.FSType) || refusedType(m.FSType) != "" {
			continue
		}
		for _, dir := range directoriesOn(m, home) {
			t := candidate(dir, m, mounts, o)
			if t != nil {
				found, taken[key] = append(found, t), true
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *record.Target) int { return cmp.Compare(b.FreeBytes, a.FreeBytes) })
	return found, nil
}

// filesystemKey is equal for mounts of the same filesystem, and for those of
// one ZFS pool, whose space and drives are shared.
func filesystemKey(m *mountinfo.Info) string {
	switch {
	case m.FSType == "zfs":
		pool, _, _ := strings.Cut(m.Source, "/")
		return "zfs " + pool
	case m.Major == 0: // btrfs: each subvolume has a number of its own
		return m.FSType + " " + m.Source
	}
	return devString(unix.Mkdev(uint32(m.Major), uint32(m.Minor)))
}

// bootPath reports whether the mount is one that a machine starts from.
func bootPath(p string) bool {
	return under(p, "/boot") || under(p, "/efi")
}

// directoriesOn lists where on the mount to make a file, best first: where
// large temporary files belong, the mount point of what is no system's part,
// the user's home. Nobody wants it in the root directory.
func directoriesOn(m *mountinfo.Info, home string) []string {
	var dirs []string
	if under("/var/tmp", m.Mountpoint) {
		dirs = append(dirs, "/var/tmp")
	}
	if m.Mountpoint != "/" {
		dirs = append(dirs, m.Mountpoint)
	}
	if home != "" && under(home, m.Mountpoint) {
		dirs = append(dirs, home)
	}
	return dirs
}

// candidate resolves dir if a file can be made there and it lies on the mount.
func candidate(dir string, m *mountinfo.Info, mounts []*mountinfo.Info, o Roots) *record.Target {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || unix.Access(real, unix.W_OK|unix.X_OK) != nil {
		return nil
	}
	if on := mountOf(real, real, mounts); on == nil || filesystemKey(on) != filesystemKey(m) {
		return nil
	}
	t, err := resolve(real, real, mounts, newWalk(o, mounts), o)
	if err != nil || t.Network || len(t.Drives) == 0 && t.FSType != "zfs" {
		return nil
	}
	if _, err := Gate(t, leastCandidate, leastCandidate); err != nil {
		return nil
	}
	return t
}
