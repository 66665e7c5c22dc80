// Package analysis computes from a record what it says: rates, latencies, the
// loss of the container and what it comes from, doubts, and a verdict. It is
// pure, so that a later version can compute it anew from an old record, and it
// neither rounds nor words anything, except that the parts of a loss are rounded
// here once, so that they add up wherever they are shown.
package analysis

import (
	"nativ/internal/job"
	"nativ/internal/record"
)

// A Result is what a record says.
type Result struct {
	// Phases are in the order of the plan.
	Phases []Phase
	// Passes counts the passes that ran to their planned end, Planned those of
	// the plan.
	Passes, Planned int
	// Temperatures are sorted by sensor name; empty where nothing was read.
	Temperatures []Temperature
	Written      Written
	// Warnings are those that follow from the record and those recorded.
	Warnings []record.Warning
	Verdict  Verdict
}

// A Phase is one phase in all its places.
type Phase struct {
	Job job.Phase
	// Places are in the order of the plan, also those without any number.
	Places []Place
	Loss   Loss
}

// A Place is one phase in one place, over all passes there that ran to their
// planned end. What cannot be said is nil.
type Place struct {
	Name string
	// Passes counts the passes behind the numbers, Planned those of the plan.
	Passes, Planned int
	// IOPS and BytesPerSec are arithmetic means of the passes' rates, each the
	// number of I/Os over its exact elapsed time. With fdatasync they count the
	// writes, each of which waited for its sync; in a phase that reads and writes,
	// both.
	IOPS, BytesPerSec *float64
	// MaxIOPS and MaxBytesPerSec are those of the best second: of intervals of
	// at least 0.9 s only, because a shorter one is noise.
	MaxIOPS, MaxBytesPerSec *float64
	Lat                     Latency
	// CPUBusy is the share of the place's CPUs that was busy, 0 to 1, with
	// whatever else ran on them; CPUBusyLeast that of the least busy pass.
	CPUBusy, CPUBusyLeast *float64
	// OtherUser is the share of the CPUs' time, 0 to 1, that other programs
	// than the worker spent in user mode.
	OtherUser *float64
	// UserNS and SystemNS are the worker's CPU time for each I/O; nil also where
	// the kernel's accounting found none of it.
	UserNS, SystemNS *float64
	// DeviceRatio is the bytes that the drives moved over those that the test
	// did; nil where the counters are off or were not read.
	DeviceRatio *float64
	// DeviceIOs is the number of I/Os that the drives did for each of the test's
	// in its direction: below 1 where the kernel merged them on their way. Nil as
	// DeviceRatio.
	DeviceIOs *float64
	// Spread is the difference of the fastest and the slowest pass over their
	// mean; nil with fewer than two.
	Spread *float64
	// CPULimited is true where in every pass at least 95 % of the place's CPU
	// time was used, and not mostly by others.
	CPULimited bool

	logs []float64 // natural logarithms of the passes' IOPS
}

// Latency holds percentiles of lat (submission to reaping; with fdatasync: of
// the syncs, which such a phase waits for) in nanoseconds, over all I/Os of the
// place's passes. A percentile is nil where fewer than ten I/Os lie beyond it:
// p99.9 needs 10^4 of them.
type Latency struct {
	N              int64
	P50, P99, P999 *int64
	// Clat is true where they are of clat, which leaves the time of submission
	// out: all that an imported result had.
	Clat bool
}

// A Temperature is the range of one sensor over a run, in millidegrees Celsius.
type Temperature struct {
	Sensor          string
	First, Min, Max int64
}

// Written is what a run wrote, in bytes.
type Written struct {
	// Application is what the test wrote: prefill and passes, failed ones
	// included as far as they came.
	Application int64
	// Device is what the drives wrote in those passes in which their counters
	// could be read at both ends, InPasses what the test wrote in the same
	// ones. Both nil where there is no such pass. The prefill is in neither.
	Device, InPasses *int64
}

// OtherLoad reports whether other programs took part of the place's CPU time.
// Only user mode tells: in the kernel's time there are interrupts, soft
// interrupts and the block layer's own threads, which work for the test without
// being counted as the worker's, and on a virtual disk that is most of it.
func (p *Place) OtherLoad() bool { return p.OtherUser != nil && *p.OtherUser > otherLoad }

// otherLoad is far above what a quiet system does beside a test, and above what
// counting by clock ticks gets wrong in passes of some seconds.
const otherLoad = 0.1

// Phase returns the phase called name, or nil.
func (r *Result) Phase(name string) *Phase {
	for i := range r.Phases {
		if r.Phases[i].Job.Name == name {
			return &r.Phases[i]
		}
	}
	return nil
}

// Place returns the place called name, or nil.
func (p *Phase) Place(name string) *Place {
	for i := range p.Places {
		if p.Places[i].Name == name {
			return &p.Places[i]
		}
	}
	return nil
}

// Compute says what rec says.
func Compute(rec *record.Record) Result {
	var r Result
	passes := passesBy(rec)
	planned := plannedBy(rec)
	for _, j := range rec.Plan.Phases {
		ph := Phase{Job: j}
		for _, name := range rec.Plan.Places {
			k := key{j.Name, name}
			p := measurePlace(rec, &j, name, passes[k])
			p.Planned = planned[k]
			r.Passes += p.Passes
			ph.Places = append(ph.Places, p)
		}
		ph.Loss = computeLoss(rec, &ph)
		r.Phases = append(r.Phases, ph)
	}
	r.Planned = len(rec.Plan.Steps)
	r.Temperatures = temperatures(rec)
	r.Written = written(rec)
	r.Warnings = warnings(rec, &r)
	r.Verdict = verdict(rec, &r)
	return r
}

// A key names what the passes of a run are grouped by.
type key struct{ phase, place string }

func passesBy(rec *record.Record) map[key][]*record.Pass {
	m := map[key][]*record.Pass{}
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[j]
			k := key{p.Phase, p.Place}
			m[k] = append(m[k], p)
		}
	}
	return m
}

func plannedBy(rec *record.Record) map[key]int {
	m := map[key]int{}
	for _, s := range rec.Plan.Steps {
		m[key{s.Phase, s.Place}]++
	}
	return m
}

// samples calls f with every sample of the run in the order of time.
func samples(rec *record.Record, f func(*record.Sample)) {
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			w := &rec.Rounds[i].Passes[j].Watch
			if w.Before != nil {
				f(w.Before)
			}
			for k := range w.Samples {
				f(&w.Samples[k])
			}
			if w.After != nil {
				f(w.After)
			}
		}
	}
}
