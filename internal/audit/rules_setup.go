package audit

import (
	"math"
	"slices"
	"strings"

	"nativ/internal/record"
)

// once reports one finding for all rows of which is says the same.
func once(s *Subject, f *finder, sev Severity, variant string, is func(*Side, *Row) (vals, words, bool)) {
	var where, tests []string
	var v vals
	var w words
	s.each(func(side *Side, r *Row) {
		rv, rw, ok := is(side, r)
		if !ok {
			return
		}
		if v == nil && w == nil {
			v, w = rv, rw
		}
		where = append(where, r.Where)
		if !slices.Contains(tests, r.Name) {
			tests = append(tests, r.Name)
		}
	})
	if len(where) == 0 {
		return
	}
	if w == nil {
		w = words{}
	}
	w["tests"] = strings.Join(tests, ", ")
	f.add(sev, variant, where, v, w)
}

func sameOffsets(s *Subject, f *finder) {
	once(s, f, Warning, "", func(_ *Side, r *Row) (vals, words, bool) {
		ok := r.Set != nil && r.Set.Jobs > 1 && !r.Set.Apart && r.Mode != "" && !r.Mode.Random()
		if !ok {
			return nil, nil, false
		}
		return vals{"numjobs": float64(r.Set.Jobs)}, nil, true
	})
}

func buffered(s *Subject, f *finder) {
	for _, variant := range []string{"option", "default"} {
		once(s, f, Warning, variant, func(_ *Side, r *Row) (vals, words, bool) {
			set := r.Set
			if set == nil || set.Direct || !set.All && !set.DirectTold || set.Syncs && r.Dir == "write" {
				return nil, nil, false
			}
			return nil, nil, (variant == "option") == set.DirectTold
		})
	}
}

// counted is the share of an application's reads below which something else than
// the drive has answered, as in nativ's own warning.
const counted = 0.9

func cacheAnswers(s *Subject, f *finder) {
	for _, variant := range []string{"loop", "arc", "counted"} {
		once(s, f, Warning, variant, func(_ *Side, r *Row) (vals, words, bool) {
			switch variant {
			case "loop":
				return nil, nil, s.LoopCached
			case "arc":
				return nil, nil, s.FSType == "zfs"
			}
			if !r.reads() || r.DeviceRatio == nil || *r.DeviceRatio >= counted {
				return nil, nil, false
			}
			return vals{"share": *r.DeviceRatio}, nil, true
		})
	}
}

func smallerThanMemory(s *Subject, f *finder) {
	once(s, f, Warning, "", func(side *Side, r *Row) (vals, words, bool) {
		set := r.Set
		if set == nil || set.Size <= 0 || !r.reads() || s.HostMemory == 0 {
			return nil, nil, false
		}
		cache := set.DirectTold && !set.Direct || set.All && !set.Direct || s.LoopCached || s.FSType == "zfs"
		if !cache || set.Size > s.HostMemory {
			return nil, nil, false
		}
		return vals{"size": float64(set.Size), "memory": float64(s.HostMemory)}, nil, true
	})
}

func iodepthSync(s *Subject, f *finder) {
	once(s, f, Warning, "", func(_ *Side, r *Row) (vals, words, bool) {
		set := r.Set
		// Where the engine is not told, fio's own default counts only if all
		// options are known.
		if set == nil || set.Depth <= 1 || set.async() || set.Nativ || set.Engine == "" && !set.All {
			return nil, nil, false
		}
		engine := set.Engine
		if engine == "" {
			engine = "psync"
		}
		return vals{"iodepth": float64(set.Depth)}, words{"engine": engine}, true
	})
}

func easyData(s *Subject, f *finder) {
	for _, variant := range []string{"zero", "compress", "dedupe", "pattern"} {
		once(s, f, Warning, variant, func(_ *Side, r *Row) (vals, words, bool) {
			set := r.Set
			if set == nil {
				return nil, nil, false
			}
			switch variant {
			case "zero":
				return nil, nil, set.Zero
			case "compress":
				return vals{"percent": float64(set.Compress) / 100}, nil, set.Compress > 0 && !set.Zero
			case "dedupe":
				return vals{"percent": float64(set.Dedupe) / 100}, nil, set.Dedupe > 0 && !set.Zero
			}
			return nil, nil, set.Pattern && !set.Zero
		})
	}
}

func cpuSaturated(s *Subject, f *finder) {
	once(s, f, Warning, "", func(_ *Side, r *Row) (vals, words, bool) {
		if r.CPU == nil || *r.CPU < 0.95 {
			return nil, nil, false
		}
		return vals{"busy": *r.CPU}, nil, true
	})
}

// The times in which a drive can show what it sustains, and in which a read settles.
const (
	shortWrites = 60e9
	shortReads  = 10e9
)

