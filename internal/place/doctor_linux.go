package place

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Command is the command that installs LXC; "" where the package manager is not
// known to it.
func (e *LXCMissingError) Command() string {
	switch {
	case e.PVE:
		return "apt-get install --reinstall lxc-pve"
	case e.Apt:
		return "apt-get install --no-install-recommends lxc"
	}
	return ""
}

// LXCVersion asks the installed LXC for its version, for example "6.0.4".
func LXCVersion(ctx context.Context) (string, error) {
	return runShort(ctx, exec.CommandContext(ctx, "lxc-info", "--version"))
}

// A Confinement is what AppArmor can do for a container.
type Confinement int

// Confinements.
const (
	NoAppArmor       Confinement = iota // not in this kernel, or switched off
	AppArmorNoParser                    // in the kernel, but its parser is not installed
	AppArmorUsable
)

// AppArmor says how containers would be confined here.
func AppArmor() Confinement { return appArmor("/") }

func appArmor(root string) Confinement {
	if appArmorUsable(root) {
		return AppArmorUsable
	}
	on, err := os.ReadFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"))
	if err != nil || !strings.HasPrefix(string(on), "Y") {
		return NoAppArmor
	}
	if _, err := findParser(root); err != nil {
		return AppArmorNoParser
	}
	return NoAppArmor // securityfs shows none of it, as in a container
}

// ContainerIDs returns the range of user IDs that an unprivileged container of
// root's gets: that of /etc/subuid and /etc/subgid, else the usual one, which
// root may map as well.
func ContainerIDs() (first, count int64) {
	ids := rootIDs("/")
	return ids.UID, ids.Count
}
