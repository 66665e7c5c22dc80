package sim

import (
	"context"
	"fmt"
	"math"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/target"
)

// A Place is where passes run on the simulated machine: the host, the host on
// some of its CPUs, or a container.
type Place struct {
	m        *Machine
	name     string
	cpus     []int
	memory   *int64
	procs    int
	prepared bool
	fileSize int64
}

// Places makes the places of a plan. They have no files: the plan says how large
// the test file would be.
func (m *Machine) Places(plan *record.Plan) []*Place {
	m.footprint = float64(plan.FileSize)
	var all []*Place
	for _, name := range plan.Places {
		p := &Place{m: m, name: name, procs: plan.GOMAXPROCS, fileSize: plan.FileSize}
		if record.PlaceKind(name) == record.PlaceHost || len(plan.CPUSet.CPUs) == 0 {
			for i := range m.model.Machine.CPUs() {
				p.cpus = append(p.cpus, i)
			}
		} else {
			for _, c := range plan.CPUSet.CPUs {
				p.cpus = append(p.cpus, c.ID)
			}
		}
		if record.PlaceKind(name) != record.PlaceHost {
			p.memory = plan.Memory
		}
		all = append(all, p)
	}
	return all
}

// Name is one of the record.Place constants.
func (pl *Place) Name() string { return pl.name }

// Cgroup is the path of the place's cgroup, "" for the host.
func (pl *Place) Cgroup() string { return cgroupOf(pl.name) }

func cgroupOf(place string) string {
	if record.PlaceKind(place) == record.PlaceHost {
		return ""
	}
	return "/nativ-simulated/" + place
}

// Prepare sets the place up. Files are for places that are real.
func (pl *Place) Prepare(context.Context, []*target.File) (record.Place, error) {
	pl.prepared = true
	w := pl.worker()
	p := record.Place{Name: pl.name, CPUs: pl.cpus, MemoryBytes: pl.memory, Cgroup: pl.Cgroup(), Worker: &w}
	if record.PlaceKind(pl.name) != record.PlaceHost {
		p.Controllers = []string{"cpuset", "cpu", "memory"}
	}
	if pl.name == record.PlaceLXC {
		p.Container = &record.Container{Runtime: "simulated", IDMap: "0 100000 65536", Seccomp: "simulated"}
	}
	return p, nil
}

func (pl *Place) worker() record.Worker {
	return record.Worker{PID: 4242, PIDNamespace: "pid:[simulated]", UserNS: "user:[simulated]", CPUs: pl.cpus, GOMAXPROCS: pl.procs,
		Engine: record.Engine{Name: "simulated"}}
}

// A pass is one phase in one place, while it runs.
type pass struct {
	m        *Machine
	place    *Place
	phase    *job.Phase
	index    int // -1 is the prefill
	reads    float64
	readBS   int64
	writeBS  int64
	level    float64 // of the noise
	outlier  bool    // of the running second
	elapsed  int64
	ios      float64
	maxIOs   float64 // +Inf where bytes do not bound it
	acts     map[string]*openAct
	possible []string // causes, in the order of Causes
	out      *record.Outcome
	counted  int64 // I/Os in intervals so far
	stall    int64 // ns without an I/O until now
	logged   map[int]bool
	failure  *record.Failure
}

