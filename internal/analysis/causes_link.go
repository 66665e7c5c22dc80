package analysis

import (
	"strings"

	"nativ/internal/record"
)

// LinkBytes is what a PCIe link carries at the most in bytes a second: by its
// encoding, 8b/10b up to 5 GT/s and 128b/130b above. Packets take some tenth of
// it again.
func LinkBytes(mts, width int) float64 {
	coding := 128.0 / 130
	if mts <= 5000 {
		coding = 0.8
	}
	return float64(mts) * 1e6 / 8 * float64(width) * coding
}

// linkBytes is what the links of the drives carry in a sample: of one drive the
// lesser of both ends, of several the least.
func (s *search) linkBytes(sm *record.Sample) (bytes float64, source string) {
	for i := range s.rec.Target.Drives {
		d := &s.rec.Target.Drives[i]
		for _, a := range []*string{d.PCIAddress, d.PortAddress} {
			if a == nil {
				continue
			}
			if l, ok := sm.Links[*a]; ok && l.SpeedMTs > 0 && l.Width > 0 {
				if v := LinkBytes(l.SpeedMTs, l.Width); source == "" || v < bytes {
					bytes, source = v, *a
				}
			}
		}
	}
	return bytes, source
}

// link looks for a PCIe link that went down.
func (s *search) link(t *track, d *Drop, w windows) *Cause {
	var was, least, source = 0.0, 0.0, ""
	for _, sm := range t.samples {
		at := sm.MonoNS - t.startNS
		v, a := s.linkBytes(sm)
		if a == "" {
			continue
		}
		if at <= d.OnsetNS-500e6 && at >= w.beforeFrom-2e9 {
			was = max(was, v)
		}
		if at >= d.OnsetNS && at <= min(w.until, d.OnsetNS+d.FallNS+10e9) && (least == 0 || v < least) {
			least, source = v, a
		}
	}
	if was == 0 || least == 0 || least >= was {
		return nil
	}
	c := &Cause{Kind: CauseLink, Confidence: Weak, Decide: []Test{TestSlot}, Evidence: []Evidence{ev(EvLinkSpeed, source, least, was)}}
	before, _, ok := t.bytesRate(w.beforeFrom, d.OnsetNS)
	during, _, okD := t.bytesRate(w.from, w.until)
	within, seconds := 0, 0
	for i := range t.points {
		if p := &t.points[i]; p.fromNS >= d.OnsetNS+d.FallNS && p.endNS <= d.UntilNS {
			seconds++
			if float64(p.bytes) <= 1.05*least*float64(p.endNS-p.fromNS)/1e9 {
				within++
			}
		}
	}
	// It explains the drop where it cannot carry what was carried before, and
	// carries much of what it can.
	if ok && okD && before > 0.8*least && (d.Cycles > 1 || during > 0.5*least && within > seconds/2) {
		c.Confidence, c.Decide = Decisive, nil
	}
	return c
}

// driveOf returns the drive that a sensor is of.
func driveOf(rec *record.Record, sensor string) *record.Drive {
	name, _, _ := strings.Cut(sensor, " ")
	for i := range rec.Target.Drives {
		d := &rec.Target.Drives[i]
		if d.Name == name || d.Controller != nil && *d.Controller == name {
			return d
		}
	}
	return nil
}
