package storage

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"nativ/internal/record"
	"nativ/internal/target"
)

// patience is how long a program of ZFS may take: one that waits for a pool that
// hangs would wait for ever.
const patience = 10 * time.Second

// Describe adds to a target on ZFS the properties of its dataset, and the devices
// of its pool as stack and drives, without which nothing tells whether they or a
// cache answered. Of others it does nothing; what cannot be found out the target
// says.
func Describe(ctx context.Context, t *record.Target) {
	if t.Storage == nil || t.Storage.ZFS == nil {
		return
	}
	z := t.Storage.ZFS
	text, err := run(ctx, "zfs", "get", "-Hp", "-o", "property,value", "all", z.Name)
	if err != nil {
		z.Unknown = err.Error()
		return
	}
	parseProperties(z, text)
	pool, _, _ := strings.Cut(z.Name, "/")
	if text, err = run(ctx, "zpool", "list", "-vHPL", pool); err != nil {
		z.Unknown = err.Error()
		return
	}
	stack, drives := target.ResolveDevices(parseDevices(text), target.Roots{})
	under := map[string]bool{}
	for i := range stack {
		for _, b := range stack[i].Below {
			under[b] = true
		}
	}
	var top []string
	for i := range stack {
		if !under[stack[i].Name] {
			top = append(top, stack[i].Name)
		}
	}
	for i := range t.Stack {
		if t.Stack[i].Kind == "zvol" {
			t.Stack[i].Below = top
		}
	}
	t.Stack, t.Drives = append(t.Stack, stack...), append(t.Drives, drives...)
}

func run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(c.Environ(), "LC_ALL=C")
	c.WaitDelay = time.Second
	out, err := c.Output()
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not installed", name)
	case errors.As(err, &failed) && len(failed.Stderr) > 0:
		line, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		return "", fmt.Errorf("%s %s: %s", name, args[0], line)
	case err != nil:
		return "", fmt.Errorf("%s %s: %w", name, args[0], err)
	}
	return string(out), nil
}
