package place

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/target"
)

// LXC is a throw-away container: an almost empty root, the nativ binary as its
// init, no network, the test file bound into it, and a cgroup with limits.
type LXC struct {
	Config
	limits Limits
	opt    LXCOptions

	files []*target.File
	// Of the container that stands:
	items []*journal.Item // in the order in which things were made
	alive *os.File        // locked for as long as this process lives
	init  *os.File        // pidfd of the container's first process
	// paths of the files in the container
	paths map[*target.File]string
}

// LXCOptions are the ways in which a container can be made.
type LXCOptions struct {
	// StateDir is the absolute state directory of the run's journal; the
	// container's things are below it, in runs/RUNID.
	StateDir string
	// Privileged leaves out the user namespace.
	Privileged bool
	// Mounts are further files that the container sees, read-only.
	Mounts []Mount
}

// A Mount is a file of the host that a container sees at the absolute path
// Inside.
type Mount struct{ Host, Inside string }

// NewLXC returns a container place.
func NewLXC(c Config, l Limits, o LXCOptions) *LXC {
	return &LXC{Config: c, limits: l, opt: o}
}

// Name is the place's name in a record.
func (l *LXC) Name() string { return record.PlaceLXC }

// Cgroup is the path of the container's cgroup. Workers are in it or, on v2, in
// a group below it, and count for it.
func (l *LXC) Cgroup() string { return l.group(groupContainer) }

func (l *LXC) container() string { return "nativ-" + l.RunID }
func (l *LXC) dir(elem ...string) string {
	return filepath.Join(append([]string{l.opt.StateDir, "runs", l.RunID}, elem...)...)
}
func (l *LXC) lxcPath() string { return l.dir("lxc") }

// startPatience bounds each of LXC's programs. They take some 20 ms, but a slow
// machine has been seen to compile an AppArmor profile for 20 s.
const startPatience = 2 * time.Minute

// Prepare makes the container for the files, starts it and reads back what came
// of it. A container that was made before is removed first.
func (l *LXC) Prepare(ctx context.Context, files []*target.File) (record.Place, error) {
	p, err := l.prepare(ctx, files)
	if err != nil {
		var w *WorkerError
		if errors.As(err, &w) {
			return record.Place{}, err
		}
		return record.Place{}, fmt.Errorf("prepare %s: %w", l.Name(), err)
	}
	return p, nil
}

func (l *LXC) prepare(ctx context.Context, files []*target.File) (record.Place, error) {
	if l.Cgroups == nil || os.Geteuid() != 0 {
		return record.Place{}, ErrRoot
	}
	if err := CheckLXC(); err != nil {
		return record.Place{}, err
	}
	if err := l.Cgroups.Check(l.limits.controllers()...); err != nil {
		return record.Place{}, err // LXC would only log it
	}
	if err := l.remove(ctx); err != nil {
		return record.Place{}, fmt.Errorf("remove the container of before: %w", err)
	}
	config, err := l.build(files)
	if err != nil {
		return record.Place{}, err
	}
	if err := l.boot(ctx); err != nil {
		return record.Place{}, err
	}
	place, err := l.inspect(ctx, config)
	if err != nil {
		return record.Place{}, err
	}
	p, err := l.attach()
	if err != nil {
		return record.Place{}, err
	}
	w, failure := p.Probe(ctx, l.request(probePhase(files), files, l.pathOf))
	if failure = l.finish(p, failure); failure != nil {
		return record.Place{}, &WorkerError{Place: l.Name(), Failure: *failure}
	}
	if err := checkWorker(l.Name(), l.limits, w); err != nil {
		return record.Place{}, err
	}
	l.files = files
	place.Worker = w
	return place, nil
}

// will writes a thing into the journal and remembers it.
func (l *LXC) will(e journal.Entry) error {
	item, err := l.Journal.Will(e)
	if err == nil {
		l.items = append(l.items, item)
	}
	return err
}

// remove removes the container of before, if there was one, as an undo would.
func (l *LXC) remove(ctx context.Context) error {
	l.files = nil
	for _, f := range []*os.File{l.init, l.alive} {
		if f != nil {
			f.Close()
		}
	}
	l.init, l.alive = nil, nil
	undo := Undoers(l.Cgroups, l.opt.StateDir)
	for len(l.items) > 0 {
		item := l.items[len(l.items)-1]
		e := item.Entry()
		if _, err := undo[e.Kind](ctx, e); err != nil {
			return err
		}
		_ = item.Gone()
		l.items = l.items[:len(l.items)-1]
	}
	return nil
}

