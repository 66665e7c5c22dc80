package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// A Device is a block device as it was found, before anything is done with it.
type Device struct {
	// Path is that of its node, without symbolic links.
	Path string
	Name string // kernel name
	// Kind is that of its layer: only "disk" is a drive.
	Kind string
	// Disk is the drive that a partition belongs to, else Name.
	Disk   string
	ticket DeviceTicket
	sysDir string
}

// Size is its size in bytes, 0 without a medium.
func (d *Device) Size() int64 { return d.ticket.Bytes }

// Serial is its drive's serial number, "" where it has none.
func (d *Device) Serial() string { return d.ticket.Serial }

// FindDevice looks at the block device at the path, which may be a symbolic link
// such as those below /dev/disk. It opens it only to read, and never makes
// anything: a path that leads nowhere is an error.
func FindDevice(path string, o Roots) (*Device, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find device %s: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("find device %s: %w; nativ info lists the drives of this machine", abs, os.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("find device %s: %w", abs, err)
	}
	fd, err := openPath(real)
	if err != nil {
		return nil, fmt.Errorf("find device %s: %w", abs, err)
	}
	defer unix.Close(fd)
	return lookAtDevice(real, fd, o)
}

// lookAtDevice describes the device whose node fd, opened with O_PATH, is.
func lookAtDevice(path string, fd int, o Roots) (*Device, error) {
	d, err := deviceOfNode(path, fd, o)
	if err != nil {
		return nil, err
	}
	rd, err := openNode(fd, unix.O_RDONLY|unix.O_NONBLOCK)
	if err == unix.ENOMEDIUM || err == unix.ENXIO {
		return d, nil // its size stays 0
	}
	if err != nil {
		return nil, fmt.Errorf("find device %s: %w", path, &os.PathError{Op: "open", Path: path, Err: err})
	}
	defer unix.Close(rd)
	if d.ticket.Bytes, d.ticket.DiskSeq, err = sizeAndSeq(rd); err != nil {
		return nil, fmt.Errorf("find device %s: %w", path, err)
	}
	return d, nil
}

// DeviceTarget describes the block device whose node lies at the path, as
// Device.Target does, without opening it: anybody may.
func DeviceTarget(path string, o Roots) (*record.Target, error) {
	fd, err := open(path, unix.O_PATH)
	if err != nil {
		return nil, fmt.Errorf("find device %s: %w", path, err)
	}
	defer unix.Close(fd)
	d, err := deviceOfNode(path, fd, o)
	if err != nil {
		return nil, err
	}
	if n, ok := readInt(d.sysDir, "size"); ok {
		d.ticket.Bytes = n * sector
	}
	return d.Target(o), nil
}

// deviceOfNode is what sysfs says of the device whose node fd is.
func deviceOfNode(path string, fd int, o Roots) (*Device, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("find device %s: stat: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		kind := kindOf(st.Mode)
		if st.Mode&unix.S_IFMT == unix.S_IFCHR {
			kind = "a character device"
		}
		return nil, &Refusal{Code: RefuseNoBlockDevice, Dir: path, Kind: kind}
	}
	d := &Device{Path: path, ticket: DeviceTicket{Major: unix.Major(st.Rdev), Minor: unix.Minor(st.Rdev)}}
	w := newWalk(o, nil)
	if d.Name = w.name(d.ticket.Major, d.ticket.Minor); d.Name == "" {
		return nil, fmt.Errorf("find device %s: the kernel knows no block device %s; is this node left over from a drive that is gone?", path, devString(st.Rdev))
	}
	d.sysDir, _ = filepath.EvalSymlinks(filepath.Join(o.sys(), "class/block", d.Name))
	l := w.layer(d.Name)
	d.Kind, d.Disk = l.Kind, d.Name
	if d.Kind == kindDisk && strings.HasPrefix(d.Name, "loop") {
		d.Kind = kindLoop // without a file
	}
	if d.Kind == kindPartition && len(l.Below) == 1 {
		d.Disk = l.Below[0]
	}
	d.ticket.Serial = serialOf(o.sys(), d.ticket.Major, d.ticket.Minor)
	return d, nil
}

// openNode opens what fd, opened with O_PATH, names.
func openNode(fd, flags int) (int, error) {
	return open("/proc/self/fd/"+strconv.Itoa(fd), flags)
}

