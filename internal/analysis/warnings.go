package analysis

import (
	"slices"
	"strings"

	"nativ/internal/job"
	"nativ/internal/record"
)

const (
	// cacheRatio is the share of the bytes read or written that the drive must have
	// delivered or taken for a number to be the drive's.
	cacheRatio = 0.9
	// extraRatio is what a drive may write for each byte of the test.
	extraRatio = 1.2
	// unlikeRatio is how many times more the drive must have written for each
	// byte of the test in one place than in another for the two to be no fair
	// comparison.
	unlikeRatio = 1.5
	// smallFile is the size below which the cache of a drive, often 1 MB for
	// each GB of its size or some GB of SLC, may hold the test file.
	smallFile = 1 << 30
	// toolLimit is the share of what the engine could do from which it, and not
	// the drive, may be what a number shows.
	toolLimit = 0.8
	// wideSpread is the difference between passes of one place that is worth a
	// warning.
	wideSpread = 0.1
)

// VirtualDrive reports whether a hypervisor answers for the drive, by its
// transport or the model names that hypervisors give to theirs. A drive that is
// handed through to a virtual machine keeps its own name and is none.
func VirtualDrive(d *record.Drive) bool {
	if d.Transport == "virtio" || d.Transport == "xen" {
		return true
	}
	if d.Model == nil {
		return false
	}
	m := strings.ToLower(*d.Model)
	return slices.ContainsFunc([]string{
		"qemu", "vbox", "vmware", "virtual", "msft", "persistentdisk", "amazon elastic block store",
	}, func(s string) bool { return strings.Contains(m, s) })
}

// NetworkName is what a network target is reached by: the filesystem, or the
// transport of the drive where the filesystem is the host's own.
func NetworkName(t *record.Target) string {
	if len(t.Drives) > 0 && t.Drives[0].Transport != "" {
		return t.Drives[0].Transport
	}
	return t.FSType
}

func cacheAnswered(j *job.Phase, p *Place) bool {
	return p.DeviceRatio != nil && *p.DeviceRatio < cacheRatio
}

