package sensor

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"nativ/internal/record"
)

// Roots are where the kernel's pseudo filesystems lie; empty fields mean
// "/sys", "/proc" and "/dev". Tests give trees of their own.
type Roots struct {
	Sys, Proc, Dev string
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

func (r Roots) dev(elem ...string) string {
	if r.Dev == "" {
		r.Dev = "/dev"
	}
	return filepath.Join(r.Dev, filepath.Join(elem...))
}

// Kinds of sources, as record.Source names them.
const (
	kindTemperature  = "temperature"
	kindHealth       = "health"
	kindDevice       = "device"
	kindLink         = "link"
	kindAER          = "aer"
	kindCPU          = "cpu"
	kindCPUFrequency = "cpu-frequency"
	kindCPUThermal   = "cpu-thermal"
	kindPressure     = "pressure"
	kindCgroup       = "cgroup"
)

// ForTarget returns the sources for a target: of each of its drives the
// counters, the health log or whatever else tells its temperature, the PCIe
// link and its errors; and the CPUs and the pressure on the machine. A target
// with no drive (a network, a file system whose devices the kernel does not
// show) gets sources that say so. Nothing is read but names: no drive is asked
// for anything.
func ForTarget(t *record.Target, roots Roots) []Source {
	var sources []Source
	seen := map[string]bool{} // two namespaces share their controller
	for _, d := range t.Drives {
		sources = append(sources, NewDevice(roots, d.Name))
		cs := controllers(roots, d.Name)
		if len(cs) == 0 {
			sources = append(sources, otherTemperature(roots, d.Name))
			continue
		}
		// Of several paths to one drive, one tells its health, but each has a link.
		if c := cs[0]; !seen[c] {
			sources = append(sources, health(roots, c)...)
		}
		for _, c := range cs {
			if own, port := pciFunctions(filepath.Join(c, "device")); own.address != "" && !seen[c] {
				sources = append(sources, newLink(own, port), newAER(own, port))
			}
			seen[c] = true
		}
	}
	if len(t.Drives) == 0 {
		sources = append(sources,
			none{record.Source{Kind: kindDevice, Missing: "no drive is known below " + t.Dir}},
			none{record.Source{Kind: kindTemperature, Missing: "no sensor: no drive is known below " + t.Dir}})
	}
	return append(sources, NewCPU(roots), NewCPUFrequency(roots), NewCPUThermal(roots), NewPressure(roots))
}

// health returns the sources of an NVMe controller's health log and temperatures.
// The kernel's hwmon reads the same log, once for every value, and so only
// stands in for it.
func health(roots Roots, dir string) []Source {
	log := NewHealth(roots, filepath.Base(dir))
	if log.desc.Missing == "" {
		return []Source{log}
	}
	return []Source{log, NewTemperature(roots, dir)}
}

// Read reads all sources of a target once, for who runs no sampler; missing are
// those that could not be read, and why. now is CLOCK_MONOTONIC in nanoseconds.
func Read(t *record.Target, roots Roots, now func() int64) (sample record.Sample, missing []record.Source) {
	s := New(ForTarget(t, roots), now)
	sample = s.Sample()
	for _, d := range s.Sources() {
		if d.Missing != "" {
			missing = append(missing, d)
		}
	}
	return sample, missing
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
