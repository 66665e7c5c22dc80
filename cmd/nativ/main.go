// Command nativ measures what a drive really delivers here, and what running
// in a container costs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"nativ/internal/place"
)

// version is set by the linker; see the Makefile.
var version = "devel"

// Exit codes. Each verb's help lists those that it can end with.
const (
	exitOK         = 0
	exitFailed     = 1 // something went wrong that should not
	exitUsage      = 2 // the command line is wrong; nothing was done
	exitRefused    = 3 // it would not be safe or would not be true; nothing was touched
	exitIncomplete = 4 // measured, but something is missing; the record says what
	exitMissing    = 5 // this machine lacks something; the message says what and how to get it
	exitBusy       = 6 // another run measures the same drive
	exitLeft       = 7 // something that a run made could not be removed
	exitCondition  = 8 // a condition of compare's --fail-if is met

	exitAuditWarning = 9  // an audit's worst finding is a warning
	exitAuditError   = 10 // an audit's worst finding is an error
)

// An env is what a verb may touch of the process, so that tests can call verbs
// as functions.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	// terminal reports whether questions can be asked: stdin and stderr are
	// terminals.
	terminal bool
	// stderrTTY says that a live line may be drawn on stderr.
	stderrTTY bool
}

// An exitError carries an exit code, and the next step to take as a hint.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exit returns an error that ends the command with the code.
func exit(code int, format string, args ...any) *exitError {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

// next adds the next step to take.
func (e *exitError) next(format string, args ...any) *exitError {
	e.hint = fmt.Sprintf(format, args...)
	return e
}

func main() {
	e := &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv,
		terminal:  isTerminal(os.Stdin) && isTerminal(os.Stderr),
		stderrTTY: isTerminal(os.Stderr),
	}
	os.Exit(nativ(context.Background(), e, place.Args(os.Getpid(), os.Args)))
}

// nativ runs one command line and returns its exit code.
func nativ(ctx context.Context, e *env, args []string) int {
	// A closed pipe must be an error of that write and not the end of the
	// process: there are containers and files to remove. Without this Go dies
	// of a write to a broken stdout or stderr.
	signal.Ignore(syscall.SIGPIPE)
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var x *exitError
	if !errors.As(err, &x) {
		x = classify(err)
	}
	if x.err != nil && x.err.Error() != "" {
		fmt.Fprintln(e.stderr, "nativ:", x.err)
	}
	if x.hint != "" {
		fmt.Fprintln(e.stderr, "  "+x.hint)
	}
	return x.code
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "nativ",
		Short: "Measure what a drive delivers, and what running in a container costs",
		Long: `nativ measures a drive on the host and in a container, fairly, and says why the
numbers differ. It writes only to a test file that it makes and removes itself.`,
		Version:       version + " (" + runtime.Version() + ")",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
	}
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		x := exit(exitUsage, "there is no verb %q", args[0])
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return x.next("Did you mean: nativ %s", near[0])
		}
		return x.next("See: nativ --help")
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// pflag passes on what strconv says of itself.
		text, _, _ := strings.Cut(err.Error(), ": strconv.")
		return exit(exitUsage, "%s", text).next("See: %s --help", c.CommandPath())
	})
	root.AddCommand(newReport(e), newImport(e), newCompare(e), newAudit(e), newJob(e), newHistory(e))
	root.AddCommand(kernelVerbs(e)...)
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
	}
	return root
}

// oneArg wants exactly one argument, which what describes.
func oneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("name a %s", what)
		case 1:
			return nil
		}
		return fmt.Errorf("one %s at a time, not %d", what, len(args))
	}
}

// someArgs wants at least one argument.
func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("name at least one %s", what)
		}
		return nil
	}
}

// usageArgs makes wrong arguments an error of usage, with its exit code.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			return exit(exitUsage, "%w", err).next("See: %s --help", c.CommandPath())
		}
		return nil
	}
}
