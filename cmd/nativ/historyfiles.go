package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nativ/internal/record"
	"nativ/internal/store"
)

// historyFile is beside exported records and holds what is the user's: tags and
// notes.
const historyFile = "history.json"

func newHistoryExport(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "export [ID...] --out DIR",
		Short: "Write records into files",
		Long: `Writes the records of runs, of all without an ID, into files nativ-ID.json, and
their tags and notes into history.json. nativ history import reads such a directory.
A file that is there with something else in it is not overwritten.`,
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return exit(exitUsage, "--out DIR is missing").next("See: nativ history export --help")
			}
			return withHistory(c.Context(), e, func(s *store.Store) error { return exportRuns(c.Context(), e, s, args, out) })
		},
	}
	c.Flags().StringVar(&out, "out", "", "directory for the files; is made where it is missing")
	return c
}

func exportRuns(ctx context.Context, e *env, s *store.Store, given []string, out string) error {
	var runs []record.RunSummary
	for _, g := range given {
		run, err := findRun(ctx, s, g)
		if err != nil {
			return err
		}
		run.Numbers = nil
		runs = append(runs, *run)
	}
	if len(given) == 0 {
		var err error
		if runs, err = s.List(ctx, store.Filter{}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for _, r := range runs {
		b, err := s.Record(ctx, r.ID)
		if err != nil {
			return err
		}
		// An ID is part of a file's name, and comes from a file that somebody gave.
		if r.ID != filepath.Base(r.ID) {
			return exit(exitRefused, "the ID %q is no name of a file", r.ID)
		}
		if err := exportFile(filepath.Join(out, "nativ-"+r.ID+".json"), b); err != nil {
			return err
		}
	}
	list, err := json.MarshalIndent(runs, "", "  ")
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := exportFile(filepath.Join(out, historyFile), append(list, '\n')); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "runs %d -> %s\n", len(runs), out)
	return nil
}

// exportFile writes a file that is not there yet, or is there with the same.
func exportFile(path string, b []byte) error {
	if old, err := readRegular(path, maxRecord); err == nil {
		if bytes.Equal(old, b) {
			return nil
		}
		return exit(exitRefused, "export: %s is there with something else in it", path).next("Name an empty directory: --out DIR")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("export: %w", err)
	}
	err := writeFile(path, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func newHistoryImport(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "import [FILE|DIR...]",
		Short: "Read records into the history",
		Long: `Reads records, and JSON of fio as nativ import does, into the history: files, and
directories with all that is below them. Without an argument it reads the runs of
the state directory, so that a lost or new history has them again. What is there
already is left as it is; another record with the ID of one that is there is
refused. Other JSON files in a directory are passed over.`,
		Example: `  nativ history import
  nativ history import backup/ record.json`,
		RunE: func(c *cobra.Command, args []string) error {
			state, err := stateDir(e)
			if err != nil {
				return exit(exitUsage, "%w", err)
			}
			if len(args) == 0 {
				if !exists(recordsDir(state)) {
					return exit(exitUsage, "there are no runs in %s", recordsDir(state)).next("Name files or directories with records.")
				}
				args = []string{recordsDir(state)}
			}
			s, err := store.Create(c.Context(), state)
			if err == nil {
				i := historyImport{ctx: c.Context(), e: e, store: s, own: recordsDir(state)}
				err = errors.Join(i.all(args), s.Close())
			}
			return historyError(c.Context(), state, err)
		},
	}
}

// A historyImport reads files into the history.
type historyImport struct {
	ctx                 context.Context
	e                   *env
	store               *store.Store
	own                 string // the directory of this user's runs
	added, known, other int
	addedIDs            map[string]bool
	lists               []string // files that say tags and notes
	refused             error    // the first that could not be read in
}

func (i *historyImport) all(args []string) error {
	i.addedIDs = map[string]bool{}
	for _, a := range args {
		fi, err := os.Stat(a)
		if err != nil {
			return exit(exitUsage, "import: %w", err)
		}
		if !fi.IsDir() {
			if err := i.file(a, true); err != nil {
				return err
			}
			continue
		}
		err = filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return i.refuse(fmt.Errorf("import: %w", err))
			case i.ctx.Err() != nil:
				return i.ctx.Err()
			case d.Type().IsRegular() && strings.HasSuffix(d.Name(), ".json"):
				return i.file(path, false)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, path := range i.lists {
		if err := i.tags(path); err != nil {
			return err
		}
	}
	fmt.Fprintf(i.e.stdout, "runs read in %d, there already %d, other files %d\n", i.added, i.known, i.other)
	return i.refused
}

// refuse goes on after a file that cannot be read in, and keeps the first error
// for the end.
func (i *historyImport) refuse(err error) error {
	if i.refused == nil {
		i.refused = err
	} else {
		fmt.Fprintln(i.e.stderr, "nativ:", err)
	}
	return nil
}

// file reads a file in; named is true where the user gave it and not a directory
// above it, and so wants to know why it is none.
func (i *historyImport) file(path string, named bool) error {
	if filepath.Base(path) == historyFile {
		i.lists = append(i.lists, path)
		return nil
	}
	entries, err := i.read(path)
	if err != nil {
		if !named && !looksLikeRecord(path) {
			i.other++
			return nil
		}
		var unread *exitError
		if errors.As(err, &unread) {
			return i.refuse(unread) // it names the file
		}
		return i.refuse(exit(exitRefused, "%s: %w", path, err))
	}
	for _, entry := range entries {
		added, err := i.store.Import(i.ctx, entry)
		var conflict *store.ConflictError
		switch {
		case errors.As(err, &conflict):
			if err := i.refuse(exit(exitRefused, "%s: %w", path, err).next("To take the file instead, first: nativ history delete %s", conflict.ID)); err != nil {
				return err
			}
		case err != nil:
			return err
		case added:
			i.added++
			i.addedIDs[entry.Summary.ID] = true
		default:
			i.known++
		}
	}
	return nil
}

// looksLikeRecord reports whether a file that cannot be read has the name that
// nativ gives to records.
func looksLikeRecord(path string) bool {
	name := filepath.Base(path)
	return name == recordFile || strings.HasPrefix(name, "nativ-")
}

// read reads the runs of a file: one of a record, whose bytes are kept as they
// are, all of a JSON of fio.
func (i *historyImport) read(path string) ([]store.Entry, error) {
	b, err := readRegular(path, maxRecord)
	if err != nil {
		return nil, exit(exitUsage, "import: %w", err)
	}
	rec, err := record.Decode(bytes.NewReader(b))
	if err == nil {
		inside, relErr := filepath.Rel(i.own, absolute(path))
		own := relErr == nil && !strings.HasPrefix(inside, "..")
		entry, err := entryOf(rec, b, !own || rec.Import != nil)
		return []store.Entry{entry}, err
	}
	if !looksLikeFio(b) {
		return nil, err
	}
	recs, err := fioRecords(b, path)
	var entries []store.Entry
	for _, rec := range recs {
		entry, entryErr := entryOf(rec, nil, true)
		if err = errors.Join(err, entryErr); err == nil {
			entries = append(entries, entry)
		}
	}
	return entries, err
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// tags gives the runs that were read in the tags and notes of a list that export
// wrote. Those that were there keep theirs.
func (i *historyImport) tags(path string) error {
	b, err := readRegular(path, maxRecord)
	if err != nil {
		return i.refuse(exit(exitUsage, "import: %w", err))
	}
	var runs []record.RunSummary
	if err := json.Unmarshal(b, &runs); err != nil {
		return i.refuse(exit(exitRefused, "%s: it is no list of runs: %w", path, err))
	}
	for _, r := range runs {
		if !i.addedIDs[r.ID] {
			continue
		}
		if err := i.store.Tag(i.ctx, r.ID, r.Tags, nil); err != nil {
			return err
		}
		if err := i.store.Note(i.ctx, r.ID, r.Note); err != nil {
			return err
		}
	}
	return nil
}
