package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"nativ/internal/bench"
	"nativ/internal/record"
	"nativ/internal/report"
)

// A live shows how far a run is: one line that is drawn over on a terminal,
// whole lines elsewhere. It writes on a goroutine of its own, so that a
// terminal that is slow or was stopped (Ctrl-S) never delays a measurement.
type live struct {
	w    io.Writer
	tty  bool
	lang string
	rec  *record.Record

	mu     sync.Mutex
	lines  []string // whole lines still to be written
	status string   // what the drawn line should say
	closed bool
	more   chan struct{}
	ended  chan struct{}
}

func newLive(w io.Writer, tty bool, lang string, rec *record.Record) *live {
	l := &live{w: w, tty: tty, lang: lang, rec: rec, more: make(chan struct{}, 1), ended: make(chan struct{})}
	go l.write()
	return l
}

// emit takes an event. It never blocks. The record is only read here, on the
// goroutine that runs the plan.
func (l *live) emit(e bench.Event) {
	line, status := l.text(e)
	if !l.tty {
		line = wrap(line, report.Width, l.mark("  "))
	}
	l.mu.Lock()
	if line != "" {
		l.lines = append(l.lines, line)
	}
	l.status = status
	l.mu.Unlock()
	l.wake()
}

func (l *live) wake() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// text returns the whole line that an event is worth, and the drawn line after
// it, either of them empty for none.
func (l *live) text(e bench.Event) (line, status string) {
	switch e.Kind {
	case bench.EventPlace:
		return l.either(l.mark(report.Say(l.lang, report.SaySetUp, report.PlaceName(l.rec, e.Place, l.lang))))
	case bench.EventPlaceAgain:
		return l.mark(report.Say(l.lang, report.SaySetUpAgain, report.PlaceName(l.rec, e.Place, l.lang))), ""
	case bench.EventClean:
		return l.either(l.mark(report.Say(l.lang, report.SayCleaning)))
	case bench.EventPrefill:
		return l.either(l.line(e, nil))
	case bench.EventPrefillEnd:
		if e.Failed == nil && e.Outcome != nil {
			return l.mark(report.PrefillDone(e.DoneBytes, e.Outcome.ElapsedNS(), l.lang)), ""
		}
	case bench.EventPrefillTick, bench.EventPassTick:
		if l.tty {
			return "", l.line(e, e.Interval)
		}
		return "", ""
	case bench.EventWait, bench.EventWaitTick:
		switch {
		case l.tty:
			return "", l.line(e, nil)
		case e.Kind == bench.EventWait && e.Wait.Left >= worthALine:
			return l.line(e, nil), ""
		}
		return "", ""
	case bench.EventPass:
		if l.tty {
			return "", l.line(e, nil)
		}
		return "", ""
	case bench.EventPilot:
		return l.mark(report.PilotLine(l.rec, l.lang)), ""
	case bench.EventVoid:
		return l.mark(report.VoidLine(l.rec, e.Phase.Name, e.Void, e.Again, l.lang)), ""
	case bench.EventPassEnd:
		ended := report.EndedText(e.EndedBy, l.lang)
		switch {
		case e.Failed == nil && !l.tty && e.Outcome != nil:
			return strings.TrimRight(l.line(e, whole(e.Outcome))+"  "+ended, " "), ""
		case e.Failed == nil && e.EndedBy != "" && e.EndedBy != record.EndPlateau:
			return l.mark(ended), ""
		}
	}
	if e.Failed != nil {
		return l.line(e, nil) + "  " + report.FailureText(e.Failed, l.lang), ""
	}
	return "", ""
}