func tooShort(s *Subject, f *finder) {
	if s.Kind == KindRecord && slices.ContainsFunc(s.Sides, func(x Side) bool { return slices.ContainsFunc(x.Rows, func(r Row) bool { return r.Interval }) }) {
		return // laid out to compare places, and says itself what of a cache it cannot tell
	}
	for _, variant := range []string{"writes", "reads"} {
		sev := Warning
		if s.Kind == KindRecord || variant == "reads" {
			sev = Info
		}
		once(s, f, sev, variant, func(_ *Side, r *Row) (vals, words, bool) {
			set := r.Set
			if set == nil || set.RuntimeNS <= 0 || set.Syncs {
				return nil, nil, false
			}
			if variant == "writes" {
				return vals{"runtime": float64(set.RuntimeNS)}, nil, r.Dir == "write" && set.RuntimeNS < shortWrites
			}
			return vals{"runtime": float64(set.RuntimeNS)}, nil, r.Dir == "read" && set.RuntimeNS < shortReads
		})
	}
}

func singleRun(s *Subject, f *finder) {
	switch s.Kind {
	case KindTable:
		told := false
		s.each(func(_ *Side, r *Row) { told = told || r.Interval || r.Runs > 1 })
		if !told && len(s.pairs()) > 0 {
			f.add(Warning, "table", nil, vals{"tests": float64(len(s.pairs()))}, nil)
		}
	case KindFio, KindRecord:
		once(s, f, Info, "runs", func(_ *Side, r *Row) (vals, words, bool) { return nil, nil, !r.Interval })
	}
}

func maximum(s *Subject, f *finder) {
	if s.Statistic == record.StatisticMaximum {
		f.add(Warning, "", nil, nil, nil)
	}
}

// unwritten: reads of what was never written are answered without the flash.
func unwritten(s *Subject, f *finder) {
	wrote := map[string]bool{}
	var where, tests []string
	s.each(func(_ *Side, r *Row) {
		set := r.Set
		if set == nil || set.Target == "" {
			return
		}
		if r.Dir == "write" {
			wrote[set.Target] = true
		}
		if r.reads() && set.onDevice() && !wrote[set.Target] {
			where, tests = append(where, r.Where), append(tests, r.Name)
		}
	})
	if len(where) > 0 {
		f.add(Warning, "device", where, nil, words{"tests": strings.Join(tests, ", ")})
		return
	}
	if s.Kind == KindTable {
		once(s, f, Info, "not-told", func(_ *Side, r *Row) (vals, words, bool) { return nil, nil, r.reads() })
	}
}

func aboveCCTEMP(s *Subject, f *finder) {
	limit := s.Drive.CriticalMC
	if limit == nil {
		return
	}
	if s.Kind == KindRecord {
		if most, minutes, ok := hottest(s.Rec); ok && most > *limit && minutes == 0 {
			f.add(Warning, "record", nil, vals{"temperature": float64(most), "cctemp": float64(*limit)}, nil)
		}
		return
	}
	least, most := math.Inf(1), math.Inf(-1)
	var where []string
	s.each(func(_ *Side, r *Row) {
		if r.FromMC != nil && *r.FromMC > *limit {
			where = append(where, r.Where)
			least, most = min(least, float64(*r.FromMC)), max(most, float64(*r.FromMC))
		}
	})
	if len(where) > 0 {
		f.add(Warning, "table", where, vals{"least": least, "most": most, "cctemp": float64(*limit), "rows": float64(len(where))}, nil)
	}
}

// hottest is the highest composite temperature of a run, and by how many minutes
// the drive's count of critical time rose.
func hottest(rec *record.Record) (most, minutes int64, ok bool) {
	if len(rec.Target.Drives) != 1 || rec.Target.Drives[0].Controller == nil {
		return 0, 0, false
	}
	name := *rec.Target.Drives[0].Controller
	var first, last *record.Health
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			w := &rec.Rounds[i].Passes[k].Watch
			samples := []*record.Sample{w.Before, w.After}
			for n := range w.Samples {
				samples = append(samples, &w.Samples[n])
			}
			for _, sm := range samples {
				if sm == nil {
					continue
				}
				if mc, known := sm.Temperatures[name+" Composite"]; known && (!ok || mc > most) {
					most, ok = mc, true
				}
				if h, there := sm.Health[name]; there {
					if first == nil || h.CriticalMinutes < first.CriticalMinutes {
						first = &h
					}
					if last == nil || h.CriticalMinutes > last.CriticalMinutes {
						last = &h
					}
				}
			}
		}
	}
	if first == nil {
		return 0, 0, false // nobody counted
	}
	return most, last.CriticalMinutes - first.CriticalMinutes, ok
}

// oddity is the rule of something that the reader of fio's JSON noted.
func oddity(code string, sev Severity) func(*Subject, *finder) {
	return func(s *Subject, f *finder) {
		var where []string
		detail := ""
		for _, o := range s.Oddities {
			if o.Code == code {
				if o.Job != "" {
					where = append(where, o.Job)
				}
				if detail == "" {
					detail = o.Detail
				}
			}
		}
		if where != nil || detail != "" || slices.ContainsFunc(s.Oddities, func(o Oddity) bool { return o.Code == code }) {
			f.add(sev, "", where, nil, words{"detail": detail})
		}
	}
}

func incomplete(s *Subject, f *finder) {
	if s.Kind == KindRecord && !s.Rec.Complete {
		f.add(Warning, "", nil, nil, nil)
	}
}

func simulated(s *Subject, f *finder) {
	if s.Rec != nil && s.Rec.Simulated != nil {
		f.add(Info, "", nil, nil, words{"model": s.Rec.Simulated.Model})
	}
}
