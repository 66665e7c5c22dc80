// Package sensortest builds recorded machines for tests: the files of sysfs and
// /dev that somebody's machine had, with their links.
package sensortest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Recorded builds the tree of a txtar archive and returns its root.
func Recorded(t *testing.T, archive string) string {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	must(t, err)
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return Tree(t, files)
}

// Tree builds a tree of files by path and returns its root, in which sys, proc and
// dev are there even if they are empty. The file LINKS is none: it has lines
// "path -> target" of symbolic links.
func Tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, d := range []string{"sys", "proc", "dev"} {
		must(t, os.Mkdir(filepath.Join(root, d), 0o755))
	}
	for name, data := range files {
		if name == "LINKS" {
			for l := range strings.Lines(data) {
				from, to, _ := strings.Cut(strings.TrimSpace(l), " -> ")
				Link(t, to, filepath.Join(root, from))
			}
			continue
		}
		Write(t, filepath.Join(root, name), data)
	}
	return root
}

// Write makes a file with the directories above it.
func Write(t *testing.T, path, data string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(data), 0o644))
}

// Link makes a symbolic link with the directories above it.
func Link(t *testing.T, to, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.Symlink(to, path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
