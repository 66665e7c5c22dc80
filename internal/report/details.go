package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// details are the sections that --details adds.
func (b *builder) details() []Block {
	var blocks []Block
	add := func(heading string, bs ...Block) {
		blocks = append(blocks, Heading{heading})
		blocks = append(blocks, bs...)
	}
	m := &b.detail
	if len(b.res.Phases) > 0 {
		add(m.throughput, b.throughput()...)
		add(m.latency, b.latency(), Paragraph{[]string{m.latencyNote}})
		note := []string{m.effortNote}
		if text := b.merged(); text != "" {
			note = append(note, text)
		}
		add(m.effort, b.effort(), Paragraph{note})
	}
	if bs := b.good(); len(bs) > 0 {
		add(b.compare.good, bs...)
	}
	if bs := b.heatDetails(); len(bs) > 0 {
		add(b.drops.heatDetails, bs...)
	}
	if bs := b.fillDetails(); len(bs) > 0 {
		add(b.drops.curveHead, bs...)
	}
	if bs := b.dropDetails(); len(bs) > 0 {
		add(b.drops.drops, bs...)
	}
	if f := b.holdDetails(); len(f.Rows) > 0 {
		add(b.drops.holds, f)
	}
	if len(b.res.Temperatures) > 0 {
		add(m.sensors, b.sensors())
	}
	if f := b.meanwhileDetails(); len(f.Rows) > 0 {
		add(b.meanwhile.head, f)
	}
	if f := b.kernelLog(); len(f.Rows) > 0 {
		add(b.meanwhile.log, f)
	}
	if len(b.rec.Incomplete) > 0 {
		add(m.missing, b.missing())
	}
	add(m.system, b.system())
	add(m.storage, b.storage())
	if len(b.rec.Places) > 0 {
		add(m.containerHead, b.places())
	}
	rules := m.rulesText
	if b.inRounds() {
		add(b.rounds.head, b.judgements()...)
		rules = b.rounds.rules
	}
	method := []Block{b.method()}
	if len(b.rec.Plan.Places) > 1 { // of one place there are no differences
		method = append(method, Paragraph{[]string{rules}})
	}
	add(m.method, method...)
	if len(b.rec.Notes) > 0 {
		f := Facts{}
		for _, k := range slices.Sorted(maps.Keys(b.rec.Notes)) {
			f.add(b.note(k, b.rec.Notes[k]))
		}
		add(m.notes, f)
	}
	return blocks
}

// add appends a row; an empty text is no row.
func (f *Facts) add(label, text string) {
	if text != "" {
		f.Rows = append(f.Rows, Fact{label, text})
	}
}

// mode is the workload in fio's words.
func mode(j *job.Phase) string { return string(kindOf(j)) }

// orAbsent formats what v points at.
func orAbsent[T any](v *T, format func(T) string) string {
	if v == nil {
		return absent
	}
	return format(*v)
}

// throughput has one table a place, with the columns of the test that readers
// know: mode, block size, highest bandwidth, highest IOPS.
func (b *builder) throughput() []Block {
	m := &b.detail
	var blocks []Block
	whole := func(v float64) string {
		if v < 100 {
			return b.short(v)
		}
		return b.fixed(v, 0)
	}
	mib := func(v float64) string { return b.short(v / (1 << 20)) }
	for i, p := range b.res.Phases[0].Places {
		t := Table{Columns: []Column{{m.mode, true}, {m.blockSize, false}, {"IOPS", false}, {"MiB/s", false}, {"MB/s", false},
			{m.maxBandwidth, false}, {m.maxIOPS, false}}}
		for j := range b.res.Phases {
			ph := &b.res.Phases[j]
			p := &ph.Places[i]
			t.Rows = append(t.Rows, Row{Cells: []Cell{
				{Text: b.mode(&ph.Job)}, {Text: blockSizes(&ph.Job)},
				{Text: orAbsent(p.IOPS, whole)},
				{Text: orAbsent(p.BytesPerSec, mib)},
				{Text: orAbsent(p.BytesPerSec, func(v float64) string { return b.short(v / 1e6) })},
				{Text: orAbsent(p.MaxBytesPerSec, func(v float64) string { return unit(mib(v), "MiB/s") })},
				{Text: orAbsent(p.MaxIOPS, whole)},
			}})
		}
		blocks = append(blocks, Paragraph{[]string{b.placeName(b.rec, p.Name)}}, t)
	}
	return append(blocks, Paragraph{[]string{m.throughputNote}})
}

