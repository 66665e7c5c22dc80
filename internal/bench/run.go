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
	// Latest returns the newest sample of the running pass, and false before
	// the first. It reads nothing.
	Latest() (record.Sample, bool)
	// Stop ends that and returns the samples between.
	Stop() []record.Sample
}

// A Run is a plan with everything that it takes to carry it out.
type Run struct {
	// Record is filled as the run goes; the caller sets what it knows before:
	// tool, ID, plan, host, target, notes.
	Record *record.Record
	Places []Place
	// MakeFile creates the test file, journalled. Nil makes none: the places of a
	// simulated drive get no files.
	MakeFile func() (*target.File, error)
	// MakeTwin creates a second file of the same size, on a volume of its own, for
	// the places that are no containers. Nil where all places share the file.
	MakeTwin func() (*target.File, error)
	// Watch makes a watcher for passes in the place.
	Watch func(Place) Watcher
	// Undo removes everything that the run made and says what is left.
	Undo func(context.Context) []string
	// Emit is told how far the run is; it must not block.
	Emit func(Event)
	// Now and Sleep are the run's only clock: a simulated one goes through a
	// run of an hour in a second. Sleep returns early, with the error of ctx,
	// when ctx ends.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// PrefillEngine is the name of the engine that fills the file; "" is the
	// places' own.
	PrefillEngine string
	// Save is told whenever there is more in the record that must not be lost: with
	// the pass that was just measured, or nil. The next pass waits for it. Nil where
	// nobody saves before the end.
	Save func(*record.Pass)
	// Void says why a round (of that index) takes no part in any comparison, "" where
	// it does, by what happened to it and never by what it came to. Nil is
	// analysis.VoidRound.
	Void func(rec *record.Record, round int) string
	// Trouble looks for what ends the run, once a second and after each pass, and
	// must not wait; it returns nil where all is well. Nil where nobody looks.
	Trouble func() *Trouble
	// From is the step to begin with, where Continue said so.
	From int

	guard guard
	band  band // nil before the first cool-down
	// ended is when the last pass did, and endNS its Outcome.EndNS; zero before
	// the first.
	ended time.Time
	endNS int64
	// took is how long the last pass of each phase took that bytes ended.
	took map[string]int64
}

// errStop ends the passes: what is left of the plan was already noted.
var errStop = errors.New("stop")

// Do carries out the plan and cleans up, whatever happens: when ctx ends, the
// running pass ends early, what was measured stays in the record, and all that
// was made is removed. The record says what is missing. An error means that the
// run could not be set up and measured nothing.
func (r *Run) Do(ctx context.Context) error {
	rec := r.Record
	if rec.Started.IsZero() {
		rec.Started = r.Now()
	}
	r.guard.ceiling = rec.Plan.MaxTempMC
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
	r.save(nil)
	if err := r.idle(ctx); err != nil {
		return errStop
	}
	set := &placeSet{run: r, lost: map[string]int{}}
	if r.MakeFile != nil {
		file, err := r.MakeFile()
		if ctx.Err() != nil {
			return errStop
		}
		if err != nil {
			return err
		}
		facts := file.Facts()
		rec.Target.File = &facts
		set.files = []*target.File{file}
		set.twin = set.files
	}
	if r.MakeTwin != nil {
		file, err := r.MakeTwin()
		if ctx.Err() != nil {
			return errStop
		}
		if err != nil {
			return err
		}
		set.twin = []*target.File{file}
	}
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
	if !rec.Plan.NoPrefill {
		if err := r.prefillAll(ctx, set); err != nil {
			return err
		}
	}
	r.save(nil)
	// The plan grows where rounds are measured again.
	for i := r.From; i < len(rec.Plan.Steps); i++ {
		if ctx.Err() != nil {
			return errStop
		}
		if err := r.step(ctx, set, i, rec.Plan.Steps[i]); err != nil {
			return err
		}
		if rec.Plan.Design != nil && ctx.Err() == nil {
			r.after(i)
		}
	}
	return nil
}

func (r *Run) save(p *record.Pass) {
	if r.Save != nil {
		r.Save(p)
	}
}

