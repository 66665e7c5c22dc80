package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nativ/internal/analysis"
	"nativ/internal/bench"
	"nativ/internal/due"
	"nativ/internal/host"
	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sensor"
	"nativ/internal/sim"
	"nativ/internal/storage"
	"nativ/internal/sys"
	"nativ/internal/target"
	"nativ/internal/uring"
)

// benchFlags are the command line of nativ bench.
type benchFlags struct {
	dir, preset, job, engine, memory, lang, out string
	size                                        byteSize
	runtime                                     time.Duration
	places                                      []string
	cpus                                        int
	seed                                        uint64
	privileged, yes, json, details              bool
	notes                                       []string
	simulate, margin, resume                    string
	device, destroyData                         string
	readOnly, dryRun                            bool
	storage, template, container                string
	separateVolumes                             bool
	rounds                                      int

	maxWritten, maxRate byteSize
	acceptWear          bool

	coolDown time.Duration
	maxTemp  float64 // degrees Celsius

	// The user said so, even if it was 0 or the default.
	cpusAsked, runtimeAsked, coolDownAsked, maxTempAsked, presetAsked, placesAsked, roundsAsked, simulated, memoryAsked bool
	// others are the flags given that --resume does not go with.
	others []string
}

func newBench(e *env) *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure a drive on the host and in a container",
		Long: `Measures the drive behind a directory: on the host, on the host with only the
container's CPUs, and in a throw-away LXC container. It says what it will do
before it does it, writes only to a test file of its own, and removes whatever
it made. --dry-run ends after the plan, with every reason not to carry it out.

A device itself is measured with --device: with --read-only nothing can be
written, and tests that write are left out; with --destroy-data SERIAL everything
on it is written over, if SERIAL is the drive's serial number to the letter and the
drive is empty and not in use. docs/safety.md says what is refused and why.

The drive's temperature is watched. Before each pass it may cool down to where
the run began, which makes passes alike: within 2 °C, or until it changes by less
than 0.5 °C a minute, at most as long as --cool-down says. A run stops at once at
--max-temp, and where the drive gives alarm (critical warning, media errors), its
controller is reset, or it or its file system is lost.

The plan says how much of the drive's endurance it takes at most. Above 1 TB, or
0.1 % of what the maker rates, that is asked for on its own, and --yes is no answer
to it: --max-written limits it, by shorter passes that are the same in all places,
and --accept-wear accepts it. --max-rate keeps the load low, for a drive that others
need meanwhile; such numbers are no drive's and get no verdict.

Presets: quick explores, in two minutes. standard compares the places with
verdicts, in twelve rounds, about two hours before cool-downs; thorough in twice as
many, for drives that scatter more. --rounds makes any comparison one of rounds. A run
that ended early, even by a power failure, goes on with --resume. The host against
itself (--places host,host) shows what the method takes for a difference.

Exit codes:
  0  measured, the record is complete
  1  something went wrong that should not
  2  the command line is wrong; nothing was done
  3  refused: not safe, not true, or not agreed to; nothing was touched
  4  incomplete: something failed, or Ctrl-C or a signal ended the run early;
     the record holds what was measured and says what is missing
  5  this machine lacks something; the message says how to get it
  6  another run measures the same drive
  7  something that was made could not be removed; nativ clean tries again`,
		Example: `  sudo nativ bench --dir /mnt/nvme1
  sudo nativ bench --dir /mnt/nvme1 --cpus 4 --memory 4G --note heatsink=none
  nativ bench --dir . --places host
  sudo nativ bench --dir /mnt/nvme1 --preset standard --margin throughput=2%
  sudo nativ bench --dir /mnt/nvme1 --places host,host --rounds 8 --runtime 3s
  sudo nativ bench --resume last
  sudo nativ bench --dir /mnt/nvme1 --preset heat --max-temp 80
  sudo nativ bench --dir /mnt/nvme1 --preset latency
  sudo nativ bench --dir /mnt/nvme1 --job my.fio
  sudo nativ bench --device /dev/nvme0n1 --read-only
  sudo nativ bench --device /dev/nvme1n1 --destroy-data S7DNNJ0X123456 --size 64G --dry-run
  nativ bench --simulate samsung-9100-pro-2tb-bare --preset article`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.cpusAsked, f.runtimeAsked = c.Flags().Changed("cpus"), c.Flags().Changed("runtime")
			f.coolDownAsked, f.maxTempAsked = c.Flags().Changed("cool-down"), c.Flags().Changed("max-temp")
			f.presetAsked, f.placesAsked, f.roundsAsked = c.Flags().Changed("preset"), c.Flags().Changed("places"), c.Flags().Changed("rounds")
			f.simulated, f.memoryAsked = c.Flags().Changed("simulate"), c.Flags().Changed("memory")
			c.Flags().Visit(func(fl *pflag.Flag) {
				if !slices.Contains([]string{"resume", "yes", "json", "details", "lang", "out", "accept-wear"}, fl.Name) {
					f.others = append(f.others, fl.Name)
				}
			})
			return runBench(c.Context(), e, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.dir, "dir", "", "directory on the drive to measure; asked for on a terminal")
	fl.StringVar(&f.device, "device", "", "measure this block device itself, with --read-only or --destroy-data")
	fl.BoolVar(&f.readOnly, "read-only", false, "with --device: only read, and leave out tests that write")
	fl.StringVar(&f.destroyData, "destroy-data", "", "with --device: write over everything on the drive with this serial number")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan, and why it would be refused, and touch nothing")
	fl.StringVar(&f.storage, "storage", "", "on a Proxmox VE host: make a container with a volume on this storage, and measure that")
	fl.StringVar(&f.template, "template", "", "with --storage: make the container from the newest template whose name begins so, instead of nativ's own")
	fl.StringVar(&f.container, "container", "", "on a Proxmox VE host: measure in this container, which runs, by its ID, or in a directory of it: 105:/srv")
	fl.BoolVar(&f.separateVolumes, "separate-volumes", false, "with --storage: give the host a volume of its own, made alike, instead of the container's")
	fl.StringVar(&f.preset, "preset", "quick", "what to measure: quick, standard, thorough, article, heat, fill, crystaldiskmark, latency, sync or sweep (see nativ job list)")
	fl.StringVar(&f.job, "job", "", "measure the phases of your own job file: a section each, on nativ's test file")
	fl.StringVar(&f.engine, "engine", "own", "own, or fio for the fio that is installed")
	fl.Var(&f.size, "size", "size of the test file (default 16G, less where space is short), or of the part of a --device that is used, from its start (default all of it)")
	fl.DurationVar(&f.runtime, "runtime", 0, "time for each phase in each place, over all its passes (default 5s); with rounds, of each pass (default 18s, with --rounds that of the preset); with heat and fill, of each load, whose pauses stay as long")
	fl.IntVar(&f.rounds, "rounds", 0, "rounds of each phase, an even number: forth and back through the places (standard 12, thorough 24)")
	fl.StringVar(&f.margin, "margin", "", "with rounds, differences that count as none (default throughput=3%,p50=5%,p99=10%)")
	fl.StringVar(&f.resume, "resume", "", "measure the rest of a run that ended early: its ID, or last")
	fl.StringSliceVar(&f.places, "places", []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}, "where to measure (heat and fill: host; article: host,lxc; with --storage or --container pve for lxc); host,host and pinned,pinned compare one with itself")
	fl.IntVar(&f.cpus, "cpus", 0, "CPUs of the container and of the pinned host (default 4; half of them where there are fewer than 8)")
	fl.StringVar(&f.memory, "memory", "4G", "memory limit of the container and of the pinned host, or none")
	fl.BoolVar(&f.privileged, "privileged", false, "make the container a privileged one")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of offsets and data, to repeat a run (default: a random one)")
	fl.DurationVar(&f.coolDown, "cool-down", 0, "longest wait before a pass for the drive to cool down, 0 for none (default: as long as a pass; standard and thorough 1m; article and heat 10m)")
	fl.Float64Var(&f.maxTemp, "max-temp", 0, "composite temperature in °C from which the run stops at once (default with heat: the drive's own critical one)")
	fl.Var(&f.maxWritten, "max-written", "most bytes to write in all, prefill included: passes that write get shorter, the same in all places")
	fl.BoolVar(&f.acceptWear, "accept-wear", false, "accept a plan that writes more than 1 TB or 0.1 % of the drive's rated endurance")
	fl.Var(&f.maxRate, "max-rate", "most bytes a second to read and write, in all places alike; the numbers are then no drive's")
	fl.StringVar(&f.lang, "lang", "", "language of the report, de or en (default: from the environment)")
	fl.StringVar(&f.out, "out", "", "directory for record and report, beside the state directory")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	fl.BoolVar(&f.json, "json", false, "print the record as JSON instead of the report")
	fl.BoolVar(&f.details, "details", false, "print bandwidth, percentiles, system and method, too")
	fl.StringVar(&f.simulate, "simulate", "", "measure nothing: let this drive model answer, a JSON file or the name of one of nativ's; everything it prints says SIMULATED")
	fl.StringArrayVar(&f.notes, "note", nil, "something to remember, KEY=VALUE, such as heatsink=none; may be repeated")
	return c
}

