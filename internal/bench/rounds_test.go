package bench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nativ/internal/job"
	"nativ/internal/record"
)

// roundsOf groups the places of the planned rounds by phase, in order.
func roundsOf(p *record.Plan) map[string]map[int][]string {
	m := map[string]map[int][]string{}
	for _, s := range p.Steps {
		if s.Round == record.NoRound {
			continue
		}
		if m[s.Phase] == nil {
			m[s.Phase] = map[int][]string{}
		}
		m[s.Phase][s.Round] = append(m[s.Phase][s.Round], s.Place)
	}
	return m
}

// Whatever is asked for, the plan is balanced: each place as often at each
// position, with the same limits, and half of the rounds in each order.
func TestRoundsAreBalanced(t *testing.T) {
	kinds := [][]string{
		{"host"}, {"host", "host#2"}, {"host", "lxc"}, {"host", "pinned", "lxc"}, {"pinned", "lxc"}, {"host", "pinned"},
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]job.Preset{job.Quick(), job.Standard(), job.Thorough()}).Draw(t, "preset")
		n := 2 * rapid.IntRange(1, 20).Draw(t, "half the rounds")
		before := perPass(&Wish{Preset: p}, &p.Phases[0])
		if err := WithRounds(&p, n); err != nil {
			t.Fatal(err)
		}
		if after := perPass(&Wish{Preset: p}, &p.Phases[0]); after != before {
			t.Fatalf("with %d rounds a pass is %v and not %v long", n, after, before)
		}
		w := wish()
		w.Preset, w.Seed = p, rapid.Uint64().Draw(t, "seed")
		w.Places = rapid.SampledFrom(kinds).Draw(t, "places")
		if rapid.Bool().Draw(t, "runtime") {
			w.Runtime = time.Duration(rapid.IntRange(1, 100).Draw(t, "seconds")) * time.Second
		}
		plan, err := NewPlan(w)
		if err != nil {
			t.Fatal(err)
		}
		if w.Runtime > 0 && time.Duration(plan.Steps[len(plan.Steps)-1].RuntimeNS) != w.Runtime {
			t.Fatalf("a pass of %d ns, asked for was %v", plan.Steps[len(plan.Steps)-1].RuntimeNS, w.Runtime)
		}
		if d := plan.Design; d == nil || d.Rounds != n || d.SpareRounds != n/4 || d.GapNS <= 0 {
			t.Fatalf("design %+v of %d rounds", plan.Design, n)
		}
		all := roundsOf(&plan)
		if len(all) != len(plan.Phases) {
			t.Fatalf("%d phases have rounds, of %d", len(all), len(plan.Phases))
		}
		for phase, rounds := range all {
			if len(rounds) != n {
				t.Fatalf("%s has %d rounds, want %d", phase, len(rounds), n)
			}
			forth := 0
			at := make([]map[string]int, 2*len(w.Places))
			for r := range n {
				trip := rounds[r]
				back := slices.Clone(trip)
				slices.Reverse(back)
				if len(trip) != 2*len(w.Places) || !slices.Equal(trip, back) {
					t.Fatalf("round %d of %s is no palindrome: %v", r, phase, trip)
				}
				if trip[0] == w.Places[0] {
					forth++
				}
				for i, place := range trip {
					if at[i] == nil {
						at[i] = map[string]int{}
					}
					at[i][place]++
				}
			}
			if len(w.Places) > 1 && forth != n/2 {
				t.Fatalf("%d of %d rounds of %s start in %s", forth, n, phase, w.Places[0])
			}
			// With two orders a place is first or last as often as its mirror image.
			for i := range at {
				mirror := at[i][w.Places[0]] - at[i][w.Places[len(w.Places)-1]]
				if mirror != 0 {
					t.Fatalf("%s: position %d: %v", phase, i, at[i])
				}
			}
		}
		limits := map[string][2]int64{}
		seeds := map[uint64]bool{}
		for _, s := range plan.Steps {
			if seeds[s.Seed] {
				t.Fatalf("seed %d twice", s.Seed)
			}
			seeds[s.Seed] = true
			if s.Role != "" {
				continue
			}
			have := [2]int64{s.RuntimeNS, s.MaxBytes}
			if l, ok := limits[s.Phase]; ok && l != have {
				t.Fatalf("passes of %s have limits %v and %v", s.Phase, l, have)
			}
			limits[s.Phase] = have
		}
		if plan.EstimateNS[0] > plan.EstimateNS[1] || plan.MaxWritten < plan.FileSize {
			t.Fatalf("estimate %v, writes %d", plan.EstimateNS, plan.MaxWritten)
		}
	})
}

