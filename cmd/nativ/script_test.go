package main

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nativ": main})
}

// Every verb, its failures included: exit code, what it says, no stray file.
func TestScripts(t *testing.T) {
	runScripts(t, testscript.Params{Dir: filepath.Join("testdata", "script")})
}

// The scripts that measure run one after the other: a drive has one run at a time.
func TestScriptsOnDrive(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "ondrive", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, f := range files {
		// Returns when the script in it, which is parallel, has ended.
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) { runScripts(t, testscript.Params{Files: []string{f}}) })
	}
}

func runScripts(t *testing.T, p testscript.Params) {
	t.Helper()
	// A run needs a disk; the default directory for temporary files may be
	// memory, which nativ refuses.
	root, err := os.MkdirTemp(diskDir(), "nativ-script-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	p.WorkdirRoot, p.UpdateScripts = root, *update
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("NATIV_STATE_DIR", filepath.Join(e.WorkDir, "state"))
		e.Setenv("LC_ALL", "C")
		e.Setenv("DRIVES", filepath.Join(repo, "drives"))
		e.Setenv("EXAMPLE", filepath.Join(repo, "docs", "example", "quick.json"))
		return nil
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){"exits": exits}
	p.Condition = func(cond string) (bool, error) {
		return map[string]bool{"root": os.Geteuid() == 0, "drive": onDrive(root)}[cond], nil
	}
	testscript.Run(t, p)
}

// diskDir is a directory that is on a disk on most systems.
func diskDir() string {
	if _, err := os.Stat("/var/tmp"); err == nil {
		return "/var/tmp"
	}
	return ""
}

// exits runs a command and checks its exit code: exits CODE COMMAND [ARG...]
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	code := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		code = "?"
		if x, ok := err.(interface{ ExitCode() int }); ok {
			code = strconv.Itoa(x.ExitCode())
		}
	}
	if code != args[0] {
		ts.Fatalf("%v: exit code %s, want %s", args[1:], code, args[0])
	}
}
