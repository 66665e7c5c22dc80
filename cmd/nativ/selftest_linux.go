package main

import (
	"encoding/json"
	"fmt"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nativ/internal/record"
	"nativ/internal/uring"
)

func newSelftest(e *env) *cobra.Command {
	var asJSON bool
	var d time.Duration
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Measure what the engine itself could do on one core",
		Long: `Measures the bare io_uring ring with no-ops on one thread that stays on one CPU:
the most I/Os a second that the engine could do there if a drive cost nothing.
Says which io_uring features this kernel gives, and what reading the clock
costs. Touches no file and needs no rights. The rate is the best of many short
slices; it is per core, and other cores may be slower.

Exit codes:
  0  measured
  1  something went wrong that should not
  2  the command line is wrong
  5  io_uring is missing or forbidden here; the message says how to get it`,
		Example: `  nativ selftest
  nativ selftest --time 5s --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if d < 100*time.Millisecond || d > time.Minute {
				return exit(exitUsage, "--time %v: from 100ms to 1m", d)
			}
			// One thread measures; the rest of the program needs some, too.
			if runtime.GOMAXPROCS(0) < 4 {
				runtime.GOMAXPROCS(4)
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			cal, err := uring.Calibrate(ctx, d)
			if err != nil {
				return err // classify knows what the machine lacks
			}
			text := selftestText(&cal)
			if asJSON {
				b, err := json.MarshalIndent(cal, "", "  ")
				if err != nil {
					return fmt.Errorf("encode the result: %w", err)
				}
				text = string(b) + "\n"
			}
			if _, err := fmt.Fprint(e.stdout, text); err != nil {
				return written("the result", err)
			}
			return nil
		},
	}
	c.Flags().DurationVar(&d, "time", 2*time.Second, "how long to measure")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text, in I/Os a second and nanoseconds")
	c.AddCommand(newSelftestSensors(e))
	return c
}

// selftestText words a calibration.
func selftestText(c *record.Calibration) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-18s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("No-ops per core", "%.2f M/s, %d with each call (CPU %d, %.1f s)", c.NopsPerSec/1e6, c.Batch, c.CPU, float64(c.ElapsedNS)/1e9)
	row("One at a time", "%.2f M/s", c.SinglesPerSec/1e6)
	row("Reading the clock", "%.0f ns", c.ClockNS)
	row("Engine", "%s", c.Engine.Name)
	setup := "none of the optional flags"
	if len(c.Engine.Setup) > 0 {
		setup = strings.Join(c.Engine.Setup, " ")
	}
	row("Ring", "%s", setup)
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"Registered file", c.Engine.RegisteredFiles},
		{"Registered ring", c.Engine.RegisteredRing},
		{"Registered buffers", c.Engine.RegisteredBuffers},
	} {
		s := "no"
		if f.on {
			s = "yes"
		}
		row(f.name, "%s", s)
	}
	return b.String()
}
