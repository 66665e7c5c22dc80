package host

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

// memoryStructure is a type 17 of the given length with these words and bytes at
// their offsets, and a string.
func memoryStructure(length int, kind byte, words map[int]int) []byte {
	b := make([]byte, max(length, memExtendedConf+4))
	b[0], b[1], b[memType] = dmiMemoryDevice, byte(length), kind
	for at, v := range words {
		if at == memExtendedSize || at == memExtendedSpeed || at == memExtendedConf {
			binary.LittleEndian.PutUint32(b[at:], uint32(v))
		} else {
			binary.LittleEndian.PutUint16(b[at:], uint16(v))
		}
	}
	return append(b[:length:length], "DIMM 0\x00\x00"...)
}

// ddr5 is a BIOS structure, a module of 16 GiB, an empty slot and the end.
var ddr5 = func() []byte {
	b := append([]byte{0, 5, 0, 0, 1}, "x\x00y\x00\x00"...)
	b = append(b, memoryStructure(0x5c, 0x22, map[int]int{memSize: 16384, memSpeed: 5600, memConfigured: 5200})...)
	b = append(b, memoryStructure(0x5c, 0x22, nil)...)
	return append(b, dmiEnd, 4, 0, 0, 0, 0)
}()

func TestParseSMBIOS(t *testing.T) {
	for name, c := range map[string]struct {
		table []byte
		want  []record.MemoryModule
	}{
		"a module and an empty slot": {ddr5, []record.MemoryModule{{SizeBytes: 16 << 30, Type: "DDR5", RatedMTs: new(5600), SpeedMTs: new(5200)}}},
		"32 GiB and more": {memoryStructure(0x28, 0x1a, map[int]int{memSize: 0x7fff, memExtendedSize: 65536, memSpeed: 3200}),
			[]record.MemoryModule{{SizeBytes: 64 << 30, Type: "DDR4", RatedMTs: new(3200)}}},
		"speed beyond 16 bits": {memoryStructure(0x5c, 0x23, map[int]int{memSize: 1024, memSpeed: 0xffff, memExtendedSpeed: 70000}),
			[]record.MemoryModule{{SizeBytes: 1 << 30, Type: "LPDDR5", RatedMTs: new(70000)}}},
		"an old, short one in KiB": {memoryStructure(0x15, 0x0f, map[int]int{memSize: 0x8000 | 512}), []record.MemoryModule{{SizeBytes: 512 << 10, Type: "SDRAM"}}},
		"of a hypervisor":          {memoryStructure(0x28, 0x07, map[int]int{memSize: 2048}), []record.MemoryModule{{SizeBytes: 2 << 30}}},
		"size unknown":             {memoryStructure(0x28, 0x22, map[int]int{memSize: 0xffff}), nil},
		"cut off in the structure": {ddr5[:30], nil},
		"a length of 0":            {[]byte{17, 0, 0, 0, 0, 0}, nil},
		"nothing":                  {nil, nil},
	} {
		if d := cmp.Diff(c.want, parseSMBIOS(c.table)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// The table of this machine, if it has one, makes memory that it could have.
func TestMemoryModulesOfThisMachine(t *testing.T) {
	modules, err := memoryModules(Roots{})
	if err != nil {
		t.Skip(err)
	}
	total, err := memory(Roots{})
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, m := range modules {
		sum += m.SizeBytes
	}
	if sum < total {
		t.Errorf("modules of %d bytes, but the kernel has %d", sum, total)
	}
}

func TestMemoryModulesSayWhy(t *testing.T) {
	if _, err := memoryModules(machine(t, nil)); err == nil || err.Error() != "this machine shows no SMBIOS tables" {
		t.Errorf("got %v", err)
	}
	o := machine(t, map[string]string{"sys/firmware/dmi/tables/DMI": "x"})
	if _, err := memoryModules(o); err == nil || err.Error() != "the SMBIOS tables name no memory module" {
		t.Errorf("got %v", err)
	}
	if os.Geteuid() == 0 {
		return // root may read anything
	}
	if err := os.Chmod(o.sys("firmware/dmi/tables/DMI"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := memoryModules(o); err == nil || err.Error() != "only root may read the SMBIOS tables" {
		t.Errorf("got %v", err)
	}
}

func FuzzParseSMBIOS(f *testing.F) {
	f.Add(ddr5)
	f.Add(memoryStructure(0x28, 0x1a, map[int]int{memSize: 0x7fff, memExtendedSize: 65536}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range parseSMBIOS(b) {
			if m.SizeBytes <= 0 || m.SpeedMTs != nil && *m.SpeedMTs <= 0 || m.RatedMTs != nil && *m.RatedMTs <= 0 {
				t.Errorf("module %+v", m)
			}
		}
	})
}
