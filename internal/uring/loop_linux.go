package uring

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nativ/internal/pass"
	"nativ/internal/sys"
)

// A slot never lies across two cache lines.
var _ [32]byte = [unsafe.Sizeof(pass.Slot{})]byte{}

// Loop keeps the queue full until there is nothing left to issue and all has
// come back, or until the job gives up. A batch costs one load-acquire, one
// store-release and one clock read, and a second clock read where data had to
// be made for it; nothing here allocates.
func (d *driver) Loop(now int64) {
	ring, j, base, stride := d.ring, d.Job, d.Blocks.Base(), d.Blocks.Stride()
	slots, free, lat := j.Slots, j.Free, j.Lat()
	for {
		// Reap. What comes back together has the same time.
		head, tail := d.head, d.completed()
		if head != tail {
			for ; head != tail; head++ {
				c := &ring.CQEs[head&ring.CQMask]
				slot := uint32(c.UserData)
				s := &slots[slot]
				if c.Res != s.Len {
					if c.Res == canceled && d.sendAgain(slot) {
						continue
					}
					j.Complete(slot, int64(c.Res), now)
					continue
				}
				lat[s.Dir].Add(now - s.Issued) // what Done does, and in a loop of millions
				free[j.NFree] = slot
				j.NFree++
			}
			d.head = head
			d.reaped()
			d.Reaped(now)
		}

		// Refill. The ring's tail needs no release: without IORING_SETUP_SQPOLL
		// the kernel reads it on this thread, in the system call.
		before, sqTail, wait := j.Fill(now), d.tail, uint32(1)
		if j.Writes && before != j.NFree {
			now = d.Clock.Now() // lat does not hold the making of the data
			if j.SlowData && j.More(now) {
				// Making a block takes as long as a fast drive needs to write
				// one: look for others without waiting.
				wait = 0
			}
		}
		for i := before - 1; i >= j.NFree; i-- {
			slot := free[i]
			io, s := &slots[slot], &ring.SQEs[sqTail&ring.SQMask]
			io.Issued = now // as Submitted would
			s.Opcode, s.Flags, s.FD, s.OpFlags = d.opcodes[io.Dir], d.sqeFlags, d.fds[io.File], 0
			s.Off, s.Addr, s.Len = uint64(io.Offset), base+uint64(slot)*stride, uint32(io.Len)
			s.UserData = uint64(slot)
			if d.fixed {
				s.BufIndex = uint16(slot)
			}
			sqTail++
		}
		if j.Traced {
			j.Trace(before)
		}
		if j.Syncs && j.NextSync(now) {
			d.prepareSync(&ring.SQEs[sqTail&ring.SQMask])
			sqTail++
		}
		d.unsent += sqTail - d.tail
		d.tail, *ring.SQTail = sqTail, sqTail

		// Submit and wait, for one completion and at most a tenth of a second.
		if d.Over(now) {
			return
		}
		if d.Pacing() {
			d.wait.Set(d.Patience(now))
			if d.polls && d.Inflight() == 0 {
				// A polled ring does not wait where there is nothing to poll
				// for (io_iopoll_check in io_uring/io_uring.c).
				time.Sleep(time.Duration(d.Patience(now)))
			}
		}
		n, errno := ring.Enter(d.unsent, wait, d.wait.Arg)
		checkStack()
		now = d.Clock.Now()
		d.unsent -= uint32(n)
		if errno != 0 && !again(errno) {
			d.Failed("io_uring_enter", sys.ErrnoName(errno), 0, now)
			return
		}
		if d.Due(now) {
			d.Turn(now)
		}
	}
}

// completed is the index after the last completion; reaped gives those before
// head back to the kernel.
func (d *driver) completed() uint32 { return atomic.LoadUint32(d.ring.CQTail) }
func (d *driver) reaped()           { atomic.StoreUint32(d.ring.CQHead, d.head) }

// prepareSync fills in an fsync. All writes before it have completed.
func (d *driver) prepareSync(s *sys.SQE) {
	io := &d.Slots[d.SyncSlot()]
	*s = sys.SQE{Opcode: sys.OpFsync, Flags: d.sqeFlags, FD: d.fds[io.File], UserData: uint64(d.SyncSlot())}
	if io.DataSync() {
		s.OpFlags = sys.FsyncDataSync
	}
}

// canceled is the result of an I/O that the kernel never began.
const canceled = -int32(unix.ECANCELED)

// sendAgain submits an I/O once more that the kernel gave up before it began:
// where io-wq needs its first thread and a signal, the runtime's SIGURG, comes
// in the way three times, all that waits for it ends with ECANCELED
// (io_wq_enqueue in io_uring/io-wq.c). Nobody asked for that, and the drive has
// not seen it, so that its time runs on. It reports false for what would never
// end otherwise.
//
//go:noinline
func (d *driver) sendAgain(slot uint32) bool {
	if d.resent == maxResent {
		return false
	}
	d.resent++
	s := &d.ring.SQEs[d.tail&d.ring.SQMask]
	if slot == d.SyncSlot() {
		d.prepareSync(s)
	} else {
		d.prepare(s, slot)
	}
	d.tail++
	d.unsent++
	return true
}

// maxResent is far above what comes of threads that could not be made.
const maxResent = 1 << 16

// prepare fills in the read or write of a slot, as the loop itself does.
func (d *driver) prepare(s *sys.SQE, slot uint32) {
	io := &d.Slots[slot]
	*s = sys.SQE{
		Opcode: d.opcodes[io.Dir], Flags: d.sqeFlags, FD: d.fds[io.File],
		Off: uint64(io.Offset), Addr: d.Blocks.Base() + uint64(slot)*d.Blocks.Stride(), Len: uint32(io.Len),
		UserData: uint64(slot),
	}
	if d.fixed {
		s.BufIndex = uint16(slot)
	}
}

// again reports whether an error of io_uring_enter is one to go on after.
//
//go:noinline
func again(errno unix.Errno) bool {
	switch errno {
	case unix.ETIME, // the time is over
		unix.EINTR,  // the runtime's SIGURG, every 10 ms
		unix.EAGAIN, // no memory for a request now
		unix.EBUSY:  // reap first
		return true
	}
	return false
}

// checkStack is where the runtime can stop a thread that has just been in a
// raw system call. It calls another function so that the compiler does not
// leave out its check of the stack, through which preemption works.
//
//go:noinline
func checkStack() { leaf() }

//go:noinline
func leaf() {}
