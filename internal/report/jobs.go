package report

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// jobsMessages are the texts about a run of nativ fio.
type jobsMessages struct {
	title, planTitle                       string
	files, made, willMake, read, sparse    string
	writesPlan                             string
	workload, group                        string
	rate, ios, data, time                  string
	avg, stddev, lat, note                 string
	cpu, cpuText, diskHead, reads, writes  string
	filesGone, groupHead, device, commands string
}

var jobsEnglish = jobsMessages{
	title: "nativ fio, %s", planTitle: "nativ fio",
	files: "File", made: "%s (%s, made for this run and removed)", willMake: "a file of %[2]s in %[1]s, removed afterwards", read: "%s (%s, only read)",
	sparse:     "%s has parts that were never written: reads of these do not ask the drive.",
	writesPlan: "%s to prefill its own files, then what the jobs write to these",
	workload:   "group %[1]s, jobs %[2]s: %[3]s", group: "Group %s",
	rate: "Rate", ios: "I/Os", data: "Data", time: "Time",
	avg: "avg", stddev: "stdev", lat: "Latency",
	note: "lat: submission to completion. slat and clat only where submission is a call of its own. MiB/s = 2^20, MB/s = 10^6 bytes a second.",
	cpu:  "CPU", cpuText: "usr=%[1]s\u00a0%%, sys=%[2]s\u00a0%%", diskHead: "Drives", reads: "Reads", writes: "Writes",
	filesGone: "Files of this run are removed.", groupHead: "Groups", device: "busy",
	commands: "Commands of fio, the first of each phase",
}

var jobsGerman = jobsMessages{
	title: "nativ fio, %s", planTitle: "nativ fio",
	files: "Datei", made: "%s (%s, für diesen Lauf angelegt und entfernt)", willMake: "eine Datei von %[2]s in %[1]s, wird danach entfernt", read: "%s (%s, nur gelesen)",
	sparse:     "%s hat Teile, die nie geschrieben wurden: Lesen fragt dort das Laufwerk nicht.",
	writesPlan: "%s, um die eigenen Dateien zu füllen, danach, was die Jobs in sie schreiben",
	workload:   "Gruppe %[1]s, Jobs %[2]s: %[3]s", group: "Gruppe %s",
	rate: "Rate", ios: "I/Os", data: "Daten", time: "Zeit",
	avg: "Mittel", stddev: "Streuung", lat: "Latenz",
	note: "lat: Absenden bis Abschluss. slat und clat nur, wo das Absenden ein eigener Aufruf ist. MiB/s = 2^20, MB/s = 10^6 Byte je Sekunde.",
	cpu:  "CPU", cpuText: "usr=%[1]s\u00a0%%, sys=%[2]s\u00a0%%", diskHead: "Laufwerke", reads: "Gelesen", writes: "Geschrieben",
	filesGone: "Dateien dieses Laufs sind entfernt.", groupHead: "Gruppen", device: "belegt",
	commands: "Befehle von fio, der erste jeder Phase",
}

// percentiles are those that fio reports unless percentile_list says otherwise.
var percentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// jobs is the summary of a run of nativ fio: what fio says of each job, in the
// terms of fio.
func jobs(rec *record.Record, res analysis.Result, o Options) *Document {
	s := newSpeaker(o.Lang, rec)
	b := &builder{notes: newNotes(s, rec, nil), res: &res}
	m := &s.jobs
	d := &Document{Lang: o.Lang}
	add := func(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

	where := ""
	if len(rec.Plan.Places) > 0 {
		where = b.placeName(rec, rec.Plan.Places[0])
	}
	rows := []Fact{{b.drive, b.driveLine(nil)}, {b.dir, b.dirLine()}}
	for _, f := range rec.Jobs.Files {
		text := m.read
		if f.Made {
			text = m.made
		}
		rows = append(rows, Fact{m.files, fmt.Sprintf(text, b.data(f.Path), b.binary(f.Size))})
	}
	add(Title{Text: fmt.Sprintf(m.title, where), Right: rec.Started.Format(s.date)}, Facts{Rows: rows, Tight: true})
	passes := map[int]*record.Pass{}
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[j]
			passes[p.Index] = p
		}
	}
	for i := range rec.Jobs.Results {
		if r := b.result(&rec.Jobs.Results[i], passes); r != nil {
			add(r...)
		}
	}
	add(Paragraph{Lines: []string{m.note}})
	// Of a single job the group says nothing more.
	if t := b.groups(passes); len(rec.Jobs.Results) > 1 && len(t.Rows) > 0 {
		add(Heading{m.groupHead}, t)
	}
	if t := b.disks(); len(t.Rows) > 0 {
		add(Heading{m.diskHead}, t)
	}
	if o.Details {
		add(b.toolCommands()...)
	}
	var lines []string
	for i := range rec.Jobs.Files {
		if f := &rec.Jobs.Files[i]; f.Sparse {
			lines = append(lines, fmt.Sprintf(m.sparse, b.data(filepath.Base(f.Path))))
		}
	}
	if c := rec.Cleaned; c != nil && slices.ContainsFunc(rec.Jobs.Files, func(f record.JobFile) bool { return f.Made }) {
		if len(c.Left) == 0 {
			lines = append(lines, m.filesGone)
		} else {
			lines = append(lines, b.notCleaned)
		}
	}
	if !rec.Complete {
		lines = append(lines, fmt.Sprintf(b.verdictWord, b.notes.verdict.incomplete+"."))
	}
	if len(lines) > 0 {
		add(Paragraph{Lines: lines})
	}
	if len(o.Files) > 0 {
		add(Paragraph{Lines: []string{b.filesWord}})
		for _, f := range o.Files {
			add(Command{b.data(f)})
		}
	}
	return d
}

