package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStateDirChoice(t *testing.T) {
	wd, err := os.Getwd()
	must(t, err)
	tests := []struct {
		env  map[string]string
		euid int
		want string // "" is an error
	}{
		{nil, 0, "/var/lib/nativ"},
		{map[string]string{"HOME": "/root", "XDG_STATE_HOME": "/x"}, 0, "/var/lib/nativ"},
		{map[string]string{"NATIV_STATE_DIR": "/x/y/"}, 0, "/x/y"},
		{map[string]string{"NATIV_STATE_DIR": "y", "HOME": "/h"}, 1000, filepath.Join(wd, "y")},
		{map[string]string{"HOME": "/h"}, 1000, "/h/.local/state/nativ"},
		{map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/x"}, 1000, "/x/nativ"},
		{map[string]string{"HOME": "/h", "XDG_STATE_HOME": "x"}, 1000, "/h/.local/state/nativ"},
		{nil, 1000, ""},
	}
	for _, tt := range tests {
		got, err := stateDir(func(k string) string { return tt.env[k] }, tt.euid)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("stateDir(%v, %d) = %q, %v; want %q", tt.env, tt.euid, got, err, tt.want)
		}
	}
}

func TestStateDirModes(t *testing.T) {
	linuxOnly(t)
	for euid, want := range map[int]os.FileMode{0: 0o755, 1000: 0o700} {
		base := t.TempDir()
		env := func(k string) string { return map[string]string{"NATIV_STATE_DIR": base + "/a/b"}[k] }
		dir, err := StateDir(env, euid)
		must(t, err)
		st, err := os.Stat(dir)
		must(t, err)
		if st.Mode().Perm() != want {
			t.Errorf("euid %d: mode %v, want %v", euid, st.Mode(), want)
		}
		must(t, os.Chmod(dir, 0o711)) // an existing one is the user's business
		_, err = StateDir(env, euid)
		must(t, err)
		if st, _ := os.Stat(dir); st.Mode().Perm() != 0o711 {
			t.Errorf("euid %d: the mode of an existing directory was changed to %v", euid, st.Mode())
		}
	}
}

func TestBootID(t *testing.T) {
	linuxOnly(t)
	a, err := BootID()
	must(t, err)
	if b, err := BootID(); err != nil || a != b {
		t.Errorf("boot id changed from %q to %q, %v", a, b, err)
	}
	for _, in := range []string{"", "\n", "abc", strings.Repeat("x", 36), strings.Repeat("a", 37)} {
		if id, err := parseBootID(strings.NewReader(in)); err == nil {
			t.Errorf("parseBootID(%q) = %q", in, id)
		}
	}
}
