package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

const (
	// gap is the time between two passes of a design: longer than it takes to
	// start a worker in any place, so that it can be the same everywhere.
	gap = 2 * time.Second
	// pilotPasses of pilotTime of each phase come before all others, on the host
	// where it is a place. Three would leave two degrees of freedom for how much
	// passes scatter; with four a run of two hours is still not two minutes longer.
	pilotPasses = 4
	pilotTime   = 3 * time.Second
	pilotBytes  = 4 << 30
	// spareShare: one round in so many may be measured again.
	spareShare = 4
	// byBytesLimit is how often its planned time a pass may take that its bytes
	// end.
	byBytesLimit = 2
)

// defaultMargins are what users of drives call the same. Package analysis has its
// own for metrics that are not here.
var defaultMargins = map[string]float64{record.MetricThroughput: 0.03, record.MetricP50: 0.05, record.MetricP99: 0.10}

// WithRounds makes a preset one for verdicts, with so many rounds. The length of
// its passes stays. It is an error where the preset is no comparison of places or
// the number is odd.
func WithRounds(p *job.Preset, n int) error {
	switch {
	case p.Order != job.OrderPalindrome && p.Order != job.OrderRounds:
		return fmt.Errorf("preset %s has an order of its own", p.Name)
	case n < 2 || n%2 != 0:
		return fmt.Errorf("%d rounds: an even number from 2 on, so that half of them start in the host and half elsewhere", n)
	}
	passes := 2 * n
	longer := func(total time.Duration) time.Duration {
		return total / time.Duration(p.Passes) * time.Duration(passes)
	}
	p.Runtime = longer(p.Runtime)
	p.Phases = slices.Clone(p.Phases)
	for i := range p.Phases {
		p.Phases[i].RuntimeNS = longer(time.Duration(p.Phases[i].RuntimeNS)).Nanoseconds()
	}
	p.Order, p.Passes = job.OrderRounds, passes
	return nil
}

func design(w *Wish) *record.Design {
	d := &record.Design{
		Rounds: w.Preset.Passes / 2, SpareRounds: w.Preset.Passes / 2 / spareShare, GapNS: gap.Nanoseconds(),
		Margins: maps.Clone(defaultMargins), Confidence: 0.95, Correction: record.CorrectionHolm,
	}
	maps.Copy(d.Margins, w.Margins)
	return d
}

// rounds has a pilot of all phases, then each phase with a discarded pass and its
// rounds. A round is a palindrome, forth and back (H P L L P H) or back and forth
// (L P H H P L): within one a steady drift takes the same from each place, and
// with as many of either what only meets the first pass does, too. Which is which
// is drawn from the seed.
func rounds(w *Wish, phases []job.Phase) []record.Step {
	first := pilotPlace(w.Places)
	var steps []record.Step
	for _, ph := range readersFirst(phases) {
		for range pilotPasses {
			s := shorter(stepOf(&ph, first, record.NoRound), record.RolePilot, 0, pilotTime, pilotBytes)
			s.MaxBytes = s.MaxBytes / ph.BlockSize * ph.BlockSize
			steps = append(steps, s)
		}
	}
	seed := nextSeed(w.Seed ^ 0x726f756e6473) // "rounds": not that of any pass
	for _, ph := range readersFirst(phases) {
		steps = append(steps, burnIn(&ph, first))
		backs := draw(w.Preset.Passes/2, &seed)
		for n, back := range backs {
			for _, place := range trip(w.Places, back) {
				steps = append(steps, stepOf(&ph, place, n))
			}
		}
	}
	return steps
}

// burnIn is the discarded pass of a phase: the drive's caches and tables then
// hold what they hold in the others.
func burnIn(ph *job.Phase, place string) record.Step {
	s := stepOf(ph, place, record.NoRound)
	s.Role = record.RoleBurnIn
	return s
}

// pilotPlace is the host where it is a place.
func pilotPlace(places []string) string {
	if slices.Contains(places, record.PlaceHost) {
		return record.PlaceHost
	}
	return places[0]
}

