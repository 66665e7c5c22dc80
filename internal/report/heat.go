package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// loads reports whether a run is about what a load does to the drive, so that the
// mean of one says little: it depends on when the run ended it.
func loads(rec *record.Record) bool {
	return slices.ContainsFunc(rec.Plan.Steps, func(s record.Step) bool { return s.Role == record.RoleLoad })
}

// fills reports whether a run is about one long write.
func (b *builder) fills() bool { return loads(b.rec) && len(b.res.Fills) > 0 }

func hasRole(rec *record.Record, role string) bool {
	return slices.ContainsFunc(rec.Plan.Steps, func(s record.Step) bool { return s.Role == role })
}

// speedTables are the tables of numbers of the short report.
func (b *builder) speedTables() []Block {
	switch {
	case b.fills():
		return append(b.fillFacts(), b.heatTable()...)
	case loads(b.rec):
		if t := b.heatTable(); len(t) > 0 {
			return append(t, b.loss()...)
		}
	case hasRole(b.rec, record.RoleHot):
		note := b.drops.bestNote
		if !b.throttledIn(b.hotPlace()) {
			note = b.drops.againNote
		}
		blocks := []Block{b.best(), Legend{[]string{note}}}
		return append(append(blocks, b.means()), append(b.loss(), b.heatTable()...)...)
	}
	return append(append([]Block{b.means()}, b.loss()...), b.heatTable()...)
}

// speed formats I/Os a second, or bytes a second where people name those.
func (b *builder) speedOf(j *job.Phase, iops, bytes float64) string {
	if inIOPS(j) {
		return unit(b.short(iops), "IOPS")
	}
	return unit(b.short(bytes/1e6), "MB/s")
}

// hotPlace is where a plan measures again without a cool-down.
func (b *builder) hotPlace() string {
	hot := ""
	for _, s := range b.rec.Plan.Steps {
		if s.Role == record.RoleHot {
			hot = s.Place
		}
	}
	return hot
}

// throttledIn reports whether heat was seen to slow the drive down in a place
// before the passes without a cool-down.
func (b *builder) throttledIn(place string) bool {
	return slices.ContainsFunc(b.res.Heat, func(h analysis.Heat) bool {
		return h.Place == place && b.roleOf(h.Pass) != record.RoleHot
	})
}

// roleOf is what the pass with an index was for.
func (b *builder) roleOf(index int) string {
	for i := range b.rec.Rounds {
		for k := range b.rec.Rounds[i].Passes {
			if p := &b.rec.Rounds[i].Passes[k]; p.Index == index {
				return p.Role
			}
		}
	}
	return ""
}

