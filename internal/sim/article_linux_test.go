package sim

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

const bare = "../../drives/samsung-9100-pro-2tb-bare.json"

// A published table, as it was printed.
type row struct {
	Mode string   `json:"mode"`
	MiB  float64  `json:"bw_mib_s"`
	IOPS float64  `json:"iops"`
	From *float64 `json:"from_celsius"`
}

func published(t *testing.T) (tables struct{ Native, LXC, Hot []row }) {
	t.Helper()
	b, err := os.ReadFile("testdata/published-9100pro-pve9.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Tables struct {
			Native []row `json:"native"`
			LXC    []row `json:"lxc"`
			Hot    []row `json:"lxc_hot"`
		} `json:"tables"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return struct{ Native, LXC, Hot []row }(f.Tables)
}

// pick finds the row of a phase, whose modes are named as fio names them.
func pick(t *testing.T, rows []row, phase string) row {
	t.Helper()
	for _, r := range rows {
		if r.Mode+"-4k" == phase || r.Mode+"-128k" == phase {
			return r
		}
	}
	t.Fatalf("no row for %s", phase)
	return row{}
}

// within fails where got is not within 5 % of want.
func within(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got/want-1) > 0.05 {
		t.Errorf("%s: %.0f, published %.0f (%+.1f %%)", what, got, want, (got/want-1)*100)
	}
}

// The calibrated model gives the published tables, cold and hot, and throttles
// at the published temperatures, on whatever seed. Both columns are compared, and
// of a pass both the mean of its cold (hot) seconds and the best of them, because
// the table says "max".
func TestArticleAsPublished(t *testing.T) {
	m, err := Load(bare)
	if err != nil {
		t.Fatal(err)
	}
	tables := published(t)
	for seed := range uint64(2) {
		rec, s := simulation{preset: "article", places: []string{record.PlaceHost, record.PlaceLXC}, seed: seed, cpus: 4}.run(t, m)
		onset := map[int]Act{}
		for _, a := range s.Truth().Acts {
			if _, ok := onset[a.Pass]; !ok && a.Cause == CauseThermal {
				onset[a.Pass] = a
			}
		}
		compared := 0
		for _, p := range passesOf(rec) {
			from := int(onset[p.Index].FromNS / second)
			rows, seconds := tables.Native, p.Intervals[:from]
			switch {
			case p.Role == record.RoleHot:
				rows, seconds = tables.Hot, p.Intervals
			case p.Place == record.PlaceLXC:
				rows = tables.LXC
			}
			if len(seconds) < 20 {
				t.Fatalf("pass %d, %s in %s: throttled after %d s", p.Index, p.Phase, p.Place, len(seconds))
			}
			want := pick(t, rows, p.Phase)
			var ios []float64
			var bytes, sum float64
			for _, iv := range seconds {
				n := float64(iv.ReadIOs + iv.WriteIOs)
				ios, sum = append(ios, n), sum+n
				bytes += float64(iv.ReadBytes + iv.WriteBytes)
			}
			name := p.Phase + " in " + p.Place + " " + p.Role
			within(t, name+", mean IOPS", sum/float64(len(ios)), want.IOPS)
			within(t, name+", best second", slices.Max(ios), want.IOPS)
			within(t, name+", MiB/s", bytes/float64(len(ios))/(1<<20), want.MiB)
			compared++
			if p.Role == record.RoleHot {
				continue
			}
			// Throttled: down to the hot table, at its temperature, on a sensor that
			// is not the composite.
			hot := pick(t, tables.Hot, p.Phase)
			last := p.Intervals[len(p.Intervals)-2]
			within(t, name+", throttled", float64(last.ReadIOs+last.WriteIOs), hot.IOPS)
			sample := p.Watch.Samples[from]
			if got := float64(sample.Temperatures["nvme0 Sensor 1"]) / 1000; math.Abs(got-*hot.From) > 2 {
				t.Errorf("%s: sensor 1 says %.0f °C at the onset, published %.1f", name, got, *hot.From)
			}
			for _, s := range p.Watch.Samples {
				if c := s.Health["nvme0"].CompositeMC; c == nil || *c >= threshold(*m.Drive.CCTEMP) {
					t.Fatalf("%s: the composite says %v, CCTEMP is %v", name, c, *m.Drive.CCTEMP)
				}
				if s.Health["nvme0"].CriticalMinutes > 0 {
					t.Fatalf("%s: critical minutes", name)
				}
			}
		}
		if compared != 12 {
			t.Errorf("compared %d passes", compared)
		}
	}
}

// The variants differ from the bare drive in their cooling only, and keep cool as
// well as a review says that such ones do.
func TestHeatsinks(t *testing.T) {
	model := func(name string) *Model {
		m, err := Load("../../drives/samsung-9100-pro-2tb-" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := func(m *Model) int64 { // ns until the drive throttles, 0 for never
		t.Helper()
		_, s := simulation{phases: []job.Phase{phase(job.RandRead, 4096, 5*time.Minute), phase(job.RandWrite, 4096, 5*time.Minute), phase(job.Read, 128<<10, 5*time.Minute), phase(job.Write, 128<<10, 5*time.Minute)}, places: []string{record.PlaceHost}, seed: 1, file: 50 << 30}.run(t, m)
		for _, a := range s.Truth().Acts {
			if a.Cause == CauseThermal {
				return a.FromNS + int64(a.Pass)*300*second
			}
		}
		return 0
	}
	bareAt, smallAt := first(model("bare")), first(model("small-heatsink"))
	if bareAt == 0 || smallAt < 2*bareAt {
		t.Errorf("without a heatsink it throttles after %d s, with a small one after %d s", bareAt/second, smallAt/second)
	}
	for _, name := range []string{"large-heatsink", "fan"} {
		if at := first(model(name)); at != 0 {
			t.Errorf("%s: throttles after %d s", name, at/second)
		}
	}
}
