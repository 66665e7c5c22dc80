package journal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const goodHeader = `{"version":1,"run_id":"r1","pid":7,"uid":0,"boot_id":"b","started":"2026-01-02T03:04:05Z","dir":"/bench"}` + "\n"

func TestParseDamage(t *testing.T) {
	const will1 = `{"will":{"seq":1,"kind":"file","path":"/a"}}` + "\n"
	tests := []struct {
		name, in string
		line     int // of the damage
		entries  int // readable before it
	}{
		{"no header", will1 + will1, 1, 0},
		{"garbage header", "hello\n" + will1, 1, 0},
		{"header version 0", `{"run_id":"r1"}` + "\n", 1, 0},
		{"header with a path as run", `{"version":1,"run_id":"../x"}` + "\n", 1, 0},
		{"garbage in the middle", goodHeader + will1 + "\x00\x00\n" + will1, 3, 1},
		{"empty line", goodHeader + "\n" + will1, 2, 0},
		{"terminated garbage at the end", goodHeader + will1 + `{"will":{"se` + "\n", 3, 1},
		{"two entries glued", goodHeader + `{"will":{"seq":1,"kind":"f{"will":{"seq":2}}` + "\n" + will1, 2, 0},
		{"entry missing", goodHeader + strings.Replace(will1, `"seq":1`, `"seq":2`, 1) + will1, 2, 0},
		{"number twice", goodHeader + will1 + will1, 3, 1},
		{"gone of nothing", goodHeader + `{"gone":{"seq":1}}` + "\n", 2, 0},
		{"gone twice", goodHeader + will1 + `{"gone":{"seq":1}}` + "\n" + `{"gone":{"seq":1}}` + "\n", 4, 0},
		{"made of nothing", goodHeader + will1 + `{"made":{"seq":0,"ino":3}}` + "\n", 3, 1},
		{"made after gone", goodHeader + will1 + `{"gone":{"seq":1}}` + "\n" + `{"made":{"seq":1}}` + "\n", 4, 0},
		{"unknown line", goodHeader + will1 + `{"moved":{"seq":1}}` + "\n", 3, 1},
		{"two in one", goodHeader + will1 + `{"made":{"seq":1},"gone":{"seq":1}}` + "\n", 3, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := parse(strings.NewReader(tt.in))
			var d *DamageError
			if !errors.As(err, &d) {
				t.Fatalf("error is %v, want damage", err)
			}
			if d.Line != tt.line {
				t.Errorf("damage in line %d, want %d: %v", d.Line, tt.line, err)
			}
			if n := len(c.left()); n != tt.entries {
				t.Errorf("%d entries before the damage, want %d", n, tt.entries)
			}
		})
	}
}

// What a power loss leaves behind the last synced line is no damage: a part of
// a line, or the zeros of blocks that were never written.
func TestParseTorn(t *testing.T) {
	whole := goodHeader + `{"will":{"seq":1,"kind":"file","path":"/a"}}` + "\n"
	for _, tail := range []string{`{"gone":{"se`, "{", strings.Repeat("\x00", 4096), "\xff\xfe"} {
		c, err := parse(strings.NewReader(whole + tail))
		if err != nil || len(c.left()) != 1 || c.size != int64(len(whole)) {
			t.Errorf("tail %.20q: %v, %d left, %d bytes", tail, err, len(c.left()), c.size)
		}
	}
	for _, in := range []string{"", "{", "\x00\x00", goodHeader[:20]} {
		if c, err := parse(strings.NewReader(in)); err != nil || c.hasHeader || c.size != 0 {
			t.Errorf("torn header %q: %v, %+v", in, err, c)
		}
	}
}

func TestParseNewer(t *testing.T) {
	c, err := parse(strings.NewReader(`{"version":2,"run_id":"r1","dir":"/bench"}` + "\nwhatever\n"))
	if !errors.Is(err, ErrNewer) {
		t.Fatalf("error is %v, want ErrNewer", err)
	}
	if c.header.Dir != "/bench" {
		t.Errorf("header %+v was not kept for people", c.header)
	}
}

func TestParseTooLong(t *testing.T) {
	in := goodHeader + strings.Repeat(" ", maxSize)
	if _, err := parse(strings.NewReader(in)); err == nil {
		t.Fatal("a journal over the limit was taken")
	}
}

