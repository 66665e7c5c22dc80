// Command selfcheck asks nativ, on this machine, two things whose answers are
// known: whether the host differs from itself, which it does not, and how much a
// container loses that its cgroup holds to nine tenths of what the pinned host is
// held to. It writes what it was told as Markdown.
//
// It takes more than an hour and root, and the machine should do nothing else, so
// that it is no test of the suite. It sets the two limits itself, from outside, as
// an administrator would; nativ does not know of them.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// jobs are two phases of the preset quick; sections apart, as nativ's presets are.
const jobs = `[global]
ioengine=io_uring
direct=1
iodepth=32
numjobs=4
time_based=1
runtime=3
stonewall=1
group_reporting=1

[randread-4k]
rw=randread
bs=4k

[randwrite-4k]
rw=randwrite
bs=4k
`

// rounds is enough for a sign-flip test over two phases; pass is short, because the
// host is measured against itself so often. A container that is held has longer
// passes, of which nativ drops the first second: the kernel lets through what it
// was not asked for in the tenths of a second before (CONFIG_BLK_DEV_THROTTLING,
// throtl_slice), and with some 100 I/Os in flight a pass of 3 s is known to be
// 9.93 % slower and not 10 %.
const (
	rounds   = 8
	pass     = 3 * time.Second
	heldPass = 12 * time.Second
)

// A check is one call of the program.
type check struct {
	ctx      context.Context
	bin, dir string
	state    string
	job      string
}

func main() {
	bin := flag.String("nativ", "bin/nativ", "the program to ask")
	dir := flag.String("dir", "selfcheck-run", "a directory on the disk, made and removed")
	times := flag.Int("times", 20, "how often the host is measured against itself")
	limited := flag.Int("limited", 3, "how often the container is held to nine tenths")
	iops := flag.Int("iops", 6000, "what the pinned host is held to, in I/Os a second; the disk must do more")
	keep := flag.String("keep", "", "a directory for the records, whose own count, too: so that hours can be divided")
	out := flag.String("out", "docs/selfcheck.md", "the document to write, anew after each run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bin, *dir, *keep, *out, *times, *limited, *iops); err != nil {
		fmt.Fprintln(os.Stderr, "selfcheck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, dir, keep, out string, times, limited, iops int) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("containers and their limits need root")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make a directory of its own: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	c := &check{ctx: ctx, bin: bin, dir: abs, state: filepath.Join(abs, "state"), job: filepath.Join(abs, "two.fio")}
	if err := os.WriteFile(c.job, []byte(jobs), 0o644); err != nil {
		return err
	}
	if keep == "" {
		keep = filepath.Join(abs, "records")
	}
	if err := os.MkdirAll(keep, 0o755); err != nil {
		return err
	}
	for _, q := range []question{
		{name: "self", places: "host,host", pass: pass, times: times},
		{name: "held", places: "pinned,lxc", pass: heldPass, times: limited, begun: func(run string) error { return c.limit(run, iops) }},
	} {
		for i := range q.times {
			file := filepath.Join(keep, fmt.Sprintf("%s-%02d.json", q.name, i+1))
			if exists(file) {
				continue
			}
			rec, err := c.bench(&q)
			if err != nil {
				return err
			}
			if err := os.WriteFile(file, rec, 0o644); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s  %s, %d of %d\n", time.Now().Format(time.TimeOnly), q.places, i+1, q.times)
			if err := write(keep, out, iops); err != nil {
				return err
			}
		}
	}
	return write(keep, out, iops)
}

// A question is asked several times.
type question struct {
	name, places string
	pass         time.Duration
	times        int
	begun        func(run string) error
}

// write makes the document of the records that are there.
func write(keep, out string, iops int) error {
	d := document{iops: iops}
	for _, q := range []struct {
		name, a, b string
		all        *[]*analysis.Comparison
	}{
		{"self", record.PlaceHost, record.PlaceHost + "#2", &d.self},
		{"held", record.PlacePinned, record.PlaceLXC, &d.held},
	} {
		files, err := filepath.Glob(filepath.Join(keep, q.name+"-*.json"))
		if err != nil {
			return err
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rec, err := record.Decode(bytes.NewReader(b))
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			d.records = append(d.records, rec)
			*q.all = append(*q.all, comparisons(rec, q.a, q.b)...)
		}
	}
	if len(d.records) == 0 {
		return errors.New("nothing was measured")
	}
	return os.WriteFile(out, d.markdown(), 0o644)
}

// bench measures two places and returns the record as JSON. begun is called with
// the ID of the run when it has begun, before anything of it counts.
func (c *check) bench(q *question) ([]byte, error) {
	cmd := exec.CommandContext(c.ctx, c.bin, "bench", "--dir", c.dir, "--job", c.job, "--places", q.places,
		"--rounds", fmt.Sprint(rounds), "--runtime", q.pass.String(), "--cpus", "1", "--size", "2G", "--yes", "--json")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), "NATIV_STATE_DIR="+c.state, "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var limitErr error
	if q.begun != nil {
		if limitErr = c.whenBegun(q.begun); limitErr != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if err := cmd.Wait(); err != nil || limitErr != nil {
		return nil, fmt.Errorf("nativ bench --places %s: %w\n%s", q.places, errors.Join(limitErr, err), &stderr)
	}
	return stdout.Bytes(), nil
}

// whenBegun calls begun as soon as it succeeds: both groups are there a moment
// after the journal is.
func (c *check) whenBegun(begun func(run string) error) error {
	const patience = time.Minute
	err := errors.New("no journal")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		list, _ := filepath.Glob(filepath.Join(c.state, "journal", "*.jsonl"))
		for _, j := range list {
			if err = begun(strings.TrimSuffix(filepath.Base(j), ".jsonl")); err == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("set the limits within %v: %w", patience, err)
}

// limit holds the pinned host to iops and the container to nine tenths of it.
func (c *check) limit(run string, iops int) error {
	disk, err := c.disk()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		group string
		iops  int
	}{{"pinned", iops}, {"ct", iops * 9 / 10}} {
		if err := throttle(run, l.group, disk, l.iops); err != nil {
			return err
		}
	}
	return nil
}

// disk is the whole disk below the directory, as major:minor.
func (c *check) disk() (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(c.dir, &st); err != nil {
		return "", err
	}
	sys := fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	if _, err := os.Stat(sys + "/partition"); err == nil {
		sys += "/.."
	}
	b, err := os.ReadFile(sys + "/dev")
	return strings.TrimSpace(string(b)), err
}

// throttle sets a limit of I/Os a second on a group, in either version.
func throttle(run, group, disk string, iops int) error {
	path := filepath.Join("nativ", run, group)
	if v1 := filepath.Join("/sys/fs/cgroup/blkio", path); exists(v1) {
		for _, op := range []string{"read", "write"} {
			file := filepath.Join(v1, "blkio.throttle."+op+"_iops_device")
			if err := os.WriteFile(file, fmt.Appendf(nil, "%s %d", disk, iops), 0); err != nil {
				return err
			}
		}
		return nil
	}
	return os.WriteFile(filepath.Join("/sys/fs/cgroup", path, "io.max"), fmt.Appendf(nil, "%s riops=%d wiops=%d", disk, iops, iops), 0)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// comparisons are those of throughput between two places, one a phase.
func comparisons(rec *record.Record, a, b string) (all []*analysis.Comparison) {
	res := analysis.Compute(rec)
	for i := range res.Phases {
		if c := res.Phases[i].Comparison(analysis.MetricThroughput, a, b); c != nil {
			all = append(all, c)
		}
	}
	return all
}
