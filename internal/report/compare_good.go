package report

import (
	"fmt"
	"math"
	"slices"

	"nativ/internal/analysis"
	"nativ/internal/compare"
	"nativ/internal/job"
	"nativ/internal/rating"
	"nativ/internal/record"
	"nativ/internal/reference"
)

// leastInFlight is from how many I/Os in flight on a result is held against the
// maker's figure: makers measure with many (QD32 and several threads), and with
// fewer no drive reaches it.
const leastInFlight = 32

// A result is a number to hold against what is known of a drive.
type result struct {
	label, side string
	job         *job.Phase
	iops, bw    *float64
}

// yardsticks hold results of one record against its link, its maker and
// published tables; none where nothing of them is known.
type yardsticks struct {
	*speaker
	drive      *record.Drive
	rec        *record.Record
	rated      *rating.Rating
	link       float64 // bytes a second, 0 where not known
	linkText   string
	references []*record.Record
}

func (s *speaker) yardsticks(rec *record.Record) *yardsticks {
	y := &yardsticks{speaker: s, rec: rec}
	if len(rec.Target.Drives) != 1 || rec.Plan.MaxRate > 0 || rec.Target.Network || analysis.VirtualDrive(&rec.Target.Drives[0]) {
		return y
	}
	y.drive = &rec.Target.Drives[0]
	if r, ok := rating.OfDrive(y.drive); ok {
		y.rated = &r
	}
	if v, ok := compare.LinkLimit(rec); ok {
		y.link = v
		y.linkText = "PCIe" + glue + pcie(float64(y.drive.Link.SpeedMTs), float64(y.drive.Link.Width))
	} else if y.rated != nil && y.rated.PCIeMTs > 0 {
		// What the drive can do, where nobody knows what its slot does.
		y.link = analysis.LinkBytes(y.rated.PCIeMTs, y.rated.Lanes)
		y.linkText = "PCIe" + glue + pcie(float64(y.rated.PCIeMTs), float64(y.rated.Lanes))
	}
	if y.drive.Model == nil {
		return y
	}
	if compare.Published(rec) {
		return y // a publication is no yardstick for itself
	}
	for _, ref := range reference.For(*y.drive.Model) {
		if !fromTemperature(ref) {
			y.references = append(y.references, ref)
		}
	}
	return y
}

// fromTemperature reports whether a table is of a drive that was hot.
func fromTemperature(ref *record.Record) bool {
	for i := range ref.Rounds {
		for _, p := range ref.Rounds[i].Passes {
			if p.Published != nil && p.Published.FromMC != nil {
				return true
			}
		}
	}
	return false
}

func (y *yardsticks) known() bool { return y.link > 0 || y.rated != nil || len(y.references) > 0 }

// ratedOf is the maker's figure for a phase: I/Os a second, or bytes.
func (y *yardsticks) ratedOf(j *job.Phase) (iops, bw *float64) {
	if y.rated == nil || !j.Direct || j.FDataSync > 0 || j.FSync > 0 || j.IODepth*j.NumJobs < leastInFlight {
		return nil, nil
	}
	mb := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(*v * 1e6)
	}
	switch {
	case j.Mode == job.RandRead && j.BlockSize == 4096:
		return y.rated.ReadIOPS, nil
	case j.Mode == job.RandWrite && j.BlockSize == 4096:
		return y.rated.WriteIOPS, nil
	case j.Mode == job.Read && j.BlockSize >= 64<<10:
		return nil, mb(y.rated.ReadMB)
	case j.Mode == job.Write && j.BlockSize >= 64<<10:
		return nil, mb(y.rated.WriteMB)
	}
	return nil, nil
}

// referenceOf is the published IOPS of a phase that did the same.
func referenceOf(ref *record.Record, j *job.Phase) *float64 {
	for i := range ref.Plan.Phases {
		p := &ref.Plan.Phases[i]
		if p.Mode == j.Mode && p.BlockSize == j.BlockSize && p.IODepth == j.IODepth && p.NumJobs == j.NumJobs && p.Direct == j.Direct &&
			p.FDataSync == j.FDataSync && p.FSync == j.FSync && i < len(ref.Rounds) && len(ref.Rounds[i].Passes) == 1 {
			return ref.Rounds[i].Passes[0].Published.IOPS
		}
	}
	return nil
}

