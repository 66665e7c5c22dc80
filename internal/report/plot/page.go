package plot

import (
	"slices"
	"strings"

	"golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"nativ/internal/report"
)

const boldWeight = font.WeightBold

// plain turns no-break spaces, which the fonts draw as nothing in some viewers, into
// spaces.
func plain(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// words are the pieces at which a line may break: not between a number and its
// unit.
func words(s string) []string { return strings.Split(s, " ") }

// A page is a picture with its parts laid out from top to bottom.
type page struct {
	theme
	c             *report.Chart
	o             Options
	width, height vg.Length
	inner         vg.Length // without margins

	title, sim, sub, small writer

	head    []line // above the legend
	legend  [][]entry
	tail    []line // below the panels
	phases  []placed
	tracks  int       // rows of the names of phases
	flags   vg.Length // room for the numbers of drops above the panels
	left    vg.Length
	right   vg.Length
	heights []vg.Length // of the panels
}

// A line of text of the page.
type line struct {
	w    writer
	text string
	high vg.Length
}

// An entry of the legend.
type entry struct {
	s    *report.Series
	x, w vg.Length
}

const (
	margin    = vg.Length(14)
	tickSize  = 8.5
	labelSize = 9
	swatch    = vg.Length(26) // of the legend
	trackHigh = vg.Length(11)
	flagHigh  = vg.Length(14)
	axisHigh  = vg.Length(32) // tick labels and label below the last panel
	panelGap  = vg.Length(12)
)

func newPage(c *report.Chart, o Options) (*page, error) {
	if err := check(c); err != nil {
		return nil, wrapped(c, err)
	}
	p := &page{theme: themeOf(o.Dark), c: c, o: o, width: vg.Points(o.Width)}
	if o.Width <= 0 {
		p.width = DefaultWidth
	}
	p.inner = p.width - 2*margin
	p.title, p.sub, p.small = write(14, true, p.ink), write(9.5, false, p.faint), write(8.5, false, p.faint)
	p.sim = write(10.5, true, p.colour(1))
	p.layout()
	return p, nil
}

func (p *page) add(lines *[]line, w writer, text string, high vg.Length) {
	for _, l := range w.wrap(text, p.inner) {
		*lines = append(*lines, line{w, l, high})
	}
}

// layout decides where everything goes, and so how high the picture is.
func (p *page) layout() {
	c := p.c
	if !p.o.Bare {
		p.add(&p.head, p.title, c.Title, 19)
	}
	if c.Simulated != "" {
		p.add(&p.head, p.sim, c.Simulated, 15)
	}
	if !p.o.Bare {
		p.add(&p.head, p.sub, c.Subtitle, 13)
	}
	p.layoutLegend()
	for _, m := range c.Marks {
		if m.Short != "" {
			p.add(&p.tail, p.small, m.Short+"  "+m.Label, 11.5)
		}
	}
	if !p.o.Bare {
		for _, n := range c.Notes {
			p.add(&p.tail, p.small, n, 11.5)
		}
		p.add(&p.tail, p.small, c.Citation, 11.5)
	}
	p.layoutPanels()
	p.layoutPhases()
	if slices.ContainsFunc(c.Marks, func(m report.Mark) bool { return m.Kind == report.MarkDrop && m.Short != "" }) {
		p.flags = flagHigh
	}

	p.height = 2*margin + p.headHigh() + vg.Length(p.tracks)*trackHigh + p.flags + axisHigh
	for i, h := range p.heights {
		p.height += h
		if i > 0 {
			p.height += panelGap
		}
	}
	for _, l := range p.tail {
		p.height += l.high
	}
	if len(p.tail) > 0 {
		p.height += 6
	}
}

func (p *page) headHigh() vg.Length {
	var h vg.Length
	for _, l := range p.head {
		h += l.high
	}
	return h + vg.Length(len(p.legend))*14 + 8
}

// layoutLegend breaks the names of the series into rows.
func (p *page) layoutLegend() {
	w := p.legendWriter()
	var row []entry
	var x vg.Length
	for i := range p.c.Panels {
		for j := range p.c.Panels[i].Series {
			s := &p.c.Panels[i].Series[j]
			e := entry{s: s, w: swatch + 5 + w.width(w.cut(s.Name, p.inner-swatch-10))}
			if x > 0 && x+e.w > p.inner {
				p.legend, row, x = append(p.legend, row), nil, 0
			}
			e.x = x
			row, x = append(row, e), x+e.w+18
		}
	}
	if len(row) > 0 {
		p.legend = append(p.legend, row)
	}
}

func (p *page) legendWriter() writer { return write(labelSize, false, p.ink) }

// layoutPanels finds the room beside the panels and their heights.
func (p *page) layoutPanels() {
	tick := write(tickSize, false, p.ink)
	p.left, p.right = 0, 10
	if n := len(p.c.X.Ticks); n > 0 { // half of it beyond the end of the axis
		p.right = max(p.right, tick.width(p.c.X.Ticks[n-1].Label)/2-margin+4)
	}
	for i := range p.c.Panels {
		panel := &p.c.Panels[i]
		for _, t := range panel.Y.Ticks {
			p.left = max(p.left, tick.width(t.Label))
		}
		switch p.c.Kind {
		case report.ChartForest, report.ChartBars:
			bars := vg.Length(max(1, len(panel.Series)))
			p.heights = append(p.heights, vg.Length(len(panel.Y.Ticks))*(bars*13+9)+8)
		default:
			high := vg.Length(270)
			if len(p.c.Panels) > 1 {
				high = []vg.Length{230, 140}[min(i, 1)]
			}
			p.heights = append(p.heights, high)
		}
	}
	p.left = min(p.left, p.inner*0.3) + 8
	if p.c.Kind == report.ChartLines || p.c.Kind == report.ChartScatter {
		p.left += 16 // the label of the axis
	}
	if p.c.Kind != report.ChartForest && p.c.Kind != report.ChartBars {
		return
	}
	for _, s := range p.c.Panels[0].Series {
		for _, part := range s.Parts {
			for _, pt := range part.Points {
				room := vg.Length(0) // behind a bar, which a point of a forest plot has beside it
				if p.c.Kind == report.ChartBars {
					room = vg.Length(1-place(&p.c.X, pt.X)) * (p.inner - p.left - 10)
				}
				p.right = max(p.right, tick.width(pt.Label)+12-room)
			}
		}
	}
	p.right = min(p.right, p.inner*0.35)
}

// placed is the name of a phase above the panels.
type placed struct {
	m     *report.Mark
	x     vg.Length // centre, from the left of the panel
	width vg.Length
	track int
}

// mostTracks is how many rows the names of phases may take.
const mostTracks = 3

// layoutPhases puts the names of phases where they do not overlap; one without room
// is left out, and the strokes stay.
func (p *page) layoutPhases() {
	w := p.phaseWriter()
	room := p.inner - p.left - p.right
	var free [mostTracks]vg.Length
	for i := range p.c.Marks {
		m := &p.c.Marks[i]
		if m.Kind != report.MarkPhase {
			continue
		}
		from, until := vg.Length(place(&p.c.X, m.From))*room, vg.Length(place(&p.c.X, m.To))*room
		width := w.width(m.Label)
		x := min(max((from+until)/2, width/2), room-width/2)
		for t := range free {
			if x-width/2 >= free[t] {
				p.phases = append(p.phases, placed{m, x, width, t})
				free[t] = x + width/2 + 5
				p.tracks = max(p.tracks, t+1)
				break
			}
		}
	}
}

func (p *page) phaseWriter() writer { return write(7.5, false, p.faint) }

// draw puts everything on a canvas of the page's size.
func (p *page) draw(c draw.Canvas) {
	c.SetColor(p.paper)
	c.Fill(c.Rectangle.Path())
	y := p.height - margin
	for _, l := range p.head {
		l.w.at(&c, vg.Point{X: margin, Y: y}, draw.XLeft, draw.YTop, l.text)
		y -= l.high
	}
	y -= 3
	w := p.legendWriter()
	for _, row := range p.legend {
		for _, e := range row {
			p.swatch(&c, e.s, margin+e.x, y-5)
			w.at(&c, vg.Point{X: margin + e.x + swatch + 5, Y: y - 5}, draw.XLeft, draw.YCenter, w.cut(e.s.Name, p.inner-swatch-10))
		}
		y -= 14
	}
	y -= 5
	left := margin + p.left
	right := p.width - margin - p.right
	p.drawPhases(&c, left, y)
	y -= vg.Length(p.tracks)*trackHigh + p.flags
	for i := range p.c.Panels {
		box := vg.Rectangle{Min: vg.Point{X: left, Y: y - p.heights[i]}, Max: vg.Point{X: right, Y: y}}
		f := &field{page: p, canvas: &c, panel: &p.c.Panels[i], box: box, first: i == 0, last: i == len(p.c.Panels)-1}
		f.draw()
		y -= p.heights[i]
		if !f.last {
			y -= panelGap
		}
	}
	y -= axisHigh
	if len(p.tail) > 0 {
		y -= 6
	}
	for _, l := range p.tail {
		l.w.at(&c, vg.Point{X: margin, Y: y}, draw.XLeft, draw.YTop, l.text)
		y -= l.high
	}
}

// drawPhases writes their names, with a stroke down to the panel for each.
func (p *page) drawPhases(c *draw.Canvas, left, top vg.Length) {
	w := p.phaseWriter()
	for _, ph := range p.phases {
		y := top - vg.Length(ph.track)*trackHigh
		w.at(c, vg.Point{X: left + ph.x, Y: y}, draw.XCenter, draw.YTop, ph.m.Label)
	}
}
