package sensor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// A Link reads how fast the PCIe link of a drive runs now, from both ends. Each
// file is one read of the configuration space: microseconds. Drives are known
// that lower it when they are hot.
type Link struct {
	state
	ends []function
}

func newLink(own, port function) *Link {
	l := &Link{}
	l.desc = record.Source{Kind: kindLink, Name: own.address}
	for _, f := range []function{own, port} {
		if _, err := readLink(f.dir); f.address != "" && err == nil {
			l.ends = append(l.ends, f)
		}
	}
	if len(l.ends) == 0 {
		l.desc.Missing = fmt.Sprintf("no PCIe link: the kernel shows none at %s, as in a virtual machine", own.address)
	}
	return l
}

// Read adds the state of both ends to s.
func (l *Link) Read(s *record.Sample) error {
	if len(l.ends) == 0 {
		return nil
	}
	got := map[string]record.LinkState{}
	var failed error
	for _, f := range l.ends {
		state, err := readLink(f.dir)
		if err != nil {
			failed = err
			continue
		}
		got[f.address] = state
	}
	if len(got) == 0 {
		return l.note(failed)
	}
	s.Links = union(s.Links, got)
	return l.note(nil)
}

func readLink(dir string) (record.LinkState, error) {
	speed, err := os.ReadFile(filepath.Join(dir, "current_link_speed"))
	if err != nil {
		return record.LinkState{}, err
	}
	width, err := os.ReadFile(filepath.Join(dir, "current_link_width"))
	if err != nil {
		return record.LinkState{}, err
	}
	return parseLink(string(speed), string(width))
}

// parseLink parses current_link_speed and current_link_width. A width of 0 or
// 255 is unknown (include/linux/pci.h, PCIE_LNK_WIDTH_UNKNOWN).
func parseLink(speed, width string) (record.LinkState, error) {
	mts, err := sys.ParseLinkSpeed(speed)
	if err != nil {
		return record.LinkState{}, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(width), 10, 8)
	if err != nil || n < 1 || n > 32 {
		return record.LinkState{}, fmt.Errorf("parse link width %q: from 1 to 32 are known", strings.TrimSpace(width))
	}
	return record.LinkState{SpeedMTs: mts, Width: int(n)}, nil
}

// An aer reads the error counters of a drive's PCIe function and of the port
// above, which counts what goes wrong on the way to it
// (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
type aer struct {
	state
	ends []function
}

func newAER(own, port function) *aer {
	a := &aer{}
	a.desc = record.Source{Kind: kindAER, Name: own.address}
	for _, f := range []function{own, port} {
		if _, err := os.Stat(filepath.Join(f.dir, "aer_dev_correctable")); f.address != "" && err == nil {
			a.ends = append(a.ends, f)
		}
	}
	if len(a.ends) == 0 {
		a.desc.Missing = fmt.Sprintf("no PCIe error counters: %s has none, or the firmware keeps them (AER)", own.address)
	}
	return a
}

// Read adds the counters to s.
func (a *aer) Read(s *record.Sample) error {
	if len(a.ends) == 0 {
		return nil
	}
	got := map[string]record.AER{}
	for _, f := range a.ends {
		var c record.AER
		for _, p := range []struct {
			to   *int64
			name string
		}{
			{&c.Correctable, "aer_dev_correctable"},
			{&c.NonFatal, "aer_dev_nonfatal"},
			{&c.Fatal, "aer_dev_fatal"},
		} {
			file, err := os.Open(filepath.Join(f.dir, p.name))
			if err != nil {
				return a.note(err)
			}
			*p.to, err = parseAER(file)
			_ = file.Close()
			if err != nil {
				return a.note(fmt.Errorf("parse %s of %s: %w", p.name, f.address, err))
			}
		}
		got[f.address] = c
	}
	s.AER = union(s.AER, got)
	return a.note(nil)
}

// parseAER returns the total of an aer_dev_* file: that of its own line
// (TOTAL_ERR_COR and so on), which counts every error once, whatever their kinds
// add up to.
func parseAER(r io.Reader) (int64, error) {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) == 2 && strings.HasPrefix(f[0], "TOTAL_ERR_") {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil || n < 0 {
				return 0, fmt.Errorf("%s %q is no counter", f[0], f[1])
			}
			return n, nil
		}
	}
	if err := sc.Err(); err != nil {
		return 0, err
	}
	return 0, errors.New("no line of a total")
}
