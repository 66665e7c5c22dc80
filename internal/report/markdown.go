package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markdown writes d as CommonMark with the tables of GitHub's flavour. Nothing
// in a text of d can act as markup.
func Markdown(w io.Writer, d *Document) error {
	m := bufio.NewWriter(w) // keeps the first error for Flush
	markdownBlocks(m, d.Blocks)
	if err := m.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func markdownBlocks(m *bufio.Writer, blocks []Block) {
	for i, b := range blocks {
		if i > 0 {
			m.WriteByte('\n')
		}
		switch b := b.(type) {
		case Title:
			fmt.Fprintf(m, "# %s\n", escape(b.Text))
			if b.Right != "" {
				fmt.Fprintf(m, "\n%s\n", escape(b.Right))
			}
		case Heading:
			fmt.Fprintf(m, "## %s\n", escape(b.Text))
		case Subheading:
			fmt.Fprintf(m, "### %s\n", escape(b.Text))
		case Finding:
			fmt.Fprintf(m, "**%s**\n", escape(b.Text))
		case Fold:
			fmt.Fprintf(m, "### %s\n\n", escape(b.Title))
			markdownBlocks(m, b.Blocks)
		case *Chart:
			// What it shows; a picture would be a file of its own.
			fmt.Fprintf(m, "**%s.** %s\n", escape(b.Title), escape(b.Alt))
		case Facts:
			for _, r := range b.Rows {
				fmt.Fprintf(m, "- **%s:** %s\n", escape(r.Label), escape(r.Text))
			}
		case Table:
			markdownTable(m, b)
		case Paragraph:
			markdownLines(m, b.Lines)
		case Legend:
			markdownLines(m, b.Lines)
		case Footnotes:
			for i, n := range b.Items {
				fmt.Fprintf(m, "- \\[%d\\] %s\n", i+1, escape(n))
			}
		case Command:
			// An indented block has no end that its content could write.
			fmt.Fprintf(m, "    %s\n", strings.ReplaceAll(b.Line, glue, " "))
		}
	}
}

func markdownLines(m *bufio.Writer, lines []string) {
	for i, l := range lines {
		for j, part := range strings.Split(l, "\t") {
			if i+j > 0 {
				m.WriteByte('\n')
			}
			fmt.Fprintf(m, "%s\n", inert(escape(part)))
		}
	}
}

func markdownTable(m *bufio.Writer, b Table) {
	for _, c := range b.Columns {
		fmt.Fprintf(m, "| %s ", escape(c.Head))
	}
	m.WriteString("|\n")
	for _, c := range b.Columns {
		if c.Left {
			m.WriteString("|:--")
		} else {
			m.WriteString("|--:")
		}
	}
	m.WriteString("|\n")
	for _, r := range b.Rows {
		for i, c := range r.Cells {
			s := escape(c.Text)
			if i == 0 && r.Notes != "" {
				s += " " + escape(r.Notes)
			}
			fmt.Fprintf(m, "| %s ", s)
			for range c.Span - 1 {
				m.WriteString("| ")
			}
		}
		m.WriteString("|\n")
	}
}

// markup is what CommonMark or GitHub's flavour of it gives a meaning to inside
// of a line; each may be escaped with a backslash.
var markup = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`,
	`|`, `\|`, `~`, `\~`, `#`, `\#`, `&`, `\&`, `$`, `\$`,
)

// escape takes the meaning from everything within a line. Runs of spaces, which
// only align, become one.
func escape(s string) string {
	return markup.Replace(strings.Join(strings.Fields(strings.ReplaceAll(s, glue, " ")), " "))
}

// inert takes the meaning from the start of a line: list markers, numbers of
// lists and underlines of headings.
func inert(s string) string {
	if s != "" && strings.ContainsRune("-+=", rune(s[0])) {
		return `\` + s
	}
	rest := strings.TrimLeft(s, "0123456789")
	if len(rest) < len(s) && rest != "" && (rest[0] == '.' || rest[0] == ')') {
		return s[:len(s)-len(rest)] + `\` + rest
	}
	return s
}
