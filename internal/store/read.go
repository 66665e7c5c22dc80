package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nativ/internal/record"
)

// A Filter chooses runs; its zero value takes all.
type Filter struct {
	// ID, Drive and Tag are an ID, the key of a drive and a tag; "" is any.
	ID, Drive, Tag string
	// Last takes the latest so many; 0 takes all.
	Last int
	// Numbers reads the numbers, too.
	Numbers bool
	// Brief leaves out what a list of runs does not show: the machine, the note and
	// the drives' serial numbers, firmware, links and wear. It halves the time.
	Brief bool
}

// An UnknownError is a run that the history does not have, or several: those
// whose IDs begin alike.
type UnknownError struct {
	ID     string
	Alike  []string // at least two, or none
	Others int      // that many more than are in Alike
}

func (e *UnknownError) Error() string {
	if len(e.Alike) == 0 {
		return fmt.Sprintf("the history has no run %s", e.ID)
	}
	list := strings.Join(e.Alike, ", ")
	if e.Others > 0 {
		list += fmt.Sprintf(" and %d more", e.Others)
	}
	return fmt.Sprintf("several runs begin with %s: %s", e.ID, list)
}

// Resolve returns the ID of the run whose ID is or begins with what is given;
// where there is none or more than one the error is an *UnknownError.
func (s *Store) Resolve(ctx context.Context, given string) (string, error) {
	const what = "look for a run"
	if given == "" {
		return "", &UnknownError{}
	}
	// Not LIKE, in which _ and % mean something.
	rows, err := s.db.QueryContext(ctx, "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC, id", given)
	if err != nil {
		return "", s.explain(what, err)
	}
	defer rows.Close()
	e := &UnknownError{ID: given}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return "", s.explain(what, err)
		}
		const shown = 5
		switch {
		case id == given:
			return id, nil
		case len(e.Alike) == shown:
			e.Others++
		default:
			e.Alike = append(e.Alike, id)
		}
	}
	if err := rows.Err(); err != nil {
		return "", s.explain(what, err)
	}
	if len(e.Alike) == 1 {
		return e.Alike[0], nil
	}
	return "", e
}

// Latest is the ID of the latest run, "" where there is none; IDs sort by time.
func (s *Store) Latest(ctx context.Context) (string, error) {
	var id string
	err := s.db.QueryRowContext(ctx, "SELECT id FROM run ORDER BY id DESC LIMIT 1").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, s.explain("look for the latest run", err)
}

// Record returns the JSON of a run's record, as it was put.
func (s *Store) Record(ctx context.Context, id string) ([]byte, error) {
	what := "read the record of " + id
	var hash, packed []byte
	err := s.db.QueryRowContext(ctx, "SELECT sha256, zstd FROM record WHERE run = ?", id).Scan(&hash, &packed)
	if errors.Is(err, sql.ErrNoRows) {
		err = &UnknownError{ID: id}
	}
	if err != nil {
		return nil, s.explain(what, err)
	}
	b, err := unpack(packed, hash)
	return b, s.explain(what, err)
}

