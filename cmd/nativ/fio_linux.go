package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nativ/internal/bench"
	"nativ/internal/fio"
	"nativ/internal/host"
	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sensor"
	"nativ/internal/storage"
	"nativ/internal/sys"
	"nativ/internal/target"
	"nativ/internal/uring"
)

func newFio(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "fio FILE.fio... | --rw=randread --bs=4k ...",
		Short: "Run fio's job files or options with nativ's engine",
		Long: `Runs workloads as fio describes them: job files, or options in fio's spelling as
on fio's own command line. Jobs of one group run side by side, a worker each, and
start together; groups (stonewall) run one after another. The summary says for
each job what fio says, in fio's terms.

Files: nativ writes only to files that it makes. A filename that does not exist
stands for a file of nativ's own in that directory, prefilled as large as the jobs
need and removed afterwards; --directory=DIR does the same. A file that exists may
be read, and is never written; devices are refused.

Flags of nativ:
  --place host|pinned|lxc  where to run (default host); pinned and lxc as in bench
  --engine own|fio         nativ's engine (default), or the fio that is installed
  --cpus N, --memory SIZE  limits of pinned and lxc (default 4 or half, and 4G)
  --privileged             make the container a privileged one
  --format FORMAT          text (default), json (the record), fio-json, md
  --json                   --format json
  --trace FILE             write every I/O to a new file: time, job, direction,
                           offset, length; a traced run is no measurement
  --out DIR                directory for record and report, beside the state directory
  --lang de|en             language of the summary
  -y, --yes                do not ask before files are made

Of the fio program: --section=NAME (more than once for several), --output=FILE,
--output-format=normal|json|json+ (the last two are --format fio-json),
--eta=auto|never, and --readonly, with which jobs that write are refused and files
that would have to be made, too.

All other options are fio's. Options of the own engine: nativ job print shows
some; any other is named with its file and line. --engine fio takes them all and
reads values as fio does (bs = 4k is 4 bytes), but for those that reach other
files, start programs or take the result away: these are named with the reason.

Exit codes:
  0  measured, the record is complete
  1  something went wrong that should not
  2  the command line or a job file is wrong; nothing was done
  3  refused: not safe, not true, or not agreed to; nothing was touched
  4  incomplete: something failed, or Ctrl-C or a signal ended the run early;
     the record holds what was measured and says what is missing
  5  this machine lacks something; the message says how to get it
  6  another run measures the same drive
  7  something that was made could not be removed; nativ clean tries again`,
		Example: `  nativ fio --rw=randread --bs=4k --iodepth=32 --direct=1 --runtime=30 --time_based --size=4G --directory=/mnt/nvme1
  nativ fio --rw=read --bs=1m --filename=/srv/big.iso
  sudo nativ fio --place lxc my.fio`,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			f, rest, err := splitFioArgs(args)
			if err != nil {
				return err
			}
			if f.help {
				// As for other verbs, a wrong option is an error even so.
				if len(rest) > 0 && !slices.ContainsFunc(rest, func(a string) bool { return !strings.HasPrefix(a, "-") }) {
					if _, err := job.ParseArgs(jobOptionsFor(e, f.engine), rest); err != nil {
						return jobError(err)
					}
				}
				return c.Help()
			}
			if len(rest) == 0 {
				return exit(exitUsage, "no job file and no options of a job").next("See: nativ fio --help, or nativ job print for a job file")
			}
			return runFio(c.Context(), e, f, rest)
		},
	}
}

// A fioSession is one call of nativ fio.
type fioSession struct {
	session
	flags fioFlags
	args  []string
	plan  *bench.JobsPlan
	// dirs are the targets of the files, by directory.
	dirs  map[string]*record.Target
	trace *os.File
}

