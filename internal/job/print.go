package job

import (
	"fmt"
	"io"
	"strings"
)

// Print writes jobs as a job file that fio takes unchanged and that Parse reads
// as the same jobs. What all jobs set alike stands in a global section.
//
// It fails where a name cannot stand in a job file: one with ; or # (fio takes
// them as a comment), a $ word that fio would replace, or blanks at its ends.
func Print(w io.Writer, f *File) error {
	if len(f.Jobs) == 0 {
		return fmt.Errorf("print job file: no jobs")
	}
	shared := map[string]string{}
	if len(f.Jobs) > 1 {
		for k, v := range f.Jobs[0].written() {
			shared[k] = v
		}
		delete(shared, "stonewall")
		for i := range f.Jobs[1:] {
			own := f.Jobs[i+1].written()
			for k, v := range shared {
				if o, ok := own[k]; !ok || o != v {
					delete(shared, k)
				}
			}
		}
	}
	var b strings.Builder
	if len(shared) > 0 {
		b.WriteString("[global]\n")
		if err := writeOptions(&b, shared, nil); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	for i := range f.Jobs {
		j := &f.Jobs[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := printableName(j.Name); err != nil {
			return err
		}
		fmt.Fprintf(&b, "[%s]\n", j.Name)
		if err := writeOptions(&b, j.written(), shared); err != nil {
			return fmt.Errorf("print job %s: %w", j.Name, err)
		}
		for _, o := range j.Raw {
			if err := printable(o); err != nil {
				return fmt.Errorf("print job %s: %s: %w", j.Name, o, err)
			}
			fmt.Fprintln(&b, o)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print job file: %w", err)
	}
	return nil
}

// written returns the options that are set, as a job file writes them, without
// those of which Raw has more.
func (j *Job) written() map[string]string {
	m := map[string]string{}
	for _, o := range options {
		if _, ok := j.set[o.name]; ok && o.write != nil && !j.rawHas(o) {
			m[o.name] = o.write(j)
		}
	}
	return m
}

// writeOptions writes the options of m, in the table's order, that without has
// not.
func writeOptions(b *strings.Builder, m, without map[string]string) error {
	for _, o := range options {
		v, ok := m[o.name]
		if _, skip := without[o.name]; skip || !ok {
			continue
		}
		if err := printable(v); err != nil {
			return fmt.Errorf("%s=%s: %w", o.name, v, err)
		}
		fmt.Fprintf(b, "%s=%s\n", o.name, v)
	}
	return nil
}

// printable reports why a value cannot stand in a job file.
func printable(v string) error {
	switch {
	case strings.ContainsAny(v, ";#"):
		return fmt.Errorf("a job file takes ; and # as a comment")
	case strings.ContainsAny(v, "\n\r\x00"):
		return fmt.Errorf("a job file cannot hold this character")
	case strings.Contains(v, "${"), strings.Contains(v, "$ncpus"), strings.Contains(v, "$mb_memory"), strings.Contains(v, "$pagesize"):
		return fmt.Errorf("a job file replaces its $ words")
	case v == "" || strings.Trim(v, " \t\v\f") != v:
		return fmt.Errorf("a job file cannot hold blanks at the ends")
	}
	return nil
}

func printableName(n string) error {
	if n == "" || strings.HasPrefix(n, "global") || strings.ContainsAny(n, ";#]\n\r\x00") || strings.Contains(n, "${") {
		return fmt.Errorf("print job file: %q cannot be the name of a section", n)
	}
	return nil
}
