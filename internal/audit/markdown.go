package audit

import (
	"fmt"
	"regexp"
	"strings"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A column is what the cells of a table's column are.
type column struct {
	kind  string // "name", "bs", "bw", "iops", "lat", "temperature", "side", "spread"
	scale float64
	role  Role
	head  string
}

// FromMarkdown reads the tables of a Markdown text, and what the text around them
// says of ratios. A table is a side, named by the heading above it; columns that
// are named host, LXC and the like are sides of their own.
func FromMarkdown(file, text string) (*Subject, error) {
	s := &Subject{File: file, Kind: KindTable}
	heading := ""
	var prose []string
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(line, "#"):
			if heading = strings.TrimSpace(strings.TrimLeft(line, "#")); s.Title == "" {
				s.Title = heading
			}
		case i+1 < len(lines) && strings.Contains(line, "|") && isRule(lines[i+1]):
			end := i + 2
			for end < len(lines) && strings.Contains(lines[end], "|") {
				end++
			}
			s.table(heading, cells(line), lines[i+2:end], i+3)
			i = end - 1
		case line != "":
			s.settingsIn(line)
			prose = append(prose, lines[i])
			s.Claims = append(s.Claims, parseClaims(line, fmt.Sprintf("line %d", i+1))...)
		}
	}
	if len(s.Sides) == 0 {
		return nil, fmt.Errorf("read Markdown: no table with a column of IOPS or bandwidth; its heads are looked for by name, such as Mode, Block size, Bandwidth (MiB/s), IOPS")
	}
	for i := range s.Sides {
		for k := range s.Sides[i].Rows {
			s.Sides[i].Rows[k].Set = s.shared
		}
	}
	all := strings.Join(prose, " ")
	s.Drive.setLink(all)
	return s, nil
}

var (
	ruleLine = regexp.MustCompile(`^[\s|:-]*-[\s|:-]*$`)
	unitHead = regexp.MustCompile(`(?i)(?:^|[\s(\[0-9])([kmgt]i?b/s|[kmgt]bps|ns|µs|μs|us|ms)(?:$|[\s)\]])`)
	sizeCell = regexp.MustCompile(`(?i)\b(\d+)\s*([km])i?b?\b`)
	fioLine  = regexp.MustCompile(`(?:^|\s)(--[a-z_]+(?:=\S+)?(?:\s+--[a-z_]+(?:=\S+)?)+)`)
)

func isRule(line string) bool { return strings.Contains(line, "|") && ruleLine.MatchString(line) }

