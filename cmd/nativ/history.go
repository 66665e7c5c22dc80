package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/store"
)

// historyCodes end the help of every verb of the history.
const historyCodes = `

Exit codes:
  0  done
  1  something went wrong that should not, or the history was damaged
  2  the command line is wrong, there is no such run or drive, or no history yet
  3  refused: a later nativ made the history`

// historyFlags are those that most verbs of the history share.
type historyFlags struct {
	json bool
	lang string
}

func newHistory(e *env) *cobra.Command {
	list := newHistoryList(e)
	c := &cobra.Command{
		Use:   "history",
		Short: "Keep, find and compare over time what was measured",
		Long: `Every run of nativ bench and nativ fio, and every result that nativ import reads,
is kept in a database in the state directory, beside its files. Without a verb
it lists the runs. A run is named by its ID, how that begins, or last.

The state directory is $NATIV_STATE_DIR, else /var/lib/nativ for root and
~/.local/state/nativ for others: root's runs are in root's history.
Simulated runs are marked and in no course over time.` + historyCodes,
		Example: `  nativ history
  nativ history drive nvme0n1
  nativ history tag 20261130-2059 new-heatsink`,
		Args: noArgs,
		RunE: list.RunE,
	}
	c.Flags().AddFlagSet(list.Flags())
	c.AddCommand(list, newHistoryShow(e), newHistoryTag(e), newHistoryNote(e), newHistoryDelete(e),
		newHistoryExport(e), newHistoryImport(e), newHistoryDrive(e))
	for _, sub := range c.Commands() {
		sub.Long += historyCodes
		sub.Args = usageArgs(sub.Args)
	}
	return c
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no %q", c.CommandPath(), args[0])
	}
	return nil
}

func (f *historyFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.json, "json", false, "print JSON instead of text")
	c.Flags().StringVar(&f.lang, "lang", "", "de or en (default: from the environment)")
}

// print writes a document, or v as JSON.
func (f *historyFlags) print(e *env, v any, document func(lang string) *report.Document) error {
	if f.json {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return written("the history", err)
		}
		return nil
	}
	lang, err := language(e, f.lang)
	if err != nil {
		return err
	}
	if err := report.Text(e.stdout, document(lang), report.Width); err != nil {
		return written("the history", err)
	}
	return nil
}

func newHistoryList(e *env) *cobra.Command {
	var f historyFlags
	var filter store.Filter
	var drive string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the runs, the latest last",
		Long: `Lists the runs, the latest last. Remarks: what was imported or simulated, read in
from a file or is incomplete, and the tags.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if filter.Last < 0 {
				return exit(exitUsage, "--last %d is negative", filter.Last)
			}
			return withHistory(c.Context(), e, func(s *store.Store) error {
				if drive != "" {
					d, err := findDrive(c.Context(), s, drive)
					if err != nil {
						return err
					}
					filter.Drive = d.Drive.Key
				}
				filter.Brief = !f.json
				runs, err := s.List(c.Context(), filter)
				if err != nil {
					return err
				}
				if runs == nil {
					runs = []record.RunSummary{}
				}
				return f.print(e, runs, func(lang string) *report.Document { return report.History(runs, lang) })
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&drive, "drive", "", "only runs on this drive: serial number, model or name")
	c.Flags().StringVar(&filter.Tag, "tag", "", "only runs with this tag")
	c.Flags().IntVar(&filter.Last, "last", 0, "only the latest N (default: all)")
	return c
}

func newHistoryShow(e *env) *cobra.Command {
	var f historyFlags
	var details bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show a run with its tags and note, and its report",
		Long: `Shows where a run comes from, its tags and its note, and then its report, as
nativ report ID does. With --json it prints the summary that the history keeps,
in base units; nativ report ID --format json prints the record.`,
		Args: oneArg("run"),
		RunE: func(c *cobra.Command, args []string) error {
			return withHistory(c.Context(), e, func(s *store.Store) error {
				run, err := findRun(c.Context(), s, args[0])
				if err != nil {
					return err
				}
				if err := f.print(e, run, func(lang string) *report.Document { return report.HistoryRun(run, lang) }); err != nil || f.json {
					return err
				}
				rec, err := storedRecord(c.Context(), s, run.ID)
				if err != nil {
					return err
				}
				lang, err := language(e, f.lang)
				if err != nil {
					return err
				}
				fmt.Fprintln(e.stdout)
				rec, hash, err := forOthers(rec)
				if err != nil {
					return err
				}
				return render(e.stdout, rec, "text", report.Options{Lang: lang, Details: details, Hash: hash})
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&details, "details", false, "bandwidth, percentiles, system and method, too")
	return c
}

func newHistoryTag(e *env) *cobra.Command {
	var remove []string
	c := &cobra.Command{
		Use:   "tag ID TAG...",
		Short: "Add tags to a run, or remove them",
		Long:  `Adds tags to a run, or removes them.`,
		Example: `  nativ history tag 20261130-2059 new-heatsink
  nativ history tag 20261130-2059 --remove new-heatsink`,
		Args: someArgs("run"),
		RunE: func(c *cobra.Command, args []string) error {
			tags := args[1:]
			if len(tags)+len(remove) == 0 {
				return exit(exitUsage, "name at least one tag").next("See: nativ history tag --help")
			}
			for _, t := range tags {
				if strings.TrimSpace(t) == "" {
					return exit(exitUsage, "a tag is not empty")
				}
			}
			return onRun(c.Context(), e, args[0], func(s *store.Store, id string) error {
				return s.Tag(c.Context(), id, tags, remove)
			})
		},
	}
	c.Flags().StringArrayVar(&remove, "remove", nil, "take this tag away; may be repeated")
	return c
}

func newHistoryNote(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "note ID TEXT",
		Short: "Write a note to a run",
		Long:  `Writes a note to a run in place of the one that it has; an empty one removes it.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("name a run and one text, in quotes where it has spaces")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return onRun(c.Context(), e, args[0], func(s *store.Store, id string) error {
				return s.Note(c.Context(), id, args[1])
			})
		},
	}
}