// Run runs one pass in virtual time. What sink does takes no time. ctx ends the
// pass after the running second.
func (pl *Place) Run(ctx context.Context, ph job.Phase, _ []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	if !pl.prepared {
		return nil, &record.Failure{Code: record.FailStart, Detail: "the place was not prepared"}
	}
	p := pl.newPass(&ph)
	m := pl.m
	w := pl.worker()
	sink(record.Event{Type: record.EventReady, MonoNS: m.mono, Worker: &w})
	for t := int64(0); t < ph.RampTimeNS; t += stepNS {
		iops, limit := p.speed("")
		p.move(stepNS, iops, limit)
	}
	p.ios = 0
	start := m.mono
	p.out.StartNS = start
	sink(record.Event{Type: record.EventStarted, MonoNS: start})
	if ctx.Err() != nil {
		p.out.Stopped = record.StopAsked
	}
	for p.out.Stopped == "" {
		iv := p.second()
		if m.watcher != nil && p.out.Stopped == "" {
			m.watcher.tick()
		}
		sink(record.Event{Type: record.EventInterval, MonoNS: m.mono, Interval: iv})
		if ctx.Err() != nil && p.out.Stopped == "" {
			p.out.Stopped = record.StopAsked
		}
	}
	p.endActs()
	p.out.EndNS = m.mono
	sink(record.Event{Type: record.EventEnded, MonoNS: m.mono})
	if p.failure == nil && ctx.Err() != nil {
		p.failure = &record.Failure{Code: record.FailInterrupted}
	}
	return p.out, p.failure
}

func (pl *Place) newPass(ph *job.Phase) *pass {
	m := pl.m
	p := &pass{m: m, place: pl, phase: ph, index: -1, acts: map[string]*openAct{}, logged: map[int]bool{}, out: &record.Outcome{}, maxIOs: math.Inf(1)}
	p.readBS, p.writeBS = ph.BlockSizes()
	switch {
	case ph.Mode.Mixed():
		p.reads = float64(ph.RWMixRead) / 100
	case ph.Mode.Reads():
		p.reads = 1
	}
	if ph.Name != job.Prefill().Name {
		p.index = m.passes
		m.passes++
	}
	p.level = m.rng.NormFloat64() * m.model.Noise.Pass
	p.possible = p.possibleCauses()
	bytes := float64(ph.MaxBytes)
	if ph.Once {
		var regions int64
		for i := range ph.NumJobs {
			_, n := ph.Region(i, pl.fileSize)
			regions += ph.IOLimit(n)
		}
		if bytes == 0 || float64(regions) < bytes {
			bytes = float64(regions)
		}
	}
	if bytes > 0 {
		p.maxIOs = math.Floor(bytes / p.bytesPerIO())
	}
	if ph.Mode.Reads() {
		p.out.Read = &record.Flow{Lat: &record.Histogram{}}
	}
	if ph.Mode.Writes() {
		p.out.Write = &record.Flow{Lat: &record.Histogram{}}
	}
	if ph.Syncs() {
		p.out.Sync = &record.Flow{Lat: &record.Histogram{}}
	}
	return p
}

func (p *pass) bytesPerIO() float64 {
	return p.reads*float64(p.readBS) + (1-p.reads)*float64(p.writeBS)
}
func (p *pass) bytesMoved() int64 { return int64(p.ios * p.bytesPerIO()) }

// possibleCauses are those that the model has at all, so that only they are
// looked at in every step.
func (p *pass) possibleCauses() (causes []string) {
	m := p.m.model
	is := map[string]bool{
		CauseCPULimit: len(p.place.cpus) < m.Machine.CPUs(), CauseCgroup: m.Machine.QuotaCPUs > 0,
		CauseSLC: m.SLC != nil, CauseGC: m.GC != nil,
		CausePowerState: m.Drive.PowerStateSpeed > 0, CauseContainer: p.place.name == record.PlaceLXC && len(m.Container) > 0,
	}
	for i := range m.Thermal.Throttle {
		s := &m.Thermal.Throttle[i]
		is[CauseThermal] = is[CauseThermal] || s.Speed > 0 || len(s.For) > 0
		is[CauseThermalLink] = is[CauseThermalLink] || s.LinkSpeedMTs > 0
	}
	if l := m.Drive.Link; l != nil && (l.SpeedMTs < l.MaxSpeedMTs || l.Width < l.MaxWidth) {
		is[CauseLink] = true
	}
	for i := range m.Events {
		is[causeOf[m.Events[i].Kind]] = true
	}
	for _, c := range Causes() {
		if is[c] {
			causes = append(causes, c)
		}
	}
	return causes
}

