package fio

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker"
	"nativ/internal/worker/enginetest"
)

var _ worker.Engine = (*Engine)(nil)

// testDir is a directory on a real disk: /tmp may be a tmpfs, which is no
// device.
func testDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "nativ-fio-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// needFio skips the test where there is no fio that can be used.
func needFio(t testing.TB) *Engine {
	t.Helper()
	e := new(Engine)
	if _, err := e.Probe(); err != nil {
		t.Skip(err)
	}
	return e
}

// What fio does otherwise than the suite asks is tested below, as far as it is
// not fio's own matter.
func TestConformance(t *testing.T) {
	enginetest.Run(t, needFio(t), testDir(t),
		enginetest.Excuse{Part: enginetest.NoPercentiles, Reason: "fio logs one mean a second"},
		enginetest.Excuse{Part: enginetest.NoUsage, Reason: "fio that was loaded and not let go did nothing of the pass"},
		enginetest.Excuse{Part: "cancel", Reason: "it cancels in an interval, and fio tells of its intervals after the end; see TestCancel"},
		enginetest.Excuse{Part: "max bytes", Reason: "fio has an equal limit for each job and none for all together; see TestMaxBytes"},
		enginetest.Excuse{Part: "fdatasync", Reason: "with iodepth above 1 fio issues several fdatasyncs in a row; see TestFDataSync"},
		enginetest.Excuse{Part: "short", Reason: "with io_uring fio does not stop at a read that gives nothing; see TestShrinks"},
	)
}

func TestOptions(t *testing.T) {
	mixedUp := "fio mixes the traces of several jobs up"
	enginetest.RunOptions(t, needFio(t), testDir(t),
		enginetest.Excuse{Part: enginetest.NoPercentiles, Reason: "fio logs one mean a second"},
		enginetest.Excuse{Part: "mixed", Reason: "in a mixed mode fio writes from buffers that hold what it has read"},
		enginetest.Excuse{Part: "random map", Reason: mixedUp},
		enginetest.Excuse{Part: "offset and size", Reason: mixedUp + "; see TestSameBlocks"},
		enginetest.Excuse{Part: "rate", Reason: mixedUp},
		enginetest.Excuse{Part: "ramp", Reason: "fio counts the bytes and latencies of I/Os in flight at the end of the ramp, but not the I/Os"},
		enginetest.Excuse{Part: "thinktime", Reason: "fio fills the queue before its first pause"},
		enginetest.Excuse{Part: "buffers", Reason: "in a mixed mode fio writes from buffers that hold what it has read"},
		enginetest.Excuse{Part: "files", Reason: "fio syncs several times in a row with iodepth above 1"},
		enginetest.Excuse{Part: "fsync", Reason: "fio syncs several times in a row with iodepth above 1, and does not trace end_fsync"},
	)
}

const mib = 1 << 20

// runPass runs a phase on a ticket's file; it fails the test where there is no
// outcome.
func runPass(t *testing.T, ctx context.Context, tk target.Ticket, p job.Phase) (*record.Outcome, []record.Event) {
	t.Helper()
	var evs []record.Event
	o, err := needFio(t).Run(ctx, p, []*target.Claim{enginetest.Claim(t, tk, p.Mode.Writes(), p.Direct)},
		func(e record.Event) { evs = append(evs, e) })
	if err != nil {
		t.Fatal(err)
	}
	if o.Command[0] == "" || o.ToolUsage == nil && o.Stopped != record.StopAsked {
		t.Errorf("command %q, usage of fio's threads %v", o.Command, o.ToolUsage)
	}
	return o, evs
}

func written(t *testing.T, size int64) target.Ticket {
	t.Helper()
	tk := enginetest.File(t, testDir(t), size)
	p := job.Prefill()
	p.RandSeed = 7
	if o, _ := runPass(t, t.Context(), tk, p); o.Write.Bytes != size {
		t.Fatalf("prefill wrote %d bytes of %d", o.Write.Bytes, size)
	}
	return tk
}