// A merged holds what several passes that ran side by side came to together.
type merged struct {
	start, end  int64
	flows       map[string]*record.Flow
	usage       record.Usage
	usageKnown  bool
	threadNS    int64 // run time of all jobs
	jobs        int
	outcomes    int
	outstanding int64
}

// directions in which there is a flow, in the order of reading.
var directions = []string{"read", "write", "sync", "mixed"}

func (b *builder) merge(phases []int, passes map[int]*record.Pass) merged {
	m := merged{flows: map[string]*record.Flow{}, usageKnown: true}
	for _, i := range phases {
		if i < 0 || i >= len(b.rec.Plan.Phases) {
			continue
		}
		n := max(b.rec.Plan.Phases[i].NumJobs, 1)
		m.jobs += n
		p := passes[i]
		if p == nil || p.Outcome == nil {
			continue
		}
		o := p.Outcome
		if m.outcomes == 0 {
			m.start, m.end = o.StartNS, o.EndNS
		}
		m.outcomes++
		m.start, m.end = min(m.start, o.StartNS), max(m.end, o.EndNS)
		m.usage.UserNS += o.Usage.UserNS
		m.usage.SystemNS += o.Usage.SystemNS
		m.usageKnown = m.usageKnown && !o.UsageUnknown
		m.threadNS += int64(n) * max(o.ElapsedNS(), 0)
		m.outstanding += o.Outstanding
		for name, f := range map[string]*record.Flow{"read": o.Read, "write": o.Write, "sync": o.Sync, "mixed": o.Mixed} {
			if f == nil {
				continue
			}
			to := m.flows[name]
			if to == nil {
				to = &record.Flow{}
				m.flows[name] = to
			}
			to.IOs, to.Bytes = to.IOs+f.IOs, to.Bytes+f.Bytes
			for _, h := range []struct {
				to   **record.Histogram
				from *record.Histogram
			}{{&to.Lat, f.Lat}, {&to.Slat, f.Slat}, {&to.Clat, f.Clat}} {
				if h.from == nil {
					continue
				}
				if *h.to == nil {
					*h.to = &record.Histogram{}
				}
				(*h.to).Merge(h.from)
			}
		}
	}
	return m
}

// result is what is said of one job, or of the jobs of a group together.
func (b *builder) result(r *record.JobResult, passes map[int]*record.Pass) []Block {
	m := &b.jobs
	sum := b.merge(r.Phases, passes)
	var workloads []string
	for _, i := range r.Phases {
		if i >= 0 && i < len(b.rec.Plan.Phases) {
			if w := workload(&b.rec.Plan.Phases[i]); !slices.Contains(workloads, w) {
				workloads = append(workloads, w)
			}
		}
	}
	text := strings.Join(workloads, "; ")
	blocks := []Block{
		Heading{b.data(r.Name)},
		Paragraph{[]string{fmt.Sprintf(m.workload, b.int(int64(r.Group)), b.int(int64(sum.jobs)), text)}},
	}
	var failures []string
	for _, i := range r.Phases {
		if p := passes[i]; p != nil && p.Failed != nil {
			failures = append(failures, upperFirst(FailureText(p.Failed, b.langName())))
		}
	}
	if sum.outcomes > 0 {
		blocks = append(blocks, b.rates(&sum, nil), b.latencies(&sum))
		for _, name := range directions {
			if f := sum.flows[name]; f != nil {
				blocks = append(blocks, b.percentileTables(name, f, r.Percentiles)...)
			}
		}
		if sum.usageKnown && sum.threadNS > 0 {
			share := func(ns int64) string { return b.fixed(100*float64(ns)/float64(sum.threadNS), 2) }
			blocks = append(blocks, Facts{Rows: []Fact{{m.cpu, fmt.Sprintf(m.cpuText, share(sum.usage.UserNS), share(sum.usage.SystemNS))}}})
		}
	}
	if len(failures) > 0 {
		blocks = append(blocks, Paragraph{slices.Compact(failures)})
	}
	return blocks
}

