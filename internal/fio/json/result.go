// Package fiojson reads what fio writes, JSON and logs, of versions 2.1 to
// 3.43, turns it into records, and writes records as fio's json+.
//
// It is pure: nothing here opens a file. The model is in base units,
// nanoseconds, bytes and bytes per second, whatever unit the version of fio
// used, and what a file does not tell, or tells wrongly, is nil. Every such
// decision leaves a Diagnostic.
package fiojson

import (
	"time"

	"nativ/internal/record"
)

// A Result is one run of fio.
type Result struct {
	Version Version
	// Reported is when fio wrote the report, not when it started; nil before
	// fio 2.2.
	Reported *time.Time
	// Global are the options of the global section, one set a host in client
	// mode with several hosts, else at most one.
	Global []HostOptions
	// Jobs are in the order of the file: one entry a job, or one a reporting
	// group where fio was asked to report so. The entry "All clients", a sum
	// over phases and hosts alike, is none of them.
	Jobs  []Job
	Disks []Disk
	// Snapshots counts the cumulative objects that were read for this run
	// (--status-interval writes several); the numbers are the last one's.
	Snapshots int
	// Text is what stood before, between and after the JSON, a line an
	// element, blank lines left out.
	Text []string
	// Diagnostics say what is missing or was not believed, in the order of
	// the file.
	Diagnostics []Diagnostic
}

// HostOptions are the global options of one host; Host is empty where fio ran
// alone.
type HostOptions struct {
	Host    string
	Options Options
}

// A Job is one entry of fio's jobs or client_stats.
type Job struct {
	Name string
	// Description is the option of that name.
	Description string
	// Group is fio's groupid: jobs of one group ran at the same time.
	Group int
	// Host is where it ran in client mode, else empty.
	Host string
	// Start is when it started; nil before fio 3.36. With ramp_time it is the
	// end of the ramp.
	Start *time.Time
	// Error is the errno that ended it, 0 for none. Errors and FirstError come
	// with continue_on_error.
	Error      int
	Errors     *int64
	FirstError int
	// Options are those of its own section, nil where fio wrote none.
	Options Options
	// Read, Write and Trim are nil where the job was not set to do such I/O
	// and did none. Mixed is all of them together (unified_rw_reporting).
	Read, Write, Trim, Mixed *Flow
	// Sync are the fsyncs and fdatasyncs; nil before fio 3.4 and where there
	// were none.
	Sync *Sync
	// ThreadNS is the run time of all its threads together (job_runtime); nil
	// before fio 3.8.
	ThreadNS *int64
	// ElapsedNS is the time of the whole invocation so far, the same in every
	// job, to a whole second.
	ElapsedNS *int64
	// UserCPU and SystemCPU are shares, 0 to 1, of ThreadNS.
	UserCPU, SystemCPU                       *float64
	ContextSwitches, MajorFaults, MinorFault *int64
	// Depth, Submit and Complete are fio's iodepth_level, _submit and _complete,
	// the rest latency_ns, _us and _ms; nil where it wrote none.
	Depth, Submit, Complete         []record.Share
	LatencyNS, LatencyUS, LatencyMS []record.Share
	// Summed is true where the entry stands for several threads
	// (group_reporting). Threads is their number, 1 for a single job and 0
	// where it is not known.
	Summed  bool
	Threads int
}

// A Flow is one direction of I/O of a job.
type Flow struct {
	// Bytes is nil where their unit cannot be known. Up to fio 2.20 they come
	// in whole KiB.
	Bytes *int64
	// IOs is nil before fio 2.2.
	IOs *int64
	// RuntimeNS is the time of the longest thread, to a whole millisecond.
	RuntimeNS int64
	// BytesPerSec and IOPS are as fio computed them, over RuntimeNS.
	BytesPerSec, IOPS *float64
	// Short and Dropped count transfers of fewer bytes and I/Os given up.
	Short, Dropped *int64
	// Slat, Clat and Lat are nil where fio did not measure them.
	Slat, Clat, Lat *Latency
	// BW in bytes per second and Rate in IOPS are statistics over fio's
	// samples (one each 500 ms a thread, or log_avg_msec). They are marked as
	// summed over threads where fio adds up minima and deviations, and nil where
	// every I/O counted as a sample. fio takes no sample of an interval without
	// I/O, so that minimum and mean leave pauses out.
	BW, Rate *Samples
}

