package blkid

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A blank is a device of zeros with something at some offsets.
type blank struct {
	size int64
	at   map[int64]string
}

func (b *blank) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	n := int(min(int64(len(p)), b.size-off))
	for at, text := range b.at {
		for i := range len(text) {
			if k := at + int64(i) - off; k >= 0 && k < int64(n) {
				p[k] = text[i]
			}
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func types(found []Found) []string {
	var out []string
	for _, f := range found {
		out = append(out, f.Type)
	}
	return out
}

const testSize = 1<<30 + 512*13 // no multiple of any block size

// Every magic of the table is found where it is written, and nothing else is.
func TestEveryMagic(t *testing.T) {
	valid := map[string]map[int64]string{ // what a short magic number needs beside it
		"ext2":  {0x400: "\x10\x00\x00\x00\x40\x00\x00\x00"},
		"hfs":   {0x414: "\x00\x00\x10\x00"},
		"minix": {0x400: "\x20\x00\x64\x00\x01\x00\x01\x00\x06\x00"},
	}
	for _, m := range magics {
		b := &blank{testSize, map[int64]string{m.off: m.bytes}}
		if m.ok != nil {
			if found, err := Scan(b, b.size); err != nil || len(found) > 0 {
				t.Errorf("%s: two bytes alone are believed: %v, %v", m.typ, found, err)
			}
			for off, s := range valid[m.typ] {
				b.at[off] = s
			}
			if m.off == 0x418 { // minix 3
				b.at[0x400] = "\x20\x00\x00\x00\x00\x00\x01\x00\x01\x00\x06\x00\x00\x00"
			}
		}
		found, err := Scan(b, b.size)
		if err != nil || len(found) != 1 || found[0].Type != m.typ || found[0].Offset != m.off {
			t.Errorf("%s at %#x: found %v, %v", m.typ, m.off, found, err)
		}
	}
}

func le(words ...uint32) string {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return string(b)
}

// What lies at the end, in several places, or needs a sum.
func TestProbes(t *testing.T) {
	const sectors = testSize / 512
	sun := make([]byte, 512)
	copy(sun[508:], "\xda\xbe\xda\xbe")
	via := make([]byte, 512)
	copy(via, "\x55\xaa\x01")
	via[50] = 0x55 + 0xaa&0xff + 1 - 0x100
	jm := make([]byte, 512)
	copy(jm, "JM")
	binary.LittleEndian.PutUint16(jm[2:], -binary.LittleEndian.Uint16(jm))
	mbr := make([]byte, 512)
	copy(mbr[510:], "\x55\xaa")
	fat := make([]byte, 512)
	copy(fat, "\xeb\x3c\x90mkfs.fat\x00\x02\x04\x01\x00\x02\x00\x02\x00\x00\xf8")
	for _, tt := range []struct {
		name, want string
		at         map[int64]string
	}{
		{"md 0.90", "linux_raid_member", map[int64]string{testSize&^(64<<10-1) - 64<<10: "\xfc\x4e\x2b\xa9"}},
		{"md 0.90, other byte order", "linux_raid_member", map[int64]string{testSize&^(64<<10-1) - 64<<10: "\xa9\x2b\x4e\xfc"}},
		{"md 1.0", "linux_raid_member", map[int64]string{(sectors - 16) &^ 7 * 512: le(0xa92b4efc, 1)}},
		{"md 1.1", "linux_raid_member", map[int64]string{0: le(0xa92b4efc, 1)}},
		{"md 1.2", "linux_raid_member", map[int64]string{4096: le(0xa92b4efc, 1)}},
		{"zfs, first label", "zfs_member", map[int64]string{128 << 10: "\x0c\xb1\xba\x00\x00\x00\x00\x00"}},
		{"zfs, big endian", "zfs_member", map[int64]string{129 << 10: "\x00\x00\x00\x00\x00\xba\xb1\x0c"}},
		{"zfs, last label", "zfs_member", map[int64]string{testSize/(256<<10)*(256<<10) - 1<<10: "\x0c\xb1\xba\x00\x00\x00\x00\x00"}},
		{"LVM in the fourth sector", "LVM2_member", map[int64]string{1536: "LABELONE", 1560: "LVM2 001"}},
		{"copy of a LUKS2 header", "crypto_LUKS", map[int64]string{0x8000: "SKUL\xba\xbe"}},
		{"swap of 64 KiB pages", "swap", map[int64]string{64<<10 - 10: "SWAPSPACE2"}},
		{"hibernation", "swsuspend", map[int64]string{4096 - 10: "S1SUSPEND"}},
		{"FAT 32", "vfat", map[int64]string{0x52: "FAT32   "}},
		{"FAT by its shape", "vfat", map[int64]string{0: string(fat)}},
		{"UDF", "udf", map[int64]string{0x8001: "BEA01", 0x8801: "NSR02"}},
		{"UDF in sectors of 4 KiB", "udf", map[int64]string{0x9001: "NSR03"}},
		{"copy of nilfs2", "nilfs2", map[int64]string{(testSize>>12 - 1) << 12: "\x02\x00\x00\x00\x00\x00\x34\x34\x18\x01"}},
		{"DRBD 8.4", "drbd", map[int64]string{testSize&^4095 - 4096 + 60: "\x83\x74\x02\x6c"}},
		{"DRBD 9", "drbd", map[int64]string{testSize&^4095 - 4096 + 52: "\x83\x74\x02\x6d"}},
		{"XFS log", "xfs_external_log", map[int64]string{4096: "\xfe\xed\xba\xbe\x00\x00\x00\x01\x00\x00\x00\x02"}},
		{"GPT", "gpt", map[int64]string{512: "EFI PART"}},
		{"GPT in sectors of 4 KiB", "gpt", map[int64]string{4096: "EFI PART"}},
		{"backup GPT alone", "gpt", map[int64]string{testSize - 512: "EFI PART"}},
		{"empty MBR", "dos", map[int64]string{0: string(mbr)}},
		{"Sun", "sun", map[int64]string{0: string(sun)}},
		{"BSD", "bsd", map[int64]string{512: "\x57\x45\x56\x82", 512 + 132: "\x57\x45\x56\x82"}},
		{"SGI", "sgi", map[int64]string{0: "\x0b\xe5\xa9\x41"}},
		{"AIX", "aix", map[int64]string{0: "\xc9\xc2\xd4\xc1"}},
		{"Macintosh", "mac", map[int64]string{0: "ER", 512: "PM"}},
		{"Amiga", "amiga", map[int64]string{3 * 512: "RDSK"}},
		{"Intel", "isw_raid_member", map[int64]string{(sectors - 2) * 512: "Intel Raid ISM Cfg Sig. 1.1.00"}},
		{"DDF", "ddf_raid_member", map[int64]string{(sectors - 1) * 512: "\xde\x11\xde\x11"}},
		{"Promise", "promise_fasttrack_raid_member", map[int64]string{(sectors - 399) * 512: "Promise Technology, Inc."}},
		{"NVIDIA", "nvidia_raid_member", map[int64]string{(sectors - 2) * 512: "NVIDIA"}},
		{"LSI", "lsi_mega_raid_member", map[int64]string{(sectors - 1) * 512: "$XIDE$"}},
		{"Adaptec", "adaptec_raid_member", map[int64]string{(sectors - 1) * 512: "DPTM"}},
		{"Silicon Image", "silicon_medley_raid_member", map[int64]string{(sectors-1)*512 + 0x60: "\x00\x00\x00\x2f"}},
		{"HighPoint", "hpt37x_raid_member", map[int64]string{9*512 + 32: "\xf0\x16\x78\x5a"}},
		{"HighPoint 45x", "hpt45x_raid_member", map[int64]string{(sectors - 11) * 512: "\xf3\x16\x78\x5a"}},
		{"JMicron", "jmicron_raid_member", map[int64]string{(sectors - 1) * 512: string(jm)}},
		{"VIA", "via_raid_member", map[int64]string{(sectors - 1) * 512: string(via)}},
	} {
		found, err := Scan(&blank{testSize, tt.at}, testSize)
		if err != nil || !slices.Equal(types(found), []string{tt.want}) {
			t.Errorf("%s: found %v, %v, want %s", tt.name, found, err, tt.want)
		}
	}
}

// What a benchmark leaves on a drive must not look like somebody's data.
func TestRandomDataAreNothing(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{7})
	b := make([]byte, 8<<20)
	for range 8 {
		rng.Read(b)
		if found, err := Scan(bytes.NewReader(b), int64(len(b))); err != nil || len(found) > 0 {
			t.Errorf("in random bytes: %v, %v", found, err)
		}
	}
}

func TestBlankAndTiny(t *testing.T) {
	for _, size := range []int64{1, 511, 512, 4096, 64 << 10, 100<<10 + 1, testSize} {
		if found, err := Scan(&blank{size: size}, size); err != nil || len(found) > 0 {
			t.Errorf("%d bytes of zeros: %v, %v", size, found, err)
		}
	}
	if _, err := Scan(&blank{}, 0); err == nil {
		t.Error("a device of no bytes is scanned")
	}
}

type broken struct{ from int64 }

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.from {
		return 0, errors.New("unreadable")
	}
	clear(p)
	return len(p), nil
}

