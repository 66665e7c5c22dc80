package job

import (
	"fmt"
	"time"
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
	// Passes is how often each place is measured in a phase; even, because
	// the order of places is a palindrome.
	Passes int
	// FileSize is the size of the test file in bytes, where there is room.
	FileSize int64
	// WriteQuota bounds the bytes that one pass may write.
	WriteQuota int64
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

// PresetByName returns the preset called name, or an error that lists the
// names there are.
func PresetByName(name string) (Preset, error) {
	if name == "quick" {
		return Quick(), nil
	}
	return Preset{}, fmt.Errorf("there is no preset %q; the presets are: quick", name)
}

// Prefill returns the phase that writes a whole file once, sequentially, with
// incompressible blocks of which no two are equal.
func Prefill() Phase {
	return Phase{Name: "prefill", Mode: Write, BlockSize: 1 << 20, IODepth: 16, NumJobs: 1, Direct: true, Unique: true, Once: true}
}
