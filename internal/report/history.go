package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// History lists runs.
func History(runs []record.RunSummary, lang string) *Document {
	h := newHistorian(lang)
	m := h.m
	t := Table{Columns: []Column{{m.run, true}, {m.test, true}, {m.drive, true}, {m.remarks, true}}}
	for i := range runs {
		r := &runs[i]
		drive := absent
		if len(r.Drives) > 0 {
			drive = h.drive(&r.Drives[0], false)
			if n := len(r.Drives); n > 1 {
				drive += fmt.Sprintf(" +%d", n-1)
			}
		}
		test := shorten(h.data(r.Preset), 12)
		if test == "" {
			test = absent
		}
		t.Rows = append(t.Rows, cells(h.data(r.ID), test, shorten(drive, 20), h.remarks(r)))
	}
	// Remarks take what the others leave of a line; the whole is in --json.
	room := Width
	for k := range t.Columns[:3] {
		widest := length(t.Columns[k].Head)
		for _, r := range t.Rows {
			widest = max(widest, length(r.Cells[k].Text))
		}
		room -= widest + 2
	}
	for _, r := range t.Rows {
		r.Cells[3].Text = cut(r.Cells[3].Text, max(room, 8))
	}
	return &Document{Lang: lang, Blocks: []Block{Title{Text: m.title, Right: h.count(len(runs))}, t}}
}

func cells(texts ...string) (r Row) {
	for _, t := range texts {
		r.Cells = append(r.Cells, Cell{Text: t})
	}
	return r
}

// cut shortens s at its end.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

type historian struct {
	*speaker
	m *historyMessages
}

func newHistorian(lang string) *historian {
	s := newSpeaker(lang, nil)
	return &historian{s, &s.history}
}

func (h *historian) count(n int) string {
	if n == 1 {
		return h.m.oneRun
	}
	return fmt.Sprintf(h.m.nRuns, h.int(int64(n)))
}

// remarks say what has to be known of a run before its numbers are used, and the
// user's tags.
func (h *historian) remarks(r *record.RunSummary) string {
	var list []string
	switch r.Origin {
	case record.OriginSimulated:
		list = append(list, h.simulation.mark)
	case record.OriginImported:
		list = append(list, h.m.imported)
	}
	if r.FromFile && r.Origin != record.OriginImported {
		list = append(list, h.m.fromFile)
	}
	if !r.Complete {
		list = append(list, h.m.incomplete)
	}
	for _, t := range r.Tags {
		list = append(list, "#"+h.data(t))
	}
	return strings.Join(list, ", ")
}

// drive names a drive. Serial numbers are nobody else's business and lists get
// shown around: of one, where it is to tell drives apart, the end.
func (h *historian) drive(d *record.DriveSummary, tail bool) string {
	name := h.data(d.Model)
	if name == "" {
		name = h.data(d.Name)
	}
	if tail && d.Serial != "" {
		name += glue + "…" + h.data(SerialTail(d.Serial))
	}
	return name
}

// SerialTail is the end of a serial number, enough to tell the drives of one
// machine apart.
func SerialTail(serial string) string {
	r := []rune(serial)
	return string(r[max(0, len(r)-min(4, len(r)/2)):])
}

// date writes a day, absent where it is not known.
func (h *historian) day(t time.Time) string {
	if t.IsZero() {
		return absent
	}
	return t.Local().Format(h.m.day)
}

// HistoryRun says what the history knows of a run beside its record.
func HistoryRun(r *record.RunSummary, lang string) *Document {
	h := newHistorian(lang)
	m := h.m
	origin := m.measured
	switch {
	case r.Origin == record.OriginSimulated:
		origin = h.simulation.mark
	case r.Origin == record.OriginImported:
		origin = m.imported
	case r.FromFile:
		origin = m.fromFile
	}
	if !r.Complete {
		origin += ", " + m.incomplete
	}
	var f Facts
	f.add(m.from, origin)
	var tags []string
	for _, t := range r.Tags {
		tags = append(tags, h.data(t))
	}
	f.add(m.tags, strings.Join(tags, ", "))
	f.add(m.note, h.data(r.Note))
	return &Document{Lang: lang, Blocks: []Block{Title{Text: m.run + " " + h.data(r.ID)}, f}}
}

