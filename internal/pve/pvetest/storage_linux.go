package pvetest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A storage is a section of storage.cfg.
type storage struct {
	name, kind string
	keys       map[string]string
}

func (h *host) storages() []storage {
	b, _ := os.ReadFile(h.path("etc/pve/storage.cfg"))
	var out []storage
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if line[0] != '\t' && line[0] != ' ' {
			kind, name, _ := strings.Cut(line, ":")
			out = append(out, storage{strings.TrimSpace(name), kind, map[string]string{}})
			continue
		}
		k, v, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			v = "1"
		}
		out[len(out)-1].keys[k] = strings.TrimSpace(v)
	}
	return out
}

func (h *host) storage(name string) (storage, error) {
	for _, s := range h.storages() {
		if s.name == name {
			return s, nil
		}
	}
	return storage{}, die(25, "storage '%s' does not exist", name)
}

func (s storage) holds(content string) bool {
	return slices.Contains(strings.Split(s.keys["content"], ","), content)
}

func (s storage) lvm() bool { return s.kind == "lvm" || s.kind == "lvmthin" }

// dir is where the storage's volumes are files (or, for ZFS, directories).
func (h *host) dir(s storage, id string) string {
	switch {
	case s.lvm():
		return h.path("lv", s.keys["vgname"])
	case s.kind == "zfspool":
		return h.path("zfs", s.keys["pool"])
	}
	return filepath.Join(s.keys["path"], "images", id)
}

// volume splits a volume ID into its storage, the guest's ID and the name.
func (h *host) volume(volid string) (s storage, id, name string, err error) {
	store, name, ok := strings.Cut(volid, ":")
	if !ok {
		return s, "", "", die(25, "unable to parse volume ID '%s'", volid)
	}
	if s, err = h.storage(store); err != nil {
		return
	}
	if s.kind == "dir" {
		if id, name, ok = strings.Cut(name, "/"); !ok {
			return s, "", "", die(25, "unable to parse directory volume name '%s'", name)
		}
		return
	}
	if f := strings.Split(name, "-"); len(f) > 2 {
		id = f[1]
	}
	return
}

// volPath is what pvesm path prints.
func (h *host) volPath(volid string) (string, error) {
	s, id, name, err := h.volume(volid)
	if err != nil {
		return "", err
	}
	switch {
	case s.lvm():
		return h.path("dev", s.keys["vgname"], name), nil
	case id == "vztmpl":
		return filepath.Join(s.keys["path"], "template/cache", name), nil
	}
	return filepath.Join(h.dir(s, id), name), nil
}

