package sensor

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	controllerName = regexp.MustCompile(`^nvme[0-9]+$`)
	namespaceName  = regexp.MustCompile(`^nvme[0-9]+n[0-9]+$`)
	pciAddress     = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
)

// controllers returns the sysfs directories of the NVMe controllers that lead to
// a drive, those that are live first; none for other drives, an NVMe drive in a
// USB case among them.
func controllers(roots Roots, drive string) []string {
	dev, err := filepath.EvalSymlinks(roots.sys("block", drive, "device"))
	if err != nil {
		return nil
	}
	return controllersOf(dev)
}

// controllersOf returns the directories of the NVMe controllers behind a
// namespace's device, those that are live first: with multipath the device is
// the subsystem, which has no sensor of its own.
func controllersOf(dev string) []string {
	if controllerName.MatchString(filepath.Base(dev)) {
		return []string{dev}
	}
	var cs []string
	for _, name := range names(dev, controllerName) {
		if c, err := filepath.EvalSymlinks(filepath.Join(dev, name)); err == nil {
			cs = append(cs, c)
		}
	}
	slices.SortStableFunc(cs, func(a, b string) int { return cmp.Compare(notLive(a), notLive(b)) })
	return cs
}

func notLive(controller string) int {
	if s, err := os.ReadFile(filepath.Join(controller, "state")); err == nil && strings.TrimSpace(string(s)) != "live" {
		return 1
	}
	return 0
}

// namespaces returns the names of the block devices of a controller's
// namespaces. With multipath they lie below the subsystem, which links to its
// controllers.
func namespaces(roots Roots, controller string) []string {
	if own := names(controller, namespaceName); len(own) > 0 {
		return own
	}
	links, _ := filepath.Glob(roots.sys("devices/virtual/nvme-subsystem/nvme-subsys*", filepath.Base(controller)))
	for _, l := range links {
		if c, err := filepath.EvalSymlinks(l); err == nil && c == controller {
			return names(filepath.Dir(l), namespaceName)
		}
	}
	return nil
}

// A function is one PCI function in sysfs.
type function struct {
	address string
	dir     string
}

// pciFunctions returns the PCI function of a device, and that of the port on
// the other end of its link; empty where there is none, as for a drive that
// hangs on the root complex itself.
func pciFunctions(device string) (own, port function) {
	dir, err := filepath.EvalSymlinks(device)
	if err != nil || !pciAddress.MatchString(filepath.Base(dir)) {
		return
	}
	own = function{filepath.Base(dir), dir}
	if up := filepath.Dir(dir); pciAddress.MatchString(filepath.Base(up)) {
		port = function{filepath.Base(up), up}
	}
	return own, port
}

// names returns the names in dir that match, in the order of their numbers.
func names(dir string, match *regexp.Regexp) []string {
	entries, _ := os.ReadDir(dir)
	var all []string
	for _, e := range entries {
		if match.MatchString(e.Name()) {
			all = append(all, e.Name())
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return all
}

// readWord returns the text of a small file, "" where it cannot be read.
func readWord(elem ...string) string {
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
