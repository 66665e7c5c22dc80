package analysis

import (
	"math"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A Pilot is what the short passes before a run say of one phase.
type Pilot struct {
	Job job.Phase
	// Passes counts those behind the numbers.
	Passes int
	// IOPS and BytesPerSec are geometric means; BytesPerSec in both directions.
	IOPS, BytesPerSec float64
	// SD is the standard deviation of the logarithm of the throughput from pass to
	// pass. Short passes scatter more than long ones, and none of them saw what
	// changes over hours.
	SD float64
	// Smallest is the difference of throughput, as a fraction, that the run can be
	// expected to find in four of five cases where it is there.
	Smallest float64
}

// Pilots are those of a record's phases, in the order of the plan; a phase without
// two whole pilot passes is left out.
func Pilots(rec *record.Record) []Pilot {
	d := rec.Plan.Design
	if d == nil {
		return nil
	}
	var all []Pilot
	for i := range rec.Plan.Phases {
		j := &rec.Plan.Phases[i]
		var passes []*record.Pass
		for k := range rec.Rounds {
			for n := range rec.Rounds[k].Passes {
				if p := &rec.Rounds[k].Passes[n]; p.Phase == j.Name && p.Role == record.RolePilot && p.OK() {
					passes = append(passes, p)
				}
			}
		}
		logs := numbersOf(j, passes, 0)[MetricThroughput]
		if len(logs) < 2 || !finite(logs) {
			continue
		}
		p := Pilot{Job: *j, Passes: len(logs), IOPS: math.Exp(mean(logs)), SD: math.Sqrt(variance(logs))}
		var bytes, ns float64
		for _, pass := range passes {
			f := flow(j, pass.Outcome)
			bytes, ns = bytes+float64(f.Bytes), ns+float64(pass.Outcome.ElapsedNS())
		}
		p.BytesPerSec = bytes / ns * 1e9
		p.Smallest = Smallest(p.SD, d.Rounds, len(rec.Plan.Phases))
		all = append(all, p)
	}
	return all
}

// ExpectedWritten is what a run will have written at its end at the speeds of its
// pilot, in bytes, without rounds that are measured again; false where the pilot
// does not tell of every phase that writes.
func ExpectedWritten(rec *record.Record) (bytes int64, ok bool) {
	rate := map[string]float64{}
	for _, p := range Pilots(rec) {
		rate[p.Job.Name] = p.BytesPerSec
	}
	if !rec.Plan.NoPrefill {
		bytes = rec.Plan.FileSize
	}
	for i := range rec.Plan.Steps {
		s := &rec.Plan.Steps[i]
		if s.MaxBytes <= 0 {
			continue
		}
		r, known := rate[s.Phase]
		if !known {
			return 0, false
		}
		bytes += min(s.MaxBytes, int64(r*float64(s.RuntimeNS)/1e9))
	}
	return bytes, bytes > 0
}

// TypicalSD are standard deviations of passes from one to the next, of a drive
// that is steady and of one that is not, for what has to be said before anything
// was measured: seconds that scatter by 3 % and 6 %, over the length of a pass, on
// top of 0.7 % and 1.5 % from pass to pass. docs/method.md reckons with the same.
var TypicalSD = [2]float64{0.01, 0.02}

// Smallest is the difference, as a fraction, that so many rounds can be expected to
// find in four of five cases, where passes scatter by sd and phases share the
// error. It reckons with Holm's first step, the hardest, and so may be somewhat too
// large; +Inf where so few rounds find none.
//
// A round's difference is that of two means of two passes each, and scatters as
// one pass does.
func Smallest(sd float64, rounds, phases int) float64 {
	if rounds < 2 || phases < 1 || math.Ldexp(2, -rounds) > chance/float64(phases) {
		return math.Inf(1) // the sign-flip test could not agree
	}
	df := float64(max(rounds-2, 1)) // see pairedInOrder
	return math.Expm1((tQuantile(1-chance/float64(2*phases), df) + tQuantile(power, df)) * sd / math.Sqrt(float64(rounds)))
}
