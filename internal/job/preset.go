package job

import (
	"fmt"
	"slices"
	"time"
)

// An Order is what a run makes of the phases of a preset: which passes there are
// and what each is for. Package bench has the plan of each.
type Order string

// The orders.
const (
	// OrderPalindrome measures each phase in all places, forth and back, so that
	// a steady drift takes the same from each place: for comparisons.
	OrderPalindrome Order = ""
	// OrderRounds does so in rounds, of which half start at the other end, with a
	// pilot and a discarded pass before: for verdicts.
	OrderRounds Order = "rounds"
	// OrderArticle measures all phases in one place after the other, once, and
	// once more in the last one while the drive is hot.
	OrderArticle Order = "article"
	// OrderHeat loads the drive until it throttles or is steady, then watches it
	// recover and loads it again.
	OrderHeat Order = "heat"
	// OrderFill writes the file once, with its first phase, and probes with its
	// second how the drive recovers.
	OrderFill Order = "fill"
)

// A Preset names a set of phases and how they are repeated.
type Preset struct {
	Name string
	// Phases in the order in which a report shows them, which is that of the
	// reader's test that nativ grew from.
	Phases []Phase
	// Runtime is the time that each phase gets in each place, over all its
	// passes there.
	Runtime time.Duration
	// Order of the passes.
	Order Order
	// Passes is how often each place is measured in a phase; even, because
	// the order of places is a palindrome, or 1 where it is not. A round has two.
	Passes int
	// Places to measure unless the user names others; nil is all.
	Places []string
	// FileSize is the size of the test file in bytes, where there is room; 0 is
	// all the room that there is.
	FileSize int64
	// WriteQuota bounds the bytes that one pass may write; 0 is what the drive's
	// link can carry in the time.
	WriteQuota int64
	// CoolDown is how long a pass may wait for the drive to cool down: 0 is as
	// long as a pass runs, so that a run takes at most twice its time; below 0 is
	// not at all.
	CoolDown time.Duration
	// Idle is how long the drive is left alone before its temperature at rest is
	// read; 0 is one reading at once.
	Idle time.Duration
	// Ceiling is true where no run goes without a highest temperature.
	Ceiling bool
}

// Reads reports whether anything of the preset reads, and so needs a file that
// was written before.
func (p *Preset) Reads() bool {
	return slices.ContainsFunc(p.Phases, func(ph Phase) bool { return ph.Mode.Reads() })
}

// Names of the phases of the quick preset.
const (
	RandRead4K  = "randread-4k"
	RandWrite4K = "randwrite-4k"
	Read128K    = "read-128k"
	Write128K   = "write-128k"
	SyncWrite4K = "syncwrite-4k"
)

// Quick is the exploratory preset: the phases of presets/test.fio (the four of
// the reader's test and sync write), each place twice, about two minutes in all.
// Its phases have no runtime and no seed of their own.
func Quick() Preset {
	p := Preset{
		Name:       "quick",
		Passes:     2,
		FileSize:   16 << 30,
		WriteQuota: 8 << 30,
	}
	f, err := ParsePreset("test")
	if err != nil {
		panic(err) // embedded, and tested
	}
	for _, j := range f.Jobs {
		ph, err := ToPhase(j)
		if err != nil {
			panic(err)
		}
		p.Runtime = time.Duration(ph.RuntimeNS)
		ph.RuntimeNS = 0
		p.Phases = append(p.Phases, ph)
	}
	return p
}

const (
	// standardRounds find a true 3 % in one of five phases in more than nine runs of
	// ten on a drive whose seconds scatter by 3 %; docs/method.md has the table. With
	// eight, the fewest in which the exact sign-flip test can take part in a verdict
	// that is corrected over five phases, all have to lie on one side, and it is
	// eight of ten.
	standardRounds = 12
	// verdictPass is the length of a pass in a run for verdicts: twelve rounds of
	// five phases in three places take two hours. More and shorter passes find more
	// in the same time than fewer and longer ones.
	verdictPass = 18 * time.Second
)

// verdictCoolDown is the longest wait before a pass of a run for verdicts. The
// simulated 9100 PRO without a heatsink is back in its band after a minute; with
// 18 s, as long as a pass, all rounds of both its reading phases were void, with a
// minute none.
const verdictCoolDown = time.Minute

// Standard is the preset for verdicts: the phases of Quick in twelve rounds. A pass
// writes the test file over once at most.
func Standard() Preset { return inRounds("standard", standardRounds) }

// Thorough is Standard with twice the rounds, for drives that scatter more.
func Thorough() Preset { return inRounds("thorough", 2*standardRounds) }

func inRounds(name string, rounds int) Preset {
	p := Quick()
	p.Name, p.Order, p.Passes = name, OrderRounds, 2*rounds
	p.Runtime = verdictPass * time.Duration(p.Passes)
	p.WriteQuota = p.FileSize
	p.CoolDown = verdictCoolDown
	return p
}

// PresetByName returns the preset of the test's phases called name, or an error
// that lists the names there are.
func PresetByName(name string) (Preset, error) {
	switch name {
	case "quick":
		return Quick(), nil
	case "standard":
		return Standard(), nil
	case "thorough":
		return Thorough(), nil
	}
	return Preset{}, fmt.Errorf("there is no preset %q; the presets are: quick, standard, thorough", name)
}

// Prefill returns the phase that writes a whole file once, sequentially, with
// incompressible blocks of which no two are equal.
func Prefill() Phase {
	return Phase{Name: "prefill", Mode: Write, BlockSize: 1 << 20, IODepth: 16, NumJobs: 1, Direct: true, Unique: true, Once: true}
}
