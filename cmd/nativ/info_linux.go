package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nativ/internal/analysis"
	"nativ/internal/host"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sensor"
	"nativ/internal/storage"
	"nativ/internal/sys"
	"nativ/internal/target"
)

func newInfo(e *env) *cobra.Command {
	var asJSON bool
	var lang string
	var targets []string
	c := &cobra.Command{
		Use:   "info [DIR|FILE|DEVICE|DRIVE…]",
		Short: "Say what this machine is, what it can do, and what it lacks",
		Long: `Describes the machine as a review would: CPU, memory, board, system, drives with
firmware, link, thresholds, wear and temperature; and for each directory, file or
block device the way down to the drive, what each layer on it does to a number and
what nativ does about that, how full it is, and whether trim gets through. Then
says what measuring needs and whether it is here, with the command for each thing
missing. Without arguments it describes all drives of the machine.

It reads only. As root it sees more: health logs and memory modules.
The keys of --json are those of a record (see record.json of a run), in bytes,
Hz, MT/s, millidegrees Celsius and nanoseconds; what is not known is left out.

Exit codes:
  0  said, also where something is missing: it informs
  1  something went wrong that should not
  2  the command line is wrong, or an argument is neither a directory, a file, a
     block device nor a drive`,
		Example: `  sudo nativ info
  sudo nativ info /mnt/nvme1
  sudo nativ info --target /dev/pve/vm-100-disk-0
  nativ info nvme0n1 --json`,
		RunE: func(c *cobra.Command, args []string) error {
			lang, err := language(e, lang)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			in, err := readInfo(ctx, slices.Concat(args, targets))
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e, in)
			}
			if err := report.Text(e.stdout, report.Info(in, lang), report.Width); err != nil {
				return written("the result", err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	c.Flags().StringVar(&lang, "lang", "", "de or en (default: from the environment)")
	c.Flags().StringArrayVar(&targets, "target", nil, "the same as an argument; may be repeated")
	return c
}

func printJSON(e *env, v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return written("the result", err)
	}
	return nil
}

// readInfo reads this machine and what the paths stand for.
func readInfo(ctx context.Context, paths []string) (*record.Info, error) {
	in := &record.Info{
		SchemaVersion: record.SchemaVersion, Time: time.Now(),
		Tool: record.Tool{Name: "nativ", Version: version, Go: runtime.Version(), Command: os.Args},
	}
	var err error
	if in.Targets, in.Drives, err = findAll(ctx, paths); err != nil {
		return nil, err
	}
	for i := range in.Drives {
		sensor.Identify(sensor.Roots{}, &in.Drives[i])
	}
	if in.Host, err = host.Facts(host.Roots{}); err != nil {
		return nil, err
	}
	sampler := sensor.New(driveSources(in.Drives), sys.MonoNow)
	in.Sample = sampler.Sample()
	in.Sources = sampler.Sources()
	for i := range in.Targets {
		in.Effects = append(in.Effects, analysis.Effects(&in.Targets[i])...)
	}
	in.Checks = checkMachine(ctx, in)
	return in, nil
}

// findAll resolves directories, files, devices and drives. Without paths it finds
// all drives of the machine.
func findAll(ctx context.Context, paths []string) (targets []record.Target, drives []record.Drive, err error) {
	if len(paths) == 0 {
		drives, err = target.Drives(target.Roots{})
		return nil, drives, err
	}
	add := func(more []record.Drive) {
		for _, d := range more {
			if !slices.ContainsFunc(drives, func(o record.Drive) bool { return o.Name == d.Name }) {
				drives = append(drives, d)
			}
		}
	}
	for _, path := range paths {
		t, err := findOne(path)
		if err != nil {
			return nil, nil, err
		}
		if t != nil {
			storage.Describe(ctx, t)
			targets = append(targets, *t)
			add(t.Drives)
			continue
		}
		found, err := target.DrivesOf(path, target.Roots{})
		if errors.Is(err, target.ErrNoDrive) {
			return nil, nil, exit(exitUsage, "%q is neither a directory nor a file, a device or a drive", path).
				next("Name a directory such as /mnt/nvme1, or a drive such as nvme0n1; nativ info lists the drives.")
		}
		if err != nil {
			return nil, nil, err
		}
		add(found)
	}
	return targets, drives, nil
}

// findOne resolves a directory, the directory of a file, or a block device by its
// node; nil for what may be the name of a drive.
func findOne(path string) (*record.Target, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, nil // a drive need not have a node of that name here
	}
	switch mode := fi.Mode(); {
	case mode.IsDir():
		return target.Resolve(path, target.Roots{})
	case mode.IsRegular():
		return target.Resolve(filepath.Dir(path), target.Roots{})
	case mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0 && strings.Contains(path, "/"):
		return target.DeviceTarget(path, target.Roots{})
	}
	return nil, nil
}

// driveSources are the sources about the drives themselves, without those about
// CPUs.
func driveSources(drives []record.Drive) []sensor.Source {
	all := sensor.ForTarget(&record.Target{Drives: drives}, sensor.Roots{})
	return slices.DeleteFunc(all, func(s sensor.Source) bool {
		switch s.Describe().Kind {
		case "temperature", "health", "device", "link", "aer":
			return false
		}
		return true
	})
}
