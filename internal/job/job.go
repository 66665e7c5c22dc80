// Package job says what to measure, as data: the phases of a benchmark and fio's
// job files, with the meaning and the spelling that fio gives to its options.
//
// It is pure: it opens nothing and knows no machine.
package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Mode is a direction and an access pattern, spelt as fio's rw option.
type Mode string

// The modes that a phase may have.
const (
	Read      Mode = "read"
	Write     Mode = "write"
	RandRead  Mode = "randread"
	RandWrite Mode = "randwrite"
	ReadWrite Mode = "rw"     // reads and writes mixed, see RWMixRead
	RandRW    Mode = "randrw" // the same at random
)

// Modes lists every mode that a phase may have, in the order of the constants.
func Modes() []Mode { return []Mode{Read, Write, RandRead, RandWrite, ReadWrite, RandRW} }

// Random reports whether offsets are drawn at random.
func (m Mode) Random() bool { return m == RandRead || m == RandWrite || m == RandRW }

// Reads reports whether the mode reads.
func (m Mode) Reads() bool { return m == Read || m == RandRead || m.Mixed() }

// Writes reports whether the mode writes.
func (m Mode) Writes() bool { return m == Write || m == RandWrite || m.Mixed() }

// Mixed reports whether the mode both reads and writes.
func (m Mode) Mixed() bool { return m == ReadWrite || m == RandRW }

