// Package record holds the truth of a run: everything that was measured, in
// base units, with its doubts, as versioned JSON from which analysis and
// report can be computed again by any later version.
//
// Times are nanoseconds, sizes bytes, temperatures millidegrees Celsius. What
// is not known is nil or missing, never zero. A record is pure data: nothing
// here reads a machine.
package record

import (
	"time"

	"nativ/internal/job"
)

// SchemaVersion is the version of the JSON form. A reader refuses a record of
// a higher version; see Decode.
const SchemaVersion = 1

// Names of the places in which a phase can be measured.
const (
	PlaceHost   = "host"   // the host, all CPUs
	PlacePinned = "pinned" // the host, on exactly the container's CPUs and limits
	PlaceLXC    = "lxc"    // a plain LXC container
	PlacePVE    = "pve"    // a container of Proxmox VE
	// PlaceImported is where an imported result was measured, which nobody
	// knows here.
	PlaceImported = "imported"
)

// A Record is one run of nativ bench or nativ fio, or an import.
type Record struct {
	SchemaVersion int `json:"schema_version"`
	// Simulated is set where a drive model answered: nothing was measured. It
	// stands this far in front so that nobody overlooks it in the JSON.
	Simulated *Simulation `json:"simulated,omitempty"`

	Tool    Tool      `json:"tool"`
	ID      string    `json:"id"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Complete is false where anything of the plan is missing; Incomplete
	// then says what, in order.
	Complete   bool      `json:"complete"`
	Incomplete []Missing `json:"incomplete,omitempty"`
	Plan       Plan      `json:"plan"`
	Host       Host      `json:"host"`
	Target     Target    `json:"target"`
	// Places are the facts of each place as it was set up, in plan order.
	Places  []Place  `json:"places"`
	Prefill *Prefill `json:"prefill,omitempty"`
	Rounds  []Round  `json:"rounds"`
	// Calibration is what the engine could do, measured before the run; nil
	// where that is not known.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Sources says what the sampler could read, and why it could not read
	// the rest.
	Sources  []Source          `json:"sources"`
	Notes    map[string]string `json:"notes,omitempty"`
	Warnings []Warning         `json:"warnings,omitempty"`
	// Cleaned is nil until the cleanup was tried.
	Cleaned *Cleaned `json:"cleaned,omitempty"`
	// Jobs is set in a record of nativ fio: how its passes belong together.
	Jobs *Jobs `json:"jobs,omitempty"`
	// Import is set where the numbers come from the files of another tool.
	Import *Import `json:"import,omitempty"`
	// Idle was read before anything else, after IdleNS without a reading of the
	// drive: polling alone warms some drives. Nil where it was not taken.
	Idle   *Sample `json:"idle,omitempty"`
	IdleNS int64   `json:"idle_ns,omitempty"`
	// Resumed are the times at which the run went on after it had ended early.
	Resumed []Resume `json:"resumed,omitempty"`
	// KernelLog are the lines about the drives in the time of the run;
	// KernelLogMissing says why there is none to read.
	KernelLog        []KernelLine `json:"kernel_log,omitempty"`
	KernelLogMissing string       `json:"kernel_log_missing,omitempty"`
}

// A Tool is the program that made a record.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
	// Command is the command line as given, first element included.
	Command []string `json:"command"`
}

// Missing is a part of the plan that was not carried out. Code is one of the
// Missing constants; Phase, Place and Pass are empty where it is the whole run.
type Missing struct {
	Code   string `json:"code"`
	Phase  string `json:"phase,omitempty"`
	Place  string `json:"place,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Reasons for which something is missing.
const (
	MissingInterrupted = "interrupted" // the user or a signal ended the run
	MissingPassFailed  = "pass-failed" // a pass failed; Detail says how
	MissingPlace       = "place-lost"  // a place could not be set up again
	MissingPrefill     = "prefill-failed"
	MissingMaxTemp     = "max-temperature"  // the ceiling ended the run; Detail is what was read
	MissingHealth      = "drive-health"     // the drive's own alarm ended it; Detail says which
	MissingReset       = "controller-reset" // the kernel reset the drive; Detail is its line or the state
	MissingTarget      = "target-lost"      // full, read-only or gone; Detail says which
)

// A Plan is what a run sets out to do, fixed before anything is touched.
type Plan struct {
	Preset string      `json:"preset"`
	Phases []job.Phase `json:"phases"`
	Places []string    `json:"places"`
	// Steps are the passes in the order in which they run.
	Steps []Step `json:"steps"`
	// FileSize is the size of the test file; WantedSize what was asked for
	// or the preset's default, larger where space was short.
	FileSize   int64 `json:"file_size_bytes"`
	WantedSize int64 `json:"wanted_size_bytes"`
	// MaxWritten is the most that the run can write: prefill and quotas.
	MaxWritten int64 `json:"max_written_bytes"`
	// EstimateNS is the estimate of the whole run, low and high, in nanoseconds;
	// the high end has the cool-downs.
	EstimateNS [2]int64 `json:"estimate_ns"`
	CPUSet     CPUSet   `json:"cpuset"`
	// Memory is the limit of pinned and container in bytes; nil is none.
	Memory     *int64 `json:"memory_bytes,omitempty"`
	Privileged bool   `json:"privileged"`
	// Separate: the host has a volume and a file of its own, so that the file is
	// written twice.
	Separate bool   `json:"separate_volumes,omitempty"`
	Seed     uint64 `json:"seed"`
	// GOMAXPROCS is the same for every worker of the run.
	GOMAXPROCS int    `json:"gomaxprocs"`
	Dir        string `json:"dir"`
	// CoolDownNS is the longest that a pass waits for the drive to be back in
	// its band of temperature; 0 is no waiting.
	CoolDownNS int64 `json:"cool_down_ns,omitempty"`
	// MaxTempMC is the composite temperature from which a run stops at once, in
	// millidegrees Celsius; nil is no ceiling.
	MaxTempMC *int64 `json:"max_temperature_mc,omitempty"`
	// IdleNS is how long the drive is left alone before Record.Idle is read; 0 is
	// one reading at once.
	IdleNS int64 `json:"idle_ns,omitempty"`
	// NoPrefill: the file is not written before the first pass, because no pass
	// reads it and the first writes it.
	NoPrefill bool `json:"no_prefill,omitempty"`
	// WriteLimit is the most that the user lets the run write, in bytes, prefill
	// included; 0 where nobody set one. The passes' MaxBytes keep it.
	WriteLimit int64 `json:"write_limit_bytes,omitempty"`
	// MaxRate caps what prefill and passes read and write together, in bytes a
	// second; 0 is no cap. The phases have it as I/Os a second.
	MaxRate int64 `json:"max_rate_bytes_per_second,omitempty"`
	// Design is set where the run is laid out for verdicts.
	Design *Design `json:"design,omitempty"`
}

// A CPUSet is the choice of the container's CPUs.
type CPUSet struct {
	// CPUs that pinned and container get, ascending.
	CPUs []CPU `json:"cpus"`
	// Online is the number of CPUs that the host place may use.
	Online int `json:"online"`
	// All is true where the set is every CPU of the host: pinned would then
	// be the host, and the split of a loss is not separable.
	All bool `json:"all"`
	// Default is true where nobody asked for this number; Halved where it is
	// half the CPUs because the machine has fewer than eight.
	Default bool `json:"default"`
	Halved  bool `json:"halved"`
}

// A CPU of the host. Core and Package are -1 where the kernel does not say.
type CPU struct {
	ID      int `json:"id"`
	Core    int `json:"core"`
	Package int `json:"package"`
	// Type is "performance", "efficiency" or, where all cores are alike or
	// the kernel does not tell, "".
	Type string `json:"type,omitempty"`
	// Sibling is true where a lower-numbered CPU shares the physical core.
	Sibling bool `json:"smt_sibling,omitempty"`
}

// A Step is one pass of the plan.
type Step struct {
	// Round counts from 0 in each phase; NoRound is none.
	Round int    `json:"round"`
	Phase string `json:"phase"`
	Place string `json:"place"`
	// RuntimeNS, MaxBytes and Seed are those of this pass.
	RuntimeNS int64  `json:"runtime_ns"`
	MaxBytes  int64  `json:"max_bytes,omitempty"`
	Seed      uint64 `json:"seed"`
	// Role is one of the Role constants, "" for a pass like the others.
	Role string `json:"role,omitempty"`
	// PauseNS is how long the drive is left alone before the pass, beside any
	// cool-down.
	PauseNS int64 `json:"pause_ns,omitempty"`
	// ByBytes: MaxBytes ends the pass and not RuntimeNS, which is about how long
	// that takes; a pass that is much slower ends at twice of it.
	ByBytes bool `json:"by_bytes,omitempty"`
}

// A Round is one trip through the places for one phase: a palindrome, so that
// a steady drift takes the same from each place. Passes of no round (NoRound)
// are in one of their own.
type Round struct {
	Phase  string `json:"phase"`
	Passes []Pass `json:"passes"`
	// Void is why the round takes no part in any mean or comparison; "" where it
	// does. Another one may stand in for it.
	Void string `json:"void,omitempty"`
}

// A Pass is one phase in one place, once.
type Pass struct {
	Phase string `json:"phase"`
	Place string `json:"place"`
	// Index counts the passes of a run from 0, in the order in which they ran.
	Index int    `json:"index"`
	Seed  uint64 `json:"seed"`
	// StartedAt is the wall time of go.
	StartedAt time.Time `json:"started_at,omitzero"`
	// Outcome is nil where the worker never reported one; Failed then says
	// why. Both may be set: a pass that ended early with what it had.
	Outcome   *Outcome   `json:"outcome,omitempty"`
	Failed    *Failure   `json:"failed,omitempty"`
	Intervals []Interval `json:"intervals,omitempty"`
	Watch     Watch      `json:"watch"`
	// Engine is how the engine was set up for this phase, which the place's
	// worker does not tell: it is that of a trial. Nil where the pass did not
	// come to that.
	Engine *Engine `json:"engine,omitempty"`
	// Published is set instead of Outcome in a pass of a published table.
	Published *Published `json:"published,omitempty"`
	// Role is that of the step.
	Role string `json:"role,omitempty"`
	// CoolDown is nil where the pass did not wait.
	CoolDown *CoolDown `json:"cool_down,omitempty"`
	// GapNS is the time from the last completion of the pass before to go; nil
	// for the first one, and where one of the two is not known.
	GapNS *int64 `json:"gap_ns,omitempty"`
	// EndedBy is one of the End constants where the run itself ended the pass
	// before its limits, which is no failure; "" otherwise.
	EndedBy string `json:"ended_by,omitempty"`
}

// OK reports whether the pass ran to its planned end without an error, so
// that its numbers may stand for the place.
func (p *Pass) OK() bool { return p.Failed == nil && p.Outcome != nil && len(p.Outcome.Errors) == 0 }

// A Failure is why a pass has no full result.
type Failure struct {
	// Code is one of the Failure constants.
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// Ways in which a pass can fail.
const (
	FailIO          = "io-error"     // a completion carried an errno or was short
	FailStalled     = "stalled"      // I/Os did not come back by the deadline
	FailWorker      = "worker-died"  // the worker ended without a result
	FailContainer   = "container"    // the container ended under the worker
	FailStart       = "start"        // the worker could not be started
	FailInterrupted = "interrupted"  // the user ended the run
	FailDeadline    = "deadline"     // the worker did not answer by its deadline
	FailProtocol    = "protocol"     // the worker said something unexpected
	FailTicket      = "wrong-file"   // the place saw another file
	FailEngine      = "engine-setup" // rings or buffers could not be set up
	FailEmpty       = "no-numbers"   // an imported job has no number that can be used
)

// A Prefill is the first whole write of the test file.
type Prefill struct {
	Bytes     int64    `json:"bytes"`
	ElapsedNS int64    `json:"elapsed_ns"`
	Outcome   *Outcome `json:"outcome,omitempty"`
	Failed    *Failure `json:"failed,omitempty"`
	// Twin is that of the host's own file, where there are two.
	Twin *Prefill `json:"twin,omitempty"`
}

// Fill is what the prefill of a plan writes, in bytes.
func (p *Plan) Fill() int64 {
	if p.Separate {
		return 2 * p.FileSize
	}
	return p.FileSize
}

// Cleaned is what became of the things that a run made.
type Cleaned struct {
	// Left lists what could not be removed and why; nativ clean tries again.
	Left []string `json:"left,omitempty"`
}

// A Warning is a doubt about a number or the run. It prints as a footnote
// with the next step to take. Code is one of the Warn constants; Values are
// numbers in base units that the text of the code uses, Words its strings.
type Warning struct {
	Code   string             `json:"code"`
	Phase  string             `json:"phase,omitempty"`
	Place  string             `json:"place,omitempty"`
	Pass   *int               `json:"pass,omitempty"`
	Values map[string]float64 `json:"values,omitempty"`
	Words  map[string]string  `json:"words,omitempty"`
}

// A Source is something that the sampler can read, or cannot.
type Source struct {
	// Kind is "temperature", "health", "device", "link", "aer", "cpu",
	// "cpu-frequency", "cpu-thermal", "pressure" or "cgroup".
	Kind string `json:"kind"`
	// Name says which one, for example "nvme0" or "nvme0 hwmon".
	Name string `json:"name,omitempty"`
	// Missing says why it cannot be read; empty where it can.
	Missing string `json:"missing,omitempty"`
}
