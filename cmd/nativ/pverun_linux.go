package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"nativ/internal/bench"
	"nativ/internal/place"
	"nativ/internal/pve"
	"nativ/internal/record"
	"nativ/internal/storage"
	"nativ/internal/target"
)

// newNonce draws the 128 random bits of a file's name.
func newNonce() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("draw a nonce: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// newPVE is the container that is asked for, not made yet.
func (s *session) newPVE(c place.Config, l place.Limits) *place.PVE {
	o := s.pve.options
	o.StateDir = s.state
	o.Bytes = target.VolumeFor(s.rec.Plan.FileSize)
	return place.NewPVE(c, l, o)
}

// fileInContainer makes the container and the test file in it, and replaces what the
// record said of the target, which was not there, by what it came to.
func (s *session) fileInContainer(ctx context.Context, p *place.PVE, emit func(bench.Event)) (*target.File, error) {
	emit(bench.Event{Kind: bench.EventPlace, Place: p.Name()})
	if err := p.Make(ctx); err != nil {
		return nil, err
	}
	t, err := p.Target()
	if err != nil {
		return nil, err
	}
	storage.Describe(ctx, t)
	if err := s.cameTo(p, t); err != nil {
		return nil, err
	}
	nonce, err := newNonce()
	if err != nil {
		return nil, err
	}
	return p.CreateFile(s.rec.Plan.FileSize, nonce)
}

// cameTo keeps what a volume turned out to be. The drives must be those that were
// locked, looked at and agreed to.
func (s *session) cameTo(p *place.PVE, t *record.Target) error {
	was := &s.rec.Target
	for _, d := range t.Drives {
		if !slices.ContainsFunc(was.Drives, func(w record.Drive) bool { return w.Name == d.Name }) {
			return fmt.Errorf("the volume lies on drive %s, which was not part of the plan", d.Name)
		}
	}
	facts := p.Facts()
	was.FSType, was.Source, was.MountPoint, was.Options = t.FSType, t.Source, t.MountPoint, t.Options
	was.DevMajor, was.DevMinor, was.Stack, was.Trim = t.DevMajor, t.DevMinor, t.Stack, t.Trim
	was.Storage = t.Storage
	was.Network = was.Network || t.Network
	v := was.Volume
	v.VMID = facts.VMID
	if v.Made {
		was.TotalBytes, was.FreeBytes, was.UsedBytes = t.TotalBytes, t.FreeBytes, t.UsedBytes
		v.ID, v.SizeBytes = p.Volume(), target.VolumeFor(s.rec.Plan.FileSize)
		was.Dir = v.ID
	}
	// Those that the volume does not lie on are not measured.
	if len(t.Drives) > 0 {
		was.Drives = slices.DeleteFunc(was.Drives, func(d record.Drive) bool {
			return !slices.ContainsFunc(t.Drives, func(n record.Drive) bool { return n.Name == d.Name })
		})
	}
	return nil
}

// fileOnTwin makes the host's own volume and the file on it.
func (s *session) fileOnTwin(ctx context.Context, p *place.PVE) (*target.File, error) {
	nonce, err := newNonce()
	if err != nil {
		return nil, err
	}
	f, err := p.MakeTwin(ctx, s.rec.Plan.FileSize, nonce)
	if err != nil {
		return nil, err
	}
	facts := f.Facts()
	s.rec.Target.Volume.Twin, s.rec.Target.Volume.TwinFile = p.Twin(), &facts
	return f, nil
}

// pveExit gives an error of Proxmox VE its exit code and next step.
func pveExit(err error) *exitError {
	for _, k := range []struct {
		kind error
		code int
		next string
	}{
		{pve.ErrTemplateMissing, exitMissing, "pveam available lists templates and pveam download gets them; without --template nativ builds its own."},
		{pve.ErrNoQuorum, exitMissing, "Without a quorum nothing can be made: see pvecm status."},
		{pve.ErrLocked, exitBusy, "Somebody else works on it: a backup, a snapshot, another pct. Try again when that is over."},
		{pve.ErrLeftover, exitRefused, ""},
		{pve.ErrForeign, exitRefused, ""},
		{pve.ErrNoSpace, exitRefused, "Give a smaller --size or another --storage."},
	} {
		if errors.Is(err, k.kind) {
			x := exit(k.code, "%w", err)
			if k.next != "" {
				return x.next("%s", k.next)
			}
			return x
		}
	}
	return nil
}
