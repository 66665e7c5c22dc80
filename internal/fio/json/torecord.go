package fiojson

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// formatName is the Import.Format of what this package reads.
const formatName = "fio-json"

// A unit is what becomes one pass: the entries of clones of one job
// (numjobs), which ran together.
type unit struct {
	jobs   []*Job
	index  []int // in Result.Jobs
	phase  string
	noOpts bool
}

// ToRecord turns a run into a record. Jobs of the same name and options in one
// reporting group are clones (numjobs) and become one pass; the same job in
// several groups is one phase measured several times. Logs make the series of
// the passes; those whose Job is -1 are not used. It fails where there is no
// job at all.
//
// Clones are added up as what they are: bytes and I/Os by sum, time by the
// longest, histograms by bucket; what each did is in Outcome.Clones. Doubts are in
// the record's warnings.
func ToRecord(r *Result, logs []*Log) (*record.Record, error) {
	if len(r.Jobs) == 0 {
		return nil, errors.New("turn fio JSON into a record: it has no job")
	}
	c := &converter{Result: r, rec: &record.Record{
		SchemaVersion: record.SchemaVersion,
		Tool:          tool(r.Version),
		Complete:      true,
		Import:        &record.Import{Format: formatName, Text: r.Text},
	}}
	if strings.HasPrefix(r.Version.Text, ownPrefix) && strings.HasSuffix(r.Version.Text, simulatedMark) {
		// Its form does not keep which model it was.
		c.rec.Simulated = &record.Simulation{Notice: record.SimulatedNotice}
	}
	c.diags = slices.Clone(r.Diagnostics)
	rec := c.rec
	for _, g := range r.Global {
		for _, o := range g.Options { // the same from each host in client mode
			if !slices.Contains(rec.Import.Global, o) {
				rec.Import.Global = append(rec.Import.Global, o)
			}
		}
	}
	for _, d := range r.Disks {
		rec.Import.Disks = append(rec.Import.Disks, record.ImportDisk{Name: d.Name, Host: d.Host, DiskUse: d.Own, Members: d.Members})
	}
	rec.Places = []record.Place{{Name: record.PlaceImported}}
	rec.Plan.Preset, rec.Plan.Places = formatName, []string{record.PlaceImported}
	c.times()
	for _, u := range c.units() {
		c.pass(u, logs)
	}
	rec.Plan.FileSize = c.fileSize()
	rec.Plan.WantedSize = rec.Plan.FileSize
	for _, d := range c.diags {
		if d.Code == DiagError {
			continue // the pass says so itself
		}
		rec.Warnings = append(rec.Warnings, warning(d))
	}
	rec.ID = record.NewID(rec.Started, c.checksum())
	return rec, nil
}

type converter struct {
	*Result
	rec   *record.Record
	diags []Diagnostic
}

func (c *converter) doubt(code, job, detail string) {
	if d := (Diagnostic{code, job, detail}); !slices.Contains(c.diags, d) {
		c.diags = append(c.diags, d)
	}
}

// tool is what made the file: fio, or nativ itself.
func tool(v Version) record.Tool {
	if own, ok := strings.CutPrefix(v.Text, ownPrefix); ok {
		return record.Tool{Name: "nativ", Version: own}
	}
	return record.Tool{Name: "fio", Version: v.Short()}
}

func warning(d Diagnostic) record.Warning {
	w := record.Warning{Code: record.WarnImport, Words: map[string]string{"what": d.Code}}
	if d.Job != "" {
		w.Words["job"] = d.Job
	}
	if d.Detail != "" {
		w.Words["detail"] = d.Detail
	}
	return w
}

// times sets start and end of the run as well as they are known: fio reports
// when it ended, and from 3.36 on when each job started.
func (c *converter) times() {
	if c.Reported != nil {
		c.rec.Ended = *c.Reported
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		if j.Start != nil && (c.rec.Started.IsZero() || j.Start.Before(c.rec.Started)) {
			c.rec.Started = *j.Start
		}
	}
	if c.rec.Started.IsZero() && c.Reported != nil {
		c.rec.Started = *c.Reported
		if e := c.Jobs[0].ElapsedNS; e != nil && *e < int64(maxSeconds)*second {
			c.rec.Started = c.Reported.Add(-time.Duration(*e))
		}
	}
}

