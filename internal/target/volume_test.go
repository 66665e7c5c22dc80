package target

import (
	"errors"
	"testing"

	"nativ/internal/record"
)

func TestGateStorage(t *testing.T) {
	const g = int64(1) << 30
	for _, tt := range []struct {
		name        string
		kind        string
		total, free int64
		wish        VolumeWish
		want, least int64
		size        int64 // 0: refused
	}{
		{"room", "lvmthin", 1000 * g, 900 * g, VolumeWish{1, g}, 16 * g, 16 * g, 16 * g},
		{"a pool keeps a fifth", "lvmthin", 100 * g, 25 * g, VolumeWish{1, g}, 16 * g, 16 * g, 0},
		{"less where nobody asked", "lvmthin", 100 * g, 25 * g, VolumeWish{1, g}, 16 * g, g, 13 * g / 4},
		{"a pool above 80 %", "lvmthin", 100 * g, 19 * g, VolumeWish{1, 0}, 1 << 20, 1 << 20, 0},
		{"two volumes", "lvmthin", 100 * g, 60 * g, VolumeWish{2, 0}, 20 * g, 20 * g, 0},
		{"thick", "lvm", 20 * g, 18 * g, VolumeWish{1, 0}, 16 * g, 16 * g, 16 * g},
		{"thick and too large", "lvm", 16 * g, 16 * g, VolumeWish{1, 0}, 16 * g, 16 * g, 0},
		{"a directory keeps a tenth", "dir", 1000 * g, 110 * g, VolumeWish{1, 0}, 16 * g, 16 * g, 0},
		{"a directory keeps 5 GiB", "dir", 20 * g, 7 * g, VolumeWish{1, 0}, 2 * g, 2 * g, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tgt := record.Target{TotalBytes: tt.total, FreeBytes: tt.free, Volume: &record.Volume{Storage: "s", StorageType: tt.kind}}
			size, err := GateStorage(&tgt, tt.wish, tt.want, tt.least)
			var r *Refusal
			if size != tt.size || (tt.size == 0) != (errors.As(err, &r) && r.Code == RefuseStorage) {
				t.Errorf("got %d, %v; want %d", size, err, tt.size)
			}
		})
	}
	if _, err := GateStorage(&record.Target{Volume: &record.Volume{}}, VolumeWish{1, 0}, 0, 0); err == nil {
		t.Error("a file of no bytes was granted")
	}
}