// langName is the language of the texts.
func (s *speaker) langName() string {
	if s.messages == &german {
		return "de"
	}
	return "en"
}

// workload names what a phase does in fio's options.
func workload(p *job.Phase) string {
	bs := blockSize(p.BlockSize)
	if p.WriteBlockSize > 0 && p.WriteBlockSize != p.BlockSize {
		bs += "," + blockSize(p.WriteBlockSize)
	}
	s := fmt.Sprintf("rw=%s, bs=%s, iodepth=%d", p.Mode, bs, p.IODepth)
	if p.Engine != "" {
		s += ", ioengine=" + p.Engine
	}
	if p.Direct {
		s += ", direct=1"
	}
	if p.FSync > 0 {
		s += fmt.Sprintf(", fsync=%d", p.FSync)
	}
	if p.FDataSync > 0 {
		s += fmt.Sprintf(", fdatasync=%d", p.FDataSync)
	}
	return s
}

// rates is the table of IOPS and bandwidth; rows are added to t where it is one.
func (b *builder) rates(sum *merged, t *Table) Table {
	m := &b.jobs
	if t == nil {
		t = &Table{Columns: []Column{{m.rate, true}, {"IOPS", false}, {"MiB/s", false}, {"MB/s", false}, {m.ios, false}, {m.data, false}, {m.time, false}}}
	}
	ns := sum.end - sum.start
	for _, name := range directions {
		f := sum.flows[name]
		if f == nil {
			continue
		}
		row := Row{Cells: []Cell{{Text: name}}}
		per := func(v float64, digits func(float64) string) {
			text := absent
			if ns > 0 {
				text = digits(v / float64(ns) * 1e9)
			}
			row.Cells = append(row.Cells, Cell{Text: text})
		}
		per(float64(f.IOs), b.wholeOrShort)
		if name == "sync" {
			row.Cells = append(row.Cells, Cell{}, Cell{}, Cell{Text: b.int(f.IOs)}, Cell{})
		} else {
			one := func(v float64) string { return b.fixed(v, 1) }
			per(float64(f.Bytes)/(1<<20), one)
			per(float64(f.Bytes)/1e6, one)
			row.Cells = append(row.Cells, Cell{Text: b.int(f.IOs)}, Cell{Text: b.binary(f.Bytes)})
		}
		row.Cells = append(row.Cells, Cell{Text: b.duration(float64(ns))})
		t.Rows = append(t.Rows, row)
	}
	return *t
}

// hists are the histograms of a flow that were measured, by fio's names.
func hists(f *record.Flow) (names []string, hs []*record.Histogram) {
	for _, h := range []struct {
		name string
		h    *record.Histogram
	}{{"slat", f.Slat}, {"clat", f.Clat}, {"lat", f.Lat}} {
		if h.h != nil && h.h.N() > 0 {
			names, hs = append(names, h.name), append(hs, h.h)
		}
	}
	return names, hs
}

func (b *builder) latencies(sum *merged) Table {
	m := &b.jobs
	t := Table{Columns: []Column{{m.lat, true}, {"min", false}, {m.avg, false}, {m.stddev, false}, {"max", false}}}
	for _, dir := range directions {
		f := sum.flows[dir]
		if f == nil {
			continue
		}
		names, hs := hists(f)
		for i, h := range hs {
			mean, _ := h.Mean()
			t.Rows = append(t.Rows, Row{Cells: []Cell{
				{Text: dir + " " + names[i]}, {Text: b.duration(float64(h.Min))}, {Text: b.duration(mean)},
				{Text: b.duration(stddev(h, mean))}, {Text: b.duration(float64(h.Max))},
			}})
		}
	}
	return t
}

