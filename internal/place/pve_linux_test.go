package place_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nativ/internal/cgroup"
	"nativ/internal/journal"
	"nativ/internal/place"
	"nativ/internal/place/placetest"
	"nativ/internal/pve"
	"nativ/internal/pve/pvetest"
	"nativ/internal/record"
	"nativ/internal/target"
)

// pveLimits are whole MiB, as Proxmox VE takes them.
var pveLimits = place.Limits{CPUs: []int{0}, Memory: 512 << 20}

const nonce = "00112233445566778899aabbccddeeff"

// pveEnv are the surroundings of a run on a fake host; p is made in them by make.
func pveEnv(t *testing.T, h *pvetest.Host, make func(e *placetest.Env, o place.PVEOptions) *place.PVE) (*placetest.Env, *place.PVE) {
	t.Helper()
	client := pve.New(h.Root)
	var p *place.PVE
	e := placetest.NewEnv(t, func(groups *cgroup.FS, state string) map[journal.Kind]journal.Undoer {
		all := place.Undoers(groups, state)
		maps.Copy(all, place.PVEUndoers(client))
		p.Release(t.Context()) // as a run does before it cleans up
		return all
	})
	if err := e.File.Remove(); err != nil { // it lies in the container instead
		t.Fatal(err)
	}
	p = make(e, place.PVEOptions{Client: client, StateDir: e.StateDir, Bytes: 192 << 20})
	t.Cleanup(func() {
		if t.Failed() {
			p.Release(context.Background())
			e.Journal.Undo(context.Background(), e.All())
		}
	})
	if err := p.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if e.File, err = p.CreateFile(8<<20, nonce); err != nil {
		t.Fatal(err)
	}
	return e, p
}

func storage(t *testing.T, h *pvetest.Host, name string) pve.Storage {
	t.Helper()
	list, err := pve.New(h.Root).Storages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s pve.Storage) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no storage %s", name)
	}
	return list[i]
}

func files(e *placetest.Env) []*target.File { return []*target.File{e.File} }

func TestPVE(t *testing.T) {
	needLXC(t)
	for _, name := range []string{"local-lvm", "local"} {
		t.Run(name, func(t *testing.T) {
			h := pvetest.New(t, pvetest.Options{Real: true})
			e, p := pveEnv(t, h, func(e *placetest.Env, o place.PVEOptions) *place.PVE {
				o.Storage, o.TemplateStorage = storage(t, h, name), storage(t, h, "local")
				return place.NewPVE(config(e), pveLimits, o)
			})
			placetest.Run(t, e, p, placetest.Want{
				CPUs: pveLimits.CPUs, Memory: pveLimits.Memory, Container: true, Unprivileged: true, GOMAXPROCS: gomaxprocs,
			})
			wantNothing(t, h)
		})
	}
}

