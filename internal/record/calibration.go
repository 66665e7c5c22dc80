package record

import "time"

// A Calibration is what the engine could do on this machine with I/Os that
// cost nothing: no-ops (IORING_OP_NOP) through a ring of the kind that it
// measures with, on one thread held on one CPU. It was taken before anything
// was measured.
//
// It is an upper bound and a wide one: a read that a drive serves takes the
// same way and then that of filesystem, block layer and driver. Rates are the
// best slice of the calibration, because other load can only lower them.
type Calibration struct {
	At time.Time `json:"at"`
	// CPU is the one it ran on. Another may be slower: an efficiency core, or
	// a sibling whose core is shared.
	CPU int `json:"cpu"`
	// ElapsedNS is how long the two measurements took together.
	ElapsedNS int64 `json:"elapsed_ns"`
	// NopsPerSec is the rate with Batch no-ops submitted and reaped with each
	// system call; SinglesPerSec that with one, as at iodepth 1. 0 is unknown.
	NopsPerSec    float64 `json:"nops_per_sec"`
	Batch         int     `json:"batch"`
	SinglesPerSec float64 `json:"singles_per_sec"`
	// ClockNS is what one reading of the clock costs, in nanoseconds; each
	// batch of a pass costs one or two.
	ClockNS float64 `json:"clock_ns"`
	Engine  Engine  `json:"engine"`
}

// Limit returns how many I/Os a second the engine could do at a depth with
// jobs of which each keeps one CPU busy; 0 where the calibration does not say.
//
// A call costs c and each I/O in it a, so that n I/Os with one call take
// c + n·a; the two rates give both. A saturated job gets as many completions
// with a call as are in flight, hence depth. Beyond Batch nothing was
// measured, and the rate of Batch stands: c is then all but spread away. More
// jobs than CPUs share them.
func (c *Calibration) Limit(depth, jobs, cpus int) float64 {
	if c == nil || c.NopsPerSec <= 0 || c.SinglesPerSec <= 0 || c.Batch < 2 || depth < 1 || jobs < 1 || cpus < 1 {
		return 0
	}
	n := float64(min(depth, c.Batch))
	one, many := 1/c.SinglesPerSec, float64(c.Batch)/c.NopsPerSec // seconds for 1 and for Batch
	a := (many - one) / float64(c.Batch-1)
	if a <= 0 {
		return 0 // the two do not go together
	}
	return n / (one + (n-1)*a) * float64(min(jobs, cpus))
}
