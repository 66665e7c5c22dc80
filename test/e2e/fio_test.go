package e2e

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mine makes a file that is not nativ's, outside of the directory that must be
// empty in the end, and returns a check that nothing of it changed.
func (w *world) mine(size int) (path string, unchanged func()) {
	w.t.Helper()
	path = filepath.Join(filepath.Dir(w.dir), "mine")
	want := make([]byte, size)
	rand.Read(want)
	if err := os.WriteFile(path, want, 0o644); err != nil {
		w.t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return path, func() {
		w.t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			w.t.Errorf("the file changed: %v", err)
		}
		after, err := os.Stat(path)
		if err != nil {
			w.t.Fatal(err)
		}
		a, b := before.Sys().(*syscall.Stat_t), after.Sys().(*syscall.Stat_t)
		if a.Uid != b.Uid || a.Mode != b.Mode || a.Mtim != b.Mtim || a.Ctim != b.Ctim || a.Nlink != b.Nlink {
			w.t.Errorf("the file's facts changed: %+v, %+v", a, b)
		}
	}
}

// Jobs side by side and a group after them, on files of nativ's and on one that
// is there, in each place.
func TestFioInPlaces(t *testing.T) {
	for _, place := range []string{"host", "pinned", "lxc"} {
		t.Run(place, func(t *testing.T) {
			if place == "lxc" {
				needLXC(t)
			} else {
				needRoot(t)
			}
			w := newWorld(t)
			mine, unchanged := w.mine(4 << 20)
			file := filepath.Join(filepath.Dir(w.dir), "x.fio")
			text := "[global]\nioengine=io_uring\nsize=4m\nbs=4k\niodepth=4\n" +
				"[reads]\nrw=randread\nfilename=" + mine + "\n" +
				"[writes]\nrw=randwrite\ndirect=1\nfilename=" + w.dir + "/new\nnumjobs=2\n" +
				"[after]\nstonewall\nrw=read\ndirect=1\nfilename=" + w.dir + "/new\n"
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			res := w.run("fio", "--yes", "--json", "--place", place, file).want(t, 0)
			rec := res.record(t)
			if !rec.Complete || len(rec.Rounds) != 2 || len(rec.Rounds[0].Passes) != 2 {
				t.Fatalf("incomplete %v, %d rounds", rec.Incomplete, len(rec.Rounds))
			}
			for name, bytes := range map[string]int64{"reads": 4 << 20, "writes": 8 << 20, "after": 4 << 20} {
				for _, p := range passes(rec, name, place) {
					flow := p.Outcome.Read
					if name == "writes" {
						flow = p.Outcome.Write
					}
					if !p.OK() || flow == nil || flow.Bytes != bytes || flow.Lat.N() != flow.IOs {
						t.Errorf("%s: %+v, %+v", name, p.Failed, flow)
					}
				}
			}
			a, b := rec.Rounds[0].Passes[0].Outcome, rec.Rounds[0].Passes[1].Outcome
			if len(a.Clones) != 0 || len(b.Clones) != 2 || b.Clones[0].Write.IOs+b.Clones[1].Write.IOs != b.Write.IOs {
				t.Errorf("the clones of reads and writes: %+v, %+v", a.Clones, b.Clones)
			}
			if c := rec.Rounds[1].Passes[0].Outcome; c.StartNS < max(a.EndNS, b.EndNS) {
				t.Error("the second group did not wait for the first")
			}
			unchanged()
			w.nothingLeft()
		})
	}
}

// What exists is never written, in whatever way it is asked for.
func TestFioNeverWritesWhatExists(t *testing.T) {
	w := newWorld(t)
	mine, unchanged := w.mine(1 << 20)
	link := filepath.Join(filepath.Dir(w.dir), "link")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--rw=write", "--filename=" + mine},
		{"--rw=randrw", "--filename=" + mine},
		{"--rw=write", "--filename=" + link},
		{"--rw=write", "--filename=" + mine + ":" + w.dir + "/new"},
		{"--rw=write", "--directory=" + filepath.Dir(mine), "--filename=mine"},
		{"--name=a", "--rw=read", "--filename=" + mine, "--name=b", "--rw=write", "--filename=" + mine},
		{"--rw=write", "--filename=" + w.dir},
		{"--rw=write", "--filename=/dev/null"},
	} {
		res := w.run(append([]string{"fio", "--yes", "--size=64k"}, args...)...)
		if res.code != 3 {
			t.Errorf("%v: exit code %d\n%s", args, res.code, res.stderr)
		}
		unchanged()
	}
	w.nothingLeft()
}

// Ctrl-C keeps what was measured, and leaves nothing.
func TestFioInterrupted(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	r := w.start("fio", "--yes", "--json", "--lang=en", "--rw=randread", "--norandommap", "--bs=4k", "--direct=1", "--size=4m", "--time_based", "--runtime=60",
		"--directory="+w.dir, "--numjobs=2")
	r.untilSaid("Test file written")
	r.until("two workers", func() bool { return strings.Count(r.said(), "Test file written") == 2 })
	r.signal(os.Interrupt)
	rec := r.wait().want(t, 4).record(t)
	if rec.Complete || len(rec.Incomplete) == 0 {
		t.Errorf("complete %t, %v", rec.Complete, rec.Incomplete)
	}
	w.nothingLeft()
}

// A run that is killed leaves what nativ clean removes, and a file that was
// there stays as it was.
func TestFioKilled(t *testing.T) {
	needLXC(t)
	w := newWorld(t)
	mine, unchanged := w.mine(1 << 20)
	r := w.start("fio", "--yes", "--place=lxc", "--lang=en", "--norandommap", "--bs=4k", "--size=1m", "--time_based", "--runtime=60",
		"--name=a", "--rw=randread", "--filename="+mine, "--name=b", "--rw=randwrite", "--directory="+w.dir)
	r.untilSaid("Test file written")
	r.signal(syscall.SIGKILL)
	<-r.ended
	w.run("clean").want(t, 0)
	unchanged()
	w.nothingLeft()
}

// said is what nativ has written to stderr so far.
func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err.String()
}

// The host's fio runs in every place, on the files of nativ.
func TestFioAsEngine(t *testing.T) {
	needLXC(t)
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("needs fio")
	}
	w := newWorld(t)
	mine, unchanged := w.mine(1 << 20)
	for _, place := range []string{"host", "lxc"} {
		rec := w.run("fio", "--yes", "--json", "--engine=fio", "--place", place, "--ioengine=io_uring", "--rw=read", "--bs=4k", "--filename="+mine).
			want(t, 0).record(t)
		o := rec.Rounds[0].Passes[0].Outcome
		if o.Read == nil || o.Read.Bytes != 1<<20 || rec.Places[0].Worker.Engine.Version == "" || len(o.Command) == 0 {
			t.Errorf("%s: %+v, engine %+v", place, o, rec.Places[0].Worker.Engine)
		}
	}
	unchanged()
	w.nothingLeft()
}
