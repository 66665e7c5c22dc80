package sim

import (
	"math"

	"nativ/internal/job"
	"nativ/internal/record"
)

// speed is how many I/Os a second the pass does now, without the cause of that
// name where it is not "", and the limit of the drive that bounds it.
func (p *pass) speed(without string) (iops float64, limit string) {
	if without != CauseErrors && p.stalled() {
		return 0, p.mainLimit()
	}
	// Each I/O takes its time, reads and writes in turn: rates of a mix add up
	// as resistances do.
	var drive, cpu float64 // seconds an I/O
	for _, write := range []bool{false, true} {
		share := p.reads
		if write {
			share = 1 - p.reads
		}
		if share == 0 {
			continue
		}
		r, l := p.driveSpeed(write, without)
		drive += share / r
		cpu += share / p.perCPU(write)
		if limit == "" || share > 0.5 {
			limit = l
		}
	}
	iops = min(1/drive, p.cpus(without)/cpu)
	if n := p.place.quota(p, without); n > 0 {
		iops = min(iops, n*p.m.frequency(p, without)/cpu)
	}
	// Little's law: what is in flight, by the least that it takes.
	iops = min(iops, p.inFlight()/p.alone()) * p.jitter()
	if r := p.rateLimit(); r > 0 {
		iops = min(iops, r)
	}
	return iops, limit
}

// driveSpeed is how many I/Os a second the drive itself would do of one
// direction, and which of its limits that is.
func (p *pass) driveSpeed(write bool, without string) (iops float64, limit string) {
	m, l := p.m.model, &p.m.model.Limits
	ioName, byteName, bs := ReadIOPS, ReadBytes, float64(p.readBS)
	if write {
		ioName, byteName, bs = WriteIOPS, WriteBytes, float64(p.writeBS)
	}
	ios, bytes := l.limit(ioName).PerSecond, l.limit(byteName).PerSecond
	if p.place.name == record.PlaceLXC && without != CauseContainer {
		ios *= share(m.Container, ioName)
		bytes *= share(m.Container, byteName)
	}
	if m.Drive.PowerStateSpeed > 0 && without != CausePowerState {
		ios *= m.Drive.PowerStateSpeed
		bytes *= m.Drive.PowerStateSpeed
	}
	// Which limit bounds the cool drive says what kind of load it is to the
	// firmware. Its caps are what they are: nothing above makes them smaller.
	limit = byteName
	if ios <= bytes/bs {
		limit = ioName
	}
	throttled := math.Inf(1)
	if step := p.m.hottest(); step != nil && without != CauseThermal {
		if _, speed := step.at(limit); speed > 0 {
			throttled = speed * l.limit(limit).PerSecond
			if limit == byteName {
				throttled /= bs
			}
		}
	}
	if s := p.m.slcSpeed(); write && s > 0 && without != CauseSLC {
		bytes = min(bytes, s)
	}
	if link := p.m.linkFor(p, without); link != (Link{}) {
		bytes = min(bytes, linkBytes(link.SpeedMTs, link.Width))
	}
	rest := 1.0
	if write && p.phase.Mode.Random() && without != CauseGC {
		rest *= p.m.gcSpeed()
	}
	for i := range m.Events {
		e := &m.Events[i]
		if !p.during(e) {
			continue
		}
		switch {
		case e.Kind == EventNeighbour && without != CauseNeighbour,
			e.Kind == EventMediaErrors && without != CauseErrors,
			e.Kind == EventUnknown && without != CauseUnknown:
			rest *= 1 - e.Share
		}
	}
	return min(ios, bytes/bs, throttled) * rest, limit
}

// share is a share of a limit by its name, 1 where it is not named.
func share(shares map[string]float64, name string) float64 {
	if s, ok := shares[name]; ok {
		return s
	}
	return 1
}

// mainLimit is the limit that matters while nothing moves.
func (p *pass) mainLimit() string {
	_, limit := p.driveSpeed(p.reads < 0.5, "")
	return limit
}

// linkBytes is what a PCIe link carries in bytes a second: 128b/130b from 8 GT/s
// on, 8b/10b below, and a tenth for the headers of packets (a maximum payload of
// 256 bytes with 24 bytes around it).
func linkBytes(mts, width int) float64 {
	coding := 128.0 / 130
	if mts < 8000 {
		coding = 0.8
	}
	return float64(mts) * 1e6 / 8 * float64(width) * coding * 0.9
}

// linkFor is the link as it would be without a cause; zero where there is none.
func (m *Machine) linkFor(p *pass, without string) Link {
	if m.model.Drive.Link == nil {
		return Link{}
	}
	l := *m.model.Drive.Link
	if without == CauseLink {
		l.SpeedMTs, l.Width = l.MaxSpeedMTs, l.MaxWidth
	} else {
		for i := range m.model.Events {
			if e := &m.model.Events[i]; e.Kind == EventLink && p.during(e) {
				l.SpeedMTs, l.Width = min(l.SpeedMTs, e.SpeedMTs), min(l.Width, e.Width)
			}
		}
	}
	if s := m.hottest(); s != nil && s.LinkSpeedMTs > 0 && without != CauseThermalLink {
		l.SpeedMTs, l.Width = min(l.SpeedMTs, s.LinkSpeedMTs), min(l.Width, s.LinkWidth)
	}
	return l
}

