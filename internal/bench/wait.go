package bench

import (
	"context"
	"time"

	"nativ/internal/record"
)

const (
	// countdown is how often a wait is shown.
	countdown = time.Second
	// coolPoll is the time between two readings of a drive that cools: reading
	// it more often warms some.
	coolPoll = 5 * time.Second
	// bandWidth is how far above the run's band a pass may start, in millidegrees
	// Celsius.
	bandWidth = 2000
	// steadyWindow is how long the temperature must have stood still.
	steadyWindow = 2 * time.Minute
	// lostAfter is how many readings in a row may fail.
	lostAfter = 3
)

// wait sleeps for d a second at a time and shows how much is left: the first
// second as kind says, the others as ticks.
func (r *Run) wait(ctx context.Context, d time.Duration, kind EventKind, shown Event) error {
	w := *shown.Wait
	for shown.Kind = kind; d > 0; shown.Kind = EventWaitTick {
		e := shown
		now := w
		now.Left = w.Left + d
		e.Wait = &now
		r.Emit(e)
		if err := r.Sleep(ctx, min(d, countdown)); err != nil {
			return err
		}
		d -= countdown
	}
	return nil
}

// idle reads the drive at rest, before anything else.
func (r *Run) idle(ctx context.Context) error {
	w := r.Watch(r.Places[0])
	d := time.Duration(r.Record.Plan.IdleNS)
	if err := r.wait(ctx, d, EventWait, Event{Wait: &Wait{Why: WaitIdle}, LeftNS: r.left(r.From)}); err != nil {
		return err
	}
	s := w.Sample()
	r.Record.Idle, r.Record.IdleNS = &s, d.Nanoseconds()
	if h := r.guard.look(&s); h != nil {
		return r.halted(h, record.Step{})
	}
	return nil
}

// A band is the temperature in which passes start, by sensor: the upper end, in
// millidegrees Celsius.
type band map[string]int64

func bandAbove(t map[string]int64) band {
	b := band{}
	for name, mc := range t {
		b[name] = mc + bandWidth
	}
	return b
}

// worst returns the sensor that lies furthest above its band, and by how much;
// false where none of the band's can be read.
func (b band) worst(t map[string]int64) (name string, excess int64, ok bool) {
	for n, target := range b {
		mc, read := t[n]
		if !read {
			continue
		}
		if over := mc - target; !ok || over > excess || over == excess && n < name {
			name, excess, ok = n, over, true
		}
	}
	return name, excess, ok
}

// coolDown waits until the drive is back in the band of the run: that of the
// idle drive where it was left alone first, else that of the first pass. It
// returns nil where there is no temperature to wait for.
func (r *Run) coolDown(ctx context.Context, w Watcher, shown Event) (*record.CoolDown, error) {
	s := w.Sample()
	from := composites(&s)
	if r.band == nil {
		if len(from) == 0 {
			return nil, nil
		}
		r.band = bandAbove(from)
		if idle := r.Record.Idle; idle != nil && r.Record.IdleNS > 0 {
			if t := composites(idle); len(t) > 0 {
				r.band = bandAbove(t)
			}
		}
	}
	name, excess, ok := r.band.worst(from)
	if !ok {
		return nil, nil
	}
	cd := &record.CoolDown{Sensor: name, FromMC: from[name], ToMC: from[name], TargetMC: r.band[name]}
	limit := time.Duration(r.Record.Plan.CoolDownNS)
	start := r.Now()
	history := []reading{{0, excess}}
	var waited time.Duration
	kind := EventWait
	for lost := 0; ; {
		slow, known := slope(history, steadyWindow)
		switch {
		case lost >= lostAfter:
			cd.Ended = record.CoolLost
		case lost == 0 && excess <= 0:
			cd.Ended = record.CoolBand
		case lost == 0 && known && slow > -steadySlope && slow < steadySlope:
			cd.Ended = record.CoolSteady
		case waited >= limit:
			cd.Ended = record.CoolLimit
		}
		if cd.Ended != "" {
			cd.WaitedNS = r.Now().Sub(start).Nanoseconds()
			return cd, nil
		}
		d := min(coolPoll, limit-waited)
		now, target := cd.ToMC, cd.TargetMC
		shown.Wait = &Wait{Why: WaitCoolDown, Left: limit - waited - d, TemperatureMC: &now, TargetMC: &target}
		if err := r.wait(ctx, d, kind, shown); err != nil {
			return nil, err
		}
		kind, waited = EventWaitTick, waited+d
		s := w.Sample()
		t := composites(&s)
		n, over, ok := r.band.worst(t)
		if !ok {
			lost++
			continue
		}
		lost, excess = 0, over
		history = append(history, reading{waited, over})
		if _, known := from[n]; known && over > 0 {
			// With several drives the record is about the last to cool.
			cd.Sensor, cd.FromMC, cd.TargetMC = n, from[n], r.band[n]
		}
		if mc, ok := t[cd.Sensor]; ok {
			cd.ToMC = mc
		}
	}
}
