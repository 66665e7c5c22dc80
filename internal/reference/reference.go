// Package reference reads results that others published (references/) and turns
// their tables into records. It is pure: single values, as printed, of which
// nothing was measured by nativ.
package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/references"
)

// Prefix of the names of tables on the command line.
const Prefix = "ref:"

// format is the version of the files' form.
const format = 1

// A Reference is a publication; references/README.md describes its fields.
type Reference struct {
	Format     int    `json:"format"`
	Kind       string `json:"kind"`
	Title      string `json:"title"`
	Note       string `json:"note"`
	DriveModel string `json:"drive_model"`
	DriveBytes int64  `json:"drive_bytes"`
	Statistic  string `json:"statistic"`
	// System and Container are facts by name, text or numbers.
	System    map[string]any   `json:"system"`
	Container map[string]any   `json:"container"`
	Fio       string           `json:"fio"`
	Tables    map[string][]Row `json:"tables"`
	Columns   []string         `json:"columns"`
	// ColumnsHot are the heads of tables with temperatures.
	ColumnsHot []string       `json:"columns_hot"`
	Claims     []string       `json:"claims"`
	Drive      map[string]any `json:"drive"`
}

// A Row is one line of a table; what was not printed is nil.
type Row struct {
	Mode string `json:"mode"`
	BS   string `json:"bs"`
	// IOPS and BWMiB (MiB/s) as printed.
	IOPS  *float64 `json:"iops"`
	BWMiB *float64 `json:"bw_mib_s"`
	// FromCelsius is the temperature from which the row holds.
	FromCelsius *float64 `json:"from_celsius"`
}

