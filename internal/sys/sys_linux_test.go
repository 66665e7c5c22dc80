package sys

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childEnv makes the test binary a child that installs a seccomp filter with
// the errno given and then tries io_uring.
const childEnv = "NATIV_TEST_SECCOMP_ERRNO"

func TestMain(m *testing.M) {
	if s := os.Getenv(childEnv); s != "" {
		os.Exit(seccompChild(s))
	}
	os.Exit(m.Run())
}

type childAnswer struct {
	Opened bool
	Err    *UringError
}

func seccompChild(s string) int {
	var errno uint16
	if _, err := fmt.Sscan(s, &errno); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := denyUring(errno); err != nil {
		fmt.Fprintln(os.Stderr, "install the filter:", err)
		return 1
	}
	var a childAnswer
	r, err := OpenRing(1)
	if err == nil {
		a.Opened = true
		_ = r.Close()
	} else if !errors.As(err, &a.Err) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		return 1
	}
	return 0
}

// denyUring installs a filter as container runtimes do: io_uring_setup answers
// errno, everything else is allowed. It looks at no architecture; the test
// calls only by the native one.
func denyUring(errno uint16) error {
	runtime.LockOSThread()
	const ld, jeq, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{
		{Code: ld, K: 0}, // seccomp_data.nr
		{Code: jeq, K: unix.SYS_IO_URING_SETUP, Jt: 0, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return e
	}
	return nil
}

// TestSeccomp: a real filter, answering as Docker's (EPERM) and Podman's
// (ENOSYS) default profiles do, is told from everything else.
func TestSeccomp(t *testing.T) {
	for _, errno := range []syscall.Errno{unix.EPERM, unix.ENOSYS} {
		t.Run(ErrnoName(errno), func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childEnv, int(errno)))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var a childAnswer
			if err := json.Unmarshal(out, &a); err != nil {
				t.Fatal(err)
			}
			if a.Opened || a.Err == nil {
				t.Fatal("the ring opened through the filter")
			}
			if a.Err.Sysctl != nil && *a.Err.Sysctl != 0 && errno == unix.EPERM {
				t.Skipf("kernel.io_uring_disabled=%d hides the filter here", *a.Err.Sysctl)
			}
			if a.Err.Cause != UringSeccomp || a.Err.Errno != errno || a.Err.Seccomp != "2" {
				t.Errorf("error is %+v; want seccomp with %s", a.Err, ErrnoName(errno))
			}
			if !strings.Contains(a.Err.Error(), "seccomp") || !errors.Is(a.Err, errno) {
				t.Errorf("error reads %q", a.Err)
			}
		})
	}
}

func TestExplainUring(t *testing.T) {
	for _, tt := range []struct {
		name    string
		errno   syscall.Errno
		sysctl  string // "" is a kernel before 6.6
		seccomp string
		want    UringCause
		says    string
	}{
		{"sysctl 1", unix.EPERM, "1\n", "0", UringSysctl, "io_uring_group"},
		{"sysctl 2", unix.EPERM, "2\n", "0", UringSysctl, "to everyone"},
		{"sysctl and filter", unix.EPERM, "2\n", "2", UringSysctl, "sysctl -w"},
		{"docker", unix.EPERM, "0\n", "2", UringSeccomp, "seccomp"},
		{"docker, old kernel", unix.EPERM, "", "2", UringSeccomp, "seccomp"},
		{"podman", unix.ENOSYS, "0\n", "2", UringSeccomp, "seccomp"},
		{"podman, old kernel", unix.ENOSYS, "", "2", UringSeccomp, "seccomp"},
		{"security module", unix.EACCES, "0\n", "0", UringForbidden, "security module"},
		{"no procfs", unix.EPERM, "", "", UringForbidden, "forbidden"},
		{"ancient kernel", unix.ENOSYS, "", "0", UringAbsent, "5.11"},
		{"memlock", unix.ENOMEM, "", "0", UringMemlock, "RLIMIT_MEMLOCK"},
		{"unreadable sysctl", unix.EPERM, "many\n", "2", UringSeccomp, "seccomp"},
		{"other", unix.EMFILE, "0\n", "0", UringOther, "too many open files"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proc := t.TempDir()
			write := func(name, text string) {
				if text == "" {
					return
				}
				name = filepath.Join(proc, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("sys/kernel/io_uring_disabled", tt.sysctl)
			if tt.seccomp != "" {
				write("self/status", "Name:\tnativ\nNoNewPrivs:\t0\nSeccomp:\t"+tt.seccomp+"\nSeccomp_filters:\t1\n")
			}
			e := explainUring("io_uring_setup", tt.errno, proc)
			if e.Cause != tt.want {
				t.Errorf("cause is %s, want %s", e.Cause, tt.want)
			}
			if !strings.Contains(e.Error(), tt.says) || !strings.Contains(e.Error(), ErrnoName(tt.errno)) {
				t.Errorf("error reads %q; want %q in it", e, tt.says)
			}
			if !errors.Is(e, tt.errno) {
				t.Error("the errno does not unwrap")
			}
		})
	}
}

func FuzzParseSeccomp(f *testing.F) {
	f.Add("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n")
	f.Add("Seccomp:")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if v := parseSeccomp(strings.NewReader(s)); v != strings.TrimSpace(v) || (v != "" && !strings.Contains(s, "Seccomp:")) {
			t.Errorf("%q gives %q", s, v)
		}
	})
}

