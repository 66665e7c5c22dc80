package record

import "nativ/internal/job"

// Jobs says how the passes of a run of nativ fio belong together. Plan.Phases
// and Plan.Steps have an entry for each worker that ran, in order; a Round is a
// group, and the first of its passes holds what the host saw during it.
type Jobs struct {
	// Groups hold indices of phases: those of one group ran side by side, the
	// groups one after another.
	Groups [][]int `json:"groups"`
	// Results are what is reported as one, in order.
	Results []JobResult `json:"results"`
	Files   []JobFile   `json:"files"`
	// Options are fio's options that the section of each phase sets, its globals
	// included, by the index of the phase: those of the section as it is written,
	// also where each of its clones is a phase of its own. Nil in records of an
	// earlier nativ.
	Options [][]job.Setting `json:"options,omitempty"`
	// Engine is the name of the I/O engine that was asked for.
	Engine string `json:"engine"`
}

// A JobResult is a job section, or with group_reporting several.
type JobResult struct {
	// Name is the section's; with several, the first's.
	Name string `json:"name"`
	// Group is an index of Groups, Phases are indices of phases.
	Group  int   `json:"group"`
	Phases []int `json:"phases"`
	// Percentiles to report, as percentile_list has them.
	Percentiles []float64 `json:"percentiles"`
}

// A JobFile is a file that jobs worked on.
type JobFile struct {
	// Given is the name that the user gave, "" where only a directory.
	Given string `json:"given,omitempty"`
	Path  string `json:"path"`
	Size  int64  `json:"size_bytes"`
	// Made is true for a file of nativ's own, which is removed again; false
	// for one that was there and was only read.
	Made bool `json:"made"`
	// Sparse is true where a file that was there has holes: reads of these do
	// not ask the drive.
	Sparse bool `json:"sparse,omitempty"`
}
