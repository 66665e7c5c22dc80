// Package journal remembers what a run is about to make (files, mounts,
// cgroups, containers, processes), so that it is gone afterwards: after
// success, error and signals by the run itself, after SIGKILL and power loss by
// nativ clean.
//
// A journal is one file of JSON lines in a state directory. Each thing is
// written and synced before it is made, and once more when it is gone. The
// run's own cleanup and nativ clean are the same code: Undo, in reverse order.
package journal

import (
	"context"
	"errors"
	"time"
)

// A Kind is a kind of thing that a run makes, and that somebody knows how to
// remove.
type Kind string

// The kinds. The fields of Entry that each uses are named with it.
const (
	KindFile      Kind = "file"      // Path, BootID; after Made: Dev, Ino
	KindDir       Kind = "dir"       // Path; removed only when empty
	KindTree      Kind = "tree"      // Path, always below the state directory
	KindMount     Kind = "mount"     // Path of the mount point
	KindCgroup    Kind = "cgroup"    // Path below the root of each hierarchy
	KindContainer Kind = "container" // Path (lxcpath), Name
	KindProcess   Kind = "process"   // PID, StartTime, BootID

	// Things of Proxmox VE.
	KindPVETemplate  Kind = "pve-template"  // Path of the file
	KindPVEContainer Kind = "pve-container" // VMID, Name, Mark, Since
	KindPVEVolume    Kind = "pve-volume"    // Name (volume ID), VMID, Mark
	KindPVEInside    Kind = "pve-inside"    // VMID, Path of the directory in the container
)

// An Entry is one thing, written before it is made.
type Entry struct {
	Seq  int    `json:"seq"`
	Kind Kind   `json:"kind"`
	Path string `json:"path,omitempty"`
	Name string `json:"name,omitempty"`
	// Dev and Ino identify a file once it was made, so that nothing else that
	// came to have its name is ever removed.
	Dev uint64 `json:"dev,omitempty"`
	Ino uint64 `json:"ino,omitempty"`
	// PID, StartTime (field 22 of /proc/PID/stat) and BootID identify a
	// process across the reuse of numbers. BootID also says whether Dev can
	// be compared: many device numbers are handed out anew at each boot.
	PID       int    `json:"pid,omitempty"`
	StartTime uint64 `json:"start_time,omitempty"`
	BootID    string `json:"boot_id,omitempty"`
	// VMID is that of a Proxmox VE container, and Mark what only this run's things
	// have: numbers are given again. Since is when the number was noted, with
	// nothing in the cluster carrying it.
	VMID  int       `json:"vmid,omitempty"`
	Mark  string    `json:"mark,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// A Header is the first line of a journal.
type Header struct {
	Version int       `json:"version"`
	RunID   string    `json:"run_id"`
	PID     int       `json:"pid"`
	UID     int       `json:"uid"`
	BootID  string    `json:"boot_id"`
	Started time.Time `json:"started"`
	Dir     string    `json:"dir"` // what the run measures, for people
}

// An Undoer removes one thing. A thing that is not there any more is no error:
// it reports false. It must be safe to call again after it failed half-way.
type Undoer func(ctx context.Context, e Entry) (removed bool, err error)

// ErrActive says that the run which wrote the journal still lives.
var ErrActive = errors.New("the run is still active")
