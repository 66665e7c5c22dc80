package libaio

import (
	"context"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/pass"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
)

// An Engine is the libaio engine. It holds nothing between passes.
type Engine struct{}

// Name is that of fio's ioengine.
func (*Engine) Name() string { return string(job.LibAIO) }

// Probe makes a context as a pass would.
func (e *Engine) Probe() (record.Engine, error) {
	a, err := sys.OpenAIO(1)
	if err != nil {
		return record.Engine{}, err
	}
	return record.Engine{Name: e.Name()}, a.Close()
}

// IOEngine is what a pass needs of the engine.
func (e *Engine) IOEngine() pass.IOEngine {
	return pass.IOEngine{Name: e.Name(), Submits: true, New: func(j *pass.Job) pass.Driver { return &driver{Job: j} }}
}

// Run runs one pass; see worker.Engine for the contract and pass.Run.
func (e *Engine) Run(ctx context.Context, ph job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	return pass.Run(ctx, e.IOEngine(), ph, files, sink)
}

// A driver does the I/O of one job.
type driver struct {
	*pass.Job
	aio *sys.AIO
}

// Setup makes the context and the buffers.
func (d *driver) Setup() (err error) {
	if d.aio, err = sys.OpenAIO(d.Depth()); err != nil {
		return err
	}
	return d.MapBlocks()
}

// Describe says what Setup got.
func (d *driver) Describe() record.Engine { return record.Engine{Name: (*Engine)(nil).Name()} }

// Close frees what Setup made but for the buffers.
func (d *driver) Close() {
	if d.aio != nil {
		_ = d.aio.Close()
		d.aio = nil
	}
}

// Loop keeps the queue full. Nothing here allocates.
func (d *driver) Loop(now int64) {
	for {
		before := d.Fill(now)
		if d.Writes && before != d.NFree {
			now = d.Clock.Now() // lat does not hold the making of the data
		}
		d.Submitted(before, now)
		if before > d.NFree {
			d.submit(before, now)
			now = d.Clock.Now()
			d.Sent(before, now)
		}
		if d.NextSync(now) {
			// As in fio: the kernel's asynchronous fsync is none on most
			// filesystems. Nothing else is in flight now.
			s := &d.Slots[d.SyncSlot()]
			errno := sys.Sync(d.FDs[s.File], s.DataSync())
			now = d.turn()
			d.Complete(d.SyncSlot(), -int64(errno), now)
			d.Reaped(now)
			continue
		}
		if d.Over(now) {
			return
		}
		atLeast := 1
		if d.SlowData && d.More(now) {
			atLeast = 0 // making a block takes long: submit the next at once
		}
		if now = d.reap(atLeast, now); now == 0 {
			return
		}
	}
}

// submit submits the I/Os of slots Free[NFree:before]. Where the kernel refuses
// one, that has failed and those after it are taken back.
func (d *driver) submit(before int, now int64) {
	n := before - d.NFree
	for i := range n {
		slot := d.Free[before-1-i]
		s, cb := &d.Slots[slot], &d.aio.IOCBs[slot]
		*cb = sys.IOCB{Data: uint64(slot), Opcode: sys.AIORead, FD: uint32(d.FDs[s.File]), Off: s.Offset,
			Buf: d.Blocks.Base() + uint64(slot)*d.Blocks.Stride(), Len: uint64(s.Len)}
		if s.Dir == pass.Write {
			cb.Opcode = sys.AIOWrite
		}
		d.aio.Push(i, slot)
	}
	for from := 0; from < n; {
		took, errno := d.aio.Submit(from, n)
		switch errno {
		case 0:
			from += took
		case unix.EINTR, unix.EAGAIN: // EAGAIN: no memory for a request now
		default:
			d.NFree = before - 1 - from
			d.Complete(d.Free[d.NFree], -int64(errno), now)
			return
		}
	}
}

// reap takes completions, and returns the time of them or 0 to end the job.
func (d *driver) reap(atLeast int, now int64) int64 {
	events, errno := d.aio.Events(atLeast, d.Patience(now))
	now = d.turn()
	if errno != 0 && errno != unix.EINTR {
		d.Failed("io_getevents", sys.ErrnoName(errno), 0, now)
		return 0
	}
	for i := range events {
		e := &events[i]
		slot := uint32(e.Data)
		if e.Res != int64(d.Slots[slot].Len) {
			d.Complete(slot, e.Res, now)
			continue
		}
		d.Split(slot, now)
		d.Done(slot, now)
	}
	if len(events) > 0 {
		d.Reaped(now)
	}
	return now
}

// turn reads the clock and does what has a time.
func (d *driver) turn() int64 {
	now := d.Clock.Now()
	if d.Due(now) {
		d.Turn(now)
	}
	return now
}
