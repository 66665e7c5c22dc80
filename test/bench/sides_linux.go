package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sys"
	ticket "nativ/internal/target"
	"nativ/internal/worker"
)

// A load is one workload for both sides: random reads of 4 KiB.
type load struct {
	file    *testFile
	direct  bool
	lat     bool // percentiles of lat are compared; fio keeps none of it by itself
	depth   int
	jobs    int
	seconds int
	bytes   int64  // ends after so many instead, if not 0
	cgroup  string // a directory in which the process runs; "" is ours
}

const blockSize = 4096

// A result is one run of one side.
type result struct {
	ios, bytes      int64
	iops            float64
	userNS, totalNS float64 // CPU time of the whole process for each I/O
	mean, p50, p99  float64 // of lat, in ns
	startNS         int64   // from exec to the start of all jobs; nativ only
	peakKB          int64   // VmHWM at the first interval; nativ only
}

// A side runs loads.
type side struct {
	name    string
	run     func(context.Context, load) (result, error)
	command func(load) string
}

// shell starts a command in a cgroup, where one is asked for: both sides in the
// same way, before they are what they are.
func shell(cgroup string, args ...string) *exec.Cmd {
	if cgroup == "" {
		return exec.Command(args[0], args[1:]...)
	}
	return exec.Command("sh", append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, cgroup}, args...)...)
}

// usage sets the CPU time of the process that was waited for. wait4(2) counts
// its threads (io-wq's too, which belong to it) and the children it waited for.
func (r *result) usage(p *os.ProcessState) {
	ru := p.SysUsage().(*syscall.Rusage)
	user, system := float64(ru.Utime.Nano()), float64(ru.Stime.Nano())
	r.userNS, r.totalNS = user/float64(r.ios), (user+system)/float64(r.ios)
}

// request is what nativ bench would send to its worker for the load.
func request(l load) worker.Request {
	p := job.Phase{
		Name: "bench", Mode: job.RandRead, BlockSize: blockSize, IODepth: l.depth, NumJobs: l.jobs, Direct: l.direct,
		RuntimeNS: int64(l.seconds) * 1e9, MaxBytes: l.bytes, RandSeed: 1,
		KeepCache: true, // invalidate=0, as for fio
	}
	t := l.file.ticket
	t.Direct = l.direct
	return worker.Request{
		Version: worker.ProtocolVersion, Engine: "io_uring", Phase: p, Tickets: []ticket.Ticket{t},
		GOMAXPROCS: l.jobs + 4, DeadlineNS: int64(l.seconds+60) * 1e9,
	}
}

// own is nativ's engine in the process in which nativ bench runs it.
func own(bin string) side {
	return side{
		name: "nativ",
		command: func(l load) string {
			r := request(l)
			r.Tickets[0].Path, r.Tickets[0].Nonce = "FILE", "…"
			r.Tickets[0].Ino = 0
			b, _ := json.Marshal(r)
			return "nativ worker <<< '" + string(b) + "' '{\"go\":true}'"
		},
		run: func(ctx context.Context, l load) (result, error) { return runOwn(ctx, bin, l) },
	}
}

func runOwn(ctx context.Context, bin string, l load) (r result, err error) {
	cmd := shell(l.cgroup, bin, "worker")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	t0 := sys.MonoNow()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	c := worker.Client{Stdin: in, Stdout: out}
	outcome, failed, _ := c.Do(ctx, request(l), func(e record.Event) {
		switch {
		case e.Type == record.EventStarted:
			r.startNS = e.MonoNS - t0
		case e.Type == record.EventInterval && r.peakKB == 0:
			r.peakKB = peakKB(cmd.Process.Pid)
		}
	})
	in.Close()
	// The pipe is read to its end by Do; Wait closes it.
	waitErr := cmd.Wait()
	switch {
	case failed != nil:
		return r, fmt.Errorf("nativ: %s: %s", failed.Code, failed.Detail)
	case waitErr != nil:
		return r, fmt.Errorf("nativ: %w", waitErr)
	}
	f := outcome.Read
	r.ios, r.bytes = f.IOs, f.Bytes
	r.iops = float64(f.IOs) / (float64(outcome.ElapsedNS()) / 1e9)
	r.mean = float64(f.Lat.Sum) / float64(f.IOs)
	p50, _ := f.Lat.Percentile(50)
	p99, _ := f.Lat.Percentile(99)
	r.p50, r.p99 = float64(p50), float64(p99)
	r.usage(cmd.ProcessState)
	return r, nil
}