// A DriveRuns is a drive and its runs in the order of time.
type DriveRuns struct {
	Drive record.DriveSummary // as in the last of them
	Runs  []record.RunSummary
}

// DrivesOf sorts runs by their drives, in the order of first use.
func DrivesOf(runs []record.RunSummary) (drives []DriveRuns) {
	at := map[string]int{}
	for _, r := range runs {
		for _, d := range r.Drives {
			k, ok := at[d.Key]
			if !ok {
				k = len(drives)
				at[d.Key] = k
				drives = append(drives, DriveRuns{})
			}
			drives[k].Drive = d
			drives[k].Runs = append(drives[k].Runs, r)
		}
	}
	return drives
}

// HistoryDrives lists the drives.
func HistoryDrives(drives []DriveRuns, lang string) *Document {
	h := newHistorian(lang)
	m := h.m
	t := Table{Columns: []Column{{m.drive, true}, {m.size, false}, {m.runs, false}, {m.last, true}, {m.wear, false}, {m.spare, false}}}
	for i := range drives {
		d := &drives[i]
		used, spare := absent, absent
		if _, w := d.wear(); len(w) > 0 {
			used, spare = h.share(w[len(w)-1].PercentageUsed), h.share(w[len(w)-1].AvailableSpare)
		}
		t.Rows = append(t.Rows, cells(h.marked(d, h.drive(&d.Drive, true)), h.bytes(d.Drive.Size), h.int(int64(len(d.Runs))),
			h.day(d.Runs[len(d.Runs)-1].Started), used, spare))
	}
	example := "nvme0n1"
	if len(drives) > 0 {
		example = h.data(drives[0].Drive.Name)
	}
	return &Document{Lang: lang, Blocks: []Block{Title{Text: m.drivesHead}, t, Paragraph{[]string{fmt.Sprintf(m.choose, example)}}}}
}

// marked marks a drive that only ever was simulated.
func (h *historian) marked(d *DriveRuns, text string) string {
	for i := range d.Runs {
		if d.Runs[i].Origin != record.OriginSimulated {
			return text
		}
	}
	return fmt.Sprintf(h.simulation.title, text)
}

// share writes a percentage that is a whole number of percent.
func (h *historian) share(percent *int64) string {
	if percent == nil {
		return absent
	}
	return unit(h.int(*percent), "%")
}

// wear returns the runs with a health log, and what it said.
func (d *DriveRuns) wear() (runs []*record.RunSummary, logs []record.DriveSummary) {
	for i := range d.Runs {
		for _, x := range d.Runs[i].Drives {
			// What a drive model answers is no wear of a drive.
			if x.Key == d.Drive.Key && x.PercentageUsed != nil && d.Runs[i].Origin == record.OriginMeasured {
				runs, logs = append(runs, &d.Runs[i]), append(logs, x)
			}
		}
	}
	return runs, logs
}

