package bench

import (
	"time"

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
	// Interval is the second just over, Temperature the latest reading to show
	// (record.Sample.Temperature) in millidegrees Celsius, nil where there is none.
	Interval    *record.Interval
	Temperature *int64
	// Failed is set where the pass or the prefill failed.
	Failed *record.Failure
	// Outcome is set with EventPassEnd and EventPrefillEnd where there is one.
	Outcome *record.Outcome
	// EndedBy is set with EventPassEnd where the run itself ended the pass.
	EndedBy string
	// Wait is set for EventWait and EventWaitTick.
	Wait *Wait
	// Void and Again are set for EventVoid.
	Void  string
	Again bool
}

// A Wait is why nothing is measured just now.
type Wait struct {
	Why WaitReason
	// Left is how long it may still take at most.
	Left time.Duration
	// TemperatureMC and TargetMC, in millidegrees Celsius, are those of the sensor
	// that a cool-down waits for.
	TemperatureMC, TargetMC *int64
}

// A WaitReason is what a run waits for.
type WaitReason int

// The reasons.
const (
	WaitIdle     WaitReason = iota + 1 // for a drive at rest, to read its temperature
	WaitPause                          // as the plan says, to see the drive recover
	WaitCoolDown                       // for the drive to be back in its band
)

// An EventKind is what an Event is about.
type EventKind int

// The kinds, in the order of a run.
const (
	EventPlace       EventKind = iota + 1 // a place is being set up
	EventPlaceAgain                       // a lost place is being set up anew
	EventPrefill                          // the prefill starts
	EventPrefillTick                      // a second of it is over
	EventPrefillEnd
	EventWait     // a wait starts; it may end before its time
	EventWaitTick // a second of it is over
	EventPass     // a pass starts
	EventPassTick // a second of it is over
	EventPassEnd
	EventPilot // the pilot is over: the record says how much passes scatter
	EventVoid  // a round was void; Void says why, Again whether it is measured again
	EventClean // everything that was made is being removed
)
