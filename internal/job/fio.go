package job

import (
	"fmt"
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
	flag := func(name string, on bool) {
		if on {
			add(name, "1")
		}
	}
	size := func(name string, v Size) {
		switch {
		case v.Percent > 0:
			add(name, strconv.Itoa(v.Percent)+"%")
		case v.Bytes > 0:
			add(name, formatSize(v.Bytes))
		}
	}
	engine := p.Engine
	if _, own, ok := strings.Cut(engine, "fio/"); ok { // fio, running another engine
		engine = own
	}
	if engine == "" || engine == "fio" {
		engine = string(IOUring)
	}
	add("ioengine", engine)
	add("rw", string(p.Mode))
	if p.Mode.Mixed() {
		add("rwmixread", strconv.Itoa(p.RWMixRead))
	}
	bs := formatSize(p.BlockSize)
	if p.WriteBlockSize > 0 && p.WriteBlockSize != p.BlockSize {
		bs += "," + formatSize(p.WriteBlockSize)
	}
	add("bs", bs)
	add("iodepth", strconv.Itoa(p.IODepth))
	add("numjobs", strconv.Itoa(p.NumJobs))
	if p.Direct {
		add("direct", "1")
	} else {
		add("direct", "0")
	}
	// Without a map, offsets are drawn independently.
	flag("norandommap", p.Mode.Random() && !p.RandomMap)
	if !p.Mode.Random() && p.Split && p.NumJobs > 1 && p.BlockSize > 0 {
		region := Size{Percent: 100 / p.NumJobs}
		if _, length := p.Region(0, fileSize); 100%p.NumJobs != 0 {
			region = Size{Bytes: length}
		}
		size("size", region)
		size("offset_increment", region)
	}
	size("offset", p.Offset)
	size("offset_increment", p.OffsetIncrement)
	size("size", p.Size)
	size("io_size", p.IOSize)
	if p.ReadIOPS > 0 || p.WriteIOPS > 0 {
		add("rate_iops", fmt.Sprintf("%d,%d", p.ReadIOPS, p.WriteIOPS))
	}
	if p.ThinkTimeNS > 0 {
		add("thinktime", formatTime(max(p.ThinkTimeNS/1e3, 1)))
	}
	if p.FSync > 0 {
		add("fsync", strconv.Itoa(p.FSync))
	}
	if p.FDataSync > 0 {
		add("fdatasync", strconv.Itoa(p.FDataSync))
	}
	flag("end_fsync", p.EndFSync)
	if p.Sync != "" {
		add("sync", string(p.Sync))
	}
	flag("refill_buffers", p.Unique && p.Mode.Writes())
	flag("zero_buffers", p.ZeroBuffers)
	if p.CompressPercent > 0 {
		add("buffer_compress_percentage", strconv.Itoa(p.CompressPercent))
	}
	if len(p.CPUs) > 0 {
		add("cpus_allowed", FormatCPUs(p.CPUs))
	}
	flag("fixedbufs", p.FixedBufs)
	flag("registerfiles", p.RegisterFiles)
	flag("hipri", p.HiPri)
	if p.RampTimeNS > 0 {
		add("ramp_time", formatTime(max(p.RampTimeNS/1e3, 1)))
	}
	flag("time_based", !p.Once && p.MaxBytes == 0)
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
