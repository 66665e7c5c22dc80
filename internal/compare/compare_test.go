package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/reference"
)

// The records in these tests are invented; no drive was measured for them.

func phase(name string, mode job.Mode) job.Phase {
	return job.Phase{Name: name, Mode: mode, BlockSize: 4096, IODepth: 32, NumJobs: 4, Direct: true, RuntimeNS: 5e9}
}

// run makes a record with passes of so many IOPS, by place, in rounds of one pass
// of each place.
func run(id string, j job.Phase, places map[string][]float64) *record.Record {
	rec := &record.Record{SchemaVersion: 1, ID: id, Complete: true, Started: time.Unix(1_700_000_000, 0)}
	rec.Plan.Phases = []job.Phase{j}
	for _, p := range []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC} {
		if places[p] != nil {
			rec.Plan.Places = append(rec.Plan.Places, p)
			rec.Places = append(rec.Places, record.Place{Name: p, CPUs: []int{0, 1}})
		}
	}
	index := 0
	for r := 0; ; r++ {
		round := record.Round{Phase: j.Name}
		for _, p := range rec.Plan.Places {
			if r >= len(places[p]) {
				continue
			}
			f := &record.Flow{IOs: int64(places[p][r] * 5), Bytes: int64(places[p][r] * 5 * float64(j.BlockSize))}
			o := &record.Outcome{EndNS: 5e9, Stopped: record.StopTime, Read: f}
			if j.Mode.Writes() {
				o.Read, o.Write = nil, f
			}
			round.Passes = append(round.Passes, record.Pass{Phase: j.Name, Place: p, Index: index, Outcome: o})
			rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Round: r, Phase: j.Name, Place: p, RuntimeNS: 5e9})
			index++
		}
		if len(round.Passes) == 0 {
			return rec
		}
		rec.Rounds = append(rec.Rounds, round)
	}
}

func host(label string, rec *record.Record) Side {
	return Side{Label: label, Place: record.PlaceHost, Record: rec}
}

// TestPublishedTable holds the ratios of the published table, and that nothing is
// claimed beyond them.
func TestPublishedTable(t *testing.T) {
	var sides []Side
	for _, name := range []string{"ref:9100pro-pve9/native", "ref:9100pro-pve9/lxc"} {
		rec, err := reference.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		sides = append(sides, Side{Label: name, Place: record.PlaceImported, Record: rec})
	}
	c := Compare(sides[0], sides[1], false)
	if len(c.Pairs) != 4 || len(c.Refused)+len(c.OnlyA)+len(c.OnlyB) != 0 {
		t.Fatalf("got %d pairs, refused %v, alone %v %v", len(c.Pairs), c.Refused, c.OnlyA, c.OnlyB)
	}
	for i, want := range []float64{78.5, 60.4, 86.4, 99.9} {
		m := c.Pairs[i].Metric(IOPS)
		if got := math.Round(*m.Ratio*1000) / 10; got != want {
			t.Errorf("%s: got %g, want %g", c.Pairs[i].A.Name, got, want)
		}
		if m.Judgement != analysis.JudgeNone || m.NoInterval != SingleValues || m.Low != nil || m.High != nil {
			t.Errorf("%s: %+v claims more than single values can", c.Pairs[i].A.Name, m)
		}
	}
	if d := c.Pairs[1].DoubtsA; len(d) != 1 || d[0] != DoubtRates {
		t.Errorf("the misprint was not seen: %v", d)
	}
	if d := c.Pairs[0].DoubtsA; len(d) != 0 {
		t.Errorf("doubts about what adds up: %v", d)
	}
}

