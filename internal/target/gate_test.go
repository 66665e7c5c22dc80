package target

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nativ/internal/record"
)

func TestGate(t *testing.T) {
	const g = 1 << 30
	for _, tt := range []struct {
		name        string
		target      record.Target
		want, least int64
		size        int64
		code        string
	}{
		{"room", record.Target{FSType: "ext4", TotalBytes: 1000 * g, FreeBytes: 500 * g}, 16 * g, g, 16 * g, ""},
		{"10 % stay", record.Target{FSType: "ext4", TotalBytes: 1000 * g, FreeBytes: 108 * g}, 16 * g, g, 8 * g, ""},
		{"5 GiB stay", record.Target{FSType: "ext4", TotalBytes: 20 * g, FreeBytes: 10 * g}, 16 * g, g, 5 * g, ""},
		{"exactly", record.Target{FSType: "ext4", TotalBytes: 20 * g, FreeBytes: 21 * g}, 16 * g, 16 * g, 16 * g, ""},
		{"one byte short", record.Target{FSType: "ext4", TotalBytes: 20 * g, FreeBytes: 21*g - 1}, 16 * g, g, 16*g - 256<<20, ""},
		{"asked for and short", record.Target{FSType: "ext4", TotalBytes: 20 * g, FreeBytes: 21*g - 1}, 16 * g, 16 * g, 0, RefuseSpace},
		{"least", record.Target{FSType: "xfs", TotalBytes: 20 * g, FreeBytes: 6 * g}, 16 * g, g, g, ""},
		{"less than least", record.Target{FSType: "xfs", TotalBytes: 20 * g, FreeBytes: 6*g - 1}, 16 * g, g, 0, RefuseSpace},
		{"full", record.Target{FSType: "xfs", TotalBytes: 20 * g}, 16 * g, g, 0, RefuseSpace},
		{"odd size", record.Target{FSType: "ext4", TotalBytes: 1000 * g, FreeBytes: 500 * g}, 12345, 12345, 12345, ""},
		{"network", record.Target{FSType: "nfs4", Network: true, TotalBytes: 1000 * g, FreeBytes: 500 * g}, g, g, g, ""},
		{"tmpfs", record.Target{FSType: "tmpfs", TotalBytes: 1000 * g, FreeBytes: 1000 * g}, g, g, 0, RefuseMemory},
		{"ramfs", record.Target{FSType: "ramfs"}, g, g, 0, RefuseMemory},
		{"overlay", record.Target{FSType: "overlay", TotalBytes: 1000 * g, FreeBytes: 1000 * g}, g, g, 0, RefuseOverlay},
		{"fuse-overlayfs", record.Target{FSType: "fuse.fuse-overlayfs"}, g, g, 0, RefuseOverlay},
		{"proc", record.Target{FSType: "proc"}, g, g, 0, RefusePseudo},
		{"read-only", record.Target{FSType: "ext4", Options: "relatime,ro", TotalBytes: 1000 * g, FreeBytes: 500 * g}, g, g, 0, RefuseReadOnly},
		{"errors=remount-ro", record.Target{FSType: "ext4", Options: "rw,errors=remount-ro", TotalBytes: 1000 * g, FreeBytes: 500 * g}, g, g, g, ""},
	} {
		tt.target.Dir = "/mnt"
		size, err := Gate(&tt.target, tt.want, tt.least)
		var r *Refusal
		switch {
		case tt.code == "" && (err != nil || size != tt.size):
			t.Errorf("%s: got %d, %v; want %d", tt.name, size, err, tt.size)
		case tt.code != "" && (!errors.As(err, &r) || r.Code != tt.code || size != 0):
			t.Errorf("%s: got %d, %v; want refusal %q", tt.name, size, err, tt.code)
		}
		if r != nil && (r.Next() == "" || !strings.Contains(err.Error(), "/mnt")) {
			t.Errorf("%s: %v does not say where or what next", tt.name, err)
		}
	}
	for _, tt := range [][2]int64{{0, 0}, {1, 2}, {-1, -1}, {1, 0}} {
		if _, err := Gate(&record.Target{FSType: "ext4", FreeBytes: 1 << 40}, tt[0], tt[1]); err == nil {
			t.Errorf("Gate takes want %d, least %d", tt[0], tt[1])
		}
	}
}

// Whatever it is asked, a file that the gate lets through leaves the space free
// that it promises, and is as large as it can be in its steps.
func TestGateKeepsSpaceFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tg := record.Target{FSType: "ext4", TotalBytes: rapid.Int64Range(0, 1<<50).Draw(t, "total")}
		tg.FreeBytes = rapid.Int64Range(0, tg.TotalBytes).Draw(t, "free")
		want := rapid.Int64Range(1, 1<<45).Draw(t, "want")
		least := rapid.Int64Range(1, want).Draw(t, "least")
		room := tg.FreeBytes - max(tg.TotalBytes/10, 5<<30)
		size, err := Gate(&tg, want, least)
		switch {
		case err != nil && least <= room/(256<<20)*(256<<20):
			t.Fatalf("refused though there is room for %d: %v", room, err)
		case err == nil && (size < least || size > want || size > room+100):
			t.Fatalf("size %d is not between %d and %d, or more than the room %d", size, least, want, room)
		case err == nil && size < want && size+256<<20 <= room:
			t.Fatalf("size %d, though %d would fit", size, room)
		}
	})
}

func TestFileNames(t *testing.T) {
	for name, want := range map[string]bool{
		fileName(testNonce): true, "nativ-.dat": false, "nativ-0123.dat": false, "nativ-" + strings.Repeat("A", 32) + ".dat": false,
		"nativ-" + strings.Repeat("a", 32): false, strings.Repeat("a", 32) + ".dat": false, "nativ-../../../../../../../../../../../a.dat": false,
	} {
		if got := isFileName(name); got != want {
			t.Errorf("isFileName(%q) = %v", name, got)
		}
	}
}

const testNonce = "0123456789abcdef0123456789abcdef"