// Stale returns the IDs of the runs whose summary was made by other rules.
func (s *Store) Stale(ctx context.Context, rules int) ([]string, error) {
	var ids []string
	err := s.each(ctx, "SELECT id FROM run WHERE summary <> ? ORDER BY id", []any{rules}, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, s.explain("look for old summaries", err)
}

// List returns runs by the time of their start, the earliest first; those
// without one come before.
func (s *Store) List(ctx context.Context, f Filter) ([]record.RunSummary, error) {
	const what = "list the history"
	var where []string
	var args []any
	for _, c := range []struct{ value, sql string }{
		{f.ID, "id = ?"}, {f.Drive, "id IN (SELECT run FROM drive WHERE key = ?)"}, {f.Tag, "id IN (SELECT run FROM tag WHERE tag = ?)"},
	} {
		if c.value != "" {
			where, args = append(where, c.sql), append(args, c.value)
		}
	}
	// chosen is the condition on a column that names a run; "" where all are.
	chosen := func(column string) string {
		if len(where) == 0 && f.Last == 0 {
			return ""
		}
		s := " WHERE " + column + " IN (SELECT id FROM run"
		if len(where) > 0 {
			s += " WHERE " + strings.Join(where, " AND ")
		}
		if f.Last > 0 {
			s += fmt.Sprintf(" ORDER BY started_ns DESC, id DESC LIMIT %d", f.Last)
		}
		return s + ")"
	}
	var list []record.RunSummary
	at := map[string]int{}
	placesOf := map[string][]string{} // few differ
	// The parts are of one instant.
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, s.explain(what, err)
	}
	defer tx.Rollback()
	read := func(query string, scan func(*sql.Rows) error) {
		if err == nil {
			err = eachRow(ctx, tx, query, args, scan)
		}
	}
	tag := func(rows *sql.Rows) error {
		var run, tag string
		if err := rows.Scan(&run, &tag); err != nil {
			return err
		}
		r := &list[at[run]]
		r.Tags = append(r.Tags, tag)
		return nil
	}
	if f.Brief {
		read("SELECT id, origin, from_file, preset, complete FROM run"+chosen("id")+" ORDER BY started_ns, id", func(rows *sql.Rows) error {
			var r record.RunSummary
			if err := rows.Scan(&r.ID, &r.Origin, &r.FromFile, &r.Preset, &r.Complete); err != nil {
				return err
			}
			at[r.ID] = len(list)
			list = append(list, r)
			return nil
		})
		read("SELECT run, tag FROM tag"+chosen("run")+" ORDER BY run, tag", tag)
		read("SELECT run, name, model FROM drive"+chosen("run")+" ORDER BY run, position", func(rows *sql.Rows) error {
			var run string
			var d record.DriveSummary
			if err := rows.Scan(&run, &d.Name, &d.Model); err != nil {
				return err
			}
			r := &list[at[run]]
			r.Drives = append(r.Drives, d)
			return nil
		})
		return list, s.explain(what, err)
	}
	read(`SELECT id, started_ns, origin, from_file, tool, preset, places, complete, kernel, os, pve, cpu, filesystem, note
		FROM run`+chosen("id")+` ORDER BY started_ns, id`, func(rows *sql.Rows) error {
		var r record.RunSummary
		var started *int64
		var places string
		if err := rows.Scan(&r.ID, &started, &r.Origin, &r.FromFile, &r.Tool, &r.Preset, &places, &r.Complete,
			&r.Kernel, &r.OS, &r.PVE, &r.CPU, &r.Filesystem, &r.Note); err != nil {
			return err
		}
		if started != nil {
			r.Started = time.Unix(0, *started).UTC()
		}
		if _, ok := placesOf[places]; !ok {
			var names []string
			if err := json.Unmarshal([]byte(places), &names); err != nil {
				return err
			}
			placesOf[places] = names
		}
		r.Places = slices.Clip(placesOf[places])
		at[r.ID] = len(list)
		list = append(list, r)
		return nil
	})
	read("SELECT run, tag FROM tag"+chosen("run")+" ORDER BY run, tag", tag)
	read(`SELECT run, key, name, model, serial, firmware, size_bytes, link_mts, link_width, percentage_used, available_spare,
		spare_threshold, written_bytes, power_on_hours, media_errors FROM drive`+chosen("run")+` ORDER BY run, position`,
		func(rows *sql.Rows) error {
			var run string
			var d record.DriveSummary
			if err := rows.Scan(&run, &d.Key, &d.Name, &d.Model, &d.Serial, &d.Firmware, &d.Size, &d.LinkMTs, &d.LinkWidth,
				&d.PercentageUsed, &d.AvailableSpare, &d.SpareThreshold, &d.WrittenBytes, &d.PowerOnHours, &d.MediaErrors); err != nil {
				return err
			}
			r := &list[at[run]]
			r.Drives = append(r.Drives, d)
			return nil
		})
	if !f.Numbers {
		return list, s.explain(what, err)
	}
	settings := map[int64]record.Setting{}
	ofRuns := args
	args = nil
	read("SELECT id, json FROM setting", func(rows *sql.Rows) error {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return err
		}
		var set record.Setting
		err := json.Unmarshal([]byte(text), &set)
		settings[id] = set
		return err
	})
	args = ofRuns
	read(`SELECT run, setting, passes, planned, iops, bytes_per_second, p50_ns, p99_ns, p99_9_ns
		FROM number`+chosen("run")+` ORDER BY run, setting`, func(rows *sql.Rows) error {
		var run string
		var id int64
		var n record.Number
		if err := rows.Scan(&run, &id, &n.Passes, &n.Planned, &n.IOPS, &n.BytesPerSec, &n.P50NS, &n.P99NS, &n.P999NS); err != nil {
			return err
		}
		n.Setting = settings[id]
		r := &list[at[run]]
		r.Numbers = append(r.Numbers, n)
		return nil
	})
	return list, s.explain(what, err)
}

func (s *Store) each(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	return eachRow(ctx, s.db, query, args, scan)
}

func eachRow(ctx context.Context, q interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		// The schema lets only what can be scanned in.
		if err := scan(rows); err != nil {
			return fmt.Errorf("%w: %w", errContent, err)
		}
	}
	return rows.Err()
}
