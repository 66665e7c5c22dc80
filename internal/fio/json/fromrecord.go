package fiojson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// ownPrefix starts the "fio version" of what this package writes: it is not
// fio's, and says so.
const ownPrefix = "nativ-"

// simulatedMark ends the version where nothing was measured: fio's form has no
// other place that everybody passes on.
const simulatedMark = " SIMULATED"

// FromRecord writes the passes of a record as json+ of fio, in the keys and
// units of 3.36 and later, so that fio's own tools and those made for it read
// it. Each pass is an entry of jobs and a group of its own; with several places
// the place is behind the name of the job and in desc. In a record of nativ fio
// each result is an entry, as in fio: a clone where the job did not ask for
// group_reporting, else the jobs together. What has no outcome is left out.
//
// What fio said of its own run is written as it was. What a record does not know
// is left out where such tools bear it: depth and submit distributions, context
// switches, page faults, bw_min, _max, _mean and _dev and iops_min, _max and _mean
// without samples. Where they do not (fio-plot: iops_stddev and latency_ns, _us
// and _ms), it is written as fio writes what it did not measure, as zero, and
// latencies with N 0.
//
// Where the engine submits and waits in one call, there is only lat. From fio's
// point of view clat is then lat, as with psync, whose slat has N 0: clat_ns is
// written as lat_ns, and the object "nativ" of the job says so.
//
// Bandwidth and IOPS samples are whole seconds over all jobs of the pass, unless
// they are fio's own of one thread. usr_cpu and sys_cpu are of the threads that
// did the I/O where they are known, else of the whole process. Reads that verify
// what was written are, as in fio, under read. The stddev of a histogram is that
// of its buckets' midpoints, unless it was imported.
func FromRecord(w io.Writer, rec *record.Record) error {
	root := ordered{
		{"fio version", fioVersion(rec)},
	}
	if !rec.Ended.IsZero() {
		root = append(root, member{"timestamp", rec.Ended.Unix()}, member{"timestamp_ms", rec.Ended.UnixMilli()},
			member{"time", rec.Ended.UTC().Format(time.ANSIC)})
	}
	if rec.Import != nil && len(rec.Import.Global) > 0 {
		root = append(root, member{"global options", options(rec.Import.Global)})
	}
	jobs := []ordered{}
	for _, e := range entries(rec) {
		jobs = append(jobs, jobOf(rec, &e))
	}
	root = append(root, member{"jobs", jobs}, member{"disk_util", diskUtil(rec)})
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return fmt.Errorf("write fio JSON: %w", err)
	}
	if rec.Simulated != nil {
		// The mark of the version into the first line, where people look.
		b = bytes.Replace(b, []byte("{\n  "), []byte("{ "), 1)
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write fio JSON: %w", err)
	}
	return nil
}

// ordered is a JSON object whose order, and repeated names, are kept.
type ordered []member

type member struct {
	key   string
	value any
}

func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// decimal is written with six decimals, as fio does.
type decimal float64

func (d decimal) MarshalJSON() ([]byte, error) {
	if f := float64(d); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("0.000000"), nil
	}
	return strconv.AppendFloat(nil, float64(d), 'f', 6, 64), nil
}

func fioVersion(rec *record.Record) string {
	if rec.Tool.Name == "fio" && rec.Tool.Version != "" {
		return "fio-" + rec.Tool.Version
	}
	v := ownPrefix + rec.Tool.Version
	if rec.Simulated != nil {
		v += simulatedMark
	}
	return v
}

func options(opts []record.Option) ordered {
	o := ordered{}
	for _, opt := range opts {
		o = append(o, member{opt.Name, opt.Value})
	}
	return o
}

