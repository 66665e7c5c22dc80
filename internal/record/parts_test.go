package record

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inParts is a small run with a void round, and its log.
func inParts(t testing.TB) (*Record, []byte) {
	t.Helper()
	rec := &Record{SchemaVersion: SchemaVersion, ID: "20260101-000000-0001"}
	for i := range 6 {
		rec.Plan.Steps = append(rec.Plan.Steps, Step{Round: i / 2, Phase: "p", Place: "host", RuntimeNS: 1e9, Seed: uint64(i)})
	}
	var log bytes.Buffer
	add := func(p *Pass) {
		if err := AppendPart(&log, rec, p); err != nil {
			t.Fatal(err)
		}
	}
	add(nil)
	for i := range 5 {
		p := Pass{Phase: "p", Place: "host", Index: i, Outcome: &Outcome{EndNS: 1e9, Read: &Flow{IOs: int64(i), Lat: &Histogram{}}}}
		rec.Keep(p)
		add(&p)
		if i == 3 {
			rec.Rounds[1].Void = VoidInterrupted
			rec.Incomplete = append(rec.Incomplete, Missing{Code: MissingPassFailed})
			add(nil)
		}
	}
	return rec, log.Bytes()
}

func TestPartsMakeTheRecord(t *testing.T) {
	rec, log := inParts(t)
	got, err := DecodeParts(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := Encode(&a, rec); err != nil {
		t.Fatal(err)
	}
	if err := Encode(&b, got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a.String(), b.String()); d != "" {
		t.Error(d)
	}
}

// Wherever the power fails, what was written before is there.
func TestPartsTornAnywhere(t *testing.T) {
	_, log := inParts(t)
	lines := bytes.SplitAfter(log, []byte("\n"))
	first := len(lines[0])
	for cut := range len(log) {
		// Around the ends of lines, and here and there within them.
		if near := max(cut-2, 0); cut%31 != 0 && !bytes.Contains(log[near:min(cut+2, len(log))], []byte("\n")) {
			continue
		}
		rec, err := DecodeParts(bytes.NewReader(log[:cut]))
		if cut < first {
			if err == nil {
				t.Fatalf("%d bytes, not one line, made a record", cut)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", cut, len(log), err)
		}
		want := bytes.Count(log[:cut], []byte(`"pass":{`))
		if !bytes.HasSuffix(log[:cut], []byte("\n")) && bytes.Contains(log[bytes.LastIndexByte(log[:cut], '\n')+1:cut], []byte(`"pass":{`)) {
			want--
		}
		have := 0
		for _, r := range rec.Rounds {
			have += len(r.Passes)
		}
		if have != want {
			t.Fatalf("cut at %d: %d passes, want %d", cut, have, want)
		}
	}
}

func FuzzDecodeParts(f *testing.F) {
	_, log := inParts(f)
	f.Add(log)
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"head":{"schema_version":1},"pass":{"index":7}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := DecodeParts(bytes.NewReader(b))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Encode(&out, rec); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPlaceKind(t *testing.T) {
	for name, want := range map[string]string{"host": PlaceHost, "host#2": PlaceHost, "pinned#2": PlacePinned, "lxc": PlaceLXC} {
		if got := PlaceKind(name); got != want {
			t.Errorf("%s is of kind %q, want %q", name, got, want)
		}
	}
}