func newHistoryDelete(e *env) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "delete ID...",
		Short: "Remove runs from the history",
		Long: `Removes runs from the history, all of the list or none, with their tags and
notes. Their files in the state directory stay, and can be read in again.
A run that has no files there needs --yes: the history has its only record.`,
		Args: someArgs("run"),
		RunE: func(c *cobra.Command, args []string) error {
			state, err := stateDir(e)
			if err != nil {
				return err
			}
			return withHistory(c.Context(), e, func(s *store.Store) error {
				var ids []string
				for _, a := range args {
					id, err := s.Resolve(c.Context(), a)
					if err != nil {
						return err
					}
					if !yes && !exists(recordPath(state, id)) {
						return exit(exitRefused, "%s has no file in %s: the history has its only record", id, recordsDir(state)).
							next("Keep it with nativ history export %s --out DIR, or add --yes.", id)
					}
					ids = append(ids, id)
				}
				if err := s.Delete(c.Context(), ids...); err != nil {
					return err
				}
				for _, id := range ids {
					fmt.Fprintf(e.stdout, "%s deleted", id)
					if p := recordPath(state, id); exists(p) {
						fmt.Fprintf(e.stdout, "; its files stay: %s", p)
					}
					fmt.Fprintln(e.stdout)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "also where the history has the only record")
	return c
}

// resolveRun is the ID of the run that is given by its ID, by how that begins, or
// as the last one.
func resolveRun(ctx context.Context, s *store.Store, given string) (string, error) {
	if given != "last" {
		return s.Resolve(ctx, given)
	}
	id, err := s.Latest(ctx)
	if err == nil && id == "" {
		err = exit(exitUsage, "there is no run in the history yet").next("Measure first: nativ bench")
	}
	return id, err
}

// onRun does something with one run and says with which.
func onRun(ctx context.Context, e *env, given string, do func(*store.Store, string) error) error {
	return withHistory(ctx, e, func(s *store.Store) error {
		id, err := resolveRun(ctx, s, given)
		if err != nil {
			return err
		}
		if err := do(s, id); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, id)
		return nil
	})
}

// findRun reads the summary of the run that is given by its ID or how that
// begins.
func findRun(ctx context.Context, s *store.Store, given string) (*record.RunSummary, error) {
	id, err := resolveRun(ctx, s, given)
	if err != nil {
		return nil, err
	}
	runs, err := s.List(ctx, store.Filter{ID: id, Numbers: true})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 { // deleted between the two
		return nil, &store.UnknownError{ID: id}
	}
	return &runs[0], nil
}

// withHistory calls f with the history of this user.
func withHistory(ctx context.Context, e *env, f func(*store.Store) error) error {
	state, err := stateDir(e)
	if err != nil {
		return exit(exitUsage, "%w", err)
	}
	s, err := store.Open(ctx, state)
	if errors.Is(err, fs.ErrNotExist) {
		x := exit(exitUsage, "there is no history in %s yet", state)
		if exists(recordsDir(state)) {
			return x.next("The runs of before can be read in: nativ history import")
		}
		return x.next("Measure first: nativ bench. The history of root is in root's state directory: sudo nativ history")
	}
	if err == nil {
		err = errors.Join(f(s), s.Close())
	}
	return historyError(ctx, state, err)
}
