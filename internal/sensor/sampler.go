package sensor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nativ/internal/record"
)

const (
	// interval is the time between two samples of a pass, minInterval the least
	// that can be set. More often would disturb the drive (every reading of its
	// health is a command), more rarely would miss the onset of throttling.
	interval    = time.Second
	minInterval = 250 * time.Millisecond
	// limit is how long a source may take. A file in sysfs can block for
	// minutes, as that of a controller that is being reset.
	limit = 500 * time.Millisecond
	// edgeLimit is that of what is read outside of passes only, where nothing is
	// held up: smartctl is a program to start, and asks some drives several times.
	edgeLimit = 3 * time.Second
)

// A Sampler reads sources at the start, during and at the end of passes. One
// serves a whole run, pass after pass:
//
//	before := s.Sample() // the worker is ready; go comes right after
//	s.Start(ctx)
//	...                  // once a second
//	after := s.Sample()  // right after the last completion
//	samples := s.Stop()
//
// What counts exactly is the counters of device, cgroup and CPU, since rates
// are made of their differences; a temperature does not change in a
// millisecond, but takes one to read. So before a pass the temperatures come
// first and the counters last, and from Start on the counters come first.
// MonoNS is the moment before the counters are read.
//
// No source can hold up a pass: what has not answered in 500 ms (3 s outside of
// a pass, for what is read only there) is missing in the sample, and is not asked
// again before it has.
type Sampler struct {
	// Interval is the time between two samples of a pass: 0 is a second, and
	// less than 250 ms is 250 ms.
	Interval time.Duration

	exact, slow []*reader // read with every sample
	edges       []*reader // read only at the start and the end of a pass
	now         func() int64

	mu   sync.Mutex
	pass *pass // from Start to Stop
}

// A pass is one run of the loop.
type pass struct {
	cancel  context.CancelFunc
	done    chan struct{}
	samples []record.Sample // the loop's until done is closed
	latest  atomic.Pointer[record.Sample]
}

// New returns a sampler. now is CLOCK_MONOTONIC in nanoseconds, the clock of
// the worker's events.
func New(sources []Source, now func() int64) *Sampler {
	s := &Sampler{now: now}
	for _, src := range sources {
		r := &reader{src: src, now: now, limit: limit, busy: make(chan struct{}, 1)}
		if e, ok := src.(interface{ edgesOnly() bool }); ok && e.edgesOnly() {
			r.limit = edgeLimit
			s.edges = append(s.edges, r)
			continue
		}
		switch src.Describe().Kind {
		case kindDevice, kindCPU, kindCgroup, kindPressure:
			s.exact = append(s.exact, r)
		default:
			s.slow = append(s.slow, r)
		}
	}
	return s
}

// Sources describes all sources. It knows best after a run, when what could
// not be read has shown.
func (s *Sampler) Sources() []record.Source {
	var all []record.Source
	for _, r := range slices.Concat(s.exact, s.slow, s.edges) {
		all = append(all, r.describe())
	}
	return all
}

// Sample reads everything once, now: the start of a pass before Start, its end
// after, which ends the loop, so that no sample lies behind the end.
func (s *Sampler) Sample() record.Sample {
	s.mu.Lock()
	p := s.pass
	s.mu.Unlock()
	if p == nil {
		return s.before()
	}
	p.cancel()
	sample := s.after(context.Background())
	read(context.Background(), edgeLimit, s.edges, &sample)
	return sample
}

// Latest returns the newest sample of the running pass, and false before there
// is one. Its maps are not to be changed.
func (s *Sampler) Latest() (record.Sample, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pass == nil {
		return record.Sample{}, false
	}
	l := s.pass.latest.Load()
	if l == nil {
		return record.Sample{}, false
	}
	return *l, true
}

// Start reads once a second all that is cheap enough for it, until Stop, or Sample, or the end of
// ctx. A pass that was not stopped is stopped.
func (s *Sampler) Start(ctx context.Context) {
	s.Stop()
	ctx, cancel := context.WithCancel(ctx)
	p := &pass{cancel: cancel, done: make(chan struct{})}
	s.mu.Lock()
	s.pass = p
	s.mu.Unlock()
	every := s.Interval
	if every == 0 {
		every = interval
	}
	tick := time.NewTicker(max(every, minInterval))
	go func() {
		defer close(p.done)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			sample := s.after(ctx)
			if ctx.Err() != nil {
				return // cut short
			}
			p.latest.Store(&sample)
			p.samples = append(p.samples, sample)
		}
	}()
}

