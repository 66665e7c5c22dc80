package analysis

import (
	"slices"

	"nativ/internal/record"
)

// onDevices adds up a counter over every namespace of the target's drives.
func (s *search) onDevices(of func(record.DeviceCounters) int64) func(*record.Sample) (float64, bool) {
	var names []string
	for i := range s.rec.Target.Drives {
		d := &s.rec.Target.Drives[i]
		if d.IOStats != nil && !*d.IOStats {
			return func(*record.Sample) (float64, bool) { return 0, false }
		}
		names = append(names, d.Name)
		if d.NVMe != nil {
			for _, n := range d.NVMe.Namespaces {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
	}
	return func(sm *record.Sample) (float64, bool) {
		var sum float64
		ok := false
		for _, n := range names {
			if c, has := sm.Devices[n]; has {
				sum, ok = sum+float64(of(c)), true
			}
		}
		return sum, ok
	}
}

// own is what the pass did between two samples.
func (t *track) own(a, b *record.Sample) (bytes, ios float64) {
	from, until := a.MonoNS-t.startNS, b.MonoNS-t.startNS
	for i := range t.pass.Intervals {
		v := &t.pass.Intervals[i]
		lap := float64(min(v.EndNS, until) - max(v.EndNS-v.LenNS, from))
		if lap > 0 && v.LenNS > 0 {
			part := lap / float64(v.LenNS)
			bytes, ios = bytes+part*float64(v.ReadBytes+v.WriteBytes), ios+part*float64(v.ReadIOs+v.WriteIOs)
		}
	}
	return bytes, ios
}

// neighbour compares what the drive did with what the test did.
func (s *search) neighbour(t *track, d *Drop, w windows) *Cause {
	if s.rec.Jobs != nil { // others of the run itself may run side by side
		return nil
	}
	a, b, okWas := t.between(w.beforeFrom, w.beforeUntil)
	x, y, okIs := t.between(w.from, w.until)
	if !okWas || !okIs {
		return nil
	}
	bytesWas, iosWas := t.own(a, b)
	bytesIs, iosIs := t.own(x, y)
	scaleWas, scaleIs := float64(b.MonoNS-a.MonoNS)/1e9, float64(y.MonoNS-x.MonoNS)/1e9
	c := &Cause{Kind: CauseNeighbour, Confidence: Weak, Decide: []Test{TestQuiet}}
	for _, k := range []struct {
		kind     EvidenceKind
		of       func(record.DeviceCounters) int64
		was, own float64
	}{
		{EvDeviceBytes, func(c record.DeviceCounters) int64 { return c.ReadBytes + c.WriteBytes }, bytesWas, bytesIs},
		{EvDeviceIOs, func(c record.DeviceCounters) int64 { return c.ReadIOs + c.WriteIOs }, iosWas, iosIs},
	} {
		of := s.onDevices(k.of)
		devA, ok1 := of(a)
		devB, ok2 := of(b)
		devX, ok3 := of(x)
		devY, ok4 := of(y)
		if !ok1 || !ok2 || !ok3 || !ok4 || k.was <= 0 {
			continue
		}
		// For each of the test's there may be more or fewer at the drive: mirrors,
		// journals, merges. That many remain its own.
		ratio := (devB - devA) / k.was
		if k.kind == EvDeviceBytes {
			ratio = max(ratio, 1)
		}
		others := (devY - devX - ratio*k.own) / scaleIs
		before, lost := k.was/scaleWas, k.was/scaleWas-k.own/scaleIs
		if others < 0.03*before || lost <= 0 {
			continue
		}
		c.Evidence = append(c.Evidence, ev(k.kind, s.rec.Target.Drives[0].Name, others, max(0, (devB-devA-k.was)/scaleWas)))
		// Others' I/Os are of other sizes and kinds: they need not be as many as
		// those that were lost.
		if others >= 0.25*lost {
			c.Confidence = Strong
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	return c
}
