package bench

import (
	"fmt"
	"slices"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A Wish is what the user asked for, with everything decided that the machine
// decides: the input of NewPlan.
type Wish struct {
	Preset     job.Preset
	Dir        string
	Places     []string // in the order of a report: host, pinned, lxc
	CPUSet     record.CPUSet
	Memory     *int64 // bytes; nil is no limit
	Privileged bool
	Seed       uint64
	// FileSize is what the safety gate granted, WantedSize what was asked
	// for, in bytes.
	FileSize, WantedSize int64
	// Runtime replaces the preset's time of a phase in a place; 0 does not.
	Runtime time.Duration
}

// passGap is what a pass costs beside its runtime: starting a worker, filling
// its buffers, waiting for the last I/Os. Only the estimate uses it.
const passGap = 400 * time.Millisecond

// procsBeyondJobs is added to the jobs for GOMAXPROCS. Each job blocks in the
// kernel on a processor of Go's scheduler that is never handed over, so the
// rest of the worker needs some of its own.
const procsBeyondJobs = 4

// NewPlan fixes every pass of a run: its order, time, byte limit and seed. It
// reads nothing and touches nothing.
//
// Phases that only read come first, because writing changes what a drive's
// caches hold; the report keeps the preset's order. Within a phase the places
// form a palindrome (host pinned lxc lxc pinned host): a steady drift, by
// warming up or a cache filling, then takes the same from each.
func NewPlan(w Wish) (record.Plan, error) {
	if len(w.Places) == 0 {
		return record.Plan{}, fmt.Errorf("plan a run: no place to measure")
	}
	if w.Preset.Passes < 2 || w.Preset.Passes%2 != 0 {
		return record.Plan{}, fmt.Errorf("plan a run: preset %s has %d passes a place, not an even number", w.Preset.Name, w.Preset.Passes)
	}
	p := record.Plan{
		Preset: w.Preset.Name, Dir: w.Dir, Places: w.Places, Phases: slices.Clone(w.Preset.Phases),
		FileSize: w.FileSize, WantedSize: w.WantedSize, MaxWritten: w.FileSize,
		CPUSet: w.CPUSet, Memory: w.Memory, Privileged: w.Privileged, Seed: w.Seed,
	}
	jobs := 0
	for i := range p.Phases {
		ph := &p.Phases[i]
		ph.RuntimeNS = perPass(&w, ph).Nanoseconds()
		if ph.Mode.Writes() {
			ph.MaxBytes = w.Preset.WriteQuota / ph.BlockSize * ph.BlockSize
		}
		if err := ph.Validate(); err != nil {
			return record.Plan{}, fmt.Errorf("plan a run: %w", err)
		}
		if n := leastFor(ph); w.FileSize < n {
			return record.Plan{}, fmt.Errorf("plan a run: a file of %d MiB is too small for phase %s, which needs %d MiB: ask for a larger --size",
				w.FileSize>>20, ph.Name, (n+1<<20-1)>>20)
		}
		jobs = max(jobs, ph.NumJobs)
	}
	p.GOMAXPROCS = jobs + procsBeyondJobs
	seed := w.Seed
	for _, ph := range readersFirst(p.Phases) {
		for round := range w.Preset.Passes / 2 {
			for _, place := range palindrome(w.Places) {
				seed = nextSeed(seed)
				p.Steps = append(p.Steps, record.Step{
					Round: round, Phase: ph.Name, Place: place,
					RuntimeNS: ph.RuntimeNS, MaxBytes: ph.MaxBytes, Seed: passSeed(seed),
				})
				p.MaxWritten += ph.MaxBytes
			}
		}
	}
	p.EstimateNS = estimate(&p)
	return p, nil
}

// LeastFileSize is the smallest test file, in bytes, that the phases of a preset
// can work on.
func LeastFileSize(p job.Preset) (least int64) {
	for i := range p.Phases {
		least = max(least, leastFor(&p.Phases[i]))
	}
	return least
}

// leastFor is the smallest file in which every I/O that a phase keeps in flight
// has a block of its own.
func leastFor(p *job.Phase) int64 {
	n := p.BlockSize * int64(p.IODepth)
	if p.Split && !p.Mode.Random() {
		n *= int64(p.NumJobs)
	}
	return n
}

// readersFirst returns the phases in the order in which they run.
func readersFirst(phases []job.Phase) []job.Phase {
	s := slices.Clone(phases)
	slices.SortStableFunc(s, func(a, b job.Phase) int {
		switch aw, bw := a.Mode.Writes(), b.Mode.Writes(); {
		case aw == bw:
			return 0
		case bw:
			return -1
		default:
			return 1
		}
	})
	return s
}

// palindrome returns the places and then the places again in reverse.
func palindrome(places []string) []string {
	back := slices.Clone(places)
	slices.Reverse(back)
	return append(slices.Clone(places), back...)
}

// nextSeed is the splitmix64 step (Steele, Lea, Flood 2014): well-separated
// seeds from one number that the user can repeat.
func nextSeed(s uint64) uint64 {
	s += 0x9e3779b97f4a7c15
	z := s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// passSeed is a seed of 63 bits: fio's randseed takes no more.
func passSeed(s uint64) uint64 { return s >> 1 }

// estimate returns the low and high end of how long a run takes, in
// nanoseconds. The low end has a fast NVMe drive prefill at 3 GB/s, the high
// end a slow SATA SSD at 250 MB/s; write passes that end at their byte limit
// only make it shorter.
func estimate(p *record.Plan) [2]int64 {
	var passes int64
	for _, s := range p.Steps {
		passes += s.RuntimeNS + passGap.Nanoseconds()
	}
	prefill := func(bytesPerSecond int64) int64 {
		return int64(float64(p.FileSize) / float64(bytesPerSecond) * 1e9)
	}
	return [2]int64{passes + prefill(3e9), passes + prefill(250e6)}
}