// A Phase is one workload: what fio calls a job section. All sizes are bytes,
// all times nanoseconds. The zero value of every field from WriteBlockSize on
// changes nothing.
type Phase struct {
	// Name identifies the phase in a record and on the command line, for
	// example "randread-4k".
	Name string `json:"name"`
	Mode Mode   `json:"rw"`
	// BlockSize is the length of every I/O in bytes, but see WriteBlockSize.
	BlockSize int64 `json:"bs_bytes"`
	// IODepth is the number of I/Os that each job keeps in flight.
	IODepth int `json:"iodepth"`
	// NumJobs is the number of jobs: one thread and one ring each.
	NumJobs int `json:"numjobs"`
	// Direct asks for O_DIRECT.
	Direct bool `json:"direct"`
	// FDataSync issues an fdatasync after every so many writes of a job; 0
	// never does.
	FDataSync int `json:"fdatasync,omitempty"`
	// Split gives each job of a sequential phase its own, equal region of the
	// file, as fio's offset_increment and size do together. Without it all
	// jobs walk the same blocks, and caches answer all but the first.
	Split bool `json:"split,omitempty"`
	// Unique refills every write with fresh incompressible data (fio:
	// refill_buffers=1). Without it buffers are filled once and every sector
	// is stamped anew, so that no two blocks are equal (fio:
	// scramble_buffers=1).
	Unique bool `json:"refill_buffers,omitempty"`
	// Once stops each job at the end of its region (fio without time_based).
	// Without it jobs start over until Runtime or MaxBytes ends the pass.
	Once bool `json:"once,omitempty"`
	// RuntimeNS ends the pass after this time; 0 means no limit, which only a
	// phase with Once or MaxBytes may have.
	RuntimeNS int64 `json:"runtime_ns"`
	// MaxBytes ends the pass after so many bytes over all jobs together; 0
	// means no limit.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// RandSeed seeds the offsets and the data; 0 leaves the seed to the run.
	RandSeed uint64 `json:"randseed,omitempty"`

	// WriteBlockSize is the length of the writes of a mixed mode where it
	// differs from BlockSize, which is then that of the reads (fio: bs=r,w).
	WriteBlockSize int64 `json:"write_bs_bytes,omitempty"`
	// RWMixRead is the chance in percent that an I/O of a mixed mode reads.
	RWMixRead int `json:"rwmixread,omitempty"`
	// RandomMap visits every block once, at random, before any a second time
	// (fio without norandommap). Each job and file has a map of its own.
	RandomMap bool `json:"random_map,omitempty"`
	// Offset is where job 0 starts in each file, OffsetIncrement how much
	// further each next job does. Percentages are of the file.
	Offset          Size `json:"offset,omitzero"`
	OffsetIncrement Size `json:"offset_increment,omitzero"`
	// Size is the length of a job's region; bytes are shared out evenly
	// between several files, a percentage is of each. Zero: to the end.
	Size Size `json:"size,omitzero"`
	// IOSize is what each job of a phase with Once moves, in bytes or in
	// percent of its region. Zero: as much as its region has.
	IOSize Size `json:"io_size,omitzero"`
	// RampTimeNS is how long I/O is done before the pass starts; nothing of
	// it is counted, except against byte limits.
	RampTimeNS int64 `json:"ramp_time_ns,omitempty"`
	// ReadIOPS and WriteIOPS limit the reads and writes of each job, in I/Os
	// per second; 0 does not.
	ReadIOPS  int64 `json:"rate_iops_read,omitempty"`
	WriteIOPS int64 `json:"rate_iops_write,omitempty"`
	// ThinkTimeNS is the pause of a job after each of its I/Os, which is
	// waited for first.
	ThinkTimeNS int64 `json:"thinktime_ns,omitempty"`
	// FSync is FDataSync with fsync.
	FSync int `json:"fsync,omitempty"`
	// EndFSync issues an fsync after the last write of a job, which belongs
	// to the time of the pass and is not counted as an I/O (as in fio).
	EndFSync bool `json:"end_fsync,omitempty"`
	// Sync is how the files are open: "", or SyncFile or SyncDSync.
	Sync Sync `json:"sync,omitempty"`
	// ZeroBuffers writes zeroes.
	ZeroBuffers bool `json:"zero_buffers,omitempty"`
	// CompressPercent refills every write with data of which so many percent
	// of each sector are zeroes.
	CompressPercent int `json:"buffer_compress_percentage,omitempty"`
	// CPUs are those that the jobs may run on.
	CPUs []int `json:"cpus_allowed,omitempty"`
	// FixedBufs registers the buffers with io_uring, which counts against
	// RLIMIT_MEMLOCK.
	FixedBufs bool `json:"fixedbufs,omitempty"`
	// RegisterFiles insists on registered files, which the io_uring engine
	// otherwise uses where it can.
	RegisterFiles bool `json:"registerfiles,omitempty"`
	// HiPri polls for completions of io_uring.
	HiPri bool `json:"hipri,omitempty"`
	// PerClone asks for the results of each job beside those of all (fio
	// without group_reporting).
	PerClone bool `json:"per_clone,omitempty"`
	// KeepCache leaves what the page cache holds of the files (fio:
	// invalidate=0). Without it each job drops its region from there when it
	// starts, as fio does by default.
	KeepCache bool `json:"keep_cache,omitempty"`
	// Description is what the user says of the phase (fio: description).
	Description string `json:"description,omitempty"`
	// Engine names the engine that does the phase, where the run has several.
	Engine string `json:"engine,omitempty"`
	// Raw are options for fio as the engine that this package does not know the
	// meaning of, "name=value" or "name", to be given to it word for word, in
	// this order and after all that the other fields say.
	Raw []string `json:"fio_options,omitempty"`
	// Trace reports every I/O as it was submitted, which costs time and
	// memory: such a pass is no measurement.
	Trace bool `json:"trace,omitempty"`
}

// MaxIODepth bounds iodepth: the kernel refuses rings above 32768 entries, and
// nothing that a drive does needs more than this.
const MaxIODepth = 4096

// MaxJobs bounds numjobs; every job is an operating system thread.
const MaxJobs = 512

