// Package simtest makes records of simulated runs for tests of what is made of
// records.
package simtest

import (
	"context"
	"testing"
	"time"

	"nativ/drives"
	"nativ/internal/bench"
	"nativ/internal/host"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sim"
)

// Run runs a preset on a drive model of nativ's through the real orchestration, with
// everything fixed: the same record each time.
func Run(t testing.TB, name, preset string) *record.Record {
	t.Helper()
	b, file, ok := drives.Model(name)
	if !ok {
		t.Fatalf("no drive model is called %s", name)
	}
	model, err := sim.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	p, err := bench.PresetByName(preset, func(*job.Job) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	const seed = 7
	at := time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)
	rec := &record.Record{
		SchemaVersion: record.SchemaVersion, ID: record.NewID(at, 0xab12) + "-simulated",
		Tool:  record.Tool{Name: "nativ", Version: "0.1.0", Go: "go1.26.0", Command: []string{"nativ", "bench", "--simulate", name, "--preset", preset}},
		Notes: map[string]string{"heatsink": "none", "ambient": "22.5"},
	}
	machine := sim.New(model, seed)
	machine.StartAt(at)
	about := record.Simulation{Notice: record.SimulatedNotice, Model: model.Name, File: file}
	machine.Into(rec, about)
	set, err := host.ChooseCPUs(rec.Host.CPUs, 0)
	if err != nil {
		t.Fatal(err)
	}
	places := p.Places
	if places == nil {
		places = []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}
	}
	if p.FileSize == 0 {
		p.FileSize = 300 << 30 // of fill, which else takes all the room there is
	}
	sample := machine.Watch(record.PlaceHost).Sample()
	_, _, temperature := sample.Temperature()
	rec.Plan, err = bench.NewPlan(bench.Wish{
		Preset: p, Dir: rec.Target.Dir, Places: places, CPUSet: set, Memory: new(int64(4 << 30)), Seed: seed,
		FileSize: p.FileSize, WantedSize: p.FileSize, NoTemperature: !temperature,
	})
	if err != nil {
		t.Fatal(err)
	}
	run := &bench.Run{
		Record: rec, Emit: func(bench.Event) {}, Now: machine.Now, Sleep: machine.Sleep,
		Watch: func(p bench.Place) bench.Watcher { return machine.Watch(p.Name()) },
		Undo:  func(context.Context) []string { return nil },
	}
	for _, p := range machine.Places(&rec.Plan) {
		run.Places = append(run.Places, p)
	}
	if err := run.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	machine.Into(rec, about)
	return rec
}
