package target

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"nativ/internal/blkid"
	"nativ/internal/record"
	"nativ/internal/sys"
)

// Gate says whether the first size bytes of the device may be written over by a
// user who typed serial. A no is a *DeviceRefusal with every reason there is. It
// opens the device to read and, for a moment, exclusively, and writes nothing.
func (d *Device) Gate(serial string, size int64, o Roots) error {
	node, err := openPath(d.Path)
	if err != nil {
		return fmt.Errorf("look at device %s: %w", d.Path, err)
	}
	defer unix.Close(node)
	reasons := d.reasons(serial, size, -1, o)
	fd, err := openNode(node, unix.O_RDONLY|unix.O_EXCL)
	switch {
	case err == unix.EBUSY:
		reasons = append(reasons, Reason{Code: ReasonBusy})
	case err == nil:
		unix.Close(fd)
	case d.Size() > 0:
		reasons = append(reasons, Reason{ReasonUnknown, []string{"open it exclusively: " + err.Error()}})
	}
	if len(reasons) > 0 {
		return &DeviceRefusal{Path: d.Path, Reasons: reasons}
	}
	return nil
}

// reasons lists what speaks against writing to the device. fd is the descriptor
// by which it is held, -1 where it is not.
func (d *Device) reasons(serial string, size int64, fd int, o Roots) []Reason {
	var all []Reason
	add := func(code string, words ...string) { all = append(all, Reason{code, words}) }
	d.identity(serial, size, add)
	if d.Size() == 0 {
		return all // nothing else can be looked at
	}
	found, err := d.signatures(fd)
	d.users(o, add)
	switch {
	case err != nil:
		add(ReasonUnknown, err.Error())
	case len(found) > 0:
		var words []string
		for _, f := range found {
			words = append(words, f.String())
		}
		add(ReasonSignature, words...)
	}
	d.tables(o, found, add)
	d.storages(o, found, add)
	return all
}

// identity looks at what the device is.
func (d *Device) identity(serial string, size int64, add func(string, ...string)) {
	switch {
	case d.Kind == kindPartition:
		add(ReasonPartition, d.Disk)
	case d.Kind != kindDisk:
		add(ReasonNoDrive, d.Kind)
	}
	switch {
	case d.Serial() == "":
		add(ReasonNoSerial)
	case d.Serial() != serial:
		add(ReasonSerial, fmt.Sprintf("%q", serial))
	}
	if d.Size() == 0 {
		add(ReasonNoMedium)
	} else if size > d.Size() {
		add(ReasonSmall, fmt.Sprint(size), fmt.Sprint(d.Size()))
	}
	if readString(d.sysDir, "ro") == "1" {
		add(ReasonReadOnly)
	}
	if z := readString(d.sysDir, "queue/zoned"); z != "" && z != "none" {
		add(ReasonZoned, z)
	}
}

// systemMounts carry the running system. What is below /boot and /efi does, too.
var systemMounts = []string{"/", "/usr", "/var", "/etc"}

// users looks for whoever uses the device or a partition of it, through any
// number of layers.
func (d *Device) users(o Roots, add func(string, ...string)) {
	mounts, err := readMounts(o, "self")
	if err != nil {
		add(ReasonUnknown, err.Error())
	}
	w := newWalk(o, mounts)
	var system, others []string
	for _, m := range mounts {
		names := w.devicesOf(m)
		if !w.on(d, names) {
			continue
		}
		if slices.Contains(systemMounts, m.Mountpoint) || bootPath(m.Mountpoint) {
			system = append(system, m.Mountpoint)
		} else {
			others = append(others, describeMount(m, names))
		}
	}
	some := func(code string, words []string) {
		if len(words) > 0 {
			slices.Sort(words)
			add(code, slices.Compact(words)...)
		}
	}
	some(ReasonSystem, system)
	some(ReasonMounted, others)
	swaps, err := os.ReadFile(filepath.Join(o.proc(), "swaps"))
	if err != nil && !os.IsNotExist(err) {
		add(ReasonUnknown, err.Error())
	}
	some(ReasonSwap, slices.DeleteFunc(swapPaths(string(swaps)), func(p string) bool { return !w.on(d, w.devicesOfFile(p)) }))

	parts := d.partitions()
	some(ReasonPartitions, slices.Clone(parts))
	var holders, cached []string
	for _, name := range append([]string{d.Name}, parts...) {
		dir := filepath.Join(o.sys(), "class/block", name)
		holders = append(holders, w.above(dir, 0)...)
		if exists(dir, "bcache") {
			cached = append(cached, name)
		}
		pools, _ := filepath.Glob(filepath.Join(o.sys(), "fs/btrfs/*/devices", name))
		for _, p := range pools {
			add(ReasonBtrfs, filepath.Base(filepath.Dir(filepath.Dir(p))))
		}
	}
	some(ReasonHolder, holders)
	some(ReasonBcache, cached)
}

// describeMount names a mount point and, where that is another one, the device.
func describeMount(m *mountinfo.Info, names []string) string {
	if len(names) == 0 {
		return m.Mountpoint
	}
	return fmt.Sprintf("%s (%s)", m.Mountpoint, strings.Join(names, ", "))
}

// on reports whether one of the devices is d or lies on it.
func (w *walk) on(d *Device, names []string) bool {
	return slices.Contains(names, d.Name) || slices.ContainsFunc(w.down(names), func(l record.Layer) bool { return l.Name == d.Name })
}

// above lists the devices that lie on the one whose directory in sysfs it is.
func (w *walk) above(dir string, depth int) []string {
	entries, err := os.ReadDir(filepath.Join(dir, "holders"))
	if err != nil || depth > 8 {
		return nil
	}
	var all []string
	for _, e := range entries {
		l := w.layer(e.Name())
		text := fmt.Sprintf("%s (%s)", l.Name, l.Kind)
		if l.Title != "" {
			text = fmt.Sprintf("%s (%s %s)", l.Name, l.Kind, l.Title)
		}
		all = append(all, text)
		all = append(all, w.above(filepath.Join(w.o.sys(), "class/block", e.Name()), depth+1)...)
	}
	return all
}

// signatures says what is on the device. fd is a descriptor of it, or -1.
func (d *Device) signatures(fd int) ([]blkid.Found, error) {
	path := d.Path
	if fd >= 0 {
		path = fmt.Sprintf("/proc/self/fd/%d", fd)
	}
	r, err := openDirect(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return blkid.Scan(r, d.Size())
}

// A directReader reads a block device past the page cache, which need not know
// what a mounted filesystem wrote.
type directReader struct {
	fd  int
	buf *sys.Blocks
}

const directPiece = 64 << 10 // what blkid reads at most

func openDirect(path string) (*directReader, error) {
	fd, err := open(path, unix.O_RDONLY|unix.O_DIRECT)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	buf, err := sys.MapBlocks(1, directPiece, 4096)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &directReader{fd, buf}, nil
}

func (r *directReader) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		b := r.buf.Bytes(0, directPiece)[:min(directPiece, len(p)-done)]
		var n int
		err := retry(func() (err error) { n, err = unix.Pread(r.fd, b, off+int64(done)); return err })
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, fmt.Errorf("the device ended at byte %d", off+int64(done))
		}
		done += copy(p[done:], b[:n])
	}
	return done, nil
}

func (r *directReader) Close() error {
	_ = r.buf.Close()
	return unix.Close(r.fd)
}
