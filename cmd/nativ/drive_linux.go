package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sensor"
	"nativ/internal/sys"
)

// readDrive reads everything once, so that the plan can tell it.
func (s *session) readDrive(context.Context) error {
	s.seen, _ = sensor.Read(&s.rec.Target, sensor.Roots{}, sys.MonoNow)
	return nil
}

// readKernelLog adds what the kernel said of the drives since a moment of
// CLOCK_MONOTONIC.
func (s *session) readKernelLog(since int64) {
	var lines []record.KernelLine
	lines, s.rec.KernelLogMissing = sensor.KernelLog(sensor.Roots{}, s.rec.Target.Drives, since)
	s.rec.KernelLog = append(s.rec.KernelLog, lines...) // those of a run that was resumed
}

// hasTemperature reports whether a drive of the target has a temperature that can
// be read while it works.
func (s *session) hasTemperature() bool {
	return slices.ContainsFunc(s.rec.Target.Drives, func(d record.Drive) bool { return d.TemperatureFound })
}

// ceiling is the composite temperature from which the run stops, in millidegrees
// Celsius: what the user says, or for a preset that makes heat the lowest
// critical one of the drives. One that could not be watched is refused.
func (s *session) ceiling() (*int64, error) {
	if !s.f.maxTempAsked && !s.preset.Ceiling {
		return nil, nil
	}
	if !s.hasTemperature() {
		what := "--preset " + s.preset.Name
		if s.f.maxTempAsked {
			what = "--max-temp"
		}
		x := exit(exitMissing, "%s: no temperature of the drive can be read, so nothing would stop the run in time", what)
		if s.model != nil {
			return nil, x.next("The drive model %s has no sensor; name one that has.", s.model.Name)
		}
		return nil, x.
			next("See what is missing with: nativ info %s", s.rec.Target.Dir)
	}
	if s.f.maxTempAsked {
		mc := int64(math.Round(s.f.maxTemp * 1000))
		return &mc, nil
	}
	var least *int64
	for i := range s.rec.Target.Drives {
		if n := s.rec.Target.Drives[i].NVMe; n != nil && n.CriticalMC != nil && (least == nil || *n.CriticalMC < *least) {
			least = n.CriticalMC
		}
	}
	if least == nil {
		return nil, exit(exitUsage, "--preset %s: the drive does not say which temperature is critical", s.preset.Name).
			next("Name a ceiling from its data sheet, for example --max-temp 70")
	}
	s.ownCeiling = true
	return new(*least), nil
}

// linkRate is what the links of drives carry, in bytes a second, encoding
// neglected; 0 where one is not known.
func linkRate(drives []record.Drive) (rate int64) {
	for i := range drives {
		l := drives[i].Link
		if l == nil || l.SpeedMTs <= 0 || l.Width <= 0 {
			return 0
		}
		rate += int64(l.SpeedMTs) * 1e6 / 8 * int64(l.Width)
	}
	return rate
}

// askNotes asks for what heat depends on and no sensor tells, where somebody is
// there to answer. An empty answer skips a question.
func (s *session) askNotes(ctx context.Context) error {
	if s.f.yes || !s.e.terminal || s.preset.Order == job.OrderPalindrome || s.preset.Order == job.OrderRounds {
		return nil
	}
	asked := false
	for _, key := range report.NoteKeys() {
		if s.rec.Notes[key] != "" {
			continue
		}
		if !asked {
			fmt.Fprintln(s.e.stderr, report.NoteIntro(s.lang))
			asked = true
		}
		line, err := s.readLine(ctx, report.NoteQuestion(s.lang, key))
		if err != nil {
			return err
		}
		if line != "" {
			s.rec.Notes[key] = line
		}
	}
	return nil
}