// A Sync are the syncs of a job.
type Sync struct {
	// N counts them; Lat is the time that each took.
	N   *int64
	Lat *Latency
}

// A Latency is what fio says of one kind of latency. All in nanoseconds.
type Latency struct {
	// N is the number of I/Os; nil before fio 3.18.
	N            *int64
	Min, Max     *int64
	Mean, Stddev *float64
	// Percentiles are ascending. fio gives the midpoint of a histogram
	// bucket, which may lie above Max.
	Percentiles []Percentile
	// Histogram are the bins of json+, without loss. Its sum is fio's mean
	// times the number of I/Os; Min and Max are fio's.
	Histogram *record.Histogram
}

// A Percentile is a latency in nanoseconds at or below which P percent lie.
type Percentile = record.Percentile

// Samples are statistics of a rate.
type Samples = record.Samples

// A Disk is what fio read of one block device over the whole invocation, ramps
// and pauses included.
type Disk struct {
	Name, Host string
	Own        DiskCounters
	// Members are the sums over the devices below a stacked one; nil where it
	// is none.
	Members *DiskCounters
}

// DiskCounters are differences of a device's stat file.
type DiskCounters = record.DiskUse

// A Diagnostic is something that a reader of the numbers must know.
type Diagnostic struct {
	// Code is one of the Diag constants.
	Code string
	// Job is the name of the job, or empty.
	Job string
	// Detail is a short text in English, or text of fio's.
	Detail string
}

// Codes of diagnostics.
const (
	// DiagText: fio wrote text beside the JSON. Detail is its first line.
	DiagText = "text"
	// DiagSnapshots: several cumulative objects; the last one counts.
	DiagSnapshots = "snapshots"
	// DiagOtherRuns: the file holds other runs, too; see ParseAll.
	DiagOtherRuns = "other-runs"
	// DiagVersion: no version, or one that cannot be read.
	DiagVersion = "version-unknown"
	// DiagUnit: the unit of io_bytes is not known.
	DiagUnit = "unit-unknown"
	// DiagNumber: a number that cannot be one was left out.
	DiagNumber = "number"
	// DiagNoOptions: the job's options are not in the file.
	DiagNoOptions = "no-options"
	// DiagNoLatency: latencies were switched off or lost; unknown, not zero.
	DiagNoLatency = "latency-not-measured"
	// DiagGroupSums: minima, maxima, means and deviations of bandwidth and
	// IOPS are sums over threads, of which nothing follows.
	DiagGroupSums = "group-sums"
	// DiagRateOfOne: with an IOPS log and no log_avg_msec every I/O counts as
	// a sample of one.
	DiagRateOfOne = "rate-of-one"
	// DiagBins: bins that are not of fio's 29 × 64 geometry in nanoseconds, or
	// do not add up.
	DiagBins = "bins"
	// DiagAllClients: the sum "All clients" was left out.
	DiagAllClients = "all-clients"
	// DiagMixed: reads and writes were counted together only.
	DiagMixed = "mixed"
	// DiagTrim: trims were left out of the record.
	DiagTrim = "trim"
	// DiagVerify: reads that verified what was written are apart from the pass.
	// Detail is their number.
	DiagVerify = "verify"
	// DiagVerifyMixed: such reads are counted with those of a mixed job.
	DiagVerifyMixed = "verify-mixed"
	// DiagIOs: the number of I/Os was computed, fio did not write it.
	DiagIOs = "ios-computed"
	// DiagPercentiles: percentiles of several jobs cannot be added up.
	DiagPercentiles = "percentiles-per-job"
	// DiagError: a job ended with an error.
	DiagError = "job-error"
	// DiagRuntime: a job did I/O and has no run time, so that no rate follows.
	DiagRuntime = "runtime-unknown"
	// DiagSections: an entry is a sum over more threads than its options say,
	// so that some are those of other sections of the group.
	DiagSections = "other-sections"
	// DiagLog: a log cannot be used. Detail says which and why.
	DiagLog = "log"
)

// DiagCodes lists every code.
func DiagCodes() []string {
	return []string{
		DiagText, DiagSnapshots, DiagOtherRuns, DiagVersion, DiagUnit, DiagNumber, DiagNoOptions, DiagNoLatency,
		DiagGroupSums, DiagRateOfOne, DiagBins, DiagAllClients, DiagMixed, DiagTrim, DiagVerify, DiagVerifyMixed, DiagIOs, DiagPercentiles,
		DiagError, DiagRuntime, DiagSections, DiagLog,
	}
}
