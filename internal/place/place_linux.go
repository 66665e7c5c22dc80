package place

import (
	"fmt"
	"os"
	"slices"
	"time"

	"nativ/internal/cgroup"
	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/target"
	"nativ/internal/worker"
)

// Config is what all places of a run share.
type Config struct {
	RunID   string
	Journal *journal.Journal
	// Cgroups is nil for a user who may not make any; only the host place
	// can do without.
	Cgroups *cgroup.FS
	// Exe is the nativ binary; empty means the running one.
	Exe string
	// Engine is the name of the engine that workers use.
	Engine string
	// GOMAXPROCS of every worker.
	GOMAXPROCS int
}

// Limits are the CPUs and the memory (bytes, 0 for no limit) of a place.
type Limits struct {
	CPUs   []int
	Memory int64
}

// controllers are those that the limits need.
func (l *Limits) controllers() []string {
	var names []string
	if len(l.CPUs) > 0 {
		names = append(names, "cpuset")
	}
	if l.Memory > 0 {
		names = append(names, "memory")
	}
	return names
}

func (c *Config) exe() string {
	if c.Exe != "" {
		return c.Exe
	}
	return "/proc/self/exe"
}

// group is the path of a cgroup of this run.
func (c *Config) group(name string) string {
	return cgroupTop + "/" + c.RunID + "/" + name
}

// cgroupTop is the group below which all of nativ's are.
const cgroupTop = "nativ"

// request asks for a pass on the files, which the worker sees where path says.
func (c *Config) request(p job.Phase, files []*target.File, path func(*target.File) string) worker.Request {
	r := worker.Request{Engine: c.Engine, Phase: p, GOMAXPROCS: c.GOMAXPROCS}
	if p.Engine != "" {
		r.Engine = p.Engine
	}
	var sizes []int64
	for _, f := range files {
		t := f.Ticket(path(f), p.Mode.Writes(), p.Direct)
		t.Sync = string(p.Sync)
		r.Tickets = append(r.Tickets, t)
		sizes = append(sizes, f.Facts().Size)
	}
	r.DeadlineNS = int64(deadline(&p, sizes))
	return r
}

// probePhase is set up on the files, but never started, to see whether the
// engine works in a place.
func probePhase(files []*target.File) job.Phase {
	p := job.Phase{Name: "probe", Mode: job.RandRead, BlockSize: 512, IODepth: 1, NumJobs: 1, Direct: true, RuntimeNS: 1}
	for _, f := range files {
		p.Direct = p.Direct && f.CanDirect()
		p.BlockSize = max(p.BlockSize, f.Facts().OffsetAlign, min(f.Facts().Size/512*512, 4096))
	}
	return p
}

// prepared reports as an error a file for which the place was not prepared.
func prepared(place string, ready, files []*target.File) error {
	if len(ready) == 0 {
		return fmt.Errorf("run a pass in %s: it is not prepared", place)
	}
	for _, f := range files {
		if !slices.Contains(ready, f) {
			return fmt.Errorf("run a pass in %s: it is not prepared for %s", place, f.Path())
		}
	}
	return nil
}

const (
	// slack is for setting up, for the wait between ready and go, and for
	// I/Os that come back late.
	slack = 60 * time.Second
	// slowest is the throughput in bytes a second that a pass without a time
	// limit is trusted to keep, and slowestIO the time that one of its I/Os may
	// take, a sync included: below them it is called stalled.
	slowest   = 1 << 20
	slowestIO = 100 * time.Millisecond
)

// deadline bounds the life of a worker on files of these sizes. It is a safety
// net, not a plan: the phase ends by itself long before.
func deadline(p *job.Phase, sizes []int64) time.Duration {
	const most = 30 * 24 * time.Hour
	if len(p.Raw) > 0 {
		return most // what fio's own options do to the length (startdelay, loops, verify) is not known here
	}
	grace := slack + time.Duration(p.RampTimeNS)
	if p.RuntimeNS > 0 {
		return grace + time.Duration(p.RuntimeNS)
	}
	bytes := p.MaxBytes
	for i := 0; i < p.NumJobs && p.MaxBytes == 0; i++ {
		var regions int64
		for _, size := range sizes {
			_, n := p.RegionOf(i, size, len(sizes))
			regions += max(n, 0)
		}
		bytes += p.IOLimit(regions)
	}
	read, write := p.BlockSizes()
	ios := float64(bytes / min(read, write))
	seconds := max(float64(bytes)/slowest, ios*slowestIO.Seconds()) + ios*float64(p.ThinkTimeNS)/1e9
	for _, rate := range []int64{p.ReadIOPS, p.WriteIOPS} {
		if rate > 0 {
			seconds += ios / float64(rate)
		}
	}
	return grace + time.Duration(min(seconds, most.Seconds())*1e9)
}

// checkLimits compares what was asked for with what holds.
func checkLimits(place string, want Limits, got cgroup.State) error {
	if len(want.CPUs) > 0 && !slices.Equal(sorted(want.CPUs), got.CPUs) {
		return fmt.Errorf("prepare %s: asked for CPUs %s, but its cgroup has %s; are all of them online and not taken by another cpuset?",
			place, job.FormatCPUs(want.CPUs), orNone(job.FormatCPUs(got.CPUs)))
	}
	if want.Memory > 0 {
		// The kernel counts in whole pages and rounds down.
		page := int64(os.Getpagesize())
		if got.Memory == nil || *got.Memory != want.Memory/page*page {
			limit := "none"
			if got.Memory != nil {
				limit = fmt.Sprint(*got.Memory)
			}
			return fmt.Errorf("prepare %s: asked for a memory limit of %d bytes, but its cgroup has %s", place, want.Memory, limit)
		}
	}
	return nil
}

// checkWorker compares the CPUs that were asked for with those that a worker
// in the place may use, as it sees them itself.
func checkWorker(place string, want Limits, w *record.Worker) error {
	if len(want.CPUs) > 0 && !slices.Equal(sorted(want.CPUs), w.CPUs) {
		return fmt.Errorf("prepare %s: asked for CPUs %s, but a worker there runs on %s",
			place, job.FormatCPUs(want.CPUs), job.FormatCPUs(w.CPUs))
	}
	return nil
}

func sorted(cpus []int) []int {
	s := slices.Clone(cpus)
	slices.Sort(s)
	return slices.Compact(s)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// failed makes a failure of an error.
func failed(code string, err error) *record.Failure {
	return &record.Failure{Code: code, Detail: err.Error()}
}

// A WorkerError is a worker's refusal while a place was being prepared: what
// it lacks there, in its own words.
type WorkerError struct {
	Place   string
	Failure record.Failure
}

func (e *WorkerError) Error() string {
	if e.Failure.Detail == "" {
		return fmt.Sprintf("prepare %s: start a worker there: %s", e.Place, e.Failure.Code)
	}
	return fmt.Sprintf("prepare %s: start a worker there: %s", e.Place, e.Failure.Detail)
}
