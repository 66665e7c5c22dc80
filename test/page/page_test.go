package page

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const drawn = `[...document.querySelectorAll('figure.chart')].every(f => f.dataset.drawn)`

// size sets the window, and whether it is a telephone's.
func size(w, h int64, phone bool) chromedp.Action {
	return emulation.SetDeviceMetricsOverride(w, h, 1, phone)
}

func media(kind, scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithMedia(kind).WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
}

// Every chart is drawn: each canvas shows more than axes and text, in the colours
// of its series.
func TestChartsAreDrawn(t *testing.T) {
	if skipReason != "" {
		t.Skip(skipReason)
	}
	for name := range pages {
		ctx := open(t, name, size(1280, 900, false))
		wait(t, ctx, drawn)
		empty := js[[]string](t, ctx, `(() => {
			const data = JSON.parse(document.getElementById('data').textContent), bad = [];
			document.querySelectorAll('figure.chart').forEach((f) => {
				const chart = data.charts[Number(f.dataset.chart)], canvases = f.querySelectorAll('canvas');
				if (canvases.length !== chart.panels.length) bad.push(f.id + ': canvases');
				canvases.forEach((c, k) => {
					const px = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
					const near = (hex) => {
						const n = parseInt(hex.slice(1), 16);
						let found = 0;
						for (let i = 0; i < px.length; i += 4) {
							if (px[i + 3] > 100 && Math.abs(px[i] - (n >> 16)) + Math.abs(px[i + 1] - (n >> 8 & 255)) + Math.abs(px[i + 2] - (n & 255)) < 60) found++;
						}
						return found > 4;
					};
					if (!chart.panels[k].series.some((s) => near(data.styles[s.style].light))) bad.push(f.id + ' panel ' + k);
				});
			});
			return bad;
		})()`)
		if len(empty) > 0 {
			t.Errorf("%s: nothing is drawn in %v", name, empty)
		}
		if n := js[int](t, ctx, `document.querySelectorAll('figure.chart').length`); n < 3 {
			t.Errorf("%s has only %d charts", name, n)
		}
		// In the order in which readers look for them.
		order := js[[]string](t, ctx, `[...new Set([...document.querySelectorAll('figure.chart')].map(f => f.id.split('-')[1]))]`)
		at := -1
		for _, id := range order {
			k := strings.Index("time ratios latency scatter heat cliff means", id)
			if k < at {
				t.Errorf("%s: the charts are in the order %v", name, order)
			}
			at = k
		}
	}
}

// box is where the field of a chart's panel is on the screen.
func box(t *testing.T, ctx context.Context, id string) (x, y, w, h float64) {
	t.Helper()
	do(t, ctx, chromedp.ScrollIntoView("#"+id+" .u-over", chromedp.ByQuery))
	v := js[[4]float64](t, ctx, fmt.Sprintf(`(() => { const r = document.querySelector('#%s .u-over').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`, id))
	return v[0], v[1], v[2], v[3]
}

func drag(x0, x1, y float64) chromedp.Action {
	return chromedp.Tasks{
		input.DispatchMouseEvent(input.MouseMoved, x0, y),
		input.DispatchMouseEvent(input.MousePressed, x0, y).WithButton(input.Left).WithClickCount(1),
		input.DispatchMouseEvent(input.MouseMoved, (x0+x1)/2, y).WithButton(input.Left),
		input.DispatchMouseEvent(input.MouseMoved, x1, y).WithButton(input.Left),
		input.DispatchMouseEvent(input.MouseReleased, x1, y).WithButton(input.Left).WithClickCount(1),
	}
}

