package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A note is one footnote: all warnings that say the same of different phases,
// places or passes.
type note struct {
	warnings []record.Warning
	number   int // 0 until something refers to it
}

// notes are the footnotes of one document, numbered in the order in which the
// text refers to them.
type notes struct {
	*speaker
	rec  *record.Record
	all  []*note
	used int
}

// newNotes groups warnings. Neighbours have a line of their own in the head.
func newNotes(s *speaker, rec *record.Record, warnings []record.Warning) *notes {
	n := &notes{speaker: s, rec: rec}
	for _, w := range warnings {
		if w.Code == record.WarnNeighbours && len(rec.Target.Neighbours) > 0 {
			continue
		}
		i := slices.IndexFunc(n.all, func(o *note) bool {
			f := o.warnings[0]
			return f.Code == w.Code && w.Phase != "" && maps.Equal(f.Words, w.Words)
		})
		if i < 0 {
			n.all = append(n.all, &note{})
			i = len(n.all) - 1
		}
		n.all[i].warnings = append(n.all[i].warnings, w)
	}
	return n
}

// ref returns the numbers of the footnotes with a warning that ok accepts, such
// as "[1,3-5]", or "".
func (n *notes) ref(ok func(record.Warning) bool) string {
	var used []int
	for _, o := range n.all {
		if !slices.ContainsFunc(o.warnings, ok) {
			continue
		}
		if o.number == 0 {
			n.used++
			o.number = n.used
		}
		used = append(used, o.number)
	}
	if len(used) == 0 {
		return ""
	}
	slices.Sort(used)
	return "[" + ranges(used) + "]"
}

