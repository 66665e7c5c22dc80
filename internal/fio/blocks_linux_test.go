package fio_test

import (
	"os"
	"runtime"
	"slices"
	"testing"

	"nativ/internal/fio"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/uring"
	"nativ/internal/worker"
	"nativ/internal/worker/enginetest"
)

// A block is what an I/O touched.
type block struct {
	op          string
	offset, len int64
}

// The own engine and fio touch the same blocks, in the same order where there is
// one, and move as many bytes.
func TestSameBlocks(t *testing.T) {
	if _, err := new(fio.Engine).Probe(); err != nil {
		t.Skip(err)
	}
	if _, err := new(uring.Engine).Probe(); err != nil {
		t.Skip(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	dir, err := os.MkdirTemp("/var/tmp", "nativ-fio-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tk := enginetest.File(t, dir, 64<<20)
	for _, p := range []job.Phase{
		{Name: "write", Mode: job.Write, BlockSize: 256 << 10, IODepth: 4},
		{Name: "read", Mode: job.Read, BlockSize: 64 << 10, IODepth: 4},
		{Name: "part", Mode: job.Read, BlockSize: 4096, IODepth: 1, Offset: job.Size{Bytes: 1 << 20}, Size: job.Size{Percent: 5}},
		{Name: "once round", Mode: job.Read, BlockSize: 64 << 10, IODepth: 2, Size: job.Size{Bytes: 1 << 20}, IOSize: job.Size{Bytes: 5 << 19}},
		{Name: "map", Mode: job.RandWrite, BlockSize: 64 << 10, IODepth: 8, RandomMap: true},
	} {
		t.Run(p.Name, func(t *testing.T) {
			p.NumJobs, p.Direct, p.Once, p.Trace, p.RandSeed = 1, true, true, true, 5
			own, ownBytes := trace(t, new(uring.Engine), tk, p)
			its, itsBytes := trace(t, new(fio.Engine), tk, p)
			if p.Mode.Random() { // every block once, in an order of the engine's own
				slices.SortFunc(own, order)
				slices.SortFunc(its, order)
			}
			if ownBytes != itsBytes || len(own) == 0 || !slices.Equal(own, its) {
				t.Errorf("%d bytes in %d I/Os, fio %d in %d", ownBytes, len(own), itsBytes, len(its))
			}
		})
	}
}

func order(a, b block) int { return int(a.offset - b.offset) }

func trace(t *testing.T, e worker.Engine, tk target.Ticket, p job.Phase) (touched []block, bytes int64) {
	t.Helper()
	var ios []record.TraceIO
	o, err := e.Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, p.Mode.Writes(), true)}, func(ev record.Event) {
		ios = append(ios, ev.Trace...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, io := range ios {
		touched = append(touched, block{io.Op, io.Offset, io.Len})
		if io.MonoNS < o.StartNS-1e9 || io.MonoNS > o.EndNS+1e9 {
			t.Fatalf("%s: an I/O at %d in a pass from %d to %d", e.Name(), io.MonoNS, o.StartNS, o.EndNS)
		}
	}
	for _, f := range []*record.Flow{o.Read, o.Write} {
		if f != nil {
			bytes += f.Bytes
		}
	}
	return touched, bytes
}