// peakKB is the largest resident size of a process so far; 0 where it is not to
// be had.
func peakKB(pid int) int64 {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if v, ok := strings.CutPrefix(sc.Text(), "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(v, "kB")), 10, 64)
			return n
		}
	}
	return 0
}

// fioSide is the installed fio, with its own defaults beyond the load and what
// more names. lat is recorded by both sides.
func fioSide(name string, more ...string) side {
	args := func(l load, file string) []string {
		a := []string{
			"fio", "--name=bench", "--filename=" + file, "--rw=randread", "--bs=4k", "--ioengine=io_uring",
			fmt.Sprintf("--iodepth=%d", l.depth), fmt.Sprintf("--numjobs=%d", l.jobs),
			"--direct=" + map[bool]string{true: "1", false: "0"}[l.direct],
			"--invalidate=0", "--norandommap", fmt.Sprintf("--size=%d", l.file.ticket.Size),
		}
		if l.lat {
			a = append(a, "--lat_percentiles=1")
		}
		if l.bytes > 0 {
			a = append(a, fmt.Sprintf("--io_size=%d", l.bytes))
		} else {
			a = append(a, "--time_based", fmt.Sprintf("--runtime=%d", l.seconds))
		}
		return append(append(a, more...), "--group_reporting", "--output-format=json")
	}
	return side{
		name:    name,
		command: func(l load) string { return strings.Join(args(l, "FILE"), " ") },
		run: func(_ context.Context, l load) (r result, err error) {
			var out, errs bytes.Buffer
			cmd := shell(l.cgroup, args(l, l.file.ticket.Path)...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				return r, fmt.Errorf("fio: %w: %s", err, strings.TrimSpace(errs.String()))
			}
			if err := r.readFio(&out); err != nil {
				return r, err
			}
			r.usage(cmd.ProcessState)
			return r, nil
		},
	}
}

// readFio takes from fio's JSON what a comparison needs.
func (r *result) readFio(out io.Reader) error {
	b, err := io.ReadAll(out)
	if err != nil {
		return err
	}
	b = b[max(bytes.IndexByte(b, '{'), 0):] // fio may say something before
	var doc struct {
		Jobs []struct {
			Error int `json:"error"`
			Read  struct {
				IOs       int64 `json:"total_ios"`
				Bytes     int64 `json:"io_bytes"`
				RuntimeMS int64 `json:"runtime"`
				Lat       struct {
					Mean       float64
					Percentile map[string]float64
				} `json:"lat_ns"`
			}
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("read fio's JSON: %w", err)
	}
	if len(doc.Jobs) != 1 || doc.Jobs[0].Error != 0 || doc.Jobs[0].Read.RuntimeMS == 0 || doc.Jobs[0].Read.IOs == 0 {
		return errors.New("read fio's JSON: not one whole group")
	}
	f := doc.Jobs[0].Read
	r.ios, r.bytes = f.IOs, f.Bytes
	r.iops = float64(f.IOs) / (float64(f.RuntimeMS) / 1e3)
	r.mean, r.p50, r.p99 = f.Lat.Mean, f.Lat.Percentile["50.000000"], f.Lat.Percentile["99.000000"]
	return nil
}

// results are the rounds of one side.
type results []result

func (r results) of(f func(result) float64) (s sample) {
	for _, x := range r {
		s = append(s, f(x))
	}
	return s
}

func (r results) iops() sample  { return r.of(func(x result) float64 { return x.iops }) }
func (r results) user() sample  { return r.of(func(x result) float64 { return x.userNS }) }
func (r results) total() sample { return r.of(func(x result) float64 { return x.totalNS }) }
func (r results) mean() sample  { return r.of(func(x result) float64 { return x.mean }) }
func (r results) p50() sample   { return r.of(func(x result) float64 { return x.p50 }) }
func (r results) p99() sample   { return r.of(func(x result) float64 { return x.p99 }) }

// alternate runs the sides in turn, and every other round the other way round.
func alternate(ctx context.Context, rounds int, l load, sides []side) ([]results, error) {
	all := make([]results, len(sides))
	for round := range rounds {
		for i := range sides {
			if round%2 == 1 {
				i = len(sides) - 1 - i
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			r, err := sides[i].run(ctx, l)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], r)
		}
	}
	return all, nil
}
