package sys

import (
	"fmt"
	"os"
	"structs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Flags of io_uring_setup (include/uapi/linux/io_uring.h), with the kernel
// that brought them.
const (
	SetupIOPoll       = 1 << 0  // IORING_SETUP_IOPOLL, 5.1
	SetupCoopTaskrun  = 1 << 8  // IORING_SETUP_COOP_TASKRUN, 5.19
	SetupSingleIssuer = 1 << 12 // IORING_SETUP_SINGLE_ISSUER, 6.0
	SetupDeferTaskrun = 1 << 13 // IORING_SETUP_DEFER_TASKRUN, 6.1
	SetupNoSQArray    = 1 << 16 // IORING_SETUP_NO_SQARRAY, 6.6
)

// SetupFlagNames spells the bits of flags as the kernel does.
func SetupFlagNames(flags uint32) []string {
	var names []string
	for _, f := range []struct {
		bit  uint32
		name string
	}{
		{SetupIOPoll, "IORING_SETUP_IOPOLL"},
		{SetupCoopTaskrun, "IORING_SETUP_COOP_TASKRUN"},
		{SetupSingleIssuer, "IORING_SETUP_SINGLE_ISSUER"},
		{SetupDeferTaskrun, "IORING_SETUP_DEFER_TASKRUN"},
		{SetupNoSQArray, "IORING_SETUP_NO_SQARRAY"},
	} {
		if flags&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// Features that io_uring_setup reports.
const (
	featSingleMmap = 1 << 0 // IORING_FEAT_SINGLE_MMAP, 5.4
	featExtArg     = 1 << 8 // IORING_FEAT_EXT_ARG, 5.11
)

// Flags of io_uring_enter.
const (
	EnterGetEvents      = 1 << 0 // IORING_ENTER_GETEVENTS
	EnterExtArg         = 1 << 3 // IORING_ENTER_EXT_ARG, 5.11
	EnterRegisteredRing = 1 << 4 // IORING_ENTER_REGISTERED_RING, 5.18
)

// Operations of io_uring_register.
const (
	registerBuffers   = 0  // IORING_REGISTER_BUFFERS, 5.1
	registerFiles     = 2  // IORING_REGISTER_FILES, 5.1
	unregisterFiles   = 3  // IORING_UNREGISTER_FILES
	registerRingFDs   = 20 // IORING_REGISTER_RING_FDS, 5.18
	unregisterRingFDs = 21 // IORING_UNREGISTER_RING_FDS
)

// Offsets at which the parts of a ring are mapped.
const (
	offSQRing = 0          // IORING_OFF_SQ_RING
	offSQEs   = 0x10000000 // IORING_OFF_SQES
)

// Opcodes, flags of an SQE and flags of a fsync.
const (
	OpNop         = 0      // IORING_OP_NOP
	OpFsync       = 3      // IORING_OP_FSYNC
	OpReadFixed   = 4      // IORING_OP_READ_FIXED
	OpWriteFixed  = 5      // IORING_OP_WRITE_FIXED
	OpRead        = 22     // IORING_OP_READ, 5.6
	OpWrite       = 23     // IORING_OP_WRITE, 5.6
	SQEFixedFile  = 1 << 0 // IOSQE_FIXED_FILE
	FsyncDataSync = 1 << 0 // IORING_FSYNC_DATASYNC
)

// SQE is struct io_uring_sqe, without the unions that nothing here uses.
type SQE struct {
	_           structs.HostLayout
	Opcode      uint8
	Flags       uint8
	IOPrio      uint16
	FD          int32
	Off         uint64
	Addr        uint64
	Len         uint32
	OpFlags     uint32 // rw_flags, fsync_flags
	UserData    uint64
	BufIndex    uint16
	Personality uint16
	FileIndex   int32
	Addr3       uint64
	_           uint64
}

// CQE is struct io_uring_cqe.
type CQE struct {
	_        structs.HostLayout
	UserData uint64
	Res      int32
	Flags    uint32
}

// Timespec is struct __kernel_timespec.
type Timespec struct {
	_    structs.HostLayout
	Sec  int64
	Nsec int64
}

// GetEventsArg is struct io_uring_getevents_arg. TS holds the address of a
// Timespec, which the garbage collector does not see: it must not live on a Go
// stack, which moves, and somebody else must keep it.
type GetEventsArg struct {
	_         structs.HostLayout
	Sigmask   uint64
	SigmaskSz uint32
	_         uint32
	TS        uint64
}

// sqOffsets is struct io_sqring_offsets, cqOffsets struct io_cqring_offsets.
type sqOffsets struct {
	_                                               structs.HostLayout
	head, tail, mask, entries, flags, dropped, arry uint32
	_                                               uint32
	_                                               uint64
}

type cqOffsets struct {
	_                                                 structs.HostLayout
	head, tail, mask, entries, overflow, cqes, cflags uint32
	_                                                 uint32
	_                                                 uint64
}

// params is struct io_uring_params.
type params struct {
	_            structs.HostLayout
	sqEntries    uint32
	cqEntries    uint32
	flags        uint32
	sqThreadCPU  uint32
	sqThreadIdle uint32
	features     uint32
	wqFD         uint32
	_            [3]uint32
	sqOff        sqOffsets
	cqOff        cqOffsets
}

// rsrcUpdate is struct io_uring_rsrc_update.
type rsrcUpdate struct {
	_      structs.HostLayout
	offset uint32
	_      uint32
	data   uint64
}

// The sizes are part of the ABI; a difference does not compile.
var (
	_ [64]byte  = [unsafe.Sizeof(SQE{})]byte{}
	_ [16]byte  = [unsafe.Sizeof(CQE{})]byte{}
	_ [16]byte  = [unsafe.Sizeof(Timespec{})]byte{}
	_ [24]byte  = [unsafe.Sizeof(GetEventsArg{})]byte{}
	_ [40]byte  = [unsafe.Sizeof(sqOffsets{})]byte{}
	_ [40]byte  = [unsafe.Sizeof(cqOffsets{})]byte{}
	_ [120]byte = [unsafe.Sizeof(params{})]byte{}
	_ [16]byte  = [unsafe.Sizeof(rsrcUpdate{})]byte{}
)

// A Ring is one io_uring instance, mapped. It holds what a loop needs to
// drive it and drives nothing itself.
type Ring struct {
	// EnterFD and EnterFlags are for io_uring_enter: the index of the
	// registered ring where the kernel has that, else the descriptor.
	EnterFD    uintptr
	EnterFlags uintptr
	// SQTail is written by the loop, SQMask indexes SQEs.
	SQTail *uint32
	SQMask uint32
	SQEs   []SQE
	// CQHead is written by the loop, CQTail by the kernel.
	CQHead, CQTail *uint32
	CQMask         uint32
	CQEs           []CQE
	// Flags are the setup flags in use.
	Flags uint32

	fd         int
	rings      []byte
	sqes       []byte
	registered bool
	file       bool
}

// setupLadder holds the sets of flags to try, best first: each needs a newer
// kernel than the next, which answers EINVAL to what it does not know.
var setupLadder = []uint32{
	SetupSingleIssuer | SetupDeferTaskrun | SetupNoSQArray, // 6.6
	SetupSingleIssuer | SetupDeferTaskrun,                  // 6.1
	SetupCoopTaskrun,                                       // 5.19
	0,
}

// OpenRing makes a ring of at least entries SQEs with the best flags that the
// kernel takes. It must be called on the thread that will submit (and that
// stays locked to its goroutine), because of IORING_SETUP_SINGLE_ISSUER and
// because a registered ring belongs to a thread.
//
// The completion queue gets the kernel's default of twice the entries, so it
// cannot overflow while no more than entries I/Os are in flight.
func OpenRing(entries int) (*Ring, error) { return OpenRingWith(entries, 0) }

// OpenRingWith is OpenRing with more setup flags, which the kernel must take.
func OpenRingWith(entries int, more uint32) (*Ring, error) {
	var p params
	var fd int
	for _, flags := range setupLadder {
		p = params{flags: flags | more}
		r, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(&p)), 0)
		if errno == unix.EINVAL && flags != 0 {
			continue
		}
		if errno != 0 {
			return nil, explainUring("io_uring_setup", errno, "/proc")
		}
		fd = int(r)
		break
	}
	if p.features&featExtArg == 0 || p.features&featSingleMmap == 0 {
		_ = unix.Close(fd)
		return nil, &UringError{Op: "io_uring_setup", Errno: unix.EINVAL, Cause: UringTooOld}
	}
	r := &Ring{EnterFD: uintptr(fd), Flags: p.flags, fd: fd}
	if err := r.mmap(&p); err != nil {
		_ = r.Close()
		return nil, err
	}
	r.registerRing()
	return r, nil
}

func (r *Ring) mmap(p *params) (err error) {
	size := max(int(p.cqOff.cqes)+int(p.cqEntries)*int(unsafe.Sizeof(CQE{})), int(p.sqOff.arry)+int(p.sqEntries)*4)
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	if r.rings, err = unix.Mmap(r.fd, offSQRing, size, prot, flags); err != nil {
		return fmt.Errorf("map the rings of io_uring: %w", err)
	}
	if r.sqes, err = unix.Mmap(r.fd, offSQEs, int(p.sqEntries)*int(unsafe.Sizeof(SQE{})), prot, flags); err != nil {
		return fmt.Errorf("map the submission entries of io_uring: %w", err)
	}
	base := unsafe.Pointer(unsafe.SliceData(r.rings))
	word := func(off uint32) *uint32 { return (*uint32)(unsafe.Add(base, off)) }
	r.SQTail, r.SQMask = word(p.sqOff.tail), *word(p.sqOff.mask)
	r.CQHead, r.CQTail, r.CQMask = word(p.cqOff.head), word(p.cqOff.tail), *word(p.cqOff.mask)
	r.SQEs = unsafe.Slice((*SQE)(unsafe.Pointer(unsafe.SliceData(r.sqes))), p.sqEntries)
	r.CQEs = unsafe.Slice((*CQE)(unsafe.Add(base, p.cqOff.cqes)), p.cqEntries)
	if p.flags&SetupNoSQArray == 0 {
		// The indirection is not used: entry i is always SQE i.
		for i := range p.sqEntries {
			*word(p.sqOff.arry + 4*i) = i
		}
	}
	return nil
}

// registerRing spares io_uring_enter the look-up of the descriptor. Kernels
// that cannot do it (before 5.18) go on with the descriptor.
func (r *Ring) registerRing() {
	up := rsrcUpdate{offset: ^uint32(0), data: uint64(r.fd)} // any free index
	n, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), registerRingFDs, uintptr(unsafe.Pointer(&up)), 1, 0, 0)
	if errno == 0 && n == 1 {
		r.EnterFD, r.EnterFlags, r.registered = uintptr(up.offset), EnterRegisteredRing, true
	}
}

