package uring

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
)

// An Engine is the io_uring engine. The zero value is ready to use; it holds
// nothing between passes.
type Engine struct{}

// Name is that of fio's ioengine.
func (*Engine) Name() string { return "io_uring" }

// Probe makes a ring as a pass would and says what the kernel gave. An error is
// a *sys.UringError where the kernel or a policy forbids io_uring.
func (*Engine) Probe() (record.Engine, error) {
	type answer struct {
		e   record.Engine
		err error
	}
	c := make(chan answer, 1)
	go func() {
		// A ring and its registration belong to a thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		e, err := probe()
		c <- answer{e, err}
	}()
	a := <-c
	return a.e, a.err
}

func probe() (record.Engine, error) {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return record.Engine{}, fmt.Errorf("open a directory to probe io_uring with: %w", err)
	}
	defer unix.Close(fd)
	r, err := sys.OpenRing(1)
	if err != nil {
		return record.Engine{}, err
	}
	if err := r.Nop(); err != nil {
		_ = r.Close()
		return record.Engine{}, err
	}
	e := describe(r, r.RegisterFile(fd) == nil)
	return e, r.Close()
}

func describe(r *sys.Ring, files bool) record.Engine {
	return record.Engine{
		Name:            (*Engine)(nil).Name(),
		Setup:           sys.SetupFlagNames(r.Flags),
		RegisteredFiles: files,
		RegisteredRing:  r.Registered(),
		// An unprivileged container could not: 4 jobs × 32 × 128K are 16 MiB,
		// and RLIMIT_MEMLOCK is 8. So nobody does.
		RegisteredBuffers: false,
	}
}

// Bits of pass.stop.
const (
	stopAsked = 1 << iota
	stopError
)

// A clock reads CLOCK_MONOTONIC by way of Go's monotonic clock, which is the
// same one: that is a call into the vDSO, where unix.ClockGettime is a system
// call.
type clock struct {
	epoch  time.Time
	offset int64
}

func newClock() clock {
	c := clock{epoch: time.Now()}
	best := int64(1 << 62)
	for range 16 { // the tightest bracket is within some 100 ns
		a := c.now()
		m := sys.MonoNow()
		b := c.now()
		if b-a < best {
			best = b - a
			c.offset += m - (a+b)/2
		}
	}
	return c
}

func (c *clock) now() int64 { return int64(time.Since(c.epoch)) + c.offset }

// A pass is what the jobs of one Run share.
type pass struct {
	phase      job.Phase
	fd         int
	size       int64
	memAlign   int64
	clock      clock
	startNS    int64
	deadlineNS int64
	start      chan struct{} // closed when startNS is set
	aborted    bool          // set before start is closed: do nothing
	ended      chan struct{} // one message a job
	threads    []*thread

	_      [64]byte // what changes apart from what does not
	stop   atomic.Uint32
	_      [60]byte
	budget atomic.Int64 // blocks of MaxBytes that nobody took yet
}

func newPass(p job.Phase, c *target.Claim) (*pass, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	fl, err := unix.FcntlInt(uintptr(c.Fd()), unix.F_GETFL, 0)
	if err != nil {
		return nil, fmt.Errorf("ask for the flags of the test file: %w", err)
	}
	_, length := p.Region(p.NumJobs-1, c.Size())
	switch {
	case p.Mode.Writes() && !c.Writable():
		return nil, fmt.Errorf("phase %s: rw=%s on a file that was claimed for reading", p.Name, p.Mode)
	case p.Direct != (fl&unix.O_DIRECT != 0):
		return nil, fmt.Errorf("phase %s: direct=%t, but the test file is not open like that", p.Name, p.Direct)
	case p.Direct && p.BlockSize%c.OffsetAlign() != 0:
		return nil, fmt.Errorf("phase %s: bs=%d is not a multiple of the %d bytes that direct I/O needs here", p.Name, p.BlockSize, c.OffsetAlign())
	case length == 0:
		return nil, fmt.Errorf("phase %s: a file of %d bytes has no block of %d for each of %d jobs", p.Name, c.Size(), p.BlockSize, p.NumJobs)
	case p.MaxBytes > 0 && p.MaxBytes < p.BlockSize:
		return nil, fmt.Errorf("phase %s: max_bytes=%d is less than one block", p.Name, p.MaxBytes)
	case runtime.GOMAXPROCS(0) <= p.NumJobs:
		return nil, fmt.Errorf("phase %s: GOMAXPROCS=%d leaves no processor besides those of %d jobs", p.Name, runtime.GOMAXPROCS(0), p.NumJobs)
	}
	ps := &pass{
		phase: p, fd: c.Fd(), size: c.Size(), memAlign: c.MemAlign(),
		clock: newClock(), start: make(chan struct{}), ended: make(chan struct{}, p.NumJobs),
	}
	ps.budget.Store(p.MaxBytes / p.BlockSize)
	for i := range p.NumJobs {
		ps.threads = append(ps.threads, newThread(ps, i))
	}
	return ps, nil
}

// take claims up to want blocks of the byte limit. The share shrinks with what
// is left, so that the jobs end nearly together, and the limit is exact.
func (p *pass) take(want int64) int64 {
	const most = 256
	for {
		left := p.budget.Load()
		n := min(want, left, most, max(1, left/int64(4*len(p.threads))))
		if n <= 0 {
			return 0
		}
		if p.budget.CompareAndSwap(left, left-n) {
			return n
		}
	}
}

// setup starts the threads and waits until all stand.
func (p *pass) setup() (err error) {
	ready := make(chan error, len(p.threads))
	for _, t := range p.threads {
		go t.main(ready)
	}
	for range p.threads {
		if e := <-ready; e != nil && err == nil {
			err = e
		}
	}
	if err != nil {
		p.aborted = true
		close(p.start)
		return fmt.Errorf("phase %s: set up a job: %w", p.phase.Name, err)
	}
	return nil
}

// Run runs one pass; see worker.Engine for the contract. GOMAXPROCS must be
// above NumJobs, better by 4. Garbage collection is off while it runs: its
// stops of the world would be latencies.
//
// EventReady carries the engine as it was set up. The outcome of a pass with
// I/Os that never came back ends when the engine gave up, since that wait was
// measured too; their buffers and rings stay allocated.
func (*Engine) Run(ctx context.Context, ph job.Phase, c *target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	p, err := newPass(ph, c)
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if err := p.setup(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { p.stop.Or(stopAsked) })()

	first := p.threads[0]
	engine := describe(first.ring, first.sqeFlags&sys.SQEFixedFile != 0)
	sink(record.Event{Type: record.EventReady, MonoNS: p.clock.now(), Worker: &record.Worker{Engine: engine}})

	user, system, err := sys.CPUTime()
	if err != nil {
		p.aborted = true
		close(p.start)
		return nil, err
	}
	p.startNS = p.clock.now()
	p.deadlineNS = 1<<63 - 1
	if ph.RuntimeNS > 0 {
		p.deadlineNS = p.startNS + ph.RuntimeNS
	}
	close(p.start)
	sink(record.Event{Type: record.EventStarted, MonoNS: p.startNS})

	r := newReporter(p, sink)
	r.run()

	user1, system1, err := sys.CPUTime()
	if err != nil {
		return nil, err
	}
	o := r.outcome()
	o.Usage = record.Usage{UserNS: user1 - user, SystemNS: system1 - system}
	sink(record.Event{Type: record.EventEnded, MonoNS: o.EndNS})
	return o, nil
}
