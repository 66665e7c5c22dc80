package plot

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"nativ/internal/report"
)

func wrapped(c *report.Chart, err error) error {
	return fmt.Errorf("draw the chart %s: %w", c.ID, err)
}

// place is where a value lies on an axis, from 0 to 1.
func place(a *report.Axis, v float64) float64 {
	low, high := a.Scale.At(a.Min), a.Scale.At(a.Max)
	if low > high {
		low, high = high, low
	}
	return (a.Scale.At(v) - low) / (high - low)
}

// A field is one panel on the canvas.
type field struct {
	*page
	canvas      *draw.Canvas
	panel       *report.Panel
	box         vg.Rectangle
	first, last bool
}

func (f *field) x(v float64) vg.Length {
	return f.box.Min.X + vg.Length(place(&f.c.X, v))*(f.box.Max.X-f.box.Min.X)
}

func (f *field) y(v float64) vg.Length {
	return f.box.Min.Y + vg.Length(place(&f.panel.Y, v))*(f.box.Max.Y-f.box.Min.Y)
}

func (f *field) at(p report.Point) vg.Point { return vg.Point{X: f.x(p.X), Y: f.y(p.Y)} }

func (f *field) line(c color.Color, width vg.Length, dashes []vg.Length, pts ...vg.Point) {
	f.canvas.StrokeLines(draw.LineStyle{Color: c, Width: width, Dashes: dashes}, pts)
}

func (f *field) draw() {
	f.bands()
	f.grid()
	switch f.c.Kind {
	case report.ChartForest:
		f.forest()
	case report.ChartBars:
		f.bars()
	case report.ChartScatter:
		f.scatter()
	default:
		f.lines()
	}
	f.limits()
	f.drops()
	f.frame()
	f.simulated()
}

// across is written over the data of what nobody measured, in both languages.
const across = "SIMULATED"

// simulated writes across the field that nothing was measured, so that a part that
// somebody cuts out says it, too.
func (f *field) simulated() {
	if f.c.Simulated == "" {
		return
	}
	w := write(min(float64(f.box.Max.Y-f.box.Min.Y)*0.22, 44), true, f.veil)
	w.at(f.canvas, vg.Point{X: (f.box.Min.X + f.box.Max.X) / 2, Y: (f.box.Min.Y + f.box.Max.Y) / 2}, draw.XCenter, draw.YCenter, across)
}

// bands fill what lasts: cool-downs, pauses, the margin, every second row.
func (f *field) bands() {
	fill := func(from, until vg.Length) {
		from, until = max(from, f.box.Min.X), min(until, f.box.Max.X)
		if until > from {
			f.canvas.FillPolygon(f.band, []vg.Point{{X: from, Y: f.box.Min.Y}, {X: until, Y: f.box.Min.Y}, {X: until, Y: f.box.Max.Y}, {X: from, Y: f.box.Max.Y}})
		}
	}
	for _, m := range f.c.Marks {
		switch m.Kind {
		case report.MarkCoolDown, report.MarkPause, report.MarkMargin:
			fill(f.x(m.From), f.x(m.To))
		}
	}
}

