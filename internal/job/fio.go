package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Setting is an option of fio with its value, as a job file has it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (s Setting) String() string { return s.Name + "=" + s.Value }

// Settings are the options that the job sets, in the form in which Print writes
// them, without what only says when the job runs (stonewall).
func (j *Job) Settings() []Setting {
	var all []Setting
	set := j.written()
	for _, o := range options {
		if v, ok := set[o.name]; ok && o.name != "stonewall" {
			all = append(all, Setting{o.name, v})
		}
	}
	for _, raw := range j.Raw {
		name, value, has := strings.Cut(raw, "=")
		if !has {
			value = "1"
		}
		all = append(all, Setting{name, value})
	}
	return all
}

// AllSettings are those of a job, nil where nobody kept them, and whatever else
// its phase says: see FioSettings.
func AllSettings(own []Setting, p *Phase, fileSize int64) []Setting {
	all := slices.Clone(own)
	has := func(name string) bool {
		return slices.ContainsFunc(own, func(s Setting) bool { return s.Name == name })
	}
	for _, s := range FioSettings(p, fileSize) {
		// The offset of a clone that has a worker of its own is in both.
		if !has(s.Name) && !(s.Name == "offset" && has("offset_increment")) {
			all = append(all, s)
		}
	}
	// Of an option that is set more than once fio takes the last.
	var last []Setting
	for i, s := range all {
		if !slices.ContainsFunc(all[i+1:], func(o Setting) bool { return o.Name == s.Name }) {
			last = append(last, s)
		}
	}
	return last
}

// FioOptions are FioSettings on one line.
func FioOptions(p *Phase, fileSize int64) string {
	var words []string
	for _, s := range FioSettings(p, fileSize) {
		words = append(words, s.String())
	}
	return strings.Join(words, " ")
}

// FioSettings returns the options with which fio does what the phase does to an
// existing file of so many bytes. Missing are the name of the file, and how often
// and where the phase runs.
//
// A limit of bytes is one for each job in fio and, unlike runtime, without effect
// beside time_based: whichever of the two comes first ends the job, as here, only
// without it.
func FioSettings(p *Phase, fileSize int64) []Setting {
	var opts []Setting
	add := func(name, value string) { opts = append(opts, Setting{name, value}) }
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
	if _, own, ok := strings.Cut(engine, fioEngine+"/"); ok { // fio, running another engine
		engine = own
	}
	if engine == "" || engine == fioEngine {
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
	if p.KeepCache {
		add("invalidate", "0")
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
	for _, raw := range p.Raw {
		name, value, has := strings.Cut(raw, "=")
		if !has {
			value = "1"
		}
		add(name, value)
	}
	return opts
}
