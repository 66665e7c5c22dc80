package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorder is an undoer that notes what it is asked to remove and fails for
// the paths in fail.
type recorder struct {
	asked []string
	fail  map[string]error
}

func (r *recorder) undoers() map[Kind]Undoer {
	m := map[Kind]Undoer{}
	for _, k := range []Kind{KindFile, KindDir, KindTree, KindMount, KindCgroup, KindContainer, KindProcess} {
		m[k] = func(_ context.Context, e Entry) (bool, error) {
			r.asked = append(r.asked, string(k)+" "+e.Path+e.Name)
			return true, r.fail[e.Path+e.Name]
		}
	}
	return m
}

func TestUndoOrderAndFailures(t *testing.T) {
	state := t.TempDir()
	j := create(t, state, "r1")
	for _, e := range []Entry{
		{Kind: KindFile, Path: "/bench/f"},
		{Kind: KindTree, Path: state + "/run/r1"},
		{Kind: KindMount, Path: state + "/run/r1/lx/n/rootfs/bench"},
		{Kind: KindCgroup, Path: "nativ/r1"},
		{Kind: KindContainer, Path: state + "/run/r1/lx", Name: "n"},
		{Kind: KindCgroup, Path: "/nativ2"},
		{Kind: KindDir, Path: state + "/run/r10"},
	} {
		will(t, j, e)
	}
	busy := errors.New("device or resource busy")
	r := &recorder{fail: map[string]error{state + "/run/r1/lx/n/rootfs/bench": busy}}
	left := j.Undo(t.Context(), r.undoers())
	want := []string{
		"dir " + state + "/run/r10",
		"cgroup /nativ2",
		"container " + state + "/run/r1/lxn",
		"cgroup nativ/r1",
		"mount " + state + "/run/r1/lx/n/rootfs/bench",
		// Not the tree: it would remove the user's files through the mount.
		"file /bench/f",
	}
	if diff := cmp.Diff(want, r.asked); diff != "" {
		t.Errorf("undone:\n%s", diff)
	}
	if len(left) != 2 || !errors.Is(left[0].Err, busy) || left[1].Entry.Kind != KindTree {
		t.Fatalf("left %v", left)
	}
	if s := left[1].String(); !strings.Contains(s, "tree "+state+"/run/r1: mount ") || !strings.Contains(s, "still there") {
		t.Errorf("reason %q", s)
	}

	// Once more, now that the mount lets go: only the two, by another process.
	must(t, j.Close())
	j, err := Open(state, "r1")
	must(t, err)
	r = &recorder{}
	if left := j.Undo(t.Context(), r.undoers()); left != nil {
		t.Fatalf("left %v", left)
	}
	want = []string{"mount " + state + "/run/r1/lx/n/rootfs/bench", "tree " + state + "/run/r1"}
	if diff := cmp.Diff(want, r.asked); diff != "" {
		t.Errorf("undone again:\n%s", diff)
	}
	if left := j.Undo(t.Context(), r.undoers()); left != nil || len(r.asked) != 2 {
		t.Errorf("a third undo did something: %v %v", left, r.asked)
	}
	must(t, j.Close())
	if runs := list(t, state); runs != nil {
		t.Errorf("journal is still there: %v", runs)
	}
}

func TestUndoHolds(t *testing.T) {
	f := func(k Kind, p string) Entry { return Entry{Kind: k, Path: p, Name: "n"} }
	tests := []struct {
		outer, inner Entry
		want         bool
	}{
		{f(KindTree, "/s/r"), f(KindMount, "/s/r/m"), true},
		{f(KindDir, "/s/r"), f(KindMount, "/s/r"), true},
		{f(KindTree, "/s/r"), f(KindMount, "/s/r2"), false},
		{f(KindTree, "/s/r/m"), f(KindMount, "/s/r"), false},
		{f(KindTree, "/s/r"), f(KindContainer, "/s/r/lx"), true},
		{f(KindMount, "/s/m"), f(KindFile, "/s/m/f"), true},
		{f(KindTree, "/s"), f(KindCgroup, "/s/c"), false},
		{f(KindCgroup, "/s"), f(KindCgroup, "/s/c"), true},
		{f(KindCgroup, "s"), f(KindCgroup, "/s/c"), true},
		{f(KindCgroup, "/s"), f(KindFile, "/s/c"), false},
		{f(KindProcess, ""), f(KindFile, "/s/c"), false},
		{Entry{Kind: KindPVEContainer, VMID: 100}, Entry{Kind: KindPVEVolume, VMID: 100}, true},
		{Entry{Kind: KindPVEContainer, VMID: 100}, Entry{Kind: KindPVEVolume, VMID: 101}, false},
	}
	for _, tt := range tests {
		if got := holds(tt.outer, tt.inner); got != tt.want {
			t.Errorf("holds(%v, %v) = %v", tt.outer, tt.inner, got)
		}
	}
}

