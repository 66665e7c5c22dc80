package place

import (
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A StateDirError says why no container can live below a state directory, and
// what to do.
type StateDirError struct{ err error }

func (e *StateDirError) Error() string { return e.err.Error() }
func (e *StateDirError) Unwrap() error { return e.err }

// CheckStateDir reports a *StateDirError where no container can live below dir,
// an existing directory: before anything is made there.
func CheckStateDir(dir string, privileged bool) error {
	err := checkPlain(dir)
	if err == nil {
		err = checkStateDir(dir, !privileged)
	}
	if err != nil {
		return &StateDirError{err}
	}
	return nil
}

// checkStateDir checks that a container can live below dir: that programs may
// be executed there and, for an unprivileged one, that others get through.
func checkStateDir(dir string, unprivileged bool) error {
	const hint = "set NATIV_STATE_DIR to another directory"
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("check state directory: %w", err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(real, &st); err != nil {
		return fmt.Errorf("check state directory %s: %w", real, err)
	}
	if st.Flags&unix.ST_NOEXEC != 0 {
		return fmt.Errorf("check state directory %s: it is mounted noexec, so that no container can run from it; %s", real, hint)
	}
	for d := real; unprivileged; d = filepath.Dir(d) {
		fi, err := os.Stat(d)
		if err != nil {
			return fmt.Errorf("check state directory: %w", err)
		}
		if fi.Mode()&0o001 == 0 {
			return fmt.Errorf("check state directory %s: %s (mode %04o) is closed to others, and so to the root of an unprivileged container; %s",
				real, d, fi.Mode().Perm(), hint)
		}
		if d == "/" {
			break
		}
	}
	return nil
}

// copyBinary copies the program to a file that everybody may execute and
// compares what arrived. It must be a static one: the container's root file
// system has no loader and no libraries.
func copyBinary(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy nativ: %w", err)
	}
	defer src.Close()
	if err := checkStatic(src); err != nil {
		return fmt.Errorf("copy nativ: %w", err)
	}
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return fmt.Errorf("copy nativ: %w", err)
	}
	defer dst.Close()
	want := sha256.New()
	if _, err := io.Copy(dst, io.TeeReader(src, want)); err != nil {
		return fmt.Errorf("copy nativ to %s: %w", to, err)
	}
	if err := errors.Join(dst.Chmod(0o755), dst.Close()); err != nil {
		return fmt.Errorf("copy nativ to %s: %w", to, err)
	}
	back, err := os.Open(to)
	if err != nil {
		return fmt.Errorf("copy nativ: %w", err)
	}
	defer back.Close()
	got := sha256.New()
	if _, err := io.Copy(got, back); err != nil {
		return fmt.Errorf("copy nativ: read back %s: %w", to, err)
	}
	if string(got.Sum(nil)) != string(want.Sum(nil)) {
		return fmt.Errorf("copy nativ to %s: what is there differs from what was written", to)
	}
	return nil
}

// A NotStaticError says that this binary cannot run in a container.
type NotStaticError struct{}

func (*NotStaticError) Error() string {
	return "this nativ is linked dynamically, and the container has no libraries for it; build it with CGO_ENABLED=0, or take the released binary, or measure outside of a container"
}

// CheckStatic reports a *NotStaticError where this program is none that a
// container can run.
func CheckStatic() error {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("look at this program: %w", err)
	}
	defer f.Close()
	return checkStatic(f)
}

func checkStatic(r io.ReaderAt) error {
	f, err := elf.NewFile(r)
	if err != nil {
		return err
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return &NotStaticError{}
		}
	}
	return nil
}

// lockedFile makes an empty file and locks it for as long as it is open; see
// Init. (A lock that children inherit for a moment goes with their exec.)
func lockedFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(0o644), unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// rootIDs returns the IDs for an unprivileged container of root's: a range
// that the machine has set aside for it, else the usual one.
func rootIDs(root string) *idMap {
	ids := defaultIDs
	first := func(name string) (int64, bool) {
		r, err := os.Open(filepath.Join(root, name))
		if err != nil {
			return 0, false
		}
		defer r.Close()
		return parseSubIDs(r)
	}
	uid, ok1 := first("etc/subuid")
	gid, ok2 := first("etc/subgid")
	if ok1 && ok2 {
		ids.UID, ids.GID = uid, gid
	}
	return &ids
}

// appArmorUsable reports whether containers can be confined: the kernel has
// AppArmor on, shows it, and its parser is installed.
func appArmorUsable(root string) bool {
	on, err := os.ReadFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"))
	if err != nil || !strings.HasPrefix(string(on), "Y") || !exists(root, "sys/kernel/security/apparmor/features") {
		return false
	}
	_, err = findParser(root)
	return err == nil
}

func findParser(root string) (string, error) {
	for _, dir := range []string{"usr/sbin", "sbin", "usr/bin", "bin"} {
		if p := filepath.Join(root, dir, "apparmor_parser"); exists(p) {
			return p, nil
		}
	}
	return "", errors.New("find apparmor_parser: not installed")
}

// seccompOf returns name where a filter of system calls holds for a process, else
// "none".
func seccompOf(proc, name string) string {
	const filter = "\nSeccomp:\t2\n" // SECCOMP_MODE_FILTER
	if status, err := os.ReadFile(proc + "/status"); err != nil || !strings.Contains(string(status), filter) {
		return "none"
	}
	return name
}

// profileOf returns the AppArmor profile under which a process really runs, ""
// where this kernel has no AppArmor.
func profileOf(proc string) string {
	b, err := os.ReadFile(proc + "/attr/apparmor/current")
	if err != nil {
		return ""
	}
	return shortLabel(strings.TrimRight(string(b), "\n\x00"))
}

// shortLabel leaves out the second part of a stack of profiles, which is that
// of the namespace that LXC gives to the container to use by itself:
// "lxc-N_</path>//&:lxc-N_<-path>:unconfined (enforce)".
func shortLabel(label string) string {
	first, rest, ok := strings.Cut(label, "//&")
	if i := strings.LastIndex(rest, " ("); ok && i >= 0 {
		return first + rest[i:]
	}
	return first
}
