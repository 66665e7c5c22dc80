package analysis

import (
	"maps"
	"math"
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

const (
	// cpuLimit is the share of CPU time from which a place counts as limited by
	// its CPUs. Not 1: /proc/stat counts in ticks of up to 10 ms, and the
	// samples are taken a little outside of the pass.
	cpuLimit = 0.95
	// fullSecond is the length from which an interval can be a highest second.
	fullSecond = 900_000_000
	// beyond is how many I/Os must lie beyond a percentile to name it.
	beyond = 10
)

// flow returns the I/O that a phase is about; nil where there is none or it is
// not credible.
func flow(j *job.Phase, o *record.Outcome) *record.Flow {
	if o == nil {
		return nil
	}
	f := o.Read
	switch {
	case o.Mixed != nil:
		f = o.Mixed
	case mixes(j.Mode):
		f = both(o.Read, o.Write)
	case j.Mode.Writes():
		f = o.Write
	}
	if f == nil || f.IOs < 0 || f.Bytes < 0 {
		return nil
	}
	return f
}

func measurePlace(rec *record.Record, j *job.Phase, name string, passes []*record.Pass) Place {
	p := Place{Name: name}
	var iops, bps, cpu []float64
	var ios, user, system int64
	var busy, total, inUser, own, device, deviceIOs, app int64
	var lat record.Histogram
	var flows []*record.Flow
	ratio, usage, usersKnown := true, true, true
	cpus := placeCPUs(rec, name)
	for _, pass := range passes {
		f := flow(j, pass.Outcome)
		if !pass.OK() || f == nil || pass.Outcome.ElapsedNS() <= 0 {
			continue
		}
		p.Passes++
		sec := float64(pass.Outcome.ElapsedNS()) / 1e9
		iops = append(iops, float64(f.IOs)/sec)
		p.logs = append(p.logs, math.Log(float64(f.IOs)/sec))
		bps = append(bps, float64(f.Bytes)/sec)
		for i := range pass.Intervals {
			maxSecond(&p, j, &pass.Intervals[i])
		}
		if j.FDataSync > 0 {
			f = pass.Outcome.Sync
		}
		if f != nil {
			lat.Merge(f.Lat)
		}
		flows = append(flows, f)
		usage = usage && !pass.Outcome.UsageUnknown
		ios += flow(j, pass.Outcome).IOs
		user += pass.Outcome.Usage.UserNS
		system += pass.Outcome.Usage.SystemNS
		if c, ok := cpuTime(&pass.Watch, cpus); ok && !heldUp(pass) {
			busy, total, own = busy+c.busy, total+c.total, own+pass.Outcome.Usage.UserNS
			inUser, usersKnown = inUser+c.user, usersKnown && c.userKnown
			cpu = append(cpu, float64(c.busy)/float64(c.total))
		}
		d, ok := deviceUse(rec, pass, j.Mode.Writes())
		ratio = ratio && ok && !mixes(j.Mode)
		device, deviceIOs, app = device+d.bytes, deviceIOs+d.ios, app+flow(j, pass.Outcome).Bytes
	}
	if p.Passes == 0 {
		return p
	}
	p.IOPS, p.BytesPerSec = new(mean(iops)), new(mean(bps))
	if len(iops) > 1 && *p.IOPS > 0 {
		p.Spread = new((slices.Max(iops) - slices.Min(iops)) / *p.IOPS)
	}
	p.Lat = latency(&lat)
	if rec.Import != nil {
		p.Lat = importedLatency(flows)
		p.Lines = lines(j, passes)
	}
	if len(cpu) > 0 {
		p.CPUBusy, p.CPUBusyLeast = new(float64(busy)/float64(total)), new(slices.Min(cpu))
		if usage && usersKnown {
			p.OtherUser = new(max(0, float64(inUser-own)/float64(total)))
		}
		p.CPULimited = !p.OtherLoad() && len(cpu) == p.Passes && *p.CPUBusyLeast >= cpuLimit
	}
	// The kernel splits CPU time by which of the two a clock tick finds
	// (kernel/sched/cputime.c, cputime_adjust): 0 is too little to be found.
	if usage && ios > 0 && user > 0 {
		p.UserNS = new(float64(user) / float64(ios))
	}
	if usage && ios > 0 && system > 0 {
		p.SystemNS = new(float64(system) / float64(ios))
	}
	if ratio && app > 0 {
		p.DeviceRatio = new(float64(device) / float64(app))
	}
	if ratio && ios > 0 && deviceIOs > 0 {
		p.DeviceIOs = new(float64(deviceIOs) / float64(ios))
	}
	return p
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// maxSecond raises the highest second of p by i.
func maxSecond(p *Place, j *job.Phase, i *record.Interval) {
	if i.LenNS < fullSecond {
		return
	}
	ios, bytes := i.ReadIOs, i.ReadBytes
	switch {
	case mixes(j.Mode):
		ios, bytes = ios+i.WriteIOs, bytes+i.WriteBytes
	case j.Mode.Writes():
		ios, bytes = i.WriteIOs, i.WriteBytes
	}
	sec := float64(i.LenNS) / 1e9
	if v := float64(ios) / sec; p.MaxIOPS == nil || v > *p.MaxIOPS {
		p.MaxIOPS = &v
	}
	if v := float64(bytes) / sec; p.MaxBytesPerSec == nil || v > *p.MaxBytesPerSec {
		p.MaxBytesPerSec = &v
	}
}

func latency(h *record.Histogram) Latency {
	l := Latency{N: h.N()}
	// one in so many I/Os lies beyond p
	at := func(p float64, oneIn int64) *int64 {
		if l.N < beyond*oneIn {
			return nil
		}
		if ns, ok := h.Percentile(p); ok {
			return &ns
		}
		return nil
	}
	l.P50, l.P99, l.P999 = at(50, 2), at(99, 100), at(99.9, 1000)
	return l
}

// placeCPUs returns the CPUs of a place as they were read back; nil where they
// are not known.
func placeCPUs(rec *record.Record, name string) []int {
	for i := range rec.Places {
		if rec.Places[i].Name == name {
			return rec.Places[i].CPUs
		}
	}
	return nil
}

// cpuTime returns busy and total time of the CPUs between the two ends of a
// pass; false where one of them was not read at both, or time ran backwards.
func cpuTime(w *record.Watch, cpus []int) (use cpuUse, ok bool) {
	if w.Before == nil || w.After == nil || len(cpus) == 0 {
		return cpuUse{}, false
	}
	use.userKnown = true
	for _, n := range cpus {
		a, okA := w.Before.CPUs[n]
		b, okB := w.After.CPUs[n]
		db, dt := b.BusyNS-a.BusyNS, b.TotalNS-a.TotalNS
		if !okA || !okB || db < 0 || dt < db {
			return cpuUse{}, false
		}
		use.busy, use.total = use.busy+db, use.total+dt
		if a.UserNS == nil || b.UserNS == nil {
			use.userKnown = false
		} else {
			use.user += *b.UserNS - *a.UserNS
		}
	}
	return use, use.total > 0
}

// cpuUse is how the time of CPUs was used, in nanoseconds.
type cpuUse struct {
	busy, total, user int64
	userKnown         bool
}

// heldUp reports whether nativ itself did not run while the pass did, stopped or
// suspended with its machine, so that what the host saw covers another time than
// the pass: its window is longer, or seconds have no sample.
func heldUp(p *record.Pass) bool {
	w, o := &p.Watch, p.Outcome
	if o == nil || w.Before == nil || w.After == nil || o.ElapsedNS() <= 0 {
		return false
	}
	elapsed := o.ElapsedNS()
	if float64(w.After.MonoNS-w.Before.MonoNS) > 1.2*float64(elapsed)+1e9 {
		return true
	}
	// From five seconds on: in fewer a sample can be late without a reason. A
	// record without any holds none on purpose.
	sec := elapsed / 1e9
	return sec >= 5 && len(w.Samples) > 0 && int64(len(w.Samples)) < sec/2
}

// A use is what drives did.
type use struct{ bytes, ios int64 }

// deviceUse returns what all drives of the target read or wrote between the two
// ends of a pass; false where that is not known.
func deviceUse(rec *record.Record, p *record.Pass, writes bool) (use, bool) {
	w := &p.Watch
	if w.Before == nil || w.After == nil || len(rec.Target.Drives) == 0 || heldUp(p) {
		return use{}, false
	}
	var sum use
	for i := range rec.Target.Drives {
		d := &rec.Target.Drives[i]
		if d.IOStats != nil && !*d.IOStats {
			return use{}, false
		}
		a, okA := w.Before.Devices[d.Name]
		b, okB := w.After.Devices[d.Name]
		n := use{b.ReadBytes - a.ReadBytes, b.ReadIOs - a.ReadIOs}
		if writes {
			n = use{b.WriteBytes - a.WriteBytes, b.WriteIOs - a.WriteIOs}
		}
		if !okA || !okB || n.bytes < 0 || n.ios < 0 {
			return use{}, false
		}
		sum.bytes, sum.ios = sum.bytes+n.bytes, sum.ios+n.ios
	}
	return sum, true
}

func temperatures(rec *record.Record) []Temperature {
	m := map[string]*Temperature{}
	samples(rec, func(s *record.Sample) {
		for name, mc := range s.Temperatures {
			t := m[name]
			if t == nil {
				t = &Temperature{Sensor: name, First: mc, Min: mc, Max: mc}
				m[name] = t
			}
			t.Min, t.Max = min(t.Min, mc), max(t.Max, mc)
		}
	})
	var all []Temperature
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, *m[name])
	}
	return all
}

