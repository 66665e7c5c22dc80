package fio

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/job"
	"nativ/internal/record"
)

func TestVersion(t *testing.T) {
	for _, tt := range []struct{ out, want, err string }{
		{"fio-3.33\n", "3.33", ""},
		{"fio-3.42-12-gabc\n", "3.42-12-gabc", ""},
		{"fio-3.19", "3.19", ""},
		{"fio-4.0\n", "4.0", ""},
		{"warning: a wrapper speaks\nfio-3.36\n", "3.36", ""},
		{"fio-3.18\n", "", "too old"},
		{"fio-2.21\n", "", "too old"},
		{"fio 3.33", "", "no version"},
		{"fio-next", "", "no version"},
		{"", "", "no version"},
	} {
		got, err := parseVersion(tt.out)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %q, %v; want %q, %q", tt.out, got, err, tt.want, tt.err)
		}
	}
}

func TestArguments(t *testing.T) {
	one := []file{{"/proc/self/fd/3", 1<<20 + 512}}
	two := []file{{"/proc/self/fd/3", 1 << 20}, {"/proc/self/fd/4", 1 << 20}}
	base := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1, Once: true}
	for _, tt := range []struct {
		name   string
		change func(*job.Phase)
		files  []file
		engine string
		want   []string // among the arguments
		not    []string // beginnings of none
	}{
		{"plain", func(p *job.Phase) {}, one, "io_uring",
			[]string{"--rw=read", "--bs=4096", "--size=1048576", "--direct=0", "--allow_file_create=0", "--readonly", "--filename=/proc/self/fd/3"},
			[]string{"--time_based", "--runtime", "--offset", "--randseed", "--norandommap", "--io_size", "--rwmixread"}},
		{"timed", func(p *job.Phase) { p.Once, p.RuntimeNS, p.RampTimeNS = false, 1, 2e9 }, one, "io_uring",
			[]string{"--runtime=1us", "--time_based=1", "--ramp_time=2000000us"}, nil},
		{"mixed", func(p *job.Phase) {
			p.Mode, p.RWMixRead, p.WriteBlockSize, p.ReadIOPS, p.RandSeed = job.RandRW, 0, 8192, 5, 1<<64-1
		}, one, "io_uring",
			[]string{"--rw=randrw", "--rwmixread=0", "--bs=4096,8192", "--rate_iops=5,0", "--randrepeat=0", "--randseed=18446744073709551615", "--norandommap=1"},
			[]string{"--readonly"}},
		{"map", func(p *job.Phase) { p.Mode, p.RandomMap = job.RandRead, true }, one, "io_uring", nil, []string{"--norandommap"}},
		{"split", func(p *job.Phase) { p.NumJobs, p.Split = 4, true }, one, "io_uring",
			[]string{"--numjobs=4", "--size=262144", "--offset_increment=262144"}, nil},
		{"to the end", func(p *job.Phase) {
			p.NumJobs, p.Offset, p.OffsetIncrement = 2, job.Size{Bytes: 4096}, job.Size{Percent: 25}
		}, one, "io_uring", []string{"--offset=4096", "--offset_increment=262144"}, []string{"--size"}},
		{"files", func(p *job.Phase) { p.Size, p.IOSize = job.Size{Percent: 50}, job.Size{Bytes: 8192} }, two, "io_uring",
			[]string{"--filename=/proc/self/fd/3:/proc/self/fd/4", "--size=1048576", "--io_size=8192"}, nil},
		{"budget", func(p *job.Phase) { p.Once, p.NumJobs, p.MaxBytes, p.RuntimeNS = false, 3, 100000, 1e9 }, one, "io_uring",
			[]string{"--io_size=32768", "--runtime=1000000us"}, []string{"--time_based"}},
		{"writes", func(p *job.Phase) {
			p.Mode, p.Unique, p.FSync, p.EndFSync, p.Sync, p.CompressPercent, p.WriteIOPS = job.Write, true, 2, true, job.SyncDSync, 30, 7
		}, one, "io_uring",
			[]string{"--refill_buffers=1", "--fsync=2", "--end_fsync=1", "--sync=dsync", "--buffer_compress_percentage=30", "--rate_iops=0,7"}, nil},
		{"uring", func(p *job.Phase) { p.FixedBufs, p.RegisterFiles, p.HiPri, p.Direct = true, true, true, true }, one, "io_uring",
			[]string{"--fixedbufs=1", "--registerfiles=1", "--hipri=1", "--direct=1"}, nil},
		{"libaio", func(p *job.Phase) { p.FixedBufs, p.CPUs, p.ThinkTimeNS = true, []int{0, 1, 3}, 1500 }, one, "libaio",
			[]string{"--ioengine=libaio", "--cpus_allowed=0-1,3", "--thinktime=2us"}, []string{"--fixedbufs"}},
		{"name", func(p *job.Phase) { p.Name = "global" }, one, "io_uring", []string{"--name=job-global"}, nil},
		{"trace", func(p *job.Phase) { p.Trace = true }, one, "io_uring", []string{"--write_iolog=trace"}, nil},
	} {
		p := base
		tt.change(&p)
		if err := p.Validate(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got, err := arguments(&p, tt.files, tt.engine)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, w := range tt.want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no %s in %q", tt.name, w, got)
			}
		}
		for _, n := range tt.not {
			if slices.ContainsFunc(got, func(a string) bool { return strings.HasPrefix(a, n) }) {
				t.Errorf("%s: %s in %q", tt.name, n, got)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*job.Phase)
		files  []file
		want   string
	}{
		{"too small", func(p *job.Phase) { p.BlockSize = 2 << 20 }, one, "does not hold"},
		{"behind the end", func(p *job.Phase) { p.Offset, p.Size = job.Size{Bytes: 4096}, job.Size{Bytes: 1 << 20} }, two[:1], "does not hold"},
		{"unlike files", func(p *job.Phase) { p.Size = job.Size{Percent: 50} }, []file{two[0], {"/proc/self/fd/4", 1 << 19}}, "equally"},
		{"unlike starts", func(p *job.Phase) { p.Offset = job.Size{Percent: 50} }, []file{two[0], {"/proc/self/fd/4", 1 << 19}}, "one offset"},
		{"traces", func(p *job.Phase) { p.Trace, p.NumJobs = true, 2 }, one, "numjobs=1"},
	} {
		p := base
		tt.change(&p)
		if got, err := arguments(&p, tt.files, "io_uring"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestIOErrors(t *testing.T) {
	text := tidy(`
note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1
fio: io_u error on file /proc/self/fd/3: Input/output error: read offset=8192, buflen=4096
fio: io_u error on file /proc/self/fd/3: Input/output error: read offset=4096, buflen=4096
fio: pid=12, err=5/file:io_u.c:1845, func=io_u error, error=Input/output error
fio: io_u error on file /a: b: Strange: datasync offset=0, buflen=0
fio: terminating on signal 2
`)
	want := []record.IOError{
		{Op: "read", Errno: "EIO", Offset: 4096, Count: 2},
		{Op: "fdatasync", Errno: "Strange", Offset: 0, Count: 1},
	}
	if d := cmp.Diff(want, ioErrors(text)); d != "" {
		t.Error(d)
	}
	if got := call(text); got != "io_u error" {
		t.Errorf("the call is %q", got)
	}
	if got := reason(text[len(text)-1:]); got != "" && !strings.Contains(got, "signal") {
		t.Errorf("reason %q", got)
	}
}

// What fio wrote, with its own text before and after the JSON.
func TestReadReport(t *testing.T) {
	load := func(t *testing.T, name string) (*report, error) {
		t.Helper()
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return readReport(fstest.MapFS{outputFile: {Data: b}}, 1, []string{"fio: said besides"})
	}
	phase := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 4, NumJobs: 2, Direct: true, RuntimeNS: 4e9}

	t.Run("short", func(t *testing.T) { // fio exits with 0
		r, err := load(t, "short-io_uring.json")
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.outcome(&phase, false, 64<<20, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		want := []record.IOError{{Op: "read", Errno: "short", Offset: 1 << 20, Count: o.Read.IOs - o.Read.Bytes/4096}}
		if d := cmp.Diff(want, o.Errors); d != "" || o.Stopped != record.StopError {
			t.Errorf("%s, stopped %q", d, o.Stopped)
		}
		if o.Read.Lat.N() != o.Read.IOs || o.Read.Clat.N() != o.Read.IOs || o.Write != nil || o.Sync != nil {
			t.Errorf("lat of %d, clat of %d, write %v", o.Read.Lat.N(), o.Read.Clat.N(), o.Write)
		}
	})
	t.Run("text before, error", func(t *testing.T) {
		r, err := load(t, "error-psync.json")
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.outcome(&phase, false, 64<<20, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if want := []record.IOError{{Op: "read", Errno: "short", Offset: 1 << 20, Count: 2}}; !slices.Equal(o.Errors, want) || o.Read.Bytes == 0 {
			t.Errorf("errors %+v; %d bytes", o.Errors, o.Read.Bytes)
		}
		if !slices.Contains(o.Text, "fio: said besides") || !strings.HasPrefix(o.Text[0], "note: both iodepth") {
			t.Errorf("text %q", o.Text)
		}
	})
	t.Run("no JSON", func(t *testing.T) {
		_, err := readReport(fstest.MapFS{outputFile: {}}, 1, []string{"Bad option <x=1>", "fio: job dropped"})
		if err == nil || !strings.Contains(err.Error(), "job dropped") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no file", func(t *testing.T) {
		if _, err := readReport(fstest.MapFS{}, 1, nil); err == nil {
			t.Error("no error")
		}
	})
}

func TestSettle(t *testing.T) {
	iv := func(end, length, ios int64) record.Interval {
		return record.Interval{EndNS: end, LenNS: length, ReadIOs: ios, ReadBytes: ios * 4096}
	}
	const s = second
	for _, tt := range []struct {
		name    string
		logged  []record.Interval
		elapsed int64
		ios     int64
		want    []int64
	}{
		{"the rest comes last", []record.Interval{iv(s, s, 100), iv(2*s, s, 0)}, 2*s + s/2, 140, []int64{100, 0, 40}},
		{"the last window was cut", []record.Interval{iv(s, s, 100), iv(s+s/2, s/2, 50)}, 2*s + s/2, 250, []int64{100, 100, 50}},
		{"logs that say too much", []record.Interval{iv(s, s, 110), iv(2*s, s, 110)}, 2 * s, 200, []int64{100, 100}},
		{"a rest that is no rate", []record.Interval{iv(s, s, 90), iv(2*s, s, 90)}, 2*s + s/100, 201, []int64{100, 100, 1}},
		{"no logs", nil, s / 2, 7, []int64{7}},
		{"nothing at all", []record.Interval{iv(s, s, 0)}, 2 * s, 0, []int64{0, 0}},
	} {
		got := settle(tt.logged, tt.elapsed, tally{tt.ios, tt.ios * 4096}, 0)
		var ios []int64
		var length int64
		for _, g := range got {
			ios, length = append(ios, g.ReadIOs), length+g.LenNS
			if g.ReadBytes != g.ReadIOs*4096 {
				t.Errorf("%s: %d I/Os have %d bytes", tt.name, g.ReadIOs, g.ReadBytes)
			}
		}
		if !slices.Equal(ios, tt.want) || length != tt.elapsed {
			t.Errorf("%s: %v over %d ns; want %v", tt.name, ios, length, tt.want)
		}
	}
}

func TestParseTrace(t *testing.T) {
	const head = "fio version 3 iolog\n"
	files := []string{"/proc/self/fd/3", "/proc/self/fd/4"}
	got, err := parseTrace(strings.NewReader(head+`1 /proc/self/fd/4 add
10 /proc/self/fd/4 open
15 /proc/self/fd/4 read 4096 8192
20 /proc/self/fd/3 write 0 512
30 /proc/self/fd/3 datasync 0 0
40 /proc/self/fd/3 close
`), files, 1_000_000)
	want := []record.TraceIO{
		{MonoNS: 1_005_000, File: 1, Op: "read", Offset: 4096, Len: 8192},
		{MonoNS: 1_010_000, Op: "write", Len: 512},
		{MonoNS: 1_020_000, Op: "fdatasync"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, bad := range []string{
		"fio version 2 iolog\n", head + head, "1 /proc/self/fd/3 add\n", head + "x /proc/self/fd/3 read 0 512\n",
		head + "1 /etc/passwd read 0 512\n", head + "1 /proc/self/fd/3 read -1 512\n", head + "1 /proc/self/fd/3 trim 0 512\n", head + "1 2 3 4\n",
	} {
		if got, err := parseTrace(strings.NewReader(bad), files, 0); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func FuzzParseTrace(f *testing.F) {
	f.Add("fio version 3 iolog\n1 a open\n2 a read 0 512\n")
	f.Add("fio version 2 iolog\na read 0 512\n")
	f.Fuzz(func(t *testing.T, s string) {
		ios, err := parseTrace(strings.NewReader(s), []string{"a"}, 0)
		for _, io := range ios {
			if err == nil && (io.Offset < 0 || io.Len < 0 || io.File != 0) {
				t.Errorf("%+v", io)
			}
		}
	})
}
