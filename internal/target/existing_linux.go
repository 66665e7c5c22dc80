package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"nativ/internal/sys"
)

// OpenExisting opens a file that was there before, only to read it: its tickets
// never allow writing, and nothing removes it or changes its owner. Symbolic
// links in name are followed here, once, and no more. What is not a regular
// file with something in it is a *Refusal with RefuseKind.
//
// The file is kept open with O_PATH alone, so that not even a mistake could
// write through it.
func OpenExisting(name string) (*File, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	if processRoot(abs) == "" { // there links would be followed as if they were ours
		if abs, err = filepath.EvalSymlinks(abs); err != nil {
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
	}
	fd, err := openPath(abs)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	f := &File{fd: fd, dirFd: -1, path: abs, foreign: true}
	if err := f.lookAt(); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return f, nil
}

func (f *File) lookAt() error {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return fmt.Errorf("open %s: stat: %w", f.path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return &Refusal{Code: RefuseKind, Dir: f.path, Kind: kindOf(st.Mode)}
	}
	if st.Size == 0 {
		return &Refusal{Code: RefuseKind, Dir: f.path, Kind: "an empty file"}
	}
	f.size, f.ino = st.Size, st.Ino
	f.major, f.minor = unix.Major(st.Dev), unix.Minor(st.Dev)

	// A descriptor for reading tells what O_PATH does not, and whether there
	// is leave to read at all.
	rd, err := open(fmt.Sprintf("/proc/self/fd/%d", f.fd), unix.O_RDONLY)
	if err != nil {
		return fmt.Errorf("open %s: %w", f.path, &os.PathError{Op: "open", Path: f.path, Err: err})
	}
	defer unix.Close(rd)
	if f.mem, f.off, err = directAlignment(rd); err != nil {
		var r *Refusal
		if !errors.As(err, &r) && !errors.Is(err, sys.ErrNoDirectIO) {
			return fmt.Errorf("open %s: %w", f.path, err)
		}
		f.mem, f.off = 0, 0
	}
	if hole, err := unix.Seek(rd, 0, unix.SEEK_HOLE); err == nil && hole < f.size {
		f.sparse = true
	}
	return nil
}

// Sparse reports whether a foreign file has parts that were never written:
// reads of these do not ask the drive.
func (f *File) Sparse() bool { return f.sparse }