// Validate reports the first rule that the phase breaks.
func (p *Phase) Validate() error {
	switch {
	case p.Name == "":
		return errors.New("phase without a name")
	case !slices.Contains(Modes(), p.Mode):
		return fmt.Errorf("phase %s: rw=%q is not one of %v", p.Name, p.Mode, Modes())
	case p.BlockSize < 1:
		return fmt.Errorf("phase %s: bs=%d is not positive", p.Name, p.BlockSize)
	case p.ByFio(): // which has other limits
	case p.BlockSize < 512 || p.BlockSize%512 != 0:
		return fmt.Errorf("phase %s: bs=%d is not a positive multiple of 512 bytes", p.Name, p.BlockSize)
	case p.BlockSize > 64<<20:
		return fmt.Errorf("phase %s: bs=%d is above 64 MiB", p.Name, p.BlockSize)
	case p.IODepth > MaxIODepth:
		return fmt.Errorf("phase %s: iodepth=%d is not between 1 and %d", p.Name, p.IODepth, MaxIODepth)
	case p.NumJobs > MaxJobs:
		return fmt.Errorf("phase %s: numjobs=%d is not between 1 and %d", p.Name, p.NumJobs, MaxJobs)
	}
	switch {
	case p.IODepth < 1:
		return fmt.Errorf("phase %s: iodepth=%d is not positive", p.Name, p.IODepth)
	case p.NumJobs < 1:
		return fmt.Errorf("phase %s: numjobs=%d is not positive", p.Name, p.NumJobs)
	case len(p.Raw) > 0 && !p.ByFio():
		return fmt.Errorf("phase %s: %s is an option that only fio as the engine has", p.Name, p.Raw[0])
	case p.FDataSync < 0:
		return fmt.Errorf("phase %s: fdatasync=%d is negative", p.Name, p.FDataSync)
	case p.FDataSync > 0 && !p.Mode.Writes():
		return fmt.Errorf("phase %s: fdatasync needs a mode that writes, not rw=%s", p.Name, p.Mode)
	case p.RuntimeNS < 0:
		return fmt.Errorf("phase %s: runtime is negative", p.Name)
	case p.MaxBytes < 0:
		return fmt.Errorf("phase %s: max_bytes is negative", p.Name)
	case p.RuntimeNS == 0 && p.MaxBytes == 0 && !p.Once:
		return fmt.Errorf("phase %s: nothing ends it (no runtime, no byte limit)", p.Name)
	}
	return p.validateOptions()
}

// validateOptions checks the fields from WriteBlockSize on.
func (p *Phase) validateOptions() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("phase %s: %s", p.Name, fmt.Sprintf(format, args...))
	}
	for _, s := range []struct {
		name string
		Size
	}{{"offset", p.Offset}, {"offset_increment", p.OffsetIncrement}, {"size", p.Size}, {"io_size", p.IOSize}} {
		if s.Bytes < 0 || s.Percent < 0 || s.Percent > 100 || s.Bytes > 0 && s.Percent > 0 {
			return bad("%s is neither an amount of bytes nor 1 to 100 percent", s.name)
		}
	}
	switch w := p.WriteBlockSize; {
	case w != 0 && !p.Mode.Mixed():
		return bad("a block size for writes needs a mixed mode, not rw=%s", p.Mode)
	case w < 0 || !p.ByFio() && (w%512 != 0 || w > 64<<20):
		return bad("bs=,%d is not a positive multiple of 512 bytes up to 64 MiB", w)
	case w != 0 && w != p.BlockSize && p.RandomMap && !p.ByFio():
		return bad("two block sizes (%d and %d) cannot share a random map; add norandommap=1", p.BlockSize, w)
	}
	switch {
	case p.RWMixRead < 0 || p.RWMixRead > 100:
		return bad("rwmixread=%d is not between 0 and 100", p.RWMixRead)
	case p.Split && (p.Offset != Size{} || p.OffsetIncrement != Size{} || p.Size != Size{}):
		return bad("split regions have no offset, offset_increment and size")
	case p.IOSize != Size{} && !p.Once:
		return bad("io_size needs a phase that ends by itself, not a time_based one")
	case p.RampTimeNS < 0:
		return bad("ramp_time is negative")
	case p.ReadIOPS < 0 || p.WriteIOPS < 0:
		return bad("rate_iops is negative")
	case p.ThinkTimeNS < 0:
		return bad("thinktime is negative")
	case p.FSync < 0:
		return bad("fsync=%d is negative", p.FSync)
	case (p.FSync > 0 || p.EndFSync) && !p.Mode.Writes():
		return bad("fsync and end_fsync need a mode that writes, not rw=%s", p.Mode)
	case !slices.Contains([]Sync{"", SyncNone, SyncFile, SyncDSync}, p.Sync):
		return bad("sync=%q is none of none, sync, dsync", p.Sync)
	case p.CompressPercent < 0 || p.CompressPercent > 100:
		return bad("buffer_compress_percentage=%d is not between 0 and 100", p.CompressPercent)
	case p.HiPri && !p.Direct && !p.ByFio():
		return bad("hipri polls the device and so needs direct=1")
	case p.HiPri && (p.Syncs() || p.EndFSync) && !p.ByFio():
		return bad("hipri cannot do fsync or fdatasync: a polled ring takes neither")
	}
	for _, c := range p.CPUs {
		if c < 0 || c > maxCPU {
			return bad("cpus_allowed: there is no CPU %d", c)
		}
	}
	return nil
}

