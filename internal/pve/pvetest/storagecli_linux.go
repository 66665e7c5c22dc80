package pvetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func pvesm(h *host, args []string) int {
	if len(args) == 0 {
		return end(die(255, "ERROR: no command specified"))
	}
	pos, opts, _ := options(args[1:])
	arg := func(n int) string {
		if n < len(pos) {
			return pos[n]
		}
		return ""
	}
	switch args[0] {
	case "status":
		return end(h.showStatus(opts))
	case "list":
		return end(h.list(arg(0), opts))
	case "path":
		p, err := h.volPath(arg(0))
		if err == nil {
			printf("%s\n", p)
		}
		return end(err)
	case "alloc":
		return end(h.allocate(args[1:]))
	case "free":
		// It has no exit code of its own: whatever happens, it is 0.
		if h.fault("free-lies") {
			fmt.Fprintf(os.Stderr, "  Logical volume pve/%s contains a filesystem in use.\n", strings.TrimPrefix(arg(0), "local-lvm:"))
		} else if err := h.free(arg(0), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		printf("Removed volume '%s'\n", arg(0))
		return 0
	}
	return end(die(255, "ERROR: unknown command 'pvesm %s'", args[0]))
}

// allocate is pvesm alloc STORE VMID NAME SIZE, whose NAME may be empty.
func (h *host) allocate(args []string) error {
	if len(args) < 4 {
		return die(255, "400 not enough arguments")
	}
	s, err := h.storage(args[0])
	if err != nil {
		return err
	}
	size, unit := args[3], int64(1)<<10
	switch {
	case strings.HasSuffix(size, "M"):
		size, unit = strings.TrimSuffix(size, "M"), 1<<20
	case strings.HasSuffix(size, "G"):
		size, unit = strings.TrimSuffix(size, "G"), 1<<30
	}
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return die(255, "400 Parameter verification failed.\nsize: value does not match the regex pattern")
	}
	volid, err := h.alloc(s, args[1], args[2], n*unit, os.Stdout)
	if err == nil {
		printf("successfully created '%s'\n", volid)
	}
	return err
}

func (h *host) showStatus(opts map[string]string) error {
	type row struct{ name, kind, state, total, used, avail, percent string }
	var rows []row
	longest := 0
	for _, s := range h.storages() {
		if c := opts["content"]; c != "" && !s.holds(c) {
			continue
		}
		if n := s.keys["nodes"]; n != "" && !slices.Contains(strings.Split(n, ","), "pve") {
			continue
		}
		r := row{s.name, s.kind, "active", "0", "0", "0", "0.00%"}
		switch {
		case s.keys["disable"] != "":
			if opts["enabled"] == "1" {
				continue
			}
			r.state, r.percent = "disabled", "N/A"
		case s.kind == "nfs" || s.kind == "cifs":
			r.state = "inactive"
		default:
			total, used := h.space(s)
			r.total, r.used, r.avail = fmt.Sprint(total), fmt.Sprint(used), fmt.Sprint(total-used)
			r.percent = fmt.Sprintf("%.2f%%", float64(used)*100/float64(total))
		}
		rows = append(rows, r)
		longest = max(longest, len(s.name))
	}
	format := fmt.Sprintf("%%-%ds %%10s %%10s %%15s %%15s %%15s %%8s\n", longest+1)
	printf(format, "Name", "Type", "Status", "Total (KiB)", "Used (KiB)", "Available (KiB)", "%")
	for _, r := range rows {
		printf(format, r.name, r.kind, r.state, r.total, r.used, r.avail, r.percent)
	}
	return nil
}

// space is a storage's, in KiB: that of a directory is real, a volume group has
// that of facts.
func (h *host) space(s storage) (total, used int64) {
	if !s.lvm() {
		var st unix.Statfs_t
		if unix.Statfs(h.root, &st) == nil {
			return int64(st.Blocks) * st.Bsize >> 10, int64(st.Blocks-st.Bavail) * st.Bsize >> 10
		}
	}
	found, _ := filepath.Glob(h.path("lv", s.keys["vgname"], "*"))
	for _, f := range found {
		if st, err := os.Stat(f); err == nil {
			used += st.Size() >> 10
		}
	}
	return 835865888, min(used, 835865888)
}

func (h *host) list(store string, opts map[string]string) error {
	s, err := h.storage(store)
	if err != nil {
		return err
	}
	type row struct{ volid, format, kind, size, id string }
	var rows []row
	add := func(volid, format, kind, file, id string) {
		if v := opts["vmid"]; v != "" && v != id {
			return
		}
		if c := opts["content"]; c != "" && c != kind {
			return
		}
		if st, err := os.Stat(file); err == nil {
			size := fmt.Sprint(st.Size())
			if st.IsDir() {
				size = "-"
			}
			rows = append(rows, row{volid, format, kind, size, id})
		}
	}
	pattern, format := h.dir(s, "*"), "raw"
	if s.kind == "zfspool" {
		format = "subvol"
	}
	for _, f := range glob(filepath.Join(pattern, "*")) {
		name := filepath.Base(f)
		part := strings.Split(name, "-")
		// Others, such as del-*, are not PVE's.
		if len(part) < 3 || part[0] != "vm" && part[0] != "subvol" {
			continue
		}
		vol, kind := name, "images"
		if s.kind == "dir" {
			vol = part[1] + "/" + name
		}
		if h.taken(part[1]) != "VM" {
			kind = "rootdir"
		}
		add(s.name+":"+vol, format, kind, f, part[1])
	}
	if s.kind == "dir" && s.holds("vztmpl") {
		for _, f := range h.templates(s) {
			add(s.name+":vztmpl/"+filepath.Base(f), "t"+strings.TrimPrefix(filepath.Ext(f), "."), "vztmpl", f, "")
		}
	}
	name, size := len("Volid"), len("Size")
	if len(rows) == 0 {
		name, size = 0, 0
	}
	for _, r := range rows {
		name, size = max(name, len(r.volid)), max(size, len(r.size))
	}
	print := func(r row) {
		line := fmt.Sprintf("%-*s %-7s %-9s %*s", name, r.volid, r.format, r.kind, size, r.size)
		if r.id != "" {
			line += " " + r.id
		}
		printf("%s\n", line)
	}
	print(row{"Volid", "Format", "Type", "Size", "VMID"})
	for _, r := range rows {
		print(r)
	}
	return nil
}

