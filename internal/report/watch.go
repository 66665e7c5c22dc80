package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// watchMessages are the texts of nativ watch.
type watchMessages struct {
	title, every, end             string
	temperature, since            string
	read, write, busy, queue      string
	link, linkErrors              string
	throttle, throttled, notSince string
	alarm, noAlarm, unreadable    string
	noCounters                    string
	heads                         string // separated by |
	choose, ask                   string
}

var watchGerman = watchMessages{
	title: "nativ watch", every: "alle %s, seit %s min", end: "Ende: Strg-C",
	temperature: "Temperatur", since: "seit Beginn %s bis %s",
	read: "Lesen", write: "Schreiben", busy: "Auslastung", queue: "%s gleichzeitig",
	link: "Anbindung", linkErrors: "AER-Fehler seit Beginn: %s",
	throttle: "Drosselung", throttled: "seit Beginn TMT1 +%s (%s s), TMT2 +%s (%s s), Warnschwelle +%s min", notSince: "seit Beginn keine",
	alarm: "Alarm", noAlarm: "keiner", unreadable: "Nicht lesbar: %s: %s", noCounters: "keine Zähler",
	heads:  "Zeit|Laufwerk|°C|IOPS les.|MB/s|IOPS schr.|MB/s|Last %",
	choose: "Laufwerke:", ask: "Welches beobachten? [Nummer bis %s] ",
}

var watchEnglish = watchMessages{
	title: "nativ watch", every: "every %s, for %s min", end: "End: Ctrl-C",
	temperature: "Temperature", since: "since the start %s to %s",
	read: "Read", write: "Write", busy: "Busy", queue: "%s at a time",
	link: "Link", linkErrors: "AER errors since the start: %s",
	throttle: "Throttling", throttled: "since the start TMT1 +%s (%s s), TMT2 +%s (%s s), warning +%s min", notSince: "none since the start",
	alarm: "Alarm", noAlarm: "none", unreadable: "Not readable: %s: %s", noCounters: "no counters",
	heads:  "Time|Drive|°C|IOPS read|MB/s|IOPS wr.|MB/s|Busy %",
	choose: "Drives:", ask: "Which one to watch? [number up to %s] ",
}

// A Watch turns the points of nativ watch into text, in the order in which they
// come.
type Watch struct {
	*speaker
	drives   []record.Drive
	interval time.Duration

	first, last *record.WatchPoint
	low, high   map[string]int64 // temperatures, by sensor
}

// NewWatch returns a Watch for these drives.
func NewWatch(drives []record.Drive, interval time.Duration, lang string) *Watch {
	rec := &record.Record{}
	rec.Target.Drives = drives
	return &Watch{speaker: newSpeaker(lang, rec), drives: drives, interval: interval, low: map[string]int64{}, high: map[string]int64{}}
}

// Add takes the next point.
func (w *Watch) Add(p *record.WatchPoint) {
	if w.first == nil {
		w.first = p
	}
	w.last = p
	for name, mc := range p.Sample.Temperatures {
		if low, seen := w.low[name]; !seen || mc < low {
			w.low[name] = mc
		}
		if high, seen := w.high[name]; !seen || mc > high {
			w.high[name] = mc
		}
	}
}

// Unreadable says once what cannot be read, and why.
func (w *Watch) Unreadable(sources []record.Source) []string {
	var lines []string
	for _, s := range sources {
		if s.Missing == "" {
			continue
		}
		why := w.reason(s.Missing)
		if s.Kind == "temperature" && slices.ContainsFunc(w.drives, func(d record.Drive) bool {
			return d.Name == s.Name && analysis.VirtualDrive(&d)
		}) {
			why = w.info.check["temperature/not-applicable/virtual"] // no module would bring one
		}
		kind := w.detail.kinds[s.Kind]
		if kind == "" {
			kind = s.Kind
		}
		lines = append(lines, plain(fmt.Sprintf(w.watch.unreadable, strings.TrimSpace(kind+" "+w.data(s.Name)), why)))
	}
	return lines
}

// Choice lists the drives, numbered from 1.
func (w *Watch) Choice() []string {
	lines := []string{w.watch.choose}
	for i := range w.drives {
		d := &w.drives[i]
		lines = append(lines, plain(fmt.Sprintf("%3d  %-10s %s, %s", i+1, w.data(d.Name), w.driveName(d), w.bytes(d.SizeBytes))))
	}
	return lines
}

// Ask is the question after Choice.
func (w *Watch) Ask() string { return fmt.Sprintf(w.watch.ask, w.int(int64(len(w.drives)))) }

