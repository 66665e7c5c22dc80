package job

import (
	"strconv"
	"strings"
)

// FioOptions returns the options with which fio does what the phase does to an
// existing file of so many bytes, as in a job file but on one line. Missing are
// the name of the file, and how often and where the phase runs.
//
// A limit of bytes is one for each job in fio and, unlike runtime, without effect
// beside time_based: whichever of the two comes first ends the job, as here, only
// without it.
func FioOptions(p *Phase, fileSize int64) string {
	var opts []string
	add := func(name, value string) { opts = append(opts, name+"="+value) }
	add("ioengine", "io_uring")
	add("rw", string(p.Mode))
	add("bs", formatSize(p.BlockSize))
	add("iodepth", strconv.Itoa(p.IODepth))
	add("numjobs", strconv.Itoa(p.NumJobs))
	if p.Direct {
		add("direct", "1")
	} else {
		add("direct", "0")
	}
	switch {
	case p.Mode.Random():
		add("norandommap", "1") // offsets are drawn independently
	case p.Split && p.NumJobs > 1 && p.BlockSize > 0:
		region := strconv.Itoa(100/p.NumJobs) + "%"
		if _, length := p.Region(0, fileSize); 100%p.NumJobs != 0 {
			region = formatSize(length)
		}
		add("size", region)
		add("offset_increment", region)
	}
	if p.FDataSync > 0 {
		add("fdatasync", strconv.Itoa(p.FDataSync))
	}
	if p.Unique && p.Mode.Writes() {
		add("refill_buffers", "1")
	}
	if !p.Once && p.MaxBytes == 0 {
		add("time_based", "1")
	}
	if p.RuntimeNS > 0 {
		add("runtime", formatTime(max(p.RuntimeNS/1e3, 1)))
	}
	if p.MaxBytes > 0 && p.BlockSize > 0 {
		perJob := p.MaxBytes / int64(max(p.NumJobs, 1))
		add("io_size", formatSize(max(perJob/p.BlockSize, 1)*p.BlockSize))
	}
	if p.RandSeed != 0 {
		add("randseed", strconv.FormatUint(p.RandSeed, 10))
	}
	return strings.Join(opts, " ")
}
