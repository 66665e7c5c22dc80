package sensor

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

// fake is a source that notes when it is read and takes its time.
type fake struct {
	desc record.Source
	take atomic.Int64 // ns
	log  func(kind string)
	err  error
}

func (f *fake) Describe() record.Source { return f.desc }

func (f *fake) Read(s *record.Sample) error {
	f.log(f.desc.Kind)
	time.Sleep(time.Duration(f.take.Load()))
	switch f.desc.Kind {
	case kindTemperature:
		s.Temperatures = map[string]int64{f.desc.Name: 1}
	case kindDevice:
		s.Devices = map[string]record.DeviceCounters{f.desc.Name: {ReadIOs: 1}}
	case kindCPU:
		s.CPUs = map[int]record.CPUTime{0: {BusyNS: 1, TotalNS: 2}}
	}
	return f.err
}

// bench is a sampler in the fake time of a synctest bubble, with one slow
// thermometer and one drive.
type bench struct {
	*Sampler
	temp, disk *fake
	mu         sync.Mutex
	log        []string
}

func newBench() *bench {
	b := &bench{}
	note := func(kind string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.log = append(b.log, kind)
	}
	b.temp = &fake{desc: record.Source{Kind: kindTemperature, Name: "t"}, log: note}
	b.temp.take.Store(int64(time.Millisecond))
	b.disk = &fake{desc: record.Source{Kind: kindDevice, Name: "d"}, log: note}
	begin := time.Now()
	b.Sampler = New([]Source{b.temp, b.disk}, func() int64 { return int64(time.Since(begin)) })
	return b
}

func (b *bench) reads() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.log
	b.log = nil
	return l
}

func complete(s record.Sample) bool {
	return len(s.Temperatures) == 1 && len(s.Devices) == 1
}

func TestSamplerPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		before := b.Sample()
		if !complete(before) || !slices.Equal(b.reads(), []string{kindTemperature, kindDevice}) {
			t.Errorf("before: %+v", before)
		}
		// The thermometer's millisecond is over when the counters are read.
		if before.MonoNS != int64(time.Millisecond) {
			t.Errorf("before is at %d ns", before.MonoNS)
		}
		b.Start(t.Context())
		time.Sleep(3500 * time.Millisecond)
		b.reads()
		at := b.now()
		after := b.Sample()
		if !complete(after) || !slices.Equal(b.reads(), []string{kindDevice, kindTemperature}) || after.MonoNS != at {
			t.Errorf("after, at %d: %+v", at, after)
		}
		time.Sleep(5 * time.Second) // a slow end brings no sample behind it
		var times []time.Duration
		for _, s := range b.Stop() {
			if !complete(s) {
				t.Errorf("between: %+v", s)
			}
			times = append(times, time.Duration(s.MonoNS-before.MonoNS))
		}
		want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}
		if diff := cmp.Diff(want, times); diff != "" {
			t.Error(diff)
		}
		if s := b.Stop(); s != nil {
			t.Errorf("a second Stop returns %v", s)
		}
		b.reads()
		b.Sample() // the next pass begins
		if !slices.Equal(b.reads(), []string{kindTemperature, kindDevice}) {
			t.Error("after Stop, the order is not that of a start")
		}
	})
}

func TestSamplerEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		ctx, cancel := context.WithCancel(t.Context())
		b.Start(ctx)
		time.Sleep(2500 * time.Millisecond)
		cancel()
		time.Sleep(5 * time.Second)
		if s := b.Sample(); !complete(s) {
			t.Errorf("an interrupted pass has no end: %+v", s)
		}
		if n := len(b.Stop()); n != 2 {
			t.Errorf("%d samples, want 2", n)
		}
	})
}

// Start without Stop and Stop without Start happen when a pass fails.
func TestSamplerOddCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		if s := b.Stop(); s != nil {
			t.Errorf("Stop without Start returns %v", s)
		}
		b.Start(t.Context())
		time.Sleep(1500 * time.Millisecond)
		b.Start(t.Context())
		time.Sleep(1500 * time.Millisecond)
		if n := len(b.Stop()); n != 1 {
			t.Errorf("%d samples, want only the second pass's one", n)
		}
	})
}

// A source that hangs costs one time limit, is asked once, does not take the
// others with it, and is read again when it is back.
func TestSamplerSlowSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.temp.take.Store(int64(2200 * time.Millisecond))
		begin := time.Now()
		s := b.Sample()
		if s.Temperatures != nil || s.Devices == nil || time.Since(begin) != limit {
			t.Errorf("after %v: %+v", time.Since(begin), s)
		}
		if d := b.Sources(); d[1].Missing == "" || d[0].Missing != "" {
			t.Errorf("sources %+v", d)
		}
		s = b.Sample()
		if s.Temperatures != nil || s.Devices == nil || time.Since(begin) != limit {
			t.Errorf("waited again, until %v: %+v", time.Since(begin), s)
		}
		b.Start(t.Context())
		time.Sleep(1500 * time.Millisecond)
		if got := b.reads(); !slices.Equal(got, []string{kindTemperature, kindDevice, kindDevice, kindDevice}) {
			t.Errorf("reads %v: the thermometer was asked again before it answered", got)
		}
		b.temp.take.Store(int64(time.Millisecond))
		time.Sleep(2 * time.Second) // it answers at 2.2 s, the sample at 2.5 s has it
		samples := b.Stop()
		if len(samples) != 3 || samples[0].Temperatures != nil || samples[1].Temperatures == nil || samples[2].Temperatures == nil {
			t.Errorf("samples %+v", samples)
		}
		if d := b.Sources(); d[1].Missing != "" {
			t.Errorf("sources %+v", d)
		}
	})
}

