package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

func charts(t *testing.T, rec *record.Record, lang string) (all []*Chart, left []string) {
	t.Helper()
	return Charts(rec, analysis.Compute(rec), ChartOptions{Lang: lang})
}

func chartOf(t *testing.T, rec *record.Record, id string) *Chart {
	t.Helper()
	all, left := charts(t, rec, "en")
	i := slices.IndexFunc(all, func(c *Chart) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("there is no chart %s; left out: %q", id, left)
	}
	return all[i]
}

// course gives every pass of a record seconds and temperatures.
func course(rec *record.Record, seconds int) *record.Record {
	rec.Target.Drives[0].NVMe = &record.NVMe{WarningMC: new(int64(84_000)), CriticalMC: new(int64(88_000))}
	start := int64(1e12)
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[k]
			p.Outcome.StartNS, p.Outcome.EndNS = start, start+int64(seconds)*1e9
			p.StartedAt = rec.Started.Add(time.Duration(start - 1e12))
			p.Intervals, p.Watch.Samples = nil, nil
			for s := range seconds {
				bytes := int64(1e9 + 1e7*int64(s%7))
				at := int64(s+1) * 1e9
				p.Intervals = append(p.Intervals, record.Interval{EndNS: at, LenNS: 1e9, ReadBytes: bytes, ReadIOs: bytes / 4096})
				p.Watch.Samples = append(p.Watch.Samples, record.Sample{MonoNS: start + at, Temperatures: map[string]int64{"nvme0 Composite": 40_000 + int64(s)*100}})
			}
			start += int64(seconds+5) * 1e9
		}
	}
	return rec
}

// TestChartsAreSound holds what every chart promises, of whatever record: finite
// numbers within their axes, finished texts, and a table behind it.
func TestChartsAreSound(t *testing.T) {
	all := map[string]func() *record.Record{"course": func() *record.Record { return course(healthy(), 20) }}
	for name, build := range records {
		all[name] = build
	}
	for name, build := range all {
		for _, lang := range Langs() {
			got, left := charts(t, build(), lang)
			if len(got)+len(left) < len(ChartIDs()) {
				t.Errorf("%s: %d charts and %d reasons are fewer than there are kinds", name, len(got), len(left))
			}
			seen := map[string]bool{}
			for _, c := range got {
				where := name + " " + lang + " " + c.ID
				if seen[c.ID] {
					t.Errorf("%s: twice", where)
				}
				seen[c.ID] = true
				sound(t, where, c)
			}
			for _, l := range left {
				if !strings.HasSuffix(l, ".") || strings.Contains(l, "%!") {
					t.Errorf("%s %s: %q", name, lang, l)
				}
			}
		}
	}
}

func sound(t *testing.T, where string, c *Chart) {
	t.Helper()
	finite := func(what string, v ...float64) {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: %s is %g", where, what, x)
			}
		}
	}
	texts := append([]string{c.Title, c.Subtitle, c.Alt, c.Citation, c.X.Labelled()}, c.Notes...)
	axes := []*Axis{&c.X}
	for i := range c.Panels {
		p := &c.Panels[i]
		axes = append(axes, &p.Y)
		if len(p.Series) == 0 {
			t.Errorf("%s: panel %d is empty", where, i)
		}
		for j := range p.Series {
			s := &p.Series[j]
			texts = append(texts, s.Name)
			if count(s) == 0 {
				t.Errorf("%s: %s has no point", where, s.Name)
			}
			for _, part := range s.Parts {
				for k, q := range part.Points {
					finite(s.Name, c.X.Scale.At(q.X), p.Y.Scale.At(q.Y))
					if q.X < c.X.Min-1e-6 || q.X > c.X.Max*(1+1e-9)+1e-6 || q.Y < p.Y.Min-1e-6 || q.Y > p.Y.Max*(1+1e-9)+1e-6 {
						t.Errorf("%s: %s has %g, %g outside of %g to %g, %g to %g", where, s.Name, q.X, q.Y, c.X.Min, c.X.Max, p.Y.Min, p.Y.Max)
					}
					if c.Kind == ChartLines && k > 0 && q.X < part.Points[k-1].X {
						t.Errorf("%s: %s goes back from %g to %g", where, s.Name, part.Points[k-1].X, q.X)
					}
				}
			}
		}
	}
	for _, a := range axes {
		finite("axis "+a.Label, a.Scale.At(a.Min), a.Scale.At(a.Max))
		if a.Min >= a.Max || len(a.Ticks) < 1 {
			t.Errorf("%s: axis %q from %g to %g with %d ticks", where, a.Label, a.Min, a.Max, len(a.Ticks))
		}
		for _, tick := range a.Ticks {
			finite("tick "+tick.Label, tick.Value)
		}
	}
	for _, s := range texts {
		if s == "" || strings.Contains(s, "%!") || strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Errorf("%s: a text is %q", where, s)
		}
	}
	if len(c.Data.Rows) == 0 {
		t.Errorf("%s: no table", where)
	}
	for _, r := range c.Data.Rows {
		if len(r.Cells) != len(c.Data.Columns) {
			t.Errorf("%s: %d cells in %d columns", where, len(r.Cells), len(c.Data.Columns))
		}
	}
}

