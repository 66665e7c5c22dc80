package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// The main job: three places, five phases, one file, and nothing left.
func TestBench(t *testing.T) {
	needLXC(t)
	for _, kind := range []string{"unprivileged", "privileged"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			// Below a directory that nobody but root may enter.
			os.Chmod(filepath.Dir(w.dir), 0o700)
			w.state = outside(t)
			args := w.bench("--cpus", "1", "--memory", "1G", "--json", "--note", "heatsink=none")
			if kind == "privileged" {
				args = append(args, "--privileged")
			}
			rec := w.run(args...).want(t, 0).record(t)
			w.nothingLeft()
			checkRecord(t, rec)
			self := namespaces(t, "self")
			host, pinned, lxc := place(t, rec, record.PlaceHost), place(t, rec, record.PlacePinned), place(t, rec, record.PlaceLXC)
			if host.Worker.PIDNamespace != self.pid || host.Worker.UserNS != self.user {
				t.Errorf("the host's worker is in other namespaces: %+v", host.Worker)
			}
			if lxc.Worker.PIDNamespace == self.pid {
				t.Error("the container's worker sees the host's PID namespace")
			}
			if (lxc.Worker.UserNS == self.user) != (kind == "privileged") {
				t.Errorf("a container that is %s, its worker in user namespace %s, the host's is %s", kind, lxc.Worker.UserNS, self.user)
			}
			if lxc.Worker.UID != 0 {
				t.Errorf("the container's worker is user %d in there", lxc.Worker.UID)
			}
			for _, p := range []record.Place{pinned, lxc} {
				if len(p.Worker.CPUs) != 1 || !slices.Equal(p.Worker.CPUs, p.CPUs) || !slices.Equal(p.CPUs, pinned.CPUs) {
					t.Errorf("%s was given CPUs %v, its worker runs on %v", p.Name, p.CPUs, p.Worker.CPUs)
				}
				if p.MemoryBytes == nil || *p.MemoryBytes != 1<<30 {
					t.Errorf("%s has memory limit %v", p.Name, p.MemoryBytes)
				}
			}
			if !slices.Equal(pinned.Controllers, lxc.Controllers) {
				t.Errorf("pinned has controllers %v, the container %v", pinned.Controllers, lxc.Controllers)
			}
			for _, p := range rec.Places {
				if p.Worker.GOMAXPROCS != rec.Plan.GOMAXPROCS {
					t.Errorf("%s: GOMAXPROCS %d, planned %d", p.Name, p.Worker.GOMAXPROCS, rec.Plan.GOMAXPROCS)
				}
				if p.Worker.Engine.RegisteredBuffers {
					t.Errorf("%s registers buffers", p.Name)
				}
			}
			if rec.Notes["heatsink"] != "none" {
				t.Errorf("notes %v", rec.Notes)
			}
		})
	}
}

// outside makes a state directory that the mapped root can enter, whatever the
// directory to measure lies below.
func outside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "nativ-test-state-")
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o755)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// checkRecord checks what holds for every complete run of the quick preset in
// three places.
func checkRecord(t *testing.T, rec *record.Record) {
	t.Helper()
	if !rec.Complete || len(rec.Incomplete) > 0 {
		t.Fatalf("incomplete: %+v", rec.Incomplete)
	}
	if rec.Prefill == nil || rec.Prefill.Bytes != rec.Plan.FileSize {
		t.Fatalf("prefill %+v of %d bytes", rec.Prefill, rec.Plan.FileSize)
	}
	if len(rec.Rounds) != 5 {
		t.Fatalf("%d rounds", len(rec.Rounds))
	}
	for _, r := range rec.Rounds {
		var places []string
		for _, p := range r.Passes {
			places = append(places, p.Place)
			checkPass(t, rec, &p)
		}
		if want := []string{"host", "pinned", "lxc", "lxc", "pinned", "host"}; !slices.Equal(places, want) {
			t.Errorf("%s ran as %v", r.Phase, places)
		}
	}
}

