// Method says how often the verdicts are right: it draws runs of the presets from
// worlds with noise, drifts and warming up, judges them, and compares.
//
//	go run ./test/method -out docs/method.md
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"nativ/internal/job"
)

//go:embed method.md
var page string

func main() {
	runs := flag.Int("runs", 2000, "runs of each row; a quarter where no target is set")
	seed := flag.Uint64("seed", 1, "seed of the first row")
	out := flag.String("out", "", "file to write; stdout without")
	flag.Parse()
	text, err := report(*runs, *seed)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, []byte(text), 0o644)
	} else if err == nil {
		_, err = os.Stdout.WriteString(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// report puts the tables into the page, each where its name stands on a line of
// its own.
func report(runs int, seed uint64) (string, error) {
	few := max(runs/4, 1) // of the tables that no target is about
	standard, thorough := preset(job.Standard()), preset(job.Thorough())
	text := page
	for _, t := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"WORLDS", func(b *bytes.Buffer) error { return worldTable(b, standard, 0.03, 0.007, runs, seed) }},
		{"NOISY", func(b *bytes.Buffer) error { return worldTable(b, thorough, 0.06, 0.015, few, seed) }},
		{"SPLIT", func(b *bytes.Buffer) error { return splitTable(b, standard, few, seed) }},
		{"LAYOUTS", func(b *bytes.Buffer) error { return layoutTable(b, standard, thorough, few, seed) }},
	} {
		var b bytes.Buffer
		if err := t.write(&b); err != nil {
			return "", err
		}
		text = strings.Replace(text, "\n{{"+t.name+"}}\n", "\n"+b.String(), 1)
	}
	n, pass := shape(standard)
	text = strings.NewReplacer("{{RUNS}}", fmt.Sprint(runs), "{{FEW}}", fmt.Sprint(few), "{{ROUNDS}}", fmt.Sprint(n), "{{PASS}}", fmt.Sprint(int(pass.Seconds())),
		"{{DROPPED}}", fmt.Sprint(int(standard.dropped().Seconds()))).Replace(text)
	return text, nil
}

// shape is how many rounds a layout has of each phase, and how long its passes
// are.
func shape(l *layout) (rounds int, pass time.Duration) {
	steps, err := l.steps(1)
	if err != nil || len(steps) == 0 {
		return 0, l.pass
	}
	for _, s := range steps {
		if s.Phase == steps[0].Phase {
			rounds = max(rounds, s.Round+1)
		}
	}
	return rounds, l.pass
}

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// each is a number for each part of a loss.
func each(n, of [3]int) string {
	s := make([]string, len(parts))
	for i := range parts {
		s[i] = percent(n[i], of[i])
	}
	return strings.Join(s, " · ")
}

func of(runs int) [3]int { return [3]int{runs, runs, runs} }

func worldTable(b *bytes.Buffer, l *layout, cv, run float64, runs int, seed uint64) error {
	fmt.Fprint(b, "| what acts beside the noise | a run names a difference that is not there | 95 % interval holds the truth | true zero called equivalent | true −3 % in one phase found (total) | … in all phases |\n|---|---|---|---|---|---|\n")
	for i, w := range worlds(cv, run) {
		zero, err := w.try(l, runs, seed+uint64(i), never)
		if err != nil {
			return err
		}
		one, err := w.try(l, runs, seed+100+uint64(i), inFirst(0.97))
		if err != nil {
			return err
		}
		every, err := w.try(l, runs, seed+200+uint64(i), everywhere(0.97))
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", w.name, each(zero.anyDifferent, of(runs)), each(zero.covered, zero.phases),
			percent(zero.equivalent[0], zero.phases[0]), percent(one.firstDifferent[0], runs), percent(every.different[0], every.phases[0]))
	}
	return nil
}

// splitTable is about the parts of a loss in percent of the host.
func splitTable(b *bytes.Buffer, l *layout, runs int, seed uint64) error {
	fmt.Fprint(b, "| true CPU limit | true container | 95 % interval holds the truth: total · CPU limit · container | found |\n|--:|--:|---|---|\n")
	w := worlds(0.03, 0.007)
	for i, c := range [][2]float64{{1, 0.97}, {0.9, 1}, {0.9, 0.97}, {0.5, 0.9}, {0.2, 0.5}} {
		t, err := w[len(w)-1].try(l, runs, seed+300+uint64(i), split(c[0], c[1]))
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %.1f %% | %.1f %% | %s | %s |\n", 100*(c[0]-1), 100*c[0]*(c[1]-1), each(t.covered, t.phases), each(t.different, t.phases))
	}
	return nil
}

// layoutTable says why the presets have so many rounds and such passes.
func layoutTable(b *bytes.Buffer, standard, thorough *layout, runs int, seed uint64) error {
	fmt.Fprint(b, "| rounds × pass | time of five phases | −3 % in one phase, CV 3 % / SD 0.7 %: total · container | the same, CV 6 % / SD 1.5 % | zero called equivalent, CV 3 % · CV 6 % |\n|---|--:|---|---|---|\n")
	for i, l := range []*layout{ends(6, 25*time.Second), ends(8, 25*time.Second), ends(8, 60*time.Second), ends(10, 20*time.Second), standard, thorough} {
		name, n := l.name, 0
		n, pass := shape(l)
		if name != "" {
			name = " (`" + name + "`)"
		}
		var found, equal [2]string
		for j, noise := range [][2]float64{{0.03, 0.007}, {0.06, 0.015}} {
			w := worlds(noise[0], noise[1])[0]
			t, err := w.try(l, runs, seed+400+uint64(10*i+j), inFirst(0.97))
			if err != nil {
				return err
			}
			found[j] = percent(t.firstDifferent[0], runs) + " · " + percent(t.firstDifferent[2], runs)
			// The other phases are without an effect in all places.
			equal[j] = percent(t.equivalent[1], t.phases[1])
		}
		total := time.Duration(n*6*phases) * (pass + gap)
		fmt.Fprintf(b, "| %d × %d s%s | %.1f h | %s | %s | %s · %s |\n", n, int(pass.Seconds()), name, total.Hours(), found[0], found[1], equal[0], equal[1])
	}
	return nil
}
