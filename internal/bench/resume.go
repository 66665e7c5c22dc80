package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// Continue prepares the record of a run that ended early for the rest of it, from
// now on, and returns the step to begin with: Run.From. It is the number of steps
// where nothing is left to measure. The passes that ran to their end are kept;
// one that was cut off is measured again, and so is, in a run with a design, the
// whole round in which the run ended, because its two halves would have another
// time between them than those of other rounds.
func Continue(rec *record.Record, now time.Time) (int, error) {
	if err := Resumable(rec); err != nil {
		return 0, err
	}
	p := &rec.Plan
	spent := analysis.WrittenBytes(rec)
	resume := record.Resume{EndedAt: rec.Ended, At: now, Prefill: rec.Prefill}
	next := 0
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			pass := &rec.Rounds[i].Passes[j]
			next = max(next, pass.Index+1)
			if heard := heardOf(pass); rec.Ended.IsZero() && heard.After(resume.EndedAt) {
				resume.EndedAt = heard
			}
		}
	}
	if cut := takeCut(rec); cut != nil {
		resume.Interrupted = cut
		next = cut.Index
	}
	if resume.EndedAt.IsZero() {
		resume.EndedAt = rec.Started
	}
	if p.Design != nil && next < len(p.Steps) && p.Steps[next].Role == "" {
		continueRound(rec, next)
	}
	resume.Step = next
	rec.Resumed = append(rec.Resumed, resume)
	rec.Incomplete = slices.DeleteFunc(rec.Incomplete, func(m record.Missing) bool {
		return slices.Contains([]string{record.MissingInterrupted, record.MissingMaxTemp, record.MissingHealth, record.MissingPrefill, record.MissingReset, record.MissingTarget}, m.Code)
	})
	// The others follow from the record, and from more of it then.
	rec.Warnings = slices.DeleteFunc(rec.Warnings, func(w record.Warning) bool { return w.Code != record.WarnContainerRemade })
	rec.Ended, rec.Cleaned, rec.Prefill = time.Time{}, nil, nil
	rec.Complete = false
	if p.WriteLimit > 0 {
		if err := limitWrites(p, next, max(1, p.WriteLimit-spent)); err != nil {
			return 0, fmt.Errorf("keep the limit of %d bytes, of which %d are written: %w", p.WriteLimit, spent, err)
		}
	}
	p.MaxWritten = MaxWritten(p, 0) + int64(len(rec.Resumed))*p.Fill()
	return next, nil
}

// Resumable says why a run cannot go on; nil where it can.
func Resumable(rec *record.Record) error {
	switch {
	case rec.Simulated != nil:
		return errors.New("it is a simulation: simulate it again")
	case rec.Import != nil || rec.Jobs != nil:
		return errors.New("it is no run of nativ bench")
	case rec.Complete:
		return errors.New("it is complete")
	case rec.Target.Device != nil:
		return errors.New("it measured a device itself, for which consent holds for one run alone")
	case rec.Target.Volume != nil:
		return errors.New("it measured a volume in a container of Proxmox VE, and another one lies elsewhere on the drive")
	case len(rec.Plan.Steps) == 0:
		return errors.New("it has no plan")
	}
	for i := range rec.Plan.Steps {
		switch s := &rec.Plan.Steps[i]; s.Role {
		case record.RoleLoad, record.RoleProbe, record.RoleResume, record.RoleHot:
			return fmt.Errorf("passes of preset %s look at what those before left in the drive", rec.Plan.Preset)
		}
	}
	return nil
}

// heardOf is when a pass had ended.
func heardOf(p *record.Pass) time.Time {
	if p.Outcome == nil {
		return p.StartedAt
	}
	return p.StartedAt.Add(time.Duration(p.Outcome.ElapsedNS()))
}

// takeCut takes the pass out that the end of the run cut off: the last one, where
// it is not whole for that reason.
func takeCut(rec *record.Record) *record.Pass {
	n := len(rec.Rounds) - 1
	if n < 0 {
		return nil
	}
	round := &rec.Rounds[n]
	last := round.Passes[len(round.Passes)-1]
	interrupted := last.Failed != nil && last.Failed.Code == record.FailInterrupted
	lost := last.Failed != nil && slices.ContainsFunc(rec.Incomplete, func(m record.Missing) bool {
		return m.Code == record.MissingReset || m.Code == record.MissingTarget
	})
	if !interrupted && !lost && !slices.Contains([]string{record.EndMaxTemp, record.EndHealth, record.EndReset, record.EndTarget}, last.EndedBy) {
		return nil
	}
	if round.Passes = round.Passes[:len(round.Passes)-1]; len(round.Passes) == 0 {
		rec.Rounds = rec.Rounds[:n]
	}
	return &last
}

// continueRound plans what comes first when a run with a design goes on at step
// next: the burn-in of its phase, and a round that had begun once more.
func continueRound(rec *record.Record, next int) {
	p := &rec.Plan
	s := p.Steps[next]
	steps := []record.Step{burnIn(phaseOf(p, s.Phase), pilotPlace(p.Places))}
	rest := p.Steps[next:]
	if n := len(rec.Rounds) - 1; n >= 0 && rec.Rounds[n].Phase == s.Phase && rec.RoundOf(&rec.Rounds[n]) == s.Round {
		rec.Rounds[n].Void = record.VoidInterrupted
		steps = append(steps, again(p, s.Phase, s.Round)...)
		for len(rest) > 0 && rest[0].Phase == s.Phase && rest[0].Round == s.Round {
			rest = rest[1:]
		}
	}
	seedSteps(steps, freshSeed(p))
	p.Steps = slices.Concat(p.Steps[:next:next], steps, rest)
}
