package uring

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"nativ/internal/sys"
)

// loop keeps the queue full until there is nothing left to issue and all has
// come back, or until the job gives up. A batch costs one load-acquire, one
// store-release and one clock read, and a second clock read where data had to
// be made for it; nothing here allocates.
func (t *thread) loop(now int64) {
	ring, p := t.ring, t.p
	bs, whole, depth := p.phase.BlockSize, int32(p.phase.BlockSize), len(t.free)
	base := t.base()
	random, writes, unique := p.phase.Mode.Random(), p.phase.Mode.Writes(), p.phase.Unique
	for {
		// Reap. What comes back together has the same time.
		head, tail := t.head, atomic.LoadUint32(ring.CQTail)
		if head != tail {
			for ; head != tail; head++ {
				c := &ring.CQEs[head&ring.CQMask]
				slot := uint32(c.UserData)
				if c.Res != whole || int(slot) == depth {
					t.complete(slot, c.Res, now)
					continue
				}
				t.cur.io.add(now - t.issued[slot])
				t.free[t.nfree] = slot
				t.nfree++
			}
			t.head, t.last = head, now
			atomic.StoreUint32(ring.CQHead, head)
		}

		// Refill. The ring's tail needs no release: without IORING_SETUP_SQPOLL
		// the kernel reads it on this thread, in the system call.
		before, sqTail, wait := t.nfree, t.tail, uint32(1)
		for t.nfree > 0 && (t.quota > 0 || t.claim()) {
			t.quota--
			t.nfree--
			slot, off := t.free[t.nfree], t.pos
			if random {
				off = t.start + int64(t.random.below(t.blocks))*bs
			} else if t.pos += bs; t.pos == t.end {
				t.pos = t.start
			}
			t.offset[slot] = off
			if writes && unique {
				t.data.fill(t.block(slot))
			} else if writes {
				t.data.stamp(t.block(slot), off)
			}
			s := &ring.SQEs[sqTail&ring.SQMask]
			s.Opcode, s.Flags, s.FD, s.OpFlags = t.opcode, t.sqeFlags, t.fd, 0
			s.Off, s.Addr, s.Len = uint64(off), base+uint64(slot)*uint64(t.stride), uint32(bs)
			s.UserData = uint64(slot)
			sqTail++
			if unique && t.nfree > 0 && t.quota > 0 {
				// Making a block takes as long as a fast drive needs to write
				// one: submit each at once, and look for others without waiting.
				wait = 0
				break
			}
		}
		if writes && before != t.nfree {
			now = p.clock.now() // lat does not hold the making of the data
		}
		for _, slot := range t.free[t.nfree:before] {
			t.issued[slot] = now
		}
		if t.nfree == depth && t.quota == 0 && !t.syncing && t.syncDue() && !t.halted {
			t.prepareSync(&ring.SQEs[sqTail&ring.SQMask], now)
			sqTail++
		}
		t.unsent += sqTail - t.tail
		t.tail, *ring.SQTail = sqTail, sqTail

		// Submit and wait, for one completion and at most a tenth of a second.
		if t.inflight() == 0 || now >= t.giveUp {
			return
		}
		n, errno := ring.Enter(t.unsent, wait, t.arg)
		checkStack()
		now = p.clock.now()
		t.unsent -= uint32(n)
		if errno != 0 && !t.retry(errno, now) {
			return
		}
		if now >= t.wake || p.stop.Load() != t.seen {
			t.turn(now)
		}
	}
}

// prepareSync fills in an fdatasync. All writes before it have completed.
func (t *thread) prepareSync(s *sys.SQE, now int64) {
	*s = sys.SQE{
		Opcode: sys.OpFsync, Flags: t.sqeFlags, FD: t.fd,
		OpFlags: sys.FsyncDataSync, UserData: uint64(len(t.free)),
	}
	t.issued[len(t.free)] = now
	t.syncing = true
}

// retry reports whether an error of io_uring_enter is one to go on after.
//
//go:noinline
func (t *thread) retry(errno unix.Errno, now int64) bool {
	switch errno {
	case unix.ETIME, // the tenth of a second is over
		unix.EINTR,  // the runtime's SIGURG, every 10 ms
		unix.EAGAIN, // no memory for a request now
		unix.EBUSY:  // reap first
		return true
	}
	t.failed("io_uring_enter", sys.ErrnoName(errno), 0, now)
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
