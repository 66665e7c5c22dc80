package sys

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A UringCause is why io_uring does not work here.
type UringCause string

// Causes.
const (
	UringAbsent    UringCause = "absent"     // the kernel has no io_uring
	UringSysctl    UringCause = "sysctl"     // kernel.io_uring_disabled
	UringSeccomp   UringCause = "seccomp"    // a seccomp filter answers instead
	UringForbidden UringCause = "forbidden"  // EPERM for a reason that the kernel does not tell
	UringMemlock   UringCause = "memlock"    // RLIMIT_MEMLOCK is too small
	UringTooOld    UringCause = "kernel-old" // no IORING_ENTER_EXT_ARG: before 5.11
	UringOther     UringCause = "other"
)

// A UringError says why io_uring cannot be used here and what to do about it.
type UringError struct {
	Op    string // the system call
	Errno syscall.Errno
	Cause UringCause
	// Sysctl is kernel.io_uring_disabled; nil where the kernel has none
	// (before 6.6) or it cannot be read.
	Sysctl *int
	// Seccomp is the mode in /proc/self/status: "0" off, "1" strict, "2"
	// filter; "" where unknown.
	Seccomp string
}

// Error names the cause and the next step.
func (e *UringError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Op, ErrnoName(e.Errno), e.explain())
}

// Unwrap makes errors.Is work with the errno.
func (e *UringError) Unwrap() error { return e.Errno }

func (e *UringError) explain() string {
	switch e.Cause {
	case UringAbsent:
		return "the kernel has no io_uring; it needs Linux 5.11 or later, built with CONFIG_IO_URING"
	case UringSysctl:
		if *e.Sysctl == 1 {
			return "kernel.io_uring_disabled=1 forbids io_uring to processes without privileges;" +
				" run as root outside a container, join the group of kernel.io_uring_group, or set it to 0: sysctl -w kernel.io_uring_disabled=0"
		}
		return fmt.Sprintf("kernel.io_uring_disabled=%d forbids io_uring to everyone; set it to 0 while measuring: sysctl -w kernel.io_uring_disabled=0", *e.Sysctl)
	case UringSeccomp:
		return "a seccomp filter forbids io_uring, as container runtimes do by default;" +
			" start the container with a profile that allows io_uring_setup, io_uring_enter and io_uring_register, or measure outside it"
	case UringForbidden:
		return "io_uring is forbidden, by neither kernel.io_uring_disabled nor seccomp; look for a denial of a security module in the kernel log"
	case UringMemlock:
		return "the limit of locked memory (RLIMIT_MEMLOCK) is too small for the rings or the registered buffers (fixedbufs); raise it: ulimit -l, or LimitMEMLOCK= of the service"
	case UringTooOld:
		return "the kernel's io_uring cannot wait with a timeout; it needs Linux 5.11 or later"
	}
	return e.Errno.Error()
}

// explainUring finds the cause of an errno. proc is where procfs is mounted.
func explainUring(op string, errno syscall.Errno, proc string) *UringError {
	e := &UringError{Op: op, Errno: errno, Cause: UringOther}
	if b, err := os.ReadFile(filepath.Join(proc, "sys/kernel/io_uring_disabled")); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			e.Sysctl = &n
		}
	}
	if f, err := os.Open(filepath.Join(proc, "self/status")); err == nil {
		e.Seccomp = parseSeccomp(f)
		_ = f.Close()
	}
	switch errno {
	case unix.ENOSYS:
		// The sysctl is there only where the kernel has io_uring. Without it
		// a filter is the likelier reason: kernels without io_uring are rare,
		// Podman's default profile is not.
		if e.Sysctl != nil || e.Seccomp == "2" {
			e.Cause = UringSeccomp
		} else {
			e.Cause = UringAbsent
		}
	case unix.EPERM, unix.EACCES:
		// A filter runs before the system call and so hides the sysctl, but
		// the sysctl alone suffices, and fixing the filter would not help.
		switch {
		case e.Sysctl != nil && *e.Sysctl != 0:
			e.Cause = UringSysctl
		case e.Seccomp == "2":
			e.Cause = UringSeccomp
		default:
			e.Cause = UringForbidden
		}
	case unix.ENOMEM:
		// Rings count against RLIMIT_MEMLOCK before 5.12; registered buffers
		// still do. A machine that is out of memory fails elsewhere first.
		e.Cause = UringMemlock
	}
	return e
}

// parseSeccomp returns the value of Seccomp: in /proc/PID/status, "" if there
// is none.
func parseSeccomp(r io.Reader) string {
	b, err := io.ReadAll(r)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "Seccomp:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
