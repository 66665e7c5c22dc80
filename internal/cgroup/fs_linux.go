package cgroup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/sys/mountinfo"

	"nativ/internal/job"
)

// Layouts that a machine may have.
const (
	LayoutV2    = "v2"    // one hierarchy
	LayoutMixed = "mixed" // v1 hierarchies, and v2 beside them
	LayoutV1    = "v1"
)

// ErrNone says that no cgroup filesystem is mounted.
var ErrNone = errors.New("no cgroup filesystem is mounted; mount one, or boot with systemd, elogind or cgroupfs-mount")

// controllers are the names that the kernel gives to v1 controllers
// (include/linux/cgroup_subsys.h); other mount options are none.
var controllers = []string{
	"cpuset", "cpu", "cpuacct", "blkio", "memory", "devices", "freezer",
	"net_cls", "perf_event", "net_prio", "hugetlb", "pids", "rdma", "misc", "debug",
}

// A hierarchy is one tree of groups.
type hierarchy struct {
	dir string // where its root is mounted
	v2  bool
	// controllers are those that its groups can have; none in a named v1
	// hierarchy, such as systemd's.
	controllers []string
}

// An FS is the cgroup filesystem of a machine. Paths given to its methods are
// relative to the root of every hierarchy, for example "nativ/RUN/host".
type FS struct {
	hierarchies []hierarchy
	disabled    []string
}

// Detect finds the hierarchies of the machine whose root directory is root: "/",
// or in tests another.
func Detect(root string) (*FS, error) {
	mounts, err := os.Open(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("find cgroups: %w", err)
	}
	defer mounts.Close()
	found, err := parseMounts(mounts)
	if err != nil {
		return nil, fmt.Errorf("find cgroups: %w", err)
	}
	f := &FS{}
	for _, h := range found {
		h.dir = filepath.Join(root, h.dir)
		if h.v2 {
			b, err := os.ReadFile(filepath.Join(h.dir, "cgroup.controllers"))
			if err != nil {
				return nil, fmt.Errorf("find cgroups: %w", err)
			}
			h.controllers = strings.Fields(string(b))
		}
		f.hierarchies = append(f.hierarchies, h)
	}
	if len(f.hierarchies) == 0 {
		return nil, ErrNone
	}
	// Only to word an error: kernels without CONFIG_PROC_PID_CPUSET and
	// later ones may lack the file.
	if r, err := os.Open(filepath.Join(root, "proc/cgroups")); err == nil {
		f.disabled, _ = parseDisabled(r)
		r.Close()
	}
	return f, nil
}

