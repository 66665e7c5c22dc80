package vm

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What every machine boots.
var (
	skipReason string // why no machine can be had here
	image      string // the directory that mkimage made
	initramfs  *os.File
)

var required = flag.Bool("required", false, "fail where the tests would skip")

const qemu = "qemu-system-x86_64"

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := prepare(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/vm:", err)
		code = 1
	}
	os.Exit(code)
}

// prepare builds what the guest runs and makes its image, then runs the tests.
func prepare(m *testing.M) (int, error) {
	if skipReason = missing(); skipReason != "" {
		if *required {
			return 0, errors.New(skipReason)
		}
		return m.Run(), nil
	}
	// Ctrl-C ends this process at once; QEMU goes with it (Pdeathsig). A build
	// of the image gets it from the terminal, and removes what it has made.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	dir, err := os.MkdirTemp("", "nativ-vm-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	for name, pkg := range map[string]string{"nativ": "nativ/cmd/nativ", "init": "nativ/test/vm/guest"} {
		c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, name), pkg)
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		if out, err := c.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	c := exec.CommandContext(ctx, "./mkimage")
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("make the guest: %w", err)
	}
	stop()
	image = string(bytes.TrimSpace(out))
	if initramfs, err = makeInitramfs(dir, image); err != nil {
		return 0, err
	}
	fmt.Printf("guest ready after %.1f s\n", time.Since(began).Seconds())
	return m.Run(), nil
}

// missing says what this machine lacks to run the tests, "" for nothing.
func missing() string {
	if os.Geteuid() != 0 {
		return "needs root: mkimage makes a Debian system, and the emulated drive's temperature is set in QEMU's memory"
	}
	var programs []string
	for _, p := range []string{qemu, "debootstrap", "mkfs.ext4", "apt-get"} {
		if _, err := exec.LookPath(p); err != nil {
			programs = append(programs, p)
		}
	}
	if len(programs) > 0 {
		return fmt.Sprintf("needs %s: apt-get install --no-install-recommends qemu-system-x86 debootstrap e2fsprogs", strings.Join(programs, ", "))
	}
	return ""
}
