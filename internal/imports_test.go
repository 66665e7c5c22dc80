package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// policy is who may import whom, in the form of go/build's own dependency
// test: "a < b" lets b import a, and all that a may. Test files are exempt.
const policy = `
NONE < sys, job, journal, blkid, pve;
job < record;
record < cgroup, analysis, fio/json, store;
record, sys, journal, blkid < target;
record, sys < host;
record, sys, cgroup < sensor;
record, target < pass;
pass < uring, syncio, libaio;
record, target < worker;
record, target < sim;
record, target < storage;
fio/json, target < fio;
worker, cgroup, pve < place;
record < reference, rating;
record, pve < due;
analysis < compare;
analysis, reference, rating < audit;
audit, compare, reference, rating < report;
report < report/plot;
report/plot < report/html;
analysis, host, place, sensor < bench;
`

// restricted names standard packages that only some of ours may import.
var restricted = map[string][]string{
	"unsafe":       {"sys", "uring"},
	"os/exec":      {"place", "fio", "sensor", "pve", "due", "storage"},
	"database/sql": {"store"},
	"log":          {},
}

func TestImportPolicy(t *testing.T) {
	allowed := parsePolicy(t, policy)
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		if pkg == "." || isTestHelper(pkg) || strings.Contains(path, "testdata") {
			return nil
		}
		seen++
		may, known := allowed[pkg]
		if !known {
			t.Errorf("%s: package %s is not in the policy", path, pkg)
			return nil
		}
		for _, imp := range imports(t, path) {
			if ours, ok := strings.CutPrefix(imp, "nativ/internal/"); ok && ours != pkg && !may[ours] {
				t.Errorf("%s: %s must not import %s", path, pkg, ours)
			}
			if who, ok := restricted[imp]; ok && !slices.Contains(who, pkg) {
				t.Errorf("%s: %s must not import %q", path, pkg, imp)
			}
			if strings.HasPrefix(imp, "github.com/spf13/") {
				t.Errorf("%s: cobra belongs to cmd", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no file was looked at")
	}
}

// Libraries never print: only cmd and the report's writers do.
func TestNoPrinting(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		// A fake program has to print.
		if strings.Contains(path, "testdata") || isTestHelper(filepath.ToSlash(filepath.Dir(path))) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, s := range []string{"fmt.Print", "os.Stdout", "os.Stderr", "println("} {
			if strings.Contains(strings.ReplaceAll(string(b), "Fprintln(", ""), s) {
				t.Errorf("%s uses %s", path, s)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isTestHelper reports whether a package only serves tests, as the conformance
// suites do.
func isTestHelper(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// parsePolicy returns, for each package, everything that it may import.
func parsePolicy(t *testing.T, text string) map[string]map[string]bool {
	t.Helper()
	direct := map[string][]string{}
	names := func(s string) []string {
		var out []string
		for n := range strings.SplitSeq(s, ",") {
			out = append(out, strings.TrimSpace(n))
		}
		return out
	}
	for rule := range strings.SplitSeq(text, ";") {
		if rule = strings.TrimSpace(rule); rule == "" {
			continue
		}
		low, high, ok := strings.Cut(rule, "<")
		if !ok {
			t.Fatalf("policy: %q has no <", rule)
		}
		for _, h := range names(high) {
			direct[h] = append(direct[h], names(low)...)
		}
	}
	all := map[string]map[string]bool{}
	var reach func(string, map[string]bool)
	reach = func(p string, into map[string]bool) {
		for _, d := range direct[p] {
			if d != "NONE" && !into[d] {
				into[d] = true
				reach(d, into)
			}
		}
	}
	for p := range direct {
		all[p] = map[string]bool{}
		reach(p, all[p])
		if all[p][p] {
			t.Fatalf("policy: %s comes before itself", p)
		}
	}
	return all
}

func imports(t *testing.T, path string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range f.Imports {
		s, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}