// A session is one call of nativ bench on its way from flags to a report.
type session struct {
	e     *env
	f     benchFlags
	lang  string
	state string // the state directory
	root  bool
	rec   *record.Record
	// asked are the places to measure, in the order of a report.
	asked   []string
	memory  *int64
	preset  job.Preset
	jobs    *job.File // that the user gave; nil where none
	release func()    // gives the drives back
	in      *bufio.Reader
	// engine is the one that workers use unless a phase names another; uring
	// is true where io_uring is needed.
	engine string
	uring  bool
	// placeFlag is the verb and the flag that names places.
	placeFlag string
	// seen is what could be read of the drive before anything was touched.
	seen record.Sample
	// ownCeiling is true where the ceiling is the drive's own.
	ownCeiling bool
	// device is what --device names, nil without.
	device *target.Device
	// leftOut are the phases that a run which only reads leaves out; refused is
	// why a plan that is only shown would not be carried out.
	leftOut []string
	refused error
	// pve is the container of Proxmox VE that is asked for, nil for none.
	pve *pveWish
	// model answers instead of a drive, with --simulate.
	model *sim.Model
	// margins are those of --margin.
	margins map[string]float64
	// from is the step to begin with. The others are of a run that is resumed:
	// whether it was killed, how many of its passes count, and what changed.
	from, kept int
	killed     bool
	changed    []record.Changed
}

