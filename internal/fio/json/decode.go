package fiojson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"nativ/internal/record"
)

// The raw types have fio's keys of all versions. Numbers are lenient: one that
// cannot be read is absent and not the end of the file.
type (
	rawRoot struct {
		Version     string          `json:"fio version"`
		Timestamp   num             `json:"timestamp"`
		TimestampMS num             `json:"timestamp_ms"`
		Global      json.RawMessage `json:"global options"`
		Jobs        []rawJob        `json:"jobs"`
		Clients     []rawJob        `json:"client_stats"`
		Disks       []rawDisk       `json:"disk_util"`
	}
	rawJob struct {
		Name       string          `json:"jobname"`
		Desc       string          `json:"desc"`
		Group      num             `json:"groupid"`
		Start      num             `json:"job_start"`
		Error      num             `json:"error"`
		TotalErr   num             `json:"total_err"`
		FirstError num             `json:"first_error"`
		Elapsed    num             `json:"elapsed"`
		Options    json.RawMessage `json:"job options"`
		Host       string          `json:"hostname"`
		Read       *rawFlow        `json:"read"`
		Write      *rawFlow        `json:"write"`
		Trim       *rawFlow        `json:"trim"`
		Mixed      *rawFlow        `json:"mixed"`
		Sync       *struct {
			IOs num     `json:"total_ios"`
			Lat *rawLat `json:"lat_ns"`
		} `json:"sync"`
		Runtime num `json:"job_runtime"`
		UserCPU num `json:"usr_cpu"`
		SysCPU  num `json:"sys_cpu"`
		Ctx     num `json:"ctx"`
		MajF    num `json:"majf"`
		MinF    num `json:"minf"`

		Depth     pairs `json:"iodepth_level"`
		Submit    pairs `json:"iodepth_submit"`
		Complete  pairs `json:"iodepth_complete"`
		LatencyNS pairs `json:"latency_ns"`
		LatencyUS pairs `json:"latency_us"`
		LatencyMS pairs `json:"latency_ms"`

		Notes rawNotes `json:"nativ"`
	}
	// rawNotes are what FromRecord says of its own entries.
	rawNotes struct {
		Clat string `json:"clat_ns"`
	}
	rawFlow struct {
		IOBytes     num     `json:"io_bytes"`
		IOKBytes    num     `json:"io_kbytes"`
		BWBytes     num     `json:"bw_bytes"`
		BW          num     `json:"bw"`
		IOPS        num     `json:"iops"`
		Runtime     num     `json:"runtime"`
		IOs         num     `json:"total_ios"`
		Short       num     `json:"short_ios"`
		Drop        num     `json:"drop_ios"`
		SlatUS      *rawLat `json:"slat"`
		ClatUS      *rawLat `json:"clat"`
		LatUS       *rawLat `json:"lat"`
		SlatNS      *rawLat `json:"slat_ns"`
		ClatNS      *rawLat `json:"clat_ns"`
		LatNS       *rawLat `json:"lat_ns"`
		BWMin       num     `json:"bw_min"`
		BWMax       num     `json:"bw_max"`
		BWAgg       num     `json:"bw_agg"`
		BWMean      num     `json:"bw_mean"`
		BWDev       num     `json:"bw_dev"`
		BWSamples   num     `json:"bw_samples"`
		IOPSMin     num     `json:"iops_min"`
		IOPSMax     num     `json:"iops_max"`
		IOPSMean    num     `json:"iops_mean"`
		IOPSStddev  num     `json:"iops_stddev"`
		IOPSSamples num     `json:"iops_samples"`
	}
	rawLat struct {
		Min         num   `json:"min"`
		Max         num   `json:"max"`
		Mean        num   `json:"mean"`
		Stddev      num   `json:"stddev"`
		N           num   `json:"N"`
		Percentiles pairs `json:"percentile"`
		Bins        pairs `json:"bins"`
	}
	rawDisk struct {
		Name string `json:"name"`
		Host string `json:"hostname"`
		rawUse
		AggrReadIOs      num `json:"aggr_read_ios"`
		AggrWriteIOs     num `json:"aggr_write_ios"`
		AggrReadSectors  num `json:"aggr_read_sectors"`
		AggrWriteSectors num `json:"aggr_write_sectors"`
		AggrReadMerges   num `json:"aggr_read_merges"`
		AggrWriteMerge   num `json:"aggr_write_merge"` // so spelt by fio
		AggrWriteMerges  num `json:"aggr_write_merges"`
		AggrReadTicks    num `json:"aggr_read_ticks"`
		AggrWriteTicks   num `json:"aggr_write_ticks"`
		AggrQueue        num `json:"aggr_in_queue"`
		AggrUtil         num `json:"aggr_util"`
	}
	rawUse struct {
		ReadIOs      num `json:"read_ios"`
		WriteIOs     num `json:"write_ios"`
		ReadSectors  num `json:"read_sectors"`
		WriteSectors num `json:"write_sectors"`
		ReadMerges   num `json:"read_merges"`
		WriteMerges  num `json:"write_merges"`
		ReadTicks    num `json:"read_ticks"`
		WriteTicks   num `json:"write_ticks"`
		Queue        num `json:"in_queue"`
		Util         num `json:"util"`
	}
)