func jobOf(rec *record.Record, e *entry) ordered {
	o := e.outcome
	elapsed := max(o.ElapsedNS(), 0)
	usage, threads := usageOf(o, e.jobs)
	notes := ordered{}
	j := ordered{{"jobname", e.name}}
	if e.place != record.PlaceImported {
		desc := e.place
		if e.phase.Description != "" { // which is what fio has there
			desc = e.phase.Description
		}
		j = append(j, member{"desc", desc})
	}
	j = append(j, member{"groupid", e.group})
	if !e.started.IsZero() {
		j = append(j, member{"job_start", e.started.UnixMilli()})
	}
	j = append(j, member{"error", e.errno}, member{"eta", 0})
	if d := rec.Ended.Sub(rec.Started); d > 0 {
		j = append(j, member{"elapsed", int64((d + time.Second - 1) / time.Second)})
	}
	if opts, ok := optionsOf(rec, e); ok {
		j = append(j, member{"job options", opts})
	}
	flows := []struct {
		name string
		flow *record.Flow
		ios  func(*record.Interval) (int64, int64)
	}{
		{"read", o.Read, func(i *record.Interval) (int64, int64) { return i.ReadIOs, i.ReadBytes }},
		{"write", o.Write, func(i *record.Interval) (int64, int64) { return i.WriteIOs, i.WriteBytes }},
		{"trim", nil, nil},
		{"mixed", o.Mixed, func(i *record.Interval) (int64, int64) {
			return i.ReadIOs + i.WriteIOs, i.ReadBytes + i.WriteBytes
		}},
	}
	runtime := map[string]int64{}
	if v := o.Verified; v != nil && v.Flow != nil && o.Read == nil {
		flows[0].flow, runtime["read"] = v.Flow, v.RuntimeNS
		notes = append(notes, member{"read", noteVerified})
	} else if v != nil {
		notes = append(notes, member{"read", noteMixedVerified})
	}
	var lat record.Histogram
	copied := false
	for _, f := range flows {
		if f.name == "mixed" && f.flow == nil {
			continue
		}
		var series []record.Interval
		if f.flow != nil {
			lat.Merge(best(f.flow))
			if runtime[f.name] == 0 {
				series, runtime[f.name] = e.intervals, elapsed
			}
			if e.latOnly && f.flow.Clat == nil && f.flow.Lat.N() > 0 && given(f.flow, "clat") == nil {
				one := *f.flow
				one.Clat, f.flow, copied = one.Lat, &one, true
				if s := given(&one, "lat"); s != nil {
					g := *one.Given
					g.Clat, one.Given = s, &g
				}
			}
		}
		d := flowOf(f.flow, runtime[f.name], samplesOf(rec, f.flow, series, f.ios), e.percentiles)
		if f.flow != nil && (f.flow.Given == nil || f.flow.Given.Short == nil) && rec.Import == nil {
			d = append(d, member{"short_ios", shortOf(o, f.name)}, member{"drop_ios", 0})
		}
		j = append(j, member{f.name, d})
	}
	if copied {
		notes = append(notes, member{"clat_ns", noteClat})
	}
	if s := o.Sync; s != nil {
		j = append(j, member{"sync", ordered{{"total_ios", s.IOs}, {"lat_ns", latOf(s.Lat, given(s, "lat"), e.percentiles)}}})
	} else {
		j = append(j, member{"sync", ordered{{"total_ios", 0}, {"lat_ns", latOf(nil, nil, nil)}}})
	}
	if !o.UsageUnknown && threads > 0 {
		j = append(j, member{"job_runtime", ms(threads)},
			member{"usr_cpu", decimal(100 * float64(usage.UserNS) / float64(threads))},
			member{"sys_cpu", decimal(100 * float64(usage.SystemNS) / float64(threads))})
	}
	t := o.ToolRun
	if t == nil {
		t = &record.ToolRun{}
	}
	for _, n := range []struct {
		key string
		v   *int64
	}{{"ctx", t.ContextSwitches}, {"majf", t.MajorFaults}, {"minf", t.MinorFaults}} {
		if n.v != nil {
			j = append(j, member{n.key, *n.v})
		}
	}
	for _, d := range []struct {
		key    string
		shares []record.Share
	}{{"iodepth_level", t.Depth}, {"iodepth_submit", t.Submit}, {"iodepth_complete", t.Complete}} {
		if d.shares != nil {
			j = append(j, member{d.key, classes(d.shares)})
		}
	}
	dist := distribution(&lat)
	if t.LatencyNS != nil || t.LatencyUS != nil || t.LatencyMS != nil {
		for i, shares := range [][]record.Share{t.LatencyNS, t.LatencyUS, t.LatencyMS} {
			if shares != nil {
				dist[i].value = classes(shares)
			}
		}
	}
	j = append(j, dist...)
	if len(notes) > 0 {
		j = append(j, member{"nativ", notes})
	}
	return j
}

