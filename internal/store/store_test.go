package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/job"
	"nativ/internal/record"
)

// entry is run number i; nothing of it was measured.
func entry(i int) Entry {
	at := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
	id := record.NewID(at, uint16(i))
	var numbers []record.Number
	for _, place := range []string{record.PlaceHost, record.PlaceLXC} {
		numbers = append(numbers, record.Number{
			Setting: record.Setting{Phase: job.Phase{Name: "randread-4k", Mode: job.RandRead, BlockSize: 4096, IODepth: 32, NumJobs: 4},
				Place: place, FileSize: 8 << 30},
			Passes: 2, Planned: 2, IOPS: new(1000.5 + float64(i)), P50NS: new(int64(100_000)),
		})
	}
	return Entry{Rules: 1, Record: fmt.Appendf(nil, `{"id":%q,"filling":%q}`+"\n", id, strings.Repeat("x", 3000)), Summary: record.RunSummary{
		ID: id, Started: at, Origin: record.OriginMeasured, Tool: "nativ 1", Preset: "quick", Places: []string{"host", "lxc"}, Complete: true,
		Kernel: "6.14.11-2-pve", OS: "Debian", PVE: "9.0", CPU: "a CPU", Filesystem: "ext4 lvm", Numbers: numbers,
		Drives: []record.DriveSummary{{Key: "S1", Name: "nvme0n1", Model: "A drive", Serial: "S1", Firmware: "1", Size: 1e12,
			LinkMTs: new(16000), LinkWidth: new(4), PercentageUsed: new(int64(3)), AvailableSpare: new(int64(100))}},
	}}
}

