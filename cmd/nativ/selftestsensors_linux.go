package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nativ/internal/analysis"
	"nativ/internal/bench"
	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/sensor"
	"nativ/internal/sys"
	"nativ/internal/target"
)

// sensorFlags are those of nativ selftest sensors.
type sensorFlags struct {
	dir         string
	time, every time.Duration
	pairs       int
	json        bool
	anyway      bool
}

func newSelftestSensors(e *env) *cobra.Command {
	var f sensorFlags
	c := &cobra.Command{
		Use:   "sensors DIR",
		Short: "Measure whether reading the drive's sensors costs I/O",
		Long: `Reads random blocks of 4 KiB from a file of its own in DIR, in passes that take
turns: in one the sensors are read as in any benchmark, in the next they are
not. Prints how long each source takes to read, and by how much IOPS and p99 of
the two kinds of passes differ, with the range in which the difference lies with
95 % confidence. The order is on, off, off, on, so that a steady drift falls out.

Where no source asks the drive for anything, as where it shows neither a
temperature nor a health log, there is nothing to measure: it says so and ends,
unless --anyway is given.

Writes the file of 256 MiB once, and removes it. With nativ clean after a crash.

Exit codes:
  0  measured
  1  something went wrong that should not
  2  the command line is wrong
  3  refused by the safety gate
  4  ended early; nothing is said of what was measured
  5  this machine lacks what it takes; the message says how to get it
  6  another run holds the drive
  7  something could not be removed`,
		Example: `  nativ selftest sensors /mnt/nvme
  nativ selftest sensors /mnt/nvme --every 250ms --pairs 20`,
		Args: usageArgs(oneArg("DIR on the drive to measure")),
		RunE: func(c *cobra.Command, args []string) error {
			f.dir = args[0]
			if f.time < 2*time.Second || f.time > time.Minute {
				return exit(exitUsage, "--time %v: from 2s to 1m a pass", f.time)
			}
			if f.every < 250*time.Millisecond || f.every > f.time/2 {
				return exit(exitUsage, "--every %v: from 250ms to half of a pass", f.every)
			}
			if f.pairs < 2 || f.pairs > 1000 {
				return exit(exitUsage, "--pairs %d: from 2 to 1000", f.pairs)
			}
			return runSelftestSensors(c.Context(), e, f)
		},
	}
	c.Flags().DurationVar(&f.time, "time", 3*time.Second, "how long each pass takes")
	c.Flags().DurationVar(&f.every, "every", time.Second, "how often the sensors are read")
	c.Flags().IntVar(&f.pairs, "pairs", 8, "how many pairs of passes, one with and one without sensors")
	c.Flags().BoolVar(&f.anyway, "anyway", false, "measure also where no source asks the drive for anything")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON instead of text, in nanoseconds and ratios")
	return c
}

// sensorTestFile is the size of the file. A drive's own cache may hold it, but
// that is the same for both kinds of passes.
const sensorTestFile = 256 << 20

func runSelftestSensors(ctx context.Context, e *env, f sensorFlags) error {
	// As in runBench: the probe of direct I/O runs one job of the engine here.
	if runtime.GOMAXPROCS(0) < 4 {
		runtime.GOMAXPROCS(4)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	phase := job.Phase{Name: job.RandRead4K, Engine: string(job.IOUring), Mode: job.RandRead, BlockSize: 4096, IODepth: 32, NumJobs: 1, Direct: true}
	s := &session{
		e: e, root: os.Geteuid() == 0, release: func() {}, in: bufio.NewReader(e.stdin), lang: "en",
		f:     benchFlags{dir: f.dir, engine: "own", yes: true},
		asked: []string{record.PlaceHost}, placeFlag: "selftest sensors",
		engine: phase.Engine, uring: true,
		preset: job.Preset{
			Name: "selftest-sensors", Phases: []job.Phase{phase}, Passes: 2 * f.pairs,
			Runtime: time.Duration(2*f.pairs) * f.time, FileSize: sensorTestFile,
		},
	}
	s.f.size.set, s.f.size.bytes = true, sensorTestFile
	asks := func(context.Context) error {
		if f.anyway || asksDrive(sensor.ForTarget(&s.rec.Target, sensor.Roots{})) {
			return nil
		}
		return exit(exitMissing, "no sensor of a drive below %s can be read, so that reading them costs no I/O", s.rec.Target.Dir).
			next("What is read besides are the kernel's own counters; to measure these: add --anyway.")
	}
	defer func() { s.release() }()
	for _, step := range []func(context.Context) error{s.findTarget, asks, s.openState, s.checkMachine, s.lock, s.makePlan, s.probeDirect} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	// Every pass starts when its turn comes: a wait for the drive to cool down
	// would be longer after one kind than after the other.
	s.rec.Plan.CoolDownNS, s.rec.Plan.IdleNS = 0, 0
	result, err := s.measureSensors(ctx, f)
	if err != nil {
		return err
	}
	text := sensorTestText(result)
	if f.json {
		b, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return fmt.Errorf("encode the result: %w", err)
		}
		text = string(b) + "\n"
	}
	if _, err := fmt.Fprint(e.stdout, text); err != nil {
		return written("the result", err)
	}
	return nil
}