// best has what the reader's test printed: the best second of each phase, first
// in each place and then in the drive that is hot from it.
func (b *builder) best() Table {
	t := Table{Columns: []Column{{Head: b.drops.best, Left: true}}, MinWidths: []int{labelWidth}}
	hot := b.hotPlace()
	add := func(head string) {
		t.Columns = append(t.Columns, Column{Head: head})
		t.MinWidths = append(t.MinWidths, numberWidth)
	}
	for _, p := range b.res.Phases[0].Places {
		add(b.placeName(b.rec, p.Name))
	}
	head := b.drops.hotPlace
	if !b.throttledIn(hot) {
		head = b.drops.againPlace
	}
	add(fmt.Sprintf(head, b.shortPlace(b.rec, hot)))
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		r := Row{Cells: []Cell{{Text: b.label(ph)}}}
		places := slices.Clone(ph.Places)
		in := analysis.Place{Name: hot}
		for _, p := range ph.InHot {
			if p.Name == hot {
				in = p
			}
		}
		places = append(places, in)
		for _, p := range places {
			text := absent
			if p.MaxIOPS != nil && p.MaxBytesPerSec != nil {
				text = b.speedOf(&ph.Job, *p.MaxIOPS, *p.MaxBytesPerSec)
			}
			r.Cells = append(r.Cells, Cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// heatPlace is the place whose heat the short report shows: where most was seen,
// the container before the host, which --details has, too.
func (b *builder) heatPlace() string {
	best, most := "", 0
	for _, name := range b.rec.Plan.Places {
		n := 0
		for i := range b.res.Heat {
			if b.res.Heat[i].Place == name {
				n++
			}
		}
		if n > 0 && n >= most {
			best, most = name, n
		}
	}
	if best == "" && loads(b.rec) && len(b.rec.Plan.Places) > 0 {
		best = b.rec.Plan.Places[0]
	}
	return best
}

func (b *builder) heatIn(phase, place string) *analysis.Heat {
	for i := range b.res.Heat {
		if h := &b.res.Heat[i]; h.Phase == phase && h.Place == place {
			return h
		}
	}
	return nil
}

// firstDrop is the first of a phase in a place that is not of a short probe.
func (b *builder) firstDrop(phase, place string) *analysis.Drop {
	for i := range b.res.Drops {
		if d := &b.res.Drops[i]; d.Phase == phase && d.Place == place && (d.Role == "" || d.Role == record.RoleLoad) {
			return d
		}
	}
	return nil
}

// heatTable says from which temperature on the drive throttled and what that
// cost; where the run looks for it, also of the phases in which it did not.
func (b *builder) heatTable() []Block {
	place := b.heatPlace()
	all := loads(b.rec) && !b.fills()
	if place == "" || len(b.res.Heat) == 0 && !all {
		return nil
	}
	m := &b.drops
	head := m.heat
	if all {
		head = m.load
	}
	var sensors []string
	for i := range b.res.Heat {
		if h := &b.res.Heat[i]; h.Place == place && h.Onset != nil {
			if name := b.data(h.Onset.Sensor); !slices.Contains(sensors, name) {
				sensors = append(sensors, name)
			}
		}
	}
	var legend []string
	if len(sensors) == 1 && len(b.rec.Target.Drives) == 1 && b.rec.Target.Drives[0].Controller != nil {
		// The line below names another one, and only one drive has sensors here.
		head += " (" + strings.TrimPrefix(sensors[0], *b.rec.Target.Drives[0].Controller+" ") + ")"
	} else if len(sensors) > 0 {
		legend = append(legend, fmt.Sprintf(m.atSensors, b.list(sensors)))
	}
	if len(b.rec.Plan.Places) > 1 {
		head += ", " + b.shortPlace(b.rec, place)
	}
	t := Table{
		Columns:   []Column{{head, true}, {m.fromCelsius, false}, {m.fast, false}, {m.slow, false}, {m.lost, false}, {m.after, false}},
		MinWidths: []int{labelWidth, 8, 16, 14, 6, 7},
	}
	row := func(ph *analysis.Phase, from string, fast, slow *[2]float64, lost *float64, afterNS *int64) {
		speed := func(v *[2]float64) string {
			return orAbsent(v, func(v [2]float64) string { return b.speedOf(&ph.Job, v[0], v[1]) })
		}
		r := Row{Cells: []Cell{{Text: b.label(ph)}, {Text: from}, {Text: speed(fast)}, {Text: speed(slow)},
			{Text: orAbsent(lost, func(v float64) string { return unit(b.percent(v), "%") })},
			{Text: orAbsent(afterNS, func(ns int64) string { return unit(b.fixed(float64(ns)/1e9, 0), "s") })}}}
		if all {
			r.Notes = b.ref(func(w record.Warning) bool { return w.Phase == ph.Job.Name })
		}
		t.Rows = append(t.Rows, r)
	}
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		p := ph.Place(place)
		h, d := b.heatIn(ph.Job.Name, place), b.firstDrop(ph.Job.Name, place)
		switch {
		case h != nil:
			iops := func(bytes float64) [2]float64 { return [2]float64{bytes / float64(max(h.BlockSize, 1)), bytes} }
			row(ph, b.interval(h), new(iops(h.BeforeBytes)), new(iops(h.ThrottledBytes)), &h.Lost, &h.AfterNS)
			if b.roleOf(h.Pass) == record.RoleHot {
				last := &t.Rows[len(t.Rows)-1]
				last.Notes = strings.TrimSpace("† " + last.Notes)
				if !slices.Contains(legend, m.inRepeat) {
					legend = append(legend, m.inRepeat)
				}
			}
		case !all || p == nil || p.IOPS == nil:
		case d != nil && !d.Stall && !d.InBytes:
			size := float64(ph.Job.BlockSize)
			row(ph, absent, &[2]float64{d.Before, d.Before * size}, &[2]float64{d.Low, d.Low * size}, new(1-d.Low/d.Before), &d.OnsetNS)
		default:
			row(ph, absent, &[2]float64{*p.IOPS, *p.BytesPerSec}, nil, nil, nil)
		}
	}
	if shares := b.heatShares(place); len(shares) > 0 {
		legend = append(legend, fmt.Sprintf(m.heatShares, b.list(shares)))
	}
	if len(legend) > 0 {
		return []Block{t, Legend{legend}}
	}
	return []Block{t}
}

// heatShares are the phases that throttle on and off in a place, with the share of
// the time in which they do.
func (b *builder) heatShares(place string) []string {
	var all []string
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		var share *float64
		if h := b.heatIn(ph.Job.Name, place); h != nil {
			share = h.ThrottledShare
		} else if d := b.firstDrop(ph.Job.Name, place); d != nil && loads(b.rec) && !b.fills() {
			share = d.LowShare
		}
		if share != nil {
			all = append(all, b.phaseName(&ph.Job)+glue+unit(b.percent(*share), "%"))
		}
	}
	return all
}

// interval is the temperature at the onset: "99–101".
func (b *builder) interval(h *analysis.Heat) string {
	if h.Onset == nil {
		return absent
	}
	return b.fromTo(h.Onset.FromMC, h.Onset.ToMC)
}

func (b *builder) fromTo(low, high int64) string {
	lo, hi := b.celsius(low), b.celsius(high)
	if lo == hi {
		return lo
	}
	return lo + "–" + hi
}

// long formats a time that somebody could wait for: "68 s", "2:15 min", "1:02 h".
func (s *speaker) long(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < 99500*time.Millisecond:
		return unit(s.fixed(d.Seconds(), 0), "s")
	case d < time.Hour:
		return unit(clock(d), "min")
	}
	return unit(clock(d.Round(time.Minute)/60), "h")
}

