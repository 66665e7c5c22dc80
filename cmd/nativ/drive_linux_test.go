package main

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

func TestAskNotes(t *testing.T) {
	heat := job.Preset{Name: "heat", Order: job.OrderHeat}
	for _, tt := range []struct {
		name     string
		preset   job.Preset
		terminal bool
		yes      bool
		given    map[string]string
		answers  string
		want     map[string]string
		asked    int
	}{
		{"all of them", heat, true, false, nil, "none\n22.5\nmidi, 3 fans\n", map[string]string{"heatsink": "none", "ambient": "22.5", "case": "midi, 3 fans"}, 3},
		{"skipped", heat, true, false, nil, "\n  \nmidi\n", map[string]string{"case": "midi"}, 3},
		{"given before", heat, true, false, map[string]string{"heatsink": "board", "x": "y"}, "21\n\n", map[string]string{"heatsink": "board", "x": "y", "ambient": "21"}, 2},
		{"with --yes", heat, true, true, nil, "", map[string]string{}, 0},
		{"without a terminal", heat, false, false, nil, "", map[string]string{}, 0},
		{"a comparison", job.Preset{Name: "quick"}, true, false, nil, "", map[string]string{}, 0},
	} {
		var said bytes.Buffer
		rec := &record.Record{Notes: map[string]string{}}
		maps.Copy(rec.Notes, tt.given)
		s := &session{e: &env{stderr: &said, terminal: tt.terminal}, f: benchFlags{yes: tt.yes}, lang: "en", rec: rec, preset: tt.preset,
			in: bufio.NewReader(strings.NewReader(tt.answers))}
		if err := s.askNotes(t.Context()); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if asked := strings.Count(said.String(), ": "); asked != tt.asked || !maps.Equal(rec.Notes, tt.want) {
			t.Errorf("%s: asked %d times (%s), notes %v, want %v", tt.name, asked, said.String(), rec.Notes, tt.want)
		}
	}
}

func TestCeilingOfDrives(t *testing.T) {
	nvme := func(cctemp int64) record.Drive {
		d := record.Drive{Name: "nvme0n1", TemperatureFound: true, NVMe: &record.NVMe{}}
		if cctemp > 0 {
			d.NVMe.CriticalMC = &cctemp
		}
		return d
	}
	sata := record.Drive{Name: "sda", TemperatureFound: true}
	heat := job.Preset{Name: "heat", Ceiling: true}
	for _, tt := range []struct {
		name   string
		preset job.Preset
		asked  float64
		drives []record.Drive
		want   int64 // 0 is none
		own    bool
		code   int
	}{
		{"none asked for", job.Quick(), 0, []record.Drive{nvme(87_850)}, 0, false, 0},
		{"asked for", job.Quick(), 72.5, []record.Drive{nvme(87_850)}, 72_500, false, 0},
		{"heat", heat, 0, []record.Drive{nvme(87_850)}, 87_850, true, 0},
		{"heat and asked for", heat, 70, []record.Drive{nvme(87_850)}, 70_000, false, 0},
		{"the lowest of several drives", heat, 0, []record.Drive{nvme(88_850), nvme(84_850), nvme(0)}, 84_850, true, 0},
		{"no threshold", heat, 0, []record.Drive{nvme(0)}, 0, false, exitUsage},
		{"SATA says none", heat, 0, []record.Drive{sata}, 0, false, exitUsage},
		{"SATA, asked for", heat, 60, []record.Drive{sata}, 60_000, false, 0},
		{"no temperature", heat, 0, []record.Drive{{Name: "vda"}}, 0, false, exitMissing},
		{"no temperature, asked for", job.Quick(), 60, []record.Drive{{Name: "vda"}}, 0, false, exitMissing},
	} {
		s := &session{preset: tt.preset, f: benchFlags{maxTemp: tt.asked, maxTempAsked: tt.asked != 0},
			rec: &record.Record{Target: record.Target{Drives: tt.drives}}}
		got, err := s.ceiling()
		code := 0
		if x := (*exitError)(nil); errors.As(err, &x) {
			code = x.code
		}
		if code != tt.code || (got == nil) != (tt.want == 0) || got != nil && *got != tt.want || s.ownCeiling != tt.own {
			t.Errorf("%s: %v, own %t, exit code %d (%v)", tt.name, got, s.ownCeiling, code, err)
		}
	}
}

func TestLinkRate(t *testing.T) {
	link := func(mts, width int) record.Drive {
		return record.Drive{Link: &record.Link{SpeedMTs: mts, Width: width}}
	}
	for _, tt := range []struct {
		drives []record.Drive
		want   int64
	}{
		{nil, 0}, {[]record.Drive{link(32000, 4)}, 16e9}, {[]record.Drive{link(8000, 4), link(16000, 2)}, 8e9}, {[]record.Drive{link(8000, 4), {}}, 0},
	} {
		if got := linkRate(tt.drives); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.drives, got, tt.want)
		}
	}
}