// TestPairsByWhatTheyDid renames a phase and keeps it, and changes what it does
// and keeps its name.
func TestPairsByWhatTheyDid(t *testing.T) {
	a := run("a", phase("one", job.RandRead), map[string][]float64{"host": {1000, 1010}})
	b := run("b", phase("two", job.RandRead), map[string][]float64{"host": {900, 910}})
	c := Compare(host("a", a), host("b", b), false)
	if len(c.Pairs) != 1 || c.Pairs[0].B.Name != "two" {
		t.Fatalf("got %+v", c)
	}
	for name, change := range map[string]func(*job.Phase){
		ReasonBlockSize: func(j *job.Phase) { j.BlockSize = 8192 },
		ReasonDirect:    func(j *job.Phase) { j.Direct = false },
		ReasonDepth:     func(j *job.Phase) { j.IODepth = 1 },
		ReasonJobs:      func(j *job.Phase) { j.NumJobs = 1 },
		ReasonMode:      func(j *job.Phase) { j.Mode = job.Read },
		ReasonRate:      func(j *job.Phase) { j.ReadIOPS = 100 },
		ReasonSync:      func(j *job.Phase) { j.Sync = job.SyncDSync },
	} {
		j := phase("one", job.RandRead)
		change(&j)
		b := run("b", j, map[string][]float64{"host": {900, 910}})
		c := Compare(host("a", a), host("b", b), false)
		if len(c.Pairs) != 0 || len(c.Refused) != 1 || c.Refused[0].Reasons[0].Code != name {
			t.Errorf("%s: got %+v", name, c)
			continue
		}
		c = Compare(host("a", a), host("b", b), true)
		m := c.Pairs[0].Metric(IOPS)
		if m.Ratio == nil || m.Judgement != analysis.JudgeNone || m.NoInterval != MeansNothing || m.Low != nil {
			t.Errorf("%s: asked for anyway, got %+v", name, m)
		}
	}
	// A runtime is none.
	j := phase("one", job.RandRead)
	j.RuntimeNS = 60e9
	c = Compare(host("a", a), host("b", run("b", j, map[string][]float64{"host": {900}})), false)
	if len(c.Pairs) != 1 || len(c.Pairs[0].Differences) != 1 || c.Pairs[0].Differences[0].What != DiffRuntime {
		t.Errorf("got %+v", c)
	}
}

func TestSimulatedAgainstMeasured(t *testing.T) {
	a := run("a", phase("one", job.RandRead), map[string][]float64{"host": {1000}})
	b := run("b", phase("one", job.RandRead), map[string][]float64{"host": {1000}})
	b.Simulated = &record.Simulation{Model: "x"}
	c := Compare(host("a", a), host("b", b), false)
	if len(c.Refused) != 1 || c.Refused[0].Reasons[0].Code != ReasonSimulated || c.Refused[0].Reasons[0].B == "" {
		t.Errorf("got %+v", c)
	}
}

// TestIntervals has repetitions on both, on one and on no side.
func TestIntervals(t *testing.T) {
	many, few := []float64{1000, 1010, 990, 1005, 995}, []float64{900, 905, 895, 903, 897}
	one := func(v ...float64) Side {
		return host("x", run("x", phase("p", job.RandRead), map[string][]float64{"host": v}))
	}
	m := func(a, b Side) *Metric {
		b.Record.ID = "y"
		c := Compare(a, b, false)
		return c.Pairs[0].Metric(IOPS)
	}
	got := m(one(many...), one(few...))
	if got.Judgement != analysis.JudgeDifferent || got.Low == nil || !(*got.Low < *got.Ratio && *got.Ratio < *got.High) || !got.WithinRun || *got.High >= 1 {
		t.Errorf("different: %+v", got)
	}
	if got := m(one(many...), one(1000)); got.Judgement != analysis.JudgeNone || got.NoInterval != OneSideOnce {
		t.Errorf("once: %+v", got)
	}
	if got := m(one(1000), one(900)); got.Judgement != analysis.JudgeNone || got.NoInterval != SingleValues {
		t.Errorf("single: %+v", got)
	}
	if got := m(one(many...), one(many...)); got.Judgement != analysis.JudgeEquivalent {
		t.Errorf("equivalent: %+v", got)
	}
}

// TestPlacesOfOneRunArePaired has a drift that hides the difference unless rounds
// are compared.
func TestPlacesOfOneRunArePaired(t *testing.T) {
	drift := []float64{1000, 1300, 1700, 2200, 2900, 3700}
	slower := make([]float64, len(drift))
	for i, v := range drift {
		slower[i] = v * (0.95 + 0.002*float64(i%2))
	}
	rec := run("x", phase("p", job.RandRead), map[string][]float64{"host": drift, "lxc": slower})
	c := Compare(host("x/host", rec), Side{Label: "x/lxc", Place: record.PlaceLXC, Record: rec}, false)
	m := c.Pairs[0].Metric(IOPS)
	if !c.SameRun || m.Judgement != analysis.JudgeDifferent || math.Abs(*m.Ratio-0.951) > 0.001 {
		t.Errorf("got %+v", m)
	}
}