// runBench is nativ bench.
func runBench(ctx context.Context, e *env, f benchFlags) error {
	// The main process sleeps while workers measure; what it runs itself, one
	// probing job of the engine, needs a processor beside that job's.
	if runtime.GOMAXPROCS(0) < 4 {
		runtime.GOMAXPROCS(4)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	s := &session{e: e, f: f, root: os.Geteuid() == 0, release: func() {}, in: bufio.NewReader(e.stdin),
		placeFlag: "bench --places"}
	defer func() { s.release() }()
	switch {
	case f.resume != "":
		return s.runResume(ctx)
	case f.simulated:
		return s.runSimulation(ctx)
	}
	for _, step := range []func(context.Context) error{
		s.checkFlags, s.findTarget, s.openState, s.checkMachine, s.lock, s.readDrive, s.makePlan, s.calibrate, s.probeDirect, s.askNotes, s.agree,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return exit(exitRefused, "interrupted before anything was touched")
		}
	}
	if s.f.dryRun {
		return nil
	}
	return s.measure(ctx)
}

// checkFlags decides everything that needs no machine.
func (s *session) checkFlags(context.Context) (err error) {
	f := &s.f
	if s.lang, err = language(s.e, f.lang); err != nil {
		return err
	}
	if err := s.choosePreset(); err != nil {
		return err
	}
	if err := s.checkDevice(); err != nil {
		return err
	}
	if s.memory, err = memoryLimit(f.memory); err != nil {
		return err
	}
	if err := s.checkPVE(); err != nil {
		return err
	}
	if f.roundsAsked {
		if err := bench.WithRounds(&s.preset, f.rounds); err != nil {
			return exit(exitUsage, "--rounds: %w", err)
		}
	}
	if f.margin != "" {
		if s.preset.Order != job.OrderRounds {
			return exit(exitUsage, "--margin needs rounds to judge: add --preset standard, or --rounds 8")
		}
		if s.margins, err = parseMargins(f.margin); err != nil {
			return exit(exitUsage, "--margin: %w", err)
		}
	}
	if f.runtimeAsked && f.runtime < time.Second {
		return exit(exitUsage, "--runtime %v: at least 1s, or the passes are too short to say anything", f.runtime)
	}
	if f.runtime > 24*time.Hour {
		return exit(exitUsage, "--runtime %v: at most 24h a phase and place", f.runtime)
	}
	if f.coolDown < 0 || f.coolDown > time.Hour {
		return exit(exitUsage, "--cool-down %v: from 0, which is none, to 1h", f.coolDown)
	}
	if f.maxTempAsked && !(f.maxTemp >= 20 && f.maxTemp <= 120) {
		return exit(exitUsage, "--max-temp %v: from 20 to 120 °C", f.maxTemp)
	}
	if err := f.checkLimits(); err != nil {
		return err
	}
	if f.cpusAsked && f.cpus < 1 {
		return exit(exitUsage, "--cpus %d: at least 1", f.cpus)
	}
	if least := bench.LeastFileSize(s.preset); f.size.set && f.size.bytes < least {
		return exit(exitUsage, "--size: at least %dM, so that every job has its I/Os in flight in blocks of their own", (least+1<<20-1)>>20).
			next("Sizes have units: 512M, 16G, 1.5T.")
	}
	if err := checkOut(f.out); err != nil {
		return exit(exitUsage, "--out: %w", err)
	}
	if !f.placesAsked && s.preset.Places != nil {
		f.places = s.preset.Places
	}
	known := []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC, record.PlacePVE}
	for _, p := range f.places {
		if !slices.Contains(known, p) {
			return exit(exitUsage, "--places: %q is not one of %s", p, strings.Join(known, ", "))
		}
	}
	for _, p := range known {
		switch n := count(f.places, p); {
		case n > 2 || n > 1 && record.IsContainer(p):
			return exit(exitUsage, "--places: %s stands there %d times", p, n)
		case n > 0:
			s.asked = append(s.asked, p)
			if n == 2 {
				s.asked = append(s.asked, p+"#2")
			}
		}
	}
	if len(s.asked) == 0 {
		return exit(exitUsage, "--places: name at least one of %s", strings.Join(known, ", "))
	}
	if _, err := parseNotes(f.notes); err != nil {
		return err
	}
	return nil
}

