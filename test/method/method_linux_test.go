package main

import (
	"strings"
	"testing"

	"nativ/internal/job"
)

// The targets of docs/method.md, with fewer runs and so with room for chance: four
// standard errors, so that a seed that is unlucky does not fail.
func TestTargets(t *testing.T) {
	const runs = 120
	w := worlds(0.03, 0.007)
	l, hardest := preset(job.Standard()), &w[len(w)-1]
	zero, err := hardest.try(l, runs, 1, never)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range parts {
		if share := float64(zero.anyDifferent[i]) / runs; share > 0.14 {
			t.Errorf("%s: %.1f %% of the runs name a difference that is not there", name, 100*share)
		}
		if share := float64(zero.covered[i]) / float64(zero.phases[i]); share < 0.91 || share > 0.986 {
			t.Errorf("%s: the interval holds the truth in %.1f %%", name, 100*share)
		}
		if zero.phases[i] != runs*phases {
			t.Errorf("%s: %d phases, want %d", name, zero.phases[i], runs*phases)
		}
	}
	one, err := hardest.try(l, runs, 2, inFirst(0.97))
	if err != nil {
		t.Fatal(err)
	}
	if share := float64(one.firstDifferent[0]) / runs; share < 0.9 {
		t.Errorf("a true 3 %% is found in %.1f %% of the runs", 100*share)
	}
}

// Every place for a table in the page is filled, and the same seed writes the same
// page.
func TestPage(t *testing.T) {
	a, err := report(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(a, "{{") {
		t.Errorf("a table or number is missing: %s", a[strings.Index(a, "{{"):][:20])
	}
	b, err := report(2, 1)
	if err != nil || a != b {
		t.Errorf("two pages of one seed differ (%v)", err)
	}
}
