// Package sensor reads what the host can see while a pass runs: temperatures,
// device counters, CPU time and cgroup counters, at the exact start and end of
// each pass and once a second between.
package sensor

import "nativ/internal/record"

// A Source reads one thing into a sample. It reads as little as it can: every
// reading costs something while a benchmark runs.
type Source interface {
	// Describe says what it reads, or why it cannot.
	Describe() record.Source
	// Read adds its values to s. What cannot be read is left out of s; the
	// error says why and does not end anything.
	Read(s *record.Sample) error
}
