package record

// An Import says where the numbers of a record come from that nativ did not
// measure itself. Analysis and report then claim nothing about machine, drive,
// temperature and cleanup.
//
// In such a record a phase's BlockSize, IODepth and NumJobs are 0 and its Mode
// is empty where the file does not tell them; Started and Ended are the zero
// time, and not in the JSON, where it has none.
type Import struct {
	// Format is "fio-json" or FormatPublished.
	Format string `json:"format"`
	// Files are the names of the files read, without directories.
	Files []string `json:"files,omitempty"`
	// Global are the options that all jobs share, Jobs those of each phase.
	Global []Option    `json:"global_options,omitempty"`
	Jobs   []ImportJob `json:"jobs,omitempty"`
	// Disks are the devices as the tool saw them over its whole run, pauses
	// and ramps included, so that they belong to no single pass.
	Disks []ImportDisk `json:"disks,omitempty"`
	// Text is what the tool said beside its numbers, as far as it was kept.
	Text []string `json:"text,omitempty"`
	// Publication is set with FormatPublished.
	Publication *Publication `json:"publication,omitempty"`
}

// An ImportJob is the origin of a phase.
type ImportJob struct {
	Phase string `json:"phase"`
	// Name is what the tool called it; several phases may share one.
	Name string `json:"name"`
	// Options are nil where the file holds none.
	Options []Option `json:"options,omitempty"`
}

// An Option is a name and a raw value. Names may repeat.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An ImportDisk is one block device.
type ImportDisk struct {
	Name string `json:"name"`
	Host string `json:"host,omitempty"`
	DiskUse
	// Members are the sums over the devices below a stacked one.
	Members *DiskUse `json:"members,omitempty"`
}

// DiskUse are differences of the counters of a block device's stat file.
type DiskUse struct {
	ReadIOs  int64 `json:"read_ios"`
	WriteIOs int64 `json:"write_ios"`
	// ReadBytes and WriteBytes are nil before fio 3.36.
	ReadBytes   *int64 `json:"read_bytes,omitempty"`
	WriteBytes  *int64 `json:"write_bytes,omitempty"`
	ReadMerges  int64  `json:"read_merges"`
	WriteMerges int64  `json:"write_merges"`
	// ReadNS and WriteNS are the waiting times of all requests together,
	// QueueNS the time with requests in flight weighted by their number.
	ReadNS  int64 `json:"read_ns"`
	WriteNS int64 `json:"write_ns"`
	QueueNS int64 `json:"queue_ns"`
	// Util is the share of time with requests in flight, 0 to 1.
	Util *float64 `json:"util,omitempty"`
}

// Given are statistics that came ready-made, where there is nothing to compute
// them from, or beside it. Nil where they were not given.
type Given struct {
	// Slat is the time from the tool's decision to submit to the return of the
	// submitting call, Clat from there to completion, Lat the whole (fio's
	// terms).
	Slat *Summary `json:"slat,omitempty"`
	Clat *Summary `json:"clat,omitempty"`
	Lat  *Summary `json:"lat,omitempty"`
	// BW, in bytes a second, and Rate, in IOPS, are of the tool's own samples.
	BW   *Samples `json:"bw,omitempty"`
	Rate *Samples `json:"iops,omitempty"`
	// RuntimeNS is the time of this direction's longest thread, Short and Dropped
	// its transfers of fewer bytes and the I/Os given up.
	RuntimeNS *int64 `json:"runtime_ns,omitempty"`
	Short     *int64 `json:"short_ios,omitempty"`
	Dropped   *int64 `json:"drop_ios,omitempty"`
}

// Samples are statistics of a rate. fio takes no sample of an interval without
// I/O, so that minimum and mean leave pauses out.
type Samples struct {
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	Stddev float64 `json:"stddev"`
	// N is nil before fio 2.99.
	N *int64 `json:"n,omitempty"`
	// Share is fio's bw_agg, the part in the bandwidth of the group, 0 to 1.
	Share *float64 `json:"share,omitempty"`
	// Summed is true where fio added them up over threads, so that they are no
	// minimum, maximum or deviation of anything: kept to write them as they were.
	Summed bool `json:"summed,omitempty"`
}

// A ToolRun is what fio says of the threads of a job. Nil is what it did not say,
// or what of several jobs cannot be added up.
type ToolRun struct {
	// ThreadNS is the run time of all threads together, of which the tool's
	// shares of CPU time are.
	ThreadNS        *int64 `json:"thread_ns,omitempty"`
	ContextSwitches *int64 `json:"ctx,omitempty"`
	MajorFaults     *int64 `json:"majf,omitempty"`
	MinorFaults     *int64 `json:"minf,omitempty"`
	// The rest are distributions, by fio's names of their classes.
	Depth     []Share `json:"iodepth_level,omitempty"`
	Submit    []Share `json:"iodepth_submit,omitempty"`
	Complete  []Share `json:"iodepth_complete,omitempty"`
	LatencyNS []Share `json:"latency_ns,omitempty"`
	LatencyUS []Share `json:"latency_us,omitempty"`
	LatencyMS []Share `json:"latency_ms,omitempty"`
}

// A Share is one class of a distribution, in percent as fio rounds it.
type Share struct {
	Class   string  `json:"class"`
	Percent float64 `json:"percent"`
}

// A Summary describes a distribution of latencies in nanoseconds.
type Summary struct {
	N      *int64   `json:"n,omitempty"`
	Min    *int64   `json:"min_ns,omitempty"`
	Max    *int64   `json:"max_ns,omitempty"`
	Mean   *float64 `json:"mean_ns,omitempty"`
	Stddev *float64 `json:"stddev_ns,omitempty"`
	// Percentiles are ascending; those of several jobs cannot be merged and
	// are then left out.
	Percentiles []Percentile `json:"percentiles,omitempty"`
}

// A Percentile is a latency in nanoseconds at or below which P percent lie.
type Percentile struct {
	P  float64 `json:"p"`
	NS int64   `json:"ns"`
}
