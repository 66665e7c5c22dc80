// Package compare sets records against each other: it pairs phases by what they
// did, says what else differs, refuses what means nothing, and ranks many. It is
// pure; the statistics are those of package analysis.
package compare

import (
	"math"
	"slices"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// A Side is one input of a comparison: a record in one of its places.
type Side struct {
	// Label is what the user called it.
	Label  string         `json:"label"`
	Place  string         `json:"place"`
	Record *record.Record `json:"-"`
	// More are further runs of the same in the same place: their means are then the
	// units, and an interval has what differs from run to run.
	More []*record.Record `json:"-"`
	// Runs is how many runs the side has; Compare sets it, 0 is one.
	Runs int `json:"runs,omitempty"`
	// Source is one of the Source constants; Compare and Rank set it.
	Source string `json:"source"`
}

// A Comparison sets one side against another, phase by phase.
type Comparison struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// Differences are those of system and settings that hold for all pairs.
	Differences []Difference `json:"differences"`
	// SameRun is true where both sides are places of one run.
	SameRun bool `json:"same_run"`
	// Pairs were compared, in the order of A's phases; one with a Reason only
	// because it was asked for.
	Pairs []Pair `json:"pairs"`
	// Refused would be pairs, but their comparison means nothing.
	Refused []Pair `json:"refused,omitempty"`
	// OnlyA and OnlyB are the names of phases without a partner.
	OnlyA []string `json:"only_a,omitempty"`
	OnlyB []string `json:"only_b,omitempty"`
}

// A Pair is one phase of each side.
type Pair struct {
	A job.Phase `json:"a"`
	B job.Phase `json:"b"`
	// Reasons say why comparing them means nothing.
	Reasons []Reason `json:"reasons,omitempty"`
	// Differences are settings that do not forbid it.
	Differences []Difference `json:"differences,omitempty"`
	// DoubtsA and DoubtsB are codes of warnings about the numbers of each side,
	// and the Doubt constants of this package.
	DoubtsA []string `json:"doubts_a,omitempty"`
	DoubtsB []string `json:"doubts_b,omitempty"`
	Metrics []Metric `json:"metrics"`
}

// Metric returns the one of this name, or nil.
func (p *Pair) Metric(name Name) *Metric {
	for i := range p.Metrics {
		if p.Metrics[i].Name == name {
			return &p.Metrics[i]
		}
	}
	return nil
}

// A Name names a metric, as in conditions.
type Name string

// The metrics, in the order in which they are shown.
const (
	IOPS Name = "iops"
	BW   Name = "bw" // bytes a second
	P50  Name = "p50"
	P99  Name = "p99"
	P999 Name = "p99.9"
)

// Names lists the metrics.
func Names() []Name { return []Name{IOPS, BW, P50, P99, P999} }

// analysed is what package analysis calls the metric; bandwidth is none of its
// own.
var analysed = map[Name]analysis.Metric{
	IOPS: analysis.MetricThroughput, P50: analysis.MetricP50, P99: analysis.MetricP99, P999: analysis.MetricP999,
}

// A Metric compares one number of two phases.
type Metric struct {
	Name Name `json:"name"`
	// A and B are geometric means over the passes, in I/Os or bytes a second and
	// nanoseconds; nil where not known. PassesA and PassesB count the passes.
	A       *float64 `json:"a"`
	B       *float64 `json:"b"`
	PassesA int      `json:"passes_a"`
	PassesB int      `json:"passes_b"`
	// Ratio is B over A; Low and High are its 95 % interval.
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Judgement is that of package analysis; JudgeNone where there is no interval,
	// NoInterval then says why.
	Judgement  analysis.Judgement `json:"judgement"`
	NoInterval NoInterval         `json:"no_interval,omitempty"`
	// WithinRun is true where the interval has nothing of what differs from run
	// to run.
	WithinRun bool `json:"within_run,omitempty"`
}

// A NoInterval is why a ratio has no interval.
type NoInterval string

