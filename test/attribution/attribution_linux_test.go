package main

import "testing"

// TestAttribution holds the targets with fewer draws than the report has.
func TestAttribution(t *testing.T) {
	seeds := 5
	if testing.Short() {
		seeds = 1
	}
	all, err := tryAll(seeds, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	s := sum(all)
	if s.singleRight*100 < s.single*95 {
		t.Errorf("%d of %d single causes are right, fewer than 95 %%", s.singleRight, s.single)
	}
	if s.wrong*100 > s.hard*3 {
		t.Errorf("a cause that did not act is named in %d of %d harder draws, more than 3 %%", s.wrong, s.hard)
	}
	if s.falsely > 0 {
		t.Errorf("heat is named in %d of %d draws without", s.falsely, s.cold)
	}
	if s.flatDropped*100 > s.flatPasses*2 {
		t.Errorf("%d of %d flat passes have a drop, more than 2 %%", s.flatDropped, s.flatPasses)
	}
	if s.onsets == 0 || s.near*100 < s.onsets*90 {
		t.Errorf("%d of %d onset temperatures are within 2 °C, at worst %.1f °C off", s.near, s.onsets, s.worst)
	}
	if !t.Failed() {
		return
	}
	for _, r := range all {
		for i, v := range r.verdicts {
			if !v.right || v.heatWithout {
				t.Logf("%s, draw %d: %s\n%s", r.scenario.name, i, v.named, v.story)
			}
		}
	}
}
