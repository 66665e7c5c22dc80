package main

import "testing"

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "512": 512, "4k": 4096, "4K": 4096, "4KiB": 4096, "64M": 64 << 20, "16G": 16 << 30,
		" 16g ": 16 << 30, "1.5T": 3 << 39, "0.5G": 1 << 29, "100b": 100,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1G", "1e3", "16X", "16GG", "4kik", "1..5G", "0", "0.0001", "NaN", "Inf", "9999999T", "16 G 2"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"16G", "1.5T", "", "k", "0x10", "١٦G"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseSize(s); err == nil && n <= 0 {
			t.Errorf("parseSize(%q) = %d", s, n)
		}
	})
}
