package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nativ/internal/record"
	"nativ/internal/report"
	"nativ/internal/sensor"
	"nativ/internal/sys"
)

// leastInterval bounds how often a drive is asked: each reading of its health
// log is a command to it.
const leastInterval = 250 * time.Millisecond

// A watchCall is one call of nativ watch.
type watchCall struct {
	e        *env
	json     bool
	lang     string
	interval time.Duration
	count    int
}

func newWatch(e *env) *cobra.Command {
	v := watchCall{e: e}
	c := &cobra.Command{
		Use:   "watch [DRIVE|DIR]",
		Short: "Show a drive's temperatures, link, throttling and I/O, live",
		Long: `Shows what a drive does and how hot it is, until Ctrl-C: all of its temperatures,
PCIe link and errors, throttle counters and alarms, I/Os and bytes a second from
the kernel's counters. It puts no load on the drive but one reading of its health
log at a time. On a terminal it draws one view; elsewhere it writes a line for
each drive and reading.

With --json each reading is one object on a line: time; sample, as in a record
(counters since the kernel's or the drive's start, temperatures in millidegrees
Celsius); and from the second on rates by drive since the reading before:
interval_ns, read_iops, read_bytes_per_s, write_iops, write_bytes_per_s, busy
(0 to 1), queue_depth. The first has the drives and the sources, with the reason
for each that is missing.

Exit codes:
  0  ended by Ctrl-C, by --count, or because its output was closed
  1  something went wrong that should not
  2  the command line is wrong, or there are several drives and none was named
  5  this machine shows no drive`,
		Example: `  sudo nativ watch
  sudo nativ watch nvme0n1 --interval 250ms
  nativ watch /mnt/nvme1 --json --count 60`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("one drive or directory at a time, not %d", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if v.lang, err = language(e, v.lang); err != nil {
				return err
			}
			if v.interval < leastInterval || v.interval > time.Hour {
				return exit(exitUsage, "--interval %v: from %v to 1h", v.interval, leastInterval).
					next("More often would itself be a load: each reading is a command to the drive.")
			}
			if v.count < 0 {
				return exit(exitUsage, "--count %d: at least 1, or 0 for no end", v.count)
			}
			drives, err := v.drives(c.Context(), args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return v.run(ctx, drives)
		},
	}
	c.Flags().BoolVar(&v.json, "json", false, "write one JSON object a line")
	c.Flags().StringVar(&v.lang, "lang", "", "de or en (default: from the environment)")
	c.Flags().DurationVar(&v.interval, "interval", time.Second, "time between readings, at least 250ms")
	c.Flags().IntVar(&v.count, "count", 0, "readings to make (default: until Ctrl-C)")
	return c
}

// drives finds what to watch: what was named, else the only drive there is, else
// what the user chooses.
func (v *watchCall) drives(ctx context.Context, args []string) ([]record.Drive, error) {
	targets, drives, err := findAll(ctx, args)
	if err != nil {
		return nil, err
	}
	switch {
	case len(drives) == 0 && len(targets) > 0:
		return nil, exit(exitMissing, "no drive of this machine is known behind %s", targets[0].Dir).
			next("nativ info %s says what is there.", targets[0].Dir)
	case len(drives) == 0:
		return nil, exit(exitMissing, "this machine shows no drive")
	case len(args) > 0 || len(drives) == 1:
		return drives, nil
	}
	var names []string
	for _, d := range drives {
		names = append(names, d.Name)
	}
	if !v.e.terminal || v.json {
		return nil, exit(exitUsage, "there are %d drives", len(drives)).next("Name one: nativ watch %s", strings.Join(names, "|"))
	}
	w := report.NewWatch(drives, v.interval, v.lang)
	for _, l := range w.Choice() {
		fmt.Fprintln(v.e.stderr, l)
	}
	in := bufio.NewReader(v.e.stdin)
	for range askAgain {
		fmt.Fprint(v.e.stderr, w.Ask())
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		line = strings.TrimSpace(line)
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(drives) {
			return drives[n-1 : n], nil
		}
		if k := slices.Index(names, line); k >= 0 {
			return drives[k : k+1], nil
		}
	}
	return nil, exit(exitUsage, "no drive was chosen").next("Name one: nativ watch %s", strings.Join(names, "|"))
}

func (v *watchCall) run(ctx context.Context, drives []record.Drive) error {
	for i := range drives {
		sensor.Identify(sensor.Roots{}, &drives[i])
	}
	out := v.printer(drives)
	err := v.points(ctx, drives, out.point)
	return written("the readings", errors.Join(err, out.end()))
}

// points reads again and again until ctx ends, or count.
func (v *watchCall) points(ctx context.Context, drives []record.Drive, emit func(*record.WatchPoint) error) error {
	sources, skipped := watchSources(drives)
	sampler := sensor.New(sources, sys.MonoNow)
	tick := time.NewTicker(v.interval)
	defer tick.Stop()
	var last record.Sample
	for n := 0; ; n++ {
		p := &record.WatchPoint{Time: time.Now(), Sample: sampler.Sample()}
		if n == 0 {
			p.Drives, p.Sources = drives, append(sampler.Sources(), skipped...)
		}
		for name, now := range p.Sample.Devices {
			before, ok := last.Devices[name]
			if !ok {
				continue
			}
			if r, ok := record.RatesBetween(before, now, p.Sample.MonoNS-last.MonoNS); ok {
				if p.Rates == nil {
					p.Rates = map[string]record.Rates{}
				}
				p.Rates[name] = r
			}
		}
		last = p.Sample
		if err := emit(p); err != nil {
			return err
		}
		if n+1 == v.count {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// watchSources are the sources about the drives that can be read every second,
// and a description of those that cannot.
func watchSources(drives []record.Drive) (sources []sensor.Source, skipped []record.Source) {
	for _, s := range driveSources(drives) {
		d := s.Describe()
		if d.Missing == "" && strings.HasSuffix(d.Name, " smartctl") {
			d.Missing = "smartctl is too heavy for every reading; modprobe drivetemp may bring a sensor"
			skipped = append(skipped, d)
			continue
		}
		sources = append(sources, s)
	}
	return sources, skipped
}

// A watchPrinter writes points in one form.
type watchPrinter struct {
	point func(*record.WatchPoint) error
	end   func() error
}

func (v *watchCall) printer(drives []record.Drive) watchPrinter {
	none := func() error { return nil }
	if v.json {
		enc := json.NewEncoder(v.e.stdout)
		return watchPrinter{point: func(p *record.WatchPoint) error { return enc.Encode(p) }, end: none}
	}
	w := report.NewWatch(drives, v.interval, v.lang)
	first := true
	sayMissing := func(p *record.WatchPoint) {
		for _, l := range w.Unreadable(p.Sources) {
			fmt.Fprintln(v.e.stderr, l)
		}
	}
	if f, ok := v.e.stdout.(*os.File); ok && isTerminal(f) {
		s := &screen{f: f}
		return watchPrinter{point: func(p *record.WatchPoint) error {
			if first {
				sayMissing(p)
				first = false
			}
			w.Add(p)
			width, height := s.size()
			return s.draw(w.View(width), height)
		}, end: s.close}
	}
	return watchPrinter{point: func(p *record.WatchPoint) error {
		w.Add(p)
		lines := w.Lines()
		if first {
			sayMissing(p)
			lines, first = append([]string{w.Head()}, lines...), false
		}
		_, err := fmt.Fprintln(v.e.stdout, strings.Join(lines, "\n"))
		return err
	}, end: none}
}

// A screen draws lines over those that it drew before, and leaves the last ones
// there.
type screen struct {
	f     *os.File
	drawn int
}

// size is that of the terminal, without the last column, which would wrap, and
// the last line, which would scroll.
func (s *screen) size() (width, height int) {
	w, h, err := term.GetSize(int(s.f.Fd()))
	if err != nil || w < 21 || h < 4 {
		return report.Width - 1, 23
	}
	return min(w, report.Width+1) - 1, h - 1
}

const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	eraseBelow = "\x1b[J"
	eraseRight = "\x1b[K"
)

func (s *screen) draw(lines []string, height int) error {
	var b strings.Builder
	b.WriteString(hideCursor)
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA", s.drawn)
	}
	// Not erased first, which would flicker.
	lines = lines[:min(len(lines), height)]
	for _, l := range lines {
		b.WriteString(l + eraseRight + "\n")
	}
	b.WriteString(eraseBelow)
	s.drawn = len(lines)
	_, err := s.f.WriteString(b.String())
	return err
}

func (s *screen) close() error {
	_, err := s.f.WriteString(showCursor)
	return err
}
