package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A sample is one quantity over the rounds of one side.
type sample []float64

func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(s))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// spread is how far apart the runs of the middle half are, as a share of the
// median: one disturbed run in five does not widen it.
func (s sample) spread() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(s))
	quarter := len(v) / 4
	return (v[len(v)-1-quarter] - v[quarter]) / s.median()
}

// text is median and range, scaled by unit and with so many digits.
func (s sample) text(unit float64, digits int) string {
	if len(s) == 0 {
		return "–"
	}
	f := func(v float64) string { return fmt.Sprintf("%.*f", digits, v/unit) }
	return fmt.Sprintf("%s (%s–%s)", f(s.median()), f(slices.Min(s)), f(slices.Max(s)))
}

// apart is the difference of two medians as a share of the second.
func apart(a, b sample) float64 { return math.Abs(a.median()-b.median()) / b.median() }

// A target is something that the numbers should reach.
type target struct{ what, got, verdict string }

// Verdicts on a target.
const (
	met    = "met"
	missed = "MISSED"
	noisy  = "too noisy to say"
)

func metIf(ok bool) string {
	if ok {
		return met
	}
	return missed
}

// tooNoisy is the spread of fio's own runs from which a comparison with them
// says nothing: anything would agree.
const tooNoisy = 0.25

// agrees judges two samples that should have the same median.
func agrees(n, f sample, limit float64) string {
	if f.spread() > tooNoisy {
		return noisy
	}
	return metIf(apart(n, f) <= max(limit, f.spread()))
}

// A table is one of the document; the first column is left-aligned.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) markdown() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "--:"
	}
	rule[0] = ":--"
	line(rule)
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}

// count words a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