// A num is a JSON number as it was written, or nothing.
type num string

func (n *num) UnmarshalJSON(b []byte) error {
	*n = ""
	if len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') {
		*n = num(b)
	}
	return nil
}

func (n num) float() *float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f < 0 {
		return nil
	}
	return &f
}

// int is nil for a number that is negative or beyond int64, as the minimum of
// nothing is in some versions.
func (n num) int() *int64 {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		if i < 0 {
			return nil
		}
		return &i
	}
	f := n.float()
	if f == nil || *f >= 1<<62 {
		return nil
	}
	return new(int64(math.Round(*f)))
}

// times multiplies a number by the size of its unit; nil where it is absent or
// the product no number.
func (n num) times(unit int64) *int64 {
	if i := n.int(); i != nil {
		if *i > math.MaxInt64/4/unit {
			return nil
		}
		return new(*i * unit)
	}
	return nil
}

func (n num) scaled(unit float64) *float64 {
	if f := n.float(); f != nil && !math.IsInf(*f*unit, 0) {
		return new(*f * unit)
	}
	return nil
}

// or0 is a number whose absence means 0.
func or0(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// pairs are the members of an object whose keys are numbers or repeat: fio up
// to 3.3 filled the list of percentiles up with "0.00".
type pairs []struct {
	key   string
	value num
}

func (p *pairs) UnmarshalJSON(b []byte) error {
	*p = nil
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		var v num
		if err := dec.Decode(&v); err != nil {
			return nil
		}
		*p = append(*p, struct {
			key   string
			value num
		}{key.(string), v})
	}
	return nil
}

// A decoder turns the raw form of one object into the model.
type decoder struct {
	*Result
	job string // for diagnostics
}

func decodeRoot(raw *rawRoot) *Result {
	d := decoder{Result: &Result{Version: ParseVersion(raw.Version), Snapshots: 1}}
	if !d.Version.Known() && !strings.HasPrefix(d.Version.Text, ownPrefix) {
		d.note(DiagVersion, "", d.Version.Text)
	}
	if ms := raw.TimestampMS.int(); ms != nil && *ms > 0 {
		d.Reported = new(time.UnixMilli(*ms).UTC())
	} else if s := raw.Timestamp.int(); s != nil && *s > 0 {
		d.Reported = new(time.Unix(*s, 0).UTC())
	}
	d.globals(raw.Global)
	for i := range raw.Jobs {
		// Where only some jobs of a group ask for group_reporting, fio 3.33
		// reports a further one that never was: no name, and -1 as its group.
		if j := &raw.Jobs[i]; j.Name == "" && j.Group == "4294967295" {
			continue
		}
		d.addJob(&raw.Jobs[i])
	}
	for i := range raw.Clients {
		if j := &raw.Clients[i]; j.Name == "All clients" {
			d.note(DiagAllClients, "", "")
		} else {
			d.addJob(j)
		}
	}
	d.sums()
	for i := range raw.Disks {
		d.Disks = append(d.Disks, disk(&raw.Disks[i]))
	}
	return d.Result
}