func TestCheck(t *testing.T) {
	const state = "/var/lib/nativ"
	proc := Entry{Kind: KindProcess, PID: 42, StartTime: 1, BootID: "b"}
	edit := func(f func(*Entry)) Entry { e := proc; f(&e); return e }
	ct := Entry{Kind: KindPVEContainer, VMID: 100, Name: "nativ-r1", Mark: "r1", Since: time.Unix(1, 0)}
	editCT := func(f func(*Entry)) Entry { e := ct; f(&e); return e }
	tests := []struct {
		e  Entry
		ok bool
	}{
		{Entry{Kind: KindFile, Path: "/bench/nativ-x.bin"}, true},
		{Entry{Kind: KindFile, Path: "/bench/with space\nand line"}, true},
		{Entry{Kind: KindFile, Path: "bench/x"}, false},
		{Entry{Kind: KindFile, Path: ""}, false},
		{Entry{Kind: KindFile, Path: "/"}, false},
		{Entry{Kind: KindFile, Path: "/a/../b"}, false},
		{Entry{Kind: KindFile, Path: "/a//b"}, false},
		{Entry{Kind: KindDir, Path: "/a/"}, false},
		{Entry{Kind: KindMount, Path: "/a/."}, false},
		{Entry{Kind: KindFile, Path: "/a\xffb"}, false},
		{Entry{Kind: KindFile, Path: "/a\x00b"}, false},
		{Entry{Kind: KindTree, Path: state + "/run/r1"}, true},
		{Entry{Kind: KindTree, Path: state}, false},
		{Entry{Kind: KindTree, Path: "/var/lib"}, false},
		{Entry{Kind: KindTree, Path: "/var/lib/nativ2/x"}, false},
		{Entry{Kind: KindTree, Path: "/home"}, false},
		{Entry{Kind: KindTree, Path: state + "/../x"}, false},
		{Entry{Kind: KindTree, Path: state + "/journal"}, false},
		{Entry{Kind: KindTree, Path: state + "/journal/x"}, false},
		{Entry{Kind: KindCgroup, Path: "nativ/r1/ct"}, true},
		{Entry{Kind: KindCgroup, Path: "/nativ/r1"}, true},
		{Entry{Kind: KindCgroup, Path: "/"}, false},
		{Entry{Kind: KindCgroup, Path: ""}, false},
		{Entry{Kind: KindCgroup, Path: "."}, false},
		{Entry{Kind: KindCgroup, Path: "../x"}, false},
		{Entry{Kind: KindCgroup, Path: "a/../../x"}, false},
		{Entry{Kind: KindContainer, Path: "/run/lx", Name: "n1"}, true},
		{Entry{Kind: KindContainer, Path: "/run/lx"}, false},
		{Entry{Kind: KindContainer, Path: "/run/lx", Name: ".."}, false},
		{Entry{Kind: KindContainer, Path: "/run/lx", Name: "a/b"}, false},
		{Entry{Kind: KindContainer, Path: "lx", Name: "n1"}, false},
		{proc, true},
		{edit(func(e *Entry) { e.PID = 1 }), false},
		{edit(func(e *Entry) { e.PID = 0 }), false},
		{edit(func(e *Entry) { e.PID = -1 }), false},
		{edit(func(e *Entry) { e.StartTime = 0 }), false},
		{edit(func(e *Entry) { e.BootID = "" }), false},
		{ct, true},
		{editCT(func(e *Entry) { e.VMID = 99 }), false},
		{editCT(func(e *Entry) { e.Mark = "" }), false},
		{editCT(func(e *Entry) { e.Mark = "r1 x" }), false},
		{editCT(func(e *Entry) { e.Since = time.Time{} }), false},
		{editCT(func(e *Entry) { e.Name = "" }), false},
		{Entry{Kind: KindPVEVolume, VMID: 100, Mark: "r1", Name: "local-lvm:vm-100-nativ-r1"}, true},
		{Entry{Kind: KindPVEVolume, VMID: 100, Mark: "r1", Name: "local-lvm:vm-100-disk-0"}, false},
		{Entry{Kind: KindPVEVolume, VMID: 100, Mark: "r1", Name: "nativ-r1"}, false},
		{Entry{Kind: KindPVEVolume, VMID: 0, Mark: "r1", Name: "local-lvm:vm-100-nativ-r1"}, false},
		{Entry{Kind: KindPVETemplate, Path: "/var/lib/vz/template/cache/nativ-r1.tar.gz"}, true},
		{Entry{Kind: KindPVETemplate, Path: "cache/x"}, false},
		{Entry{Kind: KindPVEInside, VMID: 105, Path: "/nativ-r1"}, true},
		{Entry{Kind: KindPVEInside, VMID: 105, Path: "/"}, false},
		{Entry{Kind: KindPVEInside, Path: "/nativ-r1"}, false},
		{Entry{Kind: "zvol", Path: "/a"}, false},
		{Entry{}, false},
	}
	for _, tt := range tests {
		if err := tt.e.check(state); (err == nil) != tt.ok {
			t.Errorf("check(%+v) = %v, want ok %v", tt.e, err, tt.ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodHeader))
	f.Add([]byte(goodHeader + `{"will":{"seq":1,"kind":"file","path":"/a"}}` + "\n" + `{"made":{"seq":1,"dev":2,"ino":3}}` + "\n" + `{"gone":{"seq":1}}` + "\n"))
	f.Add([]byte(goodHeader + `{"will":{"seq":1,"kind":"process","pid":2,"start_time":9,"boot_id":"b"}}` + "\n" + `{"made":{"se`))
	f.Add([]byte(`{"version":2}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := parse(bytes.NewReader(in))
		if c.size > int64(len(in)) {
			t.Fatalf("understood %d bytes of %d", c.size, len(in))
		}
		for i, e := range c.entries {
			if e.Seq != i+1 {
				t.Fatalf("entry %d has number %d", i, e.Seq)
			}
		}
		if err != nil {
			return
		}
		if rest := in[c.size:]; bytes.Contains(rest, []byte("\n")) {
			t.Fatalf("a whole line was left out: %q", rest)
		}
		// What was understood must read the same again, as it does when a
		// journal is taken over after the torn line was cut off.
		again, err := parse(bytes.NewReader(in[:c.size]))
		if err != nil {
			t.Fatalf("the understood part fails: %v", err)
		}
		if diff := cmp.Diff(c, again, cmp.AllowUnexported(content{})); diff != "" {
			t.Fatalf("the understood part reads differently:\n%s", diff)
		}
	})
}