// HistoryDrive shows a drive over time.
func HistoryDrive(d *DriveRuns, lang string, details bool) *Document {
	h := newHistorian(lang)
	m := h.m
	doc := &Document{Lang: lang}
	add := func(blocks ...Block) { doc.Blocks = append(doc.Blocks, blocks...) }
	courses, left := analysis.Courses(d.Runs, d.Drive.Key)

	var f Facts
	name := h.drive(&d.Drive, true) + ", " + h.bytes(d.Drive.Size) + ", " + h.data(d.Drive.Name)
	if d.Drive.Serial == "" {
		name += " (" + m.noSerial + ")"
	}
	f.add(m.drive, name)
	f.add(m.firmware, h.data(d.Drive.Firmware))
	runs := fmt.Sprintf(m.span, h.count(len(d.Runs)), h.day(d.Runs[0].Started), h.day(d.Runs[len(d.Runs)-1].Started))
	if left > 0 {
		runs += "; " + fmt.Sprintf(m.left, h.int(int64(left)))
	}
	f.add(m.runs, runs)
	add(Title{Text: h.marked(d, m.title)}, f, Heading{m.wearHead})
	if t := h.wearTable(d); len(t.Rows) > 0 {
		add(t)
	} else {
		add(Paragraph{[]string{m.noWear}})
	}
	add(Heading{m.courseHead})
	if len(courses) == 0 {
		add(Paragraph{[]string{m.noCourse}})
		return doc
	}
	add(h.courseTable(courses))
	legend := []string{m.geometric}
	for i := range courses {
		if len(courses[i].Points) < analysis.LeastRuns {
			legend = append(legend, fmt.Sprintf(m.least, h.int(analysis.LeastRuns)))
			break
		}
	}
	add(Paragraph{append(legend, m.negligible)})
	if said, differs := h.changes(courses); len(said) > 0 {
		if differs {
			said = append(said, m.coincidence)
		}
		add(Paragraph{said})
	}
	if details {
		for i := range courses {
			add(Heading{m.pointsHead + ", " + h.courseName(&courses[i])}, h.points(&courses[i]))
		}
	}
	return doc
}

// wearTable has a row where anything but hours and written bytes changed, the
// first and the last, but no more than fit on a page.
func (h *historian) wearTable(d *DriveRuns) Table {
	m := h.m
	t := Table{Columns: []Column{{m.date, true}, {m.used, false}, {m.spare, false}, {m.written, false}, {m.hours, false}, {m.media, false}}}
	runs, logs := d.wear()
	shown := 0
	for i, l := range logs {
		last := i == len(logs)-1
		if i > 0 && !last {
			before := logs[shown]
			same := func(a, b *int64) bool { return a == nil || b == nil || *a == *b }
			if same(l.PercentageUsed, before.PercentageUsed) && same(l.AvailableSpare, before.AvailableSpare) && same(l.MediaErrors, before.MediaErrors) {
				continue
			}
		}
		shown = i
		number := func(v *int64, format func(int64) string) string {
			if v == nil {
				return absent
			}
			return format(*v)
		}
		t.Rows = append(t.Rows, cells(h.day(runs[i].Started), h.share(l.PercentageUsed), h.share(l.AvailableSpare),
			number(l.WrittenBytes, h.bytes), number(l.PowerOnHours, h.int), number(l.MediaErrors, h.int)))
	}
	const most = 12
	if n := len(t.Rows); n > most {
		t.Rows = append(t.Rows[:1:1], t.Rows[n-most+1:]...)
	}
	return t
}

func (h *historian) courseName(c *analysis.Course) string {
	return h.phaseName(&c.Setting.Phase) + ", " + h.placeOf(&c.Setting)
}

// placeOf names a place, as speaker.placeName does for a record.
func (h *historian) placeOf(s *record.Setting) string {
	name := h.place[s.Place]
	if name == "" {
		name = h.data(s.Place)
	}
	if s.CPUs > 0 {
		name += ", " + h.cpuCount(s.CPUs)
	}
	return name
}

func (h *historian) speed(c *analysis.Course, iops, bytes float64) string {
	if inIOPS(&c.Setting.Phase) {
		return h.short(iops)
	}
	return h.short(bytes / 1e6)
}

