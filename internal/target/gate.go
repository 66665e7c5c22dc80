package target

import (
	"fmt"
	"slices"
	"strings"

	"nativ/internal/record"
)

const (
	// keepPercent and keepLeast are what stays free on the filesystem: some
	// get slow when nearly full, and a full one stops whoever else uses it.
	keepPercent = 10
	keepLeast   = 5 << 30
	// sizeStep is the step in which a default size shrinks.
	sizeStep = 256 << 20
)

// Gate decides whether a test file may be made in the target and of which size
// in bytes: want, or where that does not fit as much as does, in whole steps of
// 256 MiB, down to least. 10 % of the filesystem and 5 GiB stay free, whichever
// is more, and of a thin pool 20 %. Where the user asked for a size, least is want.
// A no is a *Refusal.
func Gate(t *record.Target, want, least int64) (size int64, err error) {
	if want <= 0 || least <= 0 || least > want {
		return 0, fmt.Errorf("choose file size: %d bytes, at least %d, make no sense", want, least)
	}
	if code := refusedType(t.FSType); code != "" {
		return 0, &Refusal{Code: code, Dir: t.Dir, FSType: t.FSType}
	}
	if slices.Contains(strings.Split(t.Options, ","), "ro") {
		return 0, &Refusal{Code: RefuseReadOnly, Dir: t.Dir, FSType: t.FSType}
	}
	keep := max(t.TotalBytes/100*keepPercent, keepLeast)
	room := t.FreeBytes - keep
	inPool, full := poolRoom(t, least)
	if full != nil {
		return 0, full
	}
	if want <= min(room, inPool) {
		return want, nil
	}
	if size = min(room, inPool) / sizeStep * sizeStep; size < least {
		if inPool < room {
			return 0, poolTooFull(t, least)
		}
		return 0, &Refusal{Code: RefuseSpace, Dir: t.Dir, NeedBytes: least, KeepBytes: keep, FreeBytes: t.FreeBytes, TotalBytes: t.TotalBytes}
	}
	return size, nil
}

// refusedType is the reason for which no file on the filesystem's type is a
// test of a drive, or "".
func refusedType(fstype string) string {
	switch strings.TrimPrefix(fstype, "fuse.") {
	case "tmpfs", "ramfs", "rootfs", "hugetlbfs", "devtmpfs":
		return RefuseMemory
	case "overlay", "overlayfs", "aufs", "fuse-overlayfs", "unionfs", "unionfs-fuse":
		return RefuseOverlay
	case "proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "configfs", "devpts",
		"efivarfs", "pstore", "bpf", "mqueue", "fusectl", "autofs", "binfmt_misc", "nsfs", "selinuxfs", "lxcfs":
		return RefusePseudo
	}
	return ""
}
