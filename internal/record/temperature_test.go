package record

import "testing"

func TestTemperature(t *testing.T) {
	for _, tt := range []struct {
		in     map[string]int64
		sensor string
		want   int64
	}{
		{nil, "", 0},
		{map[string]int64{"nvme0 Composite": 38_850, "nvme0 Sensor 2": 80_850}, "nvme0 Composite", 38_850},
		{map[string]int64{"nvme0 Composite": -5_150}, "nvme0 Composite", -5_150},
		{map[string]int64{"nvme0 Composite": 38_850, "nvme1 Composite": 41_850, "sda drivetemp": 60_000}, "nvme1 Composite", 41_850},
		{map[string]int64{"sda drivetemp": 31_000, "sdb smartctl": 35_000}, "sdb smartctl", 35_000},
		{map[string]int64{"nvme0 Sensor 1": 50_850}, "nvme0 Sensor 1", 50_850},
	} {
		s := Sample{Temperatures: tt.in}
		sensor, mc, ok := s.Temperature()
		if sensor != tt.sensor || mc != tt.want || ok != (tt.sensor != "") {
			t.Errorf("%v: %s, %d, %v", tt.in, sensor, mc, ok)
		}
	}
}
