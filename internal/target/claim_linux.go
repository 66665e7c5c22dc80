package target

import (
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"nativ/internal/sys"
)

// Close gives the file back. I/O in flight still ends on it, because the
// kernel holds its own reference.
func (c *Claim) Close() error {
	if c.fd < 0 {
		return nil
	}
	err := unix.Close(c.fd)
	c.fd = -1
	if err != nil {
		return fmt.Errorf("close %s: %w", c.described, err)
	}
	return nil
}

// Reopen opens the file that the ticket names and makes a claim on it. It
// follows no symbolic link anywhere in the path and never opens anything but
// the very file for I/O: what lies at the path is looked at first. A file that
// differs is a *Mismatch.
func Reopen(t Ticket) (*Claim, error) {
	fd, err := openPath(t.Path)
	if err != nil {
		return nil, fmt.Errorf("reopen %s: %w", t.Path, err)
	}
	defer unix.Close(fd)
	return claimPath(fd, t, "/sys")
}

// claimPath makes a claim on the file that fd, opened with O_PATH, names.
func claimPath(fd int, t Ticket, sysfs string) (*Claim, error) {
	if t.Device != nil && t.Write && !t.Device.consented() {
		return nil, fmt.Errorf("reopen %s: it is a device, and nobody typed its serial number to have it written over", t.Path)
	}
	if t.Foreign && t.Write && t.Device == nil {
		return nil, fmt.Errorf("reopen %s: it was there before nativ, which writes only to files of its own", t.Path)
	}
	check := t.check
	if t.Device != nil {
		check = func(fd int) error { return t.checkDevice(fd, true, sysfs) }
		if err := t.checkDevice(fd, false, sysfs); err != nil {
			return nil, err
		}
		if t.Write {
			if err := t.checkHeld(fd); err != nil {
				return nil, err
			}
		}
	} else if err := t.check(fd); err != nil {
		return nil, err
	}
	flags := unix.O_RDONLY
	if t.Write {
		flags = unix.O_RDWR
	}
	if t.Direct {
		flags |= unix.O_DIRECT
	}
	switch t.Sync {
	case "sync":
		flags |= unix.O_SYNC
	case "dsync":
		flags |= unix.O_DSYNC
	case "", "none":
	default:
		return nil, fmt.Errorf("reopen %s: sync=%q is none of none, sync, dsync", t.Path, t.Sync)
	}
	// By way of the descriptor: a second look-up of the path could find
	// something else, and merely opening a device or a FIFO does things.
	name := "/proc/self/fd/" + strconv.Itoa(fd)
	rw, err := -1, error(unix.EPERM)
	if t.Foreign && t.Device == nil { // its access time is not ours to change; only its owner may ask for that
		rw, err = open(name, flags|unix.O_NOATIME)
	}
	if err == unix.EPERM {
		rw, err = open(name, flags)
	}
	if err != nil {
		if t.Direct && err == unix.EINVAL {
			return nil, refuseNoDirect(path.Dir(t.Path))
		}
		return nil, fmt.Errorf("reopen %s: %w", t.Path, &os.PathError{Op: "open", Path: "/proc/self/fd", Err: err})
	}
	c := &Claim{fd: rw, size: t.Size, writable: t.Write, memAlign: 1, offAlign: 1, described: t.Path}
	// Once more on what is used from now on; it also holds if /proc lies.
	if err := check(rw); err != nil {
		unix.Close(rw)
		return nil, err
	}
	if t.Direct {
		if c.memAlign, c.offAlign, err = directAlignment(rw); err != nil {
			unix.Close(rw)
			return nil, fmt.Errorf("reopen %s: %w", t.Path, err)
		}
	}
	return c, nil
}

// check compares an open file with the ticket.
func (t *Ticket) check(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("reopen %s: stat: %w", t.Path, err)
	}
	differs := func(what string, got, want any) error {
		return &Mismatch{Path: t.Path, What: what, Got: fmt.Sprint(got), Want: fmt.Sprint(want), Foreign: t.Foreign}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return differs("kind", kindOf(st.Mode), "a regular file")
	case t.Foreign && t.Nonce != "":
		return differs("nonce", t.Nonce, "none, as it is not nativ's")
	case !t.Foreign && (t.Nonce == "" || path.Base(t.Path) != fileName(t.Nonce)):
		return differs("name", path.Base(t.Path), fileName(t.Nonce))
	case unix.Major(st.Dev) != t.DevMajor || unix.Minor(st.Dev) != t.DevMinor:
		return differs("device", devString(st.Dev), devString(unix.Mkdev(t.DevMajor, t.DevMinor)))
	case st.Ino != t.Ino:
		return differs("inode", st.Ino, t.Ino)
	case st.Size != t.Size:
		return differs("size", st.Size, t.Size)
	case !t.Foreign && st.Nlink != 1:
		// A second name could be anybody's way to the data, and a name that
		// is gone means that the run is over.
		return differs("links", st.Nlink, 1)
	}
	return nil
}

func devString(dev uint64) string {
	return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
}

func kindOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFBLK, unix.S_IFCHR:
		return "a device"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFREG:
		return "a regular file"
	}
	return "something else"
}

// openPath opens an absolute, clean path with O_PATH, which opens nothing for
// I/O, and follows no symbolic link on the way. It walks component by
// component rather than by openat2 with RESOLVE_NO_SYMLINKS, which means the
// same: older kernels and the seccomp profiles of some container runtimes
// refuse openat2, and then the walk would be needed as well.
//
// The root of a process, /proc/PID/root, is where a path may begin: no link that
// anybody can make, but the kernel's own way into another mount namespace.
func openPath(p string) (int, error) {
	if !path.IsAbs(p) || path.Clean(p) != p {
		return -1, fmt.Errorf("path %q is not absolute and clean", p)
	}
	done := processRoot(p)
	fd, err := open(done+"/", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: done + "/", Err: err}
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(p[len(done):], "/"), "/") {
		if name == "" { // the root itself
			return fd, nil
		}
		done += "/" + name
		next, err := openat(fd, name, unix.O_PATH|unix.O_NOFOLLOW)
		unix.Close(fd)
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: done, Err: err}
		}
		fd = next
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			unix.Close(fd)
			return -1, &os.PathError{Op: "stat", Path: done, Err: err}
		}
		// With O_PATH|O_NOFOLLOW a link is opened itself. The last component
		// is for the caller to judge.
		if done != p && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			unix.Close(fd)
			return -1, &os.PathError{Op: "open", Path: done, Err: unix.ELOOP}
		}
	}
	return fd, nil
}

// processRoots are paths below the root of a process.
var processRoots = regexp.MustCompile(`^/proc/[1-9][0-9]*/root(/|$)`)

// processRoot is the "/proc/PID/root" that a path begins with, or "".
func processRoot(p string) string {
	return strings.TrimSuffix(processRoots.FindString(p), "/")
}

// open is open(2) without EINTR and without handing the file to children.
func open(name string, flags int) (int, error) { return openat(unix.AT_FDCWD, name, flags) }

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0o600)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// directAlignment returns what direct I/O on an open file demands of buffers
// and offsets, in bytes.
func directAlignment(fd int) (mem, off int64, err error) {
	a, err := sys.FileDirectAlign(fd, "/sys")
	if errors.Is(err, sys.ErrNoDirectIO) {
		return 0, 0, refuseNoDirect("")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("ask for the alignment of direct I/O: %w", err)
	}
	return a.Mem, a.Offset, nil
}
