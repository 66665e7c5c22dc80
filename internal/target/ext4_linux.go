package target

import (
	"encoding/binary"
	"io"
)

// Places and bits of ext4 on disk (Documentation/filesystems/ext4/super.rst and
// group_descr.rst).
const (
	ext4SuperAt   = 1024
	ext4Magic     = 0xef53
	ext4MetaBG    = 0x10  // incompat: descriptors lie elsewhere
	ext4Wide      = 0x80  // incompat: 64bit
	ext4Checksums = 0x410 // ro_compat: gdt_csum or metadata_csum, without which nothing is left for later
	ext4Zeroed    = 0x4   // bg_flags: INODE_ZEROED
	// ext4MostGroups bounds what is read: 128 TiB.
	ext4MostGroups = 1 << 20
)

// uninitialised counts the block groups of an ext4 filesystem whose inode tables the
// kernel has yet to write; false where that does not show.
func uninitialised(device io.ReaderAt) (n int, ok bool) {
	super := make([]byte, 1024)
	if _, err := device.ReadAt(super, ext4SuperAt); err != nil {
		return 0, false
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(super[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(super[at:]) }
	incompat, size := u32(0x60), int64(32)
	blocks, first, perGroup := uint64(u32(0x4)), uint64(u32(0x14)), uint64(u32(0x20))
	if incompat&ext4Wide != 0 {
		size = int64(u16(0xfe))
		blocks |= uint64(u32(0x150)) << 32
	}
	logSize := u32(0x18)
	if u16(0x38) != ext4Magic || incompat&ext4MetaBG != 0 || perGroup == 0 || blocks <= first || logSize > 6 || size < 32 || size > 1024 {
		return 0, false
	}
	if u32(0x64)&ext4Checksums == 0 {
		return 0, true
	}
	groups := (blocks - first + perGroup - 1) / perGroup
	if groups > ext4MostGroups {
		return 0, false
	}
	table := io.NewSectionReader(device, int64(first+1)<<(10+logSize), int64(groups)*size)
	group := make([]byte, size)
	for range groups {
		if _, err := io.ReadFull(table, group); err != nil {
			return 0, false
		}
		if binary.LittleEndian.Uint16(group[0x12:])&ext4Zeroed == 0 {
			n++
		}
	}
	return n, true
}