// mode is fio's rw of a phase of ours, and the name of another.
func (b *builder) mode(j *job.Phase) string {
	if !b.ours(j) {
		return b.data(j.Name)
	}
	return mode(j)
}

func (b *builder) modeAndSize(j *job.Phase) string {
	if !b.ours(j) {
		return b.data(j.Name)
	}
	return mode(j) + " " + blockSize(j.BlockSize)
}

// rows calls f for every phase and place.
func (b *builder) rows(t *Table, f func(p *analysis.Place) []string) {
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		for j := range ph.Places {
			p := &ph.Places[j]
			r := Row{Cells: []Cell{{Text: b.modeAndSize(&ph.Job)}, {Text: b.placeName(b.rec, p.Name)}}}
			for _, text := range f(p) {
				r.Cells = append(r.Cells, Cell{Text: text})
			}
			t.Rows = append(t.Rows, r)
		}
	}
}

func (b *builder) latency() Table {
	m := &b.detail
	t := Table{Columns: []Column{{m.mode, true}, {m.place, true}, {"p50", false}, {"p99", false}, {"p" + b.fixed(99.9, 1), false}}}
	ns := func(v int64) string { return b.duration(float64(v)) }
	b.rows(&t, func(p *analysis.Place) []string {
		return []string{orAbsent(p.Lat.P50, ns), orAbsent(p.Lat.P99, ns), orAbsent(p.Lat.P999, ns)}
	})
	return t
}

func (b *builder) effort() Table {
	m := &b.detail
	t := Table{Columns: []Column{{m.mode, true}, {m.place, true}, {m.user, false}, {m.kernel, false}, {m.busy, false},
		{m.device, false}, {m.passes, false}, {m.spread, false}}}
	pct := func(v float64) string { return unit(b.fixed(v*100, 0), "%") }
	b.rows(&t, func(p *analysis.Place) []string {
		return []string{
			orAbsent(p.UserNS, b.cpuTime), orAbsent(p.SystemNS, b.cpuTime), orAbsent(p.CPUBusy, pct),
			orAbsent(p.DeviceRatio, func(v float64) string { return b.fixed(v, 2) }),
			fmt.Sprintf("%d/%d", p.Passes, p.Planned),
			orAbsent(p.Spread, func(v float64) string { return unit(b.fixed(v*100, 1), "%") }),
		}
	})
	return t
}

// cpuTime formats a CPU time for each I/O, which is more than none.
func (b *builder) cpuTime(ns float64) string {
	if ns < 0.5 {
		return fmt.Sprintf(b.detail.below, unit("1", "ns"))
	}
	return b.duration(ns)
}

// merged names the phases whose I/Os reached the drives in clearly fewer, so that
// nobody takes their IOPS for the drive's; "" where there is none.
func (b *builder) merged() string {
	var parts []string
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		var least, most *float64
		for _, p := range ph.Places {
			// Where a cache answered there are fewer for another reason.
			if v := p.DeviceIOs; v != nil && *v < 0.5 && p.DeviceRatio != nil && *p.DeviceRatio >= 0.9 {
				if least == nil || *v < *least {
					least = v
				}
				if most == nil || *v > *most {
					most = v
				}
			}
		}
		if least == nil {
			continue
		}
		low, high := b.fixed(*least, 2), b.fixed(*most, 2)
		if low != high {
			low = fmt.Sprintf(b.between, low, high)
		}
		parts = append(parts, fmt.Sprintf(b.detail.mergedText, b.phaseName(&ph.Job), low))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(b.detail.mergedNote, strings.Join(parts, ", "))
}

