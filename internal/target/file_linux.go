package target

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
	"nativ/internal/record"
)

// Create makes the test file of size bytes in dir, which must be a resolved
// directory (Target.Dir). The file is written in the journal first, and is new:
// what already has its name is never touched. nonce is 128 random bits in
// hexadecimal.
//
// All of the space is taken at once where the filesystem can do that, so that
// a full disk shows here and not in the middle of a run. A full disk or quota
// is a *Refusal with RefuseSpace; no file is left then, nor after any other
// error.
func Create(dir string, size int64, nonce string, j *journal.Journal) (*File, error) {
	return create(dir, size, nonce, willMake(j))
}

// CreateUnlisted is Create where the journal lists what the file lies in, which
// goes as a whole: the volume of a container, or a directory in one.
func CreateUnlisted(dir string, size int64, nonce string) (*File, error) {
	return create(dir, size, nonce, func(string) (*journal.Item, error) { return nil, nil })
}

// CreateInPlace is Create for a file that btrfs is to overwrite in place, without
// checksums: only such a file gets direct I/O from Linux 6.14 on. Where the
// filesystem will not have it, the file is as any other, and Facts say so.
func CreateInPlace(dir string, size int64, nonce string, j *journal.Journal) (*File, error) {
	return createAs(dir, size, nonce, true, willMake(j))
}

func create(dir string, size int64, nonce string, will func(path string) (*journal.Item, error)) (*File, error) {
	return createAs(dir, size, nonce, false, will)
}

func willMake(j *journal.Journal) func(path string) (*journal.Item, error) {
	return func(path string) (*journal.Item, error) {
		boot, err := journal.BootID()
		if err != nil {
			return nil, err
		}
		return j.Will(journal.Entry{Kind: journal.KindFile, Path: path, BootID: boot})
	}
}

func createAs(dir string, size int64, nonce string, inPlace bool, will func(path string) (*journal.Item, error)) (*File, error) {
	f := &File{fd: -1, path: path.Join(dir, fileName(nonce)), nonce: nonce, size: size, inPlace: inPlace}
	switch {
	case !isNonce(nonce):
		return nil, fmt.Errorf("create test file: nonce %q is not 128 bits in lower-case hexadecimal", nonce)
	case size <= 0:
		return nil, fmt.Errorf("create %s: size %d is not positive", f.path, size)
	}
	var err error
	if f.dirFd, err = openPath(dir); err != nil {
		return nil, fmt.Errorf("create %s: %w", f.path, err)
	}
	if f.item, err = will(f.path); err != nil {
		unix.Close(f.dirFd)
		return nil, fmt.Errorf("create %s: %w", f.path, err)
	}
	if err := f.make(); err != nil {
		return nil, errors.Join(err, f.Remove())
	}
	return f, nil
}

func (f *File) make() error {
	var err error
	f.fd, err = openat(f.dirFd, path.Base(f.path), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW)
	if err == unix.EACCES || err == unix.EPERM {
		return &Refusal{Code: RefusePermission, Dir: path.Dir(f.path), Err: err}
	}
	if err != nil {
		return f.failed(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return f.failed(err)
	}
	f.major, f.minor, f.ino = unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino
	if f.item != nil {
		if err := f.item.Made(st.Dev, st.Ino); err != nil {
			return f.failed(err)
		}
	}
	if f.inPlace {
		f.inPlace = setNoCOW(f.fd)
	}
	if err := f.allocate(); err != nil {
		return f.failed(err)
	}
	if f.mem, f.off, err = directAlignment(f.fd); err != nil {
		return f.failed(err)
	}
	return nil
}

// failed says what went wrong with the file, and that it is the space if so.
func (f *File) failed(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return refuseFull(path.Dir(f.path), f.size, err)
	}
	if errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("create %s of %s: %w; give a smaller --size", f.path, fileSize(f.size), err)
	}
	return fmt.Errorf("create %s: %w", f.path, err)
}

// Magic numbers of linux/magic.h and of OpenZFS (ZFS_SUPER_MAGIC).
const (
	btrfsMagic = 0x9123683e
	zfsMagic   = 0x2fc12fc1
)

// setNoCOW makes an empty file on btrfs one that is overwritten in place, without
// checksums, as "chattr +C" does; false where it cannot.
func setNoCOW(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil || uint32(st.Type) != btrfsMagic {
		return false
	}
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil || unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|fsNoCOW)) != nil {
		return false
	}
	flags, err = unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && flags&fsNoCOW != 0
}

// allocate takes the space, or only sets the size where that means nothing: on
// copy-on-write filesystems each write goes elsewhere, and btrfs would write
// the first time into the preallocated blocks, unlike ever after.
func (f *File) allocate() error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(f.fd, &fs); err != nil {
		return err
	}
	err := error(unix.EOPNOTSUPP)
	if t := uint32(fs.Type); t != btrfsMagic && t != zfsMagic {
		err = retry(func() error { return unix.Fallocate(f.fd, 0, 0, f.size) })
	}
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
		err = retry(func() error { return unix.Ftruncate(f.fd, f.size) })
	}
	return err
}

