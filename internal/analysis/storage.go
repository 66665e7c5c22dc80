package analysis

import (
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// arcTimes is how many times the cache of ZFS a test file has to have for reads at
// random to come from the drive for the most part: three quarters do.
const arcTimes = 4

// servedBy is who answers for the files of a target over a network.
func servedBy(t *record.Target) string {
	if t.Storage == nil {
		return ""
	}
	return t.Storage.Served
}

// storageWarnings are about what lies between the test file and the drives. Words
// and values are named with their codes.
func storageWarnings(rec *record.Record) []record.Warning {
	s := rec.Target.Storage
	if s == nil {
		return nil
	}
	var all []record.Warning
	add := func(w record.Warning) { all = append(all, w) }
	for i := range s.Pools {
		add(poolWarning(rec, &s.Pools[i]))
	}
	if w, ok := keptWarning(rec); ok {
		add(w)
	}
	for i := range s.Arrays {
		a := &s.Arrays[i]
		if a.Rebuilding() {
			w := record.Warning{Code: record.WarnRebuilding, Words: words("array", a.Device, "action", a.Action)}
			if a.Done != nil {
				w.Values = map[string]float64{"done": *a.Done}
			}
			add(w)
		} else if a.Degraded != nil && *a.Degraded > 0 {
			add(record.Warning{Code: record.WarnDegraded, Words: words("array", a.Device), Values: map[string]float64{"missing": float64(*a.Degraded)}})
		}
	}
	if s.LazyInit != nil && *s.LazyInit {
		add(record.Warning{Code: record.WarnLazyInit})
	}
	if s.ZFS != nil {
		all = append(all, zfsWarnings(rec, s.ZFS)...)
	}
	if b := s.Btrfs; b != nil && b.Buffered {
		// Only files that nativ makes for itself are overwritten in place.
		if f := rec.Target.File; rec.Jobs != nil || rec.Target.Volume != nil || f != nil && !f.NoCOW {
			add(record.Warning{Code: record.WarnBuffered, Words: words("fstype", rec.Target.FSType)})
		} else {
			add(record.Warning{Code: record.WarnInPlace})
		}
	}
	if s.Served == record.ServedByProgram {
		add(record.Warning{Code: record.WarnProgram, Words: words("fstype", rec.Target.FSType)})
	}
	return all
}

func poolWarning(rec *record.Record, p *record.ThinPool) record.Warning {
	if p.Unknown != "" {
		return record.Warning{Code: record.WarnPoolUnknown, Words: words("pool", p.Name, "reason", p.Unknown)}
	}
	zeroing := ""
	if p.Zeroing != nil {
		zeroing = map[bool]string{true: "yes", false: "no"}[*p.Zeroing]
	}
	w := record.Warning{Code: record.WarnThinPool, Words: words("pool", p.Name, "zeroing", zeroing), Values: map[string]float64{}}
	if p.ChunkBytes != nil {
		w.Values["chunk_bytes"] = float64(*p.ChunkBytes)
	}
	if p.DataUsed != nil && p.DataBytes != nil && *p.DataBytes > 0 {
		w.Values["taken"] = float64(*p.DataUsed) / float64(*p.DataBytes)
	}
	if f := rec.Prefill; f != nil && f.Failed == nil && f.ElapsedNS > 0 {
		w.Values["first_bps"] = float64(f.Bytes) / float64(f.ElapsedNS) * 1e9
	}
	return w
}

// keptWarning is about space of the test file that did not go back to its pool.
func keptWarning(rec *record.Record) (record.Warning, bool) {
	g := rec.Target.Storage.GivenBack
	switch {
	case g == nil:
	case g.Failed != "":
		return record.Warning{Code: record.WarnPoolKept, Words: words("pool", g.Pool, "reason", g.Failed)}, true
	case g.UsedBefore != nil && g.UsedAfter != nil:
		// A pool keeps chunks of which only a part is free, and others write meanwhile.
		if kept := rec.Plan.FileSize - (*g.UsedBefore - *g.UsedAfter); kept > rec.Plan.FileSize/10 {
			return record.Warning{Code: record.WarnPoolKept, Words: words("pool", g.Pool), Values: map[string]float64{"kept_bytes": float64(kept)}}, true
		}
	}
	return record.Warning{}, false
}

func zfsWarnings(rec *record.Record, z *record.ZFS) []record.Warning {
	var all []record.Warning
	if z.Unknown != "" {
		all = append(all, record.Warning{Code: record.WarnZFSUnknown, Words: words("name", z.Name, "reason", z.Unknown)})
	}
	if size := rec.Plan.FileSize; zfsCaches(z) && z.ARCMax != nil && size > 0 && size/arcTimes < *z.ARCMax {
		all = append(all, record.Warning{Code: record.WarnARC, Words: words("name", z.Name), Values: map[string]float64{
			"arc_bytes": float64(*z.ARCMax), "want_bytes": arcTimes * float64(*z.ARCMax)}})
	}
	if z.RecordBytes == nil {
		return all
	}
	for i := range rec.Plan.Phases {
		ph := &rec.Plan.Phases[i]
		if ph.BlockSize <= 0 || ph.BlockSize >= *z.RecordBytes {
			continue
		}
		mode := "read"
		if ph.Mode.Writes() {
			mode = "write"
		}
		for _, place := range rec.Plan.Places {
			all = append(all, record.Warning{Code: record.WarnRecord, Phase: ph.Name, Place: place, Words: words("mode", mode),
				Values: map[string]float64{"record_bytes": float64(*z.RecordBytes)}})
		}
	}
	return all
}

// zfsCaches reports whether the cache of ZFS may answer reads for which direct I/O
// was asked: volumes know none, datasets only from OpenZFS 2.3 on, unless the
// property direct forbids it. Metadata alone in the cache is no answer.
func zfsCaches(z *record.ZFS) bool {
	if z.PrimaryCache == "metadata" || z.PrimaryCache == "none" {
		return false
	}
	return z.Volume || z.Direct == "" || z.Direct == "disabled" || !zfsAtLeast(z.Version, 2, 3)
}

// zfsAtLeast reads a version such as "2.3.3-pve1".
func zfsAtLeast(version string, major, minor int) bool {
	a, rest, _ := strings.Cut(version, ".")
	b, _, _ := strings.Cut(rest, ".")
	x, err1 := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	return err1 == nil && err2 == nil && (x > major || x == major && y >= minor)
}

// NotDrive is what was measured instead of a drive, by the code of its warning; ""
// where that is not known to be so. What counts is how the storage is built; what
// the drive delivered is said by WarnCacheAnswered.
func NotDrive(warnings []record.Warning) string {
	for _, code := range []string{record.WarnLoopCached, record.WarnARC, record.WarnBuffered, record.WarnProgram} {
		if slices.ContainsFunc(warnings, func(w record.Warning) bool { return w.Code == code }) {
			return code
		}
	}
	return ""
}
