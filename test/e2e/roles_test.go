package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// playRole is what the test binary does as a child of a test: it sets something
// up that only a process itself can have, and then becomes nativ.
func playRole(role string) int {
	os.Unsetenv("NATIV_E2E_ROLE")
	switch role {
	case "seccomp":
		// Answers the three calls of io_uring with an errno, as Docker (EPERM)
		// and Podman (ENOSYS) do.
		errno, err := strconv.Atoi(os.Getenv("NATIV_E2E_ERRNO"))
		if err == nil {
			err = forbidUring(uint32(errno))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "seccomp:", err)
			return 99
		}
	default:
		fmt.Fprintln(os.Stderr, "unknown role", role)
		return 99
	}
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return 99
}

// forbidUring installs a seccomp filter on all threads: io_uring_setup, _enter
// and _register (425 to 427 on every architecture) fail with the errno.
func forbidUring(errno uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: 425, Jf: 2},
		{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: 427, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return e
	}
	return nil
}