// heatDetails is everything that is known of the throttling.
func (b *builder) heatDetails() []Block {
	if len(b.res.Heat) == 0 {
		return nil
	}
	m := &b.drops
	speeds := Table{Columns: []Column{{b.detail.mode, true}, {b.detail.place, true}, {"MB/s", false}, {m.slow, false}, {"IOPS", false}, {m.slow, false}, {m.lost, false}}}
	times := Table{Columns: []Column{{b.detail.mode, true}, {b.detail.place, true}, {m.fromCelsius, false}, {m.after, false}, {m.moved, false}, {m.lag, false}, {m.back, false}, {m.passes, false}}}
	var sensors []string
	other := false
	for i := range b.res.Heat {
		h := &b.res.Heat[i]
		ph := b.res.Phase(h.Phase)
		if ph == nil {
			continue
		}
		mb := func(v float64) string { return b.short(v / 1e6) }
		iops := func(v float64) string { return b.short(v / float64(max(h.BlockSize, 1))) }
		first := []Cell{{Text: b.modeAndSize(&ph.Job)}, {Text: b.shortPlace(b.rec, h.Place)}}
		speeds.Rows = append(speeds.Rows, Row{Cells: append(slices.Clone(first), Cell{Text: mb(h.BeforeBytes)}, Cell{Text: mb(h.ThrottledBytes)},
			Cell{Text: iops(h.BeforeBytes)}, Cell{Text: iops(h.ThrottledBytes)}, Cell{Text: unit(b.fixed(h.Lost*100, 0), "%")})})
		lag := absent
		if o := h.Onset; o != nil {
			lag = orAbsent(o.LagNS, b.long)
			if name := b.data(o.Sensor); !slices.Contains(sensors, name) {
				sensors = append(sensors, name)
			}
		}
		back := orAbsent(h.RecoveredNS, b.long)
		if h.RecoveredNS != nil && h.RecoveredMC != nil {
			back = fmt.Sprintf(m.heatBack, back, unit(b.celsius(*h.RecoveredMC), "°C"))
		}
		times.Rows = append(times.Rows, Row{Cells: append(first, Cell{Text: b.interval(h)}, Cell{Text: b.long(h.AfterNS)}, Cell{Text: b.bytes(h.Bytes)},
			Cell{Text: lag}, Cell{Text: back}, Cell{Text: fmt.Sprintf("%d/%d", h.Times, h.Of)})})
		other = other || h.AboveCritical
	}
	var lines []string
	if len(sensors) > 0 {
		text := fmt.Sprintf(m.heatSensor, b.list(sensors))
		if other {
			text += " " + m.heatOther
		}
		lines = append(lines, text)
	}
	return []Block{times, speeds, Paragraph{append(lines, m.heatNote)}}
}

