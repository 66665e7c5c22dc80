package pvetest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

const (
	hookName = "lxc-pve-prestart-hook"
	// noPath keeps LXC from finding newuidmap, which would want a range for
	// root in /etc/subuid.
	noPath = "/nonexistent"
)

// start is the task of pct start.
func start(h *host, id string, _ []string) (int, error) {
	unlock, err := h.flock(id)
	if err != nil {
		return 0, err
	}
	defer unlock()
	c, err := h.load(id)
	if err != nil {
		return 0, err
	}
	if err := h.locked(c); err != nil {
		return 0, err
	}
	if h.pid(id) > 0 {
		return 0, die(255, "CT %s already running", id)
	}
	if err := h.step("start"); err != nil {
		return 0, err
	}
	if h.fault("start-fails") {
		printf("run_buffer: 571 Script exited with status 255\nlxc_init: 845 Failed to run lxc.hook.pre-start for container \"%s\"\n"+
			"__lxc_start: 2034 Failed to initialize container \"%s\"\n", id, id)
		return 0, die(255, "startup for container '%s' failed", id)
	}
	warned := 0
	if h.fault("warnings-rc0") {
		printf("WARN: Systemd 255 detected. You may need to enable nesting.\n")
		warned++
	}
	if err := os.MkdirAll(h.rootfs(id), 0o755); err != nil {
		return 0, err
	}
	if !h.real() {
		return warned, os.WriteFile(h.path("var/lib/lxc", id, "running"), nil, 0o644)
	}
	if err := os.WriteFile(h.path("var/lib/lxc", id, "config"), []byte(h.lxcConfig(id, c)), 0o644); err != nil {
		return 0, err
	}
	log := h.path("var/lib/lxc", id, "log")
	cmd := exec.Command("lxc-start", "-d", "-P", h.path("var/lib/lxc"), "-n", id, "-l", "WARN", "-o", log)
	cmd.Env = append(os.Environ(), "PATH="+noPath)
	if err := cmd.Run(); err != nil {
		b, _ := os.ReadFile(log)
		printf("%s", b)
		return 0, die(255, "startup for container '%s' failed", id)
	}
	return warned, nil
}

// lxcConfig is what PVE makes of a configuration, less what needs its own files.
func (h *host) lxcConfig(id string, c *conf) string {
	var b strings.Builder
	set := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%s = %s\n", key, fmt.Sprintf(format, args...))
	}
	set("lxc.rootfs.path", "dir:%s", h.rootfs(id))
	set("lxc.hook.pre-start", "%s", h.path("bin", hookName))
	set("lxc.monitor.unshare", "1")
	if c.keys["unprivileged"] == "1" {
		set("lxc.idmap", "u 0 100000 65536")
		set("lxc.idmap", "g 0 100000 65536")
	}
	set("lxc.uts.name", "%s", c.name(id))
	set("lxc.net.0.type", "empty")
	set("lxc.tty.max", "0")
	set("lxc.pty.max", "1")
	set("lxc.console.path", "none")
	set("lxc.signal.halt", "SIGKILL")
	if exists("/sys/kernel/security/apparmor") {
		set("lxc.apparmor.profile", "unconfined")
	}
	if seccomp := "/usr/share/lxc/config/common.seccomp"; exists(seccomp) {
		set("lxc.seccomp.profile", "%s", seccomp)
	}
	set("lxc.mount.auto", "proc:mixed sys:ro")
	if e := c.keys["entrypoint"]; e != "" {
		set("lxc.init.cmd", "%s", e)
	}
	set("lxc.cgroup.dir.monitor", "lxc.monitor/%s", id)
	set("lxc.cgroup.dir.monitor.pivot", "lxc.pivot/%s", id)
	set("lxc.cgroup.dir.container", "lxc/%s", id)
	set("lxc.cgroup.dir.container.inner", "ns")
	if mb, err := strconv.ParseInt(c.keys["memory"], 10, 64); err == nil {
		set("lxc.cgroup.memory.limit_in_bytes", "%d", mb<<20)
		set("lxc.cgroup2.memory.max", "%d", mb<<20)
		set("lxc.cgroup2.memory.high", "%d", (mb<<20)/1024*1016)
	}
	pinned := false
	for _, l := range c.raw {
		key, value, _ := strings.Cut(l, ": ")
		set(key, "%s", value)
		if key == "lxc.cgroup2.cpuset.cpus" {
			pinned = true
			// PVE knows v2 only; here v1 may have the controller.
			set("lxc.cgroup.cpuset.cpus", "%s", value)
		}
	}
	if n, err := strconv.Atoi(c.keys["cores"]); err == nil && !pinned {
		cpus := randomCPUs(n)
		set("lxc.cgroup.cpuset.cpus", "%s", cpus)
		set("lxc.cgroup2.cpuset.cpus", "%s", cpus)
	}
	return b.String()
}

// randomCPUs are n of those there are, other ones at every start.
func randomCPUs(n int) string {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return "0"
	}
	var all []string
	for i := range 1024 {
		if set.IsSet(i) {
			all = append(all, fmt.Sprint(i))
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all[:min(n, len(all))], ",")
}

