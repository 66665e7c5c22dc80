package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nativ/internal/pve/pvetest"
	"nativ/internal/record"
)

// A pveWorld is a world on a Proxmox VE host that is a fake but for its containers
// and volumes, which are real. It has a guest that is nobody's business here.
type pveWorld struct {
	*world
	h       *pvetest.Host
	job     string
	foreign map[string]string // what its files were
}

const foreignID = 999999990

func newPVE(t *testing.T) *pveWorld {
	t.Helper()
	needLXC(t)
	h := pvetest.New(t, pvetest.Options{Real: true})
	w := &pveWorld{world: newWorld(t), h: h}
	w.env = append(w.env, "NATIV_PVE_ROOT="+h.Root, "NATIV_PVE_WAIT=3s")
	w.job = filepath.Join(filepath.Dir(w.state), "small.fio")
	w.write(w.job, "[small]\nrw=randread\nbs=4k\niodepth=4\ndirect=1\n")
	h.AddCT(foreignID, fmt.Sprintf("#precious\nhostname: nativ-of-somebody\ntags: nativ\nrootfs: local-lvm:vm-%d-disk-0,size=8M\n", foreignID))
	os.MkdirAll(filepath.Join(h.Root, "lv/pve"), 0o755)
	w.write(filepath.Join(h.Root, fmt.Sprintf("lv/pve/vm-%d-disk-0", foreignID)), strings.Repeat("data", 1<<18))
	w.foreign = w.lookAtForeign()
	return w
}

func (w *pveWorld) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *pveWorld) lookAtForeign() map[string]string {
	all := map[string]string{}
	for _, name := range []string{fmt.Sprintf("etc/pve/lxc/%d.conf", foreignID), fmt.Sprintf("lv/pve/vm-%d-disk-0", foreignID), "etc/pve/storage.cfg"} {
		b, err := os.ReadFile(filepath.Join(w.h.Root, name))
		all[name] = fmt.Sprintf("%x %v", sha256.Sum256(b), err)
	}
	return all
}

// bench is a run of some seconds on the host.
func (w *pveWorld) bench(more ...string) []string {
	return append([]string{"bench", "--yes", "--size", "64M", "--runtime", "1s", "--lang", "en", "--job", w.job, "--json"}, more...)
}

func (w *pveWorld) onStorage(more ...string) []string {
	return w.bench(append([]string{"--memory", "512M", "--storage", "local-lvm"}, more...)...)
}

// nothingLeft checks that only the foreign guest is left, and is what it was.
func (w *pveWorld) nothingLeft() {
	w.t.Helper()
	w.world.nothingLeft()
	left, _ := filepath.Glob(filepath.Join(w.h.Root, "var/lib/vz/template/cache/nativ-*"))
	for _, l := range append(left, w.h.Left()...) {
		if !strings.Contains(l, strconv.Itoa(foreignID)) {
			w.t.Errorf("left behind: %s", l)
		}
	}
	for name, was := range w.foreign {
		if now := w.lookAtForeign()[name]; now != was {
			w.t.Errorf("%s was changed", name)
		}
	}
}

// template is that of a distribution: a tree with an init, which is nativ's here.
func (w *pveWorld) template(name string) {
	w.t.Helper()
	b, err := os.ReadFile(bin)
	if err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	for _, d := range []string{"./", "./dev/", "./proc/", "./sys/", "./sbin/", "./srv/", "./tmp/"} {
		err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: d, Mode: 0o755}))
	}
	err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "./sbin/init", Mode: 0o755, Size: int64(len(b))}))
	_, werr := t.Write(b)
	if err := errors.Join(err, werr, t.Close(), z.Close()); err != nil {
		w.t.Fatal(err)
	}
	w.h.AddTemplate(name, out.Bytes())
}

const ubuntu = "ubuntu-24.04-standard_24.04-2_amd64.tar.gz"

