package compare

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"nativ/internal/job"
)

// A Condition is met where a metric of B, in percent of what it is in A, changed
// by so much:
//
//	condition = [phase "."] metric ("<" | "<=" | ">" | ">=") percent "%"
//	metric    = "iops" | "bw" | "p50" | "p99" | "p99.9"
//
// A phase is named by its name or its mode (syncwrite where each write waits for a
// sync); without one the condition is about all. The percentage has a sign:
// iops<-5% is a loss of more than 5 %, p99>+10% a latency that is more than 10 %
// longer.
type Condition struct {
	Text   string
	Phase  string // "" is all
	Metric Name
	Op     string
	// Change is a fraction: -0.05.
	Change float64
}

var conditionForm = regexp.MustCompile(`^(?:(.+)\.)?(iops|bw|p50|p99\.9|p99)(<=|>=|<|>)([+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)%$`)

// ParseCondition reads a condition; blanks around its parts are let pass.
func ParseCondition(s string) (Condition, error) {
	bad := func(why string) (Condition, error) {
		return Condition{}, fmt.Errorf("condition %q: %s; write for example randread.iops<-5%% or p99>+10%% (metrics: iops, bw, p50, p99, p99.9)", s, why)
	}
	m := conditionForm.FindStringSubmatch(strings.Join(strings.Fields(s), ""))
	if m == nil {
		switch {
		case !strings.ContainsAny(s, "<>"):
			return bad("there is no < or >")
		case !strings.HasSuffix(strings.TrimSpace(s), "%"):
			return bad("the change is not in percent")
		}
		return bad("it has another form")
	}
	v, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return bad("the percentage is no number")
	}
	if v <= -100 {
		return bad("nothing can fall by 100 % or more")
	}
	return Condition{Text: strings.TrimSpace(s), Phase: m[1], Metric: Name(m[2]), Op: m[3], Change: v / 100}, nil
}

// about reports whether the condition is about a phase.
func (c *Condition) about(phases ...*job.Phase) bool {
	if c.Phase == "" {
		return true
	}
	for _, j := range phases {
		if strings.EqualFold(c.Phase, j.Name) || strings.EqualFold(c.Phase, Kind(j)) {
			return true
		}
	}
	return false
}

// met reports whether a ratio meets the condition.
func (c *Condition) met(ratio float64) bool {
	// Logarithms cost the last digits: what is equal must stay so.
	const same = 1e-9
	over := ratio - 1 - c.Change
	switch c.Op {
	case "<":
		return over < -same
	case "<=":
		return over <= same
	case ">":
		return over > same
	}
	return over >= -same
}

// A Hit is where a condition is met.
type Hit struct {
	Condition string `json:"condition"`
	// Side is the label of the input, with many.
	Side  string `json:"side,omitempty"`
	Phase string `json:"phase"`
	// Ratio is what met it; Low and High its 95 % interval.
	Ratio float64  `json:"ratio"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Sure is true where the whole interval meets the condition.
	Sure bool `json:"sure"`
}

// A Checked is what became of conditions.
type Checked struct {
	Hits []Hit `json:"hits"`
	// Unchecked are conditions for which there is no number at all.
	Unchecked []string `json:"unchecked,omitempty"`
}

// Check holds conditions against comparisons. What decides is the ratio itself, as
// it is shown: a condition names a limit, and intervals say how sure it is.
func Check(conditions []Condition, all ...*Comparison) Checked {
	r := Checked{Hits: []Hit{}}
	for i := range conditions {
		c := &conditions[i]
		seen := false
		for _, cmp := range all {
			for k := range cmp.Pairs {
				p := &cmp.Pairs[k]
				m := p.Metric(c.Metric)
				if !c.about(&p.A, &p.B) || m == nil || m.Ratio == nil {
					continue
				}
				seen = true
				if c.met(*m.Ratio) {
					r.Hits = append(r.Hits, Hit{Condition: c.Text, Phase: p.A.Name, Ratio: *m.Ratio, Low: m.Low, High: m.High,
						Sure: m.Low != nil && m.High != nil && c.met(*m.Low) && c.met(*m.High)})
				}
			}
		}
		if !seen {
			r.Unchecked = append(r.Unchecked, c.Text)
		}
	}
	return r
}

// CheckRanking holds conditions against a ranking: each side against the median.
func CheckRanking(conditions []Condition, k *Ranking) Checked {
	r := Checked{Hits: []Hit{}}
	for i := range conditions {
		c := &conditions[i]
		seen := false
		for g := range k.Groups {
			group := &k.Groups[g]
			for _, l := range group.Lists {
				if l.Metric != c.Metric || !c.about(&group.Phase) {
					continue
				}
				for _, e := range l.Entries {
					seen = true
					if ratio := e.Value / l.Median; !math.IsNaN(ratio) && c.met(ratio) {
						r.Hits = append(r.Hits, Hit{Condition: c.Text, Side: k.Sides[e.Side].Label, Phase: group.Phase.Name, Ratio: ratio})
					}
				}
			}
		}
		if !seen {
			r.Unchecked = append(r.Unchecked, c.Text)
		}
	}
	return r
}
