// Attribution says how often the analysis names the right cause: it lets known
// things happen to simulated drives that are drawn at random, and compares.
//
//	go run ./test/attribution -out docs/attribution.md
//	go run ./test/attribution -only 'SLC cache' -v    # every draw that is wrong
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"nativ/internal/analysis"
)

func main() {
	seeds := flag.Int("seeds", 50, "draws of each scenario")
	first := flag.Uint64("first", 9001, "seed of the first draw; 1 to 1000 were looked at while the analysis was written")
	only := flag.String("only", "", "only scenarios whose name contains this")
	out := flag.String("out", "", "file to write; stdout without")
	verbose := flag.Bool("v", false, "say for each draw that is wrong what happened and what was said")
	flag.Parse()
	if err := report(*seeds, *first, *only, *out, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func report(seeds int, first uint64, only, out string, verbose bool) error {
	all, err := tryAll(seeds, first, only)
	if err != nil {
		return err
	}
	if verbose {
		for _, r := range all {
			for i, v := range r.verdicts {
				if !v.right || v.onset != nil && v.onset.off > 2 {
					fmt.Printf("%s, draw %d: %s\n%s\n", r.scenario.name, i, v.named, v.story)
				}
			}
		}
	}
	if out == "" {
		write(os.Stdout, all, seeds)
		return nil
	}
	var b bytes.Buffer
	write(&b, all, seeds)
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// A row is all draws of a scenario.
type row struct {
	scenario scenario
	verdicts []verdict
	hard     bool
}

// fewer is how many draws of the harder scenarios there are.
func fewer(seeds int) int { return (seeds*2 + 4) / 5 }

// tryAll tries every scenario whose name contains only with so many seeds,
// from the first on.
func tryAll(seeds int, first uint64, only string) ([]row, error) {
	var all []row
	add := func(scenarios []scenario, seeds int, hard bool) {
		for _, sc := range scenarios {
			if strings.Contains(sc.name, only) {
				all = append(all, row{sc, make([]verdict, seeds), hard})
			}
		}
	}
	add(basic(), seeds, false)
	add(hard(), fewer(seeds), true)
	type work struct{ row, seed int }
	queue := make(chan work)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for w := range queue {
				mu.Lock()
				stop := failed != nil
				mu.Unlock()
				if stop {
					continue
				}
				v, err := try(&all[w.row].scenario, first+uint64(w.seed))
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				all[w.row].verdicts[w.seed] = v
				mu.Unlock()
			}
		})
	}
	for i := range all {
		for s := range all[i].verdicts {
			queue <- work{i, s}
		}
	}
	close(queue)
	wg.Wait()
	return all, failed
}

// A score is what the targets are about.
type score struct {
	single, singleRight     int // draws with one cause
	hard, hardRight, wrong  int // of the harder ones; wrong is a false name
	cold, falsely           int // draws without heat, and those where it was named
	flatPasses, flatDropped int
	onsets, near, middle    int // onset temperatures; within 2 °C of the interval, of its middle
	worst, width            float64
}

func sum(all []row) score {
	var s score
	for _, r := range all {
		for _, v := range r.verdicts {
			if r.hard {
				s.hard++
				if v.right {
					s.hardRight++
				}
				if v.wrong {
					s.wrong++
				}
			} else if len(r.scenario.causes) == 1 {
				s.single++
				if v.right {
					s.singleRight++
				}
			}
			if !r.scenario.hot() {
				s.cold++
				if v.heatWithout {
					s.falsely++
				}
			}
			if r.scenario.name == "flat" {
				s.flatPasses += v.passes
				s.flatDropped += v.dropped
			}
			if o := v.onset; o != nil {
				s.onsets++
				s.worst, s.width = max(s.worst, o.off), s.width+o.width
				if o.off <= 2 {
					s.near++
				}
				if o.middle <= 2 {
					s.middle++
				}
			}
		}
	}
	return s
}

func share(a, b int) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(a)/float64(b))
}

