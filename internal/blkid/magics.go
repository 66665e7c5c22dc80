package blkid

import "encoding/binary"

// A magic is a signature that always lies at the same place. Offsets and bytes
// are those of the formats' own headers, named with each; libblkid's superblocks
// of the same names have them too.
type magic struct {
	typ, kind string
	off       int64
	bytes     string
	// ok, where the magic number is so short that it needs more to be believed.
	ok func(d *device) bool
	// uuid and label are offsets (0: none), labelLen the label's length.
	uuid, label int64
	labelLen    int
	refine      func(d *device) string // a more exact type
}

var magics = []magic{
	// linux/fs/ext4/ext4.h: struct ext4_super_block at 1024.
	{typ: "ext2", kind: Filesystem, off: 0x438, bytes: "\x53\xef", ok: extOK, uuid: 0x468, label: 0x478, labelLen: 16, refine: extType},
	// xfs_format.h: struct xfs_dsb.
	{typ: "xfs", kind: Filesystem, off: 0, bytes: "XFSB", uuid: 32, label: 108, labelLen: 12},
	// btrfs_tree.h: struct btrfs_super_block at 64 KiB.
	{typ: "btrfs", kind: Filesystem, off: 0x10040, bytes: "_BHRfS_M", uuid: 0x10020, label: 0x1012b, labelLen: 256},
	// bcachefs_format.h and bcache.h: struct cache_sb at 4 KiB.
	{typ: "bcache", kind: Volume, off: 0x1018, bytes: "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", uuid: 0x1028},
	{typ: "bcachefs", kind: Filesystem, off: 0x1018, bytes: "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"},
	// f2fs_fs.h.
	{typ: "f2fs", kind: Filesystem, off: 0x400, bytes: "\x10\x20\xf5\xf2", uuid: 0x46c},
	// Boot sectors: the OEM name.
	{typ: "exfat", kind: Filesystem, off: 3, bytes: "EXFAT   "},
	{typ: "ntfs", kind: Filesystem, off: 3, bytes: "NTFS    "},
	{typ: "BitLocker", kind: Encrypted, off: 3, bytes: "-FVE-FS-"},
	{typ: "iso9660", kind: Filesystem, off: 0x8001, bytes: "CD001", label: 0x8028, labelLen: 32},
	{typ: "iso9660", kind: Filesystem, off: 0x8009, bytes: "CDROM"}, // High Sierra
	{typ: "squashfs", kind: Filesystem, off: 0, bytes: "hsqs"},
	{typ: "squashfs", kind: Filesystem, off: 0, bytes: "sqsh"},
	{typ: "erofs", kind: Filesystem, off: 0x400, bytes: "\xe2\xe1\xf5\xe0", uuid: 0x430},
	{typ: "jfs", kind: Filesystem, off: 0x8000, bytes: "JFS1", uuid: 0x8088},
	{typ: "reiserfs", kind: Filesystem, off: 0x2034, bytes: "ReIsErFs"},
	{typ: "reiserfs", kind: Filesystem, off: 0x10034, bytes: "ReIsErFs"},
	{typ: "reiserfs", kind: Filesystem, off: 0x10034, bytes: "ReIsEr2Fs", uuid: 0x10054, label: 0x10064, labelLen: 16},
	{typ: "reiserfs", kind: Filesystem, off: 0x10034, bytes: "ReIsEr3Fs", uuid: 0x10054, label: 0x10064, labelLen: 16},
	{typ: "reiser4", kind: Filesystem, off: 0x10000, bytes: "ReIsEr4"},
	// Apple's Technical Note TN1150; the reference of APFS: nx_magic.
	{typ: "hfsplus", kind: Filesystem, off: 0x400, bytes: "H+\x00\x04"},
	{typ: "hfsplus", kind: Filesystem, off: 0x400, bytes: "HX\x00\x05"},
	{typ: "hfs", kind: Filesystem, off: 0x400, bytes: "BD", ok: hfsOK},
	{typ: "apfs", kind: Filesystem, off: 32, bytes: "NXSB"},
	// minix_fs.h: s_magic of versions 1 and 2, of 14 and 30 characters, and 3.
	{typ: "minix", kind: Filesystem, off: 0x410, bytes: "\x7f\x13", ok: minixOK},
	{typ: "minix", kind: Filesystem, off: 0x410, bytes: "\x8f\x13", ok: minixOK},
	{typ: "minix", kind: Filesystem, off: 0x410, bytes: "\x68\x24", ok: minixOK},
	{typ: "minix", kind: Filesystem, off: 0x410, bytes: "\x78\x24", ok: minixOK},
	{typ: "minix", kind: Filesystem, off: 0x418, bytes: "\x5a\x4d", ok: minix3OK},
	// FreeBSD's ufs/ffs/fs.h: fs_magic of struct fs at 8, 64 and 256 KiB.
	{typ: "ufs", kind: Filesystem, off: 8<<10 + 0x55c, bytes: "\x54\x19\x01\x00"},
	{typ: "ufs", kind: Filesystem, off: 8<<10 + 0x55c, bytes: "\x00\x01\x19\x54"},
	{typ: "ufs", kind: Filesystem, off: 64<<10 + 0x55c, bytes: "\x19\x01\x54\x19"},
	{typ: "ufs", kind: Filesystem, off: 64<<10 + 0x55c, bytes: "\x19\x54\x01\x19"},
	{typ: "ufs", kind: Filesystem, off: 256<<10 + 0x55c, bytes: "\x19\x01\x54\x19"},
	// ocfs2_fs.h: the superblock is the third block, of 512 to 4096 bytes.
	{typ: "ocfs2", kind: Filesystem, off: 1 << 10, bytes: "OCFSV2"},
	{typ: "ocfs2", kind: Filesystem, off: 2 << 10, bytes: "OCFSV2"},
	{typ: "ocfs2", kind: Filesystem, off: 4 << 10, bytes: "OCFSV2"},
	{typ: "ocfs2", kind: Filesystem, off: 8 << 10, bytes: "OCFSV2"},
	{typ: "oracleasm", kind: Volume, off: 32, bytes: "ORCLDISK"},
	{typ: "gfs2", kind: Filesystem, off: 0x10000, bytes: "\x01\x16\x19\x70"}, // and gfs
	{typ: "vxfs", kind: Filesystem, off: 0x400, bytes: "\xf5\xfc\x01\xa5"},
	{typ: "cramfs", kind: Filesystem, off: 0, bytes: "\x45\x3d\xcd\x28"},
	{typ: "cramfs", kind: Filesystem, off: 0, bytes: "\x28\xcd\x3d\x45"},
	{typ: "romfs", kind: Filesystem, off: 0, bytes: "-rom1fs-"},
	{typ: "befs", kind: Filesystem, off: 32, bytes: "1SFB"},
	{typ: "befs", kind: Filesystem, off: 512 + 32, bytes: "1SFB"},
	{typ: "befs", kind: Filesystem, off: 512 + 32, bytes: "BFS1"},
	{typ: "hpfs", kind: Filesystem, off: 0x2000, bytes: "\x49\xe8\x95\xf9"},
	{typ: "zonefs", kind: Filesystem, off: 0, bytes: "SFOZ"},
	{typ: "ubi", kind: Volume, off: 0, bytes: "UBI#"},
	{typ: "ubifs", kind: Filesystem, off: 0, bytes: "\x31\x18\x10\x06"},
	{typ: "VMFS_volume_member", kind: Volume, off: 0x100000, bytes: "\x0d\xd0\x01\xc0"},
	{typ: "VMFS", kind: Filesystem, off: 0x200000, bytes: "\x5e\xf1\xab\x2f"},
	{typ: "ceph_bluestore", kind: Volume, off: 0, bytes: "bluestore block device"},
	{typ: "drbdmanage_control_volume", kind: Volume, off: 0, bytes: "$DRBDmgr=q"},
	{typ: "stratis", kind: Volume, off: 0x204, bytes: "!Stra0tis\x86\xff\x02^\x41rh"},
	{typ: "stratis", kind: Volume, off: 0x1204, bytes: "!Stra0tis\x86\xff\x02^\x41rh"},
	{typ: "vdo", kind: Volume, off: 0, bytes: "dmvdo001"},
	{typ: "DM_snapshot_cow", kind: Volume, off: 0, bytes: "SnAp"},
	{typ: "DM_integrity", kind: Encrypted, off: 0, bytes: "integrt\x00"},
	{typ: "DM_verity_hash", kind: Encrypted, off: 0, bytes: "verity\x00\x00"},
	{typ: "LVM1_member", kind: Volume, off: 0, bytes: "HM\x01\x00"},
	{typ: "LVM1_member", kind: Volume, off: 0, bytes: "HM\x02\x00"},
	// cryptsetup's on-disk format: the UUID is text.
	{typ: "crypto_LUKS", kind: Encrypted, off: 0, bytes: "LUKS\xba\xbe"},
}

