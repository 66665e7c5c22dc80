// Package analysis computes from a record what it says: rates, latencies, the
// loss of the container and what it comes from, doubts, and a verdict. It is
// pure, so that a later version can compute it anew from an old record, and it
// neither rounds nor words anything, except that the parts of a loss are rounded
// here once, so that they add up wherever they are shown.
package analysis

import (
	"slices"

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
	// Drops are where speeds fell, in the order of the passes and of time, each
	// with its causes; Heat is what heat took, by phase and place; Fills are long
	// sequential writes; Holds are what slowed whole passes down.
	Drops []Drop
	Heat  []Heat
	Fills []Fill
	Holds []Hold
	// Warnings are those that follow from the record and those recorded.
	Warnings []record.Warning
	Verdict  Verdict
}

// A Phase is one phase in all its places.
type Phase struct {
	Job job.Phase
	// Places are in the order of the plan, also those without any number.
	Places []Place
	// InHot are the places in passes of record.RoleHot: in the hot drive.
	InHot []Place
	Loss  Loss
	// Rounds is nil where the plan has fewer than four rounds of this phase:
	// Comparisons is then empty, and the loss is exploratory.
	Rounds *Rounds
	// Comparisons are of each two places in plan order, by metric.
	Comparisons []Comparison
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
	// both. Where the phase has Rounds they are geometric means over those that
	// count, without the first seconds, so that they are what is compared.
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
	// Lines are what an imported result says, direction by direction and job by
	// job; nil elsewhere.
	Lines []Line

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
	// Mean is that of an imported result, in nanoseconds; nil elsewhere.
	Mean *float64
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
	// Counted is by how much the health log's count of host writes rose from before
	// the prefill to after the last pass, which is Application, the file system's
	// own writes and those of others; nil where it was not read at both ends, with
	// several drives, and where a run was resumed. UsedBefore and UsedAfter are the
	// log's percentage used at both ends.
	Counted               *int64
	UsedBefore, UsedAfter *int64
}

// Others is what the drive was sent beside the test's own bytes, nil where that is
// not known. The log counts in steps of 512,000 bytes, and some drives late: what
// is less than the test's own is 0.
func (w *Written) Others() *int64 {
	if w.Counted == nil {
		return nil
	}
	return new(max(*w.Counted-w.Application, 0))
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

// Comparison returns that of b with a by a metric, or nil.
func (p *Phase) Comparison(m Metric, a, b string) *Comparison {
	for i := range p.Comparisons {
		if c := &p.Comparisons[i]; c.Metric == m && c.A == a && c.B == b {
			return c
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

// Container returns the place that is a container, or nil.
func (p *Phase) Container() *Place {
	for i := range p.Places {
		if record.IsContainer(p.Places[i].Name) {
			return &p.Places[i]
		}
	}
	return nil
}

// Compute says what rec says.
func Compute(rec *record.Record) Result {
	var r Result
	passes, special := passesBy(rec)
	planned := plannedBy(rec)
	for _, j := range rec.Plan.Phases {
		ph := Phase{Job: j}
		for _, name := range rec.Plan.Places {
			k := key{j.Name, name}
			p := measurePlace(rec, &j, name, passes[k])
			p.Planned = planned[k]
			if !planOrdinary(rec, k) {
				p.Spread = nil // of probes, which are meant to differ
			}
			r.Passes += p.Passes + measurePlace(rec, &j, name, special[k]).Passes
			ph.Places = append(ph.Places, p)
			hot := slices.DeleteFunc(slices.Clone(special[k]), func(p *record.Pass) bool { return p.Role != record.RoleHot })
			if len(hot) > 0 {
				ph.InHot = append(ph.InHot, measurePlace(rec, &j, name, hot))
			}
		}
		r.Phases = append(r.Phases, ph)
	}
	void := voidRounds(rec)
	for _, s := range rec.Plan.Steps {
		if !void[roundKey{s.Phase, s.Round}] { // what was measured again is not missing
			r.Planned++
		}
	}
	r.Temperatures = temperatures(rec)
	r.Written = written(rec)
	s := findDrops(rec, &r)
	compare(rec, &r)
	r.Warnings = warnings(rec, &r, s.sensorWarnings())
	r.Verdict = verdict(rec, &r)
	return r
}

// compare fills in what is said of the places beside each other. Rounds are judged
// over all phases together.
func compare(rec *record.Record, r *Result) {
	var all []*Comparison
	for i := range r.Phases {
		ph := &r.Phases[i]
		compareRounds(rec, r, ph)
		for j := range ph.Comparisons {
			all = append(all, &ph.Comparisons[j])
		}
	}
	Judge(all)
	for i := range r.Phases {
		if ph := &r.Phases[i]; ph.Rounds != nil {
			ph.Loss = lossOfRounds(ph)
		} else {
			ph.Loss = computeLoss(rec, ph)
		}
	}
}

// A key names what the passes of a run are grouped by.
type key struct{ phase, place string }

// passesBy returns the passes that stand for their phase in their place, and
// those with a part of their own, whose numbers are none of the place's: what
// follows a load, what is measured in the hot drive, and void rounds. Where a phase has only
// such, they are all there is to show.
func passesBy(rec *record.Record) (passes, special map[key][]*record.Pass) {
	passes, special = map[key][]*record.Pass{}, map[key][]*record.Pass{}
	void := voidRounds(rec)
	for i := range rec.Rounds {
		left := void[roundKey{rec.Rounds[i].Phase, rec.RoundOf(&rec.Rounds[i])}]
		for j := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[j]
			k := key{p.Phase, p.Place}
			if !left && (ordinary(p.Role) || !planOrdinary(rec, k)) {
				passes[k] = append(passes[k], p)
			} else {
				special[k] = append(special[k], p)
			}
		}
	}
	return passes, special
}

func plannedBy(rec *record.Record) map[key]int {
	m := map[key]int{}
	void := voidRounds(rec)
	for _, s := range rec.Plan.Steps {
		if void[roundKey{s.Phase, s.Round}] {
			continue
		}
		if k := (key{s.Phase, s.Place}); ordinary(s.Role) || !planOrdinary(rec, k) {
			m[k]++
		}
	}
	return m
}

// A roundKey names a round by its number in the plan.
type roundKey struct {
	phase string
	n     int
}

// voidRounds are those that the run itself found void. Where a phase has no others
// they are all there is to show, although nothing is compared by them.
func voidRounds(rec *record.Record) map[roundKey]bool {
	void := map[roundKey]bool{}
	counts := map[string]bool{}
	for i := range rec.Rounds {
		r := &rec.Rounds[i]
		n := rec.RoundOf(r)
		void[roundKey{r.Phase, n}] = r.Void != ""
		counts[r.Phase] = counts[r.Phase] || r.Void == "" && n != record.NoRound
	}
	for k := range void {
		void[k] = void[k] && counts[k.phase]
	}
	return void
}

func ordinary(role string) bool { return role == "" || role == record.RoleLoad }

// planOrdinary reports whether the plan has a pass of this phase and place that
// stands for them.
func planOrdinary(rec *record.Record, k key) bool {
	return slices.ContainsFunc(rec.Plan.Steps, func(s record.Step) bool {
		return s.Phase == k.phase && s.Place == k.place && ordinary(s.Role)
	})
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
