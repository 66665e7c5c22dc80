package blkid

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// md looks for the superblocks of Linux software RAID: format 0.90 in the last
// whole 64 KiB but one, 1.0 at the end, 1.1 at the start, 1.2 at 4 KiB
// (linux/raid/md_p.h).
func md(d *device) {
	const little, big = "\xfc\x4e\x2b\xa9", "\xa9\x2b\x4e\xfc"
	old := d.size&^(64<<10-1) - 64<<10
	if d.is(old, little) || d.is(old, big) {
		d.add(Found{Type: "linux_raid_member", Kind: RAID, Offset: old})
	}
	sectors := d.size / 512
	for _, off := range []int64{(sectors - 16) &^ 7 * 512, 0, 4096} {
		if d.is(off, little+"\x01\x00\x00\x00") {
			d.add(Found{Type: "linux_raid_member", Kind: RAID, Offset: off, UUID: d.uuid(off + 16), Label: d.text(off+32, 32)})
		}
	}
}

// zfs looks for uberblocks in the four labels of 256 KiB, two at each end
// (vdev_impl.h: uberblocks from 128 KiB on), and for the pool's name in the
// label's list.
func zfs(d *device) {
	const label = 256 << 10
	end := d.size / label * label
	for _, start := range []int64{0, label, end - 2*label, end - label} {
		for i := int64(0); i < 128; i++ {
			off := start + label/2 + i<<10
			if d.is(off, "\x0c\xb1\xba\x00\x00\x00\x00\x00") || d.is(off, "\x00\x00\x00\x00\x00\xba\xb1\x0c") {
				d.add(Found{Type: "zfs_member", Kind: Volume, Offset: off, Name: poolName(d.at(start+16<<10, 112<<10))})
				return
			}
		}
	}
}

// poolName finds the string "name" in an nvlist in XDR: its length and text
// padded to four bytes, a type of 9 (DATA_TYPE_STRING), a count of 1, then the
// value's length and text.
func poolName(list []byte) string {
	key := []byte("\x00\x00\x00\x04name\x00\x00\x00\x09\x00\x00\x00\x01")
	_, rest, ok := bytes.Cut(list, key)
	if !ok || len(rest) < 4 {
		return ""
	}
	n := binary.BigEndian.Uint32(rest)
	if n > 256 || int(n) > len(rest)-4 {
		return ""
	}
	return string(bytes.ToValidUTF8(rest[4:4+n], []byte("?")))
}

// lvm looks for the label of an LVM physical volume in the first four sectors,
// and for the name of its volume group in the metadata, which are text
// (lvm2's lib/format_text/layout.h).
func lvm(d *device) {
	for off := int64(0); off < 4*512; off += 512 {
		if !d.is(off, "LABELONE") || !d.is(off+24, "LVM2 001") {
			continue
		}
		f := Found{Type: "LVM2_member", Kind: Volume, Offset: off + 24}
		f.UUID = lvmUUID(d.text(off+32, 32))
		f.Name = volumeGroup(d, off+int64(d.le32(off+20)))
		d.add(f)
		return
	}
}

// lvmUUID puts the dashes where LVM prints them.
func lvmUUID(s string) string {
	if len(s) != 32 {
		return ""
	}
	return strings.Join([]string{s[:6], s[6:10], s[10:14], s[14:18], s[18:22], s[22:26], s[26:]}, "-")
}

// volumeGroup reads the name of the volume group by way of the header of the
// physical volume at off: a UUID, a size, then lists of areas with data and of
// areas with metadata, each ended by zeros. "" where it belongs to none.
func volumeGroup(d *device, off int64) string {
	const most = 16
	list := off + 40
	lists := 0
	for i := 0; i < most && lists < 2; i++ {
		at, size := int64(d.le64(list)), int64(d.le64(list+8))
		list += 16
		if at == 0 {
			lists++
			continue
		}
		if lists == 1 && size > 0 && d.is(at+4, " LVM2 x[5A%r0N*>") {
			text := at + int64(d.le64(at+40)) // of the first raw location
			n := min(int64(d.le64(at+48)), 256)
			if text == at || n <= 0 {
				return ""
			}
			name, _, ok := strings.Cut(string(d.at(text, int(n))), " {")
			if ok && !strings.ContainsAny(name, "\n\x00") {
				return name
			}
			return ""
		}
	}
	return ""
}

func (d *device) le64(off int64) (v uint64) {
	if b := d.at(off, 8); b != nil {
		v = binary.LittleEndian.Uint64(b)
	}
	return v
}

// luks2Copies looks for the second header of LUKS2, which is there after the
// first was damaged; it lies where the first one's area ends (cryptsetup's LUKS2
// on-disk format, 2.2).
func luks2Copies(d *device) {
	for off := int64(0x4000); off <= 0x400000; off *= 2 {
		if d.is(off, "SKUL\xba\xbe") {
			d.add(Found{Type: "crypto_LUKS", Kind: Encrypted, Offset: off, UUID: d.text(off+168, 40)})
			return
		}
	}
}