// choosePreset finds the phases to measure, and what engines they need.
func (s *session) choosePreset() (err error) {
	if !slices.Contains([]string{"own", "fio"}, s.f.engine) {
		return exit(exitUsage, "--engine: %q is neither own nor fio", s.f.engine)
	}
	engine := func(j *job.Job) string { return engineOf(s.f.engine, j) }
	if s.f.job == "" {
		if s.preset, err = bench.PresetByName(s.f.preset, engine); err != nil {
			return exit(exitUsage, "--preset: %w", err)
		}
	} else {
		if s.f.presetAsked {
			return exit(exitUsage, "--job and --preset: only one of them says what to measure")
		}
		f, err := job.Parse(jobOptionsFor(s.e, s.f.engine), s.f.job)
		if err != nil {
			return jobError(err)
		}
		sayJobWarnings(s.e, f)
		s.jobs = f
		if s.preset, err = bench.PresetOf(strings.TrimSuffix(filepath.Base(s.f.job), ".fio"), f, engine); err != nil {
			return exit(exitUsage, "--job %s: %w", s.f.job, err)
		}
	}
	s.engine, s.uring = s.preset.Phases[0].Engine, false
	for i := range s.preset.Phases {
		s.uring = s.uring || s.preset.Phases[i].Engine == string(job.IOUring)
	}
	return nil
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

// parseNotes turns KEY=VALUE words into a map.
func parseNotes(words []string) (map[string]string, error) {
	notes := map[string]string{}
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		if !ok || k == "" || v == "" {
			return nil, exit(exitUsage, "--note %q: not of the form KEY=VALUE", w)
		}
		if _, twice := notes[k]; twice {
			return nil, exit(exitUsage, "--note %s: given twice", k)
		}
		notes[k] = v
	}
	return notes, nil
}

// openState finds the state directory and offers to clean up after dead runs.
func (s *session) openState(ctx context.Context) (err error) {
	if s.state, err = stateDir(s.e); err != nil {
		return err
	}
	_, dead, err := runsIn(ctx, s.state)
	if err != nil || len(dead) == 0 {
		return err
	}
	w := s.e.stderr
	if s.f.dryRun {
		return nil
	}
	fmt.Fprintln(w, report.Say(s.lang, report.SayLeftovers, len(dead)))
	for _, r := range dead {
		fmt.Fprintf(w, "  %s  %s\n", r.ID, r.Header.Dir)
		if exists(filepath.Join(recordsDir(s.state), r.ID, partsFile)) {
			fmt.Fprintln(w, report.ResumeHint(r.ID, s.lang))
		}
	}
	switch {
	case s.f.yes:
	case s.e.terminal:
		yes, err := s.ask(ctx, report.Say(s.lang, report.SayAskClean))
		if err != nil {
			return err
		}
		if !yes {
			return nil
		}
	default:
		fmt.Fprintln(w, report.Say(s.lang, report.SayCleanHint))
		return nil
	}
	// What could not be removed is said, and does not keep anybody from
	// measuring: it was made by another run.
	_ = cleanRuns(context.WithoutCancel(ctx), s.e, s.state, dead)
	return nil
}

// ask asks a yes/no question on the terminal; anything but a yes is a no.
func (s *session) ask(ctx context.Context, question string) (bool, error) {
	line, err := s.readLine(ctx, question)
	for i := 1; i < askAgain && err == nil && !report.Yes(line) && !report.No(line); i++ {
		line, err = s.readLine(ctx, question)
	}
	return report.Yes(line), err
}

