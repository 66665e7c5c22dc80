package report

import (
	"slices"
	"strings"
	"testing"
)

// TestChartsOfSimulations has what real runs give: heat, caches, rounds.
func TestChartsOfSimulations(t *testing.T) {
	const model = "samsung-9100-pro-2tb-bare"
	perTest := func(kind string, tests ...string) (ids []string) {
		for _, name := range tests {
			ids = append(ids, kind+"-"+name)
		}
		return ids
	}
	article := []string{"randread-4k", "randwrite-4k", "read-128k", "write-128k"}
	heat := []string{"randread-4k", "read-128k", "randwrite-4k", "write-128k"}
	for preset, want := range map[string][]string{
		"article": slices.Concat([]string{idTime, idRatios}, perTest(idLatency, article...), perTest(idScatter, article...), []string{idHeat, idCliff, idMeans}),
		"heat":    slices.Concat([]string{idTime, idLatency}, perTest(idScatter, heat...), []string{idHeat, idCliff}),
		"fill":    {idTime, idLatency, idScatter + "-fill-1m", idCliff},
	} {
		rec := simulate(t, model, preset)
		for _, lang := range Langs() {
			all, _ := charts(t, rec, lang)
			var got []string
			for _, c := range all {
				got = append(got, c.ID)
				sound(t, preset+" "+lang+" "+c.ID, c)
				if !strings.Contains(c.Simulated, "SIMULATED") {
					t.Errorf("%s %s does not say that it is simulated", preset, c.ID)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", preset, got, want)
			}
			cause := map[string]string{"de": "Hitze", "en": "heat"}[lang]
			if preset == "fill" { // which is too short here to show that it was the cache
				cause = map[string]string{"de": "unbekannt", "en": "unknown"}[lang]
			}
			time := all[0]
			if len(time.Panels) != 2 || len(time.Panels[1].Marks) != 2 {
				t.Fatalf("%s: %d panels", preset, len(time.Panels))
			}
			drops := slices.DeleteFunc(slices.Clone(time.Marks), func(m Mark) bool { return m.Kind != MarkDrop })
			if !slices.ContainsFunc(drops, func(m Mark) bool { return strings.Contains(m.Label, cause) }) {
				t.Errorf("%s: no drop names its cause: %v", preset, drops)
			}
			for i, m := range drops {
				if m.Short != string(rune('1'+i)) || i > 0 && m.From < drops[i-1].From {
					t.Errorf("%s: drop %d is called %q", preset, i, m.Short)
				}
			}
		}
	}
}