// fillFacts are the numbers of a long write.
func (b *builder) fillFacts() []Block {
	m := &b.drops
	var blocks []Block
	for i := range b.res.Fills {
		f := &b.res.Fills[i]
		mbs := func(v float64) string { return unit(b.short(v/1e6), "MB/s") }
		head := m.fill
		if len(b.res.Fills) > 1 {
			head += ", " + b.shortPlace(b.rec, f.Place)
		}
		var facts Facts
		facts.add(head, fmt.Sprintf(m.inOneGo, b.bytes(f.Written))+b.noteOf(f.Phase))
		if f.CacheBytes != nil {
			size := b.bytes(*f.CacheBytes)
			switch {
			case f.CacheDoubt != "":
				size = fmt.Sprintf(m.cacheMaybe[string(f.CacheDoubt)], size)
			case f.StartSeconds == 1:
				size = fmt.Sprintf(m.cacheAtMost, size)
			case f.StartSeconds > 1:
				size = fmt.Sprintf(m.cacheAbout, size, b.int(int64(f.StartSeconds)))
			}
			facts.add(m.cache, size)
			facts.add(m.inCache, mbs(f.InCache))
			facts.add(m.afterCache, orAbsent(f.AfterCache, mbs))
		} else {
			facts.add(m.cache, fmt.Sprintf(m.noCache, b.bytes(f.Written)))
		}
		if f.Folding != nil && f.FoldingFrom != nil {
			facts.add(m.folding, fmt.Sprintf(m.foldingText, mbs(*f.Folding), b.bytes(*f.FoldingFrom)))
		}
		facts.add(m.average, mbs(f.Average))
		facts.add(m.recovery, b.recovery(f))
		if bars, most := sparkline(f.Curve, 28); bars != "" {
			facts.add(m.curve, fmt.Sprintf(m.curveText, bars, b.bytes(f.Written), mbs(most)))
		}
		blocks = append(blocks, facts)
	}
	return blocks
}

// noteOf refers to the footnotes about a phase.
func (b *builder) noteOf(phase string) string {
	if s := b.ref(func(w record.Warning) bool { return w.Phase == phase }); s != "" {
		return glue + s
	}
	return ""
}

func (b *builder) recovery(f *analysis.Fill) string {
	switch n := len(f.Recovery); {
	case n == 0 || f.CacheBytes == nil:
		return ""
	case f.RecoveredNS != nil:
		return fmt.Sprintf(b.drops.recovered, b.long(*f.RecoveredNS))
	default:
		last := f.Recovery[n-1]
		return fmt.Sprintf(b.drops.notRecovered, b.long(last.AfterNS), unit(b.short(last.Rate/1e6), "MB/s"))
	}
}

