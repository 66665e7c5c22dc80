package storage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

const properties = "type\tfilesystem\nused\t98304\nrecordsize\t131072\nmountpoint\t/rpool/data/subvol-100-disk-0\n" +
	"compression\ton\nxattr\tsa\nprimarycache\tall\nsync\tstandard\nlogbias\tlatency\ndirect\tstandard\nmlslabel\tnone\nvolsize\t-\norg:note\ta\tb\n"

// As in zpool-list(8), in scripted mode with full paths.
const devices = "rpool\t1992864825344\t21474836480\t1971389988864\t-\t-\t0\t1\t1.00\tONLINE\t-\n" +
	"\tmirror-0\t1992864825344\t21474836480\t1971389988864\t-\t-\t0\t1.07\t-\tONLINE\n" +
	"\t/dev/nvme0n1p3\t1999000000000\t-\t-\t-\t-\t-\t-\t-\tONLINE\n" +
	"\t/dev/nvme1n1p3\t1999000000000\t-\t-\t-\t-\t-\t-\t-\tONLINE\n" +
	"logs\t-\t-\t-\t-\t-\t-\t-\t-\t-\n\t/dev/sda1\t8\t0\t8\t-\t-\t0\t0.00\t-\tONLINE\n" +
	"cache\t-\t-\t-\t-\t-\t-\t-\t-\t-\n\t/dev/sdb1\t8\t0\t8\t-\t-\t0\t0.00\t-\tONLINE\n" +
	"spare\t-\t-\t-\t-\t-\t-\t-\t-\t-\n\t/dev/sdc\t-\t-\t-\t-\t-\t-\t-\t-\tAVAIL\n"

func TestParseProperties(t *testing.T) {
	var got record.ZFS
	parseProperties(&got, properties)
	want := record.ZFS{RecordBytes: new(int64(131072)), Compression: "on", PrimaryCache: "all", Direct: "standard", Sync: "standard", LogBias: "latency"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = record.ZFS{}
	parseProperties(&got, "volblocksize\t16384\nrecordsize\t-\ndirect\t-\n")
	if d := cmp.Diff(record.ZFS{RecordBytes: new(int64(16384))}, got); d != "" {
		t.Error(d)
	}
}

func TestParseDevices(t *testing.T) {
	if got, want := parseDevices(devices), []string{"/dev/nvme0n1p3", "/dev/nvme1n1p3", "/dev/sda1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := parseDevices("tank\t1\n\t/srv/file.img\t1\n"); got != nil {
		t.Errorf("a file is no block device: %v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(properties)
	f.Add(devices)
	f.Add("recordsize\t-1\n\t/dev/\n/dev/x /dev/x")
	f.Fuzz(func(t *testing.T, text string) {
		var z record.ZFS
		parseProperties(&z, text)
		if z.RecordBytes != nil && *z.RecordBytes <= 0 {
			t.Errorf("records of %d bytes", *z.RecordBytes)
		}
		for _, n := range parseDevices(text) {
			if !strings.HasPrefix(n, "/dev/") || strings.ContainsAny(n, " \t\n") {
				t.Errorf("no path of a device: %q", n)
			}
		}
	})
}
