package audit

import (
	"fmt"
	"math"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// FromRecord reads a record: of nativ, or one that was made of JSON of fio.
func FromRecord(file string, rec *record.Record) *Subject {
	s := &Subject{File: file, Kind: KindRecord, Preset: rec.Plan.Preset, Rec: rec, HostMemory: rec.Host.MemoryBytes,
		HostCPUs: len(rec.Host.CPUs), FSType: rec.Target.FSType, Network: rec.Target.Network}
	for _, l := range rec.Target.Stack {
		s.LoopCached = s.LoopCached || l.Kind == "loop" && l.DirectIO != nil && !*l.DirectIO
	}
	s.driveOf(rec)
	if rec.Import != nil {
		s.Kind = KindFio
		s.fromFio(rec)
		return s
	}
	s.fromNativ(rec)
	return s
}

func (s *Subject) driveOf(rec *record.Record) {
	if len(rec.Target.Drives) != 1 {
		return // of several nobody knows which did what
	}
	in := &rec.Target.Drives[0]
	d := &s.Drive
	d.Bytes = in.SizeBytes
	if in.Model != nil {
		d.Model = *in.Model
	}
	if l := in.Link; l != nil {
		d.LinkBytes = analysis.LinkBytes(l.SpeedMTs, l.Width)
		d.Link = fmt.Sprintf("%g GT/s x%d", float64(l.SpeedMTs)/1000, l.Width)
	}
	if n := in.NVMe; n != nil {
		d.WarningMC, d.CriticalMC = n.WarningMC, n.CriticalMC
	}
	d.rate()
}

// fromNativ takes the means of each place, which are what its report shows.
func (s *Subject) fromNativ(rec *record.Record) {
	res := analysis.Compute(rec)
	for _, p := range rec.Plan.Places {
		side := Side{Name: p, Where: p, Role: roleOf(record.PlaceKind(p))}
		for i := range rec.Places {
			if q := &rec.Places[i]; q.Name == p {
				side.CPUs = len(q.CPUs)
				if q.MemoryBytes != nil {
					side.Memory = *q.MemoryBytes
				}
			}
		}
		for i := range res.Phases {
			ph := &res.Phases[i]
			m := ph.Place(p)
			if m == nil || m.IOPS == nil {
				continue
			}
			row := Row{
				Where: p + "/" + ph.Job.Name, Name: ph.Job.Name, Mode: ph.Job.Mode, BS: ph.Job.BlockSize, Dir: dirOf(ph.Job.Mode),
				IOPS: measured(*m.IOPS), Set: settingsOfPhase(&ph.Job, rec.Plan.FileSize), DeviceRatio: m.DeviceRatio, Runs: m.Passes,
				Interval: ph.Rounds != nil, RuntimeNS: ph.Job.RuntimeNS,
			}
			if m.BytesPerSec != nil {
				row.BPS = measured(*m.BytesPerSec)
			}
			row.Set.All, row.Set.Nativ = true, rec.Tool.Name == "nativ"
			side.Rows = append(side.Rows, row)
		}
		s.Sides = append(s.Sides, side)
	}
}

// measured is a number that was not printed: it has no last digit.
func measured(v float64) *Number { return &Number{V: v} }

// fromFio takes each job of fio's, as its options and statistics say.
func (s *Subject) fromFio(rec *record.Record) {
	side := Side{Name: s.File, Where: "jobs"}
	options := map[string][]record.Option{}
	for _, j := range rec.Import.Jobs {
		options[j.Phase] = append(append([]record.Option{}, rec.Import.Global...), j.Options...)
	}
	phases := map[string]*job.Phase{}
	for i := range rec.Plan.Phases {
		phases[rec.Plan.Phases[i].Name] = &rec.Plan.Phases[i]
	}
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[k]
			ph := phases[p.Phase]
			if ph == nil || p.Outcome == nil {
				continue
			}
			var set *Settings
			if o := options[p.Phase]; len(o) > 0 {
				set = settingsOfPhase(ph, 0)
				set.All = true
				set.Direct, set.DirectTold = false, false // what fio did not write it did not set
				set.add(o)
			}
			for _, f := range []struct {
				dir  string
				flow *record.Flow
			}{{"read", p.Outcome.Read}, {"write", p.Outcome.Write}} {
				if f.flow != nil && f.flow.IOs > 0 {
					row := rowOfFlow(p, ph, f.dir, f.flow)
					row.Set = set
					side.Rows = append(side.Rows, row)
				}
			}
		}
	}
	s.Sides = []Side{side}
	for _, w := range rec.Warnings {
		if w.Code == record.WarnImport {
			s.Oddities = append(s.Oddities, Oddity{Code: w.Words["what"], Job: w.Phase, Detail: w.Words["detail"]})
		}
	}
}

func rowOfFlow(p *record.Pass, ph *job.Phase, dir string, f *record.Flow) Row {
	row := Row{Where: p.Phase, Name: p.Phase, Mode: ph.Mode, BS: ph.BlockSize, Dir: dir, IOs: &f.IOs, Bytes: &f.Bytes, RuntimeNS: ph.RuntimeNS}
	if ph.Mode.Mixed() {
		row.Dir, row.Where = "mixed", p.Phase+" ("+dir+")"
		if dir == "write" && ph.WriteBlockSize > 0 {
			row.BS = ph.WriteBlockSize
		}
	}
	ns := p.Outcome.ElapsedNS()
	if f.Given != nil && f.Given.RuntimeNS != nil && *f.Given.RuntimeNS > 0 {
		ns = *f.Given.RuntimeNS
	}
	if ns > 0 {
		row.IOPS, row.BPS = measured(float64(f.IOs)/float64(ns)*1e9), measured(float64(f.Bytes)/float64(ns)*1e9)
	}
	if t := p.Outcome.ToolRun; t != nil && t.ThreadNS != nil && *t.ThreadNS > 0 && !p.Outcome.UsageUnknown {
		row.CPU = new(float64(p.Outcome.Usage.UserNS+p.Outcome.Usage.SystemNS) / float64(*t.ThreadNS))
	}
	if g := f.Given; g != nil {
		for _, l := range []struct {
			kind string
			s    *record.Summary
		}{{"lat", g.Lat}, {"clat", g.Clat}, {"slat", g.Slat}} {
			if l.s != nil {
				row.Lat = append(row.Lat, latencyOf(l.kind, l.s))
			}
		}
	}
	return row
}

func latencyOf(kind string, s *record.Summary) Latency {
	l := Latency{Kind: kind}
	whole := func(v *int64) *Number {
		if v == nil {
			return nil
		}
		return &Number{V: float64(*v), ULP: 1}
	}
	l.Min, l.Max = whole(s.Min), whole(s.Max)
	if s.Mean != nil && !math.IsNaN(*s.Mean) {
		l.Mean = &Number{V: *s.Mean, ULP: 1}
	}
	for _, p := range s.Percentiles {
		l.Percentiles = append(l.Percentiles, Percentile{P: p.P, Number: Number{V: float64(p.NS), ULP: 1}})
	}
	return l
}

// onDevice reports whether the job works on a device and not on a file.
func (s *Settings) onDevice() bool { return strings.HasPrefix(s.Target, "/dev/") }
