package pve

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// parseStorageStatus reads the table of pvesm status into storages by name;
// sizes of it are KiB.
func parseStorageStatus(text string) (map[string]Storage, error) {
	out := map[string]Storage{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "Name" && len(f) > 1 && f[1] == "Type" {
			continue
		}
		// PVE also says here what it met while it looked.
		if len(f) != 7 || f[2] != "active" && f[2] != "inactive" && f[2] != "disabled" {
			continue
		}
		s := Storage{Name: f[0], Type: f[1], Enabled: f[2] != "disabled", Active: f[2] == "active"}
		if s.Active {
			for i, p := range []**int64{&s.Total, &s.Used, &s.Available} {
				n, err := strconv.ParseInt(f[3+i], 10, 64)
				if err != nil || n < 0 || n > 1<<52 {
					return nil, fmt.Errorf("read pvesm status: %q is not a number of KiB in %q", f[3+i], strings.TrimSpace(line))
				}
				n <<= 10
				*p = &n
			}
		}
		out[s.Name] = s
	}
	return out, nil
}

// Volume is one on a storage.
type Volume struct {
	ID     string // such as local-lvm:vm-100-disk-0
	Format string // raw, subvol, qcow2 …
	Type   string // rootdir, images …
	// Size in bytes; nil where it is not known. Approx: the storage can only
	// say about.
	Size   *int64
	Approx bool
	VMID   int // 0 for none
}

// parseVolumes reads the table of pvesm list.
func parseVolumes(text string) ([]Volume, error) {
	var out []Volume
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "Volid" || !strings.Contains(f[0], ":") {
			continue
		}
		// A template belongs to no guest.
		if len(f) != 4 && len(f) != 5 {
			return nil, fmt.Errorf("read pvesm list: %q", strings.TrimSpace(line))
		}
		v := Volume{ID: f[0], Format: f[1], Type: f[2]}
		if f[3] != "-" {
			size, approx := strings.CutPrefix(f[3], "~")
			n, err := strconv.ParseInt(size, 10, 64)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("read pvesm list: size %q of %s", f[3], v.ID)
			}
			v.Size, v.Approx = &n, approx
		}
		if len(f) == 5 {
			n, err := strconv.Atoi(f[4])
			if err != nil || n < 0 {
				return nil, fmt.Errorf("read pvesm list: owner %q of %s", f[4], v.ID)
			}
			v.VMID = n
		}
		out = append(out, v)
	}
	return out, nil
}

// parseAlloc finds the new volume in what pvesm alloc prints, below what the
// storage said.
func parseAlloc(text string) (string, error) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "successfully created '"); ok {
			if id, ok := strings.CutSuffix(rest, "'"); ok && strings.Contains(id, ":") {
				return id, nil
			}
		}
	}
	return "", fmt.Errorf("read pvesm alloc: it names no volume: %q", oneLine(text))
}

// Template is what a container can be made from.
type Template struct {
	VolID string // such as local:vztmpl/NAME
	Name  string
}

// parseTemplates reads the table of pveam list.
func parseTemplates(text string) []Template {
	var out []Template
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if _, name, ok := strings.Cut(f[0], ":vztmpl/"); ok && name != "" {
			out = append(out, Template{VolID: f[0], Name: name})
		}
	}
	return out
}

// Status is a guest's state.
type Status struct {
	Running bool
	Name    string
	// PID of its first process, as the host counts; 0 if it does not run.
	PID  int
	Lock string
}

// parseStatus reads what pct status --verbose prints.
func parseStatus(text string) (Status, error) {
	var s Status
	state := ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "status":
			state = value
		case "name":
			s.Name = value
		case "lock":
			s.Lock = value
		case "pid":
			if n, err := strconv.Atoi(value); err == nil && n > 1 {
				s.PID = n
			}
		}
	}
	if state == "" {
		return s, fmt.Errorf("read pct status: it says no status: %q", oneLine(text))
	}
	if s.Running = state == "running"; !s.Running {
		s.PID = 0
	}
	return s, nil
}

// Guest is a container or a virtual machine of the cluster.
type Guest struct {
	ID                 int
	Type               string // lxc or qemu
	Name, Node, Status string
	Lock               string
	Tags               []string
	Template           bool
}

// parseGuests reads the JSON of /cluster/resources.
func parseGuests(text string) ([]Guest, error) {
	var list []struct {
		VMID     int
		Type     string
		Name     string
		Node     string
		Status   string
		Lock     string
		Tags     string
		Template int
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("read the cluster's guests: %w", err)
	}
	var out []Guest
	for _, g := range list {
		if g.VMID > 0 {
			out = append(out, Guest{ID: g.VMID, Type: g.Type, Name: g.Name, Node: g.Node, Status: g.Status, Lock: g.Lock,
				Tags: splitList(g.Tags), Template: g.Template != 0})
		}
	}
	return out, nil
}

// Version is what pveversion says.
type Version struct {
	Manager string // such as 9.1.1
	Kernel  string // that which runs
}

// parseVersion reads "pve-manager/9.1.1/42db4a6cf33dac83 (running kernel:
// 6.17.2-1-pve)".
func parseVersion(text string) (Version, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "pve-manager/")
	version, rest, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || version == "" {
		return Version{}, fmt.Errorf("read pveversion: %q", oneLine(text))
	}
	v := Version{Manager: version}
	if _, k, ok := strings.Cut(rest, "running kernel: "); ok {
		v.Kernel, _, _ = strings.Cut(k, ")")
	}
	return v, nil
}
