package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"nativ/internal/bench"
	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sensor"
	"nativ/internal/target"
)

// checkDevice decides what the flags about devices mean, without looking at any.
func (s *session) checkDevice() error {
	f := &s.f
	if f.simulated && (f.device != "" || f.dryRun) {
		return exit(exitUsage, "--simulate touches nothing anyway: leave --device and --dry-run out")
	}
	if f.device == "" {
		switch {
		case f.readOnly:
			return exit(exitUsage, "--read-only goes with --device: a test file is written before it is read")
		case f.destroyData != "":
			return exit(exitUsage, "--destroy-data goes with --device, which names the drive")
		}
		return nil
	}
	switch {
	case f.dir != "":
		return exit(exitUsage, "--device and --dir: only one of them says where to measure")
	case f.readOnly && f.destroyData != "":
		return exit(exitUsage, "--read-only and --destroy-data: only one of them can be meant")
	case !f.readOnly && f.destroyData == "":
		return exit(exitUsage, "--device %s: say what may happen to it", f.device).
			next("Only read it: --read-only. Write over everything on it: --destroy-data SERIAL, with the drive's serial number.")
	case f.engine == "fio":
		return exit(exitUsage, "--device and --engine fio: on a device itself only nativ's own engine works")
	}
	if !f.placesAsked {
		places := f.places
		if s.preset.Places != nil {
			places = s.preset.Places
		}
		s.preset.Places = slices.DeleteFunc(slices.Clone(places), func(p string) bool {
			// Who may read the device need not be root, and can have the host.
			return p == record.PlaceLXC || !s.root && p != record.PlaceHost
		})
	} else if slices.Contains(f.places, record.PlaceLXC) {
		return exit(exitUsage, "--places lxc: a device itself is not handed into a container, where a mistake would reach a whole drive; measure it with --places host,pinned").
			next("For a container measure a file on a filesystem of the drive: --dir DIR")
	}
	if f.readOnly {
		leftOut, err := bench.ReadOnly(&s.preset)
		if err != nil {
			return exit(exitUsage, "--read-only: %w", err)
		}
		s.leftOut = leftOut
	}
	return nil
}

// readOnly reports whether nothing may be written.
func (s *session) readOnly() bool { return s.device != nil && s.f.readOnly }

// findDevice looks at the device to measure.
func (s *session) findDevice() error {
	d, err := target.FindDevice(s.f.device, target.Roots{})
	var refusal *target.Refusal
	switch {
	case errors.As(err, &refusal):
		return err
	case errors.Is(err, os.ErrPermission):
		return exit(exitMissing, "--device: %w", err).next("Run it with sudo.")
	case err != nil:
		return exit(exitRefused, "--device: %w", err)
	}
	s.device = d
	t := d.Target(target.Roots{})
	target.Neighbours(t, target.Roots{})
	for i := range t.Drives {
		sensor.Identify(sensor.Roots{}, &t.Drives[i])
	}
	t.Device.LeftOut, t.Device.Consent = s.leftOut, s.f.destroyData
	s.rec = &record.Record{SchemaVersion: record.SchemaVersion, Target: *t}
	return nil
}

// deviceSize is how much of the device is used, from its start, in bytes: all of
// it unless the user asked for less. Sixteen gigabytes at the start of a drive
// would say little about the drive.
func (s *session) deviceSize() int64 {
	size := s.device.Size()
	if s.f.size.set {
		size = s.f.size.bytes
	}
	return size >> 20 << 20 // whole blocks of the prefill
}

// gate passes the safety gate for the test file, or the device. With --dry-run
// its no comes after the plan.
func (s *session) gate(want, least int64) (int64, error) {
	switch {
	case s.pve != nil:
		return s.gatePVE(want, least)
	case s.device == nil:
		return target.Gate(&s.rec.Target, want, least)
	case s.f.readOnly:
		d := s.rec.Target.Device
		if want <= 0 || want > s.device.Size() {
			return 0, exit(exitRefused, "--device %s: it has %d bytes, and %d are to be read", s.device.Path, s.device.Size(), want).
				next("Give a smaller --size.")
		}
		// What cannot be sampled is a doubt that the record holds.
		if sampled, blank, err := s.device.SampleBlank(want); err == nil {
			d.Sampled, d.Blank = &sampled, &blank
		}
		return want, nil
	}
	err := s.device.Gate(s.f.destroyData, want, target.Roots{})
	if err != nil && s.f.dryRun && want > 0 {
		s.refused = err
		return want, nil
	}
	return want, err
}

// openDevice opens the device for the run.
func (s *session) openDevice() (*target.File, error) {
	size := s.rec.Plan.FileSize
	if s.f.readOnly {
		return s.device.OpenToRead(size, target.Roots{})
	}
	return s.device.OpenToDestroy(s.f.destroyData, size, target.Roots{})
}

// endDryRun says that nothing was touched, or why the plan would be refused.
func (s *session) endDryRun() error {
	fmt.Fprintln(s.e.stderr, report.Say(s.lang, report.SayDryRun))
	return s.refused
}
