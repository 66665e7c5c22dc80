package main

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nativ": main})
}

// Every verb, its failures included: exit code, what it says, no stray file.
func TestScripts(t *testing.T) {
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
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		WorkdirRoot:   root,
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NATIV_STATE_DIR", filepath.Join(e.WorkDir, "state"))
			e.Setenv("LC_ALL", "C")
			e.Setenv("DRIVES", filepath.Join(repo, "drives"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Condition: func(cond string) (bool, error) {
			return map[string]bool{"root": os.Geteuid() == 0, "drive": onDrive(root)}[cond], nil
		},
	})
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
