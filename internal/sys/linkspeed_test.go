package sys

import "testing"

func TestParseLinkSpeed(t *testing.T) {
	for s, want := range map[string]int{
		"2.5 GT/s": 2500, "5 GT/s": 5000, "8 GT/s": 8000, "2.5 GT/s PCIe": 2500, "8.0 GT/s PCIe": 8000, "16.0 GT/s PCIe\n": 16000,
		"32.0 GT/s PCIe": 32000, "64.0 GT/s PCIe": 64000,
		"Unknown": 0, "Unknown speed": 0, "": 0, "8": 0, "0 GT/s": 0, "-8 GT/s": 0, "8.25 GT/s": 0, "8. GT/s": 8000, " GT/s": 0, "99999 GT/s": 0, "8.-1 GT/s": 0,
	} {
		got, err := ParseLinkSpeed(s)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("ParseLinkSpeed(%q) = %d, %v", s, got, err)
		}
	}
}

func FuzzParseLinkSpeed(f *testing.F) {
	for _, s := range []string{"8 GT/s", "2.5 GT/s PCIe", "Unknown", "8.0 GT/s PCIe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		mts, err := ParseLinkSpeed(s)
		if (err == nil) != (mts > 0) || mts%100 != 0 {
			t.Errorf("ParseLinkSpeed(%q) = %d, %v", s, mts, err)
		}
	})
}
