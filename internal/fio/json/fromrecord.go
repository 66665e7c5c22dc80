package fiojson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// ownPrefix starts the "fio version" of what this package writes: it is not
// fio's, and says so.
const ownPrefix = "nativ-"

// FromRecord writes the passes of a record as json+ of fio, in the keys and
// units of 3.36 and later, so that fio's own tools and those made for it read
// it. Each pass is an entry of jobs and a group of its own; with several places
// the place is behind the name of the job and in desc. A pass without an outcome
// is left out.
//
// What a record does not know is left out where such tools bear it: depth and
// submit distributions, context switches, page faults. Where they do not, it is
// written as fio writes what it did not measure: latencies with N 0, bandwidth
// and IOPS samples with 0 samples, all of latency_ns, _us and _ms zero.
// Bandwidth and IOPS samples are whole seconds over all jobs of the pass. The
// stddev of a histogram is that of its buckets' midpoints, unless it was
// imported.
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
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			if p := &rec.Rounds[i].Passes[j]; p.Outcome != nil {
				jobs = append(jobs, jobOf(rec, p))
			}
		}
	}
	root = append(root, member{"jobs", jobs}, member{"disk_util", diskUtil(rec)})
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return fmt.Errorf("write fio JSON: %w", err)
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
	return ownPrefix + rec.Tool.Version
}

func options(opts []record.Option) ordered {
	o := ordered{}
	for _, opt := range opts {
		o = append(o, member{opt.Name, opt.Value})
	}
	return o
}

// groupOf is the number of a pass's group: that of the jobs that it ran beside,
// or its own.
func groupOf(rec *record.Record, p *record.Pass) int {
	if rec.Jobs != nil {
		for g, phases := range rec.Jobs.Groups {
			if slices.Contains(phases, p.Index) {
				return g
			}
		}
	}
	return p.Index
}

