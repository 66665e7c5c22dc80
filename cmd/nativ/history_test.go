package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/store"
)

// inState runs a command line with a state directory.
func inState(t *testing.T, state string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(name string) string {
		return map[string]string{"NATIV_STATE_DIR": state, "LC_ALL": "C"}[name]
	}}
	return nativ(context.Background(), e, args), out.String(), errs.String()
}

// fill makes a history of n runs of one drive; the record is only as whole as a
// summary needs. Nothing of it was measured.
func fill(t *testing.T, state string, n int) {
	t.Helper()
	s, err := store.Create(context.Background(), state)
	if err != nil {
		t.Skip("no history on this system: ", err)
	}
	defer s.Close()
	for i := range n {
		if err := s.Put(context.Background(), invented(t, i)); err != nil {
			t.Fatal(err)
		}
	}
}

func invented(t *testing.T, i int) store.Entry {
	t.Helper()
	at := time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC)
	kernel, iops := "6.8.12-1-pve", int64(100_000+i%3*300)
	if i >= 10 {
		kernel, iops = "6.14.11-2-pve", 93_000+int64(i%3)*300
	}
	used := int64(i / 4)
	ph := job.Phase{Name: job.RandWrite4K, Mode: job.RandWrite, BlockSize: 4096, IODepth: 32, NumJobs: 4, Direct: true, RuntimeNS: 5e9}
	step := record.Step{Phase: ph.Name, Place: record.PlaceHost, RuntimeNS: 5e9}
	rec := &record.Record{
		SchemaVersion: record.SchemaVersion, ID: record.NewID(at, uint16(i)), Started: at, Complete: true,
		Tool: record.Tool{Name: "nativ", Version: "1"}, Host: record.Host{Kernel: kernel},
		Plan: record.Plan{Preset: "quick", Phases: []job.Phase{ph}, Places: []string{record.PlaceHost}, Steps: []record.Step{step}, FileSize: 8 << 30},
		Target: record.Target{FSType: "ext4", Drives: []record.Drive{{Name: "nvme0n1", Controller: new("nvme0"), Model: new("Example 1TB"),
			Serial: new("SN00001234"), SizeBytes: 1e12}}},
		Rounds: []record.Round{{Phase: ph.Name, Passes: []record.Pass{{Phase: ph.Name, Place: record.PlaceHost,
			Outcome: &record.Outcome{EndNS: 1e9, Write: &record.Flow{IOs: iops, Bytes: iops * 4096}},
			Watch:   record.Watch{After: &record.Sample{Health: map[string]record.Health{"nvme0": {PercentageUsed: used, AvailableSpare: 100, WrittenBytes: int64(i+1) * 1e12}}}},
		}}}},
	}
	e, err := entryOf(rec, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestHistoryOfADrive(t *testing.T) {
	state := t.TempDir()
	fill(t, state, 18)
	for _, name := range []string{"", "SN00001234", "sn00001234", "1234", "nvme0n1", "/dev/nvme0n1", "example"} {
		args := []string{"history", "drive", name}
		if name == "" {
			args = args[:2]
		}
		code, out, errs := inState(t, state, args...)
		text := strings.Join(strings.Fields(out), " ")
		for _, want := range []string{
			"Since 2026-01-11 (run 20260111-120000-000a), the first run with kernel 6.14.11-2-pve (before: 6.8.12-1-pve): Random write 4K, Host: 6.9 % slower.",
			"may be the cause or not", "Example 1TB …1234", "18 runs",
		} {
			if code != exitOK || !strings.Contains(text, want) {
				t.Fatalf("%v: exit code %d %s: no %q in\n%s", args, code, errs, want, out)
			}
		}
		if strings.Contains(out, "SN00001234") {
			t.Errorf("the serial number is in what gets shown around:\n%s", out)
		}
	}
	for _, name := range []string{"234", "99", "Example 2TB"} {
		if code, _, errs := inState(t, state, "history", "drive", name); (code == exitOK) != (name == "234") {
			t.Errorf("%s: exit code %d, %s", name, code, errs)
		}
	}
	code, out, _ := inState(t, state, "history", "drive", "--json")
	for _, want := range []string{`"serial": "SN00001234"`, `"what": "kernel"`, `"change": -0.0`, `"percentage_used": 4`} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestSummariesOfOtherRules are made anew before a course is shown.
func TestSummariesOfOtherRules(t *testing.T) {
	state := t.TempDir()
	s, err := store.Create(context.Background(), state)
	if err != nil {
		t.Skip("no history on this system: ", err)
	}
	e := invented(t, 0)
	e.Summary.Numbers[0].IOPS, e.Summary.Kernel, e.Rules = new(1.0), "wrong", 0
	e.Summary.FromFile = true
	if err := s.Put(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if code, out, errs := inState(t, state, "history", "drive"); code != exitOK || !strings.Contains(out, "100,000") {
		t.Errorf("exit code %d %s\n%s", code, errs, out)
	}
	if _, out, _ := inState(t, state, "history", "--json"); strings.Contains(out, "wrong") || !strings.Contains(out, `"from_file": true`) {
		t.Errorf("got\n%s", out)
	}
}

func TestNewerHistoryIsRefused(t *testing.T) {
	state := t.TempDir()
	fill(t, state, 1)
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(state, store.File))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if code, _, errs := inState(t, state, "history"); code != exitRefused || !strings.Contains(errs, "update nativ") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := inState(t, state, "report", "last"); code != exitFailed || !strings.Contains(errs, "update nativ") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	// A run that was measured is not lost for it.
	var errs bytes.Buffer
	e := &env{stderr: &errs}
	remember(context.Background(), e, state, &record.Record{ID: "x"}, saved{record: "/there/record.json"})
	if !strings.Contains(errs.String(), "nativ history import /there/record.json") {
		t.Errorf("got %s", &errs)
	}
	if list, _ := filepath.Glob(filepath.Join(state, "*damaged*")); len(list) > 0 {
		t.Errorf("set aside: %v", list)
	}
}

// TestRememberAfterDamage: a new history takes the run, and the old one is aside.
func TestRememberAfterDamage(t *testing.T) {
	state := t.TempDir()
	fill(t, state, 1)
	if err := os.WriteFile(filepath.Join(state, store.File), bytes.Repeat([]byte("x"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	remember(context.Background(), &env{stderr: &errs}, state, &record.Record{ID: "y"}, saved{})
	if list, _ := filepath.Glob(filepath.Join(state, "*damaged*")); len(list) != 1 || !strings.Contains(errs.String(), list[0]) {
		t.Errorf("set aside: %v: %s", list, &errs)
	}
	if code, out, _ := inState(t, state, "history", "--json"); code != exitOK || !strings.Contains(out, `"id": "y"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestReadOnlyHistory mounts the state directory read-only in a mount namespace
// of its own, because root may write everywhere else.
func TestReadOnlyHistory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	state := t.TempDir()
	fill(t, state, 2)
	script := fmt.Sprintf(`mount --make-rprivate / && mount --bind %[1]s %[1]s && mount -o remount,ro,bind %[1]s || exit 77
export NATIV_STATE_DIR=%[1]s LC_ALL=C
for verb in "list" "show 20260101" "drive" "note 20260101 x" "import" "delete --yes 20260101"; do
	%[2]s -test.run=TestReadOnlyHelper -- $verb; echo "exit $? $verb"
done`, state, os.Args[0])
	c := exec.Command("unshare", "--mount", "sh", "-c", script)
	c.Env = append(os.Environ(), "NATIV_READ_ONLY_HELPER=1")
	out, err := c.CombinedOutput()
	if err != nil {
		if x, ok := err.(*exec.ExitError); ok && x.ExitCode() == 77 {
			t.Skip("cannot mount here")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"exit 0 list", "exit 0 show", "exit 0 drive", "exit 1 note", "exit 2 import", "exit 1 delete",
		"the history can only be read here", "NATIV_STATE_DIR names a directory that can be written"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code, out, _ := inState(t, state, "history", "--json"); code != exitOK || strings.Count(out, `"id"`) != 2 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestReadOnlyHelper is nativ history in the mount namespace.
func TestReadOnlyHelper(t *testing.T) {
	if os.Getenv("NATIV_READ_ONLY_HELPER") == "" {
		t.Skip("only for TestReadOnlyHistory")
	}
	for i, a := range os.Args {
		if a == "--" {
			e := &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
			os.Exit(nativ(context.Background(), e, append([]string{"history"}, os.Args[i+1:]...)))
		}
	}
}
