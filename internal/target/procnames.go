package target

import (
	"bufio"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
)

// splitCmdline splits the contents of /proc/PID/cmdline.
func splitCmdline(s string) []string {
	s = strings.TrimRight(s, "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// qemuName returns how people call the virtual machine that the command line
// starts: Proxmox VE's number (-id), else QEMU's -name, else "". It reports
// false for what is not QEMU.
func qemuName(argv []string) (name string, ok bool) {
	if len(argv) == 0 {
		return "", false
	}
	switch base := path.Base(argv[0]); {
	case strings.HasPrefix(base, "qemu-system-"), base == "qemu-kvm", base == "kvm":
	default:
		return "", false
	}
	for i, arg := range argv[:len(argv)-1] {
		switch arg { // QEMU takes options with one dash or two
		case "-id", "--id":
			return argv[i+1], true
		case "-name", "--name":
			name = nameOption(argv[i+1])
		}
	}
	return name, true
}

// nameOption reads the value of QEMU's -name: "web" or "guest=web,debug-...".
func nameOption(v string) string {
	for part := range strings.SplitSeq(v, ",") {
		key, val, has := strings.Cut(part, "=")
		switch {
		case !has:
			return part
		case key == "guest":
			return val
		}
	}
	return ""
}

// jobName names a process that is known to load drives; always is true where
// what it reads cannot be told from its own files.
func jobName(argv []string) (name string, always bool) {
	if len(argv) == 0 {
		return "", false
	}
	switch base := path.Base(argv[0]); {
	case base == "fio" || strings.HasPrefix(base, "fio:"), base == "dd", base == "badblocks":
		name, _, _ = strings.Cut(base, ":")
		return name, false
	case base == "nativ" && len(argv) > 1 && argv[1] == "worker":
		return "nativ", false
	case base == "vzdump", strings.HasPrefix(argv[0], "task UPID:") && strings.Contains(argv[0], ":vzdump:"):
		// The guests' own processes do the reading.
		return "vzdump", true
	case strings.HasPrefix(base, "perl") && len(argv) > 1 && slices.ContainsFunc(argv[1:], func(a string) bool {
		return path.Base(a) == "vzdump"
	}):
		return "vzdump", true
	}
	return "", false
}

// containerPatterns find a container's name in the path of its cgroup:
// Proxmox VE and LXC up to 3 (lxc/104), LXC and LXD (lxc.payload.NAME), the
// runtimes of Docker, Podman and Kubernetes with systemd's scopes or without,
// and systemd-machined.
var containerPatterns = []*regexp.Regexp{
	regexp.MustCompile(`^lxc\.payload\.(.+)$`),
	regexp.MustCompile(`^(?:docker|libpod|crio|cri-containerd)-([0-9a-f]{12})[0-9a-f]*\.scope$`),
	regexp.MustCompile(`^machine-(.+)\.scope$`),
	regexp.MustCompile(`^systemd-nspawn@(.+)\.service$`),
}

var hexName = regexp.MustCompile(`^[0-9a-f]{12,}$`)

// containerName returns the name of the container that a cgroup path lies in,
// of nested ones the outermost, or "".
func containerName(cgroup string) string {
	parts := strings.Split(cgroup, "/")
	for i, p := range parts {
		for _, re := range containerPatterns {
			if m := re.FindStringSubmatch(p); m != nil {
				return unescapeUnit(m[1])
			}
		}
		if i+1 == len(parts) {
			break
		}
		switch next := parts[i+1]; {
		case p == "lxc" && next != "":
			return next
		case p == "docker" && hexName.MatchString(next):
			return next[:12]
		}
	}
	return ""
}

// unescapeUnit undoes what systemd does to names that become units: "web\x2d1"
// (systemd.unit(5)). Only the dash is common enough in names of machines.
func unescapeUnit(s string) string { return strings.ReplaceAll(s, `\x2d`, "-") }

// containerOf returns the container's name from the contents of
// /proc/PID/cgroup: that of any of its hierarchies.
func containerOf(r io.Reader) string {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		if f := strings.SplitN(sc.Text(), ":", 3); len(f) == 3 {
			if name := containerName(f[2]); name != "" {
				return name
			}
		}
	}
	return ""
}

// nspids returns the numbers of a process in its PID namespaces, outermost
// first, from the contents of /proc/PID/status.
func nspids(r io.Reader) []string {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		if v, ok := strings.CutPrefix(sc.Text(), "NSpid:"); ok {
			return strings.Fields(v)
		}
	}
	return nil
}

// resyncing returns the arrays that md works on by itself, with what it does,
// from the contents of /proc/mdstat; those that wait for it are left out.
func resyncing(r io.Reader) map[string]string {
	busy := map[string]string{}
	array := ""
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		line := sc.Text()
		if name, _, ok := strings.Cut(line, " : "); ok && strings.HasPrefix(name, "md") {
			array = name
		} else if m := mdAction.FindStringSubmatch(line); m != nil && array != "" {
			busy[array] = m[1]
		}
	}
	return busy
}

// mdAction matches the progress line of mdstat (drivers/md/md.c, status_resync):
// "[=>...]  resync = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec".
var mdAction = regexp.MustCompile(`\]\s+(resync|recovery|check|reshape)\s*=\s*[\d.]+%`)
