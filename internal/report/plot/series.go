package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"nativ/internal/report"
)

// A series of lines has a marker at least so far apart: enough that every stretch
// has one, too few to hide the line.
const markerApart = vg.Length(70)

func dashesOf(s report.Style) []vg.Length {
	var all []vg.Length
	for _, d := range s.Dashes {
		all = append(all, vg.Points(d))
	}
	return all
}

// lines joins the points of each part; one alone is a dot.
func (f *field) lines() {
	for k := range f.panel.Series {
		s := &f.panel.Series[k]
		style, colour := report.StyleOf(s.Style), f.colour(s.Style)
		var marks []vg.Point
		last := vg.Length(math.Inf(-1))
		if len(f.panel.Series) > 1 { // those of other series elsewhere
			last = f.box.Min.X - markerApart + vg.Length(s.Style%4)*markerApart/4
		}
		for _, part := range s.Parts {
			var pts []vg.Point
			for _, p := range part.Points {
				at := f.at(p)
				pts = append(pts, at)
				if at.X-last >= markerApart {
					marks, last = append(marks, at), at.X
				}
			}
			if len(pts) == 1 {
				f.marker(report.MarkerCircle, colour, pts[0], 1)
				continue
			}
			f.line(colour, 1.2, dashesOf(style), pts...)
		}
		for _, at := range marks {
			f.marker(style.Marker, colour, at, 2.8)
		}
	}
}

// scatter draws all points of a series as one path of short strokes, which is a
// tenth of the size of as many glyphs: a dot, an upright, a flat one or a cross.
func (f *field) scatter() {
	for k := range f.panel.Series {
		s := &f.panel.Series[k]
		var pts []vg.Point
		for _, part := range s.Parts {
			for _, p := range part.Points {
				pts = append(pts, f.at(p))
			}
		}
		strokes(f.canvas, f.colour(s.Style), s.Style, pts)
	}
}

func strokes(c *draw.Canvas, colour color.Color, style int, pts []vg.Point) {
	half, width := vg.Point{X: 1.1}, vg.Length(2.2)
	switch style % 4 {
	case 1:
		half, width = vg.Point{Y: 3}, 1.2
	case 2:
		half, width = vg.Point{X: 3}, 1.2
	case 3:
		half, width = vg.Point{X: 2.2, Y: 2.2}, 1.2
	}
	var path vg.Path
	for _, p := range pts {
		path.Move(vg.Point{X: p.X - half.X, Y: p.Y - half.Y})
		path.Line(vg.Point{X: p.X + half.X, Y: p.Y + half.Y})
	}
	if len(path) == 0 {
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: colour, Width: width})
	c.Stroke(path)
}

// forest has an interval with a marker for each point, and its label at the right.
func (f *field) forest() {
	w := write(tickSize, false, f.ink)
	for k := range f.panel.Series {
		s := &f.panel.Series[k]
		style, colour := report.StyleOf(s.Style), f.colour(s.Style)
		for _, part := range s.Parts {
			for _, p := range part.Points {
				at := vg.Point{X: f.clip(p.X), Y: f.slot(p.Y, k)}
				if p.Low != nil && p.High != nil {
					f.whisker(colour, f.clip(*p.Low), at.Y, *p.Low < f.c.X.Min)
					f.whisker(colour, f.clip(*p.High), at.Y, *p.High > f.c.X.Max)
					f.line(colour, 1.4, dashesOf(style), vg.Point{X: f.clip(*p.Low), Y: at.Y}, vg.Point{X: f.clip(*p.High), Y: at.Y})
				}
				f.marker(style.Marker, colour, at, 3.6)
				w.at(f.canvas, vg.Point{X: f.box.Max.X + 8, Y: at.Y}, draw.XLeft, draw.YCenter, w.cut(p.Label, f.right-8))
			}
		}
	}
}

// slot is the height of the bar of a series in a row.
func (f *field) slot(row float64, series int) vg.Length {
	n := float64(len(f.panel.Series))
	return f.y(row + (float64(series)+0.5-n/2)/n*0.78)
}

// clip keeps a value within the axis.
func (f *field) clip(v float64) vg.Length {
	return min(max(f.x(math.Max(f.c.X.Min, math.Min(f.c.X.Max, v))), f.box.Min.X), f.box.Max.X)
}

// whisker ends an interval: with a stroke, or with an arrow where it goes on.
func (f *field) whisker(c color.Color, x, y vg.Length, beyond bool) {
	if !beyond {
		f.line(c, 1.2, nil, vg.Point{X: x, Y: y - 3}, vg.Point{X: x, Y: y + 3})
		return
	}
	tip := vg.Length(5)
	if x > (f.box.Min.X+f.box.Max.X)/2 {
		tip = -tip
	}
	f.canvas.FillPolygon(c, []vg.Point{{X: x, Y: y}, {X: x + tip, Y: y - 3.5}, {X: x + tip, Y: y + 3.5}})
}

