package sim

// A Truth is what really happened in a simulated run, which a real one never
// tells: the answers to what an analysis of the record has to find out.
type Truth struct {
	// Acts are in the order in which they began.
	Acts []Act
}

// An Act is a time in which a cause really slowed a pass down: without it the
// pass would have been at least 2 % faster at that moment. Several causes may
// act at a time. One that is there and changes nothing, because another limit
// is lower, does not act.
type Act struct {
	// Cause is one of the Cause constants.
	Cause string
	// Pass counts the passes from 0, as record.Pass.Index does.
	Pass         int
	Phase, Place string
	// FromNS and UntilNS are from the start of the pass, in nanoseconds.
	FromNS, UntilNS int64
	// Loss is the share of speed that the cause took, over its time.
	Loss float64
	// JunctionMC is the temperature of the junction when it began, and SensorsMC
	// what honest sensors without lag would have said, by their names in
	// record.Sample, in millidegrees Celsius.
	JunctionMC int64
	SensorsMC  map[string]int64
	// Bytes is how much the pass had written or read when it began.
	Bytes int64
}

// Causes that can slow a pass down.
const (
	CauseThermal      = "thermal"
	CauseThermalLink  = "thermal-link"
	CauseSLC          = "slc-cache"
	CauseGC           = "garbage-collection"
	CauseCPULimit     = "cpu-limit"       // the place has few CPUs
	CauseCgroup       = "cgroup-throttle" // cpu.max
	CauseCPUFrequency = "cpu-frequency"
	CauseCPULoad      = "cpu-load"
	CauseNeighbour    = "neighbour"
	CauseLink         = "link"
	CausePowerState   = "power-state"
	CauseErrors       = "device-errors"
	CauseContainer    = "container"
	CauseUnknown      = "unknown"
)

// Causes lists them all.
func Causes() []string {
	return []string{CauseThermal, CauseThermalLink, CauseSLC, CauseGC, CauseCPULimit, CauseCgroup, CauseCPUFrequency,
		CauseCPULoad, CauseNeighbour, CauseLink, CausePowerState, CauseErrors, CauseContainer, CauseUnknown}
}

// leastLoss is the loss from which a cause acts.
const leastLoss = 0.02

// note takes down which causes act in one step of a pass, given its speed
// without each of them, and ends those that no longer do.
func (p *pass) note(fromNS, untilNS int64, speed float64, without func(cause string) float64) {
	for _, c := range p.possible {
		loss := 0.0
		if w := without(c); w > 0 {
			loss = 1 - speed/w
		}
		a := p.acts[c]
		if loss < leastLoss {
			if a != nil {
				p.endAct(c)
			}
			continue
		}
		if a == nil {
			a = &openAct{Act: Act{Cause: c, Pass: p.index, Phase: p.phase.Name, Place: p.place.name, FromNS: fromNS,
				JunctionMC: milli(p.m.junction), SensorsMC: p.m.honest(), Bytes: p.bytesMoved()}, at: len(p.m.truth.Acts)}
			p.m.truth.Acts = append(p.m.truth.Acts, a.Act)
			p.acts[c] = a
		}
		a.UntilNS = untilNS
		a.weight += float64(untilNS - fromNS)
		a.sum += loss * float64(untilNS-fromNS)
	}
}

type openAct struct {
	Act
	at          int
	weight, sum float64
}

func (p *pass) endAct(c string) {
	a := p.acts[c]
	if a == nil {
		return
	}
	if a.weight > 0 {
		a.Loss = a.sum / a.weight
	}
	p.m.truth.Acts[a.at] = a.Act
	delete(p.acts, c)
}

// endActs ends what acts at the end of a pass.
func (p *pass) endActs() {
	for _, c := range p.possible {
		p.endAct(c)
	}
}
