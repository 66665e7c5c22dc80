package pass_test

import (
	"os"
	"runtime"
	"testing"

	"nativ/internal/job"
	"nativ/internal/libaio"
	"nativ/internal/pass"
	"nativ/internal/syncio"
	"nativ/internal/target"
	"nativ/internal/uring"
	"nativ/internal/worker"
	"nativ/internal/worker/enginetest"
)

type engine interface {
	worker.Engine
	IOEngine() pass.IOEngine
}

var engines = []engine{&uring.Engine{}, &syncio.Engine{}, &syncio.Engine{Seek: true}, &libaio.Engine{}}

// eachEngine runs a test with every engine that works here.
func eachEngine(t *testing.T, f func(t *testing.T, e engine)) {
	for _, e := range engines {
		t.Run(e.Name(), func(t *testing.T) {
			if _, err := e.Probe(); err != nil {
				t.Skipf("%s does not work here: %v", e.Name(), err)
			}
			f(t, e)
		})
	}
}

// testDir is a directory on a real disk: /tmp may be a tmpfs, which is no
// device.
func testDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "nativ-pass-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestLoopDoesNotAllocate drives the loop itself on real files, with every
// option that does something in it.
func TestLoopDoesNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const size = 4 << 20
	dir := testDir(t)
	tickets := []target.Ticket{enginetest.File(t, dir, size), enginetest.File(t, dir, size)}
	eachEngine(t, func(t *testing.T, e engine) {
		for _, ph := range []job.Phase{
			{Name: "refill", Mode: job.Write, BlockSize: 64 << 10, IODepth: 4, Unique: true},
			{Name: "fdatasync", Mode: job.RandWrite, BlockSize: 4 << 10, IODepth: 8, FDataSync: 16},
			{Name: "read", Mode: job.Read, BlockSize: 64 << 10, IODepth: 4},
			{Name: "randread", Mode: job.RandRead, BlockSize: 4 << 10, IODepth: 32},
			{Name: "mixed", Mode: job.ReadWrite, BlockSize: 4 << 10, WriteBlockSize: 8 << 10, IODepth: 8, RWMixRead: 60, FSync: 4, EndFSync: true},
			{Name: "map", Mode: job.RandRW, BlockSize: 4 << 10, IODepth: 8, RWMixRead: 30, RandomMap: true, CompressPercent: 50},
			{Name: "paced", Mode: job.RandWrite, BlockSize: 4 << 10, IODepth: 4, WriteIOPS: 1e6, ThinkTimeNS: 1000, ZeroBuffers: true},
			{Name: "ramp", Mode: job.RandRead, BlockSize: 4 << 10, IODepth: 4, RampTimeNS: 1, Size: job.Size{Percent: 50}, Offset: job.Size{Bytes: 4096}},
		} {
			t.Run(ph.Name, func(t *testing.T) {
				const blocks = 64
				ph.NumJobs, ph.Direct = 1, true
				files := []*target.Claim{
					enginetest.Claim(t, tickets[0], ph.Mode.Writes(), true), enginetest.Claim(t, tickets[1], ph.Mode.Writes(), true),
				}
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				b, err := pass.NewBare(e.IOEngine(), ph, files, blocks)
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				runs := int64(0)
				n := testing.AllocsPerRun(10, func() {
					b.Run()
					runs++
				})
				if n != 0 {
					t.Errorf("%v allocations a pass", n)
				}
				read, write, sync, errs := b.Result()
				ios := read + write
				// Where the sizes differ, blocks are counted at the larger.
				if errs > 0 || b.Inflight() != 0 || ios < runs*blocks || ios > runs*blocks && ph.WriteBlockSize == 0 {
					t.Errorf("%d I/Os, %d in flight, %d errors; want %d", ios, b.Inflight(), errs, runs*blocks)
				}
				if ph.Syncs() != (sync > 0) || ph.Mode.Reads() != (read > 0) || ph.Mode.Writes() != (write > 0) {
					t.Errorf("%d reads, %d writes, %d syncs", read, write, sync)
				}
			})
		}
	})
}
