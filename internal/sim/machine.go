// Package sim simulates a drive and the machine around it in virtual time: a
// place in which passes run and what the host sees meanwhile, so that a run of
// an hour goes through the real orchestration in a second.
//
// Nothing here reads a clock or a disk. The same model, plan and seed give the
// same record.
package sim

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"nativ/internal/record"
)

const (
	// bootNS is CLOCK_MONOTONIC at the start of a simulation.
	bootNS = int64(1000e9)
	// stepNS is the step of the simulation. A tenth of the time constant of any
	// junction that Validate lets pass, so that Euler's method is good enough.
	stepNS = int64(100e6)
	second = int64(1e9)
)

// A Machine is a simulated drive and the machine around it, at one moment of
// virtual time, which passes only in Sleep and in passes. It is not safe for
// use by several goroutines.
type Machine struct {
	model *Model
	rng   *rand.Rand
	start time.Time
	mono  int64

	// The drive: temperatures in °C, what is in its caches in bytes, since when
	// nothing was written.
	junction, board float64
	sensors         []float64 // with their lag
	on              []bool    // the steps of throttling
	cached, direct  float64
	collected       float64
	lastWrite       int64
	link            Link // as it is now; zero where there is none
	footprint       float64

	counters counters
	log      []record.KernelLine
	truth    Truth
	passes   int
	noise    float64 // the AR(1) state
	watcher  *Watcher
}

// counters are what the machine counts since it was started.
type counters struct {
	readIOs, writeIOs, flushIOs float64
	readBytes, writeBytes       float64
	busyNS, queueNS             float64
	warningNS, criticalNS       int64
	tmtChanges, tmtNS           [2]int64
	mediaErrors, errorEntries   int64
	correctable                 int64
	cpuBusy, cpuUser            []float64
	coreThrottles               int64
	cpuSomeNS, ioSomeNS         float64
	cgroups                     map[string]*cgroupCounters
	cpuHz                       float64
}

type cgroupCounters struct{ usageNS, throttled, throttledNS float64 }

// New returns a machine that was just switched on, its drive idle for long. The
// model must be valid, as Load and Parse return it.
func New(m *Model, seed uint64) *Machine {
	s := &Machine{
		model: m, rng: rand.New(rand.NewPCG(seed, 0x73696d)), mono: bootNS,
		// Any moment will do; a fixed one makes records equal.
		start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		on:    make([]bool, len(m.Thermal.Throttle)),
	}
	t := &m.Thermal
	s.board = t.AmbientCelsius + t.BoardKelvinPerWatt*t.IdleWatts
	s.junction = s.board + t.JunctionKelvinPerWatt*t.IdleWatts
	if t.StartCelsius != nil {
		s.board, s.junction = *t.StartCelsius, *t.StartCelsius
	}
	for i := range m.Sensors {
		s.sensors = append(s.sensors, s.seen(&m.Sensors[i]))
	}
	if m.SLC != nil {
		s.cached = float64(m.SLC.FilledBytes)
	}
	if m.Drive.Link != nil {
		s.link = *m.Drive.Link
	}
	n := m.Machine.CPUs()
	s.counters.cpuBusy, s.counters.cpuUser = make([]float64, n), make([]float64, n)
	s.counters.cgroups = map[string]*cgroupCounters{}
	s.counters.cpuHz = m.Machine.CPUHz
	return s
}

// StartAt sets the wall time of the start of the simulation.
func (m *Machine) StartAt(t time.Time) { m.start = t }

// Now is the time on the simulated machine.
func (m *Machine) Now() time.Time { return m.start.Add(time.Duration(m.mono - bootNS)) }

// Sleep lets time pass on the simulated machine, with the drive idle. It returns
// at once, with ctx's error where ctx has ended.
func (m *Machine) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for left := int64(d); left > 0; left -= stepNS {
		m.advance(min(left, stepNS), m.model.Thermal.IdleWatts, "")
		m.idle(min(left, stepNS))
	}
	return nil
}

// Truth is what really happened so far.
func (m *Machine) Truth() Truth { return m.truth }

// KernelLog are the lines that the kernel logged about the drive.
func (m *Machine) KernelLog() []record.KernelLine { return m.log }

// advance lets ns of time pass with the drive taking so many watts under a load
// that the limit of that name bounds, "" for none.
func (m *Machine) advance(ns int64, watts float64, limit string) {
	dt := float64(ns) / 1e9
	t := &m.model.Thermal
	up := (m.junction - m.board) / t.JunctionKelvinPerWatt
	out := (m.board - t.AmbientCelsius) / t.BoardKelvinPerWatt
	m.junction += dt * (watts - up) / t.JunctionJoulesPerKelvin
	m.board += dt * (up - out) / t.BoardJoulesPerKelvin
	m.mono += ns
	for i := range m.model.Sensors {
		s := &m.model.Sensors[i]
		to := m.seen(s)
		if s.LagSeconds > 0 {
			to = m.sensors[i] + (to-m.sensors[i])*(1-math.Exp(-dt/s.LagSeconds))
		}
		m.sensors[i] = to
	}
	m.throttle(ns, limit)
	m.alarm(ns)
	m.background(ns)
}

