package bench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

var update = flag.Bool("update", false, "write the golden files anew")

// The plan of every preset, pass by pass.
func TestPlansOfPresets(t *testing.T) {
	names := slices.DeleteFunc(job.PresetNames(), func(n string) bool { return n == "test" })
	for _, name := range append(names, "quick", "standard") {
		p, err := PresetByName(name, func(*job.Job) string { return "io_uring" })
		if err != nil {
			t.Fatal(err)
		}
		w := wish()
		w.Preset, w.FileSize, w.WantedSize = p, p.FileSize, p.FileSize
		if p.FileSize == 0 {
			w.FileSize, w.WantedSize = 800<<30, 800<<30
		}
		if p.Places != nil {
			w.Places = p.Places
		}
		w.LinkRate = 16e9
		plan, err := NewPlan(w)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if d := plan.Design; d != nil {
			fmt.Fprintf(&b, "%+v\n", *d)
		}
		fmt.Fprintf(&b, "file %d, writes at most %d, prefill %t, idle %v, cool-down at most %v, takes %v to %v\n", plan.FileSize, plan.MaxWritten, !plan.NoPrefill,
			time.Duration(plan.IdleNS), time.Duration(plan.CoolDownNS), time.Duration(plan.EstimateNS[0]).Round(time.Second), time.Duration(plan.EstimateNS[1]).Round(time.Second))
		written := plan.FileSize
		if plan.NoPrefill {
			written = 0
		}
		seeds := map[uint64]bool{}
		for i := range plan.Steps {
			s := &plan.Steps[i]
			fmt.Fprintf(&b, "%d %-6s %-18s %-6s runtime %-8v bytes %-14d pause %-5v cools %t\n",
				s.Round, s.Place, s.Phase, s.Role, time.Duration(s.RuntimeNS), s.MaxBytes, time.Duration(s.PauseNS), cools(&plan, i))
			written += s.MaxBytes
			if plan.Design != nil && s.Round >= plan.Design.Rounds-plan.Design.SpareRounds {
				written += s.MaxBytes // of a round that is measured again
			}
			if seeds[s.Seed] {
				t.Errorf("%s: seed %d twice", name, s.Seed)
			}
			seeds[s.Seed] = true
		}
		if written != plan.MaxWritten {
			t.Errorf("%s: writes at most %d, its passes and the prefill add up to %d", name, plan.MaxWritten, written)
		}
		golden(t, "plan."+name+".txt", b.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, d)
	}
}

func TestCoolDownLimit(t *testing.T) {
	steps := func(d time.Duration) []record.Step { return []record.Step{{RuntimeNS: d.Nanoseconds()}, {}} }
	for _, tt := range []struct {
		asked  *time.Duration
		preset time.Duration
		pass   time.Duration
		want   time.Duration
	}{
		{nil, 0, 2500 * time.Millisecond, 2500 * time.Millisecond}, {nil, 0, time.Second, 2 * time.Second}, {nil, 0, 0, 2 * time.Second},
		{nil, 0, time.Hour, 5 * time.Minute}, {nil, -1, time.Minute, 0}, {nil, 10 * time.Minute, time.Second, 10 * time.Minute},
		{new(time.Duration), 10 * time.Minute, time.Second, 0}, {new(time.Minute), -1, time.Second, time.Minute},
	} {
		w := &Wish{CoolDown: tt.asked, Preset: job.Preset{CoolDown: tt.preset}}
		if got := coolDownLimit(w, steps(tt.pass)); got != tt.want {
			t.Errorf("asked %v, preset %v, passes of %v: %v, want %v", tt.asked, tt.preset, tt.pass, got, tt.want)
		}
	}
}