// stddev is the standard deviation of a histogram by the midpoints of its
// buckets, in nanoseconds.
func stddev(h *record.Histogram, mean float64) float64 {
	var sum, n float64
	for i, c := range h.Counts {
		if c > 0 {
			d := float64(record.BucketMid(i)) - mean
			sum, n = sum+d*d*float64(c), n+float64(c)
		}
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(sum / (n - 1))
}

// percentileTables are the percentiles of a flow: of clat where it was measured,
// as in fio, and of lat where it was not.
func (b *builder) percentileTables(dir string, f *record.Flow, list []float64) []Block {
	if len(list) == 0 {
		list = percentiles
	}
	names, hs := hists(f)
	var blocks []Block
	for i, h := range hs {
		if names[i] == "slat" {
			continue
		}
		const across = 4
		t := Table{Columns: []Column{{dir + " " + names[i], true}}}
		for range 2*across - 1 {
			t.Columns = append(t.Columns, Column{})
		}
		for i := 0; i < len(list); i += across {
			var r Row
			for _, p := range list[i:min(i+across, len(list))] {
				ns, _ := h.Percentile(p)
				r.Cells = append(r.Cells, Cell{Text: "p" + b.fixed(p, 2)}, Cell{Text: b.duration(float64(ns))})
			}
			t.Rows = append(t.Rows, r)
		}
		blocks = append(blocks, t)
	}
	return blocks
}

// groups is the table of what each group came to.
func (b *builder) groups(passes map[int]*record.Pass) Table {
	var t Table
	for g, phases := range b.rec.Jobs.Groups {
		sum := b.merge(phases, passes)
		if sum.outcomes == 0 {
			continue
		}
		from := len(t.Rows)
		if g == 0 || len(t.Columns) == 0 {
			t = b.rates(&sum, nil)
		} else {
			t = b.rates(&sum, &t)
		}
		for i := from; i < len(t.Rows); i++ {
			t.Rows[i].Cells[0].Text = fmt.Sprintf(b.jobs.group, b.int(int64(g))) + " " + t.Rows[i].Cells[0].Text
		}
	}
	return t
}

// disks is the table of what the drives did during each group, all load on them
// included.
func (b *builder) disks() Table {
	m := &b.jobs
	t := Table{Columns: []Column{{"", true}, {m.reads, false}, {"MiB", false}, {m.writes, false}, {"MiB", false}, {m.device, false}}}
	for g := range b.rec.Rounds {
		if len(b.rec.Rounds[g].Passes) == 0 {
			continue
		}
		w := &b.rec.Rounds[g].Passes[0].Watch
		if w.Before == nil || w.After == nil {
			continue
		}
		for i := range b.rec.Target.Drives {
			name := b.rec.Target.Drives[i].Name
			from, ok1 := w.Before.Devices[name]
			to, ok2 := w.After.Devices[name]
			if !ok1 || !ok2 {
				continue
			}
			busy := absent
			if ns := w.After.MonoNS - w.Before.MonoNS; ns > 0 {
				busy = unit(b.fixed(min(100, 100*float64(to.BusyNS-from.BusyNS)/float64(ns)), 1), "%")
			}
			mib := func(n int64) string { return b.fixed(float64(n)/(1<<20), 1) }
			t.Rows = append(t.Rows, Row{Cells: []Cell{
				{Text: fmt.Sprintf(m.group, b.int(int64(g))) + ", " + b.data(name)},
				{Text: b.int(to.ReadIOs - from.ReadIOs)}, {Text: mib(to.ReadBytes - from.ReadBytes)},
				{Text: b.int(to.WriteIOs - from.WriteIOs)}, {Text: mib(to.WriteBytes - from.WriteBytes)}, {Text: busy},
			}})
		}
	}
	return t
}

// toolCommands are the command lines of another tool that did the I/O, that of the
// first pass of each phase.
func (b *builder) toolCommands() []Block {
	var blocks []Block
	seen := map[string]bool{}
	for i := range b.rec.Rounds {
		for j := range b.rec.Rounds[i].Passes {
			p := &b.rec.Rounds[i].Passes[j]
			if p.Outcome == nil || len(p.Outcome.Command) == 0 || seen[p.Phase] {
				continue
			}
			seen[p.Phase] = true
			if len(blocks) == 0 {
				blocks = append(blocks, Heading{b.jobs.commands})
			}
			var words []string
			for _, w := range p.Outcome.Command {
				words = append(words, b.data(w))
			}
			blocks = append(blocks, Command{strings.Join(words, " ")})
		}
	}
	return blocks
}

// A PlannedFile is a file that nativ fio will make: see JobsPlan.
type PlannedFile struct {
	Path string // of the file, or of its directory
	Size int64
	Made bool
}

// JobsPlan writes what a run of nativ fio is about to do, before anything is
// touched. Of rec it needs Plan and Target.
func JobsPlan(w io.Writer, rec *record.Record, files []PlannedFile, lang string) error {
	s := newSpeaker(lang, rec)
	n := newNotes(s, rec, nil)
	m := &s.jobs
	rows := []Fact{{n.drive, n.driveLine(nil)}, {n.dir, n.dirLine()}}
	made := int64(0)
	for _, f := range files {
		text := m.read
		if f.Made {
			made += f.Size
			text = m.willMake
		}
		rows = append(rows, Fact{m.files, fmt.Sprintf(text, s.data(f.Path), s.binary(f.Size))})
	}
	if made > 0 {
		rows = append(rows, Fact{n.writes, fmt.Sprintf(m.writesPlan, s.binary(made))})
	}
	d := &Document{Lang: lang, Blocks: []Block{Title{Text: m.planTitle}, Facts{Rows: rows, Tight: true}}}
	return Text(w, d, Width)
}