func runFio(ctx context.Context, e *env, f fioFlags, args []string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s := &fioSession{flags: f, args: args, dirs: map[string]*record.Target{}, session: session{
		e: e, root: os.Geteuid() == 0, release: func() {}, in: bufio.NewReader(e.stdin), asked: []string{f.place},
		placeFlag: "fio --place",
		f:         benchFlags{cpus: f.cpus, privileged: f.privileged, yes: f.yes, out: f.out, engine: f.engine, json: f.format == "json"},
		rec:       &record.Record{SchemaVersion: record.SchemaVersion},
	}}
	defer func() { s.release() }()
	defer func() {
		if s.trace != nil { // nothing was measured
			_ = s.closeTrace(false)
		}
	}()
	for _, step := range []func(context.Context) error{
		s.readJobs, s.openState, s.findTargets, s.checkHost, s.lock, s.gate, s.askFio, s.calibrateOwn, s.agreeFiles, s.openTrace,
	} {
		if err := step(ctx); err != nil {
			return inFioOptions(err)
		}
		if ctx.Err() != nil {
			return exit(exitRefused, "interrupted before anything was touched")
		}
	}
	return inFioOptions(s.measureJobs(ctx))
}

// readJobs reads the command line and the job files and plans who does what.
func (s *fioSession) readJobs(context.Context) (err error) {
	if s.lang, err = language(s.e, s.flags.lang); err != nil {
		return err
	}
	if s.memory, err = memoryLimit(s.flags.memory); err != nil {
		return err
	}
	opts := jobOptionsFor(s.e, s.flags.engine)
	opts.Sections = s.flags.sections
	f, err := job.ParseArgs(opts, s.args)
	if err != nil {
		return jobError(err)
	}
	sayJobWarnings(s.e, f)
	s.jobs = f
	if s.flags.readonly {
		if i := slices.IndexFunc(f.Jobs, func(j job.Job) bool { return j.RW.Writes() }); i >= 0 {
			return exit(exitRefused, "[%s] rw=%s writes, which --readonly forbids", f.Jobs[i].Name, f.Jobs[i].RW)
		}
	}
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return fmt.Errorf("draw a seed: %w", err)
	}
	s.rec.Plan.Seed = binary.LittleEndian.Uint64(b[:])
	// What is no file to read is said as such, before what a job would do to it.
	var refusal error
	s.plan, err = bench.PlanJobs(f, s.rec.Plan.Seed, s.engineOf, func(path string) (int64, bool) {
		st, err := os.Stat(path)
		switch {
		case err == nil && st.Mode().IsRegular():
			return st.Size(), true
		case err == nil:
			if refusal == nil {
				kind := "a directory"
				if !st.IsDir() {
					kind = "a device"
				}
				if st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
					kind = "a FIFO or a socket"
				}
				refusal = &target.Refusal{Code: target.RefuseKind, Dir: path, Kind: kind}
			}
			return 1, true
		case !errors.Is(err, os.ErrNotExist) && refusal == nil:
			refusal = exit(exitRefused, "look at %s: %w", path, err)
		default:
			if isDevicePath(path) && refusal == nil {
				refusal = exit(exitRefused, "%s: there is no such device", path).
					next("Devices are not measured as yet: name a file on a filesystem of that drive, or a directory with --directory.")
			}
			// A link that leads nowhere is not a name for a new file.
			if _, err := os.Lstat(path); err == nil && refusal == nil {
				refusal = exit(exitRefused, "%s is a symbolic link that leads nowhere; name a file", path)
			}
		}
		return 0, false
	})
	if refusal != nil {
		return refusal
	}
	var need *bench.NeedError
	var one *job.Error
	switch {
	case errors.As(err, &need) && need.Refused:
		return exit(exitRefused, "%w", err)
	case errors.As(err, &need):
		return exit(exitUsage, "%w", err)
	case errors.As(err, &one):
		return jobError(err)
	case err != nil:
		return exit(exitUsage, "%w", err)
	}
	if i := slices.IndexFunc(s.plan.Files, func(f bench.FileNeed) bool { return !f.Existing }); i >= 0 && s.flags.readonly {
		n := &s.plan.Files[i]
		where := n.Given
		if where == "" {
			where = "a file in " + n.Dir
		}
		return exit(exitRefused, "%s would have to be made and filled, which --readonly forbids", where).next("Name a file that exists.")
	}
	s.engine = s.plan.Units[0].Phase.Engine
	for i := range s.plan.Units {
		p := &s.plan.Units[i].Phase
		s.uring = s.uring || p.Engine == string(job.IOUring)
		p.Trace = s.flags.trace != ""
	}
	s.plan.Into(s.rec, s.flags.place)
	s.rec.Tool = record.Tool{Name: "nativ", Version: version, Go: runtime.Version(), Command: os.Args}
	return nil
}

