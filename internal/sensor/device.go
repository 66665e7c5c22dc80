package sensor

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"nativ/internal/record"
)

// errNoIOStats is why counters that stand still are not read: their deltas
// would say that a cache answered everything.
var errNoIOStats = errors.New("counters are switched off (queue/iostats is 0); write 1 there to have them")

// A Device reads the counters of one drive.
type Device struct {
	state
	name string
	// dirs are the sysfs directories that count for the drive: its own or, of
	// an NVMe multipath head that does not count, those of its paths.
	dirs []string

	reading sync.Mutex
	wrap    []tickWrap // by directory
}

// head matches the name of an NVMe namespace as nvme-multipath makes it.
var head = regexp.MustCompile(`^nvme([0-9]+)n([0-9]+)$`)

// NewDevice finds the counters of the drive with that kernel name.
func NewDevice(roots Roots, name string) *Device {
	d := &Device{name: name}
	d.desc = record.Source{Kind: kindDevice, Name: name}
	own := roots.sys("block", name)
	if _, err := os.Stat(filepath.Join(own, "stat")); err != nil {
		d.desc.Missing = fmt.Sprintf("no counters: %v", err)
		return d
	}
	d.dirs = []string{own}
	if off(own) {
		// A multipath head is made of bios and counts itself only since Linux
		// 6.4 (d4d957b53d91, NVME_MPATH_IO_STATS); its hidden paths always
		// did. Every I/O takes one of them, so that their sum is the drive's,
		// but for BusyNS, which adds up what overlaps.
		if paths := multipath(roots, name); len(paths) > 0 {
			d.dirs = paths
		} else {
			d.desc.Missing = errNoIOStats.Error()
		}
	}
	d.wrap = make([]tickWrap, len(d.dirs))
	return d
}

// multipath returns the directories of the paths below a multipath head
// (nvme1c2n3 for controller 2 of nvme1n3) that count.
func multipath(roots Roots, name string) []string {
	m := head.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	all, _ := filepath.Glob(roots.sys("block", "nvme"+m[1]+"c*n"+m[2]))
	var paths []string
	for _, p := range all {
		if !off(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// off reports whether the block layer was told not to count.
func off(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "queue", "iostats"))
	return err == nil && strings.TrimSpace(string(b)) == "0"
}

// Read adds the drive's counters to s. I/O counts when it has completed.
func (d *Device) Read(s *record.Sample) error {
	if len(d.dirs) == 0 || d.desc.Missing != "" {
		return nil
	}
	d.reading.Lock()
	defer d.reading.Unlock()
	var sum record.DeviceCounters
	for i, dir := range d.dirs {
		b, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			return d.note(err)
		}
		if off(dir) {
			return d.note(errNoIOStats) // switched off since
		}
		c, err := parseStat(string(b))
		if err != nil {
			return d.note(fmt.Errorf("parse stat: %w", err))
		}
		d.wrap[i].unwrap(&c)
		add(&sum, c)
	}
	if s.Devices == nil {
		s.Devices = map[string]record.DeviceCounters{}
	}
	s.Devices[d.name] = sum
	return d.note(nil)
}

// parseStat parses a block device's stat file (Documentation/block/stat.rst):
// 11 fields, 15 since Linux 4.18 (discards), 17 since 5.5 (flushes). Fields
// that a later kernel appends are ignored.
func parseStat(text string) (record.DeviceCounters, error) {
	var c record.DeviceCounters
	f := strings.Fields(text)
	if len(f) < 11 || len(f) > 11 && len(f) < 15 || len(f) == 16 {
		return c, fmt.Errorf("it has %d fields; known are 11, 15 and 17", len(f))
	}
	v := make([]int64, min(len(f), 17))
	for i := range v {
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			return c, fmt.Errorf("field %d: %w", i+1, err)
		}
		if n > math.MaxInt64 {
			return c, fmt.Errorf("field %d: %d is out of range", i+1, n)
		}
		v[i] = int64(n)
	}
	const (
		sector = 512       // bytes, whatever the drive's own is
		ms     = 1_000_000 // ns
	)
	c.ReadMerges, c.WriteMerges, c.ReadNS, c.WriteNS = new(int64), new(int64), new(int64), new(int64)
	for _, p := range []struct {
		to    *int64
		field int
		unit  int64
	}{
		{&c.ReadIOs, 0, 1},
		{c.ReadMerges, 1, 1},
		{&c.ReadBytes, 2, sector},
		{c.ReadNS, 3, ms},
		{&c.WriteIOs, 4, 1},
		{c.WriteMerges, 5, 1},
		{&c.WriteBytes, 6, sector},
		{c.WriteNS, 7, ms},
		{&c.BusyNS, 9, ms},
		{&c.QueueNS, 10, ms},
	} {
		if v[p.field] > math.MaxInt64/p.unit {
			return record.DeviceCounters{}, fmt.Errorf("field %d: %d is out of range", p.field+1, v[p.field])
		}
		*p.to = v[p.field] * p.unit
	}
	if len(v) == 17 {
		c.FlushIOs = &v[15]
	}
	return c, nil
}

// A tickWrap makes the times of a stat file go on where the kernel's 32 bits
// of milliseconds (block/genhd.c, part_stat_show) begin anew: the time in
// queue does so every 9 hours at 128 I/Os in flight.
type tickWrap struct{ busy, queue, read, write wrapped }

type wrapped struct {
	last  int64
	added int64
}

func (w *tickWrap) unwrap(c *record.DeviceCounters) {
	c.BusyNS = w.busy.next(c.BusyNS)
	c.QueueNS = w.queue.next(c.QueueNS)
	*c.ReadNS = w.read.next(*c.ReadNS)
	*c.WriteNS = w.write.next(*c.WriteNS)
}

func (w *wrapped) next(ns int64) int64 {
	const span = (1 << 32) * 1_000_000
	if ns < w.last && w.last < span {
		w.added += span
	}
	w.last = ns
	return ns + w.added
}

// add adds the counters of one path to those of the drive. Flushes are known
// only where all paths know them; all run on the same kernel.
func add(sum *record.DeviceCounters, c record.DeviceCounters) {
	sum.ReadIOs += c.ReadIOs
	sum.ReadBytes += c.ReadBytes
	sum.WriteIOs += c.WriteIOs
	sum.WriteBytes += c.WriteBytes
	sum.BusyNS += c.BusyNS
	sum.QueueNS += c.QueueNS
	for _, p := range []struct {
		to   **int64
		from *int64
	}{
		{&sum.FlushIOs, c.FlushIOs}, {&sum.ReadMerges, c.ReadMerges}, {&sum.WriteMerges, c.WriteMerges},
		{&sum.ReadNS, c.ReadNS}, {&sum.WriteNS, c.WriteNS},
	} {
		if p.from == nil {
			continue
		}
		n := *p.from
		if *p.to != nil {
			n += **p.to
		}
		*p.to = &n
	}
}
