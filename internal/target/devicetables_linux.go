package target

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nativ/internal/blkid"
)

// tables looks for the device in /etc/fstab and /etc/crypttab: somebody means to
// use it, even if it is not in use now.
func (d *Device) tables(o Roots, found []blkid.Found, add func(string, ...string)) {
	w := newWalk(o, nil)
	for _, table := range []struct {
		file  string
		field int
	}{{"etc/fstab", 0}, {"etc/crypttab", 1}} {
		b, err := os.ReadFile(o.root(table.file))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			add(ReasonUnknown, err.Error())
			continue
		}
		var named []string
		for _, spec := range tableSpecs(string(b), table.field) {
			if d.named(spec, found, w) {
				named = append(named, spec)
			}
		}
		if len(named) > 0 {
			add(ReasonFstab, append([]string{"/" + table.file}, named...)...)
		}
	}
}

// named reports whether a spec of a table stands for the device, one of its
// partitions, or something that lies on it.
func (d *Device) named(spec string, found []blkid.Found, w *walk) bool {
	path := spec
	if link := tagLink(spec); link != "" {
		path = link
		// Without udev there are no links; what was found says it, too.
		tag, value, _ := strings.Cut(spec, "=")
		value = strings.Trim(value, `"`)
		for _, f := range found {
			if tag == "UUID" && f.UUID != "" && strings.EqualFold(f.UUID, value) || tag == "LABEL" && f.Label != "" && f.Label == value {
				return true
			}
		}
	}
	if !strings.HasPrefix(path, "/") {
		return false
	}
	if names := append(d.partitions(), d.Name); slices.Contains(names, strings.TrimPrefix(path, "/dev/")) || path == d.Path {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	n := w.nameOfNode(real)
	return n != "" && w.on(d, []string{n})
}

// storages looks for the volume groups and pools that the device belongs to in
// the configuration of Proxmox VE.
func (d *Device) storages(o Roots, found []blkid.Found, add func(string, ...string)) {
	b, err := os.ReadFile(o.root("etc/pve/storage.cfg"))
	if err != nil {
		if !os.IsNotExist(err) {
			add(ReasonUnknown, err.Error())
		}
		return
	}
	// A partition of the drive may be the member, too.
	for _, p := range d.partitions() {
		if r, err := openDirect("/dev/" + p); err == nil {
			if n, ok := readInt(filepath.Join(d.sysDir, p), "size"); ok && n > 0 {
				more, _ := blkid.Scan(r, n*512)
				found = append(slices.Clone(found), more...)
			}
			r.Close()
		}
	}
	var names []string
	for _, s := range parseStorages(string(b)) {
		for _, f := range found {
			if f.Name == "" {
				continue
			}
			if f.Type == "LVM2_member" && f.Name == s.VG || f.Type == "zfs_member" && f.Name == s.Pool {
				names = append(names, s.ID)
			}
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		add(ReasonPVE, slices.Compact(names)...)
	}
}
