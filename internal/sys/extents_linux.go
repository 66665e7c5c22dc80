package sys

import (
	"fmt"
	"structs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Extent is a part of a file that lies in one piece on its filesystem's device,
// in bytes. At is where it lies there.
type Extent struct {
	Offset, At, Length uint64
}

// fiemapExtent is struct fiemap_extent (include/uapi/linux/fiemap.h).
type fiemapExtent struct {
	_        structs.HostLayout
	logical  uint64
	physical uint64
	length   uint64
	_        [2]uint64
	flags    uint32
	_        [3]uint32
}

const extentsAtOnce = 128

// fiemap is struct fiemap with room for extents.
type fiemap struct {
	_       structs.HostLayout
	start   uint64
	length  uint64
	flags   uint32
	mapped  uint32
	count   uint32
	_       uint32
	extents [extentsAtOnce]fiemapExtent
}

// fstrimRange is struct fstrim_range (include/uapi/linux/fs.h).
type fstrimRange struct {
	_      structs.HostLayout
	start  uint64
	length uint64
	least  uint64
}

var (
	_ [56]byte                    = [unsafe.Sizeof(fiemapExtent{})]byte{}
	_ [32 + extentsAtOnce*56]byte = [unsafe.Sizeof(fiemap{})]byte{}
	_ [24]byte                    = [unsafe.Sizeof(fstrimRange{})]byte{}
)

const (
	ioctlFiemap = 0xc020660b // FS_IOC_FIEMAP, _IOWR('f', 11, struct fiemap)
	ioctlTrim   = 0xc0185879 // FITRIM, _IOWR('X', 121, struct fstrim_range)

	fiemapSync    = 0x1 // FIEMAP_FLAG_SYNC
	extentLast    = 0x1 // FIEMAP_EXTENT_LAST
	extentUnknown = 0x2 // FIEMAP_EXTENT_UNKNOWN: its place is not known
)

// Extents returns where an open file lies, in the order of its offsets.
func Extents(fd int) ([]Extent, error) {
	var all []Extent
	for start := uint64(0); ; {
		m := fiemap{start: start, length: ^uint64(0) - start, flags: fiemapSync, count: extentsAtOnce}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlFiemap, uintptr(unsafe.Pointer(&m))); errno != 0 {
			return nil, fmt.Errorf("ask where the file lies (FIEMAP): %w", errno)
		}
		n := min(int(m.mapped), extentsAtOnce)
		for _, e := range m.extents[:n] {
			if e.flags&extentUnknown == 0 && e.length > 0 {
				all = append(all, Extent{e.logical, e.physical, e.length})
			}
		}
		if n == 0 || m.extents[n-1].flags&extentLast != 0 {
			return all, nil
		}
		next := m.extents[n-1].logical + m.extents[n-1].length
		if next <= start {
			return all, nil // a filesystem that repeats itself
		}
		start = next
	}
}

// Trim discards what is free in a part of the filesystem that fd lies on, in bytes
// of its device, and returns how much that was. It needs CAP_SYS_ADMIN.
func Trim(fd int, start, length uint64) (uint64, error) {
	r := fstrimRange{start: start, length: length}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlTrim, uintptr(unsafe.Pointer(&r))); errno != 0 {
		return 0, fmt.Errorf("trim the file system (FITRIM): %w", errno)
	}
	return r.length, nil
}