// courseTable has the levels of each course below the name of its phase.
func (h *historian) courseTable(courses []analysis.Course) Table {
	m := h.m
	t := Table{Columns: []Column{{m.place, true}, {m.since, true}, {m.runs, false}, {m.mean, false}, {m.extent, false}, {m.change, false}}}
	before := ""
	for i := range courses {
		c := &courses[i]
		measure := h.measure(c)
		if name := h.phaseName(&c.Setting.Phase) + ", " + measure; name != before {
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: name, Span: len(t.Columns)}}})
			before = name
		}
		place := h.placeOf(&c.Setting)
		for _, l := range c.Levels {
			low, high := c.Points[l.From], c.Points[l.From]
			for _, p := range c.Points[l.From:l.To] {
				if p.IOPS < low.IOPS {
					low = p
				}
				if p.IOPS > high.IOPS {
					high = p
				}
			}
			change := ""
			if l.Change != nil {
				change = h.signed(*l.Change) + glue + "%"
			}
			t.Rows = append(t.Rows, cells("  "+place, h.day(c.Points[l.From].Run.Started), h.int(int64(l.To-l.From)), h.speed(c, l.IOPS, l.BytesPerSec),
				h.speed(c, low.IOPS, low.BytesPerSec)+"–"+h.speed(c, high.IOPS, high.BytesPerSec), change))
			place = ""
		}
	}
	return t
}

// measure is the unit of a course.
func (h *historian) measure(c *analysis.Course) string {
	if inIOPS(&c.Setting.Phase) {
		return "IOPS"
	}
	return "MB/s"
}

// signed writes a fraction in percent with one decimal and its sign.
func (h *historian) signed(f float64) string {
	s := h.fixed(f*100, 1)
	if f > 0 {
		s = "+" + s
	}
	return s
}

// changes says which levels changed, by the runs at which they did, in the order
// of the courses; and whether anything else changed with one.
func (h *historian) changes(courses []analysis.Course) (said []string, differs bool) {
	m := h.m
	at := map[string]int{}
	for i := range courses {
		c := &courses[i]
		for _, l := range c.Levels {
			if l.Change == nil {
				continue
			}
			words, size := m.slower, -*l.Change
			if *l.Change > 0 {
				words, size = m.faster, *l.Change
			}
			change := fmt.Sprintf(words, h.phaseName(&c.Setting.Phase), h.placeOf(&c.Setting), h.fixed(size*100, 1))
			differs = differs || len(l.Differs) > 0
			since := h.since(c.Points[l.From].Run, l.Differs)
			k, ok := at[since]
			if !ok {
				at[since] = len(said)
				said = append(said, since+" "+change)
				continue
			}
			said[k] += "; " + change
		}
	}
	for i := range said {
		said[i] += "."
	}
	return said, differs
}

// since says where a level changed: "Since 2026-10-03 (run X), the first run
// with kernel 6.14 (before: 6.8):".
func (h *historian) since(first *record.RunSummary, differs []analysis.Difference) string {
	m := h.m
	var list []string
	for _, d := range differs {
		known := func(v string) string {
			if v = h.attribute(d.What, v); v == "" {
				return m.unknownBefore
			}
			return v
		}
		list = append(list, fmt.Sprintf(m.before, m.differs[d.What], known(d.To), known(d.From)))
	}
	if len(list) == 0 {
		return fmt.Sprintf(m.nothing, h.day(first.Started), h.data(first.ID))
	}
	return fmt.Sprintf(m.first, h.day(first.Started), h.data(first.ID), h.list(list))
}

// attribute words what differs between runs.
func (h *historian) attribute(what, v string) string {
	switch what {
	case analysis.DiffersLink:
		speed, width, _ := strings.Cut(v, " ")
		s, err := strconv.Atoi(speed)
		w, werr := strconv.Atoi(width)
		if err == nil && werr == nil {
			return pcie(float64(s), float64(w))
		}
	case analysis.DiffersFilesystem:
		words := strings.Fields(v)
		for i, k := range words {
			if i == 0 {
				v = h.data(k)
			} else if name := h.layer[k]; name != "" {
				v = fmt.Sprintf(h.layerOn, v, name)
			}
		}
		return v
	}
	return h.data(v)
}

// points lists every run of a course.
func (h *historian) points(c *analysis.Course) Table {
	m := h.m
	t := Table{Columns: []Column{{m.run, true}, {m.date, true}, {h.measure(c), false}}}
	for _, p := range c.Points {
		t.Rows = append(t.Rows, cells(h.data(p.Run.ID), h.day(p.Run.Started), h.speed(c, p.IOPS, p.BytesPerSec)))
	}
	return t
}
