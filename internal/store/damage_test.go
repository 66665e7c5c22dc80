package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// filled makes a history of n runs and returns its bytes.
func filled(t *testing.T, dir string, n int) []byte {
	t.Helper()
	s := create(t, dir)
	for i := range n {
		if err := s.Put(context.Background(), entry(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedIsSetAside damages a database in several ways, each of which must
// be noticed, set aside without losing a byte, and leave room for a new one.
func TestDamagedIsSetAside(t *testing.T) {
	ctx := context.Background()
	whole := filled(t, t.TempDir(), 50)
	overwritten := func(from, to int) []byte {
		b := bytes.Clone(whole)
		for i := from; i < to; i++ {
			b[i] = byte(i*7 + 1)
		}
		return b
	}
	foreign := func() []byte {
		dir := t.TempDir()
		s := create(t, dir)
		if _, err := s.db.Exec("PRAGMA application_id = 0"); err != nil {
			t.Fatal(err)
		}
		s.Close()
		b, err := os.ReadFile(filepath.Join(dir, File))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"truncated in a page":   whole[:len(whole)-1000],
		"truncated by half":     whole[:len(whole)/2/4096*4096],
		"only the header":       whole[:100],
		"a few bytes":           []byte("abc"),
		"text":                  []byte(strings.Repeat("not a database\n", 1000)),
		"wrong header":          overwritten(0, 16),
		"garbage after page 1":  overwritten(4096, len(whole)),
		"garbage in the schema": overwritten(100, 4096),
		"another program's":     foreign(),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, File)
			write(t, path, b)
			write(t, path+"-journal", nil)
			s, err := Create(ctx, dir)
			if err == nil {
				_, err = s.List(ctx, Filter{Numbers: true})
				s.Close()
			}
			var d *DamagedError
			if !errors.As(err, &d) || d.Path != path {
				t.Fatalf("got %v", err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b) {
				t.Fatalf("opening it changed it: %v", err)
			}
			aside, err := SetAside(ctx, dir, noon)
			if err != nil || aside != path+".damaged-20261201-120000" {
				t.Fatalf("set aside as %q: %v", aside, err)
			}
			if got, err := os.ReadFile(aside); err != nil || !bytes.Equal(got, b) {
				t.Errorf("what is aside is not what was there: %v", err)
			}
			if exists(path) || exists(path+"-journal") {
				t.Error("something of it is still there")
			}
			filled(t, dir, 1)
			// The next one does not overwrite it.
			write(t, path, b)
			if again, err := SetAside(ctx, dir, noon); err != nil || again != aside+"-2" {
				t.Errorf("set aside as %q: %v", again, err)
			}
		})
	}
}

// TestWholeIsNotSetAside: what another process made meanwhile stays.
func TestWholeIsNotSetAside(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // without one, and with one
		if aside, err := SetAside(context.Background(), dir, noon); err != nil || aside != "" {
			t.Errorf("set aside as %q: %v", aside, err)
		}
		filled(t, dir, 3)
	}
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(list(t, s, Filter{})); n != 3 {
		t.Errorf("%d runs", n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := SetAside(ctx, dir, noon); err == nil {
		t.Error("renamed a database that somebody has open")
	}
}

// TestNewerIsRefused, and stays where it is.
func TestNewerIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := create(t, dir)
	if _, err := s.db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err := Create(context.Background(), dir)
	var n *NewerError
	if !errors.As(err, &n) || n.Version != 99 || damaged(err) {
		t.Errorf("got %v", err)
	}
	if aside, err := SetAside(context.Background(), dir, noon); err != nil || aside != "" {
		t.Errorf("set aside as %q: %v", aside, err)
	}
}
