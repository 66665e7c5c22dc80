package target

import (
	"fmt"
	"strconv"

	"nativ/internal/record"
)

// A Refusal is the safety gate's no, given before anything is touched: what
// is wrong with the place and what to do instead.
type Refusal struct {
	// Code is one of the Refuse constants; the other fields are what its text
	// is made of, for those that say it in another language.
	Code string
	Dir  string
	// FSType is set where the filesystem's type is the reason.
	FSType string
	// NeedBytes is the file's or the volumes' size and KeepBytes what must stay free,
	// with RefuseSpace and RefuseStorage; FreeBytes is what is free now.
	NeedBytes, KeepBytes, FreeBytes int64
	// TotalBytes is the size of the filesystem, with RefuseSpace; 0 where a full
	// disk was met on the way.
	TotalBytes int64
	// Kind is what Dir is instead of a file that can be measured, with
	// RefuseKind.
	Kind string
	// Pool is the thin pool that is, or would be, too full, with RefusePool. NeedBytes
	// is then the file's size, KeepBytes what must stay free in the pool.
	Pool *record.ThinPool
	// Err is the system's own reason, where it gave one.
	Err error
}

// Reasons for which the gate refuses.
const (
	RefuseMemory   = "memory"    // tmpfs and the like: there is no drive
	RefuseOverlay  = "overlay"   // a union of directories that lie elsewhere
	RefuseReadOnly = "read-only" // mounted read-only
	RefuseSpace    = "space"     // not enough room, or a full disk or quota
	RefuseDirect   = "no-direct" // the filesystem cannot do direct I/O
	RefusePseudo   = "pseudo"    // proc, sysfs: no files of one's own
	// RefuseStorage: a volume does not fit on a Proxmox VE storage; Dir is its name.
	RefuseStorage = "storage-space"
	// RefusePool: the file lies in a thin pool that is too full for it, or broken.
	RefusePool = "thin-pool"
	// RefuseKind: an existing path that is no regular file, or an empty one;
	// Dir is that path.
	RefuseKind = "kind"
	// RefuseNoBlockDevice: what is named as a device is none; Dir is its path.
	RefuseNoBlockDevice = "no-block-device"
	// RefusePermission: the user may not make files there.
	RefusePermission = "permission"
)

// Error says what is wrong and what to do.
func (r *Refusal) Error() string { return r.Reason() + "; " + r.Next() }

// Reason is what is wrong.
func (r *Refusal) Reason() string {
	switch r.Code {
	case RefuseMemory:
		return fmt.Sprintf("measure %s: it is %s, which lies in memory, not on a drive", r.Dir, r.FSType)
	case RefuseOverlay:
		return fmt.Sprintf("measure %s: it is %s, a union of directories whose files lie elsewhere", r.Dir, r.FSType)
	case RefusePseudo:
		return fmt.Sprintf("measure %s: %s holds no files of one's own", r.Dir, r.FSType)
	case RefuseReadOnly:
		return fmt.Sprintf("measure %s: it is mounted read-only", r.Dir)
	case RefuseKind:
		return fmt.Sprintf("measure %s: it is %s, not a file with something in it", r.Dir, r.Kind)
	case RefuseNoBlockDevice:
		return fmt.Sprintf("measure device %s: it is %s, not a block device", r.Dir, r.Kind)
	case RefusePermission:
		return fmt.Sprintf("measure %s: make a file there: %v", r.Dir, r.Err)
	case RefuseStorage:
		return fmt.Sprintf("make a volume on storage %s: %s do not fit: %s are free, of which %s must stay free",
			r.Dir, fileSize(r.NeedBytes), gigabytes(max(0, r.FreeBytes)), gigabytes(r.KeepBytes))
	case RefusePool:
		return r.poolReason()
	case RefuseDirect:
		where := r.Dir
		if where == "" {
			where = "here"
		}
		msg := fmt.Sprintf("measure %s: the filesystem cannot do direct I/O", where)
		if r.Err != nil {
			msg += fmt.Sprintf(" (%v)", r.Err)
		}
		return msg
	}
	if r.Err != nil {
		return fmt.Sprintf("take %s in %s: %v", fileSize(r.NeedBytes), r.Dir, r.Err)
	}
	return fmt.Sprintf("measure %s: a file of %s does not fit: %s are free, of which %s must stay free",
		r.Dir, fileSize(r.NeedBytes), gigabytes(r.FreeBytes), gigabytes(r.KeepBytes))
}

// fileSize is a size as --size takes it, and in the unit of drives and of space.
func fileSize(n int64) string {
	switch {
	case n >= 1<<30/10:
		return scaled(n, 1<<30, "GiB") + " (" + gigabytes(n) + ")"
	case n >= 1<<20/10:
		return scaled(n, 1<<20, "MiB") + " (" + scaled(n, 1e6, "MB") + ")"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

func gigabytes(n int64) string { return scaled(n, 1e9, "GB") }

// scaled writes n with at most one decimal; bytes where it is too small for that.
func scaled(n, unit int64, name string) string {
	if n < unit/10 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	// Rounded down: of what is free there is never more than it says.
	tenths := n / (unit / 10)
	if tenths%10 == 0 {
		return strconv.FormatInt(tenths/10, 10) + " " + name
	}
	return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + " " + name
}

// Next is what to do instead.
func (r *Refusal) Next() string {
	switch r.Code {
	case RefuseStorage:
		return "a full storage stops every guest on it: give a smaller --size, or another --storage (pvesm status lists them)"
	case RefusePool:
		return r.poolNext()
	case RefuseReadOnly:
		return "remount it read-write or give another --dir"
	case RefuseKind:
		if r.Kind == "a device" {
			return "name a file on a filesystem of that drive; a device itself is measured with nativ bench --device DEV, with --read-only or --destroy-data SERIAL"
		}
		return "name a file, or a directory with --directory"
	case RefuseNoBlockDevice:
		return "name a drive, such as /dev/nvme0n1 (nativ info lists them), or measure a directory with --dir"
	case RefusePermission:
		return "give a --dir that you may write to, or run as root"
	case RefuseSpace:
		if r.TotalBytes > 0 && r.TotalBytes <= r.KeepBytes {
			return "10 % of a filesystem and at least 5 GiB stay free, and this one is not larger than that, so that no size fits: give another --dir"
		}
		if r.KeepBytes > 0 {
			return "10 % of a filesystem and at least 5 GiB stay free: free some space, give a smaller --size or another --dir"
		}
		return "free some space, give a smaller --size or another --dir"
	case RefuseOverlay:
		return "give a --dir outside the container, or on a volume of its own"
	}
	return "give a --dir on the drive that you want to measure"
}

// Unwrap returns the system's own reason.
func (r *Refusal) Unwrap() error { return r.Err }

func refuseNoDirect(dir string) error {
	return &Refusal{Code: RefuseDirect, Dir: dir}
}

func refuseFull(dir string, need int64, err error) error {
	return &Refusal{Code: RefuseSpace, Dir: dir, NeedBytes: need, Err: err}
}
