package job

import (
	"fmt"
	"maps"
	"slices"
)

// A Size is an amount of bytes or a share of the file, as fio's size options
// take either. The zero Size means that the option says nothing.
type Size struct {
	Bytes int64 `json:"bytes,omitempty"`
	// Percent of the file's size, 1 to 100, where Bytes is 0.
	Percent int `json:"percent,omitempty"`
}

// A Sync is how fio's sync option opens a file.
type Sync string

// The values of fio's sync option.
const (
	SyncNone  Sync = "none"
	SyncFile  Sync = "sync"  // O_SYNC
	SyncDSync Sync = "dsync" // O_DSYNC
)

// An IOEngine is a way to issue I/O, spelt as fio's ioengine option.
type IOEngine string

// The I/O engines that a job may name.
const (
	IOUring  IOEngine = "io_uring"
	LibAIO   IOEngine = "libaio"
	PSync    IOEngine = "psync"
	SyncCall IOEngine = "sync"
)

// A Job is one section of a job file after the globals before it were applied.
// Each field names the fio option it holds and what fio takes where the option
// is absent; Job.Set tells an absent option from one that says the same. All
// amounts are bytes, all times nanoseconds.
type Job struct {
	// Name of the section, or name where the section or its globals set that;
	// several may have the same.
	Name string
	// Description is description, free text. Default: none.
	Description string
	// RW is rw, alias readwrite. Default read.
	RW Mode
	// RWMixRead is rwmixread, or 100 minus rwmixwrite: the percentage of reads
	// in a mixed mode. Default 50.
	RWMixRead int
	// ReadBS and WriteBS are bs, alias blocksize. Default 4096.
	ReadBS, WriteBS int64
	// IODepth is iodepth, the I/Os in flight of each job. Default 1.
	IODepth int
	// NumJobs is numjobs, how many clones of the job run. Default 1.
	NumJobs int
	// Thread is thread: clones are threads and not processes. Default false.
	Thread bool
	// Size is size. Default: all of the file.
	Size Size
	// IOSize is io_size, alias io_limit: the bytes that each job moves.
	// Default: as many as Size.
	IOSize Size
	// Offset is offset, alias fileoffset: where in the file the job starts.
	// Default 0.
	Offset Size
	// OffsetIncrement is offset_increment: clone number i, from 0, starts at
	// Offset + i*OffsetIncrement. Default 0.
	OffsetIncrement Size
	// Filename is filename, a list with ":" between. Default: fio makes a name
	// of the section's.
	Filename []string
	// Directory is directory, a list with ":" between, which fio deals out to
	// the clones; Filename, absolute or not, is below it. Default: the working
	// directory.
	Directory []string
	// Direct is direct: O_DIRECT. Default false.
	Direct bool
	// KeepCache is invalidate=0: the page cache is left as it is. Default
	// false: each job drops its part of the files from there first.
	KeepCache bool
	// RuntimeNS is runtime, alias timeout; 0 is no limit. Default 0.
	RuntimeNS int64
	// TimeBased is time_based: start over until RuntimeNS is up. Default false.
	TimeBased bool
	// RampTimeNS is ramp_time: run this long before measuring. Default 0.
	RampTimeNS int64
	// ReadIOPS and WriteIOPS are rate_iops: I/Os per second and job at most; 0
	// is no limit. Default 0.
	ReadIOPS, WriteIOPS int64
	// ThinkTimeNS is thinktime: the pause between I/Os. fio takes a bare
	// number as microseconds. Default 0.
	ThinkTimeNS int64
	// FSync and FDataSync are fsync and fdatasync: sync after every so many
	// writes; 0 is never. Default 0.
	FSync, FDataSync int64
	// EndFSync is end_fsync: fsync when the job ends. Default false.
	EndFSync bool
	// Sync is sync. Default none.
	Sync Sync
	// GroupReporting is group_reporting; see File.Results. Default false.
	GroupReporting bool
	// Stonewall is stonewall, alias wait_for_previous: wait for all jobs before
	// this one and begin a new group. The first job of each further job file
	// has it set unless it says otherwise. Default false.
	Stonewall bool
	// RandSeed is randseed. Default 0x89.
	RandSeed uint64
	// RandRepeat is randrepeat, where it is set: draw the same offsets in every
	// run, from RandSeed. Default here: another seed in every run, unless
	// randseed gives one.
	RandRepeat bool
	// NoRandomMap is norandommap: random offsets may repeat before all blocks
	// were touched. Default false.
	NoRandomMap bool
	// RefillBuffers is refill_buffers: fresh data for every write. Default
	// false.
	RefillBuffers bool
	// ZeroBuffers is zero_buffers: write zeroes. Default false.
	ZeroBuffers bool
	// BufferCompressPercentage is buffer_compress_percentage. Default 0.
	BufferCompressPercentage int
	// CPUsAllowed is cpus_allowed, CPU numbers in ascending order. Default:
	// every CPU.
	CPUsAllowed []int
	// FixedBufs, RegisterFiles and HiPri are io_uring's fixedbufs,
	// registerfiles and hipri. Default false.
	FixedBufs, RegisterFiles, HiPri bool
	// PercentileList is percentile_list, as written. Default:
	// 1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99.
	PercentileList []float64
	// LatPercentiles is lat_percentiles: percentiles of the whole latency.
	// Default false.
	LatPercentiles bool
	// IOEngine is ioengine; "" where the job names none. fio then takes psync,
	// which keeps one I/O in flight whatever iodepth says; the own engine
	// takes io_uring. File.Warnings says so where it matters.
	IOEngine IOEngine
	// Raw are options that are for fio alone, "name=value" or "name", in the
	// order of the file; only with Options.ForFio. Default: none.
	Raw []string

	forFio bool
	set    map[string]Pos
}

