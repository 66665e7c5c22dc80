package sys

import (
	"fmt"
	"os"
	"structs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of an IOCB (include/uapi/linux/aio_abi.h).
const (
	AIORead  = 0 // IOCB_CMD_PREAD
	AIOWrite = 1 // IOCB_CMD_PWRITE
)

// IOCB is struct iocb on a little-endian machine.
type IOCB struct {
	_       structs.HostLayout
	Data    uint64
	_       uint32 // aio_key, the kernel's
	RWFlags int32
	Opcode  uint16
	Prio    int16
	FD      uint32
	Buf     uint64
	Len     uint64
	Off     int64
	_       uint64
	Flags   uint32
	ResFD   uint32
}

// AIOEvent is struct io_event.
type AIOEvent struct {
	_    structs.HostLayout
	Data uint64
	_    uint64 // the address of the IOCB
	Res  int64
	_    int64
}

// Sizes that the kernel fixed.
var (
	_ [64]byte = [unsafe.Sizeof(IOCB{})]byte{}
	_ [32]byte = [unsafe.Sizeof(AIOEvent{})]byte{}
)

// An AIO is a context of the kernel's older asynchronous I/O, which fio calls
// libaio, with an IOCB for each I/O in flight.
type AIO struct {
	// IOCBs are for the caller to fill in; they are in mapped memory.
	IOCBs []IOCB

	ctx    uintptr
	mem    []byte
	ptrs   []uintptr // of the IOCBs to submit
	events []AIOEvent
	ts     *unix.Timespec
}

// OpenAIO makes a context for so many I/Os in flight.
func OpenAIO(depth int) (*AIO, error) {
	a := &AIO{}
	var id uintptr
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, uintptr(depth), uintptr(unsafe.Pointer(&id)), 0); errno != 0 {
		return nil, explainAIO(errno, depth)
	}
	a.ctx = id
	const iocb, event, ptr = unsafe.Sizeof(IOCB{}), unsafe.Sizeof(AIOEvent{}), unsafe.Sizeof(uintptr(0))
	n := uintptr(depth)
	m, err := unix.Mmap(-1, 0, int(n*(iocb+event+ptr)+unsafe.Sizeof(unix.Timespec{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		_ = a.Close()
		return nil, fmt.Errorf("map the control blocks of libaio: %w", err)
	}
	a.mem = m
	p := unsafe.Pointer(unsafe.SliceData(m))
	a.IOCBs = unsafe.Slice((*IOCB)(p), depth)
	a.events = unsafe.Slice((*AIOEvent)(unsafe.Add(p, n*iocb)), depth)
	a.ptrs = unsafe.Slice((*uintptr)(unsafe.Add(p, n*(iocb+event))), depth)
	a.ts = (*unix.Timespec)(unsafe.Add(p, n*(iocb+event+ptr)))
	return a, nil
}

// explainAIO says what an errno of io_setup means to a user.
func explainAIO(errno syscall.Errno, depth int) error {
	err := os.NewSyscallError("io_setup", errno)
	switch errno {
	case unix.EAGAIN:
		return fmt.Errorf("%w: iodepth=%d goes beyond what is left of fs.aio-max-nr; raise it: sysctl -w fs.aio-max-nr=1048576", err, depth)
	case unix.ENOSYS:
		return fmt.Errorf("%w: the kernel has no asynchronous I/O (CONFIG_AIO), or a seccomp filter forbids it; take ioengine=psync", err)
	case unix.EPERM, unix.EACCES:
		return fmt.Errorf("%w: a seccomp filter forbids asynchronous I/O; take ioengine=psync", err)
	}
	return err
}

// Push makes IOCB slot the next to submit, in position n.
func (a *AIO) Push(n int, slot uint32) {
	a.ptrs[n] = uintptr(unsafe.Pointer(&a.IOCBs[slot]))
}

// Submit submits the pushed positions from to n. It returns how many the
// kernel took.
func (a *AIO) Submit(from, n int) (int, syscall.Errno) {
	r, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, a.ctx, uintptr(n-from), uintptr(unsafe.Pointer(&a.ptrs[from])))
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

// Events waits for one completion at least and so many nanoseconds at most,
// below a second. What it returns is valid until the next call.
func (a *AIO) Events(atLeast int, ns int64) ([]AIOEvent, syscall.Errno) {
	*a.ts = unix.Timespec{Nsec: ns}
	r, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, a.ctx, uintptr(atLeast), uintptr(len(a.events)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a.events))), uintptr(unsafe.Pointer(a.ts)), 0)
	if errno != 0 {
		return nil, errno
	}
	return a.events[:r], 0
}

// Close ends the context; the kernel waits for what is in flight.
func (a *AIO) Close() error {
	_, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, a.ctx, 0, 0)
	if a.mem != nil {
		_ = unix.Munmap(a.mem)
		a.mem, a.IOCBs, a.ptrs, a.events = nil, nil, nil, nil
	}
	if errno != 0 {
		return os.NewSyscallError("io_destroy", errno)
	}
	return nil
}