// PlanWarnings returns the warnings that follow from the plan and the facts, so
// that they can be said before anything is touched.
func PlanWarnings(rec *record.Record) []record.Warning {
	var all []record.Warning
	add := func(w record.Warning) { all = append(all, w) }
	t := &rec.Target
	if t.Network {
		w := record.Warning{Code: record.WarnNetwork, Words: words("fstype", NetworkName(t))}
		if by := servedBy(t); by != "" {
			w.Words["kind"] = by
		}
		add(w)
	}
	for i := range t.Drives {
		d := &t.Drives[i]
		switch {
		case d.Transport == "memory":
			add(record.Warning{Code: record.WarnMemoryDrive, Words: words("drive", d.Name)})
		case VirtualDrive(d):
			add(record.Warning{Code: record.WarnVirtualDrive, Words: words("drive", d.Name)})
		}
		if w, ok := linkWarning(d); ok {
			add(w)
		}
	}
	for i := range t.Stack {
		l := &t.Stack[i]
		if l.Kind == "loop" && l.DirectIO != nil && !*l.DirectIO {
			add(record.Warning{Code: record.WarnLoopCached, Words: words("device", l.Name)})
		}
	}
	all = append(all, storageWarnings(rec)...)
	if slices.Contains([]string{"btrfs", "zfs", "bcachefs"}, t.FSType) && (t.Storage == nil || t.Storage.Btrfs == nil || !t.Storage.Btrfs.Buffered) {
		add(record.Warning{Code: record.WarnCopyOnWrite, Words: words("fstype", t.FSType)})
	}
	if len(t.Neighbours) > 0 {
		var names []string
		for _, n := range t.Neighbours {
			names = append(names, n.Name)
		}
		add(record.Warning{Code: record.WarnNeighbours, Words: words("names", strings.Join(names, ", "))})
	}
	if t.NeighboursUnknown != "" && !t.Network {
		add(record.Warning{Code: record.WarnNeighboursUnknown, Words: words("reason", t.NeighboursUnknown)})
	}
	p := &rec.Plan
	all = append(all, deviceWarnings(rec)...)
	all = append(all, pveWarnings(rec)...)
	if p.FileSize < p.WantedSize {
		add(record.Warning{Code: record.WarnFileSmaller, Values: map[string]float64{
			"size_bytes": float64(p.FileSize), "wanted_bytes": float64(p.WantedSize)}})
	}
	memory := slices.ContainsFunc(t.Drives, func(d record.Drive) bool { return d.Transport == "memory" })
	if p.FileSize > 0 && p.FileSize < smallFile && len(t.Drives) > 0 && !memory && !t.Network {
		add(record.Warning{Code: record.WarnSmallFile, Values: map[string]float64{"size_bytes": float64(p.FileSize)}})
	}
	if p.WriteLimit > 0 {
		if least := leastWritten(p); least > 0 {
			add(record.Warning{Code: record.WarnWriteLimit, Values: map[string]float64{
				"limit_bytes": float64(p.WriteLimit), "pass_bytes": float64(least)}})
		}
	}
	if p.MaxRate > 0 {
		add(record.Warning{Code: record.WarnCapped, Values: map[string]float64{"bytes_per_second": float64(p.MaxRate)}})
	}
	if shortWrites(rec) {
		add(record.Warning{Code: record.WarnShortWrites})
	}
	lxc, pinned := record.ContainerOf(p.Places) != "", slices.Contains(p.Places, record.PlacePinned)
	if p.CPUSet.Halved && (lxc || pinned) {
		add(record.Warning{Code: record.WarnCPUsHalved, Values: map[string]float64{
			"cpus": float64(len(p.CPUSet.CPUs)), "online": float64(p.CPUSet.Online)}})
	}
	if lxc && !pinned && slices.Contains(p.Places, record.PlaceHost) {
		reason := "left-out"
		if p.CPUSet.All {
			reason = "all-cpus"
		}
		add(record.Warning{Code: record.WarnNotSeparable, Words: words("reason", reason)})
	}
	all = append(all, orderWarnings(rec)...)
	for i := range t.Drives {
		if d := &t.Drives[i]; d.IOStats != nil && !*d.IOStats {
			add(record.Warning{Code: record.WarnCountersOff, Words: words("drive", d.Name)})
		}
	}
	return all
}

// orderWarnings are about what the order and the offsets of a plan cannot tell
// apart. Those about comparing the places are for plans that measure each place
// once.
func orderWarnings(rec *record.Record) []record.Warning {
	var all []record.Warning
	p := &rec.Plan
	if rec.Import != nil || rec.Jobs != nil {
		return nil
	}
	// The places of each phase in the order in which they come, round by round: what
	// is a palindrome in each is one in all that matters. Of a void round there may be
	// only a half.
	trips, hot := map[roundKey][]string{}, false
	for i := range p.Steps {
		s := &p.Steps[i]
		hot = hot || s.Role == record.RoleHot
		if s.Role == "" {
			k := roundKey{phase: s.Phase}
			if p.Design != nil {
				k.n = s.Round
			}
			trips[k] = append(trips[k], s.Place)
		}
	}
	for i := range rec.Rounds {
		if r := &rec.Rounds[i]; r.Void != "" {
			delete(trips, roundKey{r.Phase, rec.RoundOf(r)})
		}
	}
	balanced, repeated := true, true
	for _, trip := range trips {
		back := slices.Clone(trip)
		slices.Reverse(back)
		balanced = balanced && slices.Equal(trip, back)
		repeated = repeated && len(trip) > len(p.Places)
	}
	if len(p.Places) > 1 && len(trips) > 0 {
		if !balanced {
			all = append(all, record.Warning{Code: record.WarnOrder, Words: words("first", p.Places[0], "last", p.Places[len(p.Places)-1])})
		}
		if !repeated {
			all = append(all, record.Warning{Code: record.WarnSinglePass})
		}
	}
	jobs := 0
	for i := range p.Phases {
		ph := &p.Phases[i]
		if ph.NumJobs > 1 && !ph.Mode.Random() && !ph.Split && ph.OffsetIncrement.Bytes == 0 && ph.OffsetIncrement.Percent == 0 {
			jobs = max(jobs, ph.NumJobs)
		}
	}
	if jobs > 0 {
		all = append(all, record.Warning{Code: record.WarnSameOffsets, Values: map[string]float64{"jobs": float64(jobs)}})
	}
	if !hot {
		return all
	}
	if writesToFlash(rec) {
		all = append(all, record.Warning{Code: record.WarnRewritten, Values: map[string]float64{"size_bytes": float64(p.FileSize)}})
	}
	// Without a temperature there is nothing to wait for; another warning says so.
	if p.CoolDownNS == 0 && slices.ContainsFunc(rec.Target.Drives, func(d record.Drive) bool { return d.TemperatureFound }) {
		all = append(all, record.Warning{Code: record.WarnNoCoolDown})
	}
	return all
}

