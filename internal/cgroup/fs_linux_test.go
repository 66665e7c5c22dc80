package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Mount tables as real machines show them.
const (
	mountsV2 = `22 1 0:21 / /proc rw - proc proc rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
	mountsMixed = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset,clone_children
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
44 31 0:32 /part /mnt/memory rw - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`
	mountsNamedOnly = mountsV2 + "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
)

// fake lays out a root directory with a mount table and files.
func fake(t *testing.T, mounts string, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["proc/self/mountinfo"] = mounts
	for name, content := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDetectLayout(t *testing.T) {
	v1 := strings.Join(strings.SplitAfter(mountsMixed, "\n")[:6], "")
	for _, test := range []struct{ mounts, want string }{
		{mountsV2, LayoutV2},
		{mountsNamedOnly, LayoutV2},
		{mountsMixed, LayoutMixed},
		{v1, LayoutV1},
	} {
		root := fake(t, test.mounts, map[string]string{
			"sys/fs/cgroup/cgroup.controllers":         "cpuset cpu io memory pids\n",
			"sys/fs/cgroup/unified/cgroup.controllers": "\n",
		})
		f, err := Detect(root)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Layout(); got != test.want {
			t.Errorf("layout %q, want %q for\n%s", got, test.want, test.mounts)
		}
		if err := f.Check("cpuset", "memory", "cpu"); err != nil {
			t.Errorf("%s: %v", test.want, err)
		}
	}
}

func TestDetectNothing(t *testing.T) {
	if _, err := Detect(fake(t, "22 1 0:21 / /proc rw - proc proc rw\n", map[string]string{})); !errors.Is(err, ErrNone) {
		t.Errorf("got %v, want ErrNone", err)
	}
}

func TestMountsPreferWhole(t *testing.T) {
	swapped := strings.Replace(mountsMixed, "35 31 0:32 / /sys/fs/cgroup/memory", "35 31 0:32 /part /elsewhere", 1)
	swapped = strings.Replace(swapped, "/part /mnt/memory", "/ /mnt/memory", 1)
	hs, err := parseMounts(strings.NewReader(swapped))
	if err != nil {
		t.Fatal(err)
	}
	f := &FS{hierarchies: hs}
	if h := f.with("memory"); h == nil || h.dir != "/mnt/memory" {
		t.Errorf("memory hierarchy %+v", h)
	}
	if h := f.with("cpuacct"); h == nil || !cmp.Equal(h.controllers, []string{"cpu", "cpuacct"}) {
		t.Errorf("cpuacct hierarchy %+v", h)
	}
	if len(hs) != 5 {
		t.Errorf("%d hierarchies, want 5: the second mount of memory is no other one", len(hs))
	}
}

func TestMemoryControllerSwitchedOff(t *testing.T) {
	f, err := Detect(fake(t, mountsV2, map[string]string{
		"sys/fs/cgroup/cgroup.controllers": "cpuset cpu io pids\n",
		"proc/cgroups":                     "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t0\t50\t1\nmemory\t0\t50\t0\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var missing *MissingError
	if err := f.Limit("nativ/x", Limits{Memory: 1 << 30}); !errors.As(err, &missing) || missing.Controller != "memory" || !missing.Disabled {
		t.Errorf("got %v", err)
	}
}

func TestLimitMakesNoFiles(t *testing.T) {
	root := fake(t, mountsV2, map[string]string{
		"sys/fs/cgroup/cgroup.controllers":         "cpuset cpu io memory pids\n",
		"sys/fs/cgroup/nativ/x/cgroup.controllers": "memory\n",
		"sys/fs/cgroup/nativ/x/memory.max":         "4096\n",
		"sys/fs/cgroup/nativ/memory.max":           "max\n",
	})
	f, err := Detect(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Limit("nativ/x", Limits{CPUs: []int{0}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("limit without its file: %v", err)
	}
	if f.List("nativ/x") != nil {
		t.Error("something was made")
	}
	s, err := f.Read("nativ/x")
	if err != nil {
		t.Fatal(err)
	}
	if s.CPUs != nil || s.Memory == nil || *s.Memory != 4096 {
		t.Errorf("state %+v", s)
	}
}

func TestCountersAbsentIsNil(t *testing.T) {
	f, err := Detect(fake(t, mountsV2, map[string]string{
		"sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
		"sys/fs/cgroup/nativ/x/cpu.stat":   "usage_usec 7\nuser_usec 3\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Counters("nativ/x")
	if err != nil {
		t.Fatal(err)
	}
	if c.UsageNS == nil || *c.UsageNS != 7000 {
		t.Errorf("usage %v, want 7000 ns", c.UsageNS)
	}
	if c.NrThrottled != nil || c.OOMKills != nil || c.MemoryMax != nil {
		t.Errorf("absent counters look measured: %+v", c)
	}
	if _, err := f.Counters("nativ/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a group that is not there: %v", err)
	}
}

func TestPathsOutsideAreRefused(t *testing.T) {
	f := &FS{}
	for _, path := range []string{"", ".", "..", "/", "/nativ", "nativ/../x", "nativ/", "a//b"} {
		if err := f.Create(path); err == nil {
			t.Errorf("Create(%q) was not refused", path)
		}
		if _, err := f.Remove(t.Context(), path); err == nil {
			t.Errorf("Remove(%q) was not refused", path)
		}
		if err := f.Kill(t.Context(), path); err == nil {
			t.Errorf("Kill(%q) was not refused", path)
		}
	}
}

// TestReal makes, limits, fills, reads, empties and removes a group on this
// machine, whatever its layout.
func TestReal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making cgroups needs root")
	}
	f, err := Detect("/")
	if err != nil {
		t.Skip(err)
	}
	run := fmt.Sprintf("nativ/test-cgroup-%d", os.Getpid())
	path := run + "/pinned"
	if err := f.Create(path); err != nil {
		if errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "read-only") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	defer func() {
		_ = f.Kill(t.Context(), run)
		_, _ = f.Remove(t.Context(), run)
		f.Prune("nativ")
	}()
	t.Log("layout", f.Layout())
	var want State
	if f.Check("cpuset") == nil {
		want.CPUs = []int{0}
	}
	limit := int64(64 << 20)
	l := Limits{CPUs: want.CPUs}
	if f.Check("memory") == nil {
		want.Memory, l.Memory = &limit, limit
	}
	if err := f.Limit(path, l); err != nil {
		t.Fatal(err)
	}
	got, err := f.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	want.Controllers = got.Controllers
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}

	// A child that waits to be moved, and then says where it may run.
	cmd := exec.Command("sh", "-c", "read x; grep Cpus_allowed_list /proc/self/status; exec sleep 100")
	in, _ := cmd.StdinPipe()
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := f.Add(path, cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if pids, err := f.Procs(run); err != nil || !cmp.Equal(pids, []int{cmd.Process.Pid}) {
		t.Errorf("processes %v, %v; want [%d]", pids, err, cmd.Process.Pid)
	}
	fmt.Fprintln(in, "go")
	in.Close()
	for !strings.HasPrefix(comm(cmd.Process.Pid), "sleep") {
		if pause(t.Context(), 1e6) != nil {
			t.Fatal("the child never came to sleep")
		}
	}
	c, err := f.Counters(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.UsageNS == nil || *c.UsageNS <= 0 {
		t.Errorf("cpu usage %v", c.UsageNS)
	}
	if l.Memory > 0 && (c.OOMKills == nil || *c.OOMKills != 0) {
		t.Errorf("oom kills %v", c.OOMKills)
	}
	if err := f.Kill(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the child ended well, though killed")
	}
	if want.CPUs != nil && !strings.HasSuffix(strings.TrimSpace(out.String()), "\t0") {
		t.Errorf("the child ran on %q, want CPU 0", out.String())
	}
	if removed, err := f.Remove(t.Context(), run); err != nil || !removed {
		t.Errorf("Remove = %v, %v", removed, err)
	}
	if removed, err := f.Remove(t.Context(), run); err != nil || removed {
		t.Errorf("second Remove = %v, %v", removed, err)
	}
	if f.Exists(run) {
		t.Error("the group is still there")
	}
}

// TestCreateBesidePrune: two runs come and go, one of which removes the group
// above that both use.
func TestCreateBesidePrune(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making cgroups needs root")
	}
	f, err := Detect("/")
	if err != nil {
		t.Skip(err)
	}
	top := fmt.Sprintf("nativ-test-prune-%d", os.Getpid())
	if err := f.Create(top); err != nil {
		if errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "read-only") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				f.Prune(top)
				time.Sleep(200 * time.Microsecond) // far more often than runs end
			}
		}
	}()
	for range 50 {
		if err := f.Create(top + "/run/host"); err != nil {
			t.Error(err)
			break
		}
		if _, err := f.Remove(t.Context(), top+"/run"); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	<-done
	if _, err := f.Remove(t.Context(), top); err != nil {
		t.Error(err)
	}
}

func comm(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return string(b)
}
