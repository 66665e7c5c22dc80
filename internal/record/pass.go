package record

import "fmt"

// An Event is one line that a worker says; see package worker for the order.
// Exactly one of the pointers is set, that which Type names, or none.
type Event struct {
	Type string `json:"type"`
	// MonoNS is CLOCK_MONOTONIC, which host and container share.
	MonoNS   int64     `json:"mono_ns"`
	Version  int       `json:"version,omitempty"`  // with EventReady
	Worker   *Worker   `json:"worker,omitempty"`   // with EventReady
	Interval *Interval `json:"interval,omitempty"` // with EventInterval
	Trace    []TraceIO `json:"trace,omitempty"`    // with EventTrace
	Outcome  *Outcome  `json:"outcome,omitempty"`  // with EventClone and EventResult
	Error    *Failure  `json:"error,omitempty"`    // with EventError
}

// Types of events, in the order in which they come.
const (
	EventReady    = "ready"    // rings and buffers stand; waiting for go
	EventStarted  = "started"  // MonoNS is the common start of all jobs
	EventInterval = "interval" // one second of the pass is over
	EventTrace    = "trace"    // I/Os of a traced phase; between any of these
	EventEnded    = "ended"    // MonoNS is the last completion
	EventClone    = "clone"    // the outcome of one job, in order; see Outcome.Clones
	EventResult   = "result"
	EventError    = "error"
)

// A TraceIO is one I/O of a traced pass, as it was submitted.
type TraceIO struct {
	// MonoNS is CLOCK_MONOTONIC of the submission.
	MonoNS int64 `json:"mono_ns"`
	// Job and File count from 0: the clone and the file in the phase's list.
	Job  int `json:"job"`
	File int `json:"file"`
	// Op is "read", "write", "fsync" or "fdatasync"; the last two have no
	// offset and length.
	Op     string `json:"op"`
	Offset int64  `json:"offset"`
	Len    int64  `json:"len"`
}

// An Outcome is what an engine measured in one pass.
type Outcome struct {
	// StartNS and EndNS are CLOCK_MONOTONIC of go and of the last completion
	// of any job; rates divide by their difference. Where I/Os never came
	// back, or none did, EndNS is when the engine gave up.
	StartNS int64 `json:"start_mono_ns"`
	EndNS   int64 `json:"end_mono_ns"`
	// Stopped is one of the Stop constants.
	Stopped string `json:"stopped"`
	// Read, Write and Sync are nil where the phase does no such I/O.
	Read  *Flow `json:"read,omitempty"`
	Write *Flow `json:"write,omitempty"`
	Sync  *Flow `json:"sync,omitempty"`
	// Mixed is reads and writes together where an imported result did not
	// count them apart; Read and Write are then nil.
	Mixed *Flow `json:"mixed,omitempty"`
	// Errors are failed completions, grouped; empty is the normal case.
	Errors []IOError `json:"errors,omitempty"`
	// Outstanding is the number of I/Os that had not come back when the
	// engine gave up waiting for them.
	Outstanding int64 `json:"outstanding,omitempty"`
	// Usage is that of the whole worker process from go to the end, threads
	// and io-wq included.
	Usage Usage `json:"usage"`
	// UsageUnknown is true where an imported result does not tell Usage.
	UsageUnknown bool `json:"usage_unknown,omitempty"`
	// ToolUsage is what another tool says that its own threads took while they
	// did I/O, without its start and end, which Usage has; nil where the engine
	// is nativ's own.
	ToolUsage *Usage `json:"tool_usage,omitempty"`
	// ToolRun is what that tool, or an imported result, says of its threads; nil
	// where it says nothing.
	ToolRun *ToolRun `json:"tool_run,omitempty"`
	// Verified are the reads by which fio verified what it had written; nil where
	// there were none.
	Verified *Verified `json:"verified,omitempty"`
	// IntervalsLost counts seconds whose interval could not be reported.
	IntervalsLost int `json:"intervals_lost,omitempty"`
	// Clones are the outcomes of the jobs of a phase with PerClone, or of an
	// imported one that has one for each job, in fio's order; nil where the
	// phase does not ask (fio: group_reporting), where there was one job, and
	// where the engine does not tell them apart. All above is over all of them
	// and stays whole. The outcome of a clone has its own Stopped, flows, Errors
	// and Outstanding; StartNS is the common start and EndNS its own last
	// completion. Its Usage is that of its own thread, without the kernel's
	// io-wq threads, which belong to no clone. It has no Clones, Command and
	// Text.
	Clones []Outcome `json:"clones,omitempty"`
	// Command is the exact command line of the tool that did the I/O, and Text
	// what it said beside its numbers; nil where the engine is nativ's own.
	Command []string `json:"command,omitempty"`
	Text    []string `json:"text,omitempty"`
}

