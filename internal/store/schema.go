package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
)

// applicationID is in the header of our databases: "nati".
const applicationID = 0x6e617469

// migrations lead from each version of the schema to the next; the first one
// makes it. One that was released is never changed: testdata/v1.sql and so on
// hold a database of each version.
var migrations = []string{`
CREATE TABLE run (
	id         TEXT PRIMARY KEY NOT NULL,
	started_ns INTEGER,                    -- since 1970, UTC; NULL where the record does not tell
	origin     TEXT NOT NULL,              -- measured, imported, simulated
	from_file  INTEGER NOT NULL,
	tool       TEXT NOT NULL,
	preset     TEXT NOT NULL,
	places     TEXT NOT NULL,              -- JSON array
	complete   INTEGER NOT NULL,
	kernel     TEXT NOT NULL,
	os         TEXT NOT NULL,
	pve        TEXT NOT NULL,
	cpu        TEXT NOT NULL,
	filesystem TEXT NOT NULL,
	summary    INTEGER NOT NULL,           -- version of the rules behind what is not the user's
	note       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX run_started ON run (started_ns, id);
CREATE TABLE tag (
	run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
	tag TEXT NOT NULL,
	PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_tag ON tag (tag);
CREATE TABLE drive (
	run             TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
	position        INTEGER NOT NULL,
	key             TEXT NOT NULL,
	name            TEXT NOT NULL,
	model           TEXT NOT NULL,
	serial          TEXT NOT NULL,
	firmware        TEXT NOT NULL,
	size_bytes      INTEGER NOT NULL,
	link_mts        INTEGER,
	link_width      INTEGER,
	percentage_used INTEGER,
	available_spare INTEGER,
	spare_threshold INTEGER,
	written_bytes   INTEGER,
	power_on_hours  INTEGER,
	media_errors    INTEGER,
	PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX drive_key ON drive (key);
CREATE TABLE setting (
	id    INTEGER PRIMARY KEY,
	json  TEXT NOT NULL UNIQUE,            -- record.Setting
	phase TEXT NOT NULL,
	place TEXT NOT NULL
) STRICT;
CREATE INDEX setting_phase ON setting (phase, place);
CREATE TABLE number (
	run              TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
	setting          INTEGER NOT NULL REFERENCES setting,
	passes           INTEGER NOT NULL,
	planned          INTEGER NOT NULL,
	iops             REAL,
	bytes_per_second REAL,
	p50_ns           INTEGER,
	p99_ns           INTEGER,
	p99_9_ns         INTEGER,
	PRIMARY KEY (run, setting)
) STRICT, WITHOUT ROWID;
CREATE INDEX number_setting ON number (setting);
-- Apart, so that a list does not have to pass over the records.
CREATE TABLE record (
	run    TEXT PRIMARY KEY NOT NULL REFERENCES run ON DELETE CASCADE,
	sha256 BLOB NOT NULL,                  -- of the JSON
	zstd   BLOB NOT NULL                   -- the JSON
) STRICT;
PRAGMA application_id = 0x6e617469;
`}

// SchemaVersion is the version that this nativ writes, the database's
// user_version.
var SchemaVersion = len(migrations)

// A NewerError is a history that a later nativ made.
type NewerError struct {
	Path    string
	Version int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has schema version %d and this nativ knows up to %d; update nativ", e.Path, e.Version, SchemaVersion)
}

// prepare brings the database to the current schema.
func (s *Store) prepare(ctx context.Context) error {
	const what = "open the history"
	version, err := s.version(ctx, s.db)
	if err != nil {
		return s.explain(what, err)
	}
	switch {
	case version > SchemaVersion:
		return fmt.Errorf("%s: %w", what, &NewerError{s.path, version})
	case version == SchemaVersion:
		return nil
	}
	return s.write(ctx, what, func(tx *sql.Tx) error { return s.migrate(ctx, tx, migrations) })
}

// migrate runs the migrations that the database does not have yet.
func (s *Store) migrate(ctx context.Context, tx *sql.Tx, steps []string) error {
	// Another process may have been faster.
	version, err := s.version(ctx, tx)
	if err != nil {
		return err
	}
	for ; version < len(steps); version++ {
		if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
			return fmt.Errorf("migrate from schema version %d: %w", version, err)
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+1)); err != nil {
			return err
		}
	}
	return nil
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version is the schema's, 0 for an empty file: what is left of a process that
// was killed while it made the database.
func (s *Store) version(ctx context.Context, q querier) (int, error) {
	var app, version, tables, pages, pageSize int
	for query, v := range map[string]*int{"PRAGMA application_id": &app, "PRAGMA user_version": &version,
		"SELECT count(*) FROM sqlite_schema": &tables, "PRAGMA page_count": &pages, "PRAGMA page_size": &pageSize} {
		if err := q.QueryRowContext(ctx, query).Scan(v); err != nil {
			return 0, err
		}
	}
	// SQLite takes the missing end of the last page for zeroes. After the
	// queries, because other processes make the file longer and never shorter.
	if fi, err := os.Stat(s.path); err != nil {
		return 0, err
	} else if fi.Size() > 0 && fi.Size() < int64(pages)*int64(pageSize) {
		return 0, &DamagedError{Path: s.path, Cause: errShort}
	}
	switch {
	case app == applicationID && version > 0:
		return version, nil
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	}
	return 0, &DamagedError{Path: s.path, Cause: errForeign}
}
