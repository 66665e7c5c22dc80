package uring

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nativ/internal/pass"
	"nativ/internal/record"
	"nativ/internal/sys"
)

// calibrationBatch is the iodepth of the calibration's ring. It is that of the
// test's deepest phases; beyond it the cost of a call hardly shows.
const calibrationBatch = 32

// Calibrate measures for about d what a bare ring can do on the CPU on which
// it happens to run: no-ops in batches and one at a time. d is at least 10 ms.
// The error is a *sys.UringError where the kernel or a policy forbids io_uring.
//
// Nothing may be measured meanwhile: it takes one CPU whole.
func Calibrate(ctx context.Context, d time.Duration) (record.Calibration, error) {
	type answer struct {
		c   record.Calibration
		err error
	}
	ch := make(chan answer, 1)
	go func() {
		runtime.LockOSThread() // the ring is this thread's
		c, unpinned, err := calibrate(ctx, max(d, 10*time.Millisecond))
		if unpinned {
			runtime.UnlockOSThread() // else the thread ends here, mask and all
		}
		ch <- answer{c, err}
	}()
	a := <-ch
	return a.c, a.err
}

// calibrate runs on a locked thread; unpinned says whether that thread may
// again run on all CPUs that it could before.
func calibrate(ctx context.Context, d time.Duration) (c record.Calibration, unpinned bool, err error) {
	cpu, unpin, err := pin()
	if err != nil {
		return c, true, err
	}
	defer func() {
		e := unpin()
		unpinned, err = e == nil, errors.Join(err, e)
	}()
	engine, err := probe()
	if err != nil {
		return c, false, err
	}
	ring, err := sys.OpenRing(calibrationBatch)
	if err != nil {
		return c, false, err
	}
	c = record.Calibration{At: time.Now(), CPU: cpu, Batch: calibrationBatch, Engine: engine}
	wait, err := sys.MapWait()
	if err != nil {
		return c, false, errors.Join(err, ring.Close())
	}
	defer wait.Close()
	wait.Set(int64(100 * time.Millisecond))

	clk := pass.NewClock()
	start := clk.Now()
	n := nops{ring: ring, arg: wait.Arg, clock: clk, head: *ring.CQHead, tail: *ring.SQTail}
	c.NopsPerSec, err = n.best(ctx, calibrationBatch, d*3/4)
	if err == nil {
		c.SinglesPerSec, err = n.best(ctx, 1, d/4)
	}
	c.ElapsedNS = clk.Now() - start
	c.ClockNS = clockCost(&clk)
	return c, false, errors.Join(err, ring.Close())
}

// pin keeps the thread on the CPU on which it runs, until unpin is called. The
// scheduler's own choice is an idle CPU and, where there are two kinds, a fast
// one.
func pin() (cpu int, unpin func() error, err error) {
	var old, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		return 0, nil, fmt.Errorf("read the CPU affinity: %w", err)
	}
	var here uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); errno != 0 {
		return 0, nil, fmt.Errorf("ask for the CPU: %w", errno)
	}
	cpu = int(here)
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return 0, nil, fmt.Errorf("stay on CPU %d: %w", cpu, err)
	}
	return cpu, func() error {
		if err := unix.SchedSetaffinity(0, &old); err != nil {
			return fmt.Errorf("leave CPU %d: %w", cpu, err)
		}
		return nil
	}, nil
}

// nops drives a ring with no-ops. They complete while they are submitted, so
// that no call ever waits.
type nops struct {
	ring       *sys.Ring
	arg        *sys.GetEventsArg
	clock      pass.Clock
	head, tail uint32
}

// best returns the rate of the best slice of d in no-ops a second: what else
// runs on the CPU can only lower it. A slice is shorter than a time slice of
// the scheduler, so that some are undisturbed even on a busy machine.
func (n *nops) best(ctx context.Context, batch int, d time.Duration) (rate float64, err error) {
	const slice = 2 * time.Millisecond
	for end := n.clock.Now() + int64(d); ; {
		start := n.clock.Now()
		now, done := start, 0
		for now < start+int64(slice) {
			// Read the clock every so often only: this is the bare ring.
			for range 256 / batch {
				if err := n.turn(uint32(batch)); err != nil {
					return 0, err
				}
				done += batch
			}
			now = n.clock.Now()
		}
		rate = max(rate, float64(done)/float64(now-start)*1e9)
		if now >= end {
			return rate, nil
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
}

// turn submits a batch and reaps it, as the engine's loop would.
func (n *nops) turn(batch uint32) error {
	r := n.ring
	for range batch {
		s := &r.SQEs[n.tail&r.SQMask]
		// All that a read fills in, too.
		s.Opcode, s.Flags, s.FD, s.OpFlags = sys.OpNop, 0, -1, 0
		s.Off, s.Addr, s.Len, s.UserData = 0, 0, 0, uint64(n.tail)
		n.tail++
	}
	*r.SQTail = n.tail
	for unsent, left := batch, batch; left > 0; {
		sent, errno := r.Enter(unsent, left, n.arg)
		checkStack()
		if errno != 0 && errno != syscall.EINTR && errno != syscall.ETIME && errno != syscall.EAGAIN {
			return fmt.Errorf("io_uring_enter: %s", sys.ErrnoName(errno))
		}
		unsent -= uint32(sent)
		for tail := atomic.LoadUint32(r.CQTail); n.head != tail; n.head++ {
			if res := r.CQEs[n.head&r.CQMask].Res; res != 0 {
				return fmt.Errorf("a no-op of io_uring failed: %s", sys.ErrnoName(syscall.Errno(-res)))
			}
			left--
		}
		atomic.StoreUint32(r.CQHead, n.head)
	}
	return nil
}

// clockCost is what one reading takes, in nanoseconds.
func clockCost(c *pass.Clock) float64 {
	const n = 10_000
	best := int64(1 << 62)
	for range 10 {
		a, b := c.Now(), int64(0)
		for range n {
			b = c.Now()
		}
		best = min(best, b-a)
	}
	return float64(best) / n
}