// magic looks for one magic.
func (d *device) magic(m *magic) {
	if !d.is(m.off, m.bytes) || m.ok != nil && !m.ok(d) {
		return
	}
	f := Found{Type: m.typ, Kind: m.kind, Offset: m.off}
	if m.refine != nil {
		f.Type = m.refine(d)
	}
	if m.uuid > 0 {
		f.UUID = d.uuid(m.uuid)
	}
	if m.labelLen > 0 {
		f.Label = d.text(m.label, m.labelLen)
	}
	if m.typ == "crypto_LUKS" {
		f.UUID = d.text(168, 40)
	}
	d.add(f)
}

func (d *device) le16(off int64) (v uint16) {
	if b := d.at(off, 2); b != nil {
		v = binary.LittleEndian.Uint16(b)
	}
	return v
}

func (d *device) le32(off int64) (v uint32) {
	if b := d.at(off, 4); b != nil {
		v = binary.LittleEndian.Uint32(b)
	}
	return v
}

func (d *device) be32(off int64) (v uint32) {
	if b := d.at(off, 4); b != nil {
		v = binary.BigEndian.Uint32(b)
	}
	return v
}

// extOK: there are blocks, of 1 to 64 KiB, inodes unless it is a journal of its
// own, and a revision.
func extOK(d *device) bool {
	return (d.le32(0x400) > 0 || d.le32(0x460)&extJournalDev != 0) && d.le32(0x404) > 0 && d.le32(0x418) <= 6 && d.le32(0x44c) <= 1
}