// globals reads the global options: an object, or from 3.39 on an array with an
// object for each of several hosts.
func (d *decoder) globals(raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	var one Options
	if json.Unmarshal(raw, &one) == nil {
		d.Global = []HostOptions{{Options: one}}
		return
	}
	var several []Options
	if json.Unmarshal(raw, &several) != nil {
		d.note(DiagNumber, "", "global options are neither an object nor an array of them")
		return
	}
	for _, o := range several {
		host, _ := o.Get("hostname")
		o = slices.DeleteFunc(o, func(o record.Option) bool { return o.Name == "hostname" || o.Name == "port" })
		d.Global = append(d.Global, HostOptions{Host: host, Options: o})
	}
}

func (d *decoder) addJob(raw *rawJob) {
	j := Job{
		Name: raw.Name, Description: raw.Desc, Host: raw.Host,
		Group: small(raw.Group), Error: small(raw.Error),
		Errors: raw.TotalErr.int(), FirstError: small(raw.FirstError),
		ThreadNS: raw.Runtime.times(1e6), ElapsedNS: raw.Elapsed.times(1e9),
		UserCPU: raw.UserCPU.scaled(0.01), SystemCPU: raw.SysCPU.scaled(0.01),
		ContextSwitches: raw.Ctx.int(), MajorFaults: raw.MajF.int(), MinorFault: raw.MinF.int(),
		Depth: shares(raw.Depth), Submit: shares(raw.Submit), Complete: shares(raw.Complete),
		LatencyNS: shares(raw.LatencyNS), LatencyUS: shares(raw.LatencyUS), LatencyMS: shares(raw.LatencyMS),
		Threads: 1,
	}
	d.job = j.Name
	if ms := raw.Start.int(); ms != nil && *ms > 0 {
		j.Start = new(time.UnixMilli(*ms).UTC())
	}
	if len(raw.Options) > 0 && json.Unmarshal(raw.Options, &j.Options) != nil {
		j.Options = nil
	}
	if !d.OptionsKnown(&j) {
		d.note(DiagNoOptions, j.Name, "")
	}
	rw, reads, writes, trims := d.directions(&j)
	j.Read = d.flow(raw.Read, reads)
	j.Write = d.flow(raw.Write, writes)
	j.Trim = d.flow(raw.Trim, trims)
	j.Mixed = d.flow(raw.Mixed, false)
	if raw.Notes.Clat != "" {
		for _, f := range []*Flow{j.Read, j.Write, j.Trim, j.Mixed} {
			if f != nil {
				f.Clat = nil // it is lat, written twice
			}
		}
	}
	if j.Mixed != nil && j.Read == nil && j.Write == nil && j.Trim == nil && (rw == "" || reads && writes) {
		d.note(DiagMixed, j.Name, "")
	}
	if j.Error != 0 || or0(j.Errors) > 0 {
		code, n := j.Error, ""
		if code == 0 {
			code, n = j.FirstError, fmt.Sprintf(", %d times", *j.Errors)
		}
		d.note(DiagError, j.Name, errnoName(code)+n)
	}
	if s := raw.Sync; s != nil {
		l := d.latency(s.Lat, 1, 1)
		n := s.IOs.int()
		// fio 3.33 counts fdatasyncs in the latency but not in total_ios.
		if l != nil && l.N != nil && (n == nil || *n < *l.N) {
			n = l.N
		}
		if l != nil || or0(n) > 0 {
			j.Sync = &Sync{N: n, Lat: l}
		}
	}
	if raw.Mixed == nil {
		d.unmeasured(&j)
	}
	d.Jobs = append(d.Jobs, j)
}

// small is an int that fits 32 bits, or 0.
func small(n num) int {
	if i := n.int(); i != nil && *i <= math.MaxInt32 {
		return int(*i)
	}
	return 0
}

