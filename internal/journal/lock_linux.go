package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The lock is an open file description lock (fcntl_locking(2)): like flock(2)
// it lives exactly as long as the description, so that the kernel releases it
// whatever kills the run. Unlike flock it can be asked for without being taken
// (F_OFD_GETLK); with flock, List would have to take it for a moment, and a
// journal that is being created or opened just then would be refused.

// openFile opens a journal. A link is not followed: root acts on what the file
// says. Nor is a pipe waited for (O_NONBLOCK), which checkOwner then refuses.
func openFile(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

// checkOwner refuses a journal that another user could have written.
func checkOwner(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("fstat: %w", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.New("journal is not a regular file")
	}
	if euid := os.Geteuid(); int(st.Uid) != euid {
		return fmt.Errorf("journal belongs to user %d, and this is user %d; clean as that user", st.Uid, euid)
	}
	if st.Mode&0o022 != 0 {
		return fmt.Errorf("journal is writable for others (mode %04o), so what it lists cannot be trusted", st.Mode&0o7777)
	}
	return nil
}

// lock takes the lock for as long as f is open, or fails with ErrActive.
func lock(f *os.File) error {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrActive
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// locked reports whether somebody else holds the lock.
func locked(f *os.File) (bool, error) {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l); err != nil {
		return false, fmt.Errorf("query lock: %w", err)
	}
	return l.Type != unix.F_UNLCK, nil
}
