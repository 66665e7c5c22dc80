package fiojson

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"nativ/internal/record"
)

func open(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t testing.TB, name string) *Result {
	t.Helper()
	r, err := Parse(bytes.NewReader(open(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// value shows what a pointer points at, so that tests can name absence.
func value[T any](p *T) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprint(*p)
}

func (r *Result) has(code string) bool {
	return slices.ContainsFunc(r.Diagnostics, func(d Diagnostic) bool { return d.Code == code })
}

func codes(r *Result) string {
	var out []string
	for _, d := range r.Diagnostics {
		if !slices.Contains(out, d.Code) {
			out = append(out, d.Code)
		}
	}
	return strings.Join(out, " ")
}

// Each form of each version, in base units. Latencies are those of clat, but of
// lat where lat is named. The numbers were taken from the files by eye.
func TestVersions(t *testing.T) {
	type want struct {
		jobs                    int
		bytes, ios, rate        string
		runtime                 int64
		n, min, max, mean, p99  string
		threads                 int
		summed                  bool
		reported, start, thread string
		codes                   string
	}
	for name, w := range map[string]want{
		"made-2.1.4.json": {jobs: 1, bytes: "45998080", ios: "-", rate: "5", runtime: 2127550e6,
			n: "-", min: "53000", max: "6329000", mean: "255340", p99: "506000", reported: "-", start: "-", thread: "-", codes: DiagNoOptions},
		"made-2.20.json": {jobs: 1, bytes: "7286784", ios: "1779", rate: "68.99", runtime: 25788e6, threads: 1,
			n: "-", min: "53000", max: "6329000", mean: "255340", p99: "506000", reported: "1444144664", start: "-", thread: "-", codes: DiagBins},
		"made-2.21.json": {jobs: 1, bytes: "7286784", ios: "1779", rate: "68.99", runtime: 25788e6, threads: 1,
			n: "-", min: "53000", max: "6329000", mean: "255340", p99: "506000", reported: "1494144664", start: "-", thread: "-"},
		"made-2.99.json": {jobs: 1, bytes: "40960000", ios: "10000", rate: "1000", runtime: 10000e6, threads: 1,
			n: "-", min: "80000", max: "900000", mean: "100000", p99: "700416", reported: "1500000000", start: "-", thread: "-"},
		"made-3.2.json": {jobs: 2, bytes: "40960000", ios: "10000", rate: "1000", runtime: 10000e6, threads: 1,
			n: "-", min: "80000", max: "900000", mean: "100000", p99: "700416", reported: "1510000000", start: "-", thread: "-", codes: DiagNoLatency},
		"made-3.18.json": {jobs: 1, bytes: "40960000", ios: "10000", rate: "1000", runtime: 10000e6, threads: 1,
			n: "10000", min: "80000", max: "900000", mean: "100000", p99: "-", reported: "1580000000", start: "-", thread: "10000000000", codes: DiagError},
		"made-3.36.json": {jobs: 1, bytes: "40960000", ios: "10000", rate: "1000", runtime: 10000e6, threads: 1,
			n: "10000", min: "80000", max: "900000", mean: "100000", p99: "-", reported: "1698000011", start: "1698000001", thread: "10000000000"},
		"made-3.39.json": {jobs: 2, bytes: "40960000", ios: "10000", rate: "1000", runtime: 10000e6, threads: 1,
			n: "10000", min: "80000", max: "900000", mean: "100000", p99: "-", reported: "1717000011", start: "1717000001", thread: "10000000000", codes: DiagAllClients},
		"made-3.42.json": {jobs: 1, bytes: "40960000", ios: "10000", rate: "1000", runtime: 10000e6, threads: 4, summed: true,
			n: "10000", min: "80000", max: "900000", mean: "100000", p99: "700416", reported: "1780000011", start: "1780000001", thread: "40000000000", codes: DiagGroupSums},
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, name)
			if len(r.Jobs) != w.jobs {
				t.Fatalf("%d jobs, want %d", len(r.Jobs), w.jobs)
			}
			j := &r.Jobs[0]
			f := j.Read
			if f == nil || f.Clat == nil {
				t.Fatalf("no read flow with clat: %+v", j)
			}
			if j.Write != nil || j.Trim != nil || j.Mixed != nil || j.Sync != nil {
				t.Errorf("idle directions are not absent: %+v", j)
			}
			p99 := "-"
			for _, p := range f.Clat.Percentiles {
				if p.P == 99 {
					p99 = fmt.Sprint(p.NS)
				}
				if p.P == 0 {
					t.Error(`the unused "0.00" counts as a percentile`)
				}
			}
			unix := func(v *time.Time) string {
				if v == nil {
					return "-"
				}
				return fmt.Sprint(v.Unix())
			}
			got := want{len(r.Jobs), value(f.Bytes), value(f.IOs), value(f.IOPS), f.RuntimeNS,
				value(f.Clat.N), value(f.Clat.Min), value(f.Clat.Max), value(f.Clat.Mean), p99, j.Threads, j.Summed,
				unix(r.Reported), unix(j.Start), value(j.ThreadNS), codes(r)}
			if got != w {
				t.Errorf("got  %+v\nwant %+v", got, w)
			}
		})
	}
}

