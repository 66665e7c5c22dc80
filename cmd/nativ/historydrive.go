package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nativ/internal/analysis"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/store"
)

func newHistoryDrive(e *env) *cobra.Command {
	var f historyFlags
	var details bool
	c := &cobra.Command{
		Use:   "drive [SERIAL|MODEL|NAME]",
		Short: "Show a drive over time: wear, and the course of each test",
		Long: `Shows the wear of a drive and what each test came to in each place over the runs
with the same settings. From ten such runs on it looks for changes of level, and
says what else differs between the runs on both sides: kernel, firmware, link,
file system, preset and so on. That is a coincidence in time and no cause.

Simulated and imported runs, runs over several drives and tests with missing
passes are in no course. Without an argument it lists the drives of the history,
or shows the only one.`,
		Example: `  nativ history drive
  nativ history drive nvme0n1
  nativ history drive "990 PRO" --details`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return oneArg("drive")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return withHistory(ctx, e, func(s *store.Store) error {
				if err := refreshSummaries(ctx, e, s); err != nil {
					return err
				}
				if len(args) == 0 {
					runs, err := s.List(ctx, store.Filter{})
					if err != nil {
						return err
					}
					drives := report.DrivesOf(runs)
					if len(drives) != 1 {
						list := []driveJSON{}
						for i := range drives {
							list = append(list, driveJSON{Drive: drives[i].Drive, Runs: len(drives[i].Runs)})
						}
						return f.print(e, list, func(lang string) *report.Document { return report.HistoryDrives(drives, lang) })
					}
					args = []string{drives[0].Drive.Name}
				}
				d, err := findDrive(ctx, s, args[0])
				if err != nil {
					return err
				}
				if d.Runs, err = s.List(ctx, store.Filter{Drive: d.Drive.Key, Numbers: true}); err != nil {
					return err
				}
				return f.print(e, courseJSONs(d), func(lang string) *report.Document { return report.HistoryDrive(d, lang, details) })
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&details, "details", false, "every run of every course, too")
	return c
}

// findDrive finds the one drive that is meant.
func findDrive(ctx context.Context, s *store.Store, given string) (*report.DriveRuns, error) {
	runs, err := s.List(ctx, store.Filter{})
	if err != nil {
		return nil, err
	}
	drives := report.DrivesOf(runs)
	found := matchDrives(drives, given)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, exit(exitUsage, "the history has no drive %q", given).next("nativ history drive lists them.")
	}
	var names []string
	for _, d := range found {
		name := d.Drive.Name
		if d.Drive.Serial != "" {
			name = report.SerialTail(d.Drive.Serial)
		}
		names = append(names, strings.TrimSpace(d.Drive.Model+" "+name))
	}
	return nil, exit(exitUsage, "%q is not one drive but %d: %s", given, len(found), strings.Join(names, ", ")).
		next("Name one by its serial number or how that ends.")
}

// matchDrives tries the ways to name a drive, the exact ones first.
func matchDrives(drives []report.DriveRuns, given string) []*report.DriveRuns {
	name := strings.TrimPrefix(given, "/dev/")
	lower := strings.ToLower(given)
	for _, is := range []func(*record.DriveSummary) bool{
		func(d *record.DriveSummary) bool { return strings.EqualFold(d.Serial, given) || d.Key == given },
		func(d *record.DriveSummary) bool { return d.Name == name },
		func(d *record.DriveSummary) bool { return strings.EqualFold(d.Model, given) },
		func(d *record.DriveSummary) bool {
			return len(given) >= 3 && strings.HasSuffix(strings.ToLower(d.Serial), lower)
		},
		func(d *record.DriveSummary) bool { return strings.Contains(strings.ToLower(d.Model), lower) },
	} {
		var found []*report.DriveRuns
		for i := range drives {
			if given != "" && is(&drives[i].Drive) {
				found = append(found, &drives[i])
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// driveJSON is a drive over time for programs: base units, keys as in a record.
type driveJSON struct {
	Drive record.DriveSummary `json:"drive"`
	Runs  int                 `json:"runs"`
	// NoCourse counts the runs that are in no course.
	NoCourse int          `json:"runs_in_no_course,omitempty"`
	Wear     []wearJSON   `json:"wear,omitempty"`
	Courses  []courseJSON `json:"courses,omitempty"`
}

type wearJSON struct {
	Run     string              `json:"run"`
	Started time.Time           `json:"started,omitzero"`
	Drive   record.DriveSummary `json:"drive"`
}

type courseJSON struct {
	Setting record.Setting `json:"setting"`
	Points  []pointJSON    `json:"points"`
	Levels  []levelJSON    `json:"levels"`
}

type pointJSON struct {
	Run         string    `json:"run"`
	Started     time.Time `json:"started,omitzero"`
	IOPS        float64   `json:"iops"`
	BytesPerSec float64   `json:"bytes_per_second"`
}

type levelJSON struct {
	FirstRun    string   `json:"first_run"`
	Runs        int      `json:"runs"`
	IOPS        float64  `json:"iops"`
	BytesPerSec float64  `json:"bytes_per_second"`
	Change      *float64 `json:"change,omitempty"`
	// Differs is what changed at the same time.
	Differs []differenceJSON `json:"differs,omitempty"`
}

type differenceJSON struct {
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
}

func courseJSONs(d *report.DriveRuns) driveJSON {
	courses, left := analysis.Courses(d.Runs, d.Drive.Key)
	out := driveJSON{Drive: d.Drive, Runs: len(d.Runs), NoCourse: left}
	for i := range d.Runs {
		r := &d.Runs[i]
		k := slices.IndexFunc(r.Drives, func(x record.DriveSummary) bool { return x.Key == d.Drive.Key })
		if k >= 0 && r.Drives[k].PercentageUsed != nil && r.Origin == record.OriginMeasured {
			out.Wear = append(out.Wear, wearJSON{r.ID, r.Started, r.Drives[k]})
		}
	}
	for _, c := range courses {
		j := courseJSON{Setting: c.Setting}
		for _, p := range c.Points {
			j.Points = append(j.Points, pointJSON{p.Run.ID, p.Run.Started, p.IOPS, p.BytesPerSec})
		}
		for _, l := range c.Levels {
			level := levelJSON{FirstRun: c.Points[l.From].Run.ID, Runs: l.To - l.From, IOPS: l.IOPS, BytesPerSec: l.BytesPerSec, Change: l.Change}
			for _, d := range l.Differs {
				level.Differs = append(level.Differs, differenceJSON(d))
			}
			j.Levels = append(j.Levels, level)
		}
		out.Courses = append(out.Courses, j)
	}
	return out
}
