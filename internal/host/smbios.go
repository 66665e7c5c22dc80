package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"nativ/internal/record"
)

// memoryModules reads the memory modules of the machine from the SMBIOS tables
// that the kernel shows to root (drivers/firmware/dmi-sysfs.c and
// dmi_scan.c, /sys/firmware/dmi/tables). The error says why there are none.
func memoryModules(o Roots) ([]record.MemoryModule, error) {
	name := o.sys("firmware/dmi/tables/DMI")
	b, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, errors.New("only root may read the SMBIOS tables")
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("this machine shows no SMBIOS tables")
	case err != nil:
		return nil, fmt.Errorf("read memory modules: %w", err)
	}
	modules := parseSMBIOS(b)
	if len(modules) == 0 {
		return nil, errors.New("the SMBIOS tables name no memory module")
	}
	return modules, nil
}

// Offsets in an SMBIOS memory device, type 17 (DMTF DSP0134 3.7, 7.18).
const (
	dmiMemoryDevice  = 17
	dmiEnd           = 127
	dmiHeader        = 4
	memSize          = 0x0c // word
	memType          = 0x12 // byte
	memSpeed         = 0x15 // word
	memExtendedSize  = 0x1c // dword, MiB
	memConfigured    = 0x20 // word
	memExtendedSpeed = 0x54 // dword
	memExtendedConf  = 0x58 // dword
)

// memoryTypes are those of the enumeration in DSP0134, 7.18.2, that say
// something.
var memoryTypes = map[byte]string{
	0x0f: "SDRAM", 0x12: "DDR", 0x13: "DDR2", 0x18: "DDR3", 0x1a: "DDR4", 0x1b: "LPDDR", 0x1c: "LPDDR2",
	0x1d: "LPDDR3", 0x1e: "LPDDR4", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3",
}

// parseSMBIOS lists the memory modules in a structure table. It stops at the
// first structure that makes no sense.
func parseSMBIOS(b []byte) []record.MemoryModule {
	var all []record.MemoryModule
	for len(b) >= dmiHeader {
		kind, size := b[0], int(b[1])
		if size < dmiHeader || size > len(b) || kind == dmiEnd {
			break
		}
		if kind == dmiMemoryDevice {
			if m, ok := memoryDevice(b[:size]); ok {
				all = append(all, m)
			}
		}
		// Strings follow, each ended by a zero, the last by two.
		rest := b[size:]
		end := 0
		for end+1 < len(rest) && (rest[end] != 0 || rest[end+1] != 0) {
			end++
		}
		if end+2 > len(rest) {
			break
		}
		b = rest[end+2:]
	}
	return all
}

// memoryDevice reads one type 17; false for an empty slot and an unknown size.
// Fields beyond its length are of later versions of SMBIOS.
func memoryDevice(b []byte) (m record.MemoryModule, ok bool) {
	word := func(at int) int {
		if at+2 > len(b) {
			return 0
		}
		return int(binary.LittleEndian.Uint16(b[at:]))
	}
	dword := func(at int) int {
		if at+4 > len(b) {
			return 0
		}
		return int(binary.LittleEndian.Uint32(b[at:]) &^ (1 << 31)) // the top bit is reserved
	}
	switch size := word(memSize); {
	case size == 0, size == 0xffff:
		return m, false
	case size == 0x7fff:
		m.SizeBytes = int64(dword(memExtendedSize)) << 20
	case size&0x8000 != 0:
		m.SizeBytes = int64(size&0x7fff) << 10
	default:
		m.SizeBytes = int64(size) << 20
	}
	speed := func(at, extended int) *int {
		n := word(at)
		if n == 0xffff {
			n = dword(extended)
		}
		if n == 0 {
			return nil
		}
		return &n
	}
	m.RatedMTs, m.SpeedMTs = speed(memSpeed, memExtendedSpeed), speed(memConfigured, memExtendedConf)
	if memType < len(b) {
		m.Type = memoryTypes[b[memType]]
	}
	return m, m.SizeBytes > 0
}
