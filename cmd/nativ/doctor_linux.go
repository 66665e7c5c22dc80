package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/cgroup"
	"nativ/internal/fio"
	"nativ/internal/host"
	"nativ/internal/place"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
	"nativ/internal/uring"
)

// checkMachine checks everything that measuring needs, with the checks that
// nativ bench makes, and says of each whether it is here.
func checkMachine(ctx context.Context, in *record.Info) []record.Check {
	checks := []record.Check{checkRoot(), checkUring(&in.Host)}
	for i := range in.Targets {
		if in.Targets[i].Device != nil {
			continue // files are not made on it
		}
		if c, refused := checkTestFile(&in.Targets[i]); refused {
			checks = append(checks, c)
			continue
		}
		checks = append(checks, checkDirect(&in.Targets[i]))
	}
	return append(checks, checkLXC(ctx), checkUserNS(), checkCgroups(), checkAppArmor(),
		checkTemperature(in), checkCounters(in), checkPVE(&in.Host), checkFio(),
		checkTool(record.CheckSmartctl, "smartctl", "smartmontools"), checkTool(record.CheckNVMeCLI, "nvme", "nvme-cli"))
}

func install(pkg string) string { return host.InstallCommand(host.Roots{}, pkg) }

func checkRoot() record.Check {
	c := record.Check{Code: record.CheckRoot, State: record.StateOK}
	if os.Geteuid() != 0 {
		c.State, c.Reason, c.Fix = record.StateLimited, "user", "sudo nativ info"
	}
	return c
}

func checkUring(h *record.Host) record.Check {
	c := record.Check{Code: record.CheckIOUring, State: record.StateOK}
	engine, err := new(uring.Engine).Probe()
	if err != nil {
		c.State, c.Words = record.StateMissing, map[string]string{"why": err.Error()}
		var u *sys.UringError
		if errors.As(err, &u) {
			c.Reason = string(u.Cause)
			if u.Cause == sys.UringSysctl {
				c.Fix = "sysctl -w kernel.io_uring_disabled=0"
			}
		}
		return c
	}
	features := slices.Clone(engine.Setup)
	for name, on := range map[string]bool{"registered-files": engine.RegisteredFiles, "registered-ring": engine.RegisteredRing} {
		if on {
			features = append(features, name)
		}
	}
	slices.Sort(features)
	c.Words = map[string]string{"features": strings.Join(features, ", ")}
	if h.IOUringDisabled != nil && *h.IOUringDisabled == 1 {
		c.State, c.Reason, c.Fix = record.StateLimited, "containers", "sysctl -w kernel.io_uring_disabled=0"
	}
	return c
}

// checkTestFile asks the gate of nativ bench whether the smallest file may be made
// in the target.
func checkTestFile(t *record.Target) (c record.Check, refused bool) {
	_, err := target.Gate(t, leastSize, leastSize)
	var r *target.Refusal
	if !errors.As(err, &r) {
		return c, false
	}
	return record.Check{Code: record.CheckTestFile, State: record.StateMissing, Reason: r.Code, About: t.Dir,
		Words: map[string]string{"fstype": r.FSType}}, true
}

// checkDirect opens a file without a name for direct I/O; nothing is written.
func checkDirect(t *record.Target) record.Check {
	c := record.Check{Code: record.CheckDirectIO, State: record.StateOK, About: t.Dir}
	claim, err := target.ClaimUnnamed(t.Dir, 1<<20)
	var refused *target.Refusal
	switch {
	case err == nil:
		defer claim.Close()
		c.Words = map[string]string{"memory": bytesWord(claim.MemAlign()), "offset": bytesWord(claim.OffsetAlign())}
	case errors.As(err, &refused) && refused.Code == target.RefuseDirect:
		c.State, c.Reason = record.StateMissing, "no-direct"
	default:
		why := err
		if refused != nil && refused.Err != nil {
			why = refused.Err
		}
		c.State, c.Reason, c.Words = record.StateLimited, "unknown", map[string]string{"why": why.Error()}
	}
	return c
}

func bytesWord(n int64) string { return strconv.FormatInt(n, 10) + " B" }

// toolPatience bounds programs that only say their version.
const toolPatience = 10 * time.Second

func checkLXC(ctx context.Context) record.Check {
	c := record.Check{Code: record.CheckLXC, State: record.StateOK}
	if err := place.CheckLXC(); err != nil {
		c.State = record.StateMissing
		var missing *place.LXCMissingError
		if errors.As(err, &missing) {
			c.Words = map[string]string{"program": missing.Program}
			if c.Fix = missing.Command(); c.Fix == "" {
				c.Fix = install("lxc")
			}
		}
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, toolPatience)
	defer cancel()
	if v, err := place.LXCVersion(ctx); err == nil {
		c.Words = map[string]string{"version": v}
	}
	return c
}

func checkUserNS() record.Check {
	c := record.Check{Code: record.CheckUserNS, State: record.StateOK}
	switch n, err := os.ReadFile("/proc/sys/user/max_user_namespaces"); {
	case err != nil:
		c.State, c.Reason = record.StateMissing, "kernel"
	case strings.TrimSpace(string(n)) == "0":
		c.State, c.Reason, c.Fix = record.StateMissing, "sysctl", "sysctl -w user.max_user_namespaces=10000"
	default:
		first, count := place.ContainerIDs()
		c.Words = map[string]string{"first": strconv.FormatInt(first, 10), "last": strconv.FormatInt(first+count-1, 10)}
	}
	return c
}

