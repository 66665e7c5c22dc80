// Package plot draws one chart of a report as a static picture, SVG or PNG, with
// everything in it that a reader needs who sees nothing else: title, drive, date,
// settings, and where the numbers come from.
//
// It draws on gonum's canvases and not with its plots: those have no row of labels
// beside a forest plot, no marks across panels, and no legend outside of the data.
package plot

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"nativ/internal/report"
)

// Options say how a picture looks. The zero value is a light one for a forum post.
type Options struct {
	Dark bool
	// Width in points of an SVG, 1/72 inch; 0 is DefaultWidth. The height follows from
	// what is in it.
	Width float64
	// Bare leaves out title, subtitle, notes and citation, for a page that has them
	// beside the picture. What says that nothing was measured stays.
	Bare bool
}

const (
	// DefaultWidth fits a page, and shows text as large as that around it.
	DefaultWidth = 820
	// dpi makes a PNG of that width 1,640 pixels wide: sharp on a dense screen, and
	// still below what forums shrink.
	dpi = 144
)

// SVG draws a chart as a file of its own. The same chart always is the same bytes.
func SVG(c *report.Chart, o Options) ([]byte, error) {
	p, err := newPage(c, o)
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(p.width, p.height))
	p.draw(draw.NewCanvas(canvas, p.width, p.height))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("draw the chart %s: %w", c.ID, err)
	}
	return describeSVG(b.Bytes(), c)
}

// PNG draws a chart as a file of its own. The same chart always is the same bytes.
func PNG(c *report.Chart, o Options) ([]byte, error) {
	p, err := newPage(c, o)
	if err != nil {
		return nil, err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(p.paper))
	p.draw(draw.NewCanvas(canvas, p.width, p.height))
	var b bytes.Buffer
	if err := png.Encode(&b, canvas.Image()); err != nil {
		return nil, fmt.Errorf("draw the chart %s: %w", c.ID, err)
	}
	return describePNG(b.Bytes(), c)
}

// fonts are the ones that gonum carries, so that a PNG looks the same everywhere.
var fonts = font.NewCache(liberation.Collection())

// check refuses what cannot be drawn, which is a mistake of whoever made the chart.
func check(c *report.Chart) error {
	finite := func(v ...float64) bool {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return false
			}
		}
		return true
	}
	if len(c.Panels) == 0 {
		return errors.New("it has no panel")
	}
	axes := []*report.Axis{&c.X}
	for i := range c.Panels {
		axes = append(axes, &c.Panels[i].Y)
	}
	for _, a := range axes {
		low, high := a.Scale.At(a.Min), a.Scale.At(a.Max)
		if !finite(low, high) || low == high {
			return fmt.Errorf("the axis %q goes from %g to %g", a.Label, a.Min, a.Max)
		}
	}
	for i := range c.Panels {
		for j := range c.Panels[i].Series {
			s := &c.Panels[i].Series[j]
			for _, part := range s.Parts {
				for _, p := range part.Points {
					if !finite(c.X.Scale.At(p.X), c.Panels[i].Y.Scale.At(p.Y)) {
						return fmt.Errorf("the series %q has a point at %g, %g", s.Name, p.X, p.Y)
					}
				}
			}
		}
	}
	return nil
}

// A theme is the colours of a page.
type theme struct {
	paper, ink, faint, grid, band color.Color
	veil                          color.Color // of text across data
	dark                          bool
}

func themeOf(dark bool) theme {
	if dark {
		return theme{paper: hex(report.PageDark), ink: hex(report.InkDark), faint: hex("#a9b0ba"), grid: hex("#30353d"), band: hex("#262b33"), veil: color.NRGBA{255, 255, 255, 30}, dark: true}
	}
	return theme{paper: hex(report.PageLight), ink: hex(report.InkLight), faint: hex("#5a6068"), grid: hex("#e3e5e8"), band: hex("#eef0f3"), veil: color.NRGBA{0, 0, 0, 28}}
}

// hex is a colour written as "#rrggbb".
func hex(s string) color.Color {
	var r, g, b uint8
	fmt.Sscanf(s, "#%02x%02x%02x", &r, &g, &b)
	return color.NRGBA{r, g, b, 255}
}

func (t *theme) colour(style int) color.Color {
	if t.dark {
		return hex(report.StyleOf(style).Dark)
	}
	return hex(report.StyleOf(style).Light)
}

// A writer writes text in one size.
type writer struct {
	style text.Style
}

func write(size float64, bold bool, c color.Color) writer {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = boldWeight
	}
	return writer{text.Style{Color: c, Font: f, Handler: text.Plain{Fonts: fonts}}}
}

func (w writer) width(s string) vg.Length { return w.style.Width(plain(s)) }

// at writes s with its anchor at a point: left, centre or right of it by x, and
// below, beside or above it by y.
func (w writer) at(c *draw.Canvas, pt vg.Point, x text.XAlignment, y text.YAlignment, s string) {
	w.style.XAlign, w.style.YAlign = x, y
	if y == text.YCenter && w.style.Rotation == 0 {
		pt.Y += w.style.Font.Size * 0.09 // the middle of digits, not of the whole font
	}
	c.FillText(w.style, pt, plain(s))
}

// cut shortens s to a width.
func (w writer) cut(s string, most vg.Length) string {
	if w.width(s) <= most {
		return s
	}
	r := []rune(s)
	for len(r) > 1 && w.width(string(r)+"…") > most {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// wrap breaks s into lines of at most a width.
func (w writer) wrap(s string, most vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range words(s) {
		switch {
		case line == "":
			line = word
		case w.width(line+" "+word) <= most:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, w.cut(line, most))
	}
	return lines
}
