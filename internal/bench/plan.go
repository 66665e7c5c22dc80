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
	Preset job.Preset
	Dir    string
	Places []string // in the order of a report: host, pinned, lxc
	CPUSet record.CPUSet
	Memory *int64 // bytes; nil is no limit
	// ReadOnly: nothing may be written, so that there is no prefill; the preset
	// must have no phase that writes (ReadOnly of it).
	ReadOnly   bool
	Privileged bool
	// Separate: host and container have a volume each.
	Separate bool
	Seed     uint64
	// FileSize is what the safety gate granted, WantedSize what was asked
	// for, in bytes.
	FileSize, WantedSize int64
	// Runtime replaces the preset's time of a phase in a place, over all its
	// passes there, or with rounds that of a pass; 0 does not.
	Runtime time.Duration
	// Margins replaces differences that count as none, in fractions, by metric
	// (record.Metric constants); only with rounds.
	Margins map[string]float64
	// CoolDown replaces the preset's longest wait before a pass; nil does not,
	// 0 is no waiting.
	CoolDown *time.Duration
	// MaxTempMC is the ceiling of the composite temperature; nil is none.
	MaxTempMC *int64
	// NoTemperature: the drive's cannot be read, so that no wait makes sense.
	NoTemperature bool
	// LinkRate is what the drives' links carry, in bytes a second; 0 where that
	// is not known.
	LinkRate int64
	// WriteLimit and MaxRate are those of record.Plan; 0 is none.
	WriteLimit, MaxRate int64
}

const (
	// passGap is what a pass costs beside its runtime: starting a worker, filling
	// its buffers, waiting for the last I/Os. Only estimates use it.
	passGap = 400 * time.Millisecond
	// procsBeyondJobs is added to the jobs for GOMAXPROCS. Each job blocks in the
	// kernel on a processor of Go's scheduler that is never handed over, so the
	// rest of the worker needs some of its own.
	procsBeyondJobs = 4
	// fastestLink bounds what a drive of which no link is known can take: PCIe
	// 5.0 x4 carries 15.75 GB/s.
	fastestLink = 16e9
)

