package target

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// Kinds of neighbours; see record.Neighbour.
const (
	neighbourVM        = "vm"
	neighbourContainer = "container"
	neighbourJob       = "job"
)

const (
	// ownContainers is how the names of nativ's own containers begin.
	ownContainers = "nativ"
	// searchTime bounds the search on machines with very many processes.
	searchTime = 500 * time.Millisecond
	// maxFiles bounds the open files looked at per process.
	maxFiles = 4096
	// initialPIDNamespace is the number of the first one
	// (include/linux/proc_ns.h, PROC_PID_INIT_INO).
	initialPIDNamespace = "pid:[4026531836]"
)

// Neighbours looks for guests and jobs that use the target's drives, and sets
// its Neighbours, and NeighboursUnknown where it may have missed some. The
// machine's own system on the same drive is none.
func Neighbours(t *record.Target, o Roots) {
	t.Neighbours, t.NeighboursUnknown = nil, ""
	if len(t.Drives) == 0 {
		t.NeighboursUnknown = "no drive is known behind the directory"
		return
	}
	mounts, err := readMounts(o, "self")
	if err != nil {
		t.NeighboursUnknown = err.Error()
		return
	}
	s := &search{
		walk: newWalk(o, mounts), proc: o.proc(), until: time.Now().Add(searchTime),
		zfs:    t.FSType == "zfs",
		drives: map[string]bool{}, found: map[record.Neighbour]bool{}, jobs: map[string][]int{},
	}
	for _, d := range t.Drives {
		s.drives[d.Name] = true
	}
	s.processes()
	for name, pids := range s.jobs {
		s.add(neighbourJob, jobTitle(name, pids))
	}
	s.arrays()
	s.btrfs()
	t.Neighbours = slices.SortedFunc(maps.Keys(s.found), compareNeighbours)
	t.NeighboursUnknown = s.unknown()
}

// compareNeighbours puts VMs before containers before jobs, 9 before 10.
func compareNeighbours(a, b record.Neighbour) int {
	order := []string{neighbourVM, neighbourContainer, neighbourJob}
	if c := slices.Index(order, a.Kind) - slices.Index(order, b.Kind); c != 0 {
		return c
	}
	x, errX := strconv.Atoi(a.Name)
	y, errY := strconv.Atoi(b.Name)
	if errX == nil && errY == nil && x != y {
		return x - y
	}
	return strings.Compare(a.Name, b.Name)
}

// A search goes through the processes for those that use one of the drives.
type search struct {
	*walk
	proc   string
	until  time.Time
	drives map[string]bool
	found  map[record.Neighbour]bool
	jobs   map[string][]int // process IDs by the name of the job
	// Reasons for which something may be missing.
	late, denied, hidden, zfs bool
}

func (s *search) unknown() string {
	switch {
	case s.hidden:
		return "processes outside this container cannot be seen"
	case os.Geteuid() != 0:
		return "files of other users' processes cannot be seen; run as root to see them"
	case s.denied:
		return "files of some processes may not be read"
	case s.zfs:
		return "whether a ZFS pool is scrubbed or resilvered cannot be read without its tools; zpool status tells"
	case s.late:
		return fmt.Sprintf("there are too many processes; stopped after %v", searchTime)
	}
	return ""
}

func (s *search) processes() {
	if ns, err := os.Readlink(filepath.Join(s.proc, "self/ns/pid")); err == nil && ns != initialPIDNamespace {
		s.hidden = true
	}
	dir, err := os.Open(s.proc)
	if err != nil {
		s.denied = true
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	s.denied = s.denied || err != nil
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if time.Now().After(s.until) {
			s.late = true
			return
		}
		s.process(filepath.Join(s.proc, name))
	}
}

// process looks at one process. Processes end while it does; they are none.
func (s *search) process(dir string) {
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(cmdline) == 0 { // kernel threads have none
		return
	}
	argv := splitCmdline(string(cmdline))
	if name, ok := qemuName(argv); ok {
		if s.opens(dir, imageFile) {
			if name == "" {
				name = "PID " + filepath.Base(dir)
			}
			s.add(neighbourVM, name)
		}
		return
	}
	if name, always := jobName(argv); name != "" {
		if always || s.opens(dir, workFile(name)) {
			pid, _ := strconv.Atoi(filepath.Base(dir)) // processes saw to it
			s.jobs[name] = append(s.jobs[name], pid)
		}
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return
	}
	// The init of a container is number 1 in a namespace below ours.
	pids := nspids(bytes.NewReader(status))
	if len(pids) < 2 || pids[len(pids)-1] != "1" {
		return
	}
	cgroups, err := os.ReadFile(filepath.Join(dir, "cgroup"))
	if err != nil {
		return
	}
	// Browsers and sandboxes make namespaces too, in no cgroup of a container.
	name := containerOf(bytes.NewReader(cgroups))
	if name != "" && !strings.HasPrefix(name, ownContainers) && s.mounts(dir) {
		s.add(neighbourContainer, name)
	}
}

