package bench

import (
	"slices"
	"strings"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// Nothing of a plan for a device that is only read writes.
func TestPlanThatOnlyReads(t *testing.T) {
	p, err := PresetByName("quick", func(*job.Job) string { return "io_uring" })
	if err != nil {
		t.Fatal(err)
	}
	wish := Wish{Preset: p, Places: []string{record.PlaceHost}, ReadOnly: true, FileSize: 1 << 40, WantedSize: 1 << 40, Seed: 1}
	if _, err := NewPlan(wish); err == nil || !strings.Contains(err.Error(), "writes") {
		t.Errorf("a plan with phases that write: %v", err)
	}
	leftOut, err := ReadOnly(&p)
	if err != nil || !slices.Equal(leftOut, []string{"randwrite-4k", "write-128k", "syncwrite-4k"}) {
		t.Fatalf("left out %v, %v", leftOut, err)
	}
	wish.Preset = p
	plan, err := NewPlan(wish)
	if err != nil {
		t.Fatal(err)
	}
	if !plan.NoPrefill || plan.MaxWritten != 0 || len(plan.Phases) != 2 || len(plan.Steps) == 0 {
		t.Errorf("no prefill %v, writes %d, %d phases, %d steps", plan.NoPrefill, plan.MaxWritten, len(plan.Phases), len(plan.Steps))
	}
	for _, s := range plan.Steps {
		if s.MaxBytes != 0 || phaseOf(&plan, s.Phase).Mode.Writes() {
			t.Errorf("step %+v writes", s)
		}
	}
	fill, err := PresetByName("fill", func(*job.Job) string { return "io_uring" })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOnly(&fill); err == nil {
		t.Error("a preset that only writes is left with something")
	}
}

// Consent is for one run.
func TestDeviceRunIsNotResumed(t *testing.T) {
	rec := &record.Record{Plan: record.Plan{Steps: make([]record.Step, 2)}}
	if err := Resumable(rec); err != nil {
		t.Fatal(err)
	}
	rec.Target.Device = &record.BlockDevice{Name: "nvme0n1", Consent: "S1"}
	if err := Resumable(rec); err == nil || !strings.Contains(err.Error(), "consent") {
		t.Errorf("resumable: %v", err)
	}
}
