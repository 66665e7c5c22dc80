package target

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"nativ/internal/record"
)

const (
	sector = 512
	// metaBlock is the size of a block of a thin pool's tables (dm-thin-metadata.h,
	// THIN_METADATA_BLOCK_SIZE).
	metaBlock = 4096
)

// parsePoolTable reads the parameters of a thin-pool target: metadata device, data
// device, size of a chunk in sectors, low water mark, and so many words
// (Documentation/admin-guide/device-mapper/thin-provisioning.rst). What does not
// read so stays nil.
func parsePoolTable(p *record.ThinPool, params string) {
	f := strings.Fields(params)
	if len(f) < 4 {
		return
	}
	if n, err := strconv.ParseInt(f[2], 10, 32); err == nil && n > 0 {
		p.ChunkBytes = new(n * sector)
	}
	p.Zeroing, p.Discards, p.Passdown = new(true), new(true), new(true)
	if len(f) < 5 {
		return
	}
	for _, word := range f[5:] {
		switch word {
		case "skip_block_zeroing":
			p.Zeroing = new(false)
		case "ignore_discard":
			p.Discards, p.Passdown = new(false), new(false)
		case "no_discard_passdown":
			p.Passdown = new(false)
		}
	}
}

// parsePoolStatus reads the status of a thin-pool target: transaction, blocks of
// tables used of all, chunks used of all, a held root, the state and how discards
// and a full pool are treated. It is the words "Fail" or "Error" alone where the
// pool is broken (dm-thin.c, pool_status).
func parsePoolStatus(p *record.ThinPool, params string) {
	f := strings.Fields(params)
	if len(f) == 1 {
		p.State = strings.ToLower(f[0])
		return
	}
	if len(f) < 5 {
		return
	}
	if used, of, ok := usedOf(f[1], metaBlock); ok {
		p.MetadataUsed, p.MetadataBytes = &used, &of
	}
	if p.ChunkBytes != nil {
		if used, of, ok := usedOf(f[2], *p.ChunkBytes); ok {
			p.DataUsed, p.DataBytes = &used, &of
		}
	}
	p.State = f[4]
	if len(f) > 5 {
		switch f[5] { // what the drive below allows, which the table does not say
		case "no_discard_passdown":
			p.Passdown = new(false)
		case "ignore_discard":
			p.Discards, p.Passdown = new(false), new(false)
		}
	}
}

// usedOf reads "used/all" of blocks of so many bytes.
func usedOf(text string, unit int64) (used, all int64, ok bool) {
	a, b, found := strings.Cut(text, "/")
	u, err1 := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	const most = 1 << 62
	if !found || err1 != nil || err2 != nil || u < 0 || n < u || n > most/unit {
		return 0, 0, false
	}
	return u * unit, n * unit, true
}

// parseRAIDStatus reads the status of a raid target, which LVM makes arrays with:
// level, devices, a letter for the health of each, what is in sync of all, and what
// it does (dm-raid.rst).
func parseRAIDStatus(params string) (a record.Array, ok bool) {
	f := strings.Fields(params)
	if len(f) < 4 {
		return a, false
	}
	n, err := strconv.ParseInt(f[1], 10, 32)
	if err != nil || n < 1 || n != int64(len(f[2])) {
		return a, false
	}
	a = record.Array{Level: f[0], Devices: &n}
	a.Degraded = new(int64(strings.Count(f[2], "D") + strings.Count(f[2], "-")))
	if len(f) > 4 {
		a.Action = f[4]
	}
	if share, ok := parseDone(f[3], "/"); ok && a.Rebuilding() {
		a.Done = &share
	}
	return a, true
}

// parseARC reads what ZFS's cache has and may have at most, in bytes, from the
// kernel's statistics: lines of a name, a type and a number. nil where they are
// not there.
func parseARC(arcstats io.Reader) (size, most *int64) {
	sc := bufio.NewScanner(io.LimitReader(arcstats, 1<<20))
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) != 3 {
			continue
		}
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch f[0] {
		case "size":
			size = &n
		case "c_max":
			most = &n
		}
	}
	return size, most
}

// parseRelease reads the first two numbers of a kernel's release; zeros where it
// has none.
func parseRelease(release string) (major, minor int) {
	a, rest, _ := strings.Cut(release, ".")
	b, _, _ := strings.Cut(rest, ".")
	b = b[:len(b)-len(strings.TrimLeft(b, "0123456789"))]
	major, err1 := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || major < 0 {
		return 0, 0
	}
	return major, minor
}

// servedBy says who answers for the files of a target, one of the record's
// ServedBy constants; "" where the kernel does with a drive.
func servedBy(t *record.Target) string {
	fuse := strings.HasPrefix(t.FSType, "fuse.") || t.FSType == "fuseblk" || t.FSType == "fuse"
	switch strings.TrimPrefix(t.FSType, "fuse.") {
	case "ceph", "ceph-fuse", "glusterfs", "lustre", "beegfs", "beegfs_nodev", "gpfs", "orangefs", "pvfs2", "panfs",
		"moosefs", "mfs", "juicefs", "JuiceFS", "s3fs", "gcsfuse", "goofys", "mount-s3", "blobfuse2":
		return record.ServedByPool
	case "9p", "virtiofs", "vboxsf", "vmhgfs", "vmhgfs-fuse", "prl_fs":
		return record.ServedByHost
	}
	for _, d := range t.Drives {
		if d.Transport == transportRBD {
			return record.ServedByPool
		}
	}
	switch {
	case t.Network:
		return record.ServedByServer
	case fuse:
		return record.ServedByProgram
	}
	return ""
}