// isDevicePath reports whether a path names a device, if anything: files below
// /dev/shm are none.
func isDevicePath(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}

func (s *fioSession) engineOf(j *job.Job) string { return engineOf(s.flags.engine, j) }

// probeEngines makes sure that this machine has the engines that are needed.
func probeEngines(needUring bool, engine string) error {
	if needUring {
		if _, err := new(uring.Engine).Probe(); err != nil {
			return exit(exitMissing, "%w", err).next("Where io_uring is blocked another may work: ioengine=libaio or ioengine=psync in the job file, or --ioengine=psync of nativ fio")
		}
	}
	if engine == "fio" {
		if _, err := new(fio.Engine).Probe(); err != nil {
			return exit(exitMissing, "%w", err)
		}
	}
	return nil
}

// engineOf names the worker's engine for a job. Without ioengine the own engine
// takes io_uring and fio its own default.
func engineOf(engine string, j *job.Job) string {
	io := j.IOEngine
	if engine == "own" {
		if io == "" {
			io = job.IOUring
		}
		return string(io)
	}
	if io == "" {
		io = job.PSync
	}
	return (&fio.Engine{IOEngine: string(io)}).Name()
}

// findTargets resolves the directories of all files down to their drives.
func (s *fioSession) findTargets(ctx context.Context) error {
	for i := range s.plan.Files {
		f := &s.plan.Files[i]
		if s.dirs[f.Dir] != nil {
			continue
		}
		t, err := target.Resolve(f.Dir, target.Roots{})
		if err != nil {
			return exit(exitRefused, "%w", err).next("nativ makes no directories: create it, or name another.")
		}
		storage.Describe(ctx, t)
		target.Neighbours(t, target.Roots{})
		for i := range t.Drives {
			sensor.Identify(sensor.Roots{}, &t.Drives[i])
		}
		s.dirs[f.Dir] = t
		if i == 0 {
			s.rec.Target, s.rec.Plan.Dir = *t, t.Dir
			continue
		}
		// The sampler watches every drive that a job works on.
		for _, d := range t.Drives {
			if !slices.ContainsFunc(s.rec.Target.Drives, func(o record.Drive) bool { return o.Name == d.Name }) {
				s.rec.Target.Drives = append(s.rec.Target.Drives, d)
			}
		}
	}
	return nil
}

// checkHost finds out whether this machine has what the place needs.
func (s *fioSession) checkHost(context.Context) error {
	if err := probeEngines(s.uring, s.flags.engine); err != nil {
		return err
	}
	facts, err := host.Facts(host.Roots{})
	if err != nil {
		return err
	}
	s.rec.Host = facts
	set, err := host.ChooseCPUs(facts.CPUs, s.flags.cpus)
	if err != nil {
		return exit(exitUsage, "--cpus: %w", err)
	}
	s.rec.Plan.CPUSet = set
	s.rec.Plan.Memory, s.rec.Plan.Privileged = s.memory, s.flags.privileged
	return s.checkPlaces()
}

// gate passes the safety gate for each filesystem on which files are made, and
// rounds their sizes up to what the prefill writes at a time.
func (s *fioSession) gate(context.Context) error {
	const block = 1 << 20
	type fs struct{ major, minor uint32 }
	need := map[fs]int64{}
	for i := range s.plan.Files {
		f := &s.plan.Files[i]
		if f.Existing {
			continue
		}
		f.Size = (f.Size + block - 1) / block * block
		t := s.dirs[f.Dir]
		need[fs{t.DevMajor, t.DevMinor}] += f.Size
	}
	for _, t := range s.dirs {
		n := need[fs{t.DevMajor, t.DevMinor}]
		if n == 0 {
			continue
		}
		if _, err := target.Gate(t, n, n); err != nil {
			return err
		}
	}
	return nil
}

// inFioOptions words the safety gate's no with the options that nativ fio has.
func inFioOptions(err error) error {
	var r *target.Refusal
	if !errors.As(err, &r) {
		return err
	}
	next := strings.NewReplacer("--directory", "--directory", "--dir", "--directory").Replace(r.Next())
	return exit(exitRefused, "%s", r.Reason()).next("%s", next)
}