// draw shuffles n choices of which half are true (Fisher and Yates).
func draw(n int, seed *uint64) []bool {
	all := make([]bool, n)
	for i := range n / 2 {
		all[i] = true
	}
	for i := n - 1; i > 0; i-- {
		*seed = nextSeed(*seed)
		j := int(*seed % uint64(i+1)) // the bias of the remainder is 2^-60
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// trip is the places forth and back, or back and forth.
func trip(places []string, back bool) []string {
	if back {
		places = slices.Clone(places)
		slices.Reverse(places)
	}
	return palindrome(places)
}

// spares calls f with each pass of the rounds that a plan may measure again.
func spares(p *record.Plan, f func(*record.Step)) {
	if p.Design == nil || len(p.Places) < 2 { // where nothing is compared no round is void
		return
	}
	for i := range p.Phases {
		phase := p.Phases[i].Name
		last := lastOf(p, phase)
		if last < 0 {
			continue
		}
		for range 2 * len(p.Places) * sparesLeft(p, phase) {
			f(&p.Steps[last])
		}
	}
}

// sparesLeft is how many rounds of a phase may still be replaced: a replacement
// has a number beyond those planned.
func sparesLeft(p *record.Plan, phase string) int {
	return max(0, p.Design.Rounds+p.Design.SpareRounds-nextRound(p, phase))
}

// nextRound is the number of the next round of a phase.
func nextRound(p *record.Plan, phase string) (n int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Phase == phase {
			n = max(n, s.Round+1)
		}
	}
	return n
}

// gapOf is about how long it takes from one pass to the next, beside waits.
func gapOf(p *record.Plan) int64 {
	if p.Design != nil {
		return p.Design.GapNS
	}
	return passGap.Nanoseconds()
}

// size gives the passes of a phase that write, from step i on, as many bytes as
// the burn-in moved in their time, at most the plan's limit. The time of a pass
// would give the faster place more to write, and so another drive.
func size(p *record.Plan, i int, burnIn *record.Outcome) {
	if burnIn == nil || moved(burnIn) <= 0 || burnIn.ElapsedNS() <= 0 {
		return // then time ends the passes
	}
	phase := phaseOf(p, p.Steps[i].Phase)
	rate := float64(moved(burnIn)) / float64(burnIn.ElapsedNS())
	for ; i < len(p.Steps); i++ {
		s := &p.Steps[i]
		if s.Phase != phase.Name || s.Role != "" || s.ByBytes || s.MaxBytes <= 0 || s.RuntimeNS <= 0 {
			continue
		}
		quota := int64(math.Min(rate*float64(s.RuntimeNS), float64(s.MaxBytes))) / phase.BlockSize * phase.BlockSize
		if quota > 0 {
			s.MaxBytes, s.ByBytes = quota, true
		}
	}
}

// moved is what a pass read and wrote, in bytes, which is what its limit counts.
func moved(o *record.Outcome) (bytes int64) {
	for _, f := range []*record.Flow{o.Read, o.Write} {
		if f != nil {
			bytes += f.Bytes
		}
	}
	return bytes
}

// replace plans a round again that ended with step i, in the same order, right
// after the last one of its phase. It reports false where no spare is left.
func replace(p *record.Plan, i int) bool {
	s := p.Steps[i]
	if sparesLeft(p, s.Phase) == 0 {
		return false
	}
	p.Steps = slices.Insert(p.Steps, lastOf(p, s.Phase)+1, again(p, s.Phase, s.Round)...)
	return true
}

// lastOf is the index of the last step of a phase.
func lastOf(p *record.Plan, phase string) int {
	for i := len(p.Steps) - 1; i >= 0; i-- {
		if p.Steps[i].Phase == phase {
			return i
		}
	}
	return -1
}

// again returns the steps of a round once more, with seeds and a number of their
// own.
func again(p *record.Plan, phase string, round int) []record.Step {
	var steps []record.Step
	for _, s := range p.Steps {
		if s.Phase == phase && s.Round == round {
			steps = append(steps, s)
		}
	}
	n := nextRound(p, phase)
	for i := range steps {
		steps[i].Round = n
	}
	seedSteps(steps, freshSeed(p))
	return steps
}

// freshSeed is one that none of the plan's is, the same for the same plan.
func freshSeed(p *record.Plan) (seed uint64) {
	for i := range p.Steps {
		seed = nextSeed(seed ^ p.Steps[i].Seed)
	}
	return seed
}
