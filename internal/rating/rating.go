// Package rating knows what makers say of their drives: link, rated speeds and
// endurance, from drives/ratings.json. A figure that could not be checked against
// a source is not there.
package rating

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"

	"nativ/drives"
	"nativ/internal/record"
)

// format is the version of the file's form.
const format = 1

// A File is drives/ratings.json.
type File struct {
	Format int    `json:"format"`
	Note   string `json:"note"`
	Drives []Line `json:"drives"`
}

// A Line is a line of drives that differ in capacity only.
type Line struct {
	Name string `json:"name"`
	// Model is a regular expression for the whole model string of the drive,
	// without regard to case.
	Model string `json:"model"`
	// Interface is "nvme" or "sata".
	Interface string `json:"interface"`
	// PCIeMTs and Lanes are those of the drive's link, in MT/s a lane; 0 for SATA.
	PCIeMTs int `json:"pcie_mts,omitempty"`
	Lanes   int `json:"lanes,omitempty"`
	// Source is the maker's document, Checked where and when the figures were
	// looked up.
	Source     string     `json:"source"`
	Checked    string     `json:"checked"`
	Capacities []Capacity `json:"capacities"`

	model *regexp.Regexp
}

// A Capacity is what the maker says of one size; nil where that is not known.
// Speeds are "up to": of the best conditions, and of a cache.
type Capacity struct {
	// GB is the size as sold, in 10^9 bytes.
	GB int64 `json:"gb"`
	// ReadMB and WriteMB are sequential, in 10^6 bytes a second.
	ReadMB  *float64 `json:"read_mb_s,omitempty"`
	WriteMB *float64 `json:"write_mb_s,omitempty"`
	// ReadIOPS and WriteIOPS are of random 4K.
	ReadIOPS  *float64 `json:"read_iops,omitempty"`
	WriteIOPS *float64 `json:"write_iops,omitempty"`
	// TBW is the endurance in 10^12 bytes written.
	TBW *float64 `json:"tbw,omitempty"`
}

// A Rating is what the maker says of one drive.
type Rating struct {
	Line
	Capacity
}

// Parse reads ratings strictly: a field that does not exist is an error.
func Parse(b []byte) (*File, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	f := new(File)
	if err := dec.Decode(f); err != nil {
		return nil, fmt.Errorf("read ratings: %w", err)
	}
	if f.Format != format {
		return nil, fmt.Errorf("read ratings: format is %d, not %d", f.Format, format)
	}
	for i := range f.Drives {
		if err := f.Drives[i].check(); err != nil {
			return nil, fmt.Errorf("read ratings: drive %d (%s): %w", i+1, f.Drives[i].Name, err)
		}
	}
	return f, nil
}

func (l *Line) check() error {
	var err error
	if l.model, err = regexp.Compile("(?i)^(?:" + l.Model + ")$"); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	switch {
	case l.Name == "" || l.Model == "":
		return errors.New("name or model is missing")
	case l.Source == "" || l.Checked == "":
		return errors.New("source or checked is missing: whose figures are these")
	case l.Interface == "nvme" && (l.PCIeMTs <= 0 || l.Lanes <= 0), l.Interface == "sata" && (l.PCIeMTs != 0 || l.Lanes != 0):
		return errors.New("pcie_mts and lanes do not fit the interface")
	case l.Interface != "nvme" && l.Interface != "sata":
		return fmt.Errorf("interface %q is neither nvme nor sata", l.Interface)
	case len(l.Capacities) == 0:
		return errors.New("it has no capacities")
	}
	for i := range l.Capacities {
		c := &l.Capacities[i]
		if c.GB <= 0 || i > 0 && c.GB <= l.Capacities[i-1].GB {
			return errors.New("capacities are not ascending")
		}
		for _, v := range []*float64{c.ReadMB, c.WriteMB, c.ReadIOPS, c.WriteIOPS, c.TBW} {
			if v != nil && !(*v > 0 && *v < 1e9) {
				return fmt.Errorf("%d GB: %g is no rating", c.GB, *v)
			}
		}
	}
	return nil
}

// Of returns what f says of a drive with this model string and size in bytes.
func (f *File) Of(model string, size int64) (Rating, bool) {
	model = strings.Join(strings.Fields(model), " ")
	for i := range f.Drives {
		l := &f.Drives[i]
		if !l.model.MatchString(model) {
			continue
		}
		best := -1
		// Sizes as sold are round: 1000 GB are 1000.2, and 1024 are another drive,
		// but where a line has only one of them it is meant.
		away := func(c *Capacity) float64 { return math.Abs(float64(size)/1e9/float64(c.GB) - 1) }
		for k := range l.Capacities {
			if away(&l.Capacities[k]) < 0.04 && (best < 0 || away(&l.Capacities[k]) < away(&l.Capacities[best])) {
				best = k
			}
		}
		if best >= 0 {
			return Rating{*l, l.Capacities[best]}, true
		}
	}
	return Rating{}, false
}

var embedded = sync.OnceValue(func() *File {
	f, err := Parse(drives.Ratings)
	if err != nil {
		panic(err) // a test reads the file
	}
	return f
})

// OfDrive returns what the program knows of a drive.
func OfDrive(d *record.Drive) (Rating, bool) {
	if d.Model == nil {
		return Rating{}, false
	}
	return embedded().Of(*d.Model, d.SizeBytes)
}
