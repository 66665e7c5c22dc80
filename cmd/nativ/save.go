package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/report/html"
)

// saved are the files of a record.
type saved struct{ record, markdown, page string }

// namedIn are the files of a record in a directory that the user named.
func namedIn(dir, id string) saved {
	base := filepath.Join(dir, "nativ-"+id)
	return saved{base + ".json", base + ".md", base + ".html"}
}

// saveRecord writes record and reports, Markdown and a page, of a run into the state
// directory, and into out where the user named one. A directory that cannot be
// written is an error, but only after the others, and in the last resort the
// directory for temporary files, were tried: what was measured is not lost.
func saveRecord(state, out, lang string, rec *record.Record) (saved, error) {
	in := func(dir string) saved {
		return saved{filepath.Join(dir, recordFile), filepath.Join(dir, "report.md"), filepath.Join(dir, "report.html")}
	}
	places := []saved{in(filepath.Join(recordsDir(state), rec.ID))}
	if out != "" {
		places = append([]saved{namedIn(out, rec.ID)}, places...)
	}
	var first saved
	var errs []error
	try := func(s saved) {
		if err := s.save(lang, rec); err != nil {
			errs = append(errs, err)
		} else if first.record == "" {
			first = s
		}
	}
	for _, p := range places {
		try(p)
	}
	if first.record == "" {
		try(in(filepath.Join(os.TempDir(), "nativ-"+rec.ID)))
	}
	return first, errors.Join(errs...)
}

// written is the error of writing what for a reader, nil where the reader closed
// the pipe, as head does: it has seen enough.
func written(what string, err error) error {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("write %s: %w", what, err)
}

// writableState is the state directory of a verb that is going to write there.
// To find that out only after a measurement would be late.
func writableState(e *env) (string, error) {
	state, err := stateDir(e)
	if err != nil {
		return "", err
	}
	return state, checkWritable(state)
}

// checkWritable tries to write into the state directory. A run that is refused
// touches nothing, so that it comes after everything that could refuse it.
func checkWritable(state string) error {
	f, err := os.CreateTemp(state, ".writable-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return exit(exitUsage, "the state directory cannot be written: %w", err).
			next("NATIV_STATE_DIR names a directory for journals and records that can be written.")
	}
	return nil
}

// checkOut makes sure, before anything is measured, that records can be written
// into a directory, which may still have to be made.
func checkOut(dir string) error {
	if dir == "" {
		return nil
	}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		fi, err := os.Stat(d)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(d) != d:
			continue // it will be made
		case err != nil:
			return err
		case !fi.IsDir():
			return fmt.Errorf("%s is no directory", d)
		}
		// The only sure way to find out; proc and read-only mounts lie.
		f, err := os.CreateTemp(d, ".nativ-*")
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w", d, err)
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

// save writes the files.
func (s saved) save(lang string, rec *record.Record) error {
	// The names of guests and notes are nobody else's business.
	if err := os.MkdirAll(filepath.Dir(s.record), 0o700); err != nil {
		return fmt.Errorf("save the record: %w", err)
	}
	if err := writeFile(s.record, func(f *os.File) error { return record.Encode(f, rec) }); err != nil {
		return fmt.Errorf("save the record: %w", err)
	}
	others, hash, err := forOthers(rec)
	if err != nil {
		return fmt.Errorf("save the report: %w", err)
	}
	doc := report.BuildArticle(others, analysis.Compute(others), report.Options{Lang: lang, Hash: hash})
	if err := writeFile(s.markdown, func(f *os.File) error { return report.Markdown(f, doc) }); err != nil {
		return fmt.Errorf("save the report: %w", err)
	}
	if err := writeFile(s.page, func(f *os.File) error { return html.Render(f, doc) }); err != nil {
		return fmt.Errorf("save the report: %w", err)
	}
	return nil
}

// writeFile makes a file whole or not at all, also when the power fails.
func writeFile(path string, write func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return f.Close()
}
