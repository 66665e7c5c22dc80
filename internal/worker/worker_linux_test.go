package worker

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/target"
)

// role names what a re-executed test binary does instead of testing.
const role = "NATIV_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "serve":
		if err := Serve(context.Background(), os.Stdin, os.Stdout, reader{}, stuck{}, broken{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "stuck":
		s := &server{out: os.Stdout, engines: []Engine{stuck{}}, grace: 20 * time.Millisecond, exit: os.Exit}
		_ = s.serve(context.Background(), os.Stdin)
	case "garbage":
		fmt.Println("Segmentation fault")
		io.Copy(io.Discard, os.Stdin)
	case "endless":
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	case "silent":
		time.Sleep(time.Hour)
	}
}

// A reader is an engine that reads for real, one block after the other.
type reader struct{}

func (reader) Name() string                  { return "test" }
func (reader) Probe() (record.Engine, error) { return record.Engine{Name: "test"}, nil }
func (reader) Run(ctx context.Context, p job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	sink(record.Event{Type: record.EventReady, MonoNS: monotonic()})
	if ctx.Err() != nil {
		return nil, errors.New("ended before the start")
	}
	o := &record.Outcome{StartNS: monotonic(), Stopped: record.StopTime, Read: &record.Flow{Lat: &record.Histogram{}}}
	sink(record.Event{Type: record.EventStarted, MonoNS: o.StartNS})
	buf := make([]byte, p.BlockSize)
	for monotonic() < o.StartNS+p.RuntimeNS {
		before := monotonic()
		if _, err := syscall.Pread(files[0].Fd(), buf, 0); err != nil {
			return nil, err
		}
		o.Read.IOs++
		o.Read.Bytes += p.BlockSize
		o.Read.Lat.Add(monotonic() - before)
		if o.Read.IOs%10 == 0 {
			sink(record.Event{Type: record.EventInterval, MonoNS: monotonic(), Interval: &record.Interval{ReadIOs: 10}})
			time.Sleep(time.Millisecond)
		}
		if ctx.Err() != nil {
			o.Stopped = record.StopAsked
			break
		}
	}
	o.EndNS = monotonic()
	if p.PerClone {
		o.Clones = make([]record.Outcome, p.NumJobs)
		for i := range o.Clones {
			o.Clones[i] = record.Outcome{StartNS: o.StartNS, EndNS: o.EndNS - int64(i), Stopped: o.Stopped, Read: widest()}
		}
	}
	sink(record.Event{Type: record.EventEnded, MonoNS: o.EndNS})
	return o, nil
}

// widest is a flow whose line is as long as one gets.
func widest() *record.Flow {
	h := &record.Histogram{Counts: make([]uint64, record.Buckets), Min: 1 << 62, Max: 1<<62 + 1, Sum: 1 << 62}
	for i := range h.Counts {
		h.Counts[i] = 1 << 52
	}
	return &record.Flow{IOs: h.N(), Lat: h, Slat: h, Clat: h}
}

// stuck never comes back, as on a device that holds its I/Os.
type stuck struct{}

func (stuck) Name() string                  { return "stuck" }
func (stuck) Probe() (record.Engine, error) { return record.Engine{Name: "stuck"}, nil }
func (stuck) Run(ctx context.Context, p job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	sink(record.Event{Type: record.EventReady, MonoNS: monotonic()})
	sink(record.Event{Type: record.EventStarted, MonoNS: monotonic()})
	select {}
}

type broken struct{ stuck }

func (broken) Name() string { return "broken" }
func (broken) Probe() (record.Engine, error) {
	return record.Engine{}, errors.New("set up io_uring: it is switched off")
}