var causeOf = map[string]string{
	EventNeighbour: CauseNeighbour, EventLink: CauseLink, EventCPUFrequency: CauseCPUFrequency, EventCPULoad: CauseCPULoad,
	EventCPUQuota: CauseCgroup, EventReset: CauseErrors, EventMediaErrors: CauseErrors, EventUnknown: CauseUnknown,
}

// second runs the pass for a second, or to its end, and reports it.
func (p *pass) second() *record.Interval {
	m := p.m
	n := &m.model.Noise
	m.noise = n.Correlation*m.noise + math.Sqrt(1-n.Correlation*n.Correlation)*n.Second*m.rng.NormFloat64()
	p.outlier = n.Outliers > 0 && m.rng.Float64() < n.Outliers
	begin, stalled := p.elapsed, p.stall
	for p.elapsed < begin+second && p.out.Stopped == "" {
		p.happen()
		iops, limit := p.speed("")
		ns := begin + second - p.elapsed
		ns = min(ns, stepNS)
		if r := p.phase.RuntimeNS; r > 0 && p.elapsed+ns >= r {
			ns = r - p.elapsed
			p.out.Stopped = record.StopTime
		}
		if left := p.maxIOs - p.ios; iops*float64(ns)/1e9 >= left {
			if left <= 0 {
				ns, iops = 0, 0
			} else {
				ns = int64(math.Ceil(left / iops * 1e9))
				iops = left / (float64(ns) / 1e9)
			}
			p.out.Stopped = record.StopBytes
			if p.phase.Once {
				p.out.Stopped = record.StopOnce
			}
		}
		p.note(p.elapsed, p.elapsed+ns, iops, func(c string) float64 { s, _ := p.speed(c); return s })
		p.move(ns, iops, limit)
		p.elapsed += ns
		if p.out.Stopped == record.StopBytes || p.out.Stopped == record.StopOnce {
			p.ios = p.maxIOs
		}
		if iops == 0 {
			p.stall += ns
		} else {
			stalled, p.stall = max(stalled, p.stall), 0
		}
		if p.failure != nil {
			p.out.Stopped = record.StopError
		}
	}
	return p.interval(begin, stalled)
}

// move does so many I/Os a second for ns.
func (p *pass) move(ns int64, iops float64, limit string) {
	m, c := p.m, &p.m.counters
	dt := float64(ns) / 1e9
	done := iops * dt
	p.ios += done
	reads, writes := done*p.reads, done*(1-p.reads)
	c.readIOs += reads
	c.writeIOs += writes
	c.readBytes += reads * float64(p.readBS)
	c.writeBytes += writes * float64(p.writeBS)
	if n := max(p.phase.FSync, p.phase.FDataSync); n > 0 {
		c.flushIOs += writes / float64(n)
	}
	c.busyNS += float64(ns)
	c.queueNS += float64(ns) * p.inFlight()
	p.neighbours(dt)
	p.cpuTime(ns, done)
	if m.model.Drive.Link != nil {
		m.link = m.linkFor(p, "")
	}
	m.advance(ns, p.watts(iops, limit), limit)
	if writes > 0 {
		m.wrote(writes*float64(p.writeBS), p.phase.Mode.Random())
	} else {
		m.idle(ns)
	}
}

// neighbours counts what others do on the drive.
func (p *pass) neighbours(dt float64) {
	c := &p.m.counters
	for i := range p.m.model.Events {
		e := &p.m.model.Events[i]
		if e.Kind != EventNeighbour || !p.during(e) {
			continue
		}
		mine, _ := p.driveSpeed(p.reads < 0.5, "")
		theirs := mine * e.Share / (1 - e.Share) * dt
		if e.Writes {
			c.writeIOs += theirs
			c.writeBytes += theirs * float64(p.writeBS)
		} else {
			c.readIOs += theirs
			c.readBytes += theirs * float64(p.readBS)
		}
	}
}

