package job

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Options are what a job file's meaning depends on besides its text. This
// package opens nothing, so the caller says how.
type Options struct {
	// ReadFile returns the contents of a job file or of one it includes; "-"
	// is standard input, as for fio.
	ReadFile func(name string) ([]byte, error)
	// LookupEnv is os.LookupEnv for ${NAME}; where it is nil none is set.
	LookupEnv func(name string) (string, bool)
	// NumCPU, MemoryMB and PageSize are the values of $ncpus, $mb_memory (the
	// memory in MiB) and $pagesize; 0 where the caller does not know.
	NumCPU, MemoryMB, PageSize int64
	// Sections are the only ones to read of job files, beside the global ones
	// (fio --section); nil is all.
	Sections []string
	// ForFio reads the jobs for fio as the engine: with fio's reading of values,
	// and with options that only fio has, which are then in Job.Raw.
	ForFio bool
	// FioHas reports whether the installed fio has an option that this package
	// does not know, because it is newer; nil where nobody can tell.
	FioHas func(name string) bool
}

// Parse reads job files as fio reads them when it gets them in this order: every
// file's globals hold for that file only, and every file after the first begins
// a new group. The error, if any, is an Errors.
func Parse(opts Options, names ...string) (*File, error) {
	p := newParser(opts)
	p.files(names)
	return p.finish()
}

// A parser collects jobs and what is wrong with them.
type parser struct {
	opts   Options
	global Job
	jobs   []Job
	warns  []Warning
	errs   Errors

	// job is what options go to: the global or the last one of jobs; nil where
	// no section is open.
	job     *Job
	section string
	start   Pos // of the section
	// stack are the files being read, the outermost first.
	stack []string
	// includes counts them: two files that include a third one twice each, and
	// so on, would never end otherwise.
	includes int
	// met are the wanted sections that there are.
	met map[string]bool
}

func newParser(opts Options) parser {
	return parser{opts: opts, global: defaults(), met: map[string]bool{}}
}

const (
	maxDepth    = 16
	maxIncludes = 1000
)

func (p *parser) fail(pos Pos, kind Kind, format string, args ...any) *Error {
	e := &Error{Pos: pos, Kind: kind, Section: p.section, Text: fmt.Sprintf(format, args...)}
	p.errs = append(p.errs, e)
	return e
}

// files reads job files one after another.
func (p *parser) files(names []string) {
	for i, name := range names {
		if i > 0 {
			p.global = defaults()
		}
		p.file(name, i > 0)
	}
}

// file reads a job file. With stonewall its first job waits for those before.
func (p *parser) file(name string, stonewall bool) {
	p.job, p.section, p.start = nil, "", Pos{}
	text, ok := p.open(name, Pos{File: name})
	if !ok {
		return
	}
	p.stack = []string{name}
	p.lines(name, text, &stonewall)
	p.close()
	p.job, p.section, p.stack = nil, "", nil
}

// open reads a file, or says in which line that failed.
func (p *parser) open(name string, from Pos) (text string, ok bool) {
	if p.opts.ReadFile == nil {
		p.fail(from, Unreadable, "%s cannot be read here", name)
		return "", false
	}
	b, err := p.opts.ReadFile(name)
	if err != nil {
		p.fail(from, Unreadable, "read job file: %v", err).Err = err
		return "", false
	}
	if bytes.IndexByte(b, 0) >= 0 {
		p.fail(Pos{File: name}, Syntax, "this is no job file: it holds bytes that no text has")
		return "", false
	}
	return string(b), true
}

