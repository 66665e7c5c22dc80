// Package due finds what a machine is going to do to its drives by itself in the
// time of a run: trims, checks and scrubs by systemd's timers and cron, and the
// backups of Proxmox VE. It only reads.
package due

import (
	"path/filepath"
	"time"
)

// Roots are where the machine's files lie; an empty field means "/". Tests give
// trees of their own.
type Roots struct{ Root string }

func (o Roots) path(name string) string {
	if o.Root == "" {
		return filepath.Join("/", name)
	}
	return filepath.Join(o.Root, name)
}

// kinds are what units, crontabs and their commands do to drives, by a part of
// their names.
var kinds = []struct{ part, kind string }{
	{"fstrim", KindTrim}, {"zfs-trim", KindTrim}, {"zfs-linux/trim", KindTrim}, {"zpool trim", KindTrim}, {"btrfs-trim", KindTrim},
	{"e2scrub", KindCheck}, {"mdcheck", KindCheck}, {"checkarray", KindCheck}, {"raid-check", KindCheck}, {"xfs_scrub", KindCheck},
	{"zfs-scrub", KindScrub}, {"zfs-linux/scrub", KindScrub}, {"zpool scrub", KindScrub}, {"btrfs-scrub", KindScrub}, {"btrfs-balance", KindScrub},
	{"vzdump", KindBackup}, {"updatedb", KindIndex}, {"mlocate", KindIndex},
}

// Kinds of what is due.
const (
	KindTrim   = "trim"
	KindCheck  = "check" // of a file system or an array
	KindScrub  = "scrub"
	KindBackup = "backup"
	KindIndex  = "index" // of all files' names
)

// within reports whether t lies in the window of length d from from on.
func within(t, from time.Time, d time.Duration) bool { return !t.Before(from) && t.Before(from.Add(d)) }
