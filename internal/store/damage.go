package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// A DamagedError is a database that cannot be read as a history. SetAside makes
// room for a new one.
type DamagedError struct {
	Path  string
	Cause error
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.Path, e.Cause) }
func (e *DamagedError) Unwrap() error { return e.Cause }

var (
	errForeign = errors.New("it is a database of another program")
	errShort   = errors.New("its end is missing")
	errContent = errors.New("it holds what nobody could put in")
)

// damaged reports whether an error is about what the file holds, and not about
// reading it: a drive that fails for a moment is no reason to put a history
// away.
func damaged(err error) bool {
	var d *DamagedError
	return errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) || errors.Is(err, errContent) || errors.As(err, &d)
}

// isReadOnly reports whether an error says that something cannot be written.
func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// SetAside renames a damaged history, so that a new one can be made, and returns
// its new path. It waits until nobody has it open and looks at it once more:
// where it is whole, because another process was faster or only a read failed,
// nothing is renamed and the path is empty.
func SetAside(ctx context.Context, dir string, now time.Time) (string, error) {
	const what = "set the damaged history aside"
	path := filepath.Join(dir, File)
	lock, err := lockExclusive(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	defer lock.Close()
	if whole, err := isWhole(ctx, path); err != nil || whole {
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return "", err
	}
	name := path + ".damaged-" + now.UTC().Format("20060102-150405")
	for i := 2; exists(name); i++ {
		name = fmt.Sprintf("%s.damaged-%s-%d", path, now.UTC().Format("20060102-150405"), i)
	}
	// Its journals first: SQLite would play one that is left behind back into
	// the new database.
	for _, suffix := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Rename(path+suffix, name+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", fmt.Errorf("%s: %w", what, err)
		}
	}
	return name, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isWhole looks at all of a database. None is whole, too.
func isWhole(ctx context.Context, path string) (whole bool, err error) {
	s := &Store{path: path}
	if !exists(path) {
		return true, nil
	}
	if s.db, err = openDB(path, false); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	var said string
	if _, err = s.version(ctx, s.db); err == nil {
		err = s.db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said)
	}
	switch {
	case damaged(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return said == "ok", nil
}
