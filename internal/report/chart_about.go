package report

import (
	"fmt"
	"slices"
	"strings"

	"nativ/internal/job"
)

// subtitle names the drive, the date and the settings.
func (c *charter) subtitle() string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	rec := c.rec
	if t := &rec.Target; len(t.Drives) > 0 {
		name := c.driveName(&t.Drives[0])
		if more := len(t.Drives) - 1; more > 0 {
			name += " " + fmt.Sprintf(c.moreDrives, c.int(int64(more)))
		}
		add(name)
	} else if rec.Import != nil {
		if p := rec.Import.Publication; p != nil {
			add(c.data(p.Title))
		}
		add(c.data(strings.Join(rec.Import.Files, ", ")))
	}
	if !rec.Started.IsZero() {
		add(rec.Started.Format(c.date))
	}
	add(c.settings())
	if engine := c.engineName(); engine != "" {
		add(engine)
	}
	if fs := c.data(rec.Target.FSType); fs != "" {
		var layers []string
		for _, l := range rec.Target.Stack {
			if name := c.layer[l.Kind]; name != "" && !slices.Contains(layers, name) {
				layers = append(layers, name)
			}
		}
		for _, l := range layers {
			fs = fmt.Sprintf(c.layerOn, fs, l)
		}
		add(fs)
	}
	return strings.Join(parts, " · ")
}

// settings are the depth and the number of jobs where all tests share them.
func (c *charter) settings() string {
	all := c.rec.Plan.Phases
	if len(all) == 0 {
		return ""
	}
	same := func(of func(*job.Phase) int64) int64 {
		for i := range all {
			if of(&all[i]) != of(&all[0]) {
				return 0
			}
		}
		return of(&all[0])
	}
	var parts []string
	if n := same(func(j *job.Phase) int64 { return int64(j.IODepth) }); n > 0 {
		parts = append(parts, fmt.Sprintf(c.charts.queue, c.int(n)))
	}
	if n := same(func(j *job.Phase) int64 { return int64(j.NumJobs) }); n > 1 {
		parts = append(parts, fmt.Sprintf(c.charts.jobs, c.int(n)))
	}
	text := strings.Join(parts, " × ")
	if ns := c.runtime(); ns > 0 {
		text = strings.TrimPrefix(text+" · "+c.seconds(ns), " · ")
	}
	return text
}

// runtime is the length of the passes that stand for their places where all of them
// were planned alike; else 0.
func (c *charter) runtime() int64 {
	var ns int64
	for i := range c.rec.Plan.Steps {
		s := &c.rec.Plan.Steps[i]
		if s.Role != "" { // a load ends when it is steady
			continue
		}
		if s.ByBytes || ns > 0 && s.RuntimeNS != ns {
			return 0
		}
		ns = s.RuntimeNS
	}
	return ns
}

func (c *charter) engineName() string {
	for _, p := range c.passes {
		if p.Engine != nil {
			return c.data(p.Engine.Name)
		}
	}
	for i := range c.rec.Places {
		if w := c.rec.Places[i].Worker; w != nil {
			return c.data(w.Engine.Name)
		}
	}
	return ""
}

// citation names what a reader needs to find the same numbers again.
func (c *charter) citation() string {
	m, rec := &c.charts, c.rec
	tool := c.data(strings.TrimSpace(rec.Tool.Name + " " + rec.Tool.Version))
	text := fmt.Sprintf(m.citation, tool, c.data(rec.Plan.Preset), c.data(rec.ID))
	if rec.Import != nil {
		text = fmt.Sprintf(m.citationImport, tool, c.data(strings.Join(rec.Import.Files, ", ")))
	}
	hash := c.o.Hash
	if hash == "" {
		hash, _ = RecordHash(rec) // fails only for NaN, of which no record is read
	}
	if hash != "" {
		text += " · " + fmt.Sprintf(m.hash, hash[:min(len(hash), shownHash)])
	}
	return text
}