// halted notes why the run ends here.
func (r *Run) halted(h *halt, step record.Step) error {
	code, ok := h.ends()
	if !ok {
		return nil
	}
	r.Record.Incomplete = append(r.Record.Incomplete, record.Missing{Code: code, Phase: step.Phase, Place: step.Place, Detail: h.detail})
	return errStop
}

// prefillAll writes the whole file through the first place that is the host (or,
// without one, the first place). Where the host has a file of its own, each side
// writes its own.
func (r *Run) prefillAll(ctx context.Context, set *placeSet) error {
	place := r.Places[0]
	var inside Place
	for _, p := range r.Places {
		if p.Name() == record.PlaceHost {
			place = p
		}
		if record.IsContainer(p.Name()) {
			inside = p
		}
	}
	if r.MakeTwin == nil || inside == nil || inside == place {
		return r.prefill(ctx, place, set.filesOf(place))
	}
	if err := r.prefill(ctx, inside, set.filesOf(inside)); err != nil {
		return err
	}
	first := r.Record.Prefill
	err := r.prefill(ctx, place, set.filesOf(place))
	first.Twin, r.Record.Prefill = r.Record.Prefill, first
	return err
}

// prefill writes the whole of a place's file and makes sure that all of it was
// written.
func (r *Run) prefill(ctx context.Context, place Place, files []*target.File) error {
	rec := r.Record
	phase := job.Prefill()
	phase.Engine = r.PrefillEngine
	phase.RandSeed = nextSeed(rec.Plan.Seed ^ 0x70726566696c6c) // "prefill": unlike any pass
	total := rec.Plan.FileSize
	if err := capRate(&phase, rec.Plan.MaxRate); err != nil {
		return fmt.Errorf("fill the test file: %w", err)
	}
	r.Emit(Event{Kind: EventPrefill, Phase: phase, TotalBytes: total, LeftNS: r.left(r.From)})
	var done int64
	var stop *halt
	w := r.Watch(place)
	fillCtx, end := context.WithCancel(ctx)
	defer end()
	out, failed := place.Run(fillCtx, phase, files, func(e record.Event) {
		switch {
		case e.Type == record.EventStarted:
			w.Start(ctx)
		case e.Type == record.EventInterval && e.Interval != nil:
			var temperature *int64
			if s, ok := w.Latest(); ok {
				temperature = shown(&s)
				stop = r.guard.look(&s)
			}
			if stop == nil {
				stop = r.troubled()
			}
			if stop != nil {
				end()
			}
			done += e.Interval.WriteBytes
			left := r.left(r.From) + restNS(e.Interval.EndNS, done, total)
			r.Emit(Event{Kind: EventPrefillTick, Phase: phase, DoneBytes: done, TotalBytes: total, Interval: e.Interval, Temperature: temperature, LeftNS: left})
		}
	})
	w.Stop()
	pre := &record.Prefill{Outcome: out, Failed: failed}
	rec.Prefill = pre
	if out != nil && out.Write != nil {
		pre.Bytes, pre.ElapsedNS = out.Write.Bytes, out.ElapsedNS()
	}
	if pre.Failed == nil {
		if err := wholeFile(out, files, total); err != nil {
			pre.Failed = &record.Failure{Code: record.FailIO, Detail: err.Error()}
		}
	}
	r.Emit(Event{Kind: EventPrefillEnd, Phase: phase, Outcome: out, Failed: pre.Failed, DoneBytes: pre.Bytes, TotalBytes: total})
	if pre.Failed != nil {
		if stop == nil {
			stop = r.troubled()
		}
		if stop != nil && ctx.Err() == nil {
			return r.halted(stop, record.Step{})
		}
		if ctx.Err() == nil {
			rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPrefill, Detail: pre.Failed.Detail})
		}
		return errStop
	}
	return nil
}

