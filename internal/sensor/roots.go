package sensor

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"nativ/internal/record"
)

// Roots are where the kernel's pseudo filesystems lie; empty fields mean
// "/sys" and "/proc". Tests give trees of their own.
type Roots struct {
	Sys, Proc string
}

func (r Roots) sys(elem ...string) string {
	if r.Sys == "" {
		r.Sys = "/sys"
	}
	return filepath.Join(r.Sys, filepath.Join(elem...))
}

func (r Roots) proc(elem ...string) string {
	if r.Proc == "" {
		r.Proc = "/proc"
	}
	return filepath.Join(r.Proc, filepath.Join(elem...))
}

// Kinds of sources, as record.Source names them.
const (
	kindTemperature = "temperature"
	kindDevice      = "device"
	kindCPU         = "cpu"
	kindCgroup      = "cgroup"
)

// ForTarget returns the sources for a target: counters and temperature of each
// of its drives, and the CPUs. A target with no drive (a network, a file
// system whose devices the kernel does not show) gets sources that say so.
// Nothing is read but names: no drive is asked for anything.
func ForTarget(t *record.Target, roots Roots) []Source {
	var sources []Source
	sensors := map[string]bool{}
	for _, d := range t.Drives {
		sources = append(sources, NewDevice(roots, d.Name))
		temp := NewTemperature(roots, d.Name)
		// Two namespaces of one controller share its sensor, and each reading
		// costs the drive a command.
		if temp.input != "" && sensors[temp.input] {
			continue
		}
		sensors[temp.input] = true
		sources = append(sources, temp)
	}
	if len(t.Drives) == 0 {
		sources = append(sources,
			none{record.Source{Kind: kindDevice, Missing: "no drive is known below " + t.Dir}},
			none{record.Source{Kind: kindTemperature, Missing: "no sensor: no drive is known below " + t.Dir}})
	}
	return append(sources, NewCPU(roots))
}

// none is a source that is known not to be there.
type none struct{ desc record.Source }

func (n none) Describe() record.Source   { return n.desc }
func (n none) Read(*record.Sample) error { return nil }

// A state is what a source knows of itself. What it reads may be found out
// only by reading it: it is missing while no reading ever worked.
type state struct {
	mu     sync.Mutex
	desc   record.Source
	worked bool
	failed error
}

// Describe says what is read; with the reason of the last failure as Missing
// while nothing could ever be read, so that the truth is known after a run.
func (s *state) Describe() record.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.desc
	if d.Missing == "" && !s.worked && s.failed != nil {
		d.Missing = s.failed.Error()
	}
	return d
}

// note keeps how a reading went and returns its error with the source's name.
func (s *state) note(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.worked = true
		return nil
	}
	s.failed = err
	return fmt.Errorf("read %s: %w", strings.TrimSpace(s.desc.Kind+" "+s.desc.Name), err)
}