// The end of a pass must not lose a source because the loop is reading it.
func TestSamplerWaitsForTimelyReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.temp.take.Store(int64(100 * time.Millisecond))
		b.disk.take.Store(int64(50 * time.Millisecond))
		b.Start(t.Context())
		time.Sleep(1020 * time.Millisecond) // amid the reading of the drive
		if s := b.Sample(); !complete(s) {
			t.Errorf("after: %+v", s)
		}
		if samples := b.Stop(); len(samples) != 0 {
			t.Errorf("a sample cut short was kept: %+v", samples)
		}
	})
}

// Stop must not wait for a reading.
func TestSamplerStopAmidReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.temp.take.Store(int64(400 * time.Millisecond))
		b.Start(t.Context())
		time.Sleep(1100 * time.Millisecond)
		begin := time.Now()
		b.Stop()
		if d := time.Since(begin); d != 0 {
			t.Errorf("Stop took %v", d)
		}
		time.Sleep(time.Second)
		if s := b.Sample(); !complete(s) {
			t.Errorf("the interrupted source is lost: %+v", s)
		}
	})
}

func TestSamplerFailingSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.disk.err = errors.New("broken")
		if s := b.Sample(); s.Devices != nil || s.Temperatures == nil {
			t.Errorf("%+v", s)
		}
	})
}

func TestCgroup(t *testing.T) {
	c := NewCgroup()
	testSource(t, c)
	c.Set("nativ/a", func() (record.CgroupCounters, error) { return record.CgroupCounters{}, errors.New("gone") })
	testSource(t, c)
	c.Set("nativ/b", func() (record.CgroupCounters, error) {
		return record.CgroupCounters{NrThrottled: ptr(int64(3))}, nil
	})
	testSource(t, c)
	s := New([]Source{c}, func() int64 { return 0 })
	if got := s.Sample(); got.Cgroup == nil || *got.Cgroup.NrThrottled != 3 {
		t.Errorf("%+v", got)
	}
	// The last pass of a run is the host's, without a cgroup: there is nothing
	// to read, but the source was no missing one.
	c.Set("", nil)
	if got := s.Sample(); got.Cgroup != nil {
		t.Errorf("the cgroup of the pass before was read: %+v", got)
	}
	if d := s.Sources(); d[0].Missing != "" {
		t.Errorf("%+v", d)
	}
}

// The newest sample is there while a pass runs, and no longer.
func TestSamplerLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.Sample()
		if s, ok := b.Latest(); ok {
			t.Errorf("before Start: %+v", s)
		}
		b.Start(t.Context())
		if s, ok := b.Latest(); ok {
			t.Errorf("before the first sample: %+v", s)
		}
		time.Sleep(2500 * time.Millisecond)
		s, ok := b.Latest()
		if !ok || !complete(s) || s.MonoNS != int64(2*time.Second+time.Millisecond) {
			t.Errorf("%+v, %v", s, ok)
		}
		samples := b.Stop()
		if len(samples) != 2 || samples[1].MonoNS != s.MonoNS {
			t.Errorf("%+v", samples)
		}
		if s, ok := b.Latest(); ok {
			t.Errorf("after Stop: %+v", s)
		}
		b.Start(t.Context())
		if s, ok := b.Latest(); ok {
			t.Errorf("of the pass before: %+v", s)
		}
		b.Stop()
	})
}

// Each reading's own time is in the sample, that of a failed one, too.
func TestSamplerCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.disk.take.Store(int64(2 * time.Millisecond))
		want := map[string]int64{"temperature t": int64(time.Millisecond), "device d": int64(2 * time.Millisecond)}
		if diff := cmp.Diff(want, b.Sample().CostNS); diff != "" {
			t.Error(diff)
		}
		b.disk.err = errors.New("broken")
		if diff := cmp.Diff(want, b.Sample().CostNS); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSamplerInterval(t *testing.T) {
	for _, tt := range []struct {
		interval time.Duration
		want     int
	}{{0, 2}, {time.Second, 2}, {500 * time.Millisecond, 4}, {time.Millisecond, 8}, {2 * time.Second, 1}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench()
			b.Interval = tt.interval
			b.Start(t.Context())
			time.Sleep(2100 * time.Millisecond)
			if n := len(b.Stop()); n != tt.want {
				t.Errorf("%v: %d samples in 2.1 s, want %d", tt.interval, n, tt.want)
			}
		})
	}
}

// Everything that a source can read arrives in the sample.
func TestMerge(t *testing.T) {
	part := record.Sample{
		Temperatures: map[string]int64{"a": 1},
		Devices:      map[string]record.DeviceCounters{"a": {}},
		CPUs:         map[int]record.CPUTime{1: {}},
		Cgroup:       &record.CgroupCounters{},
		Health:       map[string]record.Health{"a": {}},
		Links:        map[string]record.LinkState{"a": {}},
		AER:          map[string]record.AER{"a": {}},
		CPUHz:        map[int]int64{1: 1},
		CPUThermal:   &record.CPUThermal{},
		Pressure:     &record.Pressure{},
		CostNS:       map[string]int64{"a": 1},
	}
	v := reflect.ValueOf(part)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "MonoNS" && v.Field(i).IsZero() {
			t.Errorf("the test does not set %s", name)
		}
	}
	var s record.Sample
	merge(&s, part)
	if diff := cmp.Diff(part, s); diff != "" {
		t.Error(diff)
	}
}
