// Package place is where passes run: the host, the host pinned to a
// container's CPUs, and a throw-away LXC container. A place starts a worker for
// each pass and says, read back from the kernel, what the worker was given.
//
// The types satisfy bench.Place, which this package does not import. Everything
// that a place makes is written into the run's journal before it is made, and
// is removed by the Undoers, be it by the run itself or by nativ clean.
package place

// Arguments with which the binary becomes a worker and a container's init.
const (
	WorkerArg = "worker"
	InitArg   = "init"
)
