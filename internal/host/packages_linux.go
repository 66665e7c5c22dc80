package host

import (
	"os"
	"strings"
)

// managers are package managers by the distributions that have them, which are
// named as in os-release, and by their program.
var managers = []struct {
	ids              []string
	program, install string
}{
	{[]string{"debian", "ubuntu"}, "usr/bin/apt-get", "apt-get install --no-install-recommends"},
	{[]string{"fedora", "rhel", "centos"}, "usr/bin/dnf", "dnf install"},
	{[]string{"fedora", "rhel", "centos", "amzn"}, "usr/bin/yum", "yum install"},
	{[]string{"arch"}, "usr/bin/pacman", "pacman -S"},
	{[]string{"suse", "opensuse"}, "usr/bin/zypper", "zypper install"},
	{[]string{"alpine"}, "sbin/apk", "apk add"},
	{[]string{"void"}, "usr/bin/xbps-install", "xbps-install -S"},
}

// packages are the names of a package where they differ from Debian's, by
// package manager.
var packages = map[string]map[string]string{
	"apparmor": {"zypper install": "apparmor-parser"},
}

// InstallCommand returns the command that installs a package, by Debian's name
// for it, with the package manager of this machine; "" where none is known. The
// distribution's own comes first: Debian can have a dnf, and Fedora an apt-get.
func InstallCommand(o Roots, pkg string) string {
	var ids []string
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		if ids, _ = parseFile(o.root(name), parseOSIDs); len(ids) > 0 {
			break
		}
	}
	ours := func(names []string) bool {
		for _, id := range ids {
			for _, n := range names {
				if id == n || strings.HasPrefix(id, n+"-") { // opensuse-leap
					return true
				}
			}
		}
		return false
	}
	for _, any := range []bool{false, true} {
		for _, m := range managers {
			if _, err := os.Stat(o.root(m.program)); err != nil || !any && !ours(m.ids) {
				continue
			}
			if name, other := packages[pkg][m.install]; other {
				pkg = name
			}
			return m.install + " " + pkg
		}
	}
	return ""
}