// grid draws the ticks of both axes with their labels, and leaves out the labels
// that would touch the one before.
func (f *field) grid() {
	w := write(tickSize, false, f.ink)
	low, high := f.box.Min, f.box.Max
	rows := f.panel.Y.Scale == report.ScaleRows
	for _, t := range f.panel.Y.Ticks {
		y := f.y(t.Value)
		switch {
		case rows:
			label := w.cut(t.Label, f.left-6)
			w.at(f.canvas, vg.Point{X: low.X - 6, Y: y}, draw.XRight, draw.YCenter, label)
			if t.Value > 0 {
				between := f.y(t.Value - 0.5)
				f.line(f.page.grid, 0.6, nil, vg.Point{X: low.X, Y: between}, vg.Point{X: high.X, Y: between})
			}
		case t.Label == "":
			f.line(f.ink, 0.5, nil, vg.Point{X: low.X, Y: y}, vg.Point{X: low.X + 3, Y: y})
		default:
			f.line(f.page.grid, 0.6, nil, vg.Point{X: low.X, Y: y}, vg.Point{X: high.X, Y: y})
			w.at(f.canvas, vg.Point{X: low.X - 5, Y: y}, draw.XRight, draw.YCenter, t.Label)
		}
	}
	free := vg.Length(math.Inf(-1))
	for _, t := range f.c.X.Ticks {
		x := f.x(t.Value)
		if t.Label == "" {
			f.line(f.ink, 0.5, nil, vg.Point{X: x, Y: low.Y}, vg.Point{X: x, Y: low.Y + 3})
			continue
		}
		f.line(f.page.grid, 0.6, nil, vg.Point{X: x, Y: low.Y}, vg.Point{X: x, Y: high.Y})
		half := w.width(t.Label) / 2
		if f.last && x-half >= free {
			w.at(f.canvas, vg.Point{X: x, Y: low.Y - 4}, draw.XCenter, draw.YTop, t.Label)
			free = x + half + 5
		}
	}
	label := write(labelSize, false, f.faint)
	if f.last {
		label.at(f.canvas, vg.Point{X: (low.X + high.X) / 2, Y: low.Y - 17}, draw.XCenter, draw.YTop, f.c.X.Labelled())
	}
	if text := f.panel.Y.Labelled(); text != "" && !rows {
		label.style.Rotation = math.Pi / 2
		label.at(f.canvas, vg.Point{X: margin + 8, Y: (low.Y + high.Y) / 2}, draw.XCenter, draw.YCenter, text)
	}
}

func (f *field) frame() {
	low, high := f.box.Min, f.box.Max
	f.line(f.ink, 0.7, nil, low, vg.Point{X: high.X, Y: low.Y})
	if f.panel.Y.Scale != report.ScaleRows {
		f.line(f.ink, 0.7, nil, low, vg.Point{X: low.X, Y: high.Y})
	}
	for _, m := range f.c.Marks {
		switch m.Kind {
		case report.MarkPhase: // begins here
			if x := f.x(m.From); x > low.X+1 {
				f.line(f.page.faint, 0.4, []vg.Length{1, 2}, vg.Point{X: x, Y: low.Y}, vg.Point{X: x, Y: high.Y})
			}
		case report.MarkNone:
			f.line(f.ink, 0.8, nil, vg.Point{X: f.x(m.From), Y: low.Y}, vg.Point{X: f.x(m.From), Y: high.Y})
		}
	}
}

// limits are lines with their names, above and below in turn, because a drive's two
// are a few degrees apart.
func (f *field) limits() {
	w := write(7.5, false, f.ink)
	for i, m := range f.panel.Marks {
		y := f.y(m.From)
		f.line(f.ink, 0.8, []vg.Length{5, 2, 1, 2}, vg.Point{X: f.box.Min.X, Y: y}, vg.Point{X: f.box.Max.X, Y: y})
		high := vg.Length(9)
		middle := y + high/2 + 1
		if i%2 == 0 {
			middle = y - high/2 - 1
		}
		left, right := f.box.Max.X-w.width(m.Label)-6, f.box.Max.X
		f.canvas.FillPolygon(f.paper, []vg.Point{{X: left, Y: middle - high/2}, {X: right, Y: middle - high/2}, {X: right, Y: middle + high/2}, {X: left, Y: middle + high/2}})
		w.at(f.canvas, vg.Point{X: right - 3, Y: middle}, draw.XRight, draw.YCenter, m.Label)
	}
}

// drops are lines across all panels, with their numbers above the first.
func (f *field) drops() {
	w := write(8, true, f.paper)
	free := vg.Length(math.Inf(-1))
	for _, m := range f.c.Marks {
		if m.Kind != report.MarkDrop {
			continue
		}
		x := f.x(m.From)
		f.line(f.ink, 0.7, []vg.Length{3, 2}, vg.Point{X: x, Y: f.box.Min.Y}, vg.Point{X: x, Y: f.box.Max.Y})
		if !f.first || m.Short == "" {
			continue
		}
		half := w.width(m.Short)/2 + 3
		y := f.box.Max.Y + 7
		at := max(x, free+half) // beside the one before
		free = at + half + 1
		f.canvas.FillPolygon(f.ink, []vg.Point{{X: at - half, Y: y - 6}, {X: at + half, Y: y - 6}, {X: at + half, Y: y + 6}, {X: at - half, Y: y + 6}})
		w.at(f.canvas, vg.Point{X: at, Y: y}, draw.XCenter, draw.YCenter, m.Short)
	}
}