// jobTitle is "fio (PID 12)"; of many processes with one name, such as fio's own
// jobs, it names the first few.
func jobTitle(name string, pids []int) string {
	slices.Sort(pids)
	var all []string
	for i, pid := range pids {
		if i == 3 {
			all = append(all, "…")
			break
		}
		all = append(all, strconv.Itoa(pid))
	}
	return name + " (PID " + strings.Join(all, ", ") + ")"
}

func (s *search) add(kind, name string) { s.found[record.Neighbour{Kind: kind, Name: name}] = true }

// imageFile reports whether a regular file that QEMU has open may be a disk:
// its firmware and logs, which mostly lie on the system's drive, are smaller.
func imageFile(_ string, size uint64) bool { return size >= 16<<20 }

// workFile returns which open regular files of a job are its work: not what
// its output is redirected to. For dd the standard descriptors are the work.
func workFile(job string) func(fd string, size uint64) bool {
	return func(fd string, _ uint64) bool { return fd != "2" && (fd != "1" || job == "dd") }
}

// opens reports whether the process has a device open that lies above one of
// the drives, or a regular file on one that counts.
func (s *search) opens(dir string, counts func(fd string, size uint64) bool) bool {
	fds, err := os.Open(filepath.Join(dir, "fd"))
	if err != nil {
		s.denied = s.denied || os.IsPermission(err)
		return false
	}
	defer fds.Close()
	names, err := fds.Readdirnames(maxFiles)
	if err != nil {
		s.denied = s.denied || os.IsPermission(err)
		return false
	}
	for _, n := range names {
		fd := filepath.Join(dir, "fd", n)
		stx, err := look(fd)
		if err != nil {
			continue
		}
		switch kind := stx.Mode & unix.S_IFMT; {
		case kind == unix.S_IFBLK, kind == unix.S_IFREG && counts(n, stx.Size):
		default:
			continue
		}
		if s.uses(s.devicesOfStat(&stx, func() string { p, _ := os.Readlink(fd); return p })) {
			return true
		}
	}
	return false
}

// mounts reports whether the container whose init dir is has its root or a
// whole filesystem on one of the drives. Single files and directories that are
// bound into it are not enough: every container has some from the host.
func (s *search) mounts(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "mountinfo"))
	if err != nil {
		s.denied = s.denied || os.IsPermission(err)
		return false
	}
	defer f.Close()
	all, err := mountinfo.GetMountsFromReader(f, nil)
	if err != nil {
		return false
	}
	for _, m := range all {
		if m.Mountpoint != "/" && m.Root != "/" {
			continue
		}
		if s.uses(s.devicesOf(m)) {
			return true
		}
		if upper := overlayUpper(m); m.Mountpoint == "/" && upper != "" && s.uses(s.devicesOfFile(upper)) {
			return true
		}
	}
	return false
}

// overlayUpper is where an overlay's files are written, as the host sees it.
func overlayUpper(m *mountinfo.Info) string {
	if m.FSType != "overlay" {
		return ""
	}
	for o := range strings.SplitSeq(m.VFSOptions, ",") {
		if dir, ok := strings.CutPrefix(o, "upperdir="); ok {
			return dir
		}
	}
	return ""
}

func (s *search) uses(devices []string) bool {
	return slices.ContainsFunc(s.drivesUnder(devices), func(d string) bool { return s.drives[d] })
}

// arrays adds the arrays on the drives that md rebuilds or checks.
func (s *search) arrays() {
	f, err := os.Open(filepath.Join(s.proc, "mdstat"))
	if err != nil {
		return // no md
	}
	defer f.Close()
	for array, action := range resyncing(f) {
		if s.uses([]string{array}) {
			s.add(neighbourJob, array+" "+action)
		}
	}
}
