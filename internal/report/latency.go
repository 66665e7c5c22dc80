package report

import (
	"fmt"
	"strings"

	"nativ/internal/analysis"
	"nativ/internal/job"
)

// latencyMessages are the texts about phases whose point is latency.
type latencyMessages struct {
	row, syncRow       string
	kept, broken, both string
}

var latencyEnglish = latencyMessages{
	row: "  lat p50 / p99", syncRow: "  sync p50 / p99",
	kept:   "etcd's rule for its log, p99 of fdatasync below 10 ms, is kept: %s.",
	broken: "etcd's rule for its log, p99 of fdatasync below 10 ms, is broken: %s.",
	both:   "etcd's rule for its log, p99 of fdatasync below 10 ms, is kept: %[1]s; broken: %[2]s.",
}

var latencyGerman = latencyMessages{
	row: "  lat p50 / p99", syncRow: "  Sync p50 / p99",
	kept:   "Die Regel von etcd für sein Log, p99 von fdatasync unter 10 ms, ist eingehalten: %s.",
	broken: "Die Regel von etcd für sein Log, p99 von fdatasync unter 10 ms, ist verletzt: %s.",
	both:   "Die Regel von etcd für sein Log, p99 von fdatasync unter 10 ms, ist eingehalten: %[1]s; verletzt: %[2]s.",
}

// etcdLimitNS is from https://etcd.io/docs/v3.5/faq/: the 99th percentile of
// wal_fsync_duration_seconds should be less than 10 ms.
const etcdLimitNS = 10e6

// aboutLatency reports whether the latency of a phase says as much as its speed:
// one I/O in flight, syncs as it goes, or a preset that is about latency.
func (b *builder) aboutLatency(j *job.Phase) bool {
	if b.inRounds() { // whose table has latencies of its own
		return false
	}
	return j.Syncs() || j.IODepth == 1 && inIOPS(j) || b.rec.Plan.Preset == "sweep"
}

// latencyRow is the row below that of a phase's speed; false where nothing is
// known.
func (b *builder) latencyRow(ph *analysis.Phase) (Row, bool) {
	label := b.latWords.row
	if ph.Job.FDataSync > 0 { // then the latencies are those of its syncs
		label = b.latWords.syncRow
	}
	r, known := Row{Cells: []Cell{{Text: label}}}, false
	for i := range ph.Places {
		text := absent
		if l := &ph.Places[i].Lat; l.P50 != nil && l.P99 != nil {
			text, known = b.duration(float64(*l.P50))+" / "+b.duration(float64(*l.P99)), true
		}
		r.Cells = append(r.Cells, Cell{Text: text})
	}
	return r, known
}

// etcdRule says whether the drive keeps the rule that etcd gives, of each phase and
// place of the preset for it; "" elsewhere.
func (b *builder) etcdRule() string {
	if b.rec.Plan.Preset != "sync" {
		return ""
	}
	var kept, broken []string
	for i := range b.res.Phases {
		ph := &b.res.Phases[i]
		for k := range ph.Places {
			p := &ph.Places[k]
			if ph.Job.FDataSync == 0 || p.Lat.P99 == nil {
				continue
			}
			where := b.data(ph.Job.Name)
			if len(b.rec.Plan.Places) > 1 {
				where += " " + b.shortPlace(b.rec, p.Name)
			}
			where += " (" + b.duration(float64(*p.Lat.P99)) + ")"
			if *p.Lat.P99 < etcdLimitNS {
				kept = append(kept, where)
			} else {
				broken = append(broken, where)
			}
		}
	}
	list := func(words []string) string { return strings.Join(words, ", ") }
	switch {
	case len(kept) > 0 && len(broken) > 0:
		return fmt.Sprintf(b.latWords.both, list(kept), list(broken))
	case len(kept) > 0:
		return fmt.Sprintf(b.latWords.kept, list(kept))
	case len(broken) > 0:
		return fmt.Sprintf(b.latWords.broken, list(broken))
	}
	return ""
}
