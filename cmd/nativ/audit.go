package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nativ/internal/audit"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/reference"
	"nativ/internal/report"
	"nativ/references"
)

func newAudit(e *env) *cobra.Command {
	var lang, failOn string
	var asJSON, rules bool
	c := &cobra.Command{
		Use:   "audit FILE...",
		Short: "Check published or measured results for what cannot be true",
		Long: `Checks results for what cannot be true, or does not show what it claims: a published
table (JSON as in the project's references, or Markdown), JSON of fio, a job file, a
record, the ID of a run, last, - for standard input, or a reference (ref:NAME). Each
finding has its rule, its severity, the arithmetic, and what to do. Several files are
also checked against the first for settings that differ. Works on any OS.

  error    it cannot be true, or contradicts itself
  warning  it does not show what it seems to show
  info     what a reader should know; no fault

Exit codes:
  0   nothing as bad as --fail-on
  1   something went wrong that should not
  2   the command line is wrong
  3   refused: a file is nothing that can be checked
  9   the worst is a warning (or with --fail-on info: a note)
  10  the worst is an error`,
		Example: `  nativ audit review.md
  nativ audit fio-output.json --lang de
  nativ audit host.fio container.fio
  nativ audit ref:9100pro-pve9
  nativ audit --rules`,
		RunE: func(c *cobra.Command, args []string) error {
			lang, err := language(e, lang)
			if err != nil {
				return err
			}
			least := audit.Severity(failOn)
			if least != audit.Error && least != audit.Warning && least != audit.Info {
				return exit(exitUsage, "--fail-on %q is not one of error, warning, info", failOn)
			}
			if rules {
				return printRules(e, args, lang, asJSON)
			}
			if len(args) == 0 {
				return exit(exitUsage, "name a file to check").next("nativ audit --rules lists what is checked.")
			}
			return runAudit(c.Context(), e, args, lang, least, asJSON)
		},
	}
	c.Flags().StringVar(&lang, "lang", "", "de or en (default: from the environment)")
	c.Flags().StringVar(&failOn, "fail-on", "warning", "the least severity that decides the exit code: error, warning or info")
	c.Flags().BoolVar(&asJSON, "json", false, "print findings as JSON, with all numbers in base units")
	c.Flags().BoolVar(&rules, "rules", false, "list and explain the rules, or those that are named")
	return c
}

