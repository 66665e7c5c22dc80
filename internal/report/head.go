package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// PlanOptions say how to show a plan.
type PlanOptions struct {
	Lang string // "de" or "en"
	// TemperatureMC is the drive's temperature now, in millidegrees Celsius.
	TemperatureMC *int64
	// OwnCeiling: the plan's ceiling is the drive's own CCTEMP.
	OwnCeiling bool
	// Health is the health log of the drive, nil where it has none.
	Health *record.Health
}

// Plan writes what a run is about to do, before anything is touched. Of rec it
// needs Plan, Host and Target.
func Plan(w io.Writer, rec *record.Record, o PlanOptions) error {
	s := newSpeaker(o.Lang, rec)
	n := newNotes(s, rec, analysis.PlanWarnings(rec))
	rows := n.head(o, false)
	rows[len(rows)-1].Text += n.rest()
	d := &Document{Lang: o.Lang, Blocks: []Block{
		Title{Text: s.titleOf(rec)},
		Facts{Rows: rows, Tight: true},
	}}
	if f := n.block(); len(f.Items) > 0 {
		d.Blocks = append(d.Blocks, f)
	}
	return Text(w, d, Width)
}

// Question is what is asked after the plan; see Yes for the answer.
func Question(lang string) string { return catalogue(lang).question }

