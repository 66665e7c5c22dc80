package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nativ/internal/compare"
	"nativ/internal/record"
	"nativ/internal/reference"
	"nativ/internal/report"
)

var compareFormats = []string{"text", "md", "json", "svg", "png"}

func newCompare(e *env) *cobra.Command {
	var format, lang string
	var failIf []string
	o := compareOptions{}
	c := &cobra.Command{
		Use:   "compare A B [...]",
		Short: "Compare records: before and after, drive and drive, place and place",
		Long: `Compares records: files, IDs of runs, last, files with JSON of fio, and published
tables (ref:NAME/TABLE, such as ref:9100pro-pve9/native). A place of a record is
named after it: last/lxc. Without one, two records are compared in each place that
both have. Works on any OS.

Phases are paired by what they did, not by name: mode, block size, iodepth,
numjobs, direct, syncs. First it says what differs in settings and system. A
comparison that means nothing (another block size, cached against direct) is
refused; --anyway shows it with the reason. Without repetitions there is a ratio
and no interval.

--format svg and png write a chart to standard output: of two inputs their
differences with intervals, of more a bar for each input and phase.

Several runs of a side are one input, with commas: before1,before2 after1,after2.
Their means are then what is compared, and an interval has what differs from run to
run, which the passes of one run do not show. What is said to differ in system and
settings is that of the first of each side.

More than two inputs are ranked, phase by phase, and outliers are named: modified
z-score of the logarithms above 3.5 and more than 3 % from the median, from ten
inputs on.

--fail-if ends with exit code 8 where a metric changed by so much from A to B, or
with many inputs from their median to any of them:
  [PHASE.]METRIC OP PERCENT%   OP is <, <=, > or >=
  PHASE   a name (randread-4k) or a mode (randread, syncwrite); none is all phases
  METRIC  iops, bw, p50, p99, p99.9
What decides is the ratio itself; the report says whether its interval agrees. A
condition for which there is no number ends with exit code 4.

Exit codes:
  0  compared; no condition is met
  1  something went wrong that should not
  2  the command line is wrong
  3  refused: nothing can be compared, or an input is neither a record nor JSON of fio
  4  incomplete: a condition could not be checked
  8  a condition of --fail-if is met`,
		Example: `  nativ compare before.json after.json --fail-if 'randread.iops<-5%' --fail-if 'p99>+10%'
  nativ compare last/host last/lxc
  nativ compare old1.json,old2.json,old3.json new1.json,new2.json,new3.json
  nativ compare ref:9100pro-pve9/native ref:9100pro-pve9/lxc
  nativ compare results/*.json --details`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name two records or more")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if o.Lang, err = language(e, lang); err != nil {
				return err
			}
			if !slices.Contains(compareFormats, format) {
				return exit(exitUsage, "--format %q is not one of %s", format, strings.Join(compareFormats, ", "))
			}
			if len(args) == 1 {
				return oneInput(c.Context(), e, args[0])
			}
			o.format = format
			for _, f := range failIf {
				c, err := compare.ParseCondition(f)
				if err != nil {
					return exit(exitUsage, "--fail-if: %w", err)
				}
				o.conditions = append(o.conditions, c)
			}
			return o.run(c.Context(), e, args)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, md, json, svg or png (a chart)")
	c.Flags().StringVar(&lang, "lang", "", "de or en (default: from the environment)")
	c.Flags().BoolVar(&o.Details, "details", false, "all metrics with their intervals; all of a ranking")
	c.Flags().BoolVar(&o.anyway, "anyway", false, "show also what means nothing, with the reason")
	c.Flags().StringArrayVar(&failIf, "fail-if", nil, "condition such as 'randread.iops<-5%'; may be given several times")
	return c
}

// oneInput says what to type where one record was named: its places can be compared
// with each other.
func oneInput(ctx context.Context, e *env, arg string) error {
	in, err := openInput(ctx, e, arg, map[string]*record.Record{})
	if err != nil {
		return err
	}
	x := exit(exitUsage, "name a second record to compare %s with", arg)
	if p := in.rec.Plan.Places; in.place == "" && len(p) > 1 {
		return x.next("Its places beside each other: nativ compare %[1]s/%[2]s %[1]s/%[3]s", arg, p[0], p[len(p)-1])
	}
	return x.next("For example the one before it: nativ compare OLDER %s (nativ history lists runs)", arg)
}

type compareOptions struct {
	report.CompareOptions
	format     string
	chart      *report.Chart // of --format svg and png; nil where there is nothing to draw
	anyway     bool
	conditions []compare.Condition
}

// A comparedJSON is the form of compare --format json. Within a version fields are
// only added.
type comparedJSON struct {
	// Simulated is set where a drive model answered for any input.
	Simulated   string               `json:"simulated,omitempty"`
	Format      string               `json:"format"` // "nativ-compare"
	Version     int                  `json:"version"`
	Comparisons []compare.Comparison `json:"comparisons,omitempty"`
	Ranking     *compare.Ranking     `json:"ranking,omitempty"`
	Conditions  *compare.Checked     `json:"conditions,omitempty"`
}