func TestCancel(t *testing.T) {
	tk := written(t, 8*mib)
	ctx, cancel := context.WithCancel(t.Context())
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 4, NumJobs: 2, Direct: true, RuntimeNS: 3600e9}
	var evs []record.Event
	o, err := needFio(t).Run(ctx, p, []*target.Claim{enginetest.Claim(t, tk, false, true)}, func(e record.Event) {
		if evs = append(evs, e); e.Type == record.EventStarted {
			time.AfterFunc(1200*time.Millisecond, cancel)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Stopped != record.StopAsked || len(o.Errors) > 0 || o.Read.IOs == 0 || o.Read.Lat.N() != o.Read.IOs {
		t.Errorf("stopped %q, errors %+v, %d reads", o.Stopped, o.Errors, o.Read.IOs)
	}
	if n := len(evs); evs[n-1].Type != record.EventEnded {
		t.Errorf("the last event is %s", evs[n-1].Type)
	}
}

// A pass that is ended while fio loads has an outcome without numbers.
func TestCancelAtStart(t *testing.T) {
	tk := written(t, 4*mib)
	ctx, cancel := context.WithCancel(t.Context())
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 4, NumJobs: 2, Direct: true, RuntimeNS: 3600e9}
	o, err := needFio(t).Run(ctx, p, []*target.Claim{enginetest.Claim(t, tk, false, true)}, func(e record.Event) {
		if e.Type == record.EventReady {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Stopped != record.StopAsked {
		t.Errorf("stopped %q", o.Stopped)
	}
}

func TestMaxBytes(t *testing.T) {
	tk := written(t, 8*mib)
	for _, p := range []job.Phase{
		{Mode: job.RandRead, BlockSize: 4096, IODepth: 8, NumJobs: 4, MaxBytes: 1000 * 4096},
		{Mode: job.Write, BlockSize: 64 << 10, IODepth: 3, NumJobs: 2, Split: true, MaxBytes: 20 * mib},
		{Mode: job.Write, BlockSize: 4096, IODepth: 3, NumJobs: 1, Once: true, MaxBytes: mib},
	} {
		p.Name, p.Direct, p.RandSeed = "t", true, 3
		o, _ := runPass(t, t.Context(), tk, p)
		if moved(o) != p.MaxBytes || o.Stopped != record.StopBytes {
			t.Errorf("%s: %d bytes, stopped %q; want %d", p.Mode, moved(o), o.Stopped, p.MaxBytes)
		}
	}
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 4, Direct: true, MaxBytes: 4096}
	_, err := needFio(t).Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, false, true)}, func(record.Event) {})
	if err == nil || !strings.Contains(err.Error(), "less than one block") {
		t.Errorf("a limit below a block a job: %v", err)
	}
}

func TestFDataSync(t *testing.T) {
	tk := written(t, 4*mib)
	p := job.Phase{Name: "t", Mode: job.Write, BlockSize: 4096, IODepth: 1, NumJobs: 1, Direct: true, FDataSync: 3, MaxBytes: 20 * 4096}
	o, evs := runPass(t, t.Context(), tk, p)
	if o.Write.IOs != 20 || o.Sync.IOs != 6 || o.Sync.Lat.N() != 6 {
		t.Errorf("%d writes, %d syncs with %d latencies", o.Write.IOs, o.Sync.IOs, o.Sync.Lat.N())
	}
	var n int64
	for _, e := range evs {
		if e.Interval != nil {
			n += e.Interval.SyncIOs
		}
	}
	if n != 6 {
		t.Errorf("the intervals have %d syncs", n)
	}
}

// A file that is cut off ends the pass, with what was measured, also with
// io_uring, where fio goes on for ever.
func TestShrinks(t *testing.T) {
	for _, e := range []*Engine{{}, {IOEngine: "psync"}} {
		t.Run(e.ioengine(), func(t *testing.T) {
			tk := written(t, 8*mib)
			p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 2, Direct: true, RuntimeNS: 3600e9}
			o, err := e.Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, false, true)}, func(e record.Event) {
				if e.Type == record.EventStarted {
					time.AfterFunc(300*time.Millisecond, func() { _ = os.Truncate(tk.Path, mib) })
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if o.Stopped != record.StopError || len(o.Errors) == 0 || o.Read.Bytes == 0 {
				t.Errorf("stopped %q with errors %+v and %d bytes", o.Stopped, o.Errors, o.Read.Bytes)
			}
			if e.IOEngine == "" && (o.Errors[0].Errno != "short" || o.Errors[0].Offset != mib) {
				t.Errorf("errors are %+v", o.Errors)
			}
		})
	}
	// Before the start, too: and fio must not be let near such a file.
	tk := written(t, mib)
	c := enginetest.Claim(t, tk, true, true)
	if err := os.Truncate(tk.Path, mib/2); err != nil {
		t.Fatal(err)
	}
	p := job.Phase{Name: "t", Mode: job.Write, BlockSize: 4096, IODepth: 1, NumJobs: 1, Direct: true, Once: true}
	if o, err := needFio(t).Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {}); err == nil {
		t.Errorf("outcome %+v on a file that was cut off", o)
	}
}

