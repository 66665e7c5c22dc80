package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker"
)

// workers returns the processes that run as nativ worker in the cgroup of a
// place of the run.
func workers(run, group string) (pids []int) {
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range procs {
		b, err := os.ReadFile(p)
		if err != nil || !strings.Contains(string(b), "nativ\x00worker") {
			continue
		}
		cg, err := os.ReadFile(filepath.Dir(p) + "/cgroup")
		if err != nil || !strings.Contains(string(cg), "/nativ/"+run+"/"+group) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// initOf returns the container's first process as the host numbers it.
func initOf(run string) int {
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range procs {
		b, err := os.ReadFile(p)
		if err != nil || !strings.HasPrefix(string(b), "/nativ\x00init") {
			continue
		}
		cg, _ := os.ReadFile(filepath.Dir(p) + "/cgroup")
		if strings.Contains(string(cg), run) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(p)))
			return pid
		}
	}
	return 0
}

// A worker or container that is killed costs one pass. The container is made
// anew.
func TestKilledInMidRun(t *testing.T) {
	needLXC(t)
	for _, tt := range []struct {
		name  string
		pid   func(run string) int
		code  string
		place string
		again bool
	}{
		{"worker on the host", func(run string) int { return first(workers(run, "host")) }, record.FailWorker, "host", false},
		{"worker in the container", func(run string) int { return first(workers(run, "ct")) }, record.FailWorker, "lxc", false},
		{"container", initOf, record.FailContainer, "lxc", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.start(w.bench("--json", "--runtime", "4s")...)
			if tt.place == "host" {
				r.untilSaid("Test file written")
			} else {
				r.untilSaid("2/30") // the next pass is the container's
			}
			// In the middle of a pass, and not in the end of the one before.
			r.until("its process", func() bool {
				pid := tt.pid(w.runID())
				if pid == 0 {
					return false
				}
				time.Sleep(300 * time.Millisecond)
				return tt.pid(w.runID()) == pid && syscall.Kill(pid, syscall.SIGKILL) == nil
			})
			rec := r.wait().want(t, 4).record(t)
			w.nothingLeft()
			var failed []record.Pass
			total := 0
			for _, rd := range rec.Rounds {
				for _, p := range rd.Passes {
					total++
					if !p.OK() {
						failed = append(failed, p)
					}
				}
			}
			if total != 30 || len(failed) != 1 || failed[0].Place != tt.place || failed[0].Failed.Code != tt.code {
				t.Fatalf("%d passes, failed: %+v", total, failed)
			}
			again := false
			for _, x := range rec.Warnings {
				again = again || x.Code == record.WarnContainerRemade
			}
			if again != tt.again {
				t.Errorf("container made anew: %t, want %t", again, tt.again)
			}
			w.run("report", "last", "--lang", "en").want(t, 0).says(t, "Incomplete run (29 of 30 passes)")
		})
	}
}

func first(pids []int) int {
	if len(pids) == 0 {
		return 0
	}
	return pids[0]
}

// A disk that fills up while the test file is written: here the space below a
// filesystem ends, as in a thin pool.
func TestDiskFull(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	back := mount(t, "-t", "tmpfs", "-o", "size=300m", "tmpfs")
	dev := loopDisk(t, back, "16G")
	sh(t, "mkfs.ext4", "-q", "-O", "^has_journal", "-N", "1024", "-E", "nodiscard", dev)
	w.dir = mount(t, dev)
	res := w.run(w.bench("--places", "host", "--size", "1G", "--json")...)
	if res.code != 4 {
		t.Fatalf("exit code %d\n%s", res.code, res.stderr)
	}
	rec := res.record(t)
	if rec.Complete || rec.Prefill == nil || rec.Prefill.Failed == nil || len(rec.Rounds) != 0 {
		t.Errorf("prefill %+v, %d rounds", rec.Prefill, len(rec.Rounds))
	}
	w.nothingLeft()
}

