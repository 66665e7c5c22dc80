package job

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCPUs(t *testing.T) {
	for in, want := range map[string][]int{
		"":            nil,
		"\n":          nil,
		"0":           {0},
		"0-3,8\n":     {0, 1, 2, 3, 8},
		"8,0-1,1,0-0": {0, 1, 8},
	} {
		got, err := ParseCPUs(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseCPUs(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"a", "1-", "-1", "3-1", "0,,1", "+1", "99999999", "0-99999"} {
		if got, err := ParseCPUs(in); err == nil {
			t.Errorf("ParseCPUs(%q) = %v, want an error", in, got)
		}
	}
}

func TestFormatCPUs(t *testing.T) {
	for want, in := range map[string][]int{"": nil, "0": {0}, "0-3,8": {8, 3, 2, 1, 0, 1}, "1,3,5-6": {1, 3, 5, 6}} {
		if got := FormatCPUs(in); got != want {
			t.Errorf("FormatCPUs(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestFormatCPUsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfDistinct(rapid.IntRange(0, 200), rapid.ID).Draw(t, "cpus")
		slices.Sort(want)
		got, err := ParseCPUs(FormatCPUs(want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %v, %v; want %v", got, err, want)
		}
	})
}

func FuzzParseCPUs(f *testing.F) {
	for _, s := range []string{"", "0", "0-3,8\n", "3-1", "0-65535,0-65535", "-", ","} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := ParseCPUs(s)
		if err != nil {
			return
		}
		if !slices.IsSorted(cpus) || len(slices.Compact(slices.Clone(cpus))) != len(cpus) {
			t.Fatalf("ParseCPUs(%q) = %v: not ascending and unique", s, cpus)
		}
		again, err := ParseCPUs(FormatCPUs(cpus))
		if err != nil || !slices.Equal(again, cpus) {
			t.Fatalf("round trip of %q: %v, %v", s, again, err)
		}
	})
}