// units groups the entries.
func (c *converter) units() []*unit {
	type key struct {
		group         int
		name, options string
	}
	var all []*unit
	byKey := map[key]*unit{}
	phases := map[key]string{} // group left out
	names := map[string]int{}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		k := key{j.Group, j.Name, fmt.Sprint(j.Options)}
		u := byKey[k]
		if u == nil {
			u = &unit{noOpts: !c.OptionsKnown(j)}
			byKey[k] = u
			all = append(all, u)
			p := k
			p.group = 0
			if u.noOpts {
				p.group = j.Group // alike in name only, as far as anybody knows
			}
			if phases[p] == "" {
				name := phaseName(j.Name)
				if names[name]++; names[name] > 1 {
					name += "-" + strconv.Itoa(names[name])
				}
				for slices.ContainsFunc(c.rec.Plan.Phases, func(ph job.Phase) bool { return ph.Name == name }) {
					name += "+"
				}
				phases[p] = name
				u.phase = name
				u.jobs = []*Job{j}
				c.rec.Plan.Phases = append(c.rec.Plan.Phases, c.phase(u))
				c.rec.Import.Jobs = append(c.rec.Import.Jobs, record.ImportJob{Phase: name, Name: j.Name, Options: j.Options})
				u.jobs = nil
			}
			u.phase = phases[p]
		}
		u.jobs = append(u.jobs, j)
		u.index = append(u.index, i)
	}
	return all
}

func phaseName(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "job"
	}
	return s
}

// pattern is the value of rw without its modifier: "randread:8".
func pattern(rw string) string {
	p, _, _ := strings.Cut(rw, ":")
	if p = strings.TrimSpace(p); p == "readwrite" {
		return "rw"
	}
	return p
}

// phase describes a job by its options; what they do not tell stays zero.
func (c *converter) phase(u *unit) job.Phase {
	j := u.jobs[0]
	p := job.Phase{Name: u.phase}
	rw, _, writes, _ := (&decoder{Result: c.Result}).directions(j)
	p.Mode = job.Mode(rw)
	dir := 0
	if writes {
		dir = 1
	}
	p.BlockSize = c.blockSize(j)[dir]
	small := func(name string, def int64) int {
		n, ok := c.number(j, name, def)
		if !ok || n < 0 || n > math.MaxInt32 {
			return 0
		}
		return int(n)
	}
	p.IODepth, p.NumJobs = small("iodepth", 1), small("numjobs", 1)
	p.FDataSync = max(small("fdatasync", 0), small("fsync", 0))
	p.Direct = c.flag(j, "direct")
	if v, set := c.Option(j, "buffered"); set && v == "0" {
		p.Direct = true
	}
	p.Unique = c.flag(j, "refill_buffers")
	if v, ok := c.Option(j, "runtime"); ok {
		p.RuntimeNS, _ = parseTime(v)
	} else if v, ok := c.Option(j, "timeout"); ok {
		p.RuntimeNS, _ = parseTime(v)
	}
	if n, ok := c.number(j, "randseed", 0); ok {
		p.RandSeed = uint64(n)
	}
	return p
}

// blockSize is the size of all I/Os of a job by direction, reads and writes; 0
// where they have several or it is not known.
func (c *converter) blockSize(j *Job) (bs [2]int64) {
	for _, name := range []string{"bssplit", "bsrange", "blocksize_range", "bs_unaligned", "blocksize_unaligned"} {
		if _, set := c.Option(j, name); set {
			return bs
		}
	}
	base, _ := c.number(j, "kb_base", 1024)
	for _, name := range []string{"bs", "blocksize"} {
		v, set := c.Option(j, name)
		if !set {
			continue
		}
		parts := strings.Split(v, ",")
		bs[0], _ = parseBytes(parts[0], base)
		bs[1] = bs[0]
		if len(parts) > 1 && strings.TrimSpace(parts[1]) != "" {
			bs[1], _ = parseBytes(parts[1], base)
		}
		return bs
	}
	if c.OptionsKnown(j) {
		return [2]int64{4096, 4096} // fio's default
	}
	return bs
}