func (o *compareOptions) run(ctx context.Context, e *env, args []string) error {
	var inputs []input
	cache := map[string]*record.Record{}
	if i := slices.Index(args, "-"); i >= 0 && slices.Contains(args[i+1:], "-") {
		return exit(exitUsage, "standard input (-) can be only one of the inputs")
	}
	for _, a := range args {
		in, err := openGroup(ctx, e, a, cache)
		if err == nil && len(in.more) > 0 && len(args) != 2 {
			err = exit(exitUsage, "%s: several runs of a side need exactly two sides", a)
		}
		if err != nil {
			return err
		}
		inputs = append(inputs, in)
	}
	out := comparedJSON{Format: "nativ-compare", Version: 1}
	for i := range inputs {
		if inputs[i].rec.Simulated != nil {
			out.Simulated = record.SimulatedNotice
		}
	}
	var doc *report.Document
	if len(inputs) == 2 {
		pairs, err := sidesOfTwo(inputs[0], inputs[1])
		if err != nil {
			return err
		}
		var pointers []*compare.Comparison
		found := false
		for _, p := range pairs {
			c := compare.Compare(p[0], p[1], o.anyway)
			out.Comparisons = append(out.Comparisons, c)
			found = found || len(c.Pairs) > 0
		}
		if !found {
			return exit(exitRefused, "nothing of %s and %s can be compared:\n  %s", args[0], args[1],
				strings.Join(report.Refusals(out.Comparisons, "en"), "\n  "))
		}
		for i := range out.Comparisons {
			pointers = append(pointers, &out.Comparisons[i])
		}
		if len(o.conditions) > 0 {
			out.Conditions = new(compare.Check(o.conditions, pointers...))
		}
		o.Checked = out.Conditions
		doc = report.Compare(out.Comparisons, o.CompareOptions)
		o.chart = report.CompareChart(out.Comparisons, o.Lang)
	} else {
		sides, err := sidesOfMany(inputs)
		if err != nil {
			return err
		}
		out.Ranking = new(compare.Rank(sides))
		if len(out.Ranking.Groups) == 0 {
			return exit(exitRefused, "no two of the %d inputs did the same", len(inputs)).
				next("Phases belong together by mode, block size, iodepth, numjobs, direct and syncs.")
		}
		if len(o.conditions) > 0 {
			out.Conditions = new(compare.CheckRanking(o.conditions, out.Ranking))
		}
		o.Checked = out.Conditions
		doc = report.Rank(out.Ranking, o.CompareOptions)
		o.chart = report.RankChart(out.Ranking, o.Lang)
	}
	if o.chart == nil && slices.Contains(pictureFormats, o.format) {
		return exit(exitRefused, "there is nothing to draw: no phase has a number on both sides")
	}
	if err := written("the comparison", o.write(e.stdout, doc, out)); err != nil {
		return err
	}
	switch r := out.Conditions; {
	case r == nil:
	case len(r.Hits) > 0:
		return exit(exitCondition, "--fail-if: %d times a condition is met, first %s by %s", len(r.Hits), r.Hits[0].Condition, r.Hits[0].Phase)
	case len(r.Unchecked) > 0:
		return exit(exitIncomplete, "--fail-if: there is no number for %s", strings.Join(r.Unchecked, ", ")).
			next("Phases are named by name or mode, as the report shows them.")
	}
	return nil
}

func (o *compareOptions) write(w io.Writer, doc *report.Document, out comparedJSON) error {
	b := bufio.NewWriter(w)
	var err error
	switch o.format {
	case "json":
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		err = enc.Encode(out)
	case "svg", "png":
		var picture []byte
		if picture, err = drawn(o.chart, o.format, false); err == nil {
			_, err = b.Write(picture)
		}
	case "md":
		err = report.Markdown(b, doc)
	default:
		err = report.Text(b, doc, report.Width)
	}
	return errors.Join(err, b.Flush())
}

// An input is a record and, where the user named one, a place of it.
type input struct {
	label string
	rec   *record.Record
	place string
	more  []*record.Record // further runs of the same side
}

