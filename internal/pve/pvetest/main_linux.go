package pvetest

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Main is the first call of a TestMain: where the binary is called by the name of
// one of Proxmox VE's programs, it is that, and Main does not return.
func Main() {
	name := filepath.Base(os.Args[0])
	root := os.Getenv(stateEnv)
	if strings.HasPrefix(os.Args[0], taskPrefix) && root != "" {
		os.Exit(task(&host{root: root}, os.Args[1:]))
	}
	program, ok := programs[name]
	if !ok {
		return
	}
	if root == "" {
		fmt.Fprintln(os.Stderr, "pvetest: "+stateEnv+" is not set")
		os.Exit(255)
	}
	os.Exit(program(&host{root: root, program: name}, os.Args[1:]))
}

// Faults are those that a test can ask for.
var Faults = map[string]string{
	"push-fails-rc0":   "pct push fails and ends with 0",
	"push-truncates":   "pct push leaves half of the file and ends with 0",
	"pull-empty-rc0":   "pct pull leaves an empty file and ends with 0",
	"locked":           "the value's lock (such as backup:3, three times) is on every container",
	"flock-timeout":    "the lock file of a container is held; the value says how often",
	"id-race":          "another guest takes the ID right before pct create does; the value says how often",
	"template-missing": "the template has gone since it was listed",
	"warnings-rc0":     "create and start warn and end with 0",
	"start-fails":      "pct start fails",
	"create-fails":     "pct create fails while it extracts",
	"free-lies":        "pvesm free says Removed and removes nothing",
	"destroy-lies":     "pct destroy ends with 0 and leaves a volume",
	"alloc-fails":      "pvesm alloc and pct create find no space; 25",
	"no-quorum":        "the cluster has no quorum",
	"busy":             "/etc/pve is busy; the value says how often",
	"wipe":             "milliseconds for which saferemove overwrites a volume; 300 without",
	"term-ignored":     "a task does not end when it is asked to",
}

// A host is what the programs work on.
type host struct {
	root, program string
}

func (h *host) path(elem ...string) string {
	return filepath.Join(append([]string{h.root}, elem...)...)
}

func (h *host) real() bool { return exists(h.path("real")) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// value is that of a fault, and whether it is asked for.
func (h *host) value(name string) (string, bool) {
	b, err := os.ReadFile(h.path("faults", name))
	return strings.TrimSpace(string(b)), err == nil
}

// fault reports whether a fault happens now, and counts it.
func (h *host) fault(name string) bool {
	_, hit := h.faultValue(name)
	return hit
}

// faultValue also returns the text before the count, as in "backup:3".
func (h *host) faultValue(name string) (string, bool) {
	f, err := os.OpenFile(h.path("faults", name), os.O_RDWR, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return "", false
	}
	b := make([]byte, 100)
	n, _ := f.Read(b)
	value := strings.TrimSpace(string(b[:n]))
	text, count, ok := strings.Cut(value, ":")
	if !ok {
		text, count = "", value
	}
	left, err := strconv.Atoi(count)
	if err != nil {
		return value, true // always
	}
	if left <= 0 {
		return "", false
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strings.TrimPrefix(fmt.Sprintf("%s:%d", text, left-1), ":")), 0)
	return text, true
}

// step is a point of a task at which a test can hold it up: slow-NAME has
// milliseconds. The file at-NAME says that it got there.
func (h *host) step(name string) error {
	if ms, ok := h.value("slow-" + name); ok {
		n, _ := strconv.Atoi(ms)
		_ = os.WriteFile(h.path("at-"+name), nil, 0o644)
		for end := time.Now().Add(time.Duration(n) * time.Millisecond); time.Now().Before(end) && !asked(); {
			time.Sleep(2 * time.Millisecond)
		}
	}
	if asked() {
		return errors.New("received interrupt")
	}
	return nil
}

var terminated = make(chan os.Signal, 1)

func listen() { signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT) }

// asked reports whether the process was asked to end, and goes on doing so.
func asked() bool {
	select {
	case s := <-terminated:
		terminated <- s
		return true
	default:
		return false
	}
}

// failure is an error with an exit code.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

// die is Perl's: its exit code is errno if that is set, and else 255.
func die(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// end prints an error and returns its exit code.
func end(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return 255
}

func printf(format string, args ...any) { fmt.Fprintf(os.Stdout, format, args...) }

// options parses arguments: those with two dashes (or one) have a value each, the others
// are returned in their order. Everything after -- is left alone.
func options(args []string) (positional []string, opts map[string]string, rest []string) {
	opts = map[string]string{}
	for i := 0; i < len(args); i++ {
		name := strings.TrimLeft(args[i], "-")
		switch {
		case args[i] == "--":
			return positional, opts, args[i+1:]
		case name == args[i] || name == "":
			positional = append(positional, args[i])
		case strings.Contains(name, "="):
			k, v, _ := strings.Cut(name, "=")
			opts[k] = v
		case name == "verbose":
			opts[name] = "1"
		case i+1 < len(args):
			opts[name] = args[i+1]
			i++
		}
	}
	return positional, opts, nil
}
