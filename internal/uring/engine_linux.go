package uring

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/pass"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
)

// An Engine is the io_uring engine. The zero value is ready to use; it holds
// nothing between passes.
type Engine struct{}

// Name is that of fio's ioengine.
func (*Engine) Name() string { return string(job.IOUring) }

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
	e := describe(r, r.RegisterFiles(fd) == nil)
	return e, r.Close()
}

// describe says how a ring was set up. Buffers are registered only where a
// phase asks for it: an unprivileged container could not, since 4 jobs × 32 ×
// 128K are 16 MiB and RLIMIT_MEMLOCK is 8.
func describe(r *sys.Ring, files bool) record.Engine {
	return record.Engine{
		Name:            (*Engine)(nil).Name(),
		Setup:           sys.SetupFlagNames(r.Flags),
		RegisteredFiles: files,
		RegisteredRing:  r.Registered(),
	}
}

// IOEngine is what a pass needs of the engine.
func (e *Engine) IOEngine() pass.IOEngine { return pass.IOEngine{Name: e.Name(), New: newDriver} }

// Run runs one pass; see worker.Engine for the contract and pass.Run.
func (e *Engine) Run(ctx context.Context, ph job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	return pass.Run(ctx, e.IOEngine(), ph, files, sink)
}

// A driver does the I/O of one job with one ring.
type driver struct {
	*pass.Job

	// head and tail are the driver's own copies of the indices that it alone
	// writes.
	ring       *sys.Ring
	head, tail uint32
	unsent     uint32    // SQEs that the kernel has not taken yet
	resent     uint32    // see sendAgain
	wait       *sys.Wait // of every wait

	fds      []int32  // the files, or their indices where they are registered
	opcodes  [2]uint8 // by direction
	sqeFlags uint8
	fixed    bool // the buffers are registered
	polls    bool // the ring polls for completions
}

func newDriver(j *pass.Job) pass.Driver {
	return &driver{Job: j, opcodes: [2]uint8{pass.Read: sys.OpRead, pass.Write: sys.OpWrite}}
}

// Setup makes the ring and the buffers.
func (d *driver) Setup() (err error) {
	ph := d.Phase()
	var more uint32
	if ph.HiPri {
		d.polls, more = true, sys.SetupIOPoll
	}
	if d.ring, err = sys.OpenRingWith(d.Depth(), more); err != nil {
		return err
	}
	d.head, d.tail = *d.ring.CQHead, *d.ring.SQTail
	for i, fd := range d.FDs {
		d.fds = append(d.fds, int32(i))
		d.fds[i] = int32(fd)
	}
	switch err := d.ring.RegisterFiles(d.FDs...); {
	case err == nil:
		d.sqeFlags = sys.SQEFixedFile
		for i := range d.fds {
			d.fds[i] = int32(i)
		}
	case ph.RegisterFiles:
		return fmt.Errorf("register files (registerfiles=1): %w", err)
	}
	if d.wait, err = sys.MapWait(); err != nil {
		return err
	}
	d.wait.Set(d.Patience(0))
	if err := d.MapBlocks(); err != nil {
		return err
	}
	if ph.FixedBufs {
		if err := d.ring.RegisterBlocks(d.Blocks); err != nil {
			return fmt.Errorf("register %d buffers of %d bytes (fixedbufs=1): %w", d.Depth(), d.Blocks.Stride(), err)
		}
		d.fixed, d.opcodes = true, [2]uint8{pass.Read: sys.OpReadFixed, pass.Write: sys.OpWriteFixed}
	}
	if ph.HiPri {
		return d.tryPolling()
	}
	return nil
}

// tryPolling reads a block: whether a file can be polled shows only then.
func (d *driver) tryPolling() error {
	ph := d.Phase()
	for i := range d.fds {
		n, _ := ph.BlockSizes()
		d.ring.SQEs[d.tail&d.ring.SQMask] = sys.SQE{
			Opcode: sys.OpRead, Flags: d.sqeFlags, FD: d.fds[i], Addr: d.Blocks.Base(), Len: uint32(n),
		}
		d.tail++
		*d.ring.SQTail = d.tail
		for unsent := uint32(1); d.head == d.completed(); {
			n, errno := d.ring.Enter(unsent, 1, d.wait.Arg)
			checkStack()
			if errno != 0 && !again(errno) {
				return fmt.Errorf("poll for a completion (hipri=1): %w", errno)
			}
			unsent -= uint32(n)
		}
		res := d.ring.CQEs[d.head&d.ring.CQMask].Res
		d.head++
		d.reaped()
		if errno := unix.Errno(-res); errors.Is(errno, unix.EOPNOTSUPP) {
			return notPolled(errno)
		} else if res < 0 {
			return fmt.Errorf("poll for a completion (hipri=1): %w", errno)
		}
		// Older kernels turn polling off for a device without poll queues and
		// say nothing (submit_bio_noacct in block/blk-core.c): the pass would be
		// measured with interrupts and called polled.
		never, err := sys.NeverPolled(d.FDs[i], "/sys")
		if err != nil {
			return fmt.Errorf("poll for a completion (hipri=1): %w", err)
		}
		if never {
			return notPolled(unix.EOPNOTSUPP)
		}
	}
	return nil
}

func notPolled(errno unix.Errno) error {
	return fmt.Errorf("poll for a completion (hipri=1): %w: the filesystem or drive of this file cannot be polled; leave out hipri, or load the driver with poll queues (nvme.poll_queues=N)", errno)
}

// Describe says what Setup got.
func (d *driver) Describe() record.Engine {
	e := describe(d.ring, d.sqeFlags&sys.SQEFixedFile != 0)
	e.RegisteredBuffers = d.fixed
	return e
}

// Close frees what Setup made but for the buffers.
func (d *driver) Close() {
	if d.ring != nil {
		_ = d.ring.Close()
	}
	if d.wait != nil {
		_ = d.wait.Close()
	}
	d.ring, d.wait = nil, nil
}
