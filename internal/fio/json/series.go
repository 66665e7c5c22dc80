package fiojson

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nativ/internal/record"
)

const second = int64(1e9)

// maxSeconds bounds a series: a year of them.
const maxSeconds = 366 * 86400

// A series is what one thread did in each second, reads and writes.
type series struct {
	ios, bytes [2][]float64
	// covered is how far the logs tell, in nanoseconds from the start.
	covered int64
	// lat are the latencies of each second, where every I/O was logged.
	lat []*record.Histogram
}

// grow makes room for second i.
func grow[T any](s *[]T, i int64) {
	if need := int(i) + 1 - len(*s); need > 0 {
		*s = append(*s, make([]T, need)...)
	}
}

// threadSeries makes the series of one thread from its logs; elapsed is the
// run time of the job, bs the size of all its I/Os where it is one, by
// direction, else 0.
//
// Where every I/O has a row, rows are counted. Else the rates of the windows are
// spread over the seconds. fio writes no row for a window without I/O: such
// gaps are seconds with zero I/Os and not missing ones.
func threadSeries(logs []*Log, elapsed int64, bs [2]int64) (*series, error) {
	if elapsed <= 0 || elapsed/second >= maxSeconds {
		return nil, fmt.Errorf("the run time is not known")
	}
	// lat first: it has the latencies that intervals show.
	order := []Kind{LogLat, LogClat, LogIOPS, LogBW, LogSlat}
	logs = slices.Clone(logs)
	slices.SortStableFunc(logs, func(a, b *Log) int {
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	})
	byKind := map[Kind]*Log{}
	for _, l := range logs {
		if len(l.Rows) == 0 {
			continue
		}
		if perIO(l) && l.Kind != LogSlat {
			return countRows(l, elapsed), nil
		}
		byKind[l.Kind] = l
	}
	iops, bw := byKind[LogIOPS], byKind[LogBW]
	if iops == nil && bw == nil {
		return nil, fmt.Errorf("there is neither a bw nor an iops log with rows")
	}
	s := &series{}
	for _, l := range []*Log{iops, bw} {
		if l == nil {
			continue
		}
		if l.Format.Max && !l.Format.Both {
			return nil, fmt.Errorf("%s holds maxima and not averages", l.File)
		}
		into := &s.ios
		if l == bw {
			into = &s.bytes
		}
		covered, err := spread(l, elapsed, into)
		if err != nil {
			return nil, err
		}
		if s.covered == 0 || covered < s.covered {
			s.covered = covered
		}
	}
	for d := range bs {
		switch {
		case iops != nil && bw != nil:
		case bs[d] <= 0:
			if len(s.ios[d]) > 0 || len(s.bytes[d]) > 0 {
				return nil, fmt.Errorf("one of bw and iops is missing, and the I/Os are not all of one size")
			}
		case iops == nil:
			for _, v := range s.bytes[d] {
				s.ios[d] = append(s.ios[d], v/float64(bs[d]))
			}
		default:
			for _, v := range s.ios[d] {
				s.bytes[d] = append(s.bytes[d], v*float64(bs[d]))
			}
		}
	}
	return s, nil
}

// Intervals makes the intervals of a job from the logs of its threads, of which
// there are so many; elapsed is the run time of the job in nanoseconds, bs the
// size of all its I/Os where it is one, by direction (reads, writes), else 0.
// The intervals end where the logs do, which is up to a window (log_avg_msec)
// before the end of the job; there are none for a job shorter than a window.
//
// A thread whose logs have no row did nothing in all of the windows.
func Intervals(logs []*Log, threads int, elapsed int64, bs [2]int64) ([]record.Interval, error) {
	byThread := map[int][]*Log{}
	for _, l := range logs {
		byThread[l.Number] = append(byThread[l.Number], l)
	}
	if len(byThread) != threads {
		return nil, fmt.Errorf("read fio logs: there are logs of %d threads and not of %d", len(byThread), threads)
	}
	var all []*series
	for _, logs := range byThread {
		empty, window := true, int64(0)
		for _, l := range logs {
			empty = empty && (len(l.Rows) == 0 || l.Kind != LogIOPS && l.Kind != LogBW)
			window = max(window, l.Format.WindowNS)
		}
		if empty {
			s := &series{}
			if elapsed > 2*window {
				s.covered = elapsed - window // as in spread
			}
			all = append(all, s)
			continue
		}
		s, err := threadSeries(logs, elapsed, bs)
		if err != nil {
			return nil, fmt.Errorf("read fio logs: %w", err)
		}
		all = append(all, s)
	}
	return intervals(all), nil
}

