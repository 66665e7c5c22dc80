package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/store"
)

// historyRuns is a run a day for 27 years, or one an hour for a year.
const historyRuns = 10_000

// history times the list of a long history as a user sees it: the whole process,
// from exec to exit.
func (b *bench) history() (string, error) {
	b.say("history")
	state := filepath.Join(b.dir, "history")
	// Made in memory, because every run is a transaction that is synced.
	inMemory := filepath.Join(b.shm, "history")
	if err := os.MkdirAll(inMemory, 0o700); err != nil {
		return "", err
	}
	size, err := makeHistory(b.ctx, inMemory, historyRuns)
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(state, os.DirFS(inMemory)); err != nil {
		return "", err
	}
	took := func(args ...string) (wall, cpu sample, err error) {
		for range 4 * b.rounds {
			c := exec.CommandContext(b.ctx, b.bin, args...)
			c.Env = append(os.Environ(), "NATIV_STATE_DIR="+state)
			c.Stderr = os.Stderr
			began := time.Now()
			if err := c.Run(); err != nil {
				return nil, nil, fmt.Errorf("%v: %w", args, err)
			}
			wall = append(wall, float64(time.Since(began)))
			cpu = append(cpu, float64(c.ProcessState.UserTime()+c.ProcessState.SystemTime()))
		}
		return wall, cpu, nil
	}
	none, _, err := took("--version")
	if err != nil {
		return "", err
	}
	list, listCPU, err := took("history", "list")
	if err != nil {
		return "", err
	}
	last, _, err := took("history", "list", "--last", "20")
	if err != nil {
		return "", err
	}
	b.target(metIf(list.median() < 200e6), "10,000 runs list in under 200 ms", "%.0f ms, of CPU time %.0f ms", list.median()/1e6, listCPU.median()/1e6)
	return fmt.Sprintf(`## History

A history of %d runs with 15 numbers each, %.0f MiB, in the page cache; whole processes, each %d times: listing all of it takes %s ms (CPU time %s ms), the last 20 %s ms. `+"`nativ --version`"+`, which opens no history, takes %s ms.

`, historyRuns, float64(size)/(1<<20), 4*b.rounds, list.text(1e6, 0), listCPU.text(1e6, 0), last.text(1e6, 0), none.text(1e6, 0)), nil
}

// makeHistory makes a history of invented runs and returns its size in bytes.
func makeHistory(ctx context.Context, dir string, runs int) (int64, error) {
	s, err := store.Create(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	preset := job.Quick()
	for i := range runs {
		at := time.Date(2020, 1, 1, i, 0, 0, 0, time.UTC)
		r := record.RunSummary{
			ID: record.NewID(at, uint16(i)), Started: at, Origin: record.OriginMeasured, Tool: "nativ 1", Preset: preset.Name,
			Places: []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}, Complete: true, Kernel: "6.14.11-2-pve", Filesystem: "ext4 lvm",
			Drives: []record.DriveSummary{{Key: fmt.Sprint("S", i%8), Name: "nvme0n1", Model: "Example 1TB", Serial: fmt.Sprint("S", i%8), Size: 1e12}},
		}
		if i%10 == 0 {
			r.Tags = []string{"tag"}
		}
		for _, ph := range preset.Phases {
			for _, place := range r.Places {
				r.Numbers = append(r.Numbers, record.Number{Setting: record.Setting{Phase: ph, Place: place}, Passes: 2, Planned: 2, IOPS: new(1e5 + float64(i%100))})
			}
		}
		if err := s.Put(ctx, store.Entry{Summary: r, Record: fmt.Appendf(nil, `{"id":%q}`, r.ID)}); err != nil {
			return 0, err
		}
	}
	fi, err := os.Stat(s.Path())
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}
