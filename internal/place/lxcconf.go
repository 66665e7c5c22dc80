package place

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// lxcConfig is what a container's configuration is made of. Paths hold no
// whitespace; see checkPlain.
type lxcConfig struct {
	Rootfs string // on the host
	// Binary and Alive are bound read-only to /nativ and alivePath.
	Binary, Alive string
	Files         []lxcFile
	// Mounts are files that programs in the container need.
	Mounts []lxcFile
	// IDs is nil for a privileged container.
	IDs *idMap
	// Unconfined switches AppArmor off, where the kernel has it not or its
	// parser is missing.
	Unconfined bool
	Seccomp    string // path of a profile, or ""
	CPUs       string
	Memory     int64
	// Group is the cgroup of the run; those of the container are below it.
	Group string
}

// An lxcFile is a file that a container works on: Source on the host is bound to
// Target, relative to the container's root.
type lxcFile struct {
	Source, Target string
	ReadOnly       bool
}

// An idMap maps the container's users and groups, from 0 on, to the host's.
type idMap struct {
	UID, GID, Count int64
}

func (m *idMap) String() string {
	return fmt.Sprintf("u 0 %d %d, g 0 %d %d", m.UID, m.Count, m.GID, m.Count)
}

// The IDs that Debian, Ubuntu and Proxmox VE give to root's containers, for
// machines where /etc/subuid has none for root: root may map any.
var defaultIDs = idMap{UID: 100000, GID: 100000, Count: 65536}

// dropped are the capabilities that LXC's own common.conf takes from
// privileged containers.
const dropped = "mac_admin mac_override sys_time sys_module sys_rawio"

// commonSeccomp is LXC's own list of system calls that no container needs.
const commonSeccomp = "/usr/share/lxc/config/common.seccomp"

// alivePath is where a container sees the file that nativ keeps locked.
const alivePath = "/alive"

// String renders the configuration (lxc.container.conf(5)). It includes
// nothing: Debian's common.conf brings hooks of lxcfs with it.
func (c *lxcConfig) String() string {
	var b strings.Builder
	set := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%s = %s\n", key, fmt.Sprintf(format, args...))
	}
	set("lxc.rootfs.path", "dir:%s", c.Rootfs)
	set("lxc.init.cmd", "/nativ %s", InitArg)
	set("lxc.signal.halt", "SIGKILL")
	set("lxc.net.0.type", "empty")
	set("lxc.tty.max", "0")
	set("lxc.pty.max", "1")
	set("lxc.console.path", "none")
	if c.IDs != nil {
		set("lxc.idmap", "u 0 %d %d", c.IDs.UID, c.IDs.Count)
		set("lxc.idmap", "g 0 %d %d", c.IDs.GID, c.IDs.Count)
	} else {
		set("lxc.cap.drop", dropped)
	}
	if c.Unconfined {
		set("lxc.apparmor.profile", "unconfined")
	} else {
		// What Debian's default.conf and Proxmox VE use. The ready-made
		// lxc-container-default-cgns need not be loaded: the service that
		// loads it may never have run.
		set("lxc.apparmor.profile", "generated")
	}
	if c.Seccomp != "" {
		set("lxc.seccomp.profile", "%s", c.Seccomp)
	}
	set("lxc.mount.auto", "proc:mixed sys:ro")
	set("lxc.mount.entry", "%s nativ none bind,ro 0 0", c.Binary)
	set("lxc.mount.entry", "%s %s none bind,ro 0 0", c.Alive, strings.TrimPrefix(alivePath, "/"))
	for _, f := range slices.Concat(c.Mounts, c.Files) {
		mode := "rw"
		if f.ReadOnly {
			mode = "ro"
		}
		set("lxc.mount.entry", "%s %s none bind,%s 0 0", f.Source, f.Target, mode)
	}
	// Keys of both generations: LXC logs those that are not the machine's
	// and goes on. What took is read back after the start.
	if c.CPUs != "" {
		set("lxc.cgroup.cpuset.cpus", "%s", c.CPUs)
		set("lxc.cgroup2.cpuset.cpus", "%s", c.CPUs)
	}
	if c.Memory > 0 {
		set("lxc.cgroup.memory.limit_in_bytes", "%d", c.Memory)
		set("lxc.cgroup2.memory.max", "%d", c.Memory)
	}
	set("lxc.cgroup.dir.container", "%s/%s", c.Group, groupContainer)
	set("lxc.cgroup.dir.monitor", "%s/%s", c.Group, groupMonitor)
	set("lxc.cgroup.dir.monitor.pivot", "%s/%s", c.Group, groupPivot)
	return b.String()
}

// The groups of a container below that of its run.
const (
	groupContainer = "ct"
	groupMonitor   = "mon"
	groupPivot     = "pivot"
)

// checkPlain refuses a path that LXC's configuration could read as something
// else.
func checkPlain(path string) error {
	for _, r := range path {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`\#"'=`, r) {
			return fmt.Errorf("path %q holds %q, which LXC's configuration cannot; set NATIV_STATE_DIR to a plain path", path, r)
		}
	}
	return nil
}

// parseSubIDs reads /etc/subuid or /etc/subgid (subuid(5)) and returns the
// start of the first range of root's that is large enough for a container.
func parseSubIDs(r io.Reader) (start int64, ok bool) {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Split(strings.TrimSpace(sc.Text()), ":")
		if len(f) != 3 || f[0] != "root" && f[0] != "0" {
			continue
		}
		first, err1 := strconv.ParseUint(f[1], 10, 32)
		count, err2 := strconv.ParseUint(f[2], 10, 32)
		// A range that begins at 0 would make the container's root ours.
		if err1 == nil && err2 == nil && first > 0 && count >= uint64(defaultIDs.Count) && first+count <= 1<<32-1 {
			return int64(first), true
		}
	}
	return 0, false
}

// parseLog returns the first errors from LXC's log, without their sources. The
// first is the cause; the others follow from it.
func parseLog(r io.Reader) []string {
	const most = 3
	var out []string
	sc := bufio.NewScanner(r)
	for sc.Scan() && len(out) < most {
		// lxc-start NAME 20261130221500.123 ERROR    start - ../src/lxc/start.c:FUNC:LINE - MESSAGE
		head, rest, ok := strings.Cut(sc.Text(), " - ")
		if !ok || !strings.Contains(head, " ERROR ") {
			continue
		}
		if _, msg, ok := strings.Cut(rest, " - "); ok && msg != "" {
			out = append(out, strings.ToValidUTF8(msg, "?"))
		}
	}
	return out
}
