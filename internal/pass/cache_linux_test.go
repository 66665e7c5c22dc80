package pass_test

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// TestInvalidate: a job drops its own region from the page cache before it starts,
// as fio does, and with invalidate=0 leaves it there.
func TestInvalidate(t *testing.T) {
	const size, block = 4 << 20, 64 << 10
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	tk := enginetest.File(t, testDir(t), size)
	f, err := os.OpenFile(tk.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(bytes.Repeat([]byte{1}, size)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil { // dirty pages stay
		t.Fatal(err)
	}
	cached := func(off int64) bool {
		n, err := unix.Preadv2(int(f.Fd()), [][]byte{make([]byte, 4096)}, off, unix.RWF_NOWAIT)
		switch {
		case errors.Is(err, unix.EOPNOTSUPP):
			t.Skip("this filesystem does not say what is cached")
		case err != nil && !errors.Is(err, unix.EAGAIN):
			t.Fatal(err)
		}
		return err == nil && n == 4096
	}
	if !cached(0) || !cached(size/2) {
		t.Skip("what was just written is not in the page cache")
	}
	run := func(keep bool, during func()) {
		t.Helper()
		p := job.Phase{
			Name: "a", Mode: job.Read, BlockSize: block, IODepth: 1, NumJobs: 1, Once: true,
			Size: job.Size{Bytes: size / 2}, KeepCache: keep,
		}
		o, err := engines[1].Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, false, false)}, func(e record.Event) {
			if e.Type == record.EventReady {
				during()
			}
		})
		if err != nil || o.Stopped != record.StopOnce {
			t.Fatal(o, err)
		}
	}
	run(true, func() {
		if !cached(0) || !cached(size/4) {
			t.Error("invalidate=0 dropped what the page cache had")
		}
	})
	run(false, func() {
		if cached(0) || cached(size/4) {
			t.Error("the page cache still has the job's region")
		}
		if !cached(size - 4096) {
			t.Error("the page cache lost more than the job's region")
		}
	})
}