func checkPass(t *testing.T, rec *record.Record, p *record.Pass) {
	t.Helper()
	if !p.OK() {
		t.Errorf("%s in %s: %+v", p.Phase, p.Place, p.Failed)
		return
	}
	i := slices.IndexFunc(rec.Plan.Phases, func(ph job.Phase) bool { return ph.Name == p.Phase })
	ph, o := rec.Plan.Phases[i], p.Outcome
	flow, other := o.Read, o.Write
	if ph.Mode.Writes() {
		flow, other = o.Write, o.Read
	}
	if other != nil {
		t.Errorf("%s in %s did I/O in the other direction", p.Phase, p.Place)
	}
	if flow.IOs == 0 || flow.Bytes != flow.IOs*ph.BlockSize || flow.Lat.N() != flow.IOs {
		t.Errorf("%s in %s: %d I/Os, %d bytes, %d latencies", p.Phase, p.Place, flow.IOs, flow.Bytes, flow.Lat.N())
	}
	var ios int64
	for _, iv := range p.Intervals {
		ios += iv.ReadIOs + iv.WriteIOs
	}
	if ios != flow.IOs {
		t.Errorf("%s in %s: the seconds add up to %d I/Os of %d", p.Phase, p.Place, ios, flow.IOs)
	}
	if ph.FDataSync > 0 && (o.Sync == nil || o.Sync.IOs < flow.IOs-1 || o.Sync.IOs > flow.IOs) {
		t.Errorf("%s in %s: %d writes and %+v syncs", p.Phase, p.Place, flow.IOs, o.Sync)
	}
	// The drive did what the test says that it did.
	if p.Watch.Before == nil || p.Watch.After == nil {
		t.Errorf("%s in %s was not watched", p.Phase, p.Place)
		return
	}
	for name, b := range p.Watch.Before.Devices {
		a := p.Watch.After.Devices[name]
		moved := a.ReadBytes - b.ReadBytes
		if ph.Mode.Writes() {
			moved = a.WriteBytes - b.WriteBytes
		}
		if float64(moved) < 0.9*float64(flow.Bytes) {
			t.Errorf("%s in %s: the drive moved %d bytes for %d", p.Phase, p.Place, moved, flow.Bytes)
		}
	}
	if c := p.Watch.After.Cgroup; c == nil || c.UsageNS == nil {
		t.Errorf("%s in %s: no CPU use of the place", p.Phase, p.Place)
	}
}

type ns struct{ pid, user string }

