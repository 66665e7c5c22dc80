package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

func ptr[T any](v T) *T { return &v }

// mean is the mean rate of some seconds of a pass.
func mean(p *record.Pass, from, until int) float64 {
	var n float64
	for _, iv := range p.Intervals[from:until] {
		n += float64(iv.ReadIOs + iv.WriteIOs)
	}
	return n / float64(until-from)
}

// Each cause alone: it acts, nothing else does, the speed falls as much as the
// truth says, and the evidence for it is where a real host would find it.
func TestCauses(t *testing.T) {
	write := phase(job.Write, 128<<10, 60*time.Second)
	randWrite := phase(job.RandWrite, 4096, 60*time.Second)
	read := phase(job.Read, 128<<10, 60*time.Second)
	randRead := phase(job.RandRead, 4096, 60*time.Second)
	for _, tt := range []struct {
		name   string
		change func(*Model)
		phase  job.Phase
		place  string
		cause  string // "" is none
		at     int    // second of the onset; -1 where the model decides
		loss   float64
		shown  func(t *testing.T, rec *record.Record, p *record.Pass)
	}{
		{name: "nothing", change: func(*Model) {}, phase: randRead, place: record.PlaceHost},
		{name: "nothing in a container with enough CPUs", change: func(m *Model) { m.Machine.ReadIOPSPerCPU = 1e6 }, phase: randRead, place: record.PlaceLXC},
		{
			name: "heat", cause: CauseThermal, at: -1, loss: 0.7, phase: write, place: record.PlaceHost,
			change: func(m *Model) {
				m.Thermal.BoardKelvinPerWatt = 12
				m.Drive.WCTEMP, m.Drive.CCTEMP = ptr(50.0), ptr(90.0)
				m.Thermal.Throttle = []Step{{Name: "heavy", FromCelsius: 65, UntilCelsius: 40, Speed: 0.3, TMT: 2, TMTCelsius: 65}}
			},
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				h := p.Watch.After.Health["nvme0"]
				if h.TMT2Transitions != 1 || h.TMT2Seconds == 0 || h.CriticalWarning&record.CriticalTemperature == 0 {
					t.Errorf("health %+v", h)
				}
			},
		},
		{
			name: "heat through the link", cause: CauseThermalLink, at: -1, loss: 0.3, phase: write, place: record.PlaceHost,
			change: func(m *Model) {
				m.Thermal.BoardKelvinPerWatt = 12
				m.Thermal.Throttle = []Step{{Name: "link", FromCelsius: 65, UntilCelsius: 40, LinkSpeedMTs: 8000, LinkWidth: 4}}
			},
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				if p.Watch.Before.Links[pciAddress].SpeedMTs != 16000 || p.Watch.After.Links[portAddress].SpeedMTs != 8000 {
					t.Errorf("links %+v, %+v", p.Watch.Before.Links, p.Watch.After.Links)
				}
			},
		},
		{
			name: "cache", cause: CauseSLC, at: 20, loss: 0.8, phase: write, place: record.PlaceHost,
			change: func(m *Model) { m.SLC = &SLC{SizeBytes: 100e9, DirectBytesPerSecond: 1e9} },
		},
		{
			name: "cache, direct, folding", cause: CauseSLC, at: 10, loss: 0.8, phase: write, place: record.PlaceHost,
			change: func(m *Model) {
				m.SLC = &SLC{SizeBytes: 50e9, DirectBytesPerSecond: 2e9, DirectBytes: 20e9, FoldingBytesPerSecond: 0.5e9}
			},
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				if a, b := mean(p, 12, 18), mean(p, 30, 59); math.Abs(b/a-0.25) > 0.02 {
					t.Errorf("%.0f IOPS direct, %.0f while folding", a, b)
				}
			},
		},
		{
			name: "cache that only the file fills", phase: write, place: record.PlaceHost,
			change: func(m *Model) { m.SLC = &SLC{SizeBytes: 100e9, DirectBytesPerSecond: 1e9, KeepsOverwritten: true} },
		},
		{
			name: "garbage collection", cause: CauseGC, at: -1, loss: 0.4, phase: randWrite, place: record.PlaceHost,
			change: func(m *Model) { m.GC = &GC{AfterBytes: 40e9, RampBytes: 20e9, Speed: 0.5} },
		},
		{
			name: "garbage collection of sequential writes", phase: write, place: record.PlaceHost,
			change: func(m *Model) { m.GC = &GC{AfterBytes: 40e9, RampBytes: 20e9, Speed: 0.5} },
		},
		{
			name: "few CPUs", cause: CauseCPULimit, loss: 0.5, phase: randRead, place: record.PlaceLXC,
			change: func(m *Model) { m.Machine.ReadIOPSPerCPU = 100e3 },
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				b, a := p.Watch.Before, p.Watch.After
				for cpu := range 4 {
					if busy := a.CPUs[cpu].BusyNS - b.CPUs[cpu].BusyNS; float64(busy) < 0.95*60e9 {
						t.Errorf("CPU %d was busy for %d ns", cpu, busy)
					}
				}
			},
		},
		{
			name: "cpu.max", cause: CauseCgroup, loss: 0.5, phase: randRead, place: record.PlaceLXC,
			change: func(m *Model) { m.Machine.QuotaCPUs = 1 },
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				b, a := p.Watch.Before.Cgroup, p.Watch.After.Cgroup
				if *a.NrThrottled-*b.NrThrottled < 500 || *a.ThrottledNS <= *b.ThrottledNS {
					t.Errorf("%+v, %+v", b, a)
				}
			},
		},
		{
			name: "cpu.max from the middle on", cause: CauseCgroup, at: 25, loss: 0.5, phase: randRead, place: record.PlacePinned,
			change: func(m *Model) { m.Events = []Event{{Kind: EventCPUQuota, FromSeconds: 25, CPUs: 1}} },
		},
		{
			name: "frequency", cause: CauseCPUFrequency, at: 20, loss: 0.25, phase: randRead, place: record.PlaceHost,
			change: func(m *Model) {
				m.Machine.ReadIOPSPerCPU = 105e3
				m.Events = []Event{{Kind: EventCPUFrequency, FromSeconds: 20, Share: 0.3, Hot: true}}
			},
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				b, a := p.Watch.Before, p.Watch.After
				if float64(a.CPUHz[0]) > 0.71*float64(b.CPUHz[0]) || *a.CPUThermal.CoreThrottles == *b.CPUThermal.CoreThrottles {
					t.Errorf("%+v, %+v; %+v", b.CPUHz, a.CPUHz, a.CPUThermal)
				}
			},
		},
		{
			name: "other load", cause: CauseCPULoad, at: 20, loss: 0.25, phase: randRead, place: record.PlaceHost,
			change: func(m *Model) {
				m.Machine.ReadIOPSPerCPU = 105e3
				m.Events = []Event{{Kind: EventCPULoad, FromSeconds: 20, Share: 0.3}}
			},
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				if got := *p.Watch.After.CPUs[0].UserNS - *p.Watch.Before.CPUs[0].UserNS; float64(got) < 0.3*40e9 {
					t.Errorf("user time %d", got)
				}
			},
		},
		{
			name: "neighbour", cause: CauseNeighbour, at: 15, loss: 0.4, phase: read, place: record.PlaceHost,
			change: func(m *Model) { m.Events = []Event{{Kind: EventNeighbour, FromSeconds: 15, Share: 0.4}} },
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				theirs := p.Watch.After.Devices["nvme0n1"].ReadBytes - p.Watch.Before.Devices["nvme0n1"].ReadBytes - p.Outcome.Read.Bytes
				if share := float64(theirs) / 45 / 6e9; math.Abs(share-0.4) > 0.03 {
					t.Errorf("the neighbour read %v of what the drive can do", share)
				}
			},
		},
		{
			name: "link from the start", cause: CauseLink, loss: 0.4, phase: read, place: record.PlaceHost,
			change: func(m *Model) { m.Drive.Link.SpeedMTs = 8000 },
			shown: func(t *testing.T, rec *record.Record, _ *record.Pass) {
				if l := rec.Target.Drives[0].Link; l.SpeedMTs != 8000 || l.MaxSpeedMTs != 16000 {
					t.Errorf("%+v", l)
				}
			},
		},
		{
			name: "link from the middle on", cause: CauseLink, at: 30, loss: 0.4, phase: read, place: record.PlaceHost,
			change: func(m *Model) {
				m.Events = []Event{{Kind: EventLink, FromSeconds: 30, SpeedMTs: 16000, Width: 2}}
			},
			shown: func(t *testing.T, rec *record.Record, p *record.Pass) {
				if p.Watch.After.Links[pciAddress].Width != 2 || p.Watch.After.AER[pciAddress].Correctable == 0 || len(rec.KernelLog) != 1 {
					t.Errorf("%+v, %+v, %+v", p.Watch.After.Links, p.Watch.After.AER, rec.KernelLog)
				}
			},
		},
		{
			name: "power state", cause: CausePowerState, loss: 0.5, phase: read, place: record.PlaceHost,
			change: func(m *Model) { m.Drive.PowerState, m.Drive.PowerStateSpeed = 1, 0.5 },
			shown: func(t *testing.T, rec *record.Record, _ *record.Pass) {
				if n := rec.Target.Drives[0].NVMe; *n.PowerState != 1 || len(n.PowerStates) != 2 {
					t.Errorf("%+v", n)
				}
			},
		},
		{
			name: "reset", cause: CauseErrors, at: 20, loss: 1, phase: read, place: record.PlaceHost,
			change: func(m *Model) { m.Events = []Event{{Kind: EventReset, FromSeconds: 20, UntilSeconds: 24}} },
			shown: func(t *testing.T, rec *record.Record, p *record.Pass) {
				if p.Intervals[21].ReadIOs != 0 || *p.Intervals[24].MaxNS < 4*second || len(rec.KernelLog) != 2 || rec.KernelLog[1].Kind != "reset" {
					t.Errorf("%+v, %+v, %+v", p.Intervals[21], p.Intervals[24], rec.KernelLog)
				}
			},
		},
		{
			name: "media errors, which end a run", cause: CauseErrors, at: 20, loss: 0.6, phase: read, place: record.PlaceHost,
			change: func(m *Model) {
				m.Events = []Event{{Kind: EventMediaErrors, FromSeconds: 20, Share: 0.6}}
			},
			shown: func(t *testing.T, _ *record.Record, p *record.Pass) {
				if p.Watch.After.Health["nvme0"].MediaErrors <= p.Watch.Before.Health["nvme0"].MediaErrors || p.EndedBy != record.EndHealth || len(p.Intervals) > 22 {
					t.Errorf("%d seconds, ended by %q", len(p.Intervals), p.EndedBy)
				}
			},
		},
		{
			name: "container", cause: CauseContainer, loss: 0.1, phase: read, place: record.PlaceLXC,
			change: func(m *Model) { m.Container = map[string]float64{ReadBytes: 0.9} },
		},
		{
			name: "unknown", cause: CauseUnknown, at: 30, loss: 0.5, phase: read, place: record.PlaceHost,
			change: func(m *Model) { m.Events = []Event{{Kind: EventUnknown, FromSeconds: 30, Share: 0.5}} },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := plain()
			tt.change(m)
			rec, s := simulation{phases: []job.Phase{tt.phase}, places: []string{tt.place}, seed: 9, file: 64 << 30, cpus: 4}.run(t, m)
			p := &passesOf(rec)[0]
			acts := s.Truth().Acts
			if tt.cause == "" {
				if len(acts) != 0 {
					t.Fatalf("something acts: %+v", acts)
				}
				return
			}
			if len(acts) != 1 || acts[0].Cause != tt.cause || acts[0].Pass != 0 || acts[0].Phase != tt.phase.Name || acts[0].Place != tt.place {
				t.Fatalf("acts: %+v", acts)
			}
			a := acts[0]
			if math.Abs(a.Loss-tt.loss) > 0.1 {
				t.Errorf("loss %.2f, want %.2f", a.Loss, tt.loss)
			}
			if tt.at >= 0 && math.Abs(float64(a.FromNS)/1e9-float64(tt.at)) > 2 {
				t.Errorf("onset at %d ns, want %d s", a.FromNS, tt.at)
			}
			from, until := int(a.FromNS/second), int(a.UntilNS/second)
			if tt.at < 0 && (from < 5 || from > 50) {
				t.Errorf("onset at %d s", from)
			}
			// The numbers of the record show the drop where the truth has it.
			if from > 2 && until > from+2 {
				before, after := mean(p, 0, from-1), mean(p, from+1, max(from+2, until-1))
				if got := 1 - after/before; math.Abs(got-a.Loss) > 0.1 {
					t.Errorf("the pass loses %.2f at %d s, the truth says %.2f", got, from, a.Loss)
				}
			}
			if tt.shown != nil {
				tt.shown(t, rec, p)
			}
		})
	}
}

