package uring

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"nativ/internal/sys"
)

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
		for i := before - 1; i >= j.NFree; i-- {
			slot := free[i]
			io, s := &slots[slot], &ring.SQEs[sqTail&ring.SQMask]
			s.Opcode, s.Flags, s.FD, s.OpFlags = d.opcodes[io.Dir], d.sqeFlags, d.fds[io.File], 0
			s.Off, s.Addr, s.Len = uint64(io.Offset), base+uint64(slot)*stride, uint32(io.Len)
			s.UserData = uint64(slot)
			if d.fixed {
				s.BufIndex = uint16(slot)
			}
			sqTail++
		}
		if j.Writes && before != j.NFree {
			now = d.Clock.Now() // lat does not hold the making of the data
			if j.SlowData && j.More(now) {
				// Making a block takes as long as a fast drive needs to write
				// one: look for others without waiting.
				wait = 0
			}
		}
		j.Submitted(before, now)
		if d.NextSync(now) {
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
	if io.DataSync {
		s.OpFlags = sys.FsyncDataSync
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
