package report

import (
	"strings"
	"testing"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// Every effect has its text in both languages, also with what may be unknown.
func TestEveryEffectHasAText(t *testing.T) {
	for _, lang := range Langs() {
		m := &catalogue(lang).storageWords.effects
		for _, code := range record.EffectCodes() {
			words := []map[string]string{nil}
			if code == record.EffectServed {
				words = nil
				for _, by := range []string{record.ServedByServer, record.ServedByPool, record.ServedByHost, record.ServedByProgram} {
					words = append(words, map[string]string{"by": by})
				}
			}
			for _, w := range words {
				if text := m.text(m.does, &record.Effect{Code: code, Words: w}); text == "" {
					t.Errorf("%s: nothing says what %s %v does", lang, code, w)
				}
			}
		}
	}
}

// A stack of everything, as info shows it.
func TestInfoEffects(t *testing.T) {
	tg := record.Target{Dir: "/mnt/thin", FSType: "ext4", MountPoint: "/mnt/thin", Options: "rw",
		Stack: []record.Layer{
			{Name: "dm-6", Kind: "lvm", Title: "pve-vm--104--disk--0", Below: []string{"dm-5"}},
			{Name: "dm-5", Kind: "lvm", Title: "pve-data-tpool", Below: []string{"md0"}},
			{Name: "md0", Kind: "md", Title: "raid1", Below: []string{"dm-0", "loop1"}},
			{Name: "dm-0", Kind: "crypt", Title: "luks", Below: []string{"nvme0n1p3"}},
			{Name: "loop1", Kind: "loop", Title: "/srv/x.raw", DirectIO: new(false), Below: []string{"nvme0n1p3"}},
			{Name: "nvme0n1p3", Kind: "partition", Below: []string{"nvme0n1"}},
			{Name: "nvme0n1", Kind: "disk"},
		},
		Drives: []record.Drive{{Name: "nvme0n1", Transport: "nvme", Controller: new("nvme0"), Link: &record.Link{SpeedMTs: 16000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4}}},
		Storage: &record.Storage{
			Pools: []record.ThinPool{{Device: "dm-5", Name: "pve-data", ChunkBytes: new(int64(64 << 10)), Zeroing: new(true), State: "rw",
				DataBytes: new(int64(100 << 30)), DataUsed: new(int64(25 << 30)), MetadataBytes: new(int64(1 << 30)), MetadataUsed: new(int64(1 << 24))}},
			Arrays: []record.Array{{Device: "md0", Level: "raid1", Devices: new(int64(2)), Degraded: new(int64(0)), Action: "resync", Done: new(0.25)}},
			Crypts: []record.Crypt{{Device: "dm-0", Format: "LUKS2"}},
		}}
	zfs := record.Target{Dir: "/rpool/data", FSType: "zfs", MountPoint: "/rpool/data", Options: "rw", Storage: &record.Storage{ZFS: &record.ZFS{
		Name: "rpool/data", Version: "2.2.7", RecordBytes: new(int64(128 << 10)), PrimaryCache: "all", ARCMax: new(int64(16 << 30))}}}
	nfs := record.Target{Dir: "/net", FSType: "nfs4", MountPoint: "/net", Options: "rw", Network: true, Storage: &record.Storage{Served: "server"}}
	in := &record.Info{Time: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC), Targets: []record.Target{tg, zfs, nfs}, Drives: tg.Drives}
	for i := range in.Targets {
		in.Effects = append(in.Effects, analysis.Effects(&in.Targets[i])...)
	}
	for _, lang := range Langs() {
		var b strings.Builder
		if err := Text(&b, Info(in, lang), Width); err != nil {
			t.Fatal(err)
		}
		golden(t, "info.storage."+lang+".txt", b.String())
	}
}
