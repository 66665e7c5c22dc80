package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// importMessages are the texts about imported results.
type importMessages struct {
	title                                string
	source, devices, options, said       string
	test, threads, kind, best, noDevices string
	perIO, jobsHead, disksHead, diskText string
	busy, note, latencyNote, jobs        string
	doubts                               map[string]string // by the word "what" of record.WarnImport
}

// imported is the report of a record whose numbers are another tool's: a table of
// what it measured, and what is known of where that was. It has no line on
// temperature, cleanup or the container, of which nobody here knows anything, and
// compares nothing.
func imported(rec *record.Record, res analysis.Result, o Options) *Document {
	s := newSpeaker(o.Lang, rec)
	var own, doubts []record.Warning
	for _, w := range res.Warnings {
		if w.Code == record.WarnImport {
			doubts = append(doubts, w)
		} else {
			own = append(own, w)
		}
	}
	b := &builder{notes: newNotes(s, rec, own), res: &res}
	m := &s.imported
	d := &Document{Lang: o.Lang}
	add := func(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

	title := Title{Text: s.marked(rec, fmt.Sprintf(m.title, s.data(strings.TrimSpace(rec.Tool.Name+" "+rec.Tool.Version))))}
	if !rec.Started.IsZero() {
		title.Right = rec.Started.Format(s.date)
	}
	origin := b.origin()
	var numbers []Block
	if len(res.Phases) > 0 {
		numbers = []Block{b.measured(), Legend{[]string{m.latencyNote}}}
	}
	about := b.rest()
	f := b.block()
	first := len(f.Items) + 1
	f.Items = append(f.Items, b.doubts(doubts)...)
	if n := len(f.Items); n >= first { // of the file as a whole
		all := make([]int, 0, n)
		for i := first; i <= n; i++ {
			all = append(all, i)
		}
		about += glue + "[" + ranges(all) + "]"
	}
	if len(origin) > 0 {
		origin[len(origin)-1].Text += about
	}
	add(append([]Block{title, Facts{Rows: origin}}, numbers...)...)
	if len(f.Items) > 0 {
		add(f)
	}
	add(Paragraph{Lines: []string{m.note}})
	if o.Details {
		add(b.importDetails()...)
	}
	if len(o.Files) > 0 {
		add(Paragraph{Lines: []string{b.filesWord}})
		for _, f := range o.Files {
			add(Command{b.data(f)})
		}
	}
	name := b.data(o.Name)
	if name == "" {
		name = b.data(rec.ID)
	}
	next := b.notes.details
	if o.Details {
		next = b.last
	}
	add(Paragraph{Lines: []string{fmt.Sprintf(next, name), fmt.Sprintf(b.everyone, name)}})
	return d
}

// origin says where the numbers come from.
func (b *builder) origin() []Fact {
	m, imp := &b.imported, b.rec.Import
	var f Facts
	f.add(m.source, b.data(strings.Join(imp.Files, ", ")))
	var disks []string
	for _, d := range imp.Disks {
		text := strings.TrimSpace(d.Host + " " + d.Name)
		if d.Util != nil {
			text = fmt.Sprintf(m.busy, text, b.percent(*d.Util))
		}
		disks = append(disks, text)
	}
	devices := b.data(strings.Join(disks, ", "))
	if devices == "" {
		devices = m.noDevices
	}
	f.add(m.devices, devices)
	f.add(m.options, b.data(optionText(imp.Global)))
	return f.Rows
}

// optionText writes options as in a job file.
func optionText(opts []record.Option) string {
	var parts []string
	for _, o := range opts {
		if o.Value == "" {
			parts = append(parts, o.Name)
		} else {
			parts = append(parts, o.Name+"="+o.Value)
		}
	}
	return strings.Join(parts, " ")
}

// measured is the table of all jobs: a line for each direction, and for each clone
// that was reported apart.
func (b *builder) measured() Table {
	m := &b.imported
	t := Table{Columns: []Column{{m.test, true}, {b.detail.mode, true}, {"QD", false}, {m.threads, false}, {"IOPS", false},
		{"MB/s", false}, {m.kind, true}, {b.jobs.avg, false}, {"p50", false}, {"p99", false}}}
	ns := func(v int64) string { return b.duration(float64(v)) }
	b.eachLine(func(ph *analysis.Phase, _ *analysis.Place, l *analysis.Line, name string, _ bool) {
		kind := absent
		switch {
		case l.Lat.P50 == nil && l.Lat.Mean == nil:
		case ph.Job.FDataSync > 0 && l.Direction != "read":
			kind = "sync"
		case l.Lat.Clat:
			kind = "clat"
		default:
			kind = "lat"
		}
		jobs := ph.Job.NumJobs
		if l.Job > 0 {
			jobs = 1
		}
		t.Rows = append(t.Rows, Row{Notes: b.ref(func(w record.Warning) bool { return w.Phase == ph.Job.Name }), Cells: []Cell{
			{Text: name}, {Text: b.data(modeOf(ph, l))}, {Text: positive(ph.Job.IODepth)}, {Text: positive(jobs)},
			{Text: orAbsent(l.IOPS, b.wholeOrShort)},
			{Text: orAbsent(l.BytesPerSec, func(v float64) string { return b.short(v / 1e6) })},
			{Text: kind}, {Text: orAbsent(l.Lat.Mean, b.duration)},
			{Text: orAbsent(l.Lat.P50, ns)}, {Text: orAbsent(l.Lat.P99, ns)},
		}})
	})
	return t
}

// modeOf is what a line did: "randrw 4K, read".
func modeOf(ph *analysis.Phase, l *analysis.Line) string {
	s := string(ph.Job.Mode)
	if bs := ph.Job.BlockSize; bs > 0 && ph.Job.WriteBlockSize == 0 {
		s = strings.TrimSpace(s + " " + blockSize(bs))
	}
	if l.Direction != "" && (s == "" || ph.Job.Mode.Mixed() || ph.Job.Mode == "") {
		s = strings.TrimPrefix(s+", "+l.Direction, ", ")
	}
	if s == "" {
		return absent
	}
	return s
}

// eachLine calls f for every line of the result with its name, and says which is
// the first of its phase. A phase without numbers has one, too.
func (b *builder) eachLine(f func(ph *analysis.Phase, p *analysis.Place, l *analysis.Line, name string, first bool)) {
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		for j := range ph.Places {
			p := &ph.Places[j]
			lines := p.Lines
			if len(lines) == 0 {
				lines = []analysis.Line{{IOPS: p.IOPS, BytesPerSec: p.BytesPerSec, Lat: p.Lat}}
			}
			for k := range lines {
				name := b.data(ph.Job.Name)
				if l := &lines[k]; l.Job > 0 {
					name += fmt.Sprintf(" %d/%d", l.Job, l.Jobs)
				}
				f(ph, p, &lines[k], name, k == 0)
			}
		}
	}
}