// Notes are under the key "nativ" of a job, which the tools of fio do not look at.
const (
	noteClat          = "as lat_ns: the engine submits and waits in one call, so that no part of the latency is submission alone"
	noteVerified      = "only the reads that verified what was written, after the pass and over a time of their own"
	noteMixedVerified = "with the reads that verified what was written, which fio counts together with the others"
)

func classes(shares []record.Share) ordered {
	o := ordered{}
	for _, s := range shares {
		o = append(o, member{s.Class, decimal(s.Percent)})
	}
	return o
}

// shortOf counts the transfers of fewer bytes than asked, which end a pass of
// nativ's own engines.
func shortOf(o *record.Outcome, op string) (n int64) {
	for _, e := range o.Errors {
		if e.Op == op && e.Errno == "short" {
			n += e.Count
		}
	}
	return n
}

// best is the histogram that comes nearest to lat.
func best(f *record.Flow) *record.Histogram {
	if f.Lat != nil {
		return f.Lat
	}
	return f.Clat
}

func given(f *record.Flow, kind string) *record.Summary {
	if f == nil || f.Given == nil {
		return nil
	}
	switch kind {
	case "slat":
		return f.Given.Slat
	case "clat":
		return f.Given.Clat
	}
	return f.Given.Lat
}

// optionsOf are the options of a phase: those that were imported, else fio's
// for what the phase says.
func optionsOf(rec *record.Record, e *entry) (ordered, bool) {
	ph := e.phase
	if rec.Import != nil {
		for _, j := range rec.Import.Jobs {
			if j.Phase == ph.Name {
				return options(j.Options), j.Options != nil
			}
		}
		return nil, false
	}
	name := ph.Name
	if rec.Jobs != nil {
		name = e.name // without what tells phases of one name apart
	}
	o := ordered{{"name", name}}
	has := func(name string) bool {
		return slices.ContainsFunc(o, func(m member) bool { return m.key == name })
	}
	copied := *ph
	copied.Engine = engineOf(rec, ph)
	for _, s := range job.AllSettings(e.options, &copied, rec.Plan.FileSize) {
		o = append(o, member{s.Name, s.Value})
	}
	if e.grouped && !has("group_reporting") {
		o = append(o, member{"group_reporting", "1"})
	}
	if !has("lat_percentiles") {
		o = append(o, member{"lat_percentiles", "1"})
	}
	if !has("size") && rec.Plan.FileSize > 0 && ph.BlockSize > 0 && ph.NumJobs > 0 {
		_, part := ph.Region(0, rec.Plan.FileSize)
		o = append(o, member{"size", size(part)})
	}
	return o, true
}

// engineOf is fio's name of the engine of a phase.
func engineOf(rec *record.Record, ph *job.Phase) string {
	name := ph.Engine
	for i := 0; name == "" && i < len(rec.Places); i++ {
		if w := rec.Places[i].Worker; w != nil {
			name = w.Engine.Name
		}
	}
	return strings.TrimPrefix(name, "fio/")
}

// size writes bytes with the largest unit that divides them.
func size(n int64) string {
	for _, u := range []struct {
		shift int
		unit  string
	}{{40, "t"}, {30, "g"}, {20, "m"}, {10, "k"}} {
		if n > 0 && n%(1<<u.shift) == 0 {
			return strconv.FormatInt(n>>u.shift, 10) + u.unit
		}
	}
	return strconv.FormatInt(n, 10)
}

