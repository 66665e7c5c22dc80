package sim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nativ/internal/job"
	"nativ/internal/record"
)

// What does not fit is refused, with the file and the field.
func TestLoadRefuses(t *testing.T) {
	good, err := json.Marshal(plain())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(good); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, old, new string
		want           string
	}{
		{"unknown field", `"name":"plain"`, `"name":"plain","colour":"red"`, `no field "colour"`},
		{"unknown field inside", `"fstype":"ext4"`, `"fstype":"ext4","fan":1`, `no field "fan"`},
		{"wrong type", `"idle_watts":0.5`, `"idle_watts":"low"`, "thermal.idle_watts: a JSON string"},
		{"kind", `"kind":"archetype"`, `"kind":"measured"`, `kind: "measured" is none of`},
		{"calibrated without sources", `"kind":"archetype"`, `"kind":"calibrated"`, "sources: "},
		{"no name", `"name":"plain"`, `"name":""`, "name: "},
		{"transport", `"transport":"nvme"`, `"transport":"floppy"`, "drive.transport: "},
		{"more free than there is", `"free_bytes":800000000000`, `"free_bytes":8000000000000`, "drive.free_bytes: "},
		{"link above what it can", `"speed_mts":16000,"width":4,"max`, `"speed_mts":32000,"width":4,"max`, "drive.pcie_link.speed_mts: "},
		{"no CPUs", `"performance_cpus":8`, `"performance_cpus":0`, "machine.performance_cpus: 0 is not between"},
		{"speed of nothing", `"read_bytes":{"per_second":6000000000`, `"read_bytes":{"per_second":0`, "limits.read_bytes.per_second: "},
		{"cooler when busy", `"watts_active":2,"watts_full":6`, `"watts_active":7,"watts_full":6`, "limits.read_iops.watts_full: "},
		{"too fast to simulate", `"junction_joules_per_kelvin":2.5`, `"junction_joules_per_kelvin":0.1`, "thermal.junction_joules_per_kelvin: "},
		{"noise", `"correlation":0.7`, `"correlation":1`, "noise.correlation: "},
		{"sensor", `{"number":1,"node":"junction"}`, `{"number":0,"node":"junction"}`, "sensors[1].number: is there twice"},
		{"node", `{"number":1,"node":"junction"}`, `{"number":1,"node":"case"}`, "sensors[1].node: "},
		{"throttle without effect", `"board_kelvin_per_watt":4`, `"board_kelvin_per_watt":4,"throttle":[{"name":"x","from_celsius":80,"until_celsius":70}]`, "thermal.throttle[0].speed: "},
		{"throttle without hysteresis", `"board_kelvin_per_watt":4`, `"board_kelvin_per_watt":4,"throttle":[{"name":"x","from_celsius":80,"until_celsius":80,"speed":0.5}]`, "thermal.throttle[0].until_celsius: "},
		{"throttle of what", `"board_kelvin_per_watt":4`, `"board_kelvin_per_watt":4,"throttle":[{"name":"x","from_celsius":80,"until_celsius":70,"for":{"trim":{"from_celsius":80,"speed":0.5}}}]`, `thermal.throttle[0].for: "trim"`},
		{"event", `"noise":{`, `"events":[{"kind":"flood","from_seconds":1}],"noise":{`, `events[0].kind: "flood"`},
		{"event without a share", `"noise":{`, `"events":[{"kind":"neighbour","from_seconds":1}],"noise":{`, "events[0].share: "},
		{"event before it began", `"noise":{`, `"events":[{"kind":"unknown","from_seconds":9,"until_seconds":3,"share":0.5}],"noise":{`, "events[0].until_seconds: "},
		{"reset without an end", `"noise":{`, `"events":[{"kind":"device-reset","from_seconds":9}],"noise":{`, "events[0].until_seconds: "},
		{"folding without direct", `"noise":{`, `"slc":{"size_bytes":1000000000,"direct_bytes_per_second":1e9,"folding_bytes_per_second":1e8,"recover_after_seconds":0,"recover_bytes_per_second":0},"noise":{`, "slc.folding_bytes_per_second: "},
		{"two models", `"pass":0.005}}`, `"pass":0.005}}{}`, "one model a file"},
		{"half a model", `"noise":{"second":0.01,"correlation":0.7,"pass":0.005}}`, `"noise":{`, "ends in the middle"},
		{"no JSON", `{"name"`, `name: {"name"`, "no JSON at byte"},
		{"no object", `{"name"`, `7,{"name"`, "must be an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(string(good), tt.old, tt.new, 1)
			if text == string(good) {
				t.Fatalf("the model has no %s", tt.old)
			}
			path := filepath.Join(t.TempDir(), "model.json")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want the file and %q", err, tt.want)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.json")); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("got %v", err)
	}
}