// readLine asks for a line. It returns when ctx ends, which a read from a
// terminal does not.
func (s *session) readLine(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(s.e.stderr, prompt)
	type answer struct {
		line string
		err  error
	}
	c := make(chan answer, 1)
	go func() {
		line, err := s.in.ReadString('\n')
		c <- answer{strings.TrimSpace(line), err}
	}()
	select {
	case a := <-c:
		if a.err != nil {
			fmt.Fprintln(s.e.stderr)
			return "", exit(exitRefused, "no answer; nothing was touched")
		}
		return a.line, nil
	case <-ctx.Done():
		fmt.Fprintln(s.e.stderr)
		return "", exit(exitRefused, "interrupted before anything was touched")
	}
}

// findTarget resolves the directory to measure.
func (s *session) findTarget(ctx context.Context) error {
	if s.f.device != "" {
		return s.findDevice()
	}
	if s.f.onPVE() {
		return s.findPVE(ctx)
	}
	dir := s.f.dir
	if dir == "" {
		if !s.e.terminal || s.f.yes {
			return exit(exitUsage, "--dir is missing: without a terminal, or with --yes, nothing is asked").
				next("Name a directory on the drive to measure: nativ bench --dir /mnt/nvme1")
		}
		var err error
		if dir, err = s.askDir(ctx); err != nil {
			return err
		}
	}
	t, err := target.Resolve(dir, target.Roots{})
	if err != nil {
		return exit(exitRefused, "--dir %s: %w", dir, err)
	}
	storage.Describe(ctx, t)
	target.Neighbours(t, target.Roots{})
	for i := range t.Drives {
		sensor.Identify(sensor.Roots{}, &t.Drives[i])
	}
	s.rec = &record.Record{SchemaVersion: record.SchemaVersion, Target: *t}
	return nil
}

// askDir lists the places worth measuring and asks for one.
func (s *session) askDir(ctx context.Context) (string, error) {
	list, err := target.Candidates(target.Roots{})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", exit(exitUsage, "there is no place here that is worth measuring").next("Name a directory: nativ bench --dir DIR")
	}
	if err := report.Candidates(s.e.stderr, list, s.lang); err != nil {
		return "", err
	}
	for range askAgain {
		line, err := s.readLine(ctx, report.Say(s.lang, report.SayAskDir, len(list)))
		if err != nil {
			return "", err
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(list) {
			return list[n-1].Dir, nil
		}
		if filepath.IsAbs(line) {
			return line, nil
		}
	}
	return "", exit(exitRefused, "neither a number of the list nor an absolute path; nothing was touched")
}

// askAgain is how often a question is asked before an answer that is none ends
// the command.
const askAgain = 3

// checkMachine finds out what this machine has: the engine, LXC, cgroups, CPUs.
func (s *session) checkMachine(ctx context.Context) error {
	if err := probeEngines(s.uring, s.f.engine); err != nil {
		return err
	}
	facts, err := host.Facts(host.Roots{})
	if err != nil {
		return err
	}
	s.rec.Host = facts
	var set record.CPUSet
	if s.pve != nil && s.pve.options.Existing != 0 {
		if set, err = s.pveCPUs(facts.CPUs); err != nil {
			return err
		}
	} else if set, err = host.ChooseCPUs(facts.CPUs, s.f.cpus); err != nil {
		return exit(exitUsage, "--cpus: %w", err)
	}
	s.rec.Plan.CPUSet = set
	s.dropPinned()
	return s.checkPlaces()
}

// dropPinned leaves the pinned host out where it would be the host: nothing to
// tell apart.
func (s *session) dropPinned() {
	pinned := func(p string) bool { return record.PlaceKind(p) == record.PlacePinned }
	if s.rec.Plan.CPUSet.All && slices.ContainsFunc(s.asked, func(p string) bool { return !pinned(p) }) {
		s.asked = slices.DeleteFunc(s.asked, pinned)
	}
}

// lock takes the drives, so that no other run measures at the same time.
func (s *session) lock(context.Context) error {
	now := time.Now()
	id, err := newRunID(now)
	if err != nil {
		return err
	}
	s.rec.ID = id
	return s.lockKeys(target.DriveKeys(&s.rec.Target), now)
}