// testFile makes a test file the way a run does.
func testFile(t *testing.T) *target.File {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	boot, err := journal.BootID()
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(t.TempDir(), journal.Header{RunID: "test", PID: os.Getpid(), UID: os.Getuid(), BootID: boot, Started: time.Now(), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	nonce := make([]byte, 16)
	rand.Read(nonce)
	f, err := target.Create(dir, 1<<20, hex.EncodeToString(nonce), j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.Remove(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func request(f *target.File, runtime time.Duration) Request {
	return Request{
		Engine: "test",
		Phase: job.Phase{Name: "read", Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 1,
			RuntimeNS: int64(runtime)},
		Tickets:    []target.Ticket{f.Ticket(f.Path(), false, false)},
		GOMAXPROCS: 5,
		DeadlineNS: int64(time.Minute),
	}
}

// A child is a re-executed test binary.
type child struct {
	*exec.Cmd
	Client
	stderr bytes.Buffer
}

func spawn(t *testing.T, as string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), role+"="+as)
	c.Cmd.Stderr = &c.stderr
	var err error
	if c.Client.Stdin, err = c.Cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.Client.Stdout, err = c.Cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}

func discard(record.Event) {}

func TestWholePass(t *testing.T) {
	f := testFile(t)
	c := spawn(t, "serve")
	var types []string
	o, failed, w := c.Do(t.Context(), request(f, 50*time.Millisecond), func(e record.Event) {
		if len(types) == 0 || types[len(types)-1] != e.Type {
			types = append(types, e.Type)
		}
	})
	if failed != nil || o == nil || w == nil {
		t.Fatalf("%v %+v %v; stderr %q", o, failed, w, c.stderr.String())
	}
	if got := strings.Join(types, " "); got != "ready started interval ended result" {
		t.Errorf("events %s", got)
	}
	if o.Read.IOs == 0 || o.Read.Lat.N() != o.Read.IOs {
		t.Errorf("%d I/Os, %d latencies", o.Read.IOs, o.Read.Lat.N())
	}
	if w.PID != c.Process.Pid || w.UID != os.Getuid() || w.GOMAXPROCS != 5 || len(w.CPUs) != runtime.NumCPU() || !strings.HasPrefix(w.UserNS, "user:[") {
		t.Errorf("worker %+v", w)
	}
	c.Client.Stdin.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("the worker ended with %v; stderr %q", err, c.stderr.String())
	}
}

// Clones come in lines of their own, however long they are together.
func TestClones(t *testing.T) {
	f := testFile(t)
	c := spawn(t, "serve")
	req := request(f, time.Millisecond)
	req.Phase.NumJobs, req.Phase.PerClone, req.GOMAXPROCS = 64, true, 68
	results := 0
	o, failed, _ := c.Do(t.Context(), req, func(e record.Event) {
		if e.Type == record.EventResult {
			results++
		}
	})
	if failed != nil || results != 1 || len(o.Clones) != 64 {
		t.Fatalf("%v, %d results; stderr %q", failed, results, c.stderr.String())
	}
	for i := range o.Clones {
		if got := &o.Clones[i]; got.EndNS != o.EndNS-int64(i) || got.Read.IOs != widest().IOs || got.Read.Clat.N() != got.Read.IOs {
			t.Fatalf("clone %d is %+v", i, got)
		}
	}
	c.Client.Stdin.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

func TestReadyComesBeforeGo(t *testing.T) {
	f := testFile(t)
	c := spawn(t, "serve")
	var ready, started int64
	_, failed, _ := c.Do(t.Context(), request(f, time.Millisecond), func(e record.Event) {
		switch e.Type {
		case record.EventReady:
			ready = monotonic()
		case record.EventStarted:
			started = e.MonoNS
		}
	})
	if failed != nil {
		t.Fatal(failed)
	}
	if started <= ready {
		t.Errorf("the pass started at %d, before the sink had seen ready at %d", started, ready)
	}
}

func TestStdinEOFEndsIt(t *testing.T) {
	f := testFile(t)
	c := spawn(t, "serve")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o, failed, _ := c.Do(ctx, request(f, time.Hour), func(e record.Event) {
		if e.Type == record.EventInterval {
			cancel()
		}
	})
	if o == nil || o.Stopped != record.StopAsked || o.Read.IOs == 0 {
		t.Errorf("outcome %+v: want that of the time until the end", o)
	}
	if failed == nil || failed.Code != record.FailInterrupted {
		t.Errorf("failure %+v", failed)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestEOFWithoutRequestOrGo(t *testing.T) {
	c := spawn(t, "serve")
	c.Client.Stdin.Close()
	if err := c.Wait(); err == nil {
		t.Error("a worker without a request ended well")
	}
	f := testFile(t)
	c = spawn(t, "serve")
	w, failed := c.Probe(t.Context(), request(f, time.Hour))
	if failed != nil || w == nil {
		t.Fatal(w, failed)
	}
	c.Client.Stdin.Close()
	_ = c.Wait() // that it ends is what is tested
}

func TestDeadlineEndsIt(t *testing.T) {
	f := testFile(t)
	c := spawn(t, "serve")
	req := request(f, time.Hour)
	req.DeadlineNS = int64(100 * time.Millisecond)
	o, failed, _ := c.Do(t.Context(), req, discard)
	if o == nil || failed == nil || failed.Code != record.FailDeadline {
		t.Errorf("outcome %v, failure %+v", o, failed)
	}
}

func TestKilled(t *testing.T) {
	f := testFile(t)
	c := spawn(t, "serve")
	o, failed, w := c.Do(t.Context(), request(f, time.Hour), func(e record.Event) {
		if e.Type == record.EventStarted {
			c.Process.Kill()
		}
	})
	if o != nil || failed == nil || failed.Code != record.FailWorker || w == nil {
		t.Errorf("outcome %v, failure %+v, worker %v", o, failed, w)
	}
}

func TestStuckEngine(t *testing.T) {
	f := testFile(t)
	c := spawn(t, "stuck")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req := request(f, time.Hour)
	req.Engine = "stuck"
	_, failed, _ := c.Do(ctx, req, func(e record.Event) {
		if e.Type == record.EventStarted {
			cancel()
		}
	})
	if failed == nil || failed.Code != record.FailStalled {
		t.Errorf("failure %+v", failed)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitStalled {
		t.Errorf("the worker ended with %v, want exit code %d", err, exitStalled)
	}
}

func TestFailures(t *testing.T) {
	f := testFile(t)
	for _, test := range []struct {
		name, role string
		change     func(*Request)
		code, text string
	}{
		{"garbage", "garbage", func(*Request) {}, record.FailProtocol, "invalid character"},
		{"endless line", "endless", func(*Request) {}, record.FailProtocol, "line longer"},
		{"no answer", "silent", func(r *Request) { r.DeadlineNS = 1 }, record.FailDeadline, "deadline"},
		{"wrong inode", "serve", func(r *Request) { r.Tickets[0].Ino++ }, record.FailTicket, "inode"},
		{"no engine", "serve", func(r *Request) { r.Engine = "libaio" }, record.FailEngine, "libaio"},
		{"engine refused", "serve", func(r *Request) { r.Engine = "broken" }, record.FailEngine, "switched off"},
		{"bad phase", "serve", func(r *Request) { r.Phase.NumJobs = 0 }, record.FailProtocol, "numjobs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := spawn(t, test.role)
			c.Grace = 100 * time.Millisecond
			if test.role == "serve" {
				c.Grace = 0
			}
			req := request(f, time.Millisecond)
			test.change(&req)
			o, failed, _ := c.Do(t.Context(), req, discard)
			if o != nil || failed == nil || failed.Code != test.code || !strings.Contains(failed.Detail, test.text) {
				t.Errorf("outcome %v, failure %+v; want %s with %q", o, failed, test.code, test.text)
			}
		})
	}
}

func TestAskedWithoutAnswer(t *testing.T) {
	c := spawn(t, "silent")
	c.Grace = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, failed, _ := c.Do(ctx, request(testFile(t), time.Hour), discard)
	if failed == nil || failed.Code != record.FailStalled {
		t.Errorf("failure %+v", failed)
	}
}

func TestEventsOutOfOrder(t *testing.T) {
	for _, lines := range []string{
		`{"type":"started","mono_ns":1}`,
		`{"type":"error","mono_ns":1}`,
		`{"type":"result","mono_ns":1,"outcome":{"start_mono_ns":1,"end_mono_ns":2,"stopped":"runtime","usage":{"user_ns":0,"system_ns":0}}}`,
		`{"type":"ready","mono_ns":1,"version":7,"worker":{}}`,
		`{"type":"clone","mono_ns":1,"outcome":{"start_mono_ns":1,"end_mono_ns":2,"stopped":"runtime","usage":{"user_ns":0,"system_ns":0}}}`,
	} {
		c := &Client{Stdin: nopCloser{io.Discard}, Stdout: strings.NewReader(lines + "\n")}
		_, failed, _ := c.Do(t.Context(), Request{DeadlineNS: int64(time.Minute)}, discard)
		if failed == nil || failed.Code != record.FailProtocol {
			t.Errorf("%s: failure %+v", lines, failed)
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestFailureOfOutcome(t *testing.T) {
	for _, test := range []struct {
		o     record.Outcome
		asked bool
		want  string
	}{
		{record.Outcome{Stopped: record.StopTime}, false, ""},
		{record.Outcome{Stopped: record.StopTime}, true, ""}, // it was over anyway
		{record.Outcome{Stopped: record.StopAsked}, true, record.FailInterrupted},
		{record.Outcome{Stopped: record.StopAsked}, false, record.FailDeadline},
		{record.Outcome{Stopped: record.StopStalled, Outstanding: 3}, true, record.FailStalled},
		{record.Outcome{Stopped: record.StopError, Errors: []record.IOError{{Op: "read", Errno: "EIO", Count: 2}}}, false, record.FailIO},
	} {
		got := ""
		if f := failure(&test.o, test.asked); f != nil {
			got = f.Code
		}
		if got != test.want {
			t.Errorf("%+v asked=%v: %q, want %q", test.o, test.asked, got, test.want)
		}
	}
}

func TestParseSeccomp(t *testing.T) {
	for in, want := range map[string]string{
		"Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n": "filter",
		"Seccomp:\t0\n": "disabled",
		"Name:\tx\n":    "",
	} {
		if got := parseSeccomp(strings.NewReader(in)); got != want {
			t.Errorf("parseSeccomp(%q) = %q, want %q", in, got, want)
		}
	}
}
