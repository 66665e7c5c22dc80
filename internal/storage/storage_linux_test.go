package storage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nativ/internal/record"
)

// fake puts programs into an otherwise empty PATH: there is no ZFS to test with
// where its module is not.
func fake(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func onZFS() *record.Target {
	return &record.Target{FSType: "zfs", Storage: &record.Storage{ZFS: &record.ZFS{Name: "rpool/data/subvol-100-disk-0"}}}
}

func TestDescribe(t *testing.T) {
	fake(t, map[string]string{
		"zfs":   `[ "$*" = "get -Hp -o property,value all rpool/data/subvol-100-disk-0" ] && printf 'recordsize\t131072\nprimarycache\tmetadata\n'`,
		"zpool": `[ "$*" = "list -vHPL rpool" ] && printf 'rpool\t1\n\t/dev/no-such-device\t1\n'`,
	})
	tg := onZFS()
	Describe(t.Context(), tg)
	if z := tg.Storage.ZFS; z.RecordBytes == nil || *z.RecordBytes != 131072 || z.PrimaryCache != "metadata" || z.Unknown != "" || len(tg.Stack) != 0 {
		t.Errorf("got %+v, stack %v", z, tg.Stack)
	}
}

// The devices of the pool become stack and drives: here a block device that is
// there on this machine.
func TestDescribeDevices(t *testing.T) {
	entries, err := os.ReadDir("/sys/class/block")
	if err != nil {
		t.Skip(err)
	}
	for _, e := range entries {
		if fi, err := os.Stat("/dev/" + e.Name()); err != nil || fi.Mode()&os.ModeDevice == 0 {
			continue
		}
		fake(t, map[string]string{"zfs": "exit 0", "zpool": `printf 'rpool\t1\n\t/dev/` + e.Name() + `\t1\n'`})
		tg := onZFS()
		tg.FSType, tg.Stack = "ext4", []record.Layer{{Name: "zd0", Kind: "zvol"}}
		Describe(t.Context(), tg)
		if len(tg.Stack) < 2 || tg.Stack[1].Name != e.Name() || len(tg.Stack[0].Below) != 1 || tg.Stack[0].Below[0] != e.Name() {
			t.Errorf("stack is %+v", tg.Stack)
		}
		return
	}
	t.Skip("no block device here")
}

func TestDescribeFails(t *testing.T) {
	for _, c := range []struct {
		scripts map[string]string
		why     string
	}{
		{nil, "zfs is not installed"},
		{map[string]string{"zfs": "echo \"cannot open 'rpool': dataset does not exist\" >&2; exit 1"}, "zfs get: cannot open 'rpool': dataset does not exist"},
		{map[string]string{"zfs": "exit 0"}, "zpool is not installed"},
	} {
		fake(t, c.scripts)
		tg := onZFS()
		Describe(t.Context(), tg)
		if got := tg.Storage.ZFS.Unknown; !strings.Contains(got, c.why) {
			t.Errorf("got %q, want %q", got, c.why)
		}
	}
	tg := &record.Target{FSType: "ext4"}
	Describe(t.Context(), tg)
	if tg.Storage != nil {
		t.Error("something was added to what is not on ZFS")
	}
}
