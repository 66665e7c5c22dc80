package syncio

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/pass"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
)

// An Engine is psync or, with Seek, sync. It holds nothing between passes.
type Engine struct {
	// Seek moves the offset of the file, where that is elsewhere, and then
	// reads or writes there.
	Seek bool
}

// Name is that of fio's ioengine.
func (e *Engine) Name() string {
	if e.Seek {
		return string(job.SyncCall)
	}
	return string(job.PSync)
}

// Probe needs nothing: these system calls are always there.
func (e *Engine) Probe() (record.Engine, error) { return record.Engine{Name: e.Name()}, nil }

// IOEngine is what a pass needs of the engine.
func (e *Engine) IOEngine() pass.IOEngine {
	return pass.IOEngine{Name: e.Name(), Serial: true, New: func(j *pass.Job) pass.Driver { return &driver{Job: j, e: e} }}
}

// Run runs one pass; see worker.Engine for the contract and pass.Run. iodepth
// is without effect, as in fio.
func (e *Engine) Run(ctx context.Context, ph job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	return pass.Run(ctx, e.IOEngine(), ph, files, sink)
}

// A driver does the I/O of one job.
type driver struct {
	*pass.Job
	e *Engine
	// own are descriptors of the job's own, for their offsets; at is where
	// these stand.
	own []int
	at  []int64
}

// Setup makes the buffer.
func (d *driver) Setup() error {
	if d.e.Seek {
		for _, fd := range d.FDs {
			if err := d.reopen(fd); err != nil {
				return err
			}
		}
	}
	return d.MapBlocks()
}

// reopen opens the very file that fd is once more, because duplicates of a
// descriptor share their offset.
func (d *driver) reopen(fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return fmt.Errorf("ask for the flags of the test file: %w", err)
	}
	own, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC)|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the test file once more: %w", err)
	}
	d.own, d.at = append(d.own, own), append(d.at, 0)
	return nil
}

// Describe says what Setup got.
func (d *driver) Describe() record.Engine { return record.Engine{Name: d.e.Name()} }

// Close frees what Setup made but for the buffer.
func (d *driver) Close() {
	for _, fd := range d.own {
		_ = unix.Close(fd)
	}
	d.own = nil
}

// Loop does one I/O after the other.
func (d *driver) Loop(now int64) {
	for {
		before := d.Fill(now)
		switch {
		case before > d.NFree:
			slot := d.Free[d.NFree]
			if d.Writes {
				now = d.Clock.Now() // lat does not hold the making of the data
			}
			d.Submitted(before, now)
			n, err := d.transfer(&d.Slots[slot], slot)
			now = d.turn()
			if n == int(d.Slots[slot].Len) {
				d.Done(slot, now)
			} else {
				d.Complete(slot, result(n, err), now)
			}
			d.Reaped(now)
		case d.NextSync(now):
			s := &d.Slots[d.SyncSlot()]
			errno := sys.Sync(d.FDs[s.File], s.DataSync())
			now = d.turn()
			d.Complete(d.SyncSlot(), -int64(errno), now)
			d.Reaped(now)
		case d.Over(now):
			return
		default: // too early for the next
			time.Sleep(time.Duration(d.Patience(now)))
			now = d.turn()
		}
	}
}

// turn reads the clock and does what has a time.
func (d *driver) turn() int64 {
	now := d.Clock.Now()
	if d.Due(now) {
		d.Turn(now)
	}
	return now
}

// transfer reads or writes the block of a slot.
func (d *driver) transfer(s *pass.Slot, slot uint32) (n int, err error) {
	b := d.Blocks.Bytes(slot, int64(s.Len))
	for {
		switch {
		case d.e.Seek:
			n, err = d.seekAndTransfer(s, b)
		case s.Dir == pass.Write:
			n, err = unix.Pwrite(d.FDs[s.File], b, s.Offset)
		default:
			n, err = unix.Pread(d.FDs[s.File], b, s.Offset)
		}
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (d *driver) seekAndTransfer(s *pass.Slot, b []byte) (n int, err error) {
	fd, at := d.own[s.File], &d.at[s.File]
	if *at != s.Offset {
		if *at, err = unix.Seek(fd, s.Offset, unix.SEEK_SET); err != nil {
			return 0, err
		}
	}
	if s.Dir == pass.Write {
		n, err = unix.Write(fd, b)
	} else {
		n, err = unix.Read(fd, b)
	}
	*at += int64(max(n, 0))
	return n, err
}

// result is what the kernel would say of an I/O.
func result(n int, err error) int64 {
	if errno, ok := err.(unix.Errno); ok {
		return -int64(errno)
	}
	return int64(n)
}