func jobOf(rec *record.Record, p *record.Pass) ordered {
	o := p.Outcome
	ph := &job.Phase{Name: p.Phase}
	for i := range rec.Plan.Phases {
		if rec.Plan.Phases[i].Name == p.Phase {
			ph = &rec.Plan.Phases[i]
		}
	}
	name := p.Phase
	if len(rec.Plan.Places) > 1 {
		name += "." + p.Place
	}
	elapsed := max(o.ElapsedNS(), 0)
	threads := elapsed * int64(max(ph.NumJobs, 1))
	j := ordered{{"jobname", name}}
	if p.Place != record.PlaceImported {
		j = append(j, member{"desc", p.Place})
	}
	j = append(j, member{"groupid", groupOf(rec, p)})
	if !p.StartedAt.IsZero() {
		j = append(j, member{"job_start", p.StartedAt.UnixMilli()})
	}
	j = append(j, member{"error", errorOf(p)}, member{"eta", 0})
	if d := rec.Ended.Sub(rec.Started); d > 0 {
		j = append(j, member{"elapsed", int64((d + time.Second - 1) / time.Second)})
	}
	if opts, ok := optionsOf(rec, ph); ok {
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
	var lat record.Histogram
	for _, f := range flows {
		if f.name == "mixed" && f.flow == nil {
			continue
		}
		var series []record.Interval
		if f.flow != nil {
			series = p.Intervals
			lat.Merge(best(f.flow))
		}
		j = append(j, member{f.name, flowOf(f.flow, elapsed, series, f.ios)})
	}
	if s := o.Sync; s != nil {
		j = append(j, member{"sync", ordered{{"total_ios", s.IOs}, {"lat_ns", latOf(s.Lat, given(s, "lat"))}}})
	} else {
		j = append(j, member{"sync", ordered{{"total_ios", 0}, {"lat_ns", latOf(nil, nil)}}})
	}
	if !o.UsageUnknown && threads > 0 {
		j = append(j, member{"job_runtime", ms(threads)},
			member{"usr_cpu", decimal(100 * float64(o.Usage.UserNS) / float64(threads))},
			member{"sys_cpu", decimal(100 * float64(o.Usage.SystemNS) / float64(threads))})
	}
	return append(j, distribution(&lat)...)
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

// errorOf is an errno of Linux, 0 for a pass that is whole.
func errorOf(p *record.Pass) int {
	if p.OK() {
		return 0
	}
	if len(p.Outcome.Errors) > 0 {
		if n := errnoNumber(p.Outcome.Errors[0].Errno); n > 0 {
			return n
		}
	}
	if p.Failed != nil && p.Failed.Code == record.FailInterrupted {
		return errnoNumber("ECANCELED")
	}
	return errnoNumber("EIO")
}

// optionsOf are the options of a phase: those that were imported, else fio's
// for what the phase says.
func optionsOf(rec *record.Record, ph *job.Phase) (ordered, bool) {
	if rec.Import != nil {
		for _, j := range rec.Import.Jobs {
			if j.Phase == ph.Name {
				return options(j.Options), j.Options != nil
			}
		}
		return nil, false
	}
	direct := "0"
	if ph.Direct {
		direct = "1"
	}
	o := ordered{
		{"name", ph.Name}, {"rw", string(ph.Mode)}, {"bs", size(ph.BlockSize)},
		{"iodepth", strconv.Itoa(ph.IODepth)}, {"numjobs", strconv.Itoa(ph.NumJobs)}, {"direct", direct},
		{"group_reporting", "1"}, {"lat_percentiles", "1"},
	}
	for i := range rec.Places {
		if w := rec.Places[i].Worker; w != nil {
			o = append(o, member{"ioengine", w.Engine.Name})
			break
		}
	}
	if rec.Plan.FileSize > 0 && ph.BlockSize > 0 && ph.NumJobs > 0 {
		_, part := ph.Region(0, rec.Plan.FileSize)
		o = append(o, member{"size", size(part)})
		if ph.Split && !ph.Mode.Random() {
			o = append(o, member{"offset_increment", size(part)})
		}
	}
	if ph.Mode.Random() {
		o = append(o, member{"norandommap", "1"}) // offsets are drawn independently
	}
	if ph.FDataSync > 0 {
		o = append(o, member{"fdatasync", strconv.Itoa(ph.FDataSync)})
	}
	if ph.RuntimeNS > 0 {
		// In milliseconds, because fio cuts the fraction off a second.
		o = append(o, member{"runtime", strconv.FormatInt(ms(ph.RuntimeNS), 10) + "ms"})
	}
	if !ph.Once {
		o = append(o, member{"time_based", "1"})
	}
	return o, true
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

func flowOf(f *record.Flow, elapsed int64, series []record.Interval, of func(*record.Interval) (int64, int64)) ordered {
	var ios, n, runtime int64
	if f != nil {
		ios, n, runtime = f.IOs, f.Bytes, elapsed
	} else {
		f = &record.Flow{}
	}
	var bps, iops float64
	if runtime > 0 {
		bps, iops = float64(n)/float64(runtime)*1e9, float64(ios)/float64(runtime)*1e9
	}
	o := ordered{
		{"io_bytes", n}, {"io_kbytes", n >> 10}, {"bw_bytes", int64(bps)}, {"bw", int64(bps) >> 10},
		{"iops", decimal(iops)}, {"runtime", ms(runtime)}, {"total_ios", ios}, {"short_ios", 0}, {"drop_ios", 0},
		{"slat_ns", latOf(f.Slat, given(f, "slat"))},
		{"clat_ns", latOf(f.Clat, given(f, "clat"))},
		{"lat_ns", latOf(f.Lat, given(f, "lat"))},
	}
	var bw, rate []float64
	for i := range series {
		if iv := &series[i]; iv.LenNS >= 900_000_000 { // a shorter one is noise
			i, b := of(iv)
			rate = append(rate, float64(i)*1e9/float64(iv.LenNS))
			bw = append(bw, float64(b)*1e9/float64(iv.LenNS)/1024)
		}
	}
	agg := 0.0
	if len(bw) > 0 {
		agg = 100
	}
	lo, hi, mean, dev := moments(bw)
	o = append(o, member{"bw_min", int64(lo)}, member{"bw_max", int64(hi)}, member{"bw_agg", decimal(agg)},
		member{"bw_mean", decimal(mean)}, member{"bw_dev", decimal(dev)}, member{"bw_samples", len(bw)})
	lo, hi, mean, dev = moments(rate)
	return append(o, member{"iops_min", int64(lo)}, member{"iops_max", int64(hi)}, member{"iops_mean", decimal(mean)},
		member{"iops_stddev", decimal(dev)}, member{"iops_samples", len(rate)})
}

func moments(v []float64) (lo, hi, mean, dev float64) {
	if len(v) == 0 {
		return 0, 0, 0, 0
	}
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		dev += (x - mean) * (x - mean)
	}
	if len(v) > 1 {
		dev = math.Sqrt(dev / float64(len(v)-1))
	}
	return slices.Min(v), slices.Max(v), mean, dev
}

// percentileList is fio's default.
var percentileList = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// latOf writes a latency: what was given where something was, else what the
// histogram says.
func latOf(h *record.Histogram, s *record.Summary) ordered {
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
			for _, p := range percentileList {
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
				elapsed += w.After.MonoNS - w.Before.MonoNS
			}
		}
		if elapsed <= 0 {
			continue
		}
		all = append(all, ordered{
			{"name", d.Name}, {"read_ios", sum.ReadIOs}, {"write_ios", sum.WriteIOs},
			{"read_sectors", sum.ReadBytes / 512}, {"write_sectors", sum.WriteBytes / 512},
			{"in_queue", ms(sum.QueueNS)},
			{"util", decimal(min(100, 100*float64(sum.BusyNS)/float64(elapsed)))},
		})
	}
	return all
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
