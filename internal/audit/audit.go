// Package audit checks what somebody published, or measured, for what cannot be
// true or does not show what it claims: a table, JSON of fio, a job file or a
// record. It is pure. What it finds are codes with the numbers of the arithmetic,
// in base units; package report words them.
//
// A rule speaks only where it has numbers. What a file does not tell is never
// held against it, except by rules that say so.
package audit

import (
	"cmp"
	"slices"
)

// A Severity is how bad a finding is.
type Severity string

// The severities, from worst to least.
const (
	// Error: it cannot be true, or contradicts itself.
	Error Severity = "error"
	// Warning: it does not show what it seems to show.
	Warning Severity = "warning"
	// Info: what a reader should know; no fault.
	Info Severity = "info"
)

// rank orders severities, the worst first.
func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Info}, s) }

// AtLeast reports whether s is as bad as o or worse.
func (s Severity) AtLeast(o Severity) bool { return s.rank() <= o.rank() }

// A Finding is one thing that a rule found.
type Finding struct {
	// Rule is the ID of the rule, Case which of its texts says it, "" for the
	// only one.
	Rule     string   `json:"rule"`
	Case     string   `json:"case,omitempty"`
	Severity Severity `json:"severity"`
	// File is the file as it was named, Where the places in it: a path in JSON
	// ("tables.native[1]", counted from 0), a line ("line 12"), a phase and place
	// of a record.
	File  string   `json:"file"`
	Where []string `json:"where,omitempty"`
	// Values are the numbers of the arithmetic in base units, Words its strings;
	// each text names those that it uses.
	Values map[string]float64 `json:"values,omitempty"`
	Words  map[string]string  `json:"words,omitempty"`
}

// A Rule is one check.
type Rule struct {
	ID string `json:"id"`
	// Severities are those that its findings can have, the worst first.
	Severities []Severity `json:"severities"`
	// Cases are the names of its texts; one "" where there is only one.
	Cases []string `json:"cases"`

	check func(*Subject, *finder)
}

// Rules lists the rules in the order in which they are explained.
func Rules() []Rule { return slices.Clone(rules) }

// RuleByID returns a rule.
func RuleByID(id string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// Check applies every rule to every subject, and those about two files to each
// with the first. Findings are sorted by severity and then in the order of files
// and rules.
func Check(subjects ...*Subject) []Finding {
	var all []Finding
	for _, s := range subjects {
		for i := range rules {
			f := &finder{rule: &rules[i], file: s.File}
			rules[i].check(s, f)
			all = append(all, f.found...)
		}
	}
	if len(subjects) > 1 {
		all = append(all, between(subjects)...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	return all
}

// Worst is the worst severity of findings; Info without any.
func Worst(all []Finding) Severity {
	worst := Info
	for _, f := range all {
		if f.Severity.rank() < worst.rank() {
			worst = f.Severity
		}
	}
	return worst
}

// A finder collects what a rule finds.
type finder struct {
	rule  *Rule
	file  string
	found []Finding
}

func (f *finder) add(s Severity, variant string, where []string, values map[string]float64, words map[string]string) {
	f.found = append(f.found, Finding{Rule: f.rule.ID, Case: variant, Severity: s, File: f.file, Where: where, Values: values, Words: words})
}

// vals and words build the maps of a finding.
type vals = map[string]float64
type words = map[string]string
