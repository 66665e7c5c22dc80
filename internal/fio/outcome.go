package fio

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	fiojson "nativ/internal/fio/json"
	"nativ/internal/job"
	"nativ/internal/record"
)

const (
	millisecond = int64(1e6)
	second      = int64(1e9)
)

// A report is what fio left of one run: one job for all or, per clone, one each.
type report struct {
	*fiojson.Result
	job  *fiojson.Job // the first of them, or of those that failed
	logs []*fiojson.Log
}

// readReport reads fio's output, of so many jobs, and logs in dir. said is what
// fio printed besides.
func readReport(dir fs.FS, jobs int, said []string) (*report, error) {
	f, err := dir.Open(outputFile)
	if err != nil {
		if len(said) > 0 { // it ended before it got so far
			return nil, fmt.Errorf("read the output of fio: %w; fio says: %s", err, strings.Join(said, "; "))
		}
		return nil, fmt.Errorf("read the output of fio: %w", err)
	}
	defer f.Close()
	res, err := fiojson.Parse(f)
	if err != nil {
		if r := reason(said); r != "" {
			return nil, fmt.Errorf("%w; fio says: %s", err, r)
		}
		return nil, err
	}
	// fio prints its messages and puts them before the JSON as well.
	for _, l := range said {
		if !slices.Contains(res.Text, l) {
			res.Text = append(res.Text, l)
		}
	}
	if len(res.Jobs) != jobs {
		return nil, fmt.Errorf("read the output of fio: it has %d jobs, %d were asked for", len(res.Jobs), jobs)
	}
	r := &report{Result: res, job: &res.Jobs[0]}
	for i := range res.Jobs {
		if j := &res.Jobs[i]; r.job.Error == 0 && j.Error != 0 {
			r.job = j
		}
	}
	names, err := fs.Glob(dir, logPrefix+"_*.log")
	if err != nil {
		return nil, fmt.Errorf("find the logs of fio: %w", err)
	}
	for _, name := range names {
		if err := r.readLog(dir, name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *report) readLog(dir fs.FS, name string) error {
	n, ok := fiojson.ParseLogName(name)
	if !ok || n.Kind != fiojson.LogBW && n.Kind != fiojson.LogIOPS {
		return nil
	}
	f, err := dir.Open(name)
	if err != nil {
		return fmt.Errorf("read a log of fio: %w", err)
	}
	defer f.Close()
	l, err := fiojson.ParseLog(f, n.Kind, r.LogFormat(r.job))
	if err != nil {
		return fmt.Errorf("%s: %w", path.Base(name), err)
	}
	l.LogName, l.Job = n, 0
	r.logs = append(r.logs, l)
	return nil
}

// started reports whether fio came as far as to do I/O.
func (r *report) started() bool {
	for i := range r.Jobs {
		j := &r.Jobs[i]
		for _, f := range []*fiojson.Flow{j.Read, j.Write, j.Mixed} {
			if f != nil && f.IOs != nil && *f.IOs > 0 {
				return true
			}
		}
	}
	return false
}

// outcome says what was measured, as far as fio's report tells it: not when it
// started and what the process used. asked is true where the pass was ended
// from outside; size is that of the shortest file of the phase, fileEnd where it
// ends now.
func (r *report) outcome(p *job.Phase, asked bool, size, fileEnd int64) (*record.Outcome, error) {
	o, err := r.numbers(p, r.Jobs)
	if err != nil {
		return nil, err
	}
	o.Text = r.Text
	if o.Errors = r.errors(p, o, fileEnd); len(o.Errors) == 0 && fileEnd < size {
		// The pass was ended for it before an I/O showed it.
		o.Errors = []record.IOError{{Op: "file", Errno: "short", Offset: fileEnd, Count: 1}}
	}
	o.Stopped = stopped(p, o, asked)
	for i := 0; perClone(p) && i < len(r.Jobs); i++ {
		c, err := r.numbers(p, r.Jobs[i:i+1])
		if err != nil {
			return nil, err
		}
		c.Errors = cloneErrors(&r.Jobs[i], o.Errors)
		if c.UsageUnknown = c.ToolUsage == nil; !c.UsageUnknown {
			c.Usage, c.ToolUsage = *c.ToolUsage, nil
		}
		one := *p
		one.NumJobs, one.MaxBytes = 1, share(p)
		c.Stopped = stopped(&one, c, asked)
		o.Clones = append(o.Clones, *c)
	}
	return o, nil
}

// cloneErrors is that of one job, of all errors of the pass. fio's messages do
// not say which job they are of, so that the offset is that of the first such
// error of any.
func cloneErrors(j *fiojson.Job, all []record.IOError) []record.IOError {
	if j.Error == 0 {
		return nil
	}
	e := record.IOError{Op: "io", Errno: errnoName(j.Error)}
	if i := slices.IndexFunc(all, func(o record.IOError) bool { return o.Errno == e.Errno }); i >= 0 {
		e = all[i]
	}
	e.Count = 1
	return []record.IOError{e}
}

// numbers are those of some of the jobs together.
func (r *report) numbers(p *job.Phase, jobs []fiojson.Job) (*record.Outcome, error) {
	some := *r.Result
	some.Jobs = slices.Clone(jobs)
	for i := range some.Jobs {
		j := &some.Jobs[i]
		j.Read, j.Write = completed(j, j.Read), completed(j, j.Write)
	}
	rec, err := fiojson.ToRecord(&some, nil)
	if err != nil {
		return nil, err
	}
	o := &record.Outcome{}
	if pass := rec.Rounds[0].Passes[0]; pass.Outcome != nil {
		o.Read, o.Write, o.Sync = pass.Outcome.Read, pass.Outcome.Write, pass.Outcome.Sync
		o.ToolRun, o.Verified = pass.Outcome.ToolRun, pass.Outcome.Verified
		if !p.Mode.Reads() && o.Read != nil && o.Verified == nil { // it only verified
			o.Verified = &record.Verified{Flow: o.Read, RuntimeNS: pass.Outcome.ElapsedNS()}
		}
		if pass.Outcome.Mixed != nil {
			return nil, fmt.Errorf("read the output of fio: reads and writes are not told apart")
		}
		if !pass.Outcome.UsageUnknown {
			o.ToolUsage = &pass.Outcome.Usage
		}
	}
	whole(&o.Read, p.Mode.Reads())
	whole(&o.Write, p.Mode.Writes())
	whole(&o.Sync, p.Syncs())
	if err := countable(p, o); err != nil {
		return nil, err
	}
	o.EndNS = elapsed(p, jobs, o)
	return o, nil
}

// whole makes a flow of zeroes where the phase does such I/O and fio did none,
// and none where it does not.
func whole(f **record.Flow, wanted bool) {
	switch {
	case !wanted:
		*f = nil
	case *f == nil:
		*f = &record.Flow{Lat: &record.Histogram{}}
	}
}

// completed is a flow without the I/Os of a job that failed at its first: fio counts
// these as I/Os of no bytes, and has no latency of them.
func completed(j *fiojson.Job, f *fiojson.Flow) *fiojson.Flow {
	if !j.Nothing(f) {
		return f
	}
	none := *f
	none.IOs, none.Slat = new(int64), nil
	return &none
}

// countable refuses a flow whose latencies fio did not give: a histogram that
// is missing must not look like an empty one. Where the job asks for none, they
// are unknown.
func countable(p *job.Phase, o *record.Outcome) error {
	none := false
	for _, name := range []string{"disable_lat", "gtod_reduce"} {
		v, ok := p.RawOption(name)
		none = none || ok && strings.TrimSpace(v) != "0"
	}
	for _, f := range []*record.Flow{o.Read, o.Write, o.Sync} {
		if none {
			if f != nil {
				f.Lat, f.Slat, f.Clat = nil, nil, nil
				if g := f.Given; g != nil {
					g.Lat, g.Slat, g.Clat = nil, nil, nil
				}
			}
			continue
		}
		if f != nil && f.IOs > 0 && f.Lat == nil {
			return fmt.Errorf("read the output of fio: there is no histogram of lat; is json+ complete in this build of fio?")
		}
		if f != nil && f.Lat == nil {
			f.Lat = &record.Histogram{}
		}
	}
	return nil
}

// elapsed is the run time of the longest job, in the directions of the phase: the
// reads that verify what was written come after. fio cuts it down to whole
// milliseconds, so that a short job may seem shorter than its longest I/O.
func elapsed(p *job.Phase, jobs []fiojson.Job, o *record.Outcome) int64 {
	ns := millisecond
	for i := range jobs {
		if f := jobs[i].Read; f != nil && p.Mode.Reads() {
			ns = max(ns, f.RuntimeNS)
		}
		if f := jobs[i].Write; f != nil && p.Mode.Writes() {
			ns = max(ns, f.RuntimeNS)
		}
	}
	for _, f := range []*record.Flow{o.Read, o.Write, o.Sync} {
		if f != nil && f.IOs > 0 && f.Lat != nil {
			ns = max(ns, f.Lat.Max)
		}
	}
	return ns
}

// errors are the failed I/Os. With io_uring, fio counts a read behind the end
// of the file as an I/O of no bytes and not as an error: there are then more
// I/Os than bytes for them.
func (r *report) errors(p *job.Phase, o *record.Outcome, fileEnd int64) []record.IOError {
	errs := ioErrors(r.Text)
	// It failed in another call than one for an I/O. A transfer of no bytes is
	// an I/O error that fio makes up ("full resid"); it is counted below.
	if failed := call(r.Text); r.job.Error != 0 && len(errs) == 0 && failed != "full resid" {
		return []record.IOError{{Op: failed, Errno: errnoName(r.job.Error), Count: 1}}
	}
	rbs, wbs := p.BlockSizes()
	for _, d := range []struct {
		op   string
		flow *record.Flow
		bs   int64
	}{{"read", o.Read, rbs}, {"write", o.Write, wbs}} {
		if d.flow == nil {
			continue
		}
		if p.VariesBlocks() {
			continue // nobody knows how many bytes there should be
		}
		lacking := d.flow.IOs - d.flow.Bytes/d.bs
		for _, e := range errs { // which fio counts as I/Os of no bytes, too
			if e.Op == d.op {
				lacking -= e.Count
			}
		}
		if lacking > 0 {
			errs = append(errs, record.IOError{Op: d.op, Errno: "short", Offset: fileEnd, Count: lacking})
		}
	}
	if len(errs) > 0 {
		return errs
	}
	for i := range r.Jobs { // with continue_on_error
		j := &r.Jobs[i]
		if j.Errors == nil || *j.Errors == 0 {
			continue
		}
		e := record.IOError{Op: "io", Errno: errnoName(j.FirstError), Count: *j.Errors}
		if k := slices.IndexFunc(errs, func(o record.IOError) bool { return o.Errno == e.Errno }); k >= 0 {
			errs[k].Count += e.Count
			continue
		}
		errs = append(errs, e)
	}
	return errs
}

// call is the name of the function that fio says failed.
func call(text []string) string {
	for _, l := range text {
		if m := jobError.FindStringSubmatch(l); m != nil && m[2] != "" {
			return m[2]
		}
	}
	return "fio"
}

// stopped says why the pass ended.
func stopped(p *job.Phase, o *record.Outcome, asked bool) string {
	switch {
	case len(o.Errors) > 0:
		return record.StopError
	case asked:
		return record.StopAsked
	// fio looks at the clock in whole milliseconds.
	case p.RuntimeNS > 0 && o.EndNS+millisecond >= p.RuntimeNS:
		return record.StopTime
	case p.MaxBytes > 0 && moved(o) >= share(p)*int64(p.NumJobs):
		return record.StopBytes
	}
	return record.StopOnce
}

func moved(o *record.Outcome) (n int64) {
	for _, f := range []*record.Flow{o.Read, o.Write} {
		if f != nil {
			n += f.Bytes
		}
	}
	return n
}

// intervals makes the seconds of a pass from the logs. The logs are rates
// rounded to whole numbers, of windows that drift, and lack what came after the
// last window; the totals of the outcome are exact. So what the logs do not
// account for is the rest of the pass, after them. Without logs of all jobs,
// only a pass of one second has intervals; lost counts the seconds without.
func (r *report) intervals(p *job.Phase, o *record.Outcome) (ivs []record.Interval, lost int) {
	elapsed := o.EndNS - o.StartNS
	rbs, wbs := p.BlockSizes()
	if p.VariesBlocks() {
		rbs, wbs = 0, 0
	}
	logged, err := fiojson.Intervals(r.logs, p.NumJobs, elapsed, [2]int64{rbs, wbs})
	if err != nil && elapsed > second {
		return nil, int((elapsed + second - 1) / second)
	}
	var sync int64
	if o.Sync != nil {
		sync = o.Sync.IOs
	}
	return settle(logged, elapsed, totals(o), sync), 0
}

// A tally is read I/Os, read bytes, written I/Os, written bytes.
type tally [4]int64

func totals(o *record.Outcome) (t tally) {
	if o.Read != nil {
		t[0], t[1] = o.Read.IOs, o.Read.Bytes
	}
	if o.Write != nil {
		t[2], t[3] = o.Write.IOs, o.Write.Bytes
	}
	return t
}

func tallyOf(iv *record.Interval) tally {
	return tally{iv.ReadIOs, iv.ReadBytes, iv.WriteIOs, iv.WriteBytes}
}

// settle carries the intervals on to the end of a pass and makes their sums
// equal to its totals.
func settle(logged []record.Interval, elapsed int64, total tally, sync int64) []record.Interval {
	var covered int64
	for i := range logged {
		covered = logged[i].EndNS
	}
	covered = min(covered, elapsed)
	n := int((elapsed + second - 1) / second)
	cols := [4][]float64{}
	for k := range cols {
		cols[k] = make([]float64, n)
		var sum, most float64
		for i := range logged {
			v := float64(tallyOf(&logged[i])[k])
			if i < n && logged[i].LenNS > 0 {
				cols[k][i] = v
				sum += v
				most = max(most, v/float64(logged[i].LenNS))
			}
		}
		rest, left := float64(total[k])-sum, float64(elapsed-covered)
		// A rest that is no rate which the pass has shown is an error of the
		// logs, and belongs to all of them alike.
		if sum > 0 && (rest < 0 || left == 0 || rest/left > 2*most) {
			rest = float64(total[k]) * left / float64(elapsed)
			for i := range cols[k] {
				cols[k][i] *= (float64(total[k]) - rest) / sum
			}
		}
		spread(cols[k], covered, elapsed, rest)
	}
	out := make([]record.Interval, n)
	var counts [4][]int64
	for k := range cols {
		counts[k] = round(cols[k], total[k])
	}
	for i := range out {
		end := min(int64(i+1)*second, elapsed)
		out[i] = record.Interval{EndNS: end, LenNS: end - int64(i)*second,
			ReadIOs: counts[0][i], ReadBytes: counts[1][i], WriteIOs: counts[2][i], WriteBytes: counts[3][i]}
	}
	// Where all I/Os have one size, each second has whole ones.
	for i := range out {
		if total[0] > 0 && total[1]%total[0] == 0 {
			out[i].ReadBytes = out[i].ReadIOs * (total[1] / total[0])
		}
		if total[2] > 0 && total[3]%total[2] == 0 {
			out[i].WriteBytes = out[i].WriteIOs * (total[3] / total[2])
		}
	}
	for i, n := range syncs(counts[2], sync) {
		out[i].SyncIOs = n
	}
	return out
}

// syncs shares syncs out between the seconds as the writes are: fio logs none,
// but each follows so many writes of its job.
func syncs(writes []int64, total int64) []int64 {
	var sum int64
	for _, n := range writes {
		sum += n
	}
	col := make([]float64, len(writes))
	for i, n := range writes {
		if sum > 0 {
			col[i] = float64(total) * float64(n) / float64(sum)
		}
	}
	return round(col, total)
}

// spread adds amount evenly to the seconds between two times.
func spread(col []float64, from, to int64, amount float64) {
	for at := from; at < to; {
		i := at / second
		next := min((i+1)*second, to)
		col[i] += amount * float64(next-at) / float64(to-from)
		at = next
	}
}

// round rounds a series to whole numbers with the sum total.
func round(col []float64, total int64) []int64 {
	out := make([]int64, len(col))
	var exact float64
	var given int64
	for i, v := range col {
		exact += max(v, 0)
		at := min(int64(math.Round(exact)), total)
		if i == len(col)-1 {
			at = total
		}
		out[i] = max(at-given, 0)
		given += out[i]
	}
	return out
}

// tidy are the lines of a text that are not blank.
func tidy(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(strings.ToValidUTF8(l, "\ufffd")); l != "" {
			out = append(out, l)
		}
	}
	return out
}