// wrap breaks a line of a log that has more than width columns, between fields,
// which two spaces part, where it can, else between words. What follows is
// indented by indent.
func wrap(line string, width int, indent string) string {
	var b strings.Builder
	rest := []rune(line)
	for len(rest) > width {
		head := string(rest[:width+1])
		cut := strings.LastIndex(head, "  ")
		if cut < len(indent)+4 {
			cut = strings.LastIndex(head, " ")
		}
		if cut < len(indent)+4 {
			break // one long word, such as a path, stays whole
		}
		b.WriteString(strings.TrimRight(head[:cut], " ") + "\n")
		rest = []rune(indent + "  " + strings.TrimLeft(head[cut:]+string(rest[width+1:]), " "))
	}
	return b.String() + string(rest)
}

// mark says of a line that nothing is measured, where nothing is.
func (l *live) mark(text string) string {
	if text == "" || l.rec.Simulated == nil {
		return text
	}
	return report.SimulatedMark(l.lang) + "  " + text
}

// worthALine is how long a wait is that gets a line of a log.
const worthALine = 10 * time.Second

// either shows text on the drawn line or, where there is none, as a line.
func (l *live) either(text string) (line, status string) {
	if l.tty {
		return "", text
	}
	return text, ""
}

// line words the state of the run.
func (l *live) line(e bench.Event, iv *record.Interval) string {
	v := report.Live{Phase: &e.Phase, Left: time.Duration(e.LeftNS), TemperatureMC: e.Temperature}
	if e.Steps > 0 {
		v.Place, v.Pass, v.Passes = e.Place, e.Step+1, e.Steps
	}
	if iv != nil && iv.LenNS > 0 {
		seconds := float64(iv.LenNS) / 1e9
		iops := float64(iv.ReadIOs+iv.WriteIOs) / seconds
		bytes := float64(iv.ReadBytes+iv.WriteBytes) / seconds
		v.IOPS, v.BytesPerSec, v.P99NS = &iops, &bytes, iv.P99NS
	}
	if w := e.Wait; w != nil {
		v.Waiting = report.Waiting(l.lang, w.Left, w.Why == bench.WaitIdle, w.TemperatureMC, w.TargetMC)
		if w.Why == bench.WaitIdle {
			v.Phase = nil
		}
	}
	width := 0
	if l.tty {
		width = l.width() - 1 // the last column would wrap
	}
	return report.LiveLine(l.rec, v, l.lang, width)
}

// whole makes one interval of a whole pass.
func whole(o *record.Outcome) *record.Interval {
	iv := &record.Interval{EndNS: o.ElapsedNS(), LenNS: o.ElapsedNS()}
	lat := func(f *record.Flow) {
		if ns, ok := f.Lat.Percentile(99); ok {
			iv.P99NS = &ns
		}
	}
	if f := o.Read; f != nil {
		iv.ReadIOs, iv.ReadBytes = f.IOs, f.Bytes
		lat(f)
	}
	if f := o.Write; f != nil {
		iv.WriteIOs, iv.WriteBytes = f.IOs, f.Bytes
		lat(f)
	}
	if f := o.Sync; f != nil {
		lat(f)
	}
	return iv
}

func (l *live) width() int {
	if f, ok := l.w.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			return w
		}
	}
	return report.Width
}

// clearLine goes to the start of the drawn line and erases it.
const clearLine = "\r\x1b[2K"

// write writes until close. Errors are left alone: a terminal that went away
// must not end a measurement.
func (l *live) write() {
	defer close(l.ended)
	drawn := false
	for range l.more {
		l.mu.Lock()
		lines, status, closed := l.lines, l.status, l.closed
		l.lines = nil
		l.mu.Unlock()
		if drawn {
			fmt.Fprint(l.w, clearLine)
		}
		for _, s := range lines {
			fmt.Fprintln(l.w, s)
		}
		drawn = status != "" && !closed
		if drawn {
			fmt.Fprint(l.w, status)
		}
		if closed {
			return
		}
	}
}

// closeLimit is how long close waits for a terminal that does not take its
// lines.
const closeLimit = 2 * time.Second

// close writes what is left and erases the drawn line.
func (l *live) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.wake()
	select {
	case <-l.ended:
	case <-time.After(closeLimit):
	}
}
