package rating

import (
	"strings"
	"testing"

	"nativ/drives"
	"nativ/internal/analysis"
	"nativ/internal/record"
)

// TestRatingsArePlausible holds the file against what cannot be otherwise.
func TestRatingsArePlausible(t *testing.T) {
	f, err := Parse(drives.Ratings)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Drives) < 40 {
		t.Errorf("there are only %d drives", len(f.Drives))
	}
	names := map[string]bool{}
	for _, l := range f.Drives {
		if names[l.Name] {
			t.Errorf("%s is there twice", l.Name)
		}
		names[l.Name] = true
		link := 600e6 // SATA at 6 Gbit/s, 8b/10b
		if l.Interface == "nvme" {
			link = analysis.LinkBytes(l.PCIeMTs, l.Lanes)
		}
		tbw := 0.0
		for _, c := range l.Capacities {
			for what, v := range map[string]*float64{"read": c.ReadMB, "write": c.WriteMB} {
				if v != nil && (*v*1e6 > link || *v < 100) {
					t.Errorf("%s %d GB: %s %g MB/s over a link of %g", l.Name, c.GB, what, *v, link/1e6)
				}
			}
			for what, v := range map[string]*float64{"read": c.ReadIOPS, "write": c.WriteIOPS} {
				if v != nil && (*v*4096 > link || *v < 10_000) {
					t.Errorf("%s %d GB: random %s %g over a link of %g", l.Name, c.GB, what, *v, link/4096)
				}
			}
			if c.TBW != nil {
				// A line's endurance grows with its size; a drive is written
				// at least 100 times and, but for Optane, at most 5000 times.
				if *c.TBW < tbw || *c.TBW*1000 < 100*float64(c.GB) || *c.TBW*1000 > 5000*float64(c.GB) {
					t.Errorf("%s %d GB: %g TBW", l.Name, c.GB, *c.TBW)
				}
				tbw = *c.TBW
			}
			if c.ReadMB == nil && c.WriteMB == nil && c.ReadIOPS == nil && c.WriteIOPS == nil && c.TBW == nil {
				t.Errorf("%s %d GB: nothing is known", l.Name, c.GB)
			}
		}
	}
}

// TestModels looks up model strings as drives report them.
func TestModels(t *testing.T) {
	f, err := Parse(drives.Ratings)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]struct {
		size int64
		name string
		gb   int64
	}{
		"Samsung SSD 9100 PRO 2TB":              {2000398934016, "Samsung 9100 PRO", 2000},
		"Samsung SSD 990 PRO with Heatsink 4TB": {4000787030016, "Samsung 990 PRO", 4000},
		"Samsung SSD 990 EVO 1TB":               {1000204886016, "Samsung 990 EVO", 1000},
		"Samsung SSD 970 EVO 500GB":             {500107862016, "Samsung 970 EVO", 500},
		"Samsung SSD 970 EVO Plus 500GB":        {500107862016, "Samsung 970 EVO Plus", 500},
		"WD_BLACK SN850X 2000GB":                {2000398934016, "WD_BLACK SN850X", 2000},
		"WD_BLACK SN770M 1TB":                   {1000204886016, "", 0},
		"CT2000T705SSD3":                        {2000398934016, "Crucial T705", 2000},
		"CT1000P3SSD8":                          {1000204886016, "Crucial P3", 1000},
		"CT2000P5PSSD8":                         {2000398934016, "Crucial P5 Plus", 2000},
		"KINGSTON SKC3000D2048G":                {2048408248320, "Kingston KC3000", 2048},
		"SHPP41-2000GM":                         {2000398934016, "SK hynix Platinum P41", 2000},
		"Samsung  SSD 870 EVO 1TB ":             {1000204886016, "Samsung 870 EVO", 1000},
		"QEMU NVMe Ctrl":                        {10737418240, "", 0},
		"Samsung SSD 990 PRO 8TB":               {8001563222016, "", 0},
	} {
		matches := 0
		for i := range f.Drives {
			if f.Drives[i].model.MatchString(strings.Join(strings.Fields(model), " ")) {
				matches++
			}
		}
		r, ok := f.Of(model, want.size)
		if ok != (want.name != "") || ok && (r.Name != want.name || r.GB != want.gb) || matches > 1 {
			t.Errorf("%s: got %s %d GB, %t, %d lines match", model, r.Name, r.GB, ok, matches)
		}
	}
	if r, ok := OfDrive(&record.Drive{Model: new("Samsung SSD 9100 PRO 2TB"), SizeBytes: 2000398934016}); !ok || *r.TBW != 1200 {
		t.Errorf("got %+v, %t", r, ok)
	}
	if _, ok := OfDrive(&record.Drive{}); ok {
		t.Error("a drive without a model has a rating")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":1,"note":"n","drives":[{"name":"a","model":"A \\d","interface":"sata","source":"s","checked":"c","capacities":[{"gb":1,"tbw":1}]}]}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		for i := range r.Drives {
			if c := r.Drives[i].Capacities; len(c) == 0 || c[0].GB <= 0 {
				t.Errorf("accepted %+v", r.Drives[i])
			}
		}
		r.Of("A 1", 1e9)
	})
}
