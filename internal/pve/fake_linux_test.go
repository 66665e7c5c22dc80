package pve_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/pve"
	"nativ/internal/pve/pvetest"
)

func TestHost(t *testing.T) {
	h, c := newHost(t)
	if !pve.Detect(h.Root) || pve.Detect(t.TempDir()) {
		t.Error("what is a Proxmox VE host")
	}
	h.AddStorage("nfs: nas\n\tserver x\n\texport /x\n\tpath /mnt/pve/nas\n\tcontent images\n")
	h.AddStorage("zfspool: tank\n\tpool rpool/data\n\tdisable\n")
	h.AddStorage("dir: elsewhere\n\tpath /x\n\tnodes other\n")
	list, err := c.Storages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"local", "local-lvm", "nas", "tank"}) {
		t.Fatalf("storages %q", names)
	}
	if s := list[1]; !s.Active || !s.Local() || s.VG != "pve" || s.ThinPool != "data" || !s.Holds("rootdir") || *s.Total != 835865888<<10 {
		t.Errorf("%+v", s)
	}
	if s := list[2]; s.Active || s.Local() || s.Total != nil || !s.Enabled {
		t.Errorf("%+v", s)
	}
	if s := list[3]; s.Enabled || s.Active {
		t.Errorf("%+v", s)
	}
	if v, err := c.Version(t.Context()); err != nil || v.Manager != "9.1.1" {
		t.Errorf("%+v, %v", v, err)
	}

	h.AddCT(100, "hostname: web\nlock: backup\ntags: a\nrootfs: local-lvm:vm-100-disk-0,size=8G\n")
	h.AddVM(101, "name: db\nscsi0: local-lvm:vm-101-disk-0,size=32G\n")
	guests, err := c.Guests(t.Context())
	if err != nil || len(guests) != 2 || guests[0].Name != "web" || guests[0].Lock != "backup" || guests[1].Type != "qemu" {
		t.Errorf("%+v, %v", guests, err)
	}
	vm, err := c.VMConfig(t.Context(), 101)
	if err != nil || len(vm.Disks()) != 1 || vm.Disks()[0].Volume != "local-lvm:vm-101-disk-0" {
		t.Errorf("%+v, %v", vm, err)
	}
	if id, err := c.NextID(t.Context()); err != nil || id != 102 {
		t.Errorf("next ID %d, %v", id, err)
	}
	h.NextID(200, 202)
	if id, err := c.NextID(t.Context()); err != nil || id != 200 {
		t.Errorf("next ID %d, %v", id, err)
	}
	h.NextID(100, 102)
	if id, err := c.NextID(t.Context()); err == nil {
		t.Errorf("next ID %d of none", id)
	}
	if jobs, err := c.Jobs(); jobs != nil || err != nil {
		t.Errorf("%v, %v", jobs, err)
	}
	tmpl, err := c.FindTemplate(t.Context(), "nativ-")
	if err != nil || tmpl.VolID != template {
		t.Errorf("%+v, %v", tmpl, err)
	}
	if _, err := c.FindTemplate(t.Context(), "ubuntu"); !errors.Is(err, pve.ErrTemplateMissing) {
		t.Error(err)
	}
}

func TestNoSuch(t *testing.T) {
	_, c := newHost(t)
	_, err := c.Config(t.Context(), 999)
	var e *pve.Error
	if !errors.As(err, &e) || e.Code != 2 || !errors.Is(err, pve.ErrNoSuch) {
		t.Errorf("%+v", err)
	}
	if _, err := c.Own(t.Context(), 999, mark); !errors.Is(err, pve.ErrNoSuch) {
		t.Error(err)
	}
	if _, err := c.Volumes(t.Context(), "nowhere", 0); !errors.As(err, &e) || e.Code != 25 || !errors.Is(err, pve.ErrNoSuch) {
		t.Error(err)
	}
	if _, err := c.Exec(t.Context(), 999, "true"); !errors.Is(err, pve.ErrNoSuch) {
		t.Error(err)
	}
}

