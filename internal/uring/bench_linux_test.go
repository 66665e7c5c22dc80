package uring

import (
	"os"
	"runtime"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// BenchmarkRandRead reads a file that the page cache holds, so that what is
// left is the engine and the kernel. user-ns/io is the engine's own price;
// compare it with fio's on the same file: fio --rw=randread --bs=4k
// --ioengine=io_uring --iodepth=32 --direct=0 --invalidate=0 --norandommap
// --time_based --runtime=5.
func BenchmarkRandRead(b *testing.B) {
	for _, bm := range []struct {
		name, dir string
		depth     int
	}{
		{"ext4/iodepth=1", testDir(b), 1},
		{"ext4/iodepth=32", testDir(b), 32},
		{"tmpfs/iodepth=32", "/dev/shm", 32},
	} {
		b.Run(bm.name, func(b *testing.B) {
			e := needEngine(b)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
			const size = 256 << 20
			tk := enginetest.File(b, bm.dir, size)
			if err := os.WriteFile(tk.Path, make([]byte, size), 0o600); err != nil {
				b.Fatal(err)
			}
			p := job.Phase{
				Name: "bench", Mode: job.RandRead, BlockSize: 4096, IODepth: bm.depth, NumJobs: 1,
				MaxBytes: int64(b.N) * 4096, RandSeed: 1,
			}
			o, err := e.Run(b.Context(), p, []*target.Claim{enginetest.Claim(b, tk, false, false)}, func(record.Event) {})
			if err != nil {
				b.Fatal(err)
			}
			n := float64(o.Read.IOs)
			b.ReportMetric(float64(o.ElapsedNS())/n, "ns/op")
			b.ReportMetric(float64(o.Usage.UserNS)/n, "user-ns/io")
			b.ReportMetric(float64(o.Usage.SystemNS)/n, "sys-ns/io")
			p50, _ := o.Read.Lat.Percentile(50)
			b.ReportMetric(float64(p50), "p50-ns")
			p999, _ := o.Read.Lat.Percentile(99.9)
			b.ReportMetric(float64(p999), "p99.9-ns")
			b.ReportMetric(float64(o.Read.Lat.Max), "max-ns")
		})
	}
}