// parseMounts reads mountinfo and returns each hierarchy once, v1 first, in the
// order of its first mount. A mount of the whole hierarchy is preferred to one
// of a part of it.
func parseMounts(r io.Reader) ([]hierarchy, error) {
	mounts, err := mountinfo.GetMountsFromReader(r, func(m *mountinfo.Info) (skip, stop bool) {
		return m.FSType != "cgroup" && m.FSType != "cgroup2", false
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(mounts, func(a, b *mountinfo.Info) int {
		if v := strings.Compare(a.FSType, b.FSType); v != 0 {
			return v
		}
		return boolInt(a.Root != "/") - boolInt(b.Root != "/")
	})
	type device struct {
		v2           bool
		major, minor int
	}
	seen := map[device]bool{}
	var out []hierarchy
	for _, m := range mounts {
		h := hierarchy{dir: m.Mountpoint, v2: m.FSType == "cgroup2"}
		id := device{h.v2, m.Major, m.Minor}
		if seen[id] {
			continue
		}
		seen[id] = true
		if !h.v2 {
			for o := range strings.SplitSeq(m.VFSOptions, ",") {
				if slices.Contains(controllers, o) {
					h.controllers = append(h.controllers, o)
				}
			}
		}
		out = append(out, h)
	}
	return out, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Layout is one of the Layout constants.
func (f *FS) Layout() string {
	var v1, v2 bool
	for _, h := range f.hierarchies {
		// A named hierarchy alone (systemd's, for old containers) does not
		// make a v2 machine a mixed one.
		v1 = v1 || !h.v2 && len(h.controllers) > 0
		v2 = v2 || h.v2
	}
	switch {
	case v1 && v2:
		return LayoutMixed
	case v1:
		return LayoutV1
	}
	return LayoutV2
}

// Check reports a *MissingError for the first of the named controllers that the
// machine does not offer.
func (f *FS) Check(names ...string) error {
	for _, n := range names {
		if f.with(n) == nil {
			return &MissingError{Controller: n, Disabled: slices.Contains(f.disabled, n)}
		}
	}
	return nil
}

// with returns the hierarchy that has a controller, or nil. A controller is in
// one hierarchy at a time.
func (f *FS) with(controller string) *hierarchy {
	for i := range f.hierarchies {
		if slices.Contains(f.hierarchies[i].controllers, controller) {
			return &f.hierarchies[i]
		}
	}
	return nil
}

// check refuses a path that is not that of a group below the root.
func check(path string) error {
	if !filepath.IsLocal(path) || filepath.Clean(path) != path || path == "." {
		return fmt.Errorf("%q is no path of a cgroup", path)
	}
	return nil
}

// ours are the hierarchies in which groups are made: all but v1's named ones,
// which belong to the service manager that named them.
func (f *FS) ours() []hierarchy {
	var out []hierarchy
	for _, h := range f.hierarchies {
		if h.v2 || len(h.controllers) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// Create makes a group, and those above it, in every hierarchy. On v2 every
// controller of the root is switched on along the way, so that groups side by
// side have the same ones; at the root they stay on, as after LXC, which does
// the same. It is no error where the group is there already.
func (f *FS) Create(path string) error {
	if err := check(path); err != nil {
		return err
	}
	for _, h := range f.ours() {
		err := h.create(path)
		// Another run may remove the group above, which is empty still,
		// while this one is at work in it.
		for deadline := time.Now().Add(createPatience); gone(err) && time.Now().Before(deadline); {
			err = h.create(path)
		}
		if err != nil {
			return fmt.Errorf("make cgroup %s: %w", path, err)
		}
	}
	return nil
}

// createPatience is how long Create tries again while others remove what it
// works in. One try takes some 100 µs.
const createPatience = 5 * time.Second

// gone reports whether an error says that a group was removed: ENODEV is what
// its files answer when they were open by then.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV)
}

func (h *hierarchy) create(path string) error {
	dir := h.dir
	for part := range strings.SplitSeq(path, "/") {
		if h.v2 {
			// A group that holds processes cannot give controllers to those
			// below it (no internal processes: cgroup-v2.rst), so only the
			// last part of a path may hold any. One write each, because the
			// kernel takes all of a line or nothing: cpu, for instance, is
			// refused while realtime processes are in groups. What a limit
			// needs and is missing shows when the limit is set.
			for _, c := range h.controllers {
				_ = write(filepath.Join(dir, "cgroup.subtree_control"), "+"+c)
			}
		}
		parent := dir
		dir = filepath.Join(dir, part)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if !h.v2 && slices.Contains(h.controllers, "cpuset") {
			// A new v1 cpuset is empty, and no process may enter it
			// (admin-guide/cgroup-v1/cpusets.rst, 1.4).
			for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
				if err := inherit(parent, dir, name); err != nil {
					return err
				}
			}
			// For those that LXC makes in it: LXC cares for the topmost
			// group of a path only where it made that itself.
			if err := write(filepath.Join(dir, "cgroup.clone_children"), "1"); err != nil {
				return err
			}
		}
	}
	return nil
}

// inherit copies a parent's value to a group that has none.
func inherit(parent, dir, name string) error {
	have, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || len(strings.TrimSpace(string(have))) > 0 {
		return err
	}
	value, err := os.ReadFile(filepath.Join(parent, name))
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, name), strings.TrimSpace(string(value)))
}

// Limits are what a group may use. Zero values limit nothing.
type Limits struct {
	CPUs   []int
	Memory int64 // bytes
}

// Limit sets the limits of a group.
func (f *FS) Limit(path string, l Limits) error {
	if err := check(path); err != nil {
		return err
	}
	if len(l.CPUs) > 0 {
		if err := f.set("cpuset", path, "cpuset.cpus", "cpuset.cpus", job.FormatCPUs(l.CPUs)); err != nil {
			return err
		}
	}
	if l.Memory > 0 {
		if err := f.set("memory", path, "memory.max", "memory.limit_in_bytes", strconv.FormatInt(l.Memory, 10)); err != nil {
			return err
		}
	}
	return nil
}

func (f *FS) set(controller, path, v2, v1, value string) error {
	if err := f.Check(controller); err != nil {
		return err
	}
	h := f.with(controller)
	name := v1
	if h.v2 {
		name = v2
	}
	if err := write(filepath.Join(h.dir, path, name), value); err != nil {
		return fmt.Errorf("set %s of cgroup %s to %s: %w", name, path, value, err)
	}
	return nil
}

// State is what really holds for a group.
type State struct {
	// CPUs that its processes may run on; nil where no controller says.
	CPUs []int
	// Memory is the lowest limit of it and the groups above, in bytes; nil
	// where there is none or no controller says.
	Memory *int64
	// Controllers of the group, sorted.
	Controllers []string
}

// Read reads back what holds for a group.
func (f *FS) Read(path string) (State, error) {
	var s State
	if err := check(path); err != nil {
		return s, err
	}
	for _, h := range f.ours() {
		dir := filepath.Join(h.dir, path)
		names := h.controllers
		if h.v2 {
			b, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
			if err != nil {
				return s, fmt.Errorf("read cgroup %s: %w", path, err)
			}
			names = strings.Fields(string(b))
		}
		s.Controllers = append(s.Controllers, names...)
		if slices.Contains(names, "cpuset") {
			name := "cpuset.effective_cpus"
			if h.v2 {
				name = "cpuset.cpus.effective"
			}
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return s, fmt.Errorf("read cgroup %s: %w", path, err)
			}
			if s.CPUs, err = job.ParseCPUs(string(b)); err != nil {
				return s, fmt.Errorf("read %s of cgroup %s: %w", name, path, err)
			}
		}
		if slices.Contains(names, "memory") {
			var err error
			if s.Memory, err = h.memory(path); err != nil {
				return s, fmt.Errorf("read cgroup %s: %w", path, err)
			}
		}
	}
	slices.Sort(s.Controllers)
	return s, nil
}

func (h *hierarchy) memory(path string) (*int64, error) {
	name := "memory.limit_in_bytes"
	if h.v2 {
		name = "memory.max"
	}
	var lowest *int64
	for p := path; p != "."; p = filepath.Dir(p) {
		b, err := os.ReadFile(filepath.Join(h.dir, p, name))
		if h.v2 && errors.Is(err, fs.ErrNotExist) {
			continue // a group above that does not have the controller
		} else if err != nil {
			return nil, err
		}
		limit, err := parseMemory(string(b))
		if err != nil {
			return nil, err
		}
		if limit != nil && (lowest == nil || *limit < *lowest) {
			lowest = limit
		}
	}
	return lowest, nil
}

// Add moves a process with all its threads into a group, in every hierarchy.
// What the process had allocated before stays charged where it was.
func (f *FS) Add(path string, pid int) error {
	if err := check(path); err != nil {
		return err
	}
	for _, h := range f.ours() {
		if err := write(filepath.Join(h.dir, path, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("move process %d into cgroup %s: %w", pid, path, err)
		}
	}
	return nil
}

// write writes to a file that must be there: a file created by mistake beside
// the kernel's would look like a limit that took.
func write(name, value string) error {
	w, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = w.WriteString(value)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}
