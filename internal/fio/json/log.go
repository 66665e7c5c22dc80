package fiojson

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Kind is what a log of fio holds.
type Kind string

// The kinds of logs, spelt as in the files' names. Histogram logs (clat_hist)
// are found but not read.
const (
	LogBW       Kind = "bw"
	LogIOPS     Kind = "iops"
	LogSlat     Kind = "slat"
	LogClat     Kind = "clat"
	LogLat      Kind = "lat"
	LogClatHist Kind = "clat_hist"
)

// A LogName is the name of a log in its parts: PREFIX_KIND.NUMBER.log, with the
// host after it in client mode.
type LogName struct {
	File   string
	Prefix string
	Kind   Kind
	// Number counts the threads of the whole invocation from 1; 0 where one
	// file is for all (per_job_logs=0).
	Number int
	Host   string
	// Job is the index of the entry of Result.Jobs that it belongs to; -1
	// where that cannot be told. See FindLogs.
	Job int
}

var logName = regexp.MustCompile(`^(.*)_(bw|iops|slat|clat|lat|clat_hist)(?:\.(\d+))?\.log(?:\.(.+))?$`)

// ParseLogName takes the name of a log apart; false where it is none. Job is -1.
func ParseLogName(file string) (LogName, bool) {
	m := logName.FindStringSubmatch(path.Base(file))
	if m == nil || m[4] == "fz" || m[4] == "gz" { // compressed logs are not read
		return LogName{}, false
	}
	n := LogName{File: file, Prefix: m[1], Kind: Kind(m[2]), Host: m[4], Job: -1}
	// clat_hist ends in hist, so that the greedy prefix cannot swallow it.
	if m[3] != "" {
		i, err := strconv.ParseInt(m[3], 10, 32)
		if err != nil || i < 1 {
			return LogName{}, false
		}
		n.Number = int(i)
	}
	return n, true
}

// logOptions name the options that make logs, by the kinds they make.
var logOptions = map[string][]Kind{
	"write_bw_log": {LogBW}, "write_iops_log": {LogIOPS},
	"write_lat_log": {LogSlat, LogClat, LogLat}, "write_hist_log": {LogClatHist},
}

// FindLogs picks, from the names of the files of a directory, the logs that a
// run says it wrote, and says to which job each belongs. A log that no option
// of the run names is another run's and not returned.
func FindLogs(names []string, r *Result) []LogName {
	var found []LogName
	for _, file := range names {
		n, ok := ParseLogName(file)
		if !ok {
			continue
		}
		for i := range r.Jobs {
			j := &r.Jobs[i]
			if (n.Host == "" || j.Host == "" || n.Host == j.Host) && r.logs(j, n) {
				n.Job = r.jobOf(n)
				found = append(found, n)
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b LogName) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return a.Number - b.Number
	})
	return found
}