// widths of the columns of a log; those of numbers are aligned right.
var watchWidths = [8]int{8, -9, 3, 9, 6, 10, 6, 6}

// Head is the line above those of Lines.
func (w *Watch) Head() string {
	var cells [8]string
	copy(cells[:], strings.Split(w.watch.heads, "|"))
	return w.row(cells)
}

func (w *Watch) row(cells [8]string) string {
	var parts []string
	for i, c := range cells {
		if n := watchWidths[i]; n < 0 {
			parts = append(parts, pad(c, -n))
		} else {
			parts = append(parts, strings.Repeat(" ", max(n-length(c), 0))+c)
		}
	}
	return strings.TrimRight(plain(strings.Join(parts, "  ")), " ")
}

// Lines are the last point as lines of a log, one a drive.
func (w *Watch) Lines() []string {
	var lines []string
	for i := range w.drives {
		d := &w.drives[i]
		cells := [8]string{w.last.Time.Local().Format(time.TimeOnly), w.data(d.Name), absent, absent, absent, absent, absent, absent}
		if names, values := temperaturesOf(d, w.last.Sample.Temperatures); len(names) > 0 {
			cells[2] = w.celsius(values[names[0]])
		}
		if r, ok := w.last.Rates[d.Name]; ok {
			cells[3], cells[4] = w.short(r.ReadIOPS), w.short(r.ReadBytesSec/1e6)
			cells[5], cells[6] = w.short(r.WriteIOPS), w.short(r.WriteBytesSec/1e6)
			cells[7] = w.percent(r.Busy)
		}
		line := w.row(cells)
		if events := w.events(d); events != "" {
			line += "  " + events
		}
		lines = append(lines, line)
	}
	return lines
}

// events are what a drive counted since the first point that is no ordinary I/O.
func (w *Watch) events(d *record.Drive) string {
	var parts []string
	a, b, ok := w.health(d)
	if ok {
		for _, c := range []struct {
			name     string
			from, to int64
		}{
			{"TMT1", a.TMT1Transitions, b.TMT1Transitions}, {"TMT2", a.TMT2Transitions, b.TMT2Transitions},
			{"WCTEMP min", a.WarningMinutes, b.WarningMinutes}, {"CCTEMP min", a.CriticalMinutes, b.CriticalMinutes},
		} {
			if c.to > c.from {
				parts = append(parts, c.name+" +"+w.int(c.to-c.from))
			}
		}
	}
	if b.CriticalWarning != 0 {
		parts = append(parts, w.alarms(b.CriticalWarning))
	}
	return strings.Join(parts, ", ")
}

// health returns the first and the last health log of a drive.
func (w *Watch) health(d *record.Drive) (first, last record.Health, ok bool) {
	if d.Controller == nil {
		return first, last, false
	}
	first, ok1 := w.first.Sample.Health[*d.Controller]
	last, ok2 := w.last.Sample.Health[*d.Controller]
	return first, last, ok1 && ok2
}

// View is the last point as a view that is drawn over the one before, in lines
// of at most width columns.
func (w *Watch) View(width int) []string {
	m := &w.watch
	right := w.last.Time.Local().Format(time.TimeOnly) + ", " +
		fmt.Sprintf(m.every, w.seconds(int64(w.interval)), clock(w.last.Time.Sub(w.first.Time)))
	lines := []string{m.title + strings.Repeat(" ", max(width-length(m.title)-length(right), 2)) + right}
	for i := range w.drives {
		lines = append(lines, "", w.driveHead(&w.drives[i]))
		lines = append(lines, w.driveView(&w.drives[i])...)
	}
	lines = append(lines, "", m.end)
	for i, l := range lines {
		l = plain(l)
		if r := []rune(l); len(r) > width {
			l = string(r[:width-1]) + "…"
		}
		lines[i] = l
	}
	return lines
}

// driveHead names a drive and the temperatures from which it warns.
func (w *Watch) driveHead(d *record.Drive) string {
	head := w.data(d.Name)
	if d.Model != nil {
		head += "  " + w.driveName(d)
	}
	if d.NVMe != nil {
		i := &informer{notes: &notes{speaker: w.speaker}, m: &w.info}
		if limits := i.limitsLine(&record.NVMe{WarningMC: d.NVMe.WarningMC, CriticalMC: d.NVMe.CriticalMC}); limits != "" {
			head += ", " + limits
		}
	}
	return head
}

