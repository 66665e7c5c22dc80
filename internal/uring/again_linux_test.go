package uring

import (
	"os"
	"runtime"
	"testing"

	"nativ/internal/job"
	"nativ/internal/pass"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// TestSendAgain: an I/O that the kernel gave up before it began is no error of
// the drive. A chain of requests whose first one fails gives up the second
// (IOSQE_IO_LINK), as io-wq does what waits for a thread that cannot be made.
func TestSendAgain(t *testing.T) {
	needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const blocks, bs = 8, 4096
	ph := job.Phase{Name: "t", Mode: job.Write, BlockSize: bs, IODepth: 2, NumJobs: 1, Direct: true, Once: true}
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), blocks*bs), true, true)
	var d *driver
	engine := pass.IOEngine{Name: "io_uring", New: func(j *pass.Job) pass.Driver {
		d = newDriver(j).(*driver)
		return &givenUp{driver: d, t: t}
	}}
	out, err := pass.Run(t.Context(), engine, ph, []*target.Claim{c}, func(record.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Errors) > 0 || out.Write == nil || out.Write.Bytes != blocks*bs || out.Write.IOs != blocks {
		t.Errorf("wrote %+v, errors %+v; want %d blocks and none", out.Write, out.Errors, blocks)
	}
	if d.resent != 1 {
		t.Errorf("%d I/Os were sent again, want the one that was given up", d.resent)
	}
}

// A givenUp has the kernel give up the first I/O of a job.
type givenUp struct {
	*driver
	t *testing.T
}

func (g *givenUp) Loop(now int64) {
	d := g.driver
	before := d.Fill(now)
	if before-d.NFree != 2 {
		g.t.Errorf("%d slots were filled, want 2", before-d.NFree)
		return
	}
	const link = 1 << 2 // IOSQE_IO_LINK
	slot, other := d.Free[d.NFree], d.Free[d.NFree+1]
	d.Slots[slot].Issued, d.Slots[other].Issued = now, now
	null, err := os.Open(os.DevNull) // a read that ends short fails a chain
	if err != nil {
		g.t.Error(err)
		return
	}
	defer null.Close()
	d.ring.SQEs[d.tail&d.ring.SQMask] = sys.SQE{
		Opcode: sys.OpRead, Flags: link, FD: int32(null.Fd()), Addr: d.Blocks.Base(), Len: 16, UserData: uint64(slot),
	}
	d.prepare(&d.ring.SQEs[(d.tail+1)&d.ring.SQMask], slot)
	d.tail += 2
	*d.ring.SQTail = d.tail
	for unsent := uint32(2); d.completed()-d.head < 2; {
		n, errno := d.ring.Enter(unsent, 2, d.wait.Arg)
		if errno != 0 && !again(errno) {
			g.t.Errorf("io_uring_enter: %v", errno)
			return
		}
		unsent -= uint32(n)
	}
	d.head++ // that of the short read
	if res := d.ring.CQEs[d.head&d.ring.CQMask].Res; res != canceled {
		g.t.Errorf("the second of the chain ended with %d, want -ECANCELED", res)
	}
	d.prepare(&d.ring.SQEs[d.tail&d.ring.SQMask], other)
	d.tail++
	d.unsent++
	d.Loop(now)
}
