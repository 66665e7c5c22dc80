package fiojson

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nativ/internal/job"
	"nativ/internal/record"
)

func toRecord(t testing.TB, name string) *record.Record {
	t.Helper()
	rec, err := ToRecord(parse(t, name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestToRecord(t *testing.T) {
	rec := toRecord(t, "fio-3.33-clones.json")
	if len(rec.Rounds) != 1 || len(rec.Rounds[0].Passes) != 1 {
		t.Fatal("two clones are not one pass")
	}
	p := rec.Rounds[0].Passes[0]
	w := p.Outcome.Write
	if w.IOs != 162 || w.Bytes != 10616832 || p.Outcome.ElapsedNS() != 2001e6 || p.Outcome.Read != nil {
		t.Errorf("clones add up to %+v in %d ns", w, p.Outcome.ElapsedNS())
	}
	// fio wrote the bins of clat only: lat is not known, and not clat.
	if w.Lat != nil || w.Clat == nil || w.Clat.N() != 162 {
		t.Errorf("lat %v clat %v", w.Lat, w.Clat)
	}
	if g := w.Given; g == nil || g.Lat == nil || *g.Lat.N != 162 || g.Lat.Percentiles != nil || *g.Clat.Max != 6531308 {
		t.Errorf("given %+v", g)
	}
	if ph := rec.Plan.Phases[0]; ph.Mode != job.Write || ph.BlockSize != 64<<10 || ph.NumJobs != 2 || !ph.Direct || ph.RuntimeNS != 2e9 {
		t.Errorf("phase %+v", ph)
	}
	if rec.Tool.Name != "fio" || rec.Tool.Version != "3.33" || rec.Plan.Places[0] != record.PlaceImported || rec.Import == nil {
		t.Errorf("%+v %+v", rec.Tool, rec.Plan.Places)
	}
	if p.Outcome.UsageUnknown || p.Outcome.Usage.UserNS <= 0 {
		t.Errorf("usage %+v", p.Outcome.Usage)
	}
	// Each of them stays known, and is written as one again.
	var ios, user int64
	var clat record.Histogram
	for i := range p.Outcome.Clones {
		c := &p.Outcome.Clones[i]
		ios, user = ios+c.Write.IOs, user+c.Usage.UserNS
		clat.Merge(c.Write.Clat)
	}
	if len(p.Outcome.Clones) != 2 || ios != w.IOs || user != p.Outcome.Usage.UserNS || !slices.Equal(clat.Counts, w.Clat.Counts) {
		t.Errorf("%d clones with %d I/Os and %d ns", len(p.Outcome.Clones), ios, user)
	}
	if es := entries(rec); len(es) != 2 || es[0].group != es[1].group || es[0].name != es[1].name || es[1].grouped {
		t.Errorf("written as %+v", es)
	}
}

// The same section twice is two phases where the options differ, and one phase
// with two passes where they do not.
func TestSameName(t *testing.T) {
	rec := toRecord(t, "fio-3.33-samename.json")
	if len(rec.Plan.Phases) != 2 || rec.Plan.Phases[0].Name != "same" || rec.Plan.Phases[1].Name != "same-2" || rec.Plan.Phases[1].BlockSize != 8192 {
		t.Errorf("%+v", rec.Plan.Phases)
	}
	b := bytes.ReplaceAll(open(t, "fio-3.33-samename.json"), []byte(`"8k"`), []byte(`"4k"`))
	r, err := Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r.Jobs[1].Options = r.Jobs[0].Options
	rec, err = ToRecord(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Plan.Phases) != 1 || len(rec.Rounds) != 1 || len(rec.Rounds[0].Passes) != 2 || len(rec.Plan.Steps) != 2 {
		t.Errorf("%+v", rec.Plan)
	}
}

func TestAbsence(t *testing.T) {
	rec := toRecord(t, "fio-3.33-disable.json")
	if w := rec.Rounds[0].Passes[0].Outcome.Write; w.Lat != nil || w.Clat != nil || w.Given.Lat != nil || w.Given.Clat != nil || w.Given.Slat != nil {
		t.Errorf("latencies that were not measured: %+v", w)
	}
	rec = toRecord(t, "made-2.1.4.json")
	p := rec.Rounds[0].Passes[0]
	if !rec.Started.IsZero() || !rec.Ended.IsZero() || !p.Outcome.UsageUnknown {
		t.Errorf("start %v, usage %+v", rec.Started, p.Outcome.Usage)
	}
	if ph := rec.Plan.Phases[0]; ph.Mode != "" || ph.BlockSize != 0 || ph.IODepth != 0 || ph.NumJobs != 0 {
		t.Errorf("options are not in the file, and yet: %+v", ph)
	}
	// fio says 5 IOPS in 2127.55 s and no number.
	if p.Outcome.Read.IOs != 10638 || !warned(rec, DiagIOs) {
		t.Errorf("%d I/Os", p.Outcome.Read.IOs)
	}
	r, err := Parse(strings.NewReader(`{"fio version": "fio-2.1.4", "jobs": [{"jobname": "x", "job options": {"bs": "4k"}, "read": {"io_bytes": 131072, "bw": 0, "iops": 0, "runtime": 0}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if rec, err = ToRecord(r, nil); err != nil || !warned(rec, DiagRuntime) {
		t.Errorf("I/Os in no time: %+v %v", rec.Warnings, err)
	}
	rec = toRecord(t, "fio-3.33-error.json")
	if p := rec.Rounds[0].Passes[0]; p.Outcome != nil || p.Failed == nil || p.OK() || rec.Complete {
		t.Errorf("a job that did nothing: %+v", p)
	}
	rec = toRecord(t, "made-3.18.json")
	if p := rec.Rounds[0].Passes[0]; p.OK() || p.Failed.Code != record.FailIO || p.Outcome == nil || rec.Complete {
		t.Errorf("a job that failed: %+v", p)
	}
	if _, err := ToRecord(&Result{}, nil); err == nil {
		t.Error("a result without jobs is a record")
	}
	rec = toRecord(t, "fio-3.33-mixed.json")
	if o := rec.Rounds[0].Passes[0].Outcome; o.Read != nil || o.Write != nil || o.Mixed == nil || o.Mixed.IOs != 24 {
		t.Errorf("%+v", o)
	}
	rec = toRecord(t, "fio-3.33-group.json")
	if p := rec.Rounds[0].Passes[0]; p.Outcome.Read.Clat.N() != 153 || !warned(rec, DiagGroupSums) {
		t.Errorf("%+v", p)
	}
}

func TestTimes(t *testing.T) {
	rec := toRecord(t, "made-3.36.json")
	if rec.Started.UnixMilli() != 1698000001000 || rec.Ended.UnixMilli() != 1698000011500 || !rec.Rounds[0].Passes[0].StartedAt.Equal(rec.Started) {
		t.Errorf("%v to %v", rec.Started, rec.Ended)
	}
	rec = toRecord(t, "made-3.2.json") // 11 s before the report, to a second
	if rec.Started.Unix() != 1510000000-11 || !rec.Rounds[0].Passes[0].StartedAt.IsZero() {
		t.Errorf("%v", rec.Started)
	}
	if a, b := toRecord(t, "made-3.2.json").ID, toRecord(t, "made-3.18.json").ID; a != rec.ID || a == b {
		t.Errorf("IDs %s %s %s", a, rec.ID, b)
	}
}

// Clones without bins: what can be added up is, what cannot is not.
func TestSummaries(t *testing.T) {
	draw := func(t *rapid.T) []int64 {
		return rapid.SliceOfN(rapid.Int64Range(1, 1e9), 2, 30).Draw(t, "latencies")
	}
	latency := func(v []int64) *Latency {
		var sum, m2 float64
		for _, x := range v {
			sum += float64(x)
		}
		mean := sum / float64(len(v))
		for _, x := range v {
			m2 += (float64(x) - mean) * (float64(x) - mean)
		}
		return &Latency{N: new(int64(len(v))), Min: new(slices.Min(v)), Max: new(slices.Max(v)),
			Mean: &mean, Stddev: new(math.Sqrt(m2 / float64(len(v)-1)))}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := draw(t), draw(t), draw(t)
		want := latency(slices.Concat(a, b, c))
		got := summarise([]part{{latency(a), 0}, {latency(b), 0}, {latency(c), 0}})
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))+1e-6 }
		if *got.N != *want.N || *got.Min != *want.Min || *got.Max != *want.Max || !near(*got.Mean, *want.Mean) || !near(*got.Stddev, *want.Stddev) {
			t.Fatalf("got %s %s %s %s %s, want %+v", value(got.N), value(got.Min), value(got.Max), value(got.Mean), value(got.Stddev), want)
		}
	})
}

// histogramOf is a histogram as json+ carries it.
func histogramOf(v []int64) *record.Histogram {
	h := &record.Histogram{}
	for _, x := range v {
		h.Add(x)
	}
	return h
}

// roundTrip writes flows as json+ and reads them again.
func roundTrip(t testing.TB, rec *record.Record) *record.Record {
	t.Helper()
	var b bytes.Buffer
	if err := FromRecord(&b, rec); err != nil {
		t.Fatal(err)
	}
	r, err := Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ToRecord(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func measured(read, write *record.Histogram) *record.Record {
	phase := job.Quick().Phases[0]
	phase.RuntimeNS = 2e9
	at := time.Date(2026, 11, 30, 22, 0, 0, 0, time.UTC)
	o := &record.Outcome{StartNS: 100e9, EndNS: 102e9, Stopped: record.StopTime,
		Usage: record.Usage{UserNS: 1e9, SystemNS: 2e9}}
	if read != nil {
		o.Read = &record.Flow{IOs: read.N(), Bytes: read.N() * 4096, Lat: read}
	}
	if write != nil {
		o.Write = &record.Flow{IOs: write.N(), Bytes: write.N() * 4096, Lat: write}
	}
	device := func(n int64) map[string]record.DeviceCounters {
		return map[string]record.DeviceCounters{"nvme0n1": {ReadIOs: n, ReadBytes: n * 4096, BusyNS: n * 1e6, QueueNS: n * 2e6}}
	}
	return &record.Record{
		SchemaVersion: record.SchemaVersion, Tool: record.Tool{Name: "nativ", Version: "0.1.0"},
		Started: at, Ended: at.Add(3 * time.Second), Complete: true,
		Plan:   record.Plan{Preset: "quick", Phases: []job.Phase{phase}, Places: []string{record.PlaceHost}, FileSize: 1 << 30},
		Target: record.Target{Drives: []record.Drive{{Name: "nvme0n1"}}},
		Places: []record.Place{{Name: record.PlaceHost, Worker: &record.Worker{Engine: record.Engine{Name: "io_uring"}}}},
		Rounds: []record.Round{{Phase: phase.Name, Passes: []record.Pass{{
			Phase: phase.Name, Place: record.PlaceHost, StartedAt: at, Outcome: o,
			Intervals: []record.Interval{{EndNS: 1e9, LenNS: 1e9, ReadIOs: 3, ReadBytes: 3 * 4096}, {EndNS: 2e9, LenNS: 1e9}},
			Watch:     record.Watch{Before: &record.Sample{Devices: device(5)}, After: &record.Sample{MonoNS: 2e9, Devices: device(105)}},
		}}}},
	}
}

// Bins survive the way out and in bit by bit, and merge without loss: the bins of
// two jobs are those of one job that did the I/Os of both.
func TestBinsRoundTripAndMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []int64 {
			return rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 300), rapid.Int64Range(0, 1<<34)), 1, 50).Draw(t, name)
		}
		a, b := draw("a"), draw("b")
		var out bytes.Buffer
		if err := FromRecord(&out, measured(histogramOf(a), histogramOf(b))); err != nil {
			t.Fatal(err)
		}
		r, err := Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range []*Latency{r.Jobs[0].Read.Lat, r.Jobs[0].Write.Lat} {
			want := histogramOf([][]int64{a, b}[i])
			if l.Histogram == nil {
				t.Fatalf("no histogram of %v: %v", want, r.Diagnostics)
			}
			if d := cmp.Diff(want, l.Histogram); d != "" {
				t.Fatalf("histogram changed on its way (-want +got):\n%s", d)
			}
		}
		var merged record.Histogram
		merged.Merge(r.Jobs[0].Read.Lat.Histogram)
		merged.Merge(r.Jobs[0].Write.Lat.Histogram)
		if d := cmp.Diff(histogramOf(slices.Concat(a, b)), &merged); d != "" {
			t.Fatalf("merging loses something (-want +got):\n%s", d)
		}
	})
}

func TestRoundTripOwn(t *testing.T) {
	rec := measured(histogramOf([]int64{80_000, 81_000, 90_000_000}), nil)
	back := roundTrip(t, rec)
	p, q := rec.Rounds[0].Passes[0], back.Rounds[0].Passes[0]
	if d := cmp.Diff(p.Outcome.Read.Lat, q.Outcome.Read.Lat); d != "" {
		t.Errorf("lat (-want +got):\n%s", d)
	}
	if q.Outcome.Read.Bytes != p.Outcome.Read.Bytes || q.Outcome.Read.IOs != 3 || q.Outcome.ElapsedNS() != 2e9 || q.Outcome.Write != nil || q.Outcome.Read.Clat != nil {
		t.Errorf("%+v", q.Outcome)
	}
	if q.Outcome.Usage != p.Outcome.Usage || !q.StartedAt.Equal(p.StartedAt) || !back.Ended.Equal(rec.Ended) {
		t.Errorf("usage %+v, started %v, ended %v", q.Outcome.Usage, q.StartedAt, back.Ended)
	}
	if back.Tool.Name != "nativ" || len(back.Warnings) != 0 {
		t.Errorf("%+v %+v", back.Tool, back.Warnings)
	}
	if d := cmp.Diff(rec.Plan.Phases[0], back.Plan.Phases[0]); d != "" {
		t.Errorf("phase (-want +got):\n%s", d)
	}
	if d := back.Import.Disks[0]; d.ReadIOs != 100 || *d.ReadBytes != 409600 || *d.Util != 0.05 {
		t.Errorf("disk %+v", d)
	}
}

// What was read from fio is written as it was.
func TestRoundTripFio(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		t.Run(name, func(t *testing.T) {
			rec := toRecord(t, name)
			back := roundTripIfAny(t, rec)
			if back == nil {
				return
			}
			for i := range rec.Rounds {
				a, b := &rec.Rounds[i].Passes[0], &back.Rounds[i].Passes[0]
				forgetPercentiles(a.Outcome)
				forgetPercentiles(b.Outcome)
				forgetClasses(a.Outcome, b.Outcome)
				if d := cmp.Diff(a.Outcome, b.Outcome, nearly); d != "" {
					t.Errorf("outcome of %s changed (-want +got):\n%s", a.Phase, d)
				}
			}
			if d := cmp.Diff(rec.Plan.Phases, back.Plan.Phases); d != "" {
				t.Errorf("phases changed (-want +got):\n%s", d)
			}
			if d := cmp.Diff(rec.Import.Disks, back.Import.Disks, nearly); d != "" {
				t.Errorf("disks changed (-want +got):\n%s", d)
			}
		})
	}
}

// forgetPercentiles removes those that follow from a histogram: they are written
// for tools that do not compute their own.
func forgetPercentiles(o *record.Outcome) {
	for _, f := range []*record.Flow{o.Read, o.Write, o.Sync, o.Mixed} {
		if f == nil || f.Given == nil {
			continue
		}
		for _, s := range []struct {
			h *record.Histogram
			s *record.Summary
		}{{f.Slat, f.Given.Slat}, {f.Clat, f.Given.Clat}, {f.Lat, f.Given.Lat}} {
			if s.h != nil && s.s != nil {
				s.s.Percentiles = nil
			}
		}
	}
}

// forgetClasses removes latency classes that were computed for tools, because the
// first has none.
func forgetClasses(a, b *record.Outcome) {
	for i := range a.Clones {
		forgetClasses(&a.Clones[i], &b.Clones[i])
	}
	if b.ToolRun == nil || a.ToolRun != nil && (a.ToolRun.LatencyNS != nil || a.ToolRun.LatencyUS != nil || a.ToolRun.LatencyMS != nil) {
		return
	}
	b.ToolRun.LatencyNS, b.ToolRun.LatencyUS, b.ToolRun.LatencyMS = nil, nil, nil
	if cmp.Equal(b.ToolRun, &record.ToolRun{}) {
		b.ToolRun = nil
	}
}

// nearly: fio's form has six decimals, and shares of CPU time are of milliseconds.
var nearly = cmp.Options{
	cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(a)) }),
	cmp.Comparer(func(a, b record.Usage) bool {
		return math.Abs(float64(a.UserNS-b.UserNS)) < 1e4 && math.Abs(float64(a.SystemNS-b.SystemNS)) < 1e4
	}),
}

func roundTripIfAny(t *testing.T, rec *record.Record) *record.Record {
	for _, r := range rec.Rounds {
		if r.Passes[0].Outcome == nil {
			return nil
		}
	}
	return roundTrip(t, rec)
}

// The keys that tools which read fio's JSON cannot do without, as fio-plot's.
func TestKeysForTools(t *testing.T) {
	var b bytes.Buffer
	if err := FromRecord(&b, measured(histogramOf([]int64{80_000, 3_000_000_000}), nil)); err != nil {
		t.Fatal(err)
	}
	var root struct {
		Version string `json:"fio version"`
		Jobs    []map[string]json.RawMessage
	}
	if err := json.Unmarshal(b.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	j := root.Jobs[0]
	var opts map[string]string
	if err := json.Unmarshal(j["job options"], &opts); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{"rw": "randread", "bs": "4k", "iodepth": "32", "numjobs": "4", "runtime": "2s", "size": "1g"} {
		if opts[k] != want {
			t.Errorf("option %s=%q, want %q", k, opts[k], want)
		}
	}
	for _, k := range []string{"usr_cpu", "sys_cpu", "latency_ns", "latency_us", "latency_ms", "read", "write", "trim"} {
		if j[k] == nil {
			t.Errorf("no %q", k)
		}
	}
	var read struct {
		BW     int64   `json:"bw"`
		IOPS   float64 `json:"iops"`
		Stddev float64 `json:"iops_stddev"`
		N      int     `json:"iops_samples"`
		Lat    struct {
			Mean, Stddev float64
			Percentile   map[string]int64
		} `json:"lat_ns"`
	}
	if err := json.Unmarshal(j["read"], &read); err != nil {
		t.Fatal(err)
	}
	if read.IOPS != 1 || read.BW != 4 || read.N != 2 || read.Lat.Mean == 0 || read.Lat.Percentile["99.000000"] == 0 {
		t.Errorf("%+v", read)
	}
	type latency struct {
		N          int64
		Mean       float64
		Percentile map[string]int64
	}
	var lats struct {
		Slat latency `json:"slat_ns"`
		Clat latency `json:"clat_ns"`
		Lat  latency `json:"lat_ns"`
	}
	if err := json.Unmarshal(j["read"], &lats); err != nil {
		t.Fatal(err)
	}
	// As fio has it where an I/O is one call: no slat, and clat is lat.
	if d := cmp.Diff(lats.Lat, lats.Clat); d != "" || lats.Slat.N != 0 || lats.Clat.Percentile["99.000000"] == 0 {
		t.Errorf("slat %+v, clat is not lat:\n%s", lats.Slat, d)
	}
	if !bytes.Contains(j["nativ"], []byte(`"clat_ns"`)) {
		t.Errorf("nothing says that clat is lat: %s", j["nativ"])
	}
	var msShare map[string]float64
	if err := json.Unmarshal(j["latency_ms"], &msShare); err != nil || msShare[">=2000"] != 50 {
		t.Errorf("%v %v", msShare, err)
	}
}

// fio's own tool reads what we write, and finds every bin in it.
func TestFioTool(t *testing.T) {
	const tool = "/usr/bin/fio_jsonplus_clat2csv"
	if _, err := os.Stat(tool); err != nil {
		t.Skip("fio_jsonplus_clat2csv is not installed (Debian: apt install fio)")
	}
	if err := exec.Command("python3", "-c", "import six").Run(); err != nil {
		t.Skip("fio_jsonplus_clat2csv needs python3 with the module six")
	}
	dir := t.TempDir()
	source, dest := filepath.Join(dir, "out.json"), filepath.Join(dir, "out.csv")
	rec := measured(histogramOf([]int64{5, 80_000, 80_100, 3_000_000_000}), histogramOf([]int64{7}))
	imported := toRecord(t, "fio-3.33-jsonplus.json") // with slat and clat
	imported.Rounds[0].Passes[0].Index = 1
	rec.Rounds = append(rec.Rounds, imported.Rounds...)
	var b bytes.Buffer
	if err := FromRecord(&b, rec); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{source, dest}, {source, dest, "--validate"}} {
		out, err := exec.Command(tool, args...).CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("mismatch")) {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	csv, err := os.ReadFile(filepath.Join(dir, "out_job0.csv"))
	if err != nil {
		t.Fatal(err)
	}
	// The engine measured lat alone, which is then clat, too, as in fio.
	columns := strings.Split(strings.SplitN(string(csv), "\n", 2)[0], ", ")
	sums := map[string]int{}
	for line := range strings.Lines(string(csv)) {
		for i, cell := range strings.Split(strings.TrimSpace(line), ",") {
			if n, err := strconv.Atoi(strings.TrimSpace(cell)); err == nil && i < len(columns) && strings.HasSuffix(columns[i], "_count") {
				sums[columns[i]] += n
			}
		}
	}
	want := map[string]int{"read_clat_ns_count": 4, "read_lat_ns_count": 4, "write_clat_ns_count": 1, "write_lat_ns_count": 1}
	if d := cmp.Diff(want, sums); d != "" {
		t.Errorf("I/Os in the columns (-want +got):\n%s", d)
	}
	for i, want := range []int{4, 24} {
		csv, err := os.ReadFile(filepath.Join(dir, "out_job"+strconv.Itoa(i)+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(csv, []byte("\n")); n < want {
			t.Errorf("%d lines for job %d:\n%s", n, i, csv)
		}
	}
}
