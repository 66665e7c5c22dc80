package fio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

// Name is that of the engine with fio's ioengine io_uring.
const Name = "fio"

// An Engine is an installed fio. The zero value is ready to use.
type Engine struct {
	// Exe is fio's binary. Empty means the one of a Bundle where this process
	// is in a container that has one, else the one in PATH.
	Exe string
	// IOEngine is fio's ioengine; empty means io_uring.
	IOEngine string
}

// Name is "fio", with the ioengine after a slash unless it is io_uring:
// "fio/libaio".
func (e *Engine) Name() string {
	if e.ioengine() == string(job.IOUring) {
		return Name
	}
	return Name + "/" + e.ioengine()
}

func (e *Engine) ioengine() string {
	if e.IOEngine == "" {
		return string(job.IOUring)
	}
	return e.IOEngine
}

// ErrNotFound says that there is no fio.
var ErrNotFound = errors.New("fio is not installed here; install the package fio, or measure with the own engine")

// probePatience bounds fio --version, whose start loads some 60 libraries.
const probePatience = 30 * time.Second

// Probe runs fio --version. It does not tell whether fio's ioengine works here:
// only a pass does.
func (e *Engine) Probe() (record.Engine, error) {
	argv, err := e.program()
	if err != nil {
		return record.Engine{}, err
	}
	out, err := quick(append(argv, "--version"))
	if err != nil {
		return record.Engine{}, fmt.Errorf("run %s --version: %w: %.200s", argv[0], err, bytes.TrimSpace(out))
	}
	version, err := parseVersion(string(out))
	if err != nil {
		return record.Engine{}, fmt.Errorf("use %s: %w", argv[0], err)
	}
	return record.Engine{Name: e.Name(), Version: version}, nil
}

// program is the beginning of fio's command line.
func (e *Engine) program() ([]string, error) {
	if e.Exe != "" {
		return []string{e.Exe}, nil
	}
	if argv := bundled(); argv != nil {
		return argv, nil
	}
	path, err := exec.LookPath("fio")
	if err != nil {
		return nil, ErrNotFound
	}
	return []string{path}, nil
}

func environment() []string { return append(os.Environ(), "LC_ALL=C") }

// HasOption reports whether the installed fio has an option of that name.
func (e *Engine) HasOption(name string) bool {
	argv, err := e.program()
	if err != nil {
		return false
	}
	out, err := quick(append(argv, "--cmdhelp="+name))
	return err == nil && !bytes.Contains(out, []byte("No such command")) && len(bytes.TrimSpace(out)) > 0
}

// Check asks fio whether it takes the options of a phase, without any I/O, so
// that a wrong value is known before anything is made. size is that of a file of
// the phase.
func (e *Engine) Check(p *job.Phase, size int64, files int) error {
	argv, err := e.program()
	if err != nil {
		return err
	}
	var names []file
	for i := range max(files, 1) {
		names = append(names, file{name: fileName(i), size: size})
	}
	args, err := arguments(p, names, e.ioengine())
	if err != nil {
		return err
	}
	dir, lock, err := makeDir()
	if err != nil {
		return err
	}
	defer lock.Close()
	defer os.RemoveAll(dir)
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--output="+outputFile })
	out, err := quickIn(dir, append(append(argv, "--parse-only"), args...))
	if err != nil {
		return fmt.Errorf("phase %s: fio does not take it: %s", p.Name, cmp.Or(reason(tidy(string(out))), err.Error()))
	}
	return nil
}

func quick(argv []string) ([]byte, error) { return quickIn("", argv) }

// quickIn runs fio for something that takes no time.
func quickIn(dir string, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment(), time.Second
	return cmd.CombinedOutput()
}

// fileName is what fio is told is the i-th file of a phase: it gets them as open
// descriptors.
func fileName(i int) string { return "/proc/self/fd/" + strconv.Itoa(3+i) }

