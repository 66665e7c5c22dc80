package reference

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
	"nativ/references"
)

func TestEveryReferenceReads(t *testing.T) {
	if len(references.Names()) == 0 {
		t.Fatal("there is no reference")
	}
	for _, name := range references.Names() {
		b, ok := references.File(name)
		if !ok {
			t.Fatal(name)
		}
		r, err := Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, table := range r.TableNames() {
			rec, err := Open(Prefix + name + "/" + table)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := record.Encode(&out, rec); err != nil {
				t.Fatal(err)
			}
			back, err := record.Decode(&out)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(rec.Rounds, back.Rounds); d != "" {
				t.Errorf("%s: a record changes on its way through JSON:\n%s", rec.ID, d)
			}
		}
	}
}

// The figures are those that were printed, the misprint included.
func TestAsPrinted(t *testing.T) {
	rec, err := Open("ref:9100pro-pve9/native")
	if err != nil {
		t.Fatal(err)
	}
	p := rec.Rounds[1].Passes[0]
	if p.Phase != "randwrite-4k" || *p.Published.IOPS != 1976376 || *p.Published.BytesPerSec != 7220*(1<<20) {
		t.Errorf("got %+v %+v", p, p.Published)
	}
	if p.Outcome != nil || p.OK() {
		t.Error("a published row looks measured")
	}
	if j := rec.Plan.Phases[1]; j.IODepth != 32 || j.NumJobs != 4 || !j.Direct || j.BlockSize != 4096 || j.Engine != "io_uring" {
		t.Errorf("got %+v", j)
	}
	hot, err := Open("9100pro-pve9/lxc_hot")
	if err != nil {
		t.Fatal(err)
	}
	if mc := hot.Rounds[0].Passes[0].Published.FromMC; mc == nil || *mc != 100_900 {
		t.Errorf("got %v", mc)
	}
	if n := len(For("Samsung SSD 9100 PRO 2TB ")); n != 3 {
		t.Errorf("%d tables are about the drive", n)
	}
	if n := len(For("Samsung SSD 990 PRO 2TB")); n != 0 {
		t.Errorf("%d tables are about another drive", n)
	}
}

func TestWhatIsNoReferenceSaysSo(t *testing.T) {
	good := `{"format":1,"kind":"published","title":"t","statistic":"mean","fio":"--iodepth=1 --runtime=9","tables":{"a":[{"mode":"read","bs":"4k","iops":1}]}}`
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for old, c := range map[string][2]string{
		`"format":1`:         {`"format":2`, "format is 2"},
		`"title":"t"`:        {`"titel":"t"`, "titel"},
		`"kind":"published"`: {`"kind":"measured"`, "published"},
		`"mean"`:             {`"median"`, "median"},
		`"read"`:             {`"raed"`, "row 1"},
		`"iops":1`:           {`"iops":-1`, "no rate"},
		`[{"mode"`:           {`[{"mode":"read","bs":"4k","iops":1},{"mode"`, "twice"},
	} {
		_, err := Parse([]byte(strings.Replace(good, old, c[0], 1)))
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: got %v, want %q in it", c[0], err, c[1])
		}
	}
	for name, want := range map[string]string{"nosuch/a": "9100pro-pve9", "9100pro-pve9": "ref:9100pro-pve9/lxc", "../x/y": "no reference"} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range references.Names() {
		b, _ := references.File(name)
		f.Add(b)
	}
	f.Add([]byte(`{"format":1,"kind":"published","title":"t","statistic":"mean","tables":{"a":[{"mode":"read","bs":"4k"}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		for _, table := range r.TableNames() {
			if _, err := r.Record("x", table); err != nil {
				t.Errorf("what was accepted makes no record: %v", err)
			}
		}
	})
}
