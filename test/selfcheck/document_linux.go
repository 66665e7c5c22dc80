package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// A document is what was found.
type document struct {
	records []*record.Record
	// self are the comparisons of the host with itself, held those of the container
	// that is held to nine tenths of iops.
	self, held []*analysis.Comparison
	iops       int
}

// truth is what the container does of what the pinned host does.
const truth = 0.9

func (d *document) markdown() []byte {
	var b strings.Builder
	first := d.records[0]
	host := &first.Host
	fmt.Fprintf(&b, `# Two questions with known answers

What nativ says on a real machine where the answer is known beforehand. Written by `+"`go run ./test/selfcheck`"+`, which takes over an hour; docs/method.md has the error rates from thousands of simulated runs.

| | |
| :-- | :-- |
| machine | %s, %d CPUs, %.0f GiB%s |
| kernel | %s, %s |
| drive | %s on %s |
| nativ | %s |
| date | %s to %s UTC |
| other load | %s |
| each run | two phases (random read and write, 4 KiB, iodepth 32, numjobs 4), %d rounds of four passes |

`, host.CPUModel, len(host.CPUs), float64(host.MemoryBytes)/(1<<30), virtual(host), host.Kernel, host.OS,
		drive(&first.Target), first.Target.FSType, first.Tool.Version,
		when(first.Started), when(d.last().Ended), d.disturbed(), rounds)

	if len(d.self) > 0 {
		fmt.Fprintf(&b, `## The host against itself

`+"`nativ bench --places host,host --rounds %d --runtime %s`"+`, %d comparisons. There is no difference to find; a rule that errs in one run of twenty calls about that share of the runs different.

**%d called different**, %d different but negligible, %d equivalent (within 3 %%), %d inconclusive, %d without a judgement.

`, rounds, pass, len(d.self), count(d.self, analysis.JudgeDifferent), count(d.self, analysis.JudgeNegligible),
			count(d.self, analysis.JudgeEquivalent), count(d.self, analysis.JudgeInconclusive), count(d.self, analysis.JudgeNone))
		table(&b, d.self)
	}
	if len(d.held) > 0 {
		covered := 0
		for _, c := range d.held {
			if low, high, ok := c.Interval(0.95); ok && low <= truth && truth <= high {
				covered++
			}
		}
		fmt.Fprintf(&b, `## A container held to nine tenths

The pinned host is held to %d I/Os a second by its cgroup, the container to %d: it loses 10 %%. Passes of %s.

**%d of %d called different**; %d of the %d intervals cover -10 %%.

`, d.iops, d.iops*9/10, heldPass, count(d.held, analysis.JudgeDifferent), len(d.held), covered, len(d.held))
		table(&b, d.held)
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
}

// last is the record that ended last.
func (d *document) last() *record.Record {
	return slices.MaxFunc(d.records, func(a, b *record.Record) int { return a.Ended.Compare(b.Ended) })
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// disturbed says in how many runs something else took CPU time.
func (d *document) disturbed() string {
	n := 0
	for _, rec := range d.records {
		if slices.ContainsFunc(analysis.Compute(rec).Warnings, func(w record.Warning) bool { return w.Code == record.WarnOtherLoad }) {
			n++
		}
	}
	return fmt.Sprintf("noticed by nativ in %d of %d runs", n, len(d.records))
}

func table(b *strings.Builder, all []*analysis.Comparison) {
	fmt.Fprint(b, "| phase | difference | 95 % interval | judgement |\n| :-- | --: | --: | :-- |\n")
	for _, c := range all {
		difference, interval := "not known", "none"
		if c.N > 0 {
			difference = percent(c.Ratio())
		}
		if low, high, ok := c.Interval(0.95); ok {
			interval = percent(low) + " to " + percent(high)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", c.Phase, difference, interval, c.Judgement)
	}
	fmt.Fprintln(b)
}

func percent(ratio float64) string { return fmt.Sprintf("%+.2f %%", 100*(ratio-1)) }

func count(all []*analysis.Comparison, j analysis.Judgement) (n int) {
	for _, c := range all {
		if c.Judgement == j {
			n++
		}
	}
	return n
}

func virtual(h *record.Host) string {
	if h.Virtualised == nil {
		return ""
	}
	return ", in a virtual machine"
}

func drive(t *record.Target) string {
	if len(t.Drives) == 0 {
		return "not known"
	}
	d := &t.Drives[0]
	if d.Model != nil {
		return *d.Model
	}
	if d.Transport != "" {
		return "a " + d.Transport + " disk"
	}
	return "a disk"
}