// The reasons for that.
const (
	// SingleValues: neither side was measured twice.
	SingleValues NoInterval = "single-values"
	// OneSideOnce: one side was measured once.
	OneSideOnce NoInterval = "one-side-once"
	// MeansNothing: the pair was compared only because it was asked for.
	MeansNothing NoInterval = "means-nothing"
	// Unknown: a side has no such number.
	Unknown NoInterval = "unknown"
	// VoidRounds: heat, errors or a hot start hit the sides unequally in every
	// round.
	VoidRounds NoInterval = "void-rounds"
	// NoScatter: the passes agree to the last I/O, which tells nothing of chance.
	NoScatter NoInterval = "no-scatter"
	// SameAsIOPS: the block size is fixed, so that bandwidth says what IOPS do.
	SameAsIOPS NoInterval = "same-as-iops"
)

// DoubtRates: IOPS and bandwidth of a published row contradict each other, so that
// one of them is misprinted.
const DoubtRates = "rates-contradict"

// DoubtLatencyKind: one side has lat and the other clat, so that latencies are not
// compared.
const DoubtLatencyKind = "lat-against-clat"

// Compare compares b with a. Pairs that mean nothing are compared only if anyway
// is set.
func Compare(a, b Side, anyway bool) Comparison {
	a.Source, b.Source = source(a.Record), source(b.Record)
	c := Comparison{A: a, B: b, Differences: systemDifferences(&a, &b), SameRun: sameRun(&a, &b)}
	da, db := dataOfGroup(&c.A), dataOfGroup(&c.B)
	partner := pairUp(da, db)
	used := make([]bool, len(db))
	var judged, all []*analysis.Comparison
	var into []*Metric
	for i := range da {
		if partner[i] < 0 {
			c.OnlyA = append(c.OnlyA, da[i].job.Name)
			continue
		}
		x, y := &da[i], &db[partner[i]]
		used[partner[i]] = true
		p := Pair{A: x.job, B: y.job, Reasons: append(settingReasons(&x.job, &y.job), sideReasons(&a, &b, x, y)...),
			Differences: phaseDifferences(&x.job, &y.job), DoubtsA: x.doubts, DoubtsB: y.doubts}
		if len(p.Reasons) > 0 && !anyway {
			c.Refused = append(c.Refused, p)
			continue
		}
		comparisons := p.metrics(&c, x, y)
		c.Pairs = append(c.Pairs, p)
		metrics := c.Pairs[len(c.Pairs)-1].Metrics
		for k := range metrics {
			if cmp := comparisons[metrics[k].Name]; cmp != nil && cmp.Known() && cmp.SE > 0 && len(p.Reasons) == 0 {
				if cmp.Judgement == "" {
					judged = append(judged, cmp)
				}
				all, into = append(all, cmp), append(into, &metrics[k])
			}
		}
	}
	for k := range db {
		if !used[k] {
			c.OnlyB = append(c.OnlyB, db[k].job.Name)
		}
	}
	analysis.Judge(judged)
	for i, cmp := range all {
		m := into[i]
		m.Judgement, m.NoInterval, m.WithinRun = cmp.Judgement, "", cmp.WithinRun
		if low, high, ok := cmp.Interval(0.95); ok {
			m.Low, m.High = &low, &high
		}
	}
	return c
}

// pairUp returns for each phase of a the one of b that did the same, or -1. What
// is left over is paired with what it may have been meant to be compared with, to
// say why that means nothing.
func pairUp(a, b []data) []int {
	used := make([]bool, len(b))
	partner := make([]int, len(a))
	for i := range partner {
		partner[i] = -1
	}
	// The same name first, where several did the same.
	for _, anyName := range []bool{false, true} {
		for i := range a {
			for k := range b {
				if partner[i] < 0 && !used[k] && (anyName || a[i].job.Name == b[k].job.Name) && len(settingReasons(&a[i].job, &b[k].job)) == 0 {
					partner[i], used[k] = k, true
				}
			}
		}
	}
	for i := range a {
		if partner[i] >= 0 {
			continue
		}
		best, fewest := -1, 0
		for k := range b {
			// Another mode is another test, unless there is nothing else.
			if used[k] || a[i].kind() != b[k].kind() && (len(a) > 1 || len(b) > 1) {
				continue
			}
			if n := len(settingReasons(&a[i].job, &b[k].job)); best < 0 || n < fewest {
				best, fewest = k, n
			}
		}
		if best >= 0 {
			partner[i], used[best] = best, true
		}
	}
	return partner
}

func sameRun(a, b *Side) bool {
	return len(a.More) == 0 && len(b.More) == 0 && (a.Record == b.Record || a.Record.ID != "" && a.Record.ID == b.Record.ID && a.Record.Started.Equal(b.Record.Started))
}

