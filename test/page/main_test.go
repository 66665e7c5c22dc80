// Package page drives the HTML reports of the built program in a real browser.
package page

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	required   = flag.Bool("required", false, "fail where the tests would skip")
	skipReason string // why there is no browser, or nothing to look at
	browser    context.Context
	pages      = map[string]string{} // path by name
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := prepare(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/page:", err)
		code = 1
	}
	os.Exit(code)
}

// prepare makes the pages with the program as a user does, and starts the browser.
func prepare(m *testing.M) (int, error) {
	program := chromium()
	if skipReason = missing(program); skipReason != "" {
		if *required {
			return 0, errors.New(skipReason)
		}
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "nativ-page-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := makePages(dir); err != nil {
		return 0, err
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(filepath.Join(dir, "profile")))
	if os.Geteuid() == 0 {
		o = append(o, chromedp.NoSandbox) // Chromium's own sandbox refuses root
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), o...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	if err := chromedp.Run(ctx); err != nil {
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	browser = ctx
	return m.Run(), nil
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func missing(program string) string {
	if program == "" {
		return "no Chromium is installed (apt-get install chromium)"
	}
	if _, err := os.Stat("../../internal/report/html/assets/charts.js"); err != nil {
		return "the build has no interactive charts (make build)"
	}
	return ""
}

// makePages writes what the tests look at: a real run and simulated ones, of which
// nativ bench saves the page itself.
func makePages(dir string) error {
	nativ := filepath.Join(dir, "nativ")
	build := exec.Command("go", "build", "-o", nativ, "nativ/cmd/nativ")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	run := func(args ...string) error {
		c := exec.Command(nativ, args...)
		c.Env = append(os.Environ(), "NATIV_STATE_DIR="+dir)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("nativ %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	for _, lang := range []string{"de", "en"} {
		path := filepath.Join(dir, "quick."+lang+".html")
		if err := run("report", "../../docs/example/quick.json", "--lang", lang, "--format", "html", "--out", path); err != nil {
			return err
		}
		pages["quick."+lang] = path
	}
	for name, args := range map[string][]string{
		"article.de": {"samsung-9100-pro-2tb-bare", "--preset", "article", "--lang", "de"},
		"fill.en":    {"archetype-qlc-small-cache", "--preset", "fill", "--lang", "en"},
	} {
		out := filepath.Join(dir, name)
		if err := run(append([]string{"bench", "--seed", "7", "--out", out, "--simulate"}, args...)...); err != nil {
			return err
		}
		found, err := filepath.Glob(filepath.Join(out, "*.html"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("nativ bench saved %d pages of %s (%w)", len(found), name, err)
		}
		pages[name] = found[0]
	}
	return nil
}

// open shows a page in a tab of its own, after the actions in before. At the end it
// fails where the page asked for anything or a script complained.
func open(t *testing.T, name string, before ...chromedp.Action) context.Context {
	t.Helper()
	if skipReason != "" {
		t.Skip(skipReason)
	}
	url := "file://" + pages[name]
	ctx, end := chromedp.NewContext(browser)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(func() { stop(); end() })
	requests := 0
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			if u := ev.Request.URL; u == url {
				requests++
			} else if !strings.HasPrefix(u, "data:") {
				t.Errorf("%s asks for %s", name, u)
			}
		case *runtime.EventExceptionThrown:
			t.Errorf("%s: %s", name, ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			t.Errorf("%s: console: %v", name, ev.Args)
		case *log.EventEntryAdded:
			t.Errorf("%s: log: %s", name, ev.Entry.Text)
		}
	})
	do(t, ctx, network.Enable(), log.Enable(), runtime.Enable())
	do(t, ctx, before...)
	do(t, ctx, chromedp.Navigate(url))
	if requests != 1 {
		t.Fatalf("%s: %d requests for the page itself were seen, not 1", name, requests)
	}
	return ctx
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// js evaluates an expression in the page.
func js[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	var v T
	do(t, ctx, chromedp.Evaluate(expression, &v))
	return v
}

// wait polls an expression until it is true.
func wait(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	if err := chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		t.Fatalf("never true: %s (%v)", expression, err)
	}
}