// ByFio reports whether fio does the phase, "fio" or "fio/" and one of its I/O
// engines, and not an engine of nativ's own.
func (p *Phase) ByFio() bool {
	return p.Engine == fioEngine || strings.HasPrefix(p.Engine, fioEngine+"/")
}

const fioEngine = "fio"

// VariesBlocks reports whether options of fio's own give the I/Os of the phase
// other lengths than BlockSize and WriteBlockSize, which then say nothing.
func (p *Phase) VariesBlocks() bool {
	return slices.ContainsFunc(p.Raw, func(o string) bool {
		name, _, _ := strings.Cut(o, "=")
		return slices.Contains([]string{
			"bssplit", "bsrange", "blocksize_range", "bs_unaligned", "blocksize_unaligned", "bs_is_seq_rand",
		}, name)
	})
}

// RawOption returns the value of the last of the Raw options of one of these
// names, "1" for one without a value.
func (p *Phase) RawOption(names ...string) (value string, ok bool) {
	for _, o := range p.Raw {
		if name, v, has := strings.Cut(o, "="); slices.Contains(names, name) {
			if value, ok = v, true; !has {
				value = "1"
			}
		}
	}
	return value, ok
}

// Syncs reports whether the phase issues fsyncs or fdatasyncs as it goes.
func (p *Phase) Syncs() bool { return p.FSync > 0 || p.FDataSync > 0 }

// BlockSizes returns the length in bytes of the phase's reads and of its writes.
func (p *Phase) BlockSizes() (read, write int64) {
	if p.WriteBlockSize > 0 {
		return p.BlockSize, p.WriteBlockSize
	}
	return p.BlockSize, p.BlockSize
}

// Region returns the part of a file of size bytes that job i of the phase
// works on: a start and a length in bytes, the length and, unless bytes say
// otherwise, the start a multiple of the block size. The length is not positive
// where the file is too small to hold one block a job.
func (p *Phase) Region(i int, size int64) (start, length int64) {
	return p.RegionOf(i, size, 1)
}

// RegionOf is Region in each of so many files of a phase.
func (p *Phase) RegionOf(i int, size int64, files int) (start, length int64) {
	r, w := p.BlockSizes()
	block := min(r, w)
	if p.Split && !p.Mode.Random() {
		length = size / int64(p.NumJobs) / block * block
		return int64(i) * length, length
	}
	start = p.Offset.of(size, block) + int64(i)*p.OffsetIncrement.of(size, block)
	length = size - start
	switch {
	case p.Size.Bytes > 0:
		length = p.Size.Bytes / int64(files)
	case p.Size.Percent > 0:
		length = min(length, p.Size.of(size, block))
	}
	return start, length / block * block
}

// IOLimit returns how many bytes a job of a phase with Once moves whose regions
// have so many together.
func (p *Phase) IOLimit(regions int64) int64 {
	if p.IOSize == (Size{}) {
		return regions
	}
	return p.IOSize.of(regions, 1)
}

// of resolves the size against a whole of so many bytes; a share is rounded
// down to whole blocks.
func (s Size) of(whole, block int64) int64 {
	if s.Percent > 0 {
		return (whole/100*int64(s.Percent) + whole%100*int64(s.Percent)/100) / block * block
	}
	return s.Bytes
}
