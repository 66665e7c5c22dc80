package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/reference"
)

// FromTable reads a published table as JSON, in the form that references/README.md
// describes. The head (format, kind, title, statistic) may be missing, as in what
// somebody types off a page.
func FromTable(file string, b []byte) (*Subject, error) {
	var ref reference.Reference
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&ref); err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	if _, err := dec.Token(); err == nil {
		return nil, fmt.Errorf("read table: there is more after the first object")
	}
	if len(ref.Tables) == 0 {
		return nil, fmt.Errorf(`read table: it has no "tables"`)
	}
	s := &Subject{File: file, Kind: KindTable, Title: ref.Title, Statistic: ref.Statistic}
	if s.Statistic == "" && slices.ContainsFunc(append(slices.Clone(ref.Columns), ref.ColumnsHot...), isMaximum) {
		s.Statistic = record.StatisticMaximum
	}
	set, err := settingsOfArgs(ref.Fio)
	if err != nil {
		return nil, fmt.Errorf("read table: fio: %w", err)
	}
	s.factsOf(&ref)
	for _, name := range ref.TableNames() {
		side := Side{Name: name, Where: "tables." + name, Role: roleOf(name)}
		for i := range ref.Tables[name] {
			in := &ref.Tables[name][i]
			row := Row{Where: fmt.Sprintf("tables.%s[%d]", name, i), Set: set}
			if err := row.is(in.Mode, in.BS); err != nil {
				return nil, fmt.Errorf("read table %s, row %d: %w", name, i, err)
			}
			row.IOPS, err = printed(in.IOPS, 1, "IOPS")
			if err == nil {
				row.BPS, err = printed(in.BWMiB, 1<<20, "MiB/s")
			}
			if err != nil {
				return nil, fmt.Errorf("read table %s, row %d: %w", name, i, err)
			}
			if c := in.FromCelsius; c != nil {
				if !(*c > -273 && *c < 1000) {
					return nil, fmt.Errorf("read table %s, row %d: %g is no temperature", name, i, *c)
				}
				row.FromMC, side.Hot = new(int64(*c*1000+0.5)), true
			}
			side.Rows = append(side.Rows, row)
		}
		switch side.Role {
		case RoleContainer:
			side.CPUs = number(ref.Container["vcpus"])
			side.Memory = bytesIn(ref.Container["memory"])
		case RoleHost:
			side.CPUs, side.Memory = s.HostCPUs, s.HostMemory
		}
		s.Sides = append(s.Sides, side)
	}
	for i, text := range ref.Claims {
		s.Claims = append(s.Claims, parseClaims(text, fmt.Sprintf("claims[%d]", i))...)
	}
	return s, nil
}

// is sets mode and block size from fio's spelling.
func (r *Row) is(mode, bs string) error {
	r.Mode = job.Mode(mode)
	if mode != "" && !slices.Contains(job.Modes(), r.Mode) {
		return fmt.Errorf("mode %q is not one of %v", mode, job.Modes())
	}
	if bs != "" {
		n, err := strconv.ParseInt(strings.TrimRight(strings.ToLower(bs), "kmib"), 10, 64)
		switch unit := strings.TrimLeft(strings.ToLower(bs), "0123456789"); {
		case err != nil || n < 1 || n > 1<<20:
			return fmt.Errorf("bs %q is no block size such as 4k", bs)
		case unit == "k" || unit == "kib":
			n <<= 10
		case unit == "m" || unit == "mib":
			n <<= 20
		case unit != "" && unit != "b":
			return fmt.Errorf("bs %q is no block size such as 4k", bs)
		}
		r.BS = n
	}
	r.Dir = dirOf(r.Mode)
	r.Name = strings.TrimSpace(mode + " " + bs)
	return nil
}

func dirOf(m job.Mode) string {
	switch {
	case m.Mixed():
		return "mixed"
	case m.Reads():
		return "read"
	case m.Writes():
		return "write"
	}
	return ""
}

// printed is a number of the file as it stands there; nil where there is none.
func printed(v *float64, scale float64, unit string) (*Number, error) {
	if v == nil {
		return nil, nil
	}
	n, ok := jsonNumber(strconv.FormatFloat(*v, 'f', -1, 64), scale, unit)
	if !ok {
		return nil, fmt.Errorf("%g is no rate", *v)
	}
	return n, nil
}