// goodTable is "is that good?" for results of sides, each with its yardsticks.
func (s *speaker) goodTable(results []result, of func(side string) *yardsticks) (Table, bool) {
	m := &s.compare
	t := Table{Columns: []Column{{m.good, true}}}
	sides := false
	var refs []string
	for _, r := range results {
		sides = sides || r.side != ""
		for _, ref := range of(r.side).references {
			if name := ref.Import.Publication.Table; len(refs) < 2 && !slices.Contains(refs, name) {
				refs = append(refs, name)
			}
		}
	}
	if sides {
		t.Columns = append(t.Columns, Column{Head: ""})
	}
	t.Columns = append(t.Columns, Column{Head: m.measured}, Column{Head: m.ofLink}, Column{Head: m.ofMaker})
	for _, name := range refs {
		t.Columns = append(t.Columns, Column{Head: s.data(name)})
	}
	pct := func(v, of *float64) string {
		if v == nil || of == nil || *of <= 0 {
			return absent
		}
		if *v / *of < 0.005 {
			return unit(fmt.Sprintf(s.detail.below, "1"), "%")
		}
		return unit(s.fixed(*v / *of * 100, 0), "%")
	}
	any := false
	for _, r := range results {
		y := of(r.side)
		if !y.known() || r.iops == nil && r.bw == nil {
			continue
		}
		text := orAbsent(r.iops, func(v float64) string { return unit(s.wholeOrShort(v), "IOPS") })
		if !inIOPS(r.job) {
			text = orAbsent(r.bw, func(v float64) string { return unit(s.short(v/1e6), "MB/s") })
		}
		row := Row{Cells: []Cell{{Text: r.label}}}
		if sides {
			row.Cells = append(row.Cells, Cell{Text: r.side})
		}
		var link *float64
		if y.link > 0 {
			link = &y.link
		}
		maker := absent
		iops, bw := y.ratedOf(r.job)
		switch {
		case iops != nil:
			maker = pct(r.iops, iops)
		case bw != nil:
			maker = pct(r.bw, bw)
		}
		row.Cells = append(row.Cells, Cell{Text: text}, Cell{Text: pct(r.bw, link)}, Cell{Text: maker})
		for _, name := range refs {
			cell := absent
			for _, ref := range y.references {
				if ref.Import.Publication.Table == name {
					cell = pct(r.iops, referenceOf(ref, r.job))
				}
			}
			row.Cells = append(row.Cells, Cell{Text: cell})
		}
		t.Rows = append(t.Rows, row)
		any = true
	}
	return t, any
}

// facts are the yardsticks themselves.
func (y *yardsticks) facts() []Fact {
	m := &y.compare
	var f Facts
	if y.link > 0 {
		text := m.linkLimit
		if _, ok := compare.LinkLimit(y.rec); !ok {
			text = m.linkOfDrive
		}
		f.add(m.linkRow, fmt.Sprintf(text, y.linkText, y.short(y.link/1e6)))
	}
	if r := y.rated; r != nil {
		of := func(v *float64) string { return orAbsent(v, func(v float64) string { return y.fixed(v, 0) }) }
		f.add(m.makerRow, fmt.Sprintf(m.maker, r.Name, y.bytes(r.GB*1e9), of(r.ReadMB), of(r.WriteMB), of(r.ReadIOPS), of(r.WriteIOPS)))
		if r.TBW != nil {
			text := fmt.Sprintf(m.endurance, y.fixed(*r.TBW, 0))
			if w := writtenOver(y.rec, y.drive); w != nil {
				text += fmt.Sprintf(m.enduranceUsed, y.bytes(*w), y.share(float64(*w)/(*r.TBW*1e12)))
			}
			f.add(m.enduranceRow, text)
		}
		f.add(m.sourceRow, fmt.Sprintf(m.source, r.Source, r.Checked))
	}
	for _, ref := range y.references {
		f.add(ref.Import.Publication.Table, fmt.Sprintf("%s: %s", ref.ID, ref.Import.Publication.Title))
	}
	return f.Rows
}

// goodNotes say what the columns are.
func (s *speaker) goodNotes(all ...*yardsticks) Paragraph {
	lines := []string{s.compare.goodNote}
	if slices.ContainsFunc(all, func(y *yardsticks) bool { return len(y.references) > 0 }) {
		lines = append(lines, s.compare.goodTables)
	}
	return Paragraph{lines}
}

// share formats a part of an endurance, which may be tiny.
func (s *speaker) share(f float64) string {
	if f > 0 && f < 0.001 {
		return fmt.Sprintf(s.detail.below, s.fixed(0.1, 1))
	}
	return s.fixed(math.Round(f*1000)/10, 1)
}

// writtenOver is what was written to a drive over its life, in bytes, as its
// health log says in the last sample that has it; nil where there is none.
func writtenOver(rec *record.Record, d *record.Drive) *int64 {
	if d.Controller == nil {
		return nil
	}
	var last *int64
	look := func(s *record.Sample) {
		if s == nil {
			return
		}
		if h, ok := s.Health[*d.Controller]; ok && h.WrittenBytes > 0 {
			last = &h.WrittenBytes
		}
	}
	look(rec.Idle)
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			look(rec.Rounds[i].Passes[k].Watch.Before)
			look(rec.Rounds[i].Passes[k].Watch.After)
		}
	}
	return last
}