// directions says what the options of a job ask for; rw is empty where they do
// not say. The defaults are fio's.
func (d *decoder) directions(j *Job) (rw string, reads, writes, trims bool) {
	rw, ok := d.Option(j, "rw")
	if !ok {
		rw, ok = d.Option(j, "readwrite")
	}
	if !ok && d.OptionsKnown(j) {
		rw = "read"
	}
	switch rw = pattern(rw); rw {
	case "read", "randread":
		reads = true
	case "write", "randwrite":
		writes = true
	case "rw", "readwrite", "randrw":
		reads, writes = true, true
	case "trim", "randtrim":
		trims = true
	case "trimwrite", "randtrimwrite":
		trims, writes = true, true
	}
	return rw, reads, writes, trims
}

// flow turns one direction into the model. One without any I/O is nil, except
// where the job was set to do such I/O: its zeros were measured then.
func (d *decoder) flow(raw *rawFlow, asked bool) *Flow {
	if raw == nil {
		return nil
	}
	f := &Flow{IOs: raw.IOs.int(), IOPS: raw.IOPS.float(), Short: raw.Short.int(), Dropped: raw.Drop.int()}
	f.Bytes = d.ioBytes(raw)
	f.RuntimeNS = or0(raw.Runtime.times(1e6))
	if f.BytesPerSec = raw.BWBytes.float(); f.BytesPerSec == nil {
		f.BytesPerSec = raw.BW.scaled(1024)
	}
	idle := or0(raw.IOBytes.int()) == 0 && or0(f.IOs) == 0 && (f.IOPS == nil || *f.IOPS == 0)
	if idle && (!asked || f.RuntimeNS == 0) {
		return nil
	}
	n := or0(f.IOs)
	if f.IOs == nil {
		n = 1 // it did something
	}
	f.Slat = d.either(raw.SlatNS, raw.SlatUS, n)
	f.Clat = d.either(raw.ClatNS, raw.ClatUS, n)
	f.Lat = d.either(raw.LatNS, raw.LatUS, n)
	if f.BW = samples(raw.BWMin, raw.BWMax, raw.BWMean, raw.BWDev, raw.BWSamples, 1024); f.BW != nil {
		f.BW.Share = raw.BWAgg.scaled(0.01)
	}
	f.Rate = samples(raw.IOPSMin, raw.IOPSMax, raw.IOPSMean, raw.IOPSStddev, raw.IOPSSamples, 1)
	if s := f.Rate; s != nil && s.Min == 1 && s.Max == 1 && s.Mean == 1 && f.IOPS != nil && *f.IOPS > 2 {
		d.note(DiagRateOfOne, d.job, "")
		f.Rate = nil
	}
	return f
}

// ioBytes returns io_bytes in bytes: up to 2.20 it is in KiB. The key io_kbytes,
// which came with the change of the unit, tells it also where the version is
// not known.
func (d *decoder) ioBytes(raw *rawFlow) *int64 {
	switch n := raw.IOBytes.int(); {
	case n == nil:
		return raw.IOKBytes.times(1024)
	case *n == 0 || raw.IOKBytes != "" || d.Version.AtLeast(2, 21):
		return n
	case d.Version.Known():
		return raw.IOBytes.times(1024)
	}
	d.note(DiagUnit, d.job, "io_bytes")
	return nil
}

func samples(lo, hi, mean, dev, n num, unit float64) *Samples {
	a, b, c, e := lo.scaled(unit), hi.scaled(unit), mean.scaled(unit), dev.scaled(unit)
	if a == nil || b == nil || c == nil || e == nil || n.int() != nil && *n.int() == 0 || *b == 0 {
		return nil
	}
	return &Samples{Min: *a, Max: *b, Mean: *c, Stddev: *e, N: n.int()}
}

// shares reads a distribution; nil where there is none.
func shares(p pairs) []record.Share {
	var all []record.Share
	for _, c := range p {
		if v := c.value.float(); v != nil && *v <= 1e3 {
			all = append(all, record.Share{Class: c.key, Percent: *v})
		}
	}
	return all
}

// either reads a latency in nanoseconds, or in the microseconds of fio before
// 2.99.
func (d *decoder) either(ns, us *rawLat, ios int64) *Latency {
	if ns != nil {
		return d.latency(ns, 1, ios)
	}
	return d.latency(us, 1000, ios)
}

