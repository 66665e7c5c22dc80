package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func linuxOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("journals are only written on Linux")
	}
}

func create(t *testing.T, state, id string) *Journal {
	t.Helper()
	linuxOnly(t)
	j, err := Create(state, Header{RunID: id, PID: os.Getpid(), UID: os.Geteuid(), BootID: "boot", Started: time.Unix(1700000000, 0).UTC(), Dir: "/bench"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func will(t *testing.T, j *Journal, e Entry) *Item {
	t.Helper()
	i, err := j.Will(e)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, state string) []Run {
	t.Helper()
	runs, err := List(state)
	must(t, err)
	return runs
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestCreateAndList(t *testing.T) {
	state := t.TempDir()
	if runs, err := List(state); err != nil || runs != nil {
		t.Fatalf("List of an empty state directory = %v, %v", runs, err)
	}
	j := create(t, state, "r1")
	i := will(t, j, Entry{Kind: KindFile, Path: "/bench/f"})
	must(t, i.Made(11, 12))
	d := will(t, j, Entry{Kind: KindDir, Path: "/bench/d"})
	will(t, j, Entry{Kind: KindContainer, Path: "/lx", Name: "n"})
	must(t, d.Gone())
	must(t, d.Gone()) // again is no error

	want := []Run{{
		ID: "r1", Path: filepath.Join(state, "journal", "r1.jsonl"),
		Header: j.Header(),
		Entries: []Entry{
			{Seq: 1, Kind: KindFile, Path: "/bench/f", Dev: 11, Ino: 12},
			{Seq: 3, Kind: KindContainer, Path: "/lx", Name: "n"},
		},
		Active: true,
	}}
	if diff := cmp.Diff(want, list(t, state)); diff != "" {
		t.Errorf("List:\n%s", diff)
	}
	if diff := cmp.Diff(want[0].Entries, j.Entries()); diff != "" {
		t.Errorf("Entries:\n%s", diff)
	}
	if st, err := os.Stat(want[0].Path); err != nil || st.Mode() != 0o600 {
		t.Errorf("journal has mode %v, %v", st.Mode(), err)
	}
	if _, err := Open(state, "r1"); !errors.Is(err, ErrActive) {
		t.Errorf("Open of an active run: %v", err)
	}
	if _, err := Create(state, Header{RunID: "r1"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of an existing run: %v", err)
	}
	must(t, j.Close())
	want[0].Active = false
	if diff := cmp.Diff(want, list(t, state)); diff != "" {
		t.Errorf("List after Close:\n%s", diff)
	}
}

func TestOpenRefusesNames(t *testing.T) {
	linuxOnly(t)
	state := t.TempDir()
	for _, id := range []string{"", ".", "..", "../x", "a/b", ".hidden", "a\x00"} {
		if _, err := Open(state, id); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%q) = %v, want a refusal", id, err)
		}
		if _, err := Create(state, Header{RunID: id}); err == nil {
			t.Errorf("Create(%q) was allowed", id)
		}
	}
	if _, err := Open(state, "r1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing: %v", err)
	}
}

func TestWillRefuses(t *testing.T) {
	j := create(t, t.TempDir(), "r1")
	if _, err := j.Will(Entry{Kind: KindTree, Path: "/home"}); err == nil {
		t.Error("a tree outside the state directory was taken")
	}
	if _, err := j.Will(Entry{Kind: "zvol", Path: "/x"}); err == nil {
		t.Error("an unknown kind was taken")
	}
	if n := len(j.Entries()); n != 0 {
		t.Errorf("%d refused entries were written", n)
	}
}

// Close removes the journal exactly when everything is gone.
func TestClose(t *testing.T) {
	state := t.TempDir()
	j := create(t, state, "r1")
	i := will(t, j, Entry{Kind: KindFile, Path: "/bench/f"})
	must(t, j.Close())
	must(t, j.Close())
	if len(list(t, state)) != 1 {
		t.Fatal("the journal of a run with something left was removed")
	}
	if _, err := j.Will(Entry{Kind: KindFile, Path: "/bench/g"}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Will after Close: %v", err)
	}
	if err := i.Made(1, 2); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Made after Close: %v", err)
	}

	j, err := Open(state, "r1")
	must(t, err)
	if left := j.Undo(t.Context(), map[Kind]Undoer{KindFile: removed}); left != nil {
		t.Fatal(left)
	}
	must(t, j.Close())
	if runs := list(t, state); runs != nil {
		t.Errorf("the journal of a clean run is still there: %v", runs)
	}
}

func removed(context.Context, Entry) (bool, error) { return true, nil }

// A power loss can cut the file anywhere after the last sync. At every offset
// the reader finds exactly what was whole, and cleaning goes on from there.
func TestTornAnywhere(t *testing.T) {
	src := t.TempDir()
	j := create(t, src, "r1")
	path := filepath.Join(src, "journal", "r1.jsonl")
	type point struct {
		size int64
		left []Entry
	}
	var points []point
	mark := func() {
		st, err := os.Stat(path)
		must(t, err)
		points = append(points, point{st.Size(), j.Entries()})
	}
	mark()
	var items []*Item
	for n := range 4 {
		items = append(items, will(t, j, Entry{Kind: KindFile, Path: "/bench/ä \"<f>\\" + strconv.Itoa(n)}))
		mark()
	}
	must(t, items[1].Made(5, 6))
	mark()
	must(t, items[3].Gone())
	mark()
	must(t, items[0].Gone())
	mark()
	full, err := os.ReadFile(path)
	must(t, err)

	state := t.TempDir()
	must(t, os.Mkdir(filepath.Join(state, "journal"), 0o700))
	cut := filepath.Join(state, "journal", "r1.jsonl")
	for n := 0; n <= len(full); n++ {
		must(t, os.WriteFile(cut, full[:n], 0o600))
		var want []Entry
		for _, p := range points {
			if int64(n) >= p.size-1 { // without its newline a line is whole too
				want = p.left
			}
		}
		runs := list(t, state)
		if len(runs) != 1 || runs[0].Err != nil || runs[0].Active {
			t.Fatalf("cut at %d: List = %+v", n, runs)
		}
		if diff := cmp.Diff(want, runs[0].Entries); diff != "" {
			t.Fatalf("cut at %d: List lost something:\n%s", n, diff)
		}
		j, err := Open(state, "r1")
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		// The first undo fails for all, and something is added: the file must
		// stay readable behind the cut.
		fail := func(context.Context, Entry) (bool, error) { return false, errors.New("busy") }
		if left := j.Undo(t.Context(), map[Kind]Undoer{KindFile: fail}); len(left) != len(want) {
			t.Fatalf("cut at %d: %d left, want %d", n, len(left), len(want))
		}
		more := will(t, j, Entry{Kind: KindDir, Path: "/bench/more"})
		must(t, j.Close())
		want = append(want[:len(want):len(want)], more.Entry())
		j, err = Open(state, "r1")
		if err != nil {
			t.Fatalf("cut at %d: open again: %v", n, err)
		}
		if diff := cmp.Diff(want, j.Entries()); diff != "" {
			t.Fatalf("cut at %d: after adding:\n%s", n, diff)
		}
		if left := j.Undo(t.Context(), map[Kind]Undoer{KindFile: removed, KindDir: removed}); left != nil {
			t.Fatalf("cut at %d: %v", n, left)
		}
		must(t, j.Close())
		if exists(cut) {
			t.Fatalf("cut at %d: the journal is still there", n)
		}
	}
}

func TestDamagedIsKept(t *testing.T) {
	linuxOnly(t)
	state := t.TempDir()
	must(t, os.Mkdir(filepath.Join(state, "journal"), 0o700))
	path := filepath.Join(state, "journal", "r1.jsonl")
	for name, in := range map[string]string{
		"damaged":     goodHeader + `{"will":{"seq":1,"kind":"file","path":"/a"}}` + "\nXX\n" + `{"gone":{"seq":1}}` + "\n",
		"newer":       `{"version":99,"run_id":"r1"}` + "\n",
		"another run": goodHeader[:len(`{"version":1,"run_id":"`)] + `r2"}` + "\n",
	} {
		must(t, os.WriteFile(path, []byte(in), 0o600))
		runs := list(t, state)
		if len(runs) != 1 || runs[0].Err == nil {
			t.Errorf("%s: List = %+v, want an error", name, runs)
		}
		if _, err := Open(state, "r1"); err == nil {
			t.Errorf("%s: Open took it", name)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != in {
			t.Errorf("%s: the file was changed: %v %q", name, err, b)
		}
	}
}

func TestConcurrentItems(t *testing.T) {
	state := t.TempDir()
	j := create(t, state, "r1")
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			i, err := j.Will(Entry{Kind: KindFile, Path: fmt.Sprintf("/bench/%d", n)})
			if err == nil {
				err = i.Made(1, uint64(n+1))
			}
			if err == nil && n%2 == 0 {
				err = i.Gone()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	runs := list(t, state)
	if runs[0].Err != nil || len(runs[0].Entries) != 4 {
		t.Fatalf("List = %+v", runs)
	}
	for _, e := range runs[0].Entries {
		if fmt.Sprintf("/bench/%d", e.Ino-1) != e.Path {
			t.Errorf("Made went to another entry: %+v", e)
		}
	}
}
