// Command nativ, as far as a place needs it: the worker and a container's init.
// The tests build it without cgo, because a container has no loader.
package main

import (
	"context"
	"fmt"
	"os"

	"nativ/internal/fio"
	"nativ/internal/place"
	"nativ/internal/worker"
)

func main() {
	err := fmt.Errorf("usage: nativ %s | %s", place.WorkerArg, place.InitArg)
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case place.WorkerArg:
			err = worker.Serve(context.Background(), os.Stdin, os.Stdout, &fio.Engine{})
		case place.InitArg:
			err = place.Init(context.Background())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nativ:", err)
		os.Exit(1)
	}
}
