package sys

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Lengths of what an NVMe controller answers, in bytes.
const (
	HealthLogLen = 512
	IdentifyLen  = 4096
)

// A HealthLog is the SMART / Health Information log page (02h; NVM Express base
// specification 2.0, 5.16.1.3), in the specification's own units. Its counters
// have 128 bits; what 64 do not hold is math.MaxUint64.
type HealthLog struct {
	CriticalWarning uint8
	CompositeK      uint16    // kelvin
	SensorsK        [8]uint16 // sensors 1 to 8 in kelvin; 0 is not implemented
	// AvailableSpare, SpareThreshold and PercentageUsed are in percent.
	AvailableSpare, SpareThreshold, PercentageUsed uint8
	// DataUnitsRead and DataUnitsWritten are thousands of 512 bytes, rounded up.
	DataUnitsRead, DataUnitsWritten uint64
	ReadCommands, WriteCommands     uint64
	BusyMinutes                     uint64
	PowerCycles, PowerOnHours       uint64
	UnsafeShutdowns, MediaErrors    uint64
	ErrorLogEntries                 uint64
	WarningMinutes, CriticalMinutes uint32
	// TMT1 and TMT2 are the light and the heavy thermal management that the
	// host asked for.
	TMT1Transitions, TMT2Transitions uint32
	TMT1Seconds, TMT2Seconds         uint32
}

// ParseHealth parses log page 02h. It judges nothing: a temperature of 0 K and
// one of FFFFh are what the drive said.
func ParseHealth(b []byte) (HealthLog, error) {
	if len(b) < HealthLogLen {
		return HealthLog{}, fmt.Errorf("parse health log: %d bytes, want %d", len(b), HealthLogLen)
	}
	le := binary.LittleEndian
	h := HealthLog{
		CriticalWarning:  b[0],
		CompositeK:       le.Uint16(b[1:]), // not aligned
		AvailableSpare:   b[3],
		SpareThreshold:   b[4],
		PercentageUsed:   b[5],
		DataUnitsRead:    saturated128(b[32:]),
		DataUnitsWritten: saturated128(b[48:]),
		ReadCommands:     saturated128(b[64:]),
		WriteCommands:    saturated128(b[80:]),
		BusyMinutes:      saturated128(b[96:]),
		PowerCycles:      saturated128(b[112:]),
		PowerOnHours:     saturated128(b[128:]),
		UnsafeShutdowns:  saturated128(b[144:]),
		MediaErrors:      saturated128(b[160:]),
		ErrorLogEntries:  saturated128(b[176:]),
		WarningMinutes:   le.Uint32(b[192:]),
		CriticalMinutes:  le.Uint32(b[196:]),
		TMT1Transitions:  le.Uint32(b[216:]),
		TMT2Transitions:  le.Uint32(b[220:]),
		TMT1Seconds:      le.Uint32(b[224:]),
		TMT2Seconds:      le.Uint32(b[228:]),
	}
	for i := range h.SensorsK {
		h.SensorsK[i] = le.Uint16(b[200+2*i:])
	}
	return h, nil
}

func saturated128(b []byte) uint64 {
	if binary.LittleEndian.Uint64(b[8:]) != 0 {
		return math.MaxUint64
	}
	return binary.LittleEndian.Uint64(b)
}

// A ControllerIdentity is what of Identify Controller (CNS 01h; 5.17.2.1) a
// benchmark needs. Temperatures are in kelvin; 0 is not reported.
type ControllerIdentity struct {
	Serial, Model, Firmware string
	// Version is major, minor and tertiary; all 0 before NVMe 1.2.
	Version        [3]int
	WCTEMP, CCTEMP uint16
	// HCTM is whether the host may set thermal management, between MNTMT and
	// MXTMT.
	HCTM         bool
	MNTMT, MXTMT uint16
	APST         bool // the controller may change its power state by itself
	// CapacityBytes is TNVMCAP; 0 where there is no namespace management.
	CapacityBytes uint64
	PowerStates   []PowerStateDescriptor
}

// A PowerStateDescriptor is that of one power state (5.17.2.1, figure 276).
type PowerStateDescriptor struct {
	// MaxPowerUW is in microwatts; 0 is not reported.
	MaxPowerUW     uint64
	NonOperational bool
	// EntryLatencyUS and ExitLatencyUS are in microseconds.
	EntryLatencyUS, ExitLatencyUS uint32
}

