package sys

import (
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixture is what QEMU's emulated NVMe drive answered.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseHealth(t *testing.T) {
	le := binary.LittleEndian
	page := fixture(t, "smart-log.bin")
	base := HealthLog{CompositeK: 323, DataUnitsRead: 1, ReadCommands: 4}
	for _, tt := range []struct {
		name string
		set  func(b []byte)
		want func(h *HealthLog)
	}{
		{"as recorded", func([]byte) {}, func(*HealthLog) {}},
		{"0 K", func(b []byte) { le.PutUint16(b[1:], 0) }, func(h *HealthLog) { h.CompositeK = 0 }},
		{"FFFFh", func(b []byte) { le.PutUint16(b[1:], 0xffff) }, func(h *HealthLog) { h.CompositeK = 0xffff }},
		{"a gap in the sensors", func(b []byte) { le.PutUint16(b[202:], 354) }, func(h *HealthLog) { h.SensorsK[1] = 354 }},
		{"the last sensor", func(b []byte) { le.PutUint16(b[214:], 300) }, func(h *HealthLog) { h.SensorsK[7] = 300 }},
		{"warning bits and wear", func(b []byte) { copy(b, []byte{0x2b, 0x43, 1, 90, 10, 255}) },
			func(h *HealthLog) {
				h.CriticalWarning, h.AvailableSpare, h.SpareThreshold, h.PercentageUsed = 0x2b, 90, 10, 255
			}},
		{"64 bits full", func(b []byte) { le.PutUint64(b[48:], math.MaxUint64) }, func(h *HealthLog) { h.DataUnitsWritten = math.MaxUint64 }},
		{"beyond 64 bits", func(b []byte) { b[56] = 1 }, func(h *HealthLog) { h.DataUnitsWritten = math.MaxUint64 }},
		{"all counters", func(b []byte) {
			for i := range 9 {
				b[64+16*i] = byte(i + 1)
			}
			b[32] = 21
		}, func(h *HealthLog) {
			h.DataUnitsRead = 21
			h.ReadCommands, h.WriteCommands, h.BusyMinutes, h.PowerCycles = 1, 2, 3, 4
			h.PowerOnHours, h.UnsafeShutdowns, h.MediaErrors, h.ErrorLogEntries = 5, 6, 7, 8
			h.WarningMinutes = 9
		}},
		{"times and transitions", func(b []byte) {
			le.PutUint32(b[192:], 1)
			le.PutUint32(b[196:], 8)
			le.PutUint32(b[216:], 26)
			le.PutUint32(b[220:], 3)
			le.PutUint32(b[224:], 16659)
			le.PutUint32(b[228:], math.MaxUint32)
		}, func(h *HealthLog) {
			h.WarningMinutes, h.CriticalMinutes = 1, 8
			h.TMT1Transitions, h.TMT2Transitions, h.TMT1Seconds, h.TMT2Seconds = 26, 3, 16659, math.MaxUint32
		}},
	} {
		b, want := append([]byte(nil), page...), base
		tt.set(b)
		tt.want(&want)
		got, err := ParseHealth(b)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	for _, n := range []int{0, 1, 511} {
		if _, err := ParseHealth(page[:n]); err == nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
}

func FuzzParseHealth(f *testing.F) {
	f.Add(fixture(f, "smart-log.bin"))
	f.Add([]byte{0, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ParseHealth(b); (err == nil) != (len(b) >= HealthLogLen) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	})
}

func TestParseIdentifyController(t *testing.T) {
	le := binary.LittleEndian
	page := fixture(t, "id-ctrl.bin")
	base := ControllerIdentity{
		Serial: "TESTNVME0001", Model: "QEMU NVMe Ctrl", Firmware: "7.2.22", Version: [3]int{1, 4, 0},
		WCTEMP: 343, CCTEMP: 373,
		PowerStates: []PowerStateDescriptor{{MaxPowerUW: 25_000_000, EntryLatencyUS: 16, ExitLatencyUS: 4}},
	}
	for _, tt := range []struct {
		name string
		set  func(b []byte)
		want func(c *ControllerIdentity)
	}{
		{"as recorded", func([]byte) {}, func(*ControllerIdentity) {}},
		{"no thresholds", func(b []byte) { clear(b[266:270]) }, func(c *ControllerIdentity) { c.WCTEMP, c.CCTEMP = 0, 0 }},
		{"HCTM with limits of 0", func(b []byte) { b[322] = 1 }, func(c *ControllerIdentity) { c.HCTM = true }},
		{"limits", func(b []byte) { b[322] = 1; le.PutUint16(b[324:], 273); le.PutUint16(b[326:], 357) },
			func(c *ControllerIdentity) { c.HCTM, c.MNTMT, c.MXTMT = true, 273, 357 }},
		{"autonomous transitions", func(b []byte) { b[265] = 1 }, func(c *ControllerIdentity) { c.APST = true }},
		{"capacity", func(b []byte) { le.PutUint64(b[280:], 2_000_398_934_016) }, func(c *ControllerIdentity) { c.CapacityBytes = 2_000_398_934_016 }},
		{"capacity beyond 64 bits", func(b []byte) { b[295] = 1 }, func(c *ControllerIdentity) { c.CapacityBytes = math.MaxUint64 }},
		{"before NVMe 1.2", func(b []byte) { clear(b[80:84]) }, func(c *ControllerIdentity) { c.Version = [3]int{} }},
		{"names with what no terminal should see", func(b []byte) { copy(b[24:], "A\x1b[2J\xffB\x00C") }, func(c *ControllerIdentity) { c.Model = "A?[2J?B" }},
		{"a state in units of 0.1 mW that does no I/O, one that tells no power", func(b []byte) {
			b[263] = 2
			le.PutUint16(b[2048+32:], 50)
			b[2048+32+3] = 3
			le.PutUint32(b[2048+32+4:], 2000)
		}, func(c *ControllerIdentity) {
			c.PowerStates = append(c.PowerStates, PowerStateDescriptor{MaxPowerUW: 5000, NonOperational: true, EntryLatencyUS: 2000}, PowerStateDescriptor{})
		}},
	} {
		b, want := append([]byte(nil), page...), base
		tt.set(b)
		tt.want(&want)
		got, err := ParseIdentifyController(b)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if _, err := ParseIdentifyController(page[:4095]); err == nil {
		t.Error("4095 bytes were taken")
	}
}

func FuzzParseIdentifyController(f *testing.F) {
	f.Add(fixture(f, "id-ctrl.bin"), byte(255))
	f.Fuzz(func(t *testing.T, b []byte, states byte) {
		if len(b) > 263 {
			b[263] = states
		}
		c, err := ParseIdentifyController(b)
		if (err == nil) != (len(b) >= IdentifyLen) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err == nil && (len(c.PowerStates) < 1 || len(c.PowerStates) > 32) {
			t.Fatalf("%d power states", len(c.PowerStates))
		}
		for _, s := range []string{c.Model, c.Serial, c.Firmware} {
			if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("%q", s)
			}
		}
	})
}

func TestFeatureResults(t *testing.T) {
	if got := PowerStateOf(0x63); got != 3 { // workload hint 3, state 3
		t.Errorf("power state %d", got)
	}
	if got := ThresholdOf(ThresholdUnder | 343); got != 343 {
		t.Errorf("threshold %d", got)
	}
	if !APSTOf(1) || APSTOf(0) {
		t.Error("APST")
	}
	if a, b := HCTMOf(350<<16 | 355); a != 350 || b != 355 {
		t.Errorf("HCTM %d, %d", a, b)
	}
}

func TestStatusError(t *testing.T) {
	for status, want := range map[uint16]string{
		0x4002: "get log page 02h: the drive answers NVMe status 0x4002 (type 0, code 02h): invalid field in command", // do not retry
		0x0109: "get log page 02h: the drive answers NVMe status 0x109 (type 1, code 09h): invalid log page",
		0x07ff: "get log page 02h: the drive answers NVMe status 0x7ff (type 7, code FFh)",
	} {
		if got := (&StatusError{Op: "get log page 02h", Status: status}).Error(); got != want {
			t.Errorf("%s", got)
		}
	}
}
