package analysis

import "nativ/internal/record"

// deviceWarnings are those of a run on a device itself. Words and values are
// named with their codes.
func deviceWarnings(rec *record.Record) []record.Warning {
	d := rec.Target.Device
	if d == nil {
		return nil
	}
	var all []record.Warning
	if used := rec.Plan.FileSize; used > 0 && used < d.SizeBytes/1_000_000*1_000_000 {
		all = append(all, record.Warning{Code: record.WarnDeviceRegion, Values: map[string]float64{
			"size_bytes": float64(used), "device_bytes": float64(d.SizeBytes)}})
	}
	switch {
	case d.Consent != "" && rec.Prefill == nil && len(rec.Rounds) == 0: // not yet
	case d.Consent != "":
		all = append(all, record.Warning{Code: record.WarnDeviceOverwritten, Words: words("device", rec.Target.Dir, "serial", d.Consent)})
	case d.Sampled == nil || d.Blank == nil:
		all = append(all, record.Warning{Code: record.WarnBlankUnknown, Words: words("device", rec.Target.Dir)})
	case *d.Blank > 0:
		all = append(all, record.Warning{Code: record.WarnBlank, Words: words("device", rec.Target.Dir), Values: map[string]float64{
			"blank": float64(*d.Blank), "sampled": float64(*d.Sampled)}})
	}
	return all
}
