package audit

import (
	"regexp"
	"strconv"
	"strings"
)

// A Claim is one statement of a publication about the ratio of two sides.
type Claim struct {
	// Text is the part of the sentence that says it.
	Text  string
	Where string
	// Percent of the other side that is reached; 0 where the claim is AlmostNone.
	Percent float64
	// ULP is the worth of its last digit, in percent.
	ULP float64
	// AlmostNone: hardly anything is lost.
	AlmostNone bool
	// Random, Sequential, Read and Write are what the claim is about, as far as it
	// says.
	Random, Sequential, Read, Write bool
}

var (
	percentIn  = regexp.MustCompile(`([0-9]+(?:[.,][0-9]+)?)[ \x{00a0}\x{202f}]*(?:%|percent|prozent)`)
	clauseEnds = regexp.MustCompile(`[.;:!?](?:\s|$)|,\s|\n`)
	almostNone = regexp.MustCompile(`(?i)\b(almost no|hardly any|barely any|virtually no|next to no|no measurable|negligible|kaum|fast kein\w*|praktisch kein\w*|nahezu kein\w*|so gut wie kein\w*|vernachlässigbar\w*)\b`)
	aboutSpeed = regexp.MustCompile(`(?i)(performance|speed|loss|overhead|penalty|leistung|geschwindigkeit|verlust|einbu)`)
	loses      = regexp.MustCompile(`(?i)(loses?|loss|slower|less|costs?|drops?|verlier|verlust|langsamer|weniger|kostet|einbu)`)
)

// parseClaims finds what a text says of ratios, in English or German. A percentage
// of something else (a fill level, a humidity) is none: the clause must name what
// was read or written.
func parseClaims(text, where string) []Claim {
	var all []Claim
	for _, clause := range clauses(text) {
		low := strings.ToLower(clause)
		c := Claim{Text: strings.TrimSpace(clause), Where: where}
		c.Random = strings.Contains(low, "random") || strings.Contains(low, "zufäll") || strings.Contains(low, "wahlfrei")
		c.Sequential = strings.Contains(low, "sequen") || strings.Contains(low, "seq.")
		c.Read = regexp.MustCompile(`(?i)\b(reads?|reading|lesen\w*|gelesen|liest|lese\w*)\b`).MatchString(clause)
		c.Write = regexp.MustCompile(`(?i)\b(writes?|writing|written|schreib\w*|geschrieben)\b`).MatchString(clause)
		m := percentIn.FindAllStringSubmatch(low, -1)
		switch {
		case len(m) == 1 && (c.Random || c.Sequential || c.Read || c.Write):
			v, err := strconv.ParseFloat(strings.Replace(m[0][1], ",", ".", 1), 64)
			if err != nil || v > 1000 {
				continue
			}
			c.ULP = lastDigit(strings.Replace(m[0][1], ",", ".", 1))
			if c.ULP > 1 {
				c.ULP = 1 // 100 % is not rounded to hundreds
			}
			if c.Percent = v; loses.MatchString(low) {
				c.Percent = 100 - v
			}
			all = append(all, c)
		case len(m) == 0 && almostNone.MatchString(clause) && aboutSpeed.MatchString(clause):
			c.AlmostNone = true
			all = append(all, c)
		}
	}
	return all
}

// clauses divides a text where a sentence or a part of it ends. A decimal sign is
// followed by no space.
func clauses(text string) []string {
	var all []string
	for _, c := range clauseEnds.Split(text, -1) {
		if strings.TrimSpace(c) != "" {
			all = append(all, c)
		}
	}
	return all
}

// about reports whether the claim can be about the row.
func (c *Claim) about(r *Row) bool {
	switch {
	case c.Random && !r.Mode.Random(), c.Sequential && r.Mode.Random():
		return false
	case c.Read && !c.Write && !r.reads(), c.Write && !c.Read && r.Dir != "write":
		return false
	}
	return true
}
