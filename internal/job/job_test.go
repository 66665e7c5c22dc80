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