// write writes the report.
func write(w io.Writer, all []row, seeds int) {
	s := sum(all)
	fmt.Fprint(w, intro)
	fmt.Fprintf(w, "%d scenarios, %d draws of each; of the harder ones %d. These are what is easily taken for something else,\nhosts that show less, and noise that is worse.\n\n", len(all), seeds, fewer(seeds))
	fmt.Fprint(w, "| what is asked | target | here |\n|---|---|---|\n")
	fmt.Fprintf(w, "| single causes named, and nothing false beside them | at least 95 %% | %s of %d |\n", share(s.singleRight, s.single), s.single)
	fmt.Fprintf(w, "| harder scenarios: right; the rest is mostly *unknown* | | %s of %d |\n", share(s.hardRight, s.hard), s.hard)
	fmt.Fprintf(w, "| harder scenarios: a cause named that did not act | never | %s |\n", share(s.wrong, s.hard))
	fmt.Fprintf(w, "| heat named where the drive did not throttle | never | %d of %d |\n", s.falsely, s.cold)
	fmt.Fprintf(w, "| passes of flat noise, AR(1) 0.7, with a drop | at most 2 %% | %s of %d |\n", share(s.flatDropped, s.flatPasses), s.flatPasses)
	fmt.Fprintf(w, "| temperature at the onset of throttling within 2 °C of the interval | all | %s of %d, at worst %.1f °C off |\n", share(s.near, s.onsets), s.onsets, s.worst)
	fmt.Fprintf(w, "| the same, of its middle; the interval is %.1f °C wide in the mean | | %s |\n\n", s.width/float64(max(s.onsets, 1)), share(s.middle, s.onsets))

	order := []string{"none"}
	for _, k := range analysis.CauseKinds() {
		order = append(order, string(k))
	}
	order = append(order, "both")
	columns := slices.DeleteFunc(order, func(c string) bool {
		return !slices.ContainsFunc(all, func(r row) bool {
			return slices.ContainsFunc(r.verdicts, func(v verdict) bool { return v.named == c })
		})
	})
	fmt.Fprint(w, "Rows are what happened, columns what was named; the last column is how many draws were right.\n\n| |")
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c)
	}
	fmt.Fprint(w, " right |\n|---|", strings.Repeat("--:|", len(columns)+1), "\n")
	for i, r := range all {
		if i > 0 && r.hard && !all[i-1].hard {
			fmt.Fprint(w, "| **Harder** |", strings.Repeat(" |", len(columns)+1), "\n")
		}
		fmt.Fprintf(w, "| %s |", r.scenario.name)
		right := 0
		count := map[string]int{}
		for _, v := range r.verdicts {
			count[v.named]++
			if v.right {
				right++
			}
		}
		for _, c := range columns {
			if count[c] == 0 {
				fmt.Fprint(w, " |")
			} else {
				fmt.Fprintf(w, " %d |", count[c])
			}
		}
		fmt.Fprintf(w, " %s |\n", share(right, len(r.verdicts)))
	}
	fmt.Fprint(w, outro)
}

const intro = `# How often the cause is right

Written by ` + "`make analysis-report`" + `; do not edit. Nothing here was measured: known things happen to simulated drives
(` + "`internal/sim`" + `) that go through the real orchestration of ` + "`nativ bench`" + `. The analysis sees only the record, and what it says is
compared with what really happened. Every drive is drawn anew from wide ranges: link, speeds, power, heat network, ways to
throttle, sensors with offsets, lags and lies, caches, noise. The same seeds give the same drives; these are others than those
that were looked at while the analysis was written.

`

const outro = `
A cause counts as named where it is at least "strong". *unknown* is an answer: something fell, and what could be read does not tell
why; it is right only for what nobody could see. A draw is right where the drop that the cause made has this cause, and no other
cause that did not act is named anywhere in the run. *none* and a cause in the row of another are mistakes.

What the figures do not say: how real drives differ from the simulated ones. The rest of the wrong draws is mostly this:

- **Heat without a second sign is *unknown*.** That a hot drive fell once, even at a threshold, is what anything else would do there as
  often as the drive is there. Something must show that speed and temperature have to do with each other: a temperature that is
  held from then on, a sawtooth, another fall at the same temperature after another time, the speed back when it is cooler. Short passes
  and passes that begin hot have the least of these.
- **A cache in one fall of one pass is *unknown*,** with the cache as a candidate and the test that decides: a second pass or a pause shows
  that it counts bytes or keeps its state.
- **A fall that is slow and small** is found late, so that it counts as not found.
- **Heat and a cache together.** Two falls, of which the first often has no second sign; both must be named for a draw to be right.
`