func TestPVE(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  []string
		setup func(w *pveWorld)
		check func(t *testing.T, w *pveWorld, rec *record.Record, res result)
	}{
		{"a storage", []string{"--storage", "local-lvm", "--note", "a=b"}, nil, func(t *testing.T, w *pveWorld, rec *record.Record, res result) {
			v, c := rec.Target.Volume, place(t, rec, "pve").Container
			if v.Storage != "local-lvm" || v.StorageType != "lvmthin" || v.ID == "" || v.ID != rec.Target.Dir || !v.Made || v.VMID != c.PVE.VMID {
				t.Errorf("volume %+v, directory %s", v, rec.Target.Dir)
			}
			if c.Privileged || !c.PVE.OwnTemplate || !c.PVE.CPUsPinned || !slices.Contains(c.PVE.Volumes, v.ID) {
				t.Errorf("container %+v", c.PVE)
			}
			if rec.Target.FSType != "ext4" || rec.Target.MountPoint != "/bench" || len(rec.Target.Drives) != 1 {
				t.Errorf("target %+v", rec.Target)
			}
			// One file, on one filesystem: the host's worker would refuse another.
			for _, p := range rec.Plan.Places {
				if got := passes(rec, "small", p); len(got) != 2 || !got[0].OK() || got[0].Outcome.Read.IOs == 0 {
					t.Errorf("passes in %s: %+v", p, got)
				}
			}
			res.says(t, "a container with a volume on storage local-lvm (lvmthin) is made and removed afterwards")
			w.run("report", "last", "--lang", "en", "--details").want(t, 0).says(t, "LXC (Proxmox)", "made for this run and removed", "at random", "from nativ's own template")
		}},
		{"privileged on a directory", []string{"--storage", "local", "--privileged"}, nil, func(t *testing.T, _ *pveWorld, rec *record.Record, res result) {
			if c := place(t, rec, "pve").Container; !c.Privileged || c.IDMap != "" {
				t.Errorf("container %+v", c)
			}
			// Said before and after: Proxmox VE attaches files by way of the page cache.
			res.says(t, "is a loop file without direct I/O")
			if !warned(rec, record.WarnLoopCached) {
				t.Errorf("warnings %+v", rec.Warnings)
			}
		}},
		{"volumes apart", []string{"--storage", "local-lvm", "--separate-volumes"}, nil, func(t *testing.T, _ *pveWorld, rec *record.Record, _ result) {
			v := rec.Target.Volume
			if v.Twin == "" || v.Twin == v.ID || v.TwinFile == nil || v.TwinFile.Name == rec.Target.File.Name || !warned(rec, record.WarnSeparate) {
				t.Errorf("volume %+v", v)
			}
			if p := rec.Prefill; p.Bytes != 64<<20 || p.Twin == nil || p.Twin.Bytes != 64<<20 || rec.Plan.MaxWritten != 128<<20 {
				t.Errorf("prefill %+v, plan writes %d", p, rec.Plan.MaxWritten)
			}
		}},
		{"volumes apart on a directory", []string{"--storage", "local", "--separate-volumes"}, nil, func(t *testing.T, _ *pveWorld, rec *record.Record, _ result) {
			if v := rec.Target.Volume; !strings.HasSuffix(v.Twin, ".raw") {
				t.Errorf("volume %+v", v)
			}
		}},
		{"a template", []string{"--storage", "local-lvm", "--template", "ubuntu-24.04"}, func(w *pveWorld) { w.template(ubuntu) },
			func(t *testing.T, _ *pveWorld, rec *record.Record, _ result) {
				c := place(t, rec, "pve").Container.PVE
				if c.OwnTemplate || c.Template != "local:vztmpl/"+ubuntu || c.OSType != "ubuntu" || !slices.Contains(c.Config, "features: nesting=1") {
					t.Errorf("container %+v", c)
				}
			}},
		{"warnings are no errors", []string{"--storage", "local-lvm"}, func(w *pveWorld) { w.h.Fault("warnings-rc0", "") },
			func(t *testing.T, _ *pveWorld, rec *record.Record, _ result) {
				if !warned(rec, record.WarnPVEWarned) {
					t.Errorf("warnings %+v", rec.Warnings)
				}
			}},
		{"an ID that another took", []string{"--storage", "local-lvm"}, func(w *pveWorld) { w.h.Fault("id-race", "1") },
			func(t *testing.T, w *pveWorld, rec *record.Record, _ result) {
				taken := rec.Target.Volume.VMID - 1
				if got := w.h.Conf(taken); !strings.Contains(got, "hostname: other") {
					t.Errorf("the other guest became %q", got)
				}
				os.Remove(filepath.Join(w.h.Root, fmt.Sprintf("etc/pve/lxc/%d.conf", taken)))
			}},
		{"an ID with volumes of another guest", []string{"--storage", "local-lvm"}, func(w *pveWorld) {
			w.write(filepath.Join(w.h.Root, fmt.Sprintf("lv/pve/vm-%s-disk-0", w.nextID())), "precious")
		}, func(t *testing.T, w *pveWorld, rec *record.Record, _ result) {
			old := filepath.Join(w.h.Root, fmt.Sprintf("lv/pve/vm-%d-disk-0", rec.Target.Volume.VMID-1))
			if b, err := os.ReadFile(old); string(b) != "precious" {
				t.Errorf("the other volume holds %q, %v", b, err)
			}
			os.Remove(old)
		}},
		{"locked for a while", []string{"--storage", "local-lvm"}, func(w *pveWorld) { w.h.Fault("locked", "backup:3") }, nil},
		{"a cluster that is busy", []string{"--storage", "local-lvm"}, func(w *pveWorld) { w.h.Fault("busy", "2") }, nil},
		{"destroy that leaves a volume", []string{"--storage", "local-lvm"}, func(w *pveWorld) { w.h.Fault("destroy-lies", "") }, nil},
		{"a storage that wipes", []string{"--storage", "thick"}, func(w *pveWorld) {
			w.h.AddStorage("lvm: thick\n\tvgname vg\n\tcontent rootdir,images\n\tsaferemove 1\n")
			w.foreign = w.lookAtForeign()
		}, func(t *testing.T, _ *pveWorld, rec *record.Record, res result) {
			if !warned(rec, record.WarnSafeRemove) {
				t.Errorf("warnings %+v", rec.Warnings)
			}
			res.says(t, "overwrites volumes that were removed")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newPVE(t)
			w.t = t
			if tt.setup != nil {
				tt.setup(w)
			}
			args := tt.args
			if !slices.Contains(args, "--note") { // one has all places
				args = append(args, "--places", "host,pve")
			}
			res := w.run(w.bench(append(args, "--memory", "512M")...)...).want(t, 0)
			rec := res.record(t)
			if !rec.Complete || rec.Target.Volume == nil || rec.Target.Volume.NotTrimmed != "" {
				t.Errorf("complete %v, volume %+v", rec.Complete, rec.Target.Volume)
			}
			if tt.check != nil {
				tt.check(t, w, rec, res)
			}
			w.nothingLeft()
		})
	}
}