func (b *builder) sensors() Facts {
	var f Facts
	for _, t := range b.res.Temperatures {
		if t.Min == t.Max {
			f.add(b.data(t.Sensor), fmt.Sprintf(b.meanwhile.always, unit(b.celsius(t.Min), "°C")))
			continue
		}
		f.add(b.data(t.Sensor), fmt.Sprintf(b.detail.sensorText, b.celsius(t.Min), unit(b.celsius(t.Max), "°C"), unit(b.celsius(t.First), "°C")))
	}
	for i := range b.rec.Target.Drives {
		if d := &b.rec.Target.Drives[i]; d.NVMe != nil {
			label := b.meanwhile.thresholds
			if len(b.rec.Target.Drives) > 1 {
				label += " " + b.data(d.Name)
			}
			f.add(label, b.thresholds(d.NVMe))
		}
	}
	return f
}

func (b *builder) missing() Facts {
	m := &b.detail
	words := map[string]string{
		record.MissingInterrupted: m.interrupted, record.MissingPassFailed: m.passFailed,
		record.MissingPlace: m.placeLost, record.MissingPrefill: m.prefillFailed,
	}
	var f Facts
	for _, i := range b.rec.Incomplete {
		label := m.run
		if i.Phase != "" || i.Place != "" {
			label = strings.TrimSpace(b.data(i.Phase) + " " + b.data(i.Place))
		}
		text := words[i.Code]
		if text == "" {
			text = b.plans.missing[i.Code]
		}
		if text == "" {
			text = b.data(i.Code)
		}
		d := b.reason(i.Detail)
		// "container: the container has ended", the failure of the pass.
		if code, detail, ok := strings.Cut(i.Detail, ": "); ok && b.fail[code] != "" {
			d = b.failure(code, detail)
		}
		if d != "" {
			text = fmt.Sprintf(m.missingText, text, d)
		}
		f.add(label, text)
	}
	return f
}

func (b *builder) system() Facts {
	m, h := &b.detail, &b.rec.Host
	opt := func(s *string) string {
		if s == nil {
			return ""
		}
		return b.data(*s)
	}
	var f Facts
	f.add(m.os, b.data(h.OS))
	f.add("Proxmox VE", opt(h.PVE))
	f.add(m.kernelRow, strings.TrimSpace(b.data(h.Kernel)+" "+b.data(h.Machine)))
	cpu := b.data(h.CPUModel)
	if cpu == "" {
		cpu = b.unknown
	}
	f.add(m.cpu, cpu+", "+b.cpuCount(len(h.CPUs)))
	i := b.informer()
	for k := range h.Cores {
		f.add(" ", i.coresLine(&h.Cores[k]))
	}
	if h.MemoryBytes > 0 {
		f.add(m.ram, i.memoryLine())
	}
	f.add(m.board, opt(h.Board))
	f.add("BIOS", opt(h.BIOS))
	hypervisor := opt(h.Virtualised)
	if hypervisor == "unknown" { // there is one, but it does not give its name
		hypervisor = b.unknown
	}
	f.add(m.hypervisor, hypervisor)
	f.add(m.cgroup, b.data(h.CgroupLayout))
	if len(h.Cores) == 0 { // else it stands with them
		f.add(m.governor, opt(h.Governor))
	}
	if h.IOUringDisabled != nil {
		f.add("kernel.io_uring_disabled", strconv.Itoa(*h.IOUringDisabled))
	}
	return f
}

// informer words what nativ info words the same.
func (b *builder) informer() *informer {
	return &informer{notes: b.notes, in: &record.Info{Host: b.rec.Host, Time: b.rec.Started}, m: &b.info}
}

