package uring

import (
	"time"

	"nativ/internal/record"
)

// A reporter follows a pass from outside of its threads: it joins the jobs'
// seconds and, at the end, their totals.
type reporter struct {
	p        *pass
	sink     func(record.Event)
	io, sync *total // of the interval at hand
	next     int64  // its index
	lost     int
}

func newReporter(p *pass, sink func(record.Event)) *reporter {
	return &reporter{p: p, sink: sink, io: newTotal(), sync: newTotal()}
}

// run reports intervals until all jobs have ended. Between boundaries it
// sleeps: each time it wakes, it takes a processor from somebody.
func (r *reporter) run() {
	const (
		settle = time.Millisecond      // what busy jobs need to post
		again  = 10 * time.Millisecond // jobs that wait in the kernel take up to 100
	)
	boundary := func() time.Duration {
		return max(time.Duration(r.end(r.next+1)-r.p.clock.now())+settle, again)
	}
	timer := time.NewTimer(boundary())
	defer timer.Stop()
	for left := len(r.p.threads); left > 0; {
		select {
		case <-r.p.ended:
			left--
		case <-timer.C:
			for r.ready() {
				r.report(r.end(r.next+1), second)
			}
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
	for _, t := range r.p.threads {
		if t.done.Load() {
			continue
		}
		if t.passed.Load() <= r.next {
			return false
		}
		running = true
	}
	return running
}

// finish reports what is left after the last job ended.
func (r *reporter) finish() {
	end := r.endNS()
	for r.end(r.next+1) < end {
		r.report(r.end(r.next+1), second)
	}
	r.report(end, end-r.end(r.next))
}

func (r *reporter) endNS() (end int64) {
	for _, t := range r.p.threads {
		end = max(end, t.endNS)
	}
	return end
}

// report joins the interval at hand, which all jobs have published or ended
// before, and goes on to the next.
func (r *reporter) report(end, length int64) {
	r.io.reset()
	r.sync.reset()
	whole := true
	for _, t := range r.p.threads {
		if t.mail.published.Load() <= r.next {
			continue // the job had ended
		}
		iv := t.mail.get(r.next)
		if iv == nil {
			whole = false
		} else {
			r.io.add(&iv.io)
			if iv.sync != nil {
				r.sync.add(iv.sync)
			}
		}
		t.mail.done(r.next)
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
	iv := &record.Interval{EndNS: end - r.p.startNS, LenNS: length, SyncIOs: r.sync.n}
	if ph.Mode.Writes() {
		iv.WriteIOs, iv.WriteBytes = r.io.n, r.io.n*ph.BlockSize
	} else {
		iv.ReadIOs, iv.ReadBytes = r.io.n, r.io.n*ph.BlockSize
	}
	lat := r.io
	if ph.FDataSync > 0 {
		lat = r.sync
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
	io, sync := newTotal(), newTotal()
	o := &record.Outcome{
		StartNS: p.startNS, EndNS: r.endNS(),
		Errors: mergeErrors(p.threads), IntervalsLost: r.lost,
	}
	reasons := map[string]bool{}
	for _, t := range p.threads {
		io.merge(t.io)
		sync.merge(t.sync)
		o.Outstanding += t.left
		reasons[t.stopped] = true
	}
	f := io.flow(p.phase.BlockSize)
	if p.phase.Mode.Writes() {
		o.Write = f
	} else {
		o.Read = f
	}
	if p.phase.FDataSync > 0 {
		o.Sync = sync.flow(0)
	}
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
	return o
}
