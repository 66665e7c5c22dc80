package sensor

import (
	"fmt"
	"sync"

	"nativ/internal/record"
)

// A Cgroup reads the counters of the cgroup of the place that is measured. It
// changes from pass to pass; see Set. Which one it was is known by the pass's
// place, so that the source has no name.
type Cgroup struct {
	state
	setting sync.Mutex
	path    string
	read    func() (record.CgroupCounters, error)
}

// NewCgroup returns a source that reads nothing until Set.
func NewCgroup() *Cgroup {
	return &Cgroup{state: state{desc: record.Source{Kind: kindCgroup}}}
}

// Set says which cgroup is read from now on, and how; a nil read means none,
// for a place without a cgroup of its own.
func (c *Cgroup) Set(path string, read func() (record.CgroupCounters, error)) {
	c.setting.Lock()
	defer c.setting.Unlock()
	c.path, c.read = path, read
}

// Describe says whether the counters of any place could be read so far.
func (c *Cgroup) Describe() record.Source {
	d := c.state.Describe()
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Missing == "" && !c.worked {
		d.Missing = "no place with a cgroup of its own was measured"
	}
	return d
}

// Read adds the counters to s.
func (c *Cgroup) Read(s *record.Sample) error {
	c.setting.Lock()
	path, read := c.path, c.read
	c.setting.Unlock()
	if read == nil {
		return nil
	}
	counters, err := read()
	if err != nil {
		return c.note(fmt.Errorf("cgroup %s: %w", path, err))
	}
	s.Cgroup = &counters
	return c.note(nil)
}
