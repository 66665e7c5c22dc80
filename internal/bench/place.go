// Package bench runs a plan: it prepares the places, prefills the file, runs
// the passes in their order while the sampler watches, cleans up, and says
// what happens as events. It prints nothing.
package bench

import (
	"context"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

// A Place is where passes run. Implementations are in package place; every one
// passes the suite in placetest.
type Place interface {
	// Name is one of the record.Place constants.
	Name() string
	// Prepare sets the place up for the files and says how it came out, limits
	// read back. It can be called again when the place was lost.
	Prepare(ctx context.Context, files []*target.File) (record.Place, error)
	// Run runs one pass on some of the files, in the order of the phase's list.
	// Several passes may run at a time. Events reach sink as the worker says them, from one
	// goroutine; EventReady is passed on before the worker is told to go, so
	// that what sink does at EventReady happens right before the start.
	// A pass without a full result has a *record.Failure. ctx ends the pass
	// early; the outcome then holds what was measured so far.
	Run(ctx context.Context, p job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure)
	// Cgroup is the path of the place's cgroup below the hierarchy's root, or
	// "" where it has none. Valid after Prepare.
	Cgroup() string
}
