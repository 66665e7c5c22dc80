package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

const (
	// mostPoints is how many points one panel keeps. Pictures are about 1,600 pixels
	// wide and screens about 2,000, so that more would lie on each other; and a page
	// with a dozen panels, of which few are full, stays below 1 MB at some 30 bytes a
	// point, half of them in the static pictures.
	mostPoints = 2000
	// leastInterval is the length from which the rest of a pass that fills no second
	// is a point: the speed of less is mostly chance.
	leastInterval = 500_000_000
	// mostMarks is how many drops a chart names: so many still tell each other apart
	// and fit below a picture.
	mostMarks = 8
)

// ChartOptions say how charts are made.
type ChartOptions struct {
	Lang string // "de" or "en"
	// Hash is that of the record as it is kept, which is not the one that is drawn
	// where that is redacted; "" computes it with RecordHash.
	Hash string
}

// RecordHash is the SHA-256 of a record as record.Encode writes it, in hex: the
// same as sha256sum shows of the file that nativ bench wrote.
func RecordHash(rec *record.Record) (string, error) {
	h := sha256.New()
	if err := record.Encode(h, rec); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// shownHash is how much of a hash stands in a picture: enough that nobody finds
// another record with it by chance.
const shownHash = 12

// Charts makes the charts of a record, in the order in which they are read. What
// cannot be drawn is left out, and left says in a sentence each which and why.
func Charts(rec *record.Record, res analysis.Result, o ChartOptions) (charts []*Chart, left []string) {
	c := newCharter(rec, &res, o)
	m := &c.charts
	for _, k := range []struct {
		title string
		make  func() ([]*Chart, string)
	}{
		{m.time, c.timeChart}, {m.ratios, c.ratioChart}, {m.latency, c.latencyCharts}, {m.scatter, c.scatterCharts},
		{m.heat, c.heatChart}, {m.cliff, c.cliffChart}, {m.means, c.meansChart},
	} {
		made, why := k.make()
		if why != "" {
			left = append(left, fmt.Sprintf(m.left, k.title, why))
		}
		charts = append(charts, made...)
	}
	return charts, left
}

// ChartIDs are the names of the charts that a record can have; those of several
// tests are followed by the test's.
func ChartIDs() []string {
	return []string{idTime, idRatios, idLatency, idScatter, idHeat, idCliff, idMeans}
}

const (
	idTime, idRatios, idLatency, idScatter = "time", "ratios", "latency", "scatter"
	idHeat, idCliff, idMeans               = "heat", "cliff", "means"
)

// A charter makes the charts of one record.
type charter struct {
	*builder
	o ChartOptions
	// passes are those with an outcome, in the order in which they ran.
	passes []*record.Pass
	// starts are the times of go by Pass.Index, in ns from the first one, with
	// pauses of hours cut out; pauses are those.
	starts map[int]float64
	pauses []Mark
	about  string // the subtitle
	cite   string
}

func newCharter(rec *record.Record, res *analysis.Result, o ChartOptions) *charter {
	s := newSpeaker(o.Lang, rec)
	// Without warnings, because a chart has no footnotes to refer to.
	c := &charter{builder: &builder{notes: newNotes(s, rec, nil), res: res}, o: o}
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			if p := &rec.Rounds[i].Passes[j]; p.Outcome != nil {
				c.passes = append(c.passes, p)
			}
		}
	}
	slices.SortStableFunc(c.passes, func(a, b *record.Pass) int { return cmp.Compare(a.Index, b.Index) })
	c.setStarts()
	c.about, c.cite = c.subtitle(), c.citation()
	return c
}

// shortPlace is that of the speaker, but for results of nobody knows where.
func (c *charter) shortPlace(rec *record.Record, place string) string {
	if place == record.PlaceImported {
		return c.charts.imported
	}
	return c.builder.shortPlace(rec, place)
}

// longPause is a time without a pass that is drawn shorter, as one of shownPause:
// a run that was resumed the day after would else be two needles.
const longPause, shownPause = 3600e9, 120e9

func (c *charter) setStarts() {
	c.starts = map[int]float64{}
	var first, last *record.Pass
	var cut float64
	for _, p := range c.passes {
		if first == nil {
			first, last = p, p
		}
		var at float64
		switch { // the clock of a machine that started again begins anew
		case !p.StartedAt.IsZero() && !first.StartedAt.IsZero():
			at = float64(p.StartedAt.Sub(first.StartedAt))
		case p.Outcome.StartNS > 0:
			at = float64(p.Outcome.StartNS - first.Outcome.StartNS)
		}
		ended := c.starts[last.Index] + float64(last.Outcome.ElapsedNS())
		if pause := at - cut - ended; p != last && pause > longPause {
			cut += pause - shownPause
			c.pauses = append(c.pauses, Mark{Kind: MarkPause, From: ended, To: at - cut, Label: fmt.Sprintf(c.charts.pause, c.long(int64(pause)))})
		}
		c.starts[p.Index] = max(0, at-cut)
		last = p
	}
}

// chart is a chart with what all of them have.
func (c *charter) chart(id string, kind ChartKind, title string) *Chart {
	ch := &Chart{ID: id, Kind: kind, Lang: c.o.Lang, Title: title, Subtitle: c.about, Citation: c.cite}
	if m := c.rec.Simulated; m != nil {
		ch.Simulated = fmt.Sprintf(c.charts.simulated, c.simulation.mark, c.data(m.Model))
	}
	return ch
}

// byPhase reports whether series are the tests and not the places: of a job file,
// which runs several side by side, of an import, and where there is one place.
func (c *charter) byPhase() bool {
	return c.rec.Jobs != nil || c.rec.Import != nil || len(c.rec.Plan.Places) < 2
}

// styleOf is the number of a place's style, the same in every record that has one
// of each.
func (c *charter) styleOf(place string) int {
	order := []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}
	taken := map[int]bool{}
	for _, name := range c.rec.Plan.Places {
		n := max(0, slices.Index(order, record.PlaceKind(name)))
		if record.IsContainer(name) {
			n = slices.Index(order, record.PlaceLXC) // a run has one container
		}
		for taken[n] {
			n++
		}
		taken[n] = true
		if name == place {
			return n
		}
	}
	return len(taken)
}

// styled gives series the styles in their order, and leaves out those beyond the
// last one; it says how many.
func (c *charter) styled(series []Series) ([]Series, string) {
	note := ""
	if more := len(series) - len(styles); more > 0 {
		series, note = series[:len(styles)], fmt.Sprintf(c.charts.moreSeries, c.int(int64(more)))
	}
	for i := range series {
		series[i].Style = i
	}
	return series, note
}

// jobOf is the phase of a pass; nil where the plan does not have it.
func (c *charter) jobOf(phase string) *job.Phase {
	if ph := c.res.Phase(phase); ph != nil {
		return &ph.Job
	}
	return nil
}

// block is the size of the I/Os of a phase; 0 where they have several or nobody
// knows it.
func block(j *job.Phase) int64 {
	if j == nil || j.VariesBlocks() {
		return 0
	}
	return j.BlockSize
}

// counts reports whether a pass stands for its place: a probe, a pilot and a pass
// in the hot drive do not.
func counts(p *record.Pass) bool { return p.Role == "" || p.Role == record.RoleLoad }
