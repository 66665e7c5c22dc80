package pass_test

import (
	"bufio"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker/enginetest"
)

// A touch is what was done to a block of 4 KiB.
type touch struct {
	op    string
	block int64
}

// touches of a trace and how often each.
func touches(ios []record.TraceIO) map[touch]int {
	m := map[touch]int{}
	for _, io := range ios {
		for at := io.Offset; at < io.Offset+io.Len; at += 4096 {
			m[touch{io.Op, at / 4096}]++
		}
	}
	return m
}

// either forgets what was done.
func either(m map[touch]int) map[int64]int {
	all := map[int64]int{}
	for t, n := range m {
		all[t.block] += n
	}
	return all
}

// fioTouches runs fio and reads its own log of what it did.
func fioTouches(t *testing.T, dir string, options string) map[touch]int {
	t.Helper()
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("needs fio to compare with")
	}
	jobfile, log := filepath.Join(dir, "job.fio"), filepath.Join(dir, "io.log")
	text := "[a]\nfilename=data\nthread\ndirect=1\nioengine=libaio\nfilesize=64m\nrandseed=5\nwrite_iolog=" + log + "\n" + options
	if err := os.WriteFile(jobfile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(fio, jobfile)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// With clones, fio writes one log each: io.log.0 and so on, or io.log for all.
	logs, err := filepath.Glob(log + "*")
	if err != nil || len(logs) == 0 {
		t.Fatalf("fio left no log: %v", err)
	}
	var ios []record.TraceIO
	for _, name := range logs {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for sc := bufio.NewScanner(f); sc.Scan(); {
			w := strings.Fields(sc.Text()) // time, file, op, offset, length
			if len(w) != 5 || w[2] != "read" && w[2] != "write" {
				continue
			}
			off, err1 := strconv.ParseInt(w[3], 10, 64)
			n, err2 := strconv.ParseInt(w[4], 10, 64)
			if err1 != nil || err2 != nil {
				t.Fatalf("line %q of fio's log", sc.Text())
			}
			ios = append(ios, record.TraceIO{Op: w[2], Offset: off, Len: n})
		}
		f.Close()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	return touches(ios)
}

// TestTouchesWhatFioTouches: on a file of 64 MiB the same job touches the same
// blocks as often as in fio; where chance decides, what must hold holds in both.
func TestTouchesWhatFioTouches(t *testing.T) {
	const size, blocks = 64 << 20, 64 << 20 / 4096
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	dir := testDir(t)
	tk := enginetest.File(t, dir, size)
	same := func(t *testing.T, ours, fios map[touch]int) {
		if !maps.Equal(ours, fios) {
			t.Errorf("%d blocks are touched, by fio %d, or not as often", len(ours), len(fios))
		}
	}
	once := func(t *testing.T, ours, fios map[touch]int) {
		for who, m := range map[string]map[touch]int{"nativ": ours, "fio": fios} {
			all := either(m)
			for b, n := range all {
				if n != 1 {
					t.Fatalf("%s: block %d is touched %d times", who, b, n)
				}
			}
			if len(all) != blocks {
				t.Errorf("%s: %d blocks are touched", who, len(all))
			}
		}
	}
	for _, tt := range []struct {
		options string
		compare func(t *testing.T, ours, fios map[touch]int)
	}{
		{"rw=read\nbs=64k\niodepth=8", same},
		{"rw=write\nbs=128k\nsize=16m\noffset=8m", same},
		{"rw=read\nbs=64k\nnumjobs=4\nsize=16m\noffset_increment=16m", same},
		{"rw=read\nbs=64k\nnumjobs=3\nsize=25%\noffset_increment=25%", same},
		{"rw=read\nbs=64k\nnumjobs=2\nsize=8m", same},
		{"rw=read\nbs=64k\nsize=8m\nio_size=24m", same},
		{"rw=read\nbs=64k\nsize=8m\nio_size=1m", same},
		{"rw=read\nbs=64k\nsize=1m\nio_size=100k", same}, // one I/O beyond the limit
		{"rw=write\nbs=64k\nsize=128k\nio_size=400k", same},
		{"rw=read\nbs=64k\nsize=50%\noffset=75%", same},
		{"rw=randread\nbs=4k\niodepth=16", once},
		{"rw=randrw\nrwmixread=70\nbs=4k\niodepth=16", once},
		{"rw=randread\nbs=4k\nnorandommap\niodepth=16", func(t *testing.T, ours, fios map[touch]int) {
			for who, m := range map[string]map[touch]int{"nativ": ours, "fio": fios} {
				sum := 0
				for _, n := range m {
					sum += n
				}
				// 16384 draws hit 1-1/e of 16384 blocks, 10357; five standard
				// deviations are some 250.
				if sum != blocks || len(m) < 10100 || len(m) > 10610 {
					t.Errorf("%s: %d I/Os on %d blocks", who, sum, len(m))
				}
			}
		}},
		{"rw=rw\nrwmixread=30\nbs=4k\niodepth=4", func(t *testing.T, ours, fios map[touch]int) {
			for who, m := range map[string]map[touch]int{"nativ": ours, "fio": fios} {
				n := map[string]int64{}
				for x, times := range m {
					if n[x.op]++; times != 1 {
						t.Fatalf("%s: %+v %d times", who, x, times)
					}
				}
				for op, count := range n { // from the start, without gaps
					for b := range count {
						if m[touch{op, b}] != 1 {
							t.Fatalf("%s: %d %ss, but not of block %d", who, count, op, b)
						}
					}
				}
				// Five standard deviations of the share are 0.018.
				if share := float64(n["read"]) / blocks; n["read"]+n["write"] != blocks || share < 0.28 || share > 0.32 {
					t.Errorf("%s: %v", who, n)
				}
			}
		}},
	} {
		name := strings.ReplaceAll(tt.options, "\n", ",")
		t.Run(name, func(t *testing.T) {
			fios := fioTouches(t, dir, tt.options)
			file := filepath.Join(t.TempDir(), "job.fio")
			if err := os.WriteFile(file, []byte("[a]\ndirect=1\nrandseed=5\n"+tt.options), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := job.Parse(job.Options{ReadFile: os.ReadFile}, file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := job.ToPhase(f.Jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			p.Trace = true
			e := engines[0]
			if _, err := e.Probe(); err != nil {
				t.Skipf("%s does not work here: %v", e.Name(), err)
			}
			var ios []record.TraceIO
			o, err := e.Run(t.Context(), p, []*target.Claim{enginetest.Claim(t, tk, p.Mode.Writes(), true)}, func(e record.Event) {
				ios = append(ios, e.Trace...)
			})
			if err != nil {
				t.Fatal(err)
			}
			if o.Stopped != record.StopOnce {
				t.Fatalf("stopped is %s: %+v", o.Stopped, o.Errors)
			}
			tt.compare(t, touches(ios), fios)
		})
	}
}