func ms(ns int64) int64 { return (ns + 500_000) / 1_000_000 }

func flowOf(f *record.Flow, elapsed int64, s rates, list []float64) ordered {
	none := f == nil // fio writes zeros of a direction without I/O
	var g record.Given
	if none {
		f = &record.Flow{}
	} else if f.Given != nil {
		g = *f.Given
	}
	runtime := ms(elapsed)
	if g.RuntimeNS != nil {
		elapsed, runtime = *g.RuntimeNS, ms(*g.RuntimeNS)
	}
	var bps, iops float64
	if elapsed > 0 && !none {
		bps, iops = 1e9*float64(f.Bytes)/float64(elapsed), 1e9*float64(f.IOs)/float64(elapsed)
	}
	if none {
		runtime = 0
	}
	o := ordered{
		{"io_bytes", f.Bytes}, {"io_kbytes", f.Bytes >> 10}, {"bw_bytes", int64(bps)}, {"bw", int64(bps) >> 10},
		{"iops", decimal(iops)}, {"runtime", runtime}, {"total_ios", f.IOs},
		{"slat_ns", latOf(f.Slat, g.Slat, list)}, {"clat_ns", latOf(f.Clat, g.Clat, list)}, {"lat_ns", latOf(f.Lat, g.Lat, list)},
	}
	if none {
		zero := &record.Samples{N: new(int64), Share: new(float64)}
		g.Short, g.Dropped, s = new(int64), new(int64), rates{zero, zero}
	}
	for _, n := range []struct {
		key string
		v   *int64
	}{{"short_ios", g.Short}, {"drop_ios", g.Dropped}} {
		if n.v != nil {
			o = append(o, member{n.key, *n.v})
		}
	}
	if b := s.bw; b != nil {
		o = append(o, member{"bw_min", int64(b.Min / 1024)}, member{"bw_max", int64(b.Max / 1024)})
		if b.Share != nil {
			o = append(o, member{"bw_agg", decimal(100 * *b.Share)})
		}
		o = append(o, member{"bw_mean", decimal(b.Mean / 1024)}, member{"bw_dev", decimal(b.Stddev / 1024)})
		if b.N != nil {
			o = append(o, member{"bw_samples", *b.N})
		}
	} else {
		o = append(o, member{"bw_samples", 0})
	}
	if r := s.iops; r != nil {
		o = append(o, member{"iops_min", int64(r.Min)}, member{"iops_max", int64(r.Max)},
			member{"iops_mean", decimal(r.Mean)}, member{"iops_stddev", decimal(r.Stddev)})
		if r.N != nil {
			o = append(o, member{"iops_samples", *r.N})
		}
	} else {
		o = append(o, member{"iops_stddev", decimal(0)}, member{"iops_samples", 0})
	}
	return o
}

// rates are samples of a direction; nil where there are none.
type rates struct{ bw, iops *record.Samples }

// samplesOf are fio's own samples of one thread, else whole seconds over all. What
// was imported stays what it was, also sums that say nothing.
func samplesOf(rec *record.Record, f *record.Flow, series []record.Interval, of func(*record.Interval) (int64, int64)) rates {
	if f == nil {
		return rates{}
	}
	own := func(s *record.Samples) bool { return s != nil && (rec.Import != nil || !s.Summed) }
	r := seconded(series, of)
	if g := f.Given; g != nil && own(g.BW) {
		r.bw = g.BW
	}
	if g := f.Given; g != nil && own(g.Rate) {
		r.iops = g.Rate
	}
	return r
}

// seconded are samples of the whole seconds of a series.
func seconded(series []record.Interval, of func(*record.Interval) (int64, int64)) rates {
	var bw, iops []float64
	for i := range series {
		if iv := &series[i]; iv.LenNS >= 900_000_000 { // a shorter one is noise
			i, b := of(iv)
			iops = append(iops, float64(i)*1e9/float64(iv.LenNS))
			bw = append(bw, float64(b)*1e9/float64(iv.LenNS))
		}
	}
	if bw == nil {
		return rates{}
	}
	r := rates{moments(bw), moments(iops)}
	r.bw.Share = new(float64(1))
	return r
}

