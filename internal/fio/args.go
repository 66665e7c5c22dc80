package fio

import (
	"fmt"
	"strconv"
	"strings"

	"nativ/internal/job"
)

// Names of what fio writes into its directory.
const (
	outputFile = "fio.json"
	logPrefix  = "log"
	logWindow  = "1000" // log_avg_msec: a row a second
)

// A file is one of the phase's files as fio sees it.
type file struct {
	name string
	size int64 // bytes
}

// arguments returns fio's options for a phase, of which fio measures all by
// itself. The names of files hold no colon.
//
// What the phase has for fio alone comes last and word for word, so that it counts
// over all but what the result is made of, which package job does not let through.
//
// The byte limit of a phase, one budget for all its jobs, becomes an equal
// io_size for each: fio has no common one.
func arguments(p *job.Phase, files []file, ioengine string) ([]string, error) {
	c := command{}
	// Here a name that begins like this makes a section of defaults.
	name := p.Name
	if strings.HasPrefix(name, "global") {
		name = "job-" + name
	}
	c.add("name", name)
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	c.add("filename", strings.Join(names, ":"))
	c.add("allow_file_create", "0")
	// Threads end with their process, whatever ends it. fio's job processes
	// make sessions of their own and would go on.
	c.add("thread", "1")
	if !p.Mode.Writes() {
		c.flag("readonly")
	}
	if err := c.workload(p, files, ioengine); err != nil {
		return nil, err
	}
	// A report for each job, where it is asked for, and else one for all.
	if !perClone(p) {
		c.add("group_reporting", "1")
	}
	c.add("lat_percentiles", "1")
	c.add("slat_percentiles", "1") // else json+ has no bins of slat, which could be merged
	c.add("disk_util", "0")
	for _, log := range []string{"write_bw_log", "write_iops_log"} {
		c.add(log, logPrefix)
	}
	c.add("log_avg_msec", logWindow)
	if p.Trace {
		if p.NumJobs > 1 {
			return nil, fmt.Errorf("phase %s: fio mixes the traces of its jobs up in one file; trace numjobs=1", p.Name)
		}
		c.add("write_iolog", traceFile)
	}
	c.add("eta", "never")
	c.add("output-format", "json+")
	c.add("output", outputFile)
	for _, o := range p.Raw {
		c.flag(o)
	}
	return c, nil
}

// perClone reports whether each job of a phase is a result of its own.
func perClone(p *job.Phase) bool { return p.PerClone && p.NumJobs > 1 }

// results is how many of them fio reports.
func results(p *job.Phase) int {
	if perClone(p) {
		return p.NumJobs
	}
	return 1
}

// fromInput makes fio read a job file from standard input after its options. The
// file is empty: fio makes its job of the options, and waits for the end of the
// file before it starts it.
const fromInput = "-"

// A command is a list of options being made.
type command []string

func (c *command) add(name, value string) { *c = append(*c, "--"+name+"="+value) }
func (c *command) flag(name string)       { *c = append(*c, "--"+name) }

// bool adds a boolean where it is asked for at all.
func (c *command) bool(name string, asked, value bool) {
	switch {
	case asked && value:
		c.add(name, "1")
	case asked:
		c.add(name, "0")
	}
}

func (c *command) number(name string, n int64) { c.add(name, strconv.FormatInt(n, 10)) }

// micro adds a time in nanoseconds, rounded up: fio keeps microseconds, and
// takes 0 for no limit.
func (c *command) micro(name string, ns int64) {
	c.add(name, strconv.FormatInt((ns+999)/1000, 10)+"us")
}

