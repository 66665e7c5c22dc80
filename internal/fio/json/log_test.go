package fiojson

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nativ/internal/record"
)

// readLogs reads the logs of a run that lie in testdata.
func readLogs(t testing.TB, r *Result) []*Log {
	t.Helper()
	list, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	var logs []*Log
	for _, n := range FindLogs(names, r) {
		if n.Job < 0 {
			t.Errorf("%s belongs to no job", n.File)
			continue
		}
		l, err := ParseLog(bytes.NewReader(open(t, n.File)), n.Kind, r.LogFormat(&r.Jobs[n.Job]))
		if err != nil {
			t.Fatal(err)
		}
		l.LogName = n
		logs = append(logs, l)
	}
	return logs
}

func TestLogNames(t *testing.T) {
	for file, want := range map[string]LogName{
		"a_bw.1.log":                {Prefix: "a", Kind: LogBW, Number: 1},
		"a_b_iops.16.log":           {Prefix: "a_b", Kind: LogIOPS, Number: 16},
		"x_clat_hist.2.log":         {Prefix: "x", Kind: LogClatHist, Number: 2},
		"x_lat.log":                 {Prefix: "x", Kind: LogLat},
		"/d/x_slat.3.log.hosta":     {Prefix: "x", Kind: LogSlat, Number: 3, Host: "hosta"},
		"a_bw.1.log.fz":             {},
		"a_bw.0.log":                {},
		"a_bw.1.txt":                {},
		"bw.1.log":                  {},
		"a_bw.99999999999999.log":   {},
		"randread-1_clat.1.log":     {Prefix: "randread-1", Kind: LogClat, Number: 1},
		"fio_lat_bw_clat_iops.log":  {Prefix: "fio_lat_bw_clat", Kind: LogIOPS},
		"wrong_name_latency.1.log":  {},
		"nested/dir/p_clat.001.log": {Prefix: "p", Kind: LogClat, Number: 1},
	} {
		got, ok := ParseLogName(file)
		if want.Kind == "" {
			if ok {
				t.Errorf("%s passes as a log: %+v", file, got)
			}
			continue
		}
		want.File, want.Job = file, -1
		if !ok || got != want {
			t.Errorf("%s: %+v, want %+v", file, got, want)
		}
	}
}

func TestFindLogs(t *testing.T) {
	r := parse(t, "fio-3.33-clones.json")
	got := FindLogs([]string{
		"clones-log_iops.2.log", "clones-log_bw.1.log", "clones-log_bw.2.log", "other_bw.1.log", "clones-log_bw.3.log", "fio.json",
	}, r)
	var out []string
	for _, n := range got {
		out = append(out, n.File+" "+string(rune('0'+n.Job)))
	}
	// The third thread is of no job of this run.
	want := "clones-log_bw.1.log 0, clones-log_bw.2.log 1, clones-log_bw.3.log /, clones-log_iops.2.log 1"
	if strings.Join(out, ", ") != want {
		t.Errorf("got %v, want %s", out, want)
	}
	// A summed entry has the logs of all its threads.
	group := &Result{Jobs: []Job{
		{Name: "a", Threads: 4, Summed: true, Options: Options{{Name: "write_bw_log", Value: "dir/l"}}},
		{Name: "b", Threads: 2, Summed: true, Options: Options{{Name: "write_bw_log", Value: ""}}},
	}}
	for file, job := range map[string]int{"l_bw.4.log": 0, "b_bw.5.log": 1, "b_bw.6.log": 1} {
		if got := FindLogs([]string{file}, group); len(got) != 1 || got[0].Job != job {
			t.Errorf("%s: %+v, want job %d", file, got, job)
		}
	}
}

