package html

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"nativ/internal/report"
)

// What the script gets; web/charts.js reads it. Names are short because there are
// many of them.
type (
	dataOf struct {
		Texts  map[string]string `json:"texts"`
		Charts []chartJSON       `json:"charts"`
		Styles []styleJSON       `json:"styles"`
	}
	styleJSON struct {
		Light  string    `json:"light"`
		Dark   string    `json:"dark"`
		Dashes []float64 `json:"dash,omitempty"`
		Marker string    `json:"marker"`
	}
	chartJSON struct {
		ID        string      `json:"id"`
		Kind      string      `json:"kind"`
		Title     string      `json:"title"`
		Simulated string      `json:"simulated,omitempty"`
		X         axisJSON    `json:"x"`
		Panels    []panelJSON `json:"panels"`
		Marks     []markJSON  `json:"marks,omitempty"`
	}
	axisJSON struct {
		Label    string     `json:"label"`
		Quantity string     `json:"q,omitempty"`
		Scale    string     `json:"scale"`
		Min      number     `json:"min"`
		Max      number     `json:"max"`
		Ticks    []tickJSON `json:"ticks,omitempty"`
		Units    []unitJSON `json:"units,omitempty"`
	}
	tickJSON struct {
		Value number `json:"v"`
		Label string `json:"l"`
	}
	unitJSON struct {
		Name     string  `json:"n"`
		Factor   float64 `json:"f"`
		PerBlock bool    `json:"b,omitempty"`
	}
	panelJSON struct {
		Y      axisJSON     `json:"y"`
		Series []seriesJSON `json:"series"`
		Marks  []markJSON   `json:"marks,omitempty"`
	}
	seriesJSON struct {
		Name      string     `json:"name"`
		Style     int        `json:"style"`
		BlockSize int64      `json:"bs,omitempty"`
		Parts     []partJSON `json:"parts"`
	}
	partJSON struct {
		Name      string   `json:"n,omitempty"`
		BlockSize int64    `json:"bs,omitempty"`
		X         []number `json:"x"`
		Y         []number `json:"y"`
		// Intervals and labels, where any point has one. An end of null is open.
		Intervals []*[2]number `json:"i,omitempty"`
		Labels    []string     `json:"l,omitempty"`
	}
	markJSON struct {
		Kind  string `json:"k"`
		From  number `json:"f"`
		To    number `json:"t"`
		Label string `json:"l,omitempty"`
		Short string `json:"s,omitempty"`
	}
)

// A number is written as short as a screen can tell apart; what JSON has no number
// for is null.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', 7, 64), nil
}

// chartData is JSON that may stand in a script element: json.Marshal writes <, >,
// & and the line separators of JavaScript as escapes.
func chartData(charts []*report.Chart, t *texts) ([]byte, error) {
	d := dataOf{Texts: map[string]string{
		"units": t.units, "reset": t.reset, "zoomIn": t.zoomIn, "zoomOut": t.zoomOut, "show": t.show, "hint": t.hint, "keys": t.keys, "until": t.until,
	}}
	styles := 0
	for _, c := range charts {
		d.Charts = append(d.Charts, chartOf(c))
		for i := range c.Panels {
			for _, s := range c.Panels[i].Series {
				styles = max(styles, s.Style+1)
			}
		}
	}
	for n := range styles {
		s := report.StyleOf(n)
		d.Styles = append(d.Styles, styleJSON{s.Light, s.Dark, s.Dashes, string(s.Marker)})
	}
	b, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write the data of the charts: %w", err)
	}
	return b, nil
}

func chartOf(c *report.Chart) chartJSON {
	out := chartJSON{ID: c.ID, Kind: string(c.Kind), Title: c.Title, Simulated: mark(c), X: axisOf(&c.X), Marks: marksOf(c.Marks)}
	for i := range c.Panels {
		p := panelJSON{Y: axisOf(&c.Panels[i].Y), Marks: marksOf(c.Panels[i].Marks)}
		for _, s := range c.Panels[i].Series {
			js := seriesJSON{Name: s.Name, Style: s.Style, BlockSize: s.BlockSize}
			for _, part := range s.Parts {
				js.Parts = append(js.Parts, partOf(part))
			}
			p.Series = append(p.Series, js)
		}
		out.Panels = append(out.Panels, p)
	}
	return out
}

func partOf(part report.Part) partJSON {
	out := partJSON{Name: part.Name, BlockSize: part.BlockSize, X: make([]number, len(part.Points)), Y: make([]number, len(part.Points))}
	for i, pt := range part.Points {
		out.X[i], out.Y[i] = number(pt.X), number(pt.Y)
		if pt.Low != nil && pt.High != nil {
			if out.Intervals == nil {
				out.Intervals = make([]*[2]number, len(part.Points))
			}
			out.Intervals[i] = &[2]number{number(*pt.Low), number(*pt.High)}
		}
		if pt.Label != "" {
			if out.Labels == nil {
				out.Labels = make([]string, len(part.Points))
			}
			out.Labels[i] = pt.Label
		}
	}
	return out
}

func axisOf(a *report.Axis) axisJSON {
	out := axisJSON{Label: a.Label, Quantity: string(a.Quantity), Scale: string(a.Scale), Min: number(a.Min), Max: number(a.Max)}
	for _, t := range a.Ticks {
		out.Ticks = append(out.Ticks, tickJSON{number(t.Value), t.Label})
	}
	for _, u := range a.Units {
		out.Units = append(out.Units, unitJSON{u.Name, u.Factor, u.PerBlock})
	}
	return out
}

func marksOf(marks []report.Mark) []markJSON {
	var out []markJSON
	for _, m := range marks {
		out = append(out, markJSON{string(m.Kind), number(m.From), number(m.To), m.Label, m.Short})
	}
	return out
}
