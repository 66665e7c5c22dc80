package html

import (
	"bytes"
	"fmt"
	"strings"

	"nativ/internal/report"
	"nativ/internal/report/plot"
)

// chart writes a figure: the place for the interactive chart, the static picture,
// what it shows in words, and its data.
func (p *page) chart(c *report.Chart) error {
	svg, err := plot.SVG(c, plot.Options{Bare: true})
	if err != nil {
		return fmt.Errorf("draw chart %s: %w", c.ID, err)
	}
	n := len(p.charts)
	p.charts = append(p.charts, c)
	class := ""
	if c.Title == p.head { // stands above already
		class = " class=\"sr\""
	}
	p.f("<figure class=\"chart\" id=\"chart-%s\" data-chart=\"%d\">\n<figcaption><h3 id=\"c%d\"%s>%s</h3>", esc(c.ID), n, n, class, p.text(c.Title))
	if c.Simulated != "" {
		p.f("<p class=\"mark\">%s</p>", esc(mark(c)))
	}
	p.f("<p class=\"sub\">%s</p></figcaption>\n", p.text(c.Subtitle))
	picture := inline(svg)
	if p.assets.script == "" {
		p.f("<div class=\"static\">%s</div>\n", picture)
	} else {
		// The script puts the picture in front before the page is printed.
		p.f("<div class=\"live\"></div>\n<div class=\"static\"></div>\n<noscript><div class=\"static\">%s</div></noscript>\n", picture)
	}
	p.f("<p class=\"alt\" id=\"a%d\">%s</p>\n", n, p.text(c.Alt))
	p.lines(" class=\"legend\"", c.Notes)
	if len(c.Data.Rows) > 0 {
		p.f("<details class=\"data\"><summary>%s</summary>\n", esc(p.texts.data))
		p.table(c.Data, fmt.Sprintf("c%d", n), "")
		p.f("</details>\n")
	}
	p.f("</figure>\n")
	return nil
}

// mark is what a chart of a simulation says first: "SIMULATED". The rest of it is at
// the top of the page.
func mark(c *report.Chart) string {
	word, _, _ := strings.Cut(c.Simulated, ":")
	return word
}

// inline is a picture as an element of the page: without what a file of its own
// begins with.
func inline(svg []byte) []byte {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:]
	}
	return bytes.TrimSpace(svg)
}
