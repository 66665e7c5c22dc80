package sim

import (
	"nativ/internal/record"
)

// dir is the directory that a simulation measures; it is on no machine.
const dir = "/simulated"

// Host is what the simulated machine says of itself.
func (m *Machine) Host() record.Host {
	c := &m.model.Machine
	h := record.Host{
		OS: c.OS, Kernel: c.Kernel, Machine: "x86_64", CPUModel: c.CPUModel, MemoryBytes: c.MemoryBytes,
		CgroupLayout: "v2",
	}
	if c.PVE != "" {
		h.PVE = &c.PVE
	}
	if c.Board != "" {
		h.Board = &c.Board
	}
	governor, enabled := "performance", 0
	h.Governor, h.IOUringDisabled = &governor, &enabled
	for i := range c.CPUs() {
		cpu := record.CPU{ID: i, Core: i}
		if c.EfficiencyCPUs > 0 {
			if cpu.Type = "performance"; i >= c.PerformanceCPUs {
				cpu.Type = "efficiency"
			}
		}
		h.CPUs = append(h.CPUs, cpu)
	}
	return h
}

// Target is the simulated directory with its drive.
func (m *Machine) Target() record.Target {
	d := &m.model.Drive
	t := record.Target{
		Dir: dir, FSType: d.FSType, Source: "/dev/" + m.disk(), MountPoint: dir, Options: "rw,relatime",
		TotalBytes: d.CapacityBytes, FreeBytes: d.FreeBytes,
	}
	switch d.Layer {
	case "lvm", "crypt":
		t.Source = "/dev/mapper/simulated"
		t.Stack = append(t.Stack, record.Layer{Name: "dm-0", Kind: d.Layer, Title: "simulated", Below: []string{m.disk()}})
	}
	t.Stack = append(t.Stack, record.Layer{Name: m.disk(), Kind: "disk"})
	t.Drives = []record.Drive{m.drive()}
	return t
}

func (m *Machine) drive() record.Drive {
	d := &m.model.Drive
	no, yes, scheduler := false, true, "none"
	r := record.Drive{
		Name: m.disk(), Transport: d.Transport, Model: &d.Model, SizeBytes: d.CapacityBytes, Rotational: &no,
		LogicalBlock: 512, Scheduler: &scheduler, VolatileCache: &yes, IOStats: &yes, TemperatureFound: len(m.model.Sensors) > 0,
	}
	if d.Firmware != "" {
		r.Firmware = &d.Firmware
	}
	if !m.isNVMe() {
		return r
	}
	controller, pci, port := nvmeController, pciAddress, portAddress
	r.Controller = &controller
	if l := d.Link; l != nil {
		r.PCIAddress, r.PortAddress = &pci, &port
		r.Link = &record.Link{SpeedMTs: l.SpeedMTs, Width: l.Width, MaxSpeedMTs: l.MaxSpeedMTs, MaxWidth: l.MaxWidth,
			PortMaxSpeedMTs: &l.PortMaxSpeedMTs, PortMaxWidth: &l.PortMaxWidth}
	}
	n := &record.NVMe{Version: "2.0.0", PowerState: &d.PowerState, CapacityBytes: &d.CapacityBytes, Namespaces: []string{nvmeDisk}}
	if d.WCTEMP != nil {
		mc := threshold(*d.WCTEMP)
		n.WarningMC, n.OverMC = &mc, &mc
	}
	if d.CCTEMP != nil {
		mc := threshold(*d.CCTEMP)
		n.CriticalMC = &mc
	}
	for i := range m.model.Thermal.Throttle {
		s := &m.model.Thermal.Throttle[i]
		if s.TMTCelsius == 0 {
			continue
		}
		mc := threshold(s.TMTCelsius)
		switch s.TMT {
		case 1:
			n.TMT1MC = &mc
		case 2:
			n.TMT2MC = &mc
		}
	}
	hctm := n.TMT1MC != nil || n.TMT2MC != nil
	n.HCTM = &hctm
	for _, w := range d.PowerStatesWatts {
		uw := int64(w * 1e6)
		n.PowerStates = append(n.PowerStates, record.PowerState{MaxPowerUW: &uw})
	}
	apst := false
	n.APST = &apst
	r.NVMe = n
	return r
}

// Sources says what the simulated host can read.
func (m *Machine) Sources() []record.Source {
	all := []record.Source{{Kind: "device", Name: m.disk()}, {Kind: "cpu"}, {Kind: "cpu-frequency"}, {Kind: "cpu-thermal"}, {Kind: "pressure"}, {Kind: "cgroup"}}
	for i := range m.model.Sensors {
		all = append(all, record.Source{Kind: "temperature", Name: m.sensorName(&m.model.Sensors[i])})
	}
	if len(m.model.Sensors) == 0 {
		all = append(all, record.Source{Kind: "temperature", Name: m.disk(), Missing: "no sensor: the simulated drive has none"})
	}
	if m.isNVMe() {
		all = append(all, record.Source{Kind: "health", Name: nvmeController})
		if m.model.Drive.Link != nil {
			for _, a := range []string{pciAddress, portAddress} {
				all = append(all, record.Source{Kind: "link", Name: a}, record.Source{Kind: "aer", Name: a})
			}
		}
	}
	return all
}

// Into puts what the machine knows of a run into its record: before it, and
// once more after it, when the kernel's log has grown.
func (m *Machine) Into(rec *record.Record, about record.Simulation) {
	rec.Host, rec.Sources, rec.KernelLog = m.Host(), m.Sources(), m.KernelLog()
	file := rec.Target.File
	rec.Target = m.Target()
	rec.Target.File = file
	rec.Simulated = &about
}