// What a file says is checked before anything acts on it, since the writer
// may have been another version, or not nativ at all.
func TestUndoChecksWhatItReads(t *testing.T) {
	linuxOnly(t)
	state := t.TempDir()
	must(t, os.Mkdir(filepath.Join(state, "journal"), 0o700))
	lines := []string{
		`{"will":{"seq":1,"kind":"tree","path":"/home"}}`,
		`{"will":{"seq":2,"kind":"file","path":"../etc/passwd"}}`,
		`{"will":{"seq":3,"kind":"process","pid":-1,"start_time":1,"boot_id":"b"}}`,
		`{"will":{"seq":4,"kind":"zvol","path":"/dev/zvol/x"}}`,
		`{"will":{"seq":5,"kind":"file","path":"/bench/f"}}`,
	}
	must(t, os.WriteFile(filepath.Join(state, "journal", "r1.jsonl"), []byte(goodHeader+strings.Join(lines, "\n")+"\n"), 0o600))
	j, err := Open(state, "r1")
	must(t, err)
	r := &recorder{}
	left := j.Undo(t.Context(), r.undoers())
	if diff := cmp.Diff([]string{"file /bench/f"}, r.asked); diff != "" {
		t.Errorf("undone:\n%s", diff)
	}
	var seqs []int
	for _, l := range left {
		seqs = append(seqs, l.Entry.Seq)
	}
	if !slices.Equal(seqs, []int{4, 3, 2, 1}) {
		t.Errorf("left %v", left)
	}
	if !errors.Is(left[0].Err, errUnknownKind) {
		t.Errorf("unknown kind: %v", left[0].Err)
	}
	must(t, j.Close())
	if runs := list(t, state); len(runs) != 1 || len(runs[0].Entries) != 4 {
		t.Errorf("what is left was not kept: %+v", runs)
	}
}

func TestUndoWithoutUndoer(t *testing.T) {
	j := create(t, t.TempDir(), "r1")
	will(t, j, Entry{Kind: KindMount, Path: "/m"})
	if left := j.Undo(t.Context(), nil); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

func TestUndoCancelled(t *testing.T) {
	j := create(t, t.TempDir(), "r1")
	for _, p := range []string{"/a", "/b", "/c"} {
		will(t, j, Entry{Kind: KindFile, Path: p})
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := j.Undo(ctx, map[Kind]Undoer{KindFile: func(context.Context, Entry) (bool, error) {
		cancel()
		return true, nil
	}})
	if len(left) != 2 || !errors.Is(left[0].Err, context.Canceled) {
		t.Errorf("left %v", left)
	}
	if n := len(j.Entries()); n != 2 {
		t.Errorf("%d entries left", n)
	}
}

// An interrupted run may still add an entry while it is being undone.
func TestUndoSeesLateEntries(t *testing.T) {
	j := create(t, t.TempDir(), "r1")
	will(t, j, Entry{Kind: KindFile, Path: "/a"})
	var asked []string
	left := j.Undo(t.Context(), map[Kind]Undoer{KindFile: func(_ context.Context, e Entry) (bool, error) {
		if e.Path == "/a" {
			will(t, j, Entry{Kind: KindFile, Path: "/late"})
		}
		asked = append(asked, e.Path)
		return true, nil
	}})
	if left != nil || !slices.Equal(asked, []string{"/a", "/late"}) {
		t.Errorf("left %v, asked %v", left, asked)
	}
}
