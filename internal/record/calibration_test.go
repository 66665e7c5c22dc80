package record

import (
	"math"
	"testing"
)

func TestCalibrationLimit(t *testing.T) {
	// A call costs 300 ns and each no-op in it 50.
	c := &Calibration{Batch: 32, NopsPerSec: 32e9 / (300 + 32*50), SinglesPerSec: 1e9 / 350}
	for _, tt := range []struct {
		depth, jobs, cpus int
		want              float64
	}{
		{1, 1, 8, 1e9 / 350},
		{4, 1, 8, 4e9 / 500},
		{32, 1, 8, 32e9 / 1900},
		{256, 1, 8, 32e9 / 1900}, // nothing was measured beyond the batch
		{1, 4, 8, 4e9 / 350},
		{1, 8, 2, 2e9 / 350},
		{1, 1, 0, 0}, // the place's CPUs are not known
		{0, 1, 1, 0},
	} {
		if got := c.Limit(tt.depth, tt.jobs, tt.cpus); math.Abs(got-tt.want) > 1e-6*tt.want {
			t.Errorf("depth %d, %d jobs, %d CPUs: got %g, want %g", tt.depth, tt.jobs, tt.cpus, got, tt.want)
		}
	}
	for _, c := range []*Calibration{
		nil, {}, {Batch: 32, NopsPerSec: 1e7}, {Batch: 32, SinglesPerSec: 1e6},
		{Batch: 32, NopsPerSec: 1e9, SinglesPerSec: 1e6}, // a batch in less time than one
	} {
		if got := c.Limit(32, 1, 1); got != 0 {
			t.Errorf("%+v: got %g, want unknown", c, got)
		}
	}
}