// perIO reports whether each row is one I/O: rows of windows have no block size.
func perIO(l *Log) bool {
	return l.Format.WindowNS == 0 && !slices.ContainsFunc(l.Rows, func(r LogRow) bool { return r.BlockSize == 0 })
}

func countRows(l *Log, elapsed int64) *series {
	s := &series{covered: elapsed}
	for _, r := range l.Rows {
		if r.Dir > 1 {
			continue
		}
		// A row may carry a time just after the end of the job.
		i := min(r.TimeNS, elapsed-1) / second
		grow(&s.ios[r.Dir], i)
		grow(&s.bytes[r.Dir], i)
		s.ios[r.Dir][i]++
		s.bytes[r.Dir][i] += float64(r.BlockSize)
		if l.Kind == LogLat {
			grow(&s.lat, i)
			if s.lat[i] == nil {
				s.lat[i] = &record.Histogram{}
			}
			s.lat[i].Add(r.Value)
		}
	}
	return s
}

// spread adds the windows of l to the seconds they lie in and returns how far
// they tell.
func spread(l *Log, elapsed int64, into *[2][]float64) (int64, error) {
	window := l.Format.WindowNS
	if window == 0 {
		window = commonStep(l.Rows)
	}
	if window <= 0 {
		return 0, fmt.Errorf("%s: the length of its windows is not known", l.File)
	}
	// Rows of a direction are in the order of time but for the jitter of the
	// clock.
	var last [2]int64
	var end int64
	for _, r := range l.Rows {
		if r.Dir > 1 {
			continue
		}
		t := min(r.TimeNS, elapsed)
		from := max(last[r.Dir], 0)
		// fio restarts the window also when it skips a row, so that the value
		// stands for one window, however long the gap before it is.
		if t-from > window*3/2 {
			from = t - window
		}
		if t <= from {
			continue // the same time twice
		}
		for at := from; at < t; {
			i := at / second
			next := min((i+1)*second, t)
			grow(&into[r.Dir], i)
			into[r.Dir][i] += float64(r.Value) * float64(next-at) / 1e9
			at = next
		}
		last[r.Dir] = t
		end = max(end, t)
	}
	// What follows the last row is unknown for up to a window, which fio does
	// not write at the end, and had no I/O before that.
	if elapsed-end > 2*window {
		end = elapsed - window
	}
	return end, nil
}

// commonStep is the median distance of the rows of a direction.
func commonStep(rows []LogRow) int64 {
	var steps []int64
	last := map[int]int64{}
	for _, r := range rows {
		if t, ok := last[r.Dir]; ok && r.TimeNS > t {
			steps = append(steps, r.TimeNS-t)
		}
		last[r.Dir] = r.TimeNS
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// intervals adds the series of all threads of a job up: one interval a second as
// far as all of them tell, the last one shorter. Numbers of I/Os are rounded so
// that their sum is kept.
func intervals(threads []*series) []record.Interval {
	covered := int64(math.MaxInt64)
	lat := true
	for _, s := range threads {
		covered = min(covered, s.covered)
		lat = lat && s.lat != nil
	}
	if len(threads) == 0 || covered <= 0 {
		return nil
	}
	var out []record.Interval
	var carry [4]float64
	for i := int64(0); i*second < covered; i++ {
		iv := record.Interval{EndNS: min((i+1)*second, covered)}
		iv.LenNS = iv.EndNS - i*second
		var sum [4]float64
		h := &record.Histogram{}
		for _, s := range threads {
			for k, col := range [4][]float64{s.ios[0], s.bytes[0], s.ios[1], s.bytes[1]} {
				if i < int64(len(col)) {
					sum[k] += col[i]
				}
			}
			if lat && i < int64(len(s.lat)) {
				h.Merge(s.lat[i])
			}
		}
		for k, field := range [4]*int64{&iv.ReadIOs, &iv.ReadBytes, &iv.WriteIOs, &iv.WriteBytes} {
			v := sum[k] + carry[k]
			*field = int64(math.Round(min(max(v, 0), 1<<62)))
			carry[k] = v - float64(*field)
		}
		if p50, ok := h.Percentile(50); ok {
			p99, _ := h.Percentile(99)
			iv.P50NS, iv.P99NS, iv.MaxNS = &p50, &p99, new(h.Max)
		}
		out = append(out, iv)
	}
	return out
}
