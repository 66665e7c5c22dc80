package report

import (
	"slices"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// The records in these tests are invented; no drive was measured for them.

// speeds are IOPS by phase and place.
type speeds map[string]map[string]float64

func three(host, pinned, lxc float64) map[string]float64 {
	return map[string]float64{record.PlaceHost: host, record.PlacePinned: pinned, record.PlaceLXC: lxc}
}

// a machine to measure on.
type machine struct {
	online int
	set    []int
	busy   map[string]float64 // share of the place's CPUs in random phases
	heat   bool
	cached map[string]float64 // device bytes over application bytes of reads
	merged int64              // I/Os of a sequential phase that the kernel makes one of; 0 is none
}

// healthy is the run of the tool's specification: random I/O is limited by the
// CPUs, the container itself costs nothing that can be shown.
func healthy() *record.Record {
	rec := run(speeds{
		job.RandRead4K:  three(612_400, 468_100, 462_900),
		job.RandWrite4K: three(498_200, 441_700, 436_300),
		job.Read128K:    three(25_940, 25_938, 25_930),
		job.Write128K:   three(24_612, 24_580, 24_490),
		job.SyncWrite4K: three(780, 778, 771),
	}, machine{
		online: 12, set: []int{0, 2, 4, 6}, heat: true,
		busy: map[string]float64{record.PlaceHost: 0.33, record.PlacePinned: 0.98, record.PlaceLXC: 0.99},
	})
	rec.Target.Neighbours = []record.Neighbour{{Kind: "vm", Name: "101"}, {Kind: "container", Name: "104"}}
	for i := range rec.Plan.CPUSet.CPUs {
		rec.Plan.CPUSet.CPUs[i].Type = "performance"
	}
	rec.Notes = map[string]string{"Kühlkörper": "keiner", "room": "21 °C"}
	return rec
}

// run makes the record of a quick run in which each pass of a place came to its
// speed, give or take half a percent.
func run(sp speeds, m machine) *record.Record {
	at := time.Date(2026, 11, 30, 21, 59, 0, 0, time.FixedZone("CET", 3600))
	quick := job.Quick()
	var phases []job.Phase
	places := []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}
	for _, p := range quick.Phases {
		if sp[p.Name] == nil {
			continue
		}
		phases = append(phases, p)
		places = slices.DeleteFunc(places, func(s string) bool { _, ok := sp[p.Name][s]; return !ok })
	}
	str := func(s string) *string { return &s }
	yes, no := true, false
	cpu := func(id int) record.CPU { return record.CPU{ID: id, Core: id / 2, Package: 0, Sibling: id%2 == 1} }
	rec := &record.Record{
		SchemaVersion: record.SchemaVersion,
		Tool:          record.Tool{Name: "nativ", Version: "0.1.0", Go: "go1.26.0", Command: []string{"nativ", "bench", "--dir", "/mnt/nvme1"}},
		ID:            record.NewID(at, 0xab12), Started: at, Ended: at.Add(151 * time.Second), Complete: true,
		Plan: record.Plan{
			Preset: quick.Name, Phases: phases, Places: places, FileSize: quick.FileSize, WantedSize: quick.FileSize,
			MaxWritten: quick.FileSize + 18*quick.WriteQuota, EstimateNS: [2]int64{110e9, 130e9},
			CPUSet: record.CPUSet{Online: m.online, Default: true}, Memory: new(int64(4 << 30)),
			Seed: 42, GOMAXPROCS: 6, Dir: "/mnt/nvme1",
		},
		Host: record.Host{
			OS: "Debian GNU/Linux 13 (trixie)", Kernel: "6.14.11-2-pve", Machine: "x86_64", PVE: str("9.0.10"),
			CPUModel: "Intel(R) Core(TM) i5-12500", MemoryBytes: 33_500_000_000, Board: str("Example B660M"),
			CgroupLayout: "v2", Governor: str("performance"), IOUringDisabled: new(0),
		},
		Target: record.Target{
			Dir: "/mnt/nvme1", FSType: "ext4", Source: "/dev/mapper/pve-data", MountPoint: "/mnt/nvme1", Options: "rw,noatime",
			TotalBytes: 950e9, FreeBytes: 812e9,
			Stack: []record.Layer{
				{Name: "dm-3", Kind: "lvm", Title: "pve-data", Below: []string{"nvme0n1p3"}},
				{Name: "nvme0n1p3", Kind: "partition", Below: []string{"nvme0n1"}}, {Name: "nvme0n1", Kind: "disk"},
			},
			Drives: []record.Drive{{
				Name: "nvme0n1", Transport: "nvme", Model: str("WD_BLACK SN770 1TB"), Firmware: str("731100WD"),
				Serial: str("23171F800123"), SizeBytes: 1_000_204_886_016, Rotational: &no, Controller: str("nvme0"),
				Link: &record.Link{SpeedMTs: 8000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4,
					PortMaxSpeedMTs: new(8000), PortMaxWidth: new(4)},
				LogicalBlock: 512, Scheduler: str("none"), VolatileCache: &yes, IOStats: &yes, TemperatureFound: m.heat,
			}},
			File: &record.File{Name: "nativ-0123.tmp", Size: quick.FileSize, MemAlign: 4, OffsetAlign: 512},
		},
		Prefill: &record.Prefill{Bytes: quick.FileSize, ElapsedNS: 6_300_000_000},
		Cleaned: &record.Cleaned{},
	}
	for i := range m.online {
		rec.Host.CPUs = append(rec.Host.CPUs, cpu(i))
	}
	var online []int
	for i := range m.online {
		online = append(online, i)
	}
	for _, id := range m.set {
		rec.Plan.CPUSet.CPUs = append(rec.Plan.CPUSet.CPUs, cpu(id))
	}
	for _, name := range places {
		p := record.Place{Name: name, CPUs: m.set, MemoryBytes: new(int64(4 << 30)), Worker: &record.Worker{
			GOMAXPROCS: 6, Engine: record.Engine{Name: "io_uring",
				Setup: []string{"IORING_SETUP_SINGLE_ISSUER", "IORING_SETUP_DEFER_TASKRUN"}, RegisteredFiles: true}}}
		switch name {
		case record.PlaceHost:
			p.CPUs, p.MemoryBytes = online, nil
		case record.PlacePinned:
			p.Cgroup, p.Controllers = "/nativ/pinned", []string{"cpuset", "cpu", "io", "memory"}
		case record.PlaceLXC:
			p.Cgroup, p.Controllers = "/nativ/lxc", []string{"cpuset", "cpu", "io", "memory"}
			p.Container = &record.Container{Runtime: "lxc 6.0.5", IDMap: "0:100000:65536", AppArmor: "lxc-container-default-cgns", Seccomp: "filter"}
		}
		rec.Places = append(rec.Places, p)
	}
	order := slices.Clone(places)
	for _, p := range slices.Backward(places) {
		order = append(order, p)
	}
	w := &world{rec: rec, m: m, cpus: map[int]record.CPUTime{}, temp: 41_000}
	// Reading phases come before writing ones.
	for _, writes := range []bool{false, true} {
		for i := range phases {
			if phases[i].Mode.Writes() != writes {
				continue
			}
			round := record.Round{Phase: phases[i].Name}
			for k, place := range order {
				step := record.Step{Round: len(rec.Rounds), Phase: phases[i].Name, Place: place, RuntimeNS: 2_500_000_000, Seed: uint64(len(rec.Plan.Steps))}
				if writes {
					step.MaxBytes = quick.WriteQuota
				}
				rec.Plan.Steps = append(rec.Plan.Steps, step)
				speed := sp[phases[i].Name][place] * (1 + 0.0025*float64(1-2*(k&1)))
				round.Passes = append(round.Passes, w.pass(&phases[i], place, speed))
			}
			rec.Rounds = append(rec.Rounds, round)
		}
	}
	return rec
}