// fileSize is the option size where all jobs agree on it, else 0.
func (c *converter) fileSize() int64 {
	var size int64
	for i := range c.Jobs {
		n, ok := c.bytes(&c.Jobs[i], "size")
		if !ok || size != 0 && n != size {
			return 0
		}
		size = n
	}
	return size
}

// pass adds the pass of a unit to the record.
func (c *converter) pass(u *unit, logs []*Log) {
	j := u.jobs[0]
	p := record.Pass{Phase: u.phase, Place: record.PlaceImported, Index: len(c.rec.Plan.Steps)}
	if j.Start != nil {
		p.StartedAt = *j.Start
	}
	var ph *job.Phase
	for i := range c.rec.Plan.Phases {
		if c.rec.Plan.Phases[i].Name == u.phase {
			ph = &c.rec.Plan.Phases[i]
		}
	}
	p.Seed = ph.RandSeed
	c.rec.Plan.Steps = append(c.rec.Plan.Steps, record.Step{Phase: u.phase, Place: p.Place, RuntimeNS: ph.RuntimeNS, Seed: p.Seed})

	o := c.outcome(u, ph)
	elapsed := o.EndNS
	for _, j := range u.jobs {
		if j.Trim != nil {
			c.doubt(DiagTrim, j.Name, "")
		}
	}
	c.failures(u, &p, o)
	if o.Read != nil || o.Write != nil || o.Mixed != nil {
		p.Outcome = o
		p.Intervals = c.series(u, logs, elapsed, c.blockSize(j))
		if elapsed == 0 {
			c.doubt(DiagRuntime, j.Name, "")
		}
		if len(u.jobs) > 1 {
			// What is doubtful in them was said of all together.
			quiet := &converter{Result: c.Result, rec: &record.Record{}}
			for k := range u.jobs {
				one := &unit{jobs: u.jobs[k : k+1], index: u.index[k : k+1], phase: u.phase, noOpts: u.noOpts}
				clone := quiet.outcome(one, ph)
				quiet.failures(one, &record.Pass{}, clone)
				o.Clones = append(o.Clones, *clone)
			}
		}
	} else if p.Failed == nil {
		// What fio said is often the reason.
		p.Failed = &record.Failure{Code: record.FailEmpty, Detail: message(c.Text)}
	}
	if p.Failed != nil {
		c.rec.Complete = false
		c.rec.Incomplete = append(c.rec.Incomplete, record.Missing{
			Code: record.MissingPassFailed, Phase: p.Phase, Place: p.Place, Detail: p.Failed.Detail})
	}
	// A round for each phase, as bench has.
	for i := range c.rec.Rounds {
		if c.rec.Rounds[i].Phase == u.phase {
			c.rec.Rounds[i].Passes = append(c.rec.Rounds[i].Passes, p)
			return
		}
	}
	c.rec.Rounds = append(c.rec.Rounds, record.Round{Phase: u.phase, Passes: []record.Pass{p}})
}

// outcome is what the jobs of a unit came to together.
func (c *converter) outcome(u *unit, ph *job.Phase) *record.Outcome {
	j, o := u.jobs[0], &record.Outcome{}
	var elapsed int64
	for _, j := range u.jobs {
		elapsed = max(elapsed, j.runtime())
	}
	o.EndNS = elapsed // the start is not known: from the pass's own clock
	bs := c.blockSize(j)
	o.Read = c.flow(u, "read", bs[0], func(j *Job) *Flow { return j.Read })
	o.Write = c.flow(u, "write", bs[1], func(j *Job) *Flow { return j.Write })
	mixed := func(j *Job) *Flow { return j.Mixed }
	if o.Read == nil && o.Write == nil {
		switch rw, reads, writes, _ := (&decoder{Result: c.Result}).directions(j); {
		case rw != "" && reads && !writes:
			o.Read = c.flow(u, "read", bs[0], mixed)
		case rw != "" && writes && !reads:
			o.Write = c.flow(u, "write", bs[1], mixed)
		case bs[0] == bs[1]:
			o.Mixed = c.flow(u, "read and write", bs[0], mixed)
		default:
			o.Mixed = c.flow(u, "read and write", 0, mixed)
		}
	}
	o.Sync = c.sync(u)
	c.verified(u, ph, o)
	if o.Verified != nil && o.Verified.Flow != nil { // they came after
		elapsed = 0
		for _, j := range u.jobs {
			elapsed = max(elapsed, j.Write.runtime())
		}
		o.EndNS = elapsed
	}
	c.usage(u, o)
	o.Stopped = record.StopOnce
	if ph.RuntimeNS > 0 && elapsed >= ph.RuntimeNS {
		o.Stopped = record.StopTime
	}
	return o
}

