package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	fiojson "nativ/internal/fio/json"
	"nativ/internal/record"
)

func newImport(e *env) *cobra.Command {
	var out, lang string
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read results of fio into records",
		Long: `Reads the JSON or json+ that fio 2.1 to 3.43 wrote, whatever text stands around
it, and the logs beside it that it names (bw, iops, lat, clat), and saves each run
as a record, as nativ bench does. nativ report also takes such files as
they are. Works on any OS; where there is no history of runs, --out says
where the records go.

Exit codes:
  0  all files were read
  1  something went wrong that should not
  2  the command line is wrong
  3  refused: a file is none of fio's JSON; the others were read`,
		Example: `  nativ import fio-output.json
  nativ import results/*.json --out records`,
		Args: someArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			lang, err := language(e, lang)
			if err != nil {
				return err
			}
			state, err := writableState(e)
			if err != nil && out == "" {
				return exit(exitUsage, "%w", err).next("Name a directory for the records: --out DIR, or one that can be written as NATIV_STATE_DIR")
			}
			return importFiles(c.Context(), e, args, state, out, lang)
		},
	}
	c.Flags().StringVar(&out, "out", "", "directory for records and reports, too")
	c.Flags().StringVar(&lang, "lang", "", "language of the reports, de or en (default: from the environment)")
	return c
}

// importFiles saves every run in the files, one line each. A file that cannot be
// read does not keep the others from it.
func importFiles(ctx context.Context, e *env, files []string, state, out, lang string) error {
	var first error
	fail := func(err error) {
		if first == nil {
			first = err
			return
		}
		fmt.Fprintln(e.stderr, "nativ:", err)
	}
	for _, path := range files {
		if _, ok := fiojson.ParseLogName(path); ok {
			fmt.Fprintf(e.stderr, "%s: a log; it is read with the JSON that names it\n", path)
			continue
		}
		b, err := readRegular(path, maxRecord)
		if err != nil {
			fail(exit(exitUsage, "import: %w", err))
			continue
		}
		recs, err := fioRecords(b, path)
		if err != nil {
			fail(exit(exitRefused, "%s: %w", path, err))
			continue
		}
		for _, rec := range recs {
			var s saved
			if state == "" {
				s = namedIn(out, rec.ID)
				if err = s.save(lang, rec); err != nil {
					s = saved{}
				}
			} else {
				s, err = saveRecord(state, out, lang, rec)
				remember(ctx, e, state, rec, s)
			}
			if err != nil {
				fail(err)
			}
			if s.record != "" {
				fmt.Fprintf(e.stdout, "%s: %s\n", path, summary(rec, s.record))
			}
		}
	}
	return first
}

// summary is what became of a run, in a line.
func summary(rec *record.Record, saved string) string {
	passes, series := 0, 0
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			passes++
			if rec.Rounds[i].Passes[j].Intervals != nil {
				series++
			}
		}
	}
	s := fmt.Sprintf("%s %s, passes %d", rec.Tool.Name, rec.Tool.Version, passes)
	if series > 0 {
		s += fmt.Sprintf(", %d with series from logs", series)
	}
	if n := len(rec.Warnings); n > 0 {
		s += fmt.Sprintf(", doubts %d", n)
	}
	return s + " -> " + saved
}

// fioRecords turns every run in the output of fio into a record, with the logs
// in the directory of the file; path is empty where there is none.
func fioRecords(b []byte, path string) ([]*record.Record, error) {
	runs, err := fiojson.ParseAll(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var recs []*record.Record
	for _, r := range runs {
		var logs []*fiojson.Log
		if path != "" {
			logs = readLogs(r, filepath.Dir(path))
		}
		rec, err := fiojson.ToRecord(r, logs)
		if err != nil {
			return nil, err
		}
		if path != "" {
			rec.Import.Files = []string{filepath.Base(path)}
			for _, l := range logs {
				rec.Import.Files = append(rec.Import.Files, filepath.Base(l.File))
			}
		}
		recs = append(recs, rec)
	}
	return recs, nil
}

// readLogs reads the logs of a run that lie in dir. One that cannot be read is a
// doubt about the run and no reason to lose it.
func readLogs(r *fiojson.Result, dir string) []*fiojson.Log {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name())
	}
	var logs []*fiojson.Log
	for _, n := range fiojson.FindLogs(names, r) {
		l, err := readLog(r, n, dir)
		if err != nil {
			d := fiojson.Diagnostic{Code: fiojson.DiagLog, Detail: n.File + ": " + err.Error()}
			if n.Job >= 0 {
				d.Job = r.Jobs[n.Job].Name
			}
			r.Diagnostics = append(r.Diagnostics, d)
			continue
		}
		logs = append(logs, l)
	}
	return logs
}

func readLog(r *fiojson.Result, n fiojson.LogName, dir string) (*fiojson.Log, error) {
	if n.Job < 0 {
		return nil, errors.New("it cannot be told which job it belongs to")
	}
	f, err := openRegular(filepath.Join(dir, n.File), maxRecord)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := fiojson.ParseLog(f, n.Kind, r.LogFormat(&r.Jobs[n.Job]))
	if err != nil {
		return nil, err
	}
	l.LogName = n
	return l, nil
}

// looksLikeFio reports whether an error about fio's JSON helps more than one
// about a record.
func looksLikeFio(b []byte) bool { return strings.Contains(string(b), `"fio version"`) }
