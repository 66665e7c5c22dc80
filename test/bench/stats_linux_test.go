package main

import "testing"

func TestSample(t *testing.T) {
	s := sample{30, 10, 20}
	if s.median() != 20 || s.spread() != 1 {
		t.Errorf("median %g, spread %g", s.median(), s.spread())
	}
	if got := (sample{1, 10, 11, 12, 1000}).spread(); got != 2.0/11 {
		t.Errorf("spread of the middle is %g", got)
	}
	if m := (sample{4, 1, 3, 2}).median(); m != 2.5 {
		t.Errorf("median of an even number is %g", m)
	}
	if s[0] != 30 {
		t.Error("the order of the rounds was changed")
	}
	if got := s.text(10, 1); got != "2.0 (1.0–3.0)" {
		t.Errorf("got %q", got)
	}
	if got := sample(nil).text(1, 0); got != "–" {
		t.Errorf("got %q for nothing", got)
	}
	if d := apart(sample{99}, sample{100}); d < 0.0099 || d > 0.0101 {
		t.Errorf("99 and 100 are %g apart", d)
	}
}

func TestTable(t *testing.T) {
	tb := table{head: []string{"a", "b"}}
	tb.add("x", "1")
	if got, want := tb.markdown(), "| a | b |\n| :-- | --: |\n| x | 1 |\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestAgrees(t *testing.T) {
	fio := sample{98, 100, 101, 100, 99}
	for _, tt := range []struct {
		n, f sample
		want string
	}{
		{sample{102}, fio, met},
		{sample{104}, fio, missed},
		{sample{104}, sample{95, 100, 101, 100, 94}, met}, // fio differs from itself as much
		{sample{100}, sample{50, 60, 100, 140, 150}, noisy},
	} {
		if got := agrees(tt.n, tt.f, 0.03); got != tt.want {
			t.Errorf("%v and %v: %s, want %s", tt.n, tt.f, got, tt.want)
		}
	}
}