// asksDrive reports whether reading a source makes the drive answer: its
// temperature and health log are commands to it. Everything else is counted by
// the kernel and read from memory.
func asksDrive(sources []sensor.Source) bool {
	return slices.ContainsFunc(sources, func(s sensor.Source) bool {
		d := s.Describe()
		return d.Missing == "" && (d.Kind == "temperature" || d.Kind == "health")
	})
}

// blind is a watcher that reads nothing.
type blind struct{}

func (blind) Sample() record.Sample         { return record.Sample{MonoNS: sys.MonoNow()} }
func (blind) Start(context.Context)         {}
func (blind) Latest() (record.Sample, bool) { return record.Sample{}, false }
func (blind) Stop() []record.Sample         { return nil }

// measureSensors runs the passes, in turn with the sensors and without.
func (s *session) measureSensors(ctx context.Context, f sensorFlags) (*sensorTest, error) {
	j, err := journal.Create(s.state, journal.Header{
		RunID: s.rec.ID, PID: os.Getpid(), UID: os.Getuid(), Started: time.Now(), Dir: s.rec.Target.Dir,
	})
	if err != nil {
		return nil, err
	}
	set, err := s.newPlaces(j)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	sampler := sensor.New(sensor.ForTarget(&s.rec.Target, sensor.Roots{}), sys.MonoNow)
	sampler.Interval = f.every
	turn := -1 // of the prefill, which comes first
	view := newLive(s.e.stderr, s.e.stderrTTY, s.lang, s.rec)
	run := &bench.Run{
		Record: s.rec, Places: set.places, Emit: view.emit, Now: time.Now, Sleep: sleep,
		Watch: func(bench.Place) bench.Watcher {
			turn++
			if turn > 0 && polled(turn-1) {
				return sampler
			}
			return blind{}
		},
		MakeFile: func() (*target.File, error) {
			var nonce [16]byte
			if _, err := rand.Read(nonce[:]); err != nil {
				return nil, fmt.Errorf("draw a nonce: %w", err)
			}
			return target.Create(s.rec.Target.Dir, s.rec.Plan.FileSize, hex.EncodeToString(nonce[:]), j)
		},
		Undo: func(ctx context.Context) []string { return undoAll(ctx, j, set.undoers) },
	}
	runErr := run.Do(ctx)
	view.close()
	if err := j.Close(); err != nil {
		fmt.Fprintln(s.e.stderr, "nativ:", err)
	}
	if runErr != nil {
		s.sayLeft()
		return nil, runErr
	}
	if len(s.rec.Cleaned.Left) == 0 && !s.rec.Complete {
		// No record is kept of it that a run could go on from.
		return nil, exit(exitIncomplete, "ended early; nothing is said of what was measured").next("Measure again with: nativ selftest sensors %s", f.dir)
	}
	if err := s.verdict(ctx); err != nil {
		return nil, err
	}
	return sensorTestOf(s.rec, f.every, sampler.Sources())
}

// polled is whether the sensors are read in pass i: on, off, off, on, and so on.
func polled(i int) bool { return i%4 == 0 || i%4 == 3 }

// A sensorTest is what nativ selftest sensors found out.
type sensorTest struct {
	Drives  []string `json:"drives"`
	EveryNS int64    `json:"every_ns"`
	// IOPS and P99 are what the sensors make of both, as ratios of with to
	// without.
	IOPS    analysis.Change  `json:"iops"`
	P99     *analysis.Change `json:"p99,omitempty"`
	Sources []sourceCost     `json:"sources"`
	Missing []record.Source  `json:"missing,omitempty"`
}

// A sourceCost is how long one source took to read.
type sourceCost struct {
	Source   string `json:"source"`
	Readings int64  `json:"readings"`
	P50NS    int64  `json:"p50_ns"`
	P99NS    int64  `json:"p99_ns"`
	MaxNS    int64  `json:"max_ns"`
	// Decades counts the readings below 10 µs, 100 µs, 1 ms and 10 ms, and the
	// rest.
	Decades [5]int64 `json:"decades"`
}