func TestZoom(t *testing.T) {
	ctx := open(t, "article.de", size(1280, 900, false))
	wait(t, ctx, drawn)
	all := js[[2]float64](t, ctx, `(() => { const d = document.querySelector('#chart-time .live').dataset; return [+d.from, +d.until]; })()`)
	second := js[string](t, ctx, `document.querySelectorAll('#chart-time canvas')[1].toDataURL()`)
	x, y, w, h := box(t, ctx, "chart-time")
	do(t, ctx, drag(x+w*0.25, x+w*0.5, y+h/2))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.zoomed === '1'`)
	got := js[[2]float64](t, ctx, `(() => { const d = document.querySelector('#chart-time .live').dataset; return [+d.from, +d.until]; })()`)
	span := all[1] - all[0]
	if math.Abs(got[0]-(all[0]+span*0.25)) > span*0.01 || math.Abs(got[1]-(all[0]+span*0.5)) > span*0.01 {
		t.Errorf("dragging over the second quarter of %v shows %v", all, got)
	}
	if js[string](t, ctx, `document.querySelectorAll('#chart-time canvas')[1].toDataURL()`) == second {
		t.Error("the temperature did not zoom with the throughput")
	}
	// A double click shows all of it again.
	do(t, ctx, chromedp.MouseClickXY(x+w/2, y+h/2, chromedp.ClickCount(2)))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.zoomed === ''`)

	// Of charts with the same X all zoom.
	scatter := js[[]string](t, ctx, `[...document.querySelectorAll('figure.chart')].filter(f => f.id.startsWith('chart-scatter')).map(f => f.id)`)
	if len(scatter) < 2 {
		t.Fatalf("the page has scatter charts %v; which could be in step?", scatter)
	}
	do(t, ctx, chromedp.Click("#"+scatter[0]+" .tools .end button", chromedp.ByQuery))
	wait(t, ctx, fmt.Sprintf(`document.querySelector('#%s .live').dataset.zoomed === '1'`, scatter[1]))
	// Ctrl and the wheel, as browsers report a pinch on a touchpad.
	x, y, w, h = box(t, ctx, "chart-time")
	do(t, ctx, input.DispatchMouseEvent(input.MouseWheel, x+w/2, y+h/2).WithDeltaX(0).WithDeltaY(-100).WithModifiers(input.ModifierCtrl))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.zoomed === '1'`)
	do(t, ctx, chromedp.Click("#chart-time .reset", chromedp.ByQuery))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.zoomed === ''`)
}

func TestCursorInStep(t *testing.T) {
	ctx := open(t, "article.de", size(1280, 900, false))
	wait(t, ctx, drawn)
	x, y, w, h := box(t, ctx, "chart-time")
	do(t, ctx, input.DispatchMouseEvent(input.MouseMoved, x+w*0.01, y+h/2))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.at !== ''`)
	// Both panels say what was there, throughput and temperature.
	values := js[[]string](t, ctx, `[...document.querySelectorAll('#chart-time .val')].map(v => v.textContent)`)
	text := strings.Join(values, " ")
	if !strings.Contains(text, "MB/s") || !strings.Contains(text, "°C") {
		t.Errorf("at the cursor stands %q", values)
	}
	lines := js[[]string](t, ctx, `[...document.querySelectorAll('#chart-time .u-cursor-x')].map(c => c.style.transform)`)
	if len(lines) != 2 || lines[0] != lines[1] {
		t.Errorf("the cursors of the two panels are at %v", lines)
	}
	// Other charts with the same X follow.
	scatter := js[[]string](t, ctx, `[...document.querySelectorAll('figure.chart')].filter(f => f.id.startsWith('chart-scatter')).map(f => f.id)`)
	x, y, w, h = box(t, ctx, scatter[0])
	do(t, ctx, input.DispatchMouseEvent(input.MouseMoved, x+w*0.6, y+h/2))
	wait(t, ctx, fmt.Sprintf(`document.querySelector('#%s .live').dataset.at > 0`, scatter[0]))
	at := js[[2]float64](t, ctx, fmt.Sprintf(`[+document.querySelector('#%s .live').dataset.at, +document.querySelector('#%s .live').dataset.at]`, scatter[0], scatter[1]))
	if at[0] <= 0 || math.Abs(at[0]-at[1]) > at[0]*0.01 {
		t.Errorf("the cursors of two charts with the same X are at %v", at)
	}
}

func TestUnitsAndSeries(t *testing.T) {
	ctx := open(t, "quick.en", size(1280, 900, false))
	wait(t, ctx, drawn)
	label := `document.querySelector('#chart-time .panel-head .y').textContent`
	for _, unit := range []string{"IOPS", "MiB/s", "MB/s"} {
		do(t, ctx, chromedp.Click(fmt.Sprintf(`//figure[@id="chart-time"]//button[text()=%q]`, unit), chromedp.BySearch))
		wait(t, ctx, fmt.Sprintf(`%s.includes('(%s)')`, label, unit))
		if pressed := js[[]string](t, ctx, `[...document.querySelectorAll('#chart-time .unit[aria-pressed=true]')].map(b => b.textContent)`); len(pressed) != 1 || pressed[0] != unit {
			t.Errorf("pressed is %v, not %s", pressed, unit)
		}
		// One switch is for the whole page.
		if n := js[int](t, ctx, fmt.Sprintf(`[...document.querySelectorAll('.unit[aria-pressed=true]')].filter(b => b.parentElement.textContent.includes('IOPS') && b.textContent !== %q).length`, unit)); n != 0 {
			t.Errorf("%d charts show another unit than %s", n, unit)
		}
	}
	before := js[string](t, ctx, `document.querySelector('#chart-time canvas').toDataURL()`)
	do(t, ctx, chromedp.Click("#chart-time .series", chromedp.ByQuery))
	wait(t, ctx, `document.querySelector('#chart-time .series').getAttribute('aria-pressed') === 'false'`)
	if js[string](t, ctx, `document.querySelector('#chart-time canvas').toDataURL()`) == before {
		t.Error("a series that is switched off is still drawn")
	}
}

