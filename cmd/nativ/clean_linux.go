package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nativ/internal/journal"
)

func newClean(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove what a killed run left behind",
		Long: `Removes exactly what the journals of dead runs list (test files, containers,
mounts, cgroups, processes) and nothing else, and says what it did. Runs that
are still active are not touched.

Exit codes:
  0  nothing is left
  1  something went wrong that should not
  2  the command line is wrong; nothing was done
  7  something could not be removed; the message says what and why`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := stateDir(e)
			if err != nil {
				return err
			}
			active, dead, err := runsIn(c.Context(), dir)
			if err != nil {
				return err
			}
			for _, r := range active {
				fmt.Fprintf(e.stdout, "run %s is active (process %d, %s) and was not touched\n", r.ID, r.Header.PID, r.Header.Dir)
			}
			if len(dead) == 0 {
				fmt.Fprintln(e.stdout, "nothing to clean up")
				return nil
			}
			return cleanRuns(c.Context(), e, dir, dead)
		},
	}
}

// dyingLimit is how long a journal may stay locked after its run has died: a
// child that was forked but has not yet become another program holds the lock
// as well.
const dyingLimit = 2 * time.Second

// runsIn lists the runs that live and those that left something behind.
func runsIn(ctx context.Context, state string) (active, dead []journal.Run, err error) {
	for deadline := time.Now().Add(dyingLimit); ; {
		runs, err := journal.List(state)
		if err != nil {
			return nil, nil, err
		}
		active, dead = nil, nil
		dying := false
		for _, r := range runs {
			if !r.Active {
				dead = append(dead, r)
				continue
			}
			active = append(active, r)
			dying = dying || r.Header.PID > 0 && errors.Is(syscall.Kill(r.Header.PID, 0), syscall.ESRCH)
		}
		if !dying || time.Now().After(deadline) || ctx.Err() != nil {
			return active, dead, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// cleanRuns removes what dead runs left and says so on stderr. The error says
// that something is still there.
func cleanRuns(ctx context.Context, e *env, state string, dead []journal.Run) error {
	bad := 0
	for _, r := range dead {
		if err := cleanRun(ctx, e, state, r.ID); err != nil {
			fmt.Fprintf(e.stderr, "nativ: run %s: %v\n", r.ID, err)
			bad++
		}
	}
	if bad > 0 {
		return exit(exitLeft, "%d of %d runs could not be cleaned up whole", bad, len(dead)).
			next("The journals are in %s/journal; try again when the reasons above are gone.", state)
	}
	return nil
}

func cleanRun(ctx context.Context, e *env, state, id string) error {
	j, err := journal.Open(state, id)
	if errors.Is(err, journal.ErrActive) {
		return nil // somebody else is at it
	}
	if err != nil {
		return err
	}
	undo, err := undoers(e, state)
	if err != nil {
		return errors.Join(err, j.Close())
	}
	// Each run gets its own time, so that one that hangs does not cost the rest.
	ctx, cancel := context.WithTimeout(ctx, undoLimit)
	defer cancel()
	had := j.Entries()
	left := j.Undo(ctx, undo)
	still := map[int]bool{}
	for _, l := range left {
		still[l.Entry.Seq] = true
	}
	fmt.Fprintf(e.stdout, "run %s (%s, %s):\n", id, j.Header().Started.Local().Format(time.DateTime), j.Header().Dir)
	for i := len(had) - 1; i >= 0; i-- {
		if !still[had[i].Seq] {
			fmt.Fprintf(e.stdout, "  gone: %s\n", had[i])
		}
	}
	for _, l := range left {
		fmt.Fprintf(e.stdout, "  still there: %s\n", l)
	}
	if err := j.Close(); err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%d things are still there", len(left))
	}
	return nil
}
