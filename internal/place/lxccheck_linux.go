package place

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// An LXCMissingError says that LXC's programs are not there, and how to get
// them.
type LXCMissingError struct {
	Program string // the first that was not found, for example "lxc-start"
	// PVE is true on Proxmox VE, whose own package has it and must not be
	// replaced by Debian's.
	PVE bool
	// Apt is true where apt-get can install it.
	Apt bool
}

func (e *LXCMissingError) Error() string {
	return fmt.Sprintf("%s is not installed; %s", e.Program, e.Next())
}

// Next is the next step to take.
func (e *LXCMissingError) Next() string {
	switch {
	case e.PVE:
		return "on Proxmox VE it comes with lxc-pve: apt-get install --reinstall lxc-pve"
	case e.Apt:
		// The recommended packages, and the bridge that lxc-net sets up when
		// it is started, are not needed.
		return "install it: apt-get install --no-install-recommends lxc"
	}
	return "install LXC's command-line programs with the package manager"
}

// lxcPrograms are those that are used.
var lxcPrograms = []string{"lxc-start", "lxc-attach", "lxc-stop", "lxc-info"}

// CheckLXC reports an *LXCMissingError where LXC's programs are not installed.
// It looks for the programs and not for a package, because Proxmox VE has them
// from another one.
func CheckLXC() error { return checkLXC("/", exec.LookPath) }

func checkLXC(root string, look func(string) (string, error)) error {
	for _, p := range lxcPrograms {
		if _, err := look(p); err != nil {
			return &LXCMissingError{Program: p, PVE: isPVE(root), Apt: exists(root, "usr/bin/apt-get")}
		}
	}
	return nil
}

func isPVE(root string) bool {
	return exists(root, "etc/pve") || exists(root, "var/lib/dpkg/info/lxc-pve.list")
}

func exists(elem ...string) bool {
	_, err := os.Stat(filepath.Join(elem...))
	return err == nil
}
