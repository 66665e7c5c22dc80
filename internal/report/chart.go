package report

import "math"

// A Chart is a picture as data: what the interactive page and the static pictures
// draw alike. Its texts are finished like those of a Document; its numbers are in
// base units (ns, bytes a second, bytes, millidegrees Celsius, fractions), so that
// a reader can choose another unit. What is not known is not in it: never a zero.
type Chart struct {
	// ID names the chart in file names and anchors: "time", "ratios", "heat-lxc".
	ID   string
	Kind ChartKind
	Lang string // "de" or "en"
	// Title says what is shown, Subtitle of which drive, when and how.
	Title, Subtitle string
	// Alt is what a reader who does not see the chart needs: one or two computed
	// sentences.
	Alt string
	// Notes stand below: what is left out and why, and what the signs mean.
	Notes []string
	// Simulated is not "" where a drive model answered; it must be seen in every
	// picture.
	Simulated string
	// Citation names the tool's version, the preset and the record.
	Citation string

	X Axis
	// Panels stand on top of each other and share X.
	Panels []Panel
	// Marks are at places on X, across all panels.
	Marks []Mark
	// Data is the same as a table, for readers who do not see the chart; of a long
	// course it has fewer points.
	Data Table
}

func (*Chart) block() {}

// A ChartKind says how points are drawn.
type ChartKind string

const (
	ChartLines   ChartKind = "lines"   // points of a part are joined
	ChartScatter ChartKind = "scatter" // points alone
	ChartForest  ChartKind = "forest"  // points with their intervals along X, a row each
	ChartBars    ChartKind = "bars"    // bars along X from 0, a row each, series side by side
)

// A Panel is one field with its own y axis.
type Panel struct {
	Y      Axis
	Series []Series
	// Marks are at places on Y: limits.
	Marks []Mark
}

// A Scale says where on an axis a value lies.
type Scale string

const (
	ScaleLinear Scale = "linear"
	ScaleLog    Scale = "log"
	// ScaleNines is for fractions below 1: the place is -log10(1-v), so that 90,
	// 99 and 99.9 % are the same distance apart.
	ScaleNines Scale = "nines"
	// ScaleRows has one row for each of the Ticks, the first on top: a value is the
	// number of a row from 0.
	ScaleRows Scale = "rows"
)

// At is the place of a value on a scale, of which only differences matter.
func (s Scale) At(v float64) float64 {
	switch s {
	case ScaleLog:
		return math.Log10(v)
	case ScaleNines:
		return -math.Log10(1 - v)
	case ScaleRows:
		return -v
	}
	return v
}

// A Quantity is what an axis is of, and so its base unit.
type Quantity string

const (
	QuantityTime        Quantity = "time"        // ns
	QuantityThroughput  Quantity = "throughput"  // bytes a second
	QuantityTemperature Quantity = "temperature" // millidegrees Celsius
	QuantityLatency     Quantity = "latency"     // ns
	QuantityBytes       Quantity = "bytes"
	QuantityShare       Quantity = "share"      // of all I/Os, a fraction
	QuantityDifference  Quantity = "difference" // a fraction; -0.02 is 2 % less
	QuantityRows        Quantity = "rows"       // the number of a row
)

// An Axis of a chart. Label names the quantity without a unit: Labelled has both.
type Axis struct {
	Label    string
	Quantity Quantity
	Scale    Scale
	// Min and Max are the ends, in base units.
	Min, Max float64
	// Ticks are those of the static pictures, in Units[0] and in the report's
	// language, ascending.
	Ticks []Tick
	// Units to choose from, the first as the ticks; empty where there is none to
	// name (rows) or the ticks name theirs (latencies).
	Units []Unit

	block int64 // of all series, where Units[0] is PerBlock
}

// factor turns base units into those of the ticks.
func (a *Axis) factor() float64 {
	switch {
	case len(a.Units) == 0:
		return 1
	case a.Units[0].PerBlock:
		return a.Units[0].Factor / float64(max(a.block, 1))
	}
	return a.Units[0].Factor
}

// Labelled is the label with the unit of the ticks.
func (a *Axis) Labelled() string {
	if len(a.Units) == 0 || a.Units[0].Name == "" {
		return a.Label
	}
	if a.Label == "" {
		return a.Units[0].Name
	}
	return a.Label + " (" + a.Units[0].Name + ")"
}