// binned is a curve in n parts of the same number of bytes, or fewer where it has
// fewer points: the mean speed in each, by time.
func binned(curve []analysis.CurvePoint, n int) []analysis.CurvePoint {
	if len(curve) == 0 {
		return nil
	}
	n = min(n, len(curve))
	total := float64(curve[len(curve)-1].Written)
	bytes, seconds := make([]float64, n), make([]float64, n)
	var from float64
	for _, p := range curve {
		until := float64(p.Written)
		if p.Rate <= 0 || total <= 0 {
			continue
		}
		// A point may lie in several parts.
		for k := range n {
			lo, hi := max(from, total*float64(k)/float64(n)), min(until, total*float64(k+1)/float64(n))
			if hi > lo {
				bytes[k] += hi - lo
				seconds[k] += (hi - lo) / p.Rate
			}
		}
		from = until
	}
	out := make([]analysis.CurvePoint, n)
	for k := range n {
		out[k].Written = int64(total * float64(k+1) / float64(n))
		if seconds[k] > 0 {
			out[k].Rate = bytes[k] / seconds[k]
		}
	}
	return out
}

// sparkline draws a curve in n characters from 0 to its most.
func sparkline(curve []analysis.CurvePoint, n int) (bars string, most float64) {
	const blocks = "▁▂▃▄▅▆▇█"
	points := binned(curve, n)
	for _, p := range points {
		most = max(most, p.Rate)
	}
	if most <= 0 {
		return "", 0
	}
	r := []rune(blocks)
	for _, p := range points {
		bars += string(r[min(int(p.Rate/most*float64(len(r))), len(r)-1)])
	}
	return bars, most
}

// fillDetails are the course of a long write and of the recovery after it.
func (b *builder) fillDetails() []Block {
	m := &b.drops
	var blocks []Block
	for i := range b.res.Fills {
		f := &b.res.Fills[i]
		if len(b.res.Fills) > 1 {
			blocks = append(blocks, Paragraph{[]string{b.placeName(b.rec, f.Place)}})
		}
		points := binned(f.Curve, 20)
		var most float64
		for _, p := range points {
			most = max(most, p.Rate)
		}
		t := Table{Columns: []Column{{m.written, false}, {"MB/s", false}, {m.speed, true}}}
		written := func(n int64) string { return b.bytes(n) }
		for k := 1; k < len(points); k++ {
			if b.bytes(points[k-1].Written) == b.bytes(points[k].Written) { // rounded too much to tell rows apart
				written = func(n int64) string { return unit(b.fixed(float64(n)/1e9, 0), "GB") }
			}
		}
		for _, p := range points {
			bar := ""
			if most > 0 {
				bar = strings.Repeat("█", int(math.Round(p.Rate/most*40)))
			}
			if bar == "" {
				bar = "▏"
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: written(p.Written)}, {Text: b.short(p.Rate / 1e6)}, {Text: bar}}})
		}
		blocks = append(blocks, t)
		if len(f.Recovery) > 0 {
			t := Table{Columns: []Column{{m.rest, false}, {"MB/s", false}, {m.inCache, false}}}
			for _, r := range f.Recovery {
				share := absent
				if f.CacheBytes != nil && f.InCache > 0 {
					share = unit(b.percent(r.Rate/f.InCache), "%")
				}
				t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: b.long(r.AfterNS)}, {Text: b.short(r.Rate / 1e6)}, {Text: share}}})
			}
			blocks = append(blocks, t)
		}
	}
	return blocks
}

// loadFinding says in sentences what a load did to the drive; "" where the run is
// of another kind.
func (b *builder) loadFinding() string {
	switch {
	case b.fills():
		return b.fillFinding(&b.res.Fills[0])
	case loads(b.rec):
		return b.heatFinding()
	}
	return ""
}

