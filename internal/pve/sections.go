package pve

import (
	"fmt"
	"strconv"
	"strings"
)

// section is a paragraph of storage.cfg or jobs.cfg:
//
//	lvmthin: local-lvm
//		thinpool data
//		vgname pve
type section struct {
	Type, ID string
	Keys     map[string]string
}

// parseSections reads the form that all such files of PVE share: a header
// without indentation, its properties indented, comments with #. A property
// without a value is a switch that is on.
func parseSections(text string) ([]section, error) {
	var out []section
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			kind, id, ok := strings.Cut(line, ":")
			id = strings.TrimSpace(id)
			if !ok || kind == "" || strings.ContainsAny(kind, " \t") || id == "" {
				return nil, fmt.Errorf("line %d: %q is not a header such as \"dir: local\"", n, line)
			}
			out = append(out, section{Type: kind, ID: id, Keys: map[string]string{}})
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("line %d: property %q belongs to nothing", n, trimmed)
		}
		key, value, _ := strings.Cut(strings.ReplaceAll(trimmed, "\t", " "), " ")
		if value = strings.TrimSpace(value); value == "" {
			value = "1"
		}
		out[len(out)-1].Keys[key] = value
	}
	return out, nil
}

func (s section) on(key string) bool {
	switch strings.ToLower(s.Keys[key]) {
	case "1", "yes", "on", "true":
		return true
	}
	return false
}

// Storage is one that this host knows.
type Storage struct {
	Name, Type string
	// Content are the kinds of volumes that it may hold: rootdir, images,
	// vztmpl …
	Content []string
	// Enabled and Active are this node's view.
	Enabled, Active bool
	Shared          bool
	// SafeRemove: volumes are overwritten after they were removed.
	SafeRemove bool
	// Total, Used and Available in bytes; nil where the storage is not active.
	Total, Used, Available *int64
	// Path is the directory of one that has files; Pool is of ZFS or Ceph, VG
	// and ThinPool are of LVM.
	Path, Pool, VG, ThinPool string
	// Nodes are those that it is restricted to; nil is all.
	Nodes []string
}

// Holds reports whether volumes of a kind may be put there.
func (s Storage) Holds(content string) bool {
	for _, c := range s.Content {
		if c == content {
			return true
		}
	}
	return false
}

// Local reports whether the data is on drives of this host.
func (s Storage) Local() bool {
	switch s.Type {
	case "dir", "btrfs", "lvm", "lvmthin", "zfspool":
		return !s.Shared
	}
	return false
}

// parseStorageCfg reads /etc/pve/storage.cfg. PVE knows a storage local also
// when the file does not have it.
func parseStorageCfg(text string) ([]Storage, error) {
	sections, err := parseSections(text)
	if err != nil {
		return nil, err
	}
	var out []Storage
	local := false
	for _, s := range sections {
		st := Storage{
			Name: s.ID, Type: s.Type, Content: splitList(s.Keys["content"]), Enabled: !s.on("disable"), Shared: s.on("shared"),
			SafeRemove: s.on("saferemove"), Path: s.Keys["path"], Pool: s.Keys["pool"],
			VG: s.Keys["vgname"], ThinPool: s.Keys["thinpool"], Nodes: splitList(s.Keys["nodes"]),
		}
		if st.Content == nil {
			st.Content = defaultContent(s.Type)
		}
		local = local || s.ID == "local"
		out = append(out, st)
	}
	if !local {
		out = append([]Storage{{Name: "local", Type: "dir", Path: "/var/lib/vz", Enabled: true,
			Content: []string{"images", "rootdir", "vztmpl", "iso", "backup", "snippets"}}}, out...)
	}
	return out, nil
}

// defaultContent is what a storage holds that does not say: images, and
// containers where the type can have them.
func defaultContent(kind string) []string {
	switch kind {
	case "lvm", "lvmthin", "zfspool", "dir", "nfs", "cifs", "btrfs", "rbd":
		return []string{"images", "rootdir"}
	}
	return nil
}

// parseUpperID reads the end of the range of IDs, which is not in it, from
// datacenter.cfg: "next-id: lower=100,upper=200".
func parseUpperID(text string) int {
	const standard = 1000 * 1000
	for line := range strings.Lines(text) {
		bounds, ok := strings.CutPrefix(line, "next-id:")
		if !ok {
			continue
		}
		for _, b := range splitList(bounds) {
			v, ok := strings.CutPrefix(b, "upper=")
			if n, err := strconv.Atoi(v); ok && err == nil && n > 0 {
				return n
			}
		}
	}
	return standard
}

// BackupJob is a backup that PVE makes by itself.
type BackupJob struct {
	ID string
	// Schedule is a calendar event such as "sun 01:00" (PVE's own form of
	// systemd's).
	Schedule, Storage, Node, Pool string
	Enabled, All                  bool
	Guests, Exclude               []int
}

// parseJobs reads the backups of /etc/pve/jobs.cfg.
func parseJobs(text string) ([]BackupJob, error) {
	sections, err := parseSections(text)
	if err != nil {
		return nil, err
	}
	var out []BackupJob
	for _, s := range sections {
		if s.Type != "vzdump" {
			continue
		}
		_, said := s.Keys["enabled"]
		out = append(out, BackupJob{
			ID: s.ID, Schedule: s.Keys["schedule"], Storage: s.Keys["storage"], Node: s.Keys["node"], Pool: s.Keys["pool"],
			Enabled: !said || s.on("enabled"), All: s.on("all"),
			Guests: ids(s.Keys["vmid"]), Exclude: ids(s.Keys["exclude"]),
		})
	}
	return out, nil
}

func ids(s string) []int {
	var out []int
	for _, f := range splitList(s) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}
