package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// Version is the version of the journal's format. A journal of a higher one is
// listed but never acted on.
const Version = 1

// maxSize bounds what the reader takes into memory. A run writes some dozens
// of lines of less than 1 kB each.
const maxSize = 16 << 20

// A line is one line after the header; exactly one field is set. Every line
// stands for itself, so that appending is all that a writer ever does.
type line struct {
	Will *Entry `json:"will,omitempty"`
	Made *made  `json:"made,omitempty"`
	Gone *gone  `json:"gone,omitempty"`
}

type made struct {
	Seq int    `json:"seq"`
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

type gone struct {
	Seq int `json:"seq"`
}

// A DamageError says where a journal cannot be read. What it lists must be
// looked at by a person: nothing is guessed over the hole.
type DamageError struct {
	Line int // from 1; the header is line 1
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("line %d is damaged (%v): remove by hand what the journal lists, and then the journal", e.Line, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// ErrNewer says that a journal has the format of a newer version.
var ErrNewer = errors.New("the journal was written by a newer version; use that one to clean")

// A content is what a journal's file holds.
type content struct {
	header    Header
	hasHeader bool
	// entries are all of them in order of Seq, which is their index plus one.
	entries []Entry
	gone    []bool
	// size is the length of what was understood: all of the file but a torn
	// last line. unterminated says that the last line of it has no newline.
	size         int64
	unterminated bool
}

// parse reads a journal. With an error, the content up to there is returned
// too, for people to look at. A last line without its newline is what a power
// loss leaves of a write that was never synced: it counts when it is whole (a
// JSON object cannot be cut short and stay valid), and is left out when it is
// not.
func parse(r io.Reader) (content, error) {
	var c content
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return c, fmt.Errorf("read journal: %w", err)
	}
	if len(data) > maxSize {
		return c, fmt.Errorf("read journal: longer than %d bytes", maxSize)
	}
	for n := 1; len(data) > 0; n++ {
		text, rest, terminated := bytes.Cut(data, []byte("\n"))
		if n == 1 {
			err = c.addHeader(text)
		} else {
			err = c.addLine(text)
		}
		switch {
		case errors.Is(err, ErrNewer):
			return c, err
		case err != nil && !terminated:
			return c, nil // torn
		case err != nil:
			return c, &DamageError{Line: n, Err: err}
		}
		c.size += int64(len(text))
		if terminated {
			c.size++
		}
		c.unterminated = !terminated
		data = rest
	}
	return c, nil
}

func (c *content) addHeader(text []byte) error {
	var h Header
	if err := json.Unmarshal(text, &h); err != nil {
		return fmt.Errorf("parse header: %w", err)
	}
	if h.Version > Version {
		c.header, c.hasHeader = h, true
		return ErrNewer
	}
	if h.Version < 1 {
		return fmt.Errorf("header has version %d", h.Version)
	}
	if err := checkRunID(h.RunID); err != nil {
		return err
	}
	c.header, c.hasHeader = h, true
	return nil
}

func (c *content) addLine(text []byte) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("parse line: %w", err)
	}
	switch {
	case l.Will != nil && l.Made == nil && l.Gone == nil:
		if want := len(c.entries) + 1; l.Will.Seq != want {
			return fmt.Errorf("entry has number %d where %d comes next", l.Will.Seq, want)
		}
		c.entries = append(c.entries, *l.Will)
		c.gone = append(c.gone, false)
	case l.Made != nil && l.Will == nil && l.Gone == nil:
		if err := c.checkOpen(l.Made.Seq); err != nil {
			return err
		}
		e := &c.entries[l.Made.Seq-1]
		e.Dev, e.Ino = l.Made.Dev, l.Made.Ino
	case l.Gone != nil && l.Will == nil && l.Made == nil:
		if err := c.checkOpen(l.Gone.Seq); err != nil {
			return err
		}
		c.gone[l.Gone.Seq-1] = true
	default:
		return errors.New("line is none of will, made, gone")
	}
	return nil
}

// checkOpen checks that seq is an entry that is not gone.
func (c *content) checkOpen(seq int) error {
	if seq < 1 || seq > len(c.entries) {
		return fmt.Errorf("entry %d was never written", seq)
	}
	if c.gone[seq-1] {
		return fmt.Errorf("entry %d was gone before", seq)
	}
	return nil
}