func TestCreate(t *testing.T) {
	h, c := newHost(t)
	var n noted
	h.Fault("warnings-rc0", "1")
	made, err := c.Create(t.Context(), spec("local-lvm"), func(id int) error {
		if h.Conf(id) != "" {
			t.Error("it was there before it was noted")
		}
		return n.Will(id)
	}, n.Wont)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], "nesting") {
		t.Errorf("warnings %q", made.Warnings)
	}
	cfg, err := c.Config(t.Context(), made.CT.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"arch": "amd64", "cores": "1", "memory": "256", "swap": "0", "unprivileged": "1", "hostname": "nativ-abcd",
		"tags": "nativ", "onboot": "0", "ostype": "unmanaged", "entrypoint": pvetest.Sleep}
	for k, v := range want {
		if cfg.Keys[k] != v {
			t.Errorf("%s is %q, not %q", k, cfg.Keys[k], v)
		}
	}
	for k := range cfg.Keys {
		if strings.HasPrefix(k, "net") {
			t.Errorf("it has a network: %s", k)
		}
	}
	if !strings.Contains(cfg.Description, "throw-away: 100% of it\nnativ run "+mark) {
		t.Errorf("description %q", cfg.Description)
	}
	mounts := cfg.Mounts()
	if len(mounts) != 2 || mounts[0].Volume != "local-lvm:vm-100-disk-1" || mounts[1].Volume != "local-lvm:vm-100-disk-0" || mounts[0].Path != "/bench" || mounts[0].Options["backup"] != "0" || mounts[0].Size != 64<<20 || mounts[1].Size != 64<<20 {
		t.Errorf("mounts %+v", mounts)
	}

	cpus := pve.RawLine{Key: "lxc.cgroup2.cpuset.cpus", Value: "0-1"}
	if err := made.CT.AppendRaw(t.Context(), cpus); err != nil {
		t.Fatal(err)
	}
	if cfg, err = c.Config(t.Context(), made.CT.ID); err != nil || cfg.RawValue(cpus.Key) != "0-1" || cfg.Keys["tags"] != "nativ" {
		t.Errorf("%+v, %v", cfg, err)
	}
	if err := made.CT.AppendRaw(t.Context(), pve.RawLine{Key: "net0", Value: "x"}); err == nil {
		t.Error("a line that is not LXC's was added")
	}
	if _, err := made.CT.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := made.CT.AppendRaw(t.Context(), cpus); !errors.Is(err, pve.ErrRunning) {
		t.Error(err)
	}
	if err := made.CT.Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := made.CT.Destroy(t.Context()); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	nothingLeft(t, h)
}

func TestCreateRefuses(t *testing.T) {
	h, c := newHost(t)
	for _, change := range []func(*pve.Spec){
		func(s *pve.Spec) { s.Hostname = "web" }, func(s *pve.Spec) { s.Mark = "" }, func(s *pve.Spec) { s.Mark = "two words" },
		func(s *pve.Spec) { s.RootGiB = 0 }, func(s *pve.Spec) { s.BenchPath = "/a,mp=/" },
	} {
		s := spec("local-lvm")
		change(&s)
		var n noted
		if _, err := c.Create(t.Context(), s, n.Will, n.Wont); err == nil || n.will != nil {
			t.Errorf("%+v was made", s)
		}
	}
	noWill := errors.New("no room in the journal")
	if _, err := c.Create(t.Context(), spec("local-lvm"), func(int) error { return noWill }, func(int) {}); !errors.Is(err, noWill) {
		t.Error(err)
	}
	nothingLeft(t, h)
}

func TestCreateFails(t *testing.T) {
	for fault, want := range map[string]error{
		"no-quorum": pve.ErrNoQuorum, "template-missing": pve.ErrTemplateMissing, "create-fails": nil, "alloc-fails": pve.ErrNoSpace,
	} {
		t.Run(fault, func(t *testing.T) {
			h, c := newHost(t)
			h.Fault(fault, "")
			var n noted
			_, err := c.Create(t.Context(), spec("local-lvm"), n.Will, n.Wont)
			if err == nil || want != nil && !errors.Is(err, want) {
				t.Error(err)
			}
			var e *pve.Error
			if !errors.As(err, &e) || e.Code != 255 {
				t.Errorf("%+v", err)
			}
			nothingLeft(t, h)
		})
	}
}

