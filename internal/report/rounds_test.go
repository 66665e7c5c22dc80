package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// inRounds makes the record of so many rounds whose passes have so many latencies.
// speed is the logarithm of what a
// pass comes to beside 100,000 I/Os a second.
func inRounds(places []string, rounds int, lats int64, phases []string, speed func(phase, place string, round, pos int) float64) *record.Record {
	rec := healthy()
	rec.Notes, rec.Warnings = nil, nil
	rec.Plan.Preset, rec.Plan.Places, rec.Plan.Steps, rec.Rounds = "standard", places, nil, nil
	rec.Plan.Design = &record.Design{Rounds: rounds, SpareRounds: 2, GapNS: 2e9, Confidence: 0.95, Correction: record.CorrectionHolm,
		Margins: map[string]float64{record.MetricThroughput: 0.03, record.MetricP50: 0.05, record.MetricP99: 0.1}}
	rec.Plan.Phases = slices.DeleteFunc(rec.Plan.Phases, func(p job.Phase) bool { return !slices.Contains(phases, p.Name) })
	const elapsed = int64(25e9)
	at := rec.Started
	for _, ph := range rec.Plan.Phases {
		for round := range rounds {
			order := slices.Clone(places)
			if round%2 == 1 {
				slices.Reverse(order)
			}
			back := slices.Clone(order)
			slices.Reverse(back)
			r := record.Round{Phase: ph.Name}
			for pos, place := range append(order, back...) {
				rate := 1e5 * math.Exp(speed(ph.Name, place, round, pos))
				f := &record.Flow{IOs: int64(rate * 25), Bytes: int64(rate*25) * ph.BlockSize, Lat: new(record.Histogram)}
				for i := range lats {
					f.Lat.Add(int64(float64(200_000+100*i) * 1e5 / rate))
				}
				o := &record.Outcome{StartNS: 1, EndNS: 1 + elapsed, Stopped: record.StopTime}
				if ph.Mode.Writes() {
					o.Write = f
				} else {
					o.Read = f
				}
				if ph.FDataSync > 0 {
					o.Sync = f
				}
				index := len(rec.Plan.Steps)
				rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: ph.Name, Place: place, Round: round, RuntimeNS: elapsed})
				r.Passes = append(r.Passes, record.Pass{Phase: ph.Name, Place: place, Index: index, StartedAt: at, Outcome: o})
				at = at.Add(27 * time.Second)
			}
			rec.Rounds = append(rec.Rounds, r)
		}
	}
	rec.Ended = at
	return rec
}

// verdictRun has one of each judgement: random reads lose to both, random writes
// are equivalent, sequential reads differ by next to nothing, and writes scatter.
func verdictRun() *record.Record {
	r := rand.New(rand.NewPCG(1, 2))
	rec := inRounds([]string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}, 8, 2000,
		[]string{job.RandRead4K, job.RandWrite4K, job.Read128K, job.Write128K}, func(phase, place string, _, _ int) float64 {
			away := map[string]float64{record.PlacePinned: -0.11, record.PlaceLXC: -0.14}[place]
			switch phase {
			case job.RandRead4K:
				return away + 0.008*r.NormFloat64()
			case job.RandWrite4K:
				return 0.008 * r.NormFloat64()
			case job.Read128K:
				return away/10 + 0.001*r.NormFloat64()
			}
			return 0.06 * r.NormFloat64()
		})
	rec.Rounds[1].Passes[2].Failed = &record.Failure{Code: record.FailWorker} // a void round
	return rec
}

func TestRoundsGolden(t *testing.T) {
	for _, lang := range Langs() {
		golden(t, "rounds."+lang+".txt", text(t, verdictRun(), Options{Lang: lang}))
		golden(t, "rounds.details."+lang+".txt", text(t, verdictRun(), Options{Lang: lang, Details: true}))
		golden(t, "rounds."+lang+".md", markdown(t, verdictRun(), Options{Lang: lang}))
	}
}

func TestHostAgainstItself(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rec := inRounds([]string{record.PlaceHost, record.PlaceHost + "#2"}, 8, 2000, []string{job.RandRead4K, job.RandWrite4K},
		func(string, string, int, int) float64 { return 0.01 * r.NormFloat64() })
	for _, lang := range Langs() {
		golden(t, "rounds.self."+lang+".txt", text(t, rec, Options{Lang: lang}))
	}
}

var signedNumber = regexp.MustCompile(`[-−+]?\d+[.,]\d`)

var interval = regexp.MustCompile(`\[[^]]*\]`)

