package sensor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// An Alarm looks for what makes going on with a run senseless or harmful: the
// kernel resets a drive's controller, a drive is gone, its file system is
// read-only. It asks no drive for anything: the kernel's log, the state of the
// controllers in sysfs and statfs cost no command.
type Alarm struct {
	roots  Roots
	dir    string // "" where its file system is not looked at
	drives []string
	// controllers are those that were live at first, by their sysfs directory.
	controllers []string
	about       func(string) bool
	log         int // of /dev/kmsg at its end; -1 where it cannot be read
	buf         []byte
}

// A Trouble is what an Alarm saw. Detail is the kernel's line or the state.
type Trouble struct {
	// Reset is true where a controller was reset, false where the target is lost.
	Reset  bool
	Detail string
}

// NewAlarm begins to look at the drives of a target from now on: what is already
// so (a read-only file system, a controller that is not live) is nothing new.
func NewAlarm(roots Roots, t *record.Target) *Alarm {
	a := &Alarm{roots: roots, about: aboutDrives(roots, t.Drives), buf: make([]byte, 16<<10)}
	for _, d := range t.Drives {
		if _, err := os.Stat(roots.sys("block", d.Name)); err == nil {
			a.drives = append(a.drives, d.Name)
		}
		for _, c := range controllers(roots, d.Name) {
			if controllerState(c) == "live" {
				a.controllers = append(a.controllers, c)
			}
		}
	}
	// A server that does not answer would block statfs.
	if trouble := mountTrouble(t.Dir); trouble == "" && !t.Network {
		a.dir = t.Dir
	}
	fd, err := unix.Open(roots.dev("kmsg"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		if _, err = unix.Seek(fd, 0, unix.SEEK_END); err != nil {
			_ = unix.Close(fd)
		}
	}
	if a.log = fd; err != nil {
		a.log = -1 // the state of the controllers is what is left
	}
	return a
}

// Close gives the kernel's log back.
func (a *Alarm) Close() {
	if a.log >= 0 {
		_ = unix.Close(a.log)
		a.log = -1
	}
}

// Look returns what happened since the last look, nil where all is well. It never
// waits.
func (a *Alarm) Look() *Trouble {
	reset := a.resetLine()
	for _, d := range a.drives {
		if _, err := os.Stat(a.roots.sys("block", d)); errors.Is(err, fs.ErrNotExist) {
			return &Trouble{Detail: d + " is gone"}
		}
	}
	for _, c := range a.controllers {
		switch state := controllerState(c); state {
		case "live":
		case "resetting", "connecting", "new":
			if reset == "" {
				reset = filepath.Base(c) + ": " + state
			}
		default: // deleting, dead; "" where the directory is gone
			if len(a.controllers) > 1 {
				continue // one of several paths: the drive itself tells
			}
			return &Trouble{Detail: strings.TrimSpace(filepath.Base(c) + " is gone " + state)}
		}
	}
	if reset != "" {
		return &Trouble{Reset: true, Detail: reset}
	}
	if a.dir != "" {
		if trouble := mountTrouble(a.dir); trouble != "" {
			return &Trouble{Detail: trouble}
		}
	}
	return nil
}

// resetLine is the first new line of the kernel's log that tells of a reset of one
// of the drives, "" where there is none.
func (a *Alarm) resetLine() (first string) {
	if a.log < 0 {
		return ""
	}
	for {
		n, err := unix.Read(a.log, a.buf)
		switch {
		case err == unix.EPIPE, err == unix.EINTR: // overwritten before it was read
			continue
		case err != nil || n == 0:
			return first
		}
		messages, _ := parseKmsg(a.buf[:n])
		for _, m := range messages {
			if first == "" && a.about(m.text) && kindOfLine(m.text) == kindReset {
				first = m.text
			}
		}
	}
}

// controllerState is what the kernel does with an NVMe controller, "live" where it
// serves I/O (drivers/nvme/host/sysfs.c, nvme_sysfs_show_state).
func controllerState(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, "state"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// mountTrouble says what keeps a directory's file system from being written, ""
// where nothing does: ext4 with errors=remount-ro turns read-only, one that was
// shut down answers EIO.
func mountTrouble(dir string) string {
	var st unix.Statfs_t
	switch err := unix.Statfs(dir, &st); {
	case err != nil:
		return fmt.Sprintf("the file system of %s does not answer: %v", dir, err)
	case st.Flags&unix.ST_RDONLY != 0:
		return fmt.Sprintf("the file system of %s is read-only", dir)
	}
	return ""
}
