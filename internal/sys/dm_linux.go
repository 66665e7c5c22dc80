package sys

import (
	"errors"
	"fmt"
	"os"
	"structs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dmIoctl is struct dm_ioctl (include/uapi/linux/dm-ioctl.h).
type dmIoctl struct {
	_           structs.HostLayout
	version     [3]uint32
	dataSize    uint32
	dataStart   uint32
	targetCount uint32
	_           int32 // open_count
	flags       uint32
	_, _        uint32 // event_nr, padding
	dev         uint64
	_           [128]byte // name: empty where dev says which device
	_           [129]byte // uuid: as name
	_           [7]byte
}

var _ [312]byte = [unsafe.Sizeof(dmIoctl{})]byte{}

const (
	// dmTableStatus is DM_TABLE_STATUS, _IOWR(0xfd, 12, struct dm_ioctl).
	dmTableStatus = 0xc138fd0c

	dmStatusTable = 1 << 4  // DM_STATUS_TABLE_FLAG: the table, not its status
	dmBufferFull  = 1 << 8  // DM_BUFFER_FULL_FLAG
	dmNoFlush     = 1 << 11 // DM_NOFLUSH_FLAG: a thin pool commits nothing for it
)

// dmMostBytes bounds the buffer: a table has some lines of some hundred bytes.
const dmMostBytes = 1 << 20

// DMStatus asks the device mapper for the status of a device, as "dmsetup status
// --noflush" does: it changes nothing, and of a thin pool it is what was committed
// last, which is less than two seconds old. It needs CAP_SYS_ADMIN.
func DMStatus(major, minor uint32) ([]DMTarget, error) { return dmTable(major, minor, 0) }

// DMTable asks for the table of a device, as "dmsetup table" does. That of a
// dm-crypt device holds its key, so it must not be asked for.
func DMTable(major, minor uint32) ([]DMTarget, error) { return dmTable(major, minor, dmStatusTable) }

func dmTable(major, minor, flags uint32) ([]DMTarget, error) {
	f, err := os.OpenFile("/dev/mapper/control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const head = unsafe.Sizeof(dmIoctl{})
	for size := uint32(16 << 10); size <= dmMostBytes; size *= 4 {
		buf := make([]uint64, size/8) // aligned as the structure
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), size)
		h := (*dmIoctl)(unsafe.Pointer(unsafe.SliceData(buf)))
		h.version = [3]uint32{4, 0, 0}
		h.dataSize, h.dataStart = size, uint32(head)
		h.flags = flags | dmNoFlush
		// huge_encode_dev (include/linux/kdev_t.h)
		h.dev = uint64(minor&0xff) | uint64(major)<<8 | uint64(minor&^0xff)<<12
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), dmTableStatus, uintptr(unsafe.Pointer(h)))
		switch {
		case errno != 0:
			return nil, fmt.Errorf("ask the device mapper for %d:%d: %w", major, minor, errno)
		case h.flags&dmBufferFull != 0:
			continue
		case h.dataStart > size:
			return nil, fmt.Errorf("ask the device mapper for %d:%d: the answer begins at byte %d of %d", major, minor, h.dataStart, size)
		}
		return parseDMTargets(bytes[h.dataStart:], h.targetCount)
	}
	return nil, errors.New("ask the device mapper: its answer is longer than any table")
}