func namespaces(t *testing.T, pid string) (n ns) {
	t.Helper()
	var err error
	if n.pid, err = os.Readlink("/proc/" + pid + "/ns/pid"); err == nil {
		n.user, err = os.Readlink("/proc/" + pid + "/ns/user")
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// With all CPUs for the container there is nothing to split.
func TestAllCPUs(t *testing.T) {
	needLXC(t)
	w := newWorld(t)
	res := w.run(w.bench("--cpus", cpuCount(t))...).want(t, 0)
	w.nothingLeft()
	res.says(t, "cannot be")
	rec := w.run("report", "last", "--format", "json").want(t, 0).record(t)
	if !rec.Plan.CPUSet.All || slices.Contains(rec.Plan.Places, record.PlacePinned) {
		t.Errorf("planned %v with CPU set %+v", rec.Plan.Places, rec.Plan.CPUSet)
	}
}

func cpuCount(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		t.Fatal(err)
	}
	_, last, ok := strings.Cut(strings.TrimSpace(string(b)), "-")
	if !ok || strings.Contains(last, ",") {
		t.Skip("needs a machine with CPUs 0 to n online")
	}
	n := 0
	for _, c := range last {
		n = n*10 + int(c-'0')
	}
	return itoa(n + 1)
}

func itoa(n int) string {
	s := ""
	for ; n > 0; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

// nobody is the user whom tests without root run as.
var nobody = &syscall.Credential{Uid: 65534, Gid: 65534}

// An ordinary user measures the host, and is told what the rest needs.
func TestOrdinaryUser(t *testing.T) {
	needRoot(t) // to become somebody else
	w := newWorld(t)
	for _, d := range []string{w.dir, w.state} {
		if err := os.Chown(d, int(nobody.Uid), int(nobody.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	w.user = nobody
	rec := w.run(w.bench("--places", "host", "--json")...).want(t, 0).record(t)
	w.nothingLeft()
	if !rec.Complete || len(rec.Places) != 1 || rec.Places[0].Worker.UID != int(nobody.Uid) {
		t.Errorf("complete %t, places %+v", rec.Complete, rec.Places)
	}
	res := w.run(w.bench("--places", "host,lxc")...).want(t, 5)
	res.says(t, "root", "--places host")
	w.nothingLeft()
}

// Two runs on one drive would measure each other: the second names the first,
// whoever it is.
func TestSecondRunRefuses(t *testing.T) {
	needLXC(t)
	first, second := newWorld(t), newWorld(t)
	r := first.start(first.bench("--runtime", "10s")...)
	r.untilSaid("1/30")
	res := second.run(second.bench()...).want(t, 6)
	res.says(t, first.dir, itoa(r.cmd.Process.Pid))
	second.nothingLeftIn()
	for _, d := range []string{second.dir, second.state} {
		os.Chown(d, int(nobody.Uid), int(nobody.Gid))
	}
	second.user = nobody
	second.run(second.bench("--places", "host")...).want(t, 6).says(t, first.dir)
	second.nothingLeftIn()
	r.signal(syscall.SIGINT)
	r.wait().want(t, 4)
	first.nothingLeft()
}

// Ctrl-C and SIGTERM end early, keep what was measured, and leave nothing.
func TestSignals(t *testing.T) {
	needLXC(t)
	for name, sig := range map[string]syscall.Signal{"ctrl-c": syscall.SIGINT, "term": syscall.SIGTERM, "hangup": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.start(w.bench("--json", "--runtime", "4s")...)
			r.untilSaid("3/30") // the next pass runs in the container
			r.signal(sig)
			rec := r.wait().want(t, 4).record(t)
			w.nothingLeft()
			if rec.Complete || len(passes(rec, job.RandRead4K, "host")) != 1 || len(passes(rec, job.RandRead4K, "pinned")) != 1 {
				t.Errorf("complete %t, %d rounds", rec.Complete, len(rec.Rounds))
			}
			last := rec.Incomplete[len(rec.Incomplete)-1]
			if last.Code != record.MissingInterrupted {
				t.Errorf("incomplete: %+v", rec.Incomplete)
			}
			// The record is kept where last finds it.
			again := w.run("report", "last", "--format", "json").want(t, 0).record(t)
			if again.ID != rec.ID {
				t.Errorf("last is %s, not %s", again.ID, rec.ID)
			}
		})
	}
}

// Killed at any moment, nativ clean removes exactly what was made.
func TestKilledThenCleaned(t *testing.T) {
	needLXC(t)
	for _, moment := range []string{
		"Setting up: Host, ", "Setting up: LXC", "Writing the test file", "1/30", "2/30", "4/30", "Cleaning up",
	} {
		t.Run(strings.ReplaceAll(moment, "/", " of "), func(t *testing.T) {
			w := newWorld(t)
			keep := filepath.Join(w.dir, "nativ-mine.dat")
			if err := os.WriteFile(keep, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := w.start(w.bench("--places", "host,pinned,lxc")...)
			r.untilSaid(moment)
			r.signal(syscall.SIGKILL)
			r.wait()
			res := w.run("clean").want(t, 0)
			if b, err := os.ReadFile(keep); err != nil || string(b) != "mine" {
				t.Fatalf("a file that is not nativ's: %q, %v", b, err)
			}
			os.Remove(keep)
			w.nothingLeft()
			res.says(t, "gone:")
			w.run("clean").want(t, 0).says(t, "nothing to clean up")
		})
	}
}

// The next bench offers to clean up; with --yes it does.
func TestNextBenchCleans(t *testing.T) {
	needLXC(t)
	w := newWorld(t)
	r := w.start(w.bench()...)
	r.untilSaid("1/30")
	r.signal(syscall.SIGKILL)
	r.wait()
	w.run("bench", "--dir", w.dir, "--size", "512M", "--lang", "en").want(t, 3).says(t, "nativ clean")
	w.run(w.bench("--places", "host")...).want(t, 0).says(t, "gone:")
	w.nothingLeft()
}
