package pass

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

type phase = job.Phase

// Bits of Pass.stop.
const (
	stopAsked = 1 << iota
	stopError
)

// A Pass is what the jobs of one Run share.
type Pass struct {
	phase      phase
	engine     IOEngine
	depth      int
	fds        []int
	sizes      []int64
	memAlign   int64
	clock      Clock
	goNS       int64
	startNS    int64 // goNS and the ramp
	deadlineNS int64
	endNS      int64         // set by the reporter
	start      chan struct{} // closed when startNS is set
	aborted    bool          // set before start is closed: do nothing
	ended      chan struct{} // one message a job
	jobs       []*Job

	_      [64]byte // what changes apart from what does not
	stop   atomic.Uint32
	_      [60]byte
	budget atomic.Int64 // blocks of MaxBytes that nobody took yet
}

func newPass(e IOEngine, p phase, files []*target.Claim) (*Pass, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r, w := p.BlockSizes()
	most := max(r, w)
	switch {
	case len(files) == 0:
		return nil, fmt.Errorf("phase %s: no file", p.Name)
	case p.MaxBytes > 0 && p.MaxBytes < most:
		return nil, fmt.Errorf("phase %s: max_bytes=%d is less than one block", p.Name, p.MaxBytes)
	case runtime.GOMAXPROCS(0) <= p.NumJobs:
		return nil, fmt.Errorf("phase %s: GOMAXPROCS=%d leaves no processor besides those of %d jobs", p.Name, runtime.GOMAXPROCS(0), p.NumJobs)
	}
	ps := &Pass{
		phase: p, engine: e, depth: p.IODepth,
		clock: NewClock(), start: make(chan struct{}), ended: make(chan struct{}, p.NumJobs),
	}
	if e.Serial {
		ps.depth = 1
	}
	for _, c := range files {
		if err := fits(&p, c, len(files)); err != nil {
			return nil, fmt.Errorf("phase %s: %w", p.Name, err)
		}
		ps.fds, ps.sizes = append(ps.fds, c.Fd()), append(ps.sizes, c.Size())
		ps.memAlign = max(ps.memAlign, c.MemAlign())
	}
	if err := ps.advise(); err != nil {
		return nil, fmt.Errorf("phase %s: %w", p.Name, err)
	}
	ps.budget.Store(p.MaxBytes / most)
	for i := range p.NumJobs {
		j := newJob(ps, i)
		j.driver = e.New(j)
		ps.jobs = append(ps.jobs, j)
	}
	return ps, nil
}

// fits reports why the phase cannot run on a file.
func fits(p *phase, c *target.Claim, files int) error {
	fl, err := unix.FcntlInt(uintptr(c.Fd()), unix.F_GETFL, 0)
	if err != nil {
		return fmt.Errorf("ask for the flags of the test file: %w", err)
	}
	r, w := p.BlockSizes()
	switch {
	case p.Mode.Writes() && !c.Writable():
		return fmt.Errorf("rw=%s on a file that was claimed for reading", p.Mode)
	case p.Direct != (fl&unix.O_DIRECT != 0):
		return fmt.Errorf("direct=%t, but the test file is not open like that", p.Direct)
	case p.Mode.Writes() && opened(fl) != orNone(p.Sync):
		return fmt.Errorf("sync=%s, but the test file is open with sync=%s", orNone(p.Sync), opened(fl))
	}
	if align := c.OffsetAlign(); p.Direct && (r%align != 0 || w%align != 0) {
		return fmt.Errorf("bs=%d is not a multiple of the %d bytes that direct I/O needs here", min(r, w), align)
	}
	for i := range p.NumJobs {
		start, length := p.RegionOf(i, c.Size(), files)
		switch {
		case length < max(r, w):
			return fmt.Errorf("a file of %d bytes has no block of %d for each of %d jobs", c.Size(), max(r, w), p.NumJobs)
		case start+length > c.Size():
			return fmt.Errorf("job %d works on %d bytes from offset %d, but the file has %d; make size, offset or offset_increment smaller", i, length, start, c.Size())
		case p.Direct && start%c.OffsetAlign() != 0:
			return fmt.Errorf("job %d starts at offset %d, which is not a multiple of the %d bytes that direct I/O needs here", i, start, c.OffsetAlign())
		}
	}
	return nil
}

