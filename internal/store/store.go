// Package store keeps the history of runs: an SQLite database in the state
// directory with every record, compressed, and its summary.
//
// The database is opened with a rollback journal and not with a write-ahead log:
// that needs memory shared between processes, which network filesystems do not
// have, and cannot be read where the directory cannot be written. One short
// transaction a run asks for no concurrency. synchronous=EXTRA also syncs the
// directory when the journal goes, so that what was committed is still there
// after a power failure.
//
// It computes nothing: summaries come from package analysis, by way of the
// caller.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver" // registers "sqlite3"
)

// File is the name of the database in the state directory.
const File = "history.db"

// busyTime is how long one process waits for another one's transaction.
const busyTime = 10 * time.Second

// A Store is an open history. Its methods may be called by several goroutines.
type Store struct {
	db       *sql.DB
	lock     *os.File // nil where the directory cannot be written
	path     string
	readOnly error // why it cannot be written, nil where it can
}

// Open opens the history in a directory. Where there is none the error is
// fs.ErrNotExist; where the database is damaged a *DamagedError, where a later
// nativ wrote it a *NewerError. A history that can only be read is opened to be
// read.
func Open(ctx context.Context, dir string) (*Store, error) { return open(ctx, dir, false) }

// Create is Open, and makes a history where there is none.
func Create(ctx context.Context, dir string) (*Store, error) { return open(ctx, dir, true) }

func open(ctx context.Context, dir string, create bool) (_ *Store, err error) {
	s := &Store{path: filepath.Join(dir, File)}
	if fi, err := os.Stat(s.path); err != nil {
		if !errors.Is(err, fs.ErrNotExist) || !create {
			return nil, fmt.Errorf("open the history: %w", err)
		}
	} else if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("open the history: %s is no file", s.path)
	}
	if s.lock, err = lockShared(ctx, dir); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.makeFile(create); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	if s.db, err = openDB(s.path, s.readOnly != nil); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// makeFile makes the file where it is to be made, for nobody else to read: notes
// and the names of guests are nobody's business. SQLite would take the umask.
func (s *Store) makeFile(create bool) error {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(s.path, flags, 0o600)
	switch {
	case err == nil:
		return f.Close()
	case isReadOnly(err):
		s.readOnly = err
		_, err := os.Stat(s.path)
		return err
	}
	return err
}

func openDB(path string, readOnly bool) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTime.Milliseconds()), "foreign_keys(1)", "synchronous(extra)", "trusted_schema(0)"}, "mode": {"rw"}}
	if readOnly {
		q.Set("mode", "ro")
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite3", u.String())
	if err != nil {
		return nil, err
	}
	// A connection has a copy of SQLite's memory, and one is enough.
	db.SetMaxOpenConns(1)
	return db, nil
}

// Close closes the history.
func (s *Store) Close() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the history: %w", err)
	}
	return nil
}

// Path is the database's.
func (s *Store) Path() string { return s.path }

// ReadOnly is why the history cannot be written, nil where it can.
func (s *Store) ReadOnly() error { return s.readOnly }

// write calls f in a transaction that is committed where f succeeds.
func (s *Store) write(ctx context.Context, what string, f func(*sql.Tx) error) error {
	if s.readOnly != nil {
		return fmt.Errorf("%s: the history can only be read here: %w", what, s.readOnly)
	}
	tx, err := s.db.BeginTx(ctx, nil) // immediate, so that it never has to give up later
	if err != nil {
		return s.explain(what, err)
	}
	if err := f(tx); err != nil {
		return s.explain(what, errors.Join(err, tx.Rollback()))
	}
	return s.explain(what, tx.Commit())
}

// explain wraps an error of SQLite and tells those apart that a caller can act
// on.
func (s *Store) explain(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case damaged(err):
		return fmt.Errorf("%s: %w", what, &DamagedError{Path: s.path, Cause: err})
	case errors.Is(err, sqlite3.BUSY):
		return fmt.Errorf("%s: another process has been writing %s for %s; try again: %w", what, s.path, busyTime, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