func (b *builder) fillFinding(f *analysis.Fill) string {
	m := &b.drops
	mbs := func(v float64) string { return unit(b.short(v/1e6), "MB/s") }
	text := fmt.Sprintf(m.fillNever, b.bytes(f.Written), mbs(f.Average))
	if f.CacheBytes != nil && f.AfterCache != nil {
		fell := m.fillFell
		switch {
		case f.CacheDoubt != "":
			fell = m.fillMaybe[string(f.CacheDoubt)]
		case f.StartSeconds == 1:
			fell = m.fillAtMost
		case f.StartSeconds > 1:
			fell = m.fillStart
		}
		text = fmt.Sprintf(fell, b.bytes(*f.CacheBytes), mbs(f.InCache), mbs(*f.AfterCache), b.bytes(f.Written), mbs(f.Average))
	}
	if f.Folding != nil && f.FoldingFrom != nil {
		text += " " + fmt.Sprintf(m.fillFolds, b.bytes(*f.FoldingFrom), mbs(*f.Folding))
	}
	size := func(d *analysis.Drop) float64 {
		if ph := b.res.Phase(d.Phase); ph != nil && !d.InBytes {
			return float64(ph.Job.BlockSize)
		}
		return 1
	}
	var others []analysis.CauseKind
	for i := range b.res.Drops {
		d := &b.res.Drops[i]
		switch {
		case d.Pass != f.Pass || d.By(analysis.CauseSLC) != nil || f.CacheBytes != nil && d.Written == *f.CacheBytes:
		case f.CacheBytes != nil && len(d.Named()) == 0 && !d.Recovered && !d.Stall && d.Depth >= 0.1 && d.Written > *f.CacheBytes:
			text += " " + fmt.Sprintf(m.fillAgain, b.bytes(d.Written), mbs(d.Plateau*size(d)))
		case d.By(analysis.CauseThermal, analysis.CauseThermalLink) != nil:
			if !strings.Contains(text, "\x00") {
				text += "\x00 " + fmt.Sprintf(m.fillHot, b.bytes(d.Bytes))
			}
		default:
			others = append(others, d.Causes[0].Kind)
		}
	}
	text = strings.ReplaceAll(text, "\x00", "")
	if len(others) > 0 {
		text += " " + fmt.Sprintf(m.fillElse, b.causeList(others))
	}
	return text
}