func TestRoundsRefused(t *testing.T) {
	for _, n := range []int{-2, 0, 1, 7} {
		p := job.Quick()
		if err := WithRounds(&p, n); err == nil {
			t.Errorf("%d rounds were accepted", n)
		}
	}
	p := job.Preset{Name: "heat", Order: job.OrderHeat, Passes: 1}
	if err := WithRounds(&p, 8); err == nil {
		t.Error("preset heat got rounds")
	}
}

// The seed is what decides the orders, and decides them for good.
func TestOrdersFollowTheSeed(t *testing.T) {
	w := wish()
	w.Preset = job.Standard()
	first := map[uint64]string{}
	for seed := range uint64(8) {
		w.Seed = seed
		a, err := NewPlan(w)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := NewPlan(w)
		if !slices.Equal(a.Steps, b.Steps) {
			t.Fatal("the same seed gave two plans")
		}
		first[seed] = fmt.Sprint(roundsOf(&a))
	}
	different := map[string]bool{}
	for _, o := range first {
		different[o] = true
	}
	if len(different) < 6 {
		t.Errorf("eight seeds gave %d orders", len(different))
	}
}

// smallRounds is a fixture of a run with two rounds of two phases.
func smallRounds(t *testing.T, places ...*fakePlace) *fixture {
	t.Helper()
	f := newFixture(t, places...)
	p := job.Quick()
	p.Phases = []job.Phase{p.Phases[0], p.Phases[1]} // random reads and random writes
	if err := WithRounds(&p, 4); err != nil {
		t.Fatal(err)
	}
	w := wish()
	w.Preset, w.FileSize, w.Places = p, fakeFile, f.run.Record.Plan.Places
	f.run.MakeFile = nil // which takes its time to fill
	var err error
	if f.run.Record.Plan, err = NewPlan(w); err != nil {
		t.Fatal(err)
	}
	return f
}

// What the fake places move in a second.
const fakeRate = 100 << 20

// writer answers passes that write with what they move in their time, up to their
// limit.
func writer(name string) *fakePlace {
	return &fakePlace{name: name, outcome: func(p job.Phase) *record.Outcome {
		flow := &record.Flow{Bytes: fakeRate * p.RuntimeNS / 1e9, Lat: &record.Histogram{}}
		o := &record.Outcome{StartNS: 1, EndNS: 1 + p.RuntimeNS}
		if !p.Mode.Writes() {
			o.Read = flow
			return o
		}
		if p.MaxBytes > 0 && flow.Bytes > p.MaxBytes {
			flow.Bytes = p.MaxBytes
			o.EndNS = 1 + p.MaxBytes*1e9/fakeRate
		}
		o.Write = flow
		return o
	}}
}

