package bench

import (
	"slices"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// An order makes the passes of a wish, whose phases have their limits. Their seeds
// are not its part.
type order func(w *Wish, phases []job.Phase) []record.Step

var orders = map[job.Order]order{
	job.OrderPalindrome: palindromes,
	job.OrderRounds:     rounds,
	job.OrderArticle:    article,
	job.OrderHeat:       heat,
	job.OrderFill:       fill,
}

// stepOf is a pass of the phase with its own limits.
func stepOf(ph *job.Phase, place string, round int) record.Step {
	return record.Step{Round: round, Phase: ph.Name, Place: place, RuntimeNS: ph.RuntimeNS, MaxBytes: ph.MaxBytes}
}

// palindromes has phases that only read first, because writing changes what a
// drive's caches hold; the report keeps the preset's order. Within a phase the
// places form a palindrome (host pinned lxc lxc pinned host): a steady drift, by
// warming up or a cache filling, then takes the same from each.
func palindromes(w *Wish, phases []job.Phase) []record.Step {
	var steps []record.Step
	for _, ph := range readersFirst(phases) {
		for round := range w.Preset.Passes / 2 {
			for _, place := range palindrome(w.Places) {
				steps = append(steps, stepOf(&ph, place, round))
			}
		}
	}
	return steps
}

// readersFirst returns the phases in the order in which they run.
func readersFirst(phases []job.Phase) []job.Phase {
	s := slices.Clone(phases)
	slices.SortStableFunc(s, func(a, b job.Phase) int {
		switch aw, bw := a.Mode.Writes(), b.Mode.Writes(); {
		case aw == bw:
			return 0
		case bw:
			return -1
		default:
			return 1
		}
	})
	return s
}

// palindrome returns the places and then the places again in reverse.
func palindrome(places []string) []string {
	back := slices.Clone(places)
	slices.Reverse(back)
	return append(slices.Clone(places), back...)
}

// article is the order of the test as it was printed, weaknesses included: all
// phases in one place, then in the next, and once more in the last while the
// drive is hot.
func article(w *Wish, phases []job.Phase) []record.Step {
	places := w.Places
	var steps []record.Step
	trip := func(place, role string, round int) {
		for i := range phases {
			s := stepOf(&phases[i], place, round)
			s.Role = role
			steps = append(steps, s)
		}
	}
	for i, place := range places {
		trip(place, "", i)
	}
	trip(places[len(places)-1], record.RoleHot, len(places))
	return steps
}

const (
	// probeTime is long enough for a rate and too short to warm the drive, and
	// probeBytes what a fast drive writes in it.
	probeTime  = 2 * time.Second
	probeBytes = 32 << 30
	// resumePause lets the flash cool and is too short for a drive to empty its
	// cache; in resumeTime a drive that was throttled throttles again.
	resumePause = 30 * time.Second
	resumeTime  = 3 * time.Minute
	resumeBytes = 512 << 30
)

var (
	// heatPauses are the pauses before the probes after a load. A drive without a
	// heatsink cools with a time constant of two to three minutes.
	heatPauses = []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}
	// fillPauses: drives empty their cache when idle, in minutes.
	fillPauses = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute}
)

// heat loads with each phase until it throttles or is steady, probes how the
// drive recovers, and loads again after a pause. Heat leaves in the pause and
// comes back with the load, at the same temperature; a cache that was full still
// is.
func heat(w *Wish, phases []job.Phase) []record.Step {
	var steps []record.Step
	for round, place := range w.Places {
		for _, ph := range readersFirst(phases) {
			load := stepOf(&ph, place, round)
			load.Role = record.RoleLoad
			steps = append(steps, load)
			for _, pause := range heatPauses {
				steps = append(steps, shorter(load, record.RoleProbe, pause, probeTime, probeBytes))
			}
			steps = append(steps, shorter(load, record.RoleResume, resumePause, resumeTime, resumeBytes))
		}
	}
	return steps
}

// fill writes the file once with the first phase and probes with the last.
func fill(w *Wish, phases []job.Phase) []record.Step {
	var steps []record.Step
	for round, place := range w.Places {
		load := stepOf(&phases[0], place, round)
		load.Role = record.RoleLoad
		steps = append(steps, load)
		probe := stepOf(&phases[len(phases)-1], place, round)
		for _, pause := range fillPauses {
			steps = append(steps, shorter(probe, record.RoleProbe, pause, probeTime, probeBytes))
		}
	}
	return steps
}

// shorter is a step with a role, a pause before it, and at most so much time and,
// where it writes, so many bytes.
func shorter(s record.Step, role string, pause, runtime time.Duration, bytes int64) record.Step {
	s.Role, s.PauseNS = role, pause.Nanoseconds()
	if s.RuntimeNS == 0 || s.RuntimeNS > runtime.Nanoseconds() {
		s.RuntimeNS = runtime.Nanoseconds()
	}
	s.MaxBytes = min(s.MaxBytes, bytes)
	return s
}

// cools reports whether step i waits for the drive to cool down. The passes that
// look at what a load left behind must not, and those that follow a pause of
// their own.
func cools(p *record.Plan, i int) bool {
	return p.CoolDownNS > 0 && slices.Contains([]string{"", record.RoleLoad, record.RoleBurnIn}, p.Steps[i].Role)
}

// untilPlateau reports whether a step is over when the drive is steady. A phase
// that ends by itself is not ended early.
func untilPlateau(s *record.Step, ph *job.Phase) bool {
	return !ph.Once && (s.Role == record.RoleLoad || s.Role == record.RoleResume)
}