// lines reads the text of a job file, or of an included one, where stonewall is
// nil.
func (p *parser) lines(name, text string, stonewall *bool) {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		pos := Pos{File: name, Line: n}
		// fio cuts a line at either character wherever it is, in a value too.
		inWord := false
		if i := strings.IndexAny(line, ";#"); i >= 0 {
			inWord = i > 0 && !strings.ContainsAny(line[i-1:i], " \t")
			line = line[:i]
		}
		line = strings.Trim(line, " \t\r\v\f")
		switch {
		case line == "":
		case line[0] == '[' && stonewall == nil:
			p.fail(pos, Syntax, "a section in an included file; fio stops here too")
		case line[0] == '[':
			p.header(pos, line, stonewall)
		case isInclude(line):
			p.include(pos, line)
		case p.job == nil && p.start.File == name:
			// The options of a section whose header was wrong, or that is not wanted.
		case p.job == nil && strings.HasPrefix(line, "\ufeff"):
			p.fail(pos, Syntax, "the file starts with a byte order mark, which fio refuses; save it as UTF-8 without one")
		case p.job == nil:
			p.fail(pos, Syntax, "%q is outside of a section; begin with [global] or a job's [name]", line)
		case inWord && namesFile(line) && !p.opts.ForFio:
			// It would be another file than the one meant, and be overwritten.
			e := p.fail(pos, Surprise, "fio takes ; and # as the start of a comment even within a name (%s does it); put a blank before a comment, or give the name on the command line", WayOut)
			e.Option, e.Value, _ = strings.Cut(line, "=")
		default:
			p.line(pos, line)
		}
	}
}

// namesFile reports whether the line's option names files.
func namesFile(line string) bool {
	name, _, _ := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	return name == "filename" || name == "directory"
}

// header begins a section.
func (p *parser) header(pos Pos, line string, stonewall *bool) {
	p.close()
	p.job, p.section, p.start = nil, "", pos
	name, ok := strings.CutSuffix(line[1:], "]")
	switch {
	case !ok && strings.Contains(name, "]"):
		p.fail(pos, Syntax, "%q: nothing may follow the section's name in its line; fio makes it part of the name", line)
	case !ok:
		p.fail(pos, Syntax, "%q: the section's name has no closing ] (a comment's ; or # ends the line)", line)
	case name == "":
		p.fail(pos, Syntax, "[]: a section needs a name")
	case strings.Contains(name, "]"):
		p.fail(pos, Syntax, "%q: a section's name cannot hold a ]", line)
	case strings.Contains(name, "${"):
		p.fail(pos, Syntax, "%q: fio expands no variables in a section's name", line)
	case !p.wants(name): // and so none of its lines
	default:
		p.begin(pos, name, *stonewall)
		if p.job != &p.global {
			*stonewall = false
		}
	}
}

// wants reports whether a section is to be read.
func (p *parser) wants(name string) bool {
	if len(p.opts.Sections) == 0 || strings.HasPrefix(name, "global") {
		return true
	}
	i := slices.Index(p.opts.Sections, name)
	if i >= 0 {
		p.met[name] = true
	}
	return i >= 0
}

// begin opens a section, global if its name starts with that.
func (p *parser) begin(pos Pos, name string, stonewall bool) {
	p.section, p.start = name, pos
	if strings.HasPrefix(name, "global") {
		p.job = &p.global
		return
	}
	j := p.global.clone()
	if j.Name == "" { // else name= in [global] counts, as in fio
		j.Name = name
	}
	if stonewall {
		j.Stonewall = true
		j.set["stonewall"] = pos
	}
	p.jobs = append(p.jobs, j)
	p.job = &p.jobs[len(p.jobs)-1]
}

func isInclude(line string) bool {
	rest, ok := strings.CutPrefix(line, "include")
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t="))
}

// include reads another file's lines in the place of this one.
func (p *parser) include(pos Pos, line string) {
	name := strings.TrimPrefix(line, "include")
	if name != "" {
		name = name[1:] // one blank or =; fio takes a second one as the name's
	}
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(filepath.Dir(pos.File), name)
	}
	switch {
	case p.job == nil && p.start.File == p.stack[0]:
		return // in a section whose header was wrong
	case p.job == nil:
		p.fail(pos, Syntax, "include is outside of a section; fio refuses it there")
		return
	case name == "":
		p.fail(pos, Syntax, "include needs the name of a file")
		return
	case name[0] == ' ' || name[0] == '\t':
		p.fail(pos, Syntax, "fio takes the second blank after include as part of the file's name; leave one")
		return
	case strings.Contains(name, "${"):
		p.fail(pos, Syntax, "fio expands no variables in the name of an included file")
		return
	case len(p.stack) > maxDepth:
		p.fail(pos, Syntax, "include %s: more than %d files deep", name, maxDepth)
		return
	case p.includes >= maxIncludes:
		p.fail(pos, Syntax, "include %s: more than %d included files", name, maxIncludes)
		return
	}
	for _, s := range p.stack {
		if filepath.Clean(s) == path {
			p.fail(pos, Syntax, "include %s: the file includes itself", name)
			return
		}
	}
	p.includes++
	text, ok := p.open(path, pos)
	if !ok {
		return
	}
	p.stack = append(p.stack, path)
	p.lines(path, text, nil)
	p.stack = p.stack[:len(p.stack)-1]
}