// Yes reports whether an answer to Question says to start. Both languages count
// whatever was asked in: nobody who types "yes" means no.
func Yes(answer string) bool {
	return slices.Contains([]string{"j", "ja", "y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

func (s *speaker) titleOf(rec *record.Record) string {
	if rec.Plan.Preset == "quick" {
		return s.marked(rec, s.title)
	}
	return s.marked(rec, fmt.Sprintf(s.titleOther, s.data(rec.Plan.Preset)))
}

// head describes drive, place and plan; of a run that is over when done.
func (n *notes) head(o PlanOptions, done bool) []Fact {
	rec := n.rec
	rows := append(n.simulated(rec),
		Fact{n.drive, n.driveLine(o.TemperatureMC)},
		Fact{n.dir, n.dirLine()},
		Fact{n.plan, n.planLine(done)},
	)
	if record.ContainerOf(rec.Plan.Places) != "" || slices.Contains(rec.Plan.Places, record.PlacePinned) {
		rows = append(rows, Fact{n.container, n.containerLine(done)})
	}
	rows = append(rows, n.pveRow(done)...)
	rows = append(rows, n.leftOutRow()...)
	rows = append(rows, n.stepRows(o, done)...)
	if done && len(rec.Notes) > 0 {
		rows = append(rows, Fact{n.plans.notes, n.noteLine(rec)})
	}
	if !done {
		rows = append(rows, Fact{n.writes, n.writesLine() + n.after(record.WarnWriteLimit)})
	}
	if len(rec.Target.Neighbours) > 0 {
		rows = append(rows, Fact{n.caution, n.neighbours(done)})
	}
	rows = append(rows, n.dueRow()...)
	return rows
}

func (n *notes) driveLine(temperature *int64) string {
	t := &n.rec.Target
	about := n.after(record.WarnNetwork, record.WarnLoopCached, record.WarnARC, record.WarnBuffered, record.WarnProgram, record.WarnZFSUnknown, record.WarnCountersOff, record.WarnNoCounters)
	if t.Network && len(t.Drives) == 0 {
		return fmt.Sprintf(n.noDrive, n.data(t.FSType)) + about
	}
	if len(t.Drives) == 0 {
		return n.unknown + about
	}
	d := &t.Drives[0]
	parts := []string{n.driveName(d) + n.ref2(d.Name, record.WarnVirtualDrive, record.WarnMemoryDrive)}
	if size := n.bytes(d.SizeBytes); d.SizeBytes > 0 && !strings.Contains(parts[0], strings.ReplaceAll(size, glue, "")) {
		parts = append(parts, size) // most models have it in their name
	}
	if d.Link != nil && d.Link.SpeedMTs > 0 && d.Link.Width > 0 {
		parts = append(parts, "PCIe"+glue+pcie(float64(d.Link.SpeedMTs), float64(d.Link.Width))+n.ref2(d.Name, record.WarnLink))
	}
	if temperature != nil {
		parts = append(parts, unit(n.celsius(*temperature), "°C"))
	}
	line := strings.Join(parts, ", ") + about
	if more := len(t.Drives) - 1; more > 0 {
		line += " " + fmt.Sprintf(n.moreDrives, n.int(int64(more)))
	}
	return line
}

// ref2 refers to warnings of these codes about one drive.
func (n *notes) ref2(drive string, codes ...string) string {
	if s := n.ref(func(w record.Warning) bool {
		return slices.Contains(codes, w.Code) && w.Words["drive"] == drive
	}); s != "" {
		return glue + s
	}
	return ""
}

func (s *speaker) driveName(d *record.Drive) string {
	name := s.data(d.Name)
	if d.Model != nil {
		if model := s.data(*d.Model); model != "" {
			name = model
		}
	}
	if analysis.VirtualDrive(d) {
		return fmt.Sprintf(s.virtualDrive, name)
	}
	return name
}

func (n *notes) dirLine() string {
	t := &n.rec.Target
	if t.Device != nil {
		return n.deviceLine()
	}
	fs := n.data(t.FSType)
	for _, l := range t.Stack {
		if name := n.layer[l.Kind]; name != "" {
			if !strings.HasSuffix(fs, name) { // two LVM volumes side by side
				fs = fmt.Sprintf(n.layerOn, fs, name)
			}
		}
	}
	return fmt.Sprintf("%s (%s), ", n.data(t.Dir), fs) + fmt.Sprintf(n.free, n.bytes(t.FreeBytes)) +
		n.after(record.WarnCopyOnWrite, record.WarnInPlace, record.WarnThinPool, record.WarnPoolUnknown, record.WarnPoolKept,
			record.WarnRebuilding, record.WarnDegraded, record.WarnLazyInit, record.WarnNeighboursUnknown)
}

func (n *notes) planLine(done bool) string {
	rec, p := n.rec, &n.rec.Plan
	places := n.onePlace
	if len(p.Places) != 1 {
		places = fmt.Sprintf(n.nPlaces, n.int(int64(len(p.Places))))
	}
	each, passes := "", 0
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Phase != p.Steps[0].Phase || s.Place != p.Steps[0].Place || !ordinary(s) {
			continue
		}
		if passes++; passes == 1 {
			each = n.span(s.RuntimeNS)
		}
	}
	if p.Design != nil {
		passes = 2 * p.Design.Rounds // those of void rounds do not count
	}
	// The phases of a job file have runtimes of their own, or none.
	if lo, hi := runtimes(p); lo != hi {
		each = n.span(lo) + "–" + n.span(hi)
	}
	// A load ends by itself.
	if slices.ContainsFunc(p.Steps, func(s record.Step) bool { return s.Role == record.RoleLoad }) {
		each = fmt.Sprintf(n.plans.atMost, each)
	}
	if passes > 1 {
		each = n.int(int64(passes)) + "×" + each
	}
	took := fmt.Sprintf(n.about, n.minutesOf(p.EstimateNS))
	if d := rec.Measured(); done && d > 0 {
		took = fmt.Sprintf(n.planTook, n.took(d))
	}
	text := n.planText
	if rec.Target.Device != nil {
		text = n.deviceWords.planText
	}
	return fmt.Sprintf(text, n.testCount(n.tests()), places, each, took, n.binary(p.FileSize)) +
		n.after(record.WarnFileSmaller, record.WarnSmallFile, record.WarnShortWrites, record.WarnOrder, record.WarnSinglePass,
			record.WarnSameOffsets, record.WarnRewritten, record.WarnNoCoolDown, record.WarnCapped)
}

// took is how long a run was: "2:03 min", "1:52 h".
func (s *speaker) took(d time.Duration) string {
	if d >= 100*time.Minute {
		return unit(clock(d.Round(time.Minute)/60), "h")
	}
	return unit(clock(d), "min")
}

// tests counts the phases that are no mere probes of others.
func (n *notes) tests() int {
	count := 0
	for i := range n.rec.Plan.Phases {
		name := n.rec.Plan.Phases[i].Name
		if slices.ContainsFunc(n.rec.Plan.Steps, func(s record.Step) bool { return s.Phase == name && s.Role != record.RoleProbe }) {
			count++
		}
	}
	if count == 0 {
		return len(n.rec.Plan.Phases)
	}
	return count
}

// runtimes returns the shortest and the longest pass of a plan in nanoseconds.
func runtimes(p *record.Plan) (shortest, longest int64) {
	first := true
	for i := range p.Steps {
		s := &p.Steps[i]
		if !ordinary(s) {
			continue
		}
		if first {
			shortest, first = s.RuntimeNS, false
		}
		shortest, longest = min(shortest, s.RuntimeNS), max(longest, s.RuntimeNS)
	}
	return shortest, longest
}

// minutesOf words an estimate: "2 minutes", "2 to 3 minutes", "40 s".
func (n *notes) minutesOf(ns [2]int64) string {
	low, high := time.Duration(ns[0]), time.Duration(max(ns[0], ns[1]))
	if high < 90*time.Second {
		return n.seconds(int64(high.Round(time.Second)))
	}
	a, b := max(math.Round(low.Minutes()), 1), math.Round(high.Minutes())
	if a == b {
		return fmt.Sprintf(n.minutes, n.fixed(b, 0))
	}
	return fmt.Sprintf(n.minuteRange, n.fixed(a, 0), n.fixed(b, 0))
}

func (n *notes) containerLine(done bool) string {
	rec := n.rec
	set := rec.Plan.CPUSet.CPUs
	var ids []int
	var types []string
	count := map[string]int{}
	siblings := 0
	for _, c := range set {
		ids = append(ids, c.ID)
		if count[c.Type]++; count[c.Type] == 1 {
			types = append(types, c.Type)
		}
		if c.Sibling {
			siblings++
		}
	}
	what := []string{job.FormatCPUs(ids)}
	if len(types) > 1 || len(types) == 1 && types[0] != "" {
		for _, t := range types {
			name := n.cores[t]
			if count[t] == 1 {
				name = n.core[t]
			}
			what = append(what, unit(n.int(int64(count[t])), name))
		}
	}
	if siblings > 0 {
		what = append(what, fmt.Sprintf(n.siblings, n.int(int64(siblings))))
	}
	parts := []string{n.cpuCount(len(set)) + " (" + strings.Join(what, "; ") + ")" + n.after(record.WarnCPUsHalved)}
	if m := rec.Plan.Memory; m != nil {
		parts = append(parts, fmt.Sprintf(n.memory, n.binary(*m)))
	} else {
		parts = append(parts, n.noMemory)
	}
	if record.ContainerOf(rec.Plan.Places) != "" {
		if rec.Plan.Privileged {
			parts = append(parts, n.privileged)
		} else {
			parts = append(parts, n.unprivileged)
		}
	}
	line := strings.Join(parts, ", ")
	if !done { // a plan has no table of differences to refer from
		line += n.after(record.WarnNotSeparable)
	}
	return line
}

func (n *notes) neighbours(done bool) string {
	var names []string
	for _, o := range n.rec.Target.Neighbours {
		name, kind := n.data(o.Name), n.neighbour[o.Kind]
		// An array that is rebuilt is no process.
		array := o.Kind == "job" && strings.HasPrefix(name, "md") && strings.Contains(name, " ") && !strings.Contains(name, "(")
		if kind != "" && !array && !strings.HasPrefix(strings.ToLower(name), strings.ToLower(kind)) {
			name = unit(kind, name)
		}
		names = append(names, name)
	}
	one, many := n.oneUses, n.manyUse
	if done {
		one, many = n.oneUsed, n.manyUsed
	}
	if len(names) == 1 {
		return fmt.Sprintf(one, names[0])
	}
	return fmt.Sprintf(many, n.list(names))
}
