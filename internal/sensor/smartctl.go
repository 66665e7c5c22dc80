package sensor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"nativ/internal/record"
)

// A smartctl asks the program smartctl for the temperature of a drive that the
// kernel has no sensor of. It runs at the start and the end of passes only: it
// takes long, and bridges are known that do not stand being asked often
// (smartmontools#256).
type smartctl struct {
	state
	program, device string
	asked           time.Time // guarded by mu
}

const (
	// smartctlLimit ends a smartctl that a drive holds up.
	smartctlLimit = 10 * time.Second
	// smartctlPause is the least time between two: while a pass waits for the
	// drives to cool down, samples are taken one after the other.
	smartctlPause = 30 * time.Second
)

// newSmartctl returns the source of a drive, or nil where there is no smartctl.
func newSmartctl(drive, device string) Source {
	program, err := exec.LookPath("smartctl")
	if err != nil {
		return nil
	}
	s := &smartctl{program: program, device: device}
	s.desc = record.Source{Kind: kindTemperature, Name: drive + " smartctl"}
	return s
}

func (s *smartctl) edgesOnly() bool { return true }

// Read adds the temperature to sample, but not twice within half a minute. A
// drive that sleeps is not woken.
func (s *smartctl) Read(sample *record.Sample) error {
	s.mu.Lock()
	early := !s.asked.IsZero() && time.Since(s.asked) < smartctlPause
	if !early {
		s.asked = time.Now()
	}
	s.mu.Unlock()
	if early {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), smartctlLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.program, "-j", "-A", "-n", "standby", s.device).Output()
	// The exit code is a set of bits, most of which say how the drive is
	// (smartctl(8)); without an answer, the error is what is left.
	r, perr := ParseSmartctl(out)
	switch {
	case perr != nil && err != nil:
		return s.note(fmt.Errorf("smartctl: %w", err))
	case perr != nil:
		return s.note(perr)
	case r.TemperatureMC == nil && len(r.Errors) > 0:
		return s.note(fmt.Errorf("smartctl: %s", strings.Join(r.Errors, "; ")))
	case r.TemperatureMC == nil:
		return s.note(errors.New("smartctl tells no temperature of it"))
	}
	sample.Temperatures = union(sample.Temperatures, map[string]int64{s.desc.Name: *r.TemperatureMC})
	return s.note(nil)
}