// wholeFile makes sure that a prefill left no block unwritten: reads of holes
// and of unwritten extents never reach a drive.
func wholeFile(out *record.Outcome, files []*target.File, total int64) error {
	switch {
	case out == nil || out.Write == nil:
		return errors.New("the prefill wrote nothing")
	case out.Write.Bytes != total:
		return fmt.Errorf("the prefill wrote %d of %d bytes", out.Write.Bytes, total)
	}
	for _, f := range files { // none of a simulated drive, which keeps nothing
		if err := f.SyncAndCheckWritten(); err != nil {
			return err
		}
	}
	return nil
}

// step runs one pass and keeps what came of it. An error means that the run ends
// with it.
func (r *Run) step(ctx context.Context, set *placeSet, i int, step record.Step) error {
	rec := r.Record
	place := set.byName(step.Place)
	phase := r.phase(step)
	pass := record.Pass{Phase: step.Phase, Place: step.Place, Index: i, Seed: step.Seed, Role: step.Role}
	if err := set.ready(ctx, place, step); err != nil {
		if ctx.Err() == nil {
			rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPlace, Phase: step.Phase, Place: step.Place, Detail: err.Error()})
		}
		return nil
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
	w := r.Watch(place)
	var err error
	if pass.CoolDown, err = r.before(ctx, w, i, tick); err != nil {
		return nil // ctx has ended, and the loop over the steps sees it
	}
	pass.StartedAt = r.Now()
	emit(EventPass, nil)
	var temperature *int64
	var stop *halt
	var level plateau
	var done int64
	passCtx, end := context.WithCancel(ctx)
	defer end()
	pass.Outcome, pass.Failed = place.Run(passCtx, phase, set.filesOf(place), func(e record.Event) {
		switch e.Type {
		case record.EventReady:
			r.keepGap(ctx)
			s := w.Sample()
			pass.Watch.Before, temperature = &s, shown(&s)
			pass.StartedAt = r.Now()
			set.worker(step.Place, e.Worker)
			pass.Engine = engineOf(e)
			if stop = r.guard.look(&s); stop != nil {
				end()
			}
		case record.EventStarted:
			w.Start(ctx)
		case record.EventEnded:
			s := w.Sample()
			pass.Watch.After = &s
			r.ended = r.Now()
		case record.EventInterval:
			pass.Intervals = append(pass.Intervals, *e.Interval)
			now, ok := w.Latest() // without one it is empty, and says nothing
			if ok {
				temperature = shown(&now)
			}
			if stop == nil {
				if stop = r.watch(&step, &phase, &level, e.Interval, &now); stop != nil {
					end()
				}
			}
			done += e.Interval.ReadBytes + e.Interval.WriteBytes
			emit(EventPassTick, func(ev *Event) {
				ev.Interval, ev.Temperature = e.Interval, temperature
				ev.LeftNS += r.leftOf(&step, &phase, e.Interval.EndNS, done) - r.stepNS(i) - step.PauseNS
			})
		}
	})
	pass.Watch.Samples = w.Stop()
	if pass.Failed == nil && ctx.Err() != nil {
		pass.Failed = &record.Failure{Code: record.FailInterrupted}
	}
	if stop != nil {
		pass.EndedBy = stop.by
		// What the run asked for is no failure, where there is anything to keep.
		if f := pass.Failed; f != nil && f.Code == record.FailInterrupted && ctx.Err() == nil && pass.Outcome != nil && pass.Outcome.ElapsedNS() > 0 {
			pass.Failed = nil
		}
	}
	r.timed(&pass, &step)
	rec.Keep(pass)
	if stop == nil && ctx.Err() == nil {
		stop = r.lost(pass.Outcome)
	}
	ends := r.halted(stop, step)
	if f := pass.Failed; f != nil && ctx.Err() == nil && ends == nil {
		rec.Incomplete = append(rec.Incomplete, record.Missing{Code: record.MissingPassFailed, Phase: step.Phase, Place: step.Place, Detail: f.Code + ": " + f.Detail})
		set.failed(place, f)
	}
	r.save(&pass)
	emit(EventPassEnd, func(ev *Event) { ev.Outcome, ev.Failed, ev.EndedBy = pass.Outcome, pass.Failed, pass.EndedBy })
	return ends
}