// Whatever the places came to, the sentence says of each test what the table and
// the analysis say of it, with the same numbers.
func TestSentencesAgreeWithTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rounds := 2 * rapid.IntRange(2, 6).Draw(t, "rounds")
		phases := rapid.SampledFrom([][]string{{job.RandRead4K}, {job.RandRead4K, job.RandWrite4K}, {job.RandRead4K, job.RandWrite4K, job.Read128K, job.Write128K, job.SyncWrite4K}}).Draw(t, "phases")
		places := rapid.SampledFrom([][]string{{record.PlaceHost, record.PlacePinned, record.PlaceLXC}, {record.PlaceHost, record.PlaceLXC},
			{record.PlaceHost, record.PlacePinned}, {record.PlaceHost, record.PlaceHost + "#2"}}).Draw(t, "places")
		noise := map[string]float64{}
		away := map[[2]string]float64{}
		for _, ph := range phases {
			noise[ph] = rapid.SampledFrom([]float64{0, 0.0005, 0.004, 0.01, 0.05}).Draw(t, "noise")
			for _, place := range places {
				away[[2]string{ph, place}] = rapid.SampledFrom([]float64{0, 0, 0.002, -0.01, -0.031, -0.2, 0.1, -2}).Draw(t, "effect")
			}
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		rec := inRounds(places, rounds, 0, phases, func(ph, place string, _, _ int) float64 {
			return away[[2]string{ph, place}] + noise[ph]*rng.NormFloat64()
		})
		if rapid.Bool().Draw(t, "fail") {
			rec.Rounds[0].Passes[1].Failed = &record.Failure{Code: record.FailWorker}
		}
		res := analysis.Compute(rec)
		for _, lang := range Langs() {
			s := newSpeaker(lang, rec)
			b := &builder{notes: newNotes(s, rec, res.Warnings), res: &res}
			blocks := b.roundsLoss()
			if len(blocks) == 0 {
				t.Fatal("no table")
			}
			table := blocks[0].(Table)
			sentence := b.roundsFinding()
			said := plain(sentence)
			shown := map[string]bool{}
			for _, r := range table.Rows {
				for _, c := range r.Cells[1:] {
					for _, n := range signedNumber.FindAllString(c.Text, -1) {
						shown[n] = true
					}
				}
			}
			for _, n := range signedNumber.FindAllString(said, -1) {
				if !shown[n] {
					t.Fatalf("%s: %s is said and not in the table:\n%s\n%+v", lang, n, said, table)
				}
			}
			first := b.differences()[0]
			clauses := strings.Split(strings.SplitAfter(interval.ReplaceAllString(said, "[]"), ". ")[0], "; ")
			for i := range res.Phases {
				ph := &res.Phases[i]
				p := first.of(ph)
				if p == nil {
					t.Fatalf("no part of %s", ph.Job.Name)
				}
				// The clause that names the test begins with its judgement.
				in := plain(b.inPhaseName(&ph.Job))
				var named []string
				for _, c := range clauses {
					if strings.Contains(c, in) {
						named = append(named, c)
					}
				}
				if len(named) != 1 {
					t.Fatalf("%s: %d clauses name %q: %s", lang, len(named), in, said)
				}
				begin := map[analysis.Judgement]string{
					analysis.JudgeDifferent: s.rounds.different, analysis.JudgeNegligible: s.rounds.negligible,
					analysis.JudgeEquivalent: fmt.Sprintf(s.rounds.equivalent, b.margin(analysis.MetricThroughput), "%s"), analysis.JudgeInconclusive: s.rounds.open,
				}[p.Judged.Judgement]
				if begin = plain(strings.TrimSuffix(strings.TrimSpace(begin), "%s")); begin == "" || !strings.Contains(named[0], begin) {
					t.Fatalf("%s: %s is %s, and the sentence says %q", lang, ph.Job.Name, p.Judged.Judgement, named[0])
				}
				if p.Low == nil || *p.Low > *p.High {
					t.Fatalf("%s has no interval: %+v", ph.Job.Name, p)
				}
				// What is named a difference has one sign throughout.
				if p.Judged.Different() && *p.Low < 0 && *p.High > 0 {
					t.Fatalf("%s: %+v is different and may be none", ph.Job.Name, p)
				}
				// The table's sign follows from the judgement, too.
				want := map[analysis.Judgement]string{analysis.JudgeDifferent: "", analysis.JudgeNegligible: "≈", analysis.JudgeEquivalent: "≈", analysis.JudgeInconclusive: "~"}[p.Judged.Judgement]
				if got := sign(p); got != want {
					t.Fatalf("%s is %s and marked %q", ph.Job.Name, p.Judged.Judgement, got)
				}
				if l := &ph.Loss; l.Total != nil && l.CPUs != nil && l.Container != nil && l.Total.Tenths != l.CPUs.Tenths+l.Container.Tenths {
					t.Fatalf("%s: the parts do not add up: %+v", ph.Job.Name, l)
				}
			}
		}
	})
}
