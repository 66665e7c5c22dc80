package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/store"
)

// recordPath is the file of a run in the state directory.
func recordPath(state, id string) string { return filepath.Join(recordsDir(state), id, recordFile) }

// historyError sets a damaged history aside and gives errors of the history
// their exit codes and next steps.
func historyError(ctx context.Context, state string, err error) error {
	var (
		x        *exitError
		damaged  *store.DamagedError
		newer    *store.NewerError
		unknown  *store.UnknownError
		conflict *store.ConflictError
	)
	switch {
	case err == nil, errors.As(err, &x):
		return err
	case errors.As(err, &damaged):
		aside, asideErr := store.SetAside(context.WithoutCancel(ctx), state, time.Now())
		switch {
		case asideErr != nil:
			return exit(exitFailed, "%w; %w", err, asideErr)
		case aside == "":
			return exit(exitFailed, "%w; now it is whole: another process set it aside, or reading failed", err).next("Try again.")
		}
		return exit(exitFailed, "%w; it is now %s", damaged, aside).
			next("Read the runs whose files are there in again: nativ history import")
	case errors.As(err, &newer), errors.As(err, &conflict):
		return exit(exitRefused, "%w", err)
	case errors.As(err, &unknown):
		return exit(exitUsage, "%w", err).next("nativ history lists the runs.")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return exit(exitFailed, "%w", err).next("NATIV_STATE_DIR names a directory that can be written.")
	}
	return err
}

// entryOf is a record as the history keeps it; raw is its JSON, nil where it has
// to be made.
func entryOf(rec *record.Record, raw []byte, fromFile bool) (store.Entry, error) {
	if raw == nil {
		var b bytes.Buffer
		if err := record.Encode(&b, rec); err != nil {
			return store.Entry{}, err
		}
		raw = b.Bytes()
	}
	e := store.Entry{Summary: analysis.Summarise(rec), Rules: analysis.SummaryVersion, Record: raw}
	e.Summary.FromFile = fromFile
	return e, nil
}

// remember adds a run to the history. It was saved before, and is not lost where
// this fails: that is a warning, with the next step to take.
func remember(ctx context.Context, e *env, state string, rec *record.Record, s saved) {
	// Also at the end of a run that was interrupted.
	ctx = context.WithoutCancel(ctx)
	add := func() error {
		entry, err := entryOf(rec, nil, rec.Import != nil)
		if err != nil {
			return err
		}
		h, err := store.Create(ctx, state)
		if err != nil {
			return err
		}
		return errors.Join(h.Put(ctx, entry), h.Close())
	}
	err := add()
	var damaged *store.DamagedError
	if errors.As(err, &damaged) {
		// Said, and then a new history takes the run.
		said := historyError(ctx, state, err)
		fmt.Fprintln(e.stderr, "nativ:", said)
		var x *exitError
		if errors.As(said, &x) && x.hint != "" {
			fmt.Fprintln(e.stderr, "  "+x.hint)
		}
		err = add()
	}
	if err != nil {
		fmt.Fprintln(e.stderr, "nativ: the run is not in the history:", err)
		if s.record != "" {
			fmt.Fprintf(e.stderr, "  Its record is safe; add it with: nativ history import %s\n", s.record)
		}
	}
}

// storedRecord reads a record out of the history.
func storedRecord(ctx context.Context, s *store.Store, id string) (*record.Record, error) {
	b, err := s.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	rec, err := record.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("run %s of the history: %w", id, err)
	}
	return rec, nil
}

// fromHistory reads the record of a run that has no file, "" for the latest, if
// it is later than another one. Nil where the history has none: whatever keeps it
// from being read is then somebody else's to say.
func fromHistory(ctx context.Context, e *env, id, laterThan string) (*record.Record, error) {
	state, err := stateDir(e)
	if err != nil {
		return nil, nil
	}
	s, err := store.Open(ctx, state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if id == "" {
		if id, err = s.Latest(ctx); err != nil || id <= laterThan {
			return nil, err
		}
	} else if id, err = s.Resolve(ctx, id); err != nil {
		var u *store.UnknownError
		if errors.As(err, &u) && len(u.Alike) == 0 {
			return nil, nil
		}
		return nil, historyError(ctx, state, err)
	}
	return storedRecord(ctx, s, id)
}

// refreshSummaries makes the summaries of an earlier nativ's rules anew, so that
// a course shows no change that is only one of rules.
func refreshSummaries(ctx context.Context, e *env, s *store.Store) error {
	stale, err := s.Stale(ctx, analysis.SummaryVersion)
	if err != nil || len(stale) == 0 {
		return err
	}
	if why := s.ReadOnly(); why != nil {
		fmt.Fprintf(e.stderr, "nativ: %d runs were summarised by another version and cannot be here: %v\n", len(stale), why)
		return nil
	}
	for _, id := range stale {
		run, err := findRun(ctx, s, id)
		if err != nil {
			return err
		}
		rec, err := storedRecord(ctx, s, id)
		if err != nil {
			fmt.Fprintln(e.stderr, "nativ:", err)
			continue
		}
		sum := analysis.Summarise(rec)
		sum.FromFile = run.FromFile
		if err := s.Resummarise(ctx, sum, analysis.SummaryVersion); err != nil {
			return err
		}
	}
	return nil
}