func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// Facts are the file's for the record.
func (f *File) Facts() record.File {
	return record.File{
		Name: path.Base(f.path), Ino: f.ino, DevMajor: f.major, DevMinor: f.minor, Size: f.size,
		MemAlign: f.mem, OffsetAlign: f.off, NoCOW: f.inPlace,
	}
}

// Chown gives the file to uid and gid: those of the container's root.
func (f *File) Chown(uid, gid int) error {
	if f.foreign {
		return fmt.Errorf("give %s to uid %d: it was there before nativ, which changes nothing of it", f.path, uid)
	}
	if err := unix.Fchown(f.fd, uid, gid); err != nil {
		return fmt.Errorf("give %s to uid %d, gid %d: %w", f.path, uid, gid, err)
	}
	return nil
}

// Claim makes a claim on the file for this process.
func (f *File) Claim(write, direct bool) (*Claim, error) {
	return Reopen(f.Ticket(f.path, write, direct))
}

// SyncAndCheckWritten brings the file to the drive and makes sure that all of
// it was written: reads of a hole or of an extent that was only allocated are
// answered without asking the drive.
func (f *File) SyncAndCheckWritten() error {
	if err := retry(func() error { return unix.Fsync(f.fd) }); err != nil {
		return fmt.Errorf("sync %s: %w", f.path, err)
	}
	if f.device != nil {
		return nil // a device has no holes
	}
	// ext4, XFS and btrfs count unwritten extents as holes (iomap's
	// SEEK_HOLE); filesystems that cannot tell say that all is data.
	hole, err := unix.Seek(f.fd, 0, unix.SEEK_HOLE)
	if err != nil {
		return fmt.Errorf("look for holes in %s: %w", f.path, err)
	}
	if hole < f.size {
		return fmt.Errorf("check %s: nothing was written at offset %d, so that reads there would not ask the drive", f.path, hole)
	}
	return nil
}

// Remove removes the file, if the name still leads to it; a name that leads
// to another file is an error and stays. A foreign file is only let go of. It
// may be called again.
func (f *File) Remove() error {
	if f.gone {
		return nil
	}
	if f.foreign {
		f.gone = true
		return unix.Close(f.fd)
	}
	if f.fd >= 0 {
		if _, err := removeFile(f.dirFd, f.path, unix.Mkdev(f.major, f.minor), f.ino, true); err != nil {
			return err
		}
		unix.Close(f.fd)
	}
	if f.dirFd >= 0 {
		unix.Close(f.dirFd)
	}
	f.gone = true
	if f.item == nil {
		return nil
	}
	return f.item.Gone()
}

// Release lets go of the file without removing it, so that its filesystem can be
// unmounted. Until Follow nothing but Remove may be called, which then leaves the
// file where it is.
func (f *File) Release() error {
	var errs []error
	for _, fd := range []*int{&f.fd, &f.dirFd} {
		if *fd >= 0 {
			errs = append(errs, unix.Close(*fd))
			*fd = -1
		}
	}
	return errors.Join(errs...)
}

// Follow finds the file again in dir, after its filesystem was mounted anew: in
// another place, or under another device number.
func (f *File) Follow(dir string) error {
	if err := f.Release(); err != nil {
		return fmt.Errorf("follow %s: %w", f.path, err)
	}
	p := path.Join(dir, path.Base(f.path))
	var err error
	if f.dirFd, err = openPath(dir); err != nil {
		return fmt.Errorf("follow %s: %w", f.path, err)
	}
	// By its name, as nothing else tells where it is; what it is, is checked next.
	if f.fd, err = openat(f.dirFd, path.Base(p), unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK); err != nil {
		return fmt.Errorf("follow %s: %w", f.path, &os.PathError{Op: "open", Path: p, Err: err})
	}
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return fmt.Errorf("follow %s: %w", f.path, err)
	}
	t := f.Ticket(p, true, false)
	t.DevMajor, t.DevMinor = unix.Major(st.Dev), unix.Minor(st.Dev)
	if err := t.check(f.fd); err != nil {
		return err
	}
	f.path, f.major, f.minor = p, t.DevMajor, t.DevMinor
	return nil
}

// removeFile removes the file at p, whose directory is open as dir, if it is
// regular, bears a name that only nativ gives and, where ino is not 0, is that
// inode. It reports false where there is none. (Between the look and the unlink
// somebody else may put another file there; Linux has no unlink by descriptor.)
func removeFile(dir int, p string, dev, ino uint64, sameBoot bool) (bool, error) {
	name := path.Base(p)
	if !isFileName(name) {
		return false, fmt.Errorf("remove %s: it is not named as nativ names its files", p)
	}
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == unix.ENOENT:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("remove %s: %w", p, err)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return false, fmt.Errorf("remove %s: it is %s now, not the file that nativ made; remove it yourself", p, kindOf(st.Mode))
	case ino != 0 && (st.Ino != ino || sameBoot && st.Dev != dev):
		return false, fmt.Errorf("remove %s: it is another file now (inode %d on %s) than nativ made (inode %d on %s); remove it yourself",
			p, st.Ino, devString(st.Dev), ino, devString(dev))
	}
	if err := unix.Unlinkat(dir, name, 0); err != nil && err != unix.ENOENT {
		return false, fmt.Errorf("remove %s: %w", p, err)
	}
	return true, nil
}
