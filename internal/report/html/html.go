// Package html writes a report document as one page: a single file that asks for
// nothing outside of itself. Where the build had uPlot (see scripts/web) its charts
// are interactive; without, without scripts and on paper they are static pictures
// of the same data.
package html

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"nativ/internal/report"
)

// Render writes d as a page. Nothing in a text of d can act as markup.
func Render(w io.Writer, d *report.Document) error { return render(w, d, built()) }

func render(w io.Writer, d *report.Document, a assets) error {
	p := &page{w: bufio.NewWriter(w), d: d, texts: textsOf(d.Lang), assets: a, seen: map[int]bool{}}
	p.notes = footnotes(d.Blocks)
	p.structure()
	if err := p.write(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// A page being written.
type page struct {
	w      *bufio.Writer // keeps the first error for Flush
	d      *report.Document
	texts  *texts
	assets assets

	title    report.Title
	sections []section
	notes    int          // how many footnotes there are
	seen     map[int]bool // footnotes with a reference that they can link back to
	charts   []*report.Chart
	tables   int
	head     string // of the section that is being written
}

// A section has a heading, except for the first one.
type section struct {
	id, head string
	blocks   []report.Block
}

// structure cuts the document at its headings.
func (p *page) structure() {
	p.sections = []section{{id: "top"}}
	for _, b := range p.d.Blocks {
		switch b := b.(type) {
		case report.Title:
			p.title = b
		case report.Heading:
			p.sections = append(p.sections, section{id: fmt.Sprintf("s%d", len(p.sections)), head: b.Text})
		default:
			last := &p.sections[len(p.sections)-1]
			last.blocks = append(last.blocks, b)
		}
	}
}

// footnotes counts those of a document.
func footnotes(blocks []report.Block) int {
	n := 0
	for _, b := range blocks {
		switch b := b.(type) {
		case report.Footnotes:
			n += len(b.Items)
		case report.Fold:
			n += footnotes(b.Blocks)
		}
	}
	return n
}

// esc takes the meaning from everything in a text. No-break spaces stay.
func esc(s string) string { return html.EscapeString(s) }

func (p *page) f(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

func (p *page) write() error {
	t := p.texts
	script := pageScript
	if p.assets.script != "" {
		script += "\n" + p.assets.script
	}
	sum := sha256.Sum256([]byte(script))
	// "lang" decides how browsers read, hyphenate and, in our script, write numbers.
	p.f("<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n", esc(p.d.Lang))
	p.f("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	p.f("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	p.f("<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"nativ\">\n")
	p.f("<title>%s</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n%s%s</style>\n</head>\n<body>\n", esc(p.title.Text), pageStyle, p.assets.style)
	p.f("<a class=\"skip\" href=\"#main\">%s</a>\n", esc(t.skip))
	if p.d.Simulated != "" {
		p.f("<div class=\"banner\" role=\"note\">%s</div>\n", esc(p.d.Simulated))
	}
	p.f("<header>\n<div class=\"bar\"><span class=\"brand\">nativ</span>")
	// Without scripts these buttons could do nothing, so they are hidden.
	p.f("<button type=\"button\" id=\"theme\" class=\"scripted\" hidden data-dark=\"%s\" data-light=\"%s\"></button></div>\n", esc(t.dark), esc(t.light))
	p.f("<h1>%s</h1>\n", p.text(p.title.Text))
	if p.title.Right != "" {
		p.f("<p class=\"when\">%s</p>\n", esc(p.title.Right))
	}
	if len(p.sections) > 2 {
		p.f("<nav aria-label=\"%s\"><ul>\n", esc(t.contents))
		for _, s := range p.sections[1:] {
			p.f("<li><a href=\"#%s\">%s</a></li>\n", s.id, esc(s.head))
		}
		p.f("</ul></nav>\n")
	}
	p.f("</header>\n<main id=\"main\" tabindex=\"-1\">\n")
	for i, s := range p.sections {
		if s.head == "" {
			p.f("<div class=\"lead\">\n")
		} else {
			p.f("<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", s.id, s.id, esc(s.head))
		}
		p.head = s.head
		name := s.id
		if i == 0 {
			name = ""
		}
		if err := p.blocks(s.blocks, name); err != nil {
			return err
		}
		if s.head == "" {
			p.f("</div>\n")
		} else {
			p.f("</section>\n")
		}
	}
	p.f("</main>\n<footer><p>%s</p>", esc(t.footer))
	if len(p.charts) > 0 && p.assets.script != "" {
		p.f("<details><summary>%s</summary><pre>%s</pre></details>", esc(t.licence), esc(p.assets.licence))
	}
	p.f("</footer>\n<div id=\"said\" class=\"sr\" role=\"status\" aria-live=\"polite\"></div>\n")
	if len(p.charts) > 0 && p.assets.script != "" {
		data, err := chartData(p.charts, p.texts)
		if err != nil {
			return err
		}
		p.f("<script type=\"application/json\" id=\"data\">%s</script>\n", data)
	}
	p.f("<script>%s</script>\n</body>\n</html>\n", script)
	return nil
}

// lines writes running text; a new line or a tab is a sentence of its own.
func (p *page) lines(class string, lines []string) {
	for _, l := range lines {
		for part := range strings.SplitSeq(l, "\t") {
			if part != "" {
				p.f("<p%s>%s</p>\n", class, p.text(part))
			}
		}
	}
}
