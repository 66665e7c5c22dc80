package uring

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// waitNS bounds every wait in the kernel, and so the time until a job notices
// that it must stop while a device is stalled.
const waitNS = int64(100e6)

// How long a job waits for I/Os in flight after it was told to stop. A drive
// may take seconds for one I/O in error recovery; whoever asked for the end
// wants it soon.
const (
	graceNS      = 10 * second
	graceAskedNS = 2 * second
)

// A thread is one job: what one OS thread works with. Only that thread touches
// it while the loop runs, except for mail and done.
type thread struct {
	p     *pass
	index int

	// The ring. head and tail are the thread's own copies of the indices that
	// it alone writes.
	ring       *sys.Ring
	head, tail uint32
	unsent     uint32            // SQEs that the kernel has not taken yet
	arg        *sys.GetEventsArg // of every wait; in wait, mapped memory
	wait       []byte
	fd         int32 // the file, or its index where it is registered
	sqeFlags   uint8
	opcode     uint8

	// Buffers and the I/Os that use them: slot i has block i of mem. Slot
	// depth stands for the fdatasync.
	mem    []byte
	words  []uint64 // mem
	stride int64    // between blocks, in bytes
	free   []uint32 // a stack; free[:nfree] are not in flight
	nfree  int
	issued []int64 // CLOCK_MONOTONIC of submission
	offset []int64
	data   filler

	// Where the next block goes.
	random     splitMix
	start, end int64 // region
	pos        int64 // of the next sequential block
	blocks     uint64

	// How many blocks may still be issued; see claim.
	quota     int64
	region    int64 // left of the region of a phase with Once
	unsynced  int64 // claimed since the last fdatasync
	syncing   bool  // one is in flight
	exhausted bool  // nothing more to claim, for the reason in stopped
	halted    bool  // told to stop
	stopped   string

	// Times, CLOCK_MONOTONIC.
	wake     int64 // when turn has something to do
	boundary int64 // end of the interval
	giveUp   int64 // when to stop waiting for I/Os in flight
	last     int64 // last completion; 0 before the first
	seen     uint32

	// What was measured.
	cur     *interval
	io      *total
	sync    *total
	errs    []record.IOError
	errTime int64
	endNS   int64 // of this job
	left    int64 // I/Os that never came back
	mail    mailbox
	passed  atomic.Int64 // whole seconds that are over and posted
	done    atomic.Bool  // set after the last post
}

// newThread allocates what the loop needs, so that the loop does not.
func newThread(p *pass, index int) *thread {
	ph := &p.phase
	depth := ph.IODepth
	t := &thread{
		p: p, index: index,
		free:    make([]uint32, depth),
		issued:  make([]int64, depth+1),
		offset:  make([]int64, depth+1),
		data:    newFiller(ph.RandSeed, index),
		random:  splitMix(mix64(ph.RandSeed) ^ mix64(uint64(index)+1)),
		io:      newTotal(),
		sync:    newTotal(),
		cur:     newInterval(ph.FDataSync > 0),
		opcode:  sys.OpRead,
		stopped: record.StopAsked,
		giveUp:  math.MaxInt64,
	}
	for i := range t.mail.slots {
		t.mail.slots[i] = newInterval(ph.FDataSync > 0)
	}
	if ph.Mode.Writes() {
		t.opcode = sys.OpWrite
	}
	start, length := ph.Region(index, p.size)
	t.start, t.end, t.pos = start, start+length, start
	t.blocks = uint64(length / ph.BlockSize)
	t.region = math.MaxInt64
	if ph.Once {
		t.region = int64(t.blocks)
	}
	for i := range t.free { // block 0 first
		t.free[i] = uint32(depth - 1 - i)
	}
	t.nfree = depth
	return t
}

