package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

// A Watcher reads what the host sees during one pass.
type Watcher interface {
	// Sample reads everything once, now.
	Sample() record.Sample
	// Start begins to sample once a second, until Stop.
	Start(ctx context.Context)
	// Stop ends that and returns the samples between.
	Stop() []record.Sample
}

// A Run is a plan with everything that it takes to carry it out.
type Run struct {
	// Record is filled as the run goes; the caller sets what it knows before:
	// tool, ID, plan, host, target, notes.
	Record *record.Record
	Places []Place
	// MakeFile creates the test file, journalled.
	MakeFile func() (*target.File, error)
	// Watch makes a watcher for passes in the place.
	Watch func(Place) Watcher
	// Undo removes everything that the run made and says what is left.
	Undo func(context.Context) []string
	// Emit is told how far the run is; it must not block.
	Emit func(Event)
	Now  func() time.Time
	// PrefillEngine is the name of the engine that fills the file; "" is the
	// places' own.
	PrefillEngine string
}

// errStop ends the passes: what is left of the plan was already noted.
var errStop = errors.New("stop")

// Do carries out the plan and cleans up, whatever happens: when ctx ends, the
// running pass ends early, what was measured stays in the record, and all that
// was made is removed. The record says what is missing. An error means that the
// run could not be set up and measured nothing.
func (r *Run) Do(ctx context.Context) error {
	rec := r.Record
	rec.Started = r.Now()
	err := r.measure(ctx)
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

// measure makes file and places, prefills, and runs every pass.
func (r *Run) measure(ctx context.Context) error {
	rec := r.Record
	file, err := r.MakeFile()
	if err != nil {
		return err
	}
	facts := file.Facts()
	rec.Target.File = &facts
	set := &placeSet{run: r, files: []*target.File{file}, lost: map[string]int{}}
	for _, p := range r.Places {
		if ctx.Err() != nil {
			return errStop
		}
		r.Emit(Event{Kind: EventPlace, Place: p.Name()})
		if err := set.prepare(ctx, p); err != nil {
			if ctx.Err() != nil {
				return errStop
			}
			return fmt.Errorf("set up %s: %w", p.Name(), err)
		}
	}
	if err := r.prefill(ctx, file); err != nil {
		return err
	}
	for i, step := range rec.Plan.Steps {
		if ctx.Err() != nil {
			return errStop
		}
		r.step(ctx, set, i, step)
	}
	return nil
}

// prefill writes the whole file through the first place that is the host (or,
// without one, the first place) and makes sure that all of it was written.
func (r *Run) prefill(ctx context.Context, file *target.File) error {
	rec := r.Record
	place := r.Places[0]
	for _, p := range r.Places {
		if p.Name() == record.PlaceHost {
			place = p
		}
	}
	phase := job.Prefill()
	phase.Engine = r.PrefillEngine
	phase.RandSeed = nextSeed(rec.Plan.Seed ^ 0x70726566696c6c) // "prefill": unlike any pass
	total := rec.Plan.FileSize
	r.Emit(Event{Kind: EventPrefill, Phase: phase, TotalBytes: total, LeftNS: r.left(0)})
	var done int64
	out, failed := place.Run(ctx, phase, []*target.File{file}, func(e record.Event) {
		if e.Type == record.EventInterval && e.Interval != nil {
			done += e.Interval.WriteBytes
			left := r.left(0)
			if done > 0 {
				left += int64(float64(e.Interval.EndNS) / float64(done) * float64(total-done))
			}
			r.Emit(Event{Kind: EventPrefillTick, Phase: phase, DoneBytes: done, TotalBytes: total, Interval: e.Interval, LeftNS: left})
		}
	})
	pre := &record.Prefill{Outcome: out, Failed: failed}
	rec.Prefill = pre
	if out != nil && out.Write != nil {
		pre.Bytes, pre.ElapsedNS = out.Write.Bytes, out.ElapsedNS()
	}
	if pre.Failed == nil {
		if err := wholeFile(out, file, total); err != nil {
			pre.Failed = &record.Failure{Code: record.FailIO, Detail: err.Error()}
		}
	}
	r.Emit(Event{Kind: EventPrefillEnd, Phase: phase, Outcome: out, Failed: pre.Failed, DoneBytes: pre.Bytes, TotalBytes: total})
	if pre.Failed != nil {
		if ctx.Err() == nil {
			rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPrefill, Detail: pre.Failed.Detail})
		}
		return errStop
	}
	return nil
}

// wholeFile makes sure that a prefill left no block unwritten: reads of holes
// and of unwritten extents never reach a drive.
func wholeFile(out *record.Outcome, file *target.File, total int64) error {
	switch {
	case out == nil || out.Write == nil:
		return errors.New("the prefill wrote nothing")
	case out.Write.Bytes != total:
		return fmt.Errorf("the prefill wrote %d of %d bytes", out.Write.Bytes, total)
	}
	return file.SyncAndCheckWritten()
}

