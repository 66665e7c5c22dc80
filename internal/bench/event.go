package bench

import (
	"nativ/internal/job"
	"nativ/internal/record"
)

// An Event says how far a run has come, for a live line or a log. It carries
// what a person wants to see, not what the record keeps.
type Event struct {
	Kind EventKind
	// Place is set for EventPlace, EventPlaceAgain and those of passes.
	Place string
	// Phase is the running phase, job.Prefill() for the prefill.
	Phase job.Phase
	// Step counts the passes from 0, Steps is how many there are.
	Step, Steps int
	// LeftNS is how long the rest of the run is likely to take; 0 where that
	// cannot be said.
	LeftNS int64
	// DoneBytes and TotalBytes are set while prefilling.
	DoneBytes, TotalBytes int64
	// Interval is the second just over, Temperature the latest reading of the
	// hottest sensor in millidegrees Celsius, nil where there is none.
	Interval    *record.Interval
	Temperature *int64
	// Failed is set where the pass or the prefill failed.
	Failed *record.Failure
	// Outcome is set with EventPassEnd and EventPrefillEnd where there is one.
	Outcome *record.Outcome
}

// An EventKind is what an Event is about.
type EventKind int

// The kinds, in the order of a run.
const (
	EventPlace       EventKind = iota + 1 // a place is being set up
	EventPlaceAgain                       // a lost place is being set up anew
	EventPrefill                          // the prefill starts
	EventPrefillTick                      // a second of it is over
	EventPrefillEnd
	EventPass     // a pass starts
	EventPassTick // a second of it is over
	EventPassEnd
	EventClean // everything that was made is being removed
)