func warned(rec *record.Record, code string) bool {
	return slices.ContainsFunc(rec.Warnings, func(w record.Warning) bool { return w.Code == code })
}

// nextID is what the cluster gives next.
func (w *pveWorld) nextID() string {
	w.t.Helper()
	return strings.TrimSpace(w.pve("pvesh", "get", "/cluster/nextid"))
}

// pve runs one of the host's programs.
func (w *pveWorld) pve(program string, args ...string) string {
	w.t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// TestPVEFaults: what goes wrong is told, ends with the code that its kind has, and
// leaves nothing, at once or after nativ clean.
func TestPVEFaults(t *testing.T) {
	for _, tt := range []struct {
		name, fault, value string
		args               []string
		code               int
		says               string
		left               bool // until the fault is over
	}{
		{"push fails with 0", "push-fails-rc0", "", []string{"--template", "ubuntu"}, 3, "there is no space", false},
		{"push loses half", "push-truncates", "", []string{"--template", "ubuntu"}, 1, "the file did not arrive", false},
		{"locked for good", "locked", "backup", nil, 6, "CT is locked (backup)", true},
		{"start fails", "start-fails", "", nil, 1, "startup for container", false},
		{"create fails", "create-fails", "", nil, 1, "unable to create CT", false},
		{"no space", "alloc-fails", "", nil, 3, "insufficient free space", false},
		{"no quorum", "no-quorum", "", nil, 5, "no quorum", false},
		{"the template goes", "template-missing", "", []string{"--template", "ubuntu"}, 5, "does not exist", false},
		{"no such template", "", "", []string{"--template", "debian-13"}, 5, "no storage of this host has one", false},
		{"no such storage", "", "", []string{"--storage", "attic"}, 3, "take volumes of containers: local, local-lvm", false},
		{"free lies", "free-lies", "", []string{"--separate-volumes"}, 7, "the volume is still there", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newPVE(t)
			w.template(ubuntu)
			if tt.fault != "" {
				w.h.Fault(tt.fault, tt.value)
			}
			w.run(w.onStorage(append(tt.args, "--places", "host,pve")...)...).want(t, tt.code).says(t, tt.says)
			if tt.fault != "" {
				w.h.Clear(tt.fault)
			}
			if tt.left {
				w.run("clean").want(t, 0).says(t, "gone: Proxmox")
			}
			w.nothingLeft()
		})
	}
}