// Run runs one pass; see worker.Engine for the contract. fio is loaded and has
// read its options before EventReady, and starts its jobs after. EventStarted comes when fio's first job opens its file, the
// intervals after the end, from fio's logs: those tell of a second in which a
// job hangs, which the cumulative reports of --status-interval do not, because
// they wait for the job. The intervals have no percentiles.
//
// The length of the pass is fio's own run time, in whole milliseconds. Usage is
// that of the fio process, its start and end included.
//
// When ctx ends, fio is asked to stop, and killed where it does not; then there
// is no outcome.
func (e *Engine) Run(ctx context.Context, p job.Phase, files []*target.Claim, sink func(record.Event)) (*record.Outcome, error) {
	if err := check(&p, files); err != nil {
		return nil, err
	}
	self, err := e.Probe()
	if err != nil {
		return nil, err
	}
	self.RegisteredBuffers, self.RegisteredFiles = p.FixedBufs, p.RegisterFiles
	r, err := e.prepare(&p, files)
	if err != nil {
		return nil, err
	}
	defer r.close()
	proc, err := r.load(ctx)
	if err != nil {
		return nil, err
	}
	sink(record.Event{Type: record.EventReady, MonoNS: monotonic(), Worker: &record.Worker{Engine: self}})
	if ctx.Err() != nil {
		r.abandon(proc)
		return r.untouched(sink), nil
	}
	return r.run(ctx, proc, sink)
}

// check refuses what fio would do otherwise than the phase says, or at all.
func check(p *job.Phase, files []*target.Claim) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("phase %s: it has no file", p.Name)
	}
	for _, c := range files {
		fl, err := unix.FcntlInt(uintptr(c.Fd()), unix.F_GETFL, 0)
		if err != nil {
			return fmt.Errorf("ask for the flags of the test file: %w", err)
		}
		r, w := p.BlockSizes()
		switch {
		case p.Mode.Writes() && !c.Writable():
			return fmt.Errorf("phase %s: rw=%s on a file that was claimed for reading", p.Name, p.Mode)
		case p.Direct != (fl&unix.O_DIRECT != 0):
			return fmt.Errorf("phase %s: direct=%t, but the test file is not open like that", p.Name, p.Direct)
		case openSync(fl) != cmp.Or(p.Sync, job.SyncNone):
			return fmt.Errorf("phase %s: sync=%s, but the test file is open with sync=%s", p.Name, cmp.Or(p.Sync, job.SyncNone), openSync(fl))
		case p.Direct && (r%c.OffsetAlign() != 0 || w%c.OffsetAlign() != 0):
			return fmt.Errorf("phase %s: bs=%d is not a multiple of the %d bytes that direct I/O needs here", p.Name, r, c.OffsetAlign())
		}
	}
	return nil
}

// openSync is fio's name of the sync flags of an open file.
func openSync(flags int) job.Sync {
	switch {
	case flags&unix.O_SYNC == unix.O_SYNC: // which includes O_DSYNC
		return job.SyncFile
	case flags&unix.O_DSYNC != 0:
		return job.SyncDSync
	}
	return job.SyncNone
}

// A pass is one run of fio.
type pass struct {
	phase *job.Phase
	argv  []string
	dir   string     // of fio's output; removed by close
	lock  *os.File   // on dir
	files []*os.File // given to fio, from descriptor 3 on
	names []string   // of the files, as fio has them
	sizes []int64
	watch int // inotify on the opening of the files; -1 where there is none
	text  bytes.Buffer
	input *os.File // fio's standard input; it waits for the end of it
}

func (e *Engine) prepare(p *job.Phase, claims []*target.Claim) (*pass, error) {
	argv, err := e.program()
	if err != nil {
		return nil, err
	}
	r := &pass{phase: p, watch: -1}
	var names []file
	for i, c := range claims {
		// A duplicate, so that no os.File closes the claim's own.
		fd, err := unix.FcntlInt(uintptr(c.Fd()), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			r.close()
			return nil, fmt.Errorf("phase %s: hand the test file to fio: %w", p.Name, err)
		}
		name := fileName(i)
		r.files, r.sizes = append(r.files, os.NewFile(uintptr(fd), name)), append(r.sizes, c.Size())
		names = append(names, file{name: name, size: c.Size()})
		r.names = append(r.names, name)
	}
	timed := *p
	timed.Raw = append(clock(), p.Raw...)
	args, err := arguments(&timed, names, e.ioengine())
	if err != nil {
		r.close()
		return nil, err
	}
	r.argv = append(append(argv, args...), fromInput)
	if r.dir, r.lock, err = makeDir(); err != nil {
		r.close()
		return nil, err
	}
	r.watchOpens()
	return r, nil
}