// throttle turns steps on and off.
func (m *Machine) throttle(ns int64, limit string) {
	c := &m.counters
	for i := range m.on {
		s := &m.model.Thermal.Throttle[i]
		from, _ := s.at(limit)
		was := m.on[i]
		switch {
		case m.junction >= from && limit != "":
			m.on[i] = true
		case m.junction < s.UntilCelsius:
			m.on[i] = false
		}
		if s.TMT > 0 && m.on[i] {
			c.tmtNS[s.TMT-1] += ns
			if !was {
				c.tmtChanges[s.TMT-1]++
			}
		}
	}
}

// at is from which temperature a step is on, and what it leaves, of a load that
// the limit of that name bounds.
func (s *Step) at(limit string) (from, speed float64) {
	if f, ok := s.For[limit]; ok {
		return f.FromCelsius, f.Speed
	}
	return s.FromCelsius, s.Speed
}

// hottest is the step of throttling that counts; nil where none is on.
func (m *Machine) hottest() *Step {
	for i := len(m.on) - 1; i >= 0; i-- {
		if m.on[i] {
			return &m.model.Thermal.Throttle[i]
		}
	}
	return nil
}

// alarm counts the time above the drive's thresholds.
func (m *Machine) alarm(ns int64) {
	mc := m.composite()
	d := &m.model.Drive
	if mc == nil || d.WCTEMP == nil || d.CCTEMP == nil {
		return
	}
	switch {
	case *mc >= threshold(*d.CCTEMP):
		m.counters.criticalNS += ns
	case *mc >= threshold(*d.WCTEMP):
		m.counters.warningNS += ns
	}
}

// idleLoad is the share of each CPU that the machine itself takes.
const idleLoad = 0.02

// background is what the machine does anyway.
func (m *Machine) background(ns int64) {
	for i := range m.counters.cpuBusy {
		m.counters.cpuBusy[i] += idleLoad * float64(ns)
		m.counters.cpuUser[i] += idleLoad / 2 * float64(ns)
	}
}

// idle empties the caches of the drive, where nothing writes.
func (m *Machine) idle(ns int64) {
	dt := float64(ns) / 1e9
	if s := m.model.SLC; s != nil && float64(m.mono-m.lastWrite)/1e9 >= s.RecoverAfterSeconds {
		m.cached = max(0, m.cached-s.RecoverBytesPerSecond*dt)
		m.direct = max(0, m.direct-s.RecoverBytesPerSecond*dt)
	}
	if g := m.model.GC; g != nil {
		m.collected = max(0, m.collected-g.RecoverBytesPerSecond*dt)
	}
}

// wrote fills the caches of the drive.
func (m *Machine) wrote(bytes float64, random bool) {
	m.lastWrite = m.mono
	if s := m.model.SLC; s != nil {
		room := float64(s.SizeBytes)
		if s.KeepsOverwritten {
			// The old copies of what is overwritten are erased and not folded:
			// the cache never holds more than the file has.
			room = min(room, max(m.cached, m.footprint))
		}
		m.cached += bytes
		if over := m.cached - room; over > 0 {
			m.cached = room
			if room >= float64(s.SizeBytes) {
				m.direct += over
			}
		}
	}
	if random {
		m.collected += bytes
	}
}

// slcSpeed is the most that the flash takes now, in bytes a second; 0 is no
// limit of the cache's.
func (m *Machine) slcSpeed() float64 {
	s := m.model.SLC
	switch {
	case s == nil || m.cached < float64(s.SizeBytes):
		return 0
	case s.DirectBytes > 0 && m.direct >= float64(s.DirectBytes) && s.FoldingBytesPerSecond > 0:
		return s.FoldingBytesPerSecond
	}
	return s.DirectBytesPerSecond
}

// gcSpeed is the share that garbage collection leaves of random writes.
func (m *Machine) gcSpeed() float64 {
	g := m.model.GC
	if g == nil || m.collected <= float64(g.AfterBytes) {
		return 1
	}
	held := 1.0
	if g.RampBytes > 0 {
		held = min(1, (m.collected-float64(g.AfterBytes))/float64(g.RampBytes))
	}
	return 1 - held*(1-g.Speed)
}

// milli turns °C into millidegrees.
func milli(celsius float64) int64 { return int64(math.Round(celsius * 1000)) }