// sizeAndSeq asks an open block device for its size in bytes and the sequence
// number of its disk, 0 where the kernel has none.
func sizeAndSeq(fd int) (size int64, seq uint64, err error) {
	n, err := unix.IoctlGetUint64(fd, unix.BLKGETSIZE64)
	if err != nil {
		return 0, 0, fmt.Errorf("ask for its size: %w", err)
	}
	seq, err = unix.IoctlGetUint64(fd, unix.BLKGETDISKSEQ)
	if err != nil {
		seq = 0 // before Linux 5.15
	}
	return int64(n), seq, nil
}

// serialOf is the serial number of the drive with the device numbers, or of that
// which a partition belongs to; "" where it has none or is no drive.
func serialOf(sysfs string, major, minor uint32) string {
	w := newWalk(Roots{Sys: sysfs}, nil)
	name := w.name(major, minor)
	if name == "" {
		return ""
	}
	l := w.layer(name)
	if l.Kind == kindPartition && len(l.Below) == 1 {
		name = l.Below[0]
		l = w.layer(name)
	}
	if d := readDrive(sysfs, name); l.Kind == kindDisk && d.Serial != nil {
		return strings.TrimSpace(*d.Serial)
	}
	return ""
}

// Target describes the device as Resolve does a directory: what lies under it,
// down to the drives.
func (d *Device) Target(o Roots) *record.Target {
	t := &record.Target{
		Dir: d.Path, Source: d.Path, DevMajor: d.ticket.Major, DevMinor: d.ticket.Minor,
		TotalBytes: d.Size(), FreeBytes: d.Size(),
		Device: &record.BlockDevice{
			Name: d.Name, Major: d.ticket.Major, Minor: d.ticket.Minor, DiskSeq: d.ticket.DiskSeq, SizeBytes: d.Size(),
		},
	}
	mounts, _ := readMounts(o, "self") // only to follow loops to their files
	w := newWalk(o, mounts)
	t.Stack = w.down([]string{d.Name})
	for _, l := range t.Stack {
		if l.Kind == kindDisk {
			drive := readDrive(o.sys(), l.Name)
			t.Drives = append(t.Drives, drive)
			t.Network = t.Network || remote(drive.Transport)
		}
	}
	t.Storage = readStorage(t, "", o)
	return t
}

// partitions are the kernel names of the partitions that the kernel knows.
func (d *Device) partitions() []string {
	entries, _ := os.ReadDir(d.sysDir)
	var names []string
	for _, e := range entries {
		if exists(filepath.Join(d.sysDir, e.Name()), "partition") {
			names = append(names, e.Name())
		}
	}
	return names
}

// OpenToRead opens the device for a run that only reads its first size bytes.
func (d *Device) OpenToRead(size int64, o Roots) (*File, error) {
	f, _, err := d.open(size, unix.O_RDONLY, o)
	return f, err
}

// OpenToDestroy opens the device for a run that writes to its first size bytes,
// and holds it exclusively until Remove, so that nobody mounts it meanwhile.
// Everything that Gate checks is checked again, by way of the descriptor, and
// that it is still the device that was found. A no is a *DeviceRefusal.
//
// The descriptor that is held is for reading alone; only claims write.
func (d *Device) OpenToDestroy(serial string, size int64, o Roots) (*File, error) {
	f, now, err := d.open(size, unix.O_RDONLY|unix.O_EXCL, o)
	if errors.Is(err, unix.EBUSY) {
		return nil, &DeviceRefusal{Path: d.Path, Reasons: []Reason{{Code: ReasonBusy}}}
	}
	if err != nil {
		return nil, err
	}
	reasons := append(d.changed(now), now.reasons(serial, size, f.fd, o)...)
	if len(reasons) > 0 {
		unix.Close(f.fd)
		return nil, &DeviceRefusal{Path: d.Path, Reasons: reasons}
	}
	f.device.Consent = serial
	return f, nil
}

