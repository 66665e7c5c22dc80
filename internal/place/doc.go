// Package place is where passes run: the host, the host pinned to a
// container's CPUs, and a throw-away LXC container. A place starts a worker for
// each pass and says, read back from the kernel, what the worker was given.
//
// The types satisfy bench.Place, which this package does not import. Everything
// that a place makes is written into the run's journal before it is made, and
// is removed by the Undoers, be it by the run itself or by nativ clean.
package place

import "path"

// Arguments with which the binary becomes a worker and a container's init.
const (
	WorkerArg = "worker"
	InitArg   = "init"
)

// Args are the arguments of a process that was called by this name with these:
// where Proxmox VE starts a container's first process, it gives it none.
func Args(pid int, argv []string) []string {
	if pid == 1 && len(argv) == 1 && path.Base(argv[0]) == "init" {
		return []string{InitArg}
	}
	return argv[min(1, len(argv)):]
}