// logs reports whether the options of j name the log n. Without a value, fio
// takes the name of the job.
func (r *Result) logs(j *Job, n LogName) bool {
	for name, kinds := range logOptions {
		v, set := r.Option(j, name)
		if !set || !slices.Contains(kinds, n.Kind) {
			continue
		}
		if v = path.Base(strings.ReplaceAll(v, `\`, "/")); n.Prefix == v || (v == "." || v == "") && n.Prefix == j.Name {
			return true
		}
	}
	return false
}

// jobOf finds the entry of a log by its number, which counts threads in the
// order of the entries; -1 where an entry stands for an unknown number of them.
func (r *Result) jobOf(n LogName) int {
	next := 1
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if n.Host != "" && j.Host != "" && j.Host != n.Host {
			continue
		}
		switch {
		case n.Number == 0 && len(r.Jobs) == 1:
			return i
		case n.Number == 0:
			return -1
		case j.Threads == 0 && i == len(r.Jobs)-1:
			return i // all that follow
		case j.Threads == 0:
			return -1
		case n.Number < next+j.Threads:
			return i
		}
		next += j.Threads
	}
	return -1
}

// A LogFormat is what the columns of a log depend on.
type LogFormat struct {
	Version Version
	// Both: a maximum stands after the average (log_window_value=both). Max:
	// values are maxima and not averages (log_max_value, log_window_value=max).
	Both, Max bool
	// Offset and IssueTime: such a column is there (log_offset, log_issue_time).
	Offset, IssueTime bool
	// WindowNS is log_avg_msec; 0 is a row for each I/O, or unknown.
	WindowNS int64
}

// LogFormat says how the logs of a job look, by its options.
func (r *Result) LogFormat(j *Job) LogFormat {
	f := LogFormat{Version: r.Version, Offset: r.flag(j, "log_offset"), IssueTime: r.flag(j, "log_issue_time")}
	for _, name := range []string{"log_window_value", "log_max_value"} {
		switch v, _ := r.Option(j, name); v {
		case "both", "2":
			f.Both = true
		case "max", "1":
			f.Max = true
		}
	}
	if ms, ok := r.number(j, "log_avg_msec", 0); ok && ms > 0 && ms < 1<<40 {
		f.WindowNS = ms * 1e6
	}
	return f
}

// A Log is one log, read.
type Log struct {
	LogName
	Format LogFormat
	Rows   []LogRow
	// Bad counts lines that are no rows: a log that was cut off ends in one.
	Bad int
}

// A LogRow is one row, in base units.
type LogRow struct {
	// TimeNS is since the start of the job, or since the end of its ramp.
	TimeNS int64
	// Value is in bytes per second, IOPS or nanoseconds, by the log's kind. It
	// is an average over the window before TimeNS, or of a single I/O.
	Value int64
	// Max is the highest value of the window; nil where it is not logged.
	Max *int64
	// Dir is 0 for reads, 1 for writes, 2 for trims.
	Dir int
	// BlockSize is 0 in rows that stand for a window.
	BlockSize int64
	// Offset in bytes, Prio as fio prints it, IssueNS since the start: nil
	// where there is no such column.
	Offset  *int64
	Prio    *int64
	IssueNS *int64
}

// maxRows bounds a log: a row is logged for each I/O without log_avg_msec, and
// a thousand million of them are no series but a trace.
const maxRows = 20 << 20

// column is one of fio's columns after the time.
type column int

const (
	colValue column = iota
	colMax
	colDir
	colBS
	colOffset
	colPrio
	colIssue
)

// layout returns the columns of a format.
func (f *LogFormat) layout(both, offset, issue bool) []column {
	l := []column{colValue}
	if both {
		l = append(l, colMax)
	}
	l = append(l, colDir, colBS)
	if offset {
		l = append(l, colOffset)
	}
	if !f.Version.Before(3, 18) {
		l = append(l, colPrio)
	}
	if issue {
		l = append(l, colIssue)
	}
	return l
}

// layouts are the layouts that a log of so many columns after the time can have,
// the one that the options say first. Options without a value are not in fio's
// JSON before 3.42, so that offset and issue time may come unannounced.
func (f *LogFormat) layouts(columns int) [][]column {
	var all [][]column
	for _, both := range []bool{f.Both, !f.Both} {
		for _, offset := range []bool{f.Offset, !f.Offset} {
			for _, issue := range []bool{f.IssueTime, !f.IssueTime} {
				if both && f.Version.Before(3, 37) || issue && f.Version.Before(3, 37) {
					continue
				}
				if l := f.layout(both, offset, issue); len(l) == columns {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// ParseLog reads a log. It fails where no row can be one of such a log; single
// bad lines, as at the end of a log that was cut off, are counted. Rows are in
// the order of the file, which may repeat a time or step back.
func ParseLog(r io.Reader, kind Kind, format LogFormat) (*Log, error) {
	if kind == LogClatHist {
		return nil, fmt.Errorf("read fio log: logs of histograms (%s) are not read", kind)
	}
	unit := int64(1)
	switch {
	case kind == LogBW:
		unit = 1024
	case kind != LogIOPS && format.Version.Before(2, 99):
		unit = 1000 // µs
	}
	log := &Log{LogName: LogName{Kind: kind, Job: -1}, Format: format}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<10)
	var layout []column
	number := 0
	for s.Scan() {
		number++
		line := strings.TrimSpace(s.Text())
		if line == "" {
			continue
		}
		fields := strings.Split(line, ",")
		if layout == nil {
			for _, l := range format.layouts(len(fields) - 1) {
				if _, ok := parseRow(fields, l, unit); ok {
					layout = l
					break
				}
			}
			if layout == nil {
				return nil, fmt.Errorf("read fio log: line %d %.40q is no row of a _%s log of %s", number, line, kind, orUnknown(format.Version.Text))
			}
		}
		row, ok := parseRow(fields, layout, unit)
		if !ok {
			log.Bad++
			continue
		}
		if len(log.Rows) == maxRows {
			return nil, fmt.Errorf("read fio log: more than %d rows; log with log_avg_msec", maxRows)
		}
		log.Rows = append(log.Rows, row)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("read fio log: line %d: %w", number+1, err)
	}
	return log, nil
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown version of fio"
	}
	return s
}

func parseRow(fields []string, layout []column, unit int64) (LogRow, bool) {
	var row LogRow
	if len(fields) != len(layout)+1 {
		return row, false
	}
	ms, ok := parseField(fields[0], 1e6)
	if !ok {
		return row, false
	}
	row.TimeNS = ms
	for i, col := range layout {
		u := int64(1)
		if col == colValue || col == colMax {
			u = unit
		}
		v, ok := parseField(fields[i+1], u)
		if !ok {
			return row, false
		}
		switch col {
		case colValue:
			row.Value = v
		case colMax:
			row.Max = &v
		case colDir:
			if v > 2 {
				return row, false
			}
			row.Dir = int(v)
		case colBS:
			row.BlockSize = v
		case colOffset:
			row.Offset = &v
		case colPrio:
			row.Prio = &v
		case colIssue:
			row.IssueNS = &v
		}
	}
	return row, true
}

// parseField reads a number that is not negative; priorities are hexadecimal.
func parseField(s string, unit int64) (int64, bool) {
	s = strings.TrimSpace(s)
	base := 10
	if h, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = h, 16
	}
	n, err := strconv.ParseInt(s, base, 64)
	if err != nil || n < 0 || n > math.MaxInt64/2/unit {
		return 0, false
	}
	return n * unit, true
}
