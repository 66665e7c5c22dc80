package job

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func valid() Phase {
	return Phase{Name: "x", Mode: RandRead, BlockSize: 4096, IODepth: 32, NumJobs: 4, Direct: true, RuntimeNS: 1e9}
}

func TestValidate(t *testing.T) {
	p := valid()
	if err := p.Validate(); err != nil {
		t.Fatalf("a good phase: %v", err)
	}
	for _, tt := range []struct {
		name string
		bad  func(*Phase)
		want string // part of the message
	}{
		{"no name", func(p *Phase) { p.Name = "" }, "without a name"},
		{"mode", func(p *Phase) { p.Mode = "trim" }, `rw="trim"`},
		{"zero bs", func(p *Phase) { p.BlockSize = 0 }, "bs=0"},
		{"odd bs", func(p *Phase) { p.BlockSize = 4097 }, "bs=4097"},
		{"huge bs", func(p *Phase) { p.BlockSize = 128 << 20 }, "64 MiB"},
		{"zero depth", func(p *Phase) { p.IODepth = 0 }, "iodepth=0"},
		{"huge depth", func(p *Phase) { p.IODepth = MaxIODepth + 1 }, "iodepth=4097"},
		{"no jobs", func(p *Phase) { p.NumJobs = 0 }, "numjobs=0"},
		{"many jobs", func(p *Phase) { p.NumJobs = MaxJobs + 1 }, "numjobs=513"},
		{"negative fdatasync", func(p *Phase) { p.FDataSync = -1 }, "fdatasync=-1"},
		{"fdatasync of reads", func(p *Phase) { p.FDataSync = 1 }, "fdatasync needs a mode that writes"},
		{"negative runtime", func(p *Phase) { p.RuntimeNS = -1 }, "runtime is negative"},
		{"negative bytes", func(p *Phase) { p.MaxBytes = -1 }, "max_bytes is negative"},
		{"write bs of reads", func(p *Phase) { p.WriteBlockSize = 4096 }, "mixed mode"},
		{"odd write bs", func(p *Phase) { p.Mode, p.WriteBlockSize = RandRW, 100 }, "bs=,100"},
		{"map of two sizes", func(p *Phase) { p.Mode, p.WriteBlockSize, p.RandomMap = RandRW, 8192, true }, "norandommap=1"},
		{"mix", func(p *Phase) { p.RWMixRead = 101 }, "rwmixread=101"},
		{"split with offset", func(p *Phase) { p.Split, p.Offset.Bytes = true, 4096 }, "split regions"},
		{"percent", func(p *Phase) { p.Size.Percent = 101 }, "size is neither"},
		{"both", func(p *Phase) { p.Offset = Size{1, 1} }, "offset is neither"},
		{"endless io_size", func(p *Phase) { p.IOSize.Bytes = 1 }, "io_size needs"},
		{"ramp", func(p *Phase) { p.RampTimeNS = -1 }, "ramp_time"},
		{"rate", func(p *Phase) { p.WriteIOPS = -1 }, "rate_iops"},
		{"think", func(p *Phase) { p.ThinkTimeNS = -1 }, "thinktime"},
		{"fsync of reads", func(p *Phase) { p.EndFSync = true }, "end_fsync need"},
		{"sync", func(p *Phase) { p.Sync = "async" }, `sync="async"`},
		{"compress", func(p *Phase) { p.CompressPercent = 101 }, "buffer_compress_percentage=101"},
		{"buffered polling", func(p *Phase) { p.HiPri, p.Direct = true, false }, "direct=1"},
		{"polled fsync", func(p *Phase) { p.HiPri, p.Mode, p.FSync = true, Write, 1 }, "polled ring"},
		{"cpu", func(p *Phase) { p.CPUs = []int{-1} }, "no CPU -1"},
		{"endless", func(p *Phase) { p.RuntimeNS = 0 }, "nothing ends it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := valid()
			tt.bad(&p)
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// The regions of split jobs never overlap, lie inside the file, and leave out
// less than one block a job.
func TestRegionsTile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := valid()
		p.Mode, p.Split = Read, true
		p.BlockSize = 512 * rapid.Int64Range(1, 256).Draw(t, "sectors")
		p.NumJobs = rapid.IntRange(1, 64).Draw(t, "numjobs")
		size := rapid.Int64Range(0, 1<<40).Draw(t, "size")
		var end int64
		for i := range p.NumJobs {
			start, n := p.Region(i, size)
			if start != end || n%p.BlockSize != 0 || start+n > size {
				t.Fatalf("job %d: region %d+%d after %d in a file of %d", i, start, n, end, size)
			}
			end = start + n
		}
		if size-end >= p.BlockSize*int64(p.NumJobs) {
			t.Fatalf("%d bytes of %d are in no region", size-end, size)
		}
	})
}

func TestRandomJobsShareTheFile(t *testing.T) {
	p := valid()
	p.Split = true
	for i := range p.NumJobs {
		if start, n := p.Region(i, 10<<20+1); start != 0 || n != 10<<20 {
			t.Errorf("job %d: region %d+%d", i, start, n)
		}
	}
}

// Offsets and sizes are fio's: bytes, or percent of the file.
func TestRegion(t *testing.T) {
	for _, tt := range []struct {
		name          string
		change        func(*Phase)
		job, files    int
		start, length int64
	}{
		{"to the end", func(p *Phase) { p.Offset.Bytes = 8192 }, 0, 1, 8192, 1<<20 - 8192},
		{"increment", func(p *Phase) { p.Offset.Bytes, p.OffsetIncrement.Bytes, p.Size.Bytes = 4096, 65536, 16384 }, 3, 1, 4096 + 3*65536, 16384},
		{"percent", func(p *Phase) { p.Offset.Percent, p.OffsetIncrement.Percent, p.Size.Percent = 10, 20, 20 }, 2, 1, 25*4096 + 2*51*4096, 51 * 4096},
		{"percent beyond the end", func(p *Phase) { p.Offset.Percent, p.Size.Percent = 75, 50 }, 0, 1, 192 * 4096, 64 * 4096},
		{"two files", func(p *Phase) { p.Size.Bytes = 65536 }, 0, 2, 0, 32768},
		{"half a block", func(p *Phase) { p.Size.Bytes = 6000 }, 0, 1, 0, 4096},
	} {
		p := valid()
		tt.change(&p)
		if start, n := p.RegionOf(tt.job, 1<<20+512, tt.files); start != tt.start || n != tt.length-tt.length%4096 {
			t.Errorf("%s: region %d+%d, want %d+%d", tt.name, start, n, tt.start, tt.length)
		}
	}
}

func TestPresetsAreValid(t *testing.T) {
	q, err := PresetByName("quick")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range q.Phases {
		p.RuntimeNS = q.Runtime.Nanoseconds()
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		if names[p.Name] {
			t.Errorf("two phases are called %s", p.Name)
		}
		names[p.Name] = true
		if !p.Mode.Random() && p.NumJobs > 1 && !p.Split {
			t.Errorf("phase %s: %d jobs walk the same blocks", p.Name, p.NumJobs)
		}
	}
	if pre := Prefill(); pre.Validate() != nil || !pre.Once || !pre.Unique || !pre.Mode.Writes() {
		t.Errorf("prefill %+v", pre)
	}
	if _, err := PresetByName("quack"); err == nil || !strings.Contains(err.Error(), "quick") {
		t.Errorf("an unknown preset: %v", err)
	}
}
