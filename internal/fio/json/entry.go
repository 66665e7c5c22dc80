package fiojson

import (
	"cmp"
	"slices"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// An entry is one of fio's jobs[]: a pass, a clone of one, or several passes
// that are reported together.
type entry struct {
	name, place string
	group       int
	phase       *job.Phase // the first of them
	jobs        int
	// grouped: it may stand for more than one job.
	grouped     bool
	outcome     *record.Outcome
	errno       int
	started     time.Time
	intervals   []record.Interval
	percentiles []float64
	// latOnly: no latency but lat was measured, because the engine submits and
	// waits in one call.
	latOnly bool
	// options that the section sets, where they were kept.
	options []job.Setting
}

// entries are what fio would report of a record, in its order.
func entries(rec *record.Record) []entry {
	byIndex := map[int]*record.Pass{}
	var all []entry
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[j]
			byIndex[p.Index] = p
			if p.Outcome == nil || rec.Jobs != nil {
				continue
			}
			one := passEntry(rec, p)
			if len(p.Outcome.Clones) > 0 {
				all = append(all, one.clones()...)
			} else {
				all = append(all, one)
			}
		}
	}
	if rec.Jobs == nil {
		return all
	}
	for i := range rec.Jobs.Results {
		r := &rec.Jobs.Results[i]
		var parts []entry
		for _, ph := range r.Phases {
			if p := byIndex[ph]; p != nil && p.Outcome != nil {
				one := passEntry(rec, p)
				one.name, one.group = r.Name, r.Group
				if ph < len(rec.Jobs.Options) {
					one.options = rec.Jobs.Options[ph]
				}
				if len(r.Percentiles) > 0 {
					one.percentiles = r.Percentiles
				}
				parts = append(parts, one)
			}
		}
		if len(parts) == 1 && len(parts[0].outcome.Clones) > 0 {
			all = append(all, parts[0].clones()...)
		} else if len(parts) > 0 {
			all = append(all, together(parts))
		}
	}
	return all
}

func passEntry(rec *record.Record, p *record.Pass) entry {
	e := entry{
		name: p.Phase, place: p.Place, group: p.Index, phase: &job.Phase{Name: p.Phase}, grouped: true,
		outcome: p.Outcome, errno: errorOf(p.OK(), p.Failed, p.Outcome), started: p.StartedAt, intervals: p.Intervals,
		percentiles: percentileList,
	}
	for i := range rec.Plan.Phases {
		if rec.Plan.Phases[i].Name == p.Phase {
			e.phase = &rec.Plan.Phases[i]
		}
	}
	e.jobs = max(e.phase.NumJobs, 1)
	if rec.Jobs != nil {
		e.grouped = e.jobs > 1
	}
	e.latOnly = rec.Tool.Name != "fio" && p.Outcome.Command == nil && !withoutClat(rec, e.phase)
	if rec.Import != nil {
		for _, j := range rec.Import.Jobs {
			if j.Phase == p.Phase {
				e.name = j.Name
			}
		}
	}
	if len(rec.Plan.Places) > 1 {
		e.name += "." + p.Place
	}
	return e
}

// withoutClat reports whether fio was told not to measure clat.
func withoutClat(rec *record.Record, ph *job.Phase) bool {
	off := func(name, value string) bool {
		return slices.Contains([]string{"disable_clat", "gtod_reduce"}, name) && value != "0"
	}
	for _, name := range []string{"disable_clat", "gtod_reduce"} {
		if v, ok := ph.RawOption(name); ok && off(name, v) {
			return true
		}
	}
	if rec.Import == nil {
		return false
	}
	isOff := func(o record.Option) bool { return off(o.Name, o.Value) }
	for _, j := range rec.Import.Jobs {
		if j.Phase == ph.Name && slices.ContainsFunc(j.Options, isOff) {
			return true
		}
	}
	return slices.ContainsFunc(rec.Import.Global, isOff)
}

// clones are the jobs of a pass. A clone that did all it had to has no error,
// also where the pass failed for another; seconds are known of all together only.
func (e *entry) clones() []entry {
	var all []entry
	failed := func(c record.Outcome) bool {
		// Of an imported one no more is known.
		return len(c.Errors) > 0 || c.Outstanding > 0 || e.place == record.PlaceImported && c.Stopped == record.StopError
	}
	blamed := slices.ContainsFunc(e.outcome.Clones, failed)
	for i := range e.outcome.Clones {
		c := *e
		c.outcome, c.jobs, c.grouped, c.intervals = &e.outcome.Clones[i], 1, false, nil
		if blamed {
			c.errno = 0
			if failed(*c.outcome) {
				c.errno = errorOf(false, nil, c.outcome)
			}
		}
		all = append(all, c)
	}
	return all
}

