package fio

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// phaseFor reads one section for fio.
func phaseFor(t *testing.T, text string) job.Phase {
	t.Helper()
	f, err := job.Parse(job.Options{ForFio: true, ReadFile: func(string) ([]byte, error) { return []byte("[t]\n" + text), nil }}, "t.fio")
	if err != nil {
		t.Fatal(err)
	}
	p, err := job.ToPhase(f.Jobs[0])
	if err != nil {
		t.Fatal(err)
	}
	p.Engine, p.RandSeed = Name, 3
	return p
}

// Options that only fio has do in a pass what they do in fio.
func TestRawPass(t *testing.T) {
	tk := written(t, 8*mib)
	t.Run("lengths", func(t *testing.T) {
		p := phaseFor(t, "rw=randread\ndirect=1\niodepth=4\nbssplit=4k/50:16k/50\nnumber_ios=200\nsize=8m")
		o, evs := runPass(t, t.Context(), tk, p)
		if o.Read.IOs != 200 || o.Read.Bytes <= 200*4096 || o.Read.Bytes >= 200*16384 || len(o.Errors) > 0 || o.Stopped != record.StopOnce {
			t.Errorf("%d reads of %d bytes, stopped %q, errors %+v", o.Read.IOs, o.Read.Bytes, o.Stopped, o.Errors)
		}
		var n int64
		for _, e := range evs {
			if e.Interval != nil {
				n += e.Interval.ReadBytes
			}
		}
		if n != o.Read.Bytes || !slices.Contains(o.Command, "--bssplit=4k/50:16k/50") {
			t.Errorf("the intervals hold %d of %d bytes; the command is %q", n, o.Read.Bytes, o.Command)
		}
	})
	t.Run("four bytes", func(t *testing.T) {
		p := phaseFor(t, "rw=read\nbs = 4k\nsize=4k")
		o, _ := runPass(t, t.Context(), tk, p)
		if o.Read.IOs != 1024 || o.Read.Bytes != 4096 {
			t.Errorf("%d reads of %d bytes", o.Read.IOs, o.Read.Bytes)
		}
	})
	t.Run("a modifier of rw", func(t *testing.T) {
		p := phaseFor(t, "rw=read:4k\nbs=4k\nio_size=4m\nsize=8m")
		p.Trace = true
		_, evs := runPass(t, t.Context(), tk, p)
		var offsets []int64
		for _, e := range evs {
			for _, io := range e.Trace {
				offsets = append(offsets, io.Offset)
			}
		}
		if len(offsets) < 3 || offsets[1]-offsets[0] != 8192 || offsets[2]-offsets[1] != 8192 {
			t.Errorf("offsets are %d...", offsets[:min(len(offsets), 3)])
		}
	})
	t.Run("no latencies", func(t *testing.T) {
		p := phaseFor(t, "rw=randread\nbs=4k\nsize=4m\ngtod_reduce=1")
		o, _ := runPass(t, t.Context(), tk, p)
		if o.Read.IOs != 1024 || o.Read.Lat != nil {
			t.Errorf("%d reads with latencies %v", o.Read.IOs, o.Read.Lat)
		}
	})
	t.Run("verify", func(t *testing.T) {
		p := phaseFor(t, "rw=write\nbs=64k\nsize=8m\nverify=crc32c\ndirect=1")
		o, _ := runPass(t, t.Context(), tk, p)
		if o.Write.Bytes != 8*mib || o.Read != nil || len(o.Errors) > 0 {
			t.Errorf("wrote %d bytes, read %+v, errors %+v", o.Write.Bytes, o.Read, o.Errors)
		}
	})
	t.Run("clones", func(t *testing.T) {
		p := phaseFor(t, "rw=randread\nbs=4k\nnumjobs=3\nnumber_ios=100\nsize=8m\nthinktime_blocks=7")
		p.PerClone = true
		o, _ := runPass(t, t.Context(), tk, p)
		if o.Read.IOs != 300 || len(o.Clones) != 3 {
			t.Fatalf("%d reads, %d clones", o.Read.IOs, len(o.Clones))
		}
		sum := &record.Histogram{}
		for i := range o.Clones {
			c := &o.Clones[i]
			if c.Read.IOs != 100 || c.StartNS != o.StartNS || c.EndNS > o.EndNS || c.Command != nil || c.Text != nil || c.UsageUnknown {
				t.Errorf("clone %d: %+v", i, c)
			}
			sum.Merge(c.Read.Lat)
		}
		// fio adds minima over jobs; that of the pass is the least of them.
		if sum.Min != o.Read.Lat.Min || sum.Max != o.Read.Lat.Max || sum.N() != o.Read.Lat.N() {
			t.Errorf("the clones have %d to %d of %d, the pass %d to %d of %d", sum.Min, sum.Max, sum.N(), o.Read.Lat.Min, o.Read.Lat.Max, o.Read.Lat.N())
		}
	})
	t.Run("what fio says", func(t *testing.T) {
		p := phaseFor(t, "ioengine=psync\nrw=randread\nbs=4k\nsize=1m\niodepth=4")
		e := &Engine{IOEngine: "psync"}
		p.Engine = e.Name()
		o, err := e.Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, false, false)}, func(record.Event) {})
		if err != nil || o.Read.IOs != 256 || !strings.Contains(strings.Join(o.Text, " "), "queue depth will be capped") {
			t.Errorf("%+v, %v", o, err)
		}
	})
	t.Run("pvsync2", func(t *testing.T) {
		p := phaseFor(t, "ioengine=pvsync2\nrw=randread\nbs=4k\nsize=1m\nnowait=0")
		e := &Engine{IOEngine: "pvsync2"}
		p.Engine = e.Name()
		o, err := e.Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, false, false)}, func(record.Event) {})
		if err != nil || o.Read.IOs != 256 {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

// Whatever is passed on, the file stays as long as it was and nothing else comes
// to be.
func TestRawTouchesNothingElse(t *testing.T) {
	for _, text := range []string{
		"rw=write\nbs=64k\nsize=4m\nloops=3\nzonemode=strided\nzonesize=64k\nzoneskip=64k",
		"rw=randwrite\nbsrange=4k-64k\nsize=4m\nio_size=16m\nverify=crc32c\nverify_async=1",
		"rw=write\nsize=100%\noffset_align=1m\noffset=1500k\nend_fsync=1\nfsync_on_close=1\nsync_file_range=write:8",
		"rw=write\nsize=2m\nfallocate=none\noverwrite=1\ncreate_serialize=0\ncreate_fsync=0\nunlink=0\nopenfiles=1",
		"rw=randwrite\nsize=4m\nsteadystate=iops:50%\nsteadystate_duration=1\nruntime=3\ntime_based\nlockfile=exclusive",
	} {
		tk := written(t, 4*mib)
		p := phaseFor(t, text)
		o, _ := runPass(t, t.Context(), tk, p)
		fi, err := os.Stat(tk.Path)
		if err != nil || fi.Size() != 4*mib {
			t.Errorf("%q: the file is %v, %v", text, fi, err)
		}
		if len(o.Errors) > 0 || o.Write.IOs == 0 {
			t.Errorf("%q: errors %+v, text %q", text, o.Errors, o.Text)
		}
		left, err := os.ReadDir(tk.Path[:strings.LastIndexByte(tk.Path, '/')])
		if err != nil || len(left) != 1 {
			t.Errorf("%q: it left %v, %v", text, left, err)
		}
	}
}

// fio is there before it may start, and does nothing until then.
func TestLoaded(t *testing.T) {
	tk := written(t, 4*mib)
	p := phaseFor(t, "rw=randread\nbs=4k\nsize=1m")
	r, err := needFio(t).prepare(&p, []*target.Claim{enginetest.Claim(t, tk, false, false)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	proc, err := r.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	comm, err := os.ReadFile("/proc/" + strconv.Itoa(proc.number) + "/comm")
	if err != nil || string(comm) != "fio\n" {
		t.Errorf("the process is %q, %v", comm, err)
	}
	buf := make([]byte, 4096)
	if n, err := unix.Read(r.watch, buf); err != unix.EAGAIN {
		t.Errorf("fio has opened its file before it may: %d bytes of events, %v", n, err)
	}
	o, err := r.run(t.Context(), proc, func(record.Event) {})
	if err != nil || o.Read.IOs != 256 {
		t.Errorf("%+v, %v", o, err)
	}
}

// fio says what it does not take before anything runs.
func TestCheck(t *testing.T) {
	e := needFio(t)
	good := phaseFor(t, "rw=randread\nbssplit=4k/50:16k/50\nsize=1m\nnumjobs=2\nsteadystate=iops:5%\nsqthread_poll=0")
	if err := e.Check(&good, 1<<20, 1); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"rate_process=often\nsize=1m": "rate_process",
		"slat_percentiles=7\nsize=1m": "slat_percentiles",
		"hostname=x\nsize=1m":         "hostname",
	} {
		p := phaseFor(t, text)
		if err := e.Check(&p, 1<<20, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if !e.HasOption("zonemode") || e.HasOption("nonsense") {
		t.Error("fio is not asked for its options")
	}
}