// A world keeps the counters that a sampler would read.
type world struct {
	rec  *record.Record
	m    machine
	now  int64
	next int
	temp int64
	dev  record.DeviceCounters
	cpus map[int]record.CPUTime
}

func (w *world) sample() *record.Sample {
	s := &record.Sample{MonoNS: w.now, Devices: map[string]record.DeviceCounters{}, CPUs: map[int]record.CPUTime{}}
	for i := range w.rec.Target.Drives {
		if i == 0 {
			s.Devices[w.rec.Target.Drives[i].Name] = w.dev
		}
	}
	for id := range w.m.online {
		s.CPUs[id] = w.cpus[id]
	}
	if w.m.heat {
		s.Temperatures = map[string]int64{"nvme0 Composite": w.temp, "nvme0 Sensor 2": w.temp + 6000}
	}
	return s
}

func (w *world) pass(j *job.Phase, place string, iops float64) record.Pass {
	const runtime = int64(2_500_000_000)
	ios := int64(iops * 2.5)
	var lat record.Histogram
	inFlight := float64(j.IODepth * j.NumJobs)
	meanNS := inFlight / iops * 1e9
	// A long right tail: 97 of 100 near the mean, the rest up to ten times it.
	n := min(ios, 6_000) // two passes make the 10^4 that p99.9 needs
	for i := range n {
		f := 0.8 + 0.4*float64(i%97)/97
		if i%100 > 96 {
			f = 2 + 8*float64(i%1009)/1009
		}
		lat.Add(int64(meanNS * f))
	}
	flow := &record.Flow{IOs: ios, Bytes: ios * j.BlockSize, Lat: &lat}
	busy, cpus := 0.11, int64(len(w.m.set))
	if place == record.PlaceHost {
		cpus = int64(w.m.online)
	}
	if j.Mode.Random() && w.m.busy != nil {
		busy = w.m.busy[place]
	}
	o := &record.Outcome{StartNS: w.now, EndNS: w.now + runtime, Stopped: record.StopTime,
		Usage: record.Usage{UserNS: ios * 85, SystemNS: int64(0.8 * busy * float64(runtime*cpus))}}
	p := record.Pass{Phase: j.Name, Place: place, Index: w.next, Seed: uint64(w.next), StartedAt: w.rec.Started.Add(time.Duration(w.now)), Outcome: o}
	w.next++
	merged := int64(1)
	if !j.Mode.Random() && j.BlockSize > 4096 {
		merged = max(w.m.merged, 1)
	}
	p.Watch.Before = w.sample()
	for sec := range int64(3) {
		length := min(int64(1e9), runtime-sec*1e9)
		i := record.Interval{EndNS: sec*1e9 + length, LenNS: length}
		c := int64(iops * float64(length) / 1e9 * (1 + 0.01*float64(1-sec)))
		if j.Mode.Writes() {
			i.WriteIOs, i.WriteBytes = c, c*j.BlockSize
		} else {
			i.ReadIOs, i.ReadBytes = c, c*j.BlockSize
		}
		p.Intervals = append(p.Intervals, i)
	}
	switch {
	case j.Mode.Writes():
		o.Write = flow
		w.dev.WriteBytes += flow.Bytes
		w.dev.WriteIOs += ios / merged
	default:
		o.Read = flow
		ratio := 1.0
		if r, ok := w.m.cached[place]; ok {
			ratio = r
		}
		w.dev.ReadBytes += int64(float64(flow.Bytes) * ratio)
		w.dev.ReadIOs += int64(float64(ios)*ratio) / merged
	}
	if j.FDataSync > 0 {
		o.Sync = &record.Flow{IOs: ios, Lat: &lat}
	}
	for id := range w.m.online {
		c := w.cpus[id]
		share := 0.02
		if place == record.PlaceHost || slices.Contains(w.m.set, id) {
			share = busy
		}
		c.BusyNS += int64(share * float64(runtime))
		c.TotalNS += runtime
		w.cpus[id] = c
	}
	w.now += runtime
	w.temp = min(w.temp+600, 58_000)
	p.Watch.After = w.sample()
	w.now += 500_000_000
	return p
}

