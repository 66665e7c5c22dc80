package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/cgroup"
	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/pve"
	"nativ/internal/record"
	"nativ/internal/target"
)

// PVE is a container of Proxmox VE: one that it makes and removes, or one that
// runs already and is neither stopped nor changed.
//
// Other than with LXC, the file lies in the container, on a volume of its own, and
// the host sees it through the root of the container's init. So the container
// comes first (Make), then the file (CreateFile), then Prepare.
type PVE struct {
	Config
	limits Limits
	opt    PVEOptions

	facts record.PVEContainer
	ct    *pve.CT // nil of one that was there before
	// dir is the directory of the test file in the container, and binary the
	// program.
	dir, binary string
	init        *os.File // pidfd of its first process, nil where it does not run
	pid         int
	files       []*target.File
	ready       []*target.File // for which it is prepared
	twin        *twin
}

// PVEOptions are which container it is.
type PVEOptions struct {
	Client *pve.Client
	// StateDir is the absolute state directory of the run's journal.
	StateDir string

	// Existing is the ID of a container that runs; 0 makes one. At is a directory in
	// it, on the volume to measure.
	Existing int
	At       string

	// The others are of one that is made. Storage is where its volumes are, Bytes
	// the size of the one to measure, Template the volume ID of what it is made
	// from; without one, nativ's own is put on TemplateStorage.
	Storage         pve.Storage
	Bytes           int64
	Template        string
	TemplateStorage pve.Storage
	Privileged      bool
	// Twin makes a second volume, for the host.
	Twin bool
}

// NewPVE returns a container place of Proxmox VE. The limits of one that was there
// before are its own, and have to be those.
func NewPVE(c Config, l Limits, o PVEOptions) *PVE { return &PVE{Config: c, limits: l, opt: o} }

// Name is the place's name in a record.
func (p *PVE) Name() string { return record.PlacePVE }

// Cgroup is the path of the container's cgroup. Those that its processes are in lie
// below it, and count for it.
func (p *PVE) Cgroup() string {
	if p.facts.VMID == 0 {
		return ""
	}
	return PVECgroup(p.facts.VMID)
}

// Facts are what is known of the container.
func (p *PVE) Facts() record.PVEContainer { return p.facts }

// Volume is the ID of the volume that a container which was made has the file on.
func (p *PVE) Volume() string {
	for _, l := range p.facts.Config {
		if v, ok := strings.CutPrefix(l, "mp0: "); ok {
			v, _, _ = strings.Cut(v, ",")
			return v
		}
	}
	return ""
}

// PVECgroup is the cgroup that Proxmox VE gives a container (LXC.pm,
// lxc.cgroup.dir.container).
func PVECgroup(id int) string { return allCTs + "/" + strconv.Itoa(id) }

// HostDir is where the host sees the directory of the test file, for as long as
// the container runs.
func (p *PVE) HostDir() string { return p.root() + p.dir }

func (p *PVE) root() string { return fmt.Sprintf("/proc/%d/root", p.pid) }

// Target is where the test file lies, once the container runs.
func (p *PVE) Target() (*record.Target, error) {
	return target.ResolveIn(p.pid, p.dir, target.Roots{})
}

// CreateFile makes the test file in the container. What it lies in is in the
// journal.
func (p *PVE) CreateFile(size int64, nonce string) (*target.File, error) {
	f, err := target.CreateUnlisted(p.HostDir(), size, nonce)
	if err == nil {
		p.files = append(p.files, f)
	}
	return f, err
}

// Release lets go of the volumes and of the container, so that they can be removed.
// It removes the test files, gives the free space back to storage and drive, and
// says why that was not done.
func (p *PVE) Release(ctx context.Context) (notTrimmed string) {
	for _, f := range p.files {
		if err := f.Remove(); err != nil {
			_ = f.Release() // the volume goes, or the undo of its directory tells
		}
	}
	p.files, p.ready = nil, nil
	defer p.forget()
	if p.ct == nil {
		return ""
	}
	if ended(p.init, 0) {
		return "the container does not run"
	}
	if err := p.ct.Trim(ctx); err != nil {
		notTrimmed = err.Error()
	}
	// What else fails here, the undo tries again and reports.
	_ = p.ct.Stop(ctx)
	return notTrimmed
}

