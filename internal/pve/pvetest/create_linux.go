package pvetest

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pctCreate does what pct create does before its task: it looks at the cluster,
// and takes the ID with a configuration that holds only a lock.
func (h *host) pctCreate(id string, args []string) int {
	fail := func(format string, a ...any) int {
		return end(die(255, "unable to create CT %s - %s", id, fmt.Sprintf(format, a...)))
	}
	if h.fault("no-quorum") {
		return end(die(255, "cluster not ready - no quorum?"))
	}
	pos, opts, _ := options(args)
	if len(pos) != 2 {
		return end(die(255, "400 not enough arguments"))
	}
	if _, ok := opts["rootfs"]; !ok && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--mp") }) {
		return end(die(255, "mount points configured, but 'rootfs' not set - aborting"))
	}
	if h.fault("id-race") {
		_ = os.WriteFile(h.confPath(id), []byte("hostname: other\nrootfs: local-lvm:vm-"+id+"-disk-0,size=8G\n"), 0o640)
	}
	if kind := h.taken(id); kind != "" {
		return fail("%s %s already exists on node 'pve'", kind, id)
	}
	unlock, err := h.flock(id)
	if err != nil {
		return end(err)
	}
	err = h.store(id, &conf{keys: map[string]string{"lock": "create"}})
	unlock()
	if err != nil {
		return end(err)
	}
	return h.fork("vzcreate", id, args)
}

// create is the task.
func create(h *host, id string, args []string) (int, error) {
	pos, opts, _ := options(args)
	c := &conf{keys: map[string]string{}}
	for k, v := range opts {
		switch {
		case k == "description":
			c.description = v + "\n"
		case k == "rootfs" || strings.HasPrefix(k, "mp"):
		default:
			c.keys[k] = v
		}
	}
	if c.keys["arch"] == "" {
		c.keys["arch"] = "amd64"
	}
	if c.keys["unprivileged"] == "0" {
		delete(c.keys, "unprivileged")
	}
	warned, err := h.make(id, c, pos[1], opts)
	if err != nil {
		rollback := h.umountAll(id)
		for _, v := range c.volumes() {
			volid, _ := sub(v, "")
			rollback = errors.Join(rollback, h.free(volid, os.Stdout))
		}
		_ = os.Remove(h.path("var/lib/lxc", id))
		if rollback != nil {
			printf("%v\n", rollback)
		}
		if err := os.Remove(h.confPath(id)); err != nil {
			printf("%v\n", err)
		}
		return 0, die(255, "unable to create CT %s - %v", id, err)
	}
	return warned, nil
}

