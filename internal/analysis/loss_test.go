package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

var quickPhases = job.Quick().Phases

// simulated compares the phases of a quick run whose passes scatter normally with
// the coefficient of variation cv around a speed that depends on phase and place.
func simulated(rng *rand.Rand, cv float64, speed func(phase int, place string) float64) []Loss {
	rec := &record.Record{}
	rec.Plan.Phases = quickPhases
	rec.Plan.Places = []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}
	var losses []Loss
	for i, j := range rec.Plan.Phases {
		ph := Phase{Job: j}
		for _, name := range rec.Plan.Places {
			p := Place{Name: name, Passes: 2, Planned: 2}
			var rates []float64
			for range 2 {
				v := max(1, 1e6*speed(i, name)*(1+cv*rng.NormFloat64()))
				rates = append(rates, v)
				p.logs = append(p.logs, math.Log(v))
			}
			p.IOPS = new(mean(rates))
			ph.Places = append(ph.Places, p)
		}
		losses = append(losses, computeLoss(rec, &ph))
	}
	return losses
}

func shown(l Loss) bool { return l.Total.Shown() || l.CPUs.Shown() || l.Container.Shown() }

// TestAlikePlacesAreRarelyTold holds what the report says of its rule: of runs
// without a difference about one in ten names one, however large the noise is.
func TestAlikePlacesAreRarelyTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const runs = 2000
	for _, cv := range []float64{0.01, 0.05, 0.15, 0.30} {
		wrong := 0
		for range runs {
			all := simulated(rng, cv, func(int, string) float64 { return 1 })
			if slices.ContainsFunc(all, shown) {
				wrong++
			}
		}
		t.Logf("noise of %g %%: %d of %d runs name a difference", cv*100, wrong, runs)
		if wrong > runs/10 {
			t.Errorf("noise of %g %%: %d of %d runs name a difference that is not there", cv*100, wrong, runs)
		}
	}
}

// TestLargeLossIsTold is the other side: the rule is not so careful that it says
// nothing.
func TestLargeLossIsTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs = 500
	total, container := 0, 0
	for range runs {
		all := simulated(rng, 0.02, func(phase int, place string) float64 {
			if phase == 0 && place == record.PlaceLXC {
				return 0.7
			}
			return 1
		})
		l := &all[0]
		if l.Total.Shown() {
			total++
		}
		if l.Container.Shown() {
			container++
		}
	}
	t.Logf("total in %d, container in %d of %d", total, container, runs)
	if total <= runs*9/10 || container <= runs*9/10 {
		t.Errorf("a loss of 30 %% is shown in %d (container: %d) of %d runs", total, container, runs)
	}
}

// TestMargin computes one margin by hand: s² = (2·0.01² + 0)/2 with two degrees
// of freedom, t(0.995, 2) = 9.925.
func TestMargin(t *testing.T) {
	at := func(x ...float64) Place { return Place{logs: x} }
	places := []Place{at(-0.01, 0.01), at(0.5, 0.5)}
	ratio, margin, ok := scatterOf(places).compare(&places[0], &places[1], 10)
	if want := 9.92484 * 0.01; !ok || math.Abs(ratio-0.5) > 1e-12 || math.Abs(margin-want) > 1e-5 {
		t.Errorf("got %g, %g, %v, want 0.5, %g", ratio, margin, ok, want)
	}
	once := []Place{at(1), at(2)}
	if _, _, ok := scatterOf(once).compare(&once[0], &once[1], 5); ok {
		t.Error("a margin without two passes anywhere")
	}
	none := []Place{at(1, 1), at(2, math.Inf(-1))}
	if _, _, ok := scatterOf(none).compare(&none[0], &none[1], 5); ok {
		t.Error("a margin although a pass did no I/O")
	}
}

// TestPassesScatter holds that the passes of a record are what the rule sees.
func TestPassesScatter(t *testing.T) {
	rec := two(job.RandRead4K, map[string][2]int64{record.PlaceHost: {800, 1200}, record.PlacePinned: same(1000), record.PlaceLXC: same(700)})
	p := Compute(rec).Phases[0].Loss.Container
	if p.Doubt != DoubtSpread || p.Margin == nil || *p.Margin < 0.3 {
		t.Errorf("got %+v", p)
	}
	rec = two(job.RandRead4K, map[string][2]int64{record.PlaceHost: {995, 1005}, record.PlacePinned: same(1000), record.PlaceLXC: same(700)})
	if p := Compute(rec).Phases[0].Loss.Container; !p.Shown() || p.Margin == nil || *p.Margin > 0.05 {
		t.Errorf("got %+v", p)
	}
}

func losing(name string) *record.Record {
	return two(name, map[string][2]int64{record.PlaceHost: {1000, 1002}, record.PlacePinned: {998, 1000}, record.PlaceLXC: {600, 601}})
}

func TestOnePassShowsNothing(t *testing.T) {
	rec := losing(job.RandRead4K)
	rec.Plan.Steps = nil
	rec.Rounds[0].Passes = []record.Pass{rec.Rounds[0].Passes[0], rec.Rounds[0].Passes[2], rec.Rounds[0].Passes[4]}
	for _, p := range rec.Plan.Places {
		rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Phase: job.RandRead4K, Place: p})
	}
	r := Compute(rec)
	if p := r.Phases[0].Loss.Container; p.Doubt != DoubtFew || p.Margin != nil || r.Verdict.Finding != FindNoLoss {
		t.Errorf("got %+v, %s", p, r.Verdict.Finding)
	}
}

func TestOtherLoadProvesNothing(t *testing.T) {
	rec := losing(job.RandRead4K)
	busy(rec, record.PlaceLXC, 100)
	othersCompute(rec, 21) // of 200
	l := Compute(rec).Phases[0].Loss
	if l.Total.Doubt != DoubtLoad || l.Container.Doubt != DoubtLoad || l.CPUs.Doubt != DoubtSmall {
		t.Errorf("got %q = %q + %q", l.Total.Doubt, l.CPUs.Doubt, l.Container.Doubt)
	}
}

func TestOtherWritesProveNothing(t *testing.T) {
	for _, c := range []struct {
		name              string
		host, pinned, lxc float64 // bytes of the drive for each of the test
		want              Doubt   // of the container's part
	}{
		{"alike", 2, 2, 2, DoubtNone}, // an array writes twice, and does so everywhere
		{"a little", 1, 1, 1.45, DoubtNone},
		{"journal in one place", 1, 1, 1.6, DoubtWrites},
		{"elsewhere", 3, 1, 1, DoubtNone},
	} {
		rec := losing(job.Write128K)
		rec.Target.Drives = []record.Drive{{Name: "sda"}}
		ratio := map[string]float64{record.PlaceHost: c.host, record.PlacePinned: c.pinned, record.PlaceLXC: c.lxc}
		watch(rec, func(p *record.Pass, b, a *record.Sample) {
			b.Devices = map[string]record.DeviceCounters{"sda": {}}
			a.Devices = map[string]record.DeviceCounters{"sda": {WriteBytes: int64(ratio[p.Place] * float64(p.Outcome.Write.Bytes))}}
		})
		if got := Compute(rec).Phases[0].Loss.Container.Doubt; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