// lockKeys takes the drives with these keys.
func (s *session) lockKeys(keys []string, now time.Time) error {
	release, err := target.LockDrives(keys, target.Holder{
		PID: os.Getpid(), UID: os.Getuid(), RunID: s.rec.ID, Dir: s.rec.Target.Dir, Started: now,
	})
	var busy *target.Busy
	if errors.As(err, &busy) {
		return exit(exitBusy, "%w", err).next("Two runs would measure each other.")
	}
	if err != nil {
		return err
	}
	s.release = release
	return nil
}

func newRunID(now time.Time) (string, error) {
	var b [2]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a run id: %w", err)
	}
	return record.NewID(now, binary.LittleEndian.Uint16(b[:])), nil
}

// leastSize is how small a file may get where the user did not ask for a size
// and space is short.
const leastSize = 1 << 30

// makePlan passes the safety gate and fixes the plan.
func (s *session) makePlan(context.Context) error {
	want, least := s.preset.FileSize, int64(leastSize)
	switch {
	case s.device != nil:
		want = s.deviceSize()
		least = want
	case s.f.size.set:
		want, least = s.f.size.bytes>>20<<20, s.f.size.bytes>>20<<20
	case want == 0:
		want = max(s.rec.Target.FreeBytes, least)
	}
	if !s.f.size.set {
		want = bench.FileWithin(want, least, s.f.maxWritten.bytes)
	}
	size, err := s.gate(want, least)
	if err != nil {
		return err
	}
	if s.preset.FileSize == 0 && !s.f.size.set {
		want = size // all the room there is
	}
	ceiling, err := s.ceiling()
	if err != nil {
		return err
	}
	var coolDown *time.Duration
	if s.f.coolDownAsked {
		coolDown = &s.f.coolDown
	}
	seed := s.f.seed
	if seed == 0 {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return fmt.Errorf("draw a seed: %w", err)
		}
		seed = binary.LittleEndian.Uint64(b[:])
	}
	plan, err := bench.NewPlan(bench.Wish{
		Preset: s.preset, Dir: s.rec.Target.Dir, Places: s.asked, CPUSet: s.rec.Plan.CPUSet,
		Memory: s.memory, Privileged: s.f.privileged, Seed: seed, ReadOnly: s.readOnly(), Separate: s.f.separateVolumes,
		FileSize: size, WantedSize: want, Runtime: s.f.runtime, Margins: s.margins,
		CoolDown: coolDown, MaxTempMC: ceiling, NoTemperature: !s.hasTemperature(), LinkRate: linkRate(s.rec.Target.Drives),
		WriteLimit: s.f.maxWritten.bytes, MaxRate: s.f.maxRate.bytes,
	})
	if err != nil {
		return exit(exitUsage, "%w", err)
	}
	s.rec.Plan = plan
	for i := range plan.Phases {
		if err := askFio(s.jobs, &plan.Phases[i], plan.FileSize, 1); err != nil {
			return err
		}
	}
	s.rec.Notes, _ = parseNotes(s.f.notes) // checked before
	s.rec.Tool = record.Tool{Name: "nativ", Version: version, Go: runtime.Version(), Command: os.Args}
	return nil
}

// calibrateFor is short, because somebody waits for the question, and long
// enough for undisturbed slices on a machine with other load.
const calibrateFor = 400 * time.Millisecond

// calibrate finds out what the engine could do, so that analysis can tell where
// it is the limit. It comes after lock, so that no other run on the drive is
// disturbed. Without an answer nothing is doubted for it, and the run goes on.
func (s *session) calibrate(ctx context.Context) error {
	c, err := uring.Calibrate(ctx, calibrateFor)
	if err != nil {
		if ctx.Err() == nil {
			fmt.Fprintln(s.e.stderr, "nativ: the engine is not calibrated:", err)
		}
		return nil
	}
	s.rec.Calibration = &c
	return nil
}

// probeDirect tries direct I/O through the engine on a file that has no name,
// so that a filesystem which cannot do it is refused with nothing touched.
func (s *session) probeDirect(ctx context.Context) error {
	if !s.uring || s.device != nil || s.pve != nil || s.f.dryRun {
		return nil // the prefill will tell
	}
	claim, err := target.ClaimUnnamed(s.rec.Target.Dir, 1<<20)
	if errors.Is(err, target.ErrNoTmpfile) {
		return nil // the prefill will tell
	}
	if err != nil {
		return err
	}
	defer claim.Close()
	for _, mode := range []job.Mode{job.Write, job.Read} {
		p := job.Phase{Name: "probe", Mode: mode, BlockSize: 64 << 10, IODepth: 4, NumJobs: 1, Direct: true, Once: true, RuntimeNS: 10e9}
		out, err := new(uring.Engine).Run(ctx, p, []*target.Claim{claim}, func(record.Event) {})
		if err != nil {
			return &target.Refusal{Code: target.RefuseDirect, Dir: s.rec.Target.Dir, FSType: s.rec.Target.FSType, Err: err}
		}
		if len(out.Errors) > 0 {
			return &target.Refusal{Code: target.RefuseDirect, Dir: s.rec.Target.Dir, FSType: s.rec.Target.FSType,
				Err: fmt.Errorf("direct %s: %s", out.Errors[0].Op, out.Errors[0].Errno)}
		}
	}
	return nil
}