// smallVM is a machine with two CPUs, a virtual disk and no sensor, in which the
// container itself costs something.
func smallVM() *record.Record {
	rec := run(speeds{
		job.RandRead4K:  three(48_200, 47_900, 38_100),
		job.RandWrite4K: three(31_000, 30_800, 28_100),
		job.Read128K:    three(7_900, 7_880, 7_870),
		job.Write128K:   three(4_100, 4_120, 4_090),
		job.SyncWrite4K: three(410, 412, 405),
	}, machine{online: 2, set: []int{0}, merged: 4, busy: map[string]float64{record.PlaceHost: 0.4, record.PlacePinned: 0.66, record.PlaceLXC: 0.61}})
	rec.Plan.CPUSet.Halved = true
	rec.Plan.CPUSet.CPUs = rec.Plan.CPUSet.CPUs[:1]
	rec.Plan.FileSize = 5 << 30
	rec.Plan.Dir, rec.Target.Dir, rec.Target.MountPoint = "/root/bench", "/root/bench", "/"
	rec.Host.PVE, rec.Host.Board, rec.Host.Governor = nil, nil, nil
	hv := "kvm"
	rec.Host.Virtualised = &hv
	t := &rec.Target
	t.FreeBytes, t.TotalBytes = 14_200_000_000, 40e9
	t.Stack = []record.Layer{{Name: "vda1", Kind: "partition", Below: []string{"vda"}}, {Name: "vda", Kind: "disk"}}
	rename(rec, "vda")
	t.Drives = []record.Drive{{Name: "vda", Transport: "virtio", SizeBytes: 42_949_672_960, LogicalBlock: 512, IOStats: new(true), Rotational: new(true)}}
	return rec
}

