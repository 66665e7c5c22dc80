package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
)

// UndoFile removes a test file that a journal lists, if it is still the one
// that was made. It is a journal.Undoer for KindFile.
func UndoFile(_ context.Context, e journal.Entry) (bool, error) {
	dir, err := openPath(path.Dir(e.Path))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove %s: %w", e.Path, err)
	}
	defer unix.Close(dir)
	// Device numbers of device mapper, btrfs and NFS are handed out anew at
	// each boot; the inode and 128 random bits in the name are not.
	boot, err := journal.BootID()
	sameBoot := err != nil || e.BootID == "" || e.BootID == boot
	return removeFile(dir, e.Path, e.Dev, e.Ino, sameBoot)
}

// UndoDir removes a directory that a journal lists, if it is empty. One that
// holds somebody's files by now stays, and is no longer nativ's concern; one
// that still holds a test file is an error. It is a journal.Undoer for KindDir.
func UndoDir(_ context.Context, e journal.Entry) (bool, error) {
	err := unix.Rmdir(e.Path)
	switch err {
	case nil:
		return true, nil
	case unix.ENOENT:
		return false, nil
	case unix.ENOTEMPTY, unix.EEXIST:
		entries, err := os.ReadDir(e.Path)
		if err != nil {
			return false, fmt.Errorf("remove %s: %w", e.Path, err)
		}
		for _, f := range entries {
			if isFileName(f.Name()) {
				return false, fmt.Errorf("remove %s: %s is still in it", e.Path, f.Name())
			}
		}
		return false, nil
	}
	return false, fmt.Errorf("remove %s: %w", e.Path, err)
}
