// Package report turns a record and its analysis into something to read. It is
// the only place that rounds, scales and translates: Build makes one document,
// and each renderer writes that same document in its form.
package report

// A Document is a report without a form: blocks in the order of reading. Its
// texts are finished: in one language, rounded, free of control characters and
// serial numbers, with the numbers of footnotes in them. A no-break space keeps
// a number and its unit on one line; renderers turn it into a space.
type Document struct {
	Lang string
	// Simulated says in a sentence that nothing was measured; "" where it was.
	Simulated string
	Blocks    []Block
}

// A Block is one of the types below.
type Block interface{ block() }

// A Title is the first line.
type Title struct {
	Text  string
	Right string // set at the right margin, where there is one
}

// A Heading starts a section.
type Heading struct{ Text string }

// A Subheading starts a part of a section.
type Subheading struct{ Text string }

// A Finding is the sentence that a reader takes away.
type Finding struct{ Text string }

// A Fold is for whoever wants to know more; a page keeps it closed at first.
type Fold struct {
	Title  string
	Blocks []Block
}

// Facts are labelled lines.
type Facts struct {
	Rows  []Fact
	Tight bool // text needs the room between label and text
}

// A Fact is one line of Facts.
type Fact struct{ Label, Text string }

// A Table has a label in its first column and numbers in the others.
type Table struct {
	Columns []Column
	Rows    []Row
	// MinWidths of the columns in text, so that tables below each other align;
	// missing ones are 0.
	MinWidths []int
}

// A Column of a table.
type Column struct {
	Head string
	Left bool // aligned left instead of right
}

// A Row of a table.
type Row struct {
	Cells []Cell
	// Notes are the numbers of footnotes, "[1,2]", written after the row.
	Notes string
}

// A Cell of a row covers Span columns; 0 means 1.
type Cell struct {
	Text string
	Span int
}

// A Paragraph is running text. Each line is wrapped by itself; a tab in it starts
// a second column in text, and a new line elsewhere.
type Paragraph struct{ Lines []string }

// A Legend explains the signs of the table before it.
type Legend struct{ Lines []string }

// Footnotes are numbered from 1.
type Footnotes struct{ Items []string }

// A Command is shown as it would be typed.
type Command struct{ Line string }

func (Title) block()      {}
func (Heading) block()    {}
func (Subheading) block() {}
func (Finding) block()    {}
func (Fold) block()       {}
func (Facts) block()      {}
func (Table) block()      {}
func (Paragraph) block()  {}
func (Legend) block()     {}
func (Footnotes) block()  {}
func (Command) block()    {}
