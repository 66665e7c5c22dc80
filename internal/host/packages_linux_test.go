package host

import "testing"

func TestInstallCommand(t *testing.T) {
	for _, c := range []struct {
		name, release, pkg string
		programs           []string
		want               string
	}{
		{"Debian with a dnf", "ID=debian", "lxc", []string{"usr/bin/apt-get", "usr/bin/dnf"}, "apt-get install --no-install-recommends lxc"},
		{"Fedora with an apt-get", "ID=fedora", "fio", []string{"usr/bin/apt-get", "usr/bin/dnf"}, "dnf install fio"},
		{"Mint", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"", "fio", []string{"usr/bin/apt-get"}, "apt-get install --no-install-recommends fio"},
		{"Leap", "ID=\"opensuse-leap\"", "apparmor", []string{"usr/bin/zypper"}, "zypper install apparmor-parser"},
		{"Rocky", "ID=rocky\nID_LIKE=\"rhel centos fedora\"", "lxc", []string{"usr/bin/yum"}, "yum install lxc"},
		{"Arch", "ID=arch", "smartmontools", []string{"usr/bin/pacman"}, "pacman -S smartmontools"},
		{"Alpine", "ID=alpine", "lxc", []string{"sbin/apk"}, "apk add lxc"},
		{"unknown with a known manager", "ID=foo", "fio", []string{"usr/bin/pacman"}, "pacman -S fio"},
		{"none", "ID=nixos", "fio", nil, ""},
	} {
		files := map[string]string{"etc/os-release": c.release}
		for _, p := range c.programs {
			files[p] = ""
		}
		if got := InstallCommand(machine(t, files), c.pkg); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