// An I/O that fails ends its pass, as in a real engine, and is in the record.
func TestFailingIO(t *testing.T) {
	m := plain()
	m.Events = []Event{{Kind: EventMediaErrors, FromSeconds: 5, Share: 0.1, Fails: true}}
	rec, _ := host(phase(job.Read, 128<<10, time.Minute)).run(t, m)
	p := passesOf(rec)[0]
	if p.OK() || p.Failed.Code != record.FailIO || p.Outcome.Stopped != record.StopError || len(p.Outcome.Errors) != 1 || p.Outcome.Read.IOs == 0 || rec.Complete {
		t.Errorf("%+v, %+v", p.Outcome, p.Failed)
	}
}

// Two causes at a time are both told, and one that changes nothing is not.
func TestPairs(t *testing.T) {
	m := plain()
	m.Thermal.BoardKelvinPerWatt = 12
	m.Thermal.Throttle = []Step{{Name: "heavy", FromCelsius: 62, UntilCelsius: 40, Speed: 0.6}}
	m.SLC = &SLC{SizeBytes: 300e9, DirectBytesPerSecond: 1e9}
	_, s := host(phase(job.Write, 128<<10, 4*time.Minute)).run(t, m)
	var causes []string
	for _, a := range s.Truth().Acts {
		causes = append(causes, a.Cause)
	}
	// Past the cache the drive is slower than heat would make it, and is still
	// as hot: only the cache acts then.
	if !slices.Equal(causes, []string{CauseThermal, CauseSLC}) {
		t.Fatalf("causes %v", causes)
	}
	if heat, cache := s.Truth().Acts[0], s.Truth().Acts[1]; heat.UntilNS > cache.FromNS+second {
		t.Errorf("heat acts until %d, the cache from %d", heat.UntilNS, cache.FromNS)
	}
}

