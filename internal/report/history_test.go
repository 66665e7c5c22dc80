package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nativ/internal/job"
	"nativ/internal/record"
)

// past is a history of two drives and of runs that need a remark. All of it is
// invented.
func past() []record.RunSummary {
	phases := []job.Phase{
		{Name: job.RandWrite4K, Mode: job.RandWrite, BlockSize: 4096, IODepth: 32, NumJobs: 4, Direct: true},
		{Name: job.Write128K, Mode: job.Write, BlockSize: 128 << 10, IODepth: 8, NumJobs: 2, Direct: true},
	}
	var runs []record.RunSummary
	for i := range 24 {
		at := time.Date(2026, 3, 1+7*i, 12, 0, 0, 0, time.Local)
		r := record.RunSummary{
			ID: record.NewID(at, uint16(i)), Started: at.UTC(), Origin: record.OriginMeasured, Tool: "nativ 0.3.0", Preset: "standard",
			Places: []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}, Complete: true, Kernel: "6.8.12-1-pve", PVE: "8.4.1",
			OS: "Debian GNU/Linux 12 (bookworm)", CPU: "a CPU", Filesystem: "ext4 lvm",
			Drives: []record.DriveSummary{{
				Key: "23171F800123", Name: "nvme0n1", Model: "WD_BLACK SN770 1TB", Serial: "23171F800123", Firmware: "731100WD",
				Size: 1_000_204_886_016, LinkMTs: new(16000), LinkWidth: new(4), PercentageUsed: new(int64(2 + i/5)), AvailableSpare: new(int64(100)),
				WrittenBytes: new(int64(31e12 + float64(i)*1.3e12)), PowerOnHours: new(int64(4000 + 168*i)), MediaErrors: new(int64(i / 20)),
			}},
		}
		if i >= 13 {
			r.Kernel, r.PVE, r.OS = "6.14.11-2-pve", "9.0.10", "Debian GNU/Linux 13 (trixie)"
		}
		wobble := 1 + 0.008*math.Sin(float64(i*i))
		for k, ph := range phases {
			for j, place := range r.Places {
				iops := []float64{498_200, 24_612}[k] * []float64{1, 0.89, 0.88}[j] * wobble
				if k == 0 && i >= 13 {
					iops *= 0.93
				}
				set := record.Setting{Phase: ph, Place: place, FileSize: 8 << 30}
				if place != record.PlaceHost {
					set.CPUs = 4
				}
				r.Numbers = append(r.Numbers, record.Number{Setting: set, Passes: 16, Planned: 16, IOPS: &iops, BytesPerSec: new(iops * float64(ph.BlockSize))})
			}
		}
		runs = append(runs, r)
	}
	runs[3].Tags = []string{"new heatsink", "before the move to the other case and much more than fits"}
	runs[3].Note = "Lüfter aus"
	runs[5].Origin = record.OriginSimulated
	runs[6].Complete, runs[6].FromFile = false, true
	runs[8].Origin, runs[8].Drives, runs[8].Preset, runs[8].FromFile = record.OriginImported, nil, "fio-json", true
	runs[9].Drives = append(runs[9].Drives, record.DriveSummary{Key: "vdb 32000000000", Name: "vdb", Size: 32e9})
	runs[10].Started = time.Time{}
	return runs
}

func TestHistoryGolden(t *testing.T) {
	runs := past()
	drives := DrivesOf(runs)
	if len(drives) != 2 || len(drives[0].Runs) != 23 || len(drives[1].Runs) != 1 {
		t.Fatalf("%d drives", len(drives))
	}
	for _, lang := range Langs() {
		for name, d := range map[string]*Document{
			"list": History(runs, lang), "none": History(nil, lang), "run": HistoryRun(&runs[3], lang), "drives": HistoryDrives(drives, lang),
			"drive": HistoryDrive(&drives[0], lang, false), "drive.details": HistoryDrive(&drives[0], lang, true),
			"young": HistoryDrive(&DriveRuns{drives[0].Drive, drives[0].Runs[:4]}, lang, false), "other": HistoryDrive(&drives[1], lang, false),
		} {
			var b bytes.Buffer
			if err := Text(&b, d, Width); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			golden(t, fmt.Sprintf("history.%s.%s.txt", name, lang), got)
			for line := range strings.SplitSeq(got, "\n") {
				if n := utf8.RuneCountInString(line); n > Width {
					t.Errorf("%s %s has %d columns: %s", name, lang, n, line)
				}
			}
			for _, bad := range []string{"%!", "NaN", "0001-01", "01.0001", "23171F800123", glue} {
				if strings.Contains(got, bad) {
					t.Errorf("%s %s contains %q", name, lang, bad)
				}
			}
		}
	}
}

// TestHistoryIsPrintable plants escape sequences in everything that comes from
// outside.
func TestHistoryIsPrintable(t *testing.T) {
	const evil = "\x1b]0;x\x07a\nb\u202e"
	runs := past()
	for i := range runs {
		r := &runs[i]
		r.Preset, r.Note, r.Tags = evil, evil, []string{evil}
		for k := range r.Drives {
			d := &r.Drives[k]
			d.Name, d.Model, d.Firmware = evil, evil, evil
		}
		for k := range r.Numbers {
			r.Numbers[k].Setting.Phase.Name, r.Numbers[k].Setting.Place = evil, evil
		}
		if i > 12 {
			r.Kernel, r.Filesystem = evil, evil+" "+evil
		}
	}
	drives := DrivesOf(runs)
	for _, d := range []*Document{History(runs, "en"), HistoryRun(&runs[0], "en"), HistoryDrives(drives, "en"), HistoryDrive(&drives[0], "en", true)} {
		var b bytes.Buffer
		if err := Text(&b, d, Width); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\x07\u202e") {
			t.Errorf("escape sequences in\n%q", b.String())
		}
	}
}