// NewPlan fixes every pass of a run: its order, time, byte limit and seed. It
// reads nothing and touches nothing.
func NewPlan(w Wish) (record.Plan, error) {
	passes := orders[w.Preset.Order]
	switch {
	case len(w.Places) == 0:
		return record.Plan{}, fmt.Errorf("plan a run: no place to measure")
	case passes == nil:
		return record.Plan{}, fmt.Errorf("plan a run: preset %s has an unknown order %q", w.Preset.Name, w.Preset.Order)
	case w.Preset.Order == job.OrderPalindrome && (w.Preset.Passes < 2 || w.Preset.Passes%2 != 0):
		return record.Plan{}, fmt.Errorf("plan a run: preset %s has %d passes a place, not an even number", w.Preset.Name, w.Preset.Passes)
	case w.Preset.Order == job.OrderRounds && (w.Preset.Passes < 4 || w.Preset.Passes%4 != 0):
		return record.Plan{}, fmt.Errorf("plan a run: %d passes a place are no even number of rounds", w.Preset.Passes)
	case w.Preset.Passes < 1:
		return record.Plan{}, fmt.Errorf("plan a run: preset %s has no passes", w.Preset.Name)
	}
	p := record.Plan{
		Preset: w.Preset.Name, Dir: w.Dir, Places: w.Places, Phases: slices.Clone(w.Preset.Phases),
		FileSize: w.FileSize, WantedSize: w.WantedSize,
		CPUSet: w.CPUSet, Memory: w.Memory, Privileged: w.Privileged, Separate: w.Separate, Seed: w.Seed,
		WriteLimit: w.WriteLimit, MaxRate: w.MaxRate,
		MaxTempMC: w.MaxTempMC, NoPrefill: w.ReadOnly || !w.Preset.Reads() && w.Preset.Order == job.OrderFill,
	}
	jobs := 0
	for i := range p.Phases {
		ph := &p.Phases[i]
		ph.RuntimeNS = perPass(&w, ph).Nanoseconds()
		if w.ReadOnly && ph.Mode.Writes() {
			return record.Plan{}, fmt.Errorf("plan a run: phase %s writes, and nothing may be written", ph.Name)
		}
		ph.MaxBytes = mostWritten(&w, ph)
		if err := capRate(ph, w.MaxRate); err != nil {
			return record.Plan{}, fmt.Errorf("plan a run: %w", err)
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
	p.Steps = passes(&w, p.Phases)
	if w.Preset.Order == job.OrderRounds {
		p.Design = design(&w)
	}
	seedSteps(p.Steps, w.Seed)
	if err := limitWrites(&p, 0, w.WriteLimit); err != nil {
		return record.Plan{}, fmt.Errorf("plan a run: %w", err)
	}
	p.MaxWritten = MaxWritten(&p, 0)
	if !w.NoTemperature {
		p.IdleNS = w.Preset.Idle.Nanoseconds()
		p.CoolDownNS = coolDownLimit(&w, p.Steps).Nanoseconds()
	}
	p.EstimateNS = Estimate(&p)
	return p, nil
}

// seedSteps gives each step a seed of its own.
func seedSteps(steps []record.Step, seed uint64) {
	for i := range steps {
		seed = nextSeed(seed)
		steps[i].Seed = passSeed(seed)
	}
}

// MaxWritten is the most that a plan writes from a step on, in bytes: the prefill,
// the passes, and every round that may have to be measured again.
func MaxWritten(p *record.Plan, from int) (bytes int64) {
	if !p.NoPrefill {
		bytes = p.Fill()
	}
	for i := from; i < len(p.Steps); i++ {
		bytes += p.Steps[i].MaxBytes
	}
	spares(p, func(s *record.Step) { bytes += s.MaxBytes })
	return bytes
}

// mostWritten is the byte limit of a pass of the phase; 0 where it only reads.
func mostWritten(w *Wish, ph *job.Phase) int64 {
	n := w.Preset.WriteQuota
	switch {
	case !ph.Mode.Writes():
		return 0
	case w.Preset.Order == job.OrderFill && ph.Once:
		n = w.FileSize
	case n == 0:
		// No limit to a drive, but one to what can be agreed to.
		rate := w.LinkRate
		if rate <= 0 {
			rate = fastestLink
		}
		n = int64(float64(rate) * time.Duration(ph.RuntimeNS).Seconds())
	}
	if w.MaxRate > 0 && ph.RuntimeNS > 0 {
		n = min(n, int64(float64(w.MaxRate)*time.Duration(ph.RuntimeNS).Seconds()))
	}
	return n / ph.BlockSize * ph.BlockSize
}

const (
	// leastCoolDown and mostCoolDown bound a wait that is as long as a pass. In
	// two seconds the controller itself cools, though not the board below it.
	leastCoolDown = 2 * time.Second
	mostCoolDown  = 5 * time.Minute
)

// coolDownLimit is the longest wait before a pass.
func coolDownLimit(w *Wish, steps []record.Step) time.Duration {
	switch {
	case w.CoolDown != nil:
		return *w.CoolDown
	case w.Preset.CoolDown < 0:
		return 0
	case w.Preset.CoolDown > 0:
		return w.Preset.CoolDown
	}
	var longest time.Duration
	for _, s := range steps {
		longest = max(longest, time.Duration(s.RuntimeNS))
	}
	return min(max(longest, leastCoolDown), mostCoolDown)
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

// Estimate returns the low and high end of how long a run takes, in
// nanoseconds. The low end has a fast NVMe drive prefill at 3 GB/s and no pass
// wait or go on beyond its plateau; the high end has a slow SATA SSD at 250 MB/s,
// every wait at its limit and every spare round in use. Write passes that end at their byte limit only
// make it shorter.
func Estimate(p *record.Plan) [2]int64 {
	at := func(bytes, bytesPerSecond int64) int64 {
		return int64(float64(bytes) / float64(bytesPerSecond) * 1e9)
	}
	low, high := p.IdleNS, p.IdleNS
	if !p.NoPrefill {
		fast, slow := int64(3e9), int64(250e6)
		if p.MaxRate > 0 {
			fast, slow = min(fast, p.MaxRate), min(slow, p.MaxRate)
		}
		low, high = low+at(p.Fill(), fast), high+at(p.Fill(), slow)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		fixed := s.PauseNS + gapOf(p)
		low, high = low+fixed, high+fixed
		switch ph := phaseOf(p, s.Phase); {
		case ph.Once && s.MaxBytes > 0:
			low += min(s.RuntimeNS, at(s.MaxBytes, 7e9))
			high += min(s.RuntimeNS, at(s.MaxBytes, 100e6))
		case untilPlateau(s, ph):
			low += min(s.RuntimeNS, plateauLeast.Nanoseconds())
			high += s.RuntimeNS
		default:
			low, high = low+s.RuntimeNS, high+s.RuntimeNS
		}
		if cools(p, i) {
			high += p.CoolDownNS
		}
	}
	spares(p, func(s *record.Step) { high += s.RuntimeNS + gapOf(p) + p.CoolDownNS })
	return [2]int64{low, high}
}

// phaseOf returns the phase called name.
func phaseOf(p *record.Plan, name string) *job.Phase {
	for i := range p.Phases {
		if p.Phases[i].Name == name {
			return &p.Phases[i]
		}
	}
	panic("bench: step names a phase that the plan does not have: " + name)
}