// A drive whose end cannot be read is not empty.
func TestUnreadable(t *testing.T) {
	for _, from := range []int64{0, 64 << 10, testSize - 1} {
		if found, err := Scan(broken{from}, testSize); err == nil || !strings.Contains(err.Error(), "unreadable") {
			t.Errorf("unreadable from %d on: %v, %v", from, found, err)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, m := range magics {
		if m.off < 256<<10 {
			b := make([]byte, m.off+int64(len(m.bytes))+64)
			copy(b[m.off:], m.bytes)
			f.Add(b)
		}
	}
	lvm := make([]byte, 8192)
	copy(lvm[512:], "LABELONE")
	copy(lvm[532:], "\x20\x00\x00\x00LVM2 001")
	f.Add(lvm)
	f.Fuzz(func(t *testing.T, b []byte) {
		found, err := Scan(bytes.NewReader(b), int64(len(b)))
		if err != nil && len(b) > 0 {
			t.Fatal(err)
		}
		for _, x := range found {
			if x.Type == "" || x.Kind == "" || x.Offset < 0 || x.Offset >= int64(len(b)) {
				t.Errorf("found %+v in %d bytes", x, len(b))
			}
			if strings.ContainsRune(x.Label+x.Name, 0) {
				t.Errorf("a NUL in %+v", x)
			}
		}
	})
}