// agree shows the plan and asks.
func (s *session) agree(ctx context.Context) error {
	o := report.PlanOptions{Lang: s.lang, OwnCeiling: s.ownCeiling}
	if _, mc, ok := s.seen.Temperature(); ok {
		o.TemperatureMC = &mc
	}
	for _, d := range s.rec.Target.Drives[:min(1, len(s.rec.Target.Drives))] {
		if d.Controller == nil {
			continue
		}
		if h, ok := s.seen.Health[*d.Controller]; ok {
			o.Health = &h
		}
	}
	s.rec.Target.Due, s.rec.Target.DueUnknown = due.Within(ctx, due.Roots{}, time.Now(), time.Duration(s.rec.Plan.EstimateNS[1]))
	if err := report.Plan(s.e.stderr, s.rec, o); err != nil {
		return err
	}
	if s.f.dryRun {
		return s.endDryRun()
	}
	if err := s.consent(ctx, s.f.yes); err != nil {
		return err
	}
	return s.agreeToWear(ctx)
}

// consent asks whether to carry out the plan that was just shown, unless --yes
// said so. Anything but a yes is an error with nothing touched.
func (s *session) consent(ctx context.Context, yes bool) error {
	if err := checkWritable(s.state); err != nil {
		return err
	}
	if yes {
		return nil
	}
	if !s.e.terminal {
		return exit(exitRefused, "nobody to ask: stdin or stderr is no terminal").next("Read the plan above and add --yes.")
	}
	yes, err := s.ask(ctx, report.Question(s.lang))
	if err != nil {
		return err
	}
	if !yes {
		return exit(exitRefused, "not started; nothing was touched")
	}
	return nil
}

// undoLimit bounds the cleanup of a run, in which Proxmox VE may have to be waited
// for: for locks, tasks, and a volume that is overwritten.
const undoLimit = 10 * time.Minute

// undoAll removes everything that a journal lists and says what is left.
func undoAll(ctx context.Context, j *journal.Journal, undoers map[journal.Kind]journal.Undoer) []string {
	ctx, cancel := context.WithTimeout(ctx, undoLimit)
	defer cancel()
	var left []string
	for _, l := range j.Undo(ctx, undoers) {
		left = append(left, l.String())
	}
	return left
}

// measure carries the plan out, saves the record and prints the report.
func (s *session) measure(ctx context.Context) error {
	if s.from > 0 && s.from == len(s.rec.Plan.Steps) {
		return s.putTogether(ctx)
	}
	j, err := journal.Create(s.state, journal.Header{
		RunID: s.rec.ID, PID: os.Getpid(), UID: os.Getuid(), Started: time.Now(), Dir: s.rec.Target.Dir,
	})
	if err != nil {
		return err
	}
	set, err := s.newPlaces(j)
	if err != nil {
		return errors.Join(err, j.Close())
	}
	parts, err := newPartsLog(s.state, s.rec, func(err error) {
		fmt.Fprintln(s.e.stderr, "nativ: what is measured from here on is lost if the machine stops:", err)
	})
	if err != nil {
		return errors.Join(err, j.Close())
	}
	view := newLive(s.e.stderr, s.e.stderrTTY, s.lang, s.rec)
	trouble, done := s.watchTrouble()
	defer done()
	var file *target.File
	run := &bench.Run{
		Trouble: trouble,
		From:    s.from, Save: parts.save,
		Record: s.rec, Places: set.places, Watch: set.watch, Emit: view.emit, Now: time.Now, Sleep: sleep,
		PrefillEngine: prefillEngine(s.engine),
		MakeFile: func() (*target.File, error) {
			if s.device != nil {
				return s.openDevice()
			}
			if set.pve != nil {
				return s.fileInContainer(ctx, set.pve, view.emit)
			}
			nonce, err := newNonce()
			if err != nil {
				return nil, err
			}
			create := target.Create
			if st := s.rec.Target.Storage; st != nil && st.Btrfs != nil && st.Btrfs.Buffered {
				create = target.CreateInPlace
			}
			file, err = create(s.rec.Target.Dir, s.rec.Plan.FileSize, nonce, j)
			return file, err
		},
		Undo: func(ctx context.Context) []string {
			if set.pve != nil {
				s.rec.Target.Volume.NotTrimmed = set.pve.Release(ctx)
			}
			if file != nil && s.rec.Target.Storage != nil {
				s.rec.Target.Storage.GivenBack = file.GiveBack(&s.rec.Target, target.Roots{})
			}
			return undoAll(ctx, j, set.undoers)
		},
	}
	if s.f.separateVolumes {
		run.MakeTwin = func() (*target.File, error) { return s.fileOnTwin(ctx, set.pve) }
	}
	since := sys.MonoNow()
	runErr := run.Do(ctx)
	view.close()
	if err := j.Close(); err != nil {
		fmt.Fprintln(s.e.stderr, "nativ:", err)
	}
	if runErr != nil {
		s.sayLeft()
		if s.from == 0 {
			_ = parts.remove() // there is nothing in it
		}
		return errors.Join(runErr, parts.close())
	}
	s.rec.Sources = set.sampler.Sources()
	s.readKernelLog(since)
	return s.finish(ctx, parts)
}

