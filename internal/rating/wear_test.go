package rating

import (
	"testing"

	"nativ/internal/record"
)

func TestWearAsks(t *testing.T) {
	turning, still := true, false
	known := record.Drive{Model: new("Samsung SSD 9100 PRO 2TB"), SizeBytes: 2000398934016, Rotational: &still} // 1200 TBW
	small := record.Drive{Model: new("Samsung SSD 9100 PRO 1TB"), SizeBytes: 1000204886016}                     // 600 TBW
	unknown := record.Drive{Model: new("ACME 1000"), SizeBytes: 1e12}
	for _, tt := range []struct {
		name   string
		target record.Target
		bytes  int64
		tbw    float64
		wears  bool
		ask    bool
	}{
		{"a terabyte of a large endurance", record.Target{Drives: []record.Drive{known}}, 1e12, 1200, true, false},
		{"more than a terabyte", record.Target{Drives: []record.Drive{known}}, 1e12 + 1, 1200, true, true},
		{"a thousandth of a small one", record.Target{Drives: []record.Drive{known, small}}, 600e9, 600, true, false},
		{"more than that", record.Target{Drives: []record.Drive{known, small}}, 600e9 + 1e6, 600, true, true},
		{"a drive that nobody knows", record.Target{Drives: []record.Drive{unknown}}, 999e9, 0, true, false},
		{"and much", record.Target{Drives: []record.Drive{unknown}}, 2e12, 0, true, true},
		{"a disk that turns", record.Target{Drives: []record.Drive{{Rotational: &turning}}}, 5e12, 0, false, true},
		{"memory", record.Target{Drives: []record.Drive{{Transport: "memory"}}}, 5e12, 0, false, true},
		{"a server", record.Target{Network: true, Drives: []record.Drive{unknown}}, 5e12, 0, false, true},
		{"a run that only reads", record.Target{Drives: []record.Drive{known}}, 0, 0, false, false},
	} {
		w, ok := WearOf(&tt.target, tt.bytes)
		if ok != tt.wears || w.Ask() != tt.ask || w.TBW != tt.tbw || (w.Share != nil) != (tt.tbw > 0) {
			t.Errorf("%s: %+v, wears %v, asks %v", tt.name, w, ok, w.Ask())
		}
	}
}
