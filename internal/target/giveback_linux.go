package target

import (
	"fmt"
	"math"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/sys"
)

const (
	// poolPatience is how long a pool may take to let go of chunks: it does so in the
	// background, and says so once a second (dm-thin.c, COMMIT_PERIOD).
	poolPatience = 10 * time.Second
	poolStep     = 250 * time.Millisecond
)

// GiveBack gives the space of a test file back to the thin pool that it lies in,
// because removing it does not: the file loses its blocks, and what is free there
// now is discarded, and nothing else. It is nil where the file lies in no pool.
// Call it when nothing works on the file any more, and remove it then.
func (f *File) GiveBack(t *record.Target, o Roots) *record.GivenBack {
	if f.foreign || f.fd < 0 || f.gone || t.Storage == nil || len(t.Storage.Pools) == 0 {
		return nil
	}
	return giveBack(f.fd, f.dirFd, t, o)
}

func giveBack(fd, dirFd int, t *record.Target, o Roots) *record.GivenBack {
	now := *t
	now.Storage = &record.Storage{Pools: t.Storage.Pools}
	usage := func() *int64 {
		Refresh(&now, o)
		return now.Storage.Pools[0].DataUsed
	}
	g := &record.GivenBack{Pool: t.Storage.Pools[0].Name, UsedBefore: usage()}
	if d := now.Storage.Pools[0].Discards; d != nil && !*d {
		g.Failed = "the pool takes no discards"
		return g
	}
	trimmed, err := trimFile(fd, dirFd, t.FSType)
	g.TrimmedBytes = trimmed
	if err != nil {
		g.Failed = err.Error()
		return g
	}
	for end := time.Now().Add(poolPatience); g.UsedBefore != nil; time.Sleep(poolStep) {
		g.UsedAfter = usage()
		if g.UsedAfter == nil || *g.UsedBefore-*g.UsedAfter >= trimmed/10*9 || time.Now().After(end) {
			break
		}
	}
	return g
}

// trimFile takes all blocks from a file and discards them where they are free then.
// It returns how much the filesystem says that it discarded, in bytes.
func trimFile(fd, dirFd int, fstype string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, err
	}
	if st.Size == 0 {
		return 0, nil
	}
	// Elsewhere the places of extents are not those that a trim is told of.
	parts := []sys.Extent{{Length: math.MaxInt64}}
	if fstype == "ext4" || fstype == "xfs" {
		var err error
		if parts, err = sys.Extents(fd); err != nil {
			return 0, err
		}
		if len(parts) == 0 {
			return 0, nil
		}
	}
	err := retry(func() error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, st.Size)
	})
	if err != nil {
		return 0, fmt.Errorf("free the blocks of the test file: %w", err)
	}
	// Blocks may be discarded once the journal says that they are free.
	if err := unix.Syncfs(fd); err != nil {
		return 0, fmt.Errorf("sync the file system: %w", err)
	}
	dir, err := openNode(dirFd, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return 0, err
	}
	defer unix.Close(dir)
	var trimmed int64
	for _, p := range joined(parts) {
		n, err := sys.Trim(dir, p.At, p.Length)
		if err != nil {
			return trimmed, err
		}
		trimmed += int64(n)
	}
	return trimmed, nil
}

// joined joins extents that lie next to each other on the device: a pool gives back
// only whole chunks.
func joined(parts []sys.Extent) []sys.Extent {
	all := parts[:1]
	for _, p := range parts[1:] {
		if last := &all[len(all)-1]; p.At == last.At+last.Length {
			last.Length += p.Length
		} else {
			all = append(all, p)
		}
	}
	return all
}

// giveBackListed is GiveBack for the file of a run that ended before it could do it.
// What cannot be given back does not keep the file from being removed.
func giveBackListed(dirFd int, e journal.Entry, dev uint64) {
	name := path.Base(e.Path)
	if !isFileName(name) {
		return
	}
	t, err := Resolve(path.Dir(e.Path), Roots{})
	if err != nil || t.Storage == nil || len(t.Storage.Pools) == 0 {
		return
	}
	fd, err := openat(dirFd, name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Dev != dev || e.Ino != 0 && st.Ino != e.Ino {
		return // removing it says what is wrong with it
	}
	giveBack(fd, dirFd, t, Roots{})
}
