package html

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nativ/internal/report"
)

// luminance is that of WCAG 2.2, "relative luminance", of "#rrggbb".
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != 7 {
		t.Fatalf("%q is no colour", colour)
	}
	linear := func(n uint64) float64 {
		c := float64(n&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(v>>16) + 0.7152*linear(v>>8) + 0.0722*linear(v)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// colours are the custom properties of a rule.
func colours(t *testing.T, selector string) map[string]string {
	t.Helper()
	_, rest, ok := strings.Cut(pageStyle, selector+" {")
	if !ok {
		t.Fatalf("no rule %s", selector)
	}
	body, _, _ := strings.Cut(rest, "}")
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(body, -1) {
		all[m[1]] = m[2]
	}
	if len(all) < 9 {
		t.Fatalf("%s has only %d colours", selector, len(all))
	}
	return all
}

// WCAG 2.2 AA: 4.5:1 for text (1.4.3), 3:1 for what else has to be seen (1.4.11).
func TestContrast(t *testing.T) {
	light, dark := colours(t, ":root"), colours(t, ":root[data-theme=dark]")
	if asked := colours(t, ":root:not([data-theme=light])"); !maps.Equal(dark, asked) {
		t.Errorf("dark by choice is %v, dark by the system %v", dark, asked)
	}
	if light["page"] != report.PageLight || dark["page"] != report.PageDark {
		t.Error("charts are made for another page")
	}
	for name, c := range map[string]map[string]string{"light": light, "dark": dark} {
		for _, pair := range [][2]string{
			{"ink", "page"}, {"ink", "card"}, {"ink", "accent-soft"}, {"muted", "page"}, {"muted", "card"}, {"muted", "accent-soft"},
			{"accent", "page"}, {"accent", "card"}, {"accent", "accent-soft"}, {"mark", "page"}, {"mark", "mark-soft"},
		} {
			if r := contrast(t, c[pair[0]], c[pair[1]]); r < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f", name, pair[0], pair[1], r)
			}
		}
	}
	for n := range 6 {
		s := report.StyleOf(n)
		if r := contrast(t, s.Light, light["page"]); r < 3 {
			t.Errorf("series %d has a contrast of %.2f on a light page", n, r)
		}
		if r := contrast(t, s.Dark, dark["page"]); r < 3 {
			t.Errorf("series %d has a contrast of %.2f on a dark page", n, r)
		}
	}
}

// Every class of the page's style is one that something has.
func TestStyleIsUsed(t *testing.T) {
	p := pageOf(t, every("en", "Text"), some)
	p = strings.Replace(p, pageStyle, "", 1)
	for _, m := range regexp.MustCompile(`[\s,>~(]\.([a-z-]+)`).FindAllStringSubmatch(pageStyle, -1) {
		if !regexp.MustCompile(`class="[^"]*\b` + m[1] + `\b`).MatchString(p) {
			t.Errorf("nothing has the class %s", m[1])
		}
	}
}
