package uring

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// TestRing: registered buffers and files and a polled ring move the same data.
func TestRing(t *testing.T) {
	e := needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	const size = 2 << 20
	dir := testDir(t)
	tk := enginetest.File(t, dir, size)
	for _, tt := range []struct {
		name   string
		change func(*job.Phase)
	}{
		{"fixedbufs", func(p *job.Phase) { p.FixedBufs = true }},
		{"registerfiles", func(p *job.Phase) { p.RegisterFiles = true }},
		{"hipri", func(p *job.Phase) { p.HiPri = true }},
		{"all", func(p *job.Phase) { p.FixedBufs, p.RegisterFiles, p.HiPri = true, true, true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, m := range []job.Mode{job.Write, job.RandRead} {
				p := job.Phase{Name: "t", Mode: m, BlockSize: 4096, IODepth: 8, NumJobs: 2, Direct: true, Split: true, Once: true, RandomMap: true, RandSeed: 3}
				tt.change(&p)
				o, err := e.Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, true, true)}, func(ev record.Event) {
					if ev.Type != record.EventReady {
						return
					}
					got := ev.Worker.Engine
					if got.RegisteredBuffers != p.FixedBufs || p.RegisterFiles && !got.RegisteredFiles ||
						strings.Contains(strings.Join(got.Setup, " "), "IOPOLL") != p.HiPri {
						t.Errorf("set up as %+v", got)
					}
				})
				if p.HiPri && errors.Is(err, unix.EOPNOTSUPP) {
					t.Skipf("nothing here can be polled: %v", err)
				}
				if err != nil {
					t.Fatal(err)
				}
				if o.Stopped != record.StopOnce {
					t.Errorf("%s stopped by %s: %+v", m, o.Stopped, o.Errors)
				}
			}
			b, err := os.ReadFile(tk.Path)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for at := 0; at < size; at += 4096 {
				if k := string(b[at : at+4096]); seen[k] {
					t.Fatalf("block %d is equal to one before", at/4096)
				} else {
					seen[k] = true
				}
			}
		})
	}
}

// TestPollingRefused: a file that cannot be polled is named before the pass.
func TestPollingRefused(t *testing.T) {
	e := needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	dir, err := os.MkdirTemp("/dev/shm", "nativ-uring-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	tk := enginetest.File(t, dir, 1<<20)
	tk.Direct = true
	c, err := target.Reopen(tk)
	if err != nil {
		t.Skipf("tmpfs of this kernel has no O_DIRECT: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	p := job.Phase{Name: "t", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1, Direct: true, Once: true, HiPri: true}
	_, err = e.Run(t.Context(), p, []*target.Claim{c}, func(record.Event) { t.Error("the pass began") })
	if !errors.Is(err, unix.EOPNOTSUPP) || !strings.Contains(err.Error(), "leave out hipri") {
		t.Errorf("got %v", err)
	}
}

// TestFixedBufsMemlock: more than the process may lock is an error that says
// what to do.
func TestFixedBufsMemlock(t *testing.T) {
	e := needEngine(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 65536, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old)
	c := enginetest.Claim(t, enginetest.File(t, testDir(t), 8<<20), false, true)
	p := job.Phase{Name: "t", Mode: job.Read, BlockSize: 1 << 20, IODepth: 4, NumJobs: 1, Direct: true, Once: true, FixedBufs: true}
	_, err := e.Run(t.Context(), p, []*target.Claim{c}, func(record.Event) {})
	if err == nil {
		t.Skip("this process may lock what it likes (CAP_IPC_LOCK)")
	}
	var u *sys.UringError
	if !errors.As(err, &u) || u.Cause != sys.UringMemlock {
		t.Errorf("got %v", err)
	}
}