// Writes end by bytes, as many as the burn-in moved in the planned time, the same
// in every place; reads by time.
func TestWritesEndByBytes(t *testing.T) {
	f := smallRounds(t, writer("host"), writer("lxc"))
	if err := f.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	rec := f.run.Record
	sized := 0
	for _, r := range rec.Rounds {
		for _, p := range r.Passes {
			s := rec.Plan.Steps[p.Index]
			switch {
			case s.Role != "":
				if s.ByBytes {
					t.Errorf("a %s ends by bytes", s.Role)
				}
			case s.Phase == job.RandWrite4K:
				sized++
				want := int64(fakeRate*2.5) / 4096 * 4096
				if !s.ByBytes || s.MaxBytes != want || p.Outcome.Write.Bytes != want {
					t.Fatalf("step %d: %+v moved %d, want %d bytes", p.Index, s, p.Outcome.Write.Bytes, want)
				}
			case s.ByBytes:
				t.Errorf("step %d reads by bytes", p.Index)
			}
		}
	}
	if sized != 4*4 {
		t.Errorf("%d passes write, want 16", sized)
	}
	pilots := 0
	for _, e := range f.events {
		if e.Kind == EventPilot {
			pilots++
		}
	}
	if pilots != 1 {
		t.Errorf("the pilot ended %d times", pilots)
	}
}

// Between passes there is the same gap, however long a place takes to be ready.
func TestGapsAreEqual(t *testing.T) {
	clock := time.Unix(1e9, 0)
	slow := writer("lxc")
	slow.ready = func() { clock = clock.Add(1500 * time.Millisecond) }
	f := smallRounds(t, writer("host"), slow)
	f.run.Now = func() time.Time { return clock }
	f.run.Sleep = func(ctx context.Context, d time.Duration) error { clock = clock.Add(d); return ctx.Err() }
	var ended time.Time
	gaps := map[time.Duration]int{}
	f.run.Emit = func(e Event) {
		if e.Kind == EventPassEnd {
			ended = clock
		}
	}
	for _, p := range f.run.Places {
		p.(*fakePlace).started = func() {
			if !ended.IsZero() {
				gaps[clock.Sub(ended)]++
			}
		}
	}
	if err := f.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(gaps) != 1 || gaps[gap] != len(f.run.Record.Plan.Steps)-1 {
		t.Errorf("gaps: %v", gaps)
	}
}

// A void round is measured again in the same order, at most as often as the
// design says, and nothing is missing then.
func TestVoidRoundsAreReplaced(t *testing.T) {
	for _, tt := range []struct {
		name            string
		void            func(n int) string
		rounds, voided  int
		fail            int // host's pass that fails, -1 for none
		missing, events int
	}{
		{"none", func(int) string { return "" }, 8, 0, -1, 0, 0},
		{"one", func(n int) string { return map[int]string{2: "throttled"}[n] }, 9, 1, -1, 0, 1},
		{"all", func(int) string { return "throttled" }, 10, 10, -1, 0, 10},
		{"a failed pass", nil, 9, 1, 10, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := writer("host")
			if tt.fail >= 0 {
				host.run = func(n int, _ job.Phase) *record.Failure {
					if n == tt.fail {
						return &record.Failure{Code: record.FailWorker}
					}
					return nil
				}
			}
			f := smallRounds(t, host, writer("lxc"))
			seen := 0
			if tt.void != nil {
				f.run.Void = func(rec *record.Record, i int) string {
					seen++
					if n := len(rec.Rounds[i].Passes); n != 4 {
						t.Errorf("looked at a round of %d passes", n)
					}
					return tt.void(seen - 1)
				}
			}
			written := f.run.Record.Plan.MaxWritten
			if err := f.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			rec := f.run.Record
			rounds, voided := 0, 0
			good := map[string]int{}
			for i := range rec.Rounds {
				if rec.RoundOf(&rec.Rounds[i]) == record.NoRound {
					continue
				}
				if rounds++; rec.Rounds[i].Void != "" {
					voided++
				} else {
					good[rec.Rounds[i].Phase]++
				}
			}
			events := 0
			for _, e := range f.events {
				if e.Kind == EventVoid {
					events++
				}
			}
			if rounds != tt.rounds || voided != tt.voided || len(rec.Incomplete) != tt.missing || events != tt.events {
				t.Errorf("%d rounds, %d void, missing %v, %d events; want %+v", rounds, voided, rec.Incomplete, events, tt)
			}
			if voided < 3 && (good[job.RandRead4K] != 4 || good[job.RandWrite4K] != 4) {
				t.Errorf("good rounds: %v", good)
			}
			for _, r := range rec.Rounds {
				var places []string
				for _, p := range r.Passes {
					if s := rec.Plan.Steps[p.Index]; s.Phase != p.Phase || s.Place != p.Place || s.Seed != p.Seed {
						t.Errorf("pass %d is not that of its step", p.Index)
					}
					places = append(places, p.Place)
				}
				if back := slices.Clone(places); r.Passes[0].Role == "" {
					slices.Reverse(back)
					if !slices.Equal(back, places) {
						t.Errorf("a round ran as %v", places)
					}
				}
			}
			var sum int64
			for _, r := range rec.Rounds {
				for _, p := range r.Passes {
					if p.Outcome != nil && p.Outcome.Write != nil {
						sum += p.Outcome.Write.Bytes
					}
				}
			}
			if sum+rec.Plan.FileSize > written {
				t.Errorf("wrote %d bytes, agreed to were %d", sum+rec.Plan.FileSize, written)
			}
		})
	}
}

