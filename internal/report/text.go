package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// glue is the no-break space that keeps a number and its unit together.
const glue = "\u00a0"

// Width is that of a text report in columns.
const Width = 80

// Text writes d for a terminal or a [CODE] block, at most width columns wide as
// far as single words allow. Every rune counts as one column.
func Text(w io.Writer, d *Document, width int) error {
	t := textWriter{w: bufio.NewWriter(w), width: width}
	t.blocks(d.Blocks)
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (t *textWriter) blocks(blocks []Block) {
	for i, b := range blocks {
		if i > 0 && apart(blocks[i-1], b) {
			t.line("")
		}
		switch b := b.(type) {
		case Title:
			gap := t.width - length(b.Text) - length(b.Right)
			t.line(b.Text + strings.Repeat(" ", max(gap, 2)) + b.Right)
		case Heading:
			t.line(b.Text)
			t.line(strings.Repeat("-", length(b.Text)))
		case Subheading:
			t.line(b.Text + ":")
		case Finding:
			t.wrap("", b.Text)
		case Fold:
			t.line(b.Title + ":")
			t.blocks(b.Blocks)
		case *Chart:
			t.wrap("", b.Title+". "+b.Alt)
		case Facts:
			t.facts(b)
		case Table:
			t.table(b)
		case Paragraph:
			for _, l := range b.Lines {
				if left, right, ok := strings.Cut(l, "\t"); ok {
					l = pad(left, t.width/2-2) + "  " + right
					if length(l) > t.width {
						t.wrap("", left)
						l = right
					}
				}
				t.wrap("", l)
			}
		case Legend:
			for _, l := range b.Lines {
				// Further lines under the text, not under the sign.
				sign, rest, _ := strings.Cut(l, " ")
				t.wrap(sign+" ", rest)
			}
		case Footnotes:
			for i, n := range b.Items {
				t.wrap(fmt.Sprintf("[%d] ", i+1), n)
			}
		case Command:
			t.line("  " + b.Line)
		}
	}
}

// apart reports whether an empty line goes between two blocks.
func apart(a, b Block) bool {
	switch a.(type) {
	case Title:
		_, section := b.(Heading)
		return section
	case Heading, Subheading:
		return false
	}
	switch b.(type) {
	case Footnotes:
		_, para := a.(Paragraph)
		_, facts := a.(Facts)
		return !para && !facts
	case Command, Legend:
		return false
	}
	return true
}

type textWriter struct {
	w     *bufio.Writer // keeps the first error for Flush
	width int
}

func (t *textWriter) line(s string) {
	t.w.WriteString(strings.TrimRight(strings.ReplaceAll(s, glue, " "), " "))
	t.w.WriteByte('\n')
}

// wrap writes s after prefix, further lines indented by the length of prefix.
func (t *textWriter) wrap(prefix, s string) {
	line, used := prefix, length(prefix)
	indent := used
	first := true
	for word := range strings.SplitSeq(s, " ") {
		for {
			n := length(word)
			if first && indent+n > t.width && t.width > indent+1 {
				// A word that no line can hold, such as a long path.
				r := []rune(word)
				t.line(line + string(r[:t.width-indent]))
				word, line = string(r[t.width-indent:]), strings.Repeat(" ", indent)
				continue
			}
			switch {
			case first:
				line, used, first = line+word, indent+n, false
			case used+1+n <= t.width:
				line, used = line+" "+word, used+1+n
			default:
				t.line(line)
				line, used, first = strings.Repeat(" ", indent), indent, true
				continue
			}
			break
		}
	}
	t.line(line)
}

func (t *textWriter) facts(f Facts) {
	const most = 28 // labels that people chose may be of any length
	label := 0
	for _, r := range f.Rows {
		if n := length(r.Label); n <= most {
			label = max(label, n)
		}
	}
	label++
	if !f.Tight {
		label++
	}
	for _, r := range f.Rows {
		prefix := pad(r.Label, label)
		if length(r.Label) > most {
			t.wrap("", r.Label)
			prefix = pad("", label)
		}
		t.wrap(prefix, r.Text)
	}
}

func (t *textWriter) table(b Table) {
	widths := make([]int, len(b.Columns))
	copy(widths, b.MinWidths)
	for i, c := range b.Columns {
		gap := 2
		if i == 0 {
			gap = 0
		}
		widths[i] = max(widths[i], length(c.Head)+gap)
		for _, r := range b.Rows {
			if i < len(r.Cells) && r.Cells[i].Span <= 1 {
				widths[i] = max(widths[i], length(r.Cells[i].Text)+gap)
			}
		}
	}
	t.narrow(&b, widths)
	t.makeRoom(&b, widths)
	var head Row
	for _, c := range b.Columns {
		head.Cells = append(head.Cells, Cell{Text: c.Head})
	}
	for _, r := range append([]Row{head}, b.Rows...) {
		var s strings.Builder
		col := 0
		for _, c := range r.Cells {
			if col >= len(widths) {
				break
			}
			w, left := 0, b.Columns[col].Left
			gap := 2
			if col == 0 {
				gap = 0
			}
			for range max(c.Span, 1) {
				if col < len(widths) {
					w += widths[col]
				}
				col++
			}
			if left {
				s.WriteString(strings.Repeat(" ", gap) + pad(c.Text, w-gap))
			} else {
				s.WriteString(strings.Repeat(" ", max(w-length(c.Text), 0)) + c.Text)
			}
		}
		line := s.String()
		switch {
		case r.Notes == "":
		case length(line)+1+length(r.Notes) <= t.width:
			line += " " + r.Notes
		default:
			// No room beside the numbers: below them, at the right.
			t.line(line)
			line = strings.Repeat(" ", max(t.width-length(r.Notes), 0)) + r.Notes
		}
		t.line(line)
	}
}

// makeRoom takes from columns what aligns them with other tables and what their
// text does not need, until the notes of every row fit beside its numbers.
func (t *textWriter) makeRoom(b *Table, widths []int) {
	notes, sum := 0, 0
	for _, r := range b.Rows {
		if r.Notes != "" {
			notes = max(notes, length(r.Notes)+1)
		}
	}
	spare := make([]int, len(widths))
	room := 0
	for i, w := range widths {
		sum += w
		need := 0
		if i < len(b.Columns) {
			need = length(b.Columns[i].Head)
		}
		for _, r := range b.Rows {
			if i < len(r.Cells) {
				if r.Cells[i].Span > 1 {
					return
				}
				need = max(need, length(r.Cells[i].Text))
			}
		}
		if i > 0 {
			need += 2
		}
		spare[i] = max(w-need, 0)
		room += spare[i]
	}
	missing := sum + notes - t.width
	if notes == 0 || missing <= 0 || missing > room {
		return
	}
	for missing > 0 {
		for i := range widths {
			if missing > 0 && spare[i] > 0 {
				widths[i], spare[i], missing = widths[i]-1, spare[i]-1, missing-1
			}
		}
	}
}

// narrow shortens the names in the first column of a table that is wider than
// the text may be. Only the middle goes: names that people gave mostly differ at
// their ends.
func (t *textWriter) narrow(b *Table, widths []int) {
	const least = 8
	var sum int
	for _, w := range widths {
		sum += w
	}
	if sum <= t.width || len(widths) == 0 {
		return
	}
	widths[0] = max(widths[0]-(sum-t.width), min(least, widths[0]))
	rows := make([]Row, len(b.Rows))
	for i, r := range b.Rows {
		r.Cells = slices.Clone(r.Cells)
		if len(r.Cells) > 0 && r.Cells[0].Span <= 1 {
			r.Cells[0].Text = shorten(r.Cells[0].Text, widths[0])
		}
		rows[i] = r
	}
	b.Rows = rows
}

// shorten cuts the middle out of s where it is longer than n columns.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n || n < 3 {
		return s
	}
	tail := (n - 1) / 2
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}

func length(s string) int { return utf8.RuneCountInString(s) }

// pad fills s up with spaces at its end.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-length(s), 0)) }
