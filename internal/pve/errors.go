package pve

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// What is wrong, as far as a caller can do something about it.
var (
	// ErrLocked: somebody else works on the guest, and did so for longer than
	// LockWait.
	ErrLocked = errors.New("it is locked")
	// ErrExists: a guest has this ID.
	ErrExists = errors.New("the ID is taken")
	// ErrNoSuch: there is no such guest, storage or volume.
	ErrNoSuch          = errors.New("there is none")
	ErrNotRunning      = errors.New("it does not run")
	ErrRunning         = errors.New("it runs")
	ErrNoQuorum        = errors.New("the cluster has no quorum")
	ErrTemplateMissing = errors.New("there is no such template")
	ErrProtected       = errors.New("it is protected")
	// ErrBusy: the cluster's file system did not take a change.
	ErrBusy    = errors.New("/etc/pve is busy")
	ErrNoSpace = errors.New("there is no space")
	// ErrForeign: the guest is not one that this run made.
	ErrForeign = errors.New("it is not nativ's")
	// ErrLeftover: volumes carry the ID of a guest that is not there.
	ErrLeftover = errors.New("volumes of an earlier guest are left")
	// ErrNotPushed and ErrNotFreed: the program said that it worked, and it
	// did not.
	ErrNotPushed = errors.New("the file did not arrive")
	ErrNotFreed  = errors.New("the volume is still there")
	// ErrWiping: the volume is gone from the storage, but its blocks are still
	// being overwritten (saferemove).
	ErrWiping = errors.New("the volume is still being overwritten")
	ErrStart  = errors.New("it does not start")
)

// Error is a program that failed.
type Error struct {
	Program string
	Args    []string
	// Code is the exit code. Only for pct exec does it say anything: it is the
	// command's.
	Code int
	// Kind is one of the errors above, or nil.
	Kind error
	// Message is what the program said, on one line.
	Message string
}

func (e *Error) Error() string {
	what := e.Program
	if len(e.Args) > 0 {
		what += " " + e.Args[0]
	}
	if e.Message == "" {
		return fmt.Sprintf("%s: exit code %d", what, e.Code)
	}
	return what + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Kind }

// said tells errors apart by the texts of pve-container, pve-storage, pve-common
// and pve-cluster. The first that matches counts: a missing template is a
// missing volume, too.
var said = []struct {
	text *regexp.Regexp
	kind error
}{
	{regexp.MustCompile(`(CT|VM) is locked \(|can't lock file .* - got timeout|can't acquire lock`), ErrLocked},
	{regexp.MustCompile(`(CT|VM) \d+ already exists|unable to create (CT|VM) \d+:? .*config file already exists`), ErrExists},
	{regexp.MustCompile(`no quorum`), ErrNoQuorum},
	{regexp.MustCompile(`/etc/pve/.*Device or resource busy|unable to open file '/etc/pve/`), ErrBusy},
	{regexp.MustCompile(`:vztmpl/\S*' does not exist|/template/cache/\S*: .*No such file`), ErrTemplateMissing},
	{regexp.MustCompile(`protection mode enabled|protection.*(enabled|set)`), ErrProtected},
	{regexp.MustCompile(`(?i)no space left on device|insufficient free (space|extents)|out of space|not enough free space`), ErrNoSpace},
	{regexp.MustCompile(`(CT|VM|[Cc]ontainer) ?'?\d*'? not running|to a running CT|from a running CT`), ErrNotRunning},
	{regexp.MustCompile(`(CT|VM|container) \d* ?(is|already) running`), ErrRunning},
	{regexp.MustCompile(`startup for container '\d+' failed`), ErrStart},
	{regexp.MustCompile(`onfiguration file '\S+' does not exist|storage '\S+' does not exist|no such (volume|logical volume|CT|VM)|volume '\S+' does not exist|CT \d+ does not exist`), ErrNoSuch},
}

// classify makes an error of what a program said on stderr; out is what its
// worker said, which has the reason when a container does not start.
func classify(program string, args []string, code int, stderr, out string) *Error {
	e := &Error{Program: filepath.Base(program), Args: args, Code: code, Message: oneLine(stderr)}
	for _, s := range said {
		if s.text.MatchString(stderr) {
			e.Kind = s.kind
			break
		}
	}
	if e.Kind == ErrStart || e.Message == "" {
		if why := oneLine(lastLines(out, 3)); why != "" {
			e.Message = strings.TrimPrefix(e.Message+": "+why, ": ")
		}
	}
	return e
}

// oneLine joins the lines of a message, without those that only say that a
// program waits.
func oneLine(s string) string {
	var parts []string
	for line := range strings.Lines(strings.ToValidUTF8(s, "?")) {
		line = strings.TrimSpace(line)
		if line == "" || line == "trying to acquire lock..." {
			continue
		}
		parts = append(parts, line)
	}
	return strings.Join(parts, "; ")
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

var finishedWith = regexp.MustCompile(`(?m)^Task finished with (\d+) warning\(s\)!`)

// warnings returns what a task warned of that ended well: the lines that begin
// with WARN, or, where there are none, that there were some.
func warnings(stdout, stderr string) []string {
	end := finishedWith.FindString(stderr)
	if end == "" {
		return nil
	}
	var out []string
	for line := range strings.Lines(stdout) {
		line = strings.ToValidUTF8(strings.TrimSpace(line), "?")
		if w, ok := strings.CutPrefix(line, "WARN"); ok {
			out = append(out, strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(w, "ING"), ":")))
		}
	}
	if out == nil {
		out = []string{end}
	}
	return out
}