// TestAbsentIsNotDrawn: what a record does not have is a gap or is not there, and
// said; it is no zero.
func TestAbsentIsNotDrawn(t *testing.T) {
	lost := course(healthy(), 20)
	p := &lost.Rounds[0].Passes[0]
	p.Intervals = slices.Delete(p.Intervals, 8, 11)
	time := chartOf(t, lost, idTime)
	parts := time.Panels[0].Series[0].Parts
	if len(parts) < 2 || parts[0].Name != parts[1].Name || len(parts[0].Points) != 8 {
		t.Errorf("three lost seconds are no gap after the eighth: %d parts", len(parts))
	}
	for _, s := range time.Panels[0].Series {
		for _, part := range s.Parts {
			for _, q := range part.Points {
				if q.Y == 0 {
					t.Errorf("%s has a zero at %g that nobody measured", s.Name, q.X)
				}
			}
		}
	}

	cold := course(healthy(), 20)
	for i := range cold.Rounds {
		for k := range cold.Rounds[i].Passes {
			cold.Rounds[i].Passes[k].Watch = record.Watch{}
		}
	}
	c := chartOf(t, cold, idTime)
	if len(c.Panels) != 1 || !slices.Contains(c.Notes, chartsEnglish.noTemperature) || strings.Contains(c.Title, "emperature") {
		t.Errorf("no sensor: %d panels, title %q, notes %q", len(c.Panels), c.Title, c.Notes)
	}

	_, left := charts(t, hostOnly(), "en")
	for _, want := range []string{chartsEnglish.ratios, chartsEnglish.heat, chartsEnglish.scatter} {
		if !slices.ContainsFunc(left, func(l string) bool { return strings.Contains(l, want) }) {
			t.Errorf("%q is left out without a word: %q", want, left)
		}
	}
	none, left := charts(t, &record.Record{Import: &record.Import{}, Tool: record.Tool{Name: "fio"}}, "de")
	if len(none) != 0 || len(left) != len(ChartIDs()) {
		t.Errorf("an empty record has %d charts and %q", len(none), left)
	}
}

// TestMeasuredZeroIsDrawn is the other side: a second in which no I/O completed was
// measured.
func TestMeasuredZeroIsDrawn(t *testing.T) {
	rec := course(healthy(), 20)
	i := &rec.Rounds[0].Passes[0].Intervals[9]
	i.ReadBytes, i.ReadIOs = 0, 0
	points := chartOf(t, rec, idTime).Panels[0].Series[0].Parts[0].Points
	if len(points) != 20 || points[9].Y != 0 {
		t.Errorf("the tenth of %d seconds is not 0", len(points))
	}
}

// TestWithoutRoundsNoIntervals: points only, and the picture says why.
func TestWithoutRoundsNoIntervals(t *testing.T) {
	c := chartOf(t, healthy(), idRatios)
	if !slices.Contains(c.Notes, chartsEnglish.noRounds) {
		t.Errorf("notes %q", c.Notes)
	}
	for _, s := range c.Panels[0].Series {
		for _, part := range s.Parts {
			if q := part.Points[0]; q.Low != nil || q.High != nil {
				t.Errorf("%s has an interval without rounds", s.Name)
			}
		}
	}
}

// TestPausesAreCut: a run that was resumed the day after is no empty picture.
func TestPausesAreCut(t *testing.T) {
	rec := course(healthy(), 20)
	for i := range rec.Rounds[1:] {
		for k := range rec.Rounds[i+1].Passes {
			p := &rec.Rounds[i+1].Passes[k]
			p.StartedAt = p.StartedAt.Add(20 * time.Hour)
		}
	}
	c := chartOf(t, rec, idTime)
	k := slices.IndexFunc(c.Marks, func(m Mark) bool { return m.Kind == MarkPause })
	if k < 0 || !strings.Contains(c.Marks[k].Label, "20:00"+glue+"h") {
		t.Fatalf("no mark of the pause: %v", c.Marks)
	}
	if c.X.Max > 3600e9 {
		t.Errorf("the axis goes to %g h", c.X.Max/3600e9)
	}
}