// sensorTestOf computes the result from the record of the passes.
func sensorTestOf(rec *record.Record, every time.Duration, sources []record.Source) (*sensorTest, error) {
	r := &sensorTest{EveryNS: every.Nanoseconds()}
	for _, s := range sources {
		if s.Missing != "" {
			r.Missing = append(r.Missing, s)
		}
	}
	for i := range rec.Target.Drives {
		r.Drives = append(r.Drives, rec.Target.Drives[i].Name)
	}
	var passes []record.Pass
	for i := range rec.Rounds {
		passes = append(passes, rec.Rounds[i].Passes...)
	}
	slices.SortFunc(passes, func(a, b record.Pass) int { return a.Index - b.Index })
	var iops, p99 [2][]float64 // without, with
	costs := map[string][]int64{}
	for i := range passes {
		p := &passes[i]
		if p.Outcome == nil || p.Outcome.Read == nil || p.Outcome.ElapsedNS() <= 0 {
			return nil, exit(exitIncomplete, "a pass measured nothing, so that nothing can be compared")
		}
		kind := 0
		if polled(p.Index) {
			kind = 1
		}
		iops[kind] = append(iops[kind], float64(p.Outcome.Read.IOs)/(float64(p.Outcome.ElapsedNS())/1e9))
		if ns, ok := p.Outcome.Read.Lat.Percentile(99); ok {
			p99[kind] = append(p99[kind], float64(ns))
		}
		for _, sample := range p.Watch.Samples {
			for name, ns := range sample.CostNS {
				costs[name] = append(costs[name], ns)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		r.Sources = append(r.Sources, costOf(name, costs[name]))
	}
	var ok bool
	if r.IOPS, ok = analysis.Paired(iops[0], iops[1]); !ok {
		return nil, exit(exitIncomplete, "too few passes to compare anything")
	}
	if c, ok := analysis.Paired(p99[0], p99[1]); ok {
		r.P99 = &c
	}
	return r, nil
}

func costOf(name string, ns []int64) sourceCost {
	c := sourceCost{Source: name, Readings: int64(len(ns))}
	var h record.Histogram
	for _, n := range ns {
		h.Add(n)
		decade := 0
		for edge := int64(10_000); decade < len(c.Decades)-1 && n >= edge; edge *= 10 {
			decade++
		}
		c.Decades[decade]++
	}
	c.P50NS, _ = h.Percentile(50)
	c.P99NS, _ = h.Percentile(99)
	c.MaxNS = h.Max
	return c
}

// sensorTestText words the result.
func sensorTestText(r *sensorTest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Sensors of %s, read every %v in one pass of two\n\n", strings.Join(r.Drives, ", "), time.Duration(r.EveryNS))
	fmt.Fprintf(&b, "%-28s %8s %9s %9s %9s   %s\n", "Time to read", "readings", "median", "p99", "longest", "<10µs <100µs <1ms <10ms more")
	for _, c := range r.Sources {
		fmt.Fprintf(&b, "%-28s %8d %9s %9s %9s   %5d %6d %4d %5d %4d\n", c.Source, c.Readings,
			shortTime(c.P50NS), shortTime(c.P99NS), shortTime(c.MaxNS),
			c.Decades[0], c.Decades[1], c.Decades[2], c.Decades[3], c.Decades[4])
	}
	b.WriteByte('\n')
	change := func(name string, c *analysis.Change) {
		percent := func(ratio float64) float64 { return (ratio - 1) * 100 }
		says := "no difference is shown"
		if c.Low > 1 || c.High < 1 {
			says = "more than chance would make"
		}
		fmt.Fprintf(&b, "%-28s %+.2f %%, from %+.2f to %+.2f %% (95 %%, %d pairs): %s\n", name+" with sensors", percent(c.Ratio), percent(c.Low), percent(c.High), c.Pairs, says)
	}
	change("IOPS", &r.IOPS)
	if r.P99 != nil {
		change("p99", r.P99)
	}
	if len(r.Missing) > 0 {
		b.WriteString("\nNot read\n")
		for _, m := range r.Missing {
			fmt.Fprintf(&b, "%-28s %s\n", strings.TrimSpace(m.Kind+" "+m.Name), m.Missing)
		}
	}
	return b.String()
}

// shortTime rounds to three digits.
func shortTime(ns int64) string {
	switch d := time.Duration(ns); {
	case d < time.Millisecond:
		return fmt.Sprintf("%.3gµs", float64(ns)/1e3)
	default:
		return fmt.Sprintf("%.3gms", float64(ns)/1e6)
	}
}