// forget lets go of the container's first process.
func (p *PVE) forget() {
	if p.init != nil {
		p.init.Close()
	}
	p.init, p.pid = nil, 0
}

// Prepare checks that the container is what was asked for, starts it again where
// nativ made it and it has ended, and says how it came out.
func (p *PVE) Prepare(ctx context.Context, files []*target.File) (record.Place, error) {
	p.ready = nil
	place, err := p.prepare(ctx, files)
	if err != nil {
		var w *WorkerError
		if errors.As(err, &w) {
			return record.Place{}, err
		}
		return record.Place{}, fmt.Errorf("prepare %s: %w", p.Name(), err)
	}
	p.ready = files
	return place, nil
}

func (p *PVE) prepare(ctx context.Context, files []*target.File) (record.Place, error) {
	if p.facts.VMID == 0 {
		return record.Place{}, errors.New("there is no container yet")
	}
	if ended(p.init, 0) {
		if err := p.revive(ctx, files); err != nil {
			return record.Place{}, err
		}
	}
	uid, gid, idmap, err := p.idMap()
	if err != nil {
		return record.Place{}, err
	}
	for _, f := range files {
		if path.Dir(f.Path()) != p.HostDir() {
			return record.Place{}, fmt.Errorf("%s does not lie on the container's volume", f.Path())
		}
		if !f.Foreign() {
			if err := f.Chown(uid, gid); err != nil {
				return record.Place{}, err
			}
		}
	}
	place, err := p.inspect(ctx, idmap)
	if err != nil {
		return record.Place{}, err
	}
	proc, err := p.attach()
	if err != nil {
		return record.Place{}, err
	}
	w, failure := proc.Probe(ctx, p.request(probePhase(files), files, p.pathOf))
	if failure = p.finish(proc, failure); failure != nil {
		return record.Place{}, &WorkerError{Place: p.Name(), Failure: *failure}
	}
	if err := checkWorker(p.Name(), p.limits, w); err != nil {
		return record.Place{}, err
	}
	place.Worker = w
	return place, nil
}

// revive starts a container that has ended and finds the files in it again.
func (p *PVE) revive(ctx context.Context, files []*target.File) error {
	if p.ct == nil {
		return fmt.Errorf("container %d does not run any more, and nativ does not start what it did not make", p.facts.VMID)
	}
	p.forget()
	for _, f := range p.files {
		if err := f.Release(); err != nil {
			return err
		}
	}
	if err := p.ct.Stop(ctx); err != nil { // a monitor may be left
		return err
	}
	if err := p.boot(ctx); err != nil {
		return err
	}
	if err := p.install(ctx); err != nil {
		return err
	}
	for _, f := range files {
		if err := f.Follow(p.HostDir()); err != nil {
			return err
		}
	}
	return nil
}

// pathOf is where the container sees a file.
func (p *PVE) pathOf(f *target.File) string { return path.Join(p.dir, path.Base(f.Path())) }

// idMap returns whom the container's root is on the host, and the whole map.
func (p *PVE) idMap() (uid, gid int, text string, err error) {
	read := func(name string) (id int, text string, err error) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.pid, name))
		if err != nil {
			return 0, "", err
		}
		return parseIDMap(string(b))
	}
	uid, users, err := read("uid_map")
	if err != nil {
		return 0, 0, "", err
	}
	gid, groups, err := read("gid_map")
	if err != nil {
		return 0, 0, "", err
	}
	if uid == 0 {
		return uid, gid, "", nil // privileged
	}
	return uid, gid, "u " + users + ", g " + groups, nil
}

