// Package blkid says what is on a block device by the magic numbers that
// filesystems, volume managers, RAID firmware and partition tables leave on it.
// It knows what libblkid knows of the formats that occur on drives of servers
// and workstations, and only reads.
//
// It is there to keep somebody's data from being written over. A match is
// therefore believed unless it is a short magic number that random bytes could
// be, and a read that fails is an error: what cannot be looked at is not empty.
package blkid

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Kinds of what is found.
const (
	Filesystem = "filesystem"
	Swap       = "swap"
	Volume     = "volume" // a member of a volume manager, pool or cache
	RAID       = "raid"
	Encrypted  = "encrypted"
	Table      = "partition table"
)

// A Found is one signature.
type Found struct {
	// Type is libblkid's name of the format: "ext4", "LVM2_member", "gpt".
	Type string
	Kind string
	// Offset is where the magic number lies, in bytes.
	Offset int64
	// UUID and Label are as libblkid prints them, "" where the format has none
	// or they are not read.
	UUID, Label string
	// Name is the volume group or the pool that a member says it belongs to.
	Name string
}

func (f Found) String() string {
	s := f.Type
	if f.Name != "" {
		s += " " + fmt.Sprintf("%q", f.Name)
	}
	if f.Label != "" {
		s += " " + fmt.Sprintf("%q", f.Label)
	}
	return fmt.Sprintf("%s (at byte %d)", s, f.Offset)
}

// A device is read in pieces that are kept: most magic numbers lie close to
// each other.
type device struct {
	r      io.ReaderAt
	size   int64
	pieces map[int64][]byte
	err    error // the first of a read
	found  []Found
}

// pieceSize is what is read at a time, aligned, as direct I/O needs it.
const pieceSize = 64 << 10

// Scan returns every signature on the device of size bytes, in the order of
// their offsets. r is read in aligned pieces of 64 KiB, the last one shorter.
func Scan(r io.ReaderAt, size int64) ([]Found, error) {
	if size <= 0 {
		return nil, fmt.Errorf("look for signatures: a device of %d bytes", size)
	}
	d := &device{r: r, size: size, pieces: map[int64][]byte{}}
	for i := range magics {
		d.magic(&magics[i])
	}
	for _, probe := range []func(*device){
		tables, gpt, md, zfs, lvm, luks2Copies, swaps, fat, udf, nilfs, drbd, firmwareRAID, xfsLog,
	} {
		probe(d)
	}
	if d.err != nil {
		return nil, fmt.Errorf("look for signatures: %w", d.err)
	}
	slices.SortStableFunc(d.found, func(a, b Found) int { return int(min(max(a.Offset-b.Offset, -1), 1)) })
	return d.found, nil
}

// at returns n bytes at an offset, nil where the device ends before.
func (d *device) at(off int64, n int) []byte {
	if off < 0 || off+int64(n) > d.size || d.err != nil {
		return nil
	}
	out := make([]byte, 0, n)
	for len(out) < n {
		start := (off + int64(len(out))) / pieceSize * pieceSize
		p, ok := d.pieces[start]
		if !ok {
			p = make([]byte, min(pieceSize, d.size-start))
			if got, err := d.r.ReadAt(p, start); got < len(p) {
				if err == nil || errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				d.err = fmt.Errorf("read at byte %d: %w", start, err)
				return nil
			}
			d.pieces[start] = p
		}
		skip := off + int64(len(out)) - start
		out = append(out, p[skip:min(int64(len(p)), skip+int64(n-len(out)))]...)
	}
	return out
}

// is reports whether the bytes are at the offset.
func (d *device) is(off int64, magic string) bool {
	b := d.at(off, len(magic))
	return b != nil && string(b) == magic
}

func (d *device) add(f Found) { d.found = append(d.found, f) }

// uuid formats 16 bytes at an offset; "" where they are zeros.
func (d *device) uuid(off int64) string {
	b := d.at(off, 16)
	if b == nil || len(bytes.Trim(b, "\x00")) == 0 {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// text returns what is before the first NUL in n bytes, without the spaces
// around it.
func (d *device) text(off int64, n int) string {
	b := d.at(off, n)
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("?")))
}
