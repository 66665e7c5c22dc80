package report

import (
	"cmp"
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
	workload, clone, group                 string
	rate, ios, data, time                  string
	avg, stddev, lat, note                 string
	cpu, cpuText, diskHead                 string
	merges, ticks, inQueue                 string
	filesGone, groupHead, device, commands string
	verified, withVerified                 string
}

var jobsEnglish = jobsMessages{
	title: "nativ fio, %s", planTitle: "nativ fio",
	files: "File", made: "%s (%s, made for this run and removed)", willMake: "a file of %[2]s in %[1]s, removed afterwards", read: "%s (%s, only read)",
	sparse:     "%s has parts that were never written: reads of these do not ask the drive.",
	writesPlan: "%s to prefill its own files, then what the jobs write to these",
	workload:   "group %[1]s, jobs %[2]s: %[3]s", clone: "group %[1]s, clone %[2]s of %[3]s: %[4]s", group: "Group %s",
	rate: "Rate", ios: "I/Os", data: "Data", time: "Time",
	avg: "avg", stddev: "stdev", lat: "Latency",
	note: "lat: submission to completion. slat and clat only where submission is a call of its own. MiB/s = 2^20, MB/s = 10^6 bytes a second.",
	cpu:  "CPU", cpuText: "usr=%[1]s\u00a0%%, sys=%[2]s\u00a0%%", diskHead: "Drives", merges: "Merges", ticks: "Ticks", inQueue: "In queue",
	filesGone: "Files of this run are removed.", groupHead: "Groups", device: "busy",
	commands:     "Commands of fio, the first of each phase",
	verified:     "fio then read %s blocks back to verify them: these reads are not in the result.",
	withVerified: "fio counts the reads that verify together with the others: rates and latencies of read are of both.",
}

var jobsGerman = jobsMessages{
	title: "nativ fio, %s", planTitle: "nativ fio",
	files: "Datei", made: "%s (%s, für diesen Lauf angelegt und entfernt)", willMake: "eine Datei von %[2]s in %[1]s, wird danach entfernt", read: "%s (%s, nur gelesen)",
	sparse:     "%s hat Teile, die nie geschrieben wurden: Lesen fragt dort das Laufwerk nicht.",
	writesPlan: "%s, um die eigenen Dateien zu füllen, danach, was die Jobs in sie schreiben",
	workload:   "Gruppe %[1]s, Jobs %[2]s: %[3]s", clone: "Gruppe %[1]s, Klon %[2]s von %[3]s: %[4]s", group: "Gruppe %s",
	rate: "Rate", ios: "I/Os", data: "Daten", time: "Zeit",
	avg: "Mittel", stddev: "Streuung", lat: "Latenz",
	note: "lat: Absenden bis Abschluss. slat und clat nur, wo das Absenden ein eigener Aufruf ist. MiB/s = 2^20, MB/s = 10^6 Byte je Sekunde.",
	cpu:  "CPU", cpuText: "usr=%[1]s\u00a0%%, sys=%[2]s\u00a0%%", diskHead: "Laufwerke", merges: "Merges", ticks: "Ticks", inQueue: "In Queue",
	filesGone: "Dateien dieses Laufs sind entfernt.", groupHead: "Gruppen", device: "belegt",
	commands:     "Befehle von fio, der erste jeder Phase",
	verified:     "fio hat danach %s Blöcke zur Prüfung zurückgelesen: Diese Leseaufträge sind nicht im Ergebnis.",
	withVerified: "fio zählt prüfende Leseaufträge mit den anderen zusammen: Raten und Latenzen von read gelten für beide.",
}

