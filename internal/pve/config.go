package pve

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Config is a guest's configuration, as pct config and qm config print it.
type Config struct {
	Keys map[string]string
	// Raw are the lines that go to LXC as they are.
	Raw         []RawLine
	Description string
}

// RawLine is a line such as "lxc.cgroup2.cpuset.cpus: 0-3".
type RawLine struct{ Key, Value string }

// MountPoint is a volume of a guest.
type MountPoint struct {
	Key    string // rootfs, mp0, scsi0, unused0
	Volume string // a volume ID, or a path of the host that is bound
	// Path is where a container sees it, or "".
	Path string
	// Size in bytes, 0 where it is not said.
	Size    int64
	Options map[string]string
}

// parseConfig reads what pct config prints.
func parseConfig(text string) (*Config, error) {
	c := &Config{Keys: map[string]string{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok || key == "" || strings.ContainsAny(key, " \t"):
			return nil, fmt.Errorf("read configuration: no key in %q", line)
		case strings.HasPrefix(key, "lxc."):
			c.Raw = append(c.Raw, RawLine{key, value})
		case key == "description":
			// A per cent sign that encodes nothing stands for itself.
			c.Description = value
			if s, err := url.PathUnescape(value); err == nil {
				c.Description = s
			}
		default:
			c.Keys[key] = value
		}
	}
	return c, nil
}

// Lock says who works on the guest, or "".
func (c *Config) Lock() string { return c.Keys["lock"] }

// Unprivileged reports whether the container's root is not the host's: the key
// is not there in a privileged one.
func (c *Config) Unprivileged() bool { return c.Keys["unprivileged"] == "1" }

// Int is the value of a key that is a whole number.
func (c *Config) Int(key string) (int, bool) {
	n, err := strconv.Atoi(c.Keys[key])
	return n, err == nil
}

// Tags are the guest's, which semicolons, commas or spaces part.
func (c *Config) Tags() []string { return splitList(c.Keys["tags"]) }

// RawValue is the value of the last raw line with the key, which is the one that
// LXC takes, or "".
func (c *Config) RawValue(key string) string {
	for _, l := range slices.Backward(c.Raw) {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// Mounts are a container's rootfs, mount points and unused volumes, in the order
// of their keys.
func (c *Config) Mounts() []MountPoint {
	return c.volumes(func(key string) bool {
		return key == "rootfs" || numbered(key, "mp") || numbered(key, "unused")
	})
}

// Disks are a virtual machine's.
func (c *Config) Disks() []MountPoint {
	return c.volumes(func(key string) bool {
		for _, bus := range []string{"scsi", "virtio", "sata", "ide", "efidisk", "tpmstate", "unused"} {
			if numbered(key, bus) {
				return true
			}
		}
		return false
	})
}

func numbered(key, prefix string) bool {
	n, ok := strings.CutPrefix(key, prefix)
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

func (c *Config) volumes(is func(key string) bool) []MountPoint {
	var out []MountPoint
	for _, key := range slices.Sorted(maps.Keys(c.Keys)) {
		if is(key) {
			out = append(out, parseVolume(key, c.Keys[key]))
		}
	}
	return out
}

// parseVolume reads "local-lvm:vm-100-disk-1,mp=/bench,backup=0,size=50G", whose
// volume may also be named: "volume=…" or "file=…", in any place.
func parseVolume(key, value string) MountPoint {
	m := MountPoint{Key: key, Options: map[string]string{}}
	for part := range strings.SplitSeq(value, ",") {
		name, v, named := strings.Cut(part, "=")
		switch {
		case !named && m.Volume == "":
			m.Volume = part
		case name == "volume" || name == "file":
			m.Volume = v
		case named:
			m.Options[name] = v
		}
	}
	m.Path = m.Options["mp"]
	if key == "rootfs" {
		m.Path = "/"
	}
	m.Size, _ = parseSize(m.Options["size"])
	return m
}

// parseSize reads a size with PVE's units, which are powers of 1024.
func parseSize(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	shift := 0
	switch s[len(s)-1] {
	case 'K':
		shift = 10
	case 'M':
		shift = 20
	case 'G':
		shift = 30
	case 'T':
		shift = 40
	}
	if shift > 0 {
		s = s[:len(s)-1]
	}
	// NaN compares false with everything.
	f, err := strconv.ParseFloat(s, 64)
	if n := f * float64(int64(1)<<shift); err == nil && n >= 0 && n < 1<<62 {
		return int64(n), true
	}
	return 0, false
}

// splitList splits a list at commas, semicolons and spaces; nil for none.
func splitList(s string) []string {
	list := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",; \t\n", r) })
	if len(list) == 0 {
		return nil
	}
	return list
}