// verified takes the reads that verify what was written out of the pass. fio counts
// them as reads of the job.
func (c *converter) verified(u *unit, ph *job.Phase, o *record.Outcome) {
	switch {
	case o.Read == nil || o.Write == nil || o.Write.IOs == 0:
	case ph.Mode == job.Write || ph.Mode == job.RandWrite:
		v := &record.Verified{Flow: o.Read}
		for _, j := range u.jobs {
			v.RuntimeNS = max(v.RuntimeNS, j.Read.runtime())
		}
		o.Read, o.Verified = nil, v
		c.doubt(DiagVerify, u.jobs[0].Name, strconv.FormatInt(v.Flow.IOs, 10))
	case ph.Mode.Mixed() && c.verifies(u.jobs[0]):
		o.Verified = &record.Verified{}
		c.doubt(DiagVerifyMixed, u.jobs[0].Name, "")
	}
}

// verifies reports whether a job that writes reads it all again afterwards.
func (c *converter) verifies(j *Job) bool {
	v, set := c.Option(j, "verify")
	after, told := c.Option(j, "do_verify")
	return set && v != "0" && v != "null" && !(told && strings.TrimSpace(after) == "0")
}

// message is the first line of text that is one of fio's messages, or empty.
func message(text []string) string {
	for _, l := range text {
		if strings.HasPrefix(l, "fio:") {
			return l
		}
	}
	return ""
}

func (c *converter) failures(u *unit, p *record.Pass, o *record.Outcome) {
	for _, j := range u.jobs {
		switch {
		case j.Error != 0:
			o.Stopped = record.StopError
			p.Failed = &record.Failure{Code: record.FailIO, Detail: "fio: " + errnoName(j.Error)}
		case or0(j.Errors) > 0 && p.Failed == nil:
			p.Failed = &record.Failure{Code: record.FailIO,
				Detail: fmt.Sprintf("fio: %s, %d times", errnoName(j.FirstError), *j.Errors)}
		}
	}
}

// usage is the CPU time of the threads. fio gives shares of the run time of all
// threads, which it writes from 3.8 on.
func (c *converter) usage(u *unit, o *record.Outcome) {
	o.ToolRun = toolRun(u.jobs)
	for _, j := range u.jobs {
		if j.ThreadNS == nil || j.UserCPU == nil || j.SystemCPU == nil {
			o.Usage, o.UsageUnknown = record.Usage{}, true
			return
		}
		o.Usage.UserNS += share(*j.UserCPU, *j.ThreadNS)
		o.Usage.SystemNS += share(*j.SystemCPU, *j.ThreadNS)
	}
}

// toolRun adds up what fio says of the threads of jobs; its distributions are of
// each alone.
func toolRun(jobs []*Job) *record.ToolRun {
	t, first := &record.ToolRun{}, jobs[0]
	if len(jobs) == 1 {
		t.Depth, t.Submit, t.Complete = first.Depth, first.Submit, first.Complete
		t.LatencyNS, t.LatencyUS, t.LatencyMS = first.LatencyNS, first.LatencyUS, first.LatencyMS
	}
	any := t.Depth != nil || t.Submit != nil || t.Complete != nil || t.LatencyNS != nil || t.LatencyUS != nil || t.LatencyMS != nil
	for _, f := range []struct {
		sum **int64
		of  func(*Job) *int64
	}{
		{&t.ThreadNS, func(j *Job) *int64 { return j.ThreadNS }},
		{&t.ContextSwitches, func(j *Job) *int64 { return j.ContextSwitches }},
		{&t.MajorFaults, func(j *Job) *int64 { return j.MajorFaults }},
		{&t.MinorFaults, func(j *Job) *int64 { return j.MinorFault }},
	} {
		sum, known := int64(0), true
		for _, j := range jobs {
			n := f.of(j)
			if known = known && n != nil && *n < 1<<60-sum; known {
				sum += *n
			}
		}
		if known {
			*f.sum, any = &sum, true
		}
	}
	if !any {
		return nil
	}
	return t
}

