package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"nativ/drives"
	"nativ/internal/analysis"
	"nativ/internal/bench"
	"nativ/internal/host"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sim"
)

// simulatedID marks the ID of a simulation, and so the names of its files.
const simulatedID = "-simulated"

// runSimulation is nativ bench --simulate: the same plan, orchestration,
// analysis and report as of a real run, with a drive model in its place. Nothing
// is asked, because nothing is touched: no lock, no journal, no test file.
func (s *session) runSimulation(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.checkSimulation, s.checkFlags, s.loadModel, s.makePlan, s.showSimulation, s.simulate,
	} {
		if err := step(ctx); err != nil {
			return markSimulated(err)
		}
	}
	return nil
}

// markSimulated says of an error that it is none of this machine.
func markSimulated(err error) error {
	var x *exitError
	if !errors.As(err, &x) {
		x = classify(err)
	}
	if x.err == nil || x.err.Error() == "" {
		return err
	}
	marked := *x
	marked.err = fmt.Errorf("SIMULATED: %w", x.err)
	return &marked
}

// checkSimulation refuses flags that say something about a real machine.
func (s *session) checkSimulation(context.Context) error {
	switch {
	case s.f.simulate == "":
		return exit(exitUsage, "--simulate names no drive model").next("%s", modelsHint())
	case s.f.dir != "":
		return exit(exitUsage, "--simulate and --dir: a simulation measures no directory")
	case s.f.engine != "own":
		return exit(exitUsage, "--simulate and --engine %s: in a simulation no engine does I/O", s.f.engine)
	}
	return nil
}

// loadModel reads the drive model and sets up the record of its machine.
func (s *session) loadModel(context.Context) error {
	path := s.f.simulate
	b, file, err := readModel(path)
	if err != nil {
		return err
	}
	if s.model, err = sim.Parse(b); err != nil {
		return exit(exitUsage, "--simulate %s: %w", path, err)
	}
	now := time.Now()
	id, err := newRunID(now)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(b)
	s.rec = &record.Record{SchemaVersion: record.SchemaVersion, ID: id + simulatedID}
	sim.New(s.model, 0).Into(s.rec, record.Simulation{
		Notice: record.SimulatedNotice, Model: s.model.Name, File: file, Hash: hex.EncodeToString(hash[:]),
	})
	set, err := host.ChooseCPUs(s.rec.Host.CPUs, s.f.cpus)
	if err != nil {
		return exit(exitUsage, "--cpus: %w", err)
	}
	s.rec.Plan.CPUSet = set
	s.dropPinned()
	return nil
}

// readModel reads the file of a drive model, or one of those that come with
// nativ where there is no such file, and says how the file is called.
func readModel(path string) (b []byte, file string, err error) {
	if b, err = readRegular(path, maxText); err == nil {
		return b, filepath.Base(path), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", exit(exitUsage, "--simulate: %w", err)
	}
	if b, file, ok := drives.Model(path); ok {
		return b, file, nil
	}
	x := exit(exitUsage, "--simulate: there is no file and no drive model %q", path)
	if near := nearestModel(path); near != "" {
		return nil, "", x.next("Did you mean %s? %s", near, modelsHint())
	}
	return nil, "", x.next("%s", modelsHint())
}

func modelsHint() string {
	return "Write a model as docs/drive-models.md says, or name one of those that nativ has:\n    " + strings.Join(drives.Models(), "\n    ")
}

// nearestModel is the model of nativ whose name is most like the given one, ""
// where none is.
func nearestModel(name string) (near string) {
	name = strings.ToLower(strings.TrimSuffix(name, ".json"))
	least := max(len(name)/3, 2) + 1 // as many letters may be wrong, less one
	for _, m := range drives.Models() {
		if len(name) >= 3 && strings.Contains(m, name) {
			return m
		}
		if d := editDistance(name, m); d < least {
			near, least = m, d
		}
	}
	return near
}

// editDistance counts the bytes to put in, take out or change to make a of b
// (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// showSimulation finds where the record will go, which makes the directory, and
// shows the plan.
func (s *session) showSimulation(context.Context) (err error) {
	if s.state, err = writableState(s.e); err != nil {
		return err
	}
	o := report.PlanOptions{Lang: s.lang, OwnCeiling: s.ownCeiling}
	sample := sim.New(s.model, 0).Watch(record.PlaceHost).Sample()
	if _, mc, ok := sample.Temperature(); ok {
		o.TemperatureMC = &mc
	}
	return report.Plan(s.e.stderr, s.rec, o)
}

// simulate carries the plan out in virtual time, saves the record and prints the
// report.
func (s *session) simulate(ctx context.Context) error {
	machine := sim.New(s.model, s.rec.Plan.Seed)
	machine.StartAt(time.Now())
	view := newLive(s.e.stderr, s.e.stderrTTY, s.lang, s.rec)
	run := &bench.Run{
		Record: s.rec, Emit: view.emit, Now: machine.Now, Sleep: machine.Sleep,
		Watch: func(p bench.Place) bench.Watcher { return machine.Watch(p.Name()) },
		Undo:  func(context.Context) []string { return nil },
	}
	for _, p := range machine.Places(&s.rec.Plan) {
		run.Places = append(run.Places, p)
	}
	err := run.Do(ctx)
	view.close()
	if err != nil {
		return fmt.Errorf("simulate %s: %w", s.f.simulate, err)
	}
	machine.Into(s.rec, *s.rec.Simulated)
	s.rec.Warnings = analysis.Compute(s.rec).Warnings
	files, err := saveRecord(s.state, s.f.out, s.lang, s.rec)
	remember(ctx, s.e, s.state, s.rec, files)
	if perr := s.print(files); perr != nil {
		return perr
	}
	if verr := s.verdict(ctx); verr != nil {
		return verr
	}
	return err
}
