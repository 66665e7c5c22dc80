package report

import (
	"fmt"
	"math"
	"slices"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

const (
	// mostSensors is how many temperatures are drawn: drives have up to eight that
	// mostly run beside each other.
	mostSensors = 3
	// lostSample is the time between two readings from which nothing is known of what
	// lies between: they are taken once a second.
	lostSample = 10e9
	// mostPhases is how many tests are named along the time; more would cover it.
	mostPhases = 40
	// leastWait is the share of the time from which a cool-down is marked.
	leastWait = 1.0 / 150
)

// timeChart is the whole run: throughput, and below it the temperature.
func (c *charter) timeChart() ([]*Chart, string) {
	m := &c.charts
	all := c.stretches(c.sensorName(), func(*record.Pass) bool { return true })
	if len(all) == 0 {
		return nil, m.noSeconds
	}
	ch := c.chart(idTime, ChartLines, m.timeAlone)
	var series []Series
	for _, p := range c.passes {
		key, name := p.Place, c.shortPlace(c.rec, p.Place)
		if c.rec.Jobs != nil || c.rec.Import != nil {
			key, name = p.Phase, c.data(p.Phase)
		}
		k := slices.IndexFunc(series, func(s Series) bool { return s.Name == name })
		if k < 0 {
			series = append(series, Series{Name: name, Place: p.Place, Style: c.styleOf(key)})
			k = len(series) - 1
		}
		start := c.starts[p.Index]
		series[k].Parts = append(series[k].Parts, c.courses(p, func(ns, _ int64) float64 { return start + float64(ns) })...)
	}
	series = slices.DeleteFunc(series, func(s Series) bool { return len(s.Parts) == 0 })
	if c.rec.Jobs != nil || c.rec.Import != nil {
		var note string
		if series, note = c.styled(series); note != "" {
			ch.Notes = append(ch.Notes, note)
		}
	}
	_, y, _ := extent(series)
	speed := Panel{Y: Axis{Label: m.axisThroughput, Quantity: QuantityThroughput, Units: rateUnits(false)}, Series: series}
	c.linear(&speed.Y, y[0], y[1], true)
	thinSeries(speed.Series, mostPoints)

	var end float64
	for _, p := range c.passes {
		end = max(end, c.starts[p.Index]+float64(p.Outcome.ElapsedNS()))
	}
	ch.X = Axis{Label: m.axisTime, Quantity: QuantityTime, Units: timeUnits(end)}
	if c.rec.Import != nil {
		ch.X.Label = m.axisInPass
	}
	c.exact(&ch.X, 0, end)
	ch.Panels = []Panel{speed}
	free := 0 // styles that no place has
	for i := range series {
		free = max(free, series[i].Style+1)
	}
	temp, ok := c.temperatures(free)
	if ok {
		ch.Title, ch.Panels = m.time, append(ch.Panels, temp)
	} else {
		ch.Notes = append(ch.Notes, m.noTemperature)
	}
	ch.Marks = append(append(c.phaseMarks(), c.waitMarks(end)...), c.pauses...)
	drops, more := c.dropMarks(func(d *analysis.Drop) (float64, string, bool) {
		at, ok := c.starts[d.Pass]
		return at + float64(d.OnsetNS), c.dropText(c.charts.drop, d, c.long(d.OnsetNS)), ok
	})
	ch.Marks = append(ch.Marks, drops...)
	if slices.ContainsFunc(ch.Marks, func(m Mark) bool { return m.Kind == MarkCoolDown }) {
		ch.Notes = append(ch.Notes, m.runTime)
	}
	ch.Notes = append(ch.Notes, m.lineEnds)
	if more > 0 {
		ch.Notes = append(ch.Notes, fmt.Sprintf(m.moreDrops, c.int(int64(more))))
	}
	ch.Alt = fmt.Sprintf(m.altTime, c.testCount(len(c.res.Phases)), c.long(int64(end)), c.spread(all))
	if t := c.sensor(); ok && t != nil {
		ch.Alt += " " + fmt.Sprintf(m.altTemp, c.data(t.Sensor), unit(c.celsius(t.Min), "°C"), unit(c.celsius(t.Max), "°C"))
	} else if !ok {
		ch.Alt += " " + m.altNoTemp
	}
	ch.Data = c.stretchTable(all, ok)
	return []*Chart{ch}, ""
}

func (c *charter) sensorName() string {
	if t := c.sensor(); t != nil {
		return t.Sensor
	}
	return ""
}

// temperatures is the panel of the sensors: first the one that the report names.
func (c *charter) temperatures(style int) (Panel, bool) {
	m := &c.charts
	names := []string{c.sensorName()}
	var shown []analysis.Temperature
	for i := range c.res.Temperatures {
		if t := c.res.Temperatures[i]; t.Sensor == names[0] {
			shown = append(shown, t)
		}
	}
	for i := range c.res.Temperatures {
		t := c.res.Temperatures[i]
		// Many drives have a second sensor that is their composite temperature.
		twin := slices.ContainsFunc(shown, func(o analysis.Temperature) bool { return o.First == t.First && o.Min == t.Min && o.Max == t.Max })
		if !twin && len(names) < mostSensors {
			names, shown = append(names, t.Sensor), append(shown, t)
		}
	}
	var series []Series
	for k, name := range names {
		s := Series{Name: c.data(name), Style: style + k}
		for _, p := range c.passes {
			last := math.Inf(-1)
			for _, sample := range samplesOf(p) {
				mc, ok := sample.Temperatures[name]
				if !ok {
					continue
				}
				x := c.starts[p.Index] + float64(sample.MonoNS-p.Outcome.StartNS)
				if x < 0 || x <= last { // read before go, or twice
					continue
				}
				if x-last > lostSample {
					s.Parts = append(s.Parts, Part{})
				}
				part := &s.Parts[len(s.Parts)-1]
				part.Points = append(part.Points, Point{X: math.Round(x), Y: float64(mc)})
				last = x
			}
		}
		if len(s.Parts) > 0 {
			series = append(series, s)
		}
	}
	_, y, ok := extent(series)
	if !ok {
		return Panel{}, false
	}
	p := Panel{Y: Axis{Label: m.axisTemperature, Quantity: QuantityTemperature, Units: []Unit{{Name: "°C", Factor: 1e-3}}}, Series: series}
	p.Marks = c.limits()
	for _, l := range p.Marks {
		y[1] = max(y[1], l.From)
	}
	c.linear(&p.Y, y[0], y[1], false)
	thinSeries(p.Series, mostPoints)
	return p, true
}

// limits are the temperatures that the drives themselves name, each once.
func (c *charter) limits() []Mark {
	m := &c.charts
	var all []Mark
	add := func(text string, mc *int64) {
		if mc == nil {
			return
		}
		mark := Mark{Kind: MarkLimit, From: float64(*mc), To: float64(*mc), Label: fmt.Sprintf(text, unit(c.celsius(*mc), "°C"))}
		if !slices.Contains(all, mark) {
			all = append(all, mark)
		}
	}
	for i := range c.rec.Target.Drives {
		if n := c.rec.Target.Drives[i].NVMe; n != nil {
			add(m.warning, n.WarningMC)
			add(m.critical, n.CriticalMC)
		}
	}
	return all
}

// phaseMarks are the tests along the time of the run.
func (c *charter) phaseMarks() []Mark {
	if c.rec.Jobs != nil || c.rec.Import != nil {
		return nil // several at a time, which the legend names
	}
	var all []Mark
	last := ""
	for _, p := range c.passes {
		from := c.starts[p.Index]
		until := from + float64(p.Outcome.ElapsedNS())
		if p.Phase == last && len(all) > 0 {
			all[len(all)-1].To = until
			continue
		}
		name := c.data(p.Phase)
		if j := c.jobOf(p.Phase); j != nil {
			name = c.phaseName(j)
		}
		all = append(all, Mark{Kind: MarkPhase, From: from, To: until, Label: name})
		last = p.Phase
	}
	if len(all) > mostPhases {
		return nil
	}
	return all
}

func (c *charter) waitMarks(end float64) []Mark {
	var all []Mark
	for _, p := range c.passes {
		if w := p.CoolDown; w != nil && float64(w.WaitedNS) > end*leastWait {
			at := c.starts[p.Index]
			all = append(all, Mark{Kind: MarkCoolDown, From: max(0, at-float64(w.WaitedNS)), To: at, Label: fmt.Sprintf(c.charts.coolDown, c.long(w.WaitedNS))})
		}
	}
	return all
}