// TableNames lists the tables, sorted.
func (r *Reference) TableNames() []string {
	var names []string
	for n := range r.Tables {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Parse reads a reference strictly: a field that does not exist is an error.
func Parse(b []byte) (*Reference, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	r := new(Reference)
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("read reference: %w", err)
	}
	if _, err := dec.Token(); err == nil {
		return nil, errors.New("read reference: there is more after the first object")
	}
	switch {
	case r.Format != format:
		return nil, fmt.Errorf("read reference: format is %d, not %d", r.Format, format)
	case r.Kind != "published":
		return nil, fmt.Errorf("read reference: kind is %q, not published", r.Kind)
	case r.Title == "":
		return nil, errors.New("read reference: title is missing")
	case r.Statistic != record.StatisticMean && r.Statistic != record.StatisticMaximum:
		return nil, fmt.Errorf("read reference: statistic is %q, neither mean nor maximum", r.Statistic)
	case len(r.Tables) == 0:
		return nil, errors.New("read reference: it has no tables")
	case r.DriveBytes < 0:
		return nil, errors.New("read reference: drive_bytes is negative")
	}
	for _, name := range r.TableNames() {
		if _, err := r.phases(name); err != nil {
			return nil, fmt.Errorf("read reference: table %s: %w", name, err)
		}
	}
	return r, nil
}

// phases are the rows of a table as phases, with the shared options of fio.
func (r *Reference) phases(table string) ([]job.Phase, error) {
	var all []job.Phase
	for i := range r.Tables[table] {
		row := &r.Tables[table][i]
		for _, v := range []*float64{row.IOPS, row.BWMiB} {
			if v != nil && !(*v > 0 && *v < 1e12) {
				return nil, fmt.Errorf("row %d: %g is no rate", i+1, *v)
			}
		}
		if t := row.FromCelsius; t != nil && !(*t > -273 && *t < 1000) {
			return nil, fmt.Errorf("row %d: %g is no temperature", i+1, *t)
		}
		// time_based, because a table of rates says nothing of a size.
		args := append(strings.Fields(r.Fio), "--time_based", "--rw="+row.Mode, "--bs="+row.BS)
		f, err := job.ParseArgs(job.Options{}, args)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		if len(f.Jobs) != 1 {
			return nil, fmt.Errorf("row %d: the options make %d jobs", i+1, len(f.Jobs))
		}
		p, err := job.ToPhase(f.Jobs[0])
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		p.Name = row.Mode + "-" + row.BS
		p.Engine = string(f.Jobs[0].IOEngine)
		if slices.ContainsFunc(all, func(o job.Phase) bool { return o.Name == p.Name }) {
			return nil, fmt.Errorf("row %d: %s is there twice", i+1, p.Name)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, errors.New("it has no rows")
	}
	return all, nil
}

// Record turns a table into a record. Each row is a phase with one pass, whose
// rates are in Published.
func (r *Reference) Record(name, table string) (*record.Record, error) {
	phases, err := r.phases(table)
	if err != nil {
		return nil, fmt.Errorf("read reference %s, table %s: %w", name, table, err)
	}
	rec := &record.Record{
		SchemaVersion: record.SchemaVersion,
		Tool:          record.Tool{Name: "published"},
		ID:            Prefix + name + "/" + table,
		Complete:      true,
		Places:        []record.Place{{Name: record.PlaceImported}},
		Import: &record.Import{Format: record.FormatPublished, Files: []string{name + ".json"},
			Publication: &record.Publication{Title: r.Title, Note: r.Note, Table: table, Statistic: r.Statistic}},
	}
	rec.Plan.Preset, rec.Plan.Places, rec.Plan.Phases = record.FormatPublished, []string{record.PlaceImported}, phases
	if r.DriveModel != "" {
		rec.Target.Drives = []record.Drive{{Model: new(r.DriveModel), SizeBytes: r.DriveBytes}}
	}
	pub := rec.Import.Publication
	for _, part := range []struct {
		name  string
		facts map[string]any
	}{{"system", r.System}, {"container", r.Container}} {
		// The container's are no facts of a table without one.
		if part.name == "container" && !strings.HasPrefix(table, record.PlaceLXC) {
			continue
		}
		var keys []string
		for k := range part.facts {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			pub.Facts = append(pub.Facts, record.Option{Name: part.name + " " + k, Value: fmt.Sprint(part.facts[k])})
		}
	}
	for o := range strings.FieldsSeq(r.Fio) {
		n, v, _ := strings.Cut(strings.TrimLeft(o, "-"), "=")
		rec.Import.Global = append(rec.Import.Global, record.Option{Name: n, Value: v})
	}
	for i := range phases {
		row := &r.Tables[table][i]
		p := record.Pass{Phase: phases[i].Name, Place: record.PlaceImported, Index: i, Published: &record.Published{IOPS: row.IOPS}}
		if row.BWMiB != nil {
			p.Published.BytesPerSec = new(*row.BWMiB * (1 << 20))
		}
		if row.FromCelsius != nil {
			p.Published.FromMC = new(int64(math.Round(*row.FromCelsius * 1000)))
		}
		rec.Rounds = append(rec.Rounds, record.Round{Phase: p.Phase, Passes: []record.Pass{p}})
		rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: p.Phase, Place: p.Place, RuntimeNS: phases[i].RuntimeNS})
	}
	return rec, nil
}

// Open returns the record of a table that is in the program, by "NAME/TABLE",
// with or without Prefix.
func Open(name string) (*record.Record, error) {
	name = strings.TrimPrefix(name, Prefix)
	file, table, _ := strings.Cut(name, "/")
	b, ok := references.File(file)
	if !ok {
		return nil, fmt.Errorf("there is no reference %q; there is: %s", file, strings.Join(references.Names(), ", "))
	}
	r, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if _, ok := r.Tables[table]; !ok {
		return nil, fmt.Errorf("reference %s has no table %q; name one of: %s", file, table, Prefix+file+"/"+strings.Join(r.TableNames(), ", "+Prefix+file+"/"))
	}
	return r.Record(file, table)
}

// For returns the tables, as records, of all references about a drive of this
// model.
func For(model string) []*record.Record {
	var all []*record.Record
	for _, name := range references.Names() {
		b, _ := references.File(name)
		r, err := Parse(b)
		// A test reads all that are in the program.
		if err != nil || r.DriveModel == "" || !strings.EqualFold(strings.TrimSpace(model), r.DriveModel) {
			continue
		}
		for _, t := range r.TableNames() {
			if rec, err := r.Record(name, t); err == nil {
				all = append(all, rec)
			}
		}
	}
	return all
}