func TestSlatLat(t *testing.T) {
	for name, want := range map[string]string{
		"made-2.1.4.json":        "- 255560", // slat is zero where lat is not: psync has none
		"made-2.20.json":         "11500 267000",
		"made-2.99.json":         "2000 102000",
		"made-3.18.json":         "2000 102000",
		"fio-3.33-gtod.json":     "- -",
		"fio-3.33-jsonplus.json": "105855.625 1354543",
	} {
		f := parse(t, name).Jobs[0].Read
		mean := func(l *Latency) string {
			if l == nil {
				return "-"
			}
			return fmt.Sprintf("%.10g", *l.Mean)
		}
		if got := mean(f.Slat) + " " + mean(f.Lat); got != want {
			t.Errorf("%s: slat and lat %s, want %s", name, got, want)
		}
	}
}

// What fio 3.33 really writes.
func TestReal(t *testing.T) {
	for name, codes33 := range map[string]string{
		"plain": "", "jsonplus": "", "normal": DiagText, "gtod": DiagNoLatency, "disable": DiagNoLatency,
		"group": DiagGroupSums, "sections": DiagSections + " " + DiagGroupSums, "rwmix": "", "mixed": DiagMixed, "both": "", "sync": "", "status": DiagSnapshots,
		"samename": "", "error": DiagText, "empty": "", "clones": "", "pause": "", "each": DiagRateOfOne, "client": DiagAllClients,
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, "fio-3.33-"+name+".json")
			if got := codes(r); got != codes33 {
				t.Errorf("diagnostics %q, want %q", got, codes33)
			}
			if !r.Version.AtLeast(3, 33) || !r.Version.Before(3, 34) {
				t.Errorf("version %+v", r.Version)
			}
			for _, j := range r.Jobs {
				for _, f := range []*Flow{j.Read, j.Write, j.Trim, j.Mixed} {
					if f == nil {
						continue
					}
					if f.Bytes == nil || f.IOs == nil || f.RuntimeNS <= 0 || f.BytesPerSec == nil || f.IOPS == nil {
						t.Fatalf("%+v lacks something", f)
					}
					for _, l := range []*Latency{f.Slat, f.Clat, f.Lat} {
						if l != nil && (l.N == nil || *l.N < 1 || l.Min == nil || *l.Max < *l.Min) {
							t.Errorf("latency %+v", l)
						}
						if l != nil && l.Histogram != nil && l.Histogram.N() != *l.N {
							t.Errorf("%d in the histogram, %d measured", l.Histogram.N(), *l.N)
						}
					}
				}
			}
		})
	}
}

