package due

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nativ/internal/pve"
	"nativ/internal/record"
)

// listLimit bounds the wait for systemctl.
const listLimit = 5 * time.Second

// Within returns what is due in the window of length d from from on, in the order
// of time, and why something may be missing; "" where nothing known can be.
func Within(ctx context.Context, o Roots, from time.Time, d time.Duration) (all []record.Due, unknown string) {
	var missing []string
	note := func(err error) {
		if err != nil {
			missing = append(missing, err.Error())
		}
	}
	timers, err := readTimers(ctx, o)
	note(err)
	for _, t := range timers {
		if within(t.next, from, d) {
			all = append(all, record.Due{Kind: t.kind, Name: t.unit, At: t.next})
		}
	}
	names, _ := filepath.Glob(o.path("etc/cron.d/*"))
	for _, name := range append(names, o.path("etc/crontab"), o.path("etc/pve/vzdump.cron")) {
		entries, err := readCrontab(name)
		note(err)
		for i := range entries {
			if at, ok := entries[i].at.next(from, d); ok {
				all = append(all, record.Due{Kind: entries[i].kind, Name: filepath.Base(name), At: at})
			}
		}
	}
	backups, errs := backupsWithin(o, from, d)
	all = append(all, backups...)
	for _, err := range errs {
		note(err)
	}
	slices.SortStableFunc(all, func(a, b record.Due) int { return a.At.Compare(b.At) })
	return slices.Compact(all), strings.Join(missing, "; ")
}

// readTimers asks systemd, where it runs.
func readTimers(ctx context.Context, o Roots) ([]timer, error) {
	if _, err := os.Stat(o.path("run/systemd/system")); err != nil {
		return nil, nil // sd_booted(3): there are no timers
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	c := exec.CommandContext(ctx, "systemctl", "list-timers", "--all", "--no-pager", "--output=json")
	c.Env = append(os.Environ(), "LC_ALL=C", "SYSTEMD_COLORS=0")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		if first != "" {
			err = errors.New(first)
		}
		return nil, fmt.Errorf("list systemd's timers: %w", err)
	}
	return parseTimers(&stdout)
}

func readCrontab(name string) ([]entry, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := parseCrontab(f)
	if err != nil {
		return entries, fmt.Errorf("read %s: %w", name, err)
	}
	return entries, nil
}

// backupsWithin are the backup jobs of Proxmox VE that this node does in the
// window.
func backupsWithin(o Roots, from time.Time, d time.Duration) (all []record.Due, errs []error) {
	jobs, err := pve.New(o.path("")).Jobs()
	if err != nil {
		return nil, []error{err}
	}
	node, _ := os.Hostname()
	node, _, _ = strings.Cut(node, ".")
	for _, j := range jobs {
		if !j.Enabled || j.Node != "" && j.Node != node {
			continue
		}
		c, err := parseCalendar(j.Schedule)
		if err != nil {
			errs = append(errs, fmt.Errorf("backup job %s: %w", j.ID, err))
			continue
		}
		if at, ok := c.next(from, d); ok {
			all = append(all, record.Due{Kind: KindBackup, Name: j.ID, At: at})
		}
	}
	return all, errs
}