// swaps looks for swap space and images of hibernation, whose magic number ends
// the first page, of whatever size (linux/swap.h, kernel/power/swap.c).
func swaps(d *device) {
	for page := int64(4 << 10); page <= 64<<10; page *= 2 {
		off := page - 10
		for _, m := range []string{"SWAPSPACE2", "SWAP-SPACE", "S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001", "\xed\xc3\x02\xe9\x98\x56\xe5\x0c"} {
			if !d.is(off, m) {
				continue
			}
			f := Found{Type: "swap", Kind: Swap, Offset: off}
			if m[:4] != "SWAP" {
				f.Type = "swsuspend"
			}
			if m == "SWAPSPACE2" {
				f.UUID, f.Label = d.uuid(0x40c), d.text(0x41c, 16)
			}
			d.add(f)
		}
	}
}

// fat looks for a FAT, by the texts in its boot sector or, as these mean nothing
// to Microsoft's own driver, by a jump and a plausible description of the
// volume (Microsoft's FAT specification, 3.1).
func fat(d *device) {
	b := d.at(0, 512)
	if b == nil || d.is(3, "NTFS    ") || d.is(3, "EXFAT   ") || d.is(3, "-FVE-FS-") {
		return
	}
	f := Found{Type: "vfat", Kind: Filesystem}
	switch {
	case string(b[0x52:0x57]) == "MSWIN" || string(b[0x52:0x5a]) == "FAT32   ":
		f.Offset, f.UUID, f.Label = 0x52, fatSerial(b[0x43:]), strings.TrimSpace(d.text(0x47, 11))
	case string(b[0x36:0x3b]) == "MSDOS", string(b[0x36:0x39]) == "FAT" && strings.TrimRight(string(b[0x39:0x3e]), " ") != "":
		f.Offset, f.UUID, f.Label = 0x36, fatSerial(b[0x27:]), strings.TrimSpace(d.text(0x2b, 11))
	case (b[0] == 0xeb && b[2] == 0x90 || b[0] == 0xe9) && fatShape(b):
		f.Offset = 0
	default:
		return
	}
	if f.Label == "NO NAME" {
		f.Label = ""
	}
	d.add(f)
}

func fatSerial(b []byte) string { return fmt.Sprintf("%02X%02X-%02X%02X", b[3], b[2], b[1], b[0]) }

func fatShape(b []byte) bool {
	sector, cluster := binary.LittleEndian.Uint16(b[11:]), b[13]
	powers := sector >= 512 && sector <= 4096 && sector&(sector-1) == 0 && cluster > 0 && cluster&(cluster-1) == 0
	return powers && binary.LittleEndian.Uint16(b[14:]) > 0 && b[16] >= 1 && b[16] <= 2 && (b[21] == 0xf0 || b[21] >= 0xf8)
}

// udf looks for the volume recognition sequence of ECMA-167 (2/9), whose
// descriptors are one to a sector of 2 KiB, or of the device where that is
// larger.
func udf(d *device) {
	for _, sector := range []int64{2048, 4096} {
		for i := int64(0); i < 16; i++ {
			off := 0x8000 + i*sector + 1
			if d.is(off, "NSR02") || d.is(off, "NSR03") {
				d.add(Found{Type: "udf", Kind: Filesystem, Offset: off})
				return
			}
		}
	}
}

// nilfs looks for the superblock at 1 KiB and its copy in the last whole block
// (nilfs2_ondisk.h).
func nilfs(d *device) {
	for _, at := range []int64{0x400, (d.size>>12 - 1) << 12} {
		if n := d.le16(at + 8); d.is(at+6, "\x34\x34") && d.le32(at) == 2 && n > 0 && n <= 1024 {
			d.add(Found{Type: "nilfs2", Kind: Filesystem, Offset: at + 6})
			return
		}
	}
}

// drbd looks for internal metadata in the last 4 KiB: be32 magic numbers of the
// versions 8 and 9 (drbd's drbd_int.h, drbdmeta.c).
func drbd(d *device) {
	at := d.size&^4095 - 4096
	old, now := d.be32(at+60), d.be32(at+52)
	if old >= 0x8374026b && old <= 0x8374026d || now >= 0x8374026b && now <= 0x8374026e {
		d.add(Found{Type: "drbd", Kind: Volume, Offset: at})
	}
}

// xfsLog looks for an XFS log of its own: the first record's header begins at
// some sector of the first 256 KiB (xfs_log_format.h).
func xfsLog(d *device) {
	if d.is(0, "XFSB") {
		return
	}
	for off := int64(0); off < 256<<10; off += 512 {
		if v := d.be32(off + 8); d.is(off, "\xfe\xed\xba\xbe") && (v == 1 || v == 2) {
			d.add(Found{Type: "xfs_external_log", Kind: Filesystem, Offset: off})
			return
		}
	}
}
