package main

import (
	"slices"
	"testing"

	"nativ/internal/record"
)

// What makes another run of it is refused, what a reader must know is noted, and
// the rest may change.
func TestResumeComparesTheMachine(t *testing.T) {
	start := func() *record.Record {
		r := &record.Record{Tool: record.Tool{Version: "1"}}
		r.Host = record.Host{Kernel: "6.14", Machine: "x86_64", CPUModel: "c", CPUs: make([]record.CPU, 4), BIOS: new("b"), Governor: new("powersave")}
		r.Target = record.Target{FSType: "ext4", Options: "rw", FreeBytes: 1, Drives: []record.Drive{{
			Name: "nvme0n1", Model: new("m"), Serial: new("s"), Firmware: new("f"), SizeBytes: 1,
		}}}
		return r
	}
	drive := func(r *record.Record) *record.Drive { return &r.Target.Drives[0] }
	for _, tt := range []struct {
		name    string
		change  func(*record.Record)
		refused string
		noted   []string
	}{
		{"nothing", func(*record.Record) {}, "", nil},
		{"free space", func(r *record.Record) { r.Target.FreeBytes = 2 }, "", nil},
		{"kernel", func(r *record.Record) { r.Host.Kernel = "6.15" }, "", []string{"kernel"}},
		{"BIOS and governor", func(r *record.Record) { r.Host.BIOS, r.Host.Governor = nil, new("performance") }, "", []string{"bios", "governor"}},
		{"mount options", func(r *record.Record) { r.Target.Options = "rw,noatime" }, "", []string{"mount-options"}},
		{"nativ", func(r *record.Record) { r.Tool.Version = "2" }, "the version of nativ", nil},
		{"CPU", func(r *record.Record) { r.Host.CPUModel = "d" }, "the CPU", nil},
		{"a CPU fewer", func(r *record.Record) { r.Host.CPUs = r.Host.CPUs[1:] }, "the number of CPUs", nil},
		{"file system", func(r *record.Record) { r.Target.FSType = "xfs" }, "the file system", nil},
		{"serial", func(r *record.Record) { drive(r).Serial = new("t") }, "the serial number of the drive", nil},
		{"no serial", func(r *record.Record) { drive(r).Serial = nil }, "the serial number of the drive", nil},
		{"firmware", func(r *record.Record) { drive(r).Firmware = new("g") }, "the firmware of the drive", nil},
		{"name", func(r *record.Record) { drive(r).Name = "nvme1n1" }, "the name of the drive", nil},
		{"a drive fewer", func(r *record.Record) { r.Target.Drives = nil }, "the number of drives", nil},
	} {
		now := start()
		tt.change(now)
		refused := ""
		if c := otherMachine(start(), now); c != nil {
			refused = c.What
		}
		var noted []string
		for _, c := range changedFacts(start(), now) {
			noted = append(noted, c.What)
		}
		if refused != tt.refused || !slices.Equal(noted, tt.noted) {
			t.Errorf("%s: refused for %q, noted %v; want %q, %v", tt.name, refused, noted, tt.refused, tt.noted)
		}
	}
}