func TestGroupReporting(t *testing.T) {
	r := parse(t, "fio-3.33-group.json")
	j := &r.Jobs[0]
	if !j.Summed || j.Threads != 3 || *j.Read.IOs != 153 {
		t.Fatalf("%+v", j)
	}
	// fio wrote bw_min 184 and the like, sums over three threads.
	if !j.Read.BW.Summed || !j.Read.Rate.Summed {
		t.Errorf("sums over threads pass as minima: %+v %+v", j.Read.BW, j.Read.Rate)
	}
	// Latencies are merged by fio and stay.
	if j.Read.Clat == nil || j.Read.Clat.Histogram == nil || *j.Read.Clat.N != 153 {
		t.Errorf("clat %+v", j.Read.Clat)
	}
	if s := parse(t, "fio-3.33-pause.json").Jobs[0].Read.Rate; s == nil || s.Summed || *s.N < 1 || s.Min <= 1 {
		t.Errorf("the samples of a single job are gone: %+v", s)
	}
}

// A summed entry is known by its threads' time, where the options do not tell.
func TestSummedByTime(t *testing.T) {
	b := bytes.ReplaceAll(open(t, "made-3.42.json"), []byte(`"numjobs" : "4",`), nil)
	r, err := Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if j := &r.Jobs[0]; !j.Summed || j.Threads != 0 || !j.Read.Rate.Summed || !r.has(DiagSections) {
		t.Errorf("%+v", j)
	}
}

func TestSync(t *testing.T) {
	s := parse(t, "fio-3.33-sync.json").Jobs[0].Sync
	// total_ios is 0 in this file, and yet 23 were measured.
	if s == nil || value(s.N) != "23" || s.Lat == nil || s.Lat.Histogram.N() != 23 {
		t.Errorf("%+v", s)
	}
}

func TestClient(t *testing.T) {
	r := parse(t, "fio-3.33-client.json")
	if len(r.Jobs) != 4 {
		t.Fatalf("%d jobs, want two of each of two clients", len(r.Jobs))
	}
	for _, j := range r.Jobs {
		if j.Host != "127.0.0.1" || j.Name == "All clients" {
			t.Errorf("job %q on %q", j.Name, j.Host)
		}
	}
	if v, ok := r.Option(&r.Jobs[0], "direct"); v != "1" || !ok {
		t.Error("the global options are not those of the job")
	}
	r = parse(t, "made-3.39.json")
	for _, host := range []int{0, 1} {
		if v, ok := r.Option(&r.Jobs[host], "bs"); v != "4k" || !ok {
			t.Errorf("global options of host %d: %v", host, r.Global)
		}
	}
	if _, ok := r.Option(&r.Jobs[0], "hostname"); ok {
		t.Error("hostname counts as an option")
	}
}

func TestOptions(t *testing.T) {
	r := parse(t, "made-2.20.json")
	var files []string
	for _, o := range r.Jobs[0].Options {
		if o.Name == "filename" {
			files = append(files, o.Value)
		}
	}
	if strings.Join(files, " ") != "/dev/sdX /dev/sdY" {
		t.Errorf("repeated options: %v", files)
	}
	if v, ok := parse(t, "made-3.42.json").Jobs[0].Options.Get("group_reporting"); v != "" || !ok {
		t.Error("an option without a value is lost")
	}
	if r := parse(t, "made-2.1.4.json"); r.Jobs[0].Options != nil || r.OptionsKnown(&r.Jobs[0]) {
		t.Error("options that are not there are known")
	}
}

func TestDisks(t *testing.T) {
	r := parse(t, "made-3.36.json")
	if len(r.Disks) != 2 {
		t.Fatal(r.Disks)
	}
	d := r.Disks[0]
	if d.Name != "dm-0" || value(d.Own.ReadBytes) != "45056000" || d.Own.QueueNS != 901e6 || *d.Own.Util != 0.995 {
		t.Errorf("%+v", d)
	}
	if d.Members == nil || d.Members.WriteMerges != 2 || value(d.Members.WriteBytes) != "12288" {
		t.Errorf("members %+v", d.Members)
	}
	if d := r.Disks[1]; d.Members != nil || *d.Own.Util != 1 {
		t.Errorf("%+v", d)
	}
	if d := parse(t, "fio-3.33-plain.json").Disks[0]; d.Own.ReadBytes != nil {
		t.Error("fio 3.33 wrote no sectors, and yet there are bytes")
	}
}

