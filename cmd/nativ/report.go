package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nativ/internal/analysis"
	fiojson "nativ/internal/fio/json"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/report/html"
)

func newReport(e *env) *cobra.Command {
	var format, lang string
	var details, unredacted bool
	var pics pictures
	c := &cobra.Command{
		Use:   "report RECORD|last",
		Short: "Print the report of a record again",
		Long: `Prints the report of a record: a file, the ID of a run on this machine, last for
the latest of them, or - for standard input. Also of a file with JSON of fio: of the
last run in it, with the logs beside it. Works on any OS. With --format fio-json it
writes fio's json+.

With --format bbcode it writes a post for a forum, and with csv every number: one
measurement a row, in base units (docs/formats.md).

With --format html it writes one page for a browser, with charts to zoom into, which
asks for nothing outside of itself; to standard output or --out FILE.

With --format svg or png it draws charts as pictures for a post or an article, with
drive, date, settings and the record's hash in them: --chart NAME one of time, ratios,
latency, scatter, heat, cliff and means, to standard output or --out FILE; without it
all that the record has, into --out DIR. Some are one a test: latency-randread-4k. What
a record does not have is left out, and standard error says why. A file that is there
with something else in it is not overwritten.

Whatever the format, JSON included, it is without serial numbers and other identities
of drives, names of guests and users, addresses and UUIDs: the same value has the same
stand-in everywhere (serial-1). --unredacted leaves them in. Free text, such as notes,
is yours to check. The record itself stays whole in the state directory.

Exit codes:
  0  printed
  1  something went wrong that should not
  2  the command line is wrong
  3  refused: that is neither a record nor JSON of fio, or one of a later version of
     nativ; or the record does not have that chart, or the file is there`,
		Example: `  nativ report last --lang de
  nativ report fio-output.json
  nativ report record.json --format md --details
  nativ report last --format html --out report.html
  nativ report last --format png --out pictures/
  nativ report last --format svg --chart time > time.svg`,
		Args: oneArg("RECORD or last"),
		RunE: func(c *cobra.Command, args []string) error {
			lang, err := language(e, lang)
			if err != nil {
				return err
			}
			if !slices.Contains(formats, format) {
				return exit(exitUsage, "--format %q is not one of %s", format, strings.Join(formats, ", "))
			}
			pics.format = format
			if err := pics.check(); err != nil {
				return err
			}
			rec, err := readRecord(c.Context(), e, args[0])
			if err != nil {
				return err
			}
			hash := ""
			if !unredacted {
				if rec, hash, err = forOthers(rec); err != nil {
					return err
				}
			}
			if slices.Contains(pictureFormats, format) {
				return pics.draw(e, rec, lang, hash)
			}
			o := report.Options{Lang: lang, Details: details, Hash: hash}
			if rec.Import != nil {
				o.Name = args[0]
			}
			if format == "html" && pics.out != "" {
				var page bytes.Buffer
				if err := render(&page, rec, format, o); err != nil {
					return err
				}
				if err := exportFile(pics.out, page.Bytes()); err != nil {
					return err
				}
				_, err := fmt.Fprintln(e.stdout, pics.out)
				return written("the name of the page", err)
			}
			return render(e.stdout, rec, format, o)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, md, html, bbcode (for forums), csv, json, fio-json, svg or png")
	c.Flags().StringVar(&lang, "lang", "", "de or en (default: from the environment)")
	c.Flags().BoolVar(&details, "details", false, "bandwidth, percentiles, system and method, too")
	c.Flags().BoolVar(&unredacted, "unredacted", false, "leave serial numbers, names of guests and users, addresses and UUIDs in, in every format")
	c.Flags().StringVar(&pics.chart, "chart", "", "the chart to draw; without it all of them, into --out")
	c.Flags().StringVar(&pics.out, "out", "", "file, or directory for several charts; is made where it is missing")
	c.Flags().BoolVar(&pics.dark, "dark", false, "pictures for a dark page")
	return c
}

var formats = []string{"text", "md", "html", "bbcode", "csv", "json", "fio-json", "svg", "png"}

// language decides in which language a user is spoken to.
func language(e *env, flag string) (string, error) {
	if flag == "" {
		return report.LangFromEnv(e.getenv), nil
	}
	// de_DE.UTF-8 and en-GB are what the environment says, too.
	tag := strings.ToLower(flag)
	if i := strings.IndexAny(tag, "_-."); i >= 0 {
		tag = tag[:i]
	}
	if slices.Contains(report.Langs(), tag) {
		return tag, nil
	}
	return "", exit(exitUsage, "--lang %q is neither de nor en", flag)
}

// recordsDir holds a directory for each run.
func recordsDir(state string) string { return filepath.Join(state, "records") }

// recordFile is the name of a record in its directory.
const recordFile = "record.json"

// readRecord reads the record that the argument names.
func readRecord(ctx context.Context, e *env, name string) (*record.Record, error) {
	if name == "-" {
		return decode(e.stdin, "standard input", "")
	}
	path := name
	if name == "last" {
		state, err := stateDir(e)
		if err != nil {
			return nil, exit(exitUsage, "%w", err)
		}
		if path, err = lastRecord(state); err != nil {
			path = "" // perhaps the history has one
		}
		inFile := ""
		if path != "" {
			inFile = filepath.Base(filepath.Dir(path))
		}
		rec, historyErr := fromHistory(ctx, e, "", inFile)
		switch {
		case rec != nil:
			return rec, nil
		case err != nil && historyErr != nil:
			return nil, historyErr
		case err != nil:
			return nil, err
		case historyErr != nil:
			fmt.Fprintln(e.stderr, "nativ: without the history:", historyErr)
		}
	} else if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == name {
		if state, err := stateDir(e); err == nil {
			if p := recordPath(state, name); exists(p) {
				path = p
			} else {
				rec, err := fromHistory(ctx, e, name, "")
				var x *exitError
				if rec != nil || errors.As(err, &x) {
					return rec, err
				}
				if err != nil {
					fmt.Fprintln(e.stderr, "nativ: without the history:", err)
				}
			}
		}
	}
	f, err := openRegular(path, maxRecord)
	if err != nil {
		return nil, exit(exitUsage, "read a record: %w", err).next("Name a record.json, the ID of a run, or last; - is standard input.")
	}
	defer f.Close()
	return decode(f, path, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// decode reads a record, or what is no record but JSON of fio; path is empty
// where the reader is no file.
func decode(r io.Reader, name, path string) (*record.Record, error) {
	b, err := io.ReadAll(limited(r, name, maxRecord))
	var large *tooLargeError
	if errors.As(err, &large) {
		return nil, exit(exitUsage, "%w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	rec, err := record.Decode(bytes.NewReader(b))
	if err == nil {
		return rec, nil
	}
	if looksLikeFio(b) {
		var recs []*record.Record
		if recs, err = fioRecords(b, path); err == nil {
			last := recs[len(recs)-1]
			if len(recs) > 1 {
				last.Warnings = append(last.Warnings, record.Warning{Code: record.WarnImport,
					Words: map[string]string{"what": fiojson.DiagOtherRuns, "detail": fmt.Sprintf("%d", len(recs)-1)}})
			}
			return last, nil
		}
	}
	return nil, exit(exitRefused, "%s: %w", name, err)
}

// lastRecord is the newest record in the state directory; IDs sort by time.
func lastRecord(state string) (string, error) {
	list, err := os.ReadDir(recordsDir(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for records: %w", err)
	}
	for _, d := range slices.Backward(list) {
		if p := filepath.Join(recordsDir(state), d.Name(), recordFile); exists(p) {
			return p, nil
		}
	}
	return "", exit(exitUsage, "there is no record in %s yet", recordsDir(state)).
		next("Measure first: nativ bench. Records of root are in root's state directory: sudo nativ report last")
}

// render writes a record in a form.
func render(w io.Writer, rec *record.Record, format string, o report.Options) error {
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "json":
		err = record.Encode(out, rec)
	case "fio-json":
		err = fiojson.FromRecord(out, rec)
	case "csv":
		err = report.CSV(out, rec)
	case "bbcode":
		err = report.BBCode(out, report.Build(rec, analysis.Compute(rec), o))
	case "html":
		err = html.Render(out, report.BuildArticle(rec, analysis.Compute(rec), o))
	case "md":
		build := report.Build
		if o.Details {
			build = report.BuildArticle
		}
		err = report.Markdown(out, build(rec, analysis.Compute(rec), o))
	default:
		err = report.Text(out, report.Build(rec, analysis.Compute(rec), o), report.Width)
	}
	if ferr := out.Flush(); err == nil {
		err = ferr
	}
	if err != nil {
		return written("the report", err)
	}
	return nil
}