// Binary throttling is a sawtooth: on and off and on again, by its hysteresis.
func TestSawtooth(t *testing.T) {
	m := plain()
	m.Thermal.BoardKelvinPerWatt = 12
	m.Thermal.Throttle = []Step{{Name: "all", FromCelsius: 65, UntilCelsius: 63, Speed: 0.05}}
	_, s := host(phase(job.Write, 128<<10, 3*time.Minute)).run(t, m)
	acts := s.Truth().Acts
	if len(acts) < 3 {
		t.Fatalf("%d acts", len(acts))
	}
	for _, a := range acts {
		if a.Cause != CauseThermal || a.JunctionMC < 65000 || a.JunctionMC > 66000 || a.SensorsMC["nvme0 Sensor 1"] != a.JunctionMC {
			t.Errorf("%+v", a)
		}
	}
}

// The drive cools and its cache empties while nothing happens.
func TestRecovery(t *testing.T) {
	m := plain()
	m.SLC = &SLC{SizeBytes: 50e9, DirectBytesPerSecond: 1e9, RecoverAfterSeconds: 10, RecoverBytesPerSecond: 1e9}
	m.Thermal.BoardKelvinPerWatt = 12
	plan := record.Plan{Places: []string{record.PlaceHost}, FileSize: 64 << 30}
	s := New(m, 1)
	p := s.Places(&plan)[0]
	if _, err := p.Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	idle := s.Watch(record.PlaceHost).Sample().Temperatures["nvme0 Sensor 1"]
	write := func() float64 {
		ph := phase(job.Write, 128<<10, 30*time.Second)
		o, failed := p.Run(t.Context(), ph, nil, func(record.Event) {})
		if failed != nil {
			t.Fatal(failed)
		}
		return float64(o.Write.Bytes)
	}
	fresh := write()
	full := write()
	hot := s.Watch(record.PlaceHost).Sample().Temperatures["nvme0 Sensor 1"]
	if err := s.Sleep(t.Context(), 20*time.Minute); err != nil {
		t.Fatal(err)
	}
	cool := s.Watch(record.PlaceHost).Sample().Temperatures["nvme0 Sensor 1"]
	again := write()
	if full > 0.5*fresh || math.Abs(again/fresh-1) > 0.05 {
		t.Errorf("wrote %.1f, then %.1f, after a rest %.1f GB", fresh/1e9, full/1e9, again/1e9)
	}
	if hot < idle+10000 || cool > idle+1000 {
		t.Errorf("idle %d, hot %d, cooled down %d", idle, hot, cool)
	}
}

