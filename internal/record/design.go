package record

import (
	"strings"
	"time"
)

// A Design says how a run that compares places with verdicts was laid out, so
// that an analysis knows what it may conclude. It is nil in a run that explores:
// a verdict needs rounds.
//
// The orders of the rounds follow from Plan.Seed and are what Plan.Steps say.
type Design struct {
	// Rounds is how many rounds each phase has; even, half of them in each order.
	Rounds int `json:"rounds"`
	// SpareRounds is how many rounds of a phase may be replaced because they are
	// void.
	SpareRounds int `json:"spare_rounds"`
	// GapNS is the time from the last completion of a pass to the go of the next,
	// in nanoseconds; see Pass.GapNS for what it was.
	GapNS int64 `json:"gap_ns"`
	// Margins are the differences that count as none, in fractions, by metric: the
	// Metric constants. A metric that is not there has analysis's own.
	Margins map[string]float64 `json:"margins"`
	// Confidence is that of the intervals, 0.95.
	Confidence float64 `json:"confidence"`
	// Correction is how the error is shared by the phases: "holm".
	Correction string `json:"correction"`
}

// Metrics of a verdict.
const (
	MetricThroughput = "throughput"
	MetricP50        = "p50"
	MetricP99        = "p99"
	MetricP999       = "p99.9"
)

// CorrectionHolm is Holm's step-down procedure over the phases of a run.
const CorrectionHolm = "holm"

// NoRound is the Step.Round of a pass that belongs to none: pilot and burn-in.
const NoRound = -1

// VoidInterrupted is Round.Void where the run ended in the middle of a round and
// was resumed. The other reasons are those of package analysis.
const VoidInterrupted = "interrupted"

// A Resume is a continuation of a run that had ended early.
type Resume struct {
	// EndedAt is when the run had last been heard of, At when it went on.
	EndedAt time.Time `json:"ended_at,omitzero"`
	At      time.Time `json:"at"`
	// Step is the index in Plan.Steps of the first pass after it. CLOCK_MONOTONIC
	// may have started anew there.
	Step int `json:"step"`
	// Interrupted is the pass that was cut off, with what it had; nil where the
	// run ended between two passes or nothing of the pass was kept.
	Interrupted *Pass `json:"interrupted,omitempty"`
	// Prefill is that of the part before; Record.Prefill is the latest.
	Prefill *Prefill `json:"prefill,omitempty"`
	// Command is the command line that resumed it.
	Command []string `json:"command,omitempty"`
	// Changed are facts of the machine that are no longer as at the start.
	Changed []Changed `json:"changed,omitempty"`
}

// Changed is a fact before and after.
type Changed struct {
	What   string `json:"what"` // "kernel", "bios", "governor", "mount-options", "pve"
	Before string `json:"before"`
	After  string `json:"after"`
}

// PlaceKind is the kind of a place, one of the Place constants: a second place of
// one kind is called "host#2".
func PlaceKind(name string) string {
	kind, _, _ := strings.Cut(name, "#")
	return kind
}

// IsContainer reports whether a place is a container, whoever makes it.
func IsContainer(place string) bool {
	kind := PlaceKind(place)
	return kind == PlaceLXC || kind == PlacePVE
}

// ContainerOf is the container among places, of which a run has one at most; "" for
// none.
func ContainerOf(places []string) string {
	for _, p := range places {
		if IsContainer(p) {
			return p
		}
	}
	return ""
}

// Keep appends a pass to its round: that of its step in Plan.Steps.
func (r *Record) Keep(p Pass) {
	step := &r.Plan.Steps[p.Index]
	if n := len(r.Rounds); n > 0 {
		last := &r.Rounds[n-1]
		first := &r.Plan.Steps[last.Passes[0].Index]
		if last.Phase == step.Phase && first.Round == step.Round {
			last.Passes = append(last.Passes, p)
			return
		}
	}
	r.Rounds = append(r.Rounds, Round{Phase: step.Phase, Passes: []Pass{p}})
}

// RoundOf is the Step.Round of the passes of a round; NoRound where the plan does
// not have them.
func (r *Record) RoundOf(round *Round) int {
	if len(round.Passes) == 0 || round.Passes[0].Index >= len(r.Plan.Steps) {
		return NoRound
	}
	return r.Plan.Steps[round.Passes[0].Index].Round
}

// Measured is how long the run took, without the time between an end and the
// resumption of it; 0 where that is not known.
func (r *Record) Measured() time.Duration {
	if r.Started.IsZero() || !r.Ended.After(r.Started) {
		return 0
	}
	d := r.Ended.Sub(r.Started)
	for i := range r.Resumed {
		if s := &r.Resumed[i]; s.At.After(s.EndedAt) && !s.EndedAt.IsZero() {
			d -= s.At.Sub(s.EndedAt)
		}
	}
	return max(d, 0)
}
