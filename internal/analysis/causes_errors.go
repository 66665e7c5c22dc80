package analysis

import (
	"math"

	"nativ/internal/record"
)

// errors looks for what the drive or the kernel said of errors.
func (s *search) errors(t *track, d *Drop) *Cause {
	c := &Cause{Kind: CauseErrors, Confidence: Weak, Decide: []Test{TestRepeat}}
	from, until := t.startNS+d.OnsetNS-5e9, t.startNS+d.UntilNS
	n, first := 0, ""
	for _, l := range s.rec.KernelLog {
		// A link that changes is its own cause.
		if l.MonoNS < from || l.MonoNS > until || l.Kind == "link" || l.Kind == "other" {
			continue
		}
		if n == 0 {
			first = l.Kind
		}
		n++
	}
	if n > 0 {
		c.Evidence = append(c.Evidence, ev1(EvKernelLog, first, float64(n)))
		c.Confidence = Strong
		if d.Stall {
			c.Confidence = Decisive
		}
	}
	for name := range firstHealth(t) {
		media := func(s *record.Sample) (float64, bool) { h, ok := s.Health[name]; return float64(h.MediaErrors), ok }
		w := windows{max(0, d.OnsetNS-12e9), d.OnsetNS - 2e9, d.OnsetNS - 2e9, d.UntilNS}
		if was, is, ok := t.change(w, media); ok && is > 0 && is > 3*was {
			c.Evidence = append(c.Evidence, ev1(EvMediaErrors, name, math.Round(is*float64(d.UntilNS-d.OnsetNS+2e9)/1e9)))
			c.Confidence = Strong
			if n > 0 {
				c.Confidence = Decisive
			}
		}
	}
	for i := range s.rec.Target.Drives {
		a := s.rec.Target.Drives[i].PCIAddress
		if a == nil {
			continue
		}
		aer := func(s *record.Sample) (float64, bool) {
			v, ok := s.AER[*a]
			return float64(v.Correctable + v.NonFatal + v.Fatal), ok
		}
		w := windows{max(0, d.OnsetNS-12e9), d.OnsetNS - 2e9, d.OnsetNS - 2e9, d.UntilNS}
		if was, is, ok := t.change(w, aer); ok && is > 3*was && is > 0 {
			c.Evidence = append(c.Evidence, ev1(EvPCIeErrors, *a, math.Round(is*float64(d.UntilNS-d.OnsetNS+2e9)/1e9)))
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	if c.Confidence == Decisive {
		c.Decide = nil
	}
	return c
}

func firstHealth(t *track) map[string]record.Health {
	for _, s := range t.samples {
		if len(s.Health) > 0 {
			return s.Health
		}
	}
	return nil
}
