package report

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nativ/drives"
	"nativ/internal/analysis"
	"nativ/internal/bench"
	"nativ/internal/host"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/sim"
)

// simulate runs a preset on a drive model of nativ's, with everything fixed.
func simulate(t *testing.T, name, preset string) *record.Record {
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

const bare = "samsung-9100-pro-2tb-bare"

// TestSimulatedGoldens are whole runs on drives that are known: one that
// throttles, and archetypes that have a small cache, no sensor, or lying ones.
func TestSimulatedGoldens(t *testing.T) {
	for _, c := range []struct {
		preset, model string
		markdown      bool
	}{
		{"quick", "samsung-9100-pro-2tb-large-heatsink", false},
		{"quick", "archetype-sata-no-sensor", false},
		{"article", bare, true},
		{"heat", bare, false},
		{"heat", "archetype-qlc-small-cache", false},
		{"heat", "archetype-binary-throttle-lying-sensors", false},
		{"fill", bare, false},
		{"fill", "archetype-qlc-small-cache", true},
	} {
		name := strings.TrimPrefix(c.model, "archetype-")
		t.Run(c.preset+" "+name, func(t *testing.T) {
			rec := simulate(t, c.model, c.preset)
			for _, lang := range Langs() {
				file := "sim-" + c.preset + "-" + name + "." + lang
				plain := text(t, rec, Options{Lang: lang})
				golden(t, file+".txt", plain)
				all := text(t, rec, Options{Lang: lang, Details: true})
				if c.model == bare || c.preset == "heat" {
					golden(t, strings.TrimSuffix(file, lang)+"details."+lang+".txt", all)
				}
				md := markdown(t, rec, Options{Lang: lang, Details: true})
				if c.markdown {
					golden(t, file+".md", md)
				}
				for i, line := range strings.Split(plain+all, "\n") {
					if n := utf8.RuneCountInString(line); n > Width {
						t.Errorf("%s line %d has %d columns: %s", lang, i+1, n, line)
					}
				}
				for _, bad := range []string{"%!", "NaN", "Inf", "\x00"} {
					if strings.Contains(plain+all+md, bad) {
						t.Errorf("%s: a report contains %q", lang, bad)
					}
				}
				var plan bytes.Buffer
				if err := Plan(&plan, rec, PlanOptions{Lang: lang}); err != nil {
					t.Fatal(err)
				}
				for form, got := range map[string]string{"text": plain, "details": all, "markdown": md, "plan": plan.String()} {
					if first, _, _ := strings.Cut(got, "\n"); !strings.Contains(first, "SIMULATED") {
						t.Errorf("%s %s begins with %q", lang, form, first)
					}
				}
			}
		})
	}
}

// TestArticleReadsLikeTheTest has what the reader's test had, cold and hot, and
// what it could not say.
func TestArticleReadsLikeTheTest(t *testing.T) {
	rec := simulate(t, bare, "article")
	res := analysis.Compute(rec)
	d := Build(rec, res, Options{Lang: "en"})
	var best, heat *Table
	for _, b := range d.Blocks {
		if table, ok := b.(Table); ok {
			switch head := table.Columns[0].Head; {
			case head == dropsEnglish.best:
				best = &table
			case strings.HasPrefix(head, dropsEnglish.heat):
				heat = &table
			}
		}
	}
	if best == nil || len(best.Columns) != 4 || len(best.Rows) != 4 {
		t.Fatalf("the table of best seconds is %+v", best)
	}
	if heat == nil || len(heat.Rows) != 4 {
		t.Fatalf("the table of heat is %+v", heat)
	}
	if !strings.HasSuffix(heat.Columns[0].Head, "LXC") {
		t.Errorf("the heat is of %q and not of the container", heat.Columns[0].Head)
	}
	for _, code := range []string{record.WarnOrder, record.WarnSinglePass, record.WarnSameOffsets, record.WarnRewritten, record.WarnThrottled, record.WarnOtherSensor} {
		if !slices.ContainsFunc(res.Warnings, func(w record.Warning) bool { return w.Code == code }) {
			t.Errorf("the weakness %s is not named", code)
		}
	}
	if !slices.Contains(res.Verdict.Reserves, analysis.ReserveHeat) {
		t.Error("the verdict does not say that heat is in the comparison")
	}
}
