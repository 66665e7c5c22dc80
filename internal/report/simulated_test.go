package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// Whatever is written of a simulation has the mark in its first line, in both
// languages; nothing of a real run has it.
func TestSimulationsAreMarked(t *testing.T) {
	for _, lang := range Langs() {
		for _, simulated := range []bool{true, false} {
			rec := healthy()
			if simulated {
				rec.Simulated = &record.Simulation{Notice: record.SimulatedNotice, Model: "a <model>", File: "m.json"}
			}
			imported := &record.Record{Import: &record.Import{}, Tool: record.Tool{Name: "nativ", Version: "1"}, Simulated: rec.Simulated}
			d := Build(rec, analysis.Compute(rec), Options{Lang: lang, Details: true})
			phase := rec.Plan.Phases[0]
			outputs := map[string]func(*bytes.Buffer) error{
				"text":     func(b *bytes.Buffer) error { return Text(b, d, Width) },
				"markdown": func(b *bytes.Buffer) error { return Markdown(b, d) },
				"plan":     func(b *bytes.Buffer) error { return Plan(b, rec, PlanOptions{Lang: lang}) },
				"json":     func(b *bytes.Buffer) error { return record.Encode(b, rec) },
				"imported": func(b *bytes.Buffer) error {
					return Text(b, Build(imported, analysis.Compute(imported), Options{Lang: lang}), Width)
				},
				"live": func(b *bytes.Buffer) error {
					b.WriteString(LiveLine(rec, Live{Phase: &phase, Place: record.PlaceHost, Pass: 1, Passes: 9, Left: time.Minute}, lang, 60))
					return nil
				},
				"narrow live": func(b *bytes.Buffer) error {
					b.WriteString(LiveLine(rec, Live{Phase: &phase, Place: record.PlaceHost, Pass: 1, Passes: 9, Left: time.Minute}, lang, 25))
					return nil
				},
			}
			for name, write := range outputs {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				first, rest, _ := strings.Cut(b.String(), "\n")
				if strings.Contains(first, "SIMULATED") != simulated || lang == "de" && name != "json" && strings.Contains(first, "SIMULIERT") != simulated {
					t.Errorf("%s, %s, simulated %t: the first line is %q", name, lang, simulated, first)
				}
				if name == "text" && simulated && !strings.Contains(rest, "a <model>") {
					t.Errorf("%s: the model is not named", lang)
				}
			}
		}
	}
}
