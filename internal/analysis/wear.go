package analysis

import "nativ/internal/record"

// counted sets what the health log of the one drive counted over the run.
func (w *Written) counted(rec *record.Record) {
	if len(rec.Target.Drives) != 1 || rec.Target.Drives[0].Controller == nil || rec.Idle == nil || len(rec.Resumed) > 0 {
		return
	}
	name := *rec.Target.Drives[0].Controller
	before, ok := rec.Idle.Health[name]
	after, last := lastHealth(rec, name)
	if !ok || !last {
		return
	}
	w.UsedBefore, w.UsedAfter = new(before.PercentageUsed), new(after.PercentageUsed)
	if after.WrittenBytes >= before.WrittenBytes {
		w.Counted = new(after.WrittenBytes - before.WrittenBytes)
	}
}

// lastHealth is the health log of a controller after the last pass; false where it
// was not read then. An earlier one would lack bytes of the run's own.
func lastHealth(rec *record.Record, controller string) (record.Health, bool) {
	if len(rec.Rounds) == 0 {
		return record.Health{}, false
	}
	passes := rec.Rounds[len(rec.Rounds)-1].Passes
	if len(passes) == 0 || passes[len(passes)-1].Watch.After == nil {
		return record.Health{}, false
	}
	h, ok := passes[len(passes)-1].Watch.After.Health[controller]
	return h, ok
}

// leastWritten is the smallest limit of bytes of an ordinary pass that writes; 0
// where none does.
func leastWritten(p *record.Plan) (least int64) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.MaxBytes > 0 && s.Role != record.RolePilot && (least == 0 || s.MaxBytes < least) {
			least = s.MaxBytes
		}
	}
	return least
}
