package target

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

// Lines as Linux 6.1 printed them for LVM's pools (see test/vm for the same live),
// and as dm-thin.c has them for pools that are broken.
func TestParsePool(t *testing.T) {
	for _, c := range []struct {
		name, table, status string
		want                record.ThinPool
	}{
		{"LVM's default", "253:0 253:1 128 0 0", "1 10/1024 2048/8192 - rw discard_passdown queue_if_no_space - 256",
			record.ThinPool{ChunkBytes: new(int64(64 << 10)), Zeroing: new(true), Discards: new(true), Passdown: new(true),
				DataBytes: new(int64(512 << 20)), DataUsed: new(int64(128 << 20)), MetadataBytes: new(int64(4 << 20)), MetadataUsed: new(int64(40960)), State: "rw"}},
		{"without zeroing and passdown", "253:0 253:1 1024 0 2 skip_block_zeroing no_discard_passdown", "1 1/2 0/4 - rw no_discard_passdown queue_if_no_space - 256",
			record.ThinPool{ChunkBytes: new(int64(512 << 10)), Zeroing: new(false), Discards: new(true), Passdown: new(false),
				DataBytes: new(int64(2 << 20)), DataUsed: new(int64(0)), MetadataBytes: new(int64(8192)), MetadataUsed: new(int64(4096)), State: "rw"}},
		{"the drive takes none", "253:0 253:1 128 0 0", "1 1/2 4/4 - out_of_data_space ignore_discard error_if_no_space needs_check 256",
			record.ThinPool{ChunkBytes: new(int64(64 << 10)), Zeroing: new(true), Discards: new(false), Passdown: new(false),
				DataBytes: new(int64(256 << 10)), DataUsed: new(int64(256 << 10)), MetadataBytes: new(int64(8192)), MetadataUsed: new(int64(4096)), State: "out_of_data_space"}},
		{"broken", "253:0 253:1 128 0 0", "Fail",
			record.ThinPool{ChunkBytes: new(int64(64 << 10)), Zeroing: new(true), Discards: new(true), Passdown: new(true), State: "fail"}},
		{"more used than there is", "253:0 253:1 128 0 0", "1 3/2 5/4 - rw discard_passdown queue_if_no_space - 256",
			record.ThinPool{ChunkBytes: new(int64(64 << 10)), Zeroing: new(true), Discards: new(true), Passdown: new(true), State: "rw"}},
		{"nothing", "", "", record.ThinPool{}},
	} {
		var got record.ThinPool
		parsePoolTable(&got, c.table)
		parsePoolStatus(&got, c.status)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

func TestParseRAIDStatus(t *testing.T) {
	for _, c := range []struct {
		params string
		want   record.Array
		ok     bool
	}{
		{"raid1 2 AA 131072/131072 idle 0 0 -", record.Array{Level: "raid1", Devices: new(int64(2)), Degraded: new(int64(0)), Action: "idle"}, true},
		{"raid1 2 aa 32768/131072 resync 0 0 -", record.Array{Level: "raid1", Devices: new(int64(2)), Degraded: new(int64(0)), Action: "resync", Done: new(0.25)}, true},
		{"raid5_ls 3 ADA 1/2 idle 0 0 -", record.Array{Level: "raid5_ls", Devices: new(int64(3)), Degraded: new(int64(1)), Action: "idle"}, true},
		{"raid1 2 A 1/2 idle", record.Array{}, false},
		{"raid1 2", record.Array{}, false},
	} {
		got, ok := parseRAIDStatus(c.params)
		if d := cmp.Diff(c.want, got); ok != c.ok || ok && d != "" {
			t.Errorf("%q: %v %s", c.params, ok, d)
		}
	}
}

const arcstats = `9 1 0x01 147 39984 5150412870 1104428482543
name                            type data
hits                            4    83028122
c                               4    4115369984
c_min                           4    514421248
c_max                           4    8230739968
size                            4    4115401256
memory_direct_count             4    0
`

func TestParseARC(t *testing.T) {
	size, most := parseARC(strings.NewReader(arcstats))
	if size == nil || most == nil || *size != 4115401256 || *most != 8230739968 {
		t.Errorf("size %v, most %v", size, most)
	}
	if size, most := parseARC(strings.NewReader("name type data\nsize 4 -1\n")); size != nil || most != nil {
		t.Errorf("size %v, most %v of nothing", size, most)
	}
}

func TestParseRelease(t *testing.T) {
	for release, want := range map[string][2]int{
		"6.14.8-2-pve": {6, 14}, "6.1.0-40-amd64": {6, 1}, "6.18.44": {6, 18}, "7.0-rc1": {7, 0}, "6.": {0, 0}, "": {0, 0}, "x.y": {0, 0},
	} {
		if a, b := parseRelease(release); [2]int{a, b} != want {
			t.Errorf("%q is %d.%d, want %v", release, a, b, want)
		}
	}
}

func TestServedBy(t *testing.T) {
	for _, c := range []struct {
		t    record.Target
		want string
	}{
		{record.Target{FSType: "nfs4", Network: true}, record.ServedByServer},
		{record.Target{FSType: "cifs", Network: true}, record.ServedByServer},
		{record.Target{FSType: "ceph", Network: true}, record.ServedByPool},
		{record.Target{FSType: "fuse.glusterfs", Network: true}, record.ServedByPool},
		{record.Target{FSType: "ext4", Network: true, Drives: []record.Drive{{Transport: "rbd"}}}, record.ServedByPool},
		{record.Target{FSType: "ext4", Network: true, Drives: []record.Drive{{Transport: "iscsi"}}}, record.ServedByServer},
		{record.Target{FSType: "virtiofs", Network: true}, record.ServedByHost},
		{record.Target{FSType: "fuse.sshfs", Network: true}, record.ServedByServer},
		{record.Target{FSType: "fuse.mergerfs"}, record.ServedByProgram},
		{record.Target{FSType: "fuseblk"}, record.ServedByProgram},
		{record.Target{FSType: "ext4", Drives: []record.Drive{{Transport: "nvme"}}}, ""},
	} {
		if got := servedBy(&c.t); got != c.want {
			t.Errorf("%s is served by %q, want %q", c.t.FSType, got, c.want)
		}
	}
}

// Whatever the kernel's lines say, what is read of them makes sense.
func FuzzParseStorage(f *testing.F) {
	f.Add("253:0 253:1 128 0 1 skip_block_zeroing", "1 10/1024 2048/8192 - rw discard_passdown queue_if_no_space - 256")
	f.Add("raid1 2 aa 32768/131072 resync 0 0 -", "Fail")
	f.Add(arcstats, "6.14.8-2-pve")
	f.Add("12 / 24", "9223372036854775807/9223372036854775807")
	f.Fuzz(func(t *testing.T, a, b string) {
		var p record.ThinPool
		parsePoolTable(&p, a)
		parsePoolStatus(&p, b)
		for _, of := range [][2]*int64{{p.DataUsed, p.DataBytes}, {p.MetadataUsed, p.MetadataBytes}} {
			if (of[0] == nil) != (of[1] == nil) || of[0] != nil && (*of[0] < 0 || *of[1] < *of[0]) {
				t.Errorf("used %v of %v", of[0], of[1])
			}
		}
		if p.ChunkBytes != nil && *p.ChunkBytes <= 0 {
			t.Errorf("a chunk of %d bytes", *p.ChunkBytes)
		}
		if r, ok := parseRAIDStatus(a); ok && (*r.Devices < 1 || *r.Degraded > *r.Devices || r.Done != nil && (*r.Done < 0 || *r.Done > 1)) {
			t.Errorf("array %+v", r)
		}
		if size, most := parseARC(strings.NewReader(a)); size != nil && *size < 0 || most != nil && *most < 0 {
			t.Errorf("cache of %v, at most %v", size, most)
		}
		if major, minor := parseRelease(b); major < 0 || minor < 0 {
			t.Errorf("release %d.%d", major, minor)
		}
	})
}
