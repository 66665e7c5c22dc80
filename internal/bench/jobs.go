package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

// A JobsRun carries a JobsPlan out, in one place.
type JobsRun struct {
	// Record is filled as the run goes; see Run.
	Record *record.Record
	Plan   *JobsPlan
	Place  Place
	// OpenFile makes a file of the plan, journalled, or opens one that exists.
	OpenFile func(FileNeed) (*target.File, error)
	Watch    func(Place) Watcher
	Undo     func(context.Context) []string
	Emit     func(Event)
	Now      func() time.Time
	// Trace gets the I/Os of traced phases, by the index of their unit, from
	// one goroutine at a time; nil where nobody asked.
	Trace func(unit int, ios []record.TraceIO)
	// PrefillEngine is the name of the engine that fills what was made.
	PrefillEngine string
}

// Do carries out the plan and cleans up; see Run.Do.
func (r *JobsRun) Do(ctx context.Context) error {
	rec := r.Record
	rec.Started = r.Now()
	files, err := r.openFiles()
	defer func() {
		for _, f := range files {
			if f.Foreign() {
				_ = f.Remove()
			}
		}
	}()
	if err == nil {
		err = r.measure(ctx, files)
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	if ctx.Err() != nil {
		rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingInterrupted})
	}
	rec.Complete = len(rec.Incomplete) == 0
	r.Emit(Event{Kind: EventClean})
	rec.Cleaned = &record.Cleaned{Left: r.Undo(context.WithoutCancel(ctx))}
	rec.Ended = r.Now()
	return err
}

func (r *JobsRun) openFiles() ([]*target.File, error) {
	var files []*target.File
	for i, need := range r.Plan.Files {
		f, err := r.OpenFile(need)
		if err != nil {
			return files, err
		}
		files = append(files, f)
		facts := f.Facts()
		if i == 0 {
			r.Record.Target.File = &facts
		}
		if f.Foreign() && facts.Size != need.Size {
			return files, fmt.Errorf("open %s: it had %d bytes a moment ago and has %d; start again when nobody changes it", need.Given, need.Size, facts.Size)
		}
		r.Record.Jobs.Files = append(r.Record.Jobs.Files, record.JobFile{
			Given: need.Given, Path: f.Path(), Size: facts.Size, Made: !f.Foreign(), Sparse: f.Sparse(),
		})
	}
	return files, nil
}

// measure sets the place up, prefills what was made, and runs the groups.
func (r *JobsRun) measure(ctx context.Context, files []*target.File) error {
	rec := r.Record
	r.Emit(Event{Kind: EventPlace, Place: r.Place.Name()})
	facts, err := r.Place.Prepare(ctx, files)
	if err != nil {
		if ctx.Err() != nil {
			return errStop
		}
		return fmt.Errorf("set up %s: %w", r.Place.Name(), err)
	}
	rec.Places = []record.Place{facts}
	for _, f := range files {
		if f.Foreign() {
			continue
		}
		if err := r.prefill(ctx, f); err != nil {
			return err
		}
	}
	for g, units := range r.Plan.Groups {
		if ctx.Err() != nil {
			return errStop
		}
		if !r.group(ctx, units, files) && g < len(r.Plan.Groups)-1 {
			return errStop
		}
	}
	return nil
}

// prefill writes a whole file, so that reads of it ask the drive.
func (r *JobsRun) prefill(ctx context.Context, f *target.File) error {
	rec := r.Record
	phase := job.Prefill()
	phase.Engine = r.PrefillEngine
	phase.RandSeed = nextSeed(rec.Plan.Seed ^ f.Facts().Ino) // no two files alike
	total := f.Facts().Size
	r.Emit(Event{Kind: EventPrefill, Phase: phase, TotalBytes: total})
	var done int64
	out, failed := r.Place.Run(ctx, phase, []*target.File{f}, func(e record.Event) {
		if e.Type == record.EventInterval && e.Interval != nil {
			done += e.Interval.WriteBytes
			r.Emit(Event{Kind: EventPrefillTick, Phase: phase, DoneBytes: done, TotalBytes: total, Interval: e.Interval})
		}
	})
	if rec.Prefill == nil {
		rec.Prefill = &record.Prefill{}
	}
	pre := rec.Prefill
	pre.Outcome, pre.Failed = out, failed
	written := int64(0)
	if out != nil && out.Write != nil {
		written = out.Write.Bytes
		pre.Bytes, pre.ElapsedNS = pre.Bytes+written, pre.ElapsedNS+out.ElapsedNS()
	}
	if pre.Failed == nil {
		if err := wholeFile(out, []*target.File{f}, total); err != nil {
			pre.Failed = &record.Failure{Code: record.FailIO, Detail: err.Error()}
		}
	}
	r.Emit(Event{Kind: EventPrefillEnd, Phase: phase, Outcome: out, Failed: pre.Failed, DoneBytes: written, TotalBytes: total})
	if pre.Failed == nil {
		return nil
	}
	if ctx.Err() == nil {
		rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPrefill, Detail: pre.Failed.Detail})
	}
	return errStop
}