// step runs one pass and keeps what came of it.
func (r *Run) step(ctx context.Context, set *placeSet, i int, step record.Step) {
	rec := r.Record
	place := set.byName(step.Place)
	phase := r.phase(step)
	pass := record.Pass{Phase: step.Phase, Place: step.Place, Index: i, Seed: step.Seed, StartedAt: r.Now()}
	if err := set.ready(ctx, place, step); err != nil {
		if ctx.Err() == nil {
			rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPlace, Phase: step.Phase, Place: step.Place, Detail: err.Error()})
		}
		return
	}
	tick := Event{Phase: phase, Place: step.Place, Step: i, Steps: len(rec.Plan.Steps)}
	emit := func(k EventKind, fill func(*Event)) {
		e := tick
		e.Kind, e.LeftNS = k, r.left(i)
		if fill != nil {
			fill(&e)
		}
		r.Emit(e)
	}
	emit(EventPass, nil)
	w := r.Watch(place)
	var temperature *int64
	pass.Outcome, pass.Failed = place.Run(ctx, phase, set.files, func(e record.Event) {
		switch e.Type {
		case record.EventReady:
			s := w.Sample()
			pass.Watch.Before, temperature = &s, hottest(&s)
			pass.StartedAt = r.Now()
			set.worker(step.Place, e.Worker)
		case record.EventStarted:
			w.Start(ctx)
		case record.EventEnded:
			s := w.Sample()
			pass.Watch.After = &s
		case record.EventInterval:
			pass.Intervals = append(pass.Intervals, *e.Interval)
			emit(EventPassTick, func(ev *Event) {
				ev.Interval, ev.Temperature = e.Interval, temperature
				ev.LeftNS = max(0, ev.LeftNS-e.Interval.EndNS)
			})
		}
	})
	pass.Watch.Samples = w.Stop()
	if pass.Failed == nil && ctx.Err() != nil {
		pass.Failed = &record.Failure{Code: record.FailInterrupted}
	}
	r.keep(pass, step)
	if f := pass.Failed; f != nil && ctx.Err() == nil {
		rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPassFailed, Phase: step.Phase, Place: step.Place, Detail: f.Code + ": " + f.Detail})
		set.failed(place, f)
	}
	emit(EventPassEnd, func(ev *Event) { ev.Outcome, ev.Failed = pass.Outcome, pass.Failed })
}

// keep appends the pass to its round.
func (r *Run) keep(pass record.Pass, step record.Step) {
	rec := r.Record
	perRound := 2 * len(rec.Plan.Places)
	if n := len(rec.Rounds); n > 0 {
		last := &rec.Rounds[n-1]
		first := last.Passes[0].Index
		if last.Phase == step.Phase && pass.Index/perRound == first/perRound {
			last.Passes = append(last.Passes, pass)
			return
		}
	}
	rec.Rounds = append(rec.Rounds, record.Round{Phase: step.Phase, Passes: []record.Pass{pass}})
}

// phase returns the phase of a step with that step's own limits and seed.
func (r *Run) phase(s record.Step) job.Phase {
	for _, p := range r.Record.Plan.Phases {
		if p.Name == s.Phase {
			p.RuntimeNS, p.MaxBytes, p.RandSeed = s.RuntimeNS, s.MaxBytes, s.Seed
			return p
		}
	}
	panic("bench: step names a phase that the plan does not have: " + s.Phase)
}

// left estimates how long the passes from step i on take, in nanoseconds.
func (r *Run) left(i int) int64 {
	var ns int64
	for _, s := range r.Record.Plan.Steps[i:] {
		ns += s.RuntimeNS + passGap.Nanoseconds()
	}
	return ns
}

// hottest returns the highest temperature of a sample, nil where it has none.
func hottest(s *record.Sample) *int64 {
	var top *int64
	for _, t := range s.Temperatures {
		if top == nil || t > *top {
			top = &t
		}
	}
	return top
}

// placeSet keeps track of which places stand.
type placeSet struct {
	run   *Run
	files []*target.File
	// lost counts how often each place was lost; broken holds those that must
	// be set up again before their next pass.
	lost   map[string]int
	broken map[string]bool
}

// maxRemake is how often a lost place is set up again. Once: a container that
// goes twice has a reason which a third one would meet too.
const maxRemake = 1

func (s *placeSet) byName(name string) Place {
	for _, p := range s.run.Places {
		if p.Name() == name {
			return p
		}
	}
	panic("bench: step names a place that the run does not have: " + name)
}

// prepare sets a place up and puts its facts into the record.
func (s *placeSet) prepare(ctx context.Context, p Place) error {
	facts, err := p.Prepare(ctx, s.files)
	if err != nil {
		return err
	}
	rec := s.run.Record
	for i := range rec.Places {
		if rec.Places[i].Name == facts.Name {
			rec.Places[i] = facts
			return nil
		}
	}
	rec.Places = append(rec.Places, facts)
	return nil
}

// worker keeps what the first worker in a place says of it from inside.
func (s *placeSet) worker(place string, w *record.Worker) {
	for i := range s.run.Record.Places {
		if p := &s.run.Record.Places[i]; p.Name == place && p.Worker == nil {
			p.Worker = w
		}
	}
}

// failed notes that a pass failed in a way that takes its place along.
func (s *placeSet) failed(p Place, f *record.Failure) {
	switch f.Code {
	case record.FailContainer, record.FailStart:
		if s.broken == nil {
			s.broken = map[string]bool{}
		}
		s.broken[p.Name()] = true
		s.lost[p.Name()]++
	}
}

// ready makes sure that the place stands, and sets it up anew where it was
// lost for the first time.
func (s *placeSet) ready(ctx context.Context, p Place, step record.Step) error {
	name := p.Name()
	if !s.broken[name] {
		return nil
	}
	if s.lost[name] > maxRemake {
		return fmt.Errorf("%s was lost %d times and is not set up again", name, s.lost[name])
	}
	s.run.Emit(Event{Kind: EventPlaceAgain, Place: name})
	if err := s.prepare(ctx, p); err != nil {
		s.lost[name] = maxRemake + 1
		return fmt.Errorf("set up %s again: %w", name, err)
	}
	s.broken[name] = false
	s.run.Record.Warnings = append(s.run.Record.Warnings, record.Warning{Code: record.WarnContainerRemade, Phase: step.Phase, Place: name})
	return nil
}
