package analysis

import (
	"strings"

	"nativ/internal/record"
)

// pveWarnings are those of a run in a container of Proxmox VE. Words are named with
// their codes.
func pveWarnings(rec *record.Record) []record.Warning {
	v := rec.Target.Volume
	if v == nil {
		return nil
	}
	var all []record.Warning
	add := func(code, key, word string) { all = append(all, record.Warning{Code: code, Words: words(key, word)}) }
	if v.SafeRemove {
		add(record.WarnSafeRemove, "storage", v.Storage)
	}
	if v.Separate {
		add(record.WarnSeparate, "storage", v.Storage)
	}
	if v.NotTrimmed != "" {
		add(record.WarnNotTrimmed, "reason", v.NotTrimmed)
	}
	for i := range rec.Places {
		c := rec.Places[i].Container
		if c == nil || c.PVE == nil {
			continue
		}
		if !c.PVE.CPUsPinned {
			all = append(all, record.Warning{Code: record.WarnCPUsMovable, Values: map[string]float64{"vmid": float64(c.PVE.VMID)}})
		}
		if len(c.PVE.Warned) > 0 {
			add(record.WarnPVEWarned, "text", strings.Join(c.PVE.Warned, "; "))
		}
	}
	return all
}