func TestKeyboard(t *testing.T) {
	ctx := open(t, "quick.de", size(1280, 900, false))
	wait(t, ctx, drawn)
	do(t, ctx, chromedp.Focus("#chart-time .plots", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	wait(t, ctx, `document.getElementById('said').textContent.length > 10`)
	do(t, ctx, chromedp.KeyEvent("+"))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.zoomed === '1'`)
	do(t, ctx, chromedp.KeyEvent("0"))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.zoomed === ''`)
	// The first stop of the tabulator leads past the navigation.
	do(t, ctx, chromedp.Evaluate(`document.activeElement.blur(), getSelection().removeAllRanges(), window.scrollTo(0, 0)`, nil))
	if js[string](t, ctx, `document.querySelector('a[href="#main"]').className`) != "skip" || !js[bool](t, ctx, `document.body.firstElementChild.matches('a.skip')`) {
		t.Error("no link to skip to the report")
	}
	// What does something can be reached, and has a name.
	bad := js[[]string](t, ctx, `[...document.querySelectorAll('button, a[href], summary, [tabindex="0"]')].filter(e => e.offsetParent && (e.tabIndex < 0 || !(e.textContent.trim() || e.getAttribute('aria-label')))).map(e => e.outerHTML.slice(0, 80))`)
	if len(bad) > 0 {
		t.Errorf("not to be reached, or without a name: %v", bad)
	}
}

func TestTouch(t *testing.T) {
	ctx := open(t, "quick.de", size(390, 800, true), emulation.SetTouchEmulationEnabled(true).WithMaxTouchPoints(2))
	wait(t, ctx, drawn)
	x, y, w, h := box(t, ctx, "chart-time")
	at := func(d float64) []*input.TouchPoint {
		return []*input.TouchPoint{{X: x + w/2 - d, Y: y + h/2, ID: 1}, {X: x + w/2 + d, Y: y + h/2, ID: 2}}
	}
	do(t, ctx, input.DispatchTouchEvent(input.TouchStart, at(20)), input.DispatchTouchEvent(input.TouchMove, at(50)),
		input.DispatchTouchEvent(input.TouchMove, at(80)), input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}))
	wait(t, ctx, `document.querySelector('#chart-time .live').dataset.zoomed === '1'`)
}

func TestDark(t *testing.T) {
	ctx := open(t, "article.de", size(1280, 900, false), media("screen", "dark"))
	wait(t, ctx, drawn)
	background := `getComputedStyle(document.body).backgroundColor`
	if got := js[string](t, ctx, background); got != "rgb(20, 23, 28)" {
		t.Errorf("a reader who prefers dark gets %s", got)
	}
	before := js[string](t, ctx, `document.querySelector('#chart-time canvas').toDataURL()`)
	do(t, ctx, chromedp.Click("#theme", chromedp.ByQuery))
	wait(t, ctx, background+` === 'rgb(255, 255, 255)'`)
	wait(t, ctx, drawn)
	if js[string](t, ctx, `document.querySelector('#chart-time canvas').toDataURL()`) == before {
		t.Error("the charts kept their dark colours")
	}
}