// bars begin at 0 and carry their label, inside where there is no room behind.
func (f *field) bars() {
	behind, inside := write(tickSize, false, f.ink), write(tickSize, true, f.paper)
	high := (f.box.Max.Y - f.box.Min.Y) / vg.Length(max(1, len(f.panel.Y.Ticks))) * 0.78 / vg.Length(max(1, len(f.panel.Series)))
	for k := range f.panel.Series {
		s := &f.panel.Series[k]
		style, colour := report.StyleOf(s.Style), f.colour(s.Style)
		for _, part := range s.Parts {
			for _, p := range part.Points {
				from, x, y := f.x(0), f.clip(p.X), f.slot(p.Y, k)
				f.canvas.FillPolygon(colour, []vg.Point{{X: from, Y: y - high/2 + 0.7}, {X: x, Y: y - high/2 + 0.7}, {X: x, Y: y + high/2 - 0.7}, {X: from, Y: y + high/2 - 0.7}})
				if x-from > 16 { // tells the series apart without colour
					f.marker(style.Marker, f.paper, vg.Point{X: from + 7, Y: y}, 2.8)
				}
				switch width := behind.width(p.Label); {
				case x+4+width <= f.box.Max.X+f.right:
					behind.at(f.canvas, vg.Point{X: x + 4, Y: y}, draw.XLeft, draw.YCenter, p.Label)
				default:
					inside.at(f.canvas, vg.Point{X: x - 4, Y: y}, draw.XRight, draw.YCenter, p.Label)
				}
			}
		}
	}
}

func (f *field) marker(m report.Marker, c color.Color, at vg.Point, r vg.Length) {
	glyph(f.canvas, m, c, at, r)
}

// glyph draws a marker of about the radius r.
func glyph(c *draw.Canvas, m report.Marker, colour color.Color, at vg.Point, r vg.Length) {
	corner := func(x, y float64) vg.Point {
		return vg.Point{X: at.X + vg.Length(x)*r, Y: at.Y + vg.Length(y)*r}
	}
	stroke := func(pts ...vg.Point) {
		c.StrokeLines(draw.LineStyle{Color: colour, Width: r * 0.45}, pts)
	}
	switch m {
	case report.MarkerTriangle:
		c.FillPolygon(colour, []vg.Point{corner(0, 1.2), corner(1.1, -0.8), corner(-1.1, -0.8)})
	case report.MarkerSquare:
		c.FillPolygon(colour, []vg.Point{corner(-0.9, -0.9), corner(0.9, -0.9), corner(0.9, 0.9), corner(-0.9, 0.9)})
	case report.MarkerDiamond:
		c.FillPolygon(colour, []vg.Point{corner(0, 1.25), corner(1.25, 0), corner(0, -1.25), corner(-1.25, 0)})
	case report.MarkerCross:
		stroke(corner(-1, -1), corner(1, 1))
		stroke(corner(-1, 1), corner(1, -1))
	case report.MarkerPlus:
		stroke(corner(-1.2, 0), corner(1.2, 0))
		stroke(corner(0, -1.2), corner(0, 1.2))
	default:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: colour, Radius: r, Shape: draw.CircleGlyph{}}, at)
	}
}

// swatch is a series in the legend: as it looks in the chart.
func (p *page) swatch(c *draw.Canvas, s *report.Series, x, y vg.Length) {
	style, colour := report.StyleOf(s.Style), p.colour(s.Style)
	middle := vg.Point{X: x + swatch/2, Y: y}
	switch p.c.Kind {
	case report.ChartScatter:
		strokes(c, colour, s.Style, []vg.Point{{X: x + 6, Y: y + 1}, middle, {X: x + swatch - 6, Y: y - 1}})
	case report.ChartBars:
		c.FillPolygon(colour, []vg.Point{{X: x, Y: y - 4.5}, {X: x + swatch, Y: y - 4.5}, {X: x + swatch, Y: y + 4.5}, {X: x, Y: y + 4.5}})
		glyph(c, style.Marker, p.paper, vg.Point{X: x + 7, Y: y}, 2.8)
	default:
		c.StrokeLines(draw.LineStyle{Color: colour, Width: 1.4, Dashes: dashesOf(style)}, []vg.Point{{X: x, Y: y}, {X: x + swatch, Y: y}})
		glyph(c, style.Marker, colour, middle, 3)
	}
}
