package main

import (
	"maps"
	"strings"
	"testing"
)

func TestParseMargins(t *testing.T) {
	got, err := parseMargins("throughput=2.5%, p99=10 %,p99.9=20%")
	if want := map[string]float64{"throughput": 0.025, "p99": 0.1, "p99.9": 0.2}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for in, want := range map[string]string{
		"": "form", "throughput": "form", "throughput=3": "form", "iops=3%": "no metric", "p50=0%": "between", "p50=NaN%": "between",
		"p50=100%": "between", "p50=-1%": "between", "p50=3%,p50=4%": "twice", "p50=3%,": "form",
	} {
		if _, err := parseMargins(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func FuzzParseMargins(f *testing.F) {
	f.Add("throughput=3%,p50=5%,p99=10%")
	f.Add("=,%")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := parseMargins(s)
		if err != nil {
			return
		}
		for name, v := range m {
			if !(v > 0 && v < 1) {
				t.Errorf("%q: %s is %v", s, name, v)
			}
		}
	})
}