func checkCgroups() record.Check {
	c := record.Check{Code: record.CheckCgroup, State: record.StateOK}
	fs, err := cgroup.Detect("/")
	if err != nil {
		c.State, c.Reason = record.StateMissing, "none"
		return c
	}
	var have, lack []string
	for _, name := range []string{"cpuset", "memory"} {
		if fs.Check(name) == nil {
			have = append(have, name)
		} else {
			lack = append(lack, name)
		}
	}
	c.Words = map[string]string{"layout": fs.Layout(), "controllers": strings.Join(have, ", "), "missing": strings.Join(lack, ", ")}
	switch {
	case slices.Contains(lack, "cpuset"):
		c.State, c.Reason = record.StateMissing, "controllers"
	case len(lack) > 0:
		c.State, c.Reason = record.StateLimited, "memory"
	}
	return c
}

func checkAppArmor() record.Check {
	c := record.Check{Code: record.CheckAppArmor, State: record.StateOK}
	switch place.AppArmor() {
	case place.AppArmorNoParser:
		c.State, c.Reason, c.Fix = record.StateLimited, "parser", install("apparmor")
	case place.NoAppArmor:
		c.State, c.Reason = record.StateNone, "kernel"
	}
	return c
}

// checkTemperature says which drives tell how hot they are, and how much they
// tell.
func checkTemperature(in *record.Info) record.Check {
	c := record.Check{Code: record.CheckTemperature, State: record.StateOK}
	var real, without, hwmon []string
	sata, logs := false, false
	for i := range in.Drives {
		d := &in.Drives[i]
		read := false
		for name := range in.Sample.Temperatures {
			of, _, _ := strings.Cut(name, " ")
			read = read || of == d.Name || d.Controller != nil && of == *d.Controller
		}
		if !read && (analysis.VirtualDrive(d) || d.Transport == "memory") {
			continue
		}
		real = append(real, d.Name)
		if !read {
			without = append(without, d.Name)
			sata = sata || d.Transport == "sata"
		}
		if d.Controller != nil {
			if _, ok := in.Sample.Health[*d.Controller]; ok {
				logs = true
			} else if read {
				hwmon = append(hwmon, d.Name)
			}
		}
	}
	c.Words = map[string]string{"drives": strings.Join(without, ", "), "health": strings.Join(hwmon, ", ")}
	switch {
	case len(in.Drives) == 0:
		c.State, c.Reason = record.StateNone, "none"
	case len(real) == 0:
		c.State, c.Reason = record.StateNone, "virtual"
	case len(without) == len(real):
		c.State, c.Reason = record.StateMissing, "none"
	case len(without) > 0:
		c.State, c.Reason = record.StateLimited, "some"
	case len(hwmon) > 0:
		c.State, c.Reason = record.StateLimited, "hwmon"
	case !logs:
		c.Reason = "drivetemp"
	}
	switch {
	case sata:
		c.Fix = "modprobe drivetemp"
	case c.State != record.StateOK && c.State != record.StateNone && os.Geteuid() != 0:
		c.Fix = "sudo nativ info"
	}
	return c
}

func checkCounters(in *record.Info) record.Check {
	c := record.Check{Code: record.CheckCounters, State: record.StateOK}
	var without []string
	for _, d := range in.Drives {
		if _, ok := in.Sample.Devices[d.Name]; !ok {
			without = append(without, d.Name)
			if d.IOStats != nil && !*d.IOStats && c.Fix == "" {
				c.Fix = "echo 1 > /sys/block/" + d.Name + "/queue/iostats"
			}
		}
	}
	switch {
	case len(in.Drives) == 0:
		c.State = record.StateNone
	case len(without) > 0:
		c.State, c.Words = record.StateLimited, map[string]string{"drives": strings.Join(without, ", ")}
	}
	return c
}

func checkPVE(h *record.Host) record.Check {
	c := record.Check{Code: record.CheckPVE, State: record.StateNone}
	if h.PVE == nil {
		return c
	}
	c.State = record.StateOK
	var have []string
	for _, p := range []string{"pct", "pvesm", "qm"} {
		if _, err := exec.LookPath(p); err == nil {
			have = append(have, p)
		}
	}
	c.Words = map[string]string{"version": *h.PVE, "programs": strings.Join(have, ", ")}
	if !slices.Contains(have, "pct") || !slices.Contains(have, "pvesm") {
		c.State, c.Reason, c.Fix = record.StateMissing, "tools", "apt-get install --reinstall pve-container libpve-storage-perl"
	}
	return c
}

func checkFio() record.Check {
	c := record.Check{Code: record.CheckFio, State: record.StateOK}
	engine, err := new(fio.Engine).Probe()
	switch {
	case errors.Is(err, fio.ErrNotFound):
		c.State, c.Reason, c.Fix = record.StateMissing, "none", install("fio")
	case err != nil:
		c.State, c.Reason, c.Words = record.StateMissing, "broken", map[string]string{"why": err.Error()}
	default:
		c.Words = map[string]string{"version": engine.Version}
	}
	return c
}

// checkTool looks for a program that nativ does not need itself.
func checkTool(code, program, pkg string) record.Check {
	path, err := exec.LookPath(program)
	if err != nil {
		return record.Check{Code: code, State: record.StateMissing, Fix: install(pkg)}
	}
	return record.Check{Code: code, State: record.StateOK, Words: map[string]string{"path": path}}
}
