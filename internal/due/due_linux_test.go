package due

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWithin(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("etc/cron.d/zfs", "24 0 * * * root /usr/lib/zfs-linux/scrub\n")
	put("etc/pve/jobs.cfg", "vzdump: backup-1\n\tschedule 23:00\n\tenabled 1\n\tall 1\n\n"+
		"vzdump: backup-2\n\tschedule 22:30\n\tenabled 0\n\n"+
		"vzdump: backup-3\n\tschedule 22:45\n\tnode another-node-of-the-cluster\n\n"+
		"vzdump: backup-4\n\tschedule whenever\n")
	from := at(0, 22, 0)
	all, unknown := Within(t.Context(), Roots{root}, from, 3*time.Hour)
	if len(all) != 2 || all[0].Name != "backup-1" || all[0].Kind != KindBackup || !all[0].At.Equal(at(0, 23, 0)) ||
		all[1].Name != "zfs" || all[1].Kind != KindScrub || !all[1].At.Equal(at(1, 0, 24)) {
		t.Errorf("got %+v", all)
	}
	if !strings.Contains(unknown, "backup-4") || !strings.Contains(unknown, "whenever") {
		t.Errorf("a schedule that is not understood is not told: %q", unknown)
	}
	if all, _ := Within(t.Context(), Roots{root}, from, 30*time.Minute); len(all) != 0 {
		t.Errorf("in half an hour: %+v", all)
	}
	// A machine that runs systemd and does not tell.
	put("run/systemd/system/x", "")
	t.Setenv("PATH", t.TempDir())
	if _, unknown := Within(t.Context(), Roots{root}, from, time.Hour); !strings.Contains(unknown, "list systemd's timers") {
		t.Errorf("got %q", unknown)
	}
}
