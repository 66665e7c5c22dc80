package sys

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dmSpec is one line as the kernel writes it, aligned to 8 bytes; at is where it
// begins.
func dmSpec(at int, d DMTarget) []byte {
	b := binary.NativeEndian.AppendUint64(nil, d.Start)
	b = binary.NativeEndian.AppendUint64(b, d.Length)
	b = binary.NativeEndian.AppendUint32(b, 0)
	end := (at + dmSpecLen + len(d.Params) + 1 + 7) / 8 * 8
	b = binary.NativeEndian.AppendUint32(b, uint32(end))
	b = append(b, make([]byte, dmTypeLen)...)
	copy(b[dmTypeAt:], d.Type)
	b = append(b, d.Params...)
	return append(b, make([]byte, end-at-len(b))...)
}

func TestParseDMTargets(t *testing.T) {
	want := []DMTarget{
		{0, 8192, "linear", "259:3 2048"},
		{8192, 4 << 20, "thin-pool", "1 406/4145 2912/10240 - rw discard_passdown queue_if_no_space - 1024"},
	}
	var data []byte
	for _, d := range want {
		data = append(data, dmSpec(len(data), d)...)
	}
	got, err := parseDMTargets(data, 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := parseDMTargets(data, 3); err == nil {
		t.Error("read a line that is not there")
	}
	if _, err := parseDMTargets(data[:len(data)-8], 2); err == nil {
		t.Error("read a line past the end")
	}
	if got, err := parseDMTargets(nil, 0); err != nil || got != nil {
		t.Errorf("an empty table is %v, %v", got, err)
	}
}

func FuzzParseDMTargets(f *testing.F) {
	one := dmSpec(0, DMTarget{0, 8, "thin", "8 7"})
	f.Add(one, uint32(1))
	f.Add(append(bytes.Clone(one), one...), uint32(2))
	f.Add([]byte{}, uint32(1))
	f.Fuzz(func(t *testing.T, data []byte, count uint32) {
		all, err := parseDMTargets(data, count)
		if err == nil && uint32(len(all)) != count {
			t.Errorf("%d lines of %d", len(all), count)
		}
		n := 0
		for _, d := range all {
			n += dmSpecLen + len(d.Params)
		}
		if n > len(data) {
			t.Errorf("%d bytes read from %d", n, len(data))
		}
	})
}