func (c *command) workload(p *job.Phase, files []file, ioengine string) error {
	c.add("ioengine", ioengine)
	c.add("rw", string(p.Mode))
	if p.Mode.Mixed() {
		c.number("rwmixread", int64(p.RWMixRead))
	}
	if r, w := p.BlockSizes(); r != w {
		c.add("bs", fmt.Sprintf("%d,%d", r, w))
	} else {
		c.number("bs", r)
	}
	c.number("iodepth", int64(p.IODepth))
	c.number("numjobs", int64(p.NumJobs))
	c.bool("direct", true, p.Direct)
	c.bool("invalidate", p.KeepCache, false)
	c.bool("norandommap", p.Mode.Random() && !p.RandomMap, true)
	if p.RandSeed != 0 {
		// Without this fio takes no notice of the seed.
		c.add("randrepeat", "0")
		c.add("randseed", strconv.FormatUint(p.RandSeed, 10))
	}
	if err := c.extent(p, files); err != nil {
		return err
	}
	if p.RuntimeNS > 0 {
		c.micro("runtime", p.RuntimeNS)
		// A time-based job knows no end by bytes.
		c.bool("time_based", !p.Once && p.MaxBytes == 0, true)
	}
	if p.RampTimeNS > 0 {
		c.micro("ramp_time", p.RampTimeNS)
	}
	switch r, w := p.ReadIOPS, p.WriteIOPS; {
	case r > 0 && w > 0:
		c.add("rate_iops", fmt.Sprintf("%d,%d", r, w))
	case r > 0 && p.Mode.Writes():
		c.add("rate_iops", fmt.Sprintf("%d,0", r))
	case r > 0:
		c.number("rate_iops", r)
	case w > 0:
		c.add("rate_iops", fmt.Sprintf("0,%d", w))
	}
	if p.ThinkTimeNS > 0 {
		c.micro("thinktime", p.ThinkTimeNS)
	}
	if len(p.CPUs) > 0 {
		c.add("cpus_allowed", job.FormatCPUs(p.CPUs))
	}
	c.writes(p)
	if ioengine == string(job.IOUring) {
		c.bool("fixedbufs", p.FixedBufs, true)
		c.bool("registerfiles", p.RegisterFiles, true)
		c.bool("hipri", p.HiPri, true)
	}
	return nil
}

// writes adds what concerns only jobs that write.
func (c *command) writes(p *job.Phase) {
	if p.FSync > 0 {
		c.number("fsync", int64(p.FSync))
	}
	if p.FDataSync > 0 {
		c.number("fdatasync", int64(p.FDataSync))
	}
	c.bool("end_fsync", p.EndFSync, true)
	switch p.Sync {
	case job.SyncFile:
		c.add("sync", "1") // the only spelling before fio 3.20
	case job.SyncDSync:
		c.add("sync", "dsync")
	}
	c.bool("refill_buffers", p.Unique, true)
	c.bool("zero_buffers", p.ZeroBuffers, true)
	if p.CompressPercent > 0 {
		c.number("buffer_compress_percentage", int64(p.CompressPercent))
	}
}

// extent adds where the jobs work and how far they go.
func (c *command) extent(p *job.Phase, files []file) error {
	n := len(files)
	start, length := p.RegionOf(0, files[0].size, n)
	var total int64 // of job 0's regions
	equal := true   // all regions, of all jobs in all files, are of one length
	for k, f := range files {
		first, l := p.RegionOf(0, f.size, n)
		total += l
		step := int64(0)
		for i := range p.NumJobs {
			s, l := p.RegionOf(i, f.size, n)
			if l <= 0 || s < 0 || s+l > f.size {
				return fmt.Errorf("phase %s: a file of %d bytes does not hold the region of %d from %d on, with blocks of %d, that job %d of %d has",
					p.Name, f.size, l, s, p.BlockSize, i+1, p.NumJobs)
			}
			equal = equal && l == length
			if i == 1 {
				step = s - first
			}
		}
		if k == 0 {
			if start > 0 {
				c.number("offset", start)
			}
			if step > 0 {
				c.number("offset_increment", step)
			}
		} else if second, _ := p.RegionOf(1, files[0].size, n); first != start || p.NumJobs > 1 && step != second-start {
			return fmt.Errorf("phase %s: the files differ in size and so in where jobs start, and fio has one offset for all", p.Name)
		}
	}
	switch {
	case equal:
		c.number("size", length*int64(n)) // fio divides it by the number of files
	case p.Split || p.Size != (job.Size{}):
		return fmt.Errorf("phase %s: the regions of jobs and files differ in size, and fio shares one size equally", p.Name)
	}
	var each int64
	if p.Once && p.IOSize != (job.Size{}) {
		each = p.IOLimit(total)
	}
	if p.MaxBytes > 0 {
		share := share(p)
		if share == 0 {
			return fmt.Errorf("phase %s: max_bytes=%d is less than one block of %d for each of %d jobs, and fio has no limit for all together",
				p.Name, p.MaxBytes, p.BlockSize, p.NumJobs)
		}
		if p.Once && each == 0 {
			each = total
		}
		if each == 0 || share < each {
			each = share
		}
	}
	if each > 0 {
		c.number("io_size", each)
	}
	return nil
}

// share is what each job gets of the phase's byte limit, in whole blocks.
func share(p *job.Phase) int64 {
	return p.MaxBytes / int64(p.NumJobs) / p.BlockSize * p.BlockSize
}