// cpuTime counts the CPU time of the pass and of other load.
func (p *pass) cpuTime(ns int64, done float64) {
	m, c := p.m, &p.m.counters
	freq := m.frequency(p, "")
	used := done * (p.reads/p.perCPU(false) + (1-p.reads)/p.perCPU(true)) / freq * 1e9
	const userShare = 0.2
	p.out.Usage.UserNS += int64(used * userShare)
	p.out.Usage.SystemNS += int64(used * (1 - userShare))
	each := used / float64(len(p.place.cpus))
	// Noise is of the drive; no CPU is busy for longer than there was time.
	free := 1 - idleLoad
	for i := range m.model.Events {
		if e := &m.model.Events[i]; e.Kind == EventCPULoad && p.during(e) {
			free -= e.Share
		}
	}
	each = min(each, max(free, 0)*float64(ns))
	for _, i := range p.place.cpus {
		c.cpuBusy[i] += each
		c.cpuUser[i] += each * userShare
	}
	c.cpuHz = m.model.Machine.CPUHz * freq
	if used > 0.95*p.cpus("")/freq*float64(ns) {
		c.cpuSomeNS += 0.5 * float64(ns)
	}
	c.ioSomeNS += float64(ns)
	for i := range m.model.Events {
		e := &m.model.Events[i]
		if !p.during(e) {
			continue
		}
		switch e.Kind {
		case EventCPULoad:
			for _, i := range p.place.cpus {
				c.cpuBusy[i] += e.Share * float64(ns)
				c.cpuUser[i] += e.Share * float64(ns)
			}
		case EventCPUFrequency:
			if e.Hot && p.elapsed%second == 0 {
				c.coreThrottles += 10
			}
		}
	}
	if p.place.Cgroup() == "" {
		return
	}
	g := m.cgroup(p.place.Cgroup())
	g.usageNS += used
	if q := p.place.quota(p, ""); q > 0 && used >= 0.95*q*float64(ns) {
		// Ten periods of 100 ms a second, each CPU held back for the rest of it.
		g.throttled += 10 * float64(ns) / 1e9
		g.throttledNS += max(0, float64(len(p.place.cpus))-q) * float64(ns)
	}
}

// happen logs and counts what events do at their moment.
func (p *pass) happen() {
	m := p.m
	for i := range m.model.Events {
		e := &m.model.Events[i]
		if !p.during(e) {
			continue
		}
		first := !p.logged[i]
		p.logged[i] = true
		switch e.Kind {
		case EventReset:
			if first {
				m.say(4, "timeout", "nvme nvme0: I/O tag 12 (100c) QID 1 timeout, aborting")
				m.say(4, "reset", "nvme nvme0: controller is down; will reset: CSTS=0x1, PCI_STATUS=0x10")
				m.counters.errorEntries++
			}
		case EventMediaErrors:
			if first || p.elapsed%(2*second) == 0 {
				m.counters.mediaErrors++
				m.counters.errorEntries++
				if e.Fails {
					p.fail()
				}
				m.say(3, "io-error", fmt.Sprintf("critical medium error, dev %s, sector %d op 0x0:(READ) flags 0x4000 phys_seg 1 prio class 0", m.disk(), 123456789+8*m.counters.mediaErrors))
			}
		case EventLink:
			if first {
				m.counters.correctable += 3
				m.say(4, "link", fmt.Sprintf("pcieport %s: bwctrl: link runs at %d MT/s x%d", portAddress, e.SpeedMTs, e.Width))
			}
		}
	}
}

