package place

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/pve"
)

const (
	// ownRootGiB holds nativ, otherRootGiB what a distribution brings.
	ownRootGiB, otherRootGiB = 0.25, 4
	// Lines for LXC in a container's configuration.
	rawCPUs = "lxc.cgroup2.cpuset.cpus"
)

// PVERootBytes is how large the root of a container is that is made from somebody
// else's template, or from nativ's own.
func PVERootBytes(template bool) int64 {
	gib := float64(ownRootGiB)
	if template {
		gib = otherRootGiB
	}
	return int64(gib * (1 << 30))
}

// Make makes the container and starts it, or finds the one that is to be used, and
// puts nativ into it.
func (p *PVE) Make(ctx context.Context) error {
	make := p.build
	if p.opt.Existing != 0 {
		make = p.find
	}
	if err := make(ctx); err != nil {
		return fmt.Errorf("prepare %s: %w", p.Name(), err)
	}
	return nil
}

// build makes a container of the run's own.
func (p *PVE) build(ctx context.Context) error {
	template, done := p.opt.Template, func() error { return nil }
	if template == "" {
		var err error
		if template, done, err = p.buildTemplate(); err != nil {
			return err
		}
	}
	var item *journal.Item
	made, err := p.opt.Client.Create(ctx, p.spec(template), func(id int) (err error) {
		item, err = p.will(journal.Entry{Kind: journal.KindPVEContainer, VMID: id, Name: p.hostname(), Mark: p.RunID, Since: time.Now()})
		return err
	}, func(int) { _ = item.Gone() })
	if err = errors.Join(err, done()); err != nil {
		return err
	}
	p.ct = made.CT
	p.facts.VMID, p.facts.Made, p.facts.Hostname, p.facts.Warned = made.CT.ID, true, p.hostname(), made.Warnings
	p.facts.Template, p.facts.OwnTemplate = template, p.opt.Template == ""
	p.dir, p.binary = insideBench, insideBinary
	if err := p.pin(ctx); err != nil {
		return err
	}
	if p.facts.Volumes, err = p.ct.Volumes(ctx); err != nil {
		return err
	}
	cfg, err := p.opt.Client.Config(ctx, p.facts.VMID)
	if err != nil {
		return err
	}
	p.note(cfg, func(string) bool { return true })
	if err := p.boot(ctx); err != nil {
		return err
	}
	if err := p.checkVolume(ctx); err != nil {
		return err
	}
	return p.install(ctx)
}

// checkVolume makes sure that what the container has at its mount point is the
// volume that was made for it: the host looks at its other end.
func (p *PVE) checkVolume(ctx context.Context) error {
	file, err := p.opt.Client.Path(ctx, p.Volume())
	if err != nil {
		return err
	}
	var volume, dir unix.Stat_t
	if err := unix.Stat(file, &volume); err != nil {
		return fmt.Errorf("look at volume %s: %s: %w", p.Volume(), file, err)
	}
	if err := unix.Stat(p.HostDir(), &dir); err != nil {
		return fmt.Errorf("look at %s in container %d: %w", p.dir, p.facts.VMID, err)
	}
	same := false
	switch volume.Mode & unix.S_IFMT {
	case unix.S_IFBLK:
		same = volume.Rdev == dir.Dev
	case unix.S_IFDIR: // a dataset of ZFS
		same = volume.Dev == dir.Dev
	case unix.S_IFREG:
		var backing unix.Stat_t
		name, err := os.ReadFile(fmt.Sprintf("/sys/dev/block/%d:%d/loop/backing_file", unix.Major(dir.Dev), unix.Minor(dir.Dev)))
		if err == nil && unix.Stat(strings.TrimSpace(string(name)), &backing) == nil {
			same = backing.Ino == volume.Ino && backing.Dev == volume.Dev
		}
	}
	if !same {
		return fmt.Errorf("container %d has something else at %s than volume %s, which is %s on the host", p.facts.VMID, p.dir, p.Volume(), file)
	}
	return nil
}

func (p *PVE) hostname() string { return pve.HostPrefix + "-" + p.RunID }

// spec is the container that a run makes.
func (p *PVE) spec(template string) pve.Spec {
	s := pve.Spec{
		Hostname: p.hostname(), Template: template, Storage: p.opt.Storage.Name, RootGiB: ownRootGiB,
		BenchGiB: float64(p.opt.Bytes) / (1 << 30), BenchPath: insideBench,
		Cores: max(1, len(p.limits.CPUs)), MemoryMiB: int(p.limits.Memory >> 20), Privileged: p.opt.Privileged,
		Mark: p.RunID, Arch: pveArch[runtime.GOARCH],
		Description: "A throw-away container of nativ, which measures the storage " + p.opt.Storage.Name +
			" in it and then removes it. Is it left over? nativ clean removes it.",
	}
	if p.opt.Template != "" {
		s.RootGiB, s.OSType = otherRootGiB, osType(template)
		s.Features = "nesting=1" // else systemd's own sandboxes fail
	}
	return s
}

// pveArch are PVE's names of architectures; it would look for a shell in order to
// find out.
var pveArch = map[string]string{"amd64": "amd64", "arm64": "arm64"}

