// Command nativ, as far as a place needs it: the worker and a container's init.
// The tests build it without cgo, because a container has no loader.
package main

import (
	"context"
	"fmt"
	"os"

	"nativ/internal/place"
	"nativ/internal/uring"
	"nativ/internal/worker"
)

func main() {
	err := fmt.Errorf("usage: nativ %s | %s", place.WorkerArg, place.InitArg)
	if args := place.Args(os.Getpid(), os.Args); len(args) == 1 {
		switch args[0] {
		case place.WorkerArg:
			err = worker.Serve(context.Background(), os.Stdin, os.Stdout, &uring.Engine{})
		case place.InitArg:
			err = place.Init(context.Background())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nativ:", err)
		os.Exit(1)
	}
}