// openGroup reads what an argument names: one input, or with commas several runs of
// one side, such as before1.json,before2.json.
func openGroup(ctx context.Context, e *env, arg string, cache map[string]*record.Record) (input, error) {
	if _, err := os.Stat(arg); err == nil || !strings.Contains(arg, ",") {
		return openInput(ctx, e, arg, cache)
	}
	var group input
	seen := map[string]bool{}
	for i, name := range strings.Split(arg, ",") {
		in, err := openInput(ctx, e, name, cache)
		if err != nil {
			return input{}, err
		}
		key := in.rec.ID + " " + in.rec.Started.String()
		switch {
		case seen[key] && in.rec.ID != "" || slices.Contains(group.more, in.rec) || in.rec == group.rec:
			return input{}, exit(exitUsage, "%s: %s is the same run as one before it", arg, name)
		case i == 0:
			group = in
			group.label = arg
		case in.place != group.place:
			return input{}, exit(exitUsage, "%s: name the same place for each run of a side", arg)
		case in.place == "" && !slices.Equal(in.rec.Plan.Places, group.rec.Plan.Places):
			return input{}, exit(exitUsage, "%s: the runs have different places", arg).next("Name one for each: %s/%s", name, in.rec.Plan.Places[0])
		default:
			group.more = append(group.more, in.rec)
		}
		seen[key] = true
	}
	return group, nil
}

// openInput reads what an argument names: ref:NAME/TABLE, RECORD or RECORD/PLACE.
func openInput(ctx context.Context, e *env, arg string, cache map[string]*record.Record) (input, error) {
	if strings.HasPrefix(arg, reference.Prefix) {
		rec, err := reference.Open(arg)
		if err != nil {
			return input{}, exit(exitUsage, "%w", err)
		}
		return input{label: arg, rec: rec, place: record.PlaceImported}, nil
	}
	read := func(name string) (*record.Record, error) {
		if rec := cache[name]; rec != nil {
			return rec, nil // so that two places of it are known to be of one run
		}
		rec, err := readRecord(ctx, e, name)
		if err == nil {
			cache[name] = rec
		}
		return rec, err
	}
	if _, err := os.Stat(arg); err != nil {
		if i := strings.LastIndex(arg, "/"); i > 0 {
			if rec, err := read(arg[:i]); err == nil {
				if !slices.Contains(rec.Plan.Places, arg[i+1:]) {
					return input{}, exit(exitUsage, "%s has no place %q", arg[:i], arg[i+1:]).next("It has: %s", strings.Join(rec.Plan.Places, ", "))
				}
				return input{label: arg, rec: rec, place: arg[i+1:]}, nil
			}
		}
	}
	rec, err := read(arg)
	return input{label: arg, rec: rec}, err
}

// side is the input in a place; its label names the place where the user did not.
func (in *input) side(place string) compare.Side {
	s := compare.Side{Label: in.label, Place: place, Record: in.rec, More: in.more}
	if in.place == "" && len(in.rec.Plan.Places) > 1 {
		s.Label += "/" + place
	}
	return s
}

// needPlace asks for a place.
func (in *input) needPlace() error {
	return exit(exitUsage, "%s has several places: %s", in.label, strings.Join(in.rec.Plan.Places, ", ")).
		next("Name one: nativ compare %s/%s ...", in.label, in.rec.Plan.Places[0])
}

// only is the place that the user named, or the only one there is.
func (in *input) only() (string, bool) {
	switch {
	case in.place != "":
		return in.place, true
	case len(in.rec.Plan.Places) == 1:
		return in.rec.Plan.Places[0], true
	}
	return "", false
}

// sidesOfTwo returns what to compare of two inputs: one pair, or one for each place
// that both have.
func sidesOfTwo(a, b input) ([][2]compare.Side, error) {
	for _, in := range []*input{&a, &b} {
		if len(in.rec.Plan.Places) == 0 {
			return nil, exit(exitRefused, "%s has no place in its plan, so that nothing was measured", in.label)
		}
	}
	pa, okA := a.only()
	pb, okB := b.only()
	switch {
	case okA && okB:
		return [][2]compare.Side{{a.side(pa), b.side(pb)}}, nil
	case okA && slices.Contains(b.rec.Plan.Places, pa):
		return [][2]compare.Side{{a.side(pa), b.side(pa)}}, nil
	case okB && slices.Contains(a.rec.Plan.Places, pb):
		return [][2]compare.Side{{a.side(pb), b.side(pb)}}, nil
	case okA:
		return nil, b.needPlace()
	case okB:
		return nil, a.needPlace()
	}
	var pairs [][2]compare.Side
	for _, p := range a.rec.Plan.Places {
		if slices.Contains(b.rec.Plan.Places, p) {
			pairs = append(pairs, [2]compare.Side{a.side(p), b.side(p)})
		}
	}
	if len(pairs) == 0 {
		return nil, a.needPlace()
	}
	return pairs, nil
}

// sidesOfMany takes of each input the place that was named, the only one, or the
// host: that is where drives are compared.
func sidesOfMany(inputs []input) ([]compare.Side, error) {
	var sides []compare.Side
	for i := range inputs {
		in := &inputs[i]
		p, ok := in.only()
		if !ok {
			if !slices.Contains(in.rec.Plan.Places, record.PlaceHost) {
				return nil, in.needPlace()
			}
			p = record.PlaceHost
		}
		sides = append(sides, in.side(p))
	}
	return sides, nil
}
