package main

import (
	"encoding/json"
	"strings"
	"testing"

	"nativ/internal/record"
)

// What is not installed is named, with the command to get it, and is no failure.
func TestInfoWithoutPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	code, out, errs := call(t, t.TempDir(), "info", "--json")
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var in record.Info
	if err := json.Unmarshal([]byte(out), &in); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{record.CheckLXC, record.CheckFio, record.CheckSmartctl, record.CheckNVMeCLI} {
		for _, c := range in.Checks {
			if c.Code == code && (c.State != record.StateMissing || install("fio") != "" && c.Fix == "") {
				t.Errorf("%s: %+v", code, c)
			}
		}
	}
	code, out, _ = call(t, t.TempDir(), "info", "--lang", "de")
	if code != exitOK || !strings.Contains(out, "lxc-start nicht gefunden") || !strings.Contains(out, "auf host und pinned.") && !strings.Contains(out, "auf host.") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// Every check that the verb makes has a name and a text in both languages.
func TestEveryCheckIsKnown(t *testing.T) {
	in, err := readInfo(t.Context(), []string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range in.Checks {
		if seen[c.Code] {
			t.Errorf("%s is there twice", c.Code)
		}
		seen[c.Code] = true
	}
	if len(seen) != 13 {
		t.Errorf("%d checks: %v", len(seen), seen)
	}
}

// Where the health log can be read there is nothing to fix; where only hwmon can,
// or nothing, it is said.
func TestCheckTemperature(t *testing.T) {
	nvme := record.Drive{Name: "nvme0n1", Transport: "nvme", Controller: new("nvme0")}
	sata := record.Drive{Name: "sda", Transport: "sata", Model: new("WDC")}
	virtual := record.Drive{Name: "vda", Transport: "virtio"}
	log := map[string]record.Health{"nvme0": {}}
	hot := map[string]int64{"nvme0 Composite": 41850}
	for _, c := range []struct {
		name          string
		drives        []record.Drive
		sample        record.Sample
		state, reason string
		fix           string // "" for any
	}{
		{"health log", []record.Drive{nvme, virtual}, record.Sample{Temperatures: hot, Health: log}, record.StateOK, "", ""},
		{"hwmon", []record.Drive{nvme}, record.Sample{Temperatures: hot}, record.StateLimited, "hwmon", ""},
		{"none", []record.Drive{nvme}, record.Sample{}, record.StateMissing, "none", ""},
		{"SATA without a sensor", []record.Drive{nvme, sata}, record.Sample{Temperatures: hot, Health: log}, record.StateLimited, "some", "modprobe drivetemp"},
		{"SATA with one", []record.Drive{sata}, record.Sample{Temperatures: map[string]int64{"sda drivetemp": 33000}}, record.StateOK, "drivetemp", ""},
		{"virtual", []record.Drive{virtual}, record.Sample{}, record.StateNone, "virtual", ""},
		{"no drive", nil, record.Sample{}, record.StateNone, "none", ""},
	} {
		got := checkTemperature(&record.Info{Drives: c.drives, Sample: c.sample})
		if got.State != c.state || got.Reason != c.reason || c.fix != "" && got.Fix != c.fix {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}