// clock spares fio the race of threads on all CPUs by which it finds out whether it
// can use the TSC (fio_monotonic_clocktest). It comes after fio was let go and
// lasts as long as a busy machine likes, so that passes side by side would not
// start together. Where the kernel itself uses the TSC, the answer is known, and
// fio's clock is the one that it would have chosen.
func clock() []string {
	b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err == nil && string(bytes.TrimSpace(b)) == "tsc" {
		return []string{"clocksource=cpu"}
	}
	return nil
}

// watchOpens asks to be told of the next opening of a file: fio's jobs open
// them right before their first I/O, and nobody else does before. Each watch
// goes by itself then, so that it costs no I/O anything.
func (r *pass) watchOpens() {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return // the number of instances is limited; see run
	}
	for _, f := range r.files {
		if _, err := unix.InotifyAddWatch(fd, "/proc/self/fd/"+strconv.Itoa(int(f.Fd())), unix.IN_OPEN|unix.IN_ONESHOT); err != nil {
			unix.Close(fd)
			return
		}
	}
	r.watch = fd
}

func (r *pass) close() {
	r.closeFiles()
	r.goAhead()
	if r.watch >= 0 {
		unix.Close(r.watch)
		r.watch = -1
	}
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
		_ = r.lock.Close()
	}
}

func (r *pass) closeFiles() {
	for _, f := range r.files {
		_ = f.Close()
	}
	r.files = nil
}

// untouched is the outcome of a pass that was ended before its start.
func (r *pass) untouched(sink func(record.Event)) *record.Outcome {
	o := &record.Outcome{StartNS: monotonic(), Stopped: record.StopAsked, Command: r.argv}
	whole(&o.Read, r.phase.Mode.Reads())
	whole(&o.Write, r.phase.Mode.Writes())
	whole(&o.Sync, r.phase.Syncs())
	sink(record.Event{Type: record.EventStarted, MonoNS: o.StartNS})
	o.EndNS = max(monotonic(), o.StartNS+1)
	end(o, settle(nil, o.ElapsedNS(), tally{}, 0), sink)
	return o
}

// grace is how long fio may take to end after it was asked to. It is below what
// the worker waits for its engine.
const grace = 8 * time.Second

// A process is fio running.
type process struct {
	pid   chan int      // its number, closed without one if it did not start
	ended chan struct{} // closed when it has ended
	state *os.ProcessState
	err   error
	// number is what pid said.
	number int
}

// load starts fio and waits until it has loaded and read its options: it has then
// taken the line that waits for it in its standard input. Where fio ends before,
// run finds out why.
func (r *pass) load(ctx context.Context) (*process, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start fio: %w", err)
	}
	r.input = out
	if _, err := out.WriteString(";\n"); err != nil { // a comment
		in.Close()
		return nil, fmt.Errorf("start fio: %w", err)
	}
	proc := r.start(in)
	number, ok := <-proc.pid
	in.Close()
	if !ok {
		<-proc.ended
		return nil, fmt.Errorf("start fio: %w", proc.err)
	}
	proc.number = number
	for patience := time.Now().Add(probePatience); time.Now().Before(patience); {
		n, err := unix.IoctlGetInt(int(out.Fd()), unix.TIOCINQ)
		if err != nil {
			r.abandon(proc)
			return nil, fmt.Errorf("see whether fio is loaded: %w", err)
		}
		if n == 0 {
			return proc, nil
		}
		select {
		case <-proc.ended:
			return proc, nil
		case <-ctx.Done():
			return proc, nil
		case <-time.After(time.Millisecond):
		}
	}
	r.abandon(proc)
	return nil, fmt.Errorf("start fio: it has not read its options within %v", probePatience)
}