// left returns the entries that are not gone, in order.
func (c *content) left() []Entry {
	var es []Entry
	for i, e := range c.entries {
		if !c.gone[i] {
			es = append(es, e)
		}
	}
	return es
}

// encode returns v as one line.
func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// checkRunID checks that id can be a file's name and nothing else.
func checkRunID(id string) error {
	ok := id != "" && len(id) <= 128 && id[0] != '.'
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '.' || c == '_' || c == '-'
	}
	if !ok {
		return fmt.Errorf("run id %q is not a plain name of letters, digits, dot, dash and underscore", id)
	}
	return nil
}

// errUnknownKind is why an entry of a newer version is kept.
var errUnknownKind = errors.New("unknown kind, made by a newer version; use that one to clean")

// check says whether an entry is sane enough to be written, or acted on. Undo
// runs with root's rights on what a file says, so a path that is not exactly
// one place is refused rather than interpreted.
func (e *Entry) check(stateDir string) error {
	if !utf8.ValidString(e.Path) || !utf8.ValidString(e.Name) {
		// encoding/json would silently turn it into another path.
		return fmt.Errorf("path %q is not valid UTF-8, which a journal cannot hold", path.Join(e.Path, e.Name))
	}
	if strings.ContainsRune(e.Path, 0) || strings.ContainsRune(e.Name, 0) {
		return errors.New("path contains a zero byte")
	}
	switch e.Kind {
	case KindFile, KindDir, KindMount:
		return checkPath(e.Path)
	case KindTree:
		if err := checkPath(e.Path); err != nil {
			return err
		}
		journals := path.Join(stateDir, dirName)
		if !below(e.Path, stateDir) || e.Path == journals || below(e.Path, journals) {
			return fmt.Errorf("tree %q is not below the state directory %q", e.Path, stateDir)
		}
		return nil
	case KindCgroup:
		// Below the root of each hierarchy: a leading slash is allowed, the
		// root itself and anything above is not.
		if p := strings.TrimPrefix(e.Path, "/"); !fs.ValidPath(p) || p == "." {
			return fmt.Errorf("cgroup %q is not a clean path below the root", e.Path)
		}
		return nil
	case KindContainer:
		if e.Name == "" || !fs.ValidPath(e.Name) || e.Name == "." || strings.Contains(e.Name, "/") {
			return fmt.Errorf("container name %q is not a plain name", e.Name)
		}
		return checkPath(e.Path)
	case KindProcess:
		// PID 0 and below mean groups or everything to kill(2); 1 is init.
		if e.PID <= 1 || e.StartTime == 0 || e.BootID == "" {
			return fmt.Errorf("process %d is not named by pid, start time and boot id", e.PID)
		}
		return nil
	}
	return e.checkPVE()
}

// checkPVE is check for the things of Proxmox VE: each is named so that only this
// run can have made it.
func (e *Entry) checkPVE() error {
	const leastVMID = 100 // PVE keeps those below for itself
	marked := func() error {
		if err := checkRunID(e.Mark); err != nil {
			return err
		}
		if e.VMID < leastVMID {
			return fmt.Errorf("container ID %d is below %d", e.VMID, leastVMID)
		}
		return nil
	}
	switch e.Kind {
	case KindPVETemplate:
		return checkPath(e.Path)
	case KindPVEContainer:
		if e.Name == "" || e.Since.IsZero() {
			return fmt.Errorf("container %d has no name or no time", e.VMID)
		}
		return marked()
	case KindPVEVolume:
		storage, name, ok := strings.Cut(e.Name, ":")
		if err := marked(); err != nil || !ok || storage == "" || !strings.Contains(name, e.Mark) {
			return errors.Join(err, fmt.Errorf("volume %q is not named after the run %s", e.Name, e.Mark))
		}
		return nil
	case KindPVEInside:
		if e.VMID < leastVMID {
			return fmt.Errorf("container ID %d is below %d", e.VMID, leastVMID)
		}
		return checkPath(e.Path)
	}
	return fmt.Errorf("%q: %w", e.Kind, errUnknownKind)
}

func checkPath(p string) error {
	if !path.IsAbs(p) || path.Clean(p) != p || p == "/" {
		return fmt.Errorf("path %q is not absolute and clean", p)
	}
	return nil
}

// below reports whether p is strictly below dir, both clean.
func below(p, dir string) bool {
	return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") && p != dir
}
