package analysis

import (
	"fmt"
	"strings"

	"nativ/internal/record"
)

// SummaryVersion goes up whenever Summarise says something else of the same
// record, so that a history knows which of its summaries are of an earlier
// nativ: the course over time must not show a change of nativ's own rules.
const SummaryVersion = 1

// Summarise says what the history keeps of a run beside its record.
func Summarise(rec *record.Record) record.RunSummary {
	s := record.RunSummary{
		ID: rec.ID, Started: rec.Started, Origin: record.OriginMeasured,
		Tool:   strings.TrimSpace(rec.Tool.Name + " " + rec.Tool.Version),
		Preset: rec.Plan.Preset, Places: rec.Plan.Places, Complete: rec.Complete,
		Kernel: rec.Host.Kernel, OS: rec.Host.OS, CPU: rec.Host.CPUModel, Filesystem: filesystem(&rec.Target),
	}
	switch {
	case rec.Simulated != nil:
		s.Origin = record.OriginSimulated
	case rec.Import != nil:
		s.Origin = record.OriginImported
	}
	if rec.Host.PVE != nil {
		s.PVE = *rec.Host.PVE
	}
	for i := range rec.Target.Drives {
		s.Drives = append(s.Drives, summariseDrive(rec, &rec.Target.Drives[i]))
	}
	r := Compute(rec)
	for i := range r.Phases {
		for j := range r.Phases[i].Places {
			p := &r.Phases[i].Places[j]
			s.Numbers = append(s.Numbers, record.Number{
				Setting: setting(rec, &r.Phases[i], p.Name), Passes: p.Passes, Planned: p.Planned,
				IOPS: p.IOPS, BytesPerSec: p.BytesPerSec, P50NS: p.Lat.P50, P99NS: p.Lat.P99, P999NS: p.Lat.P999,
			})
		}
	}
	return s
}

func setting(rec *record.Record, ph *Phase, place string) record.Setting {
	s := record.Setting{Phase: ph.Job, Place: place, FileSize: rec.Plan.FileSize, Engine: ph.Job.Engine}
	s.Phase.RandSeed, s.Phase.MaxBytes, s.Phase.PerClone = 0, 0, false
	if rec.Jobs != nil && s.Engine == "" {
		s.Engine = rec.Jobs.Engine
	}
	if place == record.PlacePinned || record.IsContainer(place) {
		s.CPUs = len(rec.Plan.CPUSet.CPUs)
		if rec.Plan.Memory != nil {
			s.Memory = *rec.Plan.Memory
		}
	}
	return s
}

// filesystem names the type and the kinds of layers that lie between it and the
// drives, each once.
func filesystem(t *record.Target) string {
	words := []string{t.FSType}
	if t.Device != nil {
		words = []string{"device"}
	}
	seen := map[string]bool{"partition": true, "disk": true}
	for _, l := range t.Stack {
		if !seen[l.Kind] {
			seen[l.Kind] = true
			words = append(words, l.Kind)
		}
	}
	return strings.Join(words, " ")
}

func summariseDrive(rec *record.Record, d *record.Drive) record.DriveSummary {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return strings.TrimSpace(*s)
	}
	s := record.DriveSummary{Name: d.Name, Model: text(d.Model), Serial: text(d.Serial), Firmware: text(d.Firmware), Size: d.SizeBytes}
	if s.Key = s.Serial; s.Key == "" {
		s.Key = fmt.Sprintf("%s %d", s.Name, s.Size)
	}
	if d.Link != nil {
		s.LinkMTs, s.LinkWidth = &d.Link.SpeedMTs, &d.Link.Width
	}
	if d.Controller == nil {
		return s
	}
	var last *record.Health
	samples(rec, func(x *record.Sample) {
		if h, ok := x.Health[*d.Controller]; ok {
			last = &h
		}
	})
	if last != nil {
		s.PercentageUsed, s.AvailableSpare, s.SpareThreshold = &last.PercentageUsed, &last.AvailableSpare, &last.SpareThreshold
		s.WrittenBytes, s.PowerOnHours, s.MediaErrors = &last.WrittenBytes, &last.PowerOnHours, &last.MediaErrors
	}
	return s
}
