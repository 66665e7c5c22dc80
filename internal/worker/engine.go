package worker

import (
	"context"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

// An Engine does the I/O of a phase. One call is one pass; nothing here is
// called once an I/O. Every engine passes the suite in enginetest.
type Engine interface {
	// Name is that of the ioengine in fio's spelling, for example "io_uring".
	Name() string
	// Probe reports whether the engine works here and with what. The error
	// says what is missing in words that a user can act on; see the errors of
	// package sys for those that a command explains further.
	Probe() (record.Engine, error)
	// Run runs one pass of the phase on the claimed files and says what
	// happens to sink, in this order:
	//
	//	EventReady    everything is set up; the call returns when the pass may
	//	              start (or ctx has ended)
	//	EventStarted  all jobs have started together; with a ramp, that is over
	//	EventInterval one a second, from one goroutine
	//	EventTrace    with Phase.Trace, the I/Os of the last second or so
	//	EventEnded    the last completion was reaped
	//
	// Run returns the outcome, also of a pass that ended early: when ctx
	// ends, an I/O fails, or I/Os do not come back. An error means that there
	// is no outcome: the pass could not be set up.
	Run(ctx context.Context, p job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error)
}
