package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
	"nativ/internal/target"
)

// exitStalled is the exit code of a worker that ended without its engine.
const exitStalled = 70

// Causes for which a worker ends early.
var (
	errStdinClosed = errors.New("stdin was closed")
	errDeadline    = errors.New("the deadline came")
)

// Serve is the worker's whole life: it reads a Request from stdin, runs its
// phase with the one of the engines that it names, and reports on stdout. It
// returns early when ctx ends, when stdin reaches its end or at the request's
// deadline, with what was measured until then. Where the engine does not come
// back, because a device holds I/Os, it says so and ends the process.
//
// What goes wrong is reported as an event and returned as an error.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, engines ...Engine) error {
	s := &server{out: stdout, engines: engines, grace: stopGrace, exit: os.Exit}
	return s.serve(ctx, stdin)
}

type server struct {
	engines []Engine
	grace   time.Duration
	exit    func(code int)

	mu     sync.Mutex // guards out and closed
	out    io.Writer
	closed bool // the last event was written
}

func (s *server) serve(ctx context.Context, stdin io.Reader) error {
	sc := newScanner(stdin)
	if !sc.Scan() {
		return fmt.Errorf("read request: %w", scanError(sc))
	}
	req, err := parseRequest(sc.Bytes())
	if err != nil {
		return s.fail(record.FailProtocol, err)
	}
	// Before anything starts, and so that the runtime no longer follows the
	// cpuset by itself.
	runtime.GOMAXPROCS(req.GOMAXPROCS)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deadline := time.AfterFunc(time.Duration(req.DeadlineNS), func() { cancel(errDeadline) })
	defer deadline.Stop()
	start := make(chan struct{})
	go func() {
		if !sc.Scan() {
			cancel(errStdinClosed)
			return
		}
		var g Go
		if err := decode(sc.Bytes(), &g); err != nil || !g.Go {
			cancel(fmt.Errorf("read go: unexpected line: %v", err))
			return
		}
		close(start)
		for sc.Scan() { // nothing more is meant to come
		}
		cancel(errStdinClosed)
	}()
	finished := make(chan struct{})
	defer close(finished)
	go s.lastResort(ctx, finished)

	engine := s.engine(req.Engine)
	if engine == nil {
		return s.fail(record.FailEngine, fmt.Errorf("set up engine: there is no engine %q", req.Engine))
	}
	facts, err := engine.Probe()
	if err != nil {
		return s.fail(record.FailEngine, err)
	}
	var files []*target.Claim
	for _, t := range req.Tickets {
		c, err := target.Reopen(t)
		if err != nil {
			return s.fail(record.FailTicket, err)
		}
		defer c.Close()
		files = append(files, c)
	}
	self, err := describe(facts)
	if err != nil {
		return s.fail(record.FailStart, err)
	}
	self.GOMAXPROCS = req.GOMAXPROCS

	outcome, err := engine.Run(ctx, req.Phase, files, func(e record.Event) {
		if e.Type != record.EventReady {
			s.say(e)
			return
		}
		if e.Worker != nil { // how the engine was really set up for this phase
			self.Engine = e.Worker.Engine
		}
		e.Version, e.Worker = ProtocolVersion, self
		s.say(e)
		select {
		case <-start:
		case <-ctx.Done():
		}
	})
	switch {
	case err == nil && outcome == nil:
		return s.fail(record.FailEngine, fmt.Errorf("engine %s came back without an outcome", req.Engine))
	case err == nil:
		// A line each: together they may be longer than any line may be.
		for i := range outcome.Clones {
			s.say(record.Event{Type: record.EventClone, MonoNS: monotonic(), Outcome: &outcome.Clones[i]})
		}
		outcome.Clones = nil
		s.last(record.Event{Type: record.EventResult, MonoNS: monotonic(), Outcome: outcome})
		return nil
	case ctx.Err() == nil:
		return s.fail(record.FailEngine, err)
	case errors.Is(context.Cause(ctx), errDeadline):
		return s.fail(record.FailDeadline, err)
	}
	return s.fail(record.FailInterrupted, fmt.Errorf("%w: %w", context.Cause(ctx), err))
}

func (s *server) engine(name string) Engine {
	for _, e := range s.engines {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

// lastResort ends the process when the engine does not come back although it
// was asked to. (The kernel may still hold the process until its I/Os are
// done; nothing here can change that.)
func (s *server) lastResort(ctx context.Context, finished <-chan struct{}) {
	select {
	case <-finished:
		return
	case <-ctx.Done():
	}
	select {
	case <-finished:
		return
	case <-time.After(s.grace):
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		s.last(record.Event{Type: record.EventError, MonoNS: monotonic(), Error: &record.Failure{
			Code:   record.FailStalled,
			Detail: fmt.Sprintf("the engine did not come back within %v after %v", s.grace, context.Cause(ctx)),
		}})
	}()
	// The parent may be gone or not reading.
	select {
	case <-said:
	case <-time.After(time.Second):
	}
	s.exit(exitStalled)
}

// fail reports an error and returns it.
func (s *server) fail(code string, err error) error {
	s.last(record.Event{Type: record.EventError, MonoNS: monotonic(), Error: &record.Failure{Code: code, Detail: err.Error()}})
	return err
}

func (s *server) say(e record.Event)  { s.write(e, false) }
func (s *server) last(e record.Event) { s.write(e, true) }

// write writes one line with one call, so that a line is whole or not there.
// Errors are not handled: a parent that no longer reads has closed stdin too.
func (s *server) write(e record.Event, last bool) {
	b, err := json.Marshal(e)
	if err != nil {
		// Only a float that is no number could do this, and there is none.
		panic(fmt.Sprintf("encode event: %v", err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = last
	_, _ = s.out.Write(append(b, '\n'))
}

// monotonic is CLOCK_MONOTONIC in nanoseconds, which all processes and
// containers of a machine share (time namespaces aside).
func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail: vDSO and a valid clock
	return ts.Nano()
}
