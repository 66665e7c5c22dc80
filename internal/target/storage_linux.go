package target

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// readStorage says what between the files of the target and its drives changes
// what a number means; nil where nothing does. dir is where the target's
// directory is seen from here, "" for a device. What only ZFS's own tools know
// package storage adds.
func readStorage(t *record.Target, dir string, o Roots) *record.Storage {
	var s record.Storage
	for i := range t.Stack {
		l := &t.Stack[i]
		at, err := filepath.EvalSymlinks(filepath.Join(o.sys(), "class/block", l.Name))
		if err != nil {
			continue
		}
		switch l.Kind {
		case kindMD:
			s.Arrays = append(s.Arrays, readArray(l.Name, at))
		case kindCrypt:
			s.Crypts = append(s.Crypts, record.Crypt{Device: l.Name, Format: cryptFormat(readString(at, "dm/uuid"))})
		case kindLVM, kindDM:
			readMapped(&s, l, at, o)
		case kindZvol:
			s.ZFS = &record.ZFS{Name: zvolName(l.Name, o), Volume: true}
		}
	}
	switch t.FSType {
	case "zfs":
		s.ZFS = &record.ZFS{Name: t.Source}
	case "btrfs":
		s.Btrfs = btrfsOf(t.Options, dir != "" && noCOW(dir), kernelAtLeast(6, 14))
	case "ext4":
		s.LazyInit = lazyInit(t, o)
	}
	if s.ZFS != nil {
		readARC(s.ZFS, o)
	}
	s.Served = servedBy(t)
	if s.LazyInit == nil && s.ZFS == nil && s.Btrfs == nil && s.Served == "" && len(s.Arrays)+len(s.Crypts)+len(s.Pools) == 0 {
		return nil
	}
	return &s
}

// DescribeStorage is what Resolve does for a target that was put together from what
// another program says, such as a storage of Proxmox VE.
func DescribeStorage(t *record.Target, o Roots) { t.Storage = readStorage(t, "", o) }

// Refresh reads again how full the thin pools of a target are.
func Refresh(t *record.Target, o Roots) {
	if t.Storage == nil || len(t.Storage.Pools) == 0 {
		return
	}
	if now := readStorage(&record.Target{Stack: t.Stack}, "", o); now != nil {
		t.Storage.Pools = now.Pools
	}
}

// cryptFormat is the second part of the UUID that cryptsetup gives a device:
// "CRYPT-LUKS2-…-name".
func cryptFormat(uuid string) string {
	parts := strings.SplitN(uuid, "-", 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}

// readArray reads what md says of an array (Documentation/admin-guide/md.rst).
func readArray(name, dir string) record.Array {
	a := record.Array{Device: name, Level: readString(dir, "md/level"), State: readString(dir, "md/array_state"),
		Action: readString(dir, "md/sync_action")}
	if n, ok := readInt(dir, "md/raid_disks"); ok {
		a.Devices = &n
	}
	if n, ok := readInt(dir, "md/degraded"); ok {
		a.Degraded = &n
	}
	if share, ok := parseDone(readString(dir, "md/sync_completed"), " / "); ok && a.Rebuilding() {
		a.Done = &share
	}
	return a
}

// parseDone reads a share as the kernel writes it, of two numbers.
func parseDone(text, between string) (share float64, ok bool) {
	done, of, found := strings.Cut(text, between)
	a, err1 := strconv.ParseUint(done, 10, 63)
	b, err2 := strconv.ParseUint(of, 10, 63)
	if !found || err1 != nil || err2 != nil || b == 0 || a > b {
		return 0, false
	}
	return float64(a) / float64(b), true
}

// whyNoPool is why a thin pool's figures are not known where the reason is the
// user.
const whyNoPool = "only root may ask the device mapper"

// readMapped asks the device mapper for a device of it: a thin pool, or an array
// of LVM. Of others it wants nothing.
func readMapped(s *record.Storage, l *record.Layer, dir string, o Roots) {
	major, minor, ok := strings.Cut(readString(dir, "dev"), ":")
	ma, err1 := strconv.ParseUint(major, 10, 32)
	mi, err2 := strconv.ParseUint(minor, 10, 32)
	named := strings.HasSuffix(l.Title, poolSuffix)
	if !ok || err1 != nil || err2 != nil || o.Sys != "" { // another tree than the kernel's own
		if named {
			s.Pools = append(s.Pools, record.ThinPool{Device: l.Name, Name: strings.TrimSuffix(l.Title, poolSuffix), Unknown: "the kernel does not show it"})
		}
		return
	}
	status, err := sys.DMStatus(uint32(ma), uint32(mi))
	if err != nil {
		if named {
			why := err.Error()
			if errors.Is(err, fs.ErrPermission) {
				why = whyNoPool
			}
			s.Pools = append(s.Pools, record.ThinPool{Device: l.Name, Name: strings.TrimSuffix(l.Title, poolSuffix), Unknown: why})
		}
		return
	}
	for _, line := range status {
		switch line.Type {
		case "thin-pool":
			table, _ := sys.DMTable(uint32(ma), uint32(mi)) // holds no key: it is no dm-crypt device
			p := record.ThinPool{Device: l.Name, Name: strings.TrimSuffix(l.Title, poolSuffix)}
			for _, t := range table {
				if t.Type == "thin-pool" {
					parsePoolTable(&p, t.Params)
				}
			}
			parsePoolStatus(&p, line.Params)
			s.Pools = append(s.Pools, p)
		case "raid":
			if a, ok := parseRAIDStatus(line.Params); ok {
				a.Device = l.Name
				s.Arrays = append(s.Arrays, a)
			}
		}
	}
}

// poolSuffix is what LVM appends to the name of a thin pool's device.
const poolSuffix = "-tpool"

// btrfsOf tells from the mount options and the flag of the directory how new
// files are treated. buffered is whether this kernel writes files with checksums
// through the page cache (since 6.14, btrfs(5), "Checksumming").
func btrfsOf(options string, noCOW, buffered bool) *record.Btrfs {
	b := record.Btrfs{Checksums: !noCOW}
	for o := range strings.SplitSeq(options, ",") {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "nodatasum", "nodatacow":
			b.Checksums = false
		case "compress", "compress-force":
			if b.Compression = value; value == "" {
				b.Compression = "zlib"
			}
		}
	}
	b.Buffered = b.Checksums && buffered
	return &b
}