// shortWrites reports whether an SLC cache may have taken all writes: a quick
// run writes little, and no flash drive says where its cache ends.
func shortWrites(rec *record.Record) bool {
	return rec.Plan.Preset == "quick" && writesToFlash(rec)
}

// writesToFlash reports whether anything of the plan writes to a drive that may
// have an SLC cache.
func writesToFlash(rec *record.Record) bool {
	writes := false
	for i := range rec.Plan.Phases {
		writes = writes || rec.Plan.Phases[i].Mode.Writes()
	}
	flash := slices.ContainsFunc(rec.Target.Drives, func(d record.Drive) bool {
		return d.Rotational != nil && !*d.Rotational && d.Transport != "memory" && !VirtualDrive(&d)
	})
	return writes && flash
}

func linkWarning(d *record.Drive) (record.Warning, bool) {
	l := d.Link
	if l == nil || l.SpeedMTs <= 0 || l.Width <= 0 || l.SpeedMTs >= l.MaxSpeedMTs && l.Width >= l.MaxWidth {
		return record.Warning{}, false
	}
	w := record.Warning{Code: record.WarnLink, Words: words("drive", d.Name, "limit", ""), Values: map[string]float64{
		"speed_mts": float64(l.SpeedMTs), "width": float64(l.Width),
		"max_speed_mts": float64(l.MaxSpeedMTs), "max_width": float64(l.MaxWidth),
	}}
	if l.PortMaxSpeedMTs != nil && l.PortMaxWidth != nil {
		w.Values["port_speed_mts"], w.Values["port_width"] = float64(*l.PortMaxSpeedMTs), float64(*l.PortMaxWidth)
		w.Words["limit"] = "link"
		// The slot explains the link where it can do no more than the link does.
		slower, narrower := l.SpeedMTs < l.MaxSpeedMTs, l.Width < l.MaxWidth
		if (!slower || *l.PortMaxSpeedMTs <= l.SpeedMTs) && (!narrower || *l.PortMaxWidth <= l.Width) {
			w.Words["limit"] = "port"
		}
	}
	return w, true
}