// parseIDMap reads uid_map or gid_map (user_namespaces(7)): whom root is, and all
// of it on one line.
func parseIDMap(s string) (root int, text string, err error) {
	root = -1
	var all []string
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return 0, "", fmt.Errorf("read ID map: %q", line)
		}
		if f[0] == "0" {
			if root, err = strconv.Atoi(f[1]); err != nil {
				return 0, "", fmt.Errorf("read ID map: %w", err)
			}
		}
		all = append(all, strings.Join(f, " "))
	}
	if root < 0 {
		return 0, "", fmt.Errorf("read ID map: %q maps no root", s)
	}
	return root, strings.Join(all, " "), nil
}

// inspect says how the container came out, and checks that it is what was asked
// for.
func (p *PVE) inspect(ctx context.Context, idmap string) (record.Place, error) {
	state, err := p.state()
	if err != nil {
		return record.Place{}, err
	}
	if err := checkLimits(p.Name(), p.limits, state); err != nil {
		return record.Place{}, err
	}
	version, err := p.opt.Client.Version(ctx)
	if err != nil {
		return record.Place{}, err
	}
	proc := fmt.Sprintf("/proc/%d", p.pid)
	facts := p.facts
	return record.Place{
		Name: p.Name(), CPUs: state.CPUs, MemoryBytes: state.Memory, Cgroup: p.Cgroup(), Controllers: state.Controllers,
		Container: &record.Container{
			Runtime: "Proxmox VE " + version.Manager, Privileged: idmap == "", IDMap: idmap,
			AppArmor: profileOf(proc), Seccomp: seccompOf(proc, "filter"), PVE: &facts,
		},
	}, nil
}

func (p *PVE) state() (cgroup.State, error) {
	if p.Cgroups == nil {
		return cgroup.State{}, ErrRoot
	}
	return p.Cgroups.Read(p.Cgroup())
}

// moved says that the container does not have the CPUs any more that the pinned
// place has. Proxmox VE moves those that are not pinned whenever others start or
// stop.
func (p *PVE) moved() error {
	if p.facts.CPUsPinned || len(p.limits.CPUs) == 0 {
		return nil
	}
	state, err := p.state()
	if err != nil {
		return err
	}
	if !slices.Equal(sorted(p.limits.CPUs), state.CPUs) {
		return fmt.Errorf("container %d was moved from CPUs %s to %s, and cannot be compared any more; with lxc.cgroup2.cpuset.cpus in its configuration Proxmox VE leaves it where it is",
			p.facts.VMID, job.FormatCPUs(p.limits.CPUs), orNone(job.FormatCPUs(state.CPUs)))
	}
	return nil
}

// attach starts a worker in the container.
func (p *PVE) attach() (*process, error) {
	cmd, err := p.opt.Client.Command(p.facts.VMID, p.binary, WorkerArg)
	if err != nil {
		return nil, err
	}
	return p.Config.start(cmd, nil)
}

// finish ends a worker and says what really became of a pass that failed.
func (p *PVE) finish(proc *process, f *record.Failure) *record.Failure {
	if proc.end() {
		p.killInside() // to end pct exec does not end what it started
	}
	return explainInside(f, proc, p.init)
}

// Run runs one pass on some of the files; several may run at a time. Where the
// container has ended it fails with record.FailContainer.
func (p *PVE) Run(ctx context.Context, ph job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	if err := prepared(p.Name(), p.ready, files); err != nil {
		return nil, failed(record.FailStart, err)
	}
	if ended(p.init, 0) {
		return nil, &record.Failure{Code: record.FailContainer, Detail: "the container has ended"}
	}
	if err := p.moved(); err != nil {
		return nil, failed(record.FailStart, err)
	}
	proc, err := p.attach()
	if err != nil {
		return nil, failed(record.FailStart, err)
	}
	o, failure, _ := proc.Do(ctx, p.request(ph, files, p.pathOf), sink)
	if failure = p.finish(proc, failure); failure == nil {
		if err := p.moved(); err != nil {
			return nil, failed(record.FailStart, err)
		}
	}
	return o, failure
}

// will writes a thing into the journal.
func (p *PVE) will(e journal.Entry) (*journal.Item, error) { return p.Journal.Will(e) }
