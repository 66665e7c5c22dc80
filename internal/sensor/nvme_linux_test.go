package sensor

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

// eachRealNVMe runs test for every namespace of a real NVMe drive whose health
// log may be read, and skips where there is none.
func eachRealNVMe(t *testing.T, test func(t *testing.T, drive string)) {
	t.Helper()
	all, _ := filepath.Glob("/sys/block/nvme*n*")
	some := false
	for _, p := range all {
		drive := filepath.Base(p)
		if !namespaceName.MatchString(drive) {
			continue // a hidden path of a multipath drive
		}
		if _, _, err := ReadHealth(Roots{}, drive); err != nil {
			t.Logf("%s: %v", drive, err)
			continue
		}
		some = true
		t.Run(drive, func(t *testing.T) { test(t, drive) })
	}
	if !some {
		t.Skip("no NVMe drive here whose health log may be read")
	}
}

// tool runs a program and returns its standard output, whatever its exit code;
// nil where it is not installed.
func tool(name string, args ...string) []byte {
	if _, err := exec.LookPath(name); err != nil {
		return nil
	}
	out, _ := exec.Command(name, args...).Output()
	return out
}

// One log, read in four ways, is the same: by our ioctl, by nvme-cli, by
// smartctl and, for its temperatures, by the kernel's hwmon.
func TestRealHealth(t *testing.T) { eachRealNVMe(t, realHealth) }

func realHealth(t *testing.T, drive string) {
	_, log, err := ReadHealth(Roots{}, drive)
	must(t, err)
	cs := controllers(Roots{}, drive)
	dev := "/dev/" + filepath.Base(cs[0])
	// These count what we and others do to the drive meanwhile.
	still := func(h record.Health) record.Health {
		h.ReadCommands, h.ReadBytes, h.WriteCommands, h.WrittenBytes, h.BusyMinutes, h.ErrorLogEntries = 0, 0, 0, 0, 0, 0
		return h
	}
	if out := tool("nvme", "smart-log", dev, "-o", "json"); out != nil {
		h, err := ParseNVMeCLI(out)
		must(t, err)
		if diff := cmp.Diff(still(log), still(h)); diff != "" {
			t.Errorf("nvme-cli (+) disagrees: %s", diff)
		}
		if h.ReadCommands < log.ReadCommands || h.WrittenBytes < log.WrittenBytes {
			t.Errorf("nvme-cli read later and saw less: %+v, before %+v", h, log)
		}
	}
	if out := tool("smartctl", "-j", "-a", dev); out != nil {
		r, err := ParseSmartctl(out)
		must(t, err)
		if r.Health == nil {
			t.Fatalf("smartctl tells no health log: %v", r.Errors)
		}
		h := still(*r.Health)
		// Before mid-2026 it does not tell them.
		want := still(log)
		want.TMT1Seconds, want.TMT1Transitions, want.TMT2Seconds, want.TMT2Transitions = h.TMT1Seconds, h.TMT1Transitions, h.TMT2Seconds, h.TMT2Transitions
		if diff := cmp.Diff(want, h); diff != "" {
			t.Errorf("smartctl (+) disagrees: %s", diff)
		}
	}
	hwmon := NewTemperature(Roots{}, cs[0])
	if hwmon.desc.Missing != "" {
		t.Log(hwmon.desc.Missing)
		return
	}
	var s record.Sample
	if err := hwmon.Read(&s); err != nil {
		t.Log(err)
	}
	if diff := cmp.Diff(healthTemperatures(filepath.Base(cs[0]), &log), s.Temperatures); diff != "" {
		t.Errorf("hwmon (+) disagrees: %s", diff)
	}
	t.Logf("%s: %+v, %v", drive, log, s.Temperatures)
}

func TestRealIdentify(t *testing.T) { eachRealNVMe(t, realIdentify) }

func realIdentify(t *testing.T, drive string) {
	d := record.Drive{Name: drive}
	Identify(Roots{}, &d)
	b, err := json.Marshal(d)
	must(t, err)
	t.Logf("%s", b)
	if d.NVMe == nil || len(d.NVMe.PowerStates) == 0 || len(d.NVMe.Missing) > 0 {
		t.Fatalf("%+v", d.NVMe)
	}
	if _, h, err := ReadHealth(Roots{}, drive); err != nil || d.TemperatureFound != (len(healthTemperatures("", &h)) > 0) {
		t.Errorf("%v: %+v, %v", d.TemperatureFound, h, err)
	}
	if len(d.NVMe.Namespaces) == 0 {
		t.Errorf("%s belongs to a controller without namespaces", drive)
	}
	out := tool("nvme", "id-ctrl", "/dev/"+filepath.Base(controllers(Roots{}, drive)[0]), "-o", "json")
	if out == nil {
		return
	}
	var id struct{ WCTemp, CCTemp uint16 }
	must(t, json.Unmarshal(out, &id))
	if diff := cmp.Diff(milliCelsius(id.WCTemp), d.NVMe.WarningMC); diff != "" {
		t.Errorf("nvme-cli says WCTEMP %d K: %s", id.WCTemp, diff)
	}
	if diff := cmp.Diff(milliCelsius(id.CCTemp), d.NVMe.CriticalMC); diff != "" {
		t.Errorf("nvme-cli says CCTEMP %d K: %s", id.CCTemp, diff)
	}
}

// Every source of every real drive says what it reads, or why it does not.
func TestRealSources(t *testing.T) {
	all, _ := filepath.Glob("/sys/block/*")
	var target record.Target
	for _, p := range all {
		target.Drives = append(target.Drives, record.Drive{Name: filepath.Base(p)})
	}
	sample, missing := Read(&target, Roots{}, func() int64 { return 0 })
	t.Logf("%+v", sample)
	for _, m := range missing {
		t.Logf("%+v", m)
		if m.Missing == "" || m.Kind == "" {
			t.Errorf("%+v", m)
		}
	}
}

// Without privileges a reason is said, and the next step.
func TestRealUnprivileged(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("this is about who is not root")
	}
	all, _ := filepath.Glob("/sys/class/nvme/nvme*")
	if len(all) == 0 {
		t.Skip("no NVMe drive here")
	}
	for _, c := range all {
		if m := NewHealth(Roots{}, filepath.Base(c)).Describe().Missing; !strings.Contains(m, "run as root") {
			t.Errorf("%s: %q", c, m)
		}
	}
}

func TestRealKernelLog(t *testing.T) {
	lines, missing := KernelLog(Roots{}, []record.Drive{{Name: driveOf(t, "/var/tmp")}}, 0)
	if missing != "" {
		t.Log(missing)
	}
	if os.Geteuid() != 0 && missing == "" && len(lines) == 0 {
		t.Log("nothing about the drive")
	}
	text, err := readKernelLog("/dev/kmsg")
	if err != nil {
		t.Skip(err)
	}
	messages, bad := parseKmsg(text)
	if bad != 0 || len(messages) == 0 {
		t.Errorf("%d messages of /dev/kmsg, and %d lines that were not understood", len(messages), bad)
	}
}