// line reads an option's line of a job file.
func (p *parser) line(pos Pos, line string) {
	full, err := p.expand(line)
	name, value, hasValue := strings.Cut(full, "=")
	name = strings.TrimRight(name, " \t")
	if err == nil && hasValue {
		value, err = p.keywords(value)
	}
	if err != nil {
		n, v, _ := strings.Cut(line, "=")
		e := p.fail(pos, Invalid, "%v", err)
		e.Option, e.Value = strings.TrimRight(n, " \t"), v
		return
	}
	_, written, _ := strings.Cut(line, "=")
	p.option(pos, name, value, written, hasValue)
}

// expand replaces ${NAME} by the environment's value, once and anywhere in the
// line. fio takes an unset variable as empty, which turns /dev/${DISK} into
// another file without a word, so that is an error here.
func (p *parser) expand(line string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(line, "${")
		if i < 0 {
			b.WriteString(line)
			return b.String(), nil
		}
		b.WriteString(line[:i])
		name, rest, ok := strings.Cut(line[i+2:], "}")
		if !ok {
			return "", errors.New("${ has no closing }")
		}
		var v string
		set := false
		if p.opts.LookupEnv != nil {
			v, set = p.opts.LookupEnv(name)
		}
		if !set {
			return "", fmt.Errorf("the environment variable %s is not set (fio takes it as empty; so does this with %s= set)", name, name)
		}
		b.WriteString(v)
		line = rest
	}
}

// keywords replaces $ncpus, $mb_memory and $pagesize in a value. Where one is
// there, and an operator anywhere, fio gives all of the value to bc, which
// makes -2 of the file name a-$ncpus-b.
func (p *parser) keywords(value string) (string, error) {
	full := value
	for _, k := range []struct {
		word  string
		value int64
	}{{"$pagesize", p.opts.PageSize}, {"$mb_memory", p.opts.MemoryMB}, {"$ncpus", p.opts.NumCPU}} {
		if !strings.Contains(full, k.word) {
			continue
		}
		if k.value <= 0 {
			return "", fmt.Errorf("the value of %s is not known here", k.word)
		}
		full = strings.ReplaceAll(full, k.word, strconv.FormatInt(k.value, 10))
	}
	if full == value || !strings.ContainsAny(full, "+-*/") {
		return full, nil
	}
	n, err := evalPlain(full)
	if err != nil {
		return "", fmt.Errorf("fio computes a value that has a $ word and one of + - * / in it (with bc, which knows no units), and %q is no arithmetic: %w", full, err)
	}
	return strconv.FormatInt(n, 10), nil
}

// option puts a value into the open section's job. written is the value before
// it was expanded.
func (p *parser) option(pos Pos, name, value, written string, hasValue bool) {
	fail := func(kind Kind, instead, format string, args ...any) {
		e := p.fail(pos, kind, format, args...)
		e.Option, e.Value, e.Instead = name, written, instead
	}
	o := optionByName(name)
	switch {
	case name == "":
		fail(Syntax, "", "an option without a name")
		return
	case o == nil && p.opts.ForFio && (knownToFio(name) || p.opts.FioHas != nil && p.opts.FioHas(name)):
		if b := p.raw(name, value, hasValue); b != nil {
			fail(b.kind, "", "%s", b.text)
			return
		}
		p.job.set[name] = pos
		return
	case o == nil && knownToFio(name):
		if why := notPassed(name, value); why != "" {
			fail(Unsupported, "", "this engine does not have fio's option %s, and %s does not pass it on: %s; leave it out, or %s", name, WayOut, why, WayAround)
		} else {
			fail(Unsupported, "", "this engine does not have fio's option %s; %s takes it", name, WayOut)
		}
		return
	case o == nil:
		if n, ok := nearestOption(name); ok {
			fail(Unknown, n, "fio has no option %q; the nearest is %s", name, n)
		} else {
			fail(Unknown, "", "fio has no option %q", name)
		}
		return
	case !hasValue && !o.bare:
		fail(Invalid, "", "the option needs a value")
		return
	case hasValue && value == "" && !o.bare:
		fail(Invalid, "", "the value is empty, which fio refuses too")
		return
	case hasValue && value == "":
		fail(Invalid, name, "the value is empty, which fio refuses; write %s alone or %s=1", name, name)
		return
	case !hasValue:
		value = "1"
	}
	read := o.read
	if p.opts.ForFio {
		read = func(_ *Job, v string) *bad { return p.forFio(o, name, v) }
	}
	if b := read(p.job, value); b != nil {
		text, instead := b.text, ""
		if b.instead != "" {
			instead = name + "=" + b.instead
			text += "; write " + instead
		}
		fail(b.kind, instead, "%s", text)
		return
	}
	if o.name != "name" { // which is no setting of the job but what it is called
		p.job.set[o.key()] = pos
	}
}

