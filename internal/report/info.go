package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// Info writes what nativ info found as a document: the machine, its drives, the
// targets, what it can do, and what could not be read.
func Info(in *record.Info, lang string) *Document {
	rec := &record.Record{Host: in.Host}
	rec.Target.Drives = in.Drives
	for _, t := range in.Targets {
		rec.Target.Network = rec.Target.Network || t.Network
		rec.Target.Stack = append(rec.Target.Stack, t.Stack...)
	}
	s := newSpeaker(lang, rec)
	warnings := slices.DeleteFunc(analysis.PlanWarnings(rec), func(w record.Warning) bool {
		return !slices.Contains([]string{record.WarnLink, record.WarnVirtualDrive, record.WarnMemoryDrive, record.WarnLoopCached}, w.Code)
	})
	i := &informer{notes: newNotes(s, rec, warnings), in: in, m: &s.info}
	d := &Document{Lang: lang, Blocks: []Block{Title{Text: i.m.title, Right: in.Time.Local().Format(s.date)}}}
	add := func(heading string, bs ...Block) {
		d.Blocks = append(d.Blocks, Heading{heading})
		d.Blocks = append(d.Blocks, bs...)
	}
	add(i.m.system, i.system())
	for k := range in.Drives {
		add(fmt.Sprintf(i.m.driveHead, s.data(in.Drives[k].Name)), i.drive(&in.Drives[k]))
	}
	for k := range in.Targets {
		add(fmt.Sprintf(i.m.targetHead, s.data(in.Targets[k].Dir)), i.target(&in.Targets[k]))
		if rows := i.effectRows(in.Targets[k].Dir); len(rows.Rows) > 0 {
			add(s.storageWords.effects.head, rows)
		}
	}
	if f := i.block(); len(f.Items) > 0 {
		d.Blocks = append(d.Blocks, f)
	}
	if len(in.Checks) > 0 {
		add(i.m.checkHead, i.checks())
	}
	if f := i.missing(); len(f.Rows) > 0 {
		add(i.m.missingHead, f)
	}
	if f := i.fixes(); len(f.Rows) > 0 {
		add(i.m.fixHead, f)
	}
	if len(in.Checks) > 0 {
		d.Blocks = append(d.Blocks, Paragraph{i.verdict()})
	}
	return d
}

type informer struct {
	*notes
	in *record.Info
	m  *infoMessages
}

func (i *informer) system() Facts {
	h, m := &i.in.Host, i.m
	var f Facts
	os := []string{i.data(h.OS)}
	if h.PVE != nil {
		os = []string{"Proxmox" + glue + "VE" + glue + i.data(*h.PVE), os[0]}
	}
	f.add(m.os, strings.Join(os, ", "))
	f.add(m.kernel, strings.TrimSpace(i.data(h.Kernel)+" "+i.data(h.Machine)))
	cpu := i.data(h.CPUModel)
	if cpu == "" {
		cpu = i.unknown
	}
	if len(h.Cores) == 0 {
		cpu += ", " + i.cpuCount(len(h.CPUs))
	}
	f.add(m.cpu, cpu)
	for k := range h.Cores {
		f.add(" ", i.coresLine(&h.Cores[k]))
	}
	f.add(m.memory, i.memoryLine())
	if h.Board != nil {
		board := i.data(*h.Board)
		if h.BIOS != nil {
			board += ", BIOS " + i.data(*h.BIOS)
		}
		f.add(m.board, board)
	} else if h.BIOS != nil {
		f.add("BIOS", i.data(*h.BIOS))
	}
	if h.Virtualised != nil {
		v := i.data(*h.Virtualised)
		if v == "unknown" {
			v = i.unknown
		}
		f.add(m.hypervisor, v)
	}
	return f
}