// prestart is what LXC calls in the mount namespace of a container's monitor.
func prestart(h *host, _ []string) int {
	if err := os.Setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"); err != nil {
		return end(err)
	}
	id := os.Getenv("LXC_NAME")
	c, err := h.load(id)
	if err != nil {
		return end(err)
	}
	return end(h.mountAll(id, c, h.rootfs(id)))
}

// pid is that of a container's init as the host counts, 0 if it does not run.
func (h *host) pid(id string) int {
	if !h.real() {
		if exists(h.path("var/lib/lxc", id, "running")) {
			return os.Getppid()
		}
		return 0
	}
	if !exists(h.path("var/lib/lxc", id, "config")) {
		return 0
	}
	out, err := exec.Command("lxc-info", "-P", h.path("var/lib/lxc"), "-n", id, "-p", "-H").Output()
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return max(pid, 0)
}

// stop is the task of pct stop.
func stop(h *host, id string, _ []string) (int, error) {
	unlock, err := h.flock(id)
	if err != nil {
		return 0, err
	}
	defer unlock()
	c, err := h.load(id)
	if err != nil {
		return 0, err
	}
	if err := h.locked(c); err != nil {
		return 0, err
	}
	if h.pid(id) == 0 {
		return 0, die(255, "CT %s not running", id)
	}
	if err := h.step("stop"); err != nil {
		return 0, err
	}
	stopLXC(h, id)
	return 0, nil
}

func stopLXC(h *host, id string) {
	_ = os.Remove(h.path("var/lib/lxc", id, "running"))
	if !h.real() {
		return
	}
	for range 100 {
		if h.pid(id) == 0 {
			break
		}
		_ = exec.Command("lxc-stop", "-k", "-P", h.path("var/lib/lxc"), "-n", id).Run()
		time.Sleep(10 * time.Millisecond)
	}
	_ = os.Remove(h.path("var/lib/lxc", id, "config"))
	// The monitor goes after its container, and takes the mounts along.
	for end := time.Now().Add(10 * time.Second); h.monitored(id) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	removeGroups(id)
}

func (h *host) monitored(id string) bool {
	for _, f := range glob("/proc/[0-9]*/cmdline") {
		b, err := os.ReadFile(f)
		if err == nil && strings.HasPrefix(string(b), "[lxc monitor] "+h.path("var/lib/lxc")+" "+id) {
			return true
		}
	}
	return false
}

// removeGroups removes the cgroups that LXC leaves.
func removeGroups(id string) {
	for _, root := range append(glob("/sys/fs/cgroup/*"), "/sys/fs/cgroup") {
		for _, top := range []string{"lxc", "lxc.monitor", "lxc.pivot"} {
			var dirs []string
			_ = filepath.WalkDir(filepath.Join(root, top, id), func(p string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					dirs = append(dirs, p)
				}
				return nil
			})
			for i := len(dirs) - 1; i >= 0; i-- {
				_ = unix.Rmdir(dirs[i])
			}
			_ = unix.Rmdir(filepath.Join(root, top))
		}
	}
}

// destroy is the task of pct destroy.
func destroy(h *host, id string, args []string) (int, error) {
	_, opts, _ := options(args)
	unlock, err := h.flock(id)
	if err != nil {
		return 0, err
	}
	defer unlock()
	c, err := h.load(id)
	if err != nil {
		return 0, err
	}
	if c.keys["protection"] == "1" {
		return 0, die(255, "can't remove CT %s - protection mode enabled", id)
	}
	if err := h.locked(c); err != nil {
		return 0, err
	}
	if h.pid(id) > 0 {
		if opts["force"] != "1" {
			return 0, die(255, "unable to destroy CT %s - container is running", id)
		}
		printf("forced to stop CT %s before destroying!\n", id)
		stopLXC(h, id)
	}
	if opts["destroy-unreferenced-disks"] == "1" {
		return 0, die(255, "pvetest: this frees every volume of the ID, whoever made it")
	}
	if err := h.step("destroy"); err != nil {
		return 0, err
	}
	for _, v := range c.volumes() {
		volid, _ := sub(v, "")
		if h.fault("destroy-lies") {
			printf("  Logical volume pve/%s contains a filesystem in use.\n", volid)
			continue
		}
		if err := h.free(volid, os.Stdout); err != nil {
			printf("%v\n", err)
		}
	}
	if err := os.RemoveAll(h.path("var/lib/lxc", id)); err != nil {
		return 0, err
	}
	// What is left of it keeps the ID until all that refers to it is gone.
	if err := h.store(id, &conf{keys: map[string]string{"lock": "destroyed"}}); err != nil {
		return 0, err
	}
	if err := h.step("purge"); err != nil {
		return 0, err
	}
	if opts["purge"] == "1" {
		printf("purging CT %s from related configurations..\n", id)
	}
	return 0, os.Remove(h.confPath(id))
}

// mountsBelow are the mount points at dir and below it, in their order.
func mountsBelow(dir string) []string {
	var out []string
	mounts, _ := mountinfo.GetMounts(mountinfo.PrefixFilter(dir))
	for _, m := range mounts {
		out = append(out, m.Mountpoint)
	}
	return out
}