// WrittenBytes is what a run has written to its file up to now; see Written.Application.
func WrittenBytes(rec *record.Record) int64 { return written(rec).Application }

func written(rec *record.Record) Written {
	var w Written
	w.counted(rec)
	if rec.Prefill != nil {
		w.Application += max(rec.Prefill.Bytes, 0)
		if twin := rec.Prefill.Twin; twin != nil {
			w.Application += max(twin.Bytes, 0)
		}
	}
	for i := range rec.Resumed {
		if pre := rec.Resumed[i].Prefill; pre != nil {
			w.Application += max(pre.Bytes, 0)
		}
		if cut := rec.Resumed[i].Interrupted; cut != nil && cut.Outcome != nil && cut.Outcome.Write != nil {
			w.Application += max(cut.Outcome.Write.Bytes, 0)
		}
	}
	for i := range rec.Rounds {
		for j := range rec.Rounds[i].Passes {
			p := &rec.Rounds[i].Passes[j]
			var app int64
			if p.Outcome != nil && p.Outcome.Write != nil {
				app = max(p.Outcome.Write.Bytes, 0)
			}
			w.Application += app
			d, ok := deviceUse(rec, p, true)
			if !ok || p.Outcome == nil {
				continue
			}
			if w.Device == nil {
				w.Device, w.InPasses = new(int64), new(int64)
			}
			*w.Device += d.bytes
			*w.InPasses += app
		}
	}
	return w
}
