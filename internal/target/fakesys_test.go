package target

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeTree makes a tree from lines "path = contents" and "path -> target" and
// returns where it lies.
func fakeTree(t *testing.T, text string) string {
	t.Helper()
	root := t.TempDir()
	sc := bufio.NewScanner(strings.NewReader(text))
	for sc.Scan() {
		line := sc.Text()
		if path, target, ok := strings.Cut(line, " -> "); ok {
			p := filepath.Join(root, strings.TrimSpace(path))
			must(t, os.MkdirAll(filepath.Dir(p), 0o755))
			must(t, os.Symlink(target, p))
		} else if path, text, ok := strings.Cut(line, " = "); ok {
			p := filepath.Join(root, strings.TrimSpace(path))
			must(t, os.MkdirAll(filepath.Dir(p), 0o755))
			must(t, os.WriteFile(p, []byte(strings.ReplaceAll(text, `\x00`, "\x00")+"\n"), 0o644))
		} else if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			t.Fatalf("bad line %q", line)
		}
	}
	must(t, sc.Err())
	return root
}

// fakeFile is fakeTree from a file below testdata.
func fakeFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	return fakeTree(t, string(b))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