// data is what one side has of one phase.
type data struct {
	job     job.Phase
	doubts  []string
	cached  bool
	clat    bool
	numbers analysis.Numbers
	// passes counts those that ran to their end; bw is in bytes a second, nil
	// where it is not known.
	passes int
	bw     *float64
	// phase is what the analysis of the record says of it; nil of a publication.
	phase *analysis.Phase
	// runs are the numbers of each run of a side that has several; numbers are
	// then their means.
	runs []analysis.Numbers
	// voided is the mean of IOPS where every round of it is void, nil elsewhere.
	voided *float64
}

// kind tells phases apart as people do: by mode, and whether writes are synced.
func (d *data) kind() string { return Kind(&d.job) }

// Kind is the mode of a phase, or "syncwrite" where each write waits for a sync;
// conditions name phases by it.
func Kind(j *job.Phase) string {
	if j.FDataSync > 0 {
		return "syncwrite"
	}
	return string(j.Mode)
}

// value is the geometric mean of a metric, and of how many passes.
func (d *data) value(n Name) (*float64, int) {
	if n == BW {
		return d.bw, d.passes
	}
	logs := d.numbers[analysed[n]]
	if n == IOPS && d.voided != nil {
		return d.voided, d.passes
	}
	if len(logs) == 0 {
		return nil, 0
	}
	var sum float64
	for _, x := range logs {
		sum += x
	}
	return new(math.Exp(sum / float64(len(logs)))), len(logs)
}

// dataOf reads the numbers of a side.
func dataOf(s *Side) []data {
	rec := s.Record
	if rec.Import != nil && rec.Import.Format == record.FormatPublished {
		return publishedData(rec)
	}
	res := analysis.Compute(rec)
	var all []data
	for i := range res.Phases {
		ph := &res.Phases[i]
		p := ph.Place(s.Place)
		if p == nil || p.Planned == 0 && p.Passes == 0 {
			continue
		}
		d := data{job: engineOf(rec, ph.Job), numbers: analysis.NumbersOf(rec, ph.Job.Name, s.Place), passes: p.Passes, bw: p.BytesPerSec, phase: ph}
		if d.numbers == nil {
			d.numbers = analysis.Numbers{}
		}
		if len(d.numbers[analysis.MetricThroughput]) == 0 && slices.ContainsFunc(rec.Rounds, func(r record.Round) bool {
			return r.Phase == ph.Job.Name && r.Void != ""
		}) {
			d.voided = p.IOPS
		}
		// An imported pass has its percentiles ready-made.
		if p.Passes == 1 && rec.Import != nil {
			for m, ns := range map[analysis.Metric]*int64{analysis.MetricP50: p.Lat.P50, analysis.MetricP99: p.Lat.P99, analysis.MetricP999: p.Lat.P999} {
				if len(d.numbers[m]) == 0 && ns != nil && *ns > 0 {
					d.numbers[m] = []float64{math.Log(float64(*ns))}
					d.clat = p.Lat.Clat
				}
			}
		}
		// The same passes as the IOPS are of, where the blocks are of one length.
		if iops, _ := d.value(IOPS); iops != nil && fixedBlocks(&ph.Job) {
			d.bw = new(*iops * float64(ph.Job.BlockSize))
		}
		for _, w := range res.Warnings {
			if w.Phase != ph.Job.Name || w.Place != "" && w.Place != s.Place || w.Code == record.WarnImport || slices.Contains(d.doubts, w.Code) {
				continue
			}
			d.doubts = append(d.doubts, w.Code)
			d.cached = d.cached || w.Code == record.WarnCacheAnswered
		}
		all = append(all, d)
	}
	return all
}

func fixedBlocks(j *job.Phase) bool {
	return j.BlockSize > 0 && !j.VariesBlocks() && (j.WriteBlockSize == 0 || j.WriteBlockSize == j.BlockSize)
}

