package main

import (
	"os"

	"github.com/spf13/cobra"

	"nativ/internal/fio"
	"nativ/internal/job"
	"nativ/internal/libaio"
	"nativ/internal/place"
	"nativ/internal/syncio"
	"nativ/internal/uring"
	"nativ/internal/worker"
)

// newWorker is the process that does the I/O of one pass; see package worker.
func newWorker(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    place.WorkerArg,
		Short:  "Run one pass as the child of a bench (internal)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return worker.Serve(c.Context(), e.stdin, e.stdout, engines()...)
		},
	}
}

// engines are all that a worker has, the own ones and fio with each of its
// I/O engines that work on files.
func engines() []worker.Engine {
	list := []worker.Engine{&uring.Engine{}, &libaio.Engine{}, &syncio.Engine{}, &syncio.Engine{Seek: true}}
	for _, io := range job.FileEngines() {
		list = append(list, &fio.Engine{IOEngine: string(io)})
	}
	return list
}

// newInit is PID 1 of a container; see package place.
func newInit(*env) *cobra.Command {
	return &cobra.Command{
		Use:    place.InitArg,
		Short:  "Be the init of a container (internal)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if os.Getpid() != 1 {
				return exit(exitUsage, "init is for containers, where it is process 1")
			}
			return place.Init(c.Context())
		},
	}
}
