package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// latencies makes a histogram of n latencies around ns.
func latencies(n int, ns int64) *record.Histogram {
	h := &record.Histogram{}
	for i := range n {
		h.Add(ns + int64(i%100)*ns/50)
	}
	return h
}

// jobsRecord is an invented run of nativ fio: two jobs side by side, of which
// one has clones with files of their own, then one that failed half-way.
func jobsRecord() *record.Record {
	rec := healthy()
	rec.Rounds, rec.Places, rec.Warnings = nil, rec.Places[:1], nil
	rec.Plan.Preset, rec.Plan.Places, rec.Plan.Steps = "fio", []string{record.PlaceHost}, nil
	rec.Plan.Phases = []job.Phase{
		{Name: "db", Mode: job.RandRW, BlockSize: 8192, WriteBlockSize: 16384, IODepth: 16, NumJobs: 4, Direct: true, Engine: "io_uring"},
		{Name: "log", Mode: job.Write, BlockSize: 4096, IODepth: 1, NumJobs: 1, FDataSync: 1, Engine: "psync"},
		{Name: "log#2", Mode: job.Write, BlockSize: 4096, IODepth: 1, NumJobs: 1, FDataSync: 1, Engine: "psync"},
		{Name: "scan", Mode: job.Read, BlockSize: 1 << 20, IODepth: 8, NumJobs: 1, Engine: "fio/libaio", Raw: []string{"bssplit=64k/50:1m/50"}},
	}
	rec.Jobs = &record.Jobs{
		Groups: [][]int{{0, 1, 2}, {3}},
		Results: []record.JobResult{
			{Name: "db", Group: 0, Phases: []int{0}},
			{Name: "log", Group: 0, Phases: []int{1, 2}, Percentiles: []float64{50, 99, 99.9}},
			{Name: "scan", Group: 1, Phases: []int{3}},
		},
		Files: []record.JobFile{
			{Given: "/mnt/nvme1/db", Path: "/mnt/nvme1/nativ-0123.dat", Size: 4 << 30, Made: true},
			{Path: "/mnt/nvme1/nativ-4567.dat", Size: 1 << 30, Made: true},
			{Given: "/mnt/nvme1/big.iso", Path: "/mnt/nvme1/big.iso", Size: 3 << 30, Sparse: true},
		},
	}
	syncs := func(ns int64) *record.Outcome {
		return &record.Outcome{
			StartNS: 1e9, EndNS: 11e9, Stopped: record.StopTime, Usage: record.Usage{UserNS: 1e8, SystemNS: 9e8},
			Write: &record.Flow{IOs: 5000, Bytes: 5000 * 4096, Lat: latencies(5000, 20_000), Slat: latencies(5000, 5000), Clat: latencies(5000, 15_000)},
			Sync:  &record.Flow{IOs: 5000, Lat: latencies(5000, ns)},
		}
	}
	watch := record.Watch{
		Before: &record.Sample{MonoNS: 1e9, Devices: map[string]record.DeviceCounters{"nvme0n1": {ReadMerges: new(int64(3)), WriteMerges: new(int64), ReadNS: new(int64), WriteNS: new(int64)}}},
		After: &record.Sample{MonoNS: 11e9, Devices: map[string]record.DeviceCounters{"nvme0n1": {
			ReadIOs: 90_000, ReadBytes: 90_000 * 8192, WriteIOs: 70_000, WriteBytes: 60_000*16384 + 10_000*4096, BusyNS: 9_870_000_000,
			ReadMerges: new(int64(15)), WriteMerges: new(int64(1_200)), ReadNS: new(int64(31e9)), WriteNS: new(int64(42e8)), QueueNS: 352e8,
		}}},
	}
	rec.Rounds = []record.Round{
		{Phase: "db", Passes: []record.Pass{
			{Phase: "db", Place: record.PlaceHost, Index: 0, Watch: watch, Outcome: &record.Outcome{
				StartNS: 1e9, EndNS: 11e9, Stopped: record.StopTime, Usage: record.Usage{UserNS: 4e8, SystemNS: 4e9},
				Read:  &record.Flow{IOs: 90_000, Bytes: 90_000 * 8192, Lat: latencies(90_000, 250_000)},
				Write: &record.Flow{IOs: 60_000, Bytes: 60_000 * 16384, Lat: latencies(60_000, 30_000)},
			}},
			{Phase: "log", Place: record.PlaceHost, Index: 1, Outcome: syncs(800_000)},
			{Phase: "log#2", Place: record.PlaceHost, Index: 2, Outcome: syncs(900_000)},
		}},
		{Phase: "scan", Passes: []record.Pass{
			{Phase: "scan", Place: record.PlaceHost, Index: 3,
				Failed: &record.Failure{Code: record.FailIO, Detail: "read: EIO at offset 1048576 (1 times)"},
				Outcome: &record.Outcome{StartNS: 12e9, EndNS: 13e9, Stopped: record.StopError, UsageUnknown: true,
					Command: []string{"/usr/bin/fio", "--name=scan", "--rw=read", "--description=it's; two words", "-"},
					Read:    &record.Flow{IOs: 3, Bytes: 3 << 20, Lat: latencies(3, 500_000)}}},
		}},
	}
	rec.Complete = false
	rec.Incomplete = []record.Missing{{Code: record.MissingPassFailed, Phase: "scan", Place: record.PlaceHost, Detail: "io-error"}}
	rec.Ended = rec.Started.Add(15 * time.Second)
	rec.Cleaned = &record.Cleaned{}
	return rec
}