// A Tick is a value of an axis that is written there; a Label of "" only has a
// stroke.
type Tick struct {
	Value float64
	Label string
}

// A Unit in which the numbers of an axis can be shown.
type Unit struct {
	Name string
	// A number in base units times Factor is one in this unit.
	Factor float64
	// PerBlock divides it by the block size of the series: I/Os instead of bytes.
	// Series without one are left out then.
	PerBlock bool
}

// A Series is what one place did, or one line of a legend.
type Series struct {
	Name string
	// Place is that of the record, "" where the series is not about one.
	Place string
	// Style is an index for StyleOf.
	Style int
	// BlockSize in bytes, for units PerBlock; 0 where there is none or several.
	BlockSize int64
	// Parts are drawn each for itself: between them nothing is known.
	Parts []Part
}

// A Part is a run of points without a gap.
type Part struct {
	// Name says what it is, such as the phase; "" where there is nothing to say.
	Name string
	// BlockSize is that of the part where the series has several; 0 where it has
	// none.
	BlockSize int64
	Points    []Point
}

// A Point of a chart. Low and High are the interval along X of a forest plot,
// infinite where it has no end on that side; nil where there is none.
type Point struct {
	X, Y      float64
	Low, High *float64
	// Label is shown with the point: "−2.1 % [−3.0, −1.2]".
	Label string
}

// A MarkKind says what a mark is.
type MarkKind string

const (
	MarkPhase    MarkKind = "phase"     // a phase from From to To
	MarkDrop     MarkKind = "drop"      // a fall in speed, with its cause
	MarkCoolDown MarkKind = "cool-down" // a wait until the drive was cool
	MarkPause    MarkKind = "pause"     // hours without a pass, drawn shorter
	MarkLimit    MarkKind = "limit"     // a limit of the drive's, such as WCTEMP
	MarkMargin   MarkKind = "margin"    // differences between From and To do not matter
	MarkNone     MarkKind = "none"      // no difference
)

// A Mark is a place on an axis that means something. From and To are the same
// where it has no length.
type Mark struct {
	Kind     MarkKind
	From, To float64
	Label    string
	// Short stands in a picture where the label has no room: "1".
	Short string
}

// A Style tells a series from others by colour and, for readers who do not see
// it, by dashes and marker.
type Style struct {
	Light, Dark string // "#rrggbb" on a white and on a dark page
	// Dashes are lengths of strokes and gaps in points; empty is a full line.
	Dashes []float64
	Marker Marker
}

// A Marker is the form of a point.
type Marker string

const (
	MarkerCircle   Marker = "circle"
	MarkerSquare   Marker = "square"
	MarkerTriangle Marker = "triangle"
	MarkerDiamond  Marker = "diamond"
	MarkerCross    Marker = "cross"
	MarkerPlus     Marker = "plus"
)

// styles are the colours that Okabe and Ito found to be told apart by
// colour-blind readers (Color Universal Design, 2008), without yellow, which is
// too light on white. Those that have less contrast than WCAG 2.2, 1.4.11, asks
// for (3:1) on one of the pages are darker or lighter there.
var styles = []Style{
	{"#0072b2", "#56b4e9", nil, MarkerCircle},                       // blue, sky blue
	{"#d55e00", "#e69f00", []float64{7, 3}, MarkerTriangle},         // vermilion, orange
	{"#00805d", "#2fc39a", []float64{2, 2}, MarkerSquare},           // bluish green
	{"#a8477d", "#dd92bc", []float64{9, 3, 2, 3}, MarkerDiamond},    // reddish purple
	{"#3d3d3d", "#d6d6d6", []float64{12, 4}, MarkerCross},           // black, white
	{"#8a6d00", "#f0e442", []float64{4, 2, 1, 2, 1, 2}, MarkerPlus}, // dark and light yellow
}

// StyleOf is a style by its number; beyond the last one they begin again.
func StyleOf(n int) Style { return styles[n%len(styles)] }

// Pages on which charts are drawn, light and dark.
const (
	PageLight, PageDark = "#ffffff", "#14171c"
	InkLight, InkDark   = "#1a1a1a", "#e8e8e8"
)