func TestLogColumns(t *testing.T) {
	v := func(s string) LogFormat { return LogFormat{Version: ParseVersion("fio-" + s)} }
	with := func(f LogFormat, set func(*LogFormat)) LogFormat { set(&f); return f }
	for _, tt := range []struct {
		name, line string
		kind       Kind
		format     LogFormat
		want       string // value max dir bs offset prio issue
	}{
		{"2.1", "500, 1500, 1, 4096", LogBW, v("2.1.4"), "1536000 - 1 4096 - - -"},
		{"2.20 µs", "500, 1500, 0, 4096", LogClat, v("2.20"), "1500000 - 0 4096 - - -"},
		{"3.1 ns", "500, 1500, 0, 4096", LogClat, v("3.1"), "1500 - 0 4096 - - -"},
		{"3.1 offset", "500, 1500, 0, 4096, 8192", LogLat, v("3.1"), "1500 - 0 4096 8192 - -"},
		{"3.18 prio", "500, 1500, 0, 0, 0", LogIOPS, v("3.18"), "1500 - 0 0 - 0 -"},
		{"3.33 hex prio", "500, 1500, 2, 0, 0x4004", LogIOPS, v("3.33"), "1500 - 2 0 - 16388 -"},
		{"3.33 offset", "0, 97651, 0, 4096, 4096, 0", LogClat, v("3.33"), "97651 - 0 4096 4096 0 -"},
		{"3.37 both", "500, 10, 20, 1, 0, 0", LogBW, with(v("3.37"), func(f *LogFormat) { f.Both = true }), "10240 20480 1 0 - 0 -"},
		{"3.42 issue", "500, 10, 1, 4096, 0, 499000000", LogLat, with(v("3.42"), func(f *LogFormat) { f.IssueTime = true }), "10 - 1 4096 - 0 499000000"},
		{"3.42 all", "500, 10, 20, 1, 4096, 512, 0x0000, 499", LogLat, v("3.42"), "10 20 1 4096 512 0 499"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := ParseLog(strings.NewReader(tt.line+"\n"), tt.kind, tt.format)
			if err != nil {
				t.Fatal(err)
			}
			r := l.Rows[0]
			got := strings.Join([]string{value(&r.Value), value(r.Max), value(&r.Dir), value(&r.BlockSize),
				value(r.Offset), value(r.Prio), value(r.IssueNS)}, " ")
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	for name, in := range map[string]string{"text": "hello\n", "dir": "1, 2, 9, 4096, 0\n", "few": "1, 2\n", "negative": "-1, 2, 0, 0, 0\n"} {
		if _, err := ParseLog(strings.NewReader(in), LogBW, v("3.33")); err == nil {
			t.Errorf("%s: %q passes", name, in)
		}
	}
	if l, err := ParseLog(strings.NewReader("1, 2, 0, 0, 0\n2, 3, 0\n"), LogBW, v("3.33")); err != nil || len(l.Rows) != 1 || l.Bad != 1 {
		t.Errorf("a log that was cut off: %+v %v", l, err)
	}
	if _, err := ParseLog(strings.NewReader(""), LogClatHist, v("3.33")); err == nil {
		t.Error("a histogram log passes")
	}
}

func sums(ivs []record.Interval) (reads, writes, length int64) {
	for _, i := range ivs {
		reads, writes, length = reads+i.ReadIOs, writes+i.WriteIOs, length+i.LenNS
	}
	return reads, writes, length
}

func passOf(t testing.TB, name string) *record.Pass {
	t.Helper()
	r := parse(t, name)
	rec, err := ToRecord(r, readLogs(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return &rec.Rounds[0].Passes[0]
}

// fio leaves pauses out of its logs and of its minimum; the series does not.
func TestPausesAreZero(t *testing.T) {
	p := passOf(t, "fio-3.33-pause.json")
	zero := 0
	for _, i := range p.Intervals {
		if i.ReadIOs == 0 {
			zero++
		}
	}
	reads, _, length := sums(p.Intervals)
	// The log ends a window before the run, and its rates are whole numbers.
	if off := reads - p.Outcome.Read.IOs; zero < 2 || off < -4 || off > 4 || length < p.Outcome.ElapsedNS()-1e9 {
		t.Errorf("%d seconds of zero, %d of %d I/Os, %d of %d ns: %+v", zero, reads, p.Outcome.Read.IOs, length, p.Outcome.ElapsedNS(), p.Intervals)
	}
	for i, iv := range p.Intervals {
		if i > 0 && iv.EndNS-iv.LenNS != p.Intervals[i-1].EndNS {
			t.Errorf("interval %d does not follow the one before it", i)
		}
	}
}

func TestSeriesOfClones(t *testing.T) {
	p := passOf(t, "fio-3.33-clones.json")
	_, writes, length := sums(p.Intervals)
	// What lies in the last window is not in the logs.
	if want := p.Outcome.Write.IOs; len(p.Intervals) != 2 || writes > want || writes < want*length/p.Outcome.ElapsedNS()-4 {
		t.Errorf("%d of %d I/Os in %d ns: %+v", writes, want, length, p.Intervals)
	}
	if p.Intervals[0].P50NS != nil {
		t.Error("averages of windows pass as percentiles")
	}
	for _, iv := range p.Intervals {
		if iv.WriteBytes/iv.WriteIOs < 60<<10 || iv.WriteBytes/iv.WriteIOs > 70<<10 {
			t.Errorf("%d bytes in %d I/Os of 64 KiB", iv.WriteBytes, iv.WriteIOs)
		}
	}
}

// With a row for each I/O everything is exact.
func TestSeriesOfEach(t *testing.T) {
	p := passOf(t, "fio-3.33-each.json")
	reads, writes, _ := sums(p.Intervals)
	if reads != p.Outcome.Read.IOs || writes != p.Outcome.Write.IOs {
		t.Errorf("%d and %d I/Os, want %d and %d", reads, writes, p.Outcome.Read.IOs, p.Outcome.Write.IOs)
	}
	if p.Intervals[0].P50NS == nil || *p.Intervals[0].P99NS > *p.Intervals[0].MaxNS {
		t.Errorf("no percentiles: %+v", p.Intervals[0])
	}
}

func TestSeriesRefuses(t *testing.T) {
	row := func(ms, v int64) LogRow { return LogRow{TimeNS: ms * 1e6, Value: v} }
	windows := func(k Kind, f LogFormat) *Log {
		return &Log{LogName: LogName{File: "x", Kind: k}, Format: f, Rows: []LogRow{row(500, 10), row(1000, 10)}}
	}
	for name, tt := range map[string]struct {
		logs    []*Log
		elapsed int64
		bs      [2]int64
		want    string
	}{
		"maxima":      {[]*Log{windows(LogIOPS, LogFormat{Max: true})}, 1e9, [2]int64{1, 1}, "maxima"},
		"no size":     {[]*Log{windows(LogIOPS, LogFormat{})}, 1e9, [2]int64{0, 0}, "one size"},
		"only lat":    {[]*Log{windows(LogLat, LogFormat{})}, 1e9, [2]int64{1, 1}, "neither"},
		"no run time": {[]*Log{windows(LogIOPS, LogFormat{})}, 0, [2]int64{1, 1}, "run time"},
	} {
		if _, err := threadSeries(tt.logs, tt.elapsed, tt.bs); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, tt.want)
		}
	}
	// A log of one of two threads is no series of the job.
	r := parse(t, "fio-3.33-clones.json")
	logs := readLogs(t, r)
	var one []*Log
	for _, l := range logs {
		if l.Number == 1 {
			one = append(one, l)
		}
	}
	rec, err := ToRecord(r, one)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Rounds[0].Passes[0].Intervals != nil || !warned(rec, DiagLog) {
		t.Error("half of the threads pass as the job")
	}
}

func warned(rec *record.Record, what string) bool {
	for _, w := range rec.Warnings {
		if w.Code == record.WarnImport && w.Words["what"] == what {
			return true
		}
	}
	return false
}

func FuzzParseLog(f *testing.F) {
	logs, err := filepath.Glob("testdata/*.log")
	if err != nil || len(logs) == 0 {
		f.Fatal(err)
	}
	for _, name := range logs {
		f.Add(open(f, filepath.Base(name)), "bw", "fio-3.33", int64(2e9))
	}
	f.Add([]byte("1, 2, 3, 0, 4096, 512, 0x0000, 7\n"), "lat", "fio-3.42", int64(1e9))
	f.Fuzz(func(t *testing.T, in []byte, kind, version string, elapsed int64) {
		l, err := ParseLog(bytes.NewReader(in), Kind(kind), LogFormat{Version: ParseVersion(version)})
		if err != nil {
			return
		}
		for _, r := range l.Rows {
			if r.TimeNS < 0 || r.Value < 0 || r.Dir < 0 || r.Dir > 2 {
				t.Fatalf("row %+v", r)
			}
		}
		if elapsed > 1e12 { // a series of hours only makes the fuzzer slow
			return
		}
		s, err := threadSeries([]*Log{l}, elapsed, [2]int64{4096, 4096})
		if err != nil {
			return
		}
		for _, iv := range intervals([]*series{s, s}) {
			if iv.LenNS <= 0 || iv.LenNS > second || iv.EndNS > elapsed || iv.ReadIOs < 0 || iv.WriteBytes < 0 {
				t.Fatalf("interval %+v", iv)
			}
		}
	})
}