// defaults returns a job of which no option is set.
func defaults() Job {
	return Job{
		RW: Read, RWMixRead: 50, ReadBS: 4096, WriteBS: 4096, IODepth: 1, NumJobs: 1,
		Sync: SyncNone, RandSeed: 0x89, set: map[string]Pos{},
	}
}

// clone returns a copy that shares nothing that is written to.
func (j *Job) clone() Job {
	c := *j
	c.set, c.Raw = maps.Clone(j.set), slices.Clone(j.Raw)
	return c
}

// Set returns where the option was set last, in the job's own section or in a
// global one, and false if it never was. An alias stands for its option
// (readwrite for rw), and rwmixwrite for rwmixread.
func (j *Job) Set(name string) (Pos, bool) {
	if o := optionByName(name); o != nil {
		name = o.key()
	}
	p, ok := j.set[name]
	return p, ok
}

// A Pos is a place in a job file, or an argument of the command line.
type Pos struct {
	// File is the job file, or "" for the command line.
	File string
	// Line counts from 1: the line, or the argument.
	Line int
}

func (p Pos) String() string {
	switch {
	case p.File == "" && p.Line == 0:
		return "command line"
	case p.File == "":
		return fmt.Sprintf("argument %d", p.Line)
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// A File is what one or more job files, or a command line, ask for.
type File struct {
	// Jobs in the order in which fio starts them.
	Jobs []Job
	// Warnings name what runs otherwise than fio would run it.
	Warnings []Warning
}

// A Warning is something that the user should know about a valid job.
type Warning struct {
	Pos
	// Section is the name of the job.
	Section string
	Text    string
}

func (w Warning) String() string { return fmt.Sprintf("%s: [%s] %s", w.Pos, w.Section, w.Text) }

// Groups returns the jobs in groups: those of one run side by side, and a
// group starts when the one before has ended. They are fio's reporting groups
// too (groupid), counted from 0.
func (f *File) Groups() [][]Job {
	var groups [][]Job
	from := 0
	for i := range f.Jobs {
		if i > from && f.Jobs[i].Stonewall {
			groups, from = append(groups, f.Jobs[from:i:i]), i
		}
	}
	if len(f.Jobs) > 0 {
		groups = append(groups, f.Jobs[from:])
	}
	return groups
}

// A Result names the jobs that fio reports as one.
type Result struct {
	// Group is the index of their group.
	Group int
	// Clones are the jobs' threads or processes: one entry each, the index of
	// its job in File.Jobs, so a job of four clones appears four times.
	Clones []int
}

// Results returns what fio would report, in order: one result for each clone,
// but with group_reporting a clone joins the result before it if that is of
// the same group. (So a job with group_reporting absorbs the result of the job
// before it even if that one did not ask for it.)
func (f *File) Results() []Result {
	var rs []Result
	group := 0
	for i := range f.Jobs {
		j := &f.Jobs[i]
		if i > 0 && j.Stonewall {
			group++
		}
		for range j.NumJobs {
			if n := len(rs); n > 0 && j.GroupReporting && rs[n-1].Group == group {
				rs[n-1].Clones = append(rs[n-1].Clones, i)
				continue
			}
			rs = append(rs, Result{Group: group, Clones: []int{i}})
		}
	}
	return rs
}