// rename gives the first drive's counters another name.
func rename(rec *record.Record, name string) {
	old := rec.Target.Drives[0].Name
	rec.Target.Drives[0].Name = name
	eachSample(rec, func(s *record.Sample) {
		s.Devices[name] = s.Devices[old]
		delete(s.Devices, old)
	})
}

func eachSample(rec *record.Record, f func(*record.Sample)) {
	eachPass(rec, func(p *record.Pass) {
		for _, s := range []*record.Sample{p.Watch.Before, p.Watch.After} {
			if s != nil {
				f(s)
			}
		}
	})
}

func eachPass(rec *record.Record, f func(*record.Pass)) {
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			f(&rec.Rounds[i].Passes[j])
		}
	}
}

// incomplete is healthy with an I/O error, a lost container and an early end.
func incomplete() *record.Record {
	rec := healthy()
	rec.Target.Neighbours = nil
	rec.Complete = false
	eachPass(rec, func(p *record.Pass) {
		switch {
		case p.Phase == job.RandRead4K && p.Place == record.PlaceLXC && p.Index == 2:
			p.Failed, p.Outcome = &record.Failure{Code: record.FailContainer, Detail: "the container ended while the worker ran"}, nil
		case p.Phase == job.Read128K && p.Place == record.PlacePinned && p.Index == 7:
			p.Outcome.Errors = []record.IOError{{Op: "read", Errno: "EIO", Offset: 4096, Count: 3}}
			p.Failed = &record.Failure{Code: record.FailIO, Detail: "read: EIO at offset 4096 (3 times)"}
		}
	})
	last := &rec.Rounds[len(rec.Rounds)-1]
	last.Passes = last.Passes[:2]
	last.Passes[1].Failed = &record.Failure{Code: record.FailInterrupted}
	rec.Incomplete = []record.Missing{
		{Code: record.MissingPassFailed, Phase: job.RandRead4K, Place: record.PlaceLXC, Detail: "container: the container ended while the worker ran"},
		{Code: record.MissingPassFailed, Phase: job.Read128K, Place: record.PlacePinned, Detail: "io-error: read: EIO at offset 4096 (3 times)"},
		{Code: record.MissingInterrupted},
	}
	rec.Warnings = []record.Warning{{Code: record.WarnContainerRemade, Phase: job.RandRead4K, Place: record.PlaceLXC}}
	rec.Cleaned.Left = []string{"cgroup /nativ/lxc: busy"}
	return rec
}

// hostOnly is an ordinary user's run on a hard disk.
func hostOnly() *record.Record {
	host := func(v float64) map[string]float64 { return map[string]float64{record.PlaceHost: v} }
	rec := run(speeds{
		job.RandRead4K: host(212), job.RandWrite4K: host(488), job.Read128K: host(1_420), job.Write128K: host(1_390), job.SyncWrite4K: host(61),
	}, machine{online: 8})
	rec.Plan.CPUSet = record.CPUSet{Online: 8, Default: true}
	rec.Plan.Memory = nil
	d := &rec.Target.Drives[0]
	rename(rec, "sda")
	model := "ST4000DM004-2CV104"
	*d = record.Drive{Name: "sda", Transport: "sata", Model: &model, SizeBytes: 4_000_787_030_016, Rotational: new(true), IOStats: new(true), LogicalBlock: 4096}
	rec.Target.Stack = []record.Layer{{Name: "sda1", Kind: "partition", Below: []string{"sda"}}, {Name: "sda", Kind: "disk"}}
	rec.Target.NeighboursUnknown = "processes outside this container cannot be seen"
	rec.Sources = []record.Source{
		{Kind: "device", Name: "sda"}, {Kind: "cgroup", Missing: "no place with a cgroup of its own was measured"},
		{Kind: "temperature", Name: "sda", Missing: "no sensor: the kernel shows none for sda"},
	}
	return rec
}