// latency is nil where fio did not measure: without a sample, or, in versions
// that do not count them, with zeros where there was I/O.
func (d *decoder) latency(raw *rawLat, unit, ios int64) *Latency {
	if raw == nil {
		return nil
	}
	l := &Latency{
		N: raw.N.int(), Min: raw.Min.times(unit), Max: raw.Max.times(unit),
		Mean: raw.Mean.scaled(float64(unit)), Stddev: raw.Stddev.scaled(float64(unit)),
	}
	zero := or0(l.Max) == 0 && (l.Mean == nil || *l.Mean == 0)
	if l.N != nil && *l.N == 0 || l.N == nil && zero || ios == 0 {
		return nil
	}
	if l.Min != nil && l.Max != nil && *l.Min > *l.Max {
		d.note(DiagNumber, d.job, fmt.Sprintf("latency: min %d is above max %d", *l.Min, *l.Max))
		l.Min, l.Max = nil, nil
	}
	for _, p := range raw.Percentiles {
		at, err := strconv.ParseFloat(p.key, 64)
		v := p.value.times(unit)
		// "0.00" is what is left of an unused place in the list.
		if err != nil || v == nil || !(at > 0 && at <= 100) {
			continue
		}
		l.Percentiles = append(l.Percentiles, Percentile{P: at, NS: *v})
	}
	slices.SortStableFunc(l.Percentiles, func(a, b Percentile) int { return cmpFloat(a.P, b.P) })
	l.Histogram = d.histogram(raw.Bins, unit, l)
	return l
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// histogram reads the bins of json+. Keys are the midpoints of buckets in
// nanoseconds; one that is no midpoint, or a count that is missing, means
// another geometry or a damaged file, of which nothing is used.
func (d *decoder) histogram(bins pairs, unit int64, l *Latency) *record.Histogram {
	if len(bins) == 0 {
		return nil
	}
	if unit != 1 {
		d.note(DiagBins, d.job, "in microseconds")
		return nil
	}
	h := &record.Histogram{Counts: make([]uint64, record.Buckets)}
	var n int64
	lo, hi := int64(math.MaxInt64), int64(0)
	for _, b := range bins {
		mid, err := strconv.ParseInt(b.key, 10, 64)
		count := b.value.int()
		if err != nil || count == nil || record.BucketMid(record.Bucket(mid)) != mid || *count > math.MaxInt64-n {
			d.note(DiagBins, d.job, fmt.Sprintf("bin %q is none of fio's buckets", b.key))
			return nil
		}
		if *count == 0 {
			continue
		}
		h.Counts[record.Bucket(mid)] += uint64(*count)
		n += *count
		lo, hi = min(lo, mid), max(hi, mid)
	}
	if n == 0 {
		return nil
	}
	if l.N != nil && *l.N != n {
		d.note(DiagBins, d.job, fmt.Sprintf("%d in bins, %d measured", n, *l.N))
		return nil
	}
	h.Min, h.Max = lo, hi
	if l.Min != nil && l.Max != nil && record.Bucket(*l.Min) == record.Bucket(lo) && record.Bucket(*l.Max) == record.Bucket(hi) {
		h.Min, h.Max = *l.Min, *l.Max
	}
	if l.Mean == nil || *l.Mean > float64(math.MaxInt64/4)/float64(n) {
		d.note(DiagBins, d.job, "no mean beside the bins")
		return nil
	}
	h.Sum = int64(math.Round(*l.Mean * float64(n)))
	return h
}

// unmeasured notes latencies that a job with I/O does not have.
func (d *decoder) unmeasured(j *Job) {
	for _, f := range []*Flow{j.Read, j.Write} {
		if f != nil && or0(f.IOs) > 0 && f.Clat == nil && f.Lat == nil {
			d.note(DiagNoLatency, j.Name, "")
		}
	}
}

// sums finds the entries that stand for several threads and marks in them what
// fio has added up and should not have.
//
// The option group_reporting itself cannot be relied upon: without a value it is
// not in the JSON before 3.42.
func (d *decoder) sums() {
	type key struct {
		host, name string
		group      int
	}
	entries := map[key]int{}
	inGroup := map[key]int{}
	for i := range d.Jobs {
		j := &d.Jobs[i]
		entries[key{j.Host, j.Name, j.Group}]++
		inGroup[key{j.Host, "", j.Group}]++
	}
	for i := range d.Jobs {
		j := &d.Jobs[i]
		threads, _ := d.number(j, "numjobs", 1)
		threads = max(1, threads)
		ran := 0.0 // threads at least, if all ran as long as the longest
		if j.ThreadNS != nil && j.runtime() > 0 {
			longest := j.runtime()
			if _, reads, writes, _ := d.directions(j); writes && !reads { // to verify is to read afterwards
				longest = max(j.Read.runtime()+j.Write.runtime(), longest)
			}
			ran = float64(*j.ThreadNS) / float64(longest)
		}
		switch one := entries[key{j.Host, j.Name, j.Group}] == 1; {
		case one && threads > 1 && ran < float64(threads)+0.5:
			j.Summed, j.Threads = true, int(min(threads, math.MaxInt32))
		case ran >= 1.5:
			j.Summed, j.Threads = true, 0
			d.note(DiagSections, j.Name, "")
		case inGroup[key{j.Host, "", j.Group}] == 1 && !d.OptionsKnown(j) && j.ThreadNS == nil:
			j.Threads = 0 // nothing tells
		}
		// What nativ writes are rates of all threads together.
		if !j.Summed || strings.HasPrefix(d.Version.Text, ownPrefix) {
			continue
		}
		for _, f := range []*Flow{j.Read, j.Write, j.Trim, j.Mixed} {
			if f == nil {
				continue
			}
			for _, s := range []*Samples{f.BW, f.Rate} {
				if s != nil {
					s.Summed = true
					d.note(DiagGroupSums, j.Name, "")
				}
			}
		}
	}
}

// runtime is 0 where there is no flow.
func (f *Flow) runtime() int64 {
	if f == nil {
		return 0
	}
	return f.RuntimeNS
}

// Nothing reports whether every I/O in one direction of a job that ended with an
// error failed: fio counts these as I/Os of no bytes and measures no latency but
// that of submission.
func (j *Job) Nothing(f *Flow) bool {
	return f != nil && j.Error != 0 && f.Bytes != nil && *f.Bytes == 0 && f.Lat == nil && f.Clat == nil
}

// runtime is that of the longest direction, in nanoseconds.
func (j *Job) runtime() int64 {
	var ns int64
	for _, f := range []*Flow{j.Read, j.Write, j.Trim, j.Mixed} {
		if f != nil {
			ns = max(ns, f.RuntimeNS)
		}
	}
	return ns
}

func disk(raw *rawDisk) Disk {
	d := Disk{Name: raw.Name, Host: raw.Host, Own: use(&raw.rawUse)}
	if raw.AggrReadIOs != "" || raw.AggrWriteIOs != "" {
		merges := raw.AggrWriteMerge
		if merges == "" {
			merges = raw.AggrWriteMerges
		}
		d.Members = new(use(&rawUse{
			ReadIOs: raw.AggrReadIOs, WriteIOs: raw.AggrWriteIOs,
			ReadSectors: raw.AggrReadSectors, WriteSectors: raw.AggrWriteSectors,
			ReadMerges: raw.AggrReadMerges, WriteMerges: merges,
			ReadTicks: raw.AggrReadTicks, WriteTicks: raw.AggrWriteTicks,
			Queue: raw.AggrQueue, Util: raw.AggrUtil,
		}))
	}
	return d
}

func use(raw *rawUse) DiskCounters {
	u := DiskCounters{
		ReadIOs: or0(raw.ReadIOs.int()), WriteIOs: or0(raw.WriteIOs.int()),
		ReadBytes: raw.ReadSectors.times(512), WriteBytes: raw.WriteSectors.times(512),
		ReadMerges: or0(raw.ReadMerges.int()), WriteMerges: or0(raw.WriteMerges.int()),
		ReadNS: or0(raw.ReadTicks.times(1e6)), WriteNS: or0(raw.WriteTicks.times(1e6)),
		QueueNS: or0(raw.Queue.times(1e6)), Util: raw.Util.scaled(0.01),
	}
	// fio prints up to 100.xx % where its clock and the kernel's differ.
	if u.Util != nil {
		*u.Util = min(*u.Util, 1)
	}
	return u
}