// roleOf guesses from its name what a side is.
func roleOf(name string) Role {
	n := strings.ToLower(name)
	switch {
	case has(n, "pinned"):
		return RolePinned
	case has(n, "lxc", "container", "ct", "docker", "podman", "pve", "incus", "lxd"):
		return RoleContainer
	case has(n, "native", "nativ", "host", "bare", "metal", "baremetal"):
		return RoleHost
	}
	return RoleUnknown
}

var wordSplit = regexp.MustCompile(`[^\pL\pN]+`)

// has reports whether one of the words stands in the text as a word of its own.
func has(text string, words ...string) bool {
	return slices.ContainsFunc(wordSplit.Split(text, -1), func(w string) bool { return slices.Contains(words, w) })
}

func isMaximum(head string) bool {
	h := strings.ToLower(head)
	return strings.Contains(h, "max") || strings.Contains(h, "peak") || strings.Contains(h, "spitze")
}

var (
	threadsIn = regexp.MustCompile(`(?i)(\d+)\s*(?:threads|cpus|vcpus)`)
	coresIn   = regexp.MustCompile(`(?i)(\d+)\s*(?:p?\s*\+\s*(\d+)\s*e?\s*)?(?:cores|kerne)`)
	amountIn  = regexp.MustCompile(`(?i)(\d+)\s*(g|t)i?b\b`)
	linkIn    = regexp.MustCompile(`(?i)pcie\s*(\d)(?:\.0)?\s*x\s*(\d+)`)
)

// factsOf takes what the publication says of machine and drive.
func (s *Subject) factsOf(ref *reference.Reference) {
	cpu := fmt.Sprint(ref.System["cpu"])
	if m := threadsIn.FindStringSubmatch(cpu); m != nil {
		s.HostCPUs, _ = strconv.Atoi(m[1])
	} else if m := coresIn.FindStringSubmatch(cpu); m != nil {
		s.HostCPUs, _ = strconv.Atoi(m[1])
		e, _ := strconv.Atoi(m[2])
		s.HostCPUs += e
	}
	s.HostMemory = bytesIn(ref.System["memory"])
	storage := strings.ToLower(fmt.Sprint(ref.System["storage"]))
	if before, _, _ := strings.Cut(storage, "("); has(before, "zfs") {
		s.FSType = "zfs"
	}
	d := &s.Drive
	d.Model, d.Bytes = ref.DriveModel, ref.DriveBytes
	if link, ok := ref.Drive["link"].(string); ok {
		d.setLink(link)
	}
	mb := func(key string) float64 { v, _ := ref.Drive[key].(float64); return v * 1e6 }
	if d.ReadBytes, d.WriteBytes = mb("rated_read_mb_s"), mb("rated_write_mb_s"); d.ReadBytes+d.WriteBytes > 0 {
		d.RatingSource = "file"
	}
	mc := func(key string) *int64 {
		if v, ok := ref.Drive[key].(float64); ok && v > 0 && v < 200 {
			return new(int64(v * 1000))
		}
		return nil
	}
	d.WarningMC, d.CriticalMC = mc("wctemp_celsius"), mc("cctemp_celsius")
	d.rate()
}

// setLink takes a link from text such as "PCIe 5.0 x4".
func (d *Drive) setLink(text string) {
	m := linkIn.FindStringSubmatch(text)
	if m == nil {
		return
	}
	gen, _ := strconv.Atoi(m[1])
	lanes, _ := strconv.Atoi(m[2])
	speeds := map[int]int{1: 2500, 2: 5000, 3: 8000, 4: 16000, 5: 32000, 6: 64000}
	if mts := speeds[gen]; mts > 0 && lanes > 0 && lanes <= 32 {
		d.LinkBytes, d.Link = analysis.LinkBytes(mts, lanes), fmt.Sprintf("PCIe %d.0 x%d", gen, lanes)
	}
}

// number is a fact that should be a small whole number; 0 where it is none.
func number(v any) int {
	switch v := v.(type) {
	case float64:
		if v >= 1 && v <= 4096 {
			return int(v)
		}
	case string:
		n, _ := strconv.Atoi(strings.TrimSpace(v))
		return max(n, 0)
	}
	return 0
}

// bytesIn is the last amount in a fact such as "2 x DDR5, 32 GB in all"; 0 where
// there is none.
func bytesIn(v any) int64 {
	text, _ := v.(string)
	all := amountIn.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return 0
	}
	m := all[len(all)-1]
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > 1<<20 {
		return 0
	}
	if strings.EqualFold(m[2], "t") {
		n <<= 10
	}
	return n << 30
}
