package analysis

import "math"

// A Comparison is one metric of one phase in two places or sets of passes.
type Comparison struct {
	Phase  string
	Metric Metric
	// A is what B is compared with.
	A, B string
	// Estimate is of B over A. For a latency more than 1 is slower.
	Estimate
	// Margin is the difference that does not matter, as a fraction.
	Margin float64
	// WithinRun is true where the units are passes of one run on each side, so
	// that the interval has nothing of what differs from run to run.
	WithinRun bool

	// Judgement and what follows are filled in by Judge.
	Judgement Judgement
	// Reason is why the judgement is JudgeInconclusive or JudgeNone.
	Reason Reason
	// AdjustedP is the p of the t test after Holm's correction, FlipP that of the
	// sign-flip test; nil where that has no part in the judgement.
	AdjustedP float64
	FlipP     *float64
	// MoreRounds is about how many more rounds would decide, where the judgement
	// is JudgeInconclusive; nil where no number in reach would.
	MoreRounds *int
	// Doubt is set where something else than the places may make the difference
	// or hide it, so that the judgement is of the numbers alone.
	Doubt Doubt
}

// A Judgement is what may be said of a comparison.
type Judgement string

// The judgements.
const (
	// JudgeEquivalent: the 90 % interval lies within the margin, which is two
	// one-sided tests at 5 % (Schuirmann 1987), and no difference is proven.
	JudgeEquivalent Judgement = "equivalent"
	// JudgeDifferent: a difference is proven.
	JudgeDifferent Judgement = "different"
	// JudgeNegligible: a difference is proven and lies within the margin.
	JudgeNegligible Judgement = "negligible"
	// JudgeInconclusive: neither a difference nor its absence is proven.
	JudgeInconclusive Judgement = "inconclusive"
	// JudgeNone: there is no interval to judge by.
	JudgeNone Judgement = "none"
)

// A Reason is why nothing is decided.
type Reason string

// The reasons.
const (
	// ReasonSingle: nothing was repeated on at least one side.
	ReasonSingle Reason = "single-values"
	// ReasonWide: the interval is too wide.
	ReasonWide Reason = "wide-interval"
	// ReasonFamily: the interval leaves out 1, but among so many phases chance
	// does that to one.
	ReasonFamily Reason = "family"
	// ReasonTests: the t test and the sign-flip test disagree.
	ReasonTests Reason = "tests-disagree"
)

const (
	// confidence is that of the intervals that are shown, and chance the error of
	// the tests of one family.
	confidence = 0.95
	chance     = 0.05
	// power is the chance to decide with which MoreRounds reckons.
	power = 0.8
	// mostRounds bounds MoreRounds: a run of more is nothing to suggest.
	mostRounds = 200
)

// Different reports whether a difference is proven, whatever its size.
func (c *Comparison) Different() bool {
	return c.Judgement == JudgeDifferent || c.Judgement == JudgeNegligible
}

// Judge fills in the judgements. The comparisons of one metric and the same two
// sides are one family: over their phases the error of naming a difference that
// is not there is at most 5 % (Holm).
//
// A difference counts as proven where the t test and, from so many rounds on that
// it can at all, the sign-flip test both say so.
func Judge(all []*Comparison) {
	type family struct {
		metric Metric
		a, b   string
	}
	families := map[family][]*Comparison{}
	var order []family
	for _, c := range all {
		c.Judgement, c.Reason = JudgeNone, ReasonSingle
		if !c.Known() {
			continue
		}
		f := family{c.Metric, c.A, c.B}
		if families[f] == nil {
			order = append(order, f)
		}
		families[f] = append(families[f], c)
	}
	for _, f := range order {
		judgeFamily(families[f])
	}
}

func judgeFamily(all []*Comparison) {
	var t, flip []float64
	for _, c := range all {
		t, flip = append(t, c.P()), append(flip, c.P())
		if c.Flip != nil && leastFlip(c.N)*float64(len(all)) <= chance {
			flip[len(flip)-1] = *c.Flip
		}
	}
	adjusted, flipped := holm(t), holm(flip)
	for i, c := range all {
		c.AdjustedP, c.FlipP = adjusted[i], nil
		if c.Flip != nil && leastFlip(c.N)*float64(len(all)) <= chance {
			c.FlipP = &flipped[i]
		}
		byT, byFlip := adjusted[i] <= chance, flipped[i] <= chance
		low, high, _ := c.Interval(1 - 2*chance)
		within := low >= 1-c.Margin && high <= 1+c.Margin
		outside := t[i] <= chance // then the 95 % interval leaves out 1
		c.Reason, c.MoreRounds = "", nil
		switch proven := byT && byFlip; {
		case proven && within:
			c.Judgement = JudgeNegligible
		case proven:
			c.Judgement = JudgeDifferent
		case within:
			c.Judgement = JudgeEquivalent
		default:
			c.Judgement, c.Reason = JudgeInconclusive, ReasonWide
			switch {
			case byT != byFlip:
				c.Reason = ReasonTests
			case outside:
				c.Reason = ReasonFamily
			}
			c.MoreRounds = c.moreRounds(len(all))
		}
	}
}

// moreRounds is how many rounds a run needs beyond N to be decided with the
// chance power, if difference and scatter are as they were estimated: to find it,
// or to show that it lies within the margin, whichever is sooner.
func (c *Comparison) moreRounds(family int) *int {
	if c.Flip == nil || c.SE <= 0 {
		return nil
	}
	sd := c.SE * math.Sqrt(float64(c.N))
	size := math.Abs(c.Log)
	// From 1 to the nearer end of the margin; negative where it is beyond.
	room := math.Log(1+c.Margin) - size
	if c.Log < 0 {
		room = -math.Log(1-c.Margin) - size
	}
	for n := c.N + 1; n <= mostRounds; n++ {
		if n%2 != 0 {
			continue // half of the rounds in either order
		}
		find := size / sd * math.Sqrt(float64(n))
		show := room / sd * math.Sqrt(float64(n))
		df := float64(n - 1)
		if show >= tQuantile(1-chance, df)+tQuantile(power, df) ||
			leastFlip(n)*float64(family) <= chance && find >= tQuantile(1-chance/2/float64(family), df)+tQuantile(power, df) {
			return new(n - c.N)
		}
	}
	return nil
}