// TestLongRecordsStaySmall: a day of seconds has no more points than the panels
// have room for.
func TestLongRecordsStaySmall(t *testing.T) {
	rec := course(hostOnly(), 3*3600)
	all, _ := charts(t, rec, "en")
	for _, c := range all {
		for i := range c.Panels {
			n := 0
			for j := range c.Panels[i].Series {
				n += count(&c.Panels[i].Series[j])
			}
			if n > mostPoints+leastThin*len(c.Panels[i].Series) {
				t.Errorf("%s has %d points", c.ID, n)
			}
		}
	}
}

// TestHash: what a picture cites is what sha256sum says of the file.
func TestHash(t *testing.T) {
	rec := healthy()
	var b bytes.Buffer
	if err := record.Encode(&b, rec); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	want := hex.EncodeToString(sum[:])
	if got, err := RecordHash(rec); err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	c := chartOf(t, rec, idMeans)
	if !strings.HasSuffix(c.Citation, want[:shownHash]) || !strings.Contains(c.Citation, "nativ 0.1.0") || !strings.Contains(c.Citation, rec.ID) {
		t.Errorf("the citation is %q", c.Citation)
	}
	given, _ := Charts(rec, analysis.Compute(rec), ChartOptions{Lang: "en", Hash: "0123456789abcdef"})
	if !strings.HasSuffix(given[0].Citation, "0123456789ab") {
		t.Errorf("a hash that is given is not cited: %q", given[0].Citation)
	}
}

// TestChartsHideSerials plants a serial number where charts take texts from.
func TestChartsHideSerials(t *testing.T) {
	rec := course(healthy(), 20)
	const serial = "S3RIAL-CANARY"
	rec.Target.Drives[0].Serial = new(serial)
	rec.Target.Drives[0].Model = new("Drive " + serial)
	rec.ID, rec.Plan.Preset, rec.Target.FSType = "id-"+serial, "x"+serial, "fs"+serial
	all, left := charts(t, rec, "en")
	for _, c := range all {
		if got := fmt.Sprintf("%+v", c); strings.Contains(got, serial) {
			t.Errorf("%s shows the serial number", c.ID)
		}
	}
	if strings.Contains(strings.Join(left, ""), serial) {
		t.Errorf("%q", left)
	}
}

// TestStylesCanBeSeen: WCAG 2.2, 1.4.11 asks for 3:1 between what is drawn and the
// page, 1.4.3 for 4.5:1 of text; and no two series share their dashes or marker.
func TestStylesCanBeSeen(t *testing.T) {
	for i, s := range styles {
		for _, c := range [][2]string{{s.Light, PageLight}, {s.Dark, PageDark}} {
			if r := contrast(t, c[0], c[1]); r < 3 {
				t.Errorf("style %d: %s on %s has %.2f:1", i, c[0], c[1], r)
			}
		}
		for j := range i {
			if slices.Equal(styles[j].Dashes, s.Dashes) || styles[j].Marker == s.Marker {
				t.Errorf("styles %d and %d differ by colour alone", j, i)
			}
		}
	}
	if contrast(t, InkLight, PageLight) < 4.5 || contrast(t, InkDark, PageDark) < 4.5 {
		t.Error("text cannot be read")
	}
}

// contrast is WCAG's ratio of the relative luminances.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(s string) float64 {
		rgb, err := hex.DecodeString(strings.TrimPrefix(s, "#"))
		if err != nil || len(rgb) != 3 {
			t.Fatalf("%q is no colour", s)
		}
		var l float64
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := float64(rgb[i]) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			l += weight * v
		}
		return l
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestSteps: ticks are round and about as many as wanted, whatever the range.
func TestTicks(t *testing.T) {
	s := newSpeaker("de", nil)
	for _, most := range []float64{1, 3, 7.3, 12_100, 999_999, 2.01e6, 1.4e10, 8.64e13} {
		a := Axis{Units: []Unit{{Factor: 1}}}
		s.linear(&a, 0, most, true)
		if n := len(a.Ticks); n < 4 || n > 10 || a.Min != 0 || a.Max < most || a.Max > most*1.6 {
			t.Errorf("0 to %g: %d ticks to %g", most, n, a.Max)
		}
	}
	a := Axis{Units: []Unit{{Factor: 100}}}
	s.linear(&a, -0.372, 0.004, true)
	if a.Ticks[0].Label != "-40" || math.Abs(a.Max-0.1) > 1e-9 {
		t.Errorf("got %+v", a.Ticks)
	}
	decades(&a, 18_000, 2.1e6, s.round)
	if a.Ticks[0].Label != "10"+glue+"µs" || a.Ticks[len(a.Ticks)-1].Label != "10"+glue+"ms" {
		t.Errorf("got %+v", a.Ticks)
	}
	s.nines(&a, 0.9999)
	if got := a.Ticks[len(a.Ticks)-1].Label; got != "99,99"+glue+"%" {
		t.Errorf("got %q", got)
	}
}