// Registered reports whether the ring's own descriptor is registered.
func (r *Ring) Registered() bool { return r.registered }

// RegisterFiles makes fds the files 0 and following of the ring, for
// SQEFixedFile.
func (r *Ring) RegisterFiles(fds ...int) error {
	all := make([]int32, len(fds))
	for i, fd := range fds {
		all[i] = int32(fd)
	}
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), registerFiles,
		uintptr(unsafe.Pointer(unsafe.SliceData(all))), uintptr(len(all)), 0, 0)
	if errno != 0 {
		return explainUring("io_uring_register", errno, "/proc")
	}
	r.file = true
	return nil
}

// RegisterBlocks makes the blocks the buffers 0 and following of the ring, for
// OpReadFixed and OpWriteFixed. The error is a *UringError with UringMemlock
// where they are more than the process may lock.
func (r *Ring) RegisterBlocks(b *Blocks) error {
	all := make([]unix.Iovec, b.count)
	for i := range all {
		all[i].Base = (*byte)(unsafe.Pointer(unsafe.SliceData(b.Words(uint32(i), b.size))))
		all[i].SetLen(int(b.size))
	}
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), registerBuffers,
		uintptr(unsafe.Pointer(unsafe.SliceData(all))), uintptr(len(all)), 0, 0)
	if errno != 0 {
		return explainUring("io_uring_register", errno, "/proc")
	}
	return nil
}

