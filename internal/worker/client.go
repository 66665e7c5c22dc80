package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"nativ/internal/record"
)

// stopGrace is how long an engine that was asked to stop may take to come back
// with what it has. It is above what an engine itself waits for outstanding
// I/Os; after it the process ends without the engine.
const stopGrace = 10 * time.Second

// A Client is the parent's side of a worker that was just started. It neither
// closes Stdin for good nor waits for the process: whoever started it does.
type Client struct {
	Stdin  io.WriteCloser
	Stdout io.Reader
	// Grace is how long the worker may stay silent after it should have
	// ended; 0 means that which Serve takes itself and some more.
	Grace time.Duration
}

// Do runs one pass. Every event but those of EventClone, which become a part of
// the result, reaches sink, from this goroutine; that of EventReady before the
// worker is told to go. When ctx ends, the worker is
// asked to stop and its outcome is that of the time until then.
//
// A pass without a full result has a Failure; then the outcome is nil or holds
// what was measured. Worker is nil where it never became ready.
func (c *Client) Do(ctx context.Context, req Request, sink func(record.Event)) (*record.Outcome, *record.Failure, *record.Worker) {
	s := c.start(req)
	defer s.stop()
	return s.run(ctx, sink, true)
}

// Probe sets a pass up and does not start it: it says whether the engine works
// where the worker is, and what the worker sees there. Close Stdin after it.
func (c *Client) Probe(ctx context.Context, req Request) (*record.Worker, *record.Failure) {
	s := c.start(req)
	defer s.stop()
	_, failed, w := s.run(ctx, func(record.Event) {}, false)
	return w, failed
}

// A session is one conversation.
type session struct {
	*Client
	grace time.Duration
	lines <-chan line
	done  chan struct{} // closed when nobody listens to lines any more
	// overdue fires when the worker should have ended by itself.
	overdue *time.Timer
}

// A line is an event or the error that ended the reading.
type line struct {
	event record.Event
	err   error
}

func (c *Client) start(req Request) *session {
	s := &session{Client: c, grace: c.Grace, done: make(chan struct{})}
	if s.grace == 0 {
		s.grace = stopGrace + 5*time.Second
	}
	req.Version = ProtocolVersion
	s.overdue = time.NewTimer(time.Duration(req.DeadlineNS) + s.grace)
	s.tell(req)
	lines := make(chan line)
	s.lines = lines
	go func() {
		sc := newScanner(c.Stdout)
		for {
			var l line
			if sc.Scan() {
				l.event, l.err = parseEvent(sc.Bytes())
			} else {
				l.err = scanError(sc)
			}
			select {
			case lines <- l:
			case <-s.done:
				return
			}
			if l.err != nil {
				return
			}
		}
	}()
	return s
}

func (s *session) stop() {
	s.overdue.Stop()
	close(s.done)
}

// tell writes one line, in the background: a worker that does not read must
// not hold its parent. An error is no news: the worker is gone, and the end of
// its stdout says so.
func (s *session) tell(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode request: %v", err)) // plain structs of numbers and strings
	}
	go func() { _, _ = s.Stdin.Write(append(b, '\n')) }()
}

// run listens until the conversation is over, or without start until ready.
func (s *session) run(ctx context.Context, sink func(record.Event), start bool) (*record.Outcome, *record.Failure, *record.Worker) {
	var (
		self   *record.Worker
		stage  string
		asked  bool
		clones []record.Outcome
		ended  = ctx.Done()
	)
	fail := func(code, format string, args ...any) (*record.Outcome, *record.Failure, *record.Worker) {
		return nil, &record.Failure{Code: code, Detail: fmt.Sprintf(format, args...)}, self
	}
	for {
		select {
		case <-ended:
			ended, asked = nil, true
			s.Stdin.Close()
			s.overdue.Reset(s.grace)
		case <-s.overdue.C:
			if asked {
				return fail(record.FailStalled, "the worker did not end within %v after it was asked to", s.grace)
			}
			return fail(record.FailDeadline, "the worker did not end by its deadline, nor within %v after it", s.grace)
		case l := <-s.lines:
			switch {
			case l.err == io.EOF && asked && self == nil:
				return fail(record.FailInterrupted, "")
			case l.err == io.EOF:
				return fail(record.FailWorker, "the worker ended without a result")
			case errors.Is(l.err, io.ErrClosedPipe), errors.Is(l.err, os.ErrClosed):
				return fail(record.FailWorker, "the worker ended without a result")
			case l.err != nil:
				return fail(record.FailProtocol, "%v", l.err)
			}
			e := l.event
			if !follows(stage, e.Type) {
				return fail(record.FailProtocol, "event %q after %q", e.Type, stage)
			}
			if e.Type != record.EventTrace {
				stage = e.Type
			}
			if e.Type == record.EventReady {
				self = e.Worker
				if !start {
					return nil, nil, self
				}
			}
			if e.Type == record.EventClone {
				clones = append(clones, *e.Outcome)
				continue
			}
			if e.Type == record.EventResult {
				e.Outcome.Clones = clones
			}
			sink(e)
			switch e.Type {
			case record.EventReady:
				if ctx.Err() == nil {
					s.tell(Go{Go: true})
				}
			case record.EventResult:
				return e.Outcome, failure(e.Outcome, asked), self
			case record.EventError:
				if asked && e.Error.Code == record.FailDeadline {
					e.Error.Code = record.FailInterrupted
				}
				return nil, e.Error, self
			}
		}
	}
}

// follows reports whether an event may come after another ("" is the start).
func follows(before, e string) bool {
	switch e {
	case record.EventError:
		return true
	case record.EventReady:
		return before == ""
	case record.EventStarted:
		return before == record.EventReady
	case record.EventInterval, record.EventTrace:
		return before == record.EventStarted || before == record.EventInterval
	case record.EventEnded:
		return before == record.EventStarted || before == record.EventInterval
	case record.EventClone, record.EventResult:
		// Straight after ready where the pass was ended before its start.
		return before == record.EventEnded || before == record.EventReady || before == record.EventClone
	}
	return false
}

// failure says what an outcome lacks to stand for its pass; nil for nothing.
func failure(o *record.Outcome, asked bool) *record.Failure {
	switch {
	case len(o.Errors) > 0:
		parts := make([]string, len(o.Errors))
		for i, e := range o.Errors {
			parts[i] = e.String()
		}
		return &record.Failure{Code: record.FailIO, Detail: strings.Join(parts, "; ")}
	case o.Stopped == record.StopError:
		return &record.Failure{Code: record.FailIO}
	case o.Stopped == record.StopStalled, o.Outstanding > 0:
		return &record.Failure{Code: record.FailStalled, Detail: fmt.Sprintf("%d I/Os did not come back", o.Outstanding)}
	case o.Stopped == record.StopAsked && asked:
		return &record.Failure{Code: record.FailInterrupted}
	case o.Stopped == record.StopAsked:
		return &record.Failure{Code: record.FailDeadline, Detail: "the pass was not over by the worker's deadline"}
	}
	return nil
}