func TestJobs(t *testing.T) {
	for _, lang := range Langs() {
		rec := jobsRecord()
		golden(t, "jobs."+lang+".txt", text(t, rec, Options{Lang: lang, Files: []string{"/x/record.json"}}))
		var b bytes.Buffer
		files := []PlannedFile{{Path: "/mnt/nvme1", Size: 4 << 30, Made: true}, {Path: "/mnt/nvme1/big.iso", Size: 3 << 30}}
		if err := JobsPlan(&b, rec, files, lang); err != nil {
			t.Fatal(err)
		}
		golden(t, "jobs.plan."+lang+".txt", b.String())
	}
	golden(t, "jobs.en.md", markdown(t, jobsRecord(), Options{Lang: "en", Details: true}))
}

// Without group_reporting each clone has a result of its own, and the fault of
// one is not said of the others.
func TestJobsClones(t *testing.T) {
	for _, lang := range Langs() {
		rec := jobsRecord()
		rec.Plan.Phases[0].NumJobs = 2
		rec.Rounds, rec.Jobs.Groups, rec.Jobs.Results = rec.Rounds[:1], rec.Jobs.Groups[:1], rec.Jobs.Results[:1]
		rec.Jobs.Results[0].Percentiles = []float64{50, 99}
		p := &rec.Rounds[0].Passes[0]
		rec.Rounds[0].Passes = rec.Rounds[0].Passes[:1]
		clone := func(ios int, ns int64) record.Outcome {
			return record.Outcome{
				StartNS: 1e9, EndNS: 11e9, Stopped: record.StopTime, Usage: record.Usage{UserNS: 2e8, SystemNS: 2e9},
				Read:  &record.Flow{IOs: int64(ios), Bytes: int64(ios) * 8192, Lat: latencies(ios, ns)},
				Write: &record.Flow{IOs: 30_000, Bytes: 30_000 * 16384, Lat: latencies(30_000, 30_000)},
			}
		}
		p.Outcome.Clones = []record.Outcome{clone(50_000, 200_000), clone(40_000, 300_000)}
		p.Outcome.Clones[1].Errors = []record.IOError{{Op: "read", Errno: "EIO", Offset: 8192, Count: 1}}
		p.Failed = &record.Failure{Code: record.FailIO, Detail: "read: EIO at offset 8192 (1 times)"}
		golden(t, "jobs-clones."+lang+".txt", text(t, rec, Options{Lang: lang}))
	}
}

// What the calibration doubts is said, of the engine that was calibrated alone.
func TestJobsToolLimit(t *testing.T) {
	rec := jobsRecord()
	rec.Calibration = &record.Calibration{NopsPerSec: 4000, SinglesPerSec: 1500, Batch: 32, Engine: record.Engine{Name: "io_uring"}}
	rec.Places[0].Worker = nil
	const doubt = "nativ itself may be the limit"
	out := text(t, rec, Options{Lang: "en", Details: true})
	if !strings.Contains(out, doubt) || !strings.Contains(out, "Calibration") {
		t.Errorf("no doubt about 9000 IOPS of at most 4000 a core:\n%s", out)
	}
	rec.Plan.Phases[0].Engine = "libaio"
	if out := text(t, rec, Options{Lang: "en"}); strings.Contains(out, doubt) {
		t.Errorf("libaio was not calibrated:\n%s", out)
	}
}

// A run that was ended before anything came of it has a summary, too.
func TestJobsWithoutNumbers(t *testing.T) {
	rec := jobsRecord()
	rec.Rounds, rec.Places, rec.Cleaned = nil, nil, nil
	golden(t, "jobs-empty.en.txt", text(t, rec, Options{Lang: "en"}))
}