// moments are the statistics of one sample or more.
func moments(v []float64) *record.Samples {
	var mean, dev float64
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		dev += (x - mean) * (x - mean)
	}
	if len(v) > 1 {
		dev = math.Sqrt(dev / float64(len(v)-1))
	}
	return &record.Samples{Min: slices.Min(v), Max: slices.Max(v), Mean: mean, Stddev: dev, N: new(int64(len(v)))}
}

// percentileList is fio's default.
var percentileList = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// latOf writes a latency: what was given where something was, else what the
// histogram says of the percentiles in list.
func latOf(h *record.Histogram, s *record.Summary, list []float64) ordered {
	if s == nil {
		s = &record.Summary{}
	}
	known := *s
	if h != nil && h.N() > 0 {
		mean, _ := h.Mean()
		known.N = new(h.N())
		known.Min, known.Max = new(h.Min), new(h.Max)
		if known.Mean == nil {
			known.Mean = &mean
		}
		if known.Stddev == nil {
			known.Stddev = new(stddev(h, mean))
		}
		if known.Percentiles == nil {
			for _, p := range list {
				if ns, ok := h.Percentile(p); ok {
					known.Percentiles = append(known.Percentiles, record.Percentile{P: p, NS: ns})
				}
			}
		}
	}
	f := func(p *float64) decimal {
		if p == nil {
			return 0
		}
		return decimal(*p)
	}
	o := ordered{{"min", or0(known.Min)}, {"max", or0(known.Max)}, {"mean", f(known.Mean)}, {"stddev", f(known.Stddev)}}
	if s.N != nil || known.N != nil || known.Max == nil {
		o = append(o, member{"N", or0(known.N)})
	}
	if len(known.Percentiles) > 0 {
		list := ordered{}
		for _, p := range known.Percentiles {
			list = append(list, member{strconv.FormatFloat(p.P, 'f', 6, 64), p.NS})
		}
		o = append(o, member{"percentile", list})
	}
	if h != nil && h.N() > 0 {
		bins := ordered{}
		for i, n := range h.Counts {
			if n > 0 {
				bins = append(bins, member{strconv.FormatInt(record.BucketMid(i), 10), n})
			}
		}
		o = append(o, member{"bins", bins})
	}
	return o
}

func stddev(h *record.Histogram, mean float64) float64 {
	n := h.N()
	if n < 2 {
		return 0
	}
	var sum float64
	for i, c := range h.Counts {
		d := float64(record.BucketMid(i)) - mean
		sum += d * d * float64(c)
	}
	return math.Sqrt(sum / float64(n-1))
}

// A limit is an upper bound of fio's coarse latency distribution.
type limit struct {
	upTo  int64 // ns
	group int   // in latency_ns, latency_us or latency_ms
	key   string
}

func limits() []limit {
	var all []limit
	for group, unit := range []int64{1, 1e3, 1e6} {
		for _, l := range []int64{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000} {
			all = append(all, limit{l * unit, group, strconv.FormatInt(l, 10)})
		}
	}
	return append(all, limit{2e9, 2, "2000"}, limit{math.MaxInt64, 2, ">=2000"})
}

// distribution is the share of I/Os, in percent, up to each limit.
func distribution(h *record.Histogram) ordered {
	all := limits()
	counts := make([]uint64, len(all))
	for i, c := range h.Counts {
		mid := record.BucketMid(i)
		counts[slices.IndexFunc(all, func(l limit) bool { return mid <= l.upTo })] += c
	}
	var groups [3]ordered
	for i, l := range all {
		share := 0.0
		if n := h.N(); n > 0 {
			share = 100 * float64(counts[i]) / float64(n)
		}
		groups[l.group] = append(groups[l.group], member{l.key, decimal(share)})
	}
	return ordered{{"latency_ns", groups[0]}, {"latency_us", groups[1]}, {"latency_ms", groups[2]}}
}