// putTogether makes the record of a run that was killed after its last pass.
func (s *session) putTogether(ctx context.Context) error {
	s.rec.Complete, s.rec.Cleaned = len(s.rec.Incomplete) == 0, &record.Cleaned{}
	if r := s.rec.Resumed; len(r) > 0 {
		last := r[len(r)-1]
		s.rec.Ended, s.rec.Prefill = last.EndedAt, last.Prefill
		s.rec.Resumed = r[:len(r)-1] // nothing was measured after it
	}
	parts, err := newPartsLog(s.state, s.rec, func(error) {})
	if err != nil {
		return err
	}
	return s.finish(ctx, parts)
}

// finish saves the record and prints the report of it.
func (s *session) finish(ctx context.Context, parts *partsLog) error {
	s.rec.Warnings = analysis.Compute(s.rec).Warnings
	files, saveErr := saveRecord(s.state, s.f.out, s.lang, s.rec)
	if exists(filepath.Join(filepath.Dir(parts.path), recordFile)) {
		saveErr = errors.Join(saveErr, parts.remove())
	}
	remember(ctx, s.e, s.state, s.rec, files)
	if err := s.print(files); err != nil {
		return errors.Join(saveErr, err)
	}
	if err := s.verdict(ctx); err != nil {
		if saveErr != nil {
			fmt.Fprintln(s.e.stderr, "nativ:", saveErr)
		}
		return err
	}
	return saveErr
}

// sleep waits, or returns early with the error of ctx when that ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// print prints the result and says where the files are.
func (s *session) print(files saved) error {
	format := "text"
	if s.f.json {
		format = "json"
	}
	o := report.Options{Lang: s.lang, Details: s.f.details, Last: true}
	if files.record != "" {
		o.Files = []string{files.page, files.markdown, files.record}
	}
	fmt.Fprintln(s.e.stderr)
	rec := s.rec
	if format == "text" { // --json is the whole record
		var err error
		if rec, o.Hash, err = forOthers(rec); err != nil {
			return err
		}
	}
	return render(s.e.stdout, rec, format, o)
}

// sayLeft names what could not be removed.
func (s *session) sayLeft() {
	for _, l := range s.rec.Cleaned.Left {
		fmt.Fprintln(s.e.stderr, "nativ: still there:", l)
	}
}

// verdict is the exit code of a run that measured something.
func (s *session) verdict(ctx context.Context) error {
	switch {
	case len(s.rec.Cleaned.Left) > 0:
		s.sayLeft()
		return exit(exitLeft, "something could not be removed").next("Try again with: nativ clean")
	case !s.rec.Complete && ctx.Err() != nil:
		return exit(exitIncomplete, "ended early by a signal; the record holds what was measured").next("%s", s.howToResume())
	case !s.rec.Complete:
		return exit(exitIncomplete, "incomplete; the report says what is missing").next("%s", s.howToResume())
	}
	return nil
}

// howToResume is the command that measures the rest, "" where there is none.
func (s *session) howToResume() string {
	passes := 0
	for i := range s.rec.Rounds {
		for k := range s.rec.Rounds[i].Passes {
			if p := &s.rec.Rounds[i].Passes[k]; p.Failed == nil || p.Failed.Code != record.FailInterrupted {
				passes = p.Index + 1
			}
		}
	}
	if passes == len(s.rec.Plan.Steps) || bench.Resumable(s.rec) != nil {
		return ""
	}
	return "Measure the rest with: nativ bench --resume " + s.rec.ID
}
