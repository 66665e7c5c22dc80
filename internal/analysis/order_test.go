package analysis

import (
	"slices"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// Rounds that start at the other end are balanced, and so is a run in which one was
// cut off and measured again.
func TestOrderOfRounds(t *testing.T) {
	rec := &record.Record{Plan: record.Plan{Places: []string{"host", "lxc"}, Design: &record.Design{Rounds: 2}}}
	add := func(round int, places ...string) {
		for _, p := range places {
			rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: "p", Place: p, Round: round})
		}
	}
	add(0, "host", "lxc") // cut off
	add(2, "host", "lxc", "lxc", "host")
	add(1, "lxc", "host", "host", "lxc")
	rec.Rounds = []record.Round{{Phase: "p", Passes: []record.Pass{{Index: 0}, {Index: 1}}, Void: record.VoidInterrupted}}
	if got := orderWarnings(rec); len(got) > 0 {
		t.Errorf("warned of %+v", got)
	}
	rec.Rounds[0].Void = ""
	if got := orderWarnings(rec); len(got) == 0 || got[0].Code != record.WarnOrder {
		t.Errorf("of half a round that counts: %+v", got)
	}
}

func TestOrderWarnings(t *testing.T) {
	host, lxc := record.PlaceHost, record.PlaceLXC
	phase := job.Phase{Name: "p", Mode: job.Write, BlockSize: 4096, IODepth: 1, NumJobs: 4, Split: true}
	steps := func(roleAndPlace ...string) (s []record.Step) {
		for i := 0; i < len(roleAndPlace); i += 2 {
			s = append(s, record.Step{Phase: "p", Role: roleAndPlace[i], Place: roleAndPlace[i+1]})
		}
		return s
	}
	article := steps("", host, "", lxc, record.RoleHot, lxc)
	flash := record.Drive{Name: "nvme0n1", Transport: "nvme", Rotational: new(bool)}
	warm := flash
	warm.TemperatureFound = true
	for _, tt := range []struct {
		name   string
		places []string
		steps  []record.Step
		split  bool
		cool   int64
		drive  record.Drive
		want   []string
	}{
		{"a palindrome", []string{host, lxc}, steps("", host, "", lxc, "", lxc, "", host), true, 0, flash, nil},
		{"the same offsets", []string{host, lxc}, steps("", host, "", lxc, "", lxc, "", host), false, 0, flash, []string{record.WarnSameOffsets}},
		{"one place, once", []string{host}, steps("", host), true, 0, flash, nil},
		{"twice, but not balanced", []string{host, lxc}, steps("", host, "", host, "", lxc, "", lxc), true, 0, flash, []string{record.WarnOrder}},
		{"heat", []string{host}, steps(record.RoleLoad, host, record.RoleProbe, host, record.RoleResume, host), true, 0, flash, nil},
		{"an article", []string{host, lxc}, article, false, 600e9, warm,
			[]string{record.WarnOrder, record.WarnSinglePass, record.WarnSameOffsets, record.WarnRewritten}},
		{"an article without cool-downs", []string{host, lxc}, article, true, 0, warm,
			[]string{record.WarnOrder, record.WarnSinglePass, record.WarnRewritten, record.WarnNoCoolDown}},
		{"an article without a temperature", []string{host, lxc}, article, true, 0, flash,
			[]string{record.WarnOrder, record.WarnSinglePass, record.WarnRewritten}},
	} {
		p := phase
		p.Split = tt.split
		rec := &record.Record{
			Plan:   record.Plan{Places: tt.places, Steps: tt.steps, Phases: []job.Phase{p}, CoolDownNS: tt.cool},
			Target: record.Target{Drives: []record.Drive{tt.drive}},
		}
		var got []string
		for _, w := range orderWarnings(rec) {
			got = append(got, w.Code)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestStartedHot(t *testing.T) {
	for _, tt := range []struct {
		c    *record.CoolDown
		want float64
	}{
		{nil, 0},
		{&record.CoolDown{ToMC: 41_000, TargetMC: 42_000, Ended: record.CoolBand}, 0},
		{&record.CoolDown{ToMC: 50_000, TargetMC: 42_000, Ended: record.CoolSteady}, 0},
		{&record.CoolDown{ToMC: 50_000, TargetMC: 42_000, Ended: record.CoolLimit}, 8000},
		{&record.CoolDown{ToMC: 49_000, TargetMC: 42_000, Ended: record.CoolLost}, 7000},
	} {
		var got float64
		p := &record.Pass{Phase: "p", Outcome: &record.Outcome{EndNS: 1e9}, CoolDown: tt.c}
		for _, w := range passWarnings(&record.Record{}, p) {
			if w.Code == record.WarnStartedHot {
				got = w.Values["excess_mc"]
			}
		}
		if got != tt.want {
			t.Errorf("%+v: %v above the band, want %v", tt.c, got, tt.want)
		}
	}
}

// What follows a load, or is measured in the hot drive, is none of the numbers of
// its phase and place, and still counts as a pass of the run.
func TestRolesAreNotMixed(t *testing.T) {
	phase := job.Phase{Name: "p", Mode: job.Read, BlockSize: 4096, IODepth: 1, NumJobs: 1}
	rec := &record.Record{Plan: record.Plan{Places: []string{record.PlaceHost}, Phases: []job.Phase{phase}}}
	round := record.Round{Phase: "p"}
	for i, role := range []string{record.RoleLoad, record.RoleProbe, record.RoleResume, record.RoleHot} {
		rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: "p", Place: record.PlaceHost, Role: role})
		ios := int64(1000 * (i + 1))
		round.Passes = append(round.Passes, record.Pass{Phase: "p", Place: record.PlaceHost, Index: i, Role: role,
			Outcome: &record.Outcome{EndNS: 1e9, Read: &record.Flow{IOs: ios, Bytes: ios * 4096, Lat: &record.Histogram{}}}})
	}
	rec.Rounds = []record.Round{round}
	r := Compute(rec)
	p := r.Phases[0].Places[0]
	if p.IOPS == nil || *p.IOPS != 1000 || p.Passes != 1 || p.Planned != 1 || p.Spread != nil || r.Passes != 4 || r.Planned != 4 {
		t.Errorf("IOPS %v from %d of %d passes, spread %v; %d of %d in the run", p.IOPS, p.Passes, p.Planned, p.Spread, r.Passes, r.Planned)
	}
	// A phase that has only such shows them, and does not doubt that they differ.
	rec.Plan.Steps, rec.Rounds[0].Passes = rec.Plan.Steps[1:3], rec.Rounds[0].Passes[1:3]
	r = Compute(rec)
	if p := r.Phases[0].Places[0]; p.IOPS == nil || *p.IOPS != 2500 || p.Spread != nil || p.Planned != 2 || r.Passes != 2 {
		t.Errorf("IOPS %v of %d planned, spread %v", p.IOPS, p.Planned, p.Spread)
	}
}
