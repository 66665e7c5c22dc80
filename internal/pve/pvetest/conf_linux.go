package pvetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A conf is a guest's configuration file.
type conf struct {
	keys        map[string]string
	description string
	raw         []string
}

func (h *host) confPath(id string) string { return h.path("etc/pve/lxc", id+".conf") }

func (h *host) load(id string) (*conf, error) {
	b, err := os.ReadFile(h.confPath(id))
	if err != nil {
		return nil, die(2, "Configuration file 'nodes/pve/lxc/%s.conf' does not exist", id)
	}
	return parseConf(string(b)), nil
}

func parseConf(text string) *conf {
	c := &conf{keys: map[string]string{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		key, value, _ := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "["):
			return c // snapshots
		case strings.HasPrefix(line, "#"):
			c.description += decode(line[1:]) + "\n"
		case strings.HasPrefix(key, "lxc."):
			c.raw = append(c.raw, key+": "+strings.TrimSpace(value))
		case value != "":
			c.keys[key] = strings.TrimSpace(value)
		}
	}
	return c
}

// text is what the file holds.
func (c *conf) text() string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(c.description, "\n"), "\n") {
		if c.description != "" {
			fmt.Fprintf(&b, "#%s\n", encode(line))
		}
	}
	for _, k := range c.sorted() {
		fmt.Fprintf(&b, "%s: %s\n", k, c.keys[k])
	}
	for _, l := range c.raw {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// show is what pct config prints.
func (c *conf) show() string {
	lines := []string{}
	for k, v := range c.keys {
		lines = append(lines, k+": "+v+"\n")
	}
	if c.description != "" {
		lines = append(lines, "description: "+encode(c.description)+"\n")
	}
	slices.Sort(lines)
	for _, l := range c.raw {
		lines = append(lines, l+"\n")
	}
	return strings.Join(lines, "")
}

func (c *conf) sorted() []string {
	var keys []string
	for k := range c.keys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// encode is PVE's encode_text: what is not printable, the per cent sign and
// the colon.
func encode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '%' || c == ':' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func decode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// store writes the file as the cluster's file system does, whole.
func (h *host) store(id string, c *conf) error {
	if h.fault("busy") {
		return die(16, "unable to open file '/etc/pve/nodes/pve/lxc/%s.conf.tmp.%d' - Device or resource busy", id, os.Getpid())
	}
	tmp := h.path("etc", id+".tmp")
	if err := os.WriteFile(tmp, []byte(c.text()), 0o640); err != nil {
		return err
	}
	return os.Rename(tmp, h.confPath(id))
}

// volumes are the values of rootfs and mount points, rootfs first.
func (c *conf) volumes() []string {
	var out []string
	keys := c.sorted()
	slices.SortStableFunc(keys, func(a, b string) int {
		return strings.Compare(strings.Replace(a, "rootfs", "", 1), strings.Replace(b, "rootfs", "", 1))
	})
	for _, k := range keys {
		if k == "rootfs" || strings.HasPrefix(k, "mp") && len(k) > 2 {
			out = append(out, c.keys[k])
		}
	}
	return out
}

// sub returns the volume of such a value and a sub-key of it.
func sub(value, key string) (volume, v string) {
	for part := range strings.SplitSeq(value, ",") {
		k, val, ok := strings.Cut(part, "=")
		if !ok {
			volume = part
		} else if k == key {
			v = val
		}
	}
	return volume, v
}

// locked checks the configuration's lock.
func (h *host) locked(c *conf) error {
	lock := c.keys["lock"]
	if text, hit := h.faultValue("locked"); hit && lock == "" {
		if lock = text; lock == "" {
			lock = "backup"
		}
	}
	if lock != "" {
		return die(255, "CT is locked (%s)", lock)
	}
	return nil
}

// flock takes the lock file of a container, for which PVE waits 10 seconds.
func (h *host) flock(id string) (unlock func(), err error) {
	timeout := die(255, "can't lock file '/run/lock/lxc/pve-config-%s.lock' - got timeout", id)
	if h.fault("flock-timeout") {
		fmt.Fprintln(os.Stderr, "trying to acquire lock...")
		return nil, timeout
	}
	f, err := os.OpenFile(h.path("run/lock/lxc", "pve-config-"+id+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for try := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			return func() { f.Close() }, nil
		}
		if time.Since(try) > 10*time.Second {
			f.Close()
			fmt.Fprintln(os.Stderr, "trying to acquire lock...")
			return nil, timeout
		}
	}
}

// guests are the IDs that the cluster knows, by the kind of guest.
func (h *host) guests(dir string) []string {
	found, _ := filepath.Glob(h.path("etc/pve", dir, "*.conf"))
	var out []string
	for _, f := range found {
		out = append(out, strings.TrimSuffix(filepath.Base(f), ".conf"))
	}
	slices.SortFunc(out, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return out
}

// taken says who has an ID, "" for nobody.
func (h *host) taken(id string) string {
	switch {
	case exists(h.confPath(id)):
		return "CT"
	case exists(h.path("etc/pve/qemu-server", id+".conf")):
		return "VM"
	}
	return ""
}
