package main

import (
	"maps"
	"os"
	"slices"

	"nativ/internal/bench"
	"nativ/internal/cgroup"
	"nativ/internal/fio"
	"nativ/internal/journal"
	"nativ/internal/place"
	"nativ/internal/record"
	"nativ/internal/sensor"
	"nativ/internal/sys"
)

// checkPlaces makes sure that every place that was asked for can be had, before
// anybody is asked to agree to anything.
func (s *session) checkPlaces() error {
	if !s.root && slices.ContainsFunc(s.asked, notHost) {
		x := exit(exitMissing, "%s needs root: containers and cgroups are made by root only", s.asked[len(s.asked)-1])
		return x.next("Run it with sudo, or measure the host alone: nativ %s host", s.placeFlag)
	}
	if slices.Contains(s.asked, record.PlaceLXC) {
		if err := place.CheckLXC(); err != nil {
			return err
		}
		if err := place.CheckStatic(); err != nil {
			return err
		}
		if err := place.CheckStateDir(s.state, s.f.privileged); err != nil {
			return err
		}
	}
	if slices.Contains(s.asked, record.PlacePVE) {
		if err := place.CheckStatic(); err != nil {
			return err
		}
	}
	// Root outside a container may use io_uring at 1, the mapped root inside may
	// not; better said now than after half of the places were set up.
	if d := s.rec.Host.IOUringDisabled; s.uring && d != nil && *d == 1 && record.ContainerOf(s.asked) != "" && !s.f.privileged {
		return exit(exitMissing, "kernel.io_uring_disabled=1 forbids io_uring in an unprivileged container").
			next("Allow it while measuring: sysctl -w kernel.io_uring_disabled=0; or measure with --privileged, or outside of a container")
	}
	if !s.root {
		return nil
	}
	fs, err := cgroup.Detect("/")
	if err != nil {
		return exit(exitMissing, "%w", err)
	}
	if slices.ContainsFunc(s.asked, notHost) {
		need := []string{"cpuset"}
		if s.memory != nil {
			need = append(need, "memory")
		}
		return fs.Check(need...)
	}
	return nil
}

func notHost(place string) bool { return record.PlaceKind(place) != record.PlaceHost }

// A placeKit is everything about the places of one run.
type placeKit struct {
	places  []bench.Place
	undoers map[journal.Kind]journal.Undoer
	sources []sensor.Source
	sampler *sensor.Sampler
	cgroups *cgroup.FS // nil without root
	group   *sensor.Cgroup
	pve     *place.PVE // nil where no container of Proxmox VE is asked for
}

// newPlaces makes the places that were asked for, none of them set up yet.
func (s *session) newPlaces(j *journal.Journal) (*placeKit, error) {
	k := &placeKit{group: sensor.NewCgroup()}
	var err error
	if k.undoers, err = undoers(s.e, s.state); err != nil {
		return nil, err
	}
	if s.root {
		if k.cgroups, err = cgroup.Detect("/"); err != nil {
			return nil, err
		}
	}
	c := place.Config{
		RunID: s.rec.ID, Journal: j, Cgroups: k.cgroups,
		Engine: s.engine, GOMAXPROCS: s.rec.Plan.GOMAXPROCS,
	}
	var limits place.Limits
	for _, cpu := range s.rec.Plan.CPUSet.CPUs {
		limits.CPUs = append(limits.CPUs, cpu.ID)
	}
	if s.memory != nil {
		limits.Memory = *s.memory
	}
	for _, name := range s.asked {
		switch record.PlaceKind(name) {
		case record.PlaceHost:
			p := place.NewHost(c)
			p.Rename(name)
			k.places = append(k.places, p)
		case record.PlacePinned:
			p := place.NewPinned(c, limits)
			p.Rename(name)
			k.places = append(k.places, p)
		case record.PlacePVE:
			k.pve = s.newPVE(c, limits)
			k.places = append(k.places, k.pve)
		case record.PlaceLXC:
			mounts, err := s.fioMounts()
			if err != nil {
				return nil, err
			}
			k.places = append(k.places, place.NewLXC(c, limits, place.LXCOptions{StateDir: s.state, Privileged: s.f.privileged, Mounts: mounts}))
		}
	}
	k.sources = append(sensor.ForTarget(&s.rec.Target, sensor.Roots{}), k.group)
	k.sampler = sensor.New(k.sources, sys.MonoNow)
	return k, nil
}

// fioMounts are the files of the host's fio, where it is the engine: a container
// has none of its own.
func (s *session) fioMounts() ([]place.Mount, error) {
	if s.f.engine != "fio" {
		return nil, nil
	}
	bundle, err := fio.Bundle("")
	if err != nil {
		return nil, exit(exitMissing, "%w", err)
	}
	var mounts []place.Mount
	for _, m := range bundle {
		mounts = append(mounts, place.Mount(m))
	}
	return mounts, nil
}

// watch points the sampler at a place.
func (k *placeKit) watch(p bench.Place) bench.Watcher {
	path := p.Cgroup()
	if k.cgroups == nil || path == "" {
		k.group.Set("", nil)
	} else {
		k.group.Set(path, func() (record.CgroupCounters, error) { return k.cgroups.Counters(path) })
	}
	return k.sampler
}

// undoers know how to remove each kind of thing that a run makes.
func undoers(e *env, state string) (map[journal.Kind]journal.Undoer, error) {
	var fs *cgroup.FS
	if os.Geteuid() == 0 {
		var err error
		if fs, err = cgroup.Detect("/"); err != nil {
			return nil, err
		}
	}
	all := place.Undoers(fs, state)
	client, _ := pveClient(e.getenv)
	maps.Copy(all, place.PVEUndoers(client))
	return all, nil
}
