package html

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"nativ/internal/report"
)

// blocks writes blocks; head is the id of the heading that names their tables.
func (p *page) blocks(blocks []report.Block, head string) error {
	for i, b := range blocks {
		switch b := b.(type) {
		case report.Subheading:
			p.tables++
			head = fmt.Sprintf("h%d", p.tables)
			p.f("<h3 id=\"%s\">%s</h3>\n", head, p.text(b.Text))
		case report.Finding:
			p.f("<p class=\"finding\">%s</p>\n", p.text(b.Text))
		case report.Facts:
			p.facts(b)
		case report.Table:
			p.table(b, head, "")
		case report.Paragraph:
			p.lines("", b.Lines)
		case report.Legend:
			p.lines(" class=\"legend\"", b.Lines)
		case report.Footnotes:
			p.footnotes(b)
		case report.Command:
			p.command(b.Line)
		case report.Fold:
			p.f("<details class=\"fold\"><summary>%s</summary>\n", p.text(b.Title))
			if err := p.blocks(b.Blocks, head); err != nil {
				return err
			}
			p.f("</details>\n")
		case *report.Chart:
			// Several stand side by side where there is room.
			_, before := at(blocks, i-1).(*report.Chart)
			_, after := at(blocks, i+1).(*report.Chart)
			if after && !before {
				p.f("<div class=\"grid\">\n")
			}
			if err := p.chart(b); err != nil {
				return err
			}
			if before && !after {
				p.f("</div>\n")
			}
		}
	}
	return nil
}

// at is a block, nil beyond the ends.
func at(blocks []report.Block, i int) report.Block {
	if i < 0 || i >= len(blocks) {
		return nil
	}
	return blocks[i]
}

func (p *page) facts(f report.Facts) {
	p.f("<dl>\n")
	last := ""
	for i, r := range f.Rows {
		// A label that is only repeated, or left empty, goes on with the one above.
		if label := strings.TrimSpace(r.Label); i == 0 || label != "" && label != last {
			p.f("<dt>%s</dt>", p.text(label))
			last = label
		}
		p.f("<dd>%s</dd>\n", p.text(r.Text))
	}
	p.f("</dl>\n")
}

// bars are columns of block characters, with which text draws; the page has charts.
var bars = regexp.MustCompile(`^[▁▂▃▄▅▆▇█▏ ]*$`)

func (p *page) table(t report.Table, head, class string) {
	skip := map[int]bool{}
	for i := range t.Columns {
		drawn := i > 0 && len(t.Rows) > 0
		for _, r := range t.Rows {
			drawn = drawn && i < len(r.Cells) && r.Cells[i].Span <= 1 && r.Cells[i].Text != "" && bars.MatchString(r.Cells[i].Text)
		}
		skip[i] = drawn
	}
	label := ""
	if head != "" {
		label = fmt.Sprintf(" aria-labelledby=\"%s\"", head)
	} else if len(t.Columns) > 0 {
		label = fmt.Sprintf(" aria-label=\"%s\"", esc(t.Columns[0].Head))
	}
	// What scrolls must be reachable by keyboard, and named.
	p.f("<div class=\"scroll\" role=\"group\" tabindex=\"0\"%s>\n<table%s>\n<thead><tr>", label, class)
	for i, c := range t.Columns {
		if !skip[i] {
			p.f("<th scope=\"col\"%s>%s</th>", side(c.Left), p.cell(c.Head))
		}
	}
	p.f("</tr></thead>\n<tbody>\n")
	for _, r := range t.Rows {
		p.f("<tr>")
		col := 0
		for i, c := range r.Cells {
			if col >= len(t.Columns) {
				break
			}
			span := max(c.Span, 1)
			left := t.Columns[col].Left
			if skip[col] {
				col += span
				continue
			}
			tag, attr := "td", side(left)
			if i == 0 {
				tag, attr = "th", " scope=\"row\""+side(left)
			}
			if span > 1 {
				attr += fmt.Sprintf(" colspan=\"%d\"", span)
			}
			p.f("<%s%s>%s", tag, attr, p.cell(c.Text))
			if i == 0 && r.Notes != "" {
				p.f("%s", p.text("\u00a0"+r.Notes))
			}
			p.f("</%s>", tag)
			col += span
		}
		p.f("</tr>\n")
	}
	p.f("</tbody>\n</table>\n</div>\n")
}

func side(left bool) string {
	if left {
		return " class=\"l\""
	}
	return ""
}

// cell is a text of a table; runs of spaces, which only align text, become one.
func (p *page) cell(s string) string {
	return p.text(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " "))
}

func (p *page) footnotes(f report.Footnotes) {
	p.f("<ol class=\"notes\">\n")
	for i, item := range f.Items {
		n := i + 1
		p.f("<li id=\"fn%d\">%s", n, esc(item))
		if p.seen[n] {
			p.f(" <a class=\"back\" href=\"#ref%d\" aria-label=\"%s\">↩</a>", n, esc(fmt.Sprintf(p.texts.back, n)))
		}
		p.f("</li>\n")
	}
	p.f("</ol>\n")
}

func (p *page) command(line string) {
	p.f("<div class=\"command\"><pre tabindex=\"0\"><code>%s</code></pre><button type=\"button\" class=\"copy scripted\" hidden data-done=\"%s\">%s</button></div>\n",
		esc(strings.ReplaceAll(line, "\u00a0", " ")), esc(p.texts.copied), esc(p.texts.copy))
}

// reference finds numbers of footnotes; those of a document follow a no-break
// space, as nothing that comes from outside does.
var reference = regexp.MustCompile(`\x{a0}\[([0-9]+(?:[,-][0-9]+)*)\]`)

// text is escaped text in which the numbers of footnotes are links.
func (p *page) text(s string) string {
	var b strings.Builder
	for {
		m := reference.FindStringSubmatchIndex(s)
		if m == nil {
			b.WriteString(esc(s))
			return b.String()
		}
		b.WriteString(esc(s[:m[0]]))
		if numbers := p.numbers(s[m[2]:m[3]]); numbers != nil {
			b.WriteString("<sup class=\"ref\">")
			for i, n := range numbers {
				if i > 0 {
					b.WriteString(" ")
				}
				id := ""
				if !p.seen[n] {
					p.seen[n] = true
					id = fmt.Sprintf(" id=\"ref%d\"", n)
				}
				fmt.Fprintf(&b, "<a href=\"#fn%d\"%s aria-label=\"%s\">%d</a>", n, id, esc(fmt.Sprintf(p.texts.note, n)), n)
			}
			b.WriteString("</sup>")
		} else {
			b.WriteString(esc(s[m[0]:m[1]]))
		}
		s = s[m[1]:]
	}
}

// numbers reads "1,3-5"; nil where not all of them are footnotes.
func (p *page) numbers(s string) []int {
	var all []int
	for part := range strings.SplitSeq(s, ",") {
		low, high, span := strings.Cut(part, "-")
		if !span {
			high = low
		}
		a, err := strconv.Atoi(low)
		b, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || a < 1 || b < a || b > p.notes {
			return nil
		}
		for n := a; n <= b; n++ {
			all = append(all, n)
		}
	}
	return all
}