// build lays out everything that the container needs and writes its
// configuration.
func (l *LXC) build(files []*target.File) (*lxcConfig, error) {
	if err := os.MkdirAll(l.opt.StateDir, 0o755); err != nil {
		return nil, err
	}
	if err := CheckStateDir(l.opt.StateDir, l.opt.Privileged); err != nil {
		return nil, err
	}
	c := &lxcConfig{
		Rootfs: l.dir("rootfs"), Binary: l.dir("nativ"), Alive: l.dir("alive"),
		CPUs: job.FormatCPUs(l.limits.CPUs), Memory: l.limits.Memory,
		Group: cgroupTop + "/" + l.RunID, Unconfined: !appArmorUsable("/"),
	}
	l.paths = map[*target.File]string{}
	for i, f := range files {
		// The name of nativ's own files is part of what a ticket says; that of
		// others may hold what LXC's configuration cannot.
		name := filepath.Base(f.Path())
		if f.Foreign() {
			name = fmt.Sprintf("file%d", i)
		}
		c.Files = append(c.Files, lxcFile{Source: l.dir("bench", name), Target: "bench/" + name, ReadOnly: f.Foreign()})
		l.paths[f] = "/bench/" + name
	}
	for _, m := range l.opt.Mounts {
		if err := errors.Join(checkPlain(m.Host), checkPlain(m.Inside)); err != nil {
			return nil, err
		}
		c.Mounts = append(c.Mounts, lxcFile{Source: m.Host, Target: strings.TrimPrefix(m.Inside, "/"), ReadOnly: true})
	}
	if !l.opt.Privileged {
		c.IDs = rootIDs("/")
	}
	if exists(commonSeccomp) {
		c.Seccomp = commonSeccomp
	}
	if err := l.will(journal.Entry{Kind: journal.KindTree, Path: l.dir()}); err != nil {
		return nil, err
	}
	if err := l.layOut(c); err != nil {
		return nil, err
	}
	if err := copyBinary(l.exe(), c.Binary); err != nil {
		return nil, err
	}
	var err error
	if l.alive, err = lockedFile(c.Alive); err != nil {
		return nil, err
	}
	for i, f := range files {
		if err := l.bind(f, &c.Files[i], c.IDs); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(l.lxcPath(), l.container(), "config"), []byte(c.String()), 0o644); err != nil {
		return nil, err
	}
	return c, nil
}

func (l *LXC) pathOf(f *target.File) string { return l.paths[f] }