// causeList names causes, each once.
func (b *builder) causeList(kinds []analysis.CauseKind) string {
	var names []string
	for _, k := range kinds {
		name := b.drops.cause[string(k)]
		if name == "" {
			name = b.data(string(k))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return b.list(names)
}

func (b *builder) heatFinding() string {
	m := &b.drops
	var others []analysis.CauseKind
	maybe := false // fell where heat would fit
	for i := range b.res.Drops {
		d := &b.res.Drops[i]
		if (d.Role == record.RoleLoad || d.Role == "") && d.By(analysis.CauseThermal, analysis.CauseThermalLink) == nil && len(d.Causes) > 0 {
			if len(d.Named()) == 0 && slices.ContainsFunc(d.Causes, func(c analysis.Cause) bool { return c.Kind == analysis.CauseThermal }) {
				maybe = true
				continue
			}
			others = append(others, d.Causes[0].Kind)
		}
	}
	var text string
	place := b.heatPlace()
	var low, high, after [2]int64
	var lost [2]float64
	var back [2]int64
	var sensors []string
	var duty [2]float64
	n, recovered, sawteeth := 0, 0, 0
	for i := range b.res.Heat {
		h := &b.res.Heat[i]
		if h.Place != place {
			continue
		}
		widen(&after, n == 0, h.AfterNS)
		if n == 0 {
			lost = [2]float64{h.Lost, h.Lost}
		}
		lost = [2]float64{min(lost[0], h.Lost), max(lost[1], h.Lost)}
		n++
		if v := h.ThrottledShare; v != nil {
			if sawteeth++; sawteeth == 1 {
				duty = [2]float64{*v, *v}
			}
			duty = [2]float64{min(duty[0], *v), max(duty[1], *v)}
		}
		if h.Onset != nil {
			widen(&low, len(sensors) == 0, h.Onset.FromMC)
			widen(&high, len(sensors) == 0, h.Onset.ToMC)
			if s := b.data(h.Onset.Sensor); !slices.Contains(sensors, s) {
				sensors = append(sensors, s)
			}
		}
		if h.RecoveredNS != nil {
			widen(&back, recovered == 0, *h.RecoveredNS)
			recovered++
		}
	}
	hottest := b.sensor()
	switch {
	case n > 0:
		span := b.span2(after, b.long)
		share := b.rangeOf(b.percent(lost[0]), unit(b.percent(lost[1]), "%"), unit(b.percent(lost[0]), "%"))
		if len(sensors) > 0 {
			text = fmt.Sprintf(m.heatFound, b.rangeOf(b.celsius(low[0]), unit(b.celsius(high[1]), "°C"), unit(b.celsius(low[0]), "°C")), b.list(sensors), span, share)
		} else {
			text = fmt.Sprintf(m.heatAlso, span, share)
		}
		if sawteeth > 0 {
			text += " " + fmt.Sprintf(m.heatShare, b.rangeOf(b.percent(duty[0]), unit(b.percent(duty[1]), "%"), unit(b.percent(duty[0]), "%")))
		}
		if recovered == n {
			text += " " + fmt.Sprintf(m.recovers, b.span2(back, b.long))
		}
	case hottest != nil:
		text = fmt.Sprintf(m.heatNone, unit(b.celsius(hottest.Max), "°C"), b.data(hottest.Sensor))
	default:
		text = m.heatOpen
	}
	known := slices.DeleteFunc(slices.Clone(others), func(k analysis.CauseKind) bool { return k == analysis.CauseUnknown })
	if len(known) > 0 {
		text += " " + fmt.Sprintf(m.heatElse, b.causeList(known))
	}
	if len(known) < len(others) {
		text += " " + m.heatUnknown
	}
	if maybe {
		text += " " + m.heatMaybe
	}
	if n == 0 && len(others) == 0 && !maybe {
		text += " " + m.heatSteady
	}
	return text
}

func widen(r *[2]int64, first bool, v int64) {
	if first {
		*r = [2]int64{v, v}
	}
	r[0], r[1] = min(r[0], v), max(r[1], v)
}

// span2 words a range of which both ends have their unit.
func (b *builder) span2(r [2]int64, format func(int64) string) string {
	return b.rangeOf(format(r[0]), format(r[1]), format(r[0]))
}

// rangeOf is "low to high", or only one where both read the same.
func (b *builder) rangeOf(low, high, one string) string {
	if high == one || low == high {
		return high
	}
	// One unit is enough: "72 to 87 s".
	if n, u, ok := strings.Cut(high, glue); ok && strings.HasSuffix(low, glue+u) {
		low = strings.TrimSuffix(low, glue+u)
		return fmt.Sprintf(b.between, low, n) + glue + u
	}
	return fmt.Sprintf(b.between, low, high)
}

// worthNoting are the warnings of a run without those that its table of a load
// says better, and with what slowed whole passes down unseen: CPUs and links have
// a warning or a sentence of their own.
func worthNoting(rec *record.Record, res *analysis.Result) []record.Warning {
	all := slices.Clone(res.Warnings)
	for i := range res.Holds {
		h := &res.Holds[i]
		known := slices.ContainsFunc(res.Warnings, func(w record.Warning) bool {
			return w.Code == record.WarnExtraWrites && w.Phase == h.Phase && w.Place == h.Place
		})
		unseen := h.Cause.Kind == analysis.CauseNeighbour && !known || h.Cause.Kind == analysis.CausePowerState
		if unseen && h.Cause.Confidence != analysis.Weak {
			all = append(all, record.Warning{Code: record.WarnSlowed, Phase: h.Phase, Place: h.Place,
				Words: map[string]string{"cause": "all-along/" + string(h.Cause.Kind)}})
		}
	}
	if !loads(rec) {
		return all
	}
	return slices.DeleteFunc(all, func(w record.Warning) bool {
		// What the facts of a long write say, with their doubt.
		fill := slices.ContainsFunc(res.Fills, func(f analysis.Fill) bool {
			return f.CacheBytes != nil && w.Pass != nil && *w.Pass == f.Pass && w.Phase == f.Phase
		})
		return w.Code == record.WarnThrottled || w.Code == record.WarnCacheFull && len(res.Fills) > 0 ||
			w.Code == record.WarnSlowed && fill && slices.Contains([]string{"", "lasting", "maybe-thermal"}, w.Words["cause"])
	})
}
