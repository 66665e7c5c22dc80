package target

import (
	"path/filepath"
	"strings"
)

// swapPaths reads /proc/swaps: a line of titles, then a line for each area that
// begins with its path (proc(5)).
func swapPaths(text string) []string {
	var paths []string
	first := true
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if !first && len(f) > 1 && strings.HasPrefix(f[0], "/") {
			paths = append(paths, fstabEscapes.Replace(strings.TrimSuffix(f[0], `\040(deleted)`)))
		}
		first = false
	}
	return paths
}

// tableSpecs are the devices that a table like /etc/fstab (field 0) or
// /etc/crypttab (field 1) names, as they are written there.
func tableSpecs(text string, field int) []string {
	var specs []string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) > max(field, 1) && !strings.HasPrefix(f[0], "#") {
			specs = append(specs, strings.Trim(fstabEscapes.Replace(f[field]), `"`))
		}
	}
	return specs
}

// tagLink is the link below /dev/disk that stands for a tag such as UUID=...,
// "" where the spec is none. udev encodes characters that a file name should not
// have as \xNN.
func tagLink(spec string) string {
	tag, value, ok := strings.Cut(spec, "=")
	dir := map[string]string{
		"UUID": "by-uuid", "LABEL": "by-label", "PARTUUID": "by-partuuid", "PARTLABEL": "by-partlabel", "ID": "by-id",
	}[tag]
	value = strings.Trim(value, `"`)
	if !ok || dir == "" || value == "" || strings.Contains(value, "/") {
		return ""
	}
	return filepath.Join("/dev/disk", dir, strings.ReplaceAll(value, " ", `\x20`))
}

// A pveStorage is a section of Proxmox VE's storage.cfg.
type pveStorage struct{ Type, ID, VG, Pool string }

// parseStorages reads storage.cfg: sections begin with "TYPE: ID" at the start of
// a line, and their properties follow on lines that begin with a blank.
func parseStorages(text string) []pveStorage {
	var all []pveStorage
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case line[0] != ' ' && line[0] != '\t':
			typ, id, ok := strings.Cut(trimmed, ":")
			if ok {
				all = append(all, pveStorage{Type: typ, ID: strings.TrimSpace(id)})
			}
		case len(all) > 0:
			key, value, _ := strings.Cut(trimmed, " ")
			value = strings.TrimSpace(value)
			switch key {
			case "vgname":
				all[len(all)-1].VG = value
			case "pool":
				all[len(all)-1].Pool, _, _ = strings.Cut(value, "/")
			}
		}
	}
	return all
}
