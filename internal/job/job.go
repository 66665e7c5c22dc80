// Package job says what to measure, as data: the phases of a benchmark and fio's
// job files, with the meaning and the spelling that fio gives to its options.
//
// It is pure: it opens nothing and knows no machine.
package job

import (
	"errors"
	"fmt"
	"slices"
)

// A Mode is a direction and an access pattern, spelt as fio's rw option.
type Mode string

// The modes that a phase may have.
const (
	Read      Mode = "read"
	Write     Mode = "write"
	RandRead  Mode = "randread"
	RandWrite Mode = "randwrite"
)

// The modes that only a job file may have as yet: reads and writes mixed.
const (
	ReadWrite Mode = "rw"
	RandRW    Mode = "randrw"
)

// Modes lists every mode that a phase may have, in the order of the constants.
func Modes() []Mode { return []Mode{Read, Write, RandRead, RandWrite} }

// Random reports whether offsets are drawn at random.
func (m Mode) Random() bool { return m == RandRead || m == RandWrite || m == RandRW }

// Writes reports whether the mode writes.
func (m Mode) Writes() bool { return m == Write || m == RandWrite || m.Mixed() }

// Mixed reports whether the mode both reads and writes.
func (m Mode) Mixed() bool { return m == ReadWrite || m == RandRW }

// A Phase is one workload: what fio calls a job section. All sizes are bytes,
// all times nanoseconds.
type Phase struct {
	// Name identifies the phase in a record and on the command line, for
	// example "randread-4k".
	Name string `json:"name"`
	Mode Mode   `json:"rw"`
	// BlockSize is the length of every I/O in bytes.
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
	case p.BlockSize < 512 || p.BlockSize%512 != 0:
		return fmt.Errorf("phase %s: bs=%d is not a positive multiple of 512 bytes", p.Name, p.BlockSize)
	case p.BlockSize > 64<<20:
		return fmt.Errorf("phase %s: bs=%d is above 64 MiB", p.Name, p.BlockSize)
	case p.IODepth < 1 || p.IODepth > MaxIODepth:
		return fmt.Errorf("phase %s: iodepth=%d is not between 1 and %d", p.Name, p.IODepth, MaxIODepth)
	case p.NumJobs < 1 || p.NumJobs > MaxJobs:
		return fmt.Errorf("phase %s: numjobs=%d is not between 1 and %d", p.Name, p.NumJobs, MaxJobs)
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
	return nil
}

// Region returns the part of a file of size bytes that job i of the phase
// works on: a start and a length in bytes, both multiples of the block size.
// The length is 0 where the file is too small to hold one block a job.
func (p *Phase) Region(i int, size int64) (start, length int64) {
	if !p.Split || p.Mode.Random() {
		return 0, size / p.BlockSize * p.BlockSize
	}
	length = size / int64(p.NumJobs) / p.BlockSize * p.BlockSize
	return int64(i) * length, length
}
