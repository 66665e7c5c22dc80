package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nativ/internal/record"
)

// partsFile holds the record of a run that is not over, beside where its record
// will be.
const partsFile = "unfinished.jsonl"

// A partsLog keeps what a run has measured so far, so that a power failure costs
// one pass at most.
type partsLog struct {
	path string
	f    *os.File
	rec  *record.Record
	// failed is told once why no more is kept; the run goes on.
	failed func(error)
}

// newPartsLog begins the log of a run, with what its record already has.
func newPartsLog(state string, rec *record.Record, failed func(error)) (*partsLog, error) {
	dir := filepath.Join(recordsDir(state), rec.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin the record: %w", err)
	}
	l := &partsLog{path: filepath.Join(dir, partsFile), rec: rec, failed: failed}
	if err := writeFile(l.path, func(f *os.File) error { return record.WriteParts(f, rec) }); err != nil {
		return nil, fmt.Errorf("begin the record: %w", err)
	}
	var err error
	if l.f, err = os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return nil, fmt.Errorf("begin the record: %w", err)
	}
	return l, nil
}

// save adds a pass, or nil for what else has changed, and waits for the disk: it
// would write later, into the next pass.
func (l *partsLog) save(p *record.Pass) {
	if l.f == nil {
		return
	}
	err := record.AppendPart(l.f, l.rec, p)
	if err == nil {
		err = l.f.Sync()
	}
	if err != nil {
		l.failed(err)
		_ = l.f.Close()
		l.f = nil
	}
}

// remove ends the log where the record is safe elsewhere, or where nothing was
// measured.
func (l *partsLog) remove() error {
	err := l.close()
	if rerr := os.Remove(l.path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	_ = os.Remove(filepath.Dir(l.path)) // where nothing else is in it
	return err
}

func (l *partsLog) close() error {
	if l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return f.Close()
}

// unfinished reads the record of a run that ended early, by its ID or "last":
// what it kept as it went, else the record that it wrote at its end.
func unfinished(state, id string) (rec *record.Record, killed bool, err error) {
	if id == "last" {
		if id, err = lastRun(state); err != nil {
			return nil, false, err
		}
	}
	dir := filepath.Join(recordsDir(state), filepath.Base(id))
	for _, c := range []struct {
		name   string
		decode func(io.Reader) (*record.Record, error)
		killed bool
	}{{partsFile, record.DecodeParts, true}, {recordFile, record.Decode, false}} {
		path := filepath.Join(dir, c.name)
		f, err := openRegular(path, maxRecord)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("resume %s: %w", id, err)
		}
		rec, err := c.decode(f)
		_ = f.Close()
		if err != nil {
			return nil, false, exit(exitRefused, "--resume %s: %s: %w", id, path, err)
		}
		return rec, c.killed, nil
	}
	return nil, false, exit(exitUsage, "--resume: there is no run %s in %s", id, recordsDir(state)).
		next("Name the ID of a run that was started with this state directory, or last.")
}

// lastRun is the ID of the latest run; IDs sort by time.
func lastRun(state string) (string, error) {
	list, err := os.ReadDir(recordsDir(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for records: %w", err)
	}
	for i := len(list) - 1; i >= 0; i-- {
		dir := filepath.Join(recordsDir(state), list[i].Name())
		if exists(filepath.Join(dir, partsFile)) || exists(filepath.Join(dir, recordFile)) {
			return list[i].Name(), nil
		}
	}
	return "", exit(exitUsage, "--resume last: there is no run in %s yet", recordsDir(state))
}
