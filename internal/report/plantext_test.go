package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// heatPlan is a plan of loads, probes and resumes.
func heatPlan() *record.Record {
	rec := healthy()
	p := &rec.Plan
	p.Preset, p.Places, p.Phases = "heat", []string{record.PlaceHost}, p.Phases[:1]
	name := p.Phases[0].Name
	p.Steps = []record.Step{
		{Phase: name, Place: record.PlaceHost, Role: record.RoleLoad, RuntimeNS: 900e9},
		{Phase: name, Place: record.PlaceHost, Role: record.RoleProbe, RuntimeNS: 2e9, PauseNS: 10e9},
		{Phase: name, Place: record.PlaceHost, Role: record.RoleProbe, RuntimeNS: 2e9, PauseNS: 20e9},
		{Phase: name, Place: record.PlaceHost, Role: record.RoleResume, RuntimeNS: 180e9, PauseNS: 30e9},
	}
	p.IdleNS, p.CoolDownNS, p.MaxTempMC = 60e9, 600e9, new(int64(87_850))
	p.EstimateNS = [2]int64{600e9, 1800e9}
	return rec
}

// planOf renders a plan on lines without their breaks.
func planOf(t *testing.T, rec *record.Record, o PlanOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Plan(&b, rec, o); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestPlanOfHeat(t *testing.T) {
	health := &record.Health{PercentageUsed: 3, WrittenBytes: 12_300_000_000_000}
	for lang, want := range map[string][]string{
		"en": {
			"1 test in 1 place, at most 15 min each, about 10 to 30 minutes",
			"until it throttles or is steady (at most 15 min), is probed briefly 2 times while it recovers, and loaded again after a pause of 30 s",
			"60 s at rest before the start; before each test until the drive has cooled down, at most 10 min",
			"at 88 °C (the drive's own critical composite temperature) the run stops at once",
			"by its own count 3 % of the drive's endurance are used so far and 12 TB written",
		},
		"de": {
			"1 Test an 1 Ort, je höchstens 15 min, rund 10 bis 30 Minuten",
			"60 s Ruhe vor dem Start; vor jedem Test, bis das Laufwerk abgekühlt ist, höchstens 10 min",
			"bei 88 °C (der kritischen Composite-Temperatur des Laufwerks selbst) endet der Lauf sofort",
			"nach eigener Zählung sind bisher 3 % der Lebensdauer verbraucht und 12 TB geschrieben",
		},
	} {
		got := planOf(t, heatPlan(), PlanOptions{Lang: lang, OwnCeiling: true, Health: health})
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", lang, w, got)
			}
		}
	}
	rec := heatPlan()
	rec.Plan.MaxTempMC = new(int64(70_000))
	if got := planOf(t, rec, PlanOptions{Lang: "en"}); !strings.Contains(got, "at 70 °C (composite temperature) the run") || strings.Contains(got, "endurance") {
		t.Error(got)
	}
	// A quick run has nothing of it to say.
	rec = healthy()
	rec.Plan.CoolDownNS = 2.5e9
	if got := planOf(t, rec, PlanOptions{Lang: "en"}); strings.Contains(got, "Waits") || strings.Contains(got, "Steps") || strings.Contains(got, "Ceiling") {
		t.Error(got)
	}
}

// Why a run ended is in the short report, not only in the details.
func TestStopIsSaid(t *testing.T) {
	for code, want := range map[string]string{
		record.MissingMaxTemp: "Stopped the ceiling of temperature ended the run: nvme0 Composite 88.9 °C",
		record.MissingHealth:  "Stopped the drive gave alarm, and the run ended: nvme0 Composite 88.9 °C",
	} {
		rec := healthy()
		rec.Complete, rec.Incomplete = false, []record.Missing{{Code: code, Detail: "nvme0 Composite 88.9 °C"}}
		if got := strings.Join(strings.Fields(text(t, rec, Options{Lang: "en"})), " "); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestNotes(t *testing.T) {
	rec := healthy()
	rec.Notes = map[string]string{"heatsink": "none", "ambient": "22.5", "case": "midi", "shelf": "top"}
	for lang, want := range map[string]string{
		"en": "ambient 22.5 °C, case midi, heatsink none, shelf top",
		"de": "Umgebung 22,5 °C, Gehäuse midi, Kühlkörper none, shelf top",
	} {
		for form, got := range map[string]string{"text": text(t, rec, Options{Lang: lang}), "markdown": markdown(t, rec, Options{Lang: lang})} {
			if got := strings.ReplaceAll(got, glue, " "); !strings.Contains(got, want) {
				t.Errorf("%s %s has no %q:\n%s", lang, form, want, got)
			}
		}
	}
	for value, want := range map[string]string{"22": "22 °C", "-3.25": "-3.25 °C", "warm": "warm", "NaN": "NaN", "1e9": "1e9", "22 °C": "22 °C"} {
		if _, got := newSpeaker("en", rec).note("ambient", value); plain(got) != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestEveryNoteIsAskedFor(t *testing.T) {
	for _, lang := range Langs() {
		for _, k := range NoteKeys() {
			if q := NoteQuestion(lang, k); !strings.HasSuffix(q, ": ") {
				t.Errorf("%s: %s is asked for with %q", lang, k, q)
			}
		}
	}
}

func TestWaitingLine(t *testing.T) {
	phase := job.Quick().Phases[0]
	now, target := int64(71_850), int64(45_850)
	l := Live{Phase: &phase, Place: record.PlaceHost, Pass: 3, Passes: 30, Left: 4 * time.Minute}
	for _, tt := range []struct{ waiting, want string }{
		{Waiting("en", 95*time.Second, false, &now, &target), "Random read 4K  Host  Cooling down from 72 °C to 46 °C (at most 1:35)"},
		{Waiting("en", 10*time.Second, false, nil, nil), "Random read 4K  Host  Pause (0:10)"},
		{Waiting("en", time.Minute, true, nil, nil), "Random read 4K  Host  Leaving the drive at rest (1:00)"},
	} {
		l.Waiting = tt.waiting
		// Where it is narrow the wait stays, not what is left of the run.
		for width, want := range map[int]string{0: "3/30  " + tt.want + "  4:00 left", 75: tt.want} {
			if got := LiveLine(nil, l, "en", width); !strings.Contains(got, tt.want) || width == 0 && got != want {
				t.Errorf("width %d: %q, want %q", width, got, want)
			}
		}
	}
	for _, lang := range Langs() {
		for _, by := range []string{record.EndMaxTemp, record.EndPlateau, record.EndHealth} {
			if EndedText(by, lang) == "" {
				t.Errorf("%s has no words for %s", lang, by)
			}
		}
		if EndedText("", lang) != "" {
			t.Error("a pass that ran to its end has a reason")
		}
	}
}