// The thermal network agrees with its closed solution for one step of power.
func TestStepResponse(t *testing.T) {
	m := plain()
	// A junction without resistance to speak of: one time constant is left.
	m.Thermal.JunctionJoulesPerKelvin, m.Thermal.JunctionKelvinPerWatt = 2, 0.5
	m.Thermal.BoardJoulesPerKelvin, m.Thermal.BoardKelvinPerWatt = 20, 8
	s := New(m, 1)
	start := s.board
	for range 1600 {
		s.advance(stepNS, 5, "")
	}
	tau := (20.0 + 2) * 8
	want := start + (5-m.Thermal.IdleWatts)*8*(1-math.Exp(-160/tau))
	if math.Abs(s.board-want) > 0.5 {
		t.Errorf("%.2f °C after 160 s, want %.2f", s.board, want)
	}
	if rise := s.junction - s.board; math.Abs(rise-5*0.5) > 0.3 {
		t.Errorf("the junction is %.2f K above the board", rise)
	}
}

func TestSensors(t *testing.T) {
	m := plain()
	m.Thermal.BoardKelvinPerWatt = 12
	m.Sensors = []Sensor{
		{Number: 0, Node: nodeBoard, Gain: 0.5, OffsetKelvin: 3},
		{Number: 1, Node: nodeJunction},
		{Number: 2, Node: nodeJunction, LagSeconds: 20},
		{Number: 3, Node: nodeBoard, StuckCelsius: ptr(40.0), StuckAfterSeconds: 30},
		{Number: 8, Node: nodeBoard, StepKelvin: 5},
	}
	rec, s := host(phase(job.Write, 128<<10, 90*time.Second)).run(t, m)
	p := passesOf(rec)[0]
	var stuck []int64
	for _, sample := range p.Watch.Samples {
		c := sample.Temperatures
		for name, mc := range c {
			if (mc+273150)%1000 != 0 {
				t.Fatalf("%s says %d, no whole kelvin", name, mc)
			}
		}
		if (c["nvme0 Sensor 8"]+273150)%5000 != 0 {
			t.Errorf("steps of 5 K: %d", c["nvme0 Sensor 8"])
		}
		stuck = append(stuck, c["nvme0 Sensor 3"])
		h := sample.Health["nvme0"]
		if *h.CompositeMC != c["nvme0 Composite"] || h.SensorsMC[2] != c["nvme0 Sensor 2"] || len(h.SensorsMC) != 4 {
			t.Fatalf("the health log says %+v, the sample %v", h, c)
		}
	}
	if mid := p.Watch.Samples[20].Temperatures; mid["nvme0 Sensor 2"] >= mid["nvme0 Sensor 1"]-3000 {
		t.Errorf("a sensor with lag says %v", mid)
	}
	if stuck[10] == stuck[20] || stuck[40] != 39850 || stuck[80] != 39850 {
		t.Errorf("the stuck sensor says %v", stuck)
	}
	if want := 30 + 0.5*(s.board-30) + 3; math.Abs(float64(p.Watch.After.Temperatures["nvme0 Composite"])/1000-want) > 0.6 {
		t.Errorf("the composite says %v, want %.1f", p.Watch.After.Temperatures, want)
	}
}

// The noise has the autocorrelation and the spread that the model says.
func TestNoise(t *testing.T) {
	m := plain()
	m.Noise = Noise{Second: 0.03, Correlation: 0.7}
	rec, _ := host(phase(job.RandRead, 4096, 2000*time.Second)).run(t, m)
	var x []float64
	var sum float64
	for _, iv := range passesOf(rec)[0].Intervals {
		v := math.Log(float64(iv.ReadIOs))
		x, sum = append(x, v), sum+v
	}
	m0 := sum / float64(len(x))
	var v0, v1 float64
	for i := range x {
		v0 += (x[i] - m0) * (x[i] - m0)
		if i > 0 {
			v1 += (x[i] - m0) * (x[i-1] - m0)
		}
	}
	if sd, r := math.Sqrt(v0/float64(len(x))), v1/v0; math.Abs(sd-0.03) > 0.005 || math.Abs(r-0.7) > 0.07 {
		t.Errorf("standard deviation %.4f, correlation %.2f", sd, r)
	}
}
