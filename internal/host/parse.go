package host

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// parseOSRelease returns the distribution's name for people from an os-release
// file (os-release(5)), or "".
func parseOSRelease(r io.Reader) string {
	vars := map[string]string{}
	for line := range lines(r) {
		if key, val, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			vars[key] = unquote(val)
		}
	}
	if p := vars["PRETTY_NAME"]; p != "" {
		return p
	}
	return strings.TrimSpace(vars["NAME"] + " " + vars["VERSION_ID"])
}

// parseOSIDs returns the distribution's ID and those that it is like, from an
// os-release file (os-release(5)).
func parseOSIDs(r io.Reader) []string {
	var ids []string
	for line := range lines(r) {
		if key, val, _ := strings.Cut(line, "="); key == "ID" || key == "ID_LIKE" {
			ids = append(ids, strings.Fields(unquote(val))...)
		}
	}
	return ids
}

// unquote removes the quotes of a shell assignment.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return strings.NewReplacer(`\"`, `"`, `\$`, `$`, `\\`, `\`, "\\`", "`").Replace(s)
}

// parseDpkgStatus returns the version of an installed package from
// /var/lib/dpkg/status, or "".
func parseDpkgStatus(r io.Reader, pkg string) string {
	var ours, installed bool
	var version string
	for line := range lines(r) {
		key, val, _ := strings.Cut(line, ":")
		val = strings.TrimSpace(val)
		switch {
		case line == "":
			if ours && installed {
				return version
			}
			ours, installed, version = false, false, ""
		case key == "Package":
			ours = val == pkg
		case key == "Status":
			// Only a package with this state is there; one that was removed
			// may keep its version with its configuration.
			installed = strings.HasSuffix(val, " ok installed")
		case key == "Version":
			version = val
		}
	}
	if ours && installed {
		return version
	}
	return ""
}

// cpuInfo is what /proc/cpuinfo says of the first CPU.
type cpuInfo struct {
	model      string
	hypervisor bool // x86: CPUID says that this is a guest
}

func parseCPUInfo(r io.Reader) cpuInfo {
	var c cpuInfo
	for line := range lines(r) {
		key, val, _ := strings.Cut(line, ":")
		switch val = strings.TrimSpace(val); strings.TrimSpace(key) {
		case "model name", "Model", "cpu model", "cpu": // x86; Raspberry Pi; MIPS; POWER
			if c.model == "" {
				c.model = val
			}
		case "flags":
			c.hypervisor = c.hypervisor || slices.Contains(strings.Fields(val), "hypervisor")
			return c // the first CPU is enough
		}
	}
	return c
}

// parseMemTotal returns MemTotal of /proc/meminfo in bytes; false where it is
// missing.
func parseMemTotal(r io.Reader) (int64, bool) {
	for line := range lines(r) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			return kib << 10, err == nil && kib > 0 && kib < 1<<50
		}
	}
	return 0, false
}

// parseStatusField returns a field of /proc/PID/status, or "".
func parseStatusField(r io.Reader, field string) string {
	for line := range lines(r) {
		if val, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(val)
		}
	}
	return ""
}

// lines yields the lines of r until its end, or until one is longer than
// anything these files hold.
func lines(r io.Reader) func(func(string) bool) {
	return func(yield func(string) bool) {
		sc := bufio.NewScanner(r)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() && yield(sc.Text()) {
		}
	}
}
