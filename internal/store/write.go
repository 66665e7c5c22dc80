package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"nativ/internal/record"
)

// An Entry is a run to add.
type Entry struct {
	Summary record.RunSummary
	// Rules is the version of the rules that made the summary.
	Rules int
	// Record is the JSON of the record, as it stands in its file.
	Record []byte
}

// A ConflictError is another record under the ID of one that is there.
type ConflictError struct{ ID string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the history has another record with the ID %s", e.ID)
}

// Put adds a run, or replaces what is there of it; tags and note stay.
func (s *Store) Put(ctx context.Context, e Entry) error {
	return s.write(ctx, "add to the history", func(tx *sql.Tx) error { return put(ctx, tx, e) })
}

// Import adds a run unless it is there already, and reports whether it added
// it. Another record with the same ID is a *ConflictError, unless the one that is
// there cannot be read any more.
func (s *Store) Import(ctx context.Context, e Entry) (added bool, err error) {
	err = s.write(ctx, "import into the history", func(tx *sql.Tx) error {
		var hash, packed []byte
		err := tx.QueryRowContext(ctx, "SELECT sha256, zstd FROM record WHERE run = ?", e.Summary.ID).Scan(&hash, &packed)
		if err == nil {
			same := sha256.Sum256(e.Record)
			_, bad := unpack(packed, hash)
			switch {
			case bad == nil && bytes.Equal(hash, same[:]):
				return nil
			case bad == nil:
				return &ConflictError{e.Summary.ID}
			}
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		added = true
		return put(ctx, tx, e)
	})
	return added && err == nil, err
}

// Resummarise replaces the summary of a run by one of newer rules; the record,
// FromFile, tags and note stay.
func (s *Store) Resummarise(ctx context.Context, sum record.RunSummary, rules int) error {
	return s.write(ctx, "bring the history up to date", func(tx *sql.Tx) error {
		return putSummary(ctx, tx, sum, rules)
	})
}

func put(ctx context.Context, tx *sql.Tx, e Entry) error {
	if e.Summary.ID == "" {
		return errors.New("a run without an ID")
	}
	if err := putSummary(ctx, tx, e.Summary, e.Rules); err != nil {
		return err
	}
	packed, hash, err := pack(e.Record)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO record (run, sha256, zstd) VALUES (?, ?, ?)", e.Summary.ID, hash, packed)
	return err
}

func putSummary(ctx context.Context, tx *sql.Tx, r record.RunSummary, rules int) error {
	var started *int64
	if !r.Started.IsZero() {
		started = new(r.Started.UnixNano())
	}
	places, err := json.Marshal(r.Places)
	if err != nil {
		return err
	}
	// Not REPLACE, which would take tags and note along.
	if _, err := tx.ExecContext(ctx, `INSERT INTO run
		(id, started_ns, origin, from_file, tool, preset, places, complete, kernel, os, pve, cpu, filesystem, summary)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET started_ns = excluded.started_ns, origin = excluded.origin, from_file = excluded.from_file,
		tool = excluded.tool, preset = excluded.preset, places = excluded.places, complete = excluded.complete,
		kernel = excluded.kernel, os = excluded.os, pve = excluded.pve, cpu = excluded.cpu, filesystem = excluded.filesystem,
		summary = excluded.summary`,
		r.ID, started, r.Origin, r.FromFile, r.Tool, r.Preset, string(places), r.Complete, r.Kernel, r.OS, r.PVE, r.CPU,
		r.Filesystem, rules); err != nil {
		return err
	}
	for _, table := range []string{"drive", "number"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE run = ?", r.ID); err != nil {
			return err
		}
	}
	for i, d := range r.Drives {
		if _, err := tx.ExecContext(ctx, `INSERT INTO drive (run, position, key, name, model, serial, firmware, size_bytes,
			link_mts, link_width, percentage_used, available_spare, spare_threshold, written_bytes, power_on_hours, media_errors)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, i, d.Key, d.Name, d.Model, d.Serial, d.Firmware, d.Size, d.LinkMTs, d.LinkWidth,
			d.PercentageUsed, d.AvailableSpare, d.SpareThreshold, d.WrittenBytes, d.PowerOnHours, d.MediaErrors); err != nil {
			return err
		}
	}
	for i := range r.Numbers {
		n := &r.Numbers[i]
		id, err := settingID(ctx, tx, &n.Setting)
		if err != nil {
			return err
		}
		// Two phases of a run may do the same under one name; a run counts once.
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO number
			(run, setting, passes, planned, iops, bytes_per_second, p50_ns, p99_ns, p99_9_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, id, n.Passes, n.Planned, n.IOPS, n.BytesPerSec, n.P50NS, n.P99NS, n.P999NS); err != nil {
			return err
		}
	}
	return nil
}

func settingID(ctx context.Context, tx *sql.Tx, set *record.Setting) (id int64, err error) {
	b, err := json.Marshal(set)
	if err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO setting (json, phase, place) VALUES (?, ?, ?)",
		string(b), set.Phase.Name, set.Place); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT id FROM setting WHERE json = ?", string(b)).Scan(&id)
	return id, err
}

// change runs a statement for a run that must be there.
func (s *Store) change(ctx context.Context, what, id string, statements func(*sql.Tx) error) error {
	return s.write(ctx, what, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM run WHERE id = ?", id).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return &UnknownError{ID: id}
		}
		return statements(tx)
	})
}

// Tag adds tags to a run and takes others away.
func (s *Store) Tag(ctx context.Context, id string, add, remove []string) error {
	return s.change(ctx, "tag a run", id, func(tx *sql.Tx) error {
		for _, t := range add {
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO tag (run, tag) VALUES (?, ?)", id, t); err != nil {
				return err
			}
		}
		for _, t := range remove {
			if _, err := tx.ExecContext(ctx, "DELETE FROM tag WHERE run = ? AND tag = ?", id, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// Note sets the note of a run; "" removes it.
func (s *Store) Note(ctx context.Context, id, text string) error {
	return s.change(ctx, "note on a run", id, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE run SET note = ? WHERE id = ?", text, id)
		return err
	})
}

// Delete removes runs, all or none, with their tags and notes.
func (s *Store) Delete(ctx context.Context, ids ...string) error {
	return s.write(ctx, "delete from the history", func(tx *sql.Tx) error {
		for _, id := range ids {
			r, err := tx.ExecContext(ctx, "DELETE FROM run WHERE id = ?", id)
			if err != nil {
				return err
			}
			if n, err := r.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				return &UnknownError{ID: id}
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM setting WHERE id NOT IN (SELECT setting FROM number)")
		return err
	})
}

// pack compresses a record and returns its hash, too. The frame has a checksum.
func pack(b []byte) (packed, hash []byte, err error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, nil, fmt.Errorf("compress a record: %w", err)
	}
	sum := sha256.Sum256(b)
	return w.EncodeAll(b, nil), sum[:], w.Close()
}

// maxRecord bounds what a damaged or hostile frame may unpack to, in bytes.
const maxRecord = 1 << 30

func unpack(packed, hash []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRecord))
	if err != nil {
		return nil, fmt.Errorf("unpack a record: %w", err)
	}
	defer r.Close()
	b, err := r.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack a record: %w", err)
	}
	if sum := sha256.Sum256(b); !bytes.Equal(sum[:], hash) {
		return nil, errors.New("unpack a record: it is not the one that was stored")
	}
	return b, nil
}
