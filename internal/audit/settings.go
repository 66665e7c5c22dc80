package audit

import (
	"slices"
	"strconv"
	"strings"

	"nativ/internal/job"
	"nativ/internal/rating"
	"nativ/internal/record"
)

// rate fills in what the maker says of the drive where the file does not.
func (d *Drive) rate() {
	if d.Model == "" {
		return
	}
	r, ok := rating.OfDrive(&record.Drive{Model: &d.Model, SizeBytes: d.Bytes})
	if !ok {
		return
	}
	take := func(to *float64, v *float64, scale float64) {
		if *to == 0 && v != nil {
			*to = *v * scale
		}
	}
	take(&d.ReadBytes, r.ReadMB, 1e6)
	take(&d.WriteBytes, r.WriteMB, 1e6)
	take(&d.ReadIOPS, r.ReadIOPS, 1)
	take(&d.WriteIOPS, r.WriteIOPS, 1)
	if d.RatingSource == "" {
		d.RatingSource = "maker"
	}
}

// settingsOfArgs are the options of a command line of fio that all rows share; nil
// where there is none. What is not in it is not known: a publication rarely prints
// all.
func settingsOfArgs(args string) (*Settings, error) {
	if strings.TrimSpace(args) == "" {
		return nil, nil
	}
	// A mode and an end, which no job is without, are those of the rows.
	f, err := job.ParseArgs(job.Options{}, append([]string{"--rw=read", "--runtime=1", "--time_based"}, strings.Fields(args)...))
	if err != nil {
		return nil, err
	}
	if len(f.Jobs) != 1 {
		return nil, nil
	}
	told := map[string]bool{}
	for a := range strings.FieldsSeq(args) {
		n, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		told[n] = true
	}
	s := settingsOf(&f.Jobs[0])
	s.DirectTold = told["direct"] || told["buffered"]
	s.TimeBased = true
	if !told["runtime"] {
		s.RuntimeNS = 0
	}
	if !told["iodepth"] {
		s.Depth = 0
	}
	if !told["numjobs"] {
		s.Jobs = 0
	}
	if !told["ioengine"] {
		s.Engine = ""
	}
	return s, nil
}

// settingsOf are those of a section of fio's, whose other options have their
// defaults.
func settingsOf(j *job.Job) *Settings {
	s := &Settings{
		Engine: string(j.IOEngine), Depth: j.IODepth, Jobs: j.NumJobs, Direct: j.Direct, RuntimeNS: j.RuntimeNS,
		TimeBased: j.TimeBased, RampNS: j.RampTimeNS,
		Syncs: j.FSync > 0 || j.FDataSync > 0 || j.Sync != "" && j.Sync != "none",
		Zero:  j.ZeroBuffers, Compress: j.BufferCompressPercentage,
		RateLimited: j.ReadIOPS > 0 || j.WriteIOPS > 0 || j.ThinkTimeNS > 0,
	}
	s.Apart = j.OffsetIncrement != (job.Size{})
	if len(j.Filename) > 0 {
		s.Target = j.Filename[0]
	}
	return s
}

// settingsOfPhase are those of a phase, which says everything.
func settingsOfPhase(p *job.Phase, size int64) *Settings {
	return &Settings{
		Engine: p.Engine, Depth: p.IODepth, Jobs: p.NumJobs, Direct: p.Direct, DirectTold: true, RuntimeNS: p.RuntimeNS,
		TimeBased: !p.Once, RampNS: p.RampTimeNS, Apart: p.Split || p.OffsetIncrement != (job.Size{}), Size: size,
		Zero: p.ZeroBuffers, Compress: p.CompressPercent, Syncs: p.FDataSync > 0 || p.FSync > 0 || p.Sync != "",
		RateLimited: p.ReadIOPS > 0 || p.WriteIOPS > 0 || p.ThinkTimeNS > 0,
	}
}

// add takes options by name that are not in a phase: what fio wrote of itself.
func (s *Settings) add(options []record.Option) {
	for _, o := range options {
		v := strings.TrimSpace(o.Value)
		n, _ := strconv.Atoi(strings.TrimSuffix(v, "%"))
		on := v == "" || v == "1" || v == "true"
		switch o.Name {
		case "ioengine":
			s.Engine = v
		case "filename":
			s.Target = v
		case "direct":
			s.Direct, s.DirectTold = on, true
		case "zero_buffers":
			s.Zero = on
		case "buffer_compress_percentage":
			s.Compress = n
		case "dedupe_percentage":
			s.Dedupe = n
		case "buffer_pattern":
			s.Pattern = true
		case "offset_increment":
			s.Apart = true
		case "time_based":
			s.TimeBased = on
		case "rate", "rate_iops", "rate_process", "thinktime":
			s.RateLimited = true
		case "size":
			s.Size = sizeOf(v)
		}
	}
	if slices.Contains([]string{"", "0"}, s.Target) {
		s.Target = ""
	}
}

// sizeOf reads fio's size in bytes, 0 where it is a percentage or none.
func sizeOf(v string) int64 {
	v = strings.ToLower(strings.TrimSpace(v))
	digits := strings.TrimRight(v, "bikmgt")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	shift := map[string]int{"": 0, "b": 0, "k": 10, "ki": 10, "kb": 10, "kib": 10, "m": 20, "mi": 20, "mb": 20, "mib": 20,
		"g": 30, "gi": 30, "gb": 30, "gib": 30, "t": 40, "ti": 40, "tb": 40, "tib": 40}
	k, ok := shift[v[len(digits):]]
	if !ok || n > 1<<60>>k {
		return 0
	}
	return n << k
}