// osType is the distribution that a template's name begins with, as Proxmox VE calls
// it; "" for one that it does not know.
func osType(template string) string {
	name, _, _ := strings.Cut(path.Base(template), "-")
	known := []string{"alpine", "archlinux", "centos", "debian", "devuan", "fedora", "gentoo", "nixos", "opensuse", "ubuntu"}
	if slices.Contains(known, name) {
		return name
	}
	return ""
}

// templatePath is where a storage with a directory keeps a template.
func templatePath(s *pve.Storage, name string) string {
	return filepath.Join(s.Path, "template/cache", name)
}

// templateName is how nativ calls its template of a run.
func templateName(run string) string { return pve.HostPrefix + "-" + run + ".tar.gz" }

// buildTemplate writes nativ's own template. done removes it, which nothing keeps
// from once the container is made, or failed.
func (p *PVE) buildTemplate() (volume string, done func() error, err error) {
	name := templateName(p.RunID)
	file := templatePath(&p.opt.TemplateStorage, name)
	exe, err := os.Open(p.exe())
	if err != nil {
		return "", nil, fmt.Errorf("build template: %w", err)
	}
	defer exe.Close()
	if err := checkStatic(exe); err != nil {
		return "", nil, err
	}
	st, err := exe.Stat()
	if err != nil {
		return "", nil, fmt.Errorf("build template: %w", err)
	}
	item, err := p.will(journal.Entry{Kind: journal.KindPVETemplate, Path: file})
	if err != nil {
		return "", nil, err
	}
	done = func() error {
		if _, err := undoTemplate(context.Background(), item.Entry()); err != nil {
			return err
		}
		return item.Gone()
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		err = errors.Join(writeTemplate(out, exe, st.Size()), out.Close())
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("build template %s: %w", file, err), done())
	}
	return p.opt.TemplateStorage.Name + ":vztmpl/" + name, done, nil
}

// pin keeps the container on its CPUs, where Proxmox VE would draw as many at
// random.
func (p *PVE) pin(ctx context.Context) error {
	p.facts.Cores = new(max(1, len(p.limits.CPUs)))
	if len(p.limits.CPUs) == 0 {
		return nil
	}
	p.facts.CPUsPinned = true
	return p.ct.AppendRaw(ctx, pve.RawLine{Key: rawCPUs, Value: job.FormatCPUs(p.limits.CPUs)})
}

// note keeps what the configuration says that is wanted.
func (p *PVE) note(cfg *pve.Config, want func(key string) bool) {
	p.facts.OSType, p.facts.Config = cfg.Keys["ostype"], nil
	for _, k := range slices.Sorted(maps.Keys(cfg.Keys)) {
		if want(k) {
			p.facts.Config = append(p.facts.Config, k+": "+cfg.Keys[k])
		}
	}
	for _, l := range cfg.Raw {
		if want(l.Key) {
			p.facts.Config = append(p.facts.Config, l.Key+": "+l.Value)
		}
	}
}

// boot starts the container.
func (p *PVE) boot(ctx context.Context) error {
	warned, err := p.ct.Start(ctx)
	if err != nil {
		return err
	}
	for _, w := range warned {
		if !slices.Contains(p.facts.Warned, w) {
			p.facts.Warned = append(p.facts.Warned, w)
		}
	}
	return p.hold(ctx)
}

// allCTs is the cgroup of all containers of Proxmox VE, of whose CPUs it draws those
// of each.
const allCTs = "lxc"

// hold takes hold of the container's first process.
func (p *PVE) hold(ctx context.Context) error {
	s, err := p.opt.Client.Status(ctx, p.facts.VMID)
	if err != nil {
		return err
	}
	if !s.Running || s.PID == 0 {
		return fmt.Errorf("container %d: %w", p.facts.VMID, pve.ErrNotRunning)
	}
	if p.init, err = holdProcess(s.PID); err != nil {
		return err
	}
	p.pid = s.PID
	// The number may have gone to another process before the pidfd held it.
	if procs, err := p.Cgroups.Procs(p.Cgroup()); err != nil || !slices.Contains(procs, s.PID) {
		return fmt.Errorf("find the container's init: process %d is not in cgroup %s", s.PID, p.Cgroup())
	}
	if state, err := p.Cgroups.Read(allCTs); err == nil {
		p.facts.CPUsFrom = state.CPUs
	}
	return nil
}

// install brings nativ into a container that was not made from nativ's template.
func (p *PVE) install(ctx context.Context) error {
	if p.facts.OwnTemplate {
		return nil
	}
	exe := p.Exe
	if exe == "" {
		exe = fmt.Sprintf("/proc/%d/exe", os.Getpid()) // "self" would be pct
	}
	return p.opt.Client.Push(ctx, p.facts.VMID, exe, p.binary, 0o755)
}

// killInside ends every worker of nativ's in the container.
func (p *PVE) killInside() {
	var own unix.Stat_t
	if unix.Stat(p.root()+p.binary, &own) != nil {
		return
	}
	procs, err := p.Cgroups.Procs(p.Cgroup())
	if err != nil {
		return
	}
	for _, pid := range procs {
		var st unix.Stat_t
		if unix.Stat(fmt.Sprintf("/proc/%d/exe", pid), &st) == nil && st.Ino == own.Ino && st.Dev == own.Dev && pid != p.pid {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