// TestRing submits a no-op by hand, to check the mapping against the kernel.
func TestRing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := OpenRing(3)
	if err != nil {
		t.Skipf("io_uring does not work here: %v", err)
	}
	if len(r.SQEs) != 4 || r.SQMask != 3 || len(r.CQEs) != 8 || r.CQMask != 7 {
		t.Errorf("%d SQEs with mask %d, %d CQEs with mask %d", len(r.SQEs), r.SQMask, len(r.CQEs), r.CQMask)
	}
	arg := new(GetEventsArg)
	for i := range uint64(10) { // more than once around
		r.SQEs[*r.SQTail&r.SQMask] = SQE{Opcode: OpNop, FD: -1, UserData: 100 + i}
		*r.SQTail++
		n, errno := r.Enter(1, 1, arg)
		if errno != 0 || n != 1 {
			t.Fatalf("enter: %d, %s", n, ErrnoName(errno))
		}
		if *r.CQTail-*r.CQHead != 1 {
			t.Fatalf("%d completions", *r.CQTail-*r.CQHead)
		}
		if c := r.CQEs[*r.CQHead&r.CQMask]; c.UserData != 100+i || c.Res != 0 {
			t.Fatalf("completion is %+v", c)
		}
		*r.CQHead++
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLadder opens a ring with every set of flags that this kernel has, so
// that the ones that other kernels fall back to work too.
func TestLadder(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	whole := setupLadder
	defer func() { setupLadder = whole }()
	for i := range whole {
		setupLadder = whole[i:]
		r, err := OpenRing(1)
		if err != nil {
			t.Skipf("io_uring does not work here: %v", err)
		}
		names := SetupFlagNames(r.Flags)
		r.SQEs[0] = SQE{Opcode: OpNop, UserData: 7}
		*r.SQTail++
		if n, errno := r.Enter(1, 1, new(GetEventsArg)); n != 1 || errno != 0 {
			t.Errorf("%v: enter: %d, %s", names, n, ErrnoName(errno))
		}
		if c := r.CQEs[0]; *r.CQTail != 1 || c.UserData != 7 {
			t.Errorf("%v: completion is %+v", names, c)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%v: %v", names, err)
		}
	}
}

// TestEnterTimeout: an empty ring's wait ends by itself.
func TestEnterTimeout(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := OpenRing(1)
	if err != nil {
		t.Skipf("io_uring does not work here: %v", err)
	}
	defer r.Close()
	m := make([]struct {
		arg GetEventsArg
		ts  Timespec
	}, 1)
	m[0].ts.Nsec = 1e6
	m[0].arg.TS = uint64(uintptr(unsafe.Pointer(&m[0].ts)))
	_, errno := r.Enter(0, 1, &m[0].arg)
	for errno == unix.EINTR {
		_, errno = r.Enter(0, 1, &m[0].arg)
	}
	if errno != unix.ETIME {
		t.Errorf("wait ended with %s, want ETIME", ErrnoName(errno))
	}
	runtime.KeepAlive(m)
}

func TestFileDirectAlign(t *testing.T) {
	f, err := os.CreateTemp("/var/tmp", "nativ-sys-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	a, err := FileDirectAlign(int(f.Fd()), "/sys")
	if errors.Is(err, ErrNoDirectIO) {
		t.Skipf("%s: %v", f.Name(), err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a.Mem < 1 || a.Offset < 512 || a.Offset&(a.Offset-1) != 0 {
		t.Errorf("alignment is %+v", a)
	}
	if _, err := FileDirectAlign(-1, "/sys"); !errors.Is(err, unix.EBADF) {
		t.Errorf("error of a bad descriptor is %v", err)
	}
}

func TestDirectAlign(t *testing.T) {
	sysfs := t.TempDir()
	disk := filepath.Join(sysfs, "devices/pci/block/nvme0n1")
	for _, d := range []string{disk + "/queue", disk + "/nvme0n1p2", sysfs + "/dev/block"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(disk+"/queue/logical_block_size", []byte("512\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"259:0": "../../devices/pci/block/nvme0n1", "259:2": "../../devices/pci/block/nvme0n1/nvme0n1p2"} {
		if err := os.Symlink(to, filepath.Join(sysfs, "dev/block", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		st   unix.Statx_t
		want DirectAlign
		err  error
	}{
		{"told", unix.Statx_t{Mask: unix.STATX_DIOALIGN, Dio_mem_align: 4, Dio_offset_align: 512}, DirectAlign{Mem: 4, Offset: 512}, nil},
		{"told none", unix.Statx_t{Mask: unix.STATX_DIOALIGN}, DirectAlign{}, ErrNoDirectIO},
		{"disk", unix.Statx_t{Dev_major: 259}, DirectAlign{512, 512, true}, nil},
		{"partition", unix.Statx_t{Dev_major: 259, Dev_minor: 2}, DirectAlign{512, 512, true}, nil},
		{"no device", unix.Statx_t{Dev_minor: 41}, DirectAlign{4096, 4096, true}, nil},
	} {
		if a, err := directAlign(&tt.st, sysfs); a != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %+v, %v; want %+v, %v", tt.name, a, err, tt.want, tt.err)
		}
	}
}

func TestCPUTime(t *testing.T) {
	u0, s0, err := CPUTime()
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		MonoNow()
	}
	u1, s1, err := CPUTime()
	if err != nil {
		t.Fatal(err)
	}
	if u1+s1 < u0+s0 || u1+s1 == 0 {
		t.Errorf("CPU time went from %d+%d to %d+%d", u0, s0, u1, s1)
	}
}

func TestErrnoName(t *testing.T) {
	for e, want := range map[syscall.Errno]string{unix.EIO: "EIO", unix.ENOSPC: "ENOSPC", 4095: "errno 4095"} {
		if got := ErrnoName(e); got != want {
			t.Errorf("%d is %q, want %q", int(e), got, want)
		}
	}
}

func TestNeverPolled(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	sysfs := t.TempDir()
	queue := filepath.Join(sysfs, "dev/block", fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)), "queue")
	if never, err := NeverPolled(int(f.Fd()), sysfs); never || err != nil {
		t.Errorf("without a device that says so: %t, %v", never, err)
	}
	if err := os.MkdirAll(queue, 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"0\n": true, "1\n": false} {
		if err := os.WriteFile(filepath.Join(queue, "io_poll"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if never, err := NeverPolled(int(f.Fd()), sysfs); never != want || err != nil {
			t.Errorf("io_poll %q: %t, %v", text, never, err)
		}
	}
	if _, err := NeverPolled(-1, sysfs); err == nil {
		t.Error("no file, no error")
	}
}
