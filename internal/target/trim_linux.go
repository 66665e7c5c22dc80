package target

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nativ/internal/record"
)

// discard reads what a block device takes in discards; nil where it does not
// tell. A partition has the queue of its disk.
func discard(dir string) (granularity, most *int64) {
	if !exists(dir, "queue") {
		dir = filepath.Dir(dir)
	}
	if n, ok := readInt(dir, "queue/discard_granularity"); ok {
		granularity = &n
	}
	if n, ok := readInt(dir, "queue/discard_max_bytes"); ok {
		most = &n
	}
	return granularity, most
}

// stampFile is touched by systemd when fstrim.timer, which is a persistent one,
// starts its service (systemd.timer(5), Persistent=).
const stampFile = "var/lib/systemd/timers/stamp-fstrim.timer"

// readTrim says whether the drives get to know what is free on the filesystem of
// the target; nil where no block device is known.
func readTrim(t *record.Target, o Roots) *record.Trim {
	if len(t.Stack) == 0 || t.Network {
		return nil
	}
	trim := &record.Trim{Passed: new(true)}
	for _, l := range t.Stack {
		// A loop device makes holes in its file, and then it is for that file's
		// filesystem; a thin pool may keep discards for itself, which only its
		// table tells (no_discard_passdown, dm-thin.c).
		opaque := l.DiscardMax == nil || l.Kind == kindLoop || strings.HasSuffix(l.Title, "-tpool")
		switch {
		case l.DiscardMax != nil && *l.DiscardMax == 0:
			trim.Passed, trim.StoppedAt = new(false), append(trim.StoppedAt, l.Name)
		case opaque && len(trim.StoppedAt) == 0:
			trim.Passed = nil
		}
	}
	trim.Online = discardsOnline(t.FSType, t.Options)
	if fi, err := os.Stat(o.root(stampFile)); err == nil {
		trim.TimerRan = new(fi.ModTime().UTC())
		if f, err := os.Open(o.root("etc/fstab")); err == nil {
			trim.TimerCovers = timerCovers(f, t.MountPoint)
			f.Close()
		} else if os.IsNotExist(err) {
			trim.TimerCovers = new(true)
		}
	}
	return trim
}

// discardsOnline tells by its mount options whether a filesystem discards what
// becomes free; nil where they do not show it.
func discardsOnline(fstype, options string) *bool {
	switch fstype {
	case "ext4", "ext3", "xfs", "btrfs", "f2fs", "jfs", "nilfs2", "vfat", "exfat", "ntfs3", "gfs2", "ocfs2":
	default: // ZFS has autotrim, a property of the pool
		return nil
	}
	return new(slices.ContainsFunc(strings.Split(options, ","), func(s string) bool {
		return s == "discard" || strings.HasPrefix(s, "discard=")
	}))
}

// timerCovers reports whether fstrim.timer trims what is mounted at dir: its
// service asks for all of /etc/fstab or, only where that lists nothing, for all
// that is mounted (fstrim(8), --listed-in; nofail and X-fstrim.notrim as there).
// nil where the table cannot be read.
func timerCovers(fstab io.Reader, dir string) *bool {
	b, err := io.ReadAll(io.LimitReader(fstab, 1<<20))
	if err != nil {
		return nil
	}
	listed := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") {
			continue
		}
		listed = true
		if filepath.Clean(fstabEscapes.Replace(f[1])) == dir {
			return new(len(f) < 4 || !slices.Contains(strings.Split(f[3], ","), "X-fstrim.notrim"))
		}
	}
	return new(!listed)
}

// fstabEscapes are those of getmntent(3).
var fstabEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