// The search for JSON in text.
func TestAround(t *testing.T) {
	one := string(open(t, "made-2.99.json"))
	second := strings.ReplaceAll(one, `"jobname" : "ns"`, `"jobname" : "other"`)
	for _, tt := range []struct {
		name, in  string
		runs      int
		text      string
		wantError string
	}{
		{"before", "fio: a {brace} and \"a quote\n" + one, 1, `fio: a {brace} and "a quote`, ""},
		{"after", one + "\nRun status {\n", 1, "Run status {", ""},
		{"other JSON before", `{"a": 1}` + "\n" + one, 1, `{"a": 1}`, ""},
		{"killed and started anew", one[:len(one)/2] + "\n" + one, 1, `{`, ""},
		{"two runs", one + second, 2, "", ""},
		{"list", "[" + one + "," + second + "]", 2, "[", ""},
		{"cut", one[:len(one)/2], 0, "", "does not end"},
		{"nothing", "", 0, "", "no JSON of fio"},
		{"text", "bw=12{", 0, "", "does not end"},
		{"nativ", `{"schema_version": 1}`, 0, "", "no JSON of fio"},
		{"types", `{"fio version": "fio-3.3", "jobs": "x"}`, 0, "", "jobs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, err := ParseAll(strings.NewReader(tt.in))
			if tt.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantError) {
					t.Errorf("got %v, want an error with %q", err, tt.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != tt.runs {
				t.Fatalf("%d runs, want %d", len(all), tt.runs)
			}
			if got := strings.Join(all[0].Text, "\n"); !strings.HasPrefix(got, tt.text) || tt.text == "" && got != "" {
				t.Errorf("text %q, want %q", got, tt.text)
			}
		})
	}
	if r, err := Parse(strings.NewReader(one + second)); err != nil || r.Jobs[0].Name != "other" || !r.has(DiagOtherRuns) {
		t.Errorf("the last run does not win: %v %v", r, err)
	}
	if _, err := Parse(iotest.ErrReader(os.ErrClosed)); err == nil {
		t.Error("an error of the reader is lost")
	}
}

func TestStatusInterval(t *testing.T) {
	r := parse(t, "fio-3.33-status.json")
	if r.Snapshots != 4 || value(r.Jobs[0].Read.IOs) != "150" {
		t.Errorf("%d snapshots, %s I/Os", r.Snapshots, value(r.Jobs[0].Read.IOs))
	}
	// The same twice over is two runs: the second starts from nothing.
	b := open(t, "fio-3.33-status.json")
	if all, err := ParseAll(bytes.NewReader(slices.Concat(b, b))); err != nil || len(all) != 2 {
		t.Errorf("%d runs, %v; want 2", len(all), err)
	}
}