// goAhead lets a fio that is loaded start its jobs.
func (r *pass) goAhead() {
	if r.input != nil {
		_ = r.input.Close()
		r.input = nil
	}
}

// abandon ends a fio that was not let go.
func (r *pass) abandon(proc *process) {
	_ = syscall.Kill(proc.number, syscall.SIGKILL)
	<-proc.ended
}

// start starts fio. The thread that does so must live as long as fio: the
// kernel sends the parent-death signal when that thread ends (prctl(2),
// PR_SET_PDEATHSIG).
func (r *pass) start(in *os.File) *process {
	p := &process{pid: make(chan int, 1), ended: make(chan struct{})}
	cmd := exec.Command(r.argv[0], r.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = r.dir, environment(), r.files
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &r.text, &r.text
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	go func() {
		defer close(p.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.pid)
		if p.err = cmd.Start(); p.err != nil {
			return
		}
		p.pid <- cmd.Process.Pid
		p.err = cmd.Wait()
		p.state = cmd.ProcessState
	}()
	return p
}

// run lets a fio that is loaded go.
func (r *pass) run(ctx context.Context, proc *process, sink func(record.Event)) (*record.Outcome, error) {
	// fio would unlink a file that is shorter than asked, if it could.
	if end := r.fileEnd(); end < slices.Min(r.sizes) {
		r.abandon(proc)
		return nil, fmt.Errorf("phase %s: the test file now ends at %d bytes: somebody has cut it off", r.phase.Name, end)
	}
	began := monotonic()
	r.goAhead()
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.guard(cancel, proc.ended)
	killed := make(chan bool, 1)
	go func() { killed <- stop(watched, proc.number, proc.ended) }()

	// Without a watch, the start is when fio was let go, which is some hundredths
	// of a second early.
	o := &record.Outcome{StartNS: began}
	running := r.watch < 0
	if t, ok := r.opened(proc.ended); ok {
		o.StartNS, running = t, true
	}
	opened := o.StartNS
	if ramp := r.phase.RampTimeNS; running && ramp > 0 {
		select {
		case <-time.After(time.Duration(ramp)):
		case <-proc.ended:
		}
		o.StartNS += ramp
	}
	if running {
		sink(record.Event{Type: record.EventStarted, MonoNS: o.StartNS})
	}
	<-proc.ended
	if <-killed {
		return nil, fmt.Errorf("phase %s: fio did not end within %v after SIGINT and was killed: I/Os did not come back", r.phase.Name, grace)
	}
	if r.phase.Trace && running {
		if err := r.trace(opened, sink); err != nil {
			return nil, err
		}
	}
	return r.finish(ctx, o, proc, running, sink)
}

// guard ends a run whose file was cut off: with io_uring fio takes no notice of
// reads that give nothing.
func (r *pass) guard(stop func(), ended <-chan struct{}) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ended:
			return
		case <-t.C:
			if r.fileEnd() < slices.Min(r.sizes) {
				stop()
				return
			}
		}
	}
}

func (r *pass) trace(opened int64, sink func(record.Event)) error {
	f, err := os.Open(filepath.Join(r.dir, traceFile))
	if err != nil {
		return fmt.Errorf("read fio's trace: %w", err)
	}
	defer f.Close()
	ios, err := parseTrace(f, r.names, opened)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(ios, traceChunk) {
		sink(record.Event{Type: record.EventTrace, MonoNS: monotonic(), Trace: some})
	}
	return nil
}

// stop ends fio when ctx does, first as Ctrl-C would, which lets it report, and
// reports whether it had to be killed.
func stop(ctx context.Context, pid int, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return false
	case <-ctx.Done():
	}
	_ = syscall.Kill(pid, syscall.SIGINT)
	select {
	case <-ended:
		return false
	case <-time.After(grace):
	}
	// The number is still fio's: it was not waited for until ended is closed,
	// but for the moment between.
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return true
}