// wholeOrShort formats a rate without decimals that say nothing.
func (s *speaker) wholeOrShort(v float64) string {
	if v < 100 {
		return s.short(v)
	}
	return s.fixed(v, 0)
}

// positive formats a number of which 0 means that it is not known.
func positive(n int) string {
	if n <= 0 {
		return absent
	}
	return strconv.Itoa(n)
}

// effortOfImport is the second table, with what the first has no room for.
func (b *builder) effortOfImport() Table {
	m := &b.imported
	t := Table{Columns: []Column{{m.test, true}, {"p" + b.fixed(99.9, 1), false}, {m.best, false}, {m.perIO, false}, {b.detail.passes, false}, {b.detail.spread, false}}}
	b.eachLine(func(ph *analysis.Phase, p *analysis.Place, l *analysis.Line, name string, first bool) {
		if slices.ContainsFunc(p.Lines, func(o analysis.Line) bool { return o.Direction != l.Direction }) {
			name += " " + l.Direction
		}
		r := Row{Cells: []Cell{{Text: name}, {Text: orAbsent(l.Lat.P999, func(v int64) string { return b.duration(float64(v)) })}, {}, {}, {}, {}}}
		if first { // the rest is of all lines together
			cpu := absent
			if p.UserNS != nil && p.SystemNS != nil {
				cpu = b.duration(*p.UserNS + *p.SystemNS)
			}
			for i, text := range []string{
				orAbsent(p.MaxIOPS, func(v float64) string { return unit(b.wholeOrShort(v), "IOPS") }), cpu,
				fmt.Sprintf("%d/%d", p.Passes, p.Planned),
				orAbsent(p.Spread, func(v float64) string { return unit(b.fixed(v*100, 1), "%") }),
			} {
				r.Cells[2+i].Text = text
			}
		}
		t.Rows = append(t.Rows, r)
	})
	return t
}