func create(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Create(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func list(t *testing.T, s *Store, f Filter) []record.RunSummary {
	t.Helper()
	runs, err := s.List(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func ids(runs []record.RunSummary) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

func TestKeepsWhatItWasGiven(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := create(t, dir)
	a, b, c := entry(1), entry(2), entry(3)
	b.Summary.Drives[0] = record.DriveSummary{Key: "vda 10", Name: "vda", Size: 10}
	b.Summary.Origin, b.Summary.FromFile = record.OriginSimulated, true
	c.Summary.Started, c.Summary.Drives, c.Summary.Numbers = time.Time{}, nil, nil
	for _, e := range []Entry{b, a, c} {
		if err := s.Put(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(dir, File)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v: others may read it", fi.Mode(), err)
	}
	s, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := []record.RunSummary{c.Summary, a.Summary, b.Summary}
	if d := cmp.Diff(want, list(t, s, Filter{Numbers: true})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for f, want := range map[Filter][]string{
		{Drive: "vda 10"}:    {b.Summary.ID},
		{Last: 1}:            {b.Summary.ID},
		{ID: a.Summary.ID}:   {a.Summary.ID},
		{Tag: "none"}:        nil,
		{Drive: "S1"}:        {a.Summary.ID},
		{ID: "20260101-000"}: nil,
	} {
		if got := ids(list(t, s, f)); !slices.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", f, got, want)
		}
	}
	for _, e := range []Entry{a, b, c} {
		if got, err := s.Record(ctx, e.Summary.ID); err != nil || string(got) != string(e.Record) {
			t.Errorf("%s: %v %q", e.Summary.ID, err, got)
		}
	}
	if id, err := s.Latest(ctx); err != nil || id != c.Summary.ID {
		t.Errorf("latest is %s %v", id, err)
	}
}

func TestTagsAndNotesOutliveANewRecord(t *testing.T) {
	ctx := context.Background()
	s := create(t, t.TempDir())
	e := entry(1)
	id := e.Summary.ID
	if err := s.Put(ctx, e); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Tag(ctx, id, []string{"new heatsink", "b", "b"}, nil), s.Note(ctx, id, "fan off")); err != nil {
		t.Fatal(err)
	}
	if err := s.Tag(ctx, id, []string{"c"}, []string{"b", "not there"}); err != nil {
		t.Fatal(err)
	}
	e.Record, e.Summary.Complete, e.Summary.Numbers = []byte("{}"), false, e.Summary.Numbers[:1]
	if err := s.Put(ctx, e); err != nil {
		t.Fatal(err)
	}
	e.Summary.Kernel = "7.0"
	if err := s.Resummarise(ctx, e.Summary, 2); err != nil {
		t.Fatal(err)
	}
	e.Summary.Tags, e.Summary.Note = []string{"c", "new heatsink"}, "fan off"
	if d := cmp.Diff([]record.RunSummary{e.Summary}, list(t, s, Filter{Numbers: true, Tag: "c"})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got, err := s.Record(ctx, id); err != nil || string(got) != "{}" {
		t.Errorf("%q %v", got, err)
	}
	for rules, want := range map[int]int{1: 1, 2: 0} {
		if got, err := s.Stale(ctx, rules); err != nil || len(got) != want {
			t.Errorf("rules %d: %v %v", rules, got, err)
		}
	}
	if err := s.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"run", "tag", "drive", "number", "setting", "record"} {
		var n int
		if err := s.db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s has %d rows left, %v", table, n, err)
		}
	}
}

func TestUnknownRuns(t *testing.T) {
	ctx := context.Background()
	s := create(t, t.TempDir())
	for i := range 8 {
		if err := s.Put(ctx, entry(i)); err != nil {
			t.Fatal(err)
		}
	}
	var u *UnknownError
	for name, err := range map[string]error{
		"tag": s.Tag(ctx, "x", []string{"t"}, nil), "note": s.Note(ctx, "x", "n"), "delete": s.Delete(ctx, entry(1).Summary.ID, "x"),
		"record": func() error { _, err := s.Record(ctx, "x"); return err }(),
	} {
		if !errors.As(err, &u) || u.ID != "x" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(list(t, s, Filter{})); n != 8 {
		t.Errorf("%d runs are left: some of a wrong list were deleted", n)
	}
	for given, want := range map[string]string{
		entry(3).Summary.ID:     entry(3).Summary.ID,
		"20260101-000300":       entry(3).Summary.ID,
		"20260101":              "several runs begin with 20260101: 20260101-000000-0000, 20260101-000100-0001, 20260101-000200-0002, 20260101-000300-0003, 20260101-000400-0004 and 3 more",
		"2026%":                 "the history has no run 2026%",
		"":                      "the history has no run ",
		"20260101-000300-0003x": "the history has no run 20260101-000300-0003x",
	} {
		got, err := s.Resolve(ctx, given)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}

func TestImport(t *testing.T) {
	ctx := context.Background()
	s := create(t, t.TempDir())
	e, other := entry(1), entry(1)
	other.Record = []byte("{}")
	for _, want := range []bool{true, false} {
		if added, err := s.Import(ctx, e); err != nil || added != want {
			t.Errorf("added %t, want %t: %v", added, want, err)
		}
	}
	var c *ConflictError
	if _, err := s.Import(ctx, other); !errors.As(err, &c) {
		t.Errorf("another record with the same ID: %v", err)
	}
	// What cannot be read any more is no reason to refuse what can.
	if _, err := s.db.Exec("UPDATE record SET zstd = x'00'"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Record(ctx, e.Summary.ID); err == nil || damaged(err) {
		t.Errorf("a record that does not unpack: %v", err)
	}
	if added, err := s.Import(ctx, e); err != nil || !added {
		t.Errorf("added %t: %v", added, err)
	}
	if got, err := s.Record(ctx, e.Summary.ID); err != nil || string(got) != string(e.Record) {
		t.Errorf("%q %v", got, err)
	}
}

func TestThereIsNone(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(context.Background(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("looking for a history made %v", list)
	}
	// What a process leaves behind that is killed right after it made the file.
	if err := os.WriteFile(filepath.Join(dir, File), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := list(t, s, Filter{}); got != nil {
		t.Errorf("got %v", got)
	}
}

// TestBusy waits for a transaction of another connection and says whose it is
// when that takes too long.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	a, b := create(t, dir), create(t, dir)
	tx, err := a.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := b.Put(ctx, entry(1)); err == nil {
		t.Error("wrote beside another transaction")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(context.Background(), entry(1)); err != nil {
		t.Error(err)
	}
}

// TestMigrationsAreAtomic breaks the second of two migrations.
func TestMigrationsAreAtomic(t *testing.T) {
	ctx := context.Background()
	s := create(t, t.TempDir())
	steps := append(slices.Clone(migrations), "ALTER TABLE run ADD COLUMN extra TEXT; NONSENSE")
	err := s.write(ctx, "migrate", func(tx *sql.Tx) error { return s.migrate(ctx, tx, steps) })
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("from schema version %d", SchemaVersion)) {
		t.Fatalf("got %v", err)
	}
	var n int
	if err := s.db.QueryRow("SELECT count(*) FROM pragma_table_info('run') WHERE name = 'extra'").Scan(&n); err != nil || n != 0 {
		t.Errorf("half a migration stayed: %d %v", n, err)
	}
	steps[len(steps)-1] = "ALTER TABLE run ADD COLUMN extra TEXT"
	for range 2 { // the second time there is nothing to do
		if err := s.write(ctx, "migrate", func(tx *sql.Tx) error { return s.migrate(ctx, tx, steps) }); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := s.version(ctx, s.db); err != nil || v != SchemaVersion+1 {
		t.Errorf("version %d %v", v, err)
	}
}
