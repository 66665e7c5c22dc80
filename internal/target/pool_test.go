package target

import (
	"errors"
	"strings"
	"testing"

	"nativ/internal/record"
)

// A pool of 100 GiB on a filesystem with room for anything.
func TestGatePool(t *testing.T) {
	const gib = 1 << 30
	pool := func(used, meta int64, state string) record.ThinPool {
		return record.ThinPool{Name: "pve-data", State: state, DataBytes: new(int64(100 * gib)), DataUsed: new(used * gib),
			MetadataBytes: new(int64(gib)), MetadataUsed: new(meta * gib / 100)}
	}
	for _, c := range []struct {
		name        string
		pools       []record.ThinPool
		want, least int64
		size        int64
		says        string
	}{
		{"room", []record.ThinPool{pool(20, 10, "rw")}, 16 * gib, gib, 16 * gib, ""},
		{"just room", []record.ThinPool{pool(64, 10, "rw")}, 16 * gib, 16 * gib, 16 * gib, ""},
		{"room for less", []record.ThinPool{pool(70, 10, "rw")}, 16 * gib, gib, 10 * gib, ""},
		{"above 80 % after it", []record.ThinPool{pool(70, 10, "rw")}, 16 * gib, 16 * gib, 0, "of which 70 % are taken: a file of 16 GiB (17.1 GB) leaves less than 20 % free"},
		{"above 80 %", []record.ThinPool{pool(81, 10, "rw")}, 16 * gib, gib, 0, "thin pool pve-data, of which 81 % are taken"},
		{"the second is full", []record.ThinPool{pool(10, 10, "rw"), pool(90, 10, "rw")}, gib, gib, 0, "of which 90 % are taken"},
		{"tables full", []record.ThinPool{pool(20, 85, "rw")}, gib, gib, 0, "whose tables are full to 85 %"},
		{"out of space", []record.ThinPool{pool(100, 10, "out_of_data_space")}, gib, gib, 0, "state out_of_data_space and takes no writes"},
		{"unknown", []record.ThinPool{{Name: "pve-data", Unknown: "x"}}, gib, gib, gib, ""},
	} {
		tg := &record.Target{Dir: "/mnt", FSType: "ext4", TotalBytes: 1000 * gib, FreeBytes: 900 * gib, Storage: &record.Storage{Pools: c.pools}}
		size, err := Gate(tg, c.want, c.least)
		var r *Refusal
		switch {
		case c.says == "" && (err != nil || size != c.size):
			t.Errorf("%s: %d, %v, want %d", c.name, size, err, c.size)
		case c.says != "" && (!errors.As(err, &r) || r.Code != RefusePool || !strings.Contains(err.Error(), c.says) || r.Next() == ""):
			t.Errorf("%s: %v does not say %q", c.name, err, c.says)
		}
	}
	// What is short on the filesystem is not put down to the pool.
	tg := &record.Target{Dir: "/mnt", FSType: "ext4", TotalBytes: 10 * gib, FreeBytes: gib, Storage: &record.Storage{Pools: []record.ThinPool{pool(20, 10, "rw")}}}
	var r *Refusal
	if _, err := Gate(tg, gib, gib); !errors.As(err, &r) || r.Code != RefuseSpace {
		t.Errorf("got %v", err)
	}
}
