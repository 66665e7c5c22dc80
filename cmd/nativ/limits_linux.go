package main

import (
	"context"

	"nativ/internal/bench"
	"nativ/internal/rating"
	"nativ/internal/report"
	"nativ/internal/sensor"
)

// checkLimits refuses limits that make no sense.
func (f *benchFlags) checkLimits() error {
	switch {
	case f.maxWritten.set && f.maxWritten.bytes < leastSize:
		return exit(exitUsage, "--max-written: at least 1G, or no phase that writes says anything")
	case f.maxRate.set && f.maxRate.bytes < 1<<20:
		return exit(exitUsage, "--max-rate: at least 1M, in bytes a second")
	case f.maxRate.set && f.simulated:
		return exit(exitUsage, "--max-rate and --simulate: drive models know no rate")
	}
	return nil
}

// agreeToWear asks for a plan that takes much of the drive's endurance, and takes
// no --yes for it: a script that was written for a short run must not wear a drive
// out because a preset grew. --max-written and --accept-wear are answers.
func (s *session) agreeToWear(ctx context.Context) error {
	w, ok := rating.WearOf(&s.rec.Target, s.rec.Plan.MaxWritten)
	if !ok || !w.Ask() || s.f.acceptWear || s.rec.Plan.WriteLimit > 0 {
		return nil
	}
	if s.f.yes || !s.e.terminal {
		return exit(exitRefused, "the plan may write %.1f TB, and --yes alone is no consent to that", float64(w.Bytes)/1e12).
			next("Set a limit with --max-written, for example --max-written 200G, or add --accept-wear.")
	}
	yes, err := s.ask(ctx, report.WearQuestion(w, s.lang))
	if err != nil {
		return err
	}
	if !yes {
		return exit(exitRefused, "not started; nothing was touched").next("A smaller --size, fewer --rounds or --max-written make the run write less.")
	}
	return nil
}

// watchTrouble begins to look for resets, lost drives and file systems that turned
// read-only; the caller closes what it returns.
func (s *session) watchTrouble() (look func() *bench.Trouble, done func()) {
	a := sensor.NewAlarm(sensor.Roots{}, &s.rec.Target)
	return func() *bench.Trouble {
		t := a.Look()
		if t == nil {
			return nil
		}
		return &bench.Trouble{Reset: t.Reset, Detail: t.Detail}
	}, a.Close
}
