package report

import (
	"math"
	"slices"
	"strings"

	"nativ/internal/record"
)

// rate is the speed of an interval in bytes a second; false where it is too short
// to have one.
func rate(i *record.Interval) (float64, bool) {
	if i.LenNS < leastInterval || i.ReadBytes < 0 || i.WriteBytes < 0 {
		return 0, false
	}
	return math.Round(float64(i.ReadBytes+i.WriteBytes) / float64(i.LenNS) * 1e9), true
}

// courses are the seconds of a pass as points, with at and what was moved until
// their middle; a second that was lost is a gap.
func (c *charter) courses(p *record.Pass, at func(ns, bytes int64) float64) []Part {
	j := c.jobOf(p.Phase)
	name := c.data(p.Phase)
	if j != nil {
		name = c.phaseName(j)
	}
	var parts []Part
	var moved, ended int64
	for k := range p.Intervals {
		i := &p.Intervals[k]
		bytes := max(0, i.ReadBytes) + max(0, i.WriteBytes)
		if v, ok := rate(i); ok {
			if len(parts) == 0 || i.EndNS-i.LenNS-ended > leastInterval {
				parts = append(parts, Part{Name: name, BlockSize: block(j)})
			}
			last := &parts[len(parts)-1]
			last.Points = append(last.Points, Point{X: math.Round(at(i.EndNS-i.LenNS/2, moved+bytes/2)), Y: v})
			ended = i.EndNS
		}
		moved += bytes
	}
	return parts
}

// extent are the least and the highest of the points of series on both axes; false
// where there are none.
func extent(series []Series) (x, y [2]float64, ok bool) {
	x, y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	for i := range series {
		for j := range series[i].Parts {
			for _, p := range series[i].Parts[j].Points {
				x, y = [2]float64{min(x[0], p.X), max(x[1], p.X)}, [2]float64{min(y[0], p.Y), max(y[1], p.Y)}
				ok = true
			}
		}
	}
	return x, y, ok
}

// A stretch is what a series of seconds came to.
type stretch struct {
	phase, place            string
	n                       int
	mean, least, most, sd   float64
	seconds                 float64
	low, high               *int64 // of the sensor
	sum, squares, weightSum float64
}

func (s *stretch) add(rate, seconds float64) {
	if s.n == 0 {
		s.least, s.most = rate, rate
	}
	s.n++
	s.least, s.most = min(s.least, rate), max(s.most, rate)
	s.sum, s.squares, s.weightSum = s.sum+rate*seconds, s.squares+rate*rate*seconds, s.weightSum+seconds
	s.seconds = s.weightSum
	s.mean = s.sum / s.weightSum
	s.sd = math.Sqrt(max(0, s.squares/s.weightSum-s.mean*s.mean))
}

// stretches are the seconds by test and place, of the passes that ok accepts.
func (c *charter) stretches(sensor string, ok func(*record.Pass) bool) []*stretch {
	var all []*stretch
	for _, p := range c.passes {
		if !ok(p) || len(p.Intervals) == 0 {
			continue
		}
		k := slices.IndexFunc(all, func(s *stretch) bool { return s.phase == p.Phase && s.place == p.Place })
		if k < 0 {
			all = append(all, &stretch{phase: p.Phase, place: p.Place})
			k = len(all) - 1
		}
		s := all[k]
		for i := range p.Intervals {
			if v, ok := rate(&p.Intervals[i]); ok {
				s.add(v, float64(p.Intervals[i].LenNS)/1e9)
			}
		}
		for _, sample := range samplesOf(p) {
			if mc, ok := sample.Temperatures[sensor]; ok {
				if s.low == nil {
					s.low, s.high = &mc, &mc
				}
				s.low, s.high = new(min(*s.low, mc)), new(max(*s.high, mc))
			}
		}
	}
	return slices.DeleteFunc(all, func(s *stretch) bool { return s.n == 0 })
}

// samplesOf are all readings of a pass.
func samplesOf(p *record.Pass) []*record.Sample {
	var all []*record.Sample
	if p.Watch.Before != nil {
		all = append(all, p.Watch.Before)
	}
	for i := range p.Watch.Samples {
		all = append(all, &p.Watch.Samples[i])
	}
	if p.Watch.After != nil {
		all = append(all, p.Watch.After)
	}
	return all
}

// where names a test, and its place where there are several.
func (c *charter) where(phase, place string) string {
	name := c.data(phase)
	if j := c.jobOf(phase); j != nil {
		name = c.phaseName(j)
	}
	if len(c.rec.Plan.Places) > 1 {
		name += ", " + c.shortPlace(c.rec, place)
	}
	return name
}

// speed formats bytes a second as people name the speed of a test.
func (c *charter) speed(phase string, bytes float64) string {
	j := c.jobOf(phase)
	if size := block(j); j != nil && size > 0 && inIOPS(j) {
		return unit(c.short(bytes/float64(size)), "IOPS")
	}
	return unit(c.short(bytes/1e6), "MB/s")
}

// spread words the lowest and the highest second of stretches, of the first few.
func (c *charter) spread(all []*stretch) string {
	const most = 4
	var parts []string
	for _, s := range all[:min(len(all), most)] {
		parts = append(parts, c.where(s.phase, s.place)+" "+c.rangeOf(c.speed(s.phase, s.least), c.speed(s.phase, s.most), ""))
	}
	text := strings.Join(parts, "; ")
	if len(all) > most {
		text += " …"
	}
	return text
}

// stretchTable is the table behind courses of seconds.
func (c *charter) stretchTable(all []*stretch, temperature bool) Table {
	m := &c.charts
	t := Table{Columns: []Column{{m.test, true}, {m.place, true}, {m.length, false}, {m.mean, false}, {m.least, false}, {m.most, false}, {m.deviation, false}}}
	if temperature {
		t.Columns = append(t.Columns, Column{m.temperature + " (°C)", false})
	}
	for _, s := range all {
		name := c.data(s.phase)
		if j := c.jobOf(s.phase); j != nil {
			name = c.phaseName(j)
		}
		deviation := absent
		if s.mean > 0 && s.n > 1 {
			deviation = unit(c.fixed(s.sd/s.mean*100, 1), "%")
		}
		r := Row{Cells: []Cell{{Text: name}, {Text: c.shortPlace(c.rec, s.place)}, {Text: c.fixed(s.seconds, 0)},
			{Text: c.speed(s.phase, s.mean)}, {Text: c.speed(s.phase, s.least)}, {Text: c.speed(s.phase, s.most)}, {Text: deviation}}}
		if temperature {
			text := absent
			if s.low != nil {
				text = c.fromTo(*s.low, *s.high)
			}
			r.Cells = append(r.Cells, Cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