// askFio lets fio look at its jobs before anything is made.
func (s *fioSession) askFio(context.Context) error {
	for i := range s.plan.Units {
		u := &s.plan.Units[i]
		size := s.plan.Files[u.Files[0]].Size
		for _, f := range u.Files {
			size = min(size, s.plan.Files[f].Size)
		}
		if err := askFio(s.jobs, &u.Phase, size, len(u.Files)); err != nil {
			return err
		}
	}
	return nil
}

// agreeFiles shows what will be made and asks. Who only reads what is there is
// not asked anything.
func (s *fioSession) agreeFiles(ctx context.Context) error {
	if !s.plan.Writes() {
		return nil
	}
	var files []report.PlannedFile
	for _, f := range s.plan.Files {
		p := report.PlannedFile{Path: f.Given, Size: f.Size, Made: !f.Existing}
		if p.Made {
			p.Path = f.Dir
		}
		files = append(files, p)
	}
	if err := report.JobsPlan(s.e.stderr, s.rec, files, s.lang); err != nil {
		return err
	}
	return s.consent(ctx, s.flags.yes)
}

// calibrateOwn calibrates the engine that is calibrated, if a job uses it.
func (s *fioSession) calibrateOwn(ctx context.Context) error {
	if !s.uring {
		return nil
	}
	return s.calibrate(ctx)
}

// openTrace makes the file of the trace. One that is there is not written over.
func (s *fioSession) openTrace(context.Context) (err error) {
	if out := s.flags.output; out != "" && out != "-" {
		if st, err := os.Stat(filepath.Dir(out)); err != nil || !st.IsDir() {
			return exit(exitRefused, "--output=%s: there is no such directory", out)
		}
	}
	if s.flags.trace == "" {
		return nil
	}
	s.trace, err = os.OpenFile(s.flags.trace, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return exit(exitRefused, "--trace: %w", err).next("Name a file that does not exist.")
	}
	return nil
}

// closeTrace closes the file of the trace, and removes it where nothing was
// traced: a head alone says nothing.
func (s *fioSession) closeTrace(traced bool) error {
	err := s.trace.Close()
	if !traced {
		err = errors.Join(err, os.Remove(s.flags.trace))
	}
	s.trace = nil
	return err
}

// lock takes the drives of all files.
func (s *fioSession) lock(context.Context) error {
	now := time.Now()
	id, err := newRunID(now)
	if err != nil {
		return err
	}
	s.rec.ID = id
	var keys []string
	for _, t := range s.dirs {
		keys = append(keys, target.DriveKeys(t)...)
	}
	slices.Sort(keys)
	return s.lockKeys(slices.Compact(keys), now)
}

// measureJobs carries the plan out, saves the record and prints the summary.
func (s *fioSession) measureJobs(ctx context.Context) error {
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
	progress, tty := s.e.stderr, s.e.stderrTTY
	if s.flags.eta == "never" {
		progress, tty = io.Discard, false
	}
	view := newLive(progress, tty, s.lang, s.rec)
	run := &bench.JobsRun{
		Record: s.rec, Plan: s.plan, Place: set.places[0], Watch: set.watch, Emit: view.emit, Now: time.Now,
		PrefillEngine: prefillEngine(s.engine),
		OpenFile:      func(f bench.FileNeed) (*target.File, error) { return s.openFile(f, j) },
		Undo:          func(ctx context.Context) []string { return undoAll(ctx, j, set.undoers) },
	}
	var traced *bufio.Writer
	some := false
	if s.trace != nil {
		traced = bufio.NewWriter(s.trace)
		fmt.Fprintln(traced, "mono_ns,job,clone,file,op,offset,length")
		run.Trace = func(unit int, ios []record.TraceIO) {
			some = some || len(ios) > 0
			u := &s.plan.Units[unit]
			for _, io := range ios {
				name := ""
				if io.File < len(u.Files) {
					name = s.rec.Jobs.Files[u.Files[io.File]].Path
				}
				fmt.Fprintf(traced, "%d,%s,%d,%s,%s,%d,%d\n", io.MonoNS, u.Phase.Name, io.Job, name, io.Op, io.Offset, io.Len)
			}
		}
	}
	since := sys.MonoNow()
	runErr := run.Do(ctx)
	view.close()
	if err := j.Close(); err != nil {
		fmt.Fprintln(s.e.stderr, "nativ:", err)
	}
	if traced != nil {
		if err := errors.Join(traced.Flush(), s.closeTrace(some)); err != nil {
			fmt.Fprintln(s.e.stderr, "nativ: write the trace:", err)
		}
	}
	if runErr != nil {
		s.sayLeft()
		return runErr
	}
	s.rec.Sources = set.sampler.Sources()
	s.readKernelLog(since)
	files, err := saveRecord(s.state, s.f.out, s.lang, s.rec)
	if err != nil {
		fmt.Fprintln(s.e.stderr, "nativ:", err)
	}
	remember(ctx, s.e, s.state, s.rec, files)
	o := report.Options{Lang: s.lang}
	if files.record != "" {
		o.Files = []string{files.page, files.markdown, files.record}
	}
	if err := s.print(o); err != nil {
		return err
	}
	return s.verdict(ctx)
}

