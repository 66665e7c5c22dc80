package bench

import (
	"context"
	"slices"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// keepGap waits until the gap of the design is over. It is called with the worker
// ready, so that a place which takes longer to start one has no longer gap.
func (r *Run) keepGap(ctx context.Context) {
	d := r.Record.Plan.Design
	if d == nil || r.ended.IsZero() {
		return
	}
	if left := time.Duration(d.GapNS) - r.Now().Sub(r.ended); left > 0 {
		_ = r.Sleep(ctx, left) // the end of ctx ends the pass by itself
	}
}

// timed notes the gap before a pass and how long it took.
func (r *Run) timed(pass *record.Pass, step *record.Step) {
	o := pass.Outcome
	if o == nil || o.EndNS == 0 {
		r.endNS = 0
		return
	}
	if g := o.StartNS - r.endNS; r.endNS > 0 && g >= 0 {
		pass.GapNS = &g
	}
	r.endNS = o.EndNS
	if step.ByBytes {
		if r.took == nil {
			r.took = map[string]int64{}
		}
		r.took[step.Phase] = o.ElapsedNS()
	}
}

// after does what a design asks for after step i: it sizes the writes, says that
// the pilot is over, and looks at a round that has ended.
func (r *Run) after(i int) {
	rec, p := r.Record, &r.Record.Plan
	step := p.Steps[i]
	last := i+1 == len(p.Steps)
	switch {
	case step.Role == record.RoleBurnIn:
		if pass := r.lastPass(i); pass != nil && pass.OK() {
			size(p, i+1, pass.Outcome)
			r.save(nil)
		}
	case step.Role == record.RolePilot:
		if last || p.Steps[i+1].Role != record.RolePilot {
			r.Emit(Event{Kind: EventPilot})
		}
	case len(p.Places) < 2:
		// Nothing is compared.
	case last || p.Steps[i+1].Phase != step.Phase || p.Steps[i+1].Round != step.Round:
		if n := len(rec.Rounds) - 1; n >= 0 && rec.Rounds[n].Phase == step.Phase && rec.RoundOf(&rec.Rounds[n]) == step.Round {
			r.roundEnded(n, i)
		}
	}
}

// lastPass is the pass of step i, where it has just been measured.
func (r *Run) lastPass(i int) *record.Pass {
	rounds := r.Record.Rounds
	if len(rounds) == 0 {
		return nil
	}
	passes := rounds[len(rounds)-1].Passes
	if p := &passes[len(passes)-1]; p.Index == i {
		return p
	}
	return nil
}

// roundEnded marks a round that is void, and plans it again where a spare is left.
func (r *Run) roundEnded(n, i int) {
	rec := r.Record
	round := &rec.Rounds[n]
	failed := 0
	for k := range round.Passes {
		if !round.Passes[k].OK() {
			failed++
		}
	}
	void := r.Void
	if void == nil {
		void = func(rec *record.Record, i int) string { return string(analysis.VoidRound(rec, i).Reason) }
	}
	if round.Void = void(rec, n); round.Void == "" {
		return
	}
	// Where a place is gone for good, it would be for the next round, too.
	gone := slices.ContainsFunc(rec.Incomplete, func(m record.Missing) bool { return m.Code == record.MissingPlace })
	again := !gone && replace(&rec.Plan, i)
	if again {
		rec.Incomplete = withoutLast(rec.Incomplete, failed, round.Phase)
	}
	r.save(nil)
	r.Emit(Event{Kind: EventVoid, Phase: *phaseOf(&rec.Plan, round.Phase), Void: round.Void, Again: again, LeftNS: r.left(i + 1)})
}

// withoutLast leaves the last n failed passes of a phase out: their round is
// measured again, and nothing of the plan is missing.
func withoutLast(all []record.Missing, n int, phase string) []record.Missing {
	for i := len(all) - 1; i >= 0 && n > 0; i-- {
		if all[i].Code == record.MissingPassFailed && all[i].Phase == phase {
			all = slices.Delete(all, i, i+1)
			n--
		}
	}
	return all
}