// noCOW reports whether files made in dir are not copied on writing.
func noCOW(dir string) bool {
	fd, err := open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && flags&fsNoCOW != 0
}

// fsNoCOW is FS_NOCOW_FL (include/uapi/linux/fs.h).
const fsNoCOW = 0x00800000

// kernelAtLeast reports whether the running kernel is that or a later one.
func kernelAtLeast(major, minor int) bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	a, b := parseRelease(unix.ByteSliceToString(u.Release[:]))
	return a > major || a == major && b >= minor
}

// lazyInit reports whether the kernel still writes inode tables of the ext4
// filesystem of the target: it has some to write, and the thread that does it runs.
// That thread alone is no sign, as it also reads bitmaps of filesystems that were
// just mounted. nil where threads or the device are not to be seen.
func lazyInit(t *record.Target, o Roots) *bool {
	if readString(o.proc(), "2/comm") != "kthreadd" {
		return nil // as in a container
	}
	names, err := filepath.Glob(filepath.Join(o.proc(), "[0-9]*/comm"))
	if err != nil {
		return nil
	}
	runs := slices.ContainsFunc(names, func(name string) bool {
		b, err := os.ReadFile(name)
		return err == nil && strings.TrimSpace(string(b)) == "ext4lazyinit"
	})
	if !runs || len(t.Stack) == 0 {
		return new(false)
	}
	f, err := os.Open(o.root("dev/" + strings.ReplaceAll(t.Stack[0].Name, "!", "/")))
	if err != nil {
		return nil
	}
	defer f.Close()
	n, ok := uninitialised(f)
	if !ok {
		return nil
	}
	return new(n > 0)
}

// readARC reads version and cache of the ZFS module.
func readARC(z *record.ZFS, o Roots) {
	z.Version = readString(o.sys(), "module/zfs/version")
	if f, err := os.Open(filepath.Join(o.proc(), "spl/kstat/zfs/arcstats")); err == nil {
		z.ARCBytes, z.ARCMax = parseARC(f)
		f.Close()
	}
}

// zvolName finds the name of a ZFS volume by the links that ZFS makes of it;
// without any it is that of its device.
func zvolName(name string, o Roots) string {
	root, found := o.root("dev/zvol"), name
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		if to, err := os.Readlink(path); err == nil && filepath.Base(to) == name {
			found, _ = filepath.Rel(root, path)
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// zvolDevice matches the device of a ZFS volume.
var zvolDevice = regexp.MustCompile(`^zd[0-9]+$`)
