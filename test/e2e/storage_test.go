package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// What lies between file and drive decides what a number may be called: the same
// file as a device with direct I/O and without, and btrfs, which writes files with
// checksums through the page cache.
func TestStorageIsNamed(t *testing.T) {
	needRoot(t)
	for _, c := range []struct {
		name, fs string
		direct   string
	}{{"loop file without direct I/O", "ext4", "off"}, {"loop file with direct I/O", "ext4", "on"}, {"btrfs", "btrfs", "on"}} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath("mkfs." + c.fs); err != nil {
				t.Skipf("needs mkfs.%s", c.fs)
			}
			w := newWorld(t)
			device := loopDisk(t, filepath.Dir(w.dir), "6500M")
			if err := exec.Command("losetup", "--direct-io="+c.direct, device).Run(); err != nil && c.direct == "on" {
				t.Skip("the filesystem below cannot do direct I/O")
			}
			sh(t, "mkfs."+c.fs, "-q", device)
			w.dir = mount(t, device)
			os.Remove(filepath.Join(w.dir, "lost+found"))
			rec := w.run(w.bench("--places", "host", "--json")...).want(t, 0).record(t)
			res := analysis.Compute(rec)
			has := func(code, phase string) bool {
				return slices.ContainsFunc(res.Warnings, func(w record.Warning) bool { return w.Code == code && w.Phase == phase })
			}
			cached := c.direct == "off"
			if got := slices.Contains(res.Verdict.Reserves, analysis.ReserveStorage); got != cached {
				t.Errorf("the verdict says that it is not the drive: %v, want %v", got, cached)
			}
			// The file was just written, so that all of it is in the page cache.
			if got := has(record.WarnCacheAnswered, "randread-4k"); cached && !got {
				t.Errorf("nothing says that a cache answered: %+v", res.Warnings)
			}
			inPlace := c.fs == "btrfs" && rec.Target.Storage != nil && rec.Target.Storage.Btrfs != nil && rec.Target.Storage.Btrfs.Buffered
			if got := rec.Target.File != nil && rec.Target.File.NoCOW; got != inPlace || has(record.WarnInPlace, "") != inPlace {
				t.Errorf("overwritten in place: %v, want %v; %+v", got, inPlace, res.Warnings)
			}
			if cached {
				w.run("report", "last", "--lang", "en").want(t, 0).says(t, "Verdict: What was measured is a file behind the page cache of the host, not the drive")
				w.run("report", "last", "--lang", "de").want(t, 0).says(t, "Fazit: Gemessen ist eine Datei hinter dem Seitencache des Hosts, nicht das Laufwerk")
			}
			w.nothingLeftIn()
		})
	}
}
