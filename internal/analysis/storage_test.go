package analysis

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/job"
	"nativ/internal/record"
)

func TestStorageWarnings(t *testing.T) {
	const gib = 1 << 30
	phases := []job.Phase{
		{Name: "r4k", Mode: job.RandRead, BlockSize: 4096}, {Name: "w4k", Mode: job.RandWrite, BlockSize: 4096}, {Name: "r128k", Mode: job.Read, BlockSize: 128 << 10},
	}
	pool := record.ThinPool{Device: "dm-5", Name: "pve-data", ChunkBytes: new(int64(64 << 10)), Zeroing: new(true), DataBytes: new(int64(100)), DataUsed: new(int64(25))}
	for _, c := range []struct {
		name string
		rec  record.Record
		want []record.Warning
	}{
		{"nothing", record.Record{}, nil},
		{"thin, planned", record.Record{Target: record.Target{Storage: &record.Storage{Pools: []record.ThinPool{pool}}}},
			[]record.Warning{{Code: record.WarnThinPool, Words: words("pool", "pve-data", "zeroing", "yes"), Values: map[string]float64{"chunk_bytes": 65536, "taken": 0.25}}}},
		{"thin, filled", record.Record{Target: record.Target{Storage: &record.Storage{Pools: []record.ThinPool{pool}}}, Prefill: &record.Prefill{Bytes: gib, ElapsedNS: 1e9}},
			[]record.Warning{{Code: record.WarnThinPool, Words: words("pool", "pve-data", "zeroing", "yes"), Values: map[string]float64{"chunk_bytes": 65536, "taken": 0.25, "first_bps": gib}}}},
		{"thin, unknown", record.Record{Target: record.Target{Storage: &record.Storage{Pools: []record.ThinPool{{Name: "p", Unknown: "why"}}}}},
			[]record.Warning{{Code: record.WarnPoolUnknown, Words: words("pool", "p", "reason", "why")}}},
		{"arrays", record.Record{Target: record.Target{Storage: &record.Storage{Arrays: []record.Array{
			{Device: "md0", Action: "resync", Done: new(0.25), Degraded: new(int64(0))}, {Device: "md1", Action: "idle", Degraded: new(int64(1))}, {Device: "md2", Action: "idle", Degraded: new(int64(0))}}}}},
			[]record.Warning{{Code: record.WarnRebuilding, Words: words("array", "md0", "action", "resync"), Values: map[string]float64{"done": 0.25}},
				{Code: record.WarnDegraded, Words: words("array", "md1"), Values: map[string]float64{"missing": 1}}}},
		{"ext4 just made", record.Record{Target: record.Target{Storage: &record.Storage{LazyInit: new(true)}}}, []record.Warning{{Code: record.WarnLazyInit}}},
		{"ext4", record.Record{Target: record.Target{Storage: &record.Storage{LazyInit: new(false)}}}, nil},
		{"btrfs, planned", record.Record{Target: record.Target{FSType: "btrfs", Storage: &record.Storage{Btrfs: &record.Btrfs{Checksums: true, Buffered: true}}}}, []record.Warning{{Code: record.WarnInPlace}}},
		{"btrfs that would not", record.Record{Target: record.Target{FSType: "btrfs", File: &record.File{}, Storage: &record.Storage{Btrfs: &record.Btrfs{Checksums: true, Buffered: true}}}},
			[]record.Warning{{Code: record.WarnBuffered, Words: words("fstype", "btrfs")}}},
		{"btrfs with the user's jobs", record.Record{Jobs: &record.Jobs{}, Target: record.Target{FSType: "btrfs", Storage: &record.Storage{Btrfs: &record.Btrfs{Checksums: true, Buffered: true}}}},
			[]record.Warning{{Code: record.WarnBuffered, Words: words("fstype", "btrfs")}}},
		{"btrfs before 6.14", record.Record{Target: record.Target{FSType: "btrfs", Storage: &record.Storage{Btrfs: &record.Btrfs{Checksums: true}}}}, nil},
		{"FUSE", record.Record{Target: record.Target{FSType: "fuse.mergerfs", Storage: &record.Storage{Served: record.ServedByProgram}}},
			[]record.Warning{{Code: record.WarnProgram, Words: words("fstype", "fuse.mergerfs")}}},
		{"ZFS before 2.3, a small file", record.Record{Plan: record.Plan{FileSize: 16 * gib, Phases: phases, Places: []string{"host"}},
			Target: record.Target{Storage: &record.Storage{ZFS: &record.ZFS{Name: "rpool/d", Version: "2.2.7", Direct: "", PrimaryCache: "all", ARCMax: new(int64(8 * gib)), RecordBytes: new(int64(128 << 10))}}}},
			[]record.Warning{{Code: record.WarnARC, Words: words("name", "rpool/d"), Values: map[string]float64{"arc_bytes": 8 * gib, "want_bytes": 32 * gib}},
				{Code: record.WarnRecord, Phase: "r4k", Place: "host", Words: words("mode", "read"), Values: map[string]float64{"record_bytes": 128 << 10}},
				{Code: record.WarnRecord, Phase: "w4k", Place: "host", Words: words("mode", "write"), Values: map[string]float64{"record_bytes": 128 << 10}}}},
		{"ZFS, a file of four times the cache", record.Record{Plan: record.Plan{FileSize: 32 * gib}, Target: record.Target{Storage: &record.Storage{ZFS: &record.ZFS{ARCMax: new(int64(8 * gib))}}}}, nil},
		{"ZFS that caches metadata alone", record.Record{Plan: record.Plan{FileSize: gib}, Target: record.Target{Storage: &record.Storage{ZFS: &record.ZFS{PrimaryCache: "metadata", ARCMax: new(int64(8 * gib))}}}}, nil},
		{"ZFS, unknown", record.Record{Target: record.Target{Storage: &record.Storage{ZFS: &record.ZFS{Name: "r", Unknown: "zfs is not installed"}}}},
			[]record.Warning{{Code: record.WarnZFSUnknown, Words: words("name", "r", "reason", "zfs is not installed")}}},
	} {
		if d := cmp.Diff(c.want, storageWarnings(&c.rec)); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

// Only a dataset of OpenZFS 2.3 gives direct I/O past its cache.
func TestZFSCaches(t *testing.T) {
	for _, c := range []struct {
		z    record.ZFS
		want bool
	}{
		{record.ZFS{Version: "2.3.3-pve1", Direct: "standard", PrimaryCache: "all"}, false},
		{record.ZFS{Version: "2.4.0-1", Direct: "always"}, false},
		{record.ZFS{Version: "2.3.3-pve1", Direct: "disabled"}, true},
		{record.ZFS{Version: "2.3.3-pve1", Direct: "standard", Volume: true}, true},
		{record.ZFS{Version: "2.2.7", Direct: "standard"}, true},
		{record.ZFS{}, true},
		{record.ZFS{PrimaryCache: "none"}, false},
	} {
		if got := zfsCaches(&c.z); got != c.want {
			t.Errorf("%+v: %v", c.z, got)
		}
	}
}

// What is built over the drive qualifies the verdict, whatever was measured.
func TestReserveStorage(t *testing.T) {
	rec := &record.Record{Complete: true, Target: record.Target{Stack: []record.Layer{{Name: "loop0", Kind: "loop", DirectIO: new(false)}}}}
	if v := Compute(rec).Verdict; !slices.Contains(v.Reserves, ReserveStorage) {
		t.Errorf("reserves %v", v.Reserves)
	}
	rec.Target.Stack[0].DirectIO = new(true)
	if v := Compute(rec).Verdict; slices.Contains(v.Reserves, ReserveStorage) {
		t.Errorf("with direct I/O: reserves %v", v.Reserves)
	}
}

// Device bytes over application bytes decide, for writes as for reads.
func TestCacheTookWrites(t *testing.T) {
	ph := Phase{Job: job.Phase{Name: "w", Mode: job.RandWrite}}
	for ratio, want := range map[float64]bool{0.5: true, 0.95: false, 1.1: false} {
		p := Place{Name: "host", DeviceRatio: &ratio, Passes: 1, Planned: 1}
		if got := cacheAnswered(&ph.Job, &p); got != want {
			t.Errorf("ratio %v: %v", ratio, got)
		}
		ws := placeWarnings(&record.Record{}, &ph.Job, &p)
		if got := slices.ContainsFunc(ws, func(w record.Warning) bool {
			return w.Code == record.WarnCacheAnswered && w.Words["mode"] == "write"
		}); got != want {
			t.Errorf("ratio %v: warnings %+v", ratio, ws)
		}
	}
}

func TestEffects(t *testing.T) {
	tg := &record.Target{Dir: "/mnt", FSType: "ext4",
		Stack: []record.Layer{
			{Name: "dm-6", Kind: "lvm"}, {Name: "dm-5", Kind: "lvm"}, {Name: "md0", Kind: "md"}, {Name: "dm-0", Kind: "crypt"},
			{Name: "loop0", Kind: "loop", DirectIO: new(true)}, {Name: "nvme0n1", Kind: "disk"}, {Name: "vda", Kind: "disk"},
		},
		Drives: []record.Drive{{Name: "nvme0n1", Transport: "nvme", Controller: new("nvme0")}, {Name: "vda", Transport: "virtio"}},
		Storage: &record.Storage{Pools: []record.ThinPool{{Device: "dm-5", Name: "p"}}, Arrays: []record.Array{{Device: "md0", Level: "raid1"}},
			Crypts: []record.Crypt{{Device: "dm-0", Format: "LUKS2"}}},
	}
	var got []string
	for _, e := range Effects(tg) {
		got = append(got, e.Layer+" "+e.Code)
	}
	want := []string{"ext4 direct", "dm-6 volume", "dm-5 thin-pool", "md0 array", "dm-0 crypt", "loop0 loop-direct", "nvme0n1 drive", "vda virtual"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if all := Effects(&record.Target{Device: &record.BlockDevice{}, Stack: []record.Layer{{Name: "sda1", Kind: "partition"}}}); len(all) != 1 || all[0].Code != record.EffectPartition {
		t.Errorf("a device is no filesystem: %+v", all)
	}
}
