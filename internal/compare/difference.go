package compare

import (
	"fmt"
	"slices"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/job"
	"nativ/internal/record"
)

// A Reason is why comparing two phases means nothing.
type Reason struct {
	// Code is one of the Reason constants; A and B are what the sides have, as
	// fio would spell it.
	Code string `json:"code"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
}

// The reasons.
const (
	ReasonMode      = "rw"
	ReasonBlockSize = "bs"
	ReasonDirect    = "direct"    // the page cache against the drive
	ReasonDepth     = "iodepth"   // I/Os in flight of each job
	ReasonJobs      = "numjobs"   // jobs
	ReasonSync      = "sync"      // fsync, fdatasync, O_SYNC
	ReasonMix       = "rwmixread" // reads and writes in other proportions
	ReasonRate      = "rate"      // limited on purpose
	ReasonData      = "data"      // other contents are written
	ReasonUnknown   = "unknown"   // a side does not tell what it did
	ReasonCache     = "cache"     // a cache answered: A or B is "cache"
	ReasonSimulated = "simulated" // a drive model answered: A or B is "simulated"
)

// ReasonCodes lists them.
func ReasonCodes() []string {
	return []string{ReasonMode, ReasonBlockSize, ReasonDirect, ReasonDepth, ReasonJobs, ReasonSync, ReasonMix, ReasonRate, ReasonData,
		ReasonUnknown, ReasonCache, ReasonSimulated}
}

// settingReasons are the settings of two phases of which any difference makes
// another test of it.
func settingReasons(a, b *job.Phase) []Reason {
	var all []Reason
	if a.Mode == "" || b.Mode == "" || a.BlockSize == 0 && !a.VariesBlocks() || b.BlockSize == 0 && !b.VariesBlocks() {
		all = append(all, Reason{Code: ReasonUnknown, A: known(a), B: known(b)})
	}
	add := func(code string, differs bool, x, y string) {
		if differs && x != "" && y != "" {
			all = append(all, Reason{code, x, y})
		}
	}
	add(ReasonMode, a.Mode != b.Mode, string(a.Mode), string(b.Mode))
	add(ReasonBlockSize, blocks(a) != blocks(b), blocks(a), blocks(b))
	add(ReasonDirect, a.Direct != b.Direct && a.Mode != "" && b.Mode != "", flag(a.Direct), flag(b.Direct))
	add(ReasonDepth, a.IODepth != b.IODepth, count(a.IODepth), count(b.IODepth))
	add(ReasonJobs, a.NumJobs != b.NumJobs, count(a.NumJobs), count(b.NumJobs))
	add(ReasonSync, syncs(a) != syncs(b), syncs(a), syncs(b))
	add(ReasonMix, a.Mode.Mixed() && b.Mode.Mixed() && a.RWMixRead != b.RWMixRead, fmt.Sprint(a.RWMixRead), fmt.Sprint(b.RWMixRead))
	add(ReasonRate, limits(a) != limits(b), limits(a), limits(b))
	add(ReasonData, a.Mode.Writes() && b.Mode.Writes() && contents(a) != contents(b), contents(a), contents(b))
	return all
}

func known(j *job.Phase) string {
	if j.Mode == "" || j.BlockSize == 0 && !j.VariesBlocks() {
		return "unknown"
	}
	return string(j.Mode) + " " + blocks(j)
}

// blocks is the block size as fio spells it; "" where it is not known.
func blocks(j *job.Phase) string {
	size := func(n int64) string {
		if n > 0 && n%1024 == 0 {
			return fmt.Sprintf("%dk", n/1024)
		}
		return fmt.Sprint(n)
	}
	switch {
	case j.VariesBlocks():
		var raw []string
		for _, o := range j.Raw {
			if strings.HasPrefix(o, "bs") || strings.HasPrefix(o, "blocksize") {
				raw = append(raw, o)
			}
		}
		return strings.Join(raw, " ")
	case j.BlockSize == 0:
		return ""
	case j.Mode.Mixed() && j.WriteBlockSize > 0 && j.WriteBlockSize != j.BlockSize:
		return size(j.BlockSize) + "," + size(j.WriteBlockSize)
	}
	return size(j.BlockSize)
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// count is "" where an imported result does not tell.
func count(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func syncs(j *job.Phase) string {
	s := fmt.Sprintf("fdatasync=%d fsync=%d", j.FDataSync, j.FSync)
	if j.Sync != "" && j.Sync != job.SyncNone {
		s += " sync=" + string(j.Sync)
	}
	if j.EndFSync {
		s += " end_fsync=1"
	}
	return s
}

func limits(j *job.Phase) string {
	return fmt.Sprintf("rate_iops=%d,%d thinktime=%dns", j.ReadIOPS, j.WriteIOPS, j.ThinkTimeNS)
}

func contents(j *job.Phase) string {
	return fmt.Sprintf("zero_buffers=%s buffer_compress_percentage=%d", flag(j.ZeroBuffers), j.CompressPercent)
}

// sideReasons are those that lie in the sides and not in the settings.
func sideReasons(a, b *Side, x, y *data) []Reason {
	var all []Reason
	one := func(code, word string, inA, inB bool) {
		if inA != inB {
			r := Reason{Code: code, A: word}
			if inB {
				r.A, r.B = "", word
			}
			all = append(all, r)
		}
	}
	one(ReasonCache, "cache", x.cached, y.cached)
	one(ReasonSimulated, "simulated", a.Record.Simulated != nil, b.Record.Simulated != nil)
	return all
}

// A Difference is something in system or settings that differs or that only one
// side tells.
type Difference struct {
	// What is one of the Diff constants.
	What string `json:"what"`
	// A and B are as recorded, "" where it is not known; numbers are in base
	// units, as text.
	A string `json:"a"`
	B string `json:"b"`
}

// What can differ.
const (
	DiffSource     = "source" // measured, imported, published
	DiffStatistic  = "statistic"
	DiffTool       = "tool"
	DiffEngine     = "ioengine"
	DiffPlace      = "place"
	DiffKernel     = "kernel"
	DiffOS         = "os"
	DiffPVE        = "pve"
	DiffCPU        = "cpu"
	DiffCPUs       = "cpus" // of the place
	DiffGovernor   = "governor"
	DiffMemory     = "memory" // of the machine, bytes
	DiffLimit      = "memory-limit"
	DiffBoard      = "board"
	DiffBIOS       = "bios"
	DiffVirtual    = "hypervisor"
	DiffModel      = "model"
	DiffDrive      = "drive" // another one of the same model
	DiffFirmware   = "firmware"
	DiffSize       = "drive-size" // bytes
	DiffLink       = "link"       // MT/s and width, "32000 4"
	DiffScheduler  = "scheduler"
	DiffWriteCache = "write-cache"
	DiffFS         = "filesystem"
	DiffMount      = "mount-options"
	DiffStack      = "stack"
	DiffFile       = "file-size" // bytes
	DiffUsed       = "used"      // of the filesystem, whole percent
	DiffPreset     = "preset"
	DiffIdle       = "idle-temperature" // millidegrees Celsius
	DiffNote       = "note"             // prefix of "note heatsink"
	DiffTable      = "table"            // of a publication
	DiffFact       = "fact"             // prefix of "fact container vcpus", as published

	DiffRuntime = "runtime" // nanoseconds
	DiffRegions = "regions" // of sequential jobs: "split" or "shared"
	DiffMap     = "random-map"
	DiffRamp    = "ramp_time"
)

// systemDifferences lists what differs between two records, in the order in which
// people ask for it.
func systemDifferences(a, b *Side) []Difference {
	var all []Difference
	ra, rb := a.Record, b.Record
	add := func(what, x, y string) {
		x, y = strings.TrimSpace(x), strings.TrimSpace(y)
		if x != y {
			all = append(all, Difference{what, x, y})
		}
	}
	of := func(what string, f func(*record.Record) string) { add(what, f(ra), f(rb)) }
	of(DiffSource, source)
	of(DiffStatistic, statistic)
	of(DiffTable, func(r *record.Record) string {
		if r.Import == nil || r.Import.Publication == nil {
			return ""
		}
		return r.Import.Publication.Table
	})
	if a.Place != b.Place {
		add(DiffPlace, a.Place, b.Place)
	}
	if sameRun(a, b) {
		add(DiffCPUs, placeCPUs(a), placeCPUs(b))
		add(DiffLimit, placeMemory(a), placeMemory(b))
		return all
	}
	of(DiffModel, func(r *record.Record) string { return drive(r, func(d *record.Drive) string { return text(d.Model) }) })
	serial := func(r *record.Record) string {
		return drive(r, func(d *record.Drive) string { return strings.TrimSpace(text(d.Serial)) })
	}
	// A serial number identifies a drive and is nobody else's business: only
	// that it differs is said.
	if x, y := serial(ra), serial(rb); x != "" && y != "" && x != y {
		all = append(all, Difference{DiffDrive, "1", "2"})
	}
	of(DiffFirmware, func(r *record.Record) string {
		return drive(r, func(d *record.Drive) string { return text(d.Firmware) })
	})
	of(DiffSize, func(r *record.Record) string {
		return drive(r, func(d *record.Drive) string { return number(d.SizeBytes) })
	})
	of(DiffLink, func(r *record.Record) string {
		return drive(r, func(d *record.Drive) string {
			if d.Link == nil || d.Link.SpeedMTs <= 0 {
				return ""
			}
			return fmt.Sprintf("%d %d", d.Link.SpeedMTs, d.Link.Width)
		})
	})
	of(DiffKernel, func(r *record.Record) string { return r.Host.Kernel })
	of(DiffPVE, func(r *record.Record) string { return text(r.Host.PVE) })
	of(DiffOS, func(r *record.Record) string { return r.Host.OS })
	of(DiffCPU, func(r *record.Record) string { return r.Host.CPUModel })
	add(DiffCPUs, placeCPUs(a), placeCPUs(b))
	of(DiffGovernor, func(r *record.Record) string { return text(r.Host.Governor) })
	of(DiffMemory, func(r *record.Record) string { return number(r.Host.MemoryBytes) })
	add(DiffLimit, placeMemory(a), placeMemory(b))
	of(DiffBoard, func(r *record.Record) string { return text(r.Host.Board) })
	of(DiffBIOS, func(r *record.Record) string { return text(r.Host.BIOS) })
	of(DiffVirtual, func(r *record.Record) string { return text(r.Host.Virtualised) })
	of(DiffFS, func(r *record.Record) string { return r.Target.FSType })
	of(DiffMount, func(r *record.Record) string { return r.Target.Options })
	of(DiffStack, stack)
	of(DiffScheduler, func(r *record.Record) string {
		return drive(r, func(d *record.Drive) string { return text(d.Scheduler) })
	})
	of(DiffWriteCache, func(r *record.Record) string {
		return drive(r, func(d *record.Drive) string {
			if d.VolatileCache == nil {
				return ""
			}
			return flag(*d.VolatileCache)
		})
	})
	of(DiffUsed, used)
	of(DiffFile, func(r *record.Record) string { return number(r.Plan.FileSize) })
	of(DiffPreset, func(r *record.Record) string {
		if r.Import != nil {
			return ""
		}
		return r.Plan.Preset
	})
	of(DiffTool, func(r *record.Record) string {
		if r.Import != nil && r.Import.Publication != nil {
			return ""
		}
		return r.Tool.Name + " " + r.Tool.Version
	})
	of(DiffIdle, idle)
	for _, name := range publishedFacts(ra, rb) {
		of(DiffFact+" "+name, func(r *record.Record) string {
			if r.Import == nil || r.Import.Publication == nil {
				return ""
			}
			return option(name, r.Import.Publication.Facts)
		})
	}
	seen := map[string]bool{}
	for _, r := range []*record.Record{ra, rb} {
		for _, k := range sortedKeys(r.Notes) {
			if !seen[k] {
				seen[k] = true
				add(DiffNote+" "+k, ra.Notes[k], rb.Notes[k])
			}
		}
	}
	return all
}

// Sources of numbers.
const (
	SourceMeasured  = "measured"
	SourceSimulated = "simulated"
	SourceImported  = "imported"
	SourcePublished = "published"
)

func source(r *record.Record) string {
	switch {
	case r.Simulated != nil:
		return SourceSimulated
	case r.Import == nil:
		return SourceMeasured
	case r.Import.Format == record.FormatPublished:
		return SourcePublished
	}
	return SourceImported
}

func statistic(r *record.Record) string {
	if r.Import != nil && r.Import.Publication != nil {
		return r.Import.Publication.Statistic
	}
	return record.StatisticMean
}

// publishedFacts are the names of the facts of publications, if both are some:
// held against a record they are only worded otherwise.
func publishedFacts(a, b *record.Record) []string {
	if !Published(a) || !Published(b) {
		return nil
	}
	var names []string
	for _, r := range []*record.Record{a, b} {
		for _, o := range r.Import.Publication.Facts {
			if !slices.Contains(names, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func number(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// drive is f of the only drive; several are named one after the other.
func drive(r *record.Record, f func(*record.Drive) string) string {
	var parts []string
	for i := range r.Target.Drives {
		if s := f(&r.Target.Drives[i]); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

func stack(r *record.Record) string {
	var kinds []string
	for _, l := range r.Target.Stack {
		kinds = append(kinds, l.Kind)
	}
	return strings.Join(kinds, " ")
}

// used is how full the filesystem was, in steps of ten percent: less is no news.
func used(r *record.Record) string {
	if r.Target.UsedBytes == nil || r.Target.TotalBytes <= 0 {
		return ""
	}
	return fmt.Sprint(int(10*float64(*r.Target.UsedBytes)/float64(r.Target.TotalBytes)+0.5) * 10)
}

func idle(r *record.Record) string {
	if r.Idle == nil {
		return ""
	}
	if _, mc, ok := r.Idle.Temperature(); ok {
		return fmt.Sprint((mc + 500) / 1000 * 1000)
	}
	return ""
}

func placeOf(s *Side) *record.Place {
	for i := range s.Record.Places {
		if s.Record.Places[i].Name == s.Place {
			return &s.Record.Places[i]
		}
	}
	return nil
}

func placeCPUs(s *Side) string {
	if p := placeOf(s); p != nil && len(p.CPUs) > 0 {
		return job.FormatCPUs(p.CPUs)
	}
	return ""
}

func placeMemory(s *Side) string {
	if p := placeOf(s); p != nil && p.MemoryBytes != nil {
		return number(*p.MemoryBytes)
	}
	return ""
}

// phaseDifferences are settings that change a number somewhat and the test not.
func phaseDifferences(a, b *job.Phase) []Difference {
	var all []Difference
	add := func(what, x, y string) {
		if x != y {
			all = append(all, Difference{what, x, y})
		}
	}
	add(DiffEngine, a.Engine, b.Engine)
	add(DiffRuntime, number(a.RuntimeNS), number(b.RuntimeNS))
	add(DiffRamp, number(a.RampTimeNS), number(b.RampTimeNS))
	if !a.Mode.Random() && !b.Mode.Random() && a.NumJobs > 1 && b.NumJobs > 1 {
		add(DiffRegions, regions(a), regions(b))
	}
	if a.Mode.Random() && b.Mode.Random() {
		add(DiffMap, flag(a.RandomMap), flag(b.RandomMap))
	}
	return all
}

func regions(j *job.Phase) string {
	if j.Split || j.OffsetIncrement != (job.Size{}) {
		return "split"
	}
	return "shared"
}

// LinkLimit is what the PCIe link of the only drive carries at the most, in bytes a
// second; false where it is not known.
func LinkLimit(r *record.Record) (float64, bool) {
	if len(r.Target.Drives) != 1 || r.Target.Network {
		return 0, false
	}
	l := r.Target.Drives[0].Link
	if l == nil || l.SpeedMTs <= 0 || l.Width <= 0 {
		return 0, false
	}
	return analysis.LinkBytes(l.SpeedMTs, l.Width), true
}