// Stop ends the pass and returns its samples; none without Start.
func (s *Sampler) Stop() []record.Sample {
	s.mu.Lock()
	p := s.pass
	s.pass = nil
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	p.cancel()
	<-p.done
	return p.samples
}

func (s *Sampler) before() record.Sample {
	var slow, sample record.Sample
	ctx := context.Background()
	read(ctx, edgeLimit, s.edges, &slow)
	read(ctx, limit, s.slow, &slow)
	sample.MonoNS = s.now()
	read(ctx, limit, s.exact, &sample)
	merge(&sample, slow)
	return sample
}

func (s *Sampler) after(ctx context.Context) record.Sample {
	sample := record.Sample{MonoNS: s.now()}
	read(ctx, limit, s.exact, &sample)
	read(ctx, limit, s.slow, &sample)
	return sample
}

// A reader keeps one source from being read twice at a time, and from being
// waited for twice.
type reader struct {
	src   Source
	now   func() int64
	limit time.Duration
	busy  chan struct{} // holds one token while a reading is under way

	mu       sync.Mutex
	late     bool // the reading under way was given up
	answered bool // at least once
}

// read reads all at once, so that the slowest alone says how long it takes,
// and adds what came in time to sample.
func read(ctx context.Context, limit time.Duration, readers []*reader, sample *record.Sample) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	results := make([]chan record.Sample, len(readers))
	for i, r := range readers {
		results[i] = r.start(ctx)
	}
	for i, r := range readers {
		select {
		case part := <-results[i]:
			merge(sample, part)
		case <-ctx.Done():
			// Select chooses by chance where both are ready.
			select {
			case part := <-results[i]:
				merge(sample, part)
			default:
				if ctx.Err() == context.DeadlineExceeded {
					r.giveUp()
				}
			}
		}
	}
}

// start begins a reading in a goroutine that may outlive the sample. A source
// that was given up and still has not answered gives an empty part at once;
// one that is busy with an earlier, timely reading is waited for.
func (r *reader) start(ctx context.Context) chan record.Sample {
	out := make(chan record.Sample, 1)
	if r.isLate() {
		out <- record.Sample{}
		return out
	}
	go func() {
		select {
		case r.busy <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if ctx.Err() != nil {
			<-r.busy
			return
		}
		var part record.Sample
		begin := r.now()
		err := r.src.Read(&part)
		took := r.now() - begin
		if err != nil {
			// The reason is kept by the source, for Describe; the sample says by
			// what it lacks that there was one.
			part = record.Sample{}
		}
		// A failure has its cost, too; what is known to be missing was not read.
		if d := r.src.Describe(); err != nil || d.Missing == "" {
			part.CostNS = map[string]int64{strings.TrimSpace(d.Kind + " " + d.Name): took}
		}
		r.mu.Lock()
		r.late, r.answered = false, true
		<-r.busy // together with late, or giveUp could come between
		r.mu.Unlock()
		out <- part
	}()
	return out
}

// describe describes the source; one that never answered cannot say so itself.
func (r *reader) describe() record.Source {
	d := r.src.Describe()
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.Missing == "" && r.late && !r.answered {
		d.Missing = fmt.Sprintf("it did not answer within %v", r.limit)
	}
	return d
}

func (r *reader) isLate() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late
}

// giveUp marks the reading under way as late, if there is one.
func (r *reader) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = len(r.busy) > 0
}

// merge adds what part has to sample.
func merge(sample *record.Sample, part record.Sample) {
	sample.Temperatures = union(sample.Temperatures, part.Temperatures)
	sample.Devices = union(sample.Devices, part.Devices)
	sample.CPUs = union(sample.CPUs, part.CPUs)
	sample.Health = union(sample.Health, part.Health)
	sample.Links = union(sample.Links, part.Links)
	sample.AER = union(sample.AER, part.AER)
	sample.CPUHz = union(sample.CPUHz, part.CPUHz)
	sample.CostNS = union(sample.CostNS, part.CostNS)
	if part.Cgroup != nil {
		sample.Cgroup = part.Cgroup
	}
	if part.CPUThermal != nil {
		sample.CPUThermal = part.CPUThermal
	}
	if part.Pressure != nil {
		sample.Pressure = part.Pressure
	}
}

// union adds b to a; nothing read stays nil.
func union[K comparable, V any](a, b map[K]V) map[K]V {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}
