package pvetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// stateEnv names the state directory to the programs.
const stateEnv = "NATIV_PVETEST"

// Host is a fake Proxmox VE host.
type Host struct {
	// Root is where etc/pve and var/lib/lxc are, for pve.New.
	Root string
	tb   testing.TB
}

// Options say what kind of host it is.
type Options struct {
	// Real makes volumes and containers real, for which one has to be root.
	// Else a volume is a sparse file that is never mounted, and a container
	// only a state.
	Real bool
}

// programs are the names that the test binary is called by. The hook is what LXC
// calls to mount a container's volumes.
var programs = map[string]func(*host, []string) int{
	"pct": pct, "pvesm": pvesm, "pvesh": pvesh, "pveam": pveam, "pveversion": pveversion, "qm": qm, "lvs": lvs, "pvs": pvs,
	hookName: prestart,
}

// NeedReal skips a test that cannot have real containers here.
func NeedReal(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("needs root")
	}
	for _, p := range []string{"lxc-start", "losetup", "mkfs.ext4"} {
		if _, err := exec.LookPath(p); err != nil {
			tb.Skip(err)
		}
	}
}

// New makes a host and puts its programs first into PATH. It has the storages
// local (a directory) and local-lvm (thin). All that it made is gone after the
// test. TestMain has to call Main.
func New(tb testing.TB, o Options) *Host {
	tb.Helper()
	if o.Real {
		NeedReal(tb)
	}
	// Not tb.TempDir, which is closed to the root of a container.
	root, err := os.MkdirTemp("/var/tmp", "nativ-pvetest-")
	if err != nil {
		tb.Fatal(err)
	}
	h := &Host{Root: root, tb: tb}
	tb.Cleanup(h.cleanup)
	h.must(os.Chmod(root, 0o755))
	for _, d := range []string{"bin", "faults", "etc/pve/lxc", "etc/pve/qemu-server", "var/lib/lxc", "var/lib/vz/template/cache",
		"var/lib/vz/images", "run/lock/lxc", "lv", "dev"} {
		h.must(os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	exe, err := os.Executable()
	h.must(err)
	for name := range programs {
		h.must(os.Symlink(exe, filepath.Join(root, "bin", name)))
	}
	h.AddStorage("dir: local\n\tpath " + h.path("var/lib/vz") + "\n\tcontent iso,vztmpl,backup,rootdir,images\n")
	h.AddStorage("lvmthin: local-lvm\n\tthinpool data\n\tvgname pve\n\tcontent rootdir,images\n")
	if o.Real {
		h.write("real", "")
		// Cgroups are named by the ID, as PVE does; those of several hosts,
		// of tests side by side, must not meet.
		h.NextID(os.Getpid()*100, 999999999)
	}
	tb.Setenv("PATH", h.path("bin")+":"+os.Getenv("PATH"))
	tb.Setenv(stateEnv, root)
	// Built with the race detector each program would take a second to end.
	tb.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	return h
}

func (h *Host) path(elem ...string) string {
	return filepath.Join(append([]string{h.Root}, elem...)...)
}

func (h *Host) must(err error) {
	h.tb.Helper()
	if err != nil {
		h.tb.Fatal(err)
	}
}

func (h *Host) write(name, text string) {
	h.tb.Helper()
	h.must(os.WriteFile(h.path(name), []byte(text), 0o644))
}

// Env is the environment in which programs that are not started by this process
// meet the host.
func (h *Host) Env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), stateEnv + "=" + h.Root}
}

// Fault asks for a fault that Faults lists. What value means depends on it:
// mostly how often, "" for always.
func (h *Host) Fault(name, value string) {
	h.tb.Helper()
	if _, ok := Faults[name]; !ok && !strings.HasPrefix(name, "slow-") {
		h.tb.Fatalf("pvetest: no fault %q", name)
	}
	h.write("faults/"+name, value)
}

// Clear takes a fault back.
func (h *Host) Clear(name string) { _ = os.Remove(h.path("faults", name)) }