// printRules explains all rules, or those that are named.
func printRules(e *env, ids []string, lang string, asJSON bool) error {
	rules := audit.Rules()
	if len(ids) > 0 {
		rules = nil
		for _, id := range ids {
			r, ok := audit.RuleByID(id)
			if !ok {
				return exit(exitUsage, "there is no rule %q", id).next("nativ audit --rules lists them.")
			}
			rules = append(rules, r)
		}
	}
	if asJSON {
		return writeJSON(e.stdout, struct {
			Format  string       `json:"format"` // "nativ-audit-rules"
			Version int          `json:"version"`
			Rules   []audit.Rule `json:"rules"`
		}{"nativ-audit-rules", 1, rules})
	}
	return report.Text(e.stdout, report.AuditRules(rules, lang), report.Width)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func runAudit(ctx context.Context, e *env, args []string, lang string, least audit.Severity, asJSON bool) error {
	var subjects []*audit.Subject
	for _, a := range args {
		s, err := auditSubject(ctx, e, a)
		if err != nil {
			return err
		}
		subjects = append(subjects, s)
	}
	found := audit.Check(subjects...)
	if asJSON {
		type finding struct {
			audit.Finding
			Text string `json:"text"`
		}
		all := []finding{}
		for i := range found {
			all = append(all, finding{found[i], report.AuditSentence(&found[i], lang)})
		}
		err := writeJSON(e.stdout, struct {
			Format   string    `json:"format"` // "nativ-audit"
			Version  int       `json:"version"`
			Files    []string  `json:"files"`
			Findings []finding `json:"findings"`
		}{"nativ-audit", 1, args, all})
		if err != nil {
			return err
		}
	} else if err := report.Text(e.stdout, report.Audit(args, found, lang), report.Width); err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	switch worst := audit.Worst(found); {
	case !worst.AtLeast(least):
		return nil
	case worst == audit.Error:
		return exit(exitAuditError, "what was found cannot be true")
	default:
		return exit(exitAuditWarning, "what was found does not show what it seems to show")
	}
}

// auditSubject reads one thing to check; what it is is told by what is in it.
func auditSubject(ctx context.Context, e *env, name string) (*audit.Subject, error) {
	if ref, ok := strings.CutPrefix(name, reference.Prefix); ok {
		ref, _, _ = strings.Cut(ref, "/")
		b, ok := references.File(ref)
		if !ok {
			return nil, exit(exitUsage, "there is no reference %q; there is: %s", ref, strings.Join(references.Names(), ", "))
		}
		return audit.FromTable(name, b)
	}
	var b []byte
	if name == "-" {
		var err error
		if b, err = io.ReadAll(limited(e.stdin, "standard input", maxRecord)); err != nil {
			return nil, exit(exitUsage, "%w", err)
		}
		return auditBytes(e, name, "", b)
	}
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) && filepath.Base(name) == name {
		rec, err := readRecord(ctx, e, name) // an ID, or last
		if err != nil {
			return nil, err
		}
		return audit.FromRecord(name, rec), nil
	}
	b, err := readRegular(name, maxRecord)
	if err != nil {
		return nil, exit(exitUsage, "read what to check: %w", err)
	}
	return auditBytes(e, name, name, b)
}

// auditBytes tells by the content: a table has "tables", a record and fio's JSON
// are objects of their own, a job file begins with a section, Markdown has a table.
func auditBytes(e *env, name, path string, b []byte) (*audit.Subject, error) {
	refuse := func(err error) error { return exit(exitRefused, "%s: %w", name, err) }
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	switch {
	case len(trimmed) == 0:
		return nil, refuse(errors.New("it is empty"))
	case trimmed[0] == '{' && isTable(trimmed):
		s, err := audit.FromTable(name, trimmed)
		if err != nil {
			return nil, refuse(err)
		}
		return s, nil
	case trimmed[0] == '{' || looksLikeFio(b):
		rec, err := decode(bytes.NewReader(b), name, path)
		if err != nil {
			return nil, err
		}
		if rec.Import != nil && rec.Import.Format == record.FormatPublished {
			return nil, refuse(errors.New("it is a table of a reference as a record; check the reference itself"))
		}
		return audit.FromRecord(name, rec), nil
	case int64(len(b)) > maxText:
		return nil, refuse(fmt.Errorf("text of more than %d MiB is neither a table nor a job file", maxText>>20))
	case bytes.Contains(b, []byte("|")) && !isJobFile(trimmed):
		s, err := audit.FromMarkdown(name, string(b))
		if err != nil {
			return nil, refuse(err)
		}
		return s, nil
	case isJobFile(trimmed) && path != "":
		o := jobOptions(e)
		o.ForFio = true // what only fio knows is passed over, as when fio is the engine
		f, err := job.Parse(o, path)
		if err != nil {
			return nil, jobError(err)
		}
		return audit.FromJob(name, f), nil
	}
	return nil, refuse(errors.New("it is neither a table (JSON with \"tables\", or Markdown), nor JSON of fio, nor a job file, nor a record"))
}

func isTable(b []byte) bool {
	var head struct {
		Tables json.RawMessage `json:"tables"`
	}
	return json.NewDecoder(bytes.NewReader(b)).Decode(&head) == nil && len(head.Tables) > 0
}

// isJobFile reports whether the first line that says something begins a section.
func isJobFile(b []byte) bool {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == ';' || line[0] == '#' {
			continue
		}
		return line[0] == '['
	}
	return false
}