// coresLine says "6 P cores, 12 threads, 0.8 to 4.9 GHz, governor powersave".
func (i *informer) coresLine(c *record.Cores) string {
	var parts []string
	if c.Cores != nil {
		name := fmt.Sprintf(i.m.cores[c.Type], i.int(int64(*c.Cores)))
		if *c.Cores == 1 {
			name = i.m.core[c.Type]
		}
		parts = append(parts, strings.ReplaceAll(name, " ", glue))
	}
	threads := i.m.oneThread
	if c.Threads != 1 {
		threads = fmt.Sprintf(i.m.threads, i.int(int64(c.Threads)))
	}
	parts = append(parts, strings.ReplaceAll(threads, " ", glue))
	ghz := func(hz int64) string { return i.fixed(float64(hz)/1e9, 1) }
	switch {
	case c.MinHz != nil && c.MaxHz != nil:
		parts = append(parts, fmt.Sprintf(i.m.hz, ghz(*c.MinHz), unit(ghz(*c.MaxHz), "GHz")))
	case c.MaxHz != nil:
		parts = append(parts, unit(ghz(*c.MaxHz), "GHz"))
	}
	if c.LimitHz != nil {
		parts = append(parts, fmt.Sprintf(i.m.limitHz, unit(ghz(*c.LimitHz), "GHz")))
	}
	if c.Governor != nil {
		parts = append(parts, fmt.Sprintf(i.m.governor, i.data(*c.Governor)))
	}
	return strings.Join(parts, ", ")
}

func (i *informer) memoryLine() string {
	h := &i.in.Host
	var parts []string
	if n := len(h.MemoryModules); n > 0 {
		first := h.MemoryModules[0]
		alike := !slices.ContainsFunc(h.MemoryModules, func(m record.MemoryModule) bool {
			return m.SizeBytes != first.SizeBytes || m.Type != first.Type
		})
		var sum int64
		for _, m := range h.MemoryModules {
			sum += m.SizeBytes
		}
		what := fmt.Sprintf(i.m.mixedModules, i.int(int64(n)), i.binary(sum))
		if alike {
			what = fmt.Sprintf(i.m.modules, i.int(int64(n)), i.binary(first.SizeBytes))
		}
		if alike && first.Type != "" {
			what += glue + i.data(first.Type)
		}
		parts = append(parts, what)
		if alike && first.SpeedMTs != nil {
			parts = append(parts, unit(i.int(int64(*first.SpeedMTs)), "MT/s"))
			if r := first.RatedMTs; r != nil && *r > *first.SpeedMTs {
				parts = append(parts, fmt.Sprintf(i.m.rated, i.int(int64(*r))))
			}
		}
	}
	if len(parts) == 0 {
		return i.binary(h.MemoryBytes)
	}
	return strings.Join(append(parts, fmt.Sprintf(i.m.usable, i.binary(h.MemoryBytes))), ", ")
}

func (i *informer) drive(d *record.Drive) Facts {
	m := i.m
	var f Facts
	model := []string{i.driveName(d) + i.ref2(d.Name, record.WarnVirtualDrive, record.WarnMemoryDrive)}
	if d.Model == nil && d.Transport != "" {
		model = append(model, i.data(d.Transport))
	}
	if d.Firmware != nil {
		model = append(model, fmt.Sprintf(i.detail.firmware, i.data(*d.Firmware)))
	}
	if d.NVMe != nil && d.NVMe.Version != "" {
		model = append(model, "NVMe"+glue+i.data(d.NVMe.Version))
	} else if d.Model != nil && d.Transport != "" {
		model = append(model, i.data(d.Transport))
	}
	f.add(m.model, strings.Join(model, ", "))

	var size []string
	if d.SizeBytes > 0 {
		size = append(size, i.bytes(d.SizeBytes))
	}
	if d.LogicalBlock > 0 {
		size = append(size, fmt.Sprintf(m.sector, i.binary(d.LogicalBlock)))
	}
	if d.Rotational != nil && *d.Rotational {
		size = append(size, m.rotational)
	}
	if d.Scheduler != nil {
		size = append(size, fmt.Sprintf(m.scheduler, i.data(*d.Scheduler)))
	}
	if d.VolatileCache != nil {
		size = append(size, map[bool]string{true: m.writeCache, false: m.noWriteCache}[*d.VolatileCache])
	}
	f.add(m.size, strings.Join(size, ", "))
	f.add(m.link, i.linkLine(d))
	if d.Controller != nil {
		h, read := i.in.Sample.Health[*d.Controller]
		f.add(m.temperature, i.temperatureLine(d))
		f.add(m.limits, i.limitsLine(d.NVMe))
		if read {
			i.healthRows(&f, d, &h)
		}
		f.add(m.power, i.powerLine(d.NVMe))
	} else {
		f.add(m.temperature, i.temperatureLine(d))
	}
	return f
}

