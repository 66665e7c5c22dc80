package bench

import (
	"fmt"

	"nativ/internal/job"
	"nativ/internal/record"
)

// leastWrite is the smallest pass that a write limit may leave, in bytes: 20 ms of
// the fastest drives, and seconds of synchronous writes. What is shorter measures
// how a pass starts.
const leastWrite = 256 << 20

// FileWithin is how large a test file of want bytes may be where a run may write
// limit bytes in all and nobody asked for a size: half of it, so that the passes
// have the other half. Least is the smallest that makes sense.
func FileWithin(want, least, limit int64) int64 {
	if limit <= 0 {
		return want
	}
	return max(least, min(want, limit/2>>20<<20))
}

// limitWrites makes the passes that write shorter, from a step on, until the rest
// of the plan writes at most limit bytes, prefill included. All passes of a phase
// get the same share, so that no place and no round has more to write than
// another, and nothing has to be cut off while the run lasts: the sum is kept
// beforehand, by MaxBytes.
func limitWrites(p *record.Plan, from int, limit int64) error {
	most := MaxWritten(p, from)
	if limit <= 0 || most <= limit {
		return nil
	}
	fill := int64(0)
	if !p.NoPrefill {
		fill = p.Fill()
	}
	if limit <= fill {
		return fmt.Errorf("the test file of %d MiB alone takes the %d MiB that may be written: allow more, or ask for a smaller file", fill>>20, limit>>20)
	}
	share := float64(limit-fill) / float64(most-fill)
	shorten := func(max, block int64) int64 { return int64(float64(max)*share) / block * block }
	for i := range p.Phases {
		ph := &p.Phases[i]
		ph.MaxBytes = shorten(ph.MaxBytes, ph.BlockSize)
	}
	for i := from; i < len(p.Steps); i++ {
		s := &p.Steps[i]
		if s.MaxBytes == 0 {
			continue
		}
		was := s.MaxBytes
		if s.MaxBytes = shorten(was, phaseOf(p, s.Phase).BlockSize); s.MaxBytes < min(leastWrite, was) {
			return fmt.Errorf("of the %d MiB that may be written, %d MiB would be left for a pass of %s, which needs %d: allow more, or ask for a smaller file or fewer rounds",
				limit>>20, s.MaxBytes>>20, s.Phase, min(leastWrite, was)>>20)
		}
	}
	return nil
}

// capRate keeps a phase, all its jobs together, at rate bytes a second; 0 does
// nothing. Where the phase has a rate of its own the lower one stands. Each place
// gets the same phase, and so the same cap.
func capRate(ph *job.Phase, rate int64) error {
	if rate <= 0 {
		return nil
	}
	read, write := float64(0), float64(0) // shares of the I/Os
	switch {
	case ph.Mode.Mixed():
		read = float64(ph.RWMixRead) / 100
		write = 1 - read
	case ph.Mode.Writes():
		write = 1
	default:
		read = 1
	}
	readBS, writeBS := ph.BlockSizes()
	ios := float64(rate) / (read*float64(readBS) + write*float64(writeBS)) / float64(ph.NumJobs)
	lower := func(now int64, share float64) (int64, error) {
		n := int64(ios * share)
		switch {
		case share == 0:
			return now, nil
		case n < 1:
			return 0, fmt.Errorf("%d bytes a second leave none of the %d jobs of phase %s one I/O a second: allow more", rate, ph.NumJobs, ph.Name)
		case now > 0 && now < n:
			return now, nil
		}
		return n, nil
	}
	var err error
	if ph.ReadIOPS, err = lower(ph.ReadIOPS, read); err != nil {
		return err
	}
	ph.WriteIOPS, err = lower(ph.WriteIOPS, write)
	return err
}