// ParseIdentifyController parses the answer to Identify with CNS 01h.
func ParseIdentifyController(b []byte) (ControllerIdentity, error) {
	if len(b) < IdentifyLen {
		return ControllerIdentity{}, fmt.Errorf("parse identify controller: %d bytes, want %d", len(b), IdentifyLen)
	}
	le := binary.LittleEndian
	v := le.Uint32(b[80:])
	c := ControllerIdentity{
		Serial: asciiField(b[4:24]), Model: asciiField(b[24:64]), Firmware: asciiField(b[64:72]),
		Version: [3]int{int(v >> 16), int(v >> 8 & 0xff), int(v & 0xff)},
		WCTEMP:  le.Uint16(b[266:]), CCTEMP: le.Uint16(b[268:]),
		HCTM:  b[322]&1 != 0, // HCTMA
		MNTMT: le.Uint16(b[324:]), MXTMT: le.Uint16(b[326:]),
		APST:          b[265]&1 != 0, // APSTA
		CapacityBytes: saturated128(b[280:]),
	}
	// NPSS counts from 0, and there is room for 32.
	for i := range min(int(b[263]), 31) + 1 {
		d := b[2048+32*i:]
		power := uint64(le.Uint16(d)) * 10_000 // MP in 0.01 W
		if d[3]&1 != 0 {
			power = uint64(le.Uint16(d)) * 100 // MXPS: in 0.0001 W
		}
		c.PowerStates = append(c.PowerStates, PowerStateDescriptor{
			MaxPowerUW: power, NonOperational: d[3]&2 != 0,
			EntryLatencyUS: le.Uint32(d[4:]), ExitLatencyUS: le.Uint32(d[8:]),
		})
	}
	return c, nil
}

// asciiField is a text that is filled up with blanks, without what no terminal
// should be sent.
func asciiField(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(b)))
}

// Features that Get Features reads (5.27.1).
const (
	FeaturePowerManagement = 0x02
	FeatureTemperature     = 0x04
	FeatureAPST            = 0x0c
	FeatureHCTM            = 0x10
)

// Parts of dword 11 with FeatureTemperature: TMPSEL is 0 for the composite
// temperature, and THSEL is one of these.
const (
	ThresholdOver  = 0 << 20
	ThresholdUnder = 1 << 20
)

// PowerStateOf is the power state in the result of FeaturePowerManagement.
func PowerStateOf(result uint32) int { return int(result & 0x1f) }

// ThresholdOf is the threshold in the result of FeatureTemperature, in kelvin.
func ThresholdOf(result uint32) uint16 { return uint16(result) }

// APSTOf is whether autonomous power state transitions are on.
func APSTOf(result uint32) bool { return result&1 != 0 }

// HCTMOf are both temperatures of FeatureHCTM in kelvin; 0 is disabled.
func HCTMOf(result uint32) (tmt1, tmt2 uint16) { return uint16(result >> 16), uint16(result) }

// A StatusError is the status with which an NVMe controller refused a command.
type StatusError struct {
	Op string // "get log page 02h"
	// Status is the status field without the phase tag, as the ioctl returns it.
	Status uint16
}

// SCT and SC are the status code type and the status code.
func (e *StatusError) SCT() uint8 { return uint8(e.Status >> 8 & 7) }
func (e *StatusError) SC() uint8  { return uint8(e.Status) }

// Error names what the specification calls the usual ones (4.2.3).
func (e *StatusError) Error() string {
	s := fmt.Sprintf("%s: the drive answers NVMe status %#x (type %d, code %02Xh)", e.Op, e.Status, e.SCT(), e.SC())
	if name := statusNames[e.Status&0x7ff]; name != "" {
		s += ": " + name
	}
	return s
}

// statusNames are those that Get Log Page, Get Features and Identify meet.
var statusNames = map[uint16]string{
	0x001: "invalid command opcode",
	0x002: "invalid field in command",
	0x004: "data transfer error",
	0x006: "internal error",
	0x007: "command abort requested",
	0x00b: "invalid namespace or format",
	0x109: "invalid log page",
	// Made by the kernel (include/linux/nvme.h).
	0x370: "the host lost the path to the drive",
	0x371: "the host cancelled the command",
}
