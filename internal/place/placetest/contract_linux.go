package placetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"nativ/internal/record"
	"nativ/internal/target"
)

// Contract is the part of the suite that asks nothing of processes and kernels,
// so that a simulated place passes it, too: what a pass says, in which order, and
// how it ends. The place is not prepared yet.
func Contract(t *testing.T, p Place, files []*target.File) {
	t.Helper()
	ctx := t.Context()
	if o, f := p.Run(ctx, Read(time.Millisecond), files, discard); o != nil || f == nil || f.Code != record.FailStart {
		t.Errorf("a pass in a place that is not prepared: %v, %+v", o, f)
	}
	for range 2 { // Prepare can be called again
		facts, err := p.Prepare(ctx, files)
		if err != nil {
			t.Fatal(err)
		}
		if facts.Name != p.Name() || facts.Cgroup != p.Cgroup() || facts.Worker == nil || len(facts.CPUs) == 0 {
			t.Errorf("facts %+v", facts)
		}
	}
	t.Run("events", func(t *testing.T) { checkEvents(t, p, files) })
	t.Run("asked to end", func(t *testing.T) {
		for _, at := range []string{record.EventReady, record.EventInterval} {
			checkAsked(t, p, files, at)
		}
	})
}

// checkEvents runs a pass of 1.2 s and listens.
func checkEvents(t *testing.T, p Place, files []*target.File) {
	var types []string
	var started, ended, length, ios int64
	o, failure := p.Run(t.Context(), Read(1200*time.Millisecond), files, func(e record.Event) {
		types = append(types, e.Type)
		switch e.Type {
		case record.EventReady:
			if e.Worker == nil {
				t.Error("ready without the worker's facts")
			}
		case record.EventStarted:
			started = e.MonoNS
		case record.EventInterval:
			length, ios = length+e.Interval.LenNS, ios+e.Interval.ReadIOs
		case record.EventEnded:
			ended = e.MonoNS
		}
	})
	if failure != nil || o == nil || o.Read == nil {
		t.Fatalf("outcome %+v, failure %+v", o, failure)
	}
	if o.Stopped != record.StopTime || o.StartNS != started || o.EndNS != ended || length != o.ElapsedNS() || ios != o.Read.IOs || o.Read.Lat.N() != ios || ios == 0 {
		t.Errorf("outcome %s from %d to %d, %d I/Os; events say %d to %d, intervals %d ns with %d", o.Stopped, o.StartNS, o.EndNS, o.Read.IOs, started, ended, length, ios)
	}
	order := []string{record.EventReady, record.EventStarted, record.EventInterval, record.EventEnded}
	at := 0
	for _, typ := range types {
		if i := slices.Index(order, typ); i >= 0 {
			if i < at {
				t.Fatalf("events in the order %v", types)
			}
			at = i
		}
	}
	if n := count(types, record.EventInterval); n != 2 {
		t.Errorf("%d intervals in 1.2 s", n)
	}
}

// checkAsked ends a pass from within its own events, as bench does.
func checkAsked(t *testing.T, p Place, files []*target.File, at string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, failure := p.Run(ctx, Read(time.Minute), files, func(e record.Event) {
		if e.Type == at {
			cancel()
		}
	})
	if failure == nil || failure.Code != record.FailInterrupted {
		t.Errorf("asked to end at %s: failure %+v", at, failure)
	}
	if o, failure := p.Run(t.Context(), Read(200*time.Millisecond), files, discard); failure != nil || o == nil {
		t.Errorf("the pass after it: %+v, %+v", o, failure)
	}
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}