// perCPU is how many I/Os a second one CPU does of a direction.
func (p *pass) perCPU(write bool) float64 {
	c := &p.m.model.Machine
	v, bs := c.ReadIOPSPerCPU, float64(p.readBS)
	if write {
		v, bs = c.WriteIOPSPerCPU, float64(p.writeBS)
	}
	// The rates are those of 4 KiB; each further page has to be pinned, too,
	// which costs a fiftieth of it.
	return v / (1 + max(0, bs/4096-1)/50)
}

// cpus is how many CPUs at full frequency the place has for the pass. The
// jobs' own number does not bound it: completions work on other CPUs, too.
func (p *pass) cpus(without string) float64 {
	n := float64(p.m.model.Machine.CPUs())
	if without != CauseCPULimit {
		n = float64(len(p.place.cpus))
	}
	if without != CauseCPULoad {
		for i := range p.m.model.Events {
			if e := &p.m.model.Events[i]; e.Kind == EventCPULoad && p.during(e) {
				n *= 1 - e.Share
			}
		}
	}
	return n * p.m.frequency(p, without)
}

// frequency is the share of the CPU's frequency that there is.
func (m *Machine) frequency(p *pass, without string) float64 {
	f := 1.0
	if without != CauseCPUFrequency {
		for i := range m.model.Events {
			if e := &m.model.Events[i]; e.Kind == EventCPUFrequency && p.during(e) {
				f *= 1 - e.Share
			}
		}
	}
	return f
}

// quota is the limit of CPU time in CPUs, 0 for none.
func (pl *Place) quota(p *pass, without string) float64 {
	if record.PlaceKind(pl.name) == record.PlaceHost || without == CauseCgroup {
		return 0
	}
	q := pl.m.model.Machine.QuotaCPUs
	for i := range pl.m.model.Events {
		if e := &pl.m.model.Events[i]; e.Kind == EventCPUQuota && p.during(e) && (q == 0 || e.CPUs < q) {
			q = e.CPUs
		}
	}
	return q
}

// during reports whether an event is on.
func (p *pass) during(e *Event) bool {
	if p.index < 0 || e.Pass != nil && *e.Pass != p.index {
		return false // the prefill is left in peace
	}
	t := float64(p.elapsed) / 1e9
	return t >= e.FromSeconds && (e.UntilSeconds == 0 || t < e.UntilSeconds)
}

// stalled reports whether the controller is being reset.
func (p *pass) stalled() bool {
	for i := range p.m.model.Events {
		if e := &p.m.model.Events[i]; e.Kind == EventReset && p.during(e) {
			return true
		}
	}
	return false
}

// inFlight is how many I/Os the phase keeps in flight.
func (p *pass) inFlight() float64 {
	if p.phase.Syncs() || p.phase.ThinkTimeNS > 0 {
		return float64(p.phase.NumJobs) // each of its I/Os is waited for
	}
	return float64(p.phase.IODepth * p.phase.NumJobs)
}

// alone is how long one I/O takes when the drive has nothing else to do, with
// the flush and the thinking after it, in seconds.
func (p *pass) alone() float64 {
	l := &p.m.model.Limits
	s := p.reads*l.ReadSeconds + (1-p.reads)*l.WriteSeconds
	if n := max(p.phase.FSync, p.phase.FDataSync); n > 0 {
		s += l.FlushSeconds / float64(n)
	}
	if p.phase.Sync != "" && p.phase.Sync != job.SyncNone {
		s += (1 - p.reads) * l.FlushSeconds
	}
	return s + float64(p.phase.ThinkTimeNS)/1e9
}

// rateLimit is what the phase itself asks for at most; 0 is no limit.
func (p *pass) rateLimit() (iops float64) {
	n := float64(p.phase.NumJobs)
	if r := float64(p.phase.ReadIOPS); r > 0 && p.reads > 0 {
		iops = r * n / p.reads
	}
	if w := float64(p.phase.WriteIOPS); w > 0 && p.reads < 1 {
		if v := w * n / (1 - p.reads); iops == 0 || v < iops {
			iops = v
		}
	}
	return iops
}

// jitter is the noise of the running second.
func (p *pass) jitter() float64 {
	n, t := &p.m.model.Noise, float64(p.elapsed)/1e9
	x := p.level + p.m.noise + n.DriftPerMinute*t/60
	if n.Swing > 0 {
		x += n.Swing * math.Sin(2*math.Pi*t/n.SwingSeconds)
	}
	if p.outlier {
		x += math.Log(1 - n.OutlierLoss)
	}
	return math.Exp(x)
}

// watts is what the drive takes while the pass does so many I/Os a second.
func (p *pass) watts(iops float64, limit string) float64 {
	l := &p.m.model.Limits
	active, moving := l.limit(limit).WattsActive, 0.0
	for _, write := range []bool{false, true} {
		share, bs := p.reads, float64(p.readBS)
		ioName, byteName := ReadIOPS, ReadBytes
		if write {
			share, bs, ioName, byteName = 1-p.reads, float64(p.writeBS), WriteIOPS, WriteBytes
		}
		if share == 0 {
			continue
		}
		// Whichever of the two limits the load comes closer to.
		name, used := ioName, iops*share/l.limit(ioName).PerSecond
		if u := iops * share * bs / l.limit(byteName).PerSecond; u > used {
			name, used = byteName, u
		}
		full := l.limit(name)
		active = max(active, full.WattsActive)
		moving += used * (full.WattsFull - full.WattsActive)
	}
	for i := range p.m.model.Events {
		if e := &p.m.model.Events[i]; e.Kind == EventNeighbour && p.during(e) {
			full := l.limit(limit)
			moving += e.Share * (full.WattsFull - full.WattsActive)
		}
	}
	return active + moving
}
