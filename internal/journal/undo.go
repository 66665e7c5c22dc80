package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A Left is a thing that Undo did not get rid of.
type Left struct {
	Entry Entry
	Err   error
}

// String names the thing and says why it is still there.
func (l Left) String() string {
	return fmt.Sprintf("%s: %v", l.Entry, l.Err)
}

// String names the thing for people.
func (e Entry) String() string {
	switch e.Kind {
	case KindProcess:
		return fmt.Sprintf("process %d", e.PID)
	case KindContainer:
		return fmt.Sprintf("container %s", e.Name)
	case KindPVEContainer:
		return fmt.Sprintf("Proxmox container %d (%s)", e.VMID, e.Name)
	case KindPVEVolume:
		return fmt.Sprintf("Proxmox volume %s", e.Name)
	case KindPVETemplate:
		return fmt.Sprintf("container template %s", e.Path)
	case KindPVEInside:
		return fmt.Sprintf("directory %s in container %d", e.Path, e.VMID)
	}
	return fmt.Sprintf("%s %s", e.Kind, e.Path)
}

// Undo removes what the journal lists and is not gone, in reverse order, by
// the undoer of its kind. It goes on after a failure and returns what is left,
// and why. It may be called again, and from several goroutines, one of which
// then works while the others wait.
//
// Whatever holds something that could not be removed is not touched: removing
// a tree in which a bind mount is still in place would remove what is mounted
// there. When ctx ends, the rest is left.
//
// After a power loss (the header's BootID is not that of now) mounts, cgroups,
// containers and processes are gone by themselves. Their undoers are called
// all the same and find nothing; that of processes must compare the entry's
// BootID, since numbers and start times begin anew.
func (j *Journal) Undo(ctx context.Context, undoers map[Kind]Undoer) []Left {
	j.undoing.Lock()
	defer j.undoing.Unlock()
	var left []Left
	tried := map[int]bool{}
	for {
		e, ok := j.last(tried)
		if !ok {
			return left
		}
		tried[e.Seq] = true
		if err := j.undo(ctx, e, undoers, left); err != nil {
			left = append(left, Left{e, err})
			continue
		}
		// An error here is no reason to keep the entry: it is gone, and
		// undoing it once more does no harm.
		_ = j.markGone(e.Seq)
	}
}

// last returns the newest entry that is neither gone nor tried. It looks anew
// each time, because a run that is interrupted may still add one.
func (j *Journal) last(tried map[int]bool) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := len(j.c.entries) - 1; i >= 0; i-- {
		if !j.c.gone[i] && !tried[i+1] {
			return j.c.entries[i], true
		}
	}
	return Entry{}, false
}

func (j *Journal) undo(ctx context.Context, e Entry, undoers map[Kind]Undoer, left []Left) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.check(j.stateDir); err != nil {
		return err
	}
	for _, l := range left {
		if holds(e, l.Entry) {
			return fmt.Errorf("%s is still there", l.Entry)
		}
	}
	u := undoers[e.Kind]
	if u == nil {
		return errors.New("nothing here knows how to remove it")
	}
	_, err := u(ctx, e)
	return err
}

// holds reports whether outer is a place in the file system in which, or on
// which, inner is.
func holds(outer, inner Entry) bool {
	if outer.Kind == KindPVEContainer {
		// Without its guest a volume is nobody's, and another guest gets the ID.
		return inner.Kind == KindPVEVolume && inner.VMID == outer.VMID
	}
	if !inFileSystem(outer.Kind) {
		return outer.Kind == KindCgroup && inner.Kind == KindCgroup &&
			below(strings.TrimPrefix(inner.Path, "/"), strings.TrimPrefix(outer.Path, "/"))
	}
	if !inFileSystem(inner.Kind) {
		return false
	}
	return inner.Path == outer.Path || below(inner.Path, outer.Path)
}

func inFileSystem(k Kind) bool {
	switch k {
	case KindFile, KindDir, KindTree, KindMount, KindContainer:
		return true
	}
	return false
}