func share(f float64, ns int64) int64 {
	return int64(math.Round(min(f, 1e3) * float64(min(ns, 1<<50))))
}

// flow adds one direction of the clones up; nil where none has it. A clone whose
// bytes are not known leaves the sum unknown.
func (c *converter) flow(u *unit, what string, bs int64, dir func(*Job) *Flow) *record.Flow {
	var sum record.Flow
	var slat, clat, lat []part
	var flows []*Flow
	for _, j := range u.jobs {
		f := dir(j)
		if f == nil {
			continue
		}
		flows = append(flows, f)
		if f.Bytes == nil {
			c.doubt(DiagUnit, j.Name, what)
			return nil
		}
		ios, ok := c.ios(j, f, bs)
		if !ok {
			c.doubt(DiagIOs, j.Name, what+": not known")
			return nil
		}
		sum.Bytes += *f.Bytes
		sum.IOs += ios
		if j.Nothing(f) {
			ios = 0 // they have no latency that could be missed
		}
		slat = append(slat, part{f.Slat, ios})
		clat = append(clat, part{f.Clat, ios})
		lat = append(lat, part{f.Lat, ios})
	}
	if flows == nil {
		return nil
	}
	var g record.Given
	if f := flows[0]; len(flows) == 1 {
		g.BW, g.Rate, g.Short, g.Dropped = f.BW, f.Rate, f.Short, f.Dropped
		if f.RuntimeNS > 0 {
			g.RuntimeNS = &f.RuntimeNS
		}
	}
	sum.Slat, g.Slat = c.merge(u, slat)
	sum.Clat, g.Clat = c.merge(u, clat)
	sum.Lat, g.Lat = c.merge(u, lat)
	if g != (record.Given{}) {
		sum.Given = &g
	}
	return &sum
}

// ios is the number of I/Os. fio wrote none before 2.2: it then follows from
// the bytes where all I/Os have one size, else from the rate that fio gives.
func (c *converter) ios(j *Job, f *Flow, bs int64) (int64, bool) {
	switch {
	case f.IOs != nil:
		return *f.IOs, true
	case bs > 0 && *f.Bytes%bs == 0:
		c.doubt(DiagIOs, j.Name, "from bytes and block size")
		return *f.Bytes / bs, true
	case f.IOPS != nil && f.RuntimeNS > 0:
		c.doubt(DiagIOs, j.Name, "from IOPS and run time")
		return int64(math.Round(min(*f.IOPS, 1e9) * float64(min(f.RuntimeNS, 1<<50)) / 1e9)), true
	}
	return 0, false
}

// A part is the latency of one clone and its number of I/Os.
type part struct {
	lat *Latency
	ios int64
}

// merge adds latencies up: a histogram where all have one, and the summary of
// all. A clone without I/Os adds nothing; one with I/Os and no latency leaves
// the whole unknown.
func (c *converter) merge(u *unit, parts []part) (*record.Histogram, *record.Summary) {
	var with []part
	for _, p := range parts {
		switch {
		case p.lat != nil:
			with = append(with, p)
		case p.ios > 0:
			return nil, nil
		}
	}
	if len(with) == 0 {
		return nil, nil
	}
	h := &record.Histogram{}
	for _, p := range with {
		if p.lat.Histogram == nil {
			h = nil
			break
		}
		h.Merge(p.lat.Histogram)
	}
	if len(with) == 1 {
		l := with[0].lat
		return h, &record.Summary{N: l.N, Min: l.Min, Max: l.Max, Mean: l.Mean, Stddev: l.Stddev, Percentiles: l.Percentiles}
	}
	if h == nil && slices.ContainsFunc(with, func(p part) bool { return len(p.lat.Percentiles) > 0 }) {
		c.doubt(DiagPercentiles, u.jobs[0].Name, "")
	}
	return h, summarise(with)
}