func TestUnknownVersion(t *testing.T) {
	b := string(open(t, "made-2.20.json"))
	r, err := Parse(strings.NewReader(strings.Replace(b, "fio-2.20", "custom", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Jobs[0].Read; f.Bytes != nil || !r.has(DiagUnit) || !r.has(DiagVersion) {
		t.Errorf("bytes %s without knowing their unit; %s", value(f.Bytes), codes(r))
	}
	b = string(open(t, "made-2.21.json"))
	r, err = Parse(strings.NewReader(strings.Replace(b, "fio-2.21", "custom", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Jobs[0].Read; value(f.Bytes) != "7286784" {
		t.Errorf("bytes %s, though io_kbytes tells the unit", value(f.Bytes))
	}
}

func TestBadNumbers(t *testing.T) {
	in := `{"fio version": "fio-3.33", "jobs": [{"jobname": "x", "groupid": "a", "job options": {"rw": "read"}, "read": {
		"io_bytes": 4096, "io_kbytes": 4, "iops": 1, "runtime": 1000, "total_ios": 1, "bw": -1,
		"clat_ns": {"min": 18446744073709551615, "max": 5, "mean": 5, "stddev": 0, "N": 1, "bins": {"5": 2}},
		"lat_ns": {"min": 9, "max": 5, "mean": 5, "stddev": 0, "N": 1, "bins": {"128": 1}}}}]}`
	r, err := Parse(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	f := r.Jobs[0].Read
	if f.BytesPerSec != nil || f.Clat.Min != nil || f.Clat.Histogram != nil || f.Lat.Histogram != nil || f.Lat.Min != nil {
		t.Errorf("numbers that cannot be were believed: %+v %+v %+v", f, f.Clat, f.Lat)
	}
	if !r.has(DiagBins) || !r.has(DiagNumber) {
		t.Error(codes(r))
	}
}

func TestVersionText(t *testing.T) {
	for s, want := range map[string][2]int{
		"fio-3.33": {3, 33}, "fio-2.1.11": {2, 1}, "fio-3.36-12-g1a2b3c": {3, 36}, "fio-2.2.10": {2, 2},
		"": {}, "3.33": {}, "fio-x.y": {}, "fio-3": {},
	} {
		if v := ParseVersion(s); v.Major != want[0] || v.Minor != want[1] || v.Text != s {
			t.Errorf("%q: %+v", s, v)
		}
	}
	if v := ParseVersion("?"); v.AtLeast(2, 0) || v.Before(3, 0) {
		t.Error("an unknown version is before or after another")
	}
}

func TestSizesAndTimes(t *testing.T) {
	for _, tt := range []struct {
		s    string
		base int64
		want int64 // -1: none
	}{
		{"4k", 1024, 4096}, {"4K", 1024, 4096}, {"4kb", 1024, 4096}, {"4ki", 1024, 4096}, {"4kib", 1024, 4000},
		{"1mib", 1024, 1e6}, {"4k", 1000, 4000}, {"4kib", 1000, 4096}, {"0x1000", 1024, 4096}, {"1.5m", 1024, 1},
		{"20%", 1024, -1}, {"3z", 1024, -1}, {"", 1024, -1}, {"k", 1024, -1}, {"9223372036854775807k", 1024, -1}, {"2t", 1024, 2 << 40},
		{"512", 1024, 512}, {"512b", 1024, 512}, {"4kx", 1024, -1},
	} {
		n, ok := parseBytes(tt.s, tt.base)
		if !ok {
			n = -1
		}
		if n != tt.want {
			t.Errorf("%q at base %d: %d, want %d", tt.s, tt.base, n, tt.want)
		}
	}
	for s, want := range map[string]int64{
		"20": 20e9, "20s": 20e9, "1.5s": 1e9, "2m": 120e9, "250ms": 250e6, "7us": 7e3, "1h": 3600e9, "2min": -1, "": -1, "1sec": -1, "9223372036854775807": -1,
	} {
		n, ok := parseTime(s)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d, want %d", s, n, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 20 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		if b := open(f, filepath.Base(name)); len(b) < 9000 { // mutations of larger ones are slow
			f.Add(b)
		}
	}
	var own bytes.Buffer // with what we say beside fio's keys
	if err := FromRecord(&own, measured(histogramOf([]int64{80_000}), nil)); err != nil {
		f.Fatal(err)
	}
	f.Add(own.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		all, err := ParseAll(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, r := range all {
			rec, err := ToRecord(r, nil)
			if err != nil {
				continue
			}
			// What was read is a record that is written and read again.
			var b bytes.Buffer
			if err := record.Encode(&b, rec); err != nil {
				t.Fatal(err)
			}
			if _, err := record.Decode(&b); err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
			b.Reset()
			if err := FromRecord(&b, rec); err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(&b); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A group in which only some jobs ask for group_reporting has one entry more
// than it had jobs.
func TestNoJobThatNeverWas(t *testing.T) {
	r := parse(t, "fio-3.33-group-mixed.json")
	var names []string
	for _, j := range r.Jobs {
		names = append(names, j.Name)
	}
	if len(names) != 2 || names[0] != "a" || names[1] != "c" {
		t.Errorf("jobs %q, want a and c", names)
	}
}