// advise does what fio does when a job opens its files (td_io_open_file, with
// invalidate and fadvise_hint as they are by default): it drops each job's region
// from the page cache and says how the file will be read, on which read-ahead
// depends. Dirty pages stay (mm/fadvise.c), as in fio.
func (p *Pass) advise() error {
	hint := unix.FADV_SEQUENTIAL
	if p.phase.Mode.Random() {
		hint = unix.FADV_RANDOM
	}
	for k, fd := range p.fds {
		for i := range p.phase.NumJobs {
			start, length := p.phase.RegionOf(i, p.sizes[k], len(p.fds))
			if p.phase.KeepCache {
				break
			}
			if err := unix.Fadvise(fd, start, length, unix.FADV_DONTNEED); err != nil {
				return fmt.Errorf("drop the test file from the page cache: %w; with invalidate=0 it stays there", err)
			}
		}
		if err := unix.Fadvise(fd, 0, 0, hint); err != nil {
			return fmt.Errorf("say how the test file will be read: %w", err)
		}
	}
	return nil
}

// opened is how flags of open(2) say that a file is written.
func opened(flags int) job.Sync {
	switch {
	case flags&unix.O_SYNC == unix.O_SYNC: // O_DSYNC and one bit more
		return job.SyncFile
	case flags&unix.O_DSYNC != 0:
		return job.SyncDSync
	}
	return job.SyncNone
}

func orNone(s job.Sync) job.Sync {
	if s == "" {
		return job.SyncNone
	}
	return s
}

// take claims up to want blocks of the byte limit. The share shrinks with what
// is left, so that the jobs end nearly together, and the limit is exact.
func (p *Pass) take(want int64) int64 {
	const most = 256
	for {
		left := p.budget.Load()
		n := min(want, left, most, max(1, left/int64(4*len(p.jobs))))
		if n <= 0 {
			return 0
		}
		if p.budget.CompareAndSwap(left, left-n) {
			return n
		}
	}
}

// setup starts the threads and waits until all stand.
func (p *Pass) setup() (err error) {
	ready := make(chan error, len(p.jobs))
	for _, j := range p.jobs {
		go j.main(ready)
	}
	for range p.jobs {
		if e := <-ready; e != nil && err == nil {
			err = e
		}
	}
	if err != nil {
		p.abort()
		return fmt.Errorf("phase %s: set up a job: %w", p.phase.Name, err)
	}
	return nil
}

func (p *Pass) abort() {
	p.aborted = true
	close(p.start)
}

// letGo starts all jobs.
func (p *Pass) letGo() {
	p.goNS = p.clock.Now()
	p.startNS = p.goNS + p.phase.RampTimeNS
	p.deadlineNS = 1<<63 - 1
	if p.phase.RuntimeNS > 0 {
		p.deadlineNS = p.startNS + p.phase.RuntimeNS
	}
	close(p.start)
}

// Run runs one pass with the engine; see worker.Engine for the contract.
// GOMAXPROCS must be above NumJobs, better by 4. Garbage collection is off
// while it runs: its stops of the world would be latencies.
//
// EventReady carries the engine as it was set up. The outcome of a pass with
// I/Os that never came back ends when the engine gave up, since that wait was
// measured too; their buffers stay allocated. A pass that was stopped within
// its ramp counts nothing, and its outcome is over the ramp.
func Run(ctx context.Context, e IOEngine, ph job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	p, err := newPass(e, ph, files)
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if err := p.setup(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { p.stop.Or(stopAsked) })()

	sink(record.Event{Type: record.EventReady, MonoNS: p.clock.Now(), Worker: &record.Worker{Engine: p.jobs[0].driver.Describe()}})

	u := newUsage()
	if u.err != nil {
		p.abort()
		return nil, u.err
	}
	p.letGo()
	r := newReporter(p, sink)
	if ph.RampTimeNS > 0 {
		r.ramp(time.Duration(p.startNS - p.clock.Now()))
		if r.left > 0 {
			u = newUsage()
		} else if !r.measured() {
			if p.stop.Load() == 0 {
				return nil, fmt.Errorf("phase %s: all I/O was done before the ramp_time was over, so nothing was measured; shorten ramp_time, or add time_based=1", ph.Name)
			}
			p.startNS = p.goNS
		}
	}
	sink(record.Event{Type: record.EventStarted, MonoNS: p.startNS})
	r.run()

	o := r.outcome()
	if o.Usage = u.until(newUsage()); u.err != nil {
		return nil, u.err
	}
	sink(record.Event{Type: record.EventEnded, MonoNS: o.EndNS})
	return o, nil
}

// A usage is CPU time at some moment, of the process or of a thread.
type usage struct {
	user, system int64
	err          error
}

func newUsage() (u usage) {
	u.user, u.system, u.err = sys.CPUTime()
	return u
}

func newThreadUsage() (u usage) {
	u.user, u.system, u.err = sys.ThreadCPUTime()
	return u
}

func (u *usage) until(now usage) record.Usage {
	if u.err == nil {
		u.err = now.err
	}
	return record.Usage{UserNS: now.user - u.user, SystemNS: now.system - u.system}
}
