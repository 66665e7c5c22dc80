// Command bench runs nativ's engine side by side with the installed fio and
// writes what it found as Markdown: what an I/O costs, how fast the engine can
// be, and whether both tools say the same of the same device.
//
// The sides alternate, so that a drift of the machine takes the same from each;
// of the rounds it prints median, least and most. CPU time is that of whole
// processes, from exec to exit, children and all threads included, as wait4(2)
// counts it: fio's own usr and sys leave out the kernel's io-wq threads.
//
// Targets are printed as met or missed. They never decide the exit code: on a
// busy machine, times say nothing about the code. The exit code is 1 only where
// something could not be run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/host"
)

// A bench is one call of the program and the document that it writes.
type bench struct {
	ctx       context.Context
	bin, dir  string // nativ, and a directory of our own on the disk
	shm       string // the same in memory
	rounds    int
	seconds   int
	nativ     side
	fio       side
	hot       *testFile // on the disk
	doc       strings.Builder
	targets   []target
	commands  [][2]string // what, command line
	loadStart string
}

func main() {
	bin := flag.String("nativ", "bin/nativ", "the program to measure")
	dir := flag.String("dir", "bin", "a directory on an ext4 on the disk to measure")
	out := flag.String("out", "docs/benchmarks.md", "the document to write")
	rounds := flag.Int("rounds", 5, "rounds of each comparison")
	seconds := flag.Int("seconds", 2, "length of a run")
	only := flag.String("only", "", "one part, to standard output: overhead, rate, agreement, start or history")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	b := &bench{ctx: ctx, rounds: *rounds, seconds: *seconds}
	err := b.all(*bin, *dir, *only)
	if err == nil && *only != "" {
		_, err = os.Stdout.WriteString(b.doc.String())
	} else if err == nil {
		err = os.WriteFile(*out, []byte(b.doc.String()), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// all runs everything, or only one part.
func (b *bench) all(bin, dir, only string) (err error) {
	began := time.Now()
	if b.bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	for _, d := range []struct {
		to *string
		in string
	}{{&b.dir, dir}, {&b.shm, "/dev/shm"}} {
		if *d.to, err = os.MkdirTemp(d.in, "nativ-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(*d.to)) }()
		if *d.to, err = filepath.Abs(*d.to); err != nil {
			return err
		}
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(b.dir, &fs); err != nil {
		return err
	}
	if fs.Type != unix.EXT4_SUPER_MAGIC {
		return fmt.Errorf("%s is not on ext4, on which the targets are; name a directory that is with -dir", dir)
	}
	b.nativ, b.fio = own(b.bin), fioSide("fio")
	b.loadStart = loadavg()
	if b.hot, err = newFile(b.dir, hotSize); err != nil {
		return err
	}
	var body strings.Builder
	for _, part := range []struct {
		name string
		run  func() (string, error)
	}{{"overhead", b.overhead}, {"rate", b.rate}, {"agreement", b.agreement}, {"start", b.start}, {"history", b.history}} {
		if only != "" && only != part.name {
			continue
		}
		s, err := part.run()
		if err != nil {
			return err
		}
		body.WriteString(s)
	}
	head, err := b.head(began)
	if err != nil {
		return err
	}
	b.doc.WriteString(head + b.verdict() + body.String() + b.repeat(time.Since(began)))
	return nil
}

// hotSize is small enough for the page cache of any machine and far above the
// CPU's caches.
const hotSize = 512 << 20

func loadavg() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// target notes whether the numbers reach what they should.
func (b *bench) target(verdict, what, got string, args ...any) {
	t := target{what, fmt.Sprintf(got, args...), verdict}
	b.targets = append(b.targets, t)
	b.say("  %-6s %s: %s", t.verdict, t.what, t.got)
}

// command notes an exact command line of the document.
func (b *bench) command(what string, s side, l load) {
	b.commands = append(b.commands, [2]string{s.name + ", " + what, s.command(l)})
}

func (b *bench) head(began time.Time) (string, error) {
	h, err := host.Facts(host.Roots{})
	if err != nil {
		return "", err
	}
	version := func(name string, args ...string) string {
		s, err := run(name, args...)
		if err != nil {
			return "unknown"
		}
		s, _, _ = strings.Cut(s, "\n")
		return s
	}
	virtual := ""
	if h.Virtualised != nil {
		virtual = ", in a virtual machine (" + *h.Virtualised + ")"
		if *h.Virtualised == "unknown" {
			virtual = ", in a virtual machine"
		}
	}
	var d strings.Builder
	fmt.Fprintf(&d, `# Benchmarks

<!-- Written by make bench; do not edit. -->

What nativ's own engine costs and whether it says the same as fio, measured side by side: %s each, the sides alternating, %d s a run where nothing else is said. Cells are the median and, in brackets, least and most.

| | |
| :-- | :-- |
| machine | %s, %d CPUs, %.0f GiB%s |
| kernel | %s, %s |
| nativ | %s |
| fio | %s |
| date | %s |
| load average | %s before, %s after (over 1, 5 and 15 minutes; the benchmark itself makes 1 to 2) |

`, count(b.rounds, "round"), b.seconds, h.CPUModel, len(h.CPUs), float64(h.MemoryBytes)/(1<<30), virtual, h.Kernel, h.OS,
		version(b.bin, "--version"), version("fio", "--version"), began.UTC().Format("2006-01-02 15:04 MST"), b.loadStart, loadavg())
	d.WriteString(`How to read it: a ratio of CPU time for each I/O is good to some percent even on a machine with other load, for both sides ran on it in turn. IOPS and latencies are not: they depend on who else runs. CPU time is that of the whole process from exec to exit, children, threads and the kernel's io-wq threads included (wait4); so each side also pays for its own start and end. The kernel knows the sum exactly; how it divides into user and system it samples at its clock tick on most configurations, so that a very small user part is rough.

`)
	return d.String(), nil
}

func (b *bench) verdict() string {
	t := table{head: []string{"target", "measured", ""}}
	n := map[string]int{}
	for _, x := range b.targets {
		t.add(x.what, x.got, x.verdict)
		n[x.verdict]++
	}
	said := fmt.Sprintf("%d of %d met", n[met], len(b.targets))
	if n[noisy] > 0 {
		said += fmt.Sprintf(", %d not to be judged here because fio's own runs differ by more than %.0f %%", n[noisy], 100*tooNoisy)
	}
	return "## Targets\n\n" + said + ". They are statements about this run and decide no exit code.\n\n" + t.markdown() + "\n"
}

func (b *bench) repeat(took time.Duration) string {
	var d strings.Builder
	fmt.Fprintf(&d, `## Repeat it

`+"`make bench`"+` as root, with fio installed, on a machine with nothing else to do; it took %d s here. Without root the comparison at a fixed rate is left out. The command lines, with FILE for the test file:

`, int(took.Seconds()))
	for _, c := range b.commands {
		fmt.Fprintf(&d, "%s:\n\n```\n%s\n```\n\n", c[0], c[1])
	}
	d.WriteString("nativ's worker is told by its parent when to go; the lines above show what it is told. In the fixed-rate comparison `sh` puts either side into the cgroup before it becomes the tool.\n")
	return d.String()
}
