package fio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nativ/internal/analysis"
	"nativ/internal/fio/fiotest"
	fiojson "nativ/internal/fio/json"
	"nativ/internal/job"
	"nativ/internal/record"
	reporting "nativ/internal/report"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// runBoth runs a phase and returns, beside the outcome, what fio itself wrote of
// the same run.
func runBoth(t *testing.T, e *Engine, tk target.Ticket, p job.Phase) (*record.Outcome, []record.Interval, []byte) {
	t.Helper()
	r, err := e.prepare(&p, []*target.Claim{enginetest.Claim(t, tk, p.Mode.Writes(), p.Direct)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	proc, err := r.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ivs []record.Interval
	o, err := r.run(t.Context(), proc, func(ev record.Event) {
		if ev.Interval != nil {
			ivs = append(ivs, *ev.Interval)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(r.dir, outputFile))
	if err != nil {
		t.Fatal(err)
	}
	return o, ivs, b
}

// recordOf is the record of nativ fio with one job.
func recordOf(p job.Phase, o *record.Outcome, ivs []record.Interval) *record.Record {
	return &record.Record{
		SchemaVersion: record.SchemaVersion, Tool: record.Tool{Name: "nativ", Version: "1"}, Complete: true,
		Plan:   record.Plan{Phases: []job.Phase{p}, Places: []string{record.PlaceHost}, Steps: []record.Step{{Phase: p.Name, Place: record.PlaceHost}}},
		Places: []record.Place{{Name: record.PlaceHost}},
		Jobs:   &record.Jobs{Groups: [][]int{{0}}, Results: []record.JobResult{{Name: p.Name, Phases: []int{0}}}},
		Rounds: []record.Round{{Phase: p.Name, Passes: []record.Pass{{Phase: p.Name, Place: record.PlaceHost, Outcome: o, Intervals: ivs}}}},
	}
}

func writtenAs(t *testing.T, rec *record.Record) []map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := fiojson.FromRecord(&b, rec); err != nil {
		t.Fatal(err)
	}
	return fiotest.Jobs(t, b.Bytes())
}

// What a run by fio is written as is what fio itself wrote of it, value by value,
// whatever engine, jobs and mode; and the summary has its latencies.
func TestMatrix(t *testing.T) {
	needFio(t)
	tk := written(t, 8*mib)
	for _, engine := range []string{"libaio", "psync", "io_uring"} {
		for _, jobs := range []string{"one", "grouped", "each"} {
			for _, mode := range []job.Mode{job.RandRead, job.RandRW} {
				t.Run(fmt.Sprintf("%s/%s/%s", engine, jobs, mode), func(t *testing.T) {
					p := job.Phase{Name: "m", Mode: mode, BlockSize: 4096, IODepth: 4, NumJobs: 1, Direct: true, RuntimeNS: 3e8, RandSeed: 5, Engine: "fio/" + engine}
					if mode.Mixed() {
						p.RWMixRead = 60
					}
					if jobs != "one" {
						p.NumJobs, p.PerClone = 2, jobs == "each"
					}
					o, ivs, raw := runBoth(t, &Engine{IOEngine: engine}, tk, p)
					rec := recordOf(p, o, ivs)
					want, got := fiotest.Jobs(t, raw), writtenAs(t, rec)
					if len(want) != len(got) {
						t.Fatalf("fio has %d entries, we write %d", len(want), len(got))
					}
					for i := range want {
						for _, d := range fiotest.Differences(fmt.Sprint(i), want[i], got[i]) {
							if !otherwise(d, jobs == "grouped") {
								t.Error(d)
							}
						}
					}
					var text bytes.Buffer
					opts := reporting.Options{Lang: "en"}
					if err := reporting.Text(&text, reporting.Build(rec, analysis.Compute(rec), opts), reporting.Width); err != nil {
						t.Fatal(err)
					}
					for _, dir := range []string{"read", "write"} {
						has := func(what string) bool { return strings.Contains(text.String(), "\n"+dir+" "+what+" ") }
						does := dir == "read" || mode.Mixed()
						if has("lat") != does || has("clat") != does || has("slat") != (does && engine != "psync") {
							t.Errorf("latencies of %s:\n%s", dir, text.String())
						}
					}
				})
			}
		}
	}
}

// otherwise reports whether a value is another on purpose.
func otherwise(diff string, summed bool) bool {
	key, _, _ := strings.Cut(diff, ": ")
	_, key, _ = strings.Cut(key, ".") // the number of the job
	if strings.HasPrefix(key, "job options.") || strings.HasPrefix(key, "latency_") && strings.Count(key, ".") == 0 {
		return true // those that the user gave; options of fio's that we do not repeat
	}
	if slices.Contains([]string{"elapsed", "eta"}, key) {
		return true // of the whole invocation
	}
	_, field, _ := strings.Cut(key, ".")
	sample := strings.HasPrefix(field, "bw_") && field != "bw_bytes" || strings.HasPrefix(field, "iops_")
	// fio adds minima up over threads, and takes none in a run this short.
	return sample && (summed || strings.HasSuffix(diff, ": gone"))
}

// The reads that verify are in no number of a pass that writes, and are told.
func TestVerify(t *testing.T) {
	needFio(t)
	tk := written(t, 1*mib)
	p := job.Phase{Name: "v", Mode: job.RandWrite, BlockSize: 4096, IODepth: 2, NumJobs: 1, Direct: true, Once: true, RandSeed: 5,
		RandomMap: true, Engine: "fio/libaio", Raw: []string{"verify=crc32c", "do_verify=1"}}
	o, ivs, raw := runBoth(t, &Engine{IOEngine: "libaio"}, tk, p)
	if o.Read != nil || o.Write.IOs != 256 || o.Verified == nil || o.Verified.Flow.IOs != 256 || len(o.Errors) > 0 {
		t.Fatalf("read %+v, write %+v, verified %+v, errors %v", o.Read, o.Write, o.Verified, o.Errors)
	}
	rec := recordOf(p, o, ivs)
	for i, want := range fiotest.Jobs(t, raw) {
		for _, d := range fiotest.Differences(fmt.Sprint(i), want, writtenAs(t, rec)[i]) {
			if !otherwise(d, false) {
				t.Error(d)
			}
		}
	}
	for lang, words := range map[string]string{"en": "fio then read 256 blocks back", "de": "fio hat danach 256 Blöcke"} {
		var text bytes.Buffer
		if err := reporting.Text(&text, reporting.Build(rec, analysis.Compute(rec), reporting.Options{Lang: lang}), reporting.Width); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), words) {
			t.Errorf("%s: it does not say so:\n%s", lang, text.String())
		}
	}
}

// A drive whose first I/O fails is an I/O error, not a fault of fio's output.
func TestFirstError(t *testing.T) {
	needFio(t)
	b, err := os.ReadFile("testdata/error-first.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, outputFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := readReport(os.DirFS(dir), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := job.Phase{Name: "e", Mode: job.RandRead, BlockSize: 4096, IODepth: 4, NumJobs: 1, Direct: true, RuntimeNS: 2e9}
	o, err := r.outcome(&p, false, 8*mib, 8*mib)
	if err != nil {
		t.Fatal(err)
	}
	want := []record.IOError{{Op: "read", Errno: "EIO", Offset: 503808, Count: 4}}
	if !slices.Equal(o.Errors, want) || o.Stopped != record.StopError || o.Read.IOs != 0 || o.Read.Lat.N() != 0 {
		t.Errorf("errors %+v, read %+v, stopped %q", o.Errors, o.Read, o.Stopped)
	}
	// Beside one that goes on, its latencies are not missed.
	good := r.Jobs[0]
	good.Error = 0
	h := &record.Histogram{}
	h.Add(1000)
	good.Read = &fiojson.Flow{Bytes: new(int64(4096)), IOs: new(int64(1)), RuntimeNS: 1e9, Lat: &fiojson.Latency{Histogram: h, N: new(int64(1))}}
	r.Jobs = append(r.Jobs, good)
	p.NumJobs, p.PerClone = 2, true
	if o, err = r.outcome(&p, false, 8*mib, 8*mib); err != nil {
		t.Fatal(err)
	}
	if o.Read.IOs != 1 || o.Read.Lat.N() != 1 || o.Clones[0].Read.IOs != 0 || o.Clones[1].Read.IOs != 1 || len(o.Clones[1].Errors) != 0 {
		t.Errorf("%+v", o.Read)
	}
}