// ElapsedNS is the exact length of the pass in nanoseconds.
func (o *Outcome) ElapsedNS() int64 { return o.EndNS - o.StartNS }

// Reasons for which a pass stopped.
const (
	StopTime    = "runtime" // the planned time was over
	StopBytes   = "bytes"   // the byte limit was reached
	StopOnce    = "once"    // every job came to the end of its region
	StopError   = "error"   // a completion failed
	StopAsked   = "asked"   // stdin closed or the deadline came
	StopStalled = "stalled" // outstanding I/Os did not come back
)

// A Flow is one direction of I/O over a whole pass.
type Flow struct {
	IOs   int64 `json:"ios"`
	Bytes int64 `json:"bytes"`
	// Lat is the time from submission to reaping (fio: lat) in nanoseconds.
	Lat *Histogram `json:"lat_ns"`
	// Slat and Clat are the parts of lat before and after the return of the
	// submitting call, where that is a call of its own: in libaio and in
	// imported flows. Lat is nil where an imported one has no histogram of it.
	Slat *Histogram `json:"slat_ns,omitempty"`
	Clat *Histogram `json:"clat_ns,omitempty"`
	// Given are statistics that were imported as such.
	Given *Given `json:"given,omitempty"`
}

// Verified are reads by which fio verified a pass that writes. They come after the
// pass and are in none of its rates.
type Verified struct {
	// Flow is nil where fio counts them with the reads of a mixed pass, so that
	// nobody can tell them from these.
	Flow *Flow `json:"flow,omitempty"`
	// RuntimeNS is how long they took.
	RuntimeNS int64 `json:"runtime_ns,omitempty"`
}

// An IOError counts the failed completions of one kind.
type IOError struct {
	// Op is "read", "write", "fsync", "fdatasync" or, where a system call of the
	// engine itself failed, its name.
	Op string `json:"op"`
	// Errno is the errno's name, for example "EIO"; "short" for a transfer
	// of fewer bytes than asked.
	Errno string `json:"errno"`
	// Offset is that of the first such I/O, in bytes.
	Offset int64 `json:"offset"`
	Count  int64 `json:"count"`
}

// String is for people: "read: EIO at offset 4096 (2 times)".
func (e IOError) String() string {
	return fmt.Sprintf("%s: %s at offset %d (%d times)", e.Op, e.Errno, e.Offset, e.Count)
}

// Usage is CPU time in nanoseconds.
type Usage struct {
	UserNS   int64 `json:"user_ns"`
	SystemNS int64 `json:"system_ns"`
}

// An Interval is about one second of a pass. A second without I/O is an
// interval with zero I/Os, never left out.
type Interval struct {
	// EndNS is the end of the interval, from the start of the pass.
	EndNS int64 `json:"end_ns"`
	// LenNS is its exact length; the last one of a pass is short.
	LenNS      int64 `json:"len_ns"`
	ReadIOs    int64 `json:"read_ios,omitempty"`
	ReadBytes  int64 `json:"read_bytes,omitempty"`
	WriteIOs   int64 `json:"write_ios,omitempty"`
	WriteBytes int64 `json:"write_bytes,omitempty"`
	SyncIOs    int64 `json:"sync_ios,omitempty"`
	// P50NS, P99NS and MaxNS are of lat over reads and writes (with
	// fdatasync: of the syncs, which are what such a phase waits for); nil
	// where nothing completed.
	P50NS *int64 `json:"p50_ns,omitempty"`
	P99NS *int64 `json:"p99_ns,omitempty"`
	MaxNS *int64 `json:"max_ns,omitempty"`
}

