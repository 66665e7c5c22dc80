package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"nativ/internal/bench"
	"nativ/internal/host"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/target"
)

// runResume is nativ bench --resume: the rest of a run that ended early, on the
// same drive in the same machine.
func (s *session) runResume(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.checkResume, s.loadUnfinished, s.sameMachine, s.continueRun, s.probeDirect, s.agreeToRest,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return exit(exitRefused, "interrupted before anything was touched")
		}
	}
	return s.measure(ctx)
}

// checkResume decides what needs no record.
func (s *session) checkResume(context.Context) (err error) {
	if len(s.f.others) > 0 {
		return exit(exitUsage, "--resume and --%s: the rest of a run is as its beginning was", s.f.others[0])
	}
	if s.lang, err = language(s.e, s.f.lang); err != nil {
		return err
	}
	if err := checkOut(s.f.out); err != nil {
		return exit(exitUsage, "--out: %w", err)
	}
	s.state, err = stateDir(s.e)
	return err
}

// loadUnfinished reads the record, and removes what the run left behind if it was
// killed.
func (s *session) loadUnfinished(ctx context.Context) error {
	rec, killed, err := unfinished(s.state, s.f.resume)
	if err != nil {
		return err
	}
	s.rec, s.killed = rec, killed
	active, dead, err := runsIn(ctx, s.state)
	if err != nil {
		return err
	}
	for _, r := range active {
		if r.ID == rec.ID {
			return exit(exitBusy, "--resume %s: it is running (process %d)", rec.ID, r.Header.PID)
		}
	}
	aside := *s.e
	aside.stdout = s.e.stderr // stdout is for the result alone
	for _, r := range dead {
		if r.ID == rec.ID {
			if err := cleanRun(ctx, &aside, s.state, r.ID); err != nil {
				return exit(exitLeft, "--resume %s: what it left behind could not be removed: %w", rec.ID, err).next("Try again with: nativ clean")
			}
		}
	}
	if err := bench.Resumable(rec); err != nil {
		return exit(exitRefused, "--resume %s: %w", rec.ID, err).next("Start anew with nativ bench; nativ report %s shows what there is.", rec.ID)
	}
	return nil
}

// sameMachine takes the drive and makes sure that it, the file system, the machine
// and nativ are those of the beginning. What may change without making another run
// of it is noted.
func (s *session) sameMachine(ctx context.Context) error {
	was := s.rec
	p := &was.Plan
	s.f.dir, s.f.privileged, s.memory, s.asked = p.Dir, p.Privileged, p.Memory, p.Places
	s.preset = job.Preset{Name: p.Preset, Phases: p.Phases}
	s.f.engine = "own"
	for i := range p.Phases {
		s.uring = s.uring || p.Phases[i].Engine == string(job.IOUring)
		if p.Phases[i].ByFio() {
			s.f.engine = "fio"
		}
	}
	s.engine = p.Phases[0].Engine
	if err := s.findTarget(ctx); err != nil {
		return err
	}
	now := s.rec
	now.ID = was.ID
	if err := probeEngines(s.uring, s.f.engine); err != nil {
		return err
	}
	var err error
	if now.Host, err = host.Facts(host.Roots{}); err != nil {
		return err
	}
	if err := s.checkPlaces(); err != nil {
		return err
	}
	if err := s.lockKeys(target.DriveKeys(&now.Target), time.Now()); err != nil {
		return err
	}
	now.Tool.Version = version
	if other := otherMachine(was, now); other != nil {
		return exit(exitRefused, "--resume %s: %s was %s and is %s: that would be another run", was.ID, other.What, other.Before, other.After).
			next("Start anew with nativ bench; nativ report %s shows what there is.", was.ID)
	}
	if _, err := target.Gate(&now.Target, p.FileSize, p.FileSize); err != nil {
		return err
	}
	s.changed = changedFacts(was, now)
	s.rec = was
	return s.readDrive(ctx)
}