// cells divides a row; a bar behind a backslash is text.
func cells(line string) []string {
	line = strings.TrimSpace(strings.ReplaceAll(line, `\|`, "\x00"))
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	var all []string
	for c := range strings.SplitSeq(line, "|") {
		all = append(all, strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|")))
	}
	return all
}

// settingsIn takes options of fio from a line of text.
func (s *Subject) settingsIn(line string) {
	m := fioLine.FindStringSubmatch(line)
	if m == nil || s.shared != nil {
		return
	}
	var known []string
	for o := range strings.FieldsSeq(strings.Trim(m[1], "`")) {
		switch name, _, _ := strings.Cut(strings.TrimLeft(o, "-"), "="); name {
		case "ioengine", "iodepth", "numjobs", "direct", "runtime", "offset_increment", "size", "zero_buffers":
			known = append(known, strings.Trim(o, "`,;"))
		}
	}
	if set, err := settingsOfArgs(strings.Join(known, " ")); err == nil {
		s.shared = set
	}
}

// columnOf says what a column is by its head, in English or German.
func columnOf(head string) column {
	h := strings.ToLower(strings.Trim(head, "*_` "))
	c := column{head: head, scale: 1}
	if m := unitHead.FindStringSubmatch(h); m != nil {
		if v := rateUnits[m[1]]; v > 0 {
			c.scale = v
		} else {
			c.scale = timeUnits[m[1]]
		}
	}
	switch {
	case strings.Contains(h, "block") || h == "bs":
		c.kind = "bs"
	case strings.Contains(h, "temp") || strings.Contains(h, "°c"):
		c.kind = "temperature"
	case has(h, "min", "sd", "stddev", "cv", "ci") || strings.Contains(h, "±") || strings.Contains(h, "interval") || strings.Contains(h, "streuung"):
		c.kind = "spread"
	case strings.Contains(h, "iops"):
		c.kind = "iops"
	case strings.Contains(h, "lat"):
		c.kind = "lat"
	case strings.Contains(h, "band") || strings.Contains(h, "through") || strings.Contains(h, "durchsatz") || rateUnits[unitOf(h)] > 0:
		c.kind = "bw"
	case has(h, "mode", "modus", "test", "phase", "rw", "workload", "muster", "zugriff"):
		c.kind = "name"
	case roleOf(h) != RoleUnknown:
		c.kind, c.role = "side", roleOf(h)
	}
	return c
}

func unitOf(h string) string {
	if m := unitHead.FindStringSubmatch(h); m != nil {
		return m[1]
	}
	return ""
}

// table takes one table whose first line of data is line first of the file.
func (s *Subject) table(heading string, heads, body []string, first int) {
	columns := make([]column, len(heads))
	sides := 0
	for i, h := range heads {
		columns[i] = columnOf(h)
		if columns[i].kind == "side" {
			sides++
		}
		if isMaximum(h) && (columns[i].kind == "bw" || columns[i].kind == "iops") {
			s.Statistic = record.StatisticMaximum
		}
	}
	if len(columns) > 0 && columns[0].kind == "" {
		columns[0].kind = "name"
	}
	whole := Side{Name: heading, Where: fmt.Sprintf("line %d", first-2), Role: roleOf(heading)}
	var apart []Side
	for _, c := range columns {
		if c.kind == "side" {
			apart = append(apart, Side{Name: c.head, Where: whole.Where, Role: c.role})
		}
	}
	for n, line := range body {
		where := fmt.Sprintf("line %d", first+n)
		base := Row{Where: where}
		parts := cells(line)
		filled, k := false, 0
		for i := range min(len(parts), len(columns)) {
			c, text := &columns[i], parts[i]
			switch c.kind {
			case "name":
				base.Name = strings.TrimSpace(base.Name + " " + text)
				base.modeIn(text)
				base.blockSizeIn(text)
			case "bs":
				base.blockSizeIn(text)
			case "bw":
				if v, ok := parseCell(text, rateUnits, c.scale); ok && v.V > 0 {
					base.BPS, filled = &v, true
				}
			case "iops":
				if v, ok := parseCell(text, nil, 1); ok && v.V > 0 {
					base.IOPS, filled = &v, true
				}
			case "lat":
				if v, ok := parseCell(text, timeUnits, c.scale); ok && v.V > 0 && unitOf(strings.ToLower(c.head)+" "+strings.ToLower(text)) != "" {
					base.Lat = append(base.Lat, Latency{Kind: "lat", Mean: &v})
				}
			case "temperature":
				if v, ok := parseCell(text, tempUnits, 1000); ok && v.V < 1e6 {
					base.FromMC = new(int64(v.V + 0.5))
				}
			case "spread":
				base.Interval = true
			}
		}
		if base.Dir = dirOf(base.Mode); filled {
			whole.Rows = append(whole.Rows, base)
		}
		for i := range min(len(parts), len(columns)) {
			if columns[i].kind != "side" {
				continue
			}
			row := base
			low := strings.ToLower(parts[i])
			if v, ok := parseCell(parts[i], rateUnits, 1); ok && rateUnits[unitOf(low)] > 0 {
				row.BPS = &v
			} else if v, ok := parseCell(parts[i], nil, 1); ok && v.V > 0 {
				row.IOPS = &v
			}
			if row.IOPS != nil || row.BPS != nil {
				apart[k].Rows = append(apart[k].Rows, row)
			}
			k++
		}
	}
	for _, side := range append([]Side{whole}, apart...) {
		if len(side.Rows) > 0 {
			for i := range side.Rows {
				side.Hot = side.Hot || side.Rows[i].FromMC != nil
			}
			s.Sides = append(s.Sides, side)
		}
	}
}

// modeIn takes the mode from a name such as "randread", "Random read 4K" or
// "Seq. schreiben".
func (r *Row) modeIn(text string) {
	low := strings.ToLower(text)
	for _, m := range []job.Mode{job.RandRead, job.RandWrite, job.RandRW} {
		if strings.Contains(low, string(m)) {
			r.Mode = m
			return
		}
	}
	random := strings.Contains(low, "rand") || strings.Contains(low, "rnd") || strings.Contains(low, "zufäll") || strings.Contains(low, "wahlfrei")
	read := strings.Contains(low, "read") || strings.Contains(low, "les")
	write := strings.Contains(low, "write") || strings.Contains(low, "schreib")
	switch {
	case read == write: // both or none
	case random && read:
		r.Mode = job.RandRead
	case random:
		r.Mode = job.RandWrite
	case read:
		r.Mode = job.Read
	default:
		r.Mode = job.Write
	}
}

func (r *Row) blockSizeIn(text string) {
	if m := sizeCell.FindStringSubmatch(text); m != nil {
		var probe Row
		if probe.is("", m[1]+strings.ToLower(m[2])) == nil {
			r.BS = probe.BS
		}
	}
}