// Nop submits a no-op and waits for it: where a seccomp filter lets
// io_uring_setup pass and not io_uring_enter, this is what finds out.
func (r *Ring) Nop() error {
	r.SQEs[*r.SQTail&r.SQMask] = SQE{Opcode: OpNop, FD: -1}
	*r.SQTail++
	for n := uint32(1); ; n = 0 {
		_, errno := r.Enter(n, 1, new(GetEventsArg))
		switch errno {
		case 0:
			*r.CQHead++
			return nil
		case unix.EINTR:
		default:
			return explainUring("io_uring_enter", errno, "/proc")
		}
	}
}

// Close ends the ring. Nothing may be in flight, and it must run on the thread
// that opened it.
func (r *Ring) Close() error {
	if r.file {
		// The kernel tears a ring down some time after its descriptor is
		// closed; the file must not stay busy so long.
		_, _, _ = unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), unregisterFiles, 0, 0, 0, 0)
		r.file = false
	}
	if r.registered {
		up := rsrcUpdate{offset: uint32(r.EnterFD)}
		_, _, _ = unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), unregisterRingFDs, uintptr(unsafe.Pointer(&up)), 1, 0, 0)
		r.registered = false
	}
	for _, m := range [][]byte{r.rings, r.sqes} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
	r.rings, r.sqes, r.SQEs, r.CQEs = nil, nil, nil, nil
	if err := unix.Close(r.fd); err != nil {
		return os.NewSyscallError("close", err)
	}
	return nil
}

// Enter is io_uring_enter as a raw system call: Go's scheduler does not learn
// that the thread blocks, which spares 6 to 25 % of the CPU time of a blocking
// I/O. It is only safe where GOMAXPROCS leaves other processors to the rest
// of the program and the caller calls a function that checks its stack right
// after, which is where the runtime can stop it; see package uring.
//
// What arg.TS points at must not live on a Go stack.
//
//go:noinline
func (r *Ring) Enter(submit, wait uint32, arg *GetEventsArg) (submitted int, errno syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, r.EnterFD, uintptr(submit), uintptr(wait),
		EnterGetEvents|EnterExtArg|r.EnterFlags, uintptr(unsafe.Pointer(arg)), unsafe.Sizeof(*arg))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