// open opens the device and says what it is now.
func (d *Device) open(size int64, flags int, o Roots) (*File, *Device, error) {
	node, err := openPath(d.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("open device %s: %w", d.Path, err)
	}
	defer unix.Close(node)
	now, err := lookAtDevice(d.Path, node, o)
	if err != nil {
		return nil, nil, err
	}
	fd, err := openNode(node, flags)
	if err != nil {
		return nil, nil, fmt.Errorf("open device %s: %w", d.Path, &os.PathError{Op: "open", Path: d.Path, Err: err})
	}
	// The one that is held is the one that counts.
	now.ticket.Bytes, now.ticket.DiskSeq, err = sizeAndSeq(fd)
	if err == nil && len(d.changed(now)) > 0 && flags&unix.O_EXCL == 0 {
		err = &DeviceRefusal{Path: d.Path, Reasons: d.changed(now)}
	}
	if err == nil && size > now.Size() {
		err = fmt.Errorf("it has %d bytes, and %d are to be used; give a smaller --size", now.Size(), size)
	}
	f := &File{fd: fd, dirFd: -1, path: d.Path, size: size, major: now.ticket.Major, minor: now.ticket.Minor, foreign: true, device: &now.ticket}
	if err == nil {
		f.mem, f.off, err = directAlignment(fd)
	}
	if err != nil {
		unix.Close(fd)
		var r *DeviceRefusal
		if errors.As(err, &r) {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("open device %s: %w", d.Path, err)
	}
	return f, now, nil
}

// changed says what differs from what was found before.
func (d *Device) changed(now *Device) []Reason {
	a, b := d.ticket, now.ticket
	var reasons []Reason
	differs := func(what, was, is string) {
		if was != is {
			reasons = append(reasons, Reason{ReasonChanged, []string{what, orNone(was), orNone(is)}})
		}
	}
	differs("its number", devString(unix.Mkdev(a.Major, a.Minor)), devString(unix.Mkdev(b.Major, b.Minor)))
	differs("its serial number", a.Serial, b.Serial)
	differs("its size in bytes", fmt.Sprint(a.Bytes), fmt.Sprint(b.Bytes))
	differs("the disk's sequence number", fmt.Sprint(a.DiskSeq), fmt.Sprint(b.DiskSeq))
	return reasons
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// checkDevice compares an open file with the device that the ticket names. An
// O_PATH descriptor, which takes no ioctl, is not asked for size and sequence.
func (t *Ticket) checkDevice(fd int, opened bool, sysfs string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("reopen %s: stat: %w", t.Path, err)
	}
	d := t.Device
	differs := func(what string, got, want any) error {
		return &Mismatch{Path: t.Path, What: what, Got: fmt.Sprint(got), Want: fmt.Sprint(want), Foreign: true}
	}
	switch want := unix.Mkdev(d.Major, d.Minor); {
	case st.Mode&unix.S_IFMT != unix.S_IFBLK:
		return differs("kind", kindOf(st.Mode), "a block device")
	case st.Rdev != want:
		return differs("device", devString(st.Rdev), devString(want))
	case !t.Foreign || t.Nonce != "":
		return fmt.Errorf("reopen %s: a ticket of a device cannot be that of nativ's own file", t.Path)
	case t.Size <= 0 || t.Size > d.Bytes:
		return differs("size", d.Bytes, fmt.Sprintf("at least %d", t.Size))
	case !opened:
		return nil
	}
	size, seq, err := sizeAndSeq(fd)
	if err != nil {
		return fmt.Errorf("reopen %s: %w", t.Path, err)
	}
	switch serial := serialOf(sysfs, d.Major, d.Minor); {
	case size != d.Bytes:
		return differs("size", size, d.Bytes)
	case seq != d.DiskSeq:
		return differs("sequence", seq, d.DiskSeq)
	case serial != d.Serial:
		return differs("serial number", orNone(serial), orNone(d.Serial))
	}
	return nil
}

// checkHeld makes sure that the run which has the consent still holds the device
// exclusively: without it anybody may have mounted the device since the gate.
func (t *Ticket) checkHeld(node int) error {
	fd, err := openNode(node, unix.O_RDONLY|unix.O_EXCL)
	if err == unix.EBUSY {
		return nil
	}
	if err == nil {
		unix.Close(fd)
		return fmt.Errorf("reopen %s: nobody holds the device exclusively, so that it is not known to be unused; nothing is written", t.Path)
	}
	return fmt.Errorf("reopen %s: %w", t.Path, &os.PathError{Op: "open", Path: t.Path, Err: err})
}