// A write that fails for real: a file with holes on a full tmpfs.
func TestNoSpace(t *testing.T) {
	needFio(t)
	if os.Geteuid() != 0 {
		t.Skip("mounting a tmpfs needs root")
	}
	dir := testDir(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("mount a tmpfs: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	tk := enginetest.File(t, dir, 16*mib)
	tk.Direct = false
	p := job.Phase{Name: "t", Mode: job.Write, BlockSize: 64 << 10, IODepth: 1, NumJobs: 1, Once: true, RandSeed: 1}
	o, _ := runPass(t, t.Context(), tk, p)
	if o.Stopped != record.StopError || len(o.Errors) != 1 {
		t.Fatalf("stopped %q, errors %+v, text %q", o.Stopped, o.Errors, o.Text)
	}
	e := o.Errors[0]
	if e.Op != "write" || e.Errno != "ENOSPC" || e.Count != 1 || o.Write.Bytes == 0 || e.Offset < o.Write.Bytes {
		t.Errorf("error %+v after %d bytes; fio says %q", e, o.Write.Bytes, o.Text)
	}
}

// Bytes and counts of the outcome and of its intervals are fio's own.
func TestAgreesWithJSON(t *testing.T) {
	tk := written(t, 16*mib)
	c := enginetest.Claim(t, tk, true, true)
	p := job.Phase{Name: "t", Mode: job.RandRW, RWMixRead: 70, BlockSize: 4096, IODepth: 4, NumJobs: 3, Direct: true, RuntimeNS: 2.2e9, RandSeed: 9}
	e := needFio(t)
	r, err := e.prepare(&p, []*target.Claim{c})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var sum tally
	proc, err := r.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.run(t.Context(), proc, func(ev record.Event) {
		if ev.Interval != nil {
			for k, n := range tallyOf(ev.Interval) {
				sum[k] += n
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(r.dir, outputFile))
	if err != nil {
		t.Fatal(err)
	}
	type flow struct {
		Bytes   int64 `json:"io_bytes"`
		IOs     int64 `json:"total_ios"`
		Runtime int64 `json:"runtime"`
		Lat     struct {
			N, Min, Max int64
			Bins        map[string]int64
		} `json:"lat_ns"`
	}
	var raw struct{ Jobs []struct{ Read, Write flow } }
	if err := json.Unmarshal(b[bytes.IndexByte(b, '{'):], &raw); err != nil {
		t.Fatal(err)
	}
	if len(raw.Jobs) != 1 {
		t.Fatalf("%d jobs", len(raw.Jobs))
	}
	for _, d := range []struct {
		got  *record.Flow
		want flow
	}{{o.Read, raw.Jobs[0].Read}, {o.Write, raw.Jobs[0].Write}} {
		if d.got.Bytes != d.want.Bytes || d.got.IOs != d.want.IOs || d.got.Lat.N() != d.want.Lat.N ||
			d.got.Lat.Min != d.want.Lat.Min || d.got.Lat.Max != d.want.Lat.Max {
			t.Errorf("%d I/Os, %d bytes; fio has %d, %d", d.got.IOs, d.got.Bytes, d.want.IOs, d.want.Bytes)
		}
		for mid, n := range d.want.Lat.Bins {
			ns, err := strconv.ParseInt(mid, 10, 64)
			if err != nil || d.got.Lat.Counts[record.Bucket(ns)] != uint64(n) {
				t.Errorf("bin %s holds %d in fio", mid, n)
			}
		}
	}
	if sum != totals(o) {
		t.Errorf("the intervals hold %v, the pass %v", sum, totals(o))
	}
	if want := max(raw.Jobs[0].Read.Runtime, raw.Jobs[0].Write.Runtime) * millisecond; o.ElapsedNS() != want {
		t.Errorf("elapsed %d, fio says %d", o.ElapsedNS(), want)
	}
}

// Pauses between I/Os are seconds with zero I/Os.
func TestZeroSeconds(t *testing.T) {
	tk := written(t, 4*mib)
	p := job.Phase{Name: "t", Mode: job.RandRead, BlockSize: 4096, IODepth: 1, NumJobs: 1, Direct: true, RuntimeNS: 5e9, ThinkTimeNS: 2.6e9}
	_, evs := runPass(t, t.Context(), tk, p)
	zero, some := 0, 0
	for _, e := range evs {
		if e.Interval == nil {
			continue
		}
		if e.Interval.ReadIOs == 0 {
			zero++
		} else {
			some++
		}
	}
	if zero < 2 || some == 0 {
		t.Errorf("%d seconds without and %d with I/O", zero, some)
	}
}