// goodOfPairs are the blocks under a comparison.
func (c *comparer) goodOfPairs(labels []string) []Block {
	a, b := c.yardsticks(c.cmp.A.Record), c.yardsticks(c.cmp.B.Record)
	var results []result
	hot := false
	add := func(r result, doubts []string) {
		// What a cache answered is no number of the drive.
		if slices.Contains(doubts, record.WarnCacheAnswered) {
			return
		}
		if slices.Contains(doubts, record.WarnThrottled) {
			r.label, hot = r.label+" †", true
		}
		results = append(results, r)
	}
	for i := range c.cmp.Pairs {
		p := &c.cmp.Pairs[i]
		iops, bw := p.Metric(compare.IOPS), p.Metric(compare.BW)
		add(result{labels[i], "A", &p.A, iops.A, bw.A}, p.DoubtsA)
		add(result{labels[i], "B", &p.B, iops.B, bw.B}, p.DoubtsB)
	}
	t, ok := c.goodTable(results, func(side string) *yardsticks {
		if side == "A" {
			return a
		}
		return b
	})
	if !ok {
		return nil
	}
	facts, more := a.facts(), b.facts()
	if !slices.Equal(facts, more) {
		for i := range facts {
			facts[i].Label = "A " + facts[i].Label
		}
		for _, f := range more {
			facts = append(facts, Fact{"B " + f.Label, f.Text})
		}
	}
	notes := c.goodNotes(a, b)
	if hot {
		notes.Lines = append([]string{c.compare.withThrottling}, notes.Lines...)
	}
	return []Block{t, Facts{Rows: facts}, notes}
}

// good are the blocks in the details of a run, for its first place.
func (b *builder) good() []Block {
	y := b.yardsticks(b.rec)
	if !y.known() || len(b.res.Phases) == 0 || len(b.rec.Plan.Places) == 0 {
		return nil
	}
	var results []result
	fell, hot := false, false
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		// What a cache answered is no number of the drive.
		cached := slices.ContainsFunc(b.res.Warnings, func(w record.Warning) bool {
			return w.Code == record.WarnCacheAnswered && w.Phase == ph.Job.Name
		})
		if p := ph.Place(b.rec.Plan.Places[0]); p != nil && !cached {
			r := result{label: b.label(ph), job: &ph.Job, iops: p.IOPS, bw: p.BytesPerSec}
			if iops, bw, ok := b.beforeFall(ph, p.Name); ok {
				r.label, r.iops, r.bw = r.label+" *", &iops, &bw
				fell = true
			} else if b.slowedByHeat(ph.Job.Name, p.Name) {
				r.label, hot = r.label+" †", true
			}
			results = append(results, r)
		}
	}
	t, ok := b.goodTable(results, func(string) *yardsticks { return y })
	if !ok {
		return nil
	}
	t.Columns[0].Head = b.placeName(b.rec, b.rec.Plan.Places[0])
	notes := b.goodNotes(y)
	if fell {
		notes.Lines = append([]string{b.compare.beforeFall}, notes.Lines...)
	}
	if hot {
		notes.Lines = append([]string{b.compare.withThrottling}, notes.Lines...)
	}
	return []Block{t, Facts{Rows: y.facts()}, notes}
}

// slowedByHeat reports whether heat slowed the drive down in a phase in a place.
func (b *builder) slowedByHeat(phase, place string) bool {
	return slices.ContainsFunc(b.res.Warnings, func(w record.Warning) bool {
		return w.Code == record.WarnThrottled && w.Phase == phase && w.Place == place
	})
}

// beforeFall is the speed of a phase in a place until heat or a full cache
// ended it, if one did: the maker's figures are of that time, too, and a mean
// over both says how long the pass was.
func (b *builder) beforeFall(ph *analysis.Phase, place string) (iops, bw float64, ok bool) {
	if f := slices.IndexFunc(b.res.Fills, func(f analysis.Fill) bool {
		return f.Phase == ph.Job.Name && f.Place == place && f.CacheBytes != nil
	}); f >= 0 {
		bw = b.res.Fills[f].InCache
	} else if h := b.heatIn(ph.Job.Name, place); h != nil && b.roleOf(h.Pass) != record.RoleHot {
		bw = h.BeforeBytes
	} else {
		return 0, 0, false
	}
	return bw / float64(max(ph.Job.BlockSize, 1)), bw, true
}