// linkLine says at what the link runs and, where the two differ, what its ends
// could do.
func (i *informer) linkLine(d *record.Drive) string {
	l := d.Link
	if l == nil {
		if d.Transport == "nvme" {
			return i.m.linkUnknown
		}
		return ""
	}
	name := func(speed, width int) string { return "PCIe" + glue + pcie(float64(speed), float64(width)) }
	parts := []string{name(l.SpeedMTs, l.Width) + i.ref2(d.Name, record.WarnLink)}
	port := l.PortMaxSpeedMTs != nil && l.PortMaxWidth != nil
	if port && (*l.PortMaxSpeedMTs != l.MaxSpeedMTs || *l.PortMaxWidth != l.MaxWidth) || l.SpeedMTs != l.MaxSpeedMTs || l.Width != l.MaxWidth {
		parts = append(parts, fmt.Sprintf(i.m.linkBoth, pcie(float64(l.MaxSpeedMTs), float64(l.MaxWidth))))
		if port {
			parts = append(parts, fmt.Sprintf(i.m.linkPort, pcie(float64(*l.PortMaxSpeedMTs), float64(*l.PortMaxWidth))))
		}
	}
	if d.PCIAddress != nil {
		parts = append(parts, i.data(*d.PCIAddress))
	}
	return strings.Join(parts, ", ")
}

