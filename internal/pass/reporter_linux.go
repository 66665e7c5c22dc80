package pass

import (
	"time"

	"nativ/internal/record"
)

// A reporter follows a pass from outside of its threads: it joins the jobs'
// seconds and, at the end, their totals.
type reporter struct {
	p     *Pass
	sink  func(record.Event)
	flows [dirs]*total // of the interval at hand
	lat   *total       // reads and writes of it together
	next  int64        // its index
	lost  int
	left  int // jobs that have not ended
}

func newReporter(p *Pass, sink func(record.Event)) *reporter {
	r := &reporter{p: p, sink: sink, lat: newTotal(), left: len(p.jobs)}
	for d := range r.flows {
		r.flows[d] = newTotal()
	}
	return r
}

// ramp waits until the ramp is over, or all jobs.
func (r *reporter) ramp(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for r.left > 0 {
		select {
		case <-r.p.ended:
			r.left--
		case <-timer.C:
			return
		}
	}
}

// measured reports whether any job went on after the ramp. All must have ended.
func (r *reporter) measured() bool {
	for _, j := range r.p.jobs {
		if j.endNS > 0 {
			return true
		}
	}
	return false
}

// run reports intervals until all jobs have ended. Between boundaries it
// sleeps: each time it wakes, it takes a processor from somebody.
func (r *reporter) run() {
	const (
		settle = time.Millisecond      // what busy jobs need to post
		again  = 10 * time.Millisecond // jobs that wait in the kernel take up to 100
	)
	boundary := func() time.Duration {
		return max(time.Duration(r.end(r.next+1)-r.p.clock.Now())+settle, again)
	}
	timer := time.NewTimer(boundary())
	defer timer.Stop()
	for r.left > 0 {
		select {
		case <-r.p.ended:
			r.left--
		case <-timer.C:
			for r.ready() {
				r.report(r.end(r.next+1), second)
			}
			r.trace()
			timer.Reset(boundary())
		}
	}
	r.finish()
}

func (r *reporter) end(k int64) int64 { return r.p.startNS + k*second }

// ready reports whether the second at hand is over for every job, and not the
// last: how long that one is shows only when all have ended.
func (r *reporter) ready() bool {
	running := false
	for _, j := range r.p.jobs {
		if j.done.Load() {
			continue
		}
		if j.passed.Load() <= r.next {
			return false
		}
		running = true
	}
	return running
}

// finish reports what is left after the last job ended.
func (r *reporter) finish() {
	r.trace()
	end := r.endNS()
	r.p.endNS = end
	for r.end(r.next+1) < end {
		r.report(r.end(r.next+1), second)
	}
	r.report(end, end-r.end(r.next))
}

func (r *reporter) endNS() (end int64) {
	for _, j := range r.p.jobs {
		end = max(end, j.endNS)
	}
	if end == 0 { // stopped within the ramp
		end = r.p.clock.Now()
	}
	return end
}

// report joins the interval at hand, which all jobs have published or ended
// before, and goes on to the next.
func (r *reporter) report(end, length int64) {
	for _, t := range r.flows {
		t.reset()
	}
	whole := true
	for _, j := range r.p.jobs {
		if j.mail.published.Load() <= r.next {
			continue // the job had ended
		}
		iv := j.mail.get(r.next)
		if iv == nil {
			whole = false
		} else {
			for d, h := range iv.flows {
				if h != nil {
					r.flows[d].add(h)
				}
			}
		}
		j.mail.done(r.next)
	}
	r.next++
	if !whole {
		r.lost++
		return
	}
	r.sink(record.Event{Type: record.EventInterval, MonoNS: end, Interval: r.interval(end, length)})
}

func (r *reporter) interval(end, length int64) *record.Interval {
	ph := &r.p.phase
	rbs, wbs := ph.BlockSizes()
	read, write, sync := r.flows[Read], r.flows[Write], r.flows[Sync]
	iv := &record.Interval{
		EndNS: end - r.p.startNS, LenNS: length,
		ReadIOs: read.n, ReadBytes: read.n * rbs, WriteIOs: write.n, WriteBytes: write.n * wbs, SyncIOs: sync.n,
	}
	lat := r.lat
	lat.reset()
	if ph.Syncs() {
		lat.merge(sync)
	} else {
		lat.merge(read)
		lat.merge(write)
	}
	if lat.n > 0 {
		p50, _ := lat.h.Percentile(50)
		p99, _ := lat.h.Percentile(99)
		most := lat.h.Max
		iv.P50NS, iv.P99NS, iv.MaxNS = &p50, &p99, &most
	}
	return iv
}

// outcome joins the totals of all jobs, which must have ended.
func (r *reporter) outcome() *record.Outcome {
	p := r.p
	o := &record.Outcome{
		StartNS: p.startNS, EndNS: p.endNS,
		Errors: mergeErrors(p.jobs), IntervalsLost: r.lost,
	}
	reasons := map[string]bool{}
	for _, j := range p.jobs {
		o.Outstanding += j.left
		reasons[j.stopped] = true
	}
	r.count(o, p.jobs...)
	// The gravest reason of any job stands for the pass.
	switch {
	case len(o.Errors) > 0:
		o.Stopped = record.StopError
	case o.Outstanding > 0:
		o.Stopped = record.StopStalled
	default:
		for _, why := range []string{record.StopAsked, record.StopTime, record.StopBytes, record.StopOnce} {
			if reasons[why] {
				o.Stopped = why
				break
			}
		}
	}
	if p.phase.PerClone && len(p.jobs) > 1 {
		for _, j := range p.jobs {
			o.Clones = append(o.Clones, r.clone(j))
		}
	}
	return o
}

// clone is the outcome of one job.
func (r *reporter) clone(j *Job) record.Outcome {
	o := record.Outcome{
		StartNS: r.p.startNS, EndNS: j.endNS, Stopped: j.stopped,
		Errors: j.errs, Outstanding: j.left, Usage: j.usage, UsageUnknown: j.from.err != nil,
	}
	if o.EndNS == 0 { // stopped within the ramp
		o.EndNS = r.p.endNS
	}
	switch {
	case len(o.Errors) > 0, o.Stopped == record.StopAsked && r.p.stop.Load()&stopError != 0:
		// Its own error, or that of another, which ends all.
		o.Stopped = record.StopError
	case o.Outstanding > 0:
		o.Stopped = record.StopStalled
	}
	r.count(&o, j)
	return o
}

// count fills in the flows of some of the jobs together.
func (r *reporter) count(o *record.Outcome, jobs ...*Job) {
	rbs, wbs := r.p.phase.BlockSizes()
	o.Read, o.Write, o.Sync = r.flow(Read, rbs, jobs), r.flow(Write, wbs, jobs), r.flow(Sync, 0, jobs)
}

// flow joins one direction of jobs; nil where the phase has none.
func (r *reporter) flow(d Dir, blockSize int64, jobs []*Job) *record.Flow {
	if jobs[0].flows[d] == nil {
		return nil
	}
	all, slat, clat := newTotal(), newTotal(), newTotal()
	for _, j := range jobs {
		all.merge(j.flows[d])
		if d != Sync && j.slat[d] != nil {
			slat.merge(j.slat[d])
			clat.merge(j.clat[d])
		}
	}
	f := &record.Flow{IOs: all.n, Bytes: all.n * blockSize, Lat: all.histogram()}
	if r.p.engine.Submits && d != Sync {
		f.Slat, f.Clat = slat.histogram(), clat.histogram()
	}
	return f
}