// A run that is killed at any step, or ended by a signal there, goes on from what
// was saved: every pass of before is kept as it was, and the plan gets done.
func TestResumeAfterEveryStep(t *testing.T) {
	for _, kill := range []bool{true, false} {
		// All positions in a round of four passes come up with either.
		for at := 0; ; at += map[bool]int{true: 1, false: 5}[kill] {
			var log bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			run := func(f *fixture, log *bytes.Buffer) {
				f.run.Save = func(p *record.Pass) {
					if err := record.AppendPart(log, f.run.Record, p); err != nil {
						t.Fatal(err)
					}
				}
			}
			host, lxc := writer("host"), writer("lxc")
			f := smallRounds(t, host, lxc)
			f.run.Record.SchemaVersion = record.SchemaVersion
			run(f, &log)
			saved := log.Bytes()
			passes := 0
			end := func(int, job.Phase) *record.Failure {
				if passes++; passes == at+1 {
					saved = slices.Clone(log.Bytes())
					cancel()
				}
				return nil
			}
			host.run, lxc.run = end, end
			if err := f.do(ctx); err != nil {
				t.Fatal(err)
			}
			cancel()
			if passes < at+1 {
				if at < len(f.run.Record.Plan.Steps) {
					t.Fatalf("ended at %d of %d steps", at, len(f.run.Record.Plan.Steps))
				}
				break
			}
			if !kill { // a signal: what was interrupted is in the record, too
				saved = log.Bytes()
			}
			rec, err := record.DecodeParts(bytes.NewReader(saved))
			if err != nil {
				t.Fatal(err)
			}
			kept := map[int]record.Pass{}
			for _, r := range rec.Rounds {
				for _, p := range r.Passes {
					if p.Failed == nil {
						kept[p.Index] = p
					}
				}
			}
			from, err := Continue(rec, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if len(kept) != from || from != at {
				t.Fatalf("killed in pass %d: %d kept, goes on from %d", at, len(kept), from)
			}
			g := smallRounds(t, writer("host"), writer("lxc"))
			g.run.Record, g.run.From = rec, from
			var more bytes.Buffer
			if err := record.WriteParts(&more, rec); err != nil {
				t.Fatal(err)
			}
			run(g, &more)
			if err := g.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			again, err := record.DecodeParts(bytes.NewReader(more.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			checkResumed(t, at, kill, kept, again)
			if !rec.Complete || len(rec.Resumed) != 1 || (rec.Resumed[0].Interrupted != nil) == kill {
				t.Errorf("killed in pass %d: complete %t, %v, resumed %+v", at, rec.Complete, rec.Incomplete, rec.Resumed)
			}
			if t.Failed() {
				return
			}
		}
	}
}

func checkResumed(t *testing.T, at int, kill bool, kept map[int]record.Pass, rec *record.Record) {
	t.Helper()
	good := map[string]int{}
	seen := map[int]bool{}
	seeds := map[uint64]bool{}
	for i := range rec.Rounds {
		r := &rec.Rounds[i]
		for _, p := range r.Passes {
			if seen[p.Index] || seeds[p.Seed] {
				t.Errorf("killed in pass %d: step %d or seed %d twice", at, p.Index, p.Seed)
			}
			seen[p.Index], seeds[p.Seed] = true, true
			if k, ok := kept[p.Index]; ok && (k.Seed != p.Seed || k.Place != p.Place || k.Phase != p.Phase || k.StartedAt.Unix() != p.StartedAt.Unix()) {
				t.Errorf("killed in pass %d: pass %d is another one", at, p.Index)
			}
		}
		if rec.RoundOf(r) != record.NoRound && r.Void == "" {
			good[r.Phase]++
			if len(r.Passes) != 4 {
				t.Errorf("killed in pass %d: a round of %d passes counts", at, len(r.Passes))
			}
		}
	}
	if good[job.RandRead4K] != 4 || good[job.RandWrite4K] != 4 {
		t.Errorf("killed in pass %d (by kill: %t): good rounds %v", at, kill, good)
	}
	if len(seen) != len(rec.Plan.Steps) {
		t.Errorf("killed in pass %d: %d passes of %d steps", at, len(seen), len(rec.Plan.Steps))
	}
}

func TestNotResumable(t *testing.T) {
	plan := record.Plan{Steps: []record.Step{{Phase: "a", Role: record.RoleLoad}}}
	for name, rec := range map[string]*record.Record{
		"complete":  {Complete: true, Plan: record.Plan{Steps: []record.Step{{}}}},
		"simulated": {Simulated: &record.Simulation{}, Plan: record.Plan{Steps: []record.Step{{}}}},
		"imported":  {Import: &record.Import{}, Plan: record.Plan{Steps: []record.Step{{}}}},
		"heat":      {Plan: plan},
		"plan-less": {},
		"nativ fio": {Jobs: &record.Jobs{}, Plan: record.Plan{Steps: []record.Step{{}}}},
	} {
		if _, err := Continue(rec, time.Now()); err == nil {
			t.Errorf("%s was resumed", name)
		}
	}
}

// A run that is killed again and again gets done, if a whole round fits between.
func TestResumeManyTimes(t *testing.T) {
	var log bytes.Buffer
	f := smallRounds(t, writer("host"), writer("lxc"))
	f.run.Record.SchemaVersion = record.SchemaVersion
	for n := 0; ; n++ {
		if n > 20 {
			t.Fatal("it does not end")
		}
		ctx, cancel := context.WithCancel(t.Context())
		passes := 0
		f.run.Save = func(p *record.Pass) {
			if passes > 7 {
				return // dead
			}
			if err := record.AppendPart(&log, f.run.Record, p); err != nil {
				t.Fatal(err)
			}
			if p != nil {
				if passes++; passes == 7 {
					passes++
					cancel()
				}
			}
		}
		if err := f.do(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		if f.run.Record.Complete {
			break
		}
		rec, err := record.DecodeParts(bytes.NewReader(log.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		f = smallRounds(t, writer("host"), writer("lxc"))
		if f.run.From, err = Continue(rec, time.Now()); err != nil {
			t.Fatal(err)
		}
		f.run.Record = rec
		log.Reset()
		if err := record.WriteParts(&log, rec); err != nil {
			t.Fatal(err)
		}
	}
	rec := f.run.Record
	if len(rec.Resumed) < 4 {
		t.Fatalf("it was resumed %d times", len(rec.Resumed))
	}
	checkResumed(t, -1, true, nil, rec)
	quotas := map[int64]bool{}
	for _, s := range rec.Plan.Steps {
		if s.Phase == job.RandWrite4K && s.Role == "" {
			quotas[s.MaxBytes] = true
		}
	}
	if len(quotas) != 1 {
		t.Errorf("passes write up to %v bytes", quotas)
	}
}
