package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	dirName = "journal" // below the state directory
	ext     = ".jsonl"
)

// A Journal is the journal of one run, open and locked. Its methods may be
// called from several goroutines.
type Journal struct {
	stateDir, path string

	undoing sync.Mutex // one Undo at a time

	mu  sync.Mutex
	f   *os.File // nil after Close
	c   content
	bad error // why nothing more can be written
}

// An Item is one entry of an open journal.
type Item struct {
	j   *Journal
	seq int
}

// Create starts the journal of a new run, <stateDir>/journal/<RunID>.jsonl,
// and holds its lock until Close. The state directory must exist (see StateDir).
// The header's Version is set here. The file and its name are on the disk when
// Create returns.
func Create(stateDir string, h Header) (*Journal, error) {
	h.Version = Version
	if err := checkRunID(h.RunID); err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	stateDir, err := filepath.Abs(stateDir)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	dir := filepath.Join(stateDir, dirName)
	// Not MkdirAll: the state directory's own mode is StateDir's business.
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	path := filepath.Join(dir, h.RunID+ext)
	f, err := openFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	j := &Journal{stateDir: stateDir, path: path, f: f, c: content{header: h, hasHeader: true}}
	if err := j.start(h); err != nil {
		f.Close()
		return nil, fmt.Errorf("create journal %s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) start(h Header) error {
	// Between open and lock somebody cleaning may have taken the empty file
	// for a dead run's: then it is theirs, and perhaps already removed.
	if err := lockNamed(j.f, j.path); err != nil {
		return err
	}
	err := j.append(h)
	if err == nil {
		err = syncDir(filepath.Dir(j.path))
	}
	if err == nil {
		err = syncDir(j.stateDir)
	}
	if err != nil {
		os.Remove(j.path) // nothing was made yet
	}
	return err
}

// Open takes over the journal of a run that is dead, to clean up after it. It
// fails with ErrActive while the run lives (or somebody else is cleaning),
// with fs.ErrNotExist where there is no such journal, with ErrNewer, and with
// a *DamageError where a line in the middle cannot be read: its things are then
// for a person to remove, and the file after them.
func Open(stateDir, runID string) (*Journal, error) {
	if err := checkRunID(runID); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	stateDir, err := filepath.Abs(stateDir)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	path := filepath.Join(stateDir, dirName, runID+ext)
	f, err := openFile(path, os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{stateDir: stateDir, path: path, f: f}
	if err := j.takeOver(runID); err != nil {
		f.Close()
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) takeOver(runID string) error {
	if err := checkOwner(j.f); err != nil {
		return err
	}
	if err := lockNamed(j.f, j.path); err != nil {
		return err
	}
	var err error
	if j.c, err = read(j.f, runID); err != nil {
		return err
	}
	// Cut off a torn last line, so that the next one is not glued to it.
	if err := j.f.Truncate(j.c.size); err != nil {
		return err
	}
	if _, err := j.f.Seek(j.c.size, io.SeekStart); err != nil {
		return err
	}
	if !j.c.hasHeader {
		// The run died while it created the journal; it had made nothing.
		j.c.header.Version = Version
		return j.append(j.c.header)
	}
	if j.c.unterminated {
		if _, err := j.f.WriteString("\n"); err != nil {
			return err
		}
		j.c.size++
		j.c.unterminated = false
	}
	return nil
}

// read parses a journal's file and checks that it is the one that its name
// says.
func read(f *os.File, runID string) (content, error) {
	c, err := parse(f)
	if err != nil {
		return c, err
	}
	if !c.hasHeader { // torn before anything else was written
		c.header.RunID = runID
	} else if c.header.RunID != runID {
		return c, &DamageError{Line: 1, Err: fmt.Errorf("header is of run %q", c.header.RunID)}
	}
	return c, nil
}

// A Run is a journal as List finds it.
type Run struct {
	// ID is the name of the run; Path that of its journal.
	ID, Path string
	Header   Header
	// Entries are those not yet gone, in the order in which they were written.
	Entries []Entry
	// Active is true while the run lives, or somebody is cleaning up after it.
	Active bool
	// Err says why the journal cannot be read to its end, and so not be opened:
	// a *DamageError, ErrNewer, or an error of reading. Entries and Header are
	// then what stands before that.
	Err error
}

// List returns every journal in the state directory, oldest name first. A
// state directory without journals is no error.
func List(stateDir string) ([]Run, error) {
	dir, err := filepath.Abs(filepath.Join(stateDir, dirName))
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var runs []Run
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ext)
		if !ok || checkRunID(id) != nil {
			continue
		}
		r, err := look(filepath.Join(dir, f.Name()), id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the run ended just now
		}
		r.Err = err
		runs = append(runs, r)
	}
	return runs, nil
}

// look reads one journal without taking it over.
func look(path, id string) (Run, error) {
	r := Run{ID: id, Path: path, Header: Header{RunID: id}}
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if err := checkOwner(f); err != nil {
		return r, err
	}
	// First the lock, then the content: what a dead run wrote is final.
	if r.Active, err = locked(f); err != nil {
		return r, err
	}
	c, err := read(f, id)
	r.Entries = c.left()
	if c.hasHeader {
		r.Header = c.header
	}
	if err != nil {
		return r, err
	}
	return r, named(f, path)
}

// Header returns the header; of a run that died before it had written one,
// only Version and RunID are set.
func (j *Journal) Header() Header { return j.c.header }

// Entries returns the entries that are not gone, in order.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.c.left()
}

// Will writes down a thing and returns when that is on the disk; only then may
// the caller make it. Seq is assigned here.
//
// A process is the exception, since its number is known only when it runs: it
// is written right after its start, before it is given any work. What stands
// in for the journal until then is that a worker ends by itself when its stdin
// closes, which the death of the run does.
func (j *Journal) Will(e Entry) (*Item, error) {
	if err := e.check(j.stateDir); err != nil {
		return nil, fmt.Errorf("write journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Seq = len(j.c.entries) + 1
	if err := j.append(line{Will: &e}); err != nil {
		return nil, fmt.Errorf("write journal: %w", err)
	}
	j.c.entries = append(j.c.entries, e)
	j.c.gone = append(j.c.gone, false)
	return &Item{j: j, seq: e.Seq}, nil
}

// Made writes down which file it became, so that another one that came to have
// its name is never removed.
func (i *Item) Made(dev, ino uint64) error {
	j := i.j
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.c.checkOpen(i.seq); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := j.append(line{Made: &made{Seq: i.seq, Dev: dev, Ino: ino}}); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	e := &j.c.entries[i.seq-1]
	e.Dev, e.Ino = dev, ino
	return nil
}

// Gone writes down that the thing is no more. It may be called again. The
// entry counts as gone even with an error (a full disk), which only means that
// a later Undo of another process will find nothing there.
func (i *Item) Gone() error { return i.j.markGone(i.seq) }

func (j *Journal) markGone(seq int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.c.gone[seq-1] {
		return nil
	}
	j.c.gone[seq-1] = true
	if err := j.append(line{Gone: &gone{Seq: seq}}); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// Entry returns the entry as it stands.
func (i *Item) Entry() Entry {
	i.j.mu.Lock()
	defer i.j.mu.Unlock()
	return i.j.c.entries[i.seq-1]
}

// append writes one line and syncs it. A write that fails half-way (a full
// disk) is taken back, since the next one would otherwise make it a damaged
// line in the middle.
func (j *Journal) append(v any) error {
	if j.f == nil {
		return fs.ErrClosed
	}
	if j.bad != nil {
		return j.bad
	}
	b, err := encode(v)
	if err != nil {
		return err
	}
	_, err = j.f.Write(b)
	if err == nil {
		// fsync(2) reports a lost write once and then forgets it, so that
		// nothing after a failed sync can be trusted.
		if err = j.f.Sync(); err != nil {
			j.bad = fmt.Errorf("journal is not safe on the disk: %w", err)
		}
	}
	if err != nil {
		if e := j.f.Truncate(j.c.size); e != nil && j.bad == nil {
			j.bad = fmt.Errorf("journal ends in a half-written line: %w", e)
		}
		j.f.Seek(j.c.size, io.SeekStart)
		return err
	}
	j.c.size += int64(len(b))
	return nil
}

// Close gives up the journal: its file is removed when every entry is gone,
// and kept for nativ clean when not. It may be called again.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil {
		return nil
	}
	var err error
	if !slices.Contains(j.c.gone, false) {
		// Removed before the lock goes, so that nobody takes it for a dead run.
		if err = os.Remove(j.path); err == nil {
			err = syncDir(filepath.Dir(j.path))
		}
	}
	err = errors.Join(err, j.f.Close())
	j.f = nil
	if err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// lockNamed locks f and checks that path still names it: whoever held the
// lock before may have removed it.
func lockNamed(f *os.File, path string) error {
	if err := lock(f); err != nil {
		return err
	}
	return named(f, path)
}

// named fails with fs.ErrNotExist where path does not name f any more.
func named(f *os.File, path string) error {
	a, err := f.Stat()
	if err != nil {
		return err
	}
	b, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(a, b) {
		return fmt.Errorf("%s was replaced: %w", path, fs.ErrNotExist)
	}
	return nil
}

// syncDir makes the names in a directory safe on the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