// warnings returns those of the plan, those of the measurement, and those
// recorded that neither holds.
func warnings(rec *record.Record, r *Result, sensors []record.Warning) []record.Warning {
	all := append(PlanWarnings(rec), seenWarnings(rec, r)...)
	for i := range r.Phases {
		ph := &r.Phases[i]
		for j := range ph.Places {
			all = append(all, placeWarnings(rec, &ph.Job, &ph.Places[j])...)
			if w, ok := toolWarning(rec, &ph.Job, &ph.Places[j]); ok {
				all = append(all, w)
			}
		}
	}
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			all = append(all, passWarnings(rec, &rec.Rounds[i].Passes[j])...)
		}
	}
	all = append(append(append(all, jobsCached(rec)...), dropWarnings(rec, r)...), sensors...)
	if slices.ContainsFunc(all, func(w record.Warning) bool { return w.Code == record.WarnSpread && w.Words["trend"] == "fell" }) {
		for i := range all {
			if all[i].Code == record.WarnShortWrites {
				all[i].Words = words("cache", "full")
			}
		}
	}
	computed := len(all)
	for _, w := range rec.Warnings {
		if !slices.ContainsFunc(all[:computed], func(c record.Warning) bool {
			return c.Code == w.Code && c.Phase == w.Phase && c.Place == w.Place
		}) {
			all = append(all, w)
		}
	}
	return all
}

// seenWarnings are about what the sampler could not see.
func seenWarnings(rec *record.Record, r *Result) []record.Warning {
	var all []record.Warning
	if len(rec.Rounds) == 0 || rec.Target.Network {
		return nil
	}
	counters := map[string]bool{}
	samples(rec, func(s *record.Sample) {
		for name := range s.Devices {
			counters[name] = true
		}
	})
	for i := range rec.Target.Drives {
		d := &rec.Target.Drives[i]
		if !counters[d.Name] && (d.IOStats == nil || *d.IOStats) {
			all = append(all, record.Warning{Code: record.WarnNoCounters, Words: words("drive", d.Name)})
		}
	}
	if len(r.Temperatures) == 0 && len(rec.Target.Drives) > 0 {
		d := &rec.Target.Drives[0]
		transport := d.Transport
		if VirtualDrive(d) {
			transport = "virtio"
		}
		if transport != "memory" { // memory has no temperature that anybody would look for
			all = append(all, record.Warning{Code: record.WarnNoTemperature, Words: words("drive", d.Name, "transport", transport)})
		}
	}
	// With several drives below, a write goes to more than one of them by
	// design.
	if len(rec.Target.Drives) == 1 {
		for i := range r.Phases {
			ph := &r.Phases[i]
			for j := range ph.Places {
				p := &ph.Places[j]
				if ph.Job.Mode.Writes() && p.DeviceRatio != nil && *p.DeviceRatio > extraRatio {
					all = append(all, record.Warning{Code: record.WarnExtraWrites, Phase: ph.Job.Name, Place: p.Name,
						Values: map[string]float64{"ratio": *p.DeviceRatio}})
				}
			}
		}
	}
	return all
}

func placeWarnings(rec *record.Record, j *job.Phase, p *Place) []record.Warning {
	var all []record.Warning
	if cacheAnswered(j, p) && rec.Jobs == nil { // else see jobsCached
		w := record.Warning{Code: record.WarnCacheAnswered, Phase: j.Name, Place: p.Name,
			Values: map[string]float64{"ratio": *p.DeviceRatio}}
		if j.Mode.Writes() {
			w.Words = words("mode", "write")
		}
		all = append(all, w)
	}
	if p.OtherLoad() {
		all = append(all, record.Warning{Code: record.WarnOtherLoad, Phase: j.Name, Place: p.Name,
			Values: map[string]float64{"others": *p.OtherUser}})
	}
	if p.Passes < p.Planned {
		all = append(all, record.Warning{Code: record.WarnPassesMissing, Phase: j.Name, Place: p.Name,
			Values: map[string]float64{"passes": float64(p.Passes), "planned": float64(p.Planned)}})
	}
	if p.Spread != nil && *p.Spread > wideSpread {
		trend := ""
		if writesToFlash(rec) && fellBetween(rec, j) {
			trend = "fell"
		}
		all = append(all, record.Warning{Code: record.WarnSpread, Phase: j.Name, Place: p.Name,
			Values: map[string]float64{"spread": *p.Spread}, Words: words("trend", trend)})
	}
	return all
}