// A drive that stalls: the worker still answers the end of stdin and its
// deadline.
func TestStalledDevice(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	dir := ext4(t, loopDisk(t, filepath.Dir(w.dir), "1G"))
	path := filepath.Join(dir, "nativ-"+strings.Repeat("ab", 16)+".dat")
	sh(t, "dd", "if=/dev/urandom", "of="+path, "bs=1M", "count=64", "oflag=direct", "status=none")
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	// Two I/Os a second for everybody in a group of the test's own.
	run := fmt.Sprintf("e2e-%d", os.Getpid())
	groups := []string{"/sys/fs/cgroup/blkio/nativ/" + run + "/slow", "/sys/fs/cgroup/nativ/" + run + "/slow"}
	group := groups[0]
	if _, err := os.Stat("/sys/fs/cgroup/blkio"); err != nil {
		group = groups[1]
		os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+io"), 0)
	}
	if err := os.MkdirAll(group, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for d := group; filepath.Base(d) != "cgroup" && filepath.Base(d) != "blkio"; d = filepath.Dir(d) {
			for range 50 {
				if os.Remove(d) == nil {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
	})
	throttle(t, run, "slow", diskOf(t, dir), 2)

	for _, end := range []string{"stdin", "deadline"} {
		t.Run(end, func(t *testing.T) {
			cmd := exec.Command(bin, "worker")
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(group+"/cgroup.procs", []byte(strconv.Itoa(cmd.Process.Pid)), 0); err != nil {
				t.Fatal(err)
			}
			req := worker.Request{
				Version: worker.ProtocolVersion, Engine: "io_uring", GOMAXPROCS: 8, DeadlineNS: 600e9,
				Phase: job.Phase{Name: "slow", Mode: job.RandRead, BlockSize: 4096, IODepth: 32, NumJobs: 4, Direct: true, RuntimeNS: 500e9},
				Tickets: []target.Ticket{{Path: path, DevMajor: uint32(st.Dev >> 8 & 0xfff), DevMinor: uint32(st.Dev & 0xff), Ino: st.Ino,
					Size: st.Size, Nonce: strings.Repeat("ab", 16), Direct: true}},
			}
			if end == "deadline" {
				req.DeadlineNS = 3e9
			}
			enc, dec := json.NewEncoder(in), json.NewDecoder(out)
			enc.Encode(req)
			var e record.Event
			if err := dec.Decode(&e); err != nil || e.Type != record.EventReady {
				t.Fatalf("%+v, %v", e, err)
			}
			enc.Encode(worker.Go{Go: true})
			for e.Type != record.EventInterval {
				if err := dec.Decode(&e); err != nil {
					t.Fatal(err)
				}
			}
			if end == "stdin" {
				in.Close()
			}
			done := make(chan error, 1)
			go func() {
				for dec.Decode(&e) == nil {
				}
				done <- cmd.Wait()
			}()
			// Far below the minutes that the queue of 128 takes at this rate.
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				cmd.Process.Kill()
				t.Fatal("the worker did not end")
			}
			if e.Type != record.EventResult && e.Type != record.EventError {
				t.Errorf("its last word was %+v", e)
			}
		})
	}
}

// What is not a drive, or no place for a test file, is refused with nothing
// touched and a way out.
func TestRefusals(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	shm := mount(t, "-t", "tmpfs", "tmpfs")
	base := filepath.Dir(w.dir)
	for _, d := range []string{"lower", "upper", "work"} {
		os.Mkdir(filepath.Join(base, d), 0o755)
	}
	overlay := mount(t, "-t", "overlay", "-o", fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", base), "overlay")
	small := ext4(t, loopDisk(t, base, "2G"))
	for _, tt := range []struct {
		name, dir string
		args      []string
		code      int
		says      []string
	}{
		{"tmpfs", shm, nil, 3, []string{"tmpfs", "--dir"}},
		{"overlay", overlay, nil, 3, []string{"overlay"}},
		{"space", small, nil, 3, []string{"free"}},
		{"more than there is", w.dir, []string{"--size", "500T"}, 3, []string{"free"}},
		{"missing", "/no/such/dir", nil, 3, []string{"/no/such/dir"}},
		{"a file", "/etc/hostname", nil, 3, []string{"director"}},
		{"a device", "/dev/null", nil, 3, []string{"director"}},
		{"proc", "/proc", nil, 3, []string{"proc"}},
		{"preset", w.dir, []string{"--preset", "quack"}, 2, []string{"quick"}},
		{"places", w.dir, []string{"--places", "moon"}, 2, []string{"moon", "lxc"}},
		{"same place twice", w.dir, []string{"--places", "lxc,lxc"}, 2, []string{"lxc"}},
		{"too many CPUs", w.dir, []string{"--cpus", "4096"}, 2, []string{"4096"}},
		{"memory", w.dir, []string{"--memory", "lots"}, 2, []string{"lots"}},
		{"runtime", w.dir, []string{"--runtime", "5"}, 2, []string{"runtime"}},
		{"language", w.dir, []string{"--lang", "fr"}, 2, []string{"fr", "de"}},
		{"note", w.dir, []string{"--note", "heatsink"}, 2, []string{"KEY=VALUE"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := sh(t, "ls", "-la", "--time-style=full-iso", filepath.Dir(w.dir))
			args := append([]string{"bench", "--yes", "--dir", tt.dir, "--lang", "en"}, tt.args...)
			w.run(args...).want(t, tt.code).says(t, tt.says...)
			w.nothingLeft()
			if after := sh(t, "ls", "-la", "--time-style=full-iso", filepath.Dir(w.dir)); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// io_uring that is switched off or forbidden says by whom, and nothing switches
// to another engine.
func TestNoUring(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	args := w.bench("--places", "host")

	t.Run("sysctl", func(t *testing.T) {
		const file = "/proc/sys/kernel/io_uring_disabled"
		old, err := os.ReadFile(file)
		if err != nil {
			t.Skip("needs Linux 6.6: ", err)
		}
		t.Cleanup(func() { os.WriteFile(file, old, 0) })
		os.WriteFile(file, []byte("2"), 0)
		w.run(args...).want(t, 5).says(t, "kernel.io_uring_disabled=2")
		// 1 forbids it to processes without privileges: an ordinary user, and
		// the mapped root of a container.
		os.WriteFile(file, []byte("1"), 0)
		u := newWorld(t)
		os.Chown(u.dir, int(nobody.Uid), int(nobody.Gid))
		os.Chown(u.state, int(nobody.Uid), int(nobody.Gid))
		u.user = nobody
		u.run(u.bench("--places", "host")...).want(t, 5).says(t, "kernel.io_uring_disabled=1")
		if _, err := exec.LookPath("lxc-start"); err == nil {
			w.run(w.bench()...).want(t, 5).says(t, "kernel.io_uring_disabled=1")
			w.nothingLeft()
		}
	})
	for name, errno := range map[string]syscall.Errno{"EPERM": syscall.EPERM, "ENOSYS": syscall.ENOSYS} {
		t.Run("seccomp "+name, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := w.command(args...)
			c.Path, c.Args = self, append([]string{self, bin}, args...)
			c.Env = append(c.Env, "NATIV_E2E_ROLE=seccomp", "NATIV_E2E_ERRNO="+strconv.Itoa(int(errno)))
			out, err := c.CombinedOutput()
			if c.ProcessState.ExitCode() != 5 || !strings.Contains(string(out), "seccomp") {
				t.Errorf("%v\n%s", err, out)
			}
			w.nothingLeft()
		})
	}
}

// Without lxc-start the message says how to get it.
func TestNoLXC(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	w.env = append(w.env, "PATH=/nonexistent")
	w.run(w.bench()...).want(t, 5).says(t, "lxc-start", "apt-get install")
	w.nothingLeft()
}

// A drive that stops answering in mid-run costs the pass; the rest goes on when
// it answers again.
func TestStalledInMidRun(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	w.dir = ext4(t, loopDisk(t, filepath.Dir(w.dir), "9G"))
	disk := diskOf(t, w.dir)
	r := w.start(w.bench("--places", "host", "--size", "256M", "--runtime", "4s", "--json")...)
	r.untilSaid("1/10") // said at its end: the second pass begins
	throttle(t, w.runID(), "host", disk, 1)
	r.untilSaid("2/10")
	throttle(t, w.runID(), "host", disk, 0) // no limit
	rec := r.wait().want(t, 4).record(t)
	w.nothingLeft()
	failed, good := 0, 0
	for _, rd := range rec.Rounds {
		for _, p := range rd.Passes {
			switch {
			case p.OK():
				good++
			case p.Failed.Code == record.FailStalled && p.Outcome != nil && p.Outcome.Outstanding > 0:
				failed++
			default:
				t.Errorf("pass %d: %+v", p.Index, p.Failed)
			}
		}
	}
	if failed != 1 || good != 9 {
		t.Errorf("%d passes stalled, %d were good", failed, good)
	}
}
