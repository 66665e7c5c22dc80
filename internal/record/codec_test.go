package record

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/job"
)

// full is a record in which everything that can be absent is present once and
// absent once.
func full() *Record {
	at := time.Date(2026, 11, 30, 21, 59, 1, 250_000_000, time.UTC)
	var lat Histogram
	for _, ns := range []int64{0, 80_000, 81_000, 90_000_000} {
		lat.Add(ns)
	}
	ptr := func(v int64) *int64 { return &v }
	model, pass := `A "drive" | <of> & sorts`, 0
	return &Record{
		SchemaVersion: SchemaVersion,
		Tool:          Tool{Name: "nativ", Version: "0.1.0", Go: "go1.26", Command: []string{"nativ", "bench", "--note", "a=<b>"}},
		ID:            NewID(at, 0xab12),
		Started:       at,
		Ended:         at.Add(151 * time.Second),
		Incomplete:    []Missing{{Code: MissingPassFailed, Phase: job.RandRead4K, Place: PlaceLXC}},
		Plan: Plan{
			Preset: "quick", Phases: job.Quick().Phases, Places: []string{PlaceHost, PlaceLXC},
			Steps:    []Step{{Phase: job.RandRead4K, Place: PlaceHost, RuntimeNS: 2_500_000_000, Seed: 1<<64 - 1}},
			FileSize: 16 << 30, WantedSize: 16 << 30, Memory: ptr(4 << 30), Seed: 1<<63 + 1,
			CPUSet: CPUSet{CPUs: []CPU{{ID: 0, Core: 0, Package: -1, Type: "performance"}}, Online: 12},
		},
		Host:   Host{OS: "Debian", Kernel: "6.12", Machine: "x86_64", CPUs: []CPU{{ID: 0}}, CgroupLayout: "v2"},
		Target: Target{Dir: "/mnt", FSType: "ext4", Drives: []Drive{{Name: "nvme0n1", Model: &model, Link: &Link{SpeedMTs: 8000, Width: 4}}, {Name: "sda"}}},
		Places: []Place{{Name: PlaceLXC, CPUs: []int{0}, Container: &Container{Runtime: "lxc 6.0.4"}}},
		Rounds: []Round{{Phase: job.RandRead4K, Passes: []Pass{{
			Phase: job.RandRead4K, Place: PlaceHost, StartedAt: at,
			Outcome: &Outcome{StartNS: 5, EndNS: 9, Stopped: StopTime, Read: &Flow{IOs: 4, Bytes: 16384, Lat: &lat}},
			Intervals: []Interval{
				{EndNS: 1e9, LenNS: 1e9, ReadIOs: 4, P50NS: ptr(80_000)},
				{EndNS: 2e9, LenNS: 1e9},
			},
			Watch: Watch{
				Before:  &Sample{MonoNS: 5, Temperatures: map[string]int64{"Composite": -1000}, CPUs: map[int]CPUTime{0: {BusyNS: 1, TotalNS: 2}, 11: {BusyNS: 3, TotalNS: 4, UserNS: new(int64(2))}}},
				Samples: []Sample{{MonoNS: 7, Devices: map[string]DeviceCounters{"nvme0n1": {ReadBytes: 16384}}, Cgroup: &CgroupCounters{OOMKills: ptr(0)}}},
			},
		}, {
			Phase: job.RandRead4K, Place: PlaceLXC, StartedAt: at,
			Failed: &Failure{Code: FailWorker, Detail: "signal: killed"},
		}}}},
		Sources:  []Source{{Kind: "temperature", Missing: "no hwmon"}},
		Notes:    map[string]string{"b": "2", "a": "ä"},
		Warnings: []Warning{{Code: WarnContainerRemade, Pass: &pass, Values: map[string]float64{"x": 0.1}}},
	}
}

func TestRoundTrip(t *testing.T) {
	want := full()
	var b bytes.Buffer
	if err := Encode(&b, want); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b.Bytes(), []byte("}\n")) || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
		t.Errorf("not one line that ends in a newline: ...%q", b.Bytes()[b.Len()-10:])
	}
	first := b.String()
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("record changed on its way (-want +got):\n%s", d)
	}
	var again strings.Builder
	if err := Encode(&again, got); err != nil {
		t.Fatal(err)
	}
	if again.String() != first {
		t.Error("the second encoding differs from the first")
	}
}

func TestDecodeRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, full()); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	for name, c := range map[string]struct{ in, want string }{
		"nothing":     {"", "it is empty"},
		"blank":       {" \n", "it is empty"},
		"text":        {"nativ Kurztest", "it is not JSON at byte 2"},
		"cut":         {whole[:len(whole)/2], "it ends in the middle"},
		"two":         {whole + whole, "it is not JSON at byte"},
		"other JSON":  {`{"fio version": "fio-3.33"}`, "is no nativ record"},
		"array":       {`[1]`, "it is no nativ record but a JSON array"},
		"null":        {`null`, "is no nativ record"},
		"later":       {`{"schema_version": 7, "rounds": "elsewhere"}`, "schema version 7 and this nativ reads up to 1; update nativ"},
		"zero":        {`{"schema_version": 0}`, "there is no schema version 0"},
		"wrong type":  {`{"schema_version": 1, "rounds": 3}`, "rounds"},
		"bad version": {`{"schema_version": "1"}`, "schema_version"},
		"part":        {`{"schema_version": 1}`, "it is not whole, without tool, id, plan, host, target, rounds; give"},
		"no rounds":   {strings.Replace(whole, `"rounds":`, `"runden":`, 1), "without rounds;"},
		"bad lat": {
			`{"schema_version": 1, "prefill": {"outcome": {"write": {"lat_ns": {"geometry": "hdr"}}}}}`, `unknown geometry "hdr"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(strings.NewReader(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestDecodeKeepsReadError(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Decode(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v, want it to wrap the reader's error", err)
	}
}

func TestDecodeSkipsUnknownFields(t *testing.T) {
	r, err := Decode(strings.NewReader(least(`"added_later": {"a": 1}`)))
	if err != nil || r.ID != "x" {
		t.Errorf("got %v, %v", r, err)
	}
}

// least is the smallest record that there is, with more.
func least(more string) string {
	return `{"schema_version":1,"tool":{},"id":"x","plan":{},"host":{},"target":{},"rounds":null,` + more + `}`
}

func TestDecodeRefusesNegativeCounts(t *testing.T) {
	pass := func(more string) string { return least(`"rounds":[{"passes":[{"index":4,` + more + `}]}]`) }
	for in, want := range map[string]string{
		least(`"plan":{"file_size_bytes":-1}`):                                                                          "plan.file_size_bytes is negative (-1)",
		least(`"prefill":{"bytes":-5}`):                                                                                 "prefill.bytes is negative",
		pass(`"outcome":{"read":{"ios":-1}}`):                                                                           "pass 4: outcome.read.ios is negative (-1)",
		pass(`"outcome":{"sync":{"ios":1,"bytes":-1}}`):                                                                 "outcome.sync.bytes",
		pass(`"outcome":{"usage":{"user_ns":-1}}`):                                                                      "outcome.usage.user_ns",
		pass(`"outcome":{"errors":[{"count":-1}]}`):                                                                     "outcome.errors.count",
		pass(`"intervals":[{"len_ns":1},{"write_ios":-2}]`):                                                             "intervals.write_ios",
		pass(`"watch":{"before":{"devices":{"sda":{"read_bytes":-1}}}}`):                                                "watch.before.devices",
		pass(`"watch":{"samples":[{"cpus":{"0":{"busy_ns":-1}}}]}`):                                                     "watch.samples.cpus",
		pass(`"watch":{"after":{"cgroup":{"oom_kills":-1}}}`):                                                           "watch.after.cgroup",
		pass(`"outcome":{"read":{"lat_ns":{"geometry":"fio-29x64","n":1,"min":1,"max":1,"sum":-1,"buckets":[[1,1]]}}}`): "do not fit",
	} {
		if _, err := Decode(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
	// Below zero is a temperature, and a core that is not known.
	if _, err := Decode(strings.NewReader(pass(`"watch":{"before":{"temperatures_mc":{"a":-5000}}}`))); err != nil {
		t.Error(err)
	}
}

// TestNoTimeIsNone leaves the times out that nobody knows.
func TestNoTimeIsNone(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, &Record{SchemaVersion: 1, Rounds: []Round{{Passes: []Pass{{}}}}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "0001-") {
		t.Errorf("a time that nobody knows: %s", b.String())
	}
}

// TestNoSeedIsNone leaves the seed of a phase out that has none of its own.
func TestNoSeedIsNone(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, full()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), `"randseed":0`) {
		t.Error("a phase without a seed says randseed 0")
	}
}

func TestNewID(t *testing.T) {
	cet := time.FixedZone("CET", 3600)
	if got, want := NewID(time.Date(2026, 11, 30, 22, 59, 1, 0, cet), 0xab), "20261130-215901-00ab"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The hour that comes twice when summer time ends.
	cest := time.FixedZone("CEST", 7200)
	a := NewID(time.Date(2026, 10, 25, 2, 59, 0, 0, cest), 0)
	b := NewID(time.Date(2026, 10, 25, 2, 1, 0, 0, cet), 0)
	if a >= b {
		t.Errorf("%s does not sort before %s, which was made later", a, b)
	}
}

func TestWarningCodesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range WarningCodes() {
		if seen[c] || c == "" {
			t.Errorf("code %q is listed twice or empty", c)
		}
		seen[c] = true
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := Encode(&b, full()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema_version":1}`))
	f.Add([]byte(`{"schema_version":2}`))
	f.Add([]byte(least(`"notes":{"a":"b"}`)))
	f.Add([]byte(`{"schema_version":1,"prefill":{"outcome":{"write":{"ios":1,"lat_ns":{"geometry":"fio-29x64","n":1,"min":1,"max":1,"sum":1,"buckets":[[1,1]]}}}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Decode(bytes.NewReader(in))
		if err != nil {
			return
		}
		// What was read can be written, and is then read as the same.
		var once bytes.Buffer
		if err := Encode(&once, r); err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		first := once.String()
		again, err := Decode(&once)
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		var twice strings.Builder
		if err := Encode(&twice, again); err != nil {
			t.Fatal(err)
		}
		if twice.String() != first {
			t.Errorf("encoding is not stable:\n%s\n%s", first, twice.String())
		}
	})
}