func (b *builder) storage() Facts {
	m, t := &b.detail, &b.rec.Target
	var f Facts
	if t.Device == nil {
		f.add(m.filesystem, fmt.Sprintf("%s, %s (%s)", b.data(t.FSType), b.data(t.MountPoint), b.data(t.Options)))
	} else {
		f.add(b.deviceWords.label, b.deviceLine())
	}
	f.add(m.space, fmt.Sprintf(m.spaceText, b.bytes(t.TotalBytes), b.bytes(t.FreeBytes)))
	var layers []string
	for _, l := range t.Stack {
		s := b.data(l.Name)
		if l.Kind != "disk" {
			s += " (" + strings.TrimSpace(b.data(l.Kind)+" "+b.data(l.Title)) + ")"
		}
		layers = append(layers, s)
	}
	f.add(m.stack, strings.Join(layers, " → "))
	if t.Trim != nil {
		i := b.informer()
		f.add(i.m.trim, i.trimLine(t))
		f.add(i.m.lastTrim, i.lastTrimLine(t.Trim))
	}
	for i := range t.Drives {
		f.add(m.driveRow, b.driveDetail(&t.Drives[i]))
	}
	if t.File != nil {
		f.add(m.file, fmt.Sprintf(m.fileText, b.binary(t.File.Size), b.binary(t.File.MemAlign), b.binary(t.File.OffsetAlign)))
	}
	return f
}

func (b *builder) driveDetail(d *record.Drive) string {
	m := &b.detail
	parts := []string{b.driveName(d)}
	if d.Model != nil {
		parts = []string{b.data(d.Name), b.driveName(d)}
	}
	if d.Transport != "" {
		parts = append(parts, b.data(d.Transport))
	}
	if d.SizeBytes > 0 {
		parts = append(parts, b.bytes(d.SizeBytes))
	}
	if d.Firmware != nil {
		parts = append(parts, fmt.Sprintf(m.firmware, b.data(*d.Firmware)))
	}
	if d.Link != nil && d.Link.SpeedMTs > 0 && d.Link.Width > 0 {
		parts = append(parts, "PCIe"+glue+pcie(float64(d.Link.SpeedMTs), float64(d.Link.Width)))
	}
	if d.LogicalBlock > 0 {
		parts = append(parts, fmt.Sprintf(m.logicalBlock, b.binary(d.LogicalBlock)))
	}
	if d.Scheduler != nil {
		parts = append(parts, fmt.Sprintf(m.scheduler, b.data(*d.Scheduler)))
	}
	state := map[bool]string{true: b.on, false: b.off}
	if d.VolatileCache != nil {
		parts = append(parts, fmt.Sprintf(m.writeCache, state[*d.VolatileCache]))
	}
	if d.IOStats != nil {
		parts = append(parts, fmt.Sprintf(m.counters, state[*d.IOStats]))
	}
	return strings.Join(parts, ", ")
}

func (b *builder) places() Facts {
	m := &b.detail
	var f Facts
	for i := range b.rec.Places {
		p := &b.rec.Places[i]
		parts := []string{"CPUs" + glue + job.FormatCPUs(p.CPUs)}
		if p.MemoryBytes != nil {
			parts = append(parts, fmt.Sprintf(b.memory, b.binary(*p.MemoryBytes)))
		} else {
			parts = append(parts, b.noMemory)
		}
		if c := p.Container; c != nil {
			mode := b.unprivileged
			if c.Privileged {
				mode = b.privileged
			}
			parts = append(parts, b.data(c.Runtime), mode)
			if c.PVE != nil {
				parts = append(parts, b.pveParts(c.PVE)...)
			}
			for _, kv := range [][2]string{{m.idmap, c.IDMap}, {m.apparmor, c.AppArmor}, {m.seccomp, c.Seccomp}} {
				if v := b.reason(kv[1]); v != "" {
					parts = append(parts, kv[0]+" "+v)
				}
			}
		}
		if p.Cgroup != "" {
			parts = append(parts, m.groupRow+" "+b.data(p.Cgroup))
		}
		if len(p.Controllers) > 0 {
			parts = append(parts, fmt.Sprintf(m.controllers, b.data(strings.Join(p.Controllers, " "))))
		}
		f.add(b.placeName(b.rec, p.Name), strings.Join(parts, ", "))
	}
	return f
}