// extJournalDev is EXT3_FEATURE_INCOMPAT_JOURNAL_DEV.
const extJournalDev = 0x8

// extType tells the generations apart by their features, as libblkid does.
func extType(d *device) string {
	compat, incompat, ro := d.le32(0x45c), d.le32(0x460), d.le32(0x464)
	const (
		hasJournal = 0x4
		ext3In     = 0x2 | 0x4 | 0x10
		ext3Ro     = 0x1 | 0x2 | 0x4
	)
	switch {
	case incompat&extJournalDev != 0:
		return "jbd"
	case incompat&^uint32(ext3In) != 0 || ro&^uint32(ext3Ro) != 0:
		return "ext4"
	case compat&hasJournal != 0:
		return "ext3"
	}
	return "ext2"
}

// hfsOK: the allocation block size is a multiple of 512 (TN1150's
// predecessor, Inside Macintosh: Files, drAlBlkSiz).
func hfsOK(d *device) bool {
	n := d.be32(0x414)
	return n > 0 && n%512 == 0
}

// minixOK: there are inodes and zones, the data begin behind the bitmaps, and a
// zone is a block (s_log_zone_size is 0 wherever it is used).
func minixOK(d *device) bool {
	inodes, imap, zmap, first, log := d.le16(0x400), d.le16(0x404), d.le16(0x406), d.le16(0x408), d.le16(0x40a)
	return inodes > 0 && imap > 0 && zmap > 0 && uint32(first) > uint32(imap)+uint32(zmap) && log == 0
}

// minix3OK: struct minix3_super_block.
func minix3OK(d *device) bool {
	return d.le32(0x400) > 0 && d.le16(0x406) > 0 && d.le16(0x408) > 0 && d.le16(0x40c) == 0
}