// alloc makes a volume; its name may be empty. say gets what the storage prints.
func (h *host) alloc(s storage, id, name string, bytes int64, say io.Writer) (string, error) {
	if h.fault("alloc-fails") {
		if s.lvm() {
			return "", die(25, "lvcreate 'pve/vm-%s-disk-0' error:   Volume group \"pve\" has insufficient free space (12 extents): 12800 required.", id)
		}
		return "", die(25, "unable to create image: No space left on device")
	}
	prefix, suffix, vol := "vm-", "", ""
	switch s.kind {
	case "dir":
		suffix, vol = ".raw", id+"/"
	case "zfspool":
		prefix = "subvol-"
	}
	if name == "" {
		for n := 0; ; n++ {
			if name = fmt.Sprintf("%s%s-disk-%d%s", prefix, id, n, suffix); !exists(filepath.Join(h.dir(s, id), name)) {
				break
			}
		}
	}
	if !strings.HasPrefix(name, prefix+id+"-") {
		return "", die(255, "illegal name '%s' - should be '%s%s-*'", name, prefix, id)
	}
	file := filepath.Join(h.dir(s, id), name)
	if exists(file) {
		return "", die(25, "disk image '%s' already exists", file)
	}
	if s.kind == "zfspool" {
		return s.name + ":" + name, os.MkdirAll(file, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return "", err
	}
	err = f.Truncate(bytes)
	f.Close()
	if err != nil {
		return "", err
	}
	if s.lvm() {
		if err := h.activate(s, file); err != nil {
			_ = os.Remove(file)
			return "", err
		}
		fmt.Fprintf(say, "  Logical volume \"%s\" created.\n", name)
		if s.kind == "lvmthin" {
			fmt.Fprintf(say, "  Logical volume %s/%s changed.\n", s.keys["vgname"], name)
		}
	}
	return s.name + ":" + vol + name, nil
}

// activate makes the device of a logical volume: a loop device of its image.
func (h *host) activate(s storage, file string) error {
	link := h.path("dev", s.keys["vgname"], filepath.Base(file))
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	if h.real() {
		dev, err := losetup("--show", "--direct-io=on", "-f", file)
		if err != nil {
			return err
		}
		file = dev
	}
	return os.Symlink(file, link)
}

// free removes a volume.
func (h *host) free(volid string, say io.Writer) error {
	s, id, name, err := h.volume(volid)
	if err != nil {
		return err
	}
	file := filepath.Join(h.dir(s, id), name)
	if !exists(file) {
		if s.lvm() {
			return die(5, "lvremove '%s/%s' error:   Failed to find logical volume \"%s/%s\"", s.keys["vgname"], name, s.keys["vgname"], name)
		}
		return die(2, "disk image '%s' does not exist", file)
	}
	if !s.lvm() {
		err := os.RemoveAll(file)
		_ = os.Remove(filepath.Dir(file)) // images/ID, once it is empty
		return err
	}
	if h.real() {
		for dev := range loops(file) {
			if err := exec.Command("losetup", "-d", dev).Run(); err != nil {
				return die(5, "lvremove '%s' error:   Logical volume %s/%s in use.", name, s.keys["vgname"], name)
			}
		}
	}
	if err := os.Remove(h.path("dev", s.keys["vgname"], name)); err != nil {
		return err
	}
	if s.kind == "lvm" && s.keys["saferemove"] == "1" {
		del := filepath.Join(filepath.Dir(file), "del-"+name)
		if err := os.Rename(file, del); err != nil {
			return err
		}
		fmt.Fprintf(say, "  Renamed \"%s\" to \"del-%s\" in volume group \"%s\"\n", name, name, s.keys["vgname"])
		return os.Chtimes(del, time.Now(), time.Now())
	}
	fmt.Fprintf(say, "  Logical volume \"%s\" successfully removed.\n", name)
	return os.Remove(file)
}

// wipe ends the overwriting of volumes for which it is time.
func (h *host) wipe() {
	last := 300
	if v, ok := h.value("wipe"); ok {
		last, _ = strconv.Atoi(v)
	}
	found, _ := filepath.Glob(h.path("lv/*/del-*"))
	for _, f := range found {
		if st, err := os.Stat(f); err == nil && time.Since(st.ModTime()) > time.Duration(last)*time.Millisecond {
			_ = os.Remove(f)
		}
	}
}

// mkfs formats a volume as PVE does for a container.
func (h *host) mkfs(volid string, owner int, say io.Writer) error {
	path, err := h.volPath(volid)
	if err != nil || !h.real() {
		return err
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return os.Chown(path, owner, owner)
	}
	cmd := exec.Command("mkfs.ext4", "-q", "-O", "mmp", "-E", fmt.Sprintf("root_owner=%d:%d", owner, owner), path)
	if out, err := cmd.CombinedOutput(); err != nil {
		return die(255, "command 'mkfs.ext4 -O mmp %s' failed: %s", path, strings.TrimSpace(string(out)))
	}
	st, err := os.Stat(h.image(path))
	if err != nil {
		return err
	}
	fmt.Fprintf(say, "Creating filesystem with %d 4k blocks and %d inodes\nFilesystem UUID: 124d5ea7-0e41-4f5b-9b54-ad7bd3c1b2a7\n"+
		"Superblock backups stored on blocks: \n\t32768, 98304, 163840, 229376\n", st.Size()>>12, st.Size()>>14)
	return nil
}

// image is the file that a volume's path is a device of, or the path itself.
func (h *host) image(path string) string {
	if dev, err := os.Readlink(path); err == nil {
		if b, err := os.ReadFile("/sys/block/" + filepath.Base(dev) + "/loop/backing_file"); err == nil {
			return strings.TrimSpace(string(b))
		}
	}
	return path
}

// mount mounts a volume. A file gets a loop device without direct I/O, unless it
// has one already, and the device goes with the mount.
func (h *host) mount(volid, dir string) error {
	path, err := h.volPath(volid)
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.IsDir() {
		return unix.Mount(path, dir, "", unix.MS_BIND, "")
	}
	if st.Mode()&fs.ModeDevice != 0 {
		return unix.Mount(path, dir, "ext4", 0, "")
	}
	for dev := range loops(path) {
		return unix.Mount(dev, dir, "ext4", 0, "")
	}
	dev, err := losetup("--show", "-f", path)
	if err != nil {
		return err
	}
	err = unix.Mount(dev, dir, "ext4", 0, "")
	// It stays for as long as it is mounted.
	_ = exec.Command("losetup", "-d", dev).Run()
	return err
}

func losetup(args ...string) (string, error) {
	out, err := exec.Command("losetup", args...).CombinedOutput()
	if err != nil {
		return "", die(255, "command 'losetup %s' failed: %s", strings.Join(args, " "), strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// loops are the loop devices whose files are below a directory.
func loops(root string) map[string]string {
	out := map[string]string{}
	found, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range found {
		b, err := os.ReadFile(f)
		if name := strings.TrimSpace(string(b)); err == nil && (name == root || strings.HasPrefix(name, root+"/") || strings.HasPrefix(name, root+" (")) {
			out["/dev/"+filepath.Base(filepath.Dir(filepath.Dir(f)))] = name
		}
	}
	return out
}
