// Package cgroup makes, limits, reads and removes control groups, with one API
// over the three layouts that Linux has: pure v2, v1, and v1 with v2 beside it.
//
// A group is named by one path below the root of every hierarchy. On v2 that is
// one directory; on v1 it is one in each hierarchy, as LXC makes them too.
package cgroup

import "fmt"

// A MissingError says that the kernel does not offer a controller that was
// asked for, and what to do about it.
type MissingError struct {
	Controller string // "cpuset", "memory"
	// Disabled is true where the kernel has the controller but was started
	// with it switched off, as on a Raspberry Pi.
	Disabled bool
}

func (e *MissingError) Error() string {
	if e.Disabled {
		return fmt.Sprintf("the %s cgroup controller is switched off; %s", e.Controller, e.Next())
	}
	return fmt.Sprintf("this kernel offers no %s cgroup controller; %s", e.Controller, e.Next())
}

// Next is the next step to take, without a full stop.
func (e *MissingError) Next() string {
	if !e.Disabled {
		switch e.Controller {
		case "memory":
			return "use a kernel built with CONFIG_MEMCG, or leave out the memory limit"
		case "cpuset":
			return "use a kernel built with CONFIG_CPUSETS"
		}
		return "use a kernel that has it"
	}
	params := "cgroup_enable=" + e.Controller
	if e.Controller == "memory" {
		// The Raspberry Pi firmware prepends cgroup_disable=memory; its
		// kernels before 6.6 honour only the pair.
		params += " cgroup_memory=1"
	}
	return fmt.Sprintf("add %q to the kernel command line (Raspberry Pi: /boot/firmware/cmdline.txt) and reboot", params)
}