// setup makes the ring and the buffers, on the thread that will use them.
func (t *thread) setup() (err error) {
	ph := &t.p.phase
	if t.ring, err = sys.OpenRing(ph.IODepth); err != nil {
		return err
	}
	t.head, t.tail = *t.ring.CQHead, *t.ring.SQTail
	t.fd = int32(t.p.fd)
	if t.ring.RegisterFile(t.p.fd) == nil {
		t.fd, t.sqeFlags = 0, sys.SQEFixedFile
	}
	if t.wait, t.arg, err = mapWait(); err != nil {
		return err
	}
	if err := t.mapBuffers(); err != nil {
		return err
	}
	// Fills also what reads will overwrite: the pages are then there, and a
	// page fault is never measured.
	t.data.fill(t.words)
	return nil
}

// mapWait makes the argument of every wait in memory that never moves.
func mapWait() ([]byte, *sys.GetEventsArg, error) {
	m, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, nil, fmt.Errorf("map the timeout of io_uring: %w", err)
	}
	type wait struct {
		arg sys.GetEventsArg
		ts  sys.Timespec
	}
	w := (*wait)(unsafe.Pointer(unsafe.SliceData(m)))
	w.ts.Nsec = waitNS
	w.arg.TS = uint64(uintptr(unsafe.Pointer(&w.ts)))
	return m, &w.arg, nil
}

// mapBuffers maps one block a slot, each aligned to a page and to what direct
// I/O demands here.
func (t *thread) mapBuffers() (err error) {
	align := max(int64(os.Getpagesize()), t.p.memAlign) // powers of two
	t.stride = (t.p.phase.BlockSize + align - 1) / align * align
	n := t.stride*int64(t.p.phase.IODepth) + align
	m, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("map %d bytes of buffers: %w", n, err)
	}
	t.mem = m
	skip := -int64(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (align - 1)
	m = m[skip : skip+t.stride*int64(t.p.phase.IODepth)]
	t.words = unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(m))), len(m)/8)
	return nil
}

// base is the address of block 0. The memory is mapped, so it does not move.
func (t *thread) base() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(t.words)))) }

// block is the buffer of a slot.
func (t *thread) block(slot uint32) []uint64 {
	at := int64(slot) * t.stride / 8
	return t.words[at : at+t.p.phase.BlockSize/8]
}

// release gives back what setup made, unless the kernel may still write to it.
func (t *thread) release() {
	if t.left > 0 {
		// The I/Os are still the kernel's: unmapping the buffers would let it
		// write into whatever is mapped there next. The process ends soon.
		return
	}
	if t.ring != nil {
		_ = t.ring.Close()
	}
	for _, m := range [][]byte{t.mem, t.wait} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
	t.mem, t.wait, t.words, t.arg, t.ring = nil, nil, nil, nil, nil
}

// main is the goroutine of the job.
func (t *thread) main(ready chan<- error) {
	// The ring takes submissions from this thread only.
	runtime.LockOSThread()
	err := t.setup()
	ready <- err
	if err != nil {
		t.release()
		runtime.UnlockOSThread()
		return
	}
	<-t.p.start
	if t.p.aborted {
		t.release()
		runtime.UnlockOSThread()
		return
	}
	t.run()
	t.release()
	if t.left == 0 {
		runtime.UnlockOSThread() // else it ends with the goroutine
	}
	t.done.Store(true)
	t.p.ended <- struct{}{}
}

// run is the loop with its beginning and end.
func (t *thread) run() {
	p := t.p
	t.boundary = p.startNS + second
	t.turn(p.startNS)
	t.loop(p.startNS)
	t.left = int64(t.inflight())
	t.endNS = t.last
	if t.left > 0 || t.last == 0 {
		// The wait for what did not come back is part of the pass.
		t.endNS = p.clock.now()
		t.roll(t.endNS)
	}
	t.publish()
}

func (t *thread) inflight() int {
	n := len(t.free) - t.nfree
	if t.syncing {
		n++
	}
	return n
}