// together joins entries that ran side by side.
func together(parts []entry) entry {
	e := parts[0]
	if len(parts) == 1 {
		return e
	}
	sum := *e.outcome
	sum.Read, sum.Write, sum.Sync, sum.Mixed = nil, nil, nil, nil
	sum.Usage, sum.ToolUsage, sum.ToolRun, sum.Verified, sum.Clones = record.Usage{}, nil, nil, nil, nil
	var threads int64
	e.outcome, e.grouped, e.jobs, e.intervals, e.errno = &sum, true, 0, nil, 0
	for i := range parts {
		p, o := &parts[i], parts[i].outcome
		e.jobs += p.jobs
		e.errno = cmp.Or(e.errno, p.errno)
		sum.StartNS, sum.EndNS = min(sum.StartNS, o.StartNS), max(sum.EndNS, o.EndNS)
		u, t := usageOf(o, p.jobs)
		sum.Usage.UserNS += u.UserNS
		sum.Usage.SystemNS += u.SystemNS
		threads += t
		sum.UsageUnknown = sum.UsageUnknown || o.UsageUnknown
		addFlow(&sum.Read, o.Read)
		addFlow(&sum.Write, o.Write)
		addFlow(&sum.Sync, o.Sync)
		addFlow(&sum.Mixed, o.Mixed)
		if v := o.Verified; v != nil {
			if sum.Verified == nil {
				sum.Verified = &record.Verified{}
			}
			sum.Verified.RuntimeNS = max(sum.Verified.RuntimeNS, v.RuntimeNS)
			addFlow(&sum.Verified.Flow, v.Flow)
		}
	}
	sum.ToolRun = &record.ToolRun{ThreadNS: &threads}
	e.intervals = seconds(parts)
	return e
}

// usageOf is the CPU time of the threads that did the I/O, and their run time, of
// which fio's shares are.
func usageOf(o *record.Outcome, jobs int) (u record.Usage, threads int64) {
	u, threads = o.Usage, max(o.ElapsedNS(), 0)*int64(max(jobs, 1))
	if o.ToolUsage != nil {
		u = *o.ToolUsage
	}
	if o.ToolRun != nil && o.ToolRun.ThreadNS != nil {
		threads = *o.ToolRun.ThreadNS
	}
	return u, threads
}

func addFlow(to **record.Flow, f *record.Flow) {
	if f == nil {
		return
	}
	if *to == nil {
		*to = &record.Flow{}
	}
	t := *to
	t.IOs, t.Bytes = t.IOs+f.IOs, t.Bytes+f.Bytes
	for _, h := range []struct {
		to   **record.Histogram
		from *record.Histogram
	}{{&t.Lat, f.Lat}, {&t.Slat, f.Slat}, {&t.Clat, f.Clat}} {
		if h.from == nil {
			continue
		}
		if *h.to == nil {
			*h.to = &record.Histogram{}
		}
		(*h.to).Merge(h.from)
	}
}

// seconds adds up the whole seconds that all parts have: side by side they began
// within milliseconds.
func seconds(parts []entry) (sum []record.Interval) {
	for k := 0; ; k++ {
		var iv record.Interval
		for i := range parts {
			if k >= len(parts[i].intervals) {
				return sum
			}
			p := &parts[i].intervals[k]
			iv.LenNS = max(iv.LenNS, p.LenNS)
			iv.ReadIOs, iv.ReadBytes = iv.ReadIOs+p.ReadIOs, iv.ReadBytes+p.ReadBytes
			iv.WriteIOs, iv.WriteBytes = iv.WriteIOs+p.WriteIOs, iv.WriteBytes+p.WriteBytes
		}
		sum = append(sum, iv)
	}
}

// errorOf is an errno of Linux, 0 for what is whole.
func errorOf(ok bool, failed *record.Failure, o *record.Outcome) int {
	if ok {
		return 0
	}
	if len(o.Errors) > 0 {
		if n := errnoNumber(o.Errors[0].Errno); n > 0 {
			return n
		}
	}
	if failed != nil && failed.Code == record.FailInterrupted {
		return errnoNumber("ECANCELED")
	}
	return errnoNumber("EIO")
}