func glob(pattern string) []string {
	found, _ := filepath.Glob(pattern)
	return found
}

// templates are the files that PVE takes for some.
func (h *host) templates(s storage) []string {
	return slices.DeleteFunc(glob(filepath.Join(s.keys["path"], "template/cache/*")), func(f string) bool {
		return !strings.HasSuffix(f, ".tar.gz") && !strings.HasSuffix(f, ".tar.xz") && !strings.HasSuffix(f, ".tar.zst")
	})
}

func pveam(h *host, args []string) int {
	pos, _, _ := options(args)
	switch {
	case len(pos) == 2 && pos[0] == "list":
		s, err := h.storage(pos[1])
		if err != nil {
			return end(err)
		}
		printf("%-60s %-6s\n", "NAME", "SIZE")
		for _, f := range h.templates(s) {
			st, err := os.Stat(f)
			if err != nil {
				continue
			}
			printf("%-60s %-6s\n", s.name+":vztmpl/"+filepath.Base(f), fmt.Sprintf("%.2fMB", float64(st.Size())/(1<<20)))
		}
		return 0
	case len(pos) > 0 && pos[0] == "available":
		printf("%-15s %s\n", "system", "ubuntu-24.04-standard_24.04-2_amd64.tar.zst")
		return 0
	}
	return end(die(255, "ERROR: unknown command 'pveam %s'", strings.Join(args, " ")))
}

// pvs says that all volume groups lie on the device that has the images.
func pvs(h *host, args []string) int {
	_, opts, _ := options(args)
	if opts["reportformat"] != "json" || opts["o"] != "pv_name,vg_name" {
		return end(die(3, "pvetest: pvs is only known with --reportformat json -o pv_name,vg_name"))
	}
	var st unix.Stat_t
	if err := unix.Stat(h.root, &st); err != nil {
		return end(err)
	}
	dev, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
	if err != nil {
		return end(err)
	}
	rows := []map[string]string{}
	for _, s := range h.storages() {
		row := map[string]string{"pv_name": "/dev/" + filepath.Base(dev), "vg_name": s.keys["vgname"]}
		if s.lvm() && !slices.ContainsFunc(rows, func(r map[string]string) bool { return r["vg_name"] == row["vg_name"] }) {
			rows = append(rows, row)
		}
	}
	return end(report("pv", rows))
}

// report prints rows as LVM's programs do with --reportformat json.
func report(kind string, rows []map[string]string) error {
	b, err := json.MarshalIndent(map[string]any{"report": []any{map[string]any{kind: rows}}}, "  ", "  ")
	if err == nil {
		printf("  %s\n", b)
	}
	return err
}

// lvs reports, as JSON, the fields that are asked for.
func lvs(h *host, args []string) int {
	h.wipe()
	pos, opts, _ := options(args)
	if opts["reportformat"] != "json" {
		return end(die(3, "pvetest: lvs is only known with --reportformat json"))
	}
	rows := []map[string]string{}
	for _, s := range h.storages() {
		vg := s.keys["vgname"]
		if !s.lvm() || len(pos) > 0 && pos[0] != vg && !strings.HasPrefix(pos[0], vg+"/") {
			continue
		}
		total, used := h.space(s)
		lvs := glob(h.path("lv", vg, "*"))
		if s.kind == "lvmthin" {
			lvs = append(lvs, s.keys["thinpool"])
		}
		for _, f := range lvs {
			all := map[string]string{"lv_name": filepath.Base(f), "vg_name": vg, "segtype": "linear", "pool_lv": "", "data_percent": "",
				"metadata_percent": "", "chunk_size": "0 ", "zero": "", "discards": ""}
			switch {
			case f == s.keys["thinpool"]:
				all["segtype"], all["data_percent"], all["metadata_percent"] = "thin-pool", fmt.Sprintf("%.2f", float64(used)*100/float64(total)), "1.10"
				all["chunk_size"], all["zero"], all["discards"] = "65536", "zero", "passdown"
			case s.kind == "lvmthin":
				all["segtype"], all["pool_lv"], all["data_percent"] = "thin", s.keys["thinpool"], "100.00"
			}
			fields := map[string]string{}
			for name := range strings.SplitSeq(opts["o"], ",") {
				v, ok := all[name]
				if !ok {
					return end(die(3, "  Unrecognised field: %s", name))
				}
				fields[name] = v
			}
			rows = append(rows, fields)
		}
	}
	return end(report("lv", rows))
}