// fellBetween reports whether the passes of a test that writes, in the order in
// which they ran, were fast and from one of them on clearly slower, all of them: as
// when a cache that counts bytes is full.
func fellBetween(rec *record.Record, j *job.Phase) bool {
	const clearly = 1.3
	if !j.Mode.Writes() {
		return false
	}
	var passes []*record.Pass
	for i := range rec.Rounds {
		for _, p := range ordinaryPasses(&rec.Rounds[i]) {
			if p.Phase == j.Name && p.OK() && p.Outcome.Write != nil && p.Outcome.ElapsedNS() > 0 {
				passes = append(passes, p)
			}
		}
	}
	slices.SortFunc(passes, func(a, b *record.Pass) int { return a.Index - b.Index })
	var rates []float64
	for _, p := range passes {
		rates = append(rates, float64(p.Outcome.Write.Bytes)/float64(p.Outcome.ElapsedNS()))
	}
	// At least two slow ones: one may be anything.
	for k := 1; k <= len(rates)-2; k++ {
		if slices.Min(rates[:k]) > clearly*slices.Max(rates[k:]) {
			return true
		}
	}
	return false
}

// jobsCached are the groups of a run of nativ fio for whose reads the drives
// delivered too little. What the host saw belongs to all jobs of a group, and a
// warning names them all.
func jobsCached(rec *record.Record) []record.Warning {
	if rec.Jobs == nil || rec.Target.Network || slices.ContainsFunc(rec.Jobs.Files, func(f record.JobFile) bool { return f.Sparse }) {
		return nil
	}
	var all []record.Warning
	for i := range rec.Rounds {
		passes := rec.Rounds[i].Passes
		var read int64
		var jobs []*record.Pass
		for k := range passes {
			if o := passes[k].Outcome; o != nil && o.Read != nil && o.Read.Bytes > 0 {
				read += o.Read.Bytes
				jobs = append(jobs, &passes[k])
			}
		}
		if read == 0 {
			continue
		}
		d, ok := deviceUse(rec, &passes[0], false)
		ratio := float64(d.bytes) / float64(read)
		if !ok || ratio >= cacheRatio {
			continue
		}
		for _, p := range jobs {
			all = append(all, record.Warning{Code: record.WarnCacheAnswered, Phase: p.Phase, Place: p.Place, Values: map[string]float64{"ratio": ratio}})
		}
	}
	return all
}

// toolWarning doubts a number that is near to what the engine could do with
// no-ops, which is the calibration times the CPUs that the jobs can keep busy.
//
// That bound is above what any drive can be measured with, since real I/Os cost
// the kernel more than no-ops do, and it counts each CPU as fast as the one that
// was calibrated, which siblings and efficiency cores are not. So there is no
// warning without reason, but reason without a warning: that the CPUs are used
// up is what CPULimited says, from what was really used. Where calibration or
// CPUs are not known, or another engine ran, nothing is said.
func toolWarning(rec *record.Record, j *job.Phase, p *Place) (record.Warning, bool) {
	c := rec.Calibration
	if c == nil || p.IOPS == nil || j.Engine != "" && j.Engine != c.Engine.Name {
		return record.Warning{}, false
	}
	for i := range rec.Places {
		if w := rec.Places[i].Worker; rec.Places[i].Name == p.Name && w != nil && w.Engine.Name != c.Engine.Name {
			return record.Warning{}, false
		}
	}
	limit := c.Limit(j.IODepth, j.NumJobs, len(placeCPUs(rec, p.Name)))
	if limit <= 0 || *p.IOPS < toolLimit*limit {
		return record.Warning{}, false
	}
	return record.Warning{Code: record.WarnToolLimit, Phase: j.Name, Place: p.Name,
		Values: map[string]float64{"iops": *p.IOPS, "limit": limit, "share": *p.IOPS / limit}}, true
}

