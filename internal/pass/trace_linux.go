package pass

import (
	"cmp"
	"slices"
	"sync"

	"nativ/internal/record"
)

// A tracer keeps the I/Os of a job until the reporter fetches them. Unlike all
// else it takes a lock and may allocate: a traced pass is no measurement.
type tracer struct {
	mu   sync.Mutex
	ios  []record.TraceIO
	idle []record.TraceIO // what fetch gave back
}

func newTracer() *tracer { return &tracer{ios: make([]record.TraceIO, 0, 1<<14)} }

func (t *tracer) add(io record.TraceIO) {
	t.mu.Lock()
	t.ios = append(t.ios, io)
	t.mu.Unlock()
}

// fetch returns what was added since the last fetch, valid until the next.
func (t *tracer) fetch() []record.TraceIO {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle, t.ios = t.ios, t.idle[:0]
	return t.idle
}

// traceChunk is how many I/Os one event holds: their JSON is below half a MiB.
const traceChunk = 4096

// trace reports the I/Os of all jobs since the last time, in order of time.
func (r *reporter) trace() {
	if !r.p.phase.Trace {
		return
	}
	var all []record.TraceIO
	for _, j := range r.p.jobs {
		all = append(all, j.tracer.fetch()...)
	}
	slices.SortStableFunc(all, func(a, b record.TraceIO) int { return cmp.Compare(a.MonoNS, b.MonoNS) })
	for c := range slices.Chunk(all, traceChunk) {
		r.sink(record.Event{Type: record.EventTrace, MonoNS: c[0].MonoNS, Trace: c})
	}
}
