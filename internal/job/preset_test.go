package job

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type fioOutput struct {
	Jobs []struct {
		Name        string `json:"jobname"`
		Group       int    `json:"groupid"`
		Error       int    `json:"error"`
		Read, Write struct {
			IOs   int   `json:"total_ios"`
			Bytes int64 `json:"io_bytes"`
		}
	}
}

// runFio runs fio and returns its results.
func runFio(t *testing.T, args ...string) fioOutput {
	t.Helper()
	stdout, stderr := fioApart(t, append([]string{"--output-format=json"}, args...)...)
	var out fioOutput
	i := strings.Index(stdout, "{\n")
	if i < 0 {
		t.Fatalf("fio %q: %s%s", args, stdout, stderr)
	}
	if err := json.Unmarshal([]byte(stdout[i:]), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The quick preset is what it was before it was a file: this is the table, in
// the terms of a phase.
func TestQuickIsTheReadersTest(t *testing.T) {
	test := func(name string, m Mode, bs int64) Phase {
		return Phase{Name: name, Mode: m, BlockSize: bs, IODepth: 32, NumJobs: 4, Direct: true, Split: !m.Random()}
	}
	want := Preset{
		Name: "quick",
		Phases: []Phase{
			test(RandRead4K, RandRead, 4<<10),
			test(RandWrite4K, RandWrite, 4<<10),
			test(Read128K, Read, 128<<10),
			test(Write128K, Write, 128<<10),
			{Name: SyncWrite4K, Mode: Write, BlockSize: 4 << 10, IODepth: 1, NumJobs: 1, Direct: true, FDataSync: 1},
		},
		Runtime: 5 * time.Second, Passes: 2, FileSize: 16 << 30, WriteQuota: 8 << 30,
	}
	if d := cmp.Diff(want, Quick()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Callers change the phases they get.
	Quick().Phases[0].RuntimeNS = 1
	if Quick().Phases[0].RuntimeNS != 0 {
		t.Error("a caller's change stays")
	}
}

func TestPresetFiles(t *testing.T) {
	want := map[string]int{"article": 4, "heat": 4, "fill": 2, "test": 5, "crystaldiskmark": 8, "latency": 2, "sync": 2, "sweep": 18}
	if len(PresetNames()) != len(want) {
		t.Errorf("presets %v", PresetNames())
	}
	for _, name := range PresetNames() {
		f, err := ParsePreset(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(f.Jobs) != want[name] || len(f.Groups()) != want[name] || len(f.Warnings) > 0 {
			t.Errorf("%s: %d jobs in %d groups, %v", name, len(f.Jobs), len(f.Groups()), f.Warnings)
		}
		seen := map[string]bool{}
		for _, j := range f.Jobs {
			if _, err := ToPhase(j); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if seen[j.Name] {
				t.Errorf("%s: two sections %s", name, j.Name)
			}
			seen[j.Name] = true
		}
		if stable(t, f) == "" {
			t.Errorf("%s cannot be printed", name)
		}
	}
	if _, err := PresetFile("quack"); err == nil || !strings.Contains(err.Error(), "article, crystaldiskmark, fill, heat, latency, sweep, sync, test") {
		t.Errorf("%v", err)
	}
}

// The profile is the published one.
func TestCrystalDiskMark(t *testing.T) {
	f, err := ParsePreset("crystaldiskmark")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Random  bool
		BS      int64
		Q, T    int
		Runtime int64
	}
	want := []row{{false, 1 << 20, 8, 1, 5e9}, {false, 128 << 10, 32, 1, 5e9}, {true, 4096, 32, 16, 5e9}, {true, 4096, 1, 1, 5e9}}
	var reads, writes []row
	for _, j := range f.Jobs {
		r := row{j.RW.Random(), j.ReadBS, j.IODepth, j.NumJobs, j.RuntimeNS}
		if j.RW.Writes() {
			writes = append(writes, r)
		} else {
			reads = append(reads, r)
		}
	}
	if !slices.Equal(reads, want) || !slices.Equal(writes, want) {
		t.Errorf("reads %v, writes %v", reads, writes)
	}
}

// Each preset runs in fio as it is (here for a shorter time), on a small file.
func TestPresetsRunInFio(t *testing.T) {
	fio333(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, make([]byte, 4<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := fio(t, "--name=probe", "--ioengine=io_uring", "--direct=1", "--size=4k", "--filename="+target); !strings.Contains(s, "err= 0") {
		t.Skipf("fio cannot use io_uring and O_DIRECT here: %.300s", s)
	}
	runtime := regexp.MustCompile(`(?m)^runtime=\d+$`)
	for _, name := range PresetNames() {
		b, err := PresetFile(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".fio")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if s := fio(t, "--parse-only", "--filename="+target, path); strings.TrimSpace(s) != "" {
			t.Errorf("%s: fio says %s", name, s)
		}
		short := runtime.ReplaceAll(b, []byte("runtime=50ms"))
		if string(short) == string(b) {
			t.Fatalf("%s has no runtime", name)
		}
		if testing.Short() {
			continue
		}
		if err := os.WriteFile(path, short, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Parse(testOptions(), path)
		if err != nil {
			t.Fatal(err)
		}
		out := runFio(t, "--filename="+target, path)
		if len(out.Jobs) != len(f.Results()) {
			t.Errorf("%s: fio reports %d results, want %d", name, len(out.Jobs), len(f.Results()))
			continue
		}
		for i, j := range out.Jobs {
			want := f.Jobs[f.Results()[i].Clones[0]]
			if j.Error != 0 || j.Name != want.Name || want.RW.Writes() != (j.Write.IOs > 0) || want.RW.Writes() == (j.Read.IOs > 0) {
				t.Errorf("%s: fio reports %+v for %s", name, j, want.Name)
			}
		}
	}
}

func TestToPhase(t *testing.T) {
	parse := func(t *testing.T, text string) Job {
		t.Helper()
		f, err := Parse(testOptions(), write(t, "t.fio", "[a]\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		return f.Jobs[0]
	}
	base := Phase{Name: "a", Mode: Read, BlockSize: 4096, IODepth: 1, NumJobs: 1, Once: true}
	for _, tt := range []struct {
		text   string
		change func(*Phase)
	}{
		{"", func(*Phase) {}},
		{"runtime=3\ntime_based\n", func(p *Phase) { p.Once, p.RuntimeNS = false, 3e9 }},
		{"rw=write\nbs=4k,8k\nrefill_buffers\nfdatasync=2\nrandseed=7", func(p *Phase) {
			p.Mode, p.BlockSize, p.Unique, p.FDataSync, p.RandSeed = Write, 8192, true, 2, 7
		}},
		{"bs=4k,8k\nfdatasync=1", func(*Phase) {}},
		{"rw=randread\nnorandommap\nioengine=io_uring\niodepth=8", func(p *Phase) { p.Mode, p.IODepth = RandRead, 8 }},
		{"numjobs=2\nsize=50%\noffset_increment=50%", func(p *Phase) { p.NumJobs, p.Split = 2, true }},
		{"numjobs=1\nsize=100%\noffset_increment=50%\noffset=0\nthinktime=0\nsync=none", func(*Phase) {}},
		{"rw=randrw\nrwmixread=70\nnorandommap\nbs=4k,8k", func(p *Phase) { p.Mode, p.RWMixRead, p.WriteBlockSize = RandRW, 70, 8192 }},
		{"rw=randread", func(p *Phase) { p.Mode, p.RandomMap = RandRead, true }},
		{"size=1g", func(p *Phase) { p.Size.Bytes = 1 << 30 }},
		{"size=50%\noffset=25%\nio_size=2g", func(p *Phase) { p.Size.Percent, p.Offset.Percent, p.IOSize.Bytes = 50, 25, 2<<30 }},
		{"time_based\nruntime=1\nio_size=1g", func(p *Phase) { p.Once, p.RuntimeNS = false, 1e9 }},
		{"numjobs=4\noffset_increment=1m", func(p *Phase) { p.NumJobs, p.OffsetIncrement.Bytes = 4, 1<<20 }},
		{"numjobs=2\nsize=40%\noffset_increment=40%", func(p *Phase) { p.NumJobs, p.Size.Percent, p.OffsetIncrement.Percent = 2, 40, 40 }},
		{"ramp_time=1\nrate_iops=5,6\nthinktime=7", func(p *Phase) { p.RampTimeNS, p.ReadIOPS, p.ThinkTimeNS = 1e9, 5, 7000 }},
		{"fsync=1\nend_fsync=1\nzero_buffers\nbuffer_compress_percentage=5", func(*Phase) {}}, // of reads
		{"rw=write\nfsync=1\nend_fsync=1\nzero_buffers\nbuffer_compress_percentage=5\nsync=1", func(p *Phase) {
			p.Mode, p.FSync, p.EndFSync, p.ZeroBuffers, p.CompressPercent, p.Sync = Write, 1, true, true, 5, SyncFile
		}},
		{"cpus_allowed=0-1\nfilename=a:b", func(p *Phase) { p.CPUs = []int{0, 1} }},
		{"ioengine=io_uring\nfixedbufs\nregisterfiles\nhipri\ndirect=1", func(p *Phase) { p.FixedBufs, p.RegisterFiles, p.HiPri, p.Direct = true, true, true, true }},
		{"ioengine=libaio", func(*Phase) {}},
		{"group_reporting\nstonewall\nthread\nlat_percentiles=1\npercentile_list=50\nfilename=x\ndirectory=/tmp", func(*Phase) {}},
	} {
		want := base
		tt.change(&want)
		got, err := ToPhase(parse(t, tt.text))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got):\n%s", tt.text, err, d)
		}
	}
	for _, tt := range []struct{ text, option string }{
		{"rw=randrw\nbs=4k,8k", "bs"}, {"directory=.:.", "directory"}, {"ioengine=io_uring\nhipri", "hipri"},
		{"ioengine=io_uring\nhipri\ndirect=1\nrw=write\nfsync=1", "hipri"},
	} {
		_, err := ToPhase(parse(t, tt.text))
		var e *Error
		if !errors.As(err, &e) || e.Kind != Unsupported || e.Option != tt.option || e.File == "" {
			t.Errorf("%q: got %v, want one about %s", tt.text, err, tt.option)
		}
	}
	// What a phase cannot be at all.
	if _, err := ToPhase(parse(t, "bs=100")); err == nil || !strings.Contains(err.Error(), "multiple of 512") {
		t.Errorf("bs=100: %v", err)
	}
}