// opened waits until fio opens a file and says when that was; false where it
// ended without.
func (r *pass) opened(ended <-chan struct{}) (int64, bool) {
	if r.watch < 0 {
		return 0, false
	}
	fds := []unix.PollFd{{Fd: int32(r.watch), Events: unix.POLLIN}}
	for {
		over := false
		select {
		case <-ended:
			over = true // one last look: a short pass leaves its event behind
		default:
		}
		n, err := unix.Poll(fds, btoms(!over))
		switch {
		case err != nil && err != unix.EINTR:
			return 0, false
		case n > 0:
			return monotonic(), true
		case over:
			return 0, false
		}
	}
}

// btoms is how long in milliseconds a poll waits before it looks whether fio has ended.
func btoms(wait bool) int {
	if wait {
		return 20
	}
	return 0
}

// finish makes the outcome of a run that is over.
func (r *pass) finish(ctx context.Context, o *record.Outcome, proc *process, running bool, sink func(record.Event)) (*record.Outcome, error) {
	said := tidy(r.text.String())
	rep, err := readReport(os.DirFS(r.dir), results(r.phase), said)
	switch {
	case err != nil && !running && ctx.Err() != nil:
		return r.untouched(sink), nil // before fio could report anything
	case err != nil && proc.err != nil:
		return nil, fmt.Errorf("phase %s: fio ended with %v: %w", r.phase.Name, proc.err, err)
	case err != nil:
		return nil, fmt.Errorf("phase %s: %w", r.phase.Name, err)
	case !running && ctx.Err() != nil:
		return r.untouched(sink), nil
	case !running || proc.err != nil && ctx.Err() == nil && !rep.started() && len(ioErrors(rep.Text)) == 0:
		// Nothing was measured: fio did not come to its first I/O.
		why := reason(rep.Text)
		if why == "" && proc.err != nil {
			why = proc.err.Error()
		}
		if hint := r.hint(rep); hint != "" {
			why += "; " + hint
		}
		return nil, fmt.Errorf("phase %s: fio could not start: %s", r.phase.Name, why)
	}
	measured, err := rep.outcome(r.phase, ctx.Err() != nil, slices.Min(r.sizes), r.fileEnd())
	if err != nil {
		return nil, fmt.Errorf("phase %s: %w", r.phase.Name, err)
	}
	start := o.StartNS
	*o = *measured
	o.StartNS, o.EndNS = start, start+measured.EndNS
	for i := range o.Clones {
		c := &o.Clones[i]
		c.StartNS, c.EndNS = start, min(start+c.EndNS, o.EndNS)
	}
	o.Command = r.argv
	if u, ok := proc.state.SysUsage().(*syscall.Rusage); ok {
		o.Usage = record.Usage{UserNS: u.Utime.Nano(), SystemNS: u.Stime.Nano()}
	}
	var ivs []record.Interval
	ivs, o.IntervalsLost = rep.intervals(r.phase, o)
	end(o, ivs, sink)
	return o, nil
}

// hint is what to do about a failure at the start.
func (r *pass) hint(rep *report) string {
	switch rep.job.Error {
	case int(unix.EPERM), int(unix.ENOSYS), int(unix.EACCES):
		return "where io_uring is forbidden, take another ioengine"
	case int(unix.ENOMEM):
		return "RLIMIT_MEMLOCK may be too low for fixedbufs"
	}
	return ""
}

// fileEnd is where the shortest file ends now: behind it, reads are short.
func (r *pass) fileEnd() int64 {
	least := r.sizes[0]
	for i, f := range r.files {
		least = min(least, r.sizes[i])
		if fi, err := f.Stat(); err == nil {
			least = min(least, fi.Size())
		}
	}
	return least
}

// end says the last of a pass.
func end(o *record.Outcome, ivs []record.Interval, sink func(record.Event)) {
	for i := range ivs {
		sink(record.Event{Type: record.EventInterval, MonoNS: o.StartNS + ivs[i].EndNS, Interval: &ivs[i]})
	}
	sink(record.Event{Type: record.EventEnded, MonoNS: o.EndNS})
}

// monotonic is CLOCK_MONOTONIC in nanoseconds.
func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail: vDSO and a valid clock
	return ts.Nano()
}

// inside joins path elements to one below BundleDir.
func inside(elem ...string) string {
	return filepath.Join(append([]string{BundleDir}, elem...)...)
}
