package sensor

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

func ptr[T any](v T) *T { return &v }

// The first line is of a real virtio disk, Linux 6.18.
const stat17 = "  289027    27174  9471578   534152   342401    94652 30861344   523163        2    33512  1060149     7760       30  4553232     1211    23698     1621\n"

func TestParseStat(t *testing.T) {
	want := record.DeviceCounters{
		ReadIOs: 289027, ReadBytes: 9471578 * 512,
		WriteIOs: 342401, WriteBytes: 30861344 * 512,
		FlushIOs:   ptr(int64(23698)),
		ReadMerges: ptr(int64(27174)), WriteMerges: ptr(int64(94652)),
		ReadNS: ptr(int64(534152e6)), WriteNS: ptr(int64(523163e6)),
		BusyNS: 33512e6, QueueNS: 1060149e6,
	}
	f := strings.Fields(stat17)
	old := want
	old.FlushIOs = nil
	for _, tt := range []struct {
		in   string
		want record.DeviceCounters
	}{
		{stat17, want},
		{stat17[:len(stat17)-1] + " 7 8\n", want}, // a kernel to come
		{strings.Join(f[:15], " "), old},
		{strings.Join(f[:11], " "), old},
	} {
		got, err := parseStat(tt.in)
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q:\n%s", tt.in, diff)
		}
	}
	for _, in := range []string{
		"", "\n", "0",
		strings.Join(f[:10], " "), strings.Join(f[:12], " "), strings.Join(f[:16], " "),
		strings.Replace(stat17, "27174", "x", 1),
		strings.Replace(stat17, "27174", "-1", 1),
		strings.Replace(stat17, "27174", "18446744073709551615", 1),
		strings.Replace(stat17, "9471578", fmt.Sprint(math.MaxInt64/512+1), 1),
	} {
		if c, err := parseStat(in); err == nil {
			t.Errorf("%q was taken: %+v", in, c)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add(stat17)
	f.Add("1 2 3 4 5 6 7 8 9 10 11")
	f.Add("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15")
	f.Fuzz(func(t *testing.T, in string) {
		c, err := parseStat(in)
		if err != nil {
			return
		}
		for _, n := range []int64{c.ReadIOs, c.ReadBytes, c.WriteIOs, c.WriteBytes, c.BusyNS, c.QueueNS} {
			if n < 0 {
				t.Fatalf("%q: negative counter in %+v", in, c)
			}
		}
		if c.ReadBytes%512 != 0 || c.BusyNS%1e6 != 0 {
			t.Fatalf("%q: wrong unit in %+v", in, c)
		}
	})
}

// The kernel's 32 bits of milliseconds must not show as time that ran backwards.
func TestTicksWrap(t *testing.T) {
	roots := makeTree(t, map[string]string{"sys/block/sda/queue/iostats": "1\n"})
	stat := filepath.Join(roots.Sys, "block/sda/stat")
	set := func(busy, queue uint32) {
		write(t, stat, fmt.Sprintf("1 0 8 %d 1 0 8 1 0 %d %d\n", queue, busy, queue))
	}
	read := func(d *Device) record.DeviceCounters {
		var s record.Sample
		must(t, d.Read(&s))
		return s.Devices["sda"]
	}
	set(100, math.MaxUint32-9)
	d := NewDevice(roots, "sda")
	a := read(d)
	set(150, 10)
	b := read(d)
	set(200, 5) // once more
	c := read(d)
	if b.BusyNS-a.BusyNS != 50e6 || b.QueueNS-a.QueueNS != 20e6 {
		t.Errorf("over the wrap: busy %d, queue %d ns", b.BusyNS-a.BusyNS, b.QueueNS-a.QueueNS)
	}
	if *b.ReadNS-*a.ReadNS != 20e6 {
		t.Errorf("over the wrap: reads took %d ns", *b.ReadNS-*a.ReadNS)
	}
	if want := int64(1<<32-5) * 1e6; c.QueueNS-b.QueueNS != want {
		t.Errorf("second wrap: queue %d ns, want %d", c.QueueNS-b.QueueNS, want)
	}
}

func TestDevice(t *testing.T) {
	multi := "1 0 8 1 1 0 16 1 0 5 6 0 0 0 0 2 0\n"
	zero := strings.Repeat("0 ", 17) + "\n"
	tests := []struct {
		name, drive string
		files       map[string]string
		want        *record.DeviceCounters // nil: missing
	}{
		{"plain", "sda", map[string]string{"sys/block/sda/stat": multi, "sys/block/sda/queue/iostats": "1\n"},
			&record.DeviceCounters{ReadIOs: 1, ReadBytes: 8 * 512, WriteIOs: 1, WriteBytes: 16 * 512, FlushIOs: ptr(int64(2)), BusyNS: 5e6, QueueNS: 6e6,
				ReadMerges: ptr(int64(0)), WriteMerges: ptr(int64(0)), ReadNS: ptr(int64(1e6)), WriteNS: ptr(int64(1e6))}},
		{"no flag", "sda", map[string]string{"sys/block/sda/stat": "0 0 0 0 0 0 0 0 0 0 0"},
			&record.DeviceCounters{ReadMerges: ptr(int64(0)), WriteMerges: ptr(int64(0)), ReadNS: ptr(int64(0)), WriteNS: ptr(int64(0))}},
		{"switched off", "sda", map[string]string{"sys/block/sda/stat": multi, "sys/block/sda/queue/iostats": "0\n"}, nil},
		{"not there", "sdb", map[string]string{"sys/block/sda/stat": multi}, nil},
		{"garbage", "sda", map[string]string{"sys/block/sda/stat": "hello"}, nil},
		{"head that does not count", "nvme1n2", map[string]string{
			"sys/block/nvme1n2/stat": zero, "sys/block/nvme1n2/queue/iostats": "0\n",
			"sys/block/nvme1c0n2/stat": multi, "sys/block/nvme1c0n2/queue/iostats": "1\n",
			"sys/block/nvme1c3n2/stat": multi, "sys/block/nvme1c3n2/queue/iostats": "1\n",
			"sys/block/nvme1c0n1/stat": multi, "sys/block/nvme1c0n1/queue/iostats": "1\n", // another namespace
			"sys/block/nvme11c0n2/stat": multi, "sys/block/nvme11c0n2/queue/iostats": "1\n", // another subsystem
		}, &record.DeviceCounters{ReadIOs: 2, ReadBytes: 16 * 512, WriteIOs: 2, WriteBytes: 32 * 512, FlushIOs: ptr(int64(4)), BusyNS: 10e6, QueueNS: 12e6,
			ReadMerges: ptr(int64(0)), WriteMerges: ptr(int64(0)), ReadNS: ptr(int64(2e6)), WriteNS: ptr(int64(2e6))}},
		{"head that counts", "nvme1n1", map[string]string{
			"sys/block/nvme1n1/stat": zero, "sys/block/nvme1n1/queue/iostats": "1\n",
			"sys/block/nvme1c0n1/stat": multi, "sys/block/nvme1c0n1/queue/iostats": "1\n",
		}, &record.DeviceCounters{FlushIOs: ptr(int64(0)),
			ReadMerges: ptr(int64(0)), WriteMerges: ptr(int64(0)), ReadNS: ptr(int64(0)), WriteNS: ptr(int64(0))}},
		{"head and paths switched off", "nvme1n1", map[string]string{
			"sys/block/nvme1n1/stat": zero, "sys/block/nvme1n1/queue/iostats": "0\n",
			"sys/block/nvme1c0n1/stat": multi, "sys/block/nvme1c0n1/queue/iostats": "0\n",
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := NewDevice(makeTree(t, tt.files), tt.drive)
			var s record.Sample
			err := d.Read(&s)
			got, ok := s.Devices[tt.drive]
			if ok != (tt.want != nil) {
				t.Fatalf("read %v, %v; %+v", s.Devices, err, d.Describe())
			}
			if tt.want != nil {
				if diff := cmp.Diff(*tt.want, got); diff != "" {
					t.Error(diff)
				}
			}
			testSource(t, d)
		})
	}
}

// Switched off while a run goes on, counters are missing, not standing still.
func TestDeviceSwitchedOffLater(t *testing.T) {
	roots := makeTree(t, map[string]string{"sys/block/sda/stat": stat17, "sys/block/sda/queue/iostats": "1\n"})
	d := NewDevice(roots, "sda")
	must(t, d.Read(&record.Sample{}))
	write(t, filepath.Join(roots.Sys, "block/sda/queue/iostats"), "0\n")
	var s record.Sample
	if err := d.Read(&s); err == nil || s.Devices != nil {
		t.Errorf("read %v, %v", s.Devices, err)
	}
}
