package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"nativ/internal/job"
	"nativ/internal/record"
)

const (
	// OutlierLimit is the modified z-score beyond which a value counts as an
	// outlier: 0.6745 |x - median| / MAD of the logarithms (Iglewicz and Hoaglin
	// 1993).
	OutlierLimit = 3.5
	// OutlierLeast is the difference to the median up to which nothing is one:
	// where all agree closely the score makes much of nothing.
	OutlierLeast = 0.03
	// OutlierSides is from how many values on outliers are named. With fewer the
	// MAD itself is too uncertain.
	OutlierSides = 10
)

// A Ranking sets many sides against each other.
type Ranking struct {
	Sides []Side `json:"sides"`
	// Groups are phases that did the same, in the order in which they appear.
	Groups []Group `json:"groups"`
	// Mixed lists sources of numbers where they are not all of one.
	Mixed []string `json:"mixed_sources,omitempty"`
	// Alone are phases that only one side has, by name.
	Alone []Alone `json:"alone,omitempty"`
}

// Alone is a phase without any other to rank it with.
type Alone struct {
	Side  int    `json:"side"`
	Phase string `json:"phase"`
}

// A Group is one phase in all sides that have it.
type Group struct {
	// Phase is that of the first side.
	Phase job.Phase `json:"phase"`
	Lists []List    `json:"lists"`
	// Missing are the indices of sides that have no such phase.
	Missing []int `json:"missing,omitempty"`
}

// A List ranks one metric, the best first.
type List struct {
	Metric Name    `json:"metric"`
	Median float64 `json:"median"`
	// MAD is the median absolute deviation of the logarithms.
	MAD     float64 `json:"log_mad"`
	Entries []Entry `json:"entries"`
	// Judged is false where outliers are not named: too few values, or more than
	// half of them equal.
	Judged bool `json:"outliers_judged"`
}

// An Entry is one side in a list.
type Entry struct {
	Side   int     `json:"side"`
	Value  float64 `json:"value"`
	Passes int     `json:"passes"`
	// Score is the modified z-score; nil where it is not judged.
	Score   *float64 `json:"score,omitempty"`
	Outlier bool     `json:"outlier,omitempty"`
	Doubts  []string `json:"doubts,omitempty"`
}

// Rank ranks sides, phase by phase. Phases belong together where they did the
// same, whatever they are called.
func Rank(sides []Side) Ranking {
	k := Ranking{Sides: slices.Clone(sides)}
	for i := range k.Sides {
		k.Sides[i].Source = source(k.Sides[i].Record)
	}
	type member struct {
		side int
		data data
	}
	var groups [][]member
	sources := map[string]bool{}
	for i := range sides {
		sources[source(sides[i].Record)] = true
		taken := map[int]bool{}
		for _, d := range dataOf(&sides[i]) {
			g := slices.IndexFunc(groups, func(g []member) bool {
				return len(settingReasons(&g[0].data.job, &d.job)) == 0 && g[0].data.job.Name == d.job.Name
			})
			if g < 0 || taken[g] {
				g = slices.IndexFunc(groups, func(g []member) bool { return len(settingReasons(&g[0].data.job, &d.job)) == 0 })
			}
			if g < 0 || taken[g] {
				groups = append(groups, nil)
				g = len(groups) - 1
			}
			taken[g] = true
			groups[g] = append(groups[g], member{i, d})
		}
	}
	if len(sources) > 1 {
		k.Mixed = slices.Sorted(maps.Keys(sources))
	}
	for _, members := range groups {
		if len(members) < 2 {
			k.Alone = append(k.Alone, Alone{members[0].side, members[0].data.job.Name})
			continue
		}
		g := Group{Phase: members[0].data.job}
		for i := range sides {
			if !slices.ContainsFunc(members, func(m member) bool { return m.side == i }) {
				g.Missing = append(g.Missing, i)
			}
		}
		for _, name := range Names() {
			l := List{Metric: name}
			for _, m := range members {
				if v, n := m.data.value(name); v != nil && *v > 0 {
					l.Entries = append(l.Entries, Entry{Side: m.side, Value: *v, Passes: n, Doubts: m.data.doubts})
				}
			}
			if len(l.Entries) < 2 {
				continue
			}
			l.judge()
			g.Lists = append(g.Lists, l)
		}
		k.Groups = append(k.Groups, g)
	}
	return k
}

// judge sorts a list and names its outliers.
func (l *List) judge() {
	slices.SortStableFunc(l.Entries, func(a, b Entry) int {
		if l.Metric == IOPS || l.Metric == BW {
			return cmp.Compare(b.Value, a.Value)
		}
		return cmp.Compare(a.Value, b.Value)
	})
	logs := make([]float64, len(l.Entries))
	for i := range logs {
		logs[i] = math.Log(l.Entries[i].Value)
	}
	middle := median(logs)
	l.Median = math.Exp(middle)
	away := make([]float64, len(logs))
	for i := range away {
		away[i] = math.Abs(logs[i] - middle)
	}
	l.MAD = median(away)
	l.Judged = len(logs) >= OutlierSides && l.MAD > 0
	if !l.Judged {
		return
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		// 0.6745 is the MAD of the normal distribution with a deviation of 1.
		e.Score = new(0.6745 * (logs[i] - middle) / l.MAD)
		e.Outlier = math.Abs(*e.Score) > OutlierLimit && math.Abs(e.Value/l.Median-1) > OutlierLeast
	}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Simulated reports whether any of the sides was not measured but simulated.
func Simulated(sides ...Side) bool {
	return slices.ContainsFunc(sides, func(s Side) bool { return s.Record.Simulated != nil })
}

// Published reports whether all numbers of a record are somebody's publication.
func Published(r *record.Record) bool { return source(r) == SourcePublished }
