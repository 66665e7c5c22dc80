package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"

	"nativ/internal/cgroup"
	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/target"
)

// ErrRoot says that a place needs root.
var ErrRoot = errors.New("it needs root; run nativ as root, or measure the host alone with --places host")

// Host is the host with all its CPUs, for root in a cgroup of its own without
// limits, so that the same things are counted as elsewhere.
type Host struct{ local }

// NewHost returns the host place.
func NewHost(c Config) *Host {
	return &Host{local{Config: c, name: record.PlaceHost}}
}

// Pinned is the host on exactly the container's CPUs, in a cgroup beside the
// container's with the same controllers and limits. What a container costs
// beyond its limits is the difference to this.
type Pinned struct{ local }

// NewPinned returns the pinned place.
func NewPinned(c Config, l Limits) *Pinned {
	return &Pinned{local{Config: c, name: record.PlacePinned, limits: l}}
}

// local runs workers as children.
type local struct {
	Config
	name   string
	limits Limits
	cgroup string
	item   *journal.Item // of the cgroup
	files  []*target.File
}

// Name is the place's name in a record.
func (l *local) Name() string { return l.name }

// Rename gives the place another name, before it is prepared: a second place of
// one kind needs one.
func (l *local) Rename(name string) { l.name = name }

// Cgroup is the path of the place's cgroup; "" where it has none.
func (l *local) Cgroup() string { return l.cgroup }

// Prepare sets the place up for the files and says how it came out.
func (l *local) Prepare(ctx context.Context, files []*target.File) (record.Place, error) {
	l.files = nil
	if l.Cgroups == nil && record.PlaceKind(l.name) != record.PlaceHost {
		return record.Place{}, fmt.Errorf("prepare %s: %w", l.name, ErrRoot)
	}
	var state cgroup.State
	if l.Cgroups != nil {
		var err error
		if state, err = l.prepareGroup(); err != nil {
			return record.Place{}, err
		}
	}
	p, err := l.start(l.workerCommand(), l.limits.CPUs)
	if err != nil {
		return record.Place{}, fmt.Errorf("prepare %s: %w", l.name, err)
	}
	w, failure := l.probe(ctx, p, files)
	if failure != nil {
		return record.Place{}, &WorkerError{Place: l.name, Failure: *failure}
	}
	if err := checkWorker(l.name, l.limits, w); err != nil {
		return record.Place{}, err
	}
	l.files = files
	return record.Place{
		Name: l.name, CPUs: w.CPUs, MemoryBytes: state.Memory,
		Cgroup: l.cgroup, Controllers: state.Controllers, Worker: w,
	}, nil
}

func (l *local) prepareGroup() (cgroup.State, error) {
	path := l.group(l.name)
	if l.item == nil {
		item, err := l.Journal.Will(journal.Entry{Kind: journal.KindCgroup, Path: path})
		if err != nil {
			return cgroup.State{}, fmt.Errorf("prepare %s: %w", l.name, err)
		}
		l.item = item
	}
	if err := l.Cgroups.Create(path); err != nil {
		// In a container of somebody else's the host place still works.
		if record.PlaceKind(l.name) == record.PlaceHost && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
			return cgroup.State{}, nil
		}
		return cgroup.State{}, fmt.Errorf("prepare %s: %w", l.name, err)
	}
	if err := l.Cgroups.Limit(path, cgroup.Limits(l.limits)); err != nil {
		return cgroup.State{}, fmt.Errorf("prepare %s: %w", l.name, err)
	}
	state, err := l.Cgroups.Read(path)
	if err != nil {
		return cgroup.State{}, fmt.Errorf("prepare %s: %w", l.name, err)
	}
	if err := checkLimits(l.name, l.limits, state); err != nil {
		return cgroup.State{}, err
	}
	l.cgroup = path
	return state, nil
}

// probe sees what a worker in the place sees.
func (l *local) probe(ctx context.Context, p *process, files []*target.File) (*record.Worker, *record.Failure) {
	if err := l.enter(p); err != nil {
		p.kill()
		p.end()
		return nil, failed(record.FailStart, err)
	}
	w, failure := p.Probe(ctx, l.request(probePhase(files), files, (*target.File).Path))
	p.end()
	return w, explain(failure, p)
}

// enter moves a worker into the place's cgroup. It has no work yet, so that
// nothing of the pass is counted elsewhere.
func (l *local) enter(p *process) error {
	if l.cgroup == "" {
		return nil
	}
	return l.Cgroups.Add(l.cgroup, p.cmd.Process.Pid)
}

// Run runs one pass on some of the files. Several may run at a time.
func (l *local) Run(ctx context.Context, p job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	if err := prepared(l.name, l.files, files); err != nil {
		return nil, failed(record.FailStart, err)
	}
	proc, err := l.start(l.workerCommand(), l.limits.CPUs)
	if err != nil {
		return nil, failed(record.FailStart, err)
	}
	if err := l.enter(proc); err != nil {
		proc.kill()
		proc.end()
		return nil, failed(record.FailStart, err)
	}
	o, failure, _ := proc.Do(ctx, l.request(p, files, (*target.File).Path), sink)
	proc.end()
	return o, explain(failure, proc)
}

// explain adds to a failure how the worker ended, where it was not the worker
// that reported it.
func explain(f *record.Failure, p *process) *record.Failure {
	if f != nil && (f.Code == record.FailWorker || f.Code == record.FailProtocol) {
		f.Detail += " (" + p.how() + ")"
	}
	return f
}

func (c *Config) workerCommand() *exec.Cmd {
	cmd := exec.Command(c.exe(), WorkerArg)
	cmd.Args[0] = "nativ" // and not /proc/self/exe, for whoever looks at ps
	return cmd
}