func (b *builder) method() Facts {
	m, p := &b.detail, &b.rec.Plan
	var f Facts
	f.add(m.run, b.data(b.rec.ID))
	f.add(m.tool, b.data(b.rec.Tool.Name+" "+b.rec.Tool.Version+" ("+b.rec.Tool.Go+")"))
	f.add(m.commandHead, b.data(strings.Join(b.rec.Tool.Command, " ")))
	for i := range p.Phases {
		j := b.planned(&p.Phases[i])
		f.add(m.phases, fmt.Sprintf(m.missingText, b.data(j.Name), b.data(job.FioOptions(&j, p.FileSize))))
	}
	if p.Design == nil {
		f.add(m.order, b.order())
	} else {
		b.designMethod(&f)
		b.roundOrders(&f)
	}
	f.add(m.engine, b.engines())
	b.calibration(&f)
	f.add(m.maxprocs, strconv.Itoa(p.GOMAXPROCS))
	f.add(m.seed, strconv.FormatUint(p.Seed, 10))
	if pre := b.rec.Prefill; pre != nil && pre.ElapsedNS > 0 {
		sec := float64(pre.ElapsedNS) / 1e9
		f.add(m.prefill, fmt.Sprintf(m.prefillText, b.binary(pre.Bytes), b.fixed(sec, 1), b.short(float64(pre.Bytes)/sec/1e6)))
	}
	if w := &b.res.Written; w.Device != nil {
		f.add(m.writtenRow, fmt.Sprintf(m.writtenText, b.bytes(*w.InPasses), b.bytes(*w.Device)))
	}
	if why := b.rec.KernelLogMissing; why != "" {
		f.add(m.unreadable, fmt.Sprintf(b.meanwhile.logMissing, b.reason(why)))
	}
	for _, s := range b.rec.Sources {
		if s.Missing != "" {
			kind := m.kinds[s.Kind]
			if kind == "" {
				kind = s.Kind
			}
			f.add(m.unreadable, fmt.Sprintf(m.missingText, b.data(strings.TrimSpace(kind+" "+s.Name)), b.reason(s.Missing)))
		}
	}
	return f
}

// planned is a phase as the plan gives it to each of its passes.
func (b *builder) planned(ph *job.Phase) job.Phase {
	steps := b.rec.Plan.Steps
	k := slices.IndexFunc(steps, func(s record.Step) bool { return s.Phase == ph.Name && ordinary(&s) })
	if k < 0 {
		k = slices.IndexFunc(steps, func(s record.Step) bool { return s.Phase == ph.Name })
	}
	j := *ph
	if k >= 0 {
		j.RuntimeNS, j.MaxBytes = steps[k].RuntimeNS, steps[k].MaxBytes
	}
	return j
}

// order is the order of the places in the passes of a phase, where it is the
// same in all; else the orders there are.
func (b *builder) order() string {
	var orders []string
	var phase string
	var places []string
	flush := func() {
		if o := b.data(strings.Join(places, " ")); o != "" && !slices.Contains(orders, o) {
			orders = append(orders, o)
		}
		places = nil
	}
	for _, s := range b.rec.Plan.Steps {
		if s.Phase != phase {
			flush()
			phase = s.Phase
		}
		places = append(places, s.Place)
	}
	flush()
	return strings.Join(orders, "; ")
}

// engines says what the engine was, once where it is the same everywhere.
func (b *builder) engines() string {
	var texts []string
	for i := range b.rec.Places {
		w := b.rec.Places[i].Worker
		if w == nil {
			continue
		}
		t := strings.Join(append([]string{w.Engine.Name}, w.Engine.Setup...), " ")
		if w.Engine.RegisteredFiles {
			t += " registered-files"
		}
		if w.Engine.RegisteredRing {
			t += " registered-ring"
		}
		if w.Engine.RegisteredBuffers {
			t += " registered-buffers"
		}
		if t = b.data(t); !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "; ")
}

// calibration adds what the engine could do, where that was measured.
func (b *builder) calibration(f *Facts) {
	if c := b.rec.Calibration; c != nil && c.NopsPerSec > 0 && c.SinglesPerSec > 0 {
		f.add(b.detail.calibration, fmt.Sprintf(b.detail.calibrationText, b.short(c.NopsPerSec), strconv.Itoa(c.Batch), b.short(c.SinglesPerSec), strconv.Itoa(c.CPU)))
	}
}