// nearestOption offers an option of the own engine first.
func nearestOption(name string) (string, bool) {
	var ours []string
	for _, o := range options {
		ours = append(append(ours, o.name), o.aliases...)
	}
	name = strings.TrimLeft(name, "-") // from a command line
	our, ok := nearest(name, ours)
	fios, okFio := nearest(name, fioNames())
	if ok && (!okFio || distance(name, our) <= distance(name, fios)) {
		return our, true
	}
	return fios, okFio
}

// close checks the job whose section ends.
func (p *parser) close() {
	j := p.job
	if j == nil || j == &p.global {
		return
	}
	fail := func(option string, kind Kind, format string, args ...any) {
		e := p.fail(j.set[option], kind, format, args...)
		e.Option = option
		e.Section = j.Name
	}
	warn := func(option, format string, args ...any) {
		p.warns = append(p.warns, Warning{Pos: j.set[option], Section: j.Name, Text: fmt.Sprintf(format, args...)})
	}
	j.forFio = p.opts.ForFio
	for _, o := range options {
		_, ok := j.set[o.name]
		switch {
		case !ok || !o.uring || j.IOEngine == IOUring:
		case j.forFio && j.IOEngine != "" && !slices.Contains(ourEngines, string(j.IOEngine)):
			j.Raw = append(j.Raw, o.name+"="+o.write(j)) // others may have it, too (pvsync2: hipri)
		default:
			fail(o.name, Invalid, "the option belongs to ioengine=io_uring, which section [%s] does not set; fio refuses it too", j.Name)
		}
	}
	if j.forFio {
		if j.RuntimeNS == 0 {
			j.TimeBased = false // as in fio
		}
		return
	}
	switch {
	case j.IODepth > 1 && j.serial():
		warn("iodepth", "ioengine=%s keeps one I/O in flight whatever iodepth says, as in fio: iodepth is 1", j.IOEngine)
	case j.IODepth > 1 && j.IOEngine == "":
		warn("iodepth", "iodepth=%d runs with io_uring here; fio without ioengine=io_uring takes psync and keeps one I/O in flight", j.IODepth)
	}
	for _, o := range []struct {
		name string
		n    int64
	}{{"fsync", j.FSync}, {"fdatasync", j.FDataSync}} {
		if o.n > 0 && j.RW.Mixed() {
			warn(o.name, "%s=%d syncs once after every %d writes here; fio does so once more after each read that comes before the next write", o.name, o.n, o.n)
		}
	}
	if j.TimeBased && j.RuntimeNS == 0 {
		fail("time_based", Surprise, "the option needs a runtime; fio ignores it without one (section [%s])", j.Name)
	}
}

// finish returns what was read.
func (p *parser) finish() (*File, error) {
	p.job, p.section, p.start = nil, "", Pos{}
	for _, name := range p.opts.Sections {
		if !p.met[name] && len(p.errs) == 0 {
			p.fail(Pos{}, Syntax, "no section [%s] in the job files", name)
		}
	}
	if len(p.jobs) == 0 && len(p.errs) == 0 {
		p.fail(Pos{}, Syntax, "no job: give a section with another name than global, or --name")
	}
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	return &File{Jobs: p.jobs, Warnings: p.warns}, nil
}
