package pass

import (
	"math"
	"sync/atomic"

	"nativ/internal/record"
)

// A Hist counts the latencies of one interval of one job. It is the compact
// form of record.Histogram, with half the cache and nothing to allocate.
type Hist struct {
	n             int64
	min, max, sum int64
	counts        [record.Buckets]uint32
}

// Add counts one latency in nanoseconds.
func (h *Hist) Add(ns int64) {
	h.counts[record.Bucket(ns)]++
	h.n++
	h.min, h.max, h.sum = min(h.min, ns), max(h.max, ns), h.sum+ns
}

func (h *Hist) reset() {
	clear(h.counts[:])
	h.n, h.min, h.max, h.sum = 0, math.MaxInt64, 0, 0
}

// A total is a record.Histogram under construction, allocated once.
type total struct {
	n int64
	h record.Histogram
}

func newTotal() *total {
	t := &total{h: record.Histogram{Counts: make([]uint64, record.Buckets)}}
	t.reset()
	return t
}

func (t *total) reset() {
	clear(t.h.Counts)
	t.n, t.h.Min, t.h.Max, t.h.Sum = 0, math.MaxInt64, 0, 0
}

func (t *total) add(h *Hist) {
	if h.n == 0 {
		return
	}
	t.n += h.n
	t.h.Min, t.h.Max, t.h.Sum = min(t.h.Min, h.min), max(t.h.Max, h.max), t.h.Sum+h.sum
	for i, c := range h.counts {
		t.h.Counts[i] += uint64(c)
	}
}

func (t *total) merge(o *total) {
	t.n += o.n
	t.h.Merge(&o.h)
}

// one counts one latency.
func (t *total) one(ns int64) {
	t.h.Counts[record.Bucket(ns)]++
	t.n++
	t.h.Min, t.h.Max, t.h.Sum = min(t.h.Min, ns), max(t.h.Max, ns), t.h.Sum+ns
}

// histogram is that of a record.
func (t *total) histogram() *record.Histogram {
	h := &record.Histogram{}
	h.Merge(&t.h)
	return h
}

// An interval is what one job did in one second, by direction; nil where the
// phase does no such I/O.
type interval struct {
	index int64 // counts the seconds of the pass from 0
	flows [dirs]*Hist
}

func newInterval(has [dirs]bool) *interval {
	iv := &interval{index: -1}
	for d := range iv.flows {
		if has[d] {
			iv.flows[d] = new(Hist)
		}
	}
	iv.reset()
	return iv
}

func (iv *interval) reset() {
	for _, h := range iv.flows {
		if h != nil {
			h.reset()
		}
	}
}

// slots is how many seconds the reporter may lag behind a job.
const slots = 8

// A mailbox carries intervals from a job to the reporter. The job never waits:
// when the reporter lags by all slots, the interval is left out and its
// absence shows (index).
type mailbox struct {
	published atomic.Int64 // intervals that the job is done with, by the job
	_         [7]int64     // no cache line has two writers
	consumed  atomic.Int64 // by the reporter
	_         [7]int64
	slots     [slots]*interval
}

// post publishes the interval of the next second.
func (m *mailbox) post(iv *interval) {
	k := m.published.Load()
	if k-m.consumed.Load() < slots {
		s := m.slots[k%slots]
		s.index = k
		for d, h := range iv.flows {
			if h != nil {
				*s.flows[d] = *h
			}
		}
	}
	m.published.Store(k + 1)
}

// get returns interval k, which must be published, or nil where it was left
// out. It is valid until done(k).
func (m *mailbox) get(k int64) *interval {
	if s := m.slots[k%slots]; s.index == k {
		return s
	}
	return nil
}

// done gives the slots of all intervals up to k back to the job.
func (m *mailbox) done(k int64) { m.consumed.Store(k + 1) }