func TestDifferencesHideSerials(t *testing.T) {
	a := run("a", phase("p", job.RandRead), map[string][]float64{"host": {1000}})
	b := run("b", phase("p", job.RandRead), map[string][]float64{"host": {1000}})
	for i, rec := range []*record.Record{a, b} {
		serial := []string{"SECRET1", "SECRET2"}[i]
		rec.Host.Kernel = "6." + serial[6:]
		rec.Target.Drives = []record.Drive{{Name: "nvme0n1", Model: new("M"), Serial: &serial}}
	}
	c := Compare(host("a", a), host("b", b), false)
	out, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte("SECRET")) {
		t.Errorf("a serial number is in %s", out)
	}
	var what []string
	for _, d := range c.Differences {
		what = append(what, d.What)
	}
	if got := strings.Join(what, " "); got != "drive kernel" {
		t.Errorf("differences: %s", got)
	}
}

// TestRanking plants one slow drive among twelve.
func TestRanking(t *testing.T) {
	var sides []Side
	for i := range 12 {
		v := 1000 + float64(i%5)*4
		if i == 7 {
			v = 700
		}
		sides = append(sides, host(string(rune('a'+i)), run(string(rune('a'+i)), phase("p"+string(rune('a'+i)), job.RandRead), map[string][]float64{"host": {v}})))
	}
	k := Rank(sides)
	if len(k.Groups) != 1 || len(k.Alone) != 0 {
		t.Fatalf("got %d groups", len(k.Groups))
	}
	l := k.Groups[0].Lists[0]
	for i, e := range l.Entries {
		if e.Outlier != (e.Side == 7) || i > 0 && e.Value > l.Entries[i-1].Value {
			t.Errorf("%d: %+v", i, e)
		}
	}
	if got := CheckRanking([]Condition{{Text: "x", Metric: IOPS, Op: "<", Change: -0.1}}, &k); len(got.Hits) != 1 || got.Hits[0].Side != "h" {
		t.Errorf("got %+v", got)
	}
	// Few do not tell what is usual.
	if l := Rank(sides[4:9]).Groups[0].Lists[0]; l.Judged || l.Entries[4].Outlier {
		t.Errorf("five were judged: %+v", l)
	}
}

func TestConditions(t *testing.T) {
	a := run("a", phase("randread-4k", job.RandRead), map[string][]float64{"host": {1000}})
	b := run("b", phase("other", job.RandRead), map[string][]float64{"host": {940}})
	c := Compare(host("a", a), host("b", b), false)
	for text, want := range map[string]string{
		"randread.iops<-5%": "hit", "iops<-7%": "", "randread-4k.iops < -5 %": "hit", "other.bw<=-6%": "hit",
		"iops>-7%": "hit", "randwrite.iops<-5%": "unchecked", "p99>10%": "unchecked", "RANDREAD.iops<-5.9%": "hit",
	} {
		cond, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		r := Check([]Condition{cond}, &c)
		got := ""
		switch {
		case len(r.Hits) > 0:
			got = "hit"
		case len(r.Unchecked) > 0:
			got = "unchecked"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"", "iops", "iops<5", "iops<-100%", "latency<5%", "iops=5%", "iops<<5%", "iops<1e3%", "iops<%"} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), "randread.iops<-5%") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	c2, err := ParseCondition("a.b.p99.9>+10.5%")
	if err != nil || c2.Phase != "a.b" || c2.Metric != P999 || c2.Change != 0.105 {
		t.Errorf("got %+v, %v", c2, err)
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{"randread.iops<-5%", "p99.9>+10%", "x.p99<=1.5%", "iops>=0%", "", "..<%", "bw<-99.999999%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCondition(s)
		if err != nil {
			return
		}
		if math.IsNaN(c.Change) || c.Change <= -1 || c.Metric == "" {
			t.Errorf("%q became %+v", s, c)
		}
		again, err := ParseCondition(c.Text)
		if err != nil || again != c {
			t.Errorf("%q became %+v and then %+v, %v", s, c, again, err)
		}
	})
}