func (h *host) make(id string, c *conf, template string, opts map[string]string) (int, error) {
	if err := h.step("alloc"); err != nil {
		return 0, err
	}
	archive, err := h.volPath(template)
	if err != nil {
		return 0, err
	}
	if h.fault("template-missing") || !exists(archive) {
		return 0, die(2, "volume '%s' does not exist", template)
	}
	// The rootfs is made first, and so has the first number.
	keys := []string{"rootfs"}
	for _, k := range slices.Sorted(maps.Keys(opts)) {
		if strings.HasPrefix(k, "mp") {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		if err := h.makeVolume(id, c, k, opts[k]); err != nil {
			return 0, err
		}
	}
	if err := h.step("mkfs"); err != nil {
		return 0, err
	}
	if err := h.mountAll(id, c, h.rootfs(id)); err != nil {
		return 0, err
	}
	printf("extracting archive '%s'\n", archive)
	if err := h.step("extract"); err != nil {
		return 0, err
	}
	if h.fault("create-fails") {
		return 0, die(255, "command 'lxc-usernsexec -m u:0:100000:65536 -m g:0:100000:65536 -- tar xpf - -C %s' failed: exit code 2", h.rootfs(id))
	}
	n := int64(10240)
	if h.real() {
		if n, err = extract(archive, h.rootfs(id), c.owner()); err != nil {
			return 0, err
		}
	}
	printf("Total bytes read: %d (%dMiB, 301MiB/s)\n", n, n>>20)
	if opts["arch"] == "" {
		printf("Detected container architecture: amd64\n")
	}
	warned := 0
	if h.fault("warnings-rc0") {
		printf("WARN: Systemd 255 detected. You may need to enable nesting.\n")
		warned++
	}
	// The whole configuration, which has no lock, while all is mounted.
	if err := h.store(id, c); err != nil {
		return 0, err
	}
	if err := h.step("conf"); err != nil {
		return 0, err
	}
	if c.keys["ostype"] != "unmanaged" {
		printf("Creating SSH host key 'ssh_host_ed25519_key' - this may take some time ...\n")
	}
	if err := h.umountAll(id); err != nil {
		return 0, err
	}
	return warned, h.store(id, c)
}

// makeVolume makes one of "STORE:GIB,mp=/bench,backup=0" and formats it.
func (h *host) makeVolume(id string, c *conf, key, value string) error {
	want, _ := sub(value, "")
	store, size, _ := strings.Cut(want, ":")
	gib, err := strconv.ParseFloat(size, 64)
	if err != nil {
		return die(255, "unable to parse volume '%s'", want)
	}
	s, err := h.storage(store)
	if err != nil {
		return err
	}
	if !s.holds("rootdir") {
		return die(255, "storage '%s' does not support container directories", store)
	}
	bytes := int64(gib * (1 << 30))
	volid, err := h.alloc(s, id, "", bytes, os.Stdout)
	if err != nil {
		return err
	}
	// From here on a rollback frees it.
	c.keys[key] = volid
	if err := h.mkfs(volid, c.owner(), os.Stdout); err != nil {
		return err
	}
	// Their order is not promised.
	subs := map[string]bool{"size=" + human(bytes): true}
	for _, part := range strings.Split(value, ",")[1:] {
		subs[part] = true
	}
	for part := range subs {
		c.keys[key] += "," + part
	}
	return nil
}

func human(bytes int64) string {
	for i, unit := range []string{"T", "G", "M", "K"} {
		if shift := 40 - 10*i; bytes%(1<<shift) == 0 && bytes>>shift > 0 {
			return fmt.Sprint(bytes>>shift) + unit
		}
	}
	return fmt.Sprint(bytes)
}

func (h *host) rootfs(id string) string { return h.path("var/lib/lxc", id, "rootfs") }

// mountAll mounts a container's volumes where each belongs below root.
func (h *host) mountAll(id string, c *conf, root string) error {
	if err := os.MkdirAll(root, 0o755); err != nil || !h.real() {
		return err
	}
	for _, v := range c.volumes() {
		volid, mp := sub(v, "mp")
		dir := filepath.Join(root, mp)
		if !exists(dir) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := os.Chown(dir, c.owner(), c.owner()); err != nil {
				return err
			}
		}
		if err := h.mount(volid, dir); err != nil {
			return die(32, "command 'mount %s %s' failed: %v", volid, dir, err)
		}
	}
	return nil
}

// umountAll unmounts what mountAll did, the last first.
func (h *host) umountAll(id string) error {
	if h.real() {
		for range 16 {
			mounted := mountsBelow(h.rootfs(id))
			if len(mounted) == 0 {
				break
			}
			if err := unix.Unmount(mounted[len(mounted)-1], 0); err != nil {
				return die(32, "command 'umount %s' failed: %v", mounted[len(mounted)-1], err)
			}
		}
	}
	_ = os.Remove(h.rootfs(id))
	return nil
}

// extract unpacks a template; what is in it belongs to the container's users.
func extract(archive, dir string, owner int) (int64, error) {
	f, err := os.Open(archive)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0, die(255, "pvetest: templates are .tar.gz: %v", err)
	}
	var total int64
	for t := tar.NewReader(z); ; {
		e, err := t.Next()
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		name := filepath.Join(dir, filepath.Clean("/"+e.Name))
		switch e.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(name, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(e.Linkname, name)
		case tar.TypeReg:
			total += e.Size
			err = writeFrom(name, t)
		default:
			err = fmt.Errorf("pvetest: %s is of type %c", e.Name, e.Typeflag)
		}
		if err == nil {
			err = os.Lchown(name, owner+e.Uid, owner+e.Gid)
		}
		if err == nil && e.Typeflag != tar.TypeSymlink {
			err = os.Chmod(name, e.FileInfo().Mode().Perm())
		}
		if err != nil {
			return total, err
		}
	}
}

func writeFrom(name string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