// publishedData reads the rows of a published table: single values.
func publishedData(rec *record.Record) []data {
	var all []data
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[k]
			n := slices.IndexFunc(rec.Plan.Phases, func(j job.Phase) bool { return j.Name == p.Phase })
			if p.Published == nil || n < 0 {
				continue
			}
			d := data{job: rec.Plan.Phases[n], numbers: analysis.Numbers{}, passes: 1, bw: p.Published.BytesPerSec}
			if v := p.Published.IOPS; v != nil && *v > 0 {
				d.numbers[analysis.MetricThroughput] = []float64{math.Log(*v)}
				// A percent is more than rounding to whole MiB/s does.
				if d.bw != nil && d.job.BlockSize > 0 && math.Abs(*v*float64(d.job.BlockSize) / *d.bw - 1) > 0.01 {
					d.doubts = append(d.doubts, DoubtRates)
				}
			}
			all = append(all, d)
		}
	}
	return all
}

// engineOf is the phase with the name of the engine that did it, where it does
// not say so itself.
func engineOf(rec *record.Record, j job.Phase) job.Phase {
	switch {
	case j.Engine != "":
	case rec.Import != nil:
		for i := range rec.Import.Jobs {
			if rec.Import.Jobs[i].Phase == j.Name {
				j.Engine = option("ioengine", rec.Import.Jobs[i].Options, rec.Import.Global)
			}
		}
	case rec.Jobs != nil:
		j.Engine = rec.Jobs.Engine
	default:
		for i := range rec.Places {
			if w := rec.Places[i].Worker; w != nil {
				j.Engine = w.Engine.Name
			}
		}
	}
	return j
}

// option is the value of the last option of this name in the first list that has
// it.
func option(name string, lists ...[]record.Option) string {
	for _, l := range lists {
		for _, o := range slices.Backward(l) {
			if o.Name == name {
				return o.Value
			}
		}
	}
	return ""
}

// metrics fills in the numbers of a pair and returns what is to be judged.
func (p *Pair) metrics(c *Comparison, x, y *data) map[Name]*analysis.Comparison {
	kinds := x.clat != y.clat && len(x.numbers[analysis.MetricP50]) > 0 && len(y.numbers[analysis.MetricP50]) > 0
	if kinds {
		p.DoubtsA, p.DoubtsB = append(p.DoubtsA, DoubtLatencyKind), append(p.DoubtsB, DoubtLatencyKind)
	}
	compared := map[Name]*analysis.Comparison{}
	for _, r := range c.compared(x, y) {
		for name, m := range analysed {
			if m == r.Metric {
				compared[name] = &r
			}
		}
	}
	for _, name := range Names() {
		m := Metric{Name: name, Judgement: analysis.JudgeNone, NoInterval: Unknown}
		m.A, m.PassesA = x.value(name)
		m.B, m.PassesB = y.value(name)
		if m.A != nil && m.B != nil && *m.A > 0 && *m.B > 0 && !(kinds && name != IOPS && name != BW) {
			m.Ratio = new(*m.B / *m.A)
			// Of rounds that both sides have, the ratio is that of these.
			if r := compared[name]; r != nil {
				m.Ratio = new(r.Ratio())
			}
			switch {
			case len(p.Reasons) > 0:
				m.NoInterval = MeansNothing
			case x.voided != nil || y.voided != nil:
				m.NoInterval = VoidRounds
			case m.PassesA < 2 && m.PassesB < 2:
				m.NoInterval = SingleValues
			case m.PassesA < 2 || m.PassesB < 2:
				m.NoInterval = OneSideOnce
			case name == BW:
				m.NoInterval = SameAsIOPS
			default:
				m.NoInterval = NoScatter
			}
		}
		p.Metrics = append(p.Metrics, m)
	}
	return compared
}

// compared are the comparisons of a pair, not judged yet.
func (c *Comparison) compared(x, y *data) []analysis.Comparison {
	margins := analysis.DefaultMargins()
	if c.SameRun {
		// As the report of the run itself says, if it has rounds enough.
		var own []analysis.Comparison
		for _, m := range analysis.Metrics() {
			if r := x.phase.Comparison(m, c.A.Place, c.B.Place); r != nil {
				own = append(own, *r)
			}
		}
		if len(own) > 0 {
			return own
		}
		if all := analysis.CompareRounds(c.A.Record, x.job.Name, c.A.Place, c.B.Place, margins); len(all) > 0 {
			return all
		}
	}
	return analysis.CompareSets(x.job.Name, c.A.Place, c.B.Place, x.units(), y.units(), margins)
}

// Latency reports whether a metric is one, of which less is better.
func (n Name) Latency() bool { return n == P50 || n == P99 || n == P999 }