// turn does what has a time: intervals, the end of the pass, the end of
// patience. Its time is in wake.
func (t *thread) turn(now int64) {
	p := t.p
	t.roll(now)
	t.seen = p.stop.Load()
	if !t.halted && (t.seen != 0 || now >= p.deadlineNS) {
		t.halted = true
		t.giveUp = now + graceNS
		if !t.exhausted {
			t.exhausted, t.quota = true, 0
			t.stopped = record.StopAsked
			if t.seen == 0 {
				t.stopped = record.StopTime
			}
		}
	}
	if t.seen&stopAsked != 0 {
		t.giveUp = min(t.giveUp, now+graceAskedNS)
	}
	t.wake = min(t.boundary+1, t.giveUp)
	if !t.halted {
		t.wake = min(t.wake, p.deadlineNS)
	}
}

// roll publishes the intervals that ended before now. A completion at the very
// boundary belongs to the interval before, so that the last interval of a pass
// is never empty.
func (t *thread) roll(now int64) {
	for now > t.boundary {
		t.publish()
		t.passed.Add(1)
		t.boundary += second
	}
}

func (t *thread) publish() {
	t.io.add(&t.cur.io)
	if t.cur.sync != nil {
		t.sync.add(t.cur.sync)
	}
	t.mail.post(t.cur)
	t.cur.io.reset()
	if t.cur.sync != nil {
		t.cur.sync.reset()
	}
}

// claim gets leave to issue more blocks, in quota. It reports false where there
// is none now, because an fdatasync is due, or for ever.
func (t *thread) claim() bool {
	if t.exhausted || t.syncDue() {
		return false
	}
	if t.region == 0 {
		t.exhausted, t.stopped = true, record.StopOnce
		return false
	}
	n := t.region
	every := int64(t.p.phase.FDataSync)
	if every > 0 {
		n = min(n, every-t.unsynced)
	}
	if t.p.phase.MaxBytes > 0 {
		if n = t.p.take(n); n == 0 {
			t.exhausted, t.stopped = true, record.StopBytes
			return false
		}
	}
	if t.p.phase.Once {
		t.region -= n
	}
	if every > 0 {
		t.unsynced += n
	}
	t.quota = n
	return true
}

func (t *thread) syncDue() bool {
	every := int64(t.p.phase.FDataSync)
	return every > 0 && t.unsynced == every
}

// failed counts a failed I/O and ends the pass for all jobs.
func (t *thread) failed(op, errno string, offset, now int64) {
	t.p.stop.Or(stopError)
	t.exhausted, t.quota = true, 0 // at once, not only at the next turn
	for i := range t.errs {
		if e := &t.errs[i]; e.Op == op && e.Errno == errno {
			e.Count++
			return
		}
	}
	if len(t.errs) == 0 {
		t.errTime = now
	}
	t.errs = append(t.errs, record.IOError{Op: op, Errno: errno, Offset: offset, Count: 1})
}

func (t *thread) opName() string {
	if t.opcode == sys.OpWrite {
		return "write"
	}
	return "read"
}

// complete takes a completion that is not a whole block: an fdatasync or an
// error.
//
//go:noinline
func (t *thread) complete(slot uint32, res int32, now int64) {
	op, want := t.opName(), int32(t.p.phase.BlockSize)
	if int(slot) == len(t.free) {
		op, want = "fdatasync", 0
		t.syncing, t.unsynced = false, 0
	} else {
		t.free[t.nfree] = slot
		t.nfree++
	}
	switch {
	case res < 0:
		t.failed(op, sys.ErrnoName(syscall.Errno(-res)), t.offset[slot], now)
	case res != want:
		t.failed(op, "short", t.offset[slot], now)
	default:
		t.cur.sync.add(now - t.issued[slot])
	}
}

// mergeErrors joins the errors of all jobs; the first of each kind keeps its
// offset.
func mergeErrors(threads []*thread) []record.IOError {
	threads = slices.Clone(threads)
	slices.SortStableFunc(threads, func(a, b *thread) int { return cmp.Compare(a.errTime, b.errTime) })
	var all []record.IOError
	for _, t := range threads {
		for _, e := range t.errs {
			i := slices.IndexFunc(all, func(o record.IOError) bool { return o.Op == e.Op && o.Errno == e.Errno })
			if i < 0 {
				all = append(all, e)
			} else {
				all[i].Count += e.Count
			}
		}
	}
	return all
}