// doubts words what the import found, one line for each kind of it.
func (b *builder) doubts(warnings []record.Warning) []string {
	var kinds []string
	jobs, details := map[string][]string{}, map[string]string{}
	for _, w := range warnings {
		what := w.Words["what"]
		if !slices.Contains(kinds, what) {
			kinds = append(kinds, what)
			details[what] = w.Words["detail"]
		}
		if j := b.data(w.Words["job"]); j != "" && !slices.Contains(jobs[what], j) {
			jobs[what] = append(jobs[what], j)
		}
	}
	var lines []string
	for _, what := range kinds {
		text := b.imported.doubts[what]
		if text == "" {
			text = b.data(what) // of a later version
		}
		if d := b.data(details[what]); d != "" {
			text += " (" + d + ")"
		}
		if j := jobs[what]; len(j) > 0 {
			text = fmt.Sprintf(b.imported.jobs, b.list(j), text)
		}
		lines = append(lines, text+".")
	}
	return lines
}

func (b *builder) importDetails() []Block {
	m, imp := &b.imported, b.rec.Import
	var blocks []Block
	if len(b.res.Phases) > 0 {
		blocks = append(blocks, Heading{b.detail.effort}, b.effortOfImport())
	}
	var jobs, disks, said Facts
	for _, j := range imp.Jobs {
		text := b.data(optionText(j.Options))
		if text == "" { // also then the full name stands somewhere
			text = b.unknown
		}
		jobs.add(b.data(j.Phase), text)
	}
	for _, d := range imp.Disks {
		text := fmt.Sprintf(m.diskText, b.int(d.ReadIOs), b.int(d.WriteIOs))
		if d.ReadBytes != nil && d.WriteBytes != nil {
			text += fmt.Sprintf(" (%s / %s)", b.bytes(*d.ReadBytes), b.bytes(*d.WriteBytes))
		}
		disks.add(b.data(strings.TrimSpace(d.Host+" "+d.Name)), text)
	}
	for i, l := range imp.Text {
		if i == 5 {
			break
		}
		said.add(b.data(b.rec.Tool.Name), b.data(l))
	}
	for _, s := range []struct {
		head  string
		facts Facts
	}{{m.jobsHead, jobs}, {m.disksHead, disks}, {m.said, said}} {
		if len(s.facts.Rows) > 0 {
			blocks = append(blocks, Heading{s.head}, s.facts)
		}
	}
	return blocks
}

var importEnglish = importMessages{
	title:  "%s, imported",
	source: "Files", devices: "Devices", options: "Options", said: "What the tool said",
	test: "Job", threads: "Jobs", kind: "Latency", best: "Best second", noDevices: "not in the file",
	perIO: "CPU/I/O", jobsHead: "Options of the jobs", disksHead: "Devices over the whole run, pauses included", diskText: "%s reads, %s writes",
	busy:        "%s (%s\u00a0%% busy)",
	note:        "Imported from a file: machine, temperature and caches are unknown. These numbers say what the tool saw and not what the drive can do.",
	latencyNote: "lat: submission to completion. clat: without the time of submission. sync: the fsync or fdatasync. – is unknown (or rests on fewer than ten I/Os), not zero.",
	jobs:        "%s: %s",
	doubts: map[string]string{
		"text":                 "The tool wrote text beside its numbers",
		"snapshots":            "The file holds cumulative reports of one run; the last one counts",
		"other-runs":           "The file holds other runs, too, which are not shown here; nativ import reads them all",
		"version-unknown":      "The version of fio is not known; units follow from the names of the fields",
		"unit-unknown":         "The unit of the bytes is not known, so that they are left out",
		"number":               "A number that cannot be one was left out",
		"no-options":           "The options of the job are not in the file: what it did is not known",
		"latency-not-measured": "Latencies were switched off: unknown, not zero",
		"group-sums":           "fio adds up the lowest and highest rates of its threads; these sums were left out",
		"rate-of-one":          "fio's IOPS statistics count each I/O as 1 (an IOPS log without log_avg_msec) and were left out",
		"bins":                 "The latency bins are not usable; percentiles are those that fio gives",
		"all-clients":          "fio's sum over all clients and phases was left out; jobs of the same name are added up instead",
		"mixed":                "Reads and writes were counted together only",
		"trim":                 "Trims were left out",
		"verify":               "Reads that verified what was written are not in the result",
		"verify-mixed":         "fio counts reads that verify together with the others: the numbers of read are of both",
		"ios-computed":         "This version of fio does not write the number of I/Os; it was computed",
		"percentiles-per-job":  "Percentiles of several jobs cannot be added up; json+ has the bins that can",
		"job-error":            "The job ended with an error",
		"runtime-unknown":      "The run time of the job is not known: no rate follows from its I/Os",
		"other-sections":       "The numbers are sums over more threads than the options say: other jobs of the group are in them",
		"log":                  "A log could not be used, so that there is no series",
	},
}