// ranges writes ascending numbers, three or more in a row as a range.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if j-i < 2 {
			j = i
			parts = append(parts, strconv.Itoa(numbers[i]))
		} else {
			parts = append(parts, strconv.Itoa(numbers[i])+"-"+strconv.Itoa(numbers[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// after is ref to the codes, with a space before it.
func (n *notes) after(codes ...string) string {
	if s := n.ref(func(w record.Warning) bool { return slices.Contains(codes, w.Code) }); s != "" {
		return glue + s
	}
	return ""
}

// rest is ref to what nothing refers to yet, with a space before it.
func (n *notes) rest() string {
	var open []*note
	for _, o := range n.all {
		if o.number == 0 {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		return ""
	}
	var used []int
	for _, o := range open {
		n.used++
		o.number = n.used
		used = append(used, o.number)
	}
	return glue + "[" + ranges(used) + "]"
}

// block returns the footnotes, those last that nothing refers to.
func (n *notes) block() Footnotes {
	for _, o := range n.all {
		if o.number == 0 {
			n.used++
			o.number = n.used
		}
	}
	f := Footnotes{Items: make([]string, len(n.all))}
	for _, o := range n.all {
		f.Items[o.number-1] = n.text(o)
	}
	return f
}

// text words a footnote.
func (n *notes) text(o *note) string {
	w := o.warnings[0]
	word := func(k string) string {
		if v := n.data(w.Words[k]); v != "" {
			return v
		}
		return n.unknown
	}
	value := func(k string) float64 { return w.Values[k] }
	sprint := func(args ...any) string {
		m, ok := n.warn[w.Code]
		if !ok {
			// A record of a later version; better its code than silence.
			return n.data(strings.Join([]string{w.Code, w.Phase, w.Place}, " "))
		}
		return fmt.Sprintf(m, args...)
	}
	variant := func(v string) string {
		if m, ok := n.warn[w.Code+"/"+v]; ok {
			return m
		}
		return n.warn[w.Code+"/"]
	}
	switch w.Code {
	case record.WarnNetwork:
		if m, ok := n.warn[w.Code+"/"+w.Words["kind"]]; ok && w.Words["kind"] != "" {
			return fmt.Sprintf(m, word("fstype"))
		}
		return sprint(word("fstype"))
	case record.WarnThinPool, record.WarnPoolUnknown, record.WarnPoolKept, record.WarnRebuilding, record.WarnDegraded, record.WarnARC, record.WarnRecord,
		record.WarnZFSUnknown:
		return n.storageNote(o, variant)
	case record.WarnCopyOnWrite, record.WarnBuffered, record.WarnProgram:
		return sprint(word("fstype"))
	case record.WarnVirtualDrive, record.WarnMemoryDrive, record.WarnCountersOff, record.WarnNoCounters:
		return sprint(word("drive"))
	case record.WarnLoopCached:
		return sprint(word("device"))
	case record.WarnBlank:
		return sprint(word("device"), n.int(int64(value("blank"))), n.int(int64(value("sampled"))))
	case record.WarnBlankUnknown:
		return sprint(word("device"))
	case record.WarnDeviceRegion:
		return sprint(n.binary(int64(value("size_bytes"))), n.bytes(int64(value("device_bytes"))))
	case record.WarnDeviceOverwritten:
		return sprint(word("device"), word("serial"))
	case record.WarnSafeRemove, record.WarnSeparate:
		return sprint(word("storage"))
	case record.WarnNotTrimmed:
		return sprint(n.reason(w.Words["reason"]))
	case record.WarnCPUsMovable:
		return sprint(n.data(fmt.Sprint(int64(value("vmid")))))
	case record.WarnPVEWarned:
		return sprint(n.reason(w.Words["text"]))
	case record.WarnNeighbours:
		return sprint(word("names"))
	case record.WarnNeighboursUnknown:
		if r := n.reason(w.Words["reason"]); r != "" {
			return sprint(r)
		}
		return sprint(n.unknown)
	case record.WarnLink:
		return fmt.Sprintf(variant(w.Words["limit"]), word("drive"),
			pcie(value("max_speed_mts"), value("max_width")), pcie(value("speed_mts"), value("width")))
	case record.WarnFileSmaller:
		return sprint(n.binary(int64(value("size_bytes"))), n.binary(int64(value("wanted_bytes"))))
	case record.WarnOrder:
		return sprint(n.shortPlace(n.rec, w.Words["first"]), n.shortPlace(n.rec, w.Words["last"]))
	case record.WarnSameOffsets:
		return sprint(n.int(int64(value("jobs"))))
	case record.WarnStartedHot:
		return sprint(n.where(o), n.fixed(extreme(o, "excess_mc", math.Max)/1000, 0))
	case record.WarnThrottled:
		if w.Words["sensor"] == "" {
			return fmt.Sprintf(variant("counted"), n.where(o), n.percent(extreme(o, "lost", math.Max)))
		}
		return fmt.Sprintf(variant(""), n.where(o), n.percent(extreme(o, "lost", math.Max)),
			n.celsius(int64(extreme(o, "from_mc", math.Min))), n.celsius(int64(extreme(o, "to_mc", math.Max))), word("sensor"))
	case record.WarnCacheFull:
		return sprint(n.where(o), n.percent(extreme(o, "lost", math.Max)), n.bytes(int64(extreme(o, "bytes", math.Min))))
	case record.WarnSlowed:
		return fmt.Sprintf(variant(w.Words["cause"]), n.where(o), n.percent(extreme(o, "lost", math.Max)))
	case record.WarnCeiling:
		return sprint(n.where(o), n.celsius(int64(value("ceiling_mc"))))
	case record.WarnSensorStuck:
		return sprint(word("sensor"), n.celsius(int64(value("value_mc"))))
	case record.WarnOtherSensor:
		return sprint(word("sensor"), n.celsius(int64(value("value_mc"))), n.celsius(int64(value("critical_mc"))))
	case record.WarnSmallFile, record.WarnRewritten:
		return sprint(n.binary(int64(value("size_bytes"))))
	case record.WarnStalls:
		var count float64
		for _, w := range o.warnings {
			count += w.Values["count"]
		}
		return sprint(n.where(o), n.fixed(count, 0), n.seconds(int64(extreme(o, "longest_ns", math.Max))))
	case record.WarnCPUsHalved:
		return sprint(n.int(int64(value("cpus"))), n.cpuCount(int(value("online"))))
	case record.WarnNotSeparable:
		if w.Words["reason"] == "all-cpus" {
			return variant("all-cpus")
		}
		return variant("left-out")
	case record.WarnNoTemperature:
		return variant(w.Words["transport"])
	case record.WarnCacheAnswered:
		if n.rec.Jobs != nil {
			return fmt.Sprintf(variant("jobs"), n.where(o), n.percent(extreme(o, "ratio", math.Min)))
		}
		if w.Words["mode"] == "write" {
			return fmt.Sprintf(variant("write"), n.where(o), n.percent(extreme(o, "ratio", math.Min)))
		}
		return sprint(n.where(o), n.percent(extreme(o, "ratio", math.Min)))
	case record.WarnExtraWrites:
		return sprint(n.where(o), n.fixed(extreme(o, "ratio", math.Max), 1))
	case record.WarnWriteLimit:
		return sprint(n.bytes(int64(value("limit_bytes"))), n.bytes(int64(value("pass_bytes"))))
	case record.WarnCapped:
		return sprint(n.bytes(int64(value("bytes_per_second"))))
	case record.WarnShortWrites:
		if w.Words["cache"] == "full" {
			return variant("full")
		}
		return sprint()
	case record.WarnSpread:
		return fmt.Sprintf(variant(w.Words["trend"]), n.where(o), n.percent(extreme(o, "spread", math.Max)))
	case record.WarnToolLimit:
		return sprint(n.where(o), n.percent(extreme(o, "share", math.Max)))
	case record.WarnVerified:
		if w.Words["reads"] == "mixed" {
			return fmt.Sprintf(variant("mixed"), n.where(o))
		}
		return sprint(n.where(o), n.int(int64(value("reads"))))
	case record.WarnOtherLoad:
		return sprint(n.where(o), n.percent(extreme(o, "others", math.Max)))
	case record.WarnPassFailed:
		return sprint(n.where(o), n.failure(w.Words["code"], w.Words["detail"]))
	case record.WarnPassesMissing, record.WarnHeldUp, record.WarnContainerRemade, record.WarnCgroupThrottled, record.WarnMemoryLimit, record.WarnOOM:
		return sprint(n.where(o))
	}
	return sprint()
}

// extreme returns the greatest or least value of a note's warnings.
func extreme(o *note, key string, pick func(a, b float64) float64) float64 {
	v := o.warnings[0].Values[key]
	for _, w := range o.warnings[1:] {
		v = pick(v, w.Values[key])
	}
	return v
}

// where lists the phases and places of a note: "Random read 4K (LXC)". The
// places are left out where it is all of the plan.
func (n *notes) where(o *note) string {
	var phases []string
	places := map[string][]string{}
	for _, w := range o.warnings {
		if !slices.Contains(phases, w.Phase) {
			phases = append(phases, w.Phase)
		}
		if !slices.Contains(places[w.Phase], w.Place) {
			places[w.Phase] = append(places[w.Phase], w.Place)
		}
	}
	// Everything has a shorter name than its list.
	partly := func(ph string) bool { return len(places[ph]) < len(n.rec.Plan.Places) }
	if len(phases) > 1 && len(phases) == len(n.rec.Plan.Phases) && !slices.ContainsFunc(phases, partly) {
		return n.everyTest
	}
	var parts []string
	for _, ph := range phases {
		s := n.data(ph)
		if j := phaseByName(n.rec, ph); j != nil && n.rec.Import == nil {
			s = n.phaseName(j)
		}
		if partly(ph) {
			var names []string
			for _, p := range places[ph] {
				names = append(names, n.shortPlace(n.rec, p))
			}
			s += " (" + strings.Join(names, "; ") + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

func phaseByName(rec *record.Record, name string) *job.Phase {
	for i := range rec.Plan.Phases {
		if rec.Plan.Phases[i].Name == name {
			return &rec.Plan.Phases[i]
		}
	}
	return nil
}

// placeName is "Host, 12 CPUs": the CPUs tell host and pinned apart.
func (s *speaker) placeName(rec *record.Record, name string) string {
	label := s.label(name)
	if n := placeCPUs(rec, name); n > 0 {
		label += ", " + s.cpuCount(n)
	}
	return label
}

// shortPlace is the shortest name that tells the places apart: only pinned needs
// its CPUs for that.
func (s *speaker) shortPlace(rec *record.Record, name string) string {
	if record.PlaceKind(name) != record.PlacePinned && s.place[record.PlaceKind(name)] != "" {
		return s.label(name)
	}
	return s.placeName(rec, name)
}

// label names a place without its CPUs: "Host", and "Host 2" for a second one.
func (s *speaker) label(name string) string {
	kind, number, second := strings.Cut(name, "#")
	label := s.place[kind]
	switch {
	case label == "":
		return s.data(name)
	case second:
		return label + glue + s.data(number)
	}
	return label
}

// placeCPUs is the number of CPUs of a place: as read back, else as planned.
func placeCPUs(rec *record.Record, name string) int {
	for i := range rec.Places {
		if rec.Places[i].Name == name && len(rec.Places[i].CPUs) > 0 {
			return len(rec.Places[i].CPUs)
		}
	}
	if record.PlaceKind(name) == record.PlaceHost {
		return rec.Plan.CPUSet.Online
	}
	return len(rec.Plan.CPUSet.CPUs)
}
