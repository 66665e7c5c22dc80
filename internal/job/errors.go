package job

import (
	"fmt"
	"strings"
)

// A Kind says what is wrong with a job.
type Kind int

// The kinds of errors.
const (
	// Syntax: not a line that a job file may have.
	Syntax Kind = iota + 1
	// Invalid: an option's value is wrong, mostly for fio too.
	Invalid
	// Surprise: fio takes the value, but as something that nobody means.
	Surprise
	// Unsupported: fio has the option or value, and the own engine has not.
	Unsupported
	// Unknown: fio has no such option either.
	Unknown
	// NotJob: an option of the fio program and not of a job.
	NotJob
	// Unreadable: a file that could not be read; see Error.Unwrap.
	Unreadable
)

// WayOut is what the user can do about anything that only fio does.
const WayOut = "--engine fio"

// An Error is one thing that is wrong with a job.
type Error struct {
	Pos
	Kind Kind
	// Section is the section's name, "" outside of one.
	Section string
	// Option is its name as written, "" where the line is no option.
	Option string
	// Value as written, before variables were expanded.
	Value string
	// Text says what is wrong and what to do, in one line.
	Text string
	// Instead is what was probably meant, as one writes it in a job file, for
	// example "bs=4k"; "" where nobody can tell.
	Instead string
	// Err is the cause, where there is one.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.Pos)
	switch {
	case e.Option != "" && e.Value != "":
		fmt.Fprintf(&b, "%s=%s: ", e.Option, e.Value)
	case e.Option != "":
		fmt.Fprintf(&b, "%s: ", e.Option)
	}
	b.WriteString(e.Text)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errors are all errors of a job file, in the order of its lines.
type Errors []*Error

func (es Errors) Error() string {
	const most = 20 // what follows is mostly the same once more
	var lines []string
	for i, e := range es {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(es)-most))
			break
		}
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first *Error.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}
