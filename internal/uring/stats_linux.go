package uring

import (
	"math"
	"sync/atomic"

	"nativ/internal/record"
)

// second is the length of an interval in nanoseconds.
const second = int64(1e9)

// A hist counts the latencies of one interval of one job. It is the compact
// form of record.Histogram, with half the cache and nothing to allocate.
type hist struct {
	n             int64
	min, max, sum int64
	counts        [record.Buckets]uint32
}

func (h *hist) add(ns int64) {
	h.counts[record.Bucket(ns)]++
	h.n++
	h.min, h.max, h.sum = min(h.min, ns), max(h.max, ns), h.sum+ns
}

func (h *hist) reset() {
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

func (t *total) add(h *hist) {
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

// flow turns the histogram into that of a record.
func (t *total) flow(blockSize int64) *record.Flow {
	f := &record.Flow{IOs: t.n, Bytes: t.n * blockSize, Lat: &record.Histogram{}}
	f.Lat.Merge(&t.h)
	return f
}

// An interval is what one job did in one second.
type interval struct {
	index int64 // counts the seconds of the pass from 0
	io    hist
	sync  *hist // nil where the phase has no fdatasync
}

func newInterval(sync bool) *interval {
	iv := &interval{index: -1}
	iv.io.reset()
	if sync {
		iv.sync = new(hist)
		iv.sync.reset()
	}
	return iv
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
		s.index, s.io = k, iv.io
		if iv.sync != nil {
			*s.sync = *iv.sync
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
