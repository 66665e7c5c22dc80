package sim

import (
	"context"
	"fmt"
	"math"

	"nativ/internal/record"
)

// Names of the simulated devices.
const (
	nvmeController = "nvme0"
	nvmeDisk       = "nvme0n1"
	otherDisk      = "sda"
	pciAddress     = "0000:01:00.0"
	portAddress    = "0000:00:01.0"
)

func (m *Machine) isNVMe() bool { return m.model.Drive.Transport == "nvme" }

// disk is the kernel's name of the drive.
func (m *Machine) disk() string {
	if m.isNVMe() {
		return nvmeDisk
	}
	return otherDisk
}

// seen is what a sensor tends to, in °C, without lag, steps and lies.
func (m *Machine) seen(s *Sensor) float64 {
	t := m.board
	if s.Node == nodeJunction {
		t = m.junction
	}
	gain := s.Gain
	if gain == 0 {
		gain = 1
	}
	air := m.model.Thermal.AmbientCelsius
	return air + gain*(t-air) + s.OffsetKelvin
}

// reading is what sensor i reports now, in millidegrees.
func (m *Machine) reading(i int) int64 {
	s := &m.model.Sensors[i]
	celsius := m.sensors[i]
	if s.StuckCelsius != nil && float64(m.mono-bootNS)/1e9 >= s.StuckAfterSeconds {
		celsius = *s.StuckCelsius
	}
	step := s.StepKelvin
	if step == 0 {
		step = 1
	}
	if !m.isNVMe() {
		return milli(math.Round(celsius/step) * step)
	}
	// NVMe counts in kelvin: every reading ends in .85 °C, as in hwmon.
	return milli(math.Round((celsius+zeroCelsius)/step)*step - zeroCelsius)
}

// zeroCelsius is 0 °C in kelvin.
const zeroCelsius = 273.15

// threshold is one of the drive's own thresholds in millidegrees. A model has it
// as tools print it, which take 273 from the drive's kelvin.
func threshold(celsius float64) int64 { return milli(math.Round(celsius) + 273 - zeroCelsius) }

// composite is the composite temperature of the health log; nil where there is
// none.
func (m *Machine) composite() *int64 {
	if !m.isNVMe() {
		return nil
	}
	for i := range m.model.Sensors {
		if m.model.Sensors[i].Number == 0 {
			mc := m.reading(i)
			return &mc
		}
	}
	return nil
}

// sensorName is the name of a sensor in record.Sample.
func (m *Machine) sensorName(s *Sensor) string {
	switch {
	case !m.isNVMe():
		return otherDisk + " drivetemp"
	case s.Number == 0:
		return nvmeController + " Composite"
	}
	return fmt.Sprintf("%s Sensor %d", nvmeController, s.Number)
}

// honest is what sensors without lag, steps and lies would say.
func (m *Machine) honest() map[string]int64 {
	all := map[string]int64{}
	for i := range m.model.Sensors {
		s := &m.model.Sensors[i]
		all[m.sensorName(s)] = milli(m.seen(s))
	}
	return all
}

// A Watcher is what the host sees of the machine while a pass runs in a place.
type Watcher struct {
	m       *Machine
	cgroup  string
	latest  *record.Sample
	samples []record.Sample
}

// Watch makes a watcher for passes in the place.
func (m *Machine) Watch(place string) *Watcher { return &Watcher{m: m, cgroup: cgroupOf(place)} }

// Sample reads everything once, now.
func (w *Watcher) Sample() record.Sample {
	s := w.m.sample(w.cgroup)
	w.latest = &s
	return s
}

// Latest returns the newest sample, and false before the first.
func (w *Watcher) Latest() (record.Sample, bool) {
	if w.latest == nil {
		return record.Sample{}, false
	}
	return *w.latest, true
}

// Start begins to sample once a second of virtual time, until Stop.
func (w *Watcher) Start(context.Context) { w.m.watcher = w }

// tick is called once a second of a pass.
func (w *Watcher) tick() { w.samples = append(w.samples, w.Sample()) }

// Stop ends sampling and returns the samples since Start.
func (w *Watcher) Stop() []record.Sample {
	s := w.samples
	w.samples = nil
	if w.m.watcher == w {
		w.m.watcher = nil
	}
	return s
}