// group runs units side by side and keeps what came of each. It reports false
// where the place is gone.
func (r *JobsRun) group(ctx context.Context, units []int, files []*target.File) bool {
	rec := r.Record
	w := r.Watch(r.Place)
	var before, after *record.Sample
	start := newBarrier(len(units), func() { s := w.Sample(); before = &s })
	running := newBarrier(len(units), func() { w.Start(ctx) })
	end := newBarrier(len(units), func() { s := w.Sample(); after = &s })

	var emitting sync.Mutex
	emit := func(k EventKind, u int, fill func(*Event)) {
		emitting.Lock()
		defer emitting.Unlock()
		e := Event{Kind: k, Phase: r.Plan.Units[u].Phase, Place: r.Place.Name(), Step: u, Steps: len(r.Plan.Units)}
		if fill != nil {
			fill(&e)
		}
		r.Emit(e)
	}
	passes := make([]record.Pass, len(units))
	workers := make([]*record.Worker, len(units))
	var all sync.WaitGroup
	for i, n := range units {
		u := &r.Plan.Units[n]
		pass := &passes[i]
		*pass = record.Pass{Phase: u.Phase.Name, Place: r.Place.Name(), Index: n, Seed: u.Phase.RandSeed, StartedAt: r.Now()}
		var own []*target.File
		for _, f := range u.Files {
			own = append(own, files[f])
		}
		all.Go(func() {
			// One that fails on its way must not hold the others.
			arrive := start.guest()
			started, ended := running.guest(), end.guest()
			defer ended()
			defer started()
			defer arrive()
			emit(EventPass, n, nil)
			pass.Outcome, pass.Failed = r.Place.Run(ctx, u.Phase, own, func(e record.Event) {
				switch e.Type {
				case record.EventReady:
					workers[i], pass.Engine = e.Worker, engineOf(e)
					arrive()
					start.wait(ctx)
					pass.StartedAt = r.Now()
				case record.EventStarted:
					started()
				case record.EventInterval:
					pass.Intervals = append(pass.Intervals, *e.Interval)
					emit(EventPassTick, n, func(ev *Event) {
						ev.Interval, ev.LeftNS = e.Interval, max(0, u.Phase.RuntimeNS-e.Interval.EndNS)
					})
				case record.EventTrace:
					if r.Trace != nil {
						emitting.Lock()
						r.Trace(n, e.Trace)
						emitting.Unlock()
					}
				case record.EventEnded:
					ended()
				}
			})
			if pass.Failed == nil && ctx.Err() != nil {
				pass.Failed = &record.Failure{Code: record.FailInterrupted}
			}
			emit(EventPassEnd, n, func(ev *Event) { ev.Outcome, ev.Failed = pass.Outcome, pass.Failed })
		})
	}
	all.Wait()
	passes[0].Watch = record.Watch{Before: before, After: after, Samples: w.Stop()}
	rec.Rounds = append(rec.Rounds, record.Round{Phase: passes[0].Phase, Passes: passes})
	for _, wk := range workers {
		if wk != nil && rec.Places[0].Worker == nil {
			rec.Places[0].Worker = wk
		}
	}
	ok := true
	for i := range passes {
		f := passes[i].Failed
		if f == nil || ctx.Err() != nil {
			continue
		}
		rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPassFailed, Phase: passes[i].Phase, Place: passes[i].Place, Detail: f.Code + ": " + f.Detail})
		ok = ok && !slices.Contains([]string{record.FailContainer, record.FailStart}, f.Code)
	}
	return ok
}

// A barrier opens when all its guests have arrived; what it does then is done
// once, by the last.
type barrier struct {
	mu   sync.Mutex
	left int
	then func()
	open chan struct{}
}

func newBarrier(n int, then func()) *barrier {
	return &barrier{left: n, then: then, open: make(chan struct{})}
}

// guest returns the call by which a guest arrives; further ones do nothing.
func (b *barrier) guest() func() {
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.left--; b.left == 0 {
			b.then()
			close(b.open)
		}
	})
}

// wait returns when the barrier is open or ctx has ended.
func (b *barrier) wait(ctx context.Context) {
	select {
	case <-b.open:
	case <-ctx.Done():
	}
}
