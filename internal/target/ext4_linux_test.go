package target

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What mkfs leaves for later, of filesystems of several kinds.
func TestUninitialised(t *testing.T) {
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		t.Skip("needs mkfs.ext4")
	}
	for _, c := range []struct {
		name    string
		options []string
		size    int64
		some    bool
	}{
		// On what is known to read as zeros nothing is left to do.
		{"default, on a sparse file", nil, 1 << 30, false},
		{"default", []string{"-E", "nodiscard"}, 1 << 30, true},
		{"initialised", []string{"-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}, 1 << 30, false},
		{"small blocks", []string{"-E", "nodiscard", "-b", "1024"}, 64 << 20, true},
		{"32 bits", []string{"-E", "nodiscard", "-O", "^64bit"}, 1 << 30, true},
		{"without checksums", []string{"-E", "nodiscard", "-O", "^metadata_csum,^uninit_bg"}, 256 << 20, false},
	} {
		image := filepath.Join(t.TempDir(), "image")
		must(t, os.WriteFile(image, nil, 0o600))
		must(t, os.Truncate(image, c.size))
		run(t, "mkfs.ext4", append(append([]string{"-q", "-F"}, c.options...), image)...)
		f, err := os.Open(image)
		must(t, err)
		n, ok := uninitialised(f)
		f.Close()
		if !ok || (n > 0) != c.some {
			t.Errorf("%s: %d groups, %v", c.name, n, ok)
		}
	}
}

func FuzzUninitialised(f *testing.F) {
	super := make([]byte, 8192)
	copy(super[1024+0x4:], []byte{0, 4})           // 1024 blocks
	copy(super[1024+0x20:], []byte{0, 1})          // 256 in a group
	copy(super[1024+0x18:], []byte{2})             // of 4 KiB
	copy(super[1024+0x38:], []byte{0x53, 0xef, 1}) // magic
	copy(super[1024+0x64:], []byte{0x10, 0x04})    // checksums
	f.Add(super)
	f.Add(super[:1500])
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := uninitialised(bytes.NewReader(b)); n < 0 || !ok && n != 0 || n > len(b)/32 {
			t.Errorf("%d groups, %v", n, ok)
		}
	})
}