// layOut makes directories and the mount points of the files. What is in the
// root file system belongs to the container's root.
func (l *LXC) layOut(c *lxcConfig) error {
	if err := os.MkdirAll(filepath.Dir(l.dir()), 0o755); err != nil {
		return err
	}
	for _, d := range []string{l.dir("bench"), l.dir("bin"), filepath.Join(l.lxcPath(), l.container())} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	inside := []string{c.Rootfs}
	for _, d := range []string{"proc", "sys", "dev", "bench"} {
		inside = append(inside, filepath.Join(c.Rootfs, d))
	}
	for _, d := range inside {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	var points []string
	names := []string{"nativ", alivePath}
	for _, f := range c.Files {
		points, names = append(points, f.Source), append(names, f.Target)
	}
	for _, m := range c.Mounts {
		// Directories above it belong to the host's root, and everybody may
		// pass.
		if err := os.MkdirAll(filepath.Dir(filepath.Join(c.Rootfs, m.Target)), 0o755); err != nil {
			return err
		}
		names = append(names, m.Target)
	}
	for _, p := range names {
		p = filepath.Join(c.Rootfs, p)
		inside, points = append(inside, p), append(points, p)
	}
	for _, p := range points {
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			return err
		}
	}
	if c.IDs != nil {
		for _, p := range inside {
			if err := os.Chown(p, int(c.IDs.UID), int(c.IDs.GID)); err != nil {
				return err
			}
		}
	}
	if !c.Unconfined {
		// The only program that lxc-start needs to find; see lxcCommand.
		parser, err := findParser("/")
		if err != nil {
			return err
		}
		if err := os.Symlink(parser, l.dir("bin", filepath.Base(parser))); err != nil {
			return err
		}
	}
	// Whatever the umask made of them: the container's root must get through.
	return filepath.WalkDir(l.dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		mode := os.FileMode(0o644)
		if d.IsDir() {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
}

// bind brings the test file to where the container's root can get at it,
// wherever it lies: a bind mount does not ask for the directories above its
// source. Only the file is bound, not its directory, so that the container
// sees nothing else, and so that a directory that is closed to others serves. A
// file that is not nativ's is bound read-only and keeps its owner.
func (l *LXC) bind(f *target.File, c *lxcFile, ids *idMap) error {
	if err := l.will(journal.Entry{Kind: journal.KindMount, Path: c.Source}); err != nil {
		return err
	}
	if err := unix.Mount(f.Path(), c.Source, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", f.Path(), c.Source, err)
	}
	if err := sameFile(c.Source, f.Facts()); err != nil {
		return err
	}
	switch {
	case c.ReadOnly:
		if err := unix.Mount("", c.Source, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("bind %s read-only to %s: %w", f.Path(), c.Source, err)
		}
	case ids != nil:
		return f.Chown(int(ids.UID), int(ids.GID))
	}
	return nil
}

// sameFile checks that path leads to the test file.
func sameFile(path string, want record.File) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.Ino != want.Ino || unix.Major(st.Dev) != want.DevMajor || unix.Minor(st.Dev) != want.DevMinor {
		return fmt.Errorf("look at %s: it is inode %d on device %d:%d, but the test file is inode %d on %d:%d",
			path, st.Ino, unix.Major(st.Dev), unix.Minor(st.Dev), want.Ino, want.DevMajor, want.DevMinor)
	}
	return nil
}

// boot starts the container.
func (l *LXC) boot(ctx context.Context) error {
	for _, g := range []string{groupContainer, groupMonitor, groupPivot} {
		if err := l.will(journal.Entry{Kind: journal.KindCgroup, Path: l.group(g)}); err != nil {
			return err
		}
	}
	// The group above is made here, so that on v2 it has every controller
	// to give, and the same as beside the pinned place.
	if err := l.Cgroups.Create(filepath.Dir(l.Cgroup())); err != nil {
		return err
	}
	if err := l.will(journal.Entry{Kind: journal.KindContainer, Path: l.lxcPath(), Name: l.container()}); err != nil {
		return err
	}
	log := l.dir("lxc.log")
	_, err := l.lxc(ctx, "lxc-start", "-d", "-l", "WARN", "-o", log)
	if err != nil {
		if r, oerr := os.Open(log); oerr == nil {
			defer r.Close()
			if reasons := parseLog(r); len(reasons) > 0 {
				return fmt.Errorf("start container: LXC says: %s", strings.Join(reasons, "; "))
			}
		}
		return fmt.Errorf("start container: %w", err)
	}
	return nil
}

// lxcCommand makes a call of one of LXC's programs for the container.
//
// PATH leads to a directory of ours, so that LXC does not find newuidmap: that
// would insist on a range for root in /etc/subuid, whereas root itself may map
// any. All other programs that LXC calls have absolute paths.
func (l *LXC) lxcCommand(program string, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, append([]string{"-P", l.lxcPath(), "-n", l.container()}, args...)...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + l.dir("bin"), "HOME=/", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// lxc runs one of LXC's programs and returns what it printed.
func (l *LXC) lxc(ctx context.Context, program string, args ...string) (string, error) {
	cmd, err := l.lxcCommand(program, args...)
	if err != nil {
		return "", err
	}
	return runShort(ctx, cmd)
}

// runShort runs a command that must end soon.
func runShort(ctx context.Context, cmd *exec.Cmd) (string, error) {
	return runWithin(ctx, startPatience, cmd)
}

// runWithin runs a command that must end within the time.
func runWithin(ctx context.Context, patience time.Duration, cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	var errs tail
	cmd.Stdout, cmd.Stderr = &out, &errs
	// A daemon that lxc-start leaves behind may hold the pipes.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	stop()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		name := filepath.Base(cmd.Path)
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s: %w", name, ctx.Err())
		}
		if said := errs.String(); said != "" {
			return "", fmt.Errorf("%s: %w: %s", name, err, said)
		}
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(out.String()), nil
}

// inspect says how the container came out, and checks that it is what was
// asked for.
func (l *LXC) inspect(ctx context.Context, c *lxcConfig) (record.Place, error) {
	var place record.Place
	version, err := l.lxc(ctx, "lxc-info", "--version")
	if err != nil {
		return place, err
	}
	pid, err := l.findInit(ctx)
	if err != nil {
		return place, err
	}
	state, err := l.Cgroups.Read(l.Cgroup())
	if err != nil {
		return place, err
	}
	if err := checkLimits(l.Name(), l.limits, state); err != nil {
		return place, err
	}
	proc := fmt.Sprintf("/proc/%d", pid)
	for f, path := range l.paths {
		if err := sameFile(proc+"/root"+path, f.Facts()); err != nil {
			return place, err
		}
	}
	place = record.Place{
		Name: l.Name(), CPUs: state.CPUs, MemoryBytes: state.Memory,
		Cgroup: l.Cgroup(), Controllers: state.Controllers,
		Container: &record.Container{
			Runtime: "lxc " + version, Privileged: l.opt.Privileged,
			AppArmor: profileOf(proc), Seccomp: "none",
		},
	}
	if c.IDs != nil {
		place.Container.IDMap = c.IDs.String()
	}
	if c.Seccomp != "" {
		place.Container.Seccomp = seccompOf(proc, filepath.Base(c.Seccomp))
	}
	return place, nil
}

// findInit finds the container's first process and keeps hold of it.
func (l *LXC) findInit(ctx context.Context) (int, error) {
	out, err := l.lxc(ctx, "lxc-info", "-p", "-H")
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(out)
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("find the container's init: lxc-info says %q; did the container end at once?", out)
	}
	if l.init, err = holdProcess(pid); err != nil {
		return 0, err
	}
	// The number may have gone to another process before the pidfd held it.
	if procs, err := l.Cgroups.Procs(l.Cgroup()); err != nil || !slices.Contains(procs, pid) {
		return 0, fmt.Errorf("find the container's init: process %d is not in cgroup %s", pid, l.Cgroup())
	}
	return pid, nil
}