// Another takes the ID between the question and the call: its guest stays as it
// is, the ID is not noted any more, and the next one is taken.
func TestCreateRace(t *testing.T) {
	h, c := newHost(t)
	h.Fault("id-race", "2")
	var n noted
	made, err := c.Create(t.Context(), spec("local-lvm"), n.Will, n.Wont)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(n.will, []int{100, 101, 102}) || !slices.Equal(n.wont, []int{100, 101}) || made.CT.ID != 102 {
		t.Errorf("%+v, container %d", n, made.CT.ID)
	}
	if err := made.CT.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	for _, id := range n.wont {
		if !strings.HasPrefix(h.Conf(id), "hostname: other\n") {
			t.Errorf("the other's guest %d is now %q", id, h.Conf(id))
		}
		if _, err := c.Own(t.Context(), id, mark); !errors.Is(err, pve.ErrForeign) {
			t.Error(err)
		}
	}
	h.Fault("id-race", "")
	if _, err := c.Create(t.Context(), spec("local-lvm"), n.Will, n.Wont); !errors.Is(err, pve.ErrExists) {
		t.Error(err)
	}
}

// PVE gives an ID that volumes of an earlier guest carry.
func TestCreateLeftover(t *testing.T) {
	h, c := newHost(t)
	var old []string
	for _, a := range []struct {
		id      int
		storage string
	}{{100, "local-lvm"}, {101, "local"}} {
		v, err := c.Alloc(t.Context(), a.storage, a.id, "", "", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		old = append(old, v)
	}
	h.AddCT(102, "hostname: web\n")
	ct := create(t, c, spec("local-lvm"))
	if ct.ID != 103 {
		t.Errorf("container %d", ct.ID)
	}
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	for _, v := range old {
		p, err := c.Path(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(p); err != nil {
			t.Errorf("somebody's volume is gone: %v", err)
		}
	}
	for id := 103; id < 121; id++ {
		if _, err := c.Alloc(t.Context(), "local-lvm", id, "", "", 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	var n noted
	if _, err := c.Create(t.Context(), spec("local-lvm"), n.Will, n.Wont); !errors.Is(err, pve.ErrLeftover) || n.will != nil {
		t.Errorf("%v, noted %v", err, n.will)
	}
}

// Where leftovers push the ID up, it stays below the bound that the cluster has.
func TestCreateBounds(t *testing.T) {
	h, c := newHost(t)
	h.NextID(200, 203)
	for id := 200; id < 203; id++ {
		if _, err := c.Alloc(t.Context(), "local-lvm", id, "", "", 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	var n noted
	if _, err := c.Create(t.Context(), spec("local-lvm"), n.Will, n.Wont); !errors.Is(err, pve.ErrLeftover) || n.will != nil {
		t.Errorf("%v, noted %v", err, n.will)
	}
	h.NextID(200, 204)
	if ct := create(t, c, spec("local-lvm")); ct.ID != 203 {
		t.Errorf("container %d", ct.ID)
	}
}

// A configuration is written under PVE's own lock, and what a killed nativ wrote
// beside it goes with the container.
func TestAppendRawLock(t *testing.T) {
	h, c := newHost(t)
	ct := create(t, c, spec("local-lvm"))
	before := h.Conf(ct.ID)
	lock, err := os.OpenFile(filepath.Join(h.Root, "run/lock/lxc/pve-config-100.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	c.LockWait = 50 * time.Millisecond
	line := pve.RawLine{Key: "lxc.cgroup2.cpuset.cpus", Value: "0"}
	if err := ct.AppendRaw(t.Context(), line); !errors.Is(err, pve.ErrLocked) || h.Conf(ct.ID) != before {
		t.Errorf("%v, and the configuration is %q", err, h.Conf(ct.ID))
	}
	c.LockWait = time.Minute
	go func() {
		time.Sleep(20 * time.Millisecond)
		_ = unix.Flock(int(lock.Fd()), unix.LOCK_UN)
	}()
	if err := ct.AppendRaw(t.Context(), line); err != nil || h.Conf(ct.ID) != before+"lxc.cgroup2.cpuset.cpus: 0\n" {
		t.Errorf("%v, and the configuration is %q", err, h.Conf(ct.ID))
	}
	if err := os.WriteFile(filepath.Join(h.Root, "etc/pve/lxc/100.conf.nativ"), nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, h)
}

func TestLocks(t *testing.T) {
	h, c := newHost(t)
	// For a while: waited for.
	h.Fault("flock-timeout", "2")
	h.Fault("busy", "1")
	var n noted
	made, err := c.Create(t.Context(), spec("local-lvm"), n.Will, n.Wont)
	if err != nil {
		t.Fatal(err)
	}
	ct := made.CT
	h.Fault("locked", "backup:3")
	if _, err := ct.Start(t.Context()); err != nil {
		t.Error(err)
	}
	// For ever: only so long.
	c.LockWait = 100 * time.Millisecond
	h.Fault("locked", "snapshot")
	if err := ct.Stop(t.Context()); !errors.Is(err, pve.ErrLocked) || !strings.Contains(err.Error(), "locked (snapshot)") {
		t.Error(err)
	}
	h.Clear("locked")
	h.Fault("flock-timeout", "")
	if err := ct.Destroy(t.Context()); !errors.Is(err, pve.ErrLocked) {
		t.Error(err)
	}
	h.Clear("flock-timeout")
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, h)
}

func TestStart(t *testing.T) {
	h, c := newHost(t)
	ct := create(t, c, spec("local-lvm"))
	h.Fault("start-fails", "1")
	_, err := ct.Start(t.Context())
	if !errors.Is(err, pve.ErrStart) || !strings.Contains(err.Error(), "lxc.hook.pre-start") {
		t.Errorf("%v: it does not say why", err)
	}
	if err := ct.Stop(t.Context()); err != nil {
		t.Errorf("it does not run: %v", err)
	}
	h.Fault("warnings-rc0", "1")
	if warned, err := ct.Start(t.Context()); err != nil || len(warned) != 1 {
		t.Errorf("%q, %v", warned, err)
	}
	if s, err := c.Status(t.Context(), ct.ID); err != nil || !s.Running || s.PID == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := ct.Start(t.Context()); !errors.Is(err, pve.ErrRunning) {
		t.Error(err)
	}
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, h)
}

// Only what carries the mark of the run can be had, and it is asked again before
// each change.
func TestForeign(t *testing.T) {
	h, c := newHost(t)
	for what, conf := range map[string]string{
		"no tag":         "#nativ run " + mark + "\nhostname: nativ-abcd\n",
		"another's name": "#nativ run " + mark + "\nhostname: web\ntags: nativ\n",
		"another run":    "#nativ run 20260101-120000-ffff\nhostname: nativ-abcd\ntags: nativ\n",
		"a longer mark":  "#nativ run " + mark + "0\nhostname: nativ-abcd\ntags: nativ\n",
		"no description": "hostname: nativ-abcd\ntags: nativ\n",
		"only locked":    "lock: create\n",
	} {
		h.AddCT(150, conf)
		if _, err := c.Own(t.Context(), 150, mark); !errors.Is(err, pve.ErrForeign) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ct := create(t, c, spec("local-lvm"))
	mine := h.Conf(ct.ID)
	h.AddCT(ct.ID, "hostname: web\ntags: nativ\nrootfs: local-lvm:vm-100-disk-0,size=8G\n")
	_, start := ct.Start(t.Context())
	for what, err := range map[string]error{
		"start": start, "stop": ct.Stop(t.Context()), "destroy": ct.Destroy(t.Context()), "trim": ct.Trim(t.Context()),
		"append": ct.AppendRaw(t.Context(), pve.RawLine{Key: "lxc.a", Value: "b"}),
	} {
		if !errors.Is(err, pve.ErrForeign) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !strings.HasPrefix(h.Conf(ct.ID), "hostname: web") {
		t.Errorf("somebody's guest is now %q", h.Conf(ct.ID))
	}
	h.AddCT(ct.ID, mine+"protection: 1\n")
	if err := ct.Destroy(t.Context()); !errors.Is(err, pve.ErrProtected) {
		t.Error(err)
	}
	h.AddCT(ct.ID, mine)
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestVolumes(t *testing.T) {
	h, c := newHost(t)
	v, err := c.Alloc(t.Context(), "local-lvm", 120, "vm-120-nativ", "", 1<<20+1)
	if err != nil || v != "local-lvm:vm-120-nativ" {
		t.Fatalf("%q, %v", v, err)
	}
	list, err := c.Volumes(t.Context(), "local-lvm", 120)
	if err != nil || len(list) != 1 || list[0].ID != v || *list[0].Size != 1<<20+1024 || list[0].VMID != 120 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := c.Volumes(t.Context(), "local-lvm", 121); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	h.Fault("free-lies", "")
	if err := c.Free(t.Context(), v); !errors.Is(err, pve.ErrNotFreed) || !strings.Contains(err.Error(), "in use") {
		t.Error(err)
	}
	h.Clear("free-lies")
	if err := c.Free(t.Context(), v); err != nil {
		t.Error(err)
	}
	if err := c.Free(t.Context(), v); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	if _, err := c.Alloc(t.Context(), "local-lvm", 120, "other", "", 1<<20); err == nil {
		t.Error("a name that is not PVE's")
	}
	h.Fault("alloc-fails", "1")
	if _, err := c.Alloc(t.Context(), "local-lvm", 120, "", "", 1<<20); !errors.Is(err, pve.ErrNoSpace) {
		t.Error(err)
	}
	nothingLeft(t, h)
}

// With saferemove a volume lives on while it is overwritten, and pvesm does not
// show it.
func TestSafeRemove(t *testing.T) {
	h, c := newHost(t)
	h.AddStorage("lvm: thick\n\tvgname fast\n\tsaferemove 1\n\tcontent rootdir,images\n")
	ct := create(t, c, spec("thick"))
	h.Fault("wipe", "3600000")
	c.LockWait = 100 * time.Millisecond
	if err := ct.Destroy(t.Context()); !errors.Is(err, pve.ErrWiping) || !strings.Contains(err.Error(), "del-vm-100-disk-0") {
		t.Error(err)
	}
	if h.Conf(ct.ID) != "" {
		t.Error("the container is still there")
	}
	c.LockWait = time.Minute
	h.Fault("wipe", "50")
	v, err := c.Alloc(t.Context(), "thick", 120, "", "", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Free(t.Context(), v); err != nil {
		t.Error(err)
	}
	nothingLeft(t, h)
}

func TestDestroyLies(t *testing.T) {
	h, c := newHost(t)
	ct := create(t, c, spec("local-lvm"))
	h.Fault("destroy-lies", "1")
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, h)
	ct = create(t, c, spec("local"))
	h.Fault("destroy-lies", "")
	h.Fault("free-lies", "")
	if err := ct.Destroy(t.Context()); !errors.Is(err, pve.ErrNotFreed) {
		t.Error(err)
	}
	if left, err := c.Leftovers(t.Context(), ct.ID); err != nil || len(left) != 2 {
		t.Errorf("%q, %v", left, err)
	}
}

func TestJobs(t *testing.T) {
	h, c := newHost(t)
	if err := os.WriteFile(filepath.Join(h.Root, "etc/pve/jobs.cfg"), []byte("vzdump: b\n\tschedule 21:00\n\tall 1\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if jobs, err := c.Jobs(); err != nil || len(jobs) != 1 || !jobs[0].All || !jobs[0].Enabled {
		t.Errorf("%+v, %v", jobs, err)
	}
}
