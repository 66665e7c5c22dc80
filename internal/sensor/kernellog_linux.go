package sensor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// readKernelLog reads all that /dev/kmsg has now. Every read gives one message,
// EPIPE that the next was overwritten meanwhile.
func readKernelLog(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the kernel's log is closed to this user (%s, kernel.dmesg_restrict); run as root on the host", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no %s here, as in a container; run on the host", path)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var all []byte
	// The longest message is 1024 bytes and its prefix (PRINTKRB_RECORD_MAX), in
	// 6.18 2048; with less room than it needs, the kernel answers EINVAL.
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case err == unix.EAGAIN, err == nil && n == 0:
			return all, nil
		case err == unix.EPIPE, err == unix.EINTR:
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", path, err)
		default:
			all = append(all, buf[:n]...)
		}
	}
}

// kernelClockOffset is what parseSchedClock finds on this machine; 0 where it
// cannot be read.
func kernelClockOffset(roots Roots) int64 {
	for _, name := range []string{"sched/debug", "sched_debug"} {
		f, err := os.Open(roots.sys("kernel/debug", name))
		if err != nil {
			continue
		}
		head := make([]byte, 2048) // the rest is about every task
		n, _ := f.Read(head)
		_ = f.Close()
		if offset, ok := parseSchedClock(string(head[:n])); ok {
			return offset
		}
	}
	return 0
}
