package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"nativ/internal/job"
)

func newJob(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "job",
		Short: "Show job files: those built in, or your own as nativ reads them",
		Long: `Job files have fio's form. Those of nativ bench are built in and run unchanged in
fio. Works on any OS.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit(exitUsage, "there is no %q of a job: print, list", args[0]).next("See: nativ job --help")
			}
			return c.Help()
		},
	}
	c.AddCommand(newJobPrint(e), newJobList(e))
	for _, sub := range c.Commands() {
		sub.Args = usageArgs(sub.Args)
	}
	return c
}

func newJobPrint(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "print [PRESET|FILE]",
		Short: "Print a built-in job file, or a file as nativ reads it",
		Long: `Prints a built-in job file as it is (test, the phases of nativ bench, by default),
or reads a job file, - for standard input, with everything that it includes, and
prints the jobs it makes: what all have in common in [global], aliases and
variables resolved. What is printed is a job file again.

Exit codes:
  0  printed
  1  something went wrong that should not
  2  the command line is wrong, or the job file is`,
		Example: `  nativ job print
  nativ job print latency > latency.fio
  nativ job print my.fio`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "test"
			if len(args) > 0 {
				name = args[0]
			}
			if b, err := job.PresetFile(strings.TrimSuffix(name, ".fio")); err == nil && !exists(name) {
				_, err := e.stdout.Write(b)
				return written("the job file", err)
			}
			f, err := job.Parse(jobOptions(e), name)
			if err != nil {
				return jobError(err)
			}
			sayJobWarnings(e, f)
			var b bytes.Buffer
			if err := job.Print(&b, f); err != nil {
				return exit(exitUsage, "%w", err)
			}
			_, err = e.stdout.Write(b.Bytes())
			return written("the job file", err)
		},
	}
}

func newJobList(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the built-in job files",
		Long: `Lists the built-in job files with what each is for. nativ job print shows one,
nativ bench --preset measures it.

Exit codes:
  0  listed
  2  the command line is wrong`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, name := range job.PresetNames() {
				b, err := job.PresetFile(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(e.stdout, "%-16s  %s\n", name, firstSentence(string(b)))
			}
			return nil
		},
	}
}

// firstSentence is that of the comment at the top of a job file.
func firstSentence(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, ";") {
			break
		}
		line = strings.TrimSpace(strings.TrimPrefix(line, ";"))
		if line == "" {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	all := strings.Join(words, " ")
	if s, _, ok := strings.Cut(all, ". "); ok {
		all = s
	}
	return strings.TrimSuffix(all, ".")
}

// jobOptions are how job files are read here.
func jobOptions(e *env) job.Options {
	return job.Options{
		ReadFile: func(name string) ([]byte, error) {
			if name == "-" {
				return io.ReadAll(limited(e.stdin, "standard input", maxText))
			}
			return readRegular(name, maxText)
		},
		LookupEnv: func(name string) (string, bool) {
			v := e.getenv(name)
			return v, v != ""
		},
		NumCPU: int64(runtime.NumCPU()), PageSize: int64(os.Getpagesize()), MemoryMB: memoryMB(),
	}
}

// jobError gives what is wrong with a job its exit code and next step.
func jobError(err error) error {
	x := exit(exitUsage, "%w", err)
	var all job.Errors
	if !errors.As(err, &all) {
		return x
	}
	for _, e := range all {
		switch {
		case e.Kind == job.Unreadable && errors.Is(e.Err, fs.ErrNotExist) && e.Line > 0:
			return x.next("A file to include is looked for beside the file that names it.")
		case e.Kind == job.Unreadable && errors.Is(e.Err, fs.ErrNotExist):
			return x.next("Name a job file, or one of these: %s", strings.Join(job.PresetNames(), ", "))
		case e.Kind == job.NotJob && (e.Option == "showcmd" || e.Option == "parse-only"):
			return x.next("nativ job print FILE reads a job file, says what is wrong with it and prints the jobs it makes.")
		}
	}
	return x
}

// sayJobWarnings names what runs otherwise than in fio.
func sayJobWarnings(e *env, f *job.File) {
	for _, w := range f.Warnings {
		fmt.Fprintln(e.stderr, "note:", w)
	}
}