// summarise merges summaries: variances by the method of Chan, Golub and
// LeVeque (1979). Before fio 3.18, which did not count the samples, every I/O is
// one.
func summarise(parts []part) *record.Summary {
	s := &record.Summary{}
	var n int64
	var mean, m2 float64
	counted, means, devs := true, true, true
	for i, p := range parts {
		l := p.lat
		count := p.ios
		if l.N != nil {
			count = *l.N
		} else {
			counted = false
		}
		if l.Min != nil && (s.Min == nil || *l.Min < *s.Min) {
			s.Min = l.Min
		}
		if l.Max != nil && (s.Max == nil || *l.Max > *s.Max) {
			s.Max = l.Max
		}
		if l.Mean == nil {
			means = false
			continue
		}
		if l.Stddev == nil {
			devs = false
		} else {
			m2 += *l.Stddev * *l.Stddev * float64(max(count-1, 0))
		}
		d := *l.Mean - mean
		if total := n + count; i == 0 {
			mean = *l.Mean
		} else if total > 0 {
			mean += d * float64(count) / float64(total)
			m2 += d * d * float64(n) * float64(count) / float64(total)
		}
		n += count
	}
	if counted {
		s.N = &n
	}
	if means && n > 0 {
		s.Mean = &mean
		if devs && n > 1 {
			s.Stddev = new(math.Sqrt(m2 / float64(n-1)))
		}
	}
	return s
}

func (c *converter) sync(u *unit) *record.Flow {
	var f record.Flow
	var lat []part
	for _, j := range u.jobs {
		if j.Sync == nil || j.Sync.N == nil {
			continue
		}
		f.IOs += *j.Sync.N
		lat = append(lat, part{j.Sync.Lat, *j.Sync.N})
	}
	if len(lat) == 0 {
		return nil
	}
	var s *record.Summary
	if f.Lat, s = c.merge(u, lat); s != nil {
		f.Given = &record.Given{Lat: s}
	}
	return &f
}

// series makes the intervals of a pass from its logs; nil where one of its
// threads has none that can be used.
func (c *converter) series(u *unit, logs []*Log, elapsed int64, bs [2]int64) []record.Interval {
	type key struct {
		host   string
		number int
	}
	threads := map[key][]*Log{}
	want, known := 0, true
	for k, i := range u.index {
		j := u.jobs[k]
		known = known && j.Threads > 0
		want += j.Threads
		for _, l := range logs {
			if l.Job == i {
				k := key{l.Host, l.Number}
				threads[k] = append(threads[k], l)
			}
		}
	}
	if len(threads) == 0 {
		return nil
	}
	name := u.jobs[0].Name
	var all []*series
	for k, t := range threads {
		if k.number == 0 && !(known && want == 1) && !slices.ContainsFunc(t, perIO) {
			c.doubt(DiagLog, name, t[0].File+": one log for several threads")
			return nil
		}
		s, err := threadSeries(t, elapsed, bs)
		if err != nil {
			c.doubt(DiagLog, name, err.Error())
			return nil
		}
		all = append(all, s)
	}
	if _, shared := threads[key{}]; !shared && known && len(threads) != want {
		c.doubt(DiagLog, name, fmt.Sprintf("logs of %d of %d threads", len(threads), want))
		return nil
	}
	return intervals(all)
}

// checksum makes the ID the same however often a file is imported.
func (c *converter) checksum() uint16 {
	h := fnv.New32a()
	fmt.Fprint(h, c.Version.Text, c.rec.Started.UnixNano(), c.rec.Ended.UnixNano())
	for i := range c.Jobs {
		j := &c.Jobs[i]
		fmt.Fprint(h, j.Name, j.Group, j.Options)
		for _, f := range []*Flow{j.Read, j.Write, j.Mixed} {
			if f != nil {
				fmt.Fprint(h, or0(f.Bytes), or0(f.IOs), f.RuntimeNS)
			}
		}
	}
	s := h.Sum32()
	return uint16(s ^ s>>16)
}
