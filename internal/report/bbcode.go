package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// BBCode writes a document for a forum. Only two tags are used, which every forum
// has: bold, and CODE around whatever is aligned, because tables are not the same
// anywhere.
func BBCode(w io.Writer, d *Document) error {
	b := bufio.NewWriter(w) // keeps the first error for Flush
	bbBlocks(b, d.Blocks)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func bbBlocks(w *bufio.Writer, blocks []Block) {
	for i := 0; i < len(blocks); i++ {
		if i > 0 {
			w.WriteByte('\n')
		}
		switch b := blocks[i].(type) {
		case Title:
			fmt.Fprintf(w, "[B]%s[/B] %s\n", harmless(b.Text), harmless(b.Right))
		case Heading:
			fmt.Fprintf(w, "[B]%s[/B]\n", harmless(b.Text))
		case Subheading:
			fmt.Fprintf(w, "[B]%s[/B]\n", harmless(b.Text))
		case Finding:
			fmt.Fprintf(w, "[B]%s[/B]\n", harmless(b.Text))
		case Fold:
			fmt.Fprintf(w, "[B]%s[/B]\n\n", harmless(b.Title))
			bbBlocks(w, b.Blocks)
		case *Chart:
			fmt.Fprintf(w, "%s. %s\n", harmless(b.Title), harmless(b.Alt))
		case Paragraph:
			for _, l := range b.Lines {
				fmt.Fprintf(w, "%s\n", harmless(strings.ReplaceAll(l, "\t", "  ")))
			}
		case Footnotes:
			for n, f := range b.Items {
				fmt.Fprintf(w, "[%d] %s\n", n+1, harmless(f))
			}
		default: // aligned: as in a terminal, with what explains it
			run := []Block{b}
			for i+1 < len(blocks) && aligned(blocks[i+1]) {
				i++
				run = append(run, blocks[i])
			}
			w.WriteString("[CODE]\n")
			var text strings.Builder
			t := textWriter{w: bufio.NewWriter(&text), width: Width}
			t.blocks(run)
			t.w.Flush() // a strings.Builder takes everything
			w.WriteString(closing.ReplaceAllString(text.String(), "[\u200b/$1"))
			w.WriteString("[/CODE]\n")
		}
	}
}

// aligned reports whether a block is written in columns.
func aligned(b Block) bool {
	switch b.(type) {
	case Table, Facts, Legend, Command:
		return true
	}
	return false
}

var (
	closing = regexp.MustCompile(`(?i)\[/(code)`)
	tagLike = regexp.MustCompile(`\[([/*A-Za-z])`)
)

// harmless takes the meaning from what looks like a tag, with a space of no width.
func harmless(s string) string {
	return tagLike.ReplaceAllString(strings.ReplaceAll(s, glue, " "), "[\u200b$1")
}