// print writes the result to where it was asked for. As with fio and a shell's >, a
// file that is there is written over, but only now: the run may have failed.
func (s *fioSession) print(o report.Options) error {
	rec := s.rec
	if s.flags.format != "json" { // which is the whole record
		var err error
		if rec, o.Hash, err = forOthers(rec); err != nil {
			return err
		}
	}
	if s.flags.output == "" || s.flags.output == "-" {
		return render(s.e.stdout, rec, s.flags.format, o)
	}
	f, err := os.Create(s.flags.output)
	if err != nil {
		return fmt.Errorf("--output: %w; the record is kept: nativ report last", err)
	}
	return errors.Join(render(f, rec, s.flags.format, o), f.Close())
}

// openFile makes a file or opens one that was there.
func (s *fioSession) openFile(f bench.FileNeed, j *journal.Journal) (*target.File, error) {
	if f.Existing {
		return target.OpenExisting(f.Given)
	}
	var nonce [16]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, fmt.Errorf("draw a nonce: %w", err)
	}
	file, err := target.Create(s.dirs[f.Dir].Dir, f.Size, hex.EncodeToString(nonce[:]), j)
	if err == nil && f.Given != "" {
		fmt.Fprintln(s.e.stderr, report.Say(s.lang, report.SayStandsFor, f.Given, filepath.Base(file.Path())))
	}
	return file, err
}

// prefillEngine is the own engine that fills files: the one that the first job
// uses, or with fio the one of the same name, psync where there is none.
func prefillEngine(name string) string {
	if name == fio.Name {
		return string(job.IOUring)
	}
	io, byFio := strings.CutPrefix(name, fio.Name+"/")
	if byFio && !slices.Contains([]string{string(job.LibAIO), string(job.SyncCall)}, io) {
		return string(job.PSync)
	}
	return io
}

// jobOptionsFor are how job files are read for an engine, own or fio.
func jobOptionsFor(e *env, engine string) job.Options {
	o := jobOptions(e)
	if o.ForFio = engine == fio.Name; o.ForFio {
		o.FioHas = new(fio.Engine).HasOption
	}
	return o
}

// askFio lets fio say what it does not take of a phase, before anything is made. f
// is where the phase is from; nil where that is built in.
func askFio(f *job.File, p *job.Phase, size int64, files int) error {
	if !p.ByFio() {
		return nil
	}
	_, io, ok := strings.Cut(p.Engine, "/")
	if !ok {
		io = string(job.IOUring)
	}
	err := (&fio.Engine{IOEngine: io}).Check(p, size, files)
	if err == nil {
		return nil
	}
	for _, o := range p.Raw {
		name, _, _ := strings.Cut(o, "=")
		if f == nil || !strings.Contains(err.Error(), name) {
			continue
		}
		for i := range f.Jobs {
			if pos, ok := f.Jobs[i].Set(name); ok && strings.HasPrefix(p.Name, f.Jobs[i].Name) {
				return exit(exitUsage, "%s: %s: %w", pos, o, err)
			}
		}
	}
	return exit(exitUsage, "%w", err)
}