// before waits as the plan says before pass i: its pause, or until the drive has
// cooled down. The error is that of ctx.
func (r *Run) before(ctx context.Context, w Watcher, i int, shown Event) (*record.CoolDown, error) {
	p := &r.Record.Plan
	shown.LeftNS = r.left(i)
	if d := time.Duration(p.Steps[i].PauseNS); d > 0 {
		shown.Wait = &Wait{Why: WaitPause}
		if err := r.wait(ctx, d, EventWait, shown); err != nil {
			return nil, err
		}
	}
	if !cools(p, i) {
		return nil, nil
	}
	return r.coolDown(ctx, w, shown)
}

// watch looks at a second of a pass for a reason to end it.
func (r *Run) watch(step *record.Step, phase *job.Phase, level *plateau, iv *record.Interval, s *record.Sample) *halt {
	if h := r.guard.look(s); h != nil {
		return h
	}
	if h := r.troubled(); h != nil {
		return h
	}
	if !untilPlateau(step, phase) {
		return nil
	}
	if level.add(iv, s); level.reached() {
		return &halt{by: record.EndPlateau}
	}
	return nil
}

// phase returns the phase of a step with that step's own limits and seed.
func (r *Run) phase(s record.Step) job.Phase {
	p := *phaseOf(&r.Record.Plan, s.Phase)
	p.RuntimeNS, p.MaxBytes, p.RandSeed = s.RuntimeNS, s.MaxBytes, s.Seed
	if s.ByBytes {
		p.RuntimeNS *= byBytesLimit
	}
	return p
}

// left estimates how long the passes from step i on take, in nanoseconds.
func (r *Run) left(i int) int64 {
	var ns int64
	for j := i; j < len(r.Record.Plan.Steps); j++ {
		ns += r.Record.Plan.Steps[j].PauseNS + r.stepNS(j) + gapOf(&r.Record.Plan)
	}
	return ns
}

// stepNS estimates how long a pass takes, without its pause.
func (r *Run) stepNS(i int) int64 {
	s := &r.Record.Plan.Steps[i]
	if phaseOf(&r.Record.Plan, s.Phase).Once && s.MaxBytes > 0 {
		const usual = 1e9 // bytes a second, of a drive that is written for long
		return min(s.RuntimeNS, int64(float64(s.MaxBytes)/usual*1e9))
	}
	if ns, ok := r.took[s.Phase]; ok && s.ByBytes {
		return ns
	}
	return s.RuntimeNS
}

// leftOf estimates how long a pass goes on that has run for elapsed nanoseconds
// and moved done bytes.
func (r *Run) leftOf(s *record.Step, ph *job.Phase, elapsed, done int64) int64 {
	left := s.RuntimeNS - elapsed
	if (ph.Once || s.ByBytes) && s.MaxBytes > 0 && done > 0 {
		left = min(left, restNS(elapsed, done, s.MaxBytes))
	}
	return max(0, left)
}

// restNS is how long the rest of total bytes takes if it goes on as it did.
func restNS(elapsed, done, total int64) int64 {
	if done <= 0 {
		return 0
	}
	return int64(float64(elapsed) / float64(done) * float64(total-done))
}

// shown returns the temperature to show of a sample, nil where it has none.
func shown(s *record.Sample) *int64 {
	if _, mc, ok := s.Temperature(); ok {
		return &mc
	}
	return nil
}

// placeSet keeps track of which places stand.
type placeSet struct {
	run   *Run
	files []*target.File
	// twin are the files of places that are no containers, mostly the same.
	twin []*target.File
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

// filesOf are the files that a place works on.
func (s *placeSet) filesOf(p Place) []*target.File {
	if record.IsContainer(p.Name()) {
		return s.files
	}
	return s.twin
}

// prepare sets a place up and puts its facts into the record.
func (s *placeSet) prepare(ctx context.Context, p Place) error {
	facts, err := p.Prepare(ctx, s.filesOf(p))
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

// engineOf is how the worker that is ready has set up its engine.
func engineOf(ready record.Event) *record.Engine {
	if ready.Worker == nil {
		return nil
	}
	return &ready.Worker.Engine
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
