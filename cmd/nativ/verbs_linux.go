package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nativ/internal/cgroup"
	"nativ/internal/journal"
	"nativ/internal/place"
	"nativ/internal/record"
	"nativ/internal/sys"
	"nativ/internal/target"
)

// kernelVerbs are the verbs that need the Linux kernel.
func kernelVerbs(e *env) []*cobra.Command {
	return []*cobra.Command{newBench(e), newFio(e), newClean(e), newSelftest(e), newInfo(e), newWatch(e), newWorker(e), newInit(e)}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// stateDir is where journals and records are kept.
func stateDir(e *env) (string, error) {
	dir, err := journal.StateDir(e.getenv, os.Geteuid())
	if err != nil {
		return "", exit(exitUsage, "%w", err).next("NATIV_STATE_DIR names a directory for journals and records that can be written.")
	}
	return dir, nil
}

// classify gives an error of a library its exit code and next step.
func classify(err error) *exitError {
	x := &exitError{code: exitFailed, err: err}
	if p := pveExit(err); p != nil {
		return p
	}
	var (
		refusal *target.Refusal
		device  *target.DeviceRefusal
		busy    *target.Busy
		uring   *sys.UringError
		missing *cgroup.MissingError
		lxc     *place.LXCMissingError
		dynamic *place.NotStaticError
		worker  *place.WorkerError
		state   *place.StateDirError
	)
	switch {
	case errors.As(err, &refusal):
		x.code = exitRefused
	case errors.As(err, &device):
		return exit(exitRefused, "%w", err).next("%s", device.Next())
	case errors.As(err, &busy):
		x.code = exitBusy
	case errors.As(err, &uring), errors.As(err, &missing), errors.As(err, &lxc), errors.As(err, &dynamic), errors.As(err, &state), errors.Is(err, place.ErrRoot), errors.Is(err, cgroup.ErrNone),
		errors.As(err, &worker) && worker.Failure.Code == record.FailEngine:
		x.code = exitMissing
	}
	return x
}