// fail makes one I/O of the pass one that the drive could not do.
func (p *pass) fail() {
	op := "read"
	if p.reads < 0.5 {
		op = "write"
	}
	offset := p.bytesMoved() % max(p.place.fileSize, 1) / p.readBS * p.readBS
	p.out.Errors = []record.IOError{{Op: op, Errno: "EIO", Offset: offset, Count: 1}}
	p.failure = &record.Failure{Code: record.FailIO, Detail: fmt.Sprintf("%s: EIO at %d", op, offset)}
}

func (m *Machine) say(level int, kind, text string) {
	m.log = append(m.log, record.KernelLine{MonoNS: m.mono, Level: level, Kind: kind, Text: text})
}

// interval reports the I/Os since the one before, over the time since begin.
func (p *pass) interval(begin, stalled int64) *record.Interval {
	length := p.elapsed - begin
	total := int64(p.ios + 1e-6)
	n := total - p.counted
	p.counted = total
	iv := &record.Interval{EndNS: p.elapsed, LenNS: length}
	// Shares of the whole pass, so that rounding does not add up.
	if f := p.out.Read; f != nil {
		iv.ReadIOs = int64(math.Round(float64(total)*p.reads)) - f.IOs
		iv.ReadBytes = iv.ReadIOs * p.readBS
	}
	if p.out.Write != nil {
		iv.WriteIOs = n - iv.ReadIOs
		iv.WriteBytes = iv.WriteIOs * p.writeBS
	}
	if n == 0 {
		return iv
	}
	lat, sync := p.meanLatency(float64(n) / (float64(length) / 1e9))
	spread := p.m.model.Limits.LatencySpread
	waited := latencies(iv.ReadIOs, lat, spread)
	w := latencies(iv.WriteIOs, lat, spread)
	if stalled > 0 {
		waited, w = late(waited, stalled), late(w, stalled)
	}
	add(p.out.Read, iv.ReadIOs, iv.ReadBytes, waited)
	add(p.out.Write, iv.WriteIOs, iv.WriteBytes, w)
	waited.Merge(w)
	if every := int64(max(p.phase.FSync, p.phase.FDataSync)); every > 0 {
		iv.SyncIOs = p.out.Write.IOs/every - p.out.Sync.IOs
		waited = latencies(iv.SyncIOs, sync, spread)
		add(p.out.Sync, iv.SyncIOs, 0, waited)
	}
	if p50, ok := waited.Percentile(50); ok {
		p99, _ := waited.Percentile(99)
		longest := waited.Max
		iv.P50NS, iv.P99NS, iv.MaxNS = &p50, &p99, &longest
	}
	return iv
}

// late makes one I/O of the histogram one that waited for the end of a stall.
func late(h *record.Histogram, ns int64) *record.Histogram {
	if h.N() < 2 {
		return h
	}
	for i, c := range h.Counts {
		if c > 0 {
			h.Counts[i]--
			break
		}
	}
	h.Add(ns)
	h.Sum -= h.Min
	return h
}

func add(f *record.Flow, ios, bytes int64, lat *record.Histogram) {
	if f == nil || ios == 0 {
		return
	}
	f.IOs += ios
	f.Bytes += bytes
	f.Lat.Merge(lat)
}

// meanLatency is how long an I/O and a flush take at so many I/Os a second, in
// nanoseconds: Little's law.
func (p *pass) meanLatency(iops float64) (io, sync float64) {
	l := &p.m.model.Limits
	alone := p.reads*l.ReadSeconds + (1-p.reads)*l.WriteSeconds
	cycle := p.inFlight()/iops - float64(p.phase.ThinkTimeNS)/1e9
	if r := p.rateLimit(); r > 0 && iops > 0.98*r {
		cycle = p.alone() // the drive waits for the test
	}
	cycle = max(cycle, 1e-6)
	every := float64(max(p.phase.FSync, p.phase.FDataSync))
	if every == 0 {
		return cycle * 1e9, 0
	}
	flush := l.FlushSeconds / every
	rest := cycle * alone / (alone + flush)
	return rest * 1e9, (cycle - rest) * every * 1e9
}
