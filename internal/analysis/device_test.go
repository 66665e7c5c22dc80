package analysis

import (
	"slices"
	"testing"

	"nativ/internal/record"
)

func TestDeviceWarnings(t *testing.T) {
	const size = 2_000_398_934_016
	n := func(v int64) *int64 { return &v }
	for _, tt := range []struct {
		name string
		d    *record.BlockDevice
		used int64
		ran  bool
		want []string
	}{
		{"a file", nil, 1 << 30, true, nil},
		{"all of it, written", &record.BlockDevice{Sampled: n(256), Blank: n(0)}, size >> 20 << 20, false, nil},
		{"a part", &record.BlockDevice{Sampled: n(256), Blank: n(0)}, 16 << 30, false, []string{record.WarnDeviceRegion}},
		{"never written", &record.BlockDevice{Sampled: n(256), Blank: n(1)}, size, false, []string{record.WarnBlank}},
		{"nobody knows", &record.BlockDevice{}, size, false, []string{record.WarnBlankUnknown}},
		{"before it is destroyed", &record.BlockDevice{Consent: "S1"}, size, false, nil},
		{"after it was destroyed", &record.BlockDevice{Consent: "S1"}, size, true, []string{record.WarnDeviceOverwritten}},
	} {
		rec := &record.Record{Target: record.Target{Device: tt.d}, Plan: record.Plan{FileSize: tt.used}}
		if tt.d != nil {
			tt.d.SizeBytes = size
		}
		if tt.ran {
			rec.Prefill = &record.Prefill{}
		}
		var got []string
		for _, w := range deviceWarnings(rec) {
			got = append(got, w.Code)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