// otherMachine is the first fact that makes passes incomparable, nil where there
// is none.
func otherMachine(was, now *record.Record) *record.Changed {
	facts := []record.Changed{
		{What: "the version of nativ", Before: was.Tool.Version, After: now.Tool.Version},
		{What: "the machine", Before: was.Host.Machine, After: now.Host.Machine},
		{What: "the CPU", Before: was.Host.CPUModel, After: now.Host.CPUModel},
		{What: "the number of CPUs", Before: strconv.Itoa(len(was.Host.CPUs)), After: strconv.Itoa(len(now.Host.CPUs))},
		{What: "the file system", Before: was.Target.FSType, After: now.Target.FSType},
		{What: "the number of drives", Before: strconv.Itoa(len(was.Target.Drives)), After: strconv.Itoa(len(now.Target.Drives))},
	}
	for i := range min(len(was.Target.Drives), len(now.Target.Drives)) {
		a, b := &was.Target.Drives[i], &now.Target.Drives[i]
		facts = append(facts,
			record.Changed{What: "the drive", Before: text(a.Model), After: text(b.Model)},
			record.Changed{What: "the serial number of the drive", Before: text(a.Serial), After: text(b.Serial)},
			record.Changed{What: "the firmware of the drive", Before: text(a.Firmware), After: text(b.Firmware)},
			record.Changed{What: "the size of the drive", Before: strconv.FormatInt(a.SizeBytes, 10), After: strconv.FormatInt(b.SizeBytes, 10)},
			// A record has one name for it, by which its readings are kept.
			record.Changed{What: "the name of the drive", Before: a.Name, After: b.Name},
		)
	}
	if i := slices.IndexFunc(facts, differs); i >= 0 {
		return &facts[i]
	}
	return nil
}

// changedFacts are those that may change, and that a reader must know of.
func changedFacts(was, now *record.Record) []record.Changed {
	return slices.DeleteFunc([]record.Changed{
		{What: "kernel", Before: was.Host.Kernel, After: now.Host.Kernel},
		{What: "pve", Before: text(was.Host.PVE), After: text(now.Host.PVE)},
		{What: "bios", Before: text(was.Host.BIOS), After: text(now.Host.BIOS)},
		{What: "governor", Before: text(was.Host.Governor), After: text(now.Host.Governor)},
		{What: "mount-options", Before: was.Target.Options, After: now.Target.Options},
	}, func(c record.Changed) bool { return !differs(c) })
}

func differs(c record.Changed) bool { return c.Before != c.After }

// text is what s points at, "-" for nothing.
func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// continueRun puts the rest into the plan.
func (s *session) continueRun(context.Context) (err error) {
	s.kept = 0
	if s.from, err = bench.Continue(s.rec, time.Now()); err != nil {
		return exit(exitRefused, "--resume %s: %w", s.rec.ID, err)
	}
	for i := range s.rec.Rounds {
		if s.rec.Rounds[i].Void == "" {
			s.kept += len(s.rec.Rounds[i].Passes)
		}
	}
	if s.from == len(s.rec.Plan.Steps) && !s.killed {
		return exit(exitRefused, "--resume %s: nothing is left to measure", s.rec.ID).
			next("Its report says what is missing: nativ report %s", s.rec.ID)
	}
	last := &s.rec.Resumed[len(s.rec.Resumed)-1]
	last.Changed, last.Command = s.changed, os.Args
	return nil
}

// agreeToRest shows what is left of the plan and asks.
func (s *session) agreeToRest(ctx context.Context) error {
	fmt.Fprintln(s.e.stderr, report.Resuming(s.rec, s.kept, s.lang))
	if s.from == len(s.rec.Plan.Steps) {
		return nil // nothing but to put the record together
	}
	whole := s.rec
	rest := *whole
	rest.Plan.Steps = rest.Plan.Steps[s.from:]
	rest.Plan.MaxWritten = bench.MaxWritten(&whole.Plan, s.from)
	rest.Plan.EstimateNS = bench.Estimate(&rest.Plan)
	s.rec = &rest
	err := s.agree(ctx)
	s.rec = whole
	return err
}
