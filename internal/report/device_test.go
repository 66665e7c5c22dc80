package report

import (
	"strings"
	"testing"

	"nativ/internal/record"
)

// A plan for a device says what will happen to it, in both languages.
func TestDevicePlan(t *testing.T) {
	for _, tt := range []struct {
		lang    string
		consent string
		want    []string
	}{
		{"en", "", []string{"/dev/nvme0n1 (the device itself, only read", "nothing: the device is opened only to read", "randwrite, because they write"}},
		{"de", "", []string{"/dev/nvme0n1 (das Gerät selbst, nur gelesen", "nichts: Das Gerät wird nur zum Lesen geöffnet", "randwrite, weil sie schreiben"}},
		{"en", "S7DN", []string{"written over", "over everything on /dev/nvme0n1", "serial number S7DN", "of the device"}},
		{"de", "S7DN", []string{"überschrieben", "über alles auf /dev/nvme0n1", "Seriennummer S7DN", "des Geräts"}},
	} {
		rec := &record.Record{
			Target: record.Target{Dir: "/dev/nvme0n1", Drives: []record.Drive{{Name: "nvme0n1", SizeBytes: 2e12}},
				Device: &record.BlockDevice{Name: "nvme0n1", SizeBytes: 2e12, Consent: tt.consent}},
			Plan: record.Plan{Preset: "quick", Places: []string{record.PlaceHost}, FileSize: 1 << 30, MaxWritten: 5e9},
		}
		if tt.consent == "" {
			rec.Target.Device.LeftOut = []string{"randwrite"}
		}
		var b strings.Builder
		if err := Plan(&b, rec, PlanOptions{Lang: tt.lang}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s, consent %q: nothing says %q\n%s", tt.lang, tt.consent, w, got)
			}
		}
		if strings.Contains(got, "test file") || strings.Contains(got, "Testdatei") && tt.consent != "" {
			t.Errorf("%s: a test file is named\n%s", tt.lang, got)
		}
	}
}
