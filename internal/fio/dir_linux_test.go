package fio

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Directories of workers that were killed go, those in use and others stay.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	old := time.Now().Add(-time.Hour)
	mk := func(name string) string {
		d := filepath.Join(parent, name)
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, outputFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(d, old, old); err != nil {
			t.Fatal(err)
		}
		return d
	}
	dead, used, other, young := mk(dirPrefix+"1"), mk(dirPrefix+"2"), mk("nativ-other"), mk(dirPrefix+"3")
	if err := os.Chtimes(young, time.Time{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	lock, err := lockDir(used)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	link := filepath.Join(parent, dirPrefix+"4")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	if _, err := os.Stat(dead); err == nil {
		t.Error("the directory of a dead worker is still there")
	}
	for _, d := range []string{used, other, young, link} {
		if _, err := os.Stat(filepath.Join(d, outputFile)); err != nil {
			t.Error(err)
		}
	}
}