// Watch is what the host saw while a pass ran.
type Watch struct {
	// Before and After are read at go and at the last completion.
	Before *Sample `json:"before,omitempty"`
	After  *Sample `json:"after,omitempty"`
	// Samples are taken once a second between.
	Samples []Sample `json:"samples,omitempty"`
}

// A Sample is one reading of everything that the host can see. Maps are keyed
// by drive name; what could not be read is not in them.
type Sample struct {
	MonoNS int64 `json:"mono_ns"`
	// Temperatures in millidegrees Celsius, by sensor: "nvme0 Composite",
	// "nvme0 Sensor 1", "sda drivetemp".
	Temperatures map[string]int64 `json:"temperatures_mc,omitempty"`
	// Devices are the counters of each drive.
	Devices map[string]DeviceCounters `json:"devices,omitempty"`
	// CPUs are busy and total time by CPU number.
	CPUs map[int]CPUTime `json:"cpus,omitempty"`
	// Cgroup are the counters of the place's cgroup.
	Cgroup *CgroupCounters `json:"cgroup,omitempty"`
	// Health is the health log by NVMe controller ("nvme0"). Its temperatures
	// are in Temperatures, too.
	Health map[string]Health `json:"health,omitempty"`
	// Links and AER are by PCI address, of the drives' controllers and of their
	// upstream ports.
	Links map[string]LinkState `json:"pcie_links,omitempty"`
	AER   map[string]AER       `json:"aer,omitempty"`
	// CPUHz is the frequency of each CPU.
	CPUHz      map[int]int64 `json:"cpu_hz,omitempty"`
	CPUThermal *CPUThermal   `json:"cpu_thermal,omitempty"`
	Pressure   *Pressure     `json:"pressure,omitempty"`
	// CostNS is how long each source took, by its kind and name.
	CostNS map[string]int64 `json:"cost_ns,omitempty"`
}

// DeviceCounters come from a block device's stat file; sectors are turned into
// bytes (512 each), ticks into nanoseconds.
type DeviceCounters struct {
	ReadIOs    int64 `json:"read_ios"`
	ReadBytes  int64 `json:"read_bytes"`
	WriteIOs   int64 `json:"write_ios"`
	WriteBytes int64 `json:"write_bytes"`
	// ReadMerges and WriteMerges are the requests that the block layer joined
	// with one next to them, ReadNS and WriteNS the times that all reads and
	// writes took together (read ticks, write ticks). Nil in a record of an
	// earlier nativ.
	ReadMerges  *int64 `json:"read_merges,omitempty"`
	WriteMerges *int64 `json:"write_merges,omitempty"`
	ReadNS      *int64 `json:"read_ns,omitempty"`
	WriteNS     *int64 `json:"write_ns,omitempty"`
	// FlushIOs is nil before Linux 5.5, which did not count them.
	FlushIOs *int64 `json:"flush_ios,omitempty"`
	// BusyNS is the time with I/O in flight (io_ticks), QueueNS the same
	// weighted by the number in flight (time_in_queue).
	BusyNS  int64 `json:"busy_ns"`
	QueueNS int64 `json:"queue_ns"`
}

// CPUTime comes from /proc/stat, in nanoseconds. Waiting for I/O counts as
// idle: a CPU in iowait could run something else.
type CPUTime struct {
	BusyNS  int64 `json:"busy_ns"`
	TotalNS int64 `json:"total_ns"`
	// UserNS is the part of BusyNS that programs spent in user mode. The rest
	// is the kernel's, and for whom it worked cannot be told: interrupts, soft
	// interrupts and the block layer's own threads are nobody's.
	UserNS *int64 `json:"user_ns,omitempty"`
}

// CgroupCounters are those of one cgroup; nil where the controller is absent.
type CgroupCounters struct {
	UsageNS     *int64 `json:"cpu_usage_ns,omitempty"`
	NrThrottled *int64 `json:"nr_throttled,omitempty"`
	ThrottledNS *int64 `json:"throttled_ns,omitempty"`
	OOMKills    *int64 `json:"oom_kills,omitempty"`
	MemoryMax   *int64 `json:"memory_max_events,omitempty"`
}