// allCPUs gives the container every CPU, so that nothing can be split.
func allCPUs() *record.Record {
	two := func(h, l float64) map[string]float64 {
		return map[string]float64{record.PlaceHost: h, record.PlaceLXC: l}
	}
	rec := run(speeds{
		job.RandRead4K: two(612_400, 548_100), job.RandWrite4K: two(498_200, 491_700), job.Read128K: two(25_940, 25_930),
		job.Write128K: two(24_612, 24_990), job.SyncWrite4K: two(780, 771),
	}, machine{online: 4, set: []int{0, 1, 2, 3}, heat: true, busy: map[string]float64{record.PlaceHost: 0.7, record.PlaceLXC: 0.72}})
	rec.Plan.CPUSet.All, rec.Plan.CPUSet.Default = true, false
	rec.Plan.Privileged = true
	rec.Places[1].Container.Privileged = true
	rec.Target.Drives[0].Link = &record.Link{SpeedMTs: 16000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4}
	return rec
}

// cached is a loop file on the host's page cache.
func cached() *record.Record {
	rec := run(speeds{
		job.RandRead4K: three(612_400, 668_100, 422_900), job.RandWrite4K: three(98_200, 97_900, 98_300),
		job.Read128K: three(55_940, 56_938, 55_930), job.Write128K: three(14_612, 14_580, 14_490), job.SyncWrite4K: three(780, 778, 771),
	}, machine{online: 12, set: []int{0, 2, 4, 6}, heat: true,
		cached: map[string]float64{record.PlaceHost: 0.02, record.PlacePinned: 0, record.PlaceLXC: 0.4}})
	rec.Target.Stack = append([]record.Layer{{Name: "loop3", Kind: "loop", Title: "/var/lib/images/100.raw", DirectIO: new(false)}}, rec.Target.Stack...)
	rec.Target.Drives[0].Link = nil
	return rec
}

// network is an NFS export, measured by which no drive can be described.
func network() *record.Record {
	rec := run(speeds{
		job.RandRead4K: three(21_400, 21_100, 20_900), job.RandWrite4K: three(9_200, 9_900, 10_300),
		job.Read128K: three(890, 889, 891), job.Write128K: three(870, 872, 869), job.SyncWrite4K: three(330, 331, 329),
	}, machine{online: 12, set: []int{0, 2, 4, 6}})
	t := &rec.Target
	t.FSType, t.Source, t.Network, t.Stack, t.Drives = "nfs4", "nas:/export", true, nil, nil
	t.Options = "rw,vers=4.2"
	eachSample(rec, func(s *record.Sample) { s.Devices = nil })
	return rec
}

// noisy is smallVM beside other load: its passes scatter, and its CPUs are busy
// with something else.
func noisy() *record.Record {
	rec := smallVM()
	rec.Plan.FileSize = rec.Plan.WantedSize
	rec.Target.Neighbours = []record.Neighbour{{Kind: "job", Name: "fio (PID 4711)"}}
	eachPass(rec, func(p *record.Pass) {
		if p.Index%2 == 1 && p.Phase != job.Read128K {
			o := p.Outcome
			o.EndNS += (o.EndNS - o.StartNS) / 3 // a quarter slower
		}
		for id, c := range p.Watch.After.CPUs {
			before := p.Watch.Before.CPUs[id]
			c.BusyNS = before.BusyNS + c.TotalNS - before.TotalNS
			before.UserNS, c.UserNS = new(int64(0)), new((c.TotalNS-before.TotalNS)*62/100)
			p.Watch.Before.CPUs[id], p.Watch.After.CPUs[id] = before, c
		}
		p.Outcome.Usage.SystemNS /= 4
	})
	return rec
}
