package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

func wish() Wish {
	return Wish{
		Preset: job.Quick(), Dir: "/mnt/x", Seed: 7,
		Places:   []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC},
		FileSize: 16 << 30, WantedSize: 16 << 30,
	}
}

func TestPlanOrder(t *testing.T) {
	p, err := NewPlan(wish())
	if err != nil {
		t.Fatal(err)
	}
	var phases, places []string
	for _, s := range p.Steps {
		if len(phases) == 0 || phases[len(phases)-1] != s.Phase {
			phases = append(phases, s.Phase)
		}
		places = append(places, s.Place)
	}
	// Readers come before writers; each phase is one unbroken block.
	want := []string{job.RandRead4K, job.Read128K, job.RandWrite4K, job.Write128K, job.SyncWrite4K}
	if !slices.Equal(phases, want) {
		t.Errorf("phases run as %v, want %v", phases, want)
	}
	trip := []string{"host", "pinned", "lxc", "lxc", "pinned", "host"}
	for i := 0; i < len(places); i += len(trip) {
		if !slices.Equal(places[i:i+len(trip)], trip) {
			t.Errorf("places from step %d: %v", i, places[i:i+len(trip)])
		}
	}
	// The report keeps the test's order.
	if p.Phases[1].Name != job.RandWrite4K || p.Phases[2].Name != job.Read128K {
		t.Errorf("phases are shown as %v", p.Phases)
	}
}

func TestPlanLimits(t *testing.T) {
	w := wish()
	w.Runtime = 3 * time.Second
	p, err := NewPlan(w)
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[uint64]bool{}
	written := p.FileSize
	for _, s := range p.Steps {
		if s.RuntimeNS != 1.5e9 {
			t.Fatalf("a pass of %d ns, want half of 3 s", s.RuntimeNS)
		}
		if seeds[s.Seed] {
			t.Fatalf("seed %d twice", s.Seed)
		}
		seeds[s.Seed] = true
		written += s.MaxBytes
		if strings.Contains(s.Phase, "read") != (s.MaxBytes == 0) {
			t.Errorf("phase %s may move %d bytes", s.Phase, s.MaxBytes)
		}
	}
	if p.MaxWritten != written {
		t.Errorf("the plan says it writes at most %d, its passes and the prefill add up to %d", p.MaxWritten, written)
	}
	if p.GOMAXPROCS != 8 {
		t.Errorf("GOMAXPROCS %d for 4 jobs", p.GOMAXPROCS)
	}
	again, err := NewPlan(w)
	if err != nil || !slices.Equal(again.Steps, p.Steps) {
		t.Error("the same wish gave another plan")
	}
}

func TestPlanRefuses(t *testing.T) {
	w := wish()
	w.FileSize = 8 << 20
	if _, err := NewPlan(w); err == nil || !strings.Contains(err.Error(), "--size") {
		t.Errorf("a file of 8 MiB: %v", err)
	}
	w = wish()
	w.Places = nil
	if _, err := NewPlan(w); err == nil {
		t.Error("a plan without places")
	}
}