// sample reads everything that the host can see.
func (m *Machine) sample(cgroup string) record.Sample {
	c := &m.counters
	s := record.Sample{MonoNS: m.mono}
	flushes := int64(c.flushIOs)
	s.Devices = map[string]record.DeviceCounters{m.disk(): {
		ReadIOs: int64(c.readIOs), ReadBytes: int64(c.readBytes), WriteIOs: int64(c.writeIOs), WriteBytes: int64(c.writeBytes),
		FlushIOs: &flushes, BusyNS: int64(c.busyNS), QueueNS: int64(c.queueNS),
	}}
	if len(m.model.Sensors) > 0 {
		s.Temperatures = map[string]int64{}
		for i := range m.model.Sensors {
			s.Temperatures[m.sensorName(&m.model.Sensors[i])] = m.reading(i)
		}
	}
	if m.isNVMe() {
		s.Health = map[string]record.Health{nvmeController: m.health()}
		if m.model.Drive.Link != nil {
			l := record.LinkState{SpeedMTs: m.link.SpeedMTs, Width: m.link.Width}
			s.Links = map[string]record.LinkState{pciAddress: l, portAddress: l}
			aer := record.AER{Correctable: c.correctable}
			s.AER = map[string]record.AER{pciAddress: aer, portAddress: aer}
		}
	}
	s.CPUs, s.CPUHz = map[int]record.CPUTime{}, map[int]int64{}
	for i := range c.cpuBusy {
		user := int64(c.cpuUser[i])
		s.CPUs[i] = record.CPUTime{BusyNS: int64(c.cpuBusy[i]), TotalNS: m.mono, UserNS: &user}
		s.CPUHz[i] = int64(c.cpuHz)
	}
	throttles, packageMC := c.coreThrottles, int64(62000)
	s.CPUThermal = &record.CPUThermal{CoreThrottles: &throttles, PackageMC: &packageMC}
	cpu, io := int64(c.cpuSomeNS), int64(c.ioSomeNS)
	s.Pressure = &record.Pressure{CPUSomeNS: &cpu, IOSomeNS: &io}
	if cgroup != "" {
		g := m.cgroup(cgroup)
		usage, n, ns, zero := int64(g.usageNS), int64(g.throttled), int64(g.throttledNS), int64(0)
		s.Cgroup = &record.CgroupCounters{UsageNS: &usage, NrThrottled: &n, ThrottledNS: &ns, OOMKills: &zero, MemoryMax: &zero}
	}
	return s
}

func (m *Machine) cgroup(path string) *cgroupCounters {
	g := m.counters.cgroups[path]
	if g == nil {
		g = new(cgroupCounters)
		m.counters.cgroups[path] = g
	}
	return g
}

// dataUnit is the unit of the health log's byte counts.
const dataUnit = 512000

// health is the health log of the drive.
func (m *Machine) health() record.Health {
	c, d := &m.counters, &m.model.Drive
	h := record.Health{
		CompositeMC:    m.composite(),
		AvailableSpare: 100, SpareThreshold: 10, PercentageUsed: d.PercentageUsed,
		ReadBytes:    int64(math.Ceil(c.readBytes/dataUnit)) * dataUnit,
		WrittenBytes: int64(math.Ceil(c.writeBytes/dataUnit)) * dataUnit,
		ReadCommands: int64(c.readIOs), WriteCommands: int64(c.writeIOs),
		BusyMinutes: int64(c.busyNS / 60e9), PowerCycles: 1,
		MediaErrors: c.mediaErrors, ErrorLogEntries: c.errorEntries,
		WarningMinutes: c.warningNS / 60e9, CriticalMinutes: c.criticalNS / 60e9,
		TMT1Transitions: c.tmtChanges[0], TMT2Transitions: c.tmtChanges[1],
		TMT1Seconds: c.tmtNS[0] / second, TMT2Seconds: c.tmtNS[1] / second,
	}
	for i := range m.model.Sensors {
		if n := m.model.Sensors[i].Number; n > 0 {
			if h.SensorsMC == nil {
				h.SensorsMC = map[int]int64{}
			}
			h.SensorsMC[n] = m.reading(i)
		}
	}
	if d.WCTEMP != nil && h.CompositeMC != nil && *h.CompositeMC >= threshold(*d.WCTEMP) {
		h.CriticalWarning |= record.CriticalTemperature
	}
	return h
}
