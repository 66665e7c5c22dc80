package pvetest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func pct(h *host, args []string) int {
	if len(args) == 0 {
		return end(die(255, "ERROR: no command specified"))
	}
	verb := args[0]
	pos, opts, rest := options(args[1:])
	if verb == "list" {
		return end(h.listCTs())
	}
	if len(pos) == 0 {
		return end(die(255, "400 not enough arguments"))
	}
	id := pos[0]
	if n, err := strconv.Atoi(id); err != nil || n < 100 {
		return end(die(2, "400 Parameter verification failed.\nvmid: invalid format - value does not look like a valid VM ID"))
	}
	switch verb {
	case "create":
		return h.pctCreate(id, args[1:])
	case "start", "stop", "destroy":
		return h.fork("vz"+verb, id, args[1:])
	case "exec":
		return end(h.exec(id, opts["keep-env"] == "0", rest))
	}
	c, err := h.load(id)
	if err != nil {
		return end(err)
	}
	switch verb {
	case "config":
		printf("%s", c.show())
		return 0
	case "status":
		h.status(id, c, opts["verbose"] != "")
		return 0
	case "unlock":
		if c.keys["lock"] == "" {
			return end(die(255, "no lock found trying to remove any lock"))
		}
		delete(c.keys, "lock")
		return end(h.store(id, c))
	case "fstrim":
		if err := h.locked(c); err != nil {
			return end(err)
		}
		return end(h.fstrim(id, c))
	case "push", "pull":
		pid := h.pid(id)
		if pid == 0 {
			return end(die(255, "can only %s files to a running CT", verb))
		}
		if len(pos) != 3 {
			return end(die(255, "400 not enough arguments"))
		}
		// No exit code tells what becomes of it.
		if verb == "push" {
			err = h.push(pid, c, pos[1], pos[2], opts)
		} else {
			err = h.pull(pid, pos[1], pos[2])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return 0
	}
	return end(die(255, "ERROR: unknown command 'pct %s'", verb))
}

func (h *host) listCTs() error {
	const format = "%-10s %-10s %-12s %-20s\n"
	for i, id := range h.guests("lxc") {
		if i == 0 {
			printf(format, "VMID", "Status", "Lock", "Name")
		}
		c, err := h.load(id)
		if err != nil {
			return err
		}
		state := "stopped"
		if h.pid(id) > 0 {
			state = "running"
		}
		printf(format, id, state, c.keys["lock"], c.name(id))
	}
	return nil
}

func (h *host) status(id string, c *conf, verbose bool) {
	pid, state := h.pid(id), "stopped"
	if pid > 0 {
		state = "running"
	}
	if !verbose {
		printf("status: %s\n", state)
		return
	}
	lines := []string{"cpus: " + c.keys["cores"], "disk: 0", "diskread: 0", "diskwrite: 0"}
	if l := c.keys["lock"]; l != "" {
		lines = append(lines, "lock: "+l)
	}
	lines = append(lines, "maxdisk: 0", "maxmem: 536870912", "maxswap: 0", "mem: 0", "name: "+c.name(id), "netin: 0", "netout: 0")
	if pid > 0 {
		lines = append(lines, fmt.Sprintf("pid: %d", pid))
	}
	lines = append(lines, "status: "+state, "swap: 0", "type: lxc", "uptime: 0", "vmid: "+id)
	printf("%s\n", strings.Join(lines, "\n"))
}

// exec becomes lxc-attach, as pct exec does.
func (h *host) exec(id string, clear bool, argv []string) error {
	if _, err := h.load(id); err != nil {
		return err
	}
	if h.pid(id) == 0 || !h.real() {
		return die(255, "container '%s' not running!", id)
	}
	env := "--keep-env"
	if clear {
		env = "--clear-env"
	}
	attach, err := exec.LookPath("lxc-attach")
	if err != nil {
		return err
	}
	args := append([]string{"lxc-attach", "-P", h.path("var/lib/lxc"), "-n", id, env, "--"}, argv...)
	return syscall.Exec(attach, args, append(os.Environ(), "PATH="+noPath))
}

// push writes a file as the container's root.
func (h *host) push(pid int, c *conf, from, to string, opts map[string]string) error {
	src, err := os.Open(from)
	if err != nil {
		return die(0, "failed to open %s for reading", from)
	}
	defer src.Close()
	if h.fault("push-fails-rc0") {
		return die(0, "failed to create file: %s: No space left on device", to)
	}
	dst, err := openIn(pid, to, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC)
	if err != nil {
		return die(0, "failed to create file: %s: %s", to, message(err))
	}
	defer dst.Close()
	perms, err := strconv.ParseUint(opts["perms"], 8, 12)
	if err != nil {
		perms = 0o644
	}
	if err := dst.Chown(c.owner(), c.owner()); err != nil {
		return err
	}
	if err := unix.Fchmod(int(dst.Fd()), uint32(perms)); err != nil {
		return err
	}
	if h.fault("push-truncates") {
		st, err := src.Stat()
		if err != nil {
			return err
		}
		_, err = io.CopyN(dst, src, st.Size()/2)
		return err
	}
	_, err = io.Copy(dst, src)
	return err
}

func (h *host) pull(pid int, from, to string) error {
	dst, err := os.Create(to)
	if err != nil {
		return die(0, "failed to create file: %s: %s", to, message(err))
	}
	defer dst.Close()
	if h.fault("pull-empty-rc0") {
		return nil
	}
	src, err := openIn(pid, from, unix.O_RDONLY)
	if err != nil {
		return die(0, "failed to open %s: %s", from, message(err))
	}
	defer src.Close()
	_, err = io.Copy(dst, src)
	return err
}

// openIn opens a path in the root of a process.
func openIn(pid int, path string, flags uint64) (*os.File, error) {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(root)
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	if flags&unix.O_CREAT != 0 {
		how.Mode = 0o600
	}
	fd, err := unix.Openat2(root, path, &how)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// message is an error as Perl's $! says it.
func message(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, ": "); i >= 0 {
		s = s[i+2:]
	}
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// owner is the host's number of the container's root.
func (c *conf) owner() int {
	if c.keys["unprivileged"] == "1" {
		return 100000
	}
	return 0
}

// fstrim trims the volumes of a container, mounted as its init has them.
func (h *host) fstrim(id string, c *conf) error {
	pid := h.pid(id)
	if !h.real() || pid == 0 {
		return nil
	}
	for _, v := range c.volumes() {
		_, mp := sub(v, "mp")
		dir := filepath.Join(fmt.Sprintf("/proc/%d/root", pid), mp)
		if out, err := exec.Command("fstrim", "-v", dir).CombinedOutput(); err != nil {
			fmt.Fprintln(os.Stderr, strings.TrimSpace(string(out)))
		} else {
			printf("%s", out)
		}
	}
	return nil
}