// diskUtil is the use of the drives: as imported, else what their counters rose
// by in the passes.
func diskUtil(rec *record.Record) []ordered {
	all := []ordered{}
	if rec.Import != nil {
		for _, d := range rec.Import.Disks {
			o := append(ordered{{"name", d.Name}}, useOf("", "write_merges", &d.DiskUse)...)
			if d.Members != nil {
				o = append(o, useOf("aggr_", "write_merge", d.Members)...)
			}
			if d.Host != "" {
				o = append(o, member{"hostname", d.Host})
			}
			all = append(all, o)
		}
		return all
	}
	for i := range rec.Target.Drives {
		d := &rec.Target.Drives[i]
		var sum record.DeviceCounters
		var elapsed int64
		for i := range rec.Rounds {
			for j := range rec.Rounds[i].Passes {
				w := &rec.Rounds[i].Passes[j].Watch
				if w.Before == nil || w.After == nil {
					continue
				}
				a, okA := w.Before.Devices[d.Name]
				b, okB := w.After.Devices[d.Name]
				if !okA || !okB {
					continue
				}
				sum.ReadIOs += b.ReadIOs - a.ReadIOs
				sum.ReadBytes += b.ReadBytes - a.ReadBytes
				sum.WriteIOs += b.WriteIOs - a.WriteIOs
				sum.WriteBytes += b.WriteBytes - a.WriteBytes
				sum.BusyNS += b.BusyNS - a.BusyNS
				sum.QueueNS += b.QueueNS - a.QueueNS
				rose(&sum.ReadMerges, a.ReadMerges, b.ReadMerges)
				rose(&sum.WriteMerges, a.WriteMerges, b.WriteMerges)
				rose(&sum.ReadNS, a.ReadNS, b.ReadNS)
				rose(&sum.WriteNS, a.WriteNS, b.WriteNS)
				elapsed += w.After.MonoNS - w.Before.MonoNS
			}
		}
		if elapsed <= 0 {
			continue
		}
		o := ordered{
			{"name", d.Name}, {"read_ios", sum.ReadIOs}, {"write_ios", sum.WriteIOs},
			{"read_sectors", sum.ReadBytes / 512}, {"write_sectors", sum.WriteBytes / 512},
		}
		for _, m := range []struct {
			key  string
			v    *int64
			unit int64
		}{{"read_merges", sum.ReadMerges, 1}, {"write_merges", sum.WriteMerges, 1}, {"read_ticks", sum.ReadNS, 1e6}, {"write_ticks", sum.WriteNS, 1e6}} {
			if m.v != nil {
				o = append(o, member{m.key, *m.v / m.unit})
			}
		}
		all = append(all, append(o, member{"in_queue", ms(sum.QueueNS)},
			member{"util", decimal(min(100, 100*float64(sum.BusyNS)/float64(elapsed)))}))
	}
	return all
}

// rose adds a difference where both counters are known.
func rose(sum **int64, from, to *int64) {
	if from == nil || to == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *to - *from
}

func useOf(prefix, writeMerges string, u *record.DiskUse) ordered {
	o := ordered{{prefix + "read_ios", u.ReadIOs}, {prefix + "write_ios", u.WriteIOs}}
	if u.ReadBytes != nil && u.WriteBytes != nil {
		o = append(o, member{prefix + "read_sectors", *u.ReadBytes / 512}, member{prefix + "write_sectors", *u.WriteBytes / 512})
	}
	o = append(o, member{prefix + "read_merges", u.ReadMerges}, member{prefix + writeMerges, u.WriteMerges},
		member{prefix + "read_ticks", ms(u.ReadNS)}, member{prefix + "write_ticks", ms(u.WriteNS)}, member{prefix + "in_queue", ms(u.QueueNS)})
	if u.Util != nil {
		o = append(o, member{prefix + "util", decimal(100 * *u.Util)})
	}
	return o
}