var importGerman = importMessages{
	title:  "%s, importiert",
	source: "Dateien", devices: "Geräte", options: "Optionen", said: "Was das Werkzeug sagte",
	test: "Job", threads: "Jobs", kind: "Latenz", best: "Beste Sekunde", noDevices: "nicht in der Datei",
	perIO: "CPU/I/O", jobsHead: "Optionen der Jobs", disksHead: "Geräte über den ganzen Lauf, Pausen eingeschlossen", diskText: "%s gelesen, %s geschrieben",
	busy:        "%s (zu %s\u00a0%% belegt)",
	note:        "Aus einer Datei importiert: Maschine, Temperatur und Caches sind unbekannt. Die Zahlen sagen, was das Werkzeug sah, nicht, was das Laufwerk kann.",
	latencyNote: "lat: Absenden bis Abschluss. clat: ohne die Zeit des Absendens. sync: fsync oder fdatasync. – ist unbekannt (oder beruht auf weniger als zehn I/Os), nicht null.",
	jobs:        "%s: %s",
	doubts: map[string]string{
		"text":                 "Das Werkzeug schrieb Text neben seine Zahlen",
		"snapshots":            "Die Datei enthält fortlaufende Berichte eines Laufs; der letzte zählt",
		"other-runs":           "Die Datei enthält weitere Läufe, die hier fehlen; nativ import liest alle",
		"version-unknown":      "Die Version von fio ist unbekannt; Einheiten folgen aus den Namen der Felder",
		"unit-unknown":         "Die Einheit der Bytes ist unbekannt; sie fehlen deshalb",
		"number":               "Eine Zahl, die keine sein kann, wurde weggelassen",
		"no-options":           "Die Optionen des Jobs stehen nicht in der Datei: was er tat, ist unbekannt",
		"latency-not-measured": "Latenzen waren abgeschaltet: unbekannt, nicht null",
		"group-sums":           "fio zählt die niedrigsten und höchsten Raten seiner Threads zusammen; diese Summen fehlen hier",
		"rate-of-one":          "fios IOPS-Statistik zählt jede I/O als 1 (IOPS-Log ohne log_avg_msec) und fehlt hier",
		"bins":                 "Die Latenzklassen sind nicht brauchbar; die Perzentile sind die von fio",
		"all-clients":          "fios Summe über alle Clients und Phasen wurde weggelassen; gleichnamige Jobs sind stattdessen zusammengezählt",
		"mixed":                "Lesen und Schreiben wurden nur zusammen gezählt",
		"trim":                 "Trims wurden weggelassen",
		"verify":               "Leseaufträge, die das Geschriebene prüften, sind nicht im Ergebnis",
		"verify-mixed":         "fio zählt prüfende Leseaufträge mit den anderen zusammen: Die Zahlen von read gelten für beide",
		"ios-computed":         "Diese Version von fio schreibt die Zahl der I/Os nicht; sie wurde berechnet",
		"percentiles-per-job":  "Perzentile mehrerer Jobs lassen sich nicht zusammenzählen; json+ hat Klassen, mit denen es geht",
		"job-error":            "Der Job endete mit einem Fehler",
		"runtime-unknown":      "Die Laufzeit des Jobs ist unbekannt: aus seinen I/Os folgt keine Rate",
		"other-sections":       "Die Zahlen sind Summen über mehr Threads, als die Optionen sagen: andere Jobs der Gruppe stecken darin",
		"log":                  "Ein Log war nicht brauchbar; deshalb fehlt die Zeitreihe",
	},
}