// percentiles are those that fio reports unless percentile_list says otherwise.
var percentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// jobs is the summary of a run of nativ fio: what fio says of each job, in the
// terms of fio.
func jobs(rec *record.Record, res analysis.Result, o Options) *Document {
	s := newSpeaker(o.Lang, rec)
	// What the host saw belongs to a group and not to a pass of it, so that
	// only doubts hold which need none of it or are about a group.
	warnings := slices.DeleteFunc(slices.Clone(res.Warnings), func(w record.Warning) bool {
		return w.Code != record.WarnToolLimit && w.Code != record.WarnCacheAnswered
	})
	b := &builder{notes: newNotes(s, rec, warnings), res: &res}
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
	results := 0
	for i := range rec.Jobs.Results {
		r := &rec.Jobs.Results[i]
		if clones := b.clones(r, passes); clones != nil {
			results += len(clones)
			add(slices.Concat(clones...)...)
			continue
		}
		results++
		add(b.result(r, passes)...)
	}
	add(Paragraph{Lines: []string{m.note}})
	// Of a single job the group says nothing more.
	if t := b.groups(passes); results > 1 && len(t.Rows) > 0 {
		add(Heading{m.groupHead}, t)
	}
	if t := b.disks(); len(t.Rows) > 0 {
		add(Heading{m.diskHead}, t)
	}
	if f := b.block(); len(f.Items) > 0 {
		add(f)
	}
	if o.Details {
		var f Facts
		if b.calibration(&f); len(f.Rows) > 0 {
			add(f)
		}
	}
	add(b.toolCommands()...)
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

// A part is the outcome of so many jobs; nil where there is none.
type part struct {
	jobs    int
	outcome *record.Outcome
}

// A merged holds what several parts that ran side by side came to together.
type merged struct {
	start, end  int64
	flows       map[string]*record.Flow
	usage       record.Usage
	usageKnown  bool
	threadNS    int64 // run time of all jobs
	jobs        int
	outcomes    int
	outstanding int64
	// verified counts reads that are not in the flows; withVerified is true where
	// such reads are among those of read.
	verified     int64
	withVerified bool
}

// directions in which there is a flow, in the order of reading.
var directions = []string{"read", "write", "sync", "mixed"}

func (b *builder) merge(phases []int, passes map[int]*record.Pass) merged {
	var parts []part
	for _, i := range phases {
		if i < 0 || i >= len(b.rec.Plan.Phases) {
			continue
		}
		one := part{jobs: max(b.rec.Plan.Phases[i].NumJobs, 1)}
		if p := passes[i]; p != nil {
			one.outcome = p.Outcome
		}
		parts = append(parts, one)
	}
	return mergeParts(parts...)
}

func mergeParts(parts ...part) merged {
	m := merged{flows: map[string]*record.Flow{}, usageKnown: true}
	for _, p := range parts {
		m.jobs += p.jobs
		o := p.outcome
		if o == nil {
			continue
		}
		if m.outcomes == 0 {
			m.start, m.end = o.StartNS, o.EndNS
		}
		m.outcomes++
		m.start, m.end = min(m.start, o.StartNS), max(m.end, o.EndNS)
		usage, threadNS := o.Usage, int64(p.jobs)*max(o.ElapsedNS(), 0)
		if o.ToolUsage != nil { // of the threads that did the I/O, without the tool's own start and end
			usage = *o.ToolUsage
		}
		if o.ToolRun != nil && o.ToolRun.ThreadNS != nil {
			threadNS = *o.ToolRun.ThreadNS
		}
		m.usage.UserNS += usage.UserNS
		m.usage.SystemNS += usage.SystemNS
		m.usageKnown = m.usageKnown && !o.UsageUnknown
		m.threadNS += threadNS
		if v := o.Verified; v != nil && v.Flow != nil {
			m.verified += v.Flow.IOs
		} else if v != nil {
			m.withVerified = true
		}
		m.outstanding += o.Outstanding
		for name, f := range map[string]*record.Flow{"read": o.Read, "write": o.Write, "sync": o.Sync, "mixed": o.Mixed} {
			if f == nil {
				continue
			}
			to := m.flows[name]
			if to == nil {
				to = &record.Flow{Given: f.Given}
				m.flows[name] = to
			} else {
				to.Given = nil // of several, only histograms say something
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
			if w := b.workload(i); !slices.Contains(workloads, w) {
				workloads = append(workloads, w)
			}
		}
	}
	text := strings.Join(workloads, "; ")
	lines := []string{fmt.Sprintf(m.workload, b.int(int64(r.Group)), b.int(int64(sum.jobs)), text)}
	lines = append(lines, b.description(r.Phases)...)
	blocks := []Block{Heading{b.data(b.resultName(r))}, Paragraph{lines}}
	var failures []string
	for _, i := range r.Phases {
		if p := passes[i]; p != nil && p.Failed != nil {
			failures = append(failures, upperFirst(FailureText(p.Failed, b.langName())))
		}
	}
	return append(blocks, b.numbers(&sum, r.Percentiles, failures)...)
}

// resultName is what a result is called: as progress and trace call it where it is
// of one phase, so that clones with a file each can be told apart.
func (b *builder) resultName(r *record.JobResult) string {
	if len(r.Phases) == 1 && r.Phases[0] >= 0 && r.Phases[0] < len(b.rec.Plan.Phases) {
		return b.rec.Plan.Phases[r.Phases[0]].Name
	}
	return r.Name
}

// description is what the user says of a job.
func (b *builder) description(phases []int) []string {
	if len(phases) > 0 && phases[0] >= 0 && phases[0] < len(b.rec.Plan.Phases) {
		if d := b.rec.Plan.Phases[phases[0]].Description; d != "" {
			return []string{b.data(d)}
		}
	}
	return nil
}

// numbers are those of a result, with what failed in it.
func (b *builder) numbers(sum *merged, percentiles []float64, failures []string) (blocks []Block) {
	m := &b.jobs
	if sum.outcomes > 0 {
		blocks = append(blocks, b.rates(sum, nil), b.latencies(sum))
		for _, name := range directions {
			if f := sum.flows[name]; f != nil {
				blocks = append(blocks, b.percentileTables(name, f, percentiles)...)
			}
		}
		if sum.usageKnown && sum.threadNS > 0 {
			share := func(ns int64) string { return b.fixed(100*float64(ns)/float64(sum.threadNS), 2) }
			blocks = append(blocks, Facts{Rows: []Fact{{m.cpu, fmt.Sprintf(m.cpuText, share(sum.usage.UserNS), share(sum.usage.SystemNS))}}})
		}
		switch {
		case sum.verified > 0:
			blocks = append(blocks, Paragraph{[]string{fmt.Sprintf(m.verified, b.int(sum.verified))}})
		case sum.withVerified:
			blocks = append(blocks, Paragraph{[]string{m.withVerified}})
		}
	}
	if len(failures) > 0 {
		blocks = append(blocks, Paragraph{slices.Compact(failures)})
	}
	return blocks
}

// clones is what is said of each clone of a job, as in fio without
// group_reporting; nil where they are not told apart.
func (b *builder) clones(r *record.JobResult, passes map[int]*record.Pass) (all [][]Block) {
	if len(r.Phases) != 1 || r.Phases[0] < 0 || r.Phases[0] >= len(b.rec.Plan.Phases) {
		return nil
	}
	p := passes[r.Phases[0]]
	if p == nil || p.Outcome == nil {
		return nil
	}
	clones := p.Outcome.Clones
	failed := func(c *record.Outcome) bool { return len(c.Errors) > 0 || c.Outstanding > 0 }
	blamed := slices.ContainsFunc(clones, func(c record.Outcome) bool { return failed(&c) })
	for i := range clones {
		c := &clones[i]
		text := fmt.Sprintf(b.jobs.clone, b.int(int64(r.Group)), b.int(int64(i)), b.int(int64(len(clones))), b.workload(r.Phases[0]))
		var failures []string
		if p.Failed != nil && (failed(c) || !blamed) {
			why := *p.Failed
			if len(c.Errors) > 0 {
				why.Detail = errorTexts(c.Errors)
			}
			failures = append(failures, upperFirst(FailureText(&why, b.langName())))
		}
		sum := mergeParts(part{1, c})
		lines := append([]string{text}, b.description(r.Phases)...)
		all = append(all, append([]Block{Heading{b.data(b.resultName(r))}, Paragraph{lines}}, b.numbers(&sum, r.Percentiles, failures)...))
	}
	return all
}

func errorTexts(errs []record.IOError) string {
	var texts []string
	for _, e := range errs {
		texts = append(texts, e.String())
	}
	return strings.Join(texts, "; ")
}

// langName is the language of the texts.
func (s *speaker) langName() string {
	if s.messages == &german {
		return "de"
	}
	return "en"
}

// workload names what the job of a phase does in fio's options, those by which one
// job differs from another first.
func (b *builder) workload(phase int) string {
	p := b.rec.Plan.Phases[phase]
	var own []job.Setting
	if phase < len(b.rec.Jobs.Options) {
		own = b.rec.Jobs.Options[phase]
	}
	all := job.AllSettings(own, &p, b.rec.Plan.FileSize)
	first := []string{"rw", "bs", "iodepth", "numjobs", "ioengine", "direct"}
	rank := func(s job.Setting) int {
		if i := slices.Index(first, s.Name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(all, func(a, b job.Setting) int { return cmp.Compare(rank(a), rank(b)) })
	var words []string
	for _, s := range all {
		switch {
		case s.Name == "filename", s.Name == "description", s.Name == "group_reporting": // said elsewhere
			continue
		case s.Name == "bs" && p.VariesBlocks(): // then options of fio's own say how
			continue
		case s.Name == "randseed" && !slices.ContainsFunc(own, func(o job.Setting) bool { return o.Name == "randseed" }):
			continue // drawn, and in the record
		case s.Name == "numjobs" && s.Value == "1", s.Name == "direct" && s.Value == "0":
			continue
		case s.Name == "ioengine" && p.Engine == "":
			continue
		case s.Name == "ioengine":
			s.Value = p.Engine // which says whether fio ran it
		}
		words = append(words, s.String())
	}
	return strings.Join(words, ", ")
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

// A measure is one kind of latency of a flow, by fio's name: a histogram, or what
// was given ready-made, or both.
type measure struct {
	name string
	h    *record.Histogram
	s    *record.Summary
}

// measures are the latencies of a flow that were measured.
func measures(f *record.Flow) (all []measure) {
	g := f.Given
	if g == nil {
		g = &record.Given{}
	}
	for _, m := range []measure{{"slat", f.Slat, g.Slat}, {"clat", f.Clat, g.Clat}, {"lat", f.Lat, g.Lat}} {
		if m.h != nil && m.h.N() == 0 {
			m.h = nil
		}
		if m.h != nil || m.s != nil {
			all = append(all, m)
		}
	}
	return all
}

func (b *builder) latencies(sum *merged) Table {
	m := &b.jobs
	t := Table{Columns: []Column{{m.lat, true}, {"min", false}, {m.avg, false}, {m.stddev, false}, {"max", false}}}
	for _, dir := range directions {
		f := sum.flows[dir]
		if f == nil {
			continue
		}
		for _, x := range measures(f) {
			var s record.Summary
			if x.s != nil {
				s = *x.s
			}
			if x.h != nil {
				mean, _ := x.h.Mean()
				s.Min, s.Max, s.Mean = &x.h.Min, &x.h.Max, &mean
				if s.Stddev == nil {
					s.Stddev = new(stddev(x.h, mean))
				}
			}
			ns := func(v int64) string { return b.duration(float64(v)) }
			t.Rows = append(t.Rows, Row{Cells: []Cell{
				{Text: dir + " " + x.name}, {Text: orAbsent(s.Min, ns)}, {Text: orAbsent(s.Mean, b.duration)},
				{Text: orAbsent(s.Stddev, b.duration)}, {Text: orAbsent(s.Max, ns)},
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
	var blocks []Block
	for _, x := range measures(f) {
		if x.name == "slat" || x.h == nil {
			continue
		}
		const across = 4
		t := Table{Columns: []Column{{dir + " " + x.name, true}}}
		for range 2*across - 1 {
			t.Columns = append(t.Columns, Column{})
		}
		for i := 0; i < len(list); i += across {
			var r Row
			for _, p := range list[i:min(i+across, len(list))] {
				ns, _ := x.h.Percentile(p)
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
	t := Table{Columns: []Column{
		{"", true}, {m.ios, false}, {m.merges, false}, {"MiB", false}, {m.ticks, false}, {m.inQueue, false}, {m.device, false},
	}}
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
			rose := func(from, to *int64, text func(int64) string) string {
				if from == nil || to == nil {
					return absent
				}
				return text(*to - *from)
			}
			long := func(ns int64) string { return b.duration(float64(ns)) }
			where := fmt.Sprintf(m.group, b.int(int64(g))) + ", " + b.data(name) + " "
			t.Rows = append(t.Rows, Row{Cells: []Cell{
				{Text: where + "read"}, {Text: b.int(to.ReadIOs - from.ReadIOs)}, {Text: rose(from.ReadMerges, to.ReadMerges, b.int)},
				{Text: mib(to.ReadBytes - from.ReadBytes)}, {Text: rose(from.ReadNS, to.ReadNS, long)},
				{Text: long(to.QueueNS - from.QueueNS)}, {Text: busy},
			}}, Row{Cells: []Cell{
				{Text: where + "write"}, {Text: b.int(to.WriteIOs - from.WriteIOs)}, {Text: rose(from.WriteMerges, to.WriteMerges, b.int)},
				{Text: mib(to.WriteBytes - from.WriteBytes)}, {Text: rose(from.WriteNS, to.WriteNS, long)}, {}, {},
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
				words = append(words, b.data(shellWord(w)))
			}
			if words[len(words)-1] == "-" { // fio waited for go in an empty job file
				words = append(words, "</dev/null")
			}
			blocks = append(blocks, Command{strings.Join(words, " ")})
		}
	}
	return blocks
}

// shellWord writes a word so that a shell takes it as one.
func shellWord(w string) string {
	if w != "" && !strings.ContainsFunc(w, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%+,-./:=@_", r))
	}) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
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