func (w *Watch) driveView(d *record.Drive) []string {
	m := &w.watch
	label := 0
	for _, l := range []string{m.temperature, m.read, m.write, m.busy, m.link, m.throttle, m.alarm, "Composite"} {
		label = max(label, length(l)+2)
	}
	var lines []string
	row := func(name, text string) { lines = append(lines, pad(name, label)+text) }
	number := func(n, u string, columns int) string {
		return strings.Repeat(" ", max(columns-length(n), 0)) + unit(n, u)
	}
	const columns = 9
	names, values := temperaturesOf(d, w.last.Sample.Temperatures)
	for k, name := range names {
		title := m.temperature
		if k > 0 {
			title = "  " + w.data(name)
		}
		text := number(w.celsius(values[name]), "°C", columns)
		full := w.sensorName(d, name)
		if low, high := w.low[full], w.high[full]; low != high {
			text += "   " + fmt.Sprintf(m.since, w.celsius(low), unit(w.celsius(high), "°C"))
		}
		row(title, text)
	}
	if r, ok := w.last.Rates[d.Name]; ok {
		row(m.read, number(w.short(r.ReadIOPS), "IOPS", columns)+number(w.short(r.ReadBytesSec/1e6), "MB/s", columns+1))
		row(m.write, number(w.short(r.WriteIOPS), "IOPS", columns)+number(w.short(r.WriteBytesSec/1e6), "MB/s", columns+1))
		row(m.busy, number(w.percent(r.Busy), "%", columns)+strings.Repeat(" ", 6)+fmt.Sprintf(m.queue, w.fixed(r.QueueDepth, 1)))
	} else if _, counted := w.last.Sample.Devices[d.Name]; !counted {
		row(m.read, m.noCounters)
	}
	if text := w.linkView(d); text != "" {
		row(m.link, text)
	}
	if a, b, ok := w.health(d); ok {
		text := m.notSince
		if b.TMT1Transitions != a.TMT1Transitions || b.TMT2Transitions != a.TMT2Transitions || b.TMT1Seconds != a.TMT1Seconds ||
			b.TMT2Seconds != a.TMT2Seconds || b.WarningMinutes != a.WarningMinutes {
			text = fmt.Sprintf(m.throttled, w.int(b.TMT1Transitions-a.TMT1Transitions), w.int(b.TMT1Seconds-a.TMT1Seconds),
				w.int(b.TMT2Transitions-a.TMT2Transitions), w.int(b.TMT2Seconds-a.TMT2Seconds), w.int(b.WarningMinutes-a.WarningMinutes))
		}
		row(m.throttle, text)
		alarm := m.noAlarm
		if b.CriticalWarning != 0 {
			alarm = w.alarms(b.CriticalWarning)
		}
		row(m.alarm, alarm)
	}
	return lines
}

// sensorName is the full name of a sensor of the drive in the samples.
func (w *Watch) sensorName(d *record.Drive, short string) string {
	for _, name := range slices.Sorted(maps.Keys(w.last.Sample.Temperatures)) {
		of, sensor, _ := strings.Cut(name, " ")
		if strings.TrimPrefix(sensor, "hwmon ") == short && (of == d.Name || d.Controller != nil && of == *d.Controller) {
			return name
		}
	}
	return ""
}

func (w *Watch) linkView(d *record.Drive) string {
	if d.PCIAddress == nil {
		return ""
	}
	var parts []string
	if l, ok := w.last.Sample.Links[*d.PCIAddress]; ok && l.SpeedMTs > 0 && l.Width > 0 {
		text := "PCIe" + glue + pcie(float64(l.SpeedMTs), float64(l.Width))
		if d.Link != nil && (l.SpeedMTs < d.Link.MaxSpeedMTs || l.Width < d.Link.MaxWidth) {
			text += ", " + fmt.Sprintf(w.info.linkBoth, pcie(float64(d.Link.MaxSpeedMTs), float64(d.Link.MaxWidth)))
		}
		parts = append(parts, text)
	}
	var errors int64
	known := false
	for _, address := range []*string{d.PCIAddress, d.PortAddress} {
		if address == nil {
			continue
		}
		a, ok1 := w.first.Sample.AER[*address]
		b, ok2 := w.last.Sample.AER[*address]
		if known = known || ok1 && ok2; ok1 && ok2 {
			errors += b.Correctable - a.Correctable + b.NonFatal - a.NonFatal + b.Fatal - a.Fatal
		}
	}
	if known {
		parts = append(parts, fmt.Sprintf(w.watch.linkErrors, w.int(errors)))
	}
	return strings.Join(parts, ", ")
}