func passWarnings(rec *record.Record, p *record.Pass) []record.Warning {
	var all []record.Warning
	add := func(code string, values map[string]float64, w map[string]string) {
		all = append(all, record.Warning{Code: code, Phase: p.Phase, Place: p.Place, Pass: new(p.Index), Values: values, Words: w})
	}
	switch {
	case p.OK() || p.Failed != nil && p.Failed.Code == record.FailInterrupted:
	case p.Failed != nil:
		add(record.WarnPassFailed, nil, words("code", p.Failed.Code, "detail", p.Failed.Detail))
	case p.Outcome != nil && len(p.Outcome.Errors) > 0:
		e := p.Outcome.Errors[0]
		add(record.WarnPassFailed, nil, words("code", record.FailIO, "detail", e.Op+" "+e.Errno))
	default:
		add(record.WarnPassFailed, nil, words("code", record.FailWorker))
	}
	if c := p.CoolDown; c != nil && c.ToMC > c.TargetMC && (c.Ended == record.CoolLimit || c.Ended == record.CoolLost) {
		add(record.WarnStartedHot, map[string]float64{"excess_mc": float64(c.ToMC - c.TargetMC)}, nil)
	}
	if p.EndedBy == record.EndMaxTemp && rec.Plan.MaxTempMC != nil {
		add(record.WarnCeiling, map[string]float64{"ceiling_mc": float64(*rec.Plan.MaxTempMC)}, nil)
	}
	if p.Outcome != nil && rec.Import == nil {
		switch v := p.Outcome.Verified; {
		case v != nil && v.Flow != nil:
			add(record.WarnVerified, map[string]float64{"reads": float64(v.Flow.IOs)}, nil)
		case v != nil:
			add(record.WarnVerified, nil, words("reads", "mixed"))
		}
	}
	if heldUp(p) {
		w := &p.Watch
		add(record.WarnHeldUp, map[string]float64{
			"window_ns": float64(w.After.MonoNS - w.Before.MonoNS), "elapsed_ns": float64(p.Outcome.ElapsedNS())}, nil)
	}
	// A log of another tool may have no line for a second for other reasons.
	if n, longest := stalls(p); n > 0 && rec.Import == nil {
		add(record.WarnStalls, map[string]float64{"count": float64(n), "longest_ns": float64(longest)}, nil)
	}
	if p.Watch.Before == nil || p.Watch.After == nil || p.Watch.Before.Cgroup == nil || p.Watch.After.Cgroup == nil {
		return all
	}
	a, b := p.Watch.Before.Cgroup, p.Watch.After.Cgroup
	if n, ok := rise(a.NrThrottled, b.NrThrottled); ok {
		v := map[string]float64{"periods": float64(n)}
		if ns, ok := rise(a.ThrottledNS, b.ThrottledNS); ok {
			v["throttled_ns"] = float64(ns)
		}
		add(record.WarnCgroupThrottled, v, nil)
	}
	if n, ok := rise(a.MemoryMax, b.MemoryMax); ok {
		add(record.WarnMemoryLimit, map[string]float64{"events": float64(n)}, nil)
	}
	if n, ok := rise(a.OOMKills, b.OOMKills); ok {
		add(record.WarnOOM, map[string]float64{"kills": float64(n)}, nil)
	}
	return all
}

// stalls counts the gaps of whole seconds in which no I/O of a pass completed,
// and returns the length of the longest. The end of a pass is none: there the
// last I/Os may well leave a second empty.
func stalls(p *record.Pass) (n int, longest int64) {
	var length int64
	for i := range p.Intervals {
		v := &p.Intervals[i]
		if v.ReadIOs+v.WriteIOs+v.SyncIOs == 0 {
			length += v.LenNS
			continue
		}
		if length >= fullSecond {
			n, longest = n+1, max(longest, length)
		}
		length = 0
	}
	return n, longest
}

// rise returns by how much a counter rose; false where it did not or is not
// known at both ends.
func rise(a, b *int64) (int64, bool) {
	if a == nil || b == nil || *b <= *a {
		return 0, false
	}
	return *b - *a, true
}

func words(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}
