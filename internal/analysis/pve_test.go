package analysis

import (
	"slices"
	"testing"

	"nativ/internal/record"
)

func TestPVEWarnings(t *testing.T) {
	place := func(c *record.PVEContainer) []record.Place {
		return []record.Place{{Name: record.PlaceHost}, {Name: record.PlacePVE, Container: &record.Container{PVE: c}}}
	}
	for _, tt := range []struct {
		name   string
		volume *record.Volume
		places []record.Place
		want   []string
	}{
		{"none", nil, place(&record.PVEContainer{}), nil},
		{"pinned", &record.Volume{}, place(&record.PVEContainer{CPUsPinned: true}), nil},
		{"its own CPUs", &record.Volume{}, place(&record.PVEContainer{}), []string{record.WarnCPUsMovable}},
		{"warned", &record.Volume{}, place(&record.PVEContainer{CPUsPinned: true, Warned: []string{"a"}}), []string{record.WarnPVEWarned}},
		{"volume", &record.Volume{SafeRemove: true, Separate: true, NotTrimmed: "x"}, nil,
			[]string{record.WarnSafeRemove, record.WarnSeparate, record.WarnNotTrimmed}},
	} {
		var got []string
		for _, w := range pveWarnings(&record.Record{Target: record.Target{Volume: tt.volume}, Places: tt.places}) {
			got = append(got, w.Code)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