// ended reports whether the container has ended, or does within the time.
func (l *LXC) ended(within time.Duration) bool { return ended(l.init, within) }

// holdProcess returns a pidfd.
func holdProcess(pid int) (*os.File, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("find the container's init: open process %d: %w", pid, err)
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// ended reports whether the process of a pidfd has ended, or does within the time;
// nil has.
func ended(process *os.File, within time.Duration) bool {
	if process == nil {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(process.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(within.Milliseconds()))
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// attach starts a worker in the container.
func (l *LXC) attach() (*process, error) {
	cmd, err := l.lxcCommand("lxc-attach", "--clear-env", "--", "/nativ", WorkerArg)
	if err != nil {
		return nil, err
	}
	return l.start(cmd, nil)
}

// finish ends a worker and says what really became of a pass that failed.
func (l *LXC) finish(p *process, f *record.Failure) *record.Failure {
	if p.end() {
		// lxc-attach had to be killed, which does not reach the worker:
		// only the end of the container does.
		ctx, cancel := context.WithTimeout(context.Background(), startPatience)
		defer cancel()
		_, _ = l.lxc(ctx, "lxc-stop", "-k")
	}
	return explainInside(f, p, l.init)
}

// explainInside says what really became of a pass in a container with this init,
// whose worker has ended.
func explainInside(f *record.Failure, p *process, init *os.File) *record.Failure {
	if f == nil {
		return nil
	}
	switch f.Code {
	case record.FailWorker, record.FailProtocol, record.FailStart:
		// The kernel ends the others of a PID namespace first and init last.
		if ended(init, time.Second) {
			return &record.Failure{Code: record.FailContainer, Detail: "the container ended while the worker ran"}
		}
	}
	return explain(f, p)
}

// Run runs one pass on some of the files; several may run at a time. Where the container has ended it fails with
// record.FailContainer, and Prepare makes it anew.
func (l *LXC) Run(ctx context.Context, p job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	if err := prepared(l.Name(), l.files, files); err != nil {
		return nil, failed(record.FailStart, err)
	}
	if l.ended(0) {
		return nil, &record.Failure{Code: record.FailContainer, Detail: "the container has ended"}
	}
	proc, err := l.attach()
	if err != nil {
		return nil, failed(record.FailStart, err)
	}
	o, failure, _ := proc.Do(ctx, l.request(p, files, l.pathOf), sink)
	return o, l.finish(proc, failure)
}