// AddStorage adds a section to storage.cfg.
func (h *Host) AddStorage(section string) {
	h.tb.Helper()
	b, err := os.ReadFile(h.path("etc/pve/storage.cfg"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.tb.Fatal(err)
	}
	h.write("etc/pve/storage.cfg", string(b)+section+"\n")
}

// AddTemplate puts a template into the storage local; its volume ID is
// local:vztmpl/NAME.
func (h *Host) AddTemplate(name string, tar []byte) string {
	h.tb.Helper()
	h.write("var/lib/vz/template/cache/"+name, string(tar))
	return "local:vztmpl/" + name
}

// AddCT adds a container that does not run, by the text of its configuration.
func (h *Host) AddCT(id int, conf string) {
	h.tb.Helper()
	h.write(fmt.Sprintf("etc/pve/lxc/%d.conf", id), conf)
}

// AddVM adds a virtual machine, by the text of its configuration.
func (h *Host) AddVM(id int, conf string) {
	h.tb.Helper()
	h.write(fmt.Sprintf("etc/pve/qemu-server/%d.conf", id), conf)
}

// Real reports whether volumes and containers are real.
func (h *Host) Real() bool { return exists(h.path("real")) }

// NextID sets the bounds of the IDs that the cluster gives.
func (h *Host) NextID(lower, upper int) {
	h.tb.Helper()
	h.write("etc/pve/datacenter.cfg", fmt.Sprintf("next-id: lower=%d,upper=%d\n", lower, upper))
}

// Conf is a container's configuration file, "" if there is none.
func (h *Host) Conf(id int) string {
	b, _ := os.ReadFile(h.path("etc/pve/lxc", strconv.Itoa(id)+".conf"))
	return string(b)
}

// Left lists what guests left on the host: configurations, volumes, mounts,
// loop devices, cgroups, and processes of tasks and containers.
func (h *Host) Left() []string {
	var out []string
	for _, pattern := range []string{"etc/pve/lxc/*", "etc/pve/qemu-server/*", "var/lib/vz/images/*/*", "lv/*/*", "dev/*/*", "zfs/*/*", "var/lib/lxc/*/*"} {
		found, err := filepath.Glob(h.path(pattern))
		h.must(err)
		out = append(out, found...)
	}
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(h.Root))
	h.must(err)
	for _, m := range mounts {
		out = append(out, "mount "+m.Mountpoint)
	}
	for dev, file := range loops(h.Root) {
		out = append(out, "loop "+dev+" of "+file)
	}
	for _, pid := range processes(h.Root) {
		out = append(out, fmt.Sprintf("process %d", pid))
	}
	return out
}

// processes finds those of the host's programs, tasks and containers.
func processes(root string) []int {
	var out []int
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range found {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		name := strings.Split(string(cmdline), "\x00")[0]
		environ, _ := os.ReadFile(f)
		task := strings.HasPrefix(name, "task UPID:") || filepath.Dir(name) == filepath.Join(root, "bin")
		if task && strings.Contains("\x00"+string(environ), "\x00"+stateEnv+"="+root+"\x00") ||
			strings.Contains(string(cmdline), filepath.Join(root, "var/lib/lxc")) {
			out = append(out, pid)
		}
	}
	return out
}

// cleanup removes the host, whatever state a test left it in.
func (h *Host) cleanup() {
	found, _ := filepath.Glob(h.path("etc/pve/lxc/*.conf"))
	for _, f := range found {
		stopLXC(&host{root: h.Root}, strings.TrimSuffix(filepath.Base(f), ".conf"))
	}
	// Containers whose configuration a test removed, tasks that hang.
	for _, pid := range processes(h.Root) {
		_ = unix.Kill(pid, syscall.SIGKILL)
	}
	for end := time.Now().Add(10 * time.Second); len(processes(h.Root)) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	for range 3 {
		mounts, _ := mountinfo.GetMounts(mountinfo.PrefixFilter(h.Root))
		for i := len(mounts) - 1; i >= 0; i-- {
			_ = unix.Unmount(mounts[i].Mountpoint, 0)
		}
	}
	for dev := range loops(h.Root) {
		_ = exec.Command("losetup", "-d", dev).Run()
	}
	ids, _ := filepath.Glob(h.path("var/lib/lxc/*"))
	for _, d := range ids {
		removeGroups(filepath.Base(d))
	}
	_ = os.RemoveAll(filepath.Join("/run/lxc/lock", h.path("var/lib/lxc")))
	if err := os.RemoveAll(h.Root); err != nil {
		h.tb.Errorf("pvetest: %v", err)
	}
	for dir := filepath.Join("/run/lxc/lock", filepath.Dir(h.Root)); dir != "/run/lxc/lock"; dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break
		}
	}
}
