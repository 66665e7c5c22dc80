package report

import (
	"strings"
	"testing"

	"nativ/internal/record"
)

// TestMeanwhileSaysWhatHappened: alarms, errors, a link that fell and CPUs that
// throttled are in the details, in both languages; of a quiet run they are not.
func TestMeanwhileSaysWhatHappened(t *testing.T) {
	rec := healthy()
	first, last := &rec.Rounds[0].Passes[0].Watch, &rec.Rounds[0].Passes[1].Watch
	set := func(s *record.Sample, h record.Health, speed int, fatal, throttles int64) {
		s.Health = map[string]record.Health{"nvme0": h}
		s.Links = map[string]record.LinkState{"0000:01:00.0": {SpeedMTs: speed, Width: 4}}
		s.AER = map[string]record.AER{"0000:01:00.0": {Correctable: 3, Fatal: fatal}}
		s.CPUThermal = &record.CPUThermal{CoreThrottles: &throttles}
		s.CPUHz = map[int]int64{0: 3_600_000_000}
	}
	quiet := record.Health{AvailableSpare: 100, SpareThreshold: 10, PercentageUsed: 4, WrittenBytes: 40e12}
	set(first.Before, quiet, 16000, 0, 7)
	set(last.After, quiet, 16000, 0, 7)
	unhappy := map[string][]string{
		"en": {"Alarm of the drive", "Media errors", "fell to 3.0 x4", "1 fatal", "throttled by heat 5×", "Too hot", "nvme nvme0: resetting", "spare below its threshold, temperature"},
		"de": {"Alarm des Laufwerks", "Medienfehler", "zwischendurch nur 3.0 x4", "1 fatal", "5× wegen Hitze", "Zu heiß", "nvme nvme0: resetting", "Reserve unter der Schwelle, Temperatur"},
	}
	for _, lang := range Langs() {
		got := text(t, rec, Options{Lang: lang, Details: true})
		for _, s := range unhappy[lang] {
			if strings.Contains(got, s) {
				t.Errorf("%s: a quiet run says %q", lang, s)
			}
		}
	}
	bad := quiet
	bad.CriticalWarning = record.CriticalSpare | record.CriticalTemperature
	bad.AvailableSpare, bad.MediaErrors, bad.WarningMinutes, bad.CriticalMinutes = 8, 2, 3, 1
	bad.TMT1Transitions, bad.TMT1Seconds = 2, 40
	set(last.After, bad, 8000, 1, 12)
	rec.KernelLog = []record.KernelLine{{MonoNS: rec.Rounds[0].Passes[0].Outcome.StartNS + 5e9, Level: 4, Text: "nvme nvme0: resetting\x1b[31m controller", Kind: "reset"}}
	for _, lang := range Langs() {
		got := strings.Join(strings.Fields(text(t, rec, Options{Lang: lang, Details: true})), " ")
		for _, s := range unhappy[lang] {
			if !strings.Contains(got, s) {
				t.Errorf("%s: no %q in\n%s", lang, s, got)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s: an escape sequence came through", lang)
		}
	}
}

// TestHeldAllAlong: what slowed whole passes down without any drop to show it is
// on the first screen.
func TestHeldAllAlong(t *testing.T) {
	rec := healthy()
	d := &rec.Target.Drives[0]
	d.NVMe = &record.NVMe{PowerState: new(2), PowerStates: []record.PowerState{
		{MaxPowerUW: new(int64(8_000_000))}, {MaxPowerUW: new(int64(6_000_000))}, {MaxPowerUW: new(int64(3_000_000))}}}
	for lang, want := range map[string]string{"en": "set to a power state below its best", "de": "auf einem schwächeren Energiezustand"} {
		got := strings.Join(strings.Fields(text(t, rec, Options{Lang: lang})), " ")
		if strings.Count(got, want) != 1 {
			t.Errorf("%s: not once %q in\n%s", lang, want, got)
		}
	}
}