// temperaturesOf returns the readings of a drive, the composite one first, by
// the name of the sensor without that of the drive.
func temperaturesOf(d *record.Drive, all map[string]int64) (names []string, values map[string]int64) {
	values = map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of, sensor, _ := strings.Cut(name, " ")
		if of != d.Name && (d.Controller == nil || of != *d.Controller) {
			continue
		}
		sensor = strings.TrimPrefix(sensor, "hwmon ")
		if _, twice := values[sensor]; !twice {
			names = append(names, sensor)
		}
		values[sensor] = all[name]
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(-boolCompare(a == "Composite", b == "Composite"), strings.Compare(a, b))
	})
	return names, values
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (i *informer) temperatureLine(d *record.Drive) string {
	names, values := temperaturesOf(d, i.in.Sample.Temperatures)
	var parts []string
	for k, name := range names {
		text := unit(i.celsius(values[name]), "°C")
		if k > 0 || name != "Composite" && name != "drivetemp" {
			text = strings.ReplaceAll(i.data(name), " ", glue) + " " + text
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 && !analysis.VirtualDrive(d) {
		return i.unknown
	}
	return strings.Join(parts, ", ")
}

func (i *informer) limitsLine(n *record.NVMe) string {
	if n == nil {
		return ""
	}
	degrees := func(mc int64) string { return unit(i.celsius(mc), "°C") }
	var parts []string
	if n.WarningMC != nil {
		parts = append(parts, fmt.Sprintf(i.m.warnAt, degrees(*n.WarningMC)))
	}
	if n.CriticalMC != nil {
		parts = append(parts, fmt.Sprintf(i.m.criticalAt, degrees(*n.CriticalMC)))
	}
	switch {
	case n.TMT1MC != nil || n.TMT2MC != nil:
		parts = append(parts, fmt.Sprintf(i.m.hctm, orAbsent(n.TMT1MC, degrees), orAbsent(n.TMT2MC, degrees)))
	case n.HCTM != nil && *n.HCTM && n.Missing["features"] == "":
		parts = append(parts, i.m.hctmOff)
	}
	return strings.Join(parts, ", ")
}

// alarmBits are the bits of a critical warning, by the words for them.
var alarmBits = []struct {
	bit  uint8
	name string
}{
	{record.CriticalSpare, "spare"}, {record.CriticalTemperature, "temperature"}, {record.CriticalReliability, "reliability"},
	{record.CriticalReadOnly, "read-only"}, {record.CriticalBackup, "backup"}, {record.CriticalPMR, "pmr"},
}

// alarms words a critical warning; "" where there is none.
func (s *speaker) alarms(bits uint8) string {
	var names []string
	for _, a := range alarmBits {
		if bits&a.bit != 0 {
			names = append(names, s.info.alarms[a.name])
		}
	}
	if len(names) == 0 && bits != 0 {
		return fmt.Sprintf("%#02x", bits)
	}
	return strings.Join(names, ", ")
}

func (i *informer) healthRows(f *Facts, d *record.Drive, h *record.Health) {
	m := i.m
	n := func(v int64) string { return i.int(v) }
	if a := i.alarms(h.CriticalWarning); a != "" {
		f.add(m.health, fmt.Sprintf(m.alarm, a))
	}
	// 0 is never or not implemented (NVM Express base specification 2.0, figure
	// 207), and minutes stay 0 where the drive has no threshold.
	throttle := []string{m.noTMT}
	if h.TMT1Transitions|h.TMT2Transitions|h.TMT1Seconds|h.TMT2Seconds != 0 {
		throttle[0] = fmt.Sprintf(m.tmt, n(h.TMT1Transitions), n(h.TMT1Seconds), n(h.TMT2Transitions), n(h.TMT2Seconds))
	}
	switch {
	case h.WarningMinutes > 0 || h.CriticalMinutes > 0:
		throttle = append(throttle, fmt.Sprintf(m.minutesOver, n(h.WarningMinutes), n(h.CriticalMinutes)))
	case d.NVMe != nil && d.NVMe.WarningMC != nil:
		throttle = append(throttle, m.neverOver)
	}
	f.add(m.throttle, strings.Join(throttle, ", "))
	pct := func(v int64) string { return unit(n(v), "%") }
	f.add(m.wear, strings.Join([]string{
		fmt.Sprintf(m.used, pct(h.PercentageUsed)), fmt.Sprintf(m.spare, pct(h.AvailableSpare), pct(h.SpareThreshold)),
		fmt.Sprintf(m.written, i.bytes(h.WrittenBytes)), fmt.Sprintf(m.hours, n(h.PowerOnHours)),
	}, ", "))
	f.add(m.errors, strings.Join([]string{
		fmt.Sprintf(m.mediaErrors, n(h.MediaErrors)), fmt.Sprintf(m.logEntries, n(h.ErrorLogEntries)), fmt.Sprintf(m.shutdowns, n(h.UnsafeShutdowns)),
	}, ", "))
}

func (i *informer) powerLine(n *record.NVMe) string {
	if n == nil || n.PowerState == nil {
		return ""
	}
	ps := *n.PowerState
	text := fmt.Sprintf(i.m.state, "PS"+strconv.Itoa(ps))
	if len(n.PowerStates) > 0 {
		text += " " + fmt.Sprintf(i.m.states, i.int(int64(len(n.PowerStates))))
	}
	if ps >= 0 && ps < len(n.PowerStates) && n.PowerStates[ps].MaxPowerUW != nil {
		text += ", " + unit("≤"+glue+i.fixed(float64(*n.PowerStates[ps].MaxPowerUW)/1e6, 1), "W")
	}
	if n.APST != nil {
		text += ", " + map[bool]string{true: i.m.apst, false: i.m.noAPST}[*n.APST]
	}
	return text
}

func (i *informer) target(t *record.Target) Facts {
	m := i.m
	var f Facts
	if t.Device != nil {
		f.add(m.size, i.bytes(t.Device.SizeBytes))
	} else {
		f.add(m.filesystem, fmt.Sprintf("%s, %s (%s)", i.data(t.FSType), i.data(t.MountPoint), i.data(strings.ReplaceAll(t.Options, ",", ", "))))
	}
	if t.Network {
		f.add(m.stack, fmt.Sprintf(m.network, i.data(analysis.NetworkName(t))))
	} else {
		f.add(m.stack, i.stackLine(t)+i.ref(func(w record.Warning) bool {
			return w.Code == record.WarnLoopCached && slices.ContainsFunc(t.Stack, func(l record.Layer) bool { return l.Name == w.Words["device"] })
		}))
	}
	if t.UsedBytes != nil && t.TotalBytes > 0 {
		share := float64(*t.UsedBytes) / float64(t.TotalBytes)
		text := fmt.Sprintf(m.fillText, unit(i.percent(share), "%"), i.bytes(t.TotalBytes)) + ", " + fmt.Sprintf(m.fillFree, i.bytes(t.FreeBytes))
		if kept := t.TotalBytes - *t.UsedBytes - t.FreeBytes; kept > t.TotalBytes/100 {
			text += ", " + fmt.Sprintf(m.kept, i.bytes(kept))
		}
		f.add(m.fill, text)
	}
	known := t.Storage != nil && slices.ContainsFunc(t.Storage.Pools, func(p record.ThinPool) bool { return p.Unknown == "" })
	if !known && slices.ContainsFunc(t.Stack, func(l record.Layer) bool { return thinPool(l.Title) }) {
		f.add(" ", m.thin)
	}
	if t.Trim != nil {
		f.add(m.trim, i.trimLine(t))
		f.add(m.lastTrim, i.lastTrimLine(t.Trim))
	}
	return f
}

// thinPool tells by the names that LVM gives to the parts of a thin pool
// (libdm: the suffixes of its hidden volumes).
func thinPool(title string) bool {
	return strings.HasSuffix(title, "-tpool") || strings.HasSuffix(title, "_tdata")
}

// stackLine is the way from the filesystem down to the controllers, devices of
// one depth side by side.
func (i *informer) stackLine(t *record.Target) string {
	depth := map[string]int{}
	var levels [][]string
	put := func(at int, text string) {
		for len(levels) <= at {
			levels = append(levels, nil)
		}
		if !slices.Contains(levels[at], text) {
			levels[at] = append(levels[at], text)
		}
	}
	for _, l := range t.Stack {
		at := depth[l.Name]
		text := i.data(l.Name)
		if l.Kind != "disk" && l.Kind != "partition" {
			text += " (" + strings.TrimSpace(i.data(l.Kind)+" "+i.data(l.Title)) + ")"
		}
		put(at, text)
		for _, b := range l.Below {
			depth[b] = max(depth[b], at+1)
		}
		if k := slices.IndexFunc(t.Drives, func(d record.Drive) bool { return d.Name == l.Name }); k >= 0 {
			if d := &t.Drives[k]; d.Controller != nil {
				put(at+1, i.data(*d.Controller))
			}
		}
	}
	var texts []string
	for _, l := range levels {
		texts = append(texts, strings.Join(l, ", "))
	}
	return strings.Join(texts, " → ")
}

func (i *informer) trimLine(t *record.Target) string {
	m := i.m
	var parts []string
	switch p := t.Trim.Passed; {
	case p == nil:
		parts = append(parts, m.trimUnknown)
	case *p:
		parts = append(parts, m.trimPassed)
	default:
		return fmt.Sprintf(m.trimStopped, i.data(strings.Join(t.Trim.StoppedAt, ", ")))
	}
	var coarsest int64
	for _, l := range t.Stack {
		if l.DiscardGranularity != nil {
			coarsest = max(coarsest, *l.DiscardGranularity)
		}
	}
	if coarsest > 0 {
		parts = append(parts, fmt.Sprintf(m.granularity, i.binary(coarsest)))
	}
	if o := t.Trim.Online; o != nil {
		parts = append(parts, map[bool]string{true: m.online, false: m.notOnline}[*o])
	}
	return strings.Join(parts, ", ")
}

func (i *informer) lastTrimLine(t *record.Trim) string {
	m := i.m
	switch {
	case t.Passed != nil && !*t.Passed:
		return ""
	case t.Online != nil && *t.Online:
		return m.continuous
	case t.TimerRan == nil:
		return m.timerNever
	}
	ago := i.ago(i.in.Time.Sub(*t.TimerRan))
	switch {
	case t.TimerCovers == nil:
		return fmt.Sprintf(m.timerUnsure, ago)
	case !*t.TimerCovers:
		return fmt.Sprintf(m.timerOther, ago)
	}
	return fmt.Sprintf(m.timerRan, ago) + "; " + m.byHand
}

// ago words how long something is past, in the largest unit of which there are
// two.
func (i *informer) ago(d time.Duration) string {
	text, n := i.m.minutesAgo, d.Minutes()
	switch {
	case d >= 48*time.Hour:
		text, n = i.m.days, d.Hours()/24
	case d >= 2*time.Hour:
		text, n = i.m.hoursAgo, d.Hours()
	}
	return fmt.Sprintf(i.m.ago, fmt.Sprintf(text, i.fixed(math.Floor(max(n, 0)), 0)))
}

// checkKeys are the words of each check in the order in which its texts take
// them. The fourth is always what the check is about.
var checkKeys = map[string][3]string{
	record.CheckIOUring: {"features", "why"}, record.CheckTestFile: {"fstype"}, record.CheckDirectIO: {"memory", "offset", "why"},
	record.CheckLXC: {"version", "program"}, record.CheckUserNS: {"first", "last"},
	record.CheckCgroup:      {"layout", "controllers", "missing"},
	record.CheckTemperature: {"drives", "health"}, record.CheckCounters: {"drives"},
	record.CheckPVE: {"version", "programs"}, record.CheckFio: {"version", "why"},
	record.CheckSmartctl: {"path"}, record.CheckNVMeCLI: {"path"},
}

// checkText words a check; one of a later version by its codes.
func (i *informer) checkText(c *record.Check) string {
	text, ok := i.m.check[c.Code+"/"+c.State+"/"+c.Reason]
	if !ok {
		text, ok = i.m.check[c.Code+"/"+c.State]
	}
	if !ok {
		return i.data(strings.Join([]string{c.Code, c.State, c.Reason}, " "))
	}
	if !strings.Contains(text, "%") {
		return text
	}
	var args []any
	for _, k := range checkKeys[c.Code] {
		args = append(args, strings.ReplaceAll(i.reason(c.Words[k]), "IORING_SETUP_", ""))
	}
	return fmt.Sprintf(text, append(args, i.data(c.About))...)
}

func (i *informer) checks() Facts {
	var f Facts
	state := 0
	for _, text := range i.m.states4 {
		state = max(state, length(text))
	}
	for k := range i.in.Checks {
		c := &i.in.Checks[k]
		name := cmp.Or(i.m.checkName[c.Code], i.data(c.Code))
		f.add(pad(i.m.states4[c.State], state+2)+name, i.checkText(c))
	}
	return f
}

// fixes are the commands that help, as they are typed.
func (i *informer) fixes() Facts {
	var f Facts
	for k := range i.in.Checks {
		c := &i.in.Checks[k]
		name := cmp.Or(i.m.checkName[c.Code], i.data(c.Code))
		f.add(name, i.data(c.Fix))
	}
	return f
}

// missing lists what could not be read and why, one line for each reason.
func (i *informer) missing() Facts {
	var f Facts
	var reasons []string
	whats := map[string][]string{}
	add := func(what, why string) {
		if r := i.m.reasons[why]; r != "" {
			why = r
		} else {
			why = i.reason(why)
		}
		if why == "" || slices.Contains(whats[why], what) {
			return
		}
		if whats[why] == nil {
			reasons = append(reasons, why)
		}
		whats[why] = append(whats[why], what)
	}
	name := func(key string) string {
		if n := i.m.reasons[key]; n != "" {
			return n
		}
		return i.data(key)
	}
	for _, k := range slices.Sorted(maps.Keys(i.in.Host.Missing)) {
		add(name(k), i.in.Host.Missing[k])
	}
	for _, d := range i.in.Drives {
		if d.NVMe == nil {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(d.NVMe.Missing)) {
			add(i.data(d.Name)+" "+name(k), d.NVMe.Missing[k])
		}
	}
	for _, s := range i.in.Sources {
		// That a virtual drive has no sensor is said by the checks.
		virtual := slices.ContainsFunc(i.in.Drives, func(d record.Drive) bool { return d.Name == s.Name && analysis.VirtualDrive(&d) })
		if s.Missing == "" || virtual && s.Kind == "temperature" {
			continue
		}
		kind := i.detail.kinds[s.Kind]
		if kind == "" {
			kind = s.Kind
		}
		what := strings.TrimSpace(kind + " " + filepath.Base(i.data(s.Name)))
		if s.Name == "" {
			what = kind
		}
		add(what, s.Missing)
	}
	for _, why := range reasons {
		f.add(strings.Join(whats[why], ", "), why)
	}
	return f
}

// verdict says in which places nativ bench can measure here.
func (i *informer) verdict() []string {
	state := map[string]string{}
	for _, c := range i.in.Checks {
		if state[c.Code] != record.StateMissing {
			state[c.Code] = c.State
		}
	}
	ok := func(codes ...string) bool {
		return !slices.ContainsFunc(codes, func(c string) bool { return state[c] == record.StateMissing })
	}
	var now, asRoot []string
	host := ok(record.CheckIOUring, record.CheckTestFile, record.CheckDirectIO)
	for _, p := range []struct {
		name string
		can  bool
	}{
		{record.PlaceHost, host},
		{record.PlacePinned, host && ok(record.CheckCgroup)},
		{record.PlaceLXC, host && ok(record.CheckCgroup, record.CheckLXC)},
	} {
		switch {
		case !p.can:
		case p.name != record.PlaceHost && state[record.CheckRoot] != record.StateOK:
			asRoot = append(asRoot, p.name)
		default:
			now = append(now, p.name)
		}
	}
	if len(now) == 0 {
		return []string{i.m.readyNone}
	}
	text := fmt.Sprintf(i.m.ready, i.list(now))
	if len(asRoot) > 0 {
		text += " " + fmt.Sprintf(i.m.readyUser, i.list(asRoot))
	}
	return []string{text}
}
