package worker

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// describe says where this process is, as it looks from inside.
func describe(engine record.Engine) (*record.Worker, error) {
	w := &record.Worker{PID: os.Getpid(), UID: os.Getuid(), Engine: engine}
	var err error
	if w.PIDNamespace, err = os.Readlink("/proc/self/ns/pid"); err != nil {
		return nil, fmt.Errorf("describe worker: %w", err)
	}
	if w.UserNS, err = os.Readlink("/proc/self/ns/user"); err != nil {
		return nil, fmt.Errorf("describe worker: %w", err)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("describe worker: read CPU affinity: %w", err)
	}
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			w.CPUs = append(w.CPUs, cpu)
		}
	}
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lim); err != nil {
		return nil, fmt.Errorf("describe worker: read RLIMIT_MEMLOCK: %w", err)
	}
	if lim.Cur != unix.RLIM_INFINITY {
		n := int64(lim.Cur)
		w.MemlockBytes = &n
	}
	if r, err := os.Open("/proc/self/status"); err == nil {
		w.Seccomp = parseSeccomp(r)
		r.Close()
	}
	w.AppArmor = appArmor("/proc/self/attr")
	return w, nil
}

// parseSeccomp reads the mode from /proc/PID/status (proc_pid_status(5)):
// "disabled", "strict" or "filter"; "" where the kernel does not say.
func parseSeccomp(r io.Reader) string {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		if v, ok := strings.CutPrefix(sc.Text(), "Seccomp:"); ok {
			switch strings.TrimSpace(v) {
			case "0":
				return "disabled"
			case "1":
				return "strict"
			case "2":
				return "filter"
			}
		}
	}
	return ""
}

// appArmor returns the AppArmor label, for example "unconfined"; "" where the
// kernel has no AppArmor. The plain attr/current may belong to another security
// module, so that it is no substitute.
func appArmor(attr string) string {
	b, err := os.ReadFile(filepath.Join(attr, "apparmor/current"))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(b), "\n\x00")
}
