package target

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrNoTmpfile says that the filesystem cannot make a file without a name, so
// that nothing can be tried there without leaving a trace.
var ErrNoTmpfile = errors.New("the filesystem cannot make a file without a name (O_TMPFILE)")

// ClaimUnnamed makes a claim on a new file of size bytes in dir that has no
// name and can never get one: it is gone when it is closed, whatever happens.
// With it an engine can try direct I/O before the user has agreed to anything.
//
// It returns ErrNoTmpfile where the filesystem has no such files, and a
// *Refusal with RefuseDirect where it has them but not for direct I/O, or with
// the code that says why no file can be made.
func ClaimUnnamed(dir string, size int64) (*Claim, error) {
	// O_EXCL: linkat can never give it a name (open(2)).
	const flags = unix.O_TMPFILE | unix.O_RDWR | unix.O_EXCL
	fd, err := open(dir, flags|unix.O_DIRECT)
	if err == unix.EINVAL {
		plain, err := open(dir, flags)
		if err == nil {
			unix.Close(plain)
			return nil, refuseNoDirect(dir)
		}
	}
	switch err {
	case nil:
	case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL: // EISDIR: kernels without O_TMPFILE
		return nil, fmt.Errorf("try direct I/O in %s: %w", dir, ErrNoTmpfile)
	case unix.ENOSPC, unix.EDQUOT:
		return nil, refuseFull(dir, size, err)
	case unix.EACCES, unix.EPERM:
		return nil, &Refusal{Code: RefusePermission, Dir: dir, Err: err}
	case unix.EROFS:
		return nil, &Refusal{Code: RefuseReadOnly, Dir: dir, Err: err}
	default:
		return nil, fmt.Errorf("try direct I/O in %s: %w", dir, err)
	}
	c := &Claim{fd: fd, size: size, writable: true, described: "an unnamed file in " + dir}
	if err := retry(func() error { return unix.Ftruncate(fd, size) }); err != nil {
		c.Close()
		return nil, fmt.Errorf("try direct I/O in %s: %w", dir, err)
	}
	if c.memAlign, c.offAlign, err = directAlignment(fd); err != nil {
		c.Close()
		return nil, fmt.Errorf("try direct I/O in %s: %w", dir, err)
	}
	return c, nil
}
