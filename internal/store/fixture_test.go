package store

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

var update = flag.Bool("update", false, "write the database of this schema where there is none yet")

// TestEveryEarlierSchema opens a database of each schema that was ever released.
// They are SQL, so that they can be read; -update writes that of the current
// version, once.
func TestEveryEarlierSchema(t *testing.T) {
	ctx := context.Background()
	want := []record.RunSummary{entry(1).Summary, entry(2).Summary}
	want[1].Tags, want[1].Note = []string{"new heatsink"}, "it's cold"
	fresh := create(t, t.TempDir())
	schema := schemaOf(t, fresh)
	for v := 1; v <= SchemaVersion; v++ {
		path := filepath.Join("testdata", fmt.Sprintf("v%d.sql", v))
		if *update && v == SchemaVersion && !exists(path) {
			write(t, path, dump(t))
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("schema version %d has no database to test with: %v", v, err)
		}
		dir := t.TempDir()
		db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, File))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(string(b)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := Open(ctx, dir)
		if err != nil {
			t.Fatalf("schema version %d: %v", v, err)
		}
		defer s.Close()
		if d := cmp.Diff(want, list(t, s, Filter{Numbers: true})); d != "" {
			t.Errorf("schema version %d (-want +got):\n%s", v, d)
		}
		if got, err := s.Record(ctx, want[0].ID); err != nil || string(got) != string(entry(1).Record) {
			t.Errorf("schema version %d: %v %q", v, err, got)
		}
		if d := cmp.Diff(schema, schemaOf(t, s)); d != "" {
			t.Errorf("schema version %d does not lead to the current schema (-want +got):\n%s", v, d)
		}
	}
}

func schemaOf(t *testing.T, s *Store) (out []string) {
	t.Helper()
	err := s.each(context.Background(), "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name", nil, func(r *sql.Rows) error {
		var text string
		err := r.Scan(&text)
		out = append(out, strings.Join(strings.Fields(text), " "))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// dump writes a history of two runs as SQL.
func dump(t *testing.T) []byte {
	t.Helper()
	ctx := context.Background()
	s := create(t, t.TempDir())
	for _, i := range []int{1, 2} {
		if err := s.Put(ctx, entry(i)); err != nil {
			t.Fatal(err)
		}
	}
	id := entry(2).Summary.ID
	if err := s.Tag(ctx, id, []string{"new heatsink"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Note(ctx, id, "it's cold"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "-- A history of schema version %d; never to be changed.\n", SchemaVersion)
	for _, sql := range migrations {
		out.WriteString(sql)
	}
	fmt.Fprintf(&out, "PRAGMA user_version = %d;\n", SchemaVersion)
	for _, table := range []string{"run", "tag", "drive", "setting", "number", "record"} {
		var columns []string
		if err := s.each(ctx, "SELECT name FROM pragma_table_info(?)", []any{table}, func(r *sql.Rows) error {
			var name string
			err := r.Scan(&name)
			columns = append(columns, name)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		quoted := slices.Clone(columns)
		for i := range quoted {
			quoted[i] = "quote(" + quoted[i] + ")"
		}
		if err := s.each(ctx, "SELECT "+strings.Join(quoted, "||', '||")+" FROM "+table, nil, func(r *sql.Rows) error {
			var values string
			err := r.Scan(&values)
			fmt.Fprintf(&out, "INSERT INTO %s (%s)\nVALUES (%s);\n", table, strings.Join(columns, ", "), values)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return []byte(out.String())
}
