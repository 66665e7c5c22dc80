package analysis

import "slices"

// A Cause is why a speed fell, or why it is low all the time. It is free of
// language: what speaks for it is in Evidence.
type Cause struct {
	Kind       CauseKind
	Confidence Confidence
	// Evidence speaks for the cause, Against against it.
	Evidence, Against []Evidence
	// Decide is what to do to be sure; empty where the cause is decisive.
	Decide []Test
}

// A CauseKind names a cause.
type CauseKind string

// The causes.
const (
	// CauseThermal: the drive slows itself down because it is hot.
	CauseThermal CauseKind = "thermal"
	// CauseThermalLink: it does so by lowering its PCIe link.
	CauseThermalLink CauseKind = "thermal-link"
	// CauseSLC: the fast cache is full.
	CauseSLC CauseKind = "slc-cache"
	// CauseGC: random writes make the drive move old data.
	CauseGC CauseKind = "garbage-collection"
	// CauseCPULimit: the place's CPUs are used up by the test itself.
	CauseCPULimit CauseKind = "cpu-limit"
	// CauseCgroup: the kernel holds CPU time back (cpu.max).
	CauseCgroup CauseKind = "cgroup-throttle"
	// CauseCPUFrequency: the CPUs run slower, perhaps because they are hot.
	CauseCPUFrequency CauseKind = "cpu-frequency"
	// CauseCPULoad: other programs use the place's CPUs.
	CauseCPULoad CauseKind = "cpu-load"
	// CauseNeighbour: others use the drive.
	CauseNeighbour CauseKind = "neighbour"
	// CauseLink: the PCIe link is slower than the drive.
	CauseLink CauseKind = "link"
	// CausePowerState: the drive is set to take less power.
	CausePowerState CauseKind = "power-state"
	// CauseErrors: resets, timeouts, or errors that the drive corrects.
	CauseErrors CauseKind = "device-errors"
	// CauseUnknown: nothing that could be read tells.
	CauseUnknown CauseKind = "unknown"
)

// CauseKinds lists every cause.
func CauseKinds() []CauseKind {
	return []CauseKind{CauseThermal, CauseThermalLink, CauseSLC, CauseGC, CauseCPULimit, CauseCgroup, CauseCPUFrequency,
		CauseCPULoad, CauseNeighbour, CauseLink, CausePowerState, CauseErrors, CauseUnknown}
}

// A Confidence is how sure a cause is.
type Confidence string

// The confidences, from the surest.
const (
	// Decisive: a counter or a log of what slowed down says so itself.
	Decisive Confidence = "decisive"
	// Strong: it shows what only this cause makes it show, in the right order
	// in time, and nothing speaks against it.
	Strong Confidence = "strong"
	// Weak: it would fit, as others would. A weak cause is no answer.
	Weak Confidence = "weak"
)

var confidences = []Confidence{Decisive, Strong, Weak}

// Named are the causes of the drop that are at least strong; none where it is
// unknown.
func (d *Drop) Named() []Cause {
	var all []Cause
	for _, c := range d.Causes {
		if c.Kind != CauseUnknown && c.Confidence != Weak {
			all = append(all, c)
		}
	}
	return all
}

// By returns the cause of that kind among those named, or nil.
func (d *Drop) By(kinds ...CauseKind) *Cause {
	for i := range d.Causes {
		if c := &d.Causes[i]; c.Confidence != Weak && slices.Contains(kinds, c.Kind) {
			return c
		}
	}
	return nil
}
