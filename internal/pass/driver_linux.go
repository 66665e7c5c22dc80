package pass

import "nativ/internal/record"

// An IOEngine is a way to do I/O.
type IOEngine struct {
	// Name is that of fio's ioengine.
	Name string
	// Serial engines keep one I/O in flight, whatever iodepth says.
	Serial bool
	// Submits says that submission is a call of its own, so that slat and
	// clat exist; Slot.Sent is then set.
	Submits bool
	// New returns the driver of a job.
	New func(*Job) Driver
}

// A Driver does the I/O of one job. All methods are called on the thread that
// is the job's alone.
type Driver interface {
	// Setup makes everything that Loop needs, the buffers by Job.MapBlocks.
	Setup() error
	// Describe says what Setup got.
	Describe() record.Engine
	// Loop does what the job says until Job.Over. It begins at now and
	//
	//   - calls Job.Turn when Job.Due says so, before it takes completions;
	//   - gives each completion to Job.Done or Job.Complete, and its time to
	//     Job.Reaped;
	//   - issues what Job.Fill fills in, and says when by Job.Submitted;
	//   - issues Job.NextSync when there is one;
	//   - never waits longer than Job.Patience.
	Loop(now int64)
	// Close frees what Setup made, also where that failed half-way. It is
	// not called while I/Os are in flight.
	Close()
}
