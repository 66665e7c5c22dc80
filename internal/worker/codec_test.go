package worker

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

var update = flag.Bool("update", false, "rewrite golden files")

func goldenRequest() Request {
	p := job.Quick().Phases[0]
	p.RuntimeNS, p.RandSeed = 2_500_000_000, 42
	return Request{
		Version: ProtocolVersion, Engine: "io_uring", Phase: p,
		Tickets: []target.Ticket{{
			Path: "/bench/nativ-0123456789abcdef0123456789abcdef.dat", DevMajor: 259, DevMinor: 1, Ino: 12,
			Size: 16 << 30, Nonce: "0123456789abcdef0123456789abcdef", Direct: true,
		}},
		GOMAXPROCS: 8, DeadlineNS: 32_500_000_000,
	}
}

func goldenEvents() []record.Event {
	lat := &record.Histogram{}
	for _, ns := range []int64{90_000, 100_000, 2_000_000} {
		lat.Add(ns)
	}
	p50, most, lock := int64(100_000), int64(2_000_000), int64(8<<20)
	return []record.Event{
		{Type: record.EventReady, MonoNS: 1, Version: ProtocolVersion, Worker: &record.Worker{
			PID: 2, PIDNamespace: "pid:[4026531836]", UserNS: "user:[4026531837]", CPUs: []int{0, 2},
			GOMAXPROCS: 8, MemlockBytes: &lock, Seccomp: "filter", AppArmor: "unconfined",
			Engine: record.Engine{Name: "io_uring", Setup: []string{"IORING_SETUP_SINGLE_ISSUER"}, RegisteredFiles: true},
		}},
		{Type: record.EventStarted, MonoNS: 10},
		{Type: record.EventInterval, MonoNS: 1_000_000_010, Interval: &record.Interval{
			EndNS: 1_000_000_000, LenNS: 1_000_000_000, ReadIOs: 3, ReadBytes: 12288, P50NS: &p50, P99NS: &most, MaxNS: &most,
		}},
		{Type: record.EventTrace, MonoNS: 11, Trace: []record.TraceIO{
			{MonoNS: 11, Job: 1, File: 0, Op: "read", Offset: 8192, Len: 4096}, {MonoNS: 12, File: 1, Op: "fsync"},
		}},
		{Type: record.EventEnded, MonoNS: 1_000_000_020},
		{Type: record.EventClone, MonoNS: 1_000_000_025, Outcome: &record.Outcome{
			StartNS: 10, EndNS: 1_000_000_015, Stopped: record.StopError,
			Read:   &record.Flow{IOs: 3, Bytes: 12288, Lat: lat},
			Errors: []record.IOError{{Op: "read", Errno: "EIO", Offset: 4096, Count: 1}}, Usage: record.Usage{UserNS: 2, SystemNS: 3},
		}},
		{Type: record.EventResult, MonoNS: 1_000_000_030, Outcome: &record.Outcome{
			StartNS: 10, EndNS: 1_000_000_020, Stopped: record.StopTime,
			Read:  &record.Flow{IOs: 3, Bytes: 12288, Lat: lat},
			Usage: record.Usage{UserNS: 5, SystemNS: 7},
		}},
		{Type: record.EventError, MonoNS: 1_000_000_040, Error: &record.Failure{Code: record.FailTicket, Detail: "reopen: it is another file"}},
	}
}

// TestGoldenLines holds the protocol still. A difference means a new
// ProtocolVersion.
func TestGoldenLines(t *testing.T) {
	lines := []any{goldenRequest(), Go{Go: true}}
	for _, e := range goldenEvents() {
		lines = append(lines, e)
	}
	var got bytes.Buffer
	for _, l := range lines {
		if err := json.NewEncoder(&got).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join("testdata", "lines.golden.jsonl")
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("lines changed (-want +got):\n%s", diff)
	}

	text := strings.Split(strings.TrimSpace(string(want)), "\n")
	req, err := parseRequest([]byte(text[0]))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(goldenRequest(), req); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	for i, want := range goldenEvents() {
		e, err := parseEvent([]byte(text[i+2]))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	good, err := json.Marshal(goldenRequest())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{`"version":3`, `"version":4,"more":1`, "protocol version 4"},
		{`"engine":"io_uring"`, `"engine":""`, "no engine"},
		{`"gomaxprocs":8`, `"gomaxprocs":0`, "gomaxprocs=0"},
		{`"deadline_ns":32500000000`, `"deadline_ns":-1`, "deadline_ns=-1"},
		{`"numjobs":4`, `"numjobs":0`, "numjobs=0"},
		{`"engine"`, `"motor"`, "unknown field"},
	} {
		line := strings.Replace(string(good), test.old, test.new, 1)
		if _, err := parseRequest([]byte(line)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.new, err, test.want)
		}
	}
	if _, err := parseRequest(append(good, " {}"...)); err == nil {
		t.Error("a second value on the line was not refused")
	}
}

func FuzzParseRequest(f *testing.F) {
	good, _ := json.Marshal(goldenRequest())
	f.Add(good)
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseRequest(line)
		if err != nil {
			return
		}
		if r.Version != ProtocolVersion || r.GOMAXPROCS < 1 || r.DeadlineNS <= 0 || r.Phase.Validate() != nil {
			t.Fatalf("accepted %+v", r)
		}
	})
}

func FuzzParseEvent(f *testing.F) {
	for _, e := range goldenEvents() {
		line, _ := json.Marshal(e)
		f.Add(line)
	}
	f.Add([]byte(`{"type":"ready"}`))
	f.Add([]byte(`{"type":"result","outcome":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parseEvent(line)
		if err != nil {
			return
		}
		switch e.Type {
		case record.EventReady:
			_ = *e.Worker
		case record.EventInterval:
			_ = *e.Interval
		case record.EventResult:
			_ = failure(e.Outcome, false)
		case record.EventError:
			_ = *e.Error
		}
	})
}
