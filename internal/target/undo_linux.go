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
//
// What is on a drive that has been pulled since cannot be removed, and stays in
// the journal: the kernel lets a mounted filesystem forget the file in memory
// and says nothing.
func UndoFile(_ context.Context, e journal.Entry) (bool, error) { return undoFile("/sys", e) }

func undoFile(sysfs string, e journal.Entry) (bool, error) {
	// Device numbers of device mapper, btrfs and NFS are handed out anew at
	// each boot; the inode and 128 random bits in the name are not.
	boot, err := journal.BootID()
	sameBoot := err != nil || e.BootID == "" || e.BootID == boot
	pulled := sameBoot && deviceGone(sysfs, e.Dev)
	var removed bool
	var on unix.Stat_t // the directory, if it is there
	dir, err := openPath(path.Dir(e.Path))
	switch {
	case err == nil:
		defer unix.Close(dir)
		if err := unix.Fstat(dir, &on); err != nil {
			return false, fmt.Errorf("remove %s: %w", e.Path, err)
		}
		if !pulled {
			giveBackListed(dir, e, on.Dev)
		}
		// A drive that is back has other numbers.
		removed, err = removeFile(dir, e.Path, e.Dev, e.Ino, sameBoot && !pulled)
	case errors.Is(err, os.ErrNotExist):
		err = nil
	default:
		err = fmt.Errorf("remove %s: %w", e.Path, err)
	}
	if pulled && (on.Dev == e.Dev || err == nil && !removed) {
		return false, fmt.Errorf("remove %s: its drive (device %s) was removed from this machine, and the file may still be on it; when the drive is back and mounted, run nativ clean",
			e.Path, devString(e.Dev))
	}
	if err != nil {
		return false, err
	}
	return removed, nil
}

// deviceGone reports whether a filesystem's block device is not there any more;
// false where it had none of its own (btrfs, ZFS, network filesystems).
func deviceGone(sysfs string, dev uint64) bool {
	if _, err := os.Stat(sysfs + "/dev/block"); err != nil || unix.Major(dev) == 0 {
		return false
	}
	_, err := os.Stat(fmt.Sprintf("%s/dev/block/%d:%d", sysfs, unix.Major(dev), unix.Minor(dev)))
	return errors.Is(err, os.ErrNotExist)
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