// No page scrolls sideways, whatever is open; wide tables scroll in themselves.
func TestNarrow(t *testing.T) {
	if skipReason != "" {
		t.Skip(skipReason)
	}
	for name := range pages {
		for _, width := range []int64{360, 768, 3840} {
			ctx := open(t, name, size(width, 800, width == 360))
			wait(t, ctx, drawn)
			do(t, ctx, chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => d.open = true)`, nil))
			if got := js[int64](t, ctx, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%s is %d wide on a screen of %d", name, got, width)
			}
			wider := js[[]string](t, ctx, fmt.Sprintf(`[...document.querySelectorAll('canvas')].filter(c => c.getBoundingClientRect().right > %d + 0.5).map(c => c.closest('figure').id)`, width))
			if len(wider) > 0 {
				t.Errorf("%s at %d: charts %v reach beyond the screen", name, width, wider)
			}
		}
	}
}

// visible counts the pictures that a reader sees, and the charts.
const visible = `(() => {
	const seen = (e) => { const r = e.getBoundingClientRect(); return r.width > 100 && r.height > 50 && getComputedStyle(e).visibility === 'visible'; };
	return [[...document.querySelectorAll('figure.chart .static svg')].filter(seen).length, document.querySelectorAll('figure.chart').length,
		[...document.querySelectorAll('figure.chart canvas')].filter(seen).length];
})()`

func TestPrint(t *testing.T) {
	ctx := open(t, "article.de", size(1000, 900, false))
	wait(t, ctx, drawn)
	if n := js[[3]int](t, ctx, visible); n[0] != 0 || n[2] == 0 {
		t.Errorf("on a screen %d pictures and %d canvases are to be seen", n[0], n[2])
	}
	do(t, ctx, media("print", "dark"))
	wait(t, ctx, `document.querySelector('figure.chart .static svg') !== null`)
	if n := js[[3]int](t, ctx, visible); n[0] != n[1] || n[1] == 0 || n[2] != 0 {
		t.Errorf("on paper are %d pictures of %d charts, and %d canvases", n[0], n[1], n[2])
	}
	if got := js[string](t, ctx, `getComputedStyle(document.documentElement).getPropertyValue('--page').trim()`); got != "#ffffff" {
		t.Errorf("paper is %s", got)
	}
	var pdf []byte
	do(t, ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = cdppage.PrintToPDF().Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Error("the page cannot be printed")
	}
}

func TestWithoutScripts(t *testing.T) {
	if skipReason != "" {
		t.Skip(skipReason)
	}
	for _, name := range []string{"quick.de", "article.de"} {
		ctx := open(t, name, size(1000, 900, false), emulation.SetScriptExecutionDisabled(true))
		if n := js[[3]int](t, ctx, visible); n[0] != n[1] || n[1] == 0 || n[2] != 0 {
			t.Errorf("%s: without scripts are %d pictures of %d charts, and %d canvases", name, n[0], n[1], n[2])
		}
		if n := js[int](t, ctx, `[...document.querySelectorAll('button')].filter(b => b.offsetParent).length`); n != 0 {
			t.Errorf("%s: %d buttons do nothing without scripts", name, n)
		}
	}
}

// A run of two hours is below the size that was set for one of 40 minutes.
func TestSize(t *testing.T) {
	if skipReason != "" {
		t.Skip(skipReason)
	}
	for name, path := range pages {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if fi.Size() > 1e6 {
			t.Errorf("%s has %d bytes", name, fi.Size())
		}
	}
}

// What is simulated says so first, and in every chart.
func TestSimulatedIsMarked(t *testing.T) {
	ctx := open(t, "article.de", size(1280, 900, false))
	if got := js[string](t, ctx, `document.querySelector('.banner').textContent`); !strings.HasPrefix(got, "SIMULIERT (SIMULATED)") {
		t.Errorf("the banner reads %q", got)
	}
	if n := js[int](t, ctx, `[...document.querySelectorAll('figure.chart')].filter(f => !f.textContent.includes('SIMULATED')).length`); n != 0 {
		t.Errorf("%d charts are not marked", n)
	}
	ctx = open(t, "quick.de", size(1280, 900, false))
	if js[bool](t, ctx, `document.body.textContent.includes('SIMULATED') || document.querySelector('.banner') !== null`) {
		t.Error("a real run is marked as simulated")
	}
}