// Whatever Parse takes can be simulated without coming to grief.
func FuzzParse(f *testing.F) {
	for _, path := range modelFiles(f) {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"name":`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if m.Machine.CPUs() > 64 || m.Limits.ReadIOPS.PerSecond > 1e12 || m.Limits.ReadBytes.PerSecond > 1e15 {
			return // counters of 64 bits are not made for that
		}
		simulateSome(t, m)
	})
}

// modelFiles are the drive models of the repository.
func modelFiles(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("../../drives/*.json")
	if err != nil {
		t.Fatal(err)
	}
	// The ratings are what makers print, and no model.
	return slices.DeleteFunc(all, func(p string) bool { return filepath.Base(p) == "ratings.json" })
}

// simulateSome runs short passes on a model that nobody has seen before.
func simulateSome(t *testing.T, m *Model) {
	t.Helper()
	plan := record.Plan{Places: []string{record.PlaceHost}, FileSize: 1 << 30}
	s := New(m, 1)
	p := s.Places(&plan)[0]
	if _, err := p.Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []job.Mode{job.RandRead, job.Write, job.RandRW} {
		ph := job.Phase{Name: string(mode), Mode: mode, BlockSize: 4096, IODepth: 8, NumJobs: 2, RuntimeNS: 2 * second, RWMixRead: 50}
		o, failed := p.Run(t.Context(), ph, nil, func(e record.Event) {
			if iv := e.Interval; iv != nil && (iv.ReadIOs < 0 || iv.WriteIOs < 0 || iv.P50NS != nil && *iv.P50NS < 0) {
				t.Errorf("%s: %+v", mode, iv)
			}
		})
		if failed != nil || o.ElapsedNS() != 2*second {
			t.Errorf("%s: %+v, %+v", mode, o, failed)
		}
	}
}

// plain is a drive to which nothing happens.
func plain() *Model {
	limit := func(n float64) Limit { return Limit{PerSecond: n, WattsActive: 2, WattsFull: 6} }
	return &Model{
		Name: "plain", Kind: kindArchetype, About: "nothing happens to it",
		Drive: Identity{Model: "PLAIN", Transport: "nvme", CapacityBytes: 1e12, FreeBytes: 8e11, FSType: "ext4", PowerStatesWatts: []float64{8, 5},
			Link: &Link{SpeedMTs: 16000, Width: 4, MaxSpeedMTs: 16000, MaxWidth: 4, PortMaxSpeedMTs: 16000, PortMaxWidth: 4}},
		Machine: Computer{CPUModel: "PLAIN", OS: "PLAIN", Kernel: "6.12", MemoryBytes: 32 << 30, PerformanceCPUs: 8, CPUHz: 4e9, ReadIOPSPerCPU: 400e3, WriteIOPSPerCPU: 400e3},
		Limits: Limits{ReadIOPS: limit(800e3), ReadBytes: limit(6e9), WriteIOPS: limit(700e3), WriteBytes: limit(5e9),
			ReadSeconds: 60e-6, WriteSeconds: 15e-6, FlushSeconds: 1e-3, LatencySpread: 0.3},
		Thermal: Thermal{AmbientCelsius: 30, IdleWatts: 0.5, JunctionJoulesPerKelvin: 2.5, JunctionKelvinPerWatt: 2, BoardJoulesPerKelvin: 9, BoardKelvinPerWatt: 4},
		Sensors: []Sensor{{Number: 0, Node: nodeBoard}, {Number: 1, Node: nodeJunction}},
		Noise:   Noise{Second: 0.01, Correlation: 0.7, Pass: 0.005},
	}
}