// TestPVEContainer: one that runs is neither stopped nor changed.
func TestPVEContainer(t *testing.T) {
	w := newPVE(t)
	w.template(ubuntu)
	id := w.nextID()
	w.pve("pct", "create", id, "local:vztmpl/"+ubuntu, "--rootfs", "local-lvm:8", "--mp0", "local-lvm:7,mp=/srv", "--cores", "1",
		"--memory", "256", "--swap", "0", "--unprivileged", "1", "--hostname", "web", "--description", "precious")
	w.run(w.bench("--container", id)...).want(t, 3).says(t, "it does not run", "pct start "+id)
	w.pve("pct", "start", id)
	n, _ := strconv.Atoi(id)
	conf, pid := w.h.Conf(n), w.pid(id)
	same := func() {
		t.Helper()
		if w.h.Conf(n) != conf || w.pid(id) != pid {
			t.Errorf("the container was changed or restarted:\n%s", w.h.Conf(n))
		}
		for _, d := range []string{"", "srv"} {
			list, err := os.ReadDir(filepath.Join("/proc", pid, "root", d))
			if err != nil || slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "nativ") }) {
				t.Errorf("left in the container: %v, %v", list, err)
			}
		}
	}
	for _, at := range []string{"", ":/srv"} {
		rec := w.run(w.bench("--container", id+at)...).want(t, 0).record(t)
		v, c := rec.Target.Volume, place(t, rec, "pve").Container
		key := map[string]string{"": "rootfs: ", ":/srv": "mp0: "}[at]
		if v.Made || v.VMID != n || !strings.Contains(conf, key+v.ID+",") || v.StorageType != "lvmthin" || c.PVE.Made {
			t.Errorf("volume %+v, container %+v", v, c.PVE)
		}
		if len(rec.Plan.CPUSet.CPUs) != 1 || rec.Plan.Memory == nil || *rec.Plan.Memory != 256<<20 || !warned(rec, record.WarnCPUsMovable) {
			t.Errorf("CPUs %v, memory %v", rec.Plan.CPUSet.CPUs, rec.Plan.Memory)
		}
		for _, l := range c.PVE.Config {
			if strings.Contains(l, "web") || strings.Contains(l, "precious") {
				t.Errorf("the record holds %q", l)
			}
		}
		same()
	}
	r := w.start(w.bench("--container", id+":/srv", "--runtime", "20s")...)
	r.untilSaid("Test file written")
	r.signal(syscall.SIGKILL)
	<-r.ended
	w.run("clean").want(t, 0).says(t, "gone: directory /srv/nativ-")
	same()
	w.pve("pct", "stop", id)
	w.pve("pct", "destroy", id)
	w.nothingLeft()
}

func (w *pveWorld) pid(id string) string {
	w.t.Helper()
	for line := range strings.Lines(w.pve("pct", "status", id, "--verbose")) {
		if pid, ok := strings.CutPrefix(line, "pid: "); ok {
			return strings.TrimSpace(pid)
		}
	}
	w.t.Fatalf("container %s does not run", id)
	return ""
}

// TestPVEEnded: a run that is asked to end while pct works ends when pct has rolled
// back, and leaves nothing.
func TestPVEEnded(t *testing.T) {
	for _, step := range []string{"alloc", "mkfs", "extract", "conf", "start"} {
		t.Run(step, func(t *testing.T) {
			w := newPVE(t)
			w.h.Fault("slow-"+step, "60000") // it would outlast the test's patience
			r := w.start(w.onStorage("--places", "host,pve")...)
			there := filepath.Join(w.h.Root, "at-"+step)
			r.until("step "+step, func() bool { _, err := os.Stat(there); return err == nil })
			r.signal(syscall.SIGTERM)
			rec := r.wait().want(t, 4).record(t)
			if rec.Complete || len(rec.Rounds) != 0 || rec.Prefill != nil {
				t.Errorf("complete %v, %d rounds, prefill %+v", rec.Complete, len(rec.Rounds), rec.Prefill)
			}
			w.nothingLeft()
		})
	}
}

// TestPVEKilled: whatever a SIGKILL interrupts, nativ clean removes the rest, and
// nothing of anybody else.
func TestPVEKilled(t *testing.T) {
	const moments = 20
	random := rand.New(rand.NewPCG(6, 20261201))
	for i := range moments {
		// From before the container is made to after it is gone.
		after := time.Duration(random.Int64N(int64(4500 * time.Millisecond)))
		t.Run(fmt.Sprintf("%d after %v", i, after.Round(time.Millisecond)), func(t *testing.T) {
			w := newPVE(t)
			r := w.start(w.onStorage("--places", "host,pve")...)
			select {
			case <-time.After(after):
				r.signal(syscall.SIGKILL)
				<-r.ended
			case <-r.ended: // it was faster
			}
			w.run("clean").want(t, 0)
			w.nothingLeft()
		})
	}
}
