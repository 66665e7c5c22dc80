package sys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrnoName spells an errno as the kernel's headers do, for example "EIO".
func ErrnoName(e syscall.Errno) string {
	if s := unix.ErrnoName(e); s != "" {
		return s
	}
	return "errno " + strconv.Itoa(int(e))
}

// MonoNow reads CLOCK_MONOTONIC in nanoseconds. Containers share it with the
// host as long as they have no time namespace.
func MonoNow() int64 {
	var ts unix.Timespec
	// It fails only for clocks that do not exist.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// CPUTime returns the CPU time of this process with all of its threads, the
// kernel's io-wq workers included, in nanoseconds.
func CPUTime() (user, system int64, err error) { return cpuTime(unix.RUSAGE_SELF) }

// ThreadCPUTime is CPUTime of the calling thread alone.
func ThreadCPUTime() (user, system int64, err error) { return cpuTime(unix.RUSAGE_THREAD) }

func cpuTime(who int) (user, system int64, err error) {
	var ru unix.Rusage
	if err := unix.Getrusage(who, &ru); err != nil {
		return 0, 0, os.NewSyscallError("getrusage", err)
	}
	return ru.Utime.Nano(), ru.Stime.Nano(), nil
}

// ErrNoDirectIO says that the kernel reports no direct I/O for the file.
var ErrNoDirectIO = errors.New("the filesystem cannot do direct I/O on this file")

// A DirectAlign is what O_DIRECT demands, in bytes.
type DirectAlign struct {
	Mem    int64 // of the address of a buffer
	Offset int64 // of the offset in the file and the length of a transfer
	// Assumed is true where the kernel does not report it for this file
	// (before 6.1, and filesystems that have not learnt to): both are then
	// the device's logical block size, or 4096 where no device shows one.
	Assumed bool
}

// FileDirectAlign returns what direct I/O on an open file demands. sysfs is
// where that is mounted ("/sys"). The error is ErrNoDirectIO where the kernel
// says that the file has none; a file that opened with O_DIRECT may still
// fail at the first transfer where the kernel says nothing.
func FileDirectAlign(fd int, sysfs string) (DirectAlign, error) {
	var st unix.Statx_t
	// STATX_TYPE is asked for so that kernels before 6.1 have something to do.
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN|unix.STATX_TYPE, &st); err != nil {
		return DirectAlign{}, os.NewSyscallError("statx", err)
	}
	return directAlign(&st, sysfs)
}

func directAlign(st *unix.Statx_t, sysfs string) (DirectAlign, error) {
	if st.Mask&unix.STATX_DIOALIGN != 0 {
		// Both are 0 where direct I/O is not supported (statx(2)).
		if st.Dio_mem_align == 0 || st.Dio_offset_align == 0 {
			return DirectAlign{}, ErrNoDirectIO
		}
		return DirectAlign{Mem: int64(st.Dio_mem_align), Offset: int64(st.Dio_offset_align)}, nil
	}
	n, err := logicalBlockSize(st.Dev_major, st.Dev_minor, sysfs)
	if err != nil {
		n = 4096 // the largest logical block that drives have
	}
	return DirectAlign{Mem: n, Offset: n, Assumed: true}, nil
}

// logicalBlockSize of a block device or, for a partition, of its disk.
func logicalBlockSize(major, minor uint32, sysfs string) (int64, error) {
	text, err := queueAttribute(major, minor, sysfs, "logical_block_size")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 512 || n&(n-1) != 0 {
		return 0, fmt.Errorf("read logical_block_size of %d:%d: %q is no power of two from 512", major, minor, text)
	}
	return n, nil
}

// queueAttribute reads an attribute of the queue of a block device or, for a
// partition, of its disk.
func queueAttribute(major, minor uint32, sysfs, name string) (string, error) {
	dev := filepath.Join(sysfs, "dev/block", fmt.Sprintf("%d:%d", major, minor))
	b, err := os.ReadFile(filepath.Join(dev, "queue", name))
	if errors.Is(err, os.ErrNotExist) {
		// A partition has no queue; its directory lies in that of the disk,
		// so the link must be followed before going up.
		if dev, err = filepath.EvalSymlinks(dev); err != nil {
			return "", err
		}
		b, err = os.ReadFile(filepath.Join(filepath.Dir(dev), "queue", name))
	}
	return strings.TrimSpace(string(b)), err
}

// NeverPolled reports whether the kernel says that completions of the block
// device below an open file cannot be polled for (queue/io_poll is 0: an NVMe
// drive without poll queues). False also where no device shows it.
func NeverPolled(fd int, sysfs string) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, os.NewSyscallError("fstat", err)
	}
	text, err := queueAttribute(unix.Major(st.Dev), unix.Minor(st.Dev), sysfs, "io_poll")
	return err == nil && text == "0", nil
}

// Sync is fsync or, with data, fdatasync.
func Sync(fd int, data bool) syscall.Errno {
	for {
		err := error(nil)
		if data {
			err = unix.Fdatasync(fd)
		} else {
			err = unix.Fsync(fd)
		}
		switch e, _ := err.(syscall.Errno); {
		case err == nil:
			return 0
		case e != unix.EINTR:
			return e
		}
	}
}
