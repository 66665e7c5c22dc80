package sys

import (
	"errors"
	"fmt"
	"os"
	"structs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nvmePassthruCmd is struct nvme_passthru_cmd (include/uapi/linux/nvme_ioctl.h).
type nvmePassthruCmd struct {
	_          structs.HostLayout
	opcode     uint8
	_          uint8 // flags: 0, or the kernel answers EINVAL
	_          uint16
	nsid       uint32
	_, _       uint32 // cdw2, cdw3
	_          uint64 // metadata
	addr       uint64
	_          uint32 // metadata_len
	dataLen    uint32
	cdw10      uint32
	cdw11      uint32
	_, _, _, _ uint32 // cdw12 to cdw15
	timeoutMS  uint32
	result     uint32
}

var _ [72]byte = [unsafe.Sizeof(nvmePassthruCmd{})]byte{}

// nvmeAdminCmd is NVME_IOCTL_ADMIN_CMD, _IOWR('N', 0x41, struct nvme_passthru_cmd).
const nvmeAdminCmd = 0xc0484e41

// Opcodes of admin commands (specification 2.0, figure 138).
const (
	opGetLogPage  = 0x02
	opIdentify    = 0x06
	opGetFeatures = 0x0a
)

// An NVMe is an open NVMe controller. Its commands read and change nothing. It
// is for one goroutine at a time.
type NVMe struct {
	f   *os.File
	buf []byte // a page that the garbage collector neither sees nor moves
}

// OpenNVMe opens a controller (/dev/nvme0) or one of its namespaces. It needs
// no more than to read, but the commands need CAP_SYS_ADMIN in the first user
// namespace. While the controller is being reset, the error is EAGAIN.
func OpenNVMe(path string) (*NVMe, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	buf, err := unix.Mmap(-1, 0, IdentifyLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("map a page for an NVMe command: %w", err)
	}
	return &NVMe{f: f, buf: buf}, nil
}

// Close closes the controller; what its commands returned is gone with it.
func (n *NVMe) Close() error {
	err := unix.Munmap(n.buf)
	n.buf = nil
	return errors.Join(err, n.f.Close())
}

// HealthLog reads log page 02h of the whole controller, in one command. The
// bytes are valid until the next command.
func (n *NVMe) HealthLog() ([]byte, error) {
	const numdl = (HealthLogLen/4 - 1) << 16
	// Drives with one namespace refuse any other NSID (smartmontools#217).
	_, err := n.admin("get log page 02h", nvmePassthruCmd{opcode: opGetLogPage, nsid: 0xffffffff, cdw10: 0x02 | numdl, dataLen: HealthLogLen})
	return n.buf[:HealthLogLen], err
}

// IdentifyController reads what the controller says of itself. The bytes are
// valid until the next command.
func (n *NVMe) IdentifyController() ([]byte, error) {
	_, err := n.admin("identify controller", nvmePassthruCmd{opcode: opIdentify, cdw10: 1, dataLen: IdentifyLen})
	return n.buf, err
}

// Feature reads the current value of a feature: dword 0 of the completion.
func (n *NVMe) Feature(id uint8, cdw11 uint32) (uint32, error) {
	cmd := nvmePassthruCmd{opcode: opGetFeatures, cdw10: uint32(id), cdw11: cdw11}
	if id == FeatureAPST {
		cmd.dataLen = 256 // the table comes along, wanted or not
	}
	return n.admin(fmt.Sprintf("get feature %02Xh", id), cmd)
}

// admin sends an admin command and waits for it. The error is a *StatusError
// where the drive refused it, and keeps the errno where the kernel did.
//
// The timeout is the driver's own, a minute (nvme_core.admin_timeout). It would
// be wrong to ask for a shorter one: when an admin command runs out of time, the
// kernel does not give the command up but resets the controller
// (drivers/nvme/host/pci.c, nvme_timeout), in the middle of what is measured.
// Who cannot wait so long must stop waiting.
func (n *NVMe) admin(op string, cmd nvmePassthruCmd) (uint32, error) {
	if cmd.dataLen > 0 {
		clear(n.buf)
		cmd.addr = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(n.buf))))
	}
	raw, err := n.f.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w", op, n.f.Name(), err)
	}
	var status uintptr
	var errno syscall.Errno
	err = raw.Control(func(fd uintptr) {
		status, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, nvmeAdminCmd, uintptr(unsafe.Pointer(&cmd)))
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s of %s: %w", op, n.f.Name(), err)
	case errno != 0:
		return 0, fmt.Errorf("%s of %s: %w", op, n.f.Name(), errno)
	case status != 0:
		// Not an errno: a wrapper that looks only there takes zeros for an answer.
		return 0, &StatusError{Op: op, Status: uint16(status)}
	}
	return cmd.result, nil
}