func wantNothing(t *testing.T, h *pvetest.Host) {
	t.Helper()
	left := h.Left()
	templates, err := filepath.Glob(filepath.Join(h.Root, "var/lib/vz/template/cache/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range append(left, templates...) {
		t.Errorf("left behind: %s", l)
	}
}

// The container is what Proxmox VE is told, and says so.
func TestPVEFacts(t *testing.T) {
	needLXC(t)
	h := pvetest.New(t, pvetest.Options{Real: true})
	h.Fault("warnings-rc0", "")
	e, p := pveEnv(t, h, func(e *placetest.Env, o place.PVEOptions) *place.PVE {
		o.Storage, o.TemplateStorage = storage(t, h, "local-lvm"), storage(t, h, "local")
		return place.NewPVE(config(e), pveLimits, o)
	})
	facts, err := p.Prepare(t.Context(), files(e))
	if err != nil {
		t.Fatal(err)
	}
	c := facts.Container.PVE
	if c == nil || c.VMID < 100 || !c.Made || !c.OwnTemplate || len(c.Volumes) != 2 || !c.CPUsPinned || len(c.CPUsFrom) == 0 || *c.Cores != 1 {
		t.Fatalf("container %+v", c)
	}
	if len(c.Warned) != 1 || !strings.Contains(c.Warned[0], "nesting") {
		t.Errorf("warnings %q", c.Warned)
	}
	for _, want := range []string{"cores: 1", "hostname: nativ-" + e.RunID, "memory: 512", "onboot: 0", "ostype: unmanaged", "swap: 0",
		"tags: nativ", "unprivileged: 1", "lxc.cgroup2.cpuset.cpus: 0"} {
		if !slices.Contains(c.Config, want) {
			t.Errorf("configuration lacks %q: %q", want, c.Config)
		}
	}
	for _, l := range c.Config {
		if strings.HasPrefix(l, "net") {
			t.Errorf("the container has a network: %s", l)
		}
		if strings.HasPrefix(l, "mp0:") && (!strings.Contains(l, "mp=/bench") || !strings.Contains(l, "backup=0")) {
			t.Errorf("mount point %s", l)
		}
	}
	tgt, err := p.Target()
	if err != nil {
		t.Fatal(err)
	}
	if tgt.Dir != "/bench" || tgt.FSType != "ext4" || tgt.MountPoint != "/bench" || len(tgt.Stack) < 2 || tgt.Stack[0].Kind != "loop" {
		t.Errorf("target %+v", tgt)
	}
	for _, left := range e.Journal.Undo(t.Context(), e.All()) {
		t.Errorf("undo: %v", left)
	}
	wantNothing(t, h)
}

// A container that is not nativ's is neither stopped nor changed.
func TestPVEExisting(t *testing.T) {
	needLXC(t)
	h := pvetest.New(t, pvetest.Options{Real: true})
	// One that runs: made as the fake's own, then dressed as somebody's.
	owner, theirs := pveEnv(t, h, func(e *placetest.Env, o place.PVEOptions) *place.PVE {
		o.Storage, o.TemplateStorage = storage(t, h, "local-lvm"), storage(t, h, "local")
		return place.NewPVE(config(e), pveLimits, o)
	})
	facts, err := theirs.Prepare(t.Context(), files(owner))
	if err != nil {
		t.Fatal(err)
	}
	id := facts.Container.PVE.VMID
	before := h.Conf(id)
	t.Run("suite", func(t *testing.T) {
		e, p := pveEnv(t, h, func(e *placetest.Env, o place.PVEOptions) *place.PVE {
			o.Existing, o.At = id, "/bench"
			return place.NewPVE(config(e), place.Limits{CPUs: pveLimits.CPUs}, o)
		})
		placetest.Contract(t, p, files(e))
		facts, err := p.Prepare(t.Context(), files(e))
		if err != nil {
			t.Fatal(err)
		}
		if c := facts.Container.PVE; c.Made || c.Hostname != "" || c.VMID != id || len(c.Volumes) != 1 || !strings.Contains(c.Volumes[0], "disk-1") {
			t.Errorf("container %+v", c)
		}
		// What a killed run leaves there is removed, and nothing that others put there.
		for _, left := range e.Journal.Undo(t.Context(), e.All()) {
			t.Errorf("undo: %v", left)
		}
	})
	if after := h.Conf(id); after != before {
		t.Errorf("the configuration changed from\n%s\nto\n%s", before, after)
	}
	if f, failure := theirs.Run(t.Context(), placetest.Read(1e8), files(owner), func(record.Event) {}); failure != nil || f == nil {
		t.Errorf("the container does not work any more: %+v", failure)
	}
	inside, err := filepath.Glob(filepath.Join(filepath.Dir(theirs.HostDir()), "*nativ-*"))
	if err != nil || len(inside) > 0 {
		t.Errorf("left in the container: %v, %v", inside, err)
	}
	for _, left := range owner.Journal.Undo(t.Context(), owner.All()) {
		t.Errorf("undo: %v", left)
	}
	wantNothing(t, h)
}
